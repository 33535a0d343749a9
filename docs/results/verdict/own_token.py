"""What does the rule own-token, which came later, say on random tasks? Its answers on the half for amendments.

PYTHONPATH=. python docs/results/verdict/own_token.py, at the root of the project: asks the rule on cells that the runs
decided since the last time (seconds a task), adds the answers to own-token-later.json, and prints lines of a table.
"""

import runpy
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from lengthgen.circuits.tasks.families import RANDOM_LANGUAGE
from lengthgen.empirical.verdict.frozen import spec_of
from lengthgen.empirical.verdict.preregistration import load_preregistration
from lengthgen.empirical.verdict.rules import answers
from lengthgen.empirical.verdict.runs import SeenCell
from lengthgen.infrastructure.files import read_json, write_json

ANSWERS = Path(__file__).parent / "own-token-later.json"
NAME = "random-tasks"


def refused() -> list[SeenCell]:
    """Return the cells of the half for amendments to which minimised-distractors says no and own-token may say yes."""
    with_majority = runpy.run_path(str(ANSWERS.with_name("languages.py")))["with_majority"]
    cells: list[SeenCell] = with_majority(NAME)
    return [
        cell for cell in cells if cell.cell.half == "amendment" and cell.cell.says("minimised-distractors") is False
    ]


def asked(cells: Iterable[SeenCell]) -> dict[str, int | None]:
    """Return cell -> the scale at which own-token expects it to break first; None if it should generalize."""
    preregistration = load_preregistration(NAME)
    by_task: dict[tuple[str, str], list[SeenCell]] = defaultdict(list)
    for cell in cells:
        by_task[cell.cell.task, cell.cell.format].append(cell)
    says = {}
    for (task, form), of_task in by_task.items():
        guesses = answers(
            spec_of(task, form),
            [cell.cell.encoding for cell in of_task],
            preregistration.train_scales,
            preregistration.test_scales,
        )
        says |= {cell.cell.name: guesses[cell.cell.encoding]["own-token"].breaks_at for cell in of_task}
    return says


def rows(says: Mapping[str, int | None]) -> list[str]:
    """Return a line of a table for each kind of task and answer: how many cells generalize."""
    counts: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for cell in refused():
        if cell.cell.name in says:
            kind = "language" if cell.cell.task.startswith(RANDOM_LANGUAGE) else "circuit"
            counts[kind, "yes" if says[cell.cell.name] is None else "no"][bool(cell.observed)] += 1
    return [f"| {kind} | {answer} | {of[True]} of {of.total()} |" for (kind, answer), of in sorted(counts.items())]


if __name__ == "__main__":
    stored = read_json(ANSWERS)
    stored |= asked(cell for cell in refused() if cell.cell.name not in stored)
    write_json(ANSWERS, dict(sorted(stored.items())))
    print("\n".join(rows(stored)))
