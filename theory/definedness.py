"""Does a formula have a value at every pair of every scale?  Proved, refuted with the first pair without one, or open.

The conditions under which an operation has no value (theory.formula.domain) are formulas themselves, so they are
decided by the same means: signs, linear inequalities, parts that repeat.  What is left is looked at.  All of it is [F].
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from theory.formula import Formula, FormulaError, NoValue, exact, numbering
from theory.formula.domain import never_holds, violations
from theory.formula.inequalities import cases_of, points
from theory.formula.periods import PATH_OF, repeats
from theory.formula.progressions import follow_path
from theory.formula.structure import dependence
from theory.formula.syntax import Node, may_be_irrational, names

Cell = tuple[int, ...]

MOST_CONDITIONS = 200
"""Of one formula."""
FARTHEST, FARTHEST_EXACT = 200, 40
"""Scales up to which every pair is looked at: of rational formulas, and of others."""
FARTHEST_FAMILY, FARTHEST_EXACT_FAMILY = 40, 20
MOST_SINGLE, MOST_SINGLE_EXACT = 20_000, 500
"""Positions that are looked at one by one."""


@dataclass(frozen=True, kw_only=True)
class Definedness:
    """Whether a formula has a value at every pair of every scale.

    Attributes:
        everywhere: True or False where that is proved; else None.
        cell: a pair without a value, (i, j), or (i, j, n) for a family; None where none is known.
        first: whether no smaller scale than the cell's has such a pair.
        looked_at: the scale up to which every pair was looked at, where nothing is proved.
        why: what goes wrong at the cell.
    """

    everywhere: bool | None
    cell: Cell | None = None
    first: bool = True
    looked_at: int = 0
    why: str = ""


def definedness(formula: Formula) -> Definedness:
    """Whether the formula has a value at every pair of every scale."""
    family = "n" in formula.variables
    listed = list(dict.fromkeys(islice(_violations(formula), MOST_CONDITIONS + 1)))
    waiting = [condition for condition in listed if not never_holds(condition, family=family)]
    undecided = len(listed) > MOST_CONDITIONS
    cells: list[Cell] = []
    for condition in waiting:
        decided = _first_cell(condition, family)
        if decided is None:
            undecided = True
        else:
            cells += decided
    cell = min(cells, key=lambda one: one[-1], default=None)
    if not undecided and cell is None:
        return Definedness(everywhere=True)
    if undecided:
        farthest = _farthest(formula) if cell is None else min(_farthest(formula), cell[-1] - 1)
        looked_at, seen = _look(formula, farthest)
        if seen is not None:
            return Definedness(everywhere=False, cell=seen.cell, looked_at=looked_at, why=str(seen))
        if cell is None:
            return Definedness(everywhere=None, looked_at=looked_at)
        undecided = looked_at < cell[-1] - 1
    assert cell is not None
    try:
        formula.value(*cell)
    except FormulaError as error:
        return Definedness(everywhere=False, cell=cell, first=not undecided, why=str(error))
    raise AssertionError(f"{formula.text} has a value at {cell}")


def _violations(formula: Formula) -> Iterator[Node]:
    for node in formula.nodes:
        yield from violations(node)


def _first_cell(condition: Node, family: bool) -> list[Cell] | None:
    """The first cell at which a condition holds, or none; None where that is not decided."""
    if names(condition) - {"i", "j", "n"}:
        return None  # what hangs on parameters is no condition
    where = dependence(condition)
    if not where:
        return _among([(1, 1, 1)[: 3 if family else 2]], condition)
    if len(where) == 1:
        along_path = _along(condition, PATH_OF[next(iter(where))], family)
        if along_path is not None:
            return along_path
    linear = _linear(condition, family)
    if linear is not None:
        return linear
    known = repeats((condition,), {})
    most = FARTHEST_FAMILY if family else FARTHEST
    return _looked_through(condition, known.enough, family) if known and known.enough <= most else None


def _along(condition: Node, path: Mapping[str, tuple[int, int]], family: bool) -> list[Cell] | None:
    """The first cell of a condition on one position or difference."""
    used = {name: path[name] for name in path if family or name != "n"}
    course = follow_path((condition,), used, {})
    most = MOST_SINGLE_EXACT if may_be_irrational(condition) else MOST_SINGLE
    if course is None or not course.constant or len(course.singles) > most:
        return None
    starts = [piece.start for piece in course.pieces if piece.components[0] != 0]
    earlier = [step for step in course.singles if step < min(starts, default=step + 1)]
    steps = [*earlier, *([min(starts)] if starts else [])]
    return _among((tuple(first + by * step for first, by in used.values()) for step in steps), condition)


def _linear(condition: Node, family: bool) -> list[Cell] | None:
    """The first cell of a condition that is made of linear inequalities."""
    known = cases_of(condition)
    if not known.exact:
        return None
    found = []
    for case in known.cases:
        point = next(points(case, family=family), ())
        if point is None:
            return None
        if point:
            found.append(point)
    return found


def _among(cells: Iterable[Cell], condition: Node) -> list[Cell] | None:
    """The first of some cells at which the condition holds."""
    try:
        return list(islice((cell for cell in cells if _holds(condition, cell)), 1))
    except FormulaError:
        return None


def _holds(condition: Node, cell: Cell) -> bool:
    try:
        return exact.holds(exact.evaluate(condition, dict(zip("ijn", cell, strict=False))))
    except NoValue:
        return True  # a part of it has no value


def _looked_through(condition: Node, scale: int, family: bool) -> list[Cell] | None:
    for size in range(1, scale + 1):
        at = _cells(size, family)
        try:
            found = numbering.evaluate(condition, at, {})
        except FormulaError:
            return None
        where = np.flatnonzero(np.array([value != 0 for value in found.values])[found.codes])
        if where.size:
            return [tuple(int(positions[where[0]]) for positions in at.values())]
    return []


def _cells(scale: int, family: bool) -> dict[str, NDArray[np.int64]]:
    """The cells of a scale that smaller ones do not have: those of its last query, or all its pairs."""
    if not family:
        return {"i": np.arange(1, scale + 1), "j": np.full(scale, scale)}
    queries, keys = np.tril_indices(scale)
    return {"i": keys + 1, "j": queries + 1, "n": np.full(len(keys), scale)}


def _farthest(formula: Formula) -> int:
    if "n" in formula.variables:
        return FARTHEST_EXACT_FAMILY if formula.exact_only else FARTHEST_FAMILY
    return FARTHEST_EXACT if formula.exact_only else FARTHEST


def _look(formula: Formula, farthest: int) -> tuple[int, NoValue | None]:
    """Looks at every pair, scale by scale: how far that is possible, and the first pair without a value."""
    for scale in range(1, farthest + 1):
        try:
            formula.entries(*_cells(scale, "n" in formula.variables).values())
        except NoValue as error:
            return scale, error
        except FormulaError:  # a value too large, or one that is not decided
            return scale - 1, None
    return farthest, None
