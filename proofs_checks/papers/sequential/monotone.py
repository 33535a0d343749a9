"""SRC does not fall with the scale nor rise with the arity (arXiv 2510.04130, Def. 4, in our formalisation)."""

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import UNDEFINED, Circuit, Wiring
from circuits.src import src, traces_up_to
from circuits.tasks import load
from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.source import source
from proofs_checks.papers.sequential.hitting import all_functions, fewest_operators, served

Order = Callable[[Any, Any], bool]

SCALES = (1, 2, 3)
ARITIES = (1, 2, 3)
CIRCUITS = (("parity", None, 2, 5), ("addition-carry", 2, 3, 2), ("permutation", 3, 1, 5), ("sort-trace", 2, 2, 3))
"""Task, base, arity and largest scale of the circuits on which the two arguments are carried out."""


def src_is_monotone(*, with_scale: Order, with_arity: Order, repeats: bool) -> Evidence:
    """Decide how SRC changes with the scale and with the arity: on all tiny tasks, and by changing real circuits."""
    values = [_tiny_values(arity, repeats) for arity in ARITIES]
    for arity, by_task in zip(ARITIES, values, strict=True):
        for task, found in by_task.items():
            for n, (now, later) in enumerate(pairwise(found), start=1):
                if not with_scale(now, later):
                    raise Refuted(f"{_shown(task)}: at arity {arity} SRC is {now} up to {n}, {later} up to {n + 1}")
    for arity, (fewer, more) in zip(ARITIES, pairwise(values), strict=False):
        for task in fewer:
            for n, (less, greater) in enumerate(zip(fewer[task], more[task], strict=True), start=1):
                if not with_arity(less, greater):
                    raise Refuted(
                        f"{_shown(task)}: up to scale {n} SRC is {less} at arity {arity}, {greater} at {arity + 1}"
                    )
    carried = [_carry_out(*case, with_scale=with_scale, with_arity=with_arity) for case in CIRCUITS]
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"n <= {SCALES[-1]}",
        facts=(
            f"all {len(values[0])} tasks that append one bit f_n(x) to n bits x, n = 1..3, arities {ARITIES}",
            "argument for every task, with the scale: a circuit up to n is, without its last scale, one up to n - 1; "
            "with the arity: a slot more that repeats the last one changes no step. Carried out and checked on "
            f"{'; '.join(carried)}",
        ),
        assumptions=("a wiring may read a position twice",),
    )


def restricted(circuit: Circuit, largest_scale: int) -> Circuit:
    """The circuit without the scales beyond, and without the operators that only they use."""
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
    """The circuit with one slot more, which reads what the last one reads."""
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
    """Task, as the index of f_n for every n, -> SRC up to each scale."""
    hit = [served(2, arity, n, repeats=repeats) for n in SCALES]
    steps = [[hit[n - 1].get(function, 0) for function in all_functions(2, n)] for n in SCALES]
    known: dict[frozenset[int], float] = {}

    def fewest(needed: frozenset[int]) -> float:
        if needed not in known:
            known[needed] = fewest_operators(needed)
        return known[needed]

    found = {}
    for task in product(*(range(len(of_scale)) for of_scale in steps)):
        chosen = [of_scale[index] for of_scale, index in zip(steps, task, strict=True)]
        found[task] = [fewest(frozenset(chosen[:n])) for n in SCALES]
    return found


def _carry_out(name: str, base: int | None, arity: int, largest: int, *, with_scale: Order, with_arity: Order) -> str:
    """Both arguments on the circuits that the search finds for one task."""
    task = load(name, base=base)
    traces = traces_up_to(task, largest)
    whole, wide = src(task, traces, arity), src(task, traces, arity + 1)
    if whole.circuit is None:
        raise ValueError(f"{task.name} is infeasible at arity {arity}")
    padded(whole.circuit).check(traces)
    for n in range(1, largest + 1):
        least = src(task, traces[:n], arity).values[n]
        part = restricted(whole.circuit, n)
        part.check(traces[:n])
        if least is None or len(part.operators) < least or not with_scale(least, whole.values[largest]):
            raise Refuted(f"{task.name}: {len(part.operators)} operators up to {n}, {least} are the fewest")
        if not with_arity(least, wide.values[n]):
            raise Refuted(f"{task.name}, scale {n}: {least} at arity {arity}, {wide.values[n]} at {arity + 1}")
    return f"{task.name} (arity {arity}, scales 1..{largest})"


def _shown(task: tuple[int, ...]) -> str:
    rows = (all_functions(2, n)[index] for n, index in zip(SCALES, task, strict=True))
    return ", ".join(f"f_{n} = {''.join(map(str, row))}" for n, row in zip(SCALES, rows, strict=True))


CLAIMS = (
    Claim(
        id="src-monotone",
        source=source("Definition 4", "SRC as a function of scale and arity"),
        statement="SRC(f, n) does not fall as n grows and, as slots may repeat, does not rise as the arity grows. "
        "Every task that appends a bit is tried for n <= 3; an argument does the rest.",
        latex=r"\mathrm{SRC}_k(f,n)\le\mathrm{SRC}_k(f,n+1),\quad \mathrm{SRC}_{k+1}(f,n)\le\mathrm{SRC}_k(f,n)",
        label="F",
        check=src_is_monotone,
        holds={"with_scale": operator.le, "with_arity": operator.ge, "repeats": True},
        falsifiers={
            "it rises with every scale": {"with_scale": operator.lt},
            "it falls with the scale": {"with_scale": operator.ge},
            "it falls with every slot": {"with_arity": operator.gt},
            "it rises with the arity": {"with_arity": operator.le},
            "slots must differ": {"repeats": False},
        },
    ),
)
