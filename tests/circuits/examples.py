"""Tasks for the tests: small, written as a user would, and random ones."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.addition import addition as catalogue_addition

Symbols = tuple[str, ...]


def addition(base: int) -> Task:
    """The task of the catalogue without its circuit: two operands."""
    return replace(catalogue_addition(base), reference=None)


def direct_parity() -> Task:
    """`x1..xn -> parity`, no chain of thought: needs n arguments."""
    return Task(
        name="direct-parity",
        alphabet=("0", "1"),
        prompt=lambda n: [("0", "1")] * n,
        generate=lambda prompt: [str(prompt.count("1") % 2)],
    )


def random_task(seed: int, *, symbols: int, arity: int, scales: int, local: bool = True, fixed: float = 0) -> Task:
    """Every step a random function: of up to `arity` random earlier positions (local), or of the whole prompt.

    A share `fixed` of the prompt's positions has one symbol only: few inputs, so many wirings.
    """
    alphabet = tuple("abc"[:symbols])
    choices, laws = {}, {}
    for scale in range(1, scales + 1):
        rng = random.Random(100 * seed + scale)
        laws[scale] = _random_law(rng, alphabet, arity, scale, local)
        choices[scale] = [alphabet[: 1 if rng.random() < fixed else symbols] for _ in range(scale)]

    def generate(prompt: Symbols) -> Sequence[str]:
        sequence = list(prompt)
        for positions, table in laws[len(prompt)]:
            sequence.append(table[tuple(sequence[position] for position in positions)])
        return sequence[len(prompt) :]

    return Task(name=f"random-{seed}", alphabet=alphabet, prompt=choices.__getitem__, generate=generate)


def _random_law(
    rng: random.Random, alphabet: Symbols, arity: int, scale: int, local: bool
) -> list[tuple[tuple[int, ...], dict[Symbols, str]]]:
    steps = []
    for step in range(rng.randint(1, scale + 1)):
        visible = scale + step
        positions = tuple(rng.choices(range(visible), k=rng.randint(1, arity))) if local else tuple(range(scale))
        keys = itertools.product(alphabet, repeat=len(positions))
        # Skewed tables, so that some are constant, some ignore a slot, and some steps need the same.
        values = rng.choices(alphabet, k=rng.choice([1, 2, 3]))
        steps.append((positions, {key: rng.choice(values) for key in keys}))
    return steps


def renamed(task: Task) -> Task:
    """The task with its symbols renamed and its alphabet in another order."""
    names = {symbol: f"<{symbol}>" for symbol in task.alphabet}
    old = {new: symbol for symbol, new in names.items()}
    return replace(
        task,
        alphabet=tuple(names[symbol] for symbol in (*task.alphabet[1:], task.alphabet[0])),
        prompt=lambda n: [[names[symbol] for symbol in choice] for choice in task.prompt(n)],
        generate=lambda prompt: [names[symbol] for symbol in task.generate(tuple(old[s] for s in prompt))],
        vectorised=None,
        reference=None,
    )
