"""Equal SRC does not determine what is learned: operator entries must be met in training.

Two operators may also become one if the order of arguments is free.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations, product

import numpy as np

from lengthgen.circuits.circuit import Circuit, CircuitError
from lengthgen.circuits.reference import reference_circuit
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import TaskSpec, load
from lengthgen.circuits.tasks.digits import Numbers, digit_task
from lengthgen.circuits.trace import Trace
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised

Entry = tuple[int, int]
"""One entry of an operator table: (operator, key)."""
TaskUpTo = tuple[TaskSpec, int]
"""Task, and its largest scale N."""
Digits = tuple[int, int, int]
Order = tuple[int, int, int]
"""Index of the digit that each of the three slots reads."""
Orders = tuple[Order, Order]
"""Orders for the first and for the second token."""

CASES: Mapping[str, TaskUpTo] = {
    "parity": (TaskSpec(name="parity"), 5),
    "counter base 3": (TaskSpec(name="counter", base=3), 4),
    "addition-carry base 2": (TaskSpec(name="addition-carry", base=2), 4),
    "addition-carry base 3": (TaskSpec(name="addition-carry", base=3), 3),
    "addition base 2": (TaskSpec(name="addition", base=2), 5),
}
_COVERAGE: Mapping[str, int] = {
    "parity": 2,
    "counter base 3": 2,
    "addition-carry base 2": 2,
    "addition-carry base 3": 2,
    "addition base 2": 3,
}
BASES = range(2, 17)
SEARCHED_BASES = (2, 3)
LARGEST = 3
"""Largest scale at which whole tasks are searched."""
_AS_READ: Order = (0, 1, 2)


@dataclass(frozen=True, kw_only=True)
class TrainingCoverage:
    """Complexity, operators and entries that training up to scale N0 meets, beside those of the task up to scale N.

    Attributes:
        complexity: SRC up to N0, and up to N.
        operators: number of operators in use up to N0, and up to N.
        entries: number of operator entries in use up to N0, and up to N.
    """

    complexity: tuple[float, float]
    operators: tuple[int, int]
    entries: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """Task with its circuit, its SRC and the entries in use, scale by scale."""

    circuit: Circuit
    traces: Sequence[Trace]
    complexity: Sequence[float]
    used: Sequence[frozenset[Entry]]


def wrong_extension(circuit: Circuit, met: frozenset[Entry], used: frozenset[Entry]) -> Circuit | None:
    """Return the circuit with a wrong value at the first entry that is used but not met; None if all are met."""
    if used <= met:
        return None
    operator, key = min(used - met)
    tables = [table.copy() for table in circuit.operators]
    tables[operator][key] = (int(tables[operator][key]) + 1) % len(circuit.task.alphabet)
    return replace(circuit, operators=tuple(tables))


def entries_used(circuit: Circuit, trace: Trace) -> frozenset[Entry]:
    """Return every (operator, key) that some prompt of the scale needs."""
    symbols = len(circuit.task.alphabet)
    entries = set()
    for step in circuit.wirings[trace.scale]:
        keys = np.zeros(trace.tokens.shape[1], dtype=np.int64)
        for argument in step.arguments:
            keys = keys * symbols + trace.tokens[argument - 1]
        entries |= {(step.operator, int(key)) for key in np.unique(keys)}
    return frozenset(entries)


@cache
def _case(spec: TaskSpec, largest: int) -> _Case:
    """Case of a task, computed once.

    Raises `ValueError` if a scale has too many prompts or the search does not close.
    """
    task = spec.plain()
    traces = traces_up_to(task, largest)
    circuit = reference_circuit(task, range(1, largest + 1))
    if not all(trace.exhaustive for trace in traces):
        raise ValueError(f"{spec.words}: scale {largest} has too many prompts")
    circuit.check(traces)
    used: list[frozenset[Entry]] = []
    for trace in traces:
        used.append(entries_used(circuit, trace) | (used[-1] if used else frozenset()))
    if len(circuit.operators) == 1:  # one operator is the least possible number, so no search is needed
        complexity: list[float] = [1] * largest
    else:
        bounds = src(task, traces, circuit.arity).bounds
        if any(low != high for low, high in bounds.values()):
            raise ValueError(f"{spec}: the search did not close")
        complexity = [low for low, _ in bounds.values()]
    return _Case(circuit=circuit, traces=traces, complexity=complexity, used=used)


def _training_coverage(case: _Case, training_scale: int) -> TrainingCoverage:
    """Coverage of a case by training up to a scale."""
    met, used = case.used[training_scale - 1], case.used[-1]
    return TrainingCoverage(
        complexity=(case.complexity[training_scale - 1], case.complexity[-1]),
        operators=(len({operator for operator, _ in met}), len({operator for operator, _ in used})),
        entries=(len(met), len(used)),
    )


def _failure(wrong: Circuit, traces: Sequence[Trace], training_scale: int) -> str | None:
    """Text on where a circuit that is right on the training scales is wrong after them; None if it is right."""
    wrong.check(traces[:training_scale])
    try:
        wrong.check(traces)
    except CircuitError as error:
        return str(error)
    return None


def _counts(case: _Case) -> str:
    """Text with the number of entries met up to each scale."""
    return ", ".join(str(len(entries)) for entries in case.used)


def _all_met(coverage: TrainingCoverage) -> bool:
    """True if training meets every entry."""
    met, used = coverage.entries
    return met == used


def _equal_complexity(coverage: TrainingCoverage) -> bool:
    """True if SRC is the same up to N0 and up to N."""
    low, high = coverage.complexity
    return low == high


def _all_operators_met(coverage: TrainingCoverage) -> bool:
    """True if training meets every operator."""
    met, used = coverage.operators
    return met == used


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "src-coverage",
    formalised("the conjecture", "length generalization iff SRC(f, N) = SRC(f, N0), read literally"),
    r"(\forall u:\ u\text{ right up to }N_0\Rightarrow u\text{ right up to }N)\iff K(N)=K(N_0)",
    strength=Strength.EXHAUSTIVE,
    assumptions=("the wiring of the task's own circuit is given, so only the operators are learned",),
    answers=("coverage_scale", "parity_at_once"),
    printed={"settled": _equal_complexity},
    falsifiers={
        "equal SRC suffices": {"settled": _equal_complexity},
        "all operators met suffices": {"settled": _all_operators_met},
        "equal SRC and half of the entries suffice": {
            "settled": lambda coverage: _equal_complexity(coverage) and 2 * coverage.entries[0] >= coverage.entries[1]
        },
        "all scales must be met": {"settled": lambda coverage: False},
        "a counter for parity": {"tasks": {**CASES, "parity": CASES["counter base 3"]}},
        "carry tokens in addition": {"tasks": {**CASES, "addition base 2": CASES["addition-carry base 2"]}},
    },
)
def coverage_settles(
    settled: Callable[[TrainingCoverage], bool] = _all_met,
    tasks: Mapping[str, TaskUpTo] = CASES,
    coverage_scale: Mapping[str, int] = _COVERAGE,
    parity_at_once: tuple[int, int, int] = (1, 4, 8),
) -> Facts:
    """With the wiring given, operators that are right up to N0 are right up to N if and only if every operator entry in
    use up to N is in use up to N0. SRC(f, N0) = SRC(f, N) does not suffice: parity has SRC 1 at scale 1 with 4 of its 8
    entries. Decided on 5 tasks.

    Decide for every N0 < N: all operators that fit the scales up to N0 are right up to N iff `settled` says so.

    `parity_at_once` is the SRC of parity at scale 1, the number of entries met there, and the number of all entries.
    """
    parity = _training_coverage(_case(*tasks["parity"]), 1)
    if (parity.complexity[0], *parity.entries) != parity_at_once:
        raise Refuted(
            f"parity at scale 1: SRC {parity.complexity[0]:g}, {parity.entries[0]} of {parity.entries[1]} entries"
        )
    for name, scale in coverage_scale.items():
        case = _case(*tasks[name])
        largest = len(case.traces)
        covering_scale = next(n for n, entries in enumerate(case.used, start=1) if entries == case.used[-1])
        if covering_scale != scale:
            raise Refuted(
                f"{name}: of {len(case.used[-1])} entries {_counts(case)} are met up to scales 1..{largest}: all from "
                f"{covering_scale} on, not {scale}"
            )
        for training_scale in range(1, largest):
            coverage = _training_coverage(case, training_scale)
            wrong = wrong_extension(case.circuit, case.used[training_scale - 1], case.used[-1])
            failure = _failure(wrong, case.traces, training_scale) if wrong else None
            if settled(coverage) and failure:
                raise Refuted(
                    f"{name}, N0 = {training_scale}: SRC {coverage.complexity[0]:g} -> {coverage.complexity[1]:g}, "
                    f"{coverage.entries[0]} of {coverage.entries[1]} entries met; one that is not is changed: {failure}"
                )
            if not settled(coverage) and not failure:
                raise Refuted(f"{name}, N0 = {training_scale}: the operators are settled all the same")
        yield (
            f"{name}: SRC {', '.join(f'{value:g}' for value in case.complexity)} and entries {_counts(case)} at scales "
            f"1..{largest}, all from {scale} on"
        )
    yield (
        "for each N0 below the last scale at which an entry is new, operators that are right up to N0 and wrong "
        "after are constructed and run; the statement refuted as printed is the conjecture read literally, for "
        "every learner that fits the training scales"
    )
    yield Reach(f"{len(coverage_scale)} tasks")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place of a written calculation, at which two tokens are written.

    Attributes:
        tokens: (the three digits that are read, base) -> the two tokens.
        reachable: base -> the digits that some calculation meets at a place.
        orders: orders in which the slots may read the digits.
        merges: True if in some order one operator computes both tokens.
        task: base -> the whole calculation as a task.
    """

    tokens: Callable[[Digits, int], tuple[int, int]]
    reachable: Callable[[int], frozenset[Digits]]
    orders: Sequence[Orders]
    merges: bool
    task: Callable[[int], Task]


