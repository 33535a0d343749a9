"""The input of FIRE's network: its range, the queries for which it is relative, and its form beyond the threshold."""

from collections.abc import Callable, Iterator
from itertools import pairwise, product

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.papers.fire import SOURCE
from lengthgen.theory.enclosure import enclose
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import LENGTH
from lengthgen.theory.exact import Undecided

_BITS = 128

Fraction = Callable[[sp.Expr, sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(distance, query position, threshold, rate) -> the input of the network."""

FARTHEST = 8
_RATES = (sp.Rational(1, 10), sp.Integer(1), sp.Integer(3))
_THRESHOLDS = (sp.Rational(1, 2), sp.Integer(1), sp.Integer(4))


def sign(number: sp.Expr) -> int:
    """Return the sign of a number: -1, 0 or 1.

    Raises `Undecided` if the number is not written as 0 but its enclosure contains 0.
    """
    if number.is_Rational:
        return int(sp.sign(number))
    ball = enclose(number, bits=_BITS)
    if ball is None or ball.contains(0):
        raise Undecided(f"the sign of {number}")
    return 1 if ball > 0 else -1


def refute_if_apart(what: str, value: sp.Expr, stated: sp.Expr) -> None:
    """Raise `Refuted` if the enclosures of two numbers are disjoint."""
    ball = enclose(value - stated, bits=_BITS)
    if ball is not None and not ball.contains(0):
        raise Refuted(f"{what}: {value.n(4)} is not {stated.n(4)}")


def require_same(what: str, left: sp.Expr, right: sp.Expr) -> str:
    """Return the fact that two expressions are equal as sympy writes them. Raises `Undecided` if they are not."""
    if left != right:
        raise Undecided(f"{what}: {left} and {right} are not written alike")
    return f"{what}: {left}"


def require_positive(what: str, amount: sp.Expr) -> str:
    """Return the fact that a polynomial in positive symbols has only positive coefficients.

    Raises `Undecided` if it has not.
    """
    polynomial = sp.Poly(sp.expand(amount))
    if not all(coefficient > 0 for coefficient in polynomial.coeffs()):
        raise Undecided(f"{what} {amount}, the sign of which is not seen")
    return f"{what} {polynomial.as_expr()}, positive"


def unit_range(*, fraction: Fraction) -> Evidence:
    """Decide that the input is in [0, 1) for every key up to the query, with positions counted from 1."""
    for rate, threshold, query, distance in _cases():
        part = fraction(distance, query, threshold, rate)
        if not (sign(part) >= 0 and sign(1 - part) > 0):
            raise Refuted(f"c = {rate}, L = {threshold}, j = {query}, D = {distance}: the input is {part.n(4)}")
    rate, key, distance, more, x = sp.symbols("c i D s x", positive=True)
    query = key + distance
    facts = [
        require_equal(
            "e^psi(x) = c x + 1, so psi rises, from psi(0) = 0",
            lambda: sp.exp(biases.fire_psi(x, rate=rate)),
            lambda: rate * x + 1,
        )
    ]
    for name, threshold, reach in (("L = j + s", query + more, query + more), ("L = j - s", query - more, query)):
        value = fraction(distance, query, threshold, rate)
        stated = biases.fire_psi(distance, rate=rate) / biases.fire_psi(reach, rate=rate)
        facts.append(
            require_same(f"{name}: the input is psi(D) / psi({'L' if reach == threshold else 'j'})", value, stated)
        )
        facts.append(require_positive(f"{name}: the argument below exceeds D by", reach - distance))
    facts.append("so 0 <= psi(D) < psi(max(j, L)): the input is in [0, 1)")
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("keys i = 1 .. j, positions counted from 1", "c > 0, L > 0"),
    )


def relative_up_to_threshold(*, last: Callable[[int], int]) -> Evidence:
    """Decide up to which query the bias depends on j - i alone, with positions counted from 1."""
    for threshold in range(1, 6):
        _require_last(threshold, last(threshold))
        _require_relation(threshold)
    rate, key, distance, more = sp.symbols("c i D s", positive=True)
    later = sp.Symbol("j", positive=True)
    query = key + distance
    within = biases.fire_fraction(distance=distance, query_position=query, threshold=query + more, rate=rate)
    facts = (
        require_same(
            "j <= L = j + s: the input is psi(D) / psi(L), in which j does not occur",
            within,
            biases.fire_psi(distance, rate=rate) / biases.fire_psi(query + more, rate=rate),
        ),
        require_positive(
            "j > L: the argument of psi(j + 1) exceeds that of psi(j) by", _argument(later + 1) - _argument(later)
        ),
        "so for D >= 1 and j > L the input falls strictly from j to j + 1, and some f tells the two apart",
        *_positions_from_0(),
        f"L = 1 .. 5, queries up to {FARTHEST}: pairs of one label of `fire.relation(L)` have one input",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("c > 0, L > 0", "f is any function"))


def rescaled_rows(*, matched: Fraction) -> Evidence:
    """Decide which distance in the row of query L has the same input as distance D in the row of a query j > L."""
    for rate, threshold, query, distance in _cases():
        if rate == 1 and query > threshold and distance > 0:
            other = matched(distance, query, threshold, rate)
            here = _published(distance, query, threshold, rate)
            what = f"c = 1, L = {threshold}, j = {query}: the input at D = {distance}, and of row L at {other.n(4)}"
            refute_if_apart(what, here, _published(other, threshold, threshold, rate))
    rate, distance, threshold, more = sp.symbols("c D L s", positive=True)
    query = threshold + more
    here, other = _published(distance, query, threshold, rate), matched(distance, query, threshold, rate)
    there = _published(other, threshold, threshold, rate)
    facts = (
        require_same("j = L + s: the input at D is that of row L at D' = ((c D + 1)^k - 1)/c", here, there),
        require_same(
            "k = psi(L)/psi(j), below 1, so 0 < D' < D",
            sp.log(rate * other + 1),
            biases.fire_psi(distance, rate=rate)
            * biases.fire_psi(threshold, rate=rate)
            / biases.fire_psi(query, rate=rate),
        ),
        "so row j is row L with psi(D) scaled by psi(L)/psi(j), and stays in [0, 1) (claim fire-1)",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("c > 0, j > L > 0",))


def _cases() -> Iterator[tuple[sp.Rational, sp.Rational, sp.Integer, sp.Integer]]:
    """Rates, thresholds, queries and distances that are checked in numbers."""
    for rate, threshold, query in product(_RATES, _THRESHOLDS, range(1, FARTHEST + 1)):
        for distance in range(query):
            yield rate, threshold, sp.Integer(query), sp.Integer(distance)


def _require_last(threshold: int, last: int) -> None:
    """Require that each distance has one input for all queries up to `last`, and a different one beyond."""
    for distance in range(1, FARTHEST):
        queries = range(distance + 1, FARTHEST + 1)
        inputs = [_published(sp.Integer(distance), sp.Integer(j), sp.Integer(threshold), sp.S.One) for j in queries]
        for (before, after), (value, next_value) in zip(pairwise(queries), pairwise(inputs), strict=True):
            if (sign(value - next_value) == 0) != (after <= last):
                where = f"c = 1, L = {threshold}, D = {distance}"
                verdict = f"so {'not' if after <= last else 'not only'} relative up to j = {last}"
                raise Refuted(
                    f"{where}: the input is {value.n(4)} at j = {before}, {next_value.n(4)} at j = {after}, {verdict}"
                )


def _require_relation(threshold: int) -> None:
    """Require that pairs with the same label of `fire.relation` have the same input."""
    keys, queries = (index + 1 for index in np.triu_indices(FARTHEST))
    seen: dict[int, sp.Expr] = {}
    for label, key, query in zip(biases.fire_relation(threshold).label(keys, queries), keys, queries, strict=True):
        part = biases.fire_fraction(
            distance=sp.Integer(query - key),
            query_position=sp.Integer(query),
            threshold=sp.Integer(threshold),
            rate=biases.FIRE_RATE,
        )
        if seen.setdefault(int(label), part) != part:
            raise Refuted(f"L = {threshold}: label {label} has the inputs {seen[int(label)]} and {part} (i = {key})")
    if len(seen) != threshold + sum(range(threshold, FARTHEST)):
        raise Refuted(f"L = {threshold}: the relation has {len(seen)} labels up to query {FARTHEST}")


def _positions_from_0() -> list[str]:
    """Fact that this project's encoding, which counts positions from 0, is the paper's after a shift by one."""
    query, key = sp.symbols("j i", integer=True, positive=True)
    assert biases.FIRE.bias is not None
    law = biases.FIRE_LAW(
        biases.fire_fraction(
            distance=sp.Abs(query - key), query_position=query, threshold=biases.FIRE_THRESHOLD, rate=biases.FIRE_RATE
        )
    )
    return [
        require_same("the law counted from 0, at j - 1 and i - 1", biases.FIRE.bias(query - 1, key - 1, LENGTH), law)
    ]


def _argument(position: sp.Expr) -> sp.Expr:
    """The number c x + 1, whose logarithm is psi(x)."""
    return sp.exp(biases.fire_psi(position, rate=biases.FIRE_RATE))


def _published(distance: sp.Expr, query: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Input of the network as the paper defines it."""
    return biases.fire_fraction(distance=distance, query_position=query, threshold=threshold, rate=rate)


def _matched(distance: sp.Expr, query: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Distance in the row of query L that has the input of this distance in the row of the query."""
    return biases.fire_distance(_published(distance, query, threshold, rate), threshold=threshold, rate=rate)


def _without_position(distance: sp.Expr, query: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Input divided by psi(L) alone, without the query position."""
    return biases.fire_psi(distance, rate=rate) / biases.fire_psi(threshold, rate=rate)


_INTERPOLATION = "progressive interpolation with a threshold; positions counted from 1"


CLAIMS = (
    Claim(
        id="fire-1",
        source=SOURCE.at(_INTERPOLATION),
        statement="The input of FIRE's network, psi(j - i) / psi(max(j, L)) with psi(x) = log(c x + 1), is in [0, 1) "
        "for all keys i up to the query j.",
        latex=r"0\le\frac{\psi(j-i)}{\psi(\max(j,L))}<1\quad(1\le i\le j)",
        label="P",
        check=unit_range,
        holds={"fraction": _published},
        falsifiers={
            "divided by psi(L) alone": {"fraction": _without_position},
            "positions counted from 0, as in the listing": {
                "fraction": lambda distance, query, threshold, rate: _published(distance, query - 1, threshold, rate)
            },
        },
    ),
    Claim(
        id="fire-2",
        source=SOURCE.at(_INTERPOLATION),
        statement="FIRE's bias depends on positions through j - i alone for queries j <= L, and for no query beyond.",
        latex=r"b(j,i)=f\big(\psi(j-i)/\psi(L)\big)\ (j\le L);\quad j>L,\ D\ge 1:\ u_{j+1}(D)<u_j(D)",
        label="F",
        check=relative_up_to_threshold,
        holds={"last": lambda threshold: threshold},
        falsifiers={
            "for every query": {"last": lambda threshold: FARTHEST},
            "up to L + 1": {"last": lambda threshold: threshold + 1},
            "up to L - 1": {"last": lambda threshold: threshold - 1},
        },
    ),
    Claim(
        id="fire-4",
        source=SOURCE.at(_INTERPOLATION),
        statement="For a query j > L the whole row is that of query L with psi(D) scaled by psi(L)/psi(j): distance D "
        "has the input of the smaller distance ((c D + 1)^(psi(L)/psi(j)) - 1)/c, and no input leaves [0, 1).",
        latex=r"u_j(D)=u_L(D'),\quad cD'+1=(cD+1)^{\psi(L)/\psi(j)}\qquad(j>L)",
        label="P",
        check=rescaled_rows,
        holds={"matched": _matched},
        falsifiers={
            "equal at equal distances": {"matched": lambda distance, query, threshold, rate: distance},
            "distances scaled by L/j": {
                "matched": lambda distance, query, threshold, rate: distance * threshold / query
            },
        },
    ),
)
