"""Two operators become one if the order of arguments is free: written multiplication and division."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

import numpy as np

from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.digits import Numbers, digit_task
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised

Digits = tuple[int, int, int]
Order = tuple[int, int, int]
"""Index of the digit that each of the three slots reads."""
Orders = tuple[Order, Order]
"""Orders for the first and for the second token."""
BASES = range(2, 17)
SEARCHED_BASES = (2, 3)
LARGEST = 3
"""Largest scale at which whole tasks are searched."""
_AS_READ: Order = (0, 1, 2)
CLAIMS = PaperClaims(SOURCE)


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


def _reached(base: int, factor: int, step: Callable[[int, int, int], int]) -> set[int]:
    """States that the digits lead to from 0; `step` takes a state, a digit and the factor."""
    reached, fresh = {0}, {0}
    while fresh:
        fresh = {step(state, digit, factor) for state, digit in product(fresh, range(base))} - reached
        reached |= fresh
    return reached


def reachable_products(base: int) -> frozenset[Digits]:
    """Return all (a, c, x) that occur: digit, carry into its place, multiplier; the first carry is 0."""
    carries = {x: _reached(base, x, lambda c, a, x: (a * x + c) // base) for x in range(base)}
    return frozenset((a, c, x) for a, x in product(range(base), repeat=2) for c in carries[x])


def reachable_quotients(base: int) -> frozenset[Digits]:
    """Return all (r, a, d) that occur: remainder before the place, digit, divisor; the first remainder is 0."""
    remainders = {d: _reached(base, d, lambda r, a, d: (r * base + a) % d) for d in range(1, base)}
    return frozenset((r, a, d) for a, d in product(range(base), range(1, base)) for r in remainders[d])


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


MULTIPLICATION = Place(
    tokens=lambda read, base: divmod(read[0] * read[2] + read[1], base)[::-1],
    reachable=reachable_products,
    orders=((_AS_READ, (0, 2, 1)),),
    merges=True,
    task=multiplication_carry,
)
DIVISION = Place(
    tokens=lambda read, base: divmod(read[0] * base + read[1], read[2]),
    reachable=reachable_quotients,
    orders=((_AS_READ, (2, 1, 0)),),
    merges=True,
    task=lambda base: load("division-remainder", base=base),
)
ADDITION = Place(
    tokens=lambda read, base: divmod(sum(read), base)[::-1],
    reachable=lambda base: frozenset(product(range(base), range(base), (0, 1))),
    orders=tuple((_AS_READ, (i, j, k)) for i, j, k in permutations(range(3))),
    merges=False,
    task=lambda base: load("addition-carry", base=base),
)


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
            "places": {"addition": replace(ADDITION, tokens=MULTIPLICATION.tokens, reachable=reachable_products)}
        },
    },
)
def order_merges(
    places: Mapping[str, Place] = {"multiplication": MULTIPLICATION, "division": DIVISION, "addition": ADDITION},
) -> Facts:
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
