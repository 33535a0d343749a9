"""Softmax weights of far keys: logits that tend to 0 spread the mass evenly, they do not cut it off (errata F4)."""

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import flint
import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.hope.source import source
from theory.enclosure import enclose
from theory.encodings import alibi, hope

Range = tuple[Fraction, Fraction]
OFFSET = sp.Symbol("D", integer=True, nonnegative=True)
_BITS = 64


def content_of_five(offset: sp.Expr) -> sp.Expr:
    """HoPE's score of q = (1, 1), k = (5/2, 5/2) at theta = 1, theta' = 1.1: 5 in the slow channel, its rate 0.1."""
    half = sp.Rational(5, 2)
    return hope.light_cone_score((1, 1), (half, half), offset=offset, rate=sp.Integer(1), damping=sp.Rational(11, 10))


def alibi_of_five(offset: sp.Expr) -> sp.Expr:
    """ALiBi's logit for the same content, with the slope 0.05."""
    return 5 + alibi.bias(sp.Rational(1, 20), query_position=offset, key_position=sp.Integer(0))


def far_mass(
    *,
    logit: Callable[[sp.Expr], sp.Expr],
    other_logit: Callable[[sp.Expr], sp.Expr],
    length: int,
    beyond: int,
    share: Range,
    last_to_first: Range,
    other_share: Range,
) -> Evidence:
    """Enclose the mass of the keys beyond a distance, under two laws, and the last of their weights over the first."""
    mass, ratio = _beyond(logit, length, beyond)
    other_mass, _ = _beyond(other_logit, length, beyond)
    facts = (
        _within(f"share of the mass beyond D = {beyond}, of {length} keys", mass, share),
        _within(f"weight at D = {length - 1} over that at D = {beyond + 1}", ratio, last_to_first),
        _within(f"the same share under {other_logit(OFFSET)}", other_mass, other_share),
    )
    return Evidence(strength=Strength.INTERVAL, facts=facts, assumptions=(f"logit {logit(OFFSET)}",))


def _beyond(logit: Callable[[sp.Expr], sp.Expr], length: int, beyond: int) -> tuple[Any, Any]:
    """The share of the mass beyond the distance, and the weight of the last key over that of the first beyond it."""
    law = sp.exp(logit(OFFSET))
    with flint.ctx.workprec(_BITS):
        weights: list[Any] = [enclose(law, bits=_BITS, given={OFFSET: distance}) for distance in range(length)]
        return reduce(add, weights[beyond + 1 :]) / reduce(add, weights), weights[-1] / weights[beyond + 1]


def _within(what: str, ball: Any, stated: Range) -> str:
    lower, upper = (flint.arb(flint.fmpq(*bound.as_integer_ratio())) for bound in stated)
    if not lower <= ball <= upper:
        raise Refuted(f"{what}: {ball.str(5, radius=False)} is not between {float(stated[0])} and {float(stated[1])}")
    return f"{what}: {ball.str(8)}"


