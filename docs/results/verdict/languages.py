"""On which tasks does the rule "distractors" err? Cells by what determines an output, as lines of a table.

PYTHONPATH=. python docs/results/verdict/languages.py, at the root of the project, for the stored runs of random tasks.
"""

from collections import Counter, defaultdict
from pathlib import Path

from circuits.languages.memory import definiteness, own_letter_decides
from circuits.languages.named import random_language
from circuits.tasks.families import RANDOM_LANGUAGE, WITH_STATES
from empirical.verdict.frozen import load_frozen
from empirical.verdict.preregistration import load_preregistration
from empirical.verdict.runs import load_runs
from empirical.verdict.seen import seen_cells

FOLDER = Path(__file__).parent / "random-tasks"
IDEAL = ("ipe", "ipe-sh")


def rows() -> list[str]:
    """Return a line of a table for each half and kind of task: how many cells generalize, and errors of the rule."""
    preregistration = load_preregistration(FOLDER.name)
    frozen = load_frozen(preregistration, FOLDER)
    tasks: dict[tuple[str, str], set[str]] = defaultdict(set)
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for cell in seen_cells(frozen, load_runs(frozen, FOLDER)):
        if cell.fit < preregistration.stopping.fitting or cell.observed is None:
            continue
        kind = cell.cell.half, kind_of(cell.cell.task, preregistration.train[1] + 1, preregistration.test[1])
        tasks[kind].add(cell.cell.task)
        encoding = "ideal" if cell.cell.encoding in IDEAL else "other"
        counts[kind][encoding] += 1
        counts[kind][f"{encoding}, generalize"] += cell.observed
        counts[kind]["wrong yes"] += bool(cell.says("distractors")) and not cell.observed
        counts[kind]["wrong no"] += cell.says("distractors") is False and cell.observed
    return [
        f"| {' | '.join(kind)} | {len(tasks[kind])} "
        + "".join(f"| {of_kind[f'{name}, generalize']} of {of_kind[name]} " for name in ("ideal", "other"))
        + f"| {of_kind['wrong yes']} | {of_kind['wrong no']} |"
        for kind, of_kind in sorted(counts.items())
    ]


def kind_of(task: str, first: int, last: int) -> str:
    """Return what determines a state of a language, after the letters first, ..., last; "circuit" for other tasks."""
    if not task.startswith(RANDOM_LANGUAGE):
        return "circuit"
    automaton = random_language(task.removesuffix(WITH_STATES))
    if own_letter_decides(automaton, first, last):
        return "language, own letter"
    return "language, other" if definiteness(automaton) is None else "language, last letters"


if __name__ == "__main__":
    print("\n".join(rows()))
