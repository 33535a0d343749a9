"""Entropy of the gates of PRISM by token, within and beyond the trained length, and by kind of token."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.prism_runs import (
    KINDS,
    PROTOCOL,
    SAMPLES,
    TokenPositions,
    over_runs,
    read_all,
    trained_tokens,
)
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import finish, set_ticks
from lengthgen.paper_figs.sources import Needs, Sources
from lengthgen.paper_figs.style import PAGE_WIDTH, context, slot_look

_LOOKS = {kind: slot_look(number) for number, kind in enumerate(KINDS, start=1)}
_TRAINED = "0.92"
_PANEL = 1.75
_LEGEND = 0.17
_APART = 0.16

ByTask = Mapping[str, Sequence[TokenPositions]]


def drawing(within: ByTask, beyond: ByTask, trained: Mapping[str, int], train: Sequence[int]) -> Drawing:
    """Draw a line of two panels for each task: entropy by token at the larger scale, and by kind of token at both.

    Args:
        within: positions of the runs at the largest training scale, by title of the task.
        beyond: positions of the same runs at a larger scale.
        trained: number of tokens read at the largest training scale, by title of the task.
        train: the training scales.
    """
    first, last = (next(iter(part.values()))[0] for part in (within, beyond))
    return Drawing(
        shown=_draw(within, beyond, trained),
        rows=[
            {
                "task": task,
                "encoding": positions.run.encoding,
                "seed": positions.run.seed,
                "scale": positions.scale,
                "token": token,
                "kind": kind,
                "entropy_bits": float(entropy),
            }
            for part in (within, beyond)
            for task, read in part.items()
            for positions in read
            for token, (kind, entropy) in enumerate(zip(positions.kinds, positions.gate_entropy, strict=True))
        ],
        caption=f"Entropy of the four gates of PRISM (2 bits if all are equal), mean over {SAMPLES} test samples; "
        f"trained on scales {train[0]}-{train[-1]}. Left: by token at scale {last.scale}, a faint line for each run "
        f"({len(next(iter(beyond.values())))} in all) and marks for their mean; the tokens of training are "
        f"shaded. Right: by kind of token at scale {first.scale}, the largest of training, and at scale {last.scale}, "
        "a mark for each run. Kinds: operand, digits of the prompt; fixed, '='; output, digits of the output.",
    )


def _draw(within: ByTask, beyond: ByTask, trained: Mapping[str, int]) -> Figure:
    with context():
        figure = Figure(figsize=(PAGE_WIDTH, len(beyond) * _PANEL + 0.3), layout="constrained")
        grid = figure.subplots(len(beyond), 2, squeeze=False, sharey="row", width_ratios=(3, 1))
        for line, (task, read) in zip(grid, beyond.items(), strict=True):
            _draw_by_token(line[0], read, trained[task])
            _draw_by_kind(line[1], within[task], read)
            line[0].set(title=task, ylabel="entropy of the gates, bits", ylim=(0, None))
            line[0].title.set_fontweight("bold")
            set_ticks(line[0])
        grid[-1, 0].set_xlabel("token t")
        handles: list[Artist] = [
            *(
                Line2D([], [], color=its.colour, marker=its.marker, linestyle="none", markersize=3.4, label=kind)
                for kind, its in _LOOKS.items()
            ),
            Patch(facecolor=_TRAINED, label="tokens that training showed"),
        ]
        finish(figure, handles, line=_LEGEND, fontsize=8, handlelength=2)
    return figure


def _draw_by_token(axes: Axes, read: Sequence[TokenPositions], trained: int) -> None:
    axes.set_gid(f"tokens:{read[0].run.task.title}")
    axes.axvspan(-0.5, trained - 0.5, color=_TRAINED, linewidth=0, zorder=0, gid="trained")
    for positions in read:
        axes.plot(positions.gate_entropy, color="0.6", linewidth=0.5, zorder=2, gid="run")
    mean, kinds = over_runs(read, "gate_entropy"), read[0].kinds
    for kind, group in groupby(range(len(kinds)), key=lambda token: kinds[token]):
        tokens, its = [*group], _LOOKS[kind]
        axes.plot(
            tokens, mean[tokens], color=its.colour, marker=its.marker, markersize=2.6, linewidth=0.8, zorder=3, gid=kind
        )
    axes.set_xlim(-0.5, len(kinds) - 0.5)


def _draw_by_kind(axes: Axes, within: Sequence[TokenPositions], beyond: Sequence[TokenPositions]) -> None:
    axes.set_gid(f"kinds:{beyond[0].run.task.title}")
    for place, read in enumerate((within, beyond)):
        for number, (kind, its) in enumerate(_LOOKS.items()):
            values = [positions.entropy_of(kind) for positions in read]
            axes.plot(
                [place + (number - 1) * _APART] * len(values), values, color=its.colour, marker=its.marker,
                linestyle="none", markersize=3.4, fillstyle="none", gid=f"{kind}:{place}",
            )  # fmt: skip
    labels = [f"scale {read[0].scale}" for read in (within, beyond)]
    axes.set(xticks=(0, 1), xticklabels=labels, xlim=(-0.5, 1.5))


def _sharpened_runs(sources: Sources, *, protocol: str) -> Drawing:
    """Draw all runs that sharpen."""
    loaded = sources.protocol(protocol)
    within, beyond = (
        {task: arms["learned"] for task, arms in read_all(sources, protocol, scale, ("learned",)).items()}
        for scale in (loaded.train[-1], loaded.test[-1])
    )
    return drawing(within, beyond, trained_tokens(sources, protocol), loaded.train)


FIGURES = (
    Entry(
        place=161,
        name="prism-gates",
        title="Entropy of the gates of PRISM by token and kind",
        make=partial(_sharpened_runs, protocol=PROTOCOL),
        needs=Needs(protocols=(PROTOCOL,), record=()),
        least_width=PAGE_WIDTH,
    ),
)
