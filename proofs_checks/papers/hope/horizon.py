"""Reach and rounding of HoPE: keys for a wanted distance (errata F6), absolute factors (errata F7), local planes."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import flint
import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.papers.hope import SOURCE
from lengthgen.theory.encodings import hope, rotary
from lengthgen.theory.zero import sympy_engine
from lengthgen.theory.zero.enclosure import enclose

Query = tuple[sp.Expr, ...]
Construction = Callable[[Query, sp.Expr, dict[str, sp.Expr]], Sequence[sp.Expr]]

QUERY: Query = sp.symbols("q1 q2", real=True)
KEY: Query = sp.symbols("k1 k2", real=True)
_EXAMPLE: Query = (sp.Integer(2), sp.Integer(1))
_NUMBERS: dict[str, Any] = {"rate": sp.Integer(1), "damping": sp.Rational(11, 10)}
_OFFSETS_SEEN = range(-2, 7)

Evaluate = Callable[..., float]
"""(position of the key, offset, dtype) -> the computed score."""

POSITION = sp.Symbol("m", integer=True, nonnegative=True)
OFFSETS = (0, 1, 7)
_LAW: dict[str, Any] = {"rate": sp.Integer(1), "damping": sp.Rational(11, 10)}
_QUERY, _KEY = (sp.Rational(3, 4), sp.Rational(1, 4)), (sp.Rational(1, 2), sp.Rational(-3, 8))
_BITS = 128
_QUOTED, _FARTHEST = 15, 2**12
_ROUNDINGS = 6  # u of the query and of the key, their product, the decay, its product, the sum; the half is exact

_HORIZON_BITS = 64


def peak(*, query: Query, key: Construction) -> Evidence:
    """Decide that the score of the constructed key is greatest at D = r among all real D, and so among the integers.

    d score/dD = -e^(-D slow)/2 (P slow + N fast e^(-2 D theta)). If P > 0 > N and the bracket is zero at D = r, it is
    negative before r and positive after it: the score rises up to r and falls from there.
    """
    _compare_scores(query, key)
    theta, gap = sp.symbols("theta g", positive=True)
    offset, wanted = sp.symbols("D r", real=True)
    law: dict[str, Any] = {"rate": theta, "damping": theta + gap}
    slow, fast = hope.decay_rates(**law)
    constructed = key(query, wanted, law)

    def channels() -> hope.Pair:
        return hope.channels(query, key(query, wanted, law))

    slope = hope.light_cone_score(query, constructed, offset=offset, **law).diff(offset)
    at_peak = -slow * sp.exp(2 * wanted * theta)
    bracket = fast * (slow - slow * sp.exp(2 * theta * (wanted - offset)))
    margins = hope.falling_margins(query, constructed, **law)
    facts = (
        require_equal("P = theta' + theta, which is positive", lambda: channels()[0], fast),
        require_equal("N = -(theta' - theta) e^(2 r theta), which is negative", lambda: channels()[1], at_peak),
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
            f"a peak; k = (2, 1) scores {scores} at D = {_OFFSETS_SEEN[0]} to {_OFFSETS_SEEN[-1]}"
        )
    scores_at = _scores(example, key(example, sp.Integer(wanted), _NUMBERS))
    best = max(_OFFSETS_SEEN, key=lambda offset: scores_at[offset])
    if best != wanted:
        raise Refuted(
            f"q = {example}, k for r = {wanted}: the score is {sp.N(scores_at[best], 5)} at D = {best} and "
            f"{sp.N(scores_at[wanted], 5)} at D = {wanted}, greatest at D = {best} "
            f"of {_OFFSETS_SEEN[0]} to {_OFFSETS_SEEN[-1]}"
        )


def _scores(query: Query, key: Sequence[Any]) -> dict[int, sp.Expr]:
    """Scores at the distances that are compared."""
    return {
        offset: sp.N(hope.light_cone_score(query, key, offset=sp.Integer(offset), **_NUMBERS), 30)
        for offset in _OFFSETS_SEEN
    }


def _our_key(query: Query, wanted: sp.Expr, law: dict[str, sp.Expr]) -> Sequence[sp.Expr]:
    """The key that this project constructs."""
    return hope.peaked_key(query, offset=wanted, **law)


def boosted_query(query: Query, wanted: sp.Expr, law: dict[str, sp.Expr]) -> Sequence[sp.Expr]:
    """Return the paper's key as we read it: the query boosted to the wanted offset."""
    return tuple(hope.boost(wanted * law["rate"]) * sp.Matrix(query))


