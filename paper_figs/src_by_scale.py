"""Table of SRC of every task by scale; its data have the status of each value."""

from collections.abc import Sequence
from math import inf, isinf

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing, Printed
from lengthgen.paper_figs.src_study import LARGEST, Complexity, complexities


def table(results: Sequence[Complexity]) -> Drawing:
    """Make a table with a line for each course of SRC, and the tasks that have it."""
    tasks_of: dict[str, list[str]] = {}
    for result in results:
        values = " ".join(map(_bounds_text, result.bounds.values()))
        sampled = "*" if result.status == "sampled" else ""
        tasks_of.setdefault(values, []).append(f"{result.name}{sampled} ({result.arity})")
    lines = [(values, ", ".join(tasks)) for values, tasks in sorted(tasks_of.items(), key=_by_size)]
    headings = (f"n = 1 to {LARGEST}", "tasks (arity)")
    return Drawing(
        shown=Printed(headings=headings, lines=lines, columns="lp{5.6cm}"),
        rows=_rows(results),
        caption=_caption(results),
    )


def _by_size(line: tuple[str, list[str]]) -> tuple[int, str]:
    """Sort key of a line: those of most tasks first."""
    values, tasks = line
    return -len(tasks), values


def _status(result: Complexity, scale: int) -> str:
    low, high = result.bounds[scale]
    if isinf(low):
        return "infinite"
    if low != high:
        return "bounds"
    return "sampled" if result.status == "sampled" else "exact"


def _bounds_text(bounds: tuple[float, float]) -> str:
    return "..".join("∞" if bound == inf else f"{bound:g}" for bound in dict.fromkeys(bounds))


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
    constant = sum(result.course == "constant" for result in results)
    sampled = any(result.status == "sampled" for result in results)
    return (
        f"SRC of {len(results)} tasks by scale [F], unaligned: the fewest unit operators of any circuit that is right "
        "at all scales up to n, at the least arity that determines every step of the first half of the scales shown; "
        "infinite where a later step needs more arguments. A line has the values at n = 1, 2, ..., and the tasks with "
        f"these values, each with that arity; {constant} have the same value at all scales."
        + (" Marked *: exact on a sample of prompts, which is a lower bound." if sampled else "")
    )


FIGURES = (
    Entry(place=230, name="table-src", title="SRC of all tasks by scale (table)", make=lambda _: table(complexities())),
)