def conflict(place: Place, orders: Orders, base: int) -> str | None:
    """Return a key with two values if one operator reads the digits in these orders; None if there is no such key."""
    operator: dict[Digits, int] = {}
    for digits in sorted(place.reachable(base)):
        for order, token in zip(orders, place.tokens(digits, base), strict=True):
            first, second, third = (digits[index] for index in order)
            if operator.setdefault((first, second, third), token) != token:
                return f"key {first, second, third} has the values {operator[first, second, third]} and {token}"
    return None


def reachable_products(base: int) -> frozenset[Digits]:
    """Return all (a, c, x) that occur: digit, carry into its place, multiplier; the first carry is 0."""
    triples: set[Digits] = set()
    for x in range(base):
        carries, fresh = {0}, {0}
        while fresh:
            fresh = {(a * x + c) // base for a, c in product(range(base), fresh)} - carries
            carries |= fresh
        triples |= set(product(range(base), carries, (x,)))
    return frozenset(triples)


def reachable_quotients(base: int) -> frozenset[Digits]:
    """Return all (r, a, d) that occur: remainder before the place, digit, divisor; the first remainder is 0."""
    triples: set[Digits] = set()
    for d in range(1, base):
        remainders, fresh = {0}, {0}
        while fresh:
            fresh = {(r * base + a) % d for r, a in product(fresh, range(base))} - remainders
            remainders |= fresh
        triples |= set(product(remainders, range(base), (d,)))
    return frozenset(triples)


def multiplication_carry(base: int) -> Task:
    """Return the task `a1 .. an * x = d1 c1 .. dn cn $`: low digit first, x one digit, c_t the carry out of place t."""

    def place_by_place(digits: Numbers) -> Numbers:
        carry = np.zeros_like(digits[0])
        columns = []
        for place in digits[:-1]:
            carry, digit = np.divmod(place * digits[-1] + carry, base)
            columns += [digit, carry]
        return np.stack(columns)

    return digit_task(
        name=f"multiplication-carry-base-{base}",
        base=base,
        marks="*=",
        prompt=lambda n, digits: [*[digits] * n, "*", digits, "="],
        vectorised=place_by_place,
    )


def _product(digits: Digits, base: int) -> tuple[int, int]:
    """Digit and carry of a x + c."""
    a, c, x = digits
    carry, digit = divmod(a * x + c, base)
    return digit, carry


def _quotient(digits: Digits, base: int) -> tuple[int, int]:
    """Quotient and remainder of (r b + a) / d."""
    r, a, d = digits
    return divmod(r * base + a, d)


def _sum(digits: Digits, base: int) -> tuple[int, int]:
    """Digit and carry of the sum."""
    carry, digit = divmod(sum(digits), base)
    return digit, carry


MULTIPLICATION = Place(
    tokens=_product,
    reachable=reachable_products,
    orders=((_AS_READ, (0, 2, 1)),),
    merges=True,
    task=multiplication_carry,
)
DIVISION = Place(
    tokens=_quotient,
    reachable=reachable_quotients,
    orders=((_AS_READ, (2, 1, 0)),),
    merges=True,
    task=lambda base: load("division-remainder", base=base),
)
ADDITION = Place(
    tokens=_sum,
    reachable=lambda base: frozenset(product(range(base), range(base), (0, 1))),
    orders=tuple((_AS_READ, (i, j, k)) for i, j, k in permutations(range(3))),
    merges=False,
    task=lambda base: load("addition-carry", base=base),
)
_PLACES: Mapping[str, Place] = {"multiplication": MULTIPLICATION, "division": DIVISION, "addition": ADDITION}


def _reading(place: Place, second: Order) -> Place:
    """Place in which the second token reads the digits in another order."""
    return replace(place, orders=((_AS_READ, second),))


@CLAIMS.claim(
    "src-merging",
    formalised("Definition 4", "the order of the arguments, which is free"),
    r"u(a,c,x)=(ax+c)\bmod b,\ u(a,x,c)=\lfloor(ax+c)/b\rfloor;\quad "
    r"u(r,a,d)=\lfloor(rb+a)/d\rfloor,\ u(d,a,r)=(rb+a)\bmod d",
    strength=Strength.EXHAUSTIVE,
    reach=f"bases {BASES[0]} to {BASES[-1]}",
    assumptions=("arity 3; the digits of the place are read (other wirings only in the searched tasks)",),
    falsifiers={
        "multiplication in one order": {"places": {"multiplication": _reading(MULTIPLICATION, _AS_READ)}},
        "carry exchanged with the digit": {"places": {"multiplication": _reading(MULTIPLICATION, (1, 0, 2))}},
        "digit exchanged with the multiplier": {"places": {"multiplication": _reading(MULTIPLICATION, (2, 1, 0))}},
        "any carry may come in": {
            "places": {
                "multiplication": replace(
                    MULTIPLICATION, reachable=lambda base: frozenset(product(range(base), range(base), range(base)))
                )
            }
        },
        "division in one order": {"places": {"division": _reading(DIVISION, _AS_READ)}},
        "digit exchanged with the remainder": {"places": {"division": _reading(DIVISION, (1, 0, 2))}},
        "multiplication in place of addition": {
            "places": {"addition": replace(ADDITION, tokens=_product, reachable=reachable_products)}
        },
    },
)
def order_merges(places: Mapping[str, Place] = _PLACES) -> Facts:
    """Multiplication by one digit with carry tokens needs one operator, not two, if the digit is read as (a, c, x) and
    the carry as (a, x, c); so does division with remainder tokens, (r, a, d) and (d, a, r). Addition with carry tokens
    needs two in any order. Decided in bases 2 to 16.
    """
    facts = []
    for name, place in places.items():
        for base in BASES:
            conflicts = [conflict(place, orders, base) for orders in place.orders]
            if place.merges and all(conflicts):
                raise Refuted(f"{name}, base {base}: {conflicts[0]}")
            if not place.merges and not all(conflicts):
                orders = place.orders[conflicts.index(None)]
                raise Refuted(f"{name}, base {base}: one operator reads the digits in the orders {orders}")
        value = 1 if place.merges else 2
        for base in SEARCHED_BASES:
            task = place.task(base)
            src_bounds = src(task, traces_up_to(task, LARGEST), 3).bounds[LARGEST]
            if src_bounds != (value, value):
                raise Refuted(f"{task.name}: SRC up to scale {LARGEST} is {src_bounds[0]:g}, not {value}")
        reading = f", with {' or '.join(map(str, place.orders))}" if place.merges else ""
        facts.append(f"{name}: {value}{reading}")
    yield f"operators, over every reachable key of the bases {BASES[0]}..{BASES[-1]}: {'; '.join(facts)}"
    yield f"by search, SRC of the whole tasks over all wirings is the same: scale {LARGEST}, bases {SEARCHED_BASES}"
    yield (
        "argument for every base: in multiplication c < x or c = x = 0, as a x + c <= (b - 1) x + x - 1 < b x, so "
        "a key (a, c, x) that is also (a', x', c') has c = x = 0 and both values 0; in division r < d, so no key "
        "is both (r, a, d) and (d', a', r'); in addition (0, 0, 1) in any order has digit 1 and carry 0"
    )
