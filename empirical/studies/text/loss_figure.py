"""Figure of language models beyond the trained length: a heat map of encodings by length."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from lengthgen.empirical.studies.text.text_run import stored_results, tests_by_name
from lengthgen.infrastructure.files import seal
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.panels import draw_cell, page
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Missing, Needs, Sources, StudyAnswers
from lengthgen.paper_figs.style import DIVERGING, SMALLEST_TEXT, context, look

LARGEST = 1.0
"""Change of the loss, in nats per byte, from which on the colour stays the same."""
_LINE, _NAMES, _ABOVE = 0.125, 2.2, 0.32


def drawing(results: Sequence[Mapping[str, Any]], *, width: float) -> Drawing:
    """Draw the heat map, `width` inches wide.

    Args:
        results: results of `lengthgen text` under one profile, at least one.
        width: width of the figure, in inches.
    """
    tests = {name: tests for result in results for name, tests in tests_by_name(dict(result)).items()}
    last = {name: {test["length"]: test["last"] for test in of_name} for name, of_name in tests.items()}
    profile = results[0]["profile"]
    trained, lengths = profile["length"], profile["lengths"]
    rise = {
        name: {length: fmean(losses[length]) - fmean(losses[trained]) for length in lengths}
        for name, losses in last.items()
    }
    names = sorted(last, key=lambda name: rise[name][lengths[-1]])
    rows: list[dict[str, object]] = [
        {
            "encoding": name,
            "length": length,
            "loss": fmean(last[name][length]),
            "least": min(last[name][length]),
            "greatest": max(last[name][length]),
            "rise": rise[name][length],
        }
        for name in names
        for length in lengths
    ]
    size = profile["model"]
    caption = (
        f"Language models of {results[0]['corpus']['text']}, byte by byte, {count_text(profile['seeds'], 'seed')} "
        "each (width "
        f"{size['width']}, layers {size['layers']}, heads {size['heads']}, {profile['steps']} steps), trained at "
        f"{trained} bytes. First column: loss of the same last bytes after {trained} bytes, nats per byte, mean over "
        "seeds. Others: by how much it rises (brown) or falls (blue) after longer contexts, the same colour from "
        f"{LARGEST:g} on. Ordered by the rise at {lengths[-1]}. 'RoPE under' an interpolation: models trained with "
        "RoPE, tested under it without training. Sizes are tiny: this ranks no encoding for large models [F]."
    )
    return Drawing(shown=_draw(names, last, rise, lengths, width), rows=rows, caption=caption)


def _draw(
    names: Sequence[str],
    last: Mapping[str, Mapping[int, Sequence[float]]],
    rise: Mapping[str, Mapping[int, float]],
    lengths: Sequence[int],
    width: float,
) -> Figure:
    step = (width - _NAMES - 0.05) / len(lengths)
    colour = Normalize(-LARGEST, LARGEST, clip=True)
    with context():
        figure, axes = page(width, _ABOVE + _LINE * len(names) + 0.05, left=_NAMES, top=_ABOVE)
        for column, length in enumerate(lengths):
            heading = f"loss at {length}" if column == 0 else f"rise at {length}"
            axes.text((column + 0.5) * step, 0.06, heading, ha="center", va="bottom", fontsize=7)
        for line, name in enumerate(names):
            middle = -(line + 0.5) * _LINE
            axes.text(-0.06, middle, _label(name), ha="right", va="center_baseline", fontsize=SMALLEST_TEXT)
            for column, length in enumerate(lengths):
                fill = "white" if column == 0 else DIVERGING(colour(rise[name][length]))
                change = round(rise[name][length], 2)
                number = f"{fmean(last[name][length]):.2f}" if column == 0 else f"{change:+.2f}" if change else "0.00"
                draw_cell(axes, line, column, number, size=(step, _LINE), fill=fill, gid=f"{name}:{length}")
    return figure


def _label(name: str) -> str:
    """Labels of the encodings that a name consists of."""
    return " under ".join(look(part).label for part in name.split(" under "))


def results(sources: Sources) -> list[dict[str, Any]]:
    """Read the results of `lengthgen text` under the profile. Raises the errors of `stored_results`."""
    return sources.cached("text", "", partial(stored_results, sources.out, sources.profile))


def _require(sources: Sources) -> None:
    if not results(sources):
        raise Missing(f"no language models are stored in {sources.out / 'text'}", sources.command("text"))


MODELS = Needs(
    study=StudyAnswers(
        words="language models of text", require=_require, digest=lambda sources: [seal(results(sources))[:10]]
    )
)
"""Needs of a figure that shows the results of `lengthgen text`."""
FIGURES = (
    Entry(
        place=385,
        name="text-losses",
        title="Language models beyond the trained length",
        make=lambda sources: drawing(results(sources), width=sources.width),
        needs=MODELS,
        least_width=5.5,
    ),
)
