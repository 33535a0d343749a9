"""Table of SRC of every task by scale, with the status of each value."""

from collections.abc import Sequence
from math import inf, isinf

from paper_figs.declaration import Entry
from paper_figs.saving import Drawing, Printed
from paper_figs.src_study import LARGEST, Complexity, complexities


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
)
