"""Random tasks that are equal up to the names of their symbols, and the evidence if equal ones count once ([F]).

Two languages are equal if letters and states can be renamed so that every word has the same states; which states accept
does not matter, since the tasks write the states.  Two circuits are equal if their digits can be renamed so that the
outputs are the same at all scales to LARGEST, for all prompts of a scale or PROMPTS drawn ones.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import permutations, product

import numpy as np

from lengthgen.circuits.languages.random_languages import random_language
from lengthgen.circuits.languages.regular import Automaton
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.families import RANDOM_LANGUAGE, WITH_STATES
from lengthgen.circuits.tasks.spec import parse_task
from lengthgen.empirical.studies.verdict.frozen import FrozenCells
from lengthgen.empirical.studies.verdict.pairs import Comparison, compare, comparison
from lengthgen.empirical.studies.verdict.runs import CellRun, seen_cells

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


def places(populations: Mapping[str, FrozenCells]) -> dict[str, Place]:
    """Return where each task is, (population, half)."""
    return {cell.task: (name, cell.half) for name, frozen in populations.items() for cell in frozen.cells}


def elsewhere(placed: Mapping[str, Place], place: Place) -> set[Hashable]:
    """Return what is in other places, the other half and other populations, of the kinds of task of this place."""
    languages = {task.startswith(RANDOM_LANGUAGE) for task, other in placed.items() if other == place}
    return {
        identity(task)
        for task, other in placed.items()
        if other != place and task.startswith(RANDOM_LANGUAGE) in languages
    }


def judged_once(
    frozen: FrozenCells,
    runs: Mapping[str, Sequence[CellRun]],
    *,
    once: bool,
    left_out: Set[Hashable] = frozenset(),
) -> Comparison:
    """Compare every registered pair of rules on the half that judges.

    Args:
        frozen: frozen answers.
        runs: finished runs by cell.
        once: True if equal tasks are one.
        left_out: identities of tasks that do not count.
    """
    fewest = frozen.preregistration.stopping.fitting
    counting = {cell.cell.name: cell for cell in seen_cells(frozen, runs) if cell.fit >= fewest}
    name_of: dict[Hashable, str] = {}
    compared = comparison(frozen, runs)
    evidence = {}
    for pair, judging in compared.reached.items():
        cells = [
            cell for cell in judging if cell.name in counting and not (left_out and identity(cell.task) in left_out)
        ]
        tasks = [name_of.setdefault(identity(cell.task), cell.task) if once else cell.task for cell in cells]
        named = [
            replace(counting[cell.name], cell=replace(cell, task=task)) for cell, task in zip(cells, tasks, strict=True)
        ]
        evidence[pair] = compare(named, pair)
    return replace(compared, evidence=evidence)


def different(tasks: Iterable[str]) -> int:
    """Return how many tasks differ in more than names of symbols."""
    return len({identity(task) for task in tasks})
