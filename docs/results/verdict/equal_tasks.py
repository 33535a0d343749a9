"""Which random tasks are equal up to the names of their symbols, and what do rules lose if equal ones count once?

PYTHONPATH=. python docs/results/verdict/equal_tasks.py, at the root of the project, prints the lines of two tables for
the stored runs (a minute). What equal means: lengthgen.empirical.studies.verdict.equal_tasks.
"""

from collections import defaultdict
from functools import cache
from pathlib import Path

from lengthgen.empirical.studies.verdict.equal_tasks import (
    Place,
    different,
    elsewhere,
    identity,
    judged_once,
    places,
)
from lengthgen.empirical.studies.verdict.frozen import FrozenCells, load_frozen
from lengthgen.empirical.studies.verdict.pairs import Comparison
from lengthgen.empirical.studies.verdict.population import HALVES
from lengthgen.empirical.studies.verdict.preregistration import load_preregistration
from lengthgen.empirical.studies.verdict.runs import load_runs

RECORD = Path(__file__).parent
POPULATIONS = ("random-tasks", "random-languages", "swapped-arguments")


@cache
def populations() -> dict[str, FrozenCells]:
    """Return the frozen answers of every preregistration."""
    return {name: load_frozen(load_preregistration(name), RECORD / name) for name in POPULATIONS}


@cache
def placed() -> dict[str, Place]:
    """Return where each task is, (population, half)."""
    return places(populations())


def task_rows() -> list[str]:
    """Return a line for each population and half: tasks, how many of them differ, and how many equal one elsewhere."""
    by_place: dict[Place, list[str]] = defaultdict(list)
    for task, place in placed().items():
        by_place[place].append(task)
    rows = []
    for place, tasks in sorted(by_place.items()):
        others = elsewhere(placed(), place)
        equal = sum(identity(task) in others for task in tasks)
        rows.append(f"| {' | '.join(place)} | {len(tasks)} | {different(tasks)} | {equal} |")
    return rows


def pair_rows(population: str) -> list[str]:
    """Return a line for each registered pair of rules on the half that judges: tasks, e-value and the better one.

    First each task counts, then equal ones once, then of these only those that equal no task elsewhere.
    """
    frozen = populations()[population]
    runs, others = load_runs(frozen, RECORD / population), elsewhere(placed(), (population, HALVES[1]))
    counted = [
        answers(judged_once(frozen, runs, once=False)),
        answers(judged_once(frozen, runs, once=True)),
        answers(judged_once(frozen, runs, once=True, left_out=others)),
    ]
    return [f"| {' | '.join(pair)} | {' | '.join(of_pair[pair] for of_pair in counted)} |" for pair in counted[0]]


def answers(compared: Comparison) -> dict[tuple[str, str], str]:
    """Return the pairs of rules with numbers of tasks, the e-value against the worse one, and the better one."""
    return {
        pair: f"{len(evidence.tasks)} | {max(evidence.against):.3g} | {compared.better[pair]}"
        for pair, evidence in compared.evidence.items()
    }


if __name__ == "__main__":
    print("\n".join([*task_rows(), *(line for population in POPULATIONS for line in pair_rows(population))]))