def relative(position: int, offset: int, dtype: type[np.floating[Any]]) -> float:
    """Return the light-cone score computed from the distance alone, each step rounded to `dtype`."""
    del position
    (q1, q2), (k1, k2) = ([dtype(float(coordinate)) for coordinate in content] for content in (_QUERY, _KEY))
    slow, fast = (dtype(np.exp(-offset * float(rate))) for rate in hope.decay_rates(**_LAW))
    return float(((q1 + q2) * (k1 + k2) * slow + (q1 - q2) * (k1 - k2) * fast) / dtype(2))


def factorised(position: int, offset: int, dtype: type[np.floating[Any]]) -> float:
    """Return the score by the paper's algorithm, with all entries of its factors rounded as well as possible."""
    first, second = _products(position, offset, dtype)
    with np.errstate(all="ignore"):
        return float(first + second)


def _products(position: int, offset: int, dtype: type[np.floating[Any]]) -> tuple[Any, Any]:
    """The two products of coordinates that the factorised score adds."""
    query = _apply(hope.query_action(POSITION, **_LAW), position + offset, _QUERY, dtype)
    key = _apply(hope.key_action(POSITION, **_LAW), position, _KEY, dtype)
    with np.errstate(all="ignore"):
        return query[0] * key[0], query[1] * key[1]


