"""Which random tasks are equal up to the names of their symbols, and what do rules lose if equal ones count once?

PYTHONPATH=. python docs/results/verdict/equal_tasks.py, at the root of the project, prints the lines of two tables for
the stored runs (a minute).

Two languages are equal here if letters and states can be renamed so that every word has the same states; which states
accept does not matter, since the tasks write the states. Two circuits are equal if their digits can be renamed so that
the outputs are the same at all scales to LARGEST, for all prompts of a scale or PROMPTS drawn ones.
"""

from collections import defaultdict
from collections.abc import Hashable, Set
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import permutations, product
from pathlib import Path

import numpy as np

from lengthgen.circuits.languages.random_languages import random_language
from lengthgen.circuits.languages.regular import Automaton
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.families import RANDOM_LANGUAGE, WITH_STATES
from lengthgen.circuits.tasks.spec import parse_task
from lengthgen.empirical.studies.verdict.frozen import load_frozen
from lengthgen.empirical.studies.verdict.pairs import Pair, compare, comparison
from lengthgen.empirical.studies.verdict.population import HALVES
from lengthgen.empirical.studies.verdict.preregistration import load_preregistration
from lengthgen.empirical.studies.verdict.runs import load_runs, seen_cells

RECORD = Path(__file__).parent
POPULATIONS = ("random-tasks", "random-languages", "swapped-arguments")
LARGEST = 20
PROMPTS = 64
"""Largest number of prompts of a scale on which circuits are compared."""
Place = tuple[str, str]
"""Population and half of a task."""


def renamed_steps(automaton: Automaton) -> Hashable:
    """Return the steps of an automaton with states and letters numbered so that renaming either changes nothing."""
    letters = {letter for _, letter in automaton.step}

    def numbered(order: tuple[str, ...]) -> tuple[tuple[int, int, int], ...]:
        """Steps as (state, letter, next state), the states in the order in which words reach them."""
        number, steps = {0: 0}, []
        for state in (reached_states := [0]):
            for place, letter in enumerate(order):
                if (after := automaton.step.get((state, letter))) is not None:
                    if after not in number:
                        number[after] = len(number)
                        reached_states.append(after)
                    steps.append((number[state], place, number[after]))
        return tuple(steps)

    return min(map(numbered, permutations(letters)))


def renamed_outputs(circuit: Task) -> str:
    """Return a hash of a circuit's outputs on the same prompts, equal for circuits that differ in names of digits."""
    digits = len(circuit.alphabet) - 2  # the last two are the signs for the end of the prompt and of the output
    hashes = {order: sha256() for order in permutations(range(digits))}
    for scale in range(1, LARGEST + 1):
        if digits**scale <= PROMPTS:
            operands = np.array(list(product(range(digits), repeat=scale)))
        else:
            operands = np.random.default_rng(scale).integers(digits, size=(PROMPTS, scale))
        prompts = np.insert(operands, scale, digits, axis=1)
        for order, hashed in hashes.items():
            names = np.array([*order, digits, digits + 1], dtype=np.uint8)
            hashed.update(np.argsort(names)[circuit.outputs(names[prompts])].astype(np.uint8).tobytes())
    return min(hashed.hexdigest() for hashed in hashes.values())


@cache
def identity(task: str) -> Hashable:
    """Return what tasks share that are equal up to names of symbols: languages exactly, circuits on prompts."""
    if task.startswith(RANDOM_LANGUAGE):
        return renamed_steps(random_language(task.removesuffix(WITH_STATES)))
    return renamed_outputs(parse_task(task).plain())


@cache
def places() -> dict[str, Place]:
    """Return where each task is, (population, half)."""
    return {
        cell.task: (name, cell.half)
        for name in POPULATIONS
        for cell in load_frozen(load_preregistration(name), RECORD / name).cells
    }


def task_rows() -> list[str]:
    """Return a line for each population and half: tasks, how many of them differ, and how many equal one elsewhere."""
    by_place: dict[Place, list[str]] = defaultdict(list)
    for task, place in places().items():
        by_place[place].append(task)
    return [
        f"| {' | '.join(place)} | {len(tasks)} | {len(set(map(identity, tasks)))} | "
        f"{sum(identity(task) in elsewhere(place) for task in tasks)} |"
        for place, tasks in sorted(by_place.items())
    ]


@cache
def elsewhere(place: Place) -> Set[Hashable]:
    """Return what is in other places: in the other half and in other populations."""
    languages = {task.startswith(RANDOM_LANGUAGE) for task, other in places().items() if other == place}
    return {
        identity(task)
        for task, other in places().items()
        if other != place and task.startswith(RANDOM_LANGUAGE) in languages
    }


def pair_rows(population: str) -> list[str]:
    """Return a line for each registered pair of rules on the half that judges: tasks, e-value and the better one.

    First each task counts, then equal ones once, then of these only those that equal no task elsewhere.
    """
    counted = (
        judged(population, once=False, left_out=set()),
        judged(population, once=True, left_out=set()),
        judged(population, once=True, left_out=elsewhere((population, HALVES[1]))),
    )
    return [f"| {' | '.join(pair)} | {' | '.join(answers[pair] for answers in counted)} |" for pair in counted[0]]


def judged(population: str, *, once: bool, left_out: Set[Hashable]) -> dict[Pair, str]:
    """Return the pairs of rules with numbers of tasks, the e-value against the worse one, and the better one.

    Args:
        population: name of a preregistration.
        once: True if equal tasks are one.
        left_out: identities of tasks that do not count.
    """
    preregistration = load_preregistration(population)
    frozen = load_frozen(preregistration, RECORD / population)
    runs = load_runs(frozen, RECORD / population)
    counting = {
        cell.cell.name: cell for cell in seen_cells(frozen, runs) if cell.fit >= preregistration.stopping.fitting
    }
    name_of: dict[Hashable, str] = {}
    compared = comparison(frozen, runs)
    evidence = {}
    for pair, judging in compared.reached.items():
        cells = [cell for cell in judging if cell.name in counting and identity(cell.task) not in left_out]
        tasks = [name_of.setdefault(identity(cell.task), cell.task) if once else cell.task for cell in cells]
        named = [
            replace(counting[cell.name], cell=replace(cell, task=task)) for cell, task in zip(cells, tasks, strict=True)
        ]
        evidence[pair] = compare(named, pair)
    return {
        (answer["first"], answer["second"]): f"{answer['tasks']} | "
        f"{max(answer['against_first'], answer['against_second']):.3g} | {answer['better']}"
        for answer in replace(compared, evidence=evidence).as_json()
    }


if __name__ == "__main__":
    print("\n".join([*task_rows(), *(line for population in POPULATIONS for line in pair_rows(population))]))
