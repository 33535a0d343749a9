"""On which tasks does the rule "distractors" err, and how far may a letter be that decides? Lines of two tables.

PYTHONPATH=. python docs/results/verdict/languages.py, at the root of the project, for the stored runs.
"""

from collections import Counter, defaultdict
from pathlib import Path

from lengthgen.circuits.languages.random_languages import random_language
from lengthgen.circuits.languages.regular import definiteness, own_letter_decides
from lengthgen.circuits.tasks.families import RANDOM_LANGUAGE, WITH_STATES
from lengthgen.empirical.verdict.frozen import load_frozen
from lengthgen.empirical.verdict.preregistration import load_preregistration
from lengthgen.empirical.verdict.runs import SeenCell, load_runs, seen_cells

RECORD = Path(__file__).parent
FOLDER = RECORD / "random-tasks"
IDEAL = ("ipe", "ipe-sh")


def rows() -> list[str]:
    """Return a line of a table for each half and kind of task: how many cells generalize, and errors of the rule."""
    preregistration = load_preregistration(FOLDER.name)
    tasks: dict[tuple[str, str], set[str]] = defaultdict(set)
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for cell in with_majority(FOLDER.name):
        kind = cell.cell.half, kind_of(cell.cell.task, preregistration.train[1] + 1, preregistration.test[1])
        tasks[kind].add(cell.cell.task)
        encoding = "ideal" if cell.cell.encoding in IDEAL else "other"
        counts[kind][encoding] += 1
        counts[kind][f"{encoding}, generalize"] += cell.observed
        counts[kind]["wrong yes"] += bool(cell.cell.says("distractors")) and not cell.observed
        counts[kind]["wrong no"] += cell.cell.says("distractors") is False and cell.observed
    return [
        f"| {' | '.join(kind)} | {len(tasks[kind])} "
        + "".join(f"| {of_kind[f'{name}, generalize']} of {of_kind[name]} " for name in ("ideal", "other"))
        + f"| {of_kind['wrong yes']} | {of_kind['wrong no']} |"
        for kind, of_kind in sorted(counts.items())
    ]


def with_majority(name: str) -> list[SeenCell]:
    """Return the cells of a preregistration that count and have a majority."""
    preregistration = load_preregistration(name)
    frozen = load_frozen(preregistration, RECORD / name)
    cells = seen_cells(frozen, load_runs(frozen, RECORD / name))
    return [cell for cell in cells if cell.fit >= preregistration.stopping.fitting and cell.observed is not None]


def reach_rows() -> list[str]:
    """Return a line for each number of letters that decide: cells that generalize, in the half for amendments.

    Languages of random-languages whose own letter decides each state beyond training are left out.
    """
    preregistration = load_preregistration("random-languages")
    counts: dict[float, Counter[str]] = defaultdict(Counter)
    for cell in with_majority("random-languages"):
        kind = kind_of(cell.cell.task, preregistration.train[1] + 1, preregistration.test[1])
        if cell.cell.half == "amendment" and kind != "language, own letter":
            letters = definiteness(random_language(cell.cell.task.removesuffix(WITH_STATES)))
            of_letters = counts[float("inf") if letters is None else letters]
            of_letters[cell.cell.encoding] += 1
            of_letters[f"{cell.cell.encoding}, generalize"] += bool(cell.observed)
    return [
        f"| {letters:g} "
        + "".join(f"| {of[f'{name}, generalize']} of {of[name]} " for name in preregistration.encodings)
        + "|"
        for letters, of in sorted(counts.items())
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
    print("\n".join([*rows(), *reach_rows()]))
