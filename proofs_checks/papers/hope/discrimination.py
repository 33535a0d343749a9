"""Discrimination: keys whose score peaks at a wanted distance (errata F6)."""

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.hope.source import source
from theory.encodings import hope

Query = tuple[sp.Expr, ...]
Construction = Callable[[Query, sp.Expr, dict[str, sp.Expr]], Sequence[sp.Expr]]

QUERY: Query = sp.symbols("q1 q2", real=True)
KEY: Query = sp.symbols("k1 k2", real=True)
_EXAMPLE: Query = (sp.Integer(2), sp.Integer(1))
_NUMBERS: dict[str, Any] = {"rate": sp.Integer(1), "damping": sp.Rational(11, 10)}
_LOOKED_AT = range(-2, 7)


def peak(*, query: Query, key: Construction) -> Evidence:
    """Decide that the constructed key's score is greatest at D = r, among all real D and so among the integers.

    d score/dD = -e^(-D slow)/2 (P slow + N fast e^(-2 D theta)).  Where P > 0 > N and the bracket is zero at D = r, it
    is negative before r and positive after it: the score rises up to r and falls from there.
    """
    _compare_scores(query, key)
    theta, gap = sp.symbols("theta g", positive=True)
    offset, wanted = sp.symbols("D r", real=True)
    law: dict[str, Any] = {"rate": theta, "damping": theta + gap}
    slow, fast = hope.decay_rates(**law)
    made = key(query, wanted, law)

    def carried() -> hope.Pair:
        return hope.channels(query, key(query, wanted, law))

    slope = hope.light_cone_score(query, made, offset=offset, **law).diff(offset)
    at_peak = -slow * sp.exp(2 * wanted * theta)
    bracket = fast * (slow - slow * sp.exp(2 * theta * (wanted - offset)))
    margins = hope.falling_margins(query, made, **law)
    facts = (
        require_equal("P = theta' + theta, which is positive", lambda: carried()[0], fast),
        require_equal("N = -(theta' - theta) e^(2 r theta), which is negative", lambda: carried()[1], at_peak),
        require_equal(
            "d score/dD = -e^(-D slow)/2 fast slow (1 - e^(2 theta (r - D)))",
            slope,
            lambda: -sp.exp(-offset * slow) / 2 * bracket,
        ),
        require_equal(
            "second margin = (theta'^2 - theta^2)(1 - e^(2 r theta)) < 0 for r > 0: not monotone",
            lambda: margins[1],
            lambda: slow * fast * (1 - sp.exp(2 * wanted * theta)),
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=(
            "q1 is neither q2 nor -q2 in some plane; the key is 0 in the others",
            "theta' > theta > 0, r >= 0",
        ),
    )


def _compare_scores(query: Query, key: Construction) -> None:
    """Raise `Refuted` for a query without a channel, or an example whose score is not greatest at r = 3."""
    example, wanted = query if query != QUERY else _EXAMPLE, 3
    in_slow, in_fast = hope.channels(example, KEY)
    if sp.expand(in_slow) == 0 or sp.expand(in_fast) == 0:
        scores = ", ".join(str(sp.N(score, 5)) for score in _scores(example, (2, 1)).values())
        raise Refuted(
            f"q = {example} is on the light cone: P = {in_slow}, N = {in_fast} for every key, one decay without "
            f"a peak; k = (2, 1) scores {scores} at D = {_LOOKED_AT[0]} to {_LOOKED_AT[-1]}"
        )
    found = _scores(example, key(example, sp.Integer(wanted), _NUMBERS))
    best = max(_LOOKED_AT, key=lambda offset: found[offset])
    if best != wanted:
        raise Refuted(
            f"q = {example}, k for r = {wanted}: the score is {sp.N(found[best], 5)} at D = {best} and "
            f"{sp.N(found[wanted], 5)} at D = {wanted}, greatest at D = {best} of {_LOOKED_AT[0]} to {_LOOKED_AT[-1]}"
        )


def _scores(query: Query, key: Sequence[Any]) -> dict[int, sp.Expr]:
    """The score at each distance that is looked at."""
    return {
        offset: sp.N(hope.light_cone_score(query, key, offset=sp.Integer(offset), **_NUMBERS), 30)
        for offset in _LOOKED_AT
    }


def _ours(query: Query, wanted: sp.Expr, law: dict[str, sp.Expr]) -> Sequence[sp.Expr]:
    return hope.peaked_key(query, offset=wanted, **law)


def boosted_query(query: Query, wanted: sp.Expr, law: dict[str, sp.Expr]) -> Sequence[sp.Expr]:
    """The paper's key, as we read it: the query boosted to the wanted offset."""
    return tuple(hope.boost(wanted * law["rate"]) * sp.Matrix(query))


CLAIMS = (
    Claim(
        id="hope-8",
        source=source("Eq. 13, discrimination, and the key constructed for it"),
        statement="For every query off the light cone and every r there is a key whose score is greatest at D = r, "
        "among all integers D: N = -P (theta' - theta)/(theta' + theta) e^(2 r theta), P > 0 (errata F6: for the "
        "paper's key, which we read as a boosted copy of the query, P and N are positive and the score only falls).",
        latex=r"P>0,\ N=-P\,\tfrac{\theta'-\theta}{\theta'+\theta}e^{2\theta r}\ \Rightarrow\ "
        r"\arg\max_{D\in\mathbb Z}s(D)=r",
        label="F",
        check=peak,
        holds={"query": QUERY, "key": _ours},
        printed={"key": boosted_query},
        falsifiers={
            "query on the light cone": {"query": (sp.Integer(1), sp.Integer(1))},
            "query on its other line": {"query": (sp.Integer(1), sp.Integer(-1))},
            "boosted backwards": {"key": lambda query, wanted, law: boosted_query(query, -wanted, law)},
            "peak one step later": {"key": lambda query, wanted, law: hope.peaked_key(query, offset=wanted + 1, **law)},
            "key reversed": {"key": lambda query, wanted, law: [-one for one in _ours(query, wanted, law)]},
        },
    ),
)
