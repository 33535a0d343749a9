"""Figure of the format effect over random tasks: exact match by scale, operands padded against filled, by encoding."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import columns_of, finish, grid
from lengthgen.paper_figs.style import SMALLEST_TEXT, context, looks
from lengthgen.paper_figs.verdict_evidence import Judgement, evidence, verdict_entry

_LINES: Mapping[str, Mapping[str, Any]] = {
    "aligned": {"color": "#B0651A", "linestyle": (0, (4, 1.5)), "linewidth": 1.3},
    "filled": {"color": "#004488", "linestyle": "-", "linewidth": 1.3},
}
"""Line of each format; filled is darker and solid, so that both differ without colour."""
_TRAINED = "0.92"


def drawing(judgement: Judgement, preregistration: Preregistration, width: float) -> Drawing:
    """Draw a panel for each encoding: mean exact match by scale, a line for each format."""
    scales = preregistration.test_scales
    formats = {
        encoding: {form: judgement["formats"].get(encoding, {}).get(form, _NO_RUNS) for form in _LINES}
        for encoding in preregistration.encodings
    }
    rows: list[dict[str, object]] = [
        {"encoding": encoding, "format": form, "runs": of_format["runs"], "scale": scale, "exact_match": value}
        for encoding, of_encoding in formats.items()
        for form, of_format in of_encoding.items()
        for scale, value in zip(scales, of_format["exact_match"], strict=bool(of_format["runs"]))
    ]
    empty_rows: list[dict[str, object]] = [{"encoding": "no run fits"}]
    runs = sum(of_format["runs"] for of_encoding in formats.values() for of_format in of_encoding.values())
    caption = (
        f"Effect of the format: mean exact match by scale of {count_text(runs, 'fitting run')} of random circuits "
        "whose SRC stays "
        "the same beyond training, with operands padded (aligned) and filled with random tokens (filled), by encoding; "
        "below each panel's name the number of runs, aligned and filled. Training scales are shaded. Scales that were "
        "not tested, after failed ones, count as 0. The runs of both formats are of the same tasks, but not every run "
        f"fits. {evidence(judgement, preregistration)}"
    )
    return Drawing(shown=_draw(formats, preregistration, width), rows=rows or empty_rows, caption=caption)


_NO_RUNS: Mapping[str, Any] = {"runs": 0, "exact_match": []}


def _draw(
    formats: Mapping[str, Mapping[str, Mapping[str, Any]]], preregistration: Preregistration, width: float
) -> Figure:
    labels = {encoding: its.label for encoding, its in looks(formats).items()}
    with context():
        figure, panels = grid(len(formats), width=width, narrowest=1.3, height=1.35, sharex=True, sharey=True)
        columns = columns_of(panels)
        for place, (axes, (encoding, of_encoding)) in enumerate(zip(panels, formats.items(), strict=True)):
            axes.set_gid(f"formats:{encoding}")
            counts = ", ".join(f"{of_format['runs']:,}" for of_format in of_encoding.values())
            axes.set_title(f"{labels[encoding]}  ({counts})", fontsize=SMALLEST_TEXT + 1, pad=3)
            _draw_encoding(axes, of_encoding, preregistration)
            if place % columns == 0:
                axes.set_ylabel("exact match", labelpad=2)
            if place + columns >= len(formats):
                axes.set_xlabel("scale", labelpad=1)
        handles = [
            *(Line2D([], [], **style, label=form) for form, style in _LINES.items()),
            Patch(facecolor=_TRAINED, label="training scales"),
        ]
        finish(figure, handles)
    return figure


def _draw_encoding(axes: Axes, of_encoding: Mapping[str, Mapping[str, Any]], preregistration: Preregistration) -> None:
    """Draw the lines of one encoding; a format without a fitting run has none."""
    first, last = preregistration.train
    axes.axvspan(first - 0.5, last + 0.5, color=_TRAINED, linewidth=0, zorder=0, gid="training")
    for form, of_format in of_encoding.items():
        if of_format["runs"]:
            axes.plot(preregistration.test_scales, of_format["exact_match"], **_LINES[form], gid=form, clip_on=False)
    if not any(of_format["runs"] for of_format in of_encoding.values()):
        axes.text(0.5, 0.5, "no run fits", transform=axes.transAxes, ha="center", fontsize=SMALLEST_TEXT)
    end = preregistration.test[1]
    axes.set(xlim=(first - 0.5, end + 0.5), ylim=(0, 1), yticks=(0, 0.5, 1))
    axes.set_xticks([first, *range(5, end + 1, 5)])


FIGURES = (verdict_entry("verdict-formats", "Random tasks: effect of the format", drawing, place=412),)
