"""SRC is monotone in scale and arity, and bounded if both alphabet and arity are fixed."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, permutations, product
from math import factorial, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import UNDEFINED
from lengthgen.circuits.tasks import load
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.proofs_checks.papers.sequential.layout import Word, word_task

Function = tuple[int, ...]

Order = Callable[[Any, Any], bool]

SCALES = (1, 2, 3)
ARITIES = (1, 2, 3)
CIRCUITS = (("parity", None, 2, 5), ("addition-carry", 2, 3, 2), ("permutation", 3, 1, 5), ("sort-trace", 2, 2, 3))
"""(task, base, arity, largest scale) of the circuits on which the two arguments are carried out."""

Pair = tuple[int, int]
"""(number of symbols, arity)."""

FORCED: tuple[Pair, ...] = ((2, 1), (2, 2))
"""Pairs for which a task small enough for the search reaches the largest SRC."""
PERMUTATIONS = ((2, 5), (3, 8), (4, 5))
"""(base, largest scale) of the permutation controls."""


def all_functions(symbols: int, arguments: int) -> list[Function]:
    """Return all functions of `arguments` arguments over 0 .. symbols - 1, as tuples of their values."""
    return list(product(range(symbols), repeat=symbols**arguments))


@cache
def served(symbols: int, arity: int, visible: int, *, repeats: bool = True) -> dict[Function, int]:
    """Return function of the visible positions -> the operators that compute it through some wiring, as a bit set.

    A function that is missing is computed by none. `repeats` is True if a wiring may read a position twice.
    """
    words = list(product(range(symbols), repeat=visible))
    wirings = product(range(visible), repeat=arity) if repeats else permutations(range(visible), arity)
    keys = []
    for wiring in wirings:
        arguments = [[word[position] for position in wiring] for word in words]
        keys.append([sum(value * symbols**place for place, value in enumerate(reversed(key))) for key in arguments])
    operators_of: dict[Function, int] = {}
    for index, values in enumerate(all_functions(symbols, arity)):
        for of_wiring in keys:
            function = tuple(values[key] for key in of_wiring)
            operators_of[function] = operators_of.get(function, 0) | 1 << index
    return operators_of


def fewest_operators(steps: Iterable[int]) -> float:
    """Return the least number of operators such that each step has one of them; infinite if a step has none.

    A step is the bit set of the operators that compute it.
    """
    distinct = sorted(set(steps), key=int.bit_count)
    if not all(distinct):
        return inf
    needed: list[int] = []
    for step in distinct:
        if not any(other & step == other for other in needed):
            needed.append(step)
    return _fewest(needed, [], len(needed))


def _fewest(steps: Sequence[int], groups: list[int], best: int) -> int:
    """Least number of groups of steps with a common operator, for these steps and those already grouped."""
    if len(groups) >= best:
        return best
    if not steps:
        return len(groups)
    first, *rest = steps
    for index, group in enumerate(groups):
        if group & first:
            best = _fewest(rest, [*groups[:index], group & first, *groups[index + 1 :]], best)
    return _fewest(rest, [*groups, first], best)


def restricted(circuit: Circuit, largest_scale: int) -> Circuit:
    """Return the circuit without larger scales, and without the operators that only those use."""
    wirings = {scale: steps for scale, steps in circuit.wirings.items() if scale <= largest_scale}
    used = sorted({step.operator for steps in wirings.values() for step in steps})
    return replace(
        circuit,
        wirings={
            scale: tuple(replace(step, operator=used.index(step.operator)) for step in steps)
            for scale, steps in wirings.items()
        },
        operators=tuple(circuit.operators[index] for index in used),
    )


def padded(circuit: Circuit) -> Circuit:
    """Return the circuit with one more slot, which reads what the last slot reads."""
    symbols = len(circuit.task.alphabet)

    def repeat_last(step: Wiring) -> Wiring:
        return replace(step, arguments=(*step.arguments, step.arguments[-1]))

    def widen(table: NDArray[np.uint8]) -> NDArray[np.uint8]:
        wide = np.full(len(table) * symbols, UNDEFINED, dtype=np.uint8)
        keys = np.arange(len(table))
        wide[keys * symbols + keys % symbols] = table
        return wide

    return replace(
        circuit,
        arity=circuit.arity + 1,
        wirings={scale: tuple(map(repeat_last, steps)) for scale, steps in circuit.wirings.items()},
        operators=tuple(map(widen, circuit.operators)),
    )


@cache
def _tiny_values(arity: int, repeats: bool) -> dict[tuple[int, ...], list[float]]:
    """Task, given by the index of f_n for every n -> SRC up to each scale."""
    hit = [served(2, arity, n, repeats=repeats) for n in SCALES]
    steps = [[hit[n - 1].get(function, 0) for function in all_functions(2, n)] for n in SCALES]
    cache_of_fewest: dict[frozenset[int], float] = {}

    def fewest(needed: frozenset[int]) -> float:
        if needed not in cache_of_fewest:
            cache_of_fewest[needed] = fewest_operators(needed)
        return cache_of_fewest[needed]

    values = {}
    for task in product(*(range(len(of_scale)) for of_scale in steps)):
        chosen = [of_scale[index] for of_scale, index in zip(steps, task, strict=True)]
        values[task] = [fewest(frozenset(chosen[:n])) for n in SCALES]
    return values


def _carry_out(name: str, base: int | None, arity: int, largest: int, *, with_scale: Order, with_arity: Order) -> str:
    """Carry out both arguments on the circuits that the search finds for one task."""
    task = load(name, base=base)
    traces = traces_up_to(task, largest)
    result, wider_result = src(task, traces, arity), src(task, traces, arity + 1)
    if result.circuit is None:
        raise ValueError(f"{task.name} is infeasible at arity {arity}")
    padded(result.circuit).check(traces)
    for n in range(1, largest + 1):
        least = src(task, traces[:n], arity).values[n]
        part = restricted(result.circuit, n)
        part.check(traces[:n])
        if least is None or len(part.operators) < least or not with_scale(least, result.values[largest]):
            raise Refuted(f"{task.name}: {len(part.operators)} operators up to {n}, {least} are the fewest")
        if not with_arity(least, wider_result.values[n]):
            raise Refuted(f"{task.name}, scale {n}: {least} at arity {arity}, {wider_result.values[n]} at {arity + 1}")
    return f"{task.name} (arity {arity}, scales 1..{largest})"


def _task_text(task: tuple[int, ...]) -> str:
    """Text of a tiny task."""
    rows = (all_functions(2, n)[index] for n, index in zip(SCALES, task, strict=True))
    return ", ".join(f"f_{n} = {''.join(map(str, row))}" for n, row in zip(SCALES, rows, strict=True))


def forcing_steps(hit: Mapping[Function, int]) -> list[Function]:
    """Return functions such that operators which compute all of these compute all functions.

    There is one for each minimal set of operators.
    """
    least: dict[int, Function] = {}
    for function, operators in hit.items():
        if not any(other & operators == other and other != operators for other in hit.values()):
            least.setdefault(operators, function)
    return list(least.values())


def _require_forced(symbols: int, arity: int, value: int, hit: Mapping[Function, int]) -> None:
    """Require that search finds this SRC for a task that has all forcing steps.

    Scale n of the task appends the n-th forcing step of the first `arity` symbols.
    """
    steps = forcing_steps(hit)

    def output(word: Word) -> list[int]:
        key = sum(symbol * symbols**place for place, symbol in enumerate(reversed(word[:arity])))
        return [steps[len(word) - arity][key]]

    task = word_task(f"all functions of {arity} of {symbols} symbols", symbols, output, longer=arity - 1)
    src_bounds = src(task, traces_up_to(task, len(steps)), arity).bounds[len(steps)]
    if src_bounds != (value, value):
        raise Refuted(f"{task.name}: SRC up to scale {len(steps)} is {src_bounds[0]:g}, not {value}")


_LARGEST: Mapping[Pair, int] = {(2, 1): 4, (3, 1): 27, (4, 1): 256, (2, 2): 8, (2, 3): 68}


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "src-monotone",
    formalised("Definition 4", "SRC as a function of scale and arity"),
    r"\mathrm{SRC}_k(f,n)\le\mathrm{SRC}_k(f,n+1),\quad \mathrm{SRC}_{k+1}(f,n)\le\mathrm{SRC}_k(f,n)",
    strength=Strength.EXHAUSTIVE,
    reach=f"n <= {SCALES[-1]}",
    assumptions=("a wiring may read a position twice",),
    falsifiers={
        "it rises with every scale": {"with_scale": operator.lt},
        "it falls with the scale": {"with_scale": operator.ge},
        "it falls with every slot": {"with_arity": operator.gt},
        "it rises with the arity": {"with_arity": operator.le},
        "slots must differ": {"repeats": False},
    },
)
def src_is_monotone(with_scale: Order = operator.le, with_arity: Order = operator.ge, repeats: bool = True) -> Facts:
    """SRC(f, n) does not fall as n grows and, as slots may repeat, does not rise as the arity grows. Every task that
    appends a bit is checked for n <= 3; a general argument covers the rest.
    """
    values = [_tiny_values(arity, repeats) for arity in ARITIES]
    for arity, by_task in zip(ARITIES, values, strict=True):
        for task, values_by_scale in by_task.items():
            for n, (now, later) in enumerate(pairwise(values_by_scale), start=1):
                if not with_scale(now, later):
                    raise Refuted(f"{_task_text(task)}: at arity {arity} SRC is {now} up to {n}, {later} up to {n + 1}")
    for arity, (fewer, more) in zip(ARITIES, pairwise(values), strict=False):
        for task in fewer:
            for n, (less, greater) in enumerate(zip(fewer[task], more[task], strict=True), start=1):
                if not with_arity(less, greater):
                    raise Refuted(
                        f"{_task_text(task)}: up to scale {n} SRC is {less} at arity {arity}, {greater} at {arity + 1}"
                    )
    carried = [_carry_out(*case, with_scale=with_scale, with_arity=with_arity) for case in CIRCUITS]
    yield f"all {len(values[0])} tasks that append one bit f_n(x) to n bits x, n = 1..3, arities {ARITIES}"
    yield (
        "argument for every task, with the scale: a circuit up to n is, without its last scale, one up to n - 1; "
        "with the arity: a slot more that repeats the last one changes no step. Carried out and checked on "
        f"{'; '.join(carried)}"
    )


@CLAIMS.claim(
    "src-bounded",
    formalised("Definition 4", "SRC over a fixed alphabet at a fixed arity"),
    r"\mathrm{SRC}_k(f,n)<\infty\Rightarrow\mathrm{SRC}_k(f,n)\le q^{q^k}",
    strength=Strength.BOUNDED,
    reach="k = 1, 2, 3",
    assumptions=("alphabet and arity are the same at all scales",),
    answers=("largest",),
    falsifiers={
        "as many as there are keys": {"bound": lambda q, k: q**k},
        "one less": {"bound": lambda q, k: q ** (q**k) - 1},
        "a position read once only": {"repeats": False},
        "a fixed alphabet lets it grow with n": {"control": lambda n, base: n},
        "as many as functions of one slot": {"control": lambda n, base: min(n, base**base)},
    },
)
def src_is_bounded(
    bound: Callable[[int, int], int] = lambda q, k: q ** (q**k),
    repeats: bool = True,
    largest: Mapping[Pair, int] = _LARGEST,
    control: Callable[[int, int], int] = lambda n, base: min(n, factorial(base)),
) -> Facts:
    """If finite, SRC at arity k over q symbols is at most q^(q^k), and so constant from some scale on. The bound is
    attained at k = 1, but not for larger k: at q = 2 the largest SRC is 4, 8, 68 for k = 1, 2, 3. Permutations of q
    symbols have min(n, q!).

    Args:
        bound: (q, k) -> bound.
        repeats: True if a wiring may read a position twice.
        largest: (q, k) -> largest SRC.
        control: (n, base) -> SRC of the permutation control up to scale n.
    """
    for (symbols, arity), value in largest.items():
        hit = served(symbols, arity, arity, repeats=repeats)
        largest_src = fewest_operators(hit.values())
        if largest_src > bound(symbols, arity):
            raise Refuted(
                f"q = {symbols}, k = {arity}: to compute every function of {arity} positions takes {largest_src:g} "
                f"operators, more than {bound(symbols, arity)}"
            )
        if largest_src != value:
            raise Refuted(f"q = {symbols}, k = {arity}: the largest SRC is {largest_src:g}, not {value}")
        if (symbols, arity) in FORCED:
            _require_forced(symbols, arity, value, hit)
    for base, scales in PERMUTATIONS:
        task = load("permutation", base=base)
        for n, bounds in src(task, traces_up_to(task, scales), 1).bounds.items():
            if bounds != (control(n, base),) * 2:
                raise Refuted(f"{task.name}: SRC up to scale {n} is {bounds[0]:g}, not {control(n, base)}")
    yield (
        f"largest SRC of any task, where finite, at (q, k): {', '.join(f'{p}: {v}' for p, v in largest.items())}; "
        f"reached by tasks that the search solves at {FORCED}"
    )
    yield (
        "argument: a step is a function of the at most k positions that it reads, so operators that hit every "
        "function of k positions serve all tasks; a task with all of these as steps needs as many"
    )
    yield (
        "one slot: every operator is needed, q^q. More slots: fewer than q^(q^k), since an operator also serves "
        "with its slots exchanged or filled alike"
    )
    yield (
        "permutation controls by search: "
        f"{', '.join(f'base {base}: min(n, {factorial(base)}) up to n = {n}' for base, n in PERMUTATIONS)}"
    )
    yield "SRC does not fall (src-monotone) and is bounded, so it is constant from some scale on, or infinite"
