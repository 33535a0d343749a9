"""Print the cells of recorded trials beside two baselines: PYTHONPATH=. python docs/results/cells.py RECORD ...

A record is a folder of docs/results, or the beginning of a name of its trials. Read are the recorded cells that ship
with the package (circuits/forecast/cells.csv). Cells of one question, asked by several of these trials, are one line.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

from lengthgen.circuits.forecast.features import Labels
from lengthgen.circuits.forecast.rates import Rates, counts_of
from lengthgen.circuits.forecast.record import FITTED, JUDGED, REGISTERED, RecordedCell, recorded_cells

HEAD = ("task", "operands", "encoding", *("coverage", "distractors", "rate"), "generalize", "first failures")
RULES = ("coverage", "distractors")
POPULATION_RULES = ("literal", "coverage", "distractors", "own-token", "distractors-with-token")
FEWEST = 3
"""Least number of fitting runs of a cell of a registered population that counts."""
OPERANDS = {"aligned": "padded"}
ANSWERS = {True: "yes", False: "no", None: ""}
USUAL = 20
"""Largest test scale that is not named."""


def question_of(cell: RecordedCell) -> tuple[str, int | None, str, str]:
    """Return task, base, operands and encoding of a cell."""
    return cell.task, cell.base, cell.features.operands, cell.encoding


def rate_of(cell: RecordedCell) -> float | None:
    """Return the rate by encoding and format: the share of fitting runs of random tasks that generalize; None if none.

    The runs are those of the half of the random tasks that is free for amendments, whatever SRC does.
    """
    solved, fit = _counted().counts.get((cell.encoding, cell.features.operands), (0, 0))
    return solved / fit if fit else None


@cache
def _counted() -> Rates:
    free = [cell for cell in recorded_cells() if (cell.record, cell.half) == (REGISTERED[0], FITTED)]
    return Rates.of(map(counts_of, free))


def questions(names: Sequence[str]) -> list[list[RecordedCell]]:
    """Return the cells of named tasks in the named records, those of one question and the same scales together.

    Raises:
        ValueError: a name has no such cell.
    """
    groups: dict[object, list[RecordedCell]] = {}
    for name in names:
        cells = [cell for cell in recorded_cells() if cell.record.startswith(name) and not cell.half]
        if not cells:
            raise ValueError(f"no trial of named tasks begins with '{name}'")
        for cell in cells:
            groups.setdefault((question_of(cell), cell.train, cell.test), []).append(cell)
    return list(groups.values())


def line_of(cells: Sequence[RecordedCell]) -> str:
    """Return the line of one question: answers, rate, and what runs did."""
    cell, rate = cells[0], rate_of(cells[0])
    failures = sorted(scale for each in cells for scale in each.first_failures)
    parts = (
        f"{cell.task}{'' if cell.base is None else f' base {cell.base}'}"
        + ("" if cell.test == USUAL else f" to {cell.test}"),
        OPERANDS.get(cell.features.operands, cell.features.operands),
        cell.encoding,
        *(ANSWERS[cell.answers[rule]] for rule in RULES),
        "" if rate is None else f"{rate:.2f}",
        f"{sum(each.generalize for each in cells)} of {sum(each.fit for each in cells)}",
        "-".join(map(str, dict.fromkeys((failures[0], failures[-1])))) if failures else "none",
    )
    return f"| {' | '.join(parts)} |"


def right(asked: Sequence[Sequence[RecordedCell]]) -> str:
    """Return how often each rule and baseline names what most fitting runs of a question do, where it answers."""
    counts = [(cells[0], sum(cell.generalize for cell in cells), sum(cell.fit for cell in cells)) for cells in asked]
    decided = [(cell, solved > fit / 2) for cell, solved, fit in counts if 2 * solved != fit]
    answers = {rule: [(cell.answers[rule], most) for cell, most in decided] for rule in RULES}
    answers["always-no"] = [(False, most) for _, most in decided]
    answers["rate"] = [
        (None if rate is None else rate > 0.5, most) for cell, most in decided for rate in [rate_of(cell)]
    ]
    given = {name: [said == most for said, most in pairs if said is not None] for name, pairs in answers.items()}
    return f"Right: {', '.join(f'{name} in {sum(each)} of {len(each)}' for name, each in given.items())}."


def population_lines() -> Iterator[str]:
    """Yield a line for each registered population and kind of encoding: how often rules and baselines are right.

    Counted are the cells of the half that judges with three or more fitting runs and a majority.
    """
    yield from table_head(("population", "encodings", "cells", "generalize", *POPULATION_RULES, "always-no", "rate"))
    for record, ideal in product(REGISTERED, (False, True)):
        cells = [
            cell
            for cell in recorded_cells()
            if (cell.record, cell.half) == (record, JUDGED) and (cell.features.labels is Labels.IDEAL) == ideal
            if cell.fit >= FEWEST and 2 * cell.generalize != cell.fit
        ]
        most = [cell.generalize > cell.fit / 2 for cell in cells]
        counts = [
            sum(cell.answers[rule] == seen for cell, seen in zip(cells, most, strict=True)) for rule in POPULATION_RULES
        ]
        rated = sum(((rate_of(cell) or 0) > 0.5) == seen for cell, seen in zip(cells, most, strict=True))
        parts = (
            record.split("/")[1],
            "ideal" if ideal else "in use",
            len(cells),
            sum(most),
            *counts,
            most.count(False),
            rated,
        )
        if cells:
            yield f"| {' | '.join(map(str, parts))} |"


def table_head(names: Sequence[str]) -> tuple[str, str]:
    """Return the two lines that begin a table."""
    return f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"


def lines(names: Sequence[str]) -> Iterator[str]:
    """Yield the table of some records, and how often each rule and baseline is right."""
    asked = questions(names)
    yield from (*table_head(HEAD), *map(line_of, asked), "", right(asked))


if __name__ == "__main__":
    try:
        print("\n".join(lines(sys.argv[1:])))
    except ValueError as error:
        sys.exit(f"error: {error}")
    if "verdict" in sys.argv[1:]:
        print("\n".join(["", *population_lines()]))
