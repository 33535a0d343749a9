"""SRC by definition, over symbols and dictionaries: every wiring, every partition, every operator is tried.

Shares nothing with the circuits package but the task's own two functions, which it calls itself.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from types import EllipsisType

Symbols = tuple[str, ...]
Table = frozenset[tuple[Symbols, str]]
"""Partial function from argument symbols to a symbol, as its pairs."""
Prompt = Callable[[int], Sequence[Sequence[str] | EllipsisType]]
Generate = Callable[[Symbols], Sequence[str]]
Valid = Callable[[Symbols], bool]


def sequences(prompt: Prompt, generate: Generate, scale: int, valid: Valid | None = None) -> list[Symbols]:
    """Every instance of one scale, prompt and output; outputs go first where the prompt has an Ellipsis."""
    layout = prompt(scale)
    instances = []
    for symbols in itertools.product(*(tuple(choice) for choice in layout if choice is not ...)):
        if valid is None or valid(symbols):
            given, output = list(symbols), list(generate(symbols))
            placed = [output.pop(0) if choice is ... else given.pop(0) for choice in layout]
            instances.append((*placed, *output))
    return instances


def wirings(instances: list[Symbols], position: int, arity: int) -> dict[tuple[int, ...], Table]:
    """Return every tuple of earlier positions (1-based) that determines the position, with the table it asks for."""
    determining = {}
    for wiring in itertools.product(range(1, position), repeat=arity):
        table: dict[Symbols, str] = {}
        for instance in (each for each in instances if len(each) >= position):
            key = tuple(instance[p - 1] for p in wiring)
            if table.setdefault(key, instance[position - 1]) != instance[position - 1]:
                break
        else:
            determining[wiring] = frozenset(table.items())
    return determining


def step_tables(
    prompt: Prompt, generate: Generate, scale: int, arity: int, valid: Valid | None = None
) -> list[set[Table]]:
    """Return, for every step of one scale, every table that some wiring asks for."""
    instances, layout = sequences(prompt, generate, scale, valid), prompt(scale)
    steps = [p for p in range(1, max(map(len, instances)) + 1) if p > len(layout) or layout[p - 1] is ...]
    return [set(wirings(instances, position, arity).values()) for position in steps]


def fewest_by_partition(steps: Iterable[Iterable[Table]]) -> float:
    """The fewest blocks of a set partition of the steps such that each block has one operator in common."""
    different = sorted({frozenset(tables) for tables in steps}, key=len)
    if not all(different):
        return math.inf
    best = len(different)

    def place(index: int, blocks: list[set[Table]]) -> None:
        """Place a step in a block: the set of all unions of tables, one of each of its steps, that are functions."""
        nonlocal best
        if len(blocks) >= best:
            return
        if index == len(different):
            best = len(blocks)
            return
        for which, block in enumerate(blocks):
            merged = {a | b for a in block for b in different[index] if _is_function(a | b)}
            if merged:
                place(index + 1, [*blocks[:which], merged, *blocks[which + 1 :]])
        place(index + 1, [*blocks, set(different[index])])

    place(0, [])
    return best


def _is_function(table: Table) -> bool:
    return len({key for key, _ in table}) == len(table)


def fewest_by_hitting_set(steps: Iterable[Iterable[Table]], alphabet: Sequence[str], arity: int) -> float:
    """The fewest total functions of `arity` symbols such that each step is computed by one of them."""
    keys = list(itertools.product(alphabet, repeat=arity))
    functions = [frozenset(zip(keys, values, strict=True)) for values in itertools.product(alphabet, repeat=len(keys))]
    served_by = {
        frozenset(index for index, function in enumerate(functions) if any(table <= function for table in tables))
        for tables in map(list, steps)
    }
    if not all(served_by):
        return math.inf

    def hit(open_steps: list[frozenset[int]], count: int) -> bool:
        if not open_steps:
            return True
        return count > 0 and any(
            hit([step for step in open_steps if function not in step], count - 1)
            for function in min(open_steps, key=len)
        )

    return next(count for count in itertools.count(0) if hit(list(served_by), count))