def _apply(
    action: sp.Matrix, position: int, content: tuple[sp.Expr, sp.Expr], dtype: type[np.floating[Any]]
) -> tuple[Any, Any]:
    """The content multiplied by an action, rounded to `dtype`."""
    at = {POSITION: position}
    with np.errstate(all="ignore"):
        balls: list[Any] = [enclose(entry.rewrite(sp.exp), bits=_BITS, given=at) for entry in action]
        a, b, c, d = (dtype(float(ball)) for ball in balls)
        first, second = (dtype(float(coordinate)) for coordinate in content)
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

    `lost` has four positions: where `factors` first gives 0 and first gives no finite number, in float32 and then in
    float64.
    """
    unit = float(np.finfo(dtype).eps) / 2
    in_slow, in_fast = hope.channels(_QUERY, _KEY)
    worst = 0.0
    for position in positions:
        for offset in OFFSETS:
            exact_score, size = (
                float(sp.N(hope.light_cone_score((p + n, p - n), (1, 0), offset=sp.Integer(offset), **_LAW), 30))
                for p, n in ((in_slow / 2, in_fast / 2), (abs(in_slow) / 2, abs(in_fast) / 2))
            )
            computed = evaluate(position, offset, dtype)
            if not abs(computed - exact_score) <= 1.01 * _ROUNDINGS * unit * size:
                raise Refuted(
                    f"q = {_QUERY}, k = {_KEY}, key at {position}, D = {offset}: {computed:.6g} in {dtype.__name__}, "
                    f"where the score is {exact_score:.6g}"
                )
            worst = max(worst, abs(computed - exact_score) / size)
    ends, loss = _positions_of_loss(dtype, factors)
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


def _positions_of_loss(dtype: type[np.floating[Any]], factors: Evaluate) -> tuple[tuple[int, ...], list[str]]:
    """Positions from which cancellation and overflow destroy the factorised score of D = 0, and facts about them."""
    product, _ = _products(_QUOTED, 0, dtype)
    wanted, computed = (evaluate(_QUOTED, 0, dtype) for evaluate in (relative, factors))
    facts = [
        f"factorised in {dtype.__name__}, key at {_QUOTED}, D = 0: two products of {float(product):.4g} with opposite "
        f"signs, whose last place is {float(np.spacing(product)):.4g}, must add to {wanted:.4g}; "
        f"with the best rounding of the factors they add to {computed:.4g}"
    ]
    ends = []
    for width in (np.float32, np.float64):
        scores = partial(factors, offset=0, dtype=width)
        zero_from = _first(scores, lambda score: score == 0)
        infinite_from = _first(scores, lambda score: not math.isfinite(score))
        facts.append(
            f"factorised in {width.__name__}: 0 from position {zero_from}, not finite from position {infinite_from}"
        )
        ends += [zero_from, infinite_from]
    return tuple(ends), facts


def _first(score: Callable[[int], float], condition: Callable[[float], bool]) -> int:
    """First position from which on the condition is met, by doubling and halving."""
    after = 1
    while not condition(score(after)):
        after *= 2
        if after > _FARTHEST:
            raise sympy_engine.Undecided(f"the factorised score is not lost up to position {_FARTHEST}")
    before = after // 2
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (before, middle) if condition(score(middle)) else (middle, after)
    return after


def alive(*, head_dim: int, distance: int, kept: Fraction, planes: int) -> Evidence:
    """Enclose what the slow channel of each plane keeps, for all theta' > max theta, and count those above `kept`.

    A channel keeps e^(-D (theta' - theta)), which falls with theta'; so theta' = max theta bounds all of them.
    """
    frequencies = rotary.frequencies(head_dim)
    bound = max(frequencies, key=float)
    limit = flint.arb(flint.fmpq(*kept.as_integer_ratio()))
    shares = [_remaining_share(frequency, bound, distance) for frequency in frequencies]
    undecided = [plane for plane, ball in enumerate(shares) if not (ball > limit or ball < limit)]
    if undecided:
        raise RuntimeError(f"planes {undecided} are too near {kept}")
    above = [plane for plane, ball in enumerate(shares) if ball > limit]
    if len(above) != planes:
        few = ", ".join(f"plane {plane}: {shares[plane].str(4, radius=False)}" for plane in range(min(3, len(shares))))
        raise Refuted(
            f"{len(above)} of {len(shares)} planes keep more than {float(kept)} at D = {distance}, not {planes}: {few}"
        )
    return Evidence(
        strength=Strength.INTERVAL,
        facts=(
            f"theta' -> {bound}: planes {above} of {len(shares)} keep more than {float(kept)} at D = {distance}",
            f"plane 1 keeps {shares[1].str(4)}, plane {len(shares) // 2} {shares[len(shares) // 2].str(4)}",
        ),
        assumptions=("any theta' > max theta = 1, base 10000", "the slow channel, which bounds the plane's signal"),
    )


def _remaining_share(rate: sp.Expr, damping: sp.Expr, distance: int) -> Any:
    """Enclosure of the share that the slow channel keeps at a distance."""
    slow, _ = hope.decay_rates(rate=rate, damping=damping)
    return enclose(sp.exp(-distance * slow), bits=_HORIZON_BITS)


CLAIMS = (
    Claim(
        id="hope-8",
        source=SOURCE.at("Eq. 13, discrimination, and the key constructed for it"),
        statement="For every query off the light cone and every r there is a key whose score is greatest at D = r, "
        "among all integers D: N = -P (theta' - theta)/(theta' + theta) e^(2 r theta), P > 0 (errata F6: for the "
        "paper's key, which we read as a boosted copy of the query, P and N are positive and the score only falls).",
        latex=r"P>0,\ N=-P\,\tfrac{\theta'-\theta}{\theta'+\theta}e^{2\theta r}\ \Rightarrow\ "
        r"\arg\max_{D\in\mathbb Z}s(D)=r",
        label="F",
        check=peak,
        holds={"query": QUERY, "key": _our_key},
        printed={"key": boosted_query},
        falsifiers={
            "query on the light cone": {"query": (sp.Integer(1), sp.Integer(1))},
            "query on its other line": {"query": (sp.Integer(1), sp.Integer(-1))},
            "boosted backwards": {"key": lambda query, wanted, law: boosted_query(query, -wanted, law)},
            "peak one step later": {"key": lambda query, wanted, law: hope.peaked_key(query, offset=wanted + 1, **law)},
            "key reversed": {
                "key": lambda query, wanted, law: [-coordinate for coordinate in _our_key(query, wanted, law)]
            },
        },
    ),
    Claim(
        id="hope-9",
        source=SOURCE.at("Algorithm 1: absolute factors of queries and keys"),
        statement="In float32 the relative form of the score is right to its last digits at any position.  Separate "
        "factors of queries and keys are not: at theta = 1, theta' = 1.1 their products cancel, so that the score is 0 "
        "from position 9 on, in float64 from 19 on, and they overflow at 43, in float64 at 339 (errata F7).",
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
    Claim(
        id="hope-10",
        source=SOURCE.at("one damping theta' for all planes, with RoPE's frequencies"),
        statement="With RoPE's frequencies and any theta' > 1, at most 1 of the 32 planes of a head of 64 keeps more "
        "than a thousandth of its signal at distance 64.",
        latex=r"\#\{l: e^{-64(\theta'-\theta_l)}>10^{-3}\}\le 1",
        label="F",
        check=alive,
        holds={"head_dim": 64, "distance": 64, "kept": Fraction(1, 1000), "planes": 1},
        answers=("planes",),
        falsifiers={
            "at distance 8": {"distance": 8},
            "of a head of 256": {"head_dim": 256},
            "at most a part in 10^9": {"kept": Fraction(1, 10**9)},
        },
    ),
)
