"""Absolute factors, one for each query and each key, against the relative form (errata F7)."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.hope.source import source
from theory import exact
from theory.enclosure import enclose
from theory.encodings import hope

Evaluate = Callable[..., float]
"""(position of the key, offset, dtype) -> the score."""

POSITION = sp.Symbol("m", integer=True, nonnegative=True)
OFFSETS = (0, 1, 7)
_LAW: dict[str, Any] = {"rate": sp.Integer(1), "damping": sp.Rational(11, 10)}
_QUERY, _KEY = (sp.Rational(3, 4), sp.Rational(1, 4)), (sp.Rational(1, 2), sp.Rational(-3, 8))
_BITS = 128
_QUOTED, _FARTHEST = 15, 2**12
_ROUNDINGS = 6  # u of the query and of the key, their product, the decay, its product, the sum; the half is exact


def relative(position: int, offset: int, dtype: type[np.floating[Any]]) -> float:
    """The light-cone score from the distance alone, each step rounded to `dtype`."""
    del position
    (q1, q2), (k1, k2) = ([dtype(float(one)) for one in content] for content in (_QUERY, _KEY))
    slow, fast = (dtype(np.exp(-offset * float(rate))) for rate in hope.decay_rates(**_LAW))
    return float(((q1 + q2) * (k1 + k2) * slow + (q1 - q2) * (k1 - k2) * fast) / dtype(2))


def factorised(position: int, offset: int, dtype: type[np.floating[Any]]) -> float:
    """The paper's algorithm with the key at the position; all entries of its factors are rounded as well as can be."""
    first, second = _products(position, offset, dtype)
    with np.errstate(all="ignore"):
        return float(first + second)


def _products(position: int, offset: int, dtype: type[np.floating[Any]]) -> tuple[Any, Any]:
    """The two products of coordinates that the factorised score adds."""
    query = _acted(hope.query_action(POSITION, **_LAW), position + offset, _QUERY, dtype)
    key = _acted(hope.key_action(POSITION, **_LAW), position, _KEY, dtype)
    with np.errstate(all="ignore"):
        return query[0] * key[0], query[1] * key[1]


def _acted(
    action: sp.Matrix, position: int, content: tuple[sp.Expr, sp.Expr], dtype: type[np.floating[Any]]
) -> tuple[Any, Any]:
    at = {POSITION: position}
    with np.errstate(all="ignore"):
        balls: list[Any] = [enclose(entry.rewrite(sp.exp), bits=_BITS, given=at) for entry in action]
        a, b, c, d = (dtype(float(ball)) for ball in balls)
        first, second = (dtype(float(one)) for one in content)
        return a * first + b * second, c * first + d * second


def accurate(
    *,
    evaluate: Evaluate,
    dtype: type[np.floating[Any]],
    positions: tuple[int, ...],
    factors: Evaluate,
    lost: tuple[int, ...],
) -> Evidence:
    """Decide that an evaluation stays within six roundings of each channel, with the key at each of the positions.

    `lost` is where the evaluation by factors is 0 and where not finite, in float32, then in float64.
    """
    unit = float(np.finfo(dtype).eps) / 2
    in_slow, in_fast = hope.channels(_QUERY, _KEY)
    worst = 0.0
    for position in positions:
        for offset in OFFSETS:
            right, size = (
                float(sp.N(hope.light_cone_score((p + n, p - n), (1, 0), offset=sp.Integer(offset), **_LAW), 30))
                for p, n in ((in_slow / 2, in_fast / 2), (abs(in_slow) / 2, abs(in_fast) / 2))
            )
            found = evaluate(position, offset, dtype)
            if not abs(found - right) <= 1.01 * _ROUNDINGS * unit * size:
                raise Refuted(
                    f"q = {_QUERY}, k = {_KEY}, key at {position}, D = {offset}: {found:.6g} in {dtype.__name__}, "
                    f"where the score is {right:.6g}"
                )
            worst = max(worst, abs(found - right) / size)
    ends, loss = _loss(dtype, factors)
    if ends != lost:
        raise Refuted(f"{'; '.join(loss[1:])}; not from {', '.join(map(str, lost))}")
    return Evidence(
        strength=Strength.NUMERIC,
        facts=(f"positions {positions}: off by {worst:.2g} of the channels' sizes at most", *loss),
        assumptions=(
            f"D in {OFFSETS}, theta = 1, theta' = 1.1, q = {_QUERY}, k = {_KEY}",
            f"tolerance: {_ROUNDINGS} roundings of each channel, and 1 % for their products",
        ),
    )


def _loss(dtype: type[np.floating[Any]], factors: Evaluate) -> tuple[tuple[int, ...], list[str]]:
    """Where cancellation and overflow end the factorised score of D = 0, and the facts about it."""
    product, _ = _products(_QUOTED, 0, dtype)
    wanted, found = (evaluate(_QUOTED, 0, dtype) for evaluate in (relative, factors))
    facts = [
        f"factorised in {dtype.__name__}, key at {_QUOTED}, D = 0: two products of {float(product):.4g} with opposite "
        f"signs, whose last place is {float(np.spacing(product)):.4g}, must add to {wanted:.4g}; "
        f"with the best rounding of the factors they add to {found:.4g}"
    ]
    ends = []
    for width in (np.float32, np.float64):
        scores = partial(factors, offset=0, dtype=width)
        gone = _first(scores, lambda score: score == 0)
        broken = _first(scores, lambda score: not math.isfinite(score))
        facts.append(f"factorised in {width.__name__}: 0 from position {gone}, not finite from position {broken}")
        ends += [gone, broken]
    return tuple(ends), facts


def _first(score: Callable[[int], float], met: Callable[[float], bool]) -> int:
    """The first position from which on it is met, by doubling and halving."""
    after = 1
    while not met(score(after)):
        after *= 2
        if after > _FARTHEST:
            raise exact.Undecided(f"the factorised score is not lost up to position {_FARTHEST}")
    before = after // 2
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (before, middle) if met(score(middle)) else (middle, after)
    return after


CLAIMS = (
    Claim(
        id="hope-9",
        source=source("Algorithm 1: absolute factors of queries and keys"),
        statement="In float32 the relative form of the score is right to its last digits at any position.  Factors of "
        "queries and keys are not: at theta = 1, theta' = 1.1 their products cancel, so that nothing is left from "
        "position 9 on, in float64 from 19 on, and they overflow at 43, in float64 at 339 (errata F7).",
        latex=r"e^{n\theta'}B(-n\theta)k\sim e^{2.1n}",
        label="F",
        check=accurate,
        holds={
            "evaluate": relative,
            "dtype": np.float32,
            "positions": (0, 15, 43, 339, 1024, 10**6),
            "factors": factorised,
            "lost": (9, 43, 19, 339),
        },
        answers=("lost",),
        falsifiers={
            "factors, position 15": {"evaluate": factorised, "positions": (15,)},
            "factors, position 43": {"evaluate": factorised, "positions": (43,)},
            "factors, position 1024": {"evaluate": factorised, "positions": (1024,)},
            "factors at half the position": {
                "factors": lambda position, offset, dtype: factorised(position // 2, offset, dtype)
            },
            "factors in float64, position 19": {"evaluate": factorised, "dtype": np.float64, "positions": (19,)},
            "factors in float64, position 339": {"evaluate": factorised, "dtype": np.float64, "positions": (339,)},
        },
    ),
)
