"""Figure and table of SRC of every task by scale, with the status of each value."""

from collections.abc import Sequence
from math import inf, isinf

from matplotlib.lines import Line2D

from paper_figs.declaration import Entry
from paper_figs.saving import Drawing, Printed
from paper_figs.small_panels import finish, grid
from paper_figs.src_study import LARGEST, Complexity, complexities
from paper_figs.style import SMALLEST_TEXT, context

_MARKS = {"exact": ("o", "full"), "sampled": ("o", "none"), "bounds": ("_", "full"), "infinite": ("^", "full")}
"""Marker and fill by status: exact, exact on a sample of prompts, lower bound only, infinite."""
_MEANINGS = {
    "exact": "exact, or attained by the reference circuit",
    "sampled": "exact on a sample of prompts: a lower bound",
    "bounds": "lower bound",
    "infinite": "infinite at this arity",
}
_NARROWEST, _HEIGHT = 1.15, 0.95


def figure(results: Sequence[Complexity], width: float) -> Drawing:
    """Draw a small panel for each task, `width` inches wide in all."""
    highest = max(low for result in results for low, _ in result.bounds.values() if not isinf(low))
    with context():
        canvas, panels = grid(len(results), width=width, narrowest=_NARROWEST, height=_HEIGHT, sharex=True, sharey=True)
        for axes, result in zip(panels, results, strict=True):
            axes.set_gid(result.name)
            axes.set_title(result.name.replace(" (", "\n("), fontsize=7, pad=2, linespacing=1.1)
            lows = {scale: low for scale, (low, _) in result.bounds.items()}
            finite = {scale: low for scale, low in lows.items() if not isinf(low)}
            axes.plot([*finite], [*finite.values()], color="#004488", linewidth=0.8, gid="course", zorder=1)
            for scale, low in lows.items():
                status = _status(result, scale)
                marker, fill = _MARKS[status]
                axes.plot(
                    [scale], [highest + 1.2 if isinf(low) else low], marker=marker, fillstyle=fill, markersize=3.4,
                    color="#BB5566" if status == "infinite" else "#004488", markerfacecoloralt="white",
                    markerfacecolor="white" if fill == "none" else None, gid=f"{status}:{scale}", zorder=2,
                )  # fmt: skip
            axes.set(xlim=(0.5, LARGEST + 0.5), ylim=(0.4, highest + 1.8), xticks=range(1, LARGEST + 1))
            axes.set_yticks(
                [1, round(highest / 2), highest, highest + 1.2], ["1", f"{highest / 2:.0f}", f"{highest:g}", "∞"]
            )
            axes.tick_params(labelsize=SMALLEST_TEXT, length=2, pad=1.5)
        canvas.supxlabel("scale n", fontsize=7)
        canvas.supylabel("SRC", fontsize=7)
        statuses = dict.fromkeys(_status(result, scale) for result in results for scale in result.bounds)
        handles = [
            Line2D([], [], linestyle="none", marker=_MARKS[status][0], markersize=3.4, label=_MEANINGS[status],
                   color="#BB5566" if status == "infinite" else "#004488",
                   markerfacecolor="white" if _MARKS[status][1] == "none" else None)
            for status in statuses
        ]  # fmt: skip
        finish(canvas, handles)
    return Drawing(shown=canvas, rows=_rows(results), caption=_caption(results))


def table(results: Sequence[Complexity]) -> Drawing:
    """Make a table with a line for each task."""
    scales = range(1, LARGEST + 1)
    headings = ("task", "arity", *(f"n = {scale}" for scale in scales), "status", "course")
    lines = [
        (
            result.name,
            str(result.arity),
            *(_bounds_text(result, scale) for scale in scales),
            result.status,
            result.course,
        )
        for result in results
    ]
    shown = Printed(headings=headings, lines=lines, columns="lr" + "r" * len(scales) + "ll")
    return Drawing(shown=shown, rows=_rows(results), caption=_caption(results))


def _status(result: Complexity, scale: int) -> str:
    low, high = result.bounds[scale]
    if isinf(low):
        return "infinite"
    if low != high:
        return "bounds"
    return "sampled" if result.status == "sampled" else "exact"


def _bounds_text(result: Complexity, scale: int) -> str:
    if scale not in result.bounds:
        return "-"
    return "..".join("∞" if bound == inf else f"{bound:g}" for bound in dict.fromkeys(result.bounds[scale]))


def _rows(results: Sequence[Complexity]) -> list[dict[str, object]]:
    return [
        {
            "task": result.name,
            "arity": result.arity,
            "scale": scale,
            "lower": low,
            "upper": high,
            "status": _status(result, scale),
            "course": result.course,
        }
        for result in results
        for scale, (low, high) in result.bounds.items()
    ]


def _caption(results: Sequence[Complexity]) -> str:
    constant = [result.name for result in results if result.course == "constant"]
    return (
        f"SRC of {len(results)} tasks by scale [F], unaligned: the fewest unit operators of any circuit that is right "
        "at all scales up to n, at the least arity that determines every step of the first half of the scales shown; "
        "infinite where a later step needs more arguments. The column course is the trend over these scales. "
        f"Constant from scale 1 on: {len(constant)} of them "
        f"({', '.join(constant)})."
    )


FIGURES = (
    Entry(place=230, name="table-src", title="SRC of all tasks by scale (table)", make=lambda _: table(complexities())),
    Entry(
        place=330,
        name="src-by-scale",
        title="SRC of all tasks by scale",
        make=lambda sources: figure(complexities(), sources.width),
    ),
)
