"""Does a formula have a value at every pair of every scale?

The answer is a proof, a refutation with the first pair without a value, or "open".

The conditions under which an operation has no value (lengthgen.theory.formula.domain) are formulas themselves. So they
are decided by the same means: signs, linear inequalities, periodic parts. Conditions that stay open are tested at
finitely many cells. All of it is [F].
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lengthgen.theory.formula import Formula, FormulaError, NoValue, exact, numbering
from lengthgen.theory.formula.domain import never_holds, violations
from lengthgen.theory.formula.inequalities import cases_of, points
from lengthgen.theory.formula.periods import PATH_OF, repeats
from lengthgen.theory.formula.progressions import follow_path
from lengthgen.theory.formula.structure import dependence
from lengthgen.theory.formula.syntax import Node, may_be_irrational, names

Cell = tuple[int, ...]

MOST_CONDITIONS = 200
"""Largest number of conditions of one formula that are examined."""
FARTHEST, FARTHEST_EXACT = 200, 40
"""Scales up to which every pair is tested: for rational formulas, and for formulas with exact (irrational) values."""
FARTHEST_FAMILY, FARTHEST_EXACT_FAMILY = 40, 20
"""The same scales for families A(i, j, n)."""
MOST_SINGLE, MOST_SINGLE_EXACT = 20_000, 500
"""Largest number of single positions that are tested: for rational conditions, and for irrational ones."""


@dataclass(frozen=True, kw_only=True)
class Definedness:
    """Result of the question whether a formula has a value at every pair of every scale.

    Attributes:
        everywhere: True or False where that is proved; else None.
        cell: a pair without a value, (i, j), or (i, j, n) for a family; None where none is known.
        first: True if no smaller scale than the cell's has such a pair.
        looked_at: the scale up to which every pair was tested, where nothing is proved.
        why: the error at the cell.
    """

    everywhere: bool | None
    cell: Cell | None = None
    first: bool = True
    looked_at: int = 0
    why: str = ""


def definedness(formula: Formula) -> Definedness:
    """Decide whether the formula has a value at every pair of every scale."""
    family = "n" in formula.variables
    listed = list(dict.fromkeys(islice(_formula_violations(formula), MOST_CONDITIONS + 1)))
    conditions = [condition for condition in listed if not never_holds(condition, family=family)]
    undecided = len(listed) > MOST_CONDITIONS
    cells: list[Cell] = []
    for condition in conditions:
        first_cells = _first_cell(condition, family)
        if first_cells is None:
            undecided = True
        else:
            cells += first_cells
    cell = min(cells, key=lambda candidate: candidate[-1], default=None)
    if not undecided and cell is None:
        return Definedness(everywhere=True)
    if undecided:
        farthest = _largest_scale(formula) if cell is None else min(_largest_scale(formula), cell[-1] - 1)
        looked_at, error_found = _test_all_pairs(formula, farthest)
        if error_found is not None:
            return Definedness(everywhere=False, cell=error_found.cell, looked_at=looked_at, why=str(error_found))
        if cell is None:
            return Definedness(everywhere=None, looked_at=looked_at)
        undecided = looked_at < cell[-1] - 1
    assert cell is not None
    try:
        formula.value(*cell)
    except FormulaError as error:
        return Definedness(everywhere=False, cell=cell, first=not undecided, why=str(error))
    raise AssertionError(f"{formula.text} has a value at {cell}")


def _formula_violations(formula: Formula) -> Iterator[Node]:
    """Conditions under which some operation of the formula has no value."""
    for node in formula.nodes:
        yield from violations(node)


def _first_cell(condition: Node, family: bool) -> list[Cell] | None:
    """First cell at which a condition holds, as a list; empty if it never holds, None if undecided."""
    if names(condition) - {"i", "j", "n"}:
        return None  # a condition on parameters is not decided here
    variables = dependence(condition)
    if not variables:
        return _first_that_holds([(1, 1, 1)[: 3 if family else 2]], condition)
    if len(variables) == 1:
        cells = _first_cell_on_path(condition, PATH_OF[next(iter(variables))], family)
        if cells is not None:
            return cells
    linear = _linear_witness(condition, family)
    if linear is not None:
        return linear
    period = repeats((condition,), {})
    largest = FARTHEST_FAMILY if family else FARTHEST
    return _first_cell_by_search(condition, period.enough, family) if period and period.enough <= largest else None


def _first_cell_on_path(condition: Node, path: Mapping[str, tuple[int, int]], family: bool) -> list[Cell] | None:
    """First cell at which a condition on one position or one difference holds; same result type as `_first_cell`."""
    positions = {name: path[name] for name in path if family or name != "n"}
    course = follow_path((condition,), positions, {})
    limit = MOST_SINGLE_EXACT if may_be_irrational(condition) else MOST_SINGLE
    if course is None or not course.constant or len(course.singles) > limit:
        return None
    starts = [piece.start for piece in course.pieces if piece.components[0] != 0]
    earlier = [step for step in course.singles if step < min(starts, default=step + 1)]
    steps = [*earlier, *([min(starts)] if starts else [])]
    return _first_that_holds(
        (tuple(first + by * step for first, by in positions.values()) for step in steps), condition
    )


def _linear_witness(condition: Node, family: bool) -> list[Cell] | None:
    """Cells that include the first at which linear inequalities hold; empty if none, None if undecided."""
    inequalities = cases_of(condition)
    if not inequalities.exact:
        return None
    witnesses = []
    for case in inequalities.cases:
        point = next(points(case, family=family), ())
        if point is None:
            return None
        if point:
            witnesses.append(point)
    return witnesses


def _first_that_holds(cells: Iterable[Cell], condition: Node) -> list[Cell] | None:
    """First of the given cells at which the condition holds; same result type as `_first_cell`."""
    try:
        return list(islice((cell for cell in cells if _holds(condition, cell)), 1))
    except FormulaError:
        return None


def _holds(condition: Node, cell: Cell) -> bool:
    """True if the condition holds at the cell, or has no value there."""
    try:
        return exact.holds(exact.evaluate(condition, dict(zip("ijn", cell, strict=False))))
    except NoValue:
        return True  # a part of the condition has no value itself


def _first_cell_by_search(condition: Node, scale: int, family: bool) -> list[Cell] | None:
    """First cell up to a scale at which the condition holds; same result type as `_first_cell`."""
    for size in range(1, scale + 1):
        cells = _new_cells(size, family)
        try:
            truth = numbering.evaluate(condition, cells, {})
        except FormulaError:
            return None
        holds = np.flatnonzero(np.array([value != 0 for value in truth.values])[truth.codes])
        if holds.size:
            return [tuple(int(positions[holds[0]]) for positions in cells.values())]
    return []


def _new_cells(scale: int, family: bool) -> dict[str, NDArray[np.int64]]:
    """Cells of a scale that smaller scales do not have: those of its last query, or for a family all its pairs."""
    if not family:
        return {"i": np.arange(1, scale + 1), "j": np.full(scale, scale)}
    queries, keys = np.tril_indices(scale)
    return {"i": keys + 1, "j": queries + 1, "n": np.full(len(keys), scale)}


def _largest_scale(formula: Formula) -> int:
    """Scale up to which every pair of the formula is tested."""
    if "n" in formula.variables:
        return FARTHEST_EXACT_FAMILY if formula.exact_only else FARTHEST_FAMILY
    return FARTHEST_EXACT if formula.exact_only else FARTHEST


def _test_all_pairs(formula: Formula, farthest: int) -> tuple[int, NoValue | None]:
    """Test every pair, scale by scale: the largest scale that could be tested, and the first error."""
    for scale in range(1, farthest + 1):
        try:
            formula.entries(*_new_cells(scale, "n" in formula.variables).values())
        except NoValue as error:
            return scale, error
        except FormulaError:  # a value too large, or one that is not decided
            return scale - 1, None
    return farthest, None