def uniform(*, damping: Callable[[sp.Expr, sp.Expr], sp.Expr], spread: int) -> Evidence:
    """Decide e^(-spread C)/T <= a_ij <= e^(2C)/T, C = (|P| + |N|)/2, for T keys at any distances.

    Where both channels decay all logits lie in [-C, C], so a weight is least if its own is -C and all others are C.
    """
    theta, gap, size = sp.symbols("theta g C", positive=True)
    keys = sp.Symbol("T", integer=True, positive=True)
    query, key = sp.symbols("q1 q2", real=True), sp.symbols("k1 k2", real=True)
    law: dict[str, Any] = {"rate": theta, "damping": damping(theta, gap)}
    slow, fast = hope.decay_rates(**law)
    in_slow, in_fast = hope.channels(query, key)
    channels = (in_slow * sp.exp(-OFFSET * slow) + in_fast * sp.exp(-OFFSET * fast)) / 2
    facts = [require_equal("score", lambda: hope.score(query, key, offset=OFFSET, **law), channels)]
    for name, rate in (("slow", slow), ("fast", fast)):
        if not rate.is_positive:
            value = sp.N(sp.exp(-10 * rate.subs({theta: 1, gap: sp.Rational(1, 10)})), 6)
            raise Refuted(
                f"{name} channel: its factor at D = 10 is {value} > 1 for theta = 1, g = 1/10, so C is no bound"
            )
        facts.append(f"{name} channel: the rate {rate} > 0, so its factor is at most 1")
    _refute_spread(spread)
    least = sp.exp(-size) / (sp.exp(-size) + (keys - 1) * sp.exp(size))
    room = (least - sp.exp(-spread * size) / keys) * (sp.exp(-size) + (keys - 1) * sp.exp(size)) * keys
    most = sp.exp(size) / (sp.exp(size) + (keys - 1) * sp.exp(-size))
    rest = (sp.exp(2 * size) / keys - most) * (sp.exp(size) + (keys - 1) * sp.exp(-size)) * keys
    tests = (
        ("(least - e^(-2C)/T) T (sum) = e^-C - e^-3C > 0", room, lambda: sp.exp(-size) - sp.exp(-3 * size)),
        ("(e^(2C)/T - most) T (sum) = e^3C - e^C > 0", rest, lambda: sp.exp(3 * size) - sp.exp(size)),
    )
    facts += [require_equal(*test) for test in tests]
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=(
            "one plane; in a head C is the sum over planes, over sqrt(d)",
            "finite content, any T and distances",
        ),
    )


def _refute_spread(spread: int) -> None:
    """Raise `Refuted` where T = 100 keys, one of logit -2 and all others of logit 2, are below the stated bound."""
    keys, size = 100, 2
    least = sp.exp(-size) / (sp.exp(-size) + (keys - 1) * sp.exp(size))
    bound = sp.exp(-spread * size) / keys
    if least < bound:
        raise Refuted(f"C = {size}, T = {keys}: the least weight is {sp.N(least, 5)}, below {sp.N(bound, 5)}")


CLAIMS = (
    Claim(
        id="hope-5",
        source=source("decay of attention weights with distance"),
        statement="At content 5 and rate 0.1, 89 % of the softmax mass of 4096 keys lies beyond distance 50, evenly "
        "spread; ALiBi at slope 0.05 has 8 % there (errata F4: the logit tends to 0, not to minus infinity).",
        latex=r"\sum_{D>50}a_D \approx 0.888,\quad a_D\propto e^{5e^{-D/10}},\ T=4096",
        label="F",
        check=far_mass,
        holds={
            "logit": content_of_five,
            "other_logit": alibi_of_five,
            "length": 4096,
            "beyond": 50,
            "share": (Fraction(885, 1000), Fraction(895, 1000)),
            "last_to_first": (Fraction(95, 100), Fraction(1)),
            "other_share": (Fraction(75, 1000), Fraction(85, 1000)),
        },
        answers=("share", "last_to_first", "other_share"),
        falsifiers={
            "ALiBi for HoPE": {"logit": alibi_of_five},
            "of 64 keys": {"length": 64},
            "half the rate": {"logit": lambda offset: content_of_five(offset / 2)},
            "no content": {"logit": lambda offset: 0 * content_of_five(offset)},
            "ALiBi at slope 0.1": {"other_logit": lambda offset: alibi_of_five(2 * offset)},
        },
    ),
    Claim(
        id="hope-5-uniform",
        source=source("decay of attention weights with distance"),
        statement="However far the key, its weight is at least e^(-2C)/T among T keys, C = (|P| + |N|)/2: none is "
        "forgotten, and the nearest n weigh at most n e^(2C)/T together.",
        latex=r"e^{-2C}/T\le a_{ij}\le e^{2C}/T,\quad C=\tfrac12(|P|+|N|)",
        label="F",
        check=uniform,
        holds={"damping": lambda rate, gap: rate + gap, "spread": 2},
        falsifiers={
            "theta' below theta": {"damping": lambda rate, gap: rate - gap},
            "at least e^-C/T": {"spread": 1},
            "at least 1/T": {"spread": 0},
        },
    ),
)
