"""The fewest operators by their definition: every step must be hit by an operator that computes it through some wiring.

All operators of an arity are written out, so this shares nothing with the search of `circuits.src`; it is for tiny
alphabets and arities. A function is the tuple of its values, in lexicographic order of its arguments.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import permutations, product
from math import inf

Function = tuple[int, ...]


def all_functions(symbols: int, arguments: int) -> list[Function]:
    """Every function of so many arguments over 0 .. symbols - 1."""
    return list(product(range(symbols), repeat=symbols**arguments))


@cache
def served(symbols: int, arity: int, visible: int, *, repeats: bool = True) -> dict[Function, int]:
    """Function of the visible positions -> the operators that compute it through some wiring, as a set of bits.

    A function that is not there is computed by none. `repeats`: whether a wiring may read a position twice.
    """
    words = list(product(range(symbols), repeat=visible))
    wirings = product(range(visible), repeat=arity) if repeats else permutations(range(visible), arity)
    keys = []
    for wiring in wirings:
        arguments = [[word[position] for position in wiring] for word in words]
        keys.append([sum(value * symbols**place for place, value in enumerate(reversed(key))) for key in arguments])
    found: dict[Function, int] = {}
    for index, operator in enumerate(all_functions(symbols, arity)):
        for of_wiring in keys:
            function = tuple(operator[key] for key in of_wiring)
            found[function] = found.get(function, 0) | 1 << index
    return found


def fewest_operators(steps: Iterable[int]) -> float:
    """The least number of operators that hit every step; infinite where a step is hit by none."""
    distinct = sorted(set(steps), key=int.bit_count)
    if not all(distinct):
        return inf
    needed: list[int] = []
    for step in distinct:
        if not any(other & step == other for other in needed):
            needed.append(step)
    return _fewest(needed, [], len(needed))


def _fewest(steps: Sequence[int], groups: list[int], best: int) -> int:
    """The fewest groups of steps, each hit by one operator, that take in the steps and those already grouped."""
    if len(groups) >= best:
        return best
    if not steps:
        return len(groups)
    first, *rest = steps
    for index, group in enumerate(groups):
        if group & first:
            best = _fewest(rest, [*groups[:index], group & first, *groups[index + 1 :]], best)
    return _fewest(rest, [*groups, first], best)
