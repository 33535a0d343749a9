"""SRC of every task by scale: a figure with status marks, and a table."""

from collections.abc import Sequence
from math import inf, isinf

from matplotlib.lines import Line2D

from paper_figs.declaration import Entry
from paper_figs.saving import Drawing, Printed
from paper_figs.small_panels import finish, grid
from paper_figs.src_study import LARGEST, Complexity, complexities
from paper_figs.style import SMALLEST_TEXT, context

_MARKS = {"exact": ("o", "full"), "sampled": ("o", "none"), "bounds": ("_", "full"), "infinite": ("^", "full")}
"""By status: exact, of the prompts looked at, lower bound alone; infinite ones stand above."""
_SAID = {
    "exact": "exact, or attained by the task's own circuit",
    "sampled": "exact on the prompts looked at: a lower bound",
    "bounds": "lower bound",
    "infinite": "infinite at this arity",
}
_NARROWEST, _HEIGHT = 1.15, 0.95


def figure(found: Sequence[Complexity], width: float) -> Drawing:
    """A small panel for each task."""
    highest = max(low for one in found for low, _ in one.bounds.values() if not isinf(low))
    with context():
        drawn, panels = grid(len(found), width=width, narrowest=_NARROWEST, height=_HEIGHT, sharex=True, sharey=True)
        for axes, one in zip(panels, found, strict=True):
            axes.set_gid(one.name)
            axes.set_title(one.name.replace(" (", "\n("), fontsize=7, pad=2, linespacing=1.1)
            lows = {scale: low for scale, (low, _) in one.bounds.items()}
            finite = {scale: low for scale, low in lows.items() if not isinf(low)}
            axes.plot([*finite], [*finite.values()], color="#004488", linewidth=0.8, gid="course", zorder=1)
            for scale, low in lows.items():
                kind = _status(one, scale)
                marker, fill = _MARKS[kind]
                axes.plot(
                    [scale], [highest + 1.2 if isinf(low) else low], marker=marker, fillstyle=fill, markersize=3.4,
                    color="#BB5566" if kind == "infinite" else "#004488", markerfacecoloralt="white",
                    markerfacecolor="white" if fill == "none" else None, gid=f"{kind}:{scale}", zorder=2,
                )  # fmt: skip
            axes.set(xlim=(0.5, LARGEST + 0.5), ylim=(0.4, highest + 1.8), xticks=range(1, LARGEST + 1))
            axes.set_yticks(
                [1, round(highest / 2), highest, highest + 1.2], ["1", f"{highest / 2:.0f}", f"{highest:g}", "∞"]
            )
            axes.tick_params(labelsize=SMALLEST_TEXT, length=2, pad=1.5)
        drawn.supxlabel("scale n", fontsize=7)
        drawn.supylabel("SRC", fontsize=7)
        used = dict.fromkeys(_status(one, scale) for one in found for scale in one.bounds)
        handles = [
            Line2D([], [], linestyle="none", marker=_MARKS[kind][0], markersize=3.4, label=_SAID[kind],
                   color="#BB5566" if kind == "infinite" else "#004488",
                   markerfacecolor="white" if _MARKS[kind][1] == "none" else None)
            for kind in used
        ]  # fmt: skip
        finish(drawn, handles)
    return Drawing(shown=drawn, rows=_rows(found), caption=_caption(found))


def table(found: Sequence[Complexity]) -> Drawing:
    """A line for each task."""
    scales = range(1, LARGEST + 1)
    headings = ("task", "arity", *(f"n = {scale}" for scale in scales), "status", "course")
    lines = [
        (one.name, str(one.arity), *(_text(one, scale) for scale in scales), one.status, one.course) for one in found
    ]
    shown = Printed(headings=headings, lines=lines, columns="lr" + "r" * len(scales) + "ll")
    return Drawing(shown=shown, rows=_rows(found), caption=_caption(found))


def _status(one: Complexity, scale: int) -> str:
    low, high = one.bounds[scale]
    if isinf(low):
        return "infinite"
    if low != high:
        return "bounds"
    return "sampled" if one.status == "sampled" else "exact"


def _text(one: Complexity, scale: int) -> str:
    if scale not in one.bounds:
        return "-"
    return "..".join("∞" if bound == inf else f"{bound:g}" for bound in dict.fromkeys(one.bounds[scale]))


def _rows(found: Sequence[Complexity]) -> list[dict[str, object]]:
    return [
        {
            "task": one.name,
            "arity": one.arity,
            "scale": scale,
            "lower": low,
            "upper": high,
            "status": _status(one, scale),
            "course": one.course,
        }
        for one in found
        for scale, (low, high) in one.bounds.items()
    ]


def _caption(found: Sequence[Complexity]) -> str:
    constant = [one.name for one in found if one.course == "constant"]
    return (
        f"SRC of {len(found)} tasks by scale [F], unaligned: the fewest unit operators of any circuit that is right at "
        "all scales up to n, at the least arity that determines every step of the first half of the scales shown; "
        "infinite where a later step needs more arguments. The course is that over these scales. "
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
