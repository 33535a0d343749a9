"""Window and slopes of SWAT: the tokens that an output depends on, and the weight of a key by its distance."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.enclosing import ball, short
from lengthgen.proofs_checks.identity import derivative, require_equal
from lengthgen.proofs_checks.papers.swat import SOURCE, sigmoid
from lengthgen.theory import far
from lengthgen.theory.encodings import biases, rotary
from lengthgen.theory.encodings.encoding import LENGTH, Encoding
from lengthgen.theory.far import FarCase, FarField

Number = Callable[[sp.Expr], sp.Expr]

_SIZES = range(1, 6)
_MOST_HEADS = 64


def reach_of_layers(*, field: Callable[[sp.Expr, sp.Expr], sp.Expr], keys: Callable[[int], range]) -> Evidence:
    """Decide that the output of a token depends on exactly `field(W, L)` tokens after L layers of window W.

    `keys(W)` are the distances of the keys that a query sees.
    """
    window, layers = sp.symbols("W L", integer=True, positive=True)
    for width in _SIZES:
        for depth in _SIZES:
            length = width * depth + 2
            distance = np.subtract.outer(np.arange(length), np.arange(length))
            seen = np.isin(distance, [*keys(width)]).astype(np.int64)
            count = int((np.linalg.matrix_power(seen, depth)[-1] > 0).sum())
            stated = field(sp.Integer(width), sp.Integer(depth))
            if count != stated:
                raise Refuted(f"W = {width}, L = {depth}: the last of {length} tokens depends on {count}, not {stated}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"products of the matrices of seen keys for all W, L <= {_SIZES[-1]}: the count is 1 + (W - 1) L",
            "a layer sees the distances 0 .. W - 1; if L layers reach 0 .. a, one more reaches the sums 0 .. a + W - 1",
            require_equal("no layer: the token itself", lambda: field(window, sp.S.Zero), lambda: sp.Integer(1)),
            require_equal(
                "each layer adds W - 1 tokens",
                lambda: field(window, layers + 1) - field(window, layers),
                lambda: window - 1,
            ),
        ),
        assumptions=("causal windows; at least that many tokens before; content for which no path cancels another",),
    )


def slope_signs(
    *,
    encoding: Encoding,
    alone: Number,
    least: Number,
    gradient: Number,
    cases: tuple[FarCase, ...],
) -> Evidence:
    """Decide the weight of a key at distance D for content that adds at most c, by u = |s| D - c.

    Args:
        encoding: record whose bias is s D and whose far keys are those of `cases`.
        alone: weight of a logit.
        least: bound of the weight from below for s > 0, as a function of u; for s < 0 it is at most 1 less it.
        gradient: bound from above of the weight's derivative by the logit, for either sign.
        cases: stated effects on far keys.
    """
    margin, logit = sp.symbols("u l", real=True)
    distance, key = sp.symbols("D i", integer=True, nonnegative=True)
    for number in (sp.Integer(1), sp.Integer(3)):
        weight, steepness = alone(number), alone(number) * alone(-number)
        if ball(weight - least(number)) < 0:
            raise Refuted(f"s D - c = {number}: the weight {short(ball(weight))} is below {short(ball(least(number)))}")
        if ball(steepness - gradient(number)) > 0:
            raise Refuted(f"s D - c = {number}: the weight changes by {short(ball(steepness))} per unit of content")
    computed = far.far_cases(encoding)
    if computed != cases:
        raise Refuted(f"far keys: computed {far.cases_text(computed)}")
    assert encoding.bias is not None
    law = encoding.bias
    small = sp.exp(-margin)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "the bias at distance D", lambda: law(key + distance, key, LENGTH), lambda: rotary.SWAT_SLOPE * distance
            ),
            require_equal(
                "the weight rises with the logit: sigma'(l) = sigma(l) sigma(-l), above 0",
                lambda: derivative(alone(logit), logit),
                lambda: alone(logit) * alone(-logit),
            ),
            require_equal(
                "s > 0, logit at least u: sigma(u) - (1 - e^-u) = e^-2u / (1 + e^-u), above 0",
                lambda: alone(margin) - least(margin),
                lambda: small**2 / (1 + small),
            ),
            require_equal(
                "s < 0, logit at most -u: e^-u - sigma(-u) is the same",
                lambda: 1 - least(margin) - alone(-margin),
                lambda: small**2 / (1 + small),
            ),
            require_equal(
                "either sign: e^-u - sigma'(u) = e^-2u (2 + e^-u) / (1 + e^-u)^2, above 0",
                lambda: gradient(margin) - alone(margin) * alone(-margin),
                lambda: small**2 * (2 + small) / (1 + small) ** 2,
            ),
            f"far keys, by limits: {far.cases_text(computed)}",
        ),
        assumptions=("the content part of the logit is at most c in size, and u = |s| D - c > 0",),
    )


def horizons(
    *,
    slopes: Callable[[int], Sequence[sp.Expr]],
    others: Callable[[int], Sequence[sp.Expr]],
    horizon: Number,
    equal: frozenset[int],
) -> Evidence:
    """Decide how far the heads of negative slope see: e^(s D) = 1/1000 at D = `horizon(k)` for the k-th of them.

    `equal` are the even numbers H of heads at which these slopes are those of `others` for H/2 heads.
    """
    alike = set()
    for heads in range(2, _MOST_HEADS + 1, 2):
        falling = [slope for slope in slopes(heads) if slope < 0]
        if len(falling) != heads // 2:
            raise Refuted(f"{heads} heads: {len(falling)} negative slopes, not {heads // 2}")
        for number, slope in enumerate(falling, start=1):
            share = slope * horizon(sp.Integer(number)) + sp.log(1000)
            if sp.expand(share) != 0:
                raise Refuted(f"{heads} heads, head {number}: e^(s D) is {sp.exp(share).n(4)}/1000 at the stated D")
        if falling == [-slope for slope in others(heads // 2)]:
            alike.add(heads)
    if alike != equal:
        raise Refuted(f"the negative slopes of H heads are those of H/2 heads of the other list for H in {alike}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(
            f"e^(-2^-k D) = 1/1000 at D = 2^k log 1000 for every head of up to {_MOST_HEADS} heads, exactly",
            f"k = 1 .. 6: {', '.join(short(ball(horizon(sp.Integer(power)))) for power in range(1, 7))} tokens",
            f"equal to ALiBi's list for H/2 heads only at H = {', '.join(map(str, sorted(alike)))}",
        ),
        reach=f"H <= {_MOST_HEADS}",
    )


_ROW = (
    FarCase(where="slope < 0, D < W", behaviour=FarField.EXPONENTIAL),
    FarCase(where="slope > 0, D < W", behaviour=FarField.SATURATED),
    FarCase(where="D >= W", behaviour=FarField.HIDDEN),
)

CLAIMS = (
    Claim(
        id="swat-2",
        source=SOURCE.at("information flow through stacked windows"),
        statement="After L layers of causal windows of W tokens an output depends on exactly 1 + (W - 1) L tokens, "
        "its own included.",
        latex=r"\#\{i:\partial x^{(L)}_j/\partial x^{(0)}_i\not\equiv 0\}=1+(W-1)L",
        label="P",
        check=reach_of_layers,
        holds={
            "field": lambda window, layers: rotary.swat_receptive_field(window=window, layers=layers),
            "keys": range,
        },
        falsifiers={
            "W L tokens": {"field": lambda window, layers: window * layers},
            "W keys beside the query": {"keys": lambda width: range(width + 1)},
            "every second key": {"keys": lambda width: range(0, width, 2)},
        },
    ),
    Claim(
        id="swat-6",
        source=SOURCE.at("balanced slopes: heads for near and for old tokens; the bounds are ours"),
        statement="For content that adds at most c to a logit, the weight at distance D is at most e^-(|s| D - c) for "
        "s < 0 and at least 1 - e^-(s D - c) for s > 0, and changes with the content by at most e^-(|s| D - c): heads "
        "of positive slope average old tokens, they do not select among them.",
        latex=r"u=|s|D-c:\quad\sigma(-u)\le e^{-u},\quad\sigma(u)\ge 1-e^{-u},\quad\sigma'(u)\le e^{-u}",
        label="F",
        check=slope_signs,
        holds={
            "encoding": rotary.SWAT,
            "alone": sigmoid,
            "least": lambda margin: 1 - sp.exp(-margin),
            "gradient": lambda margin: sp.exp(-margin),
            "cases": _ROW,
        },
        answers=("cases",),
        falsifiers={
            "weights of a quarter of the logit": {"alone": lambda logit: rotary.swat_weight(logit / 4)},
            "a gradient that falls twice as fast": {"gradient": lambda margin: sp.exp(-2 * margin)},
            "a weight that rises twice as fast": {"least": lambda margin: 1 - sp.exp(-2 * margin)},
            "a slope by the root of the distance": {
                "encoding": replace(rotary.SWAT, bias=lambda query, key, _: rotary.SWAT_SLOPE * sp.sqrt(query - key))
            },
        },
    ),
    Claim(
        id="swat-10",
        source=SOURCE.at("balanced slopes 2^-k; the horizons are ours"),
        statement="The k-th head of negative slope multiplies far weights by 1/1000 from 2^k log 1000 tokens on (13.8, "
        "27.6, 55.3, ...). These slopes of H heads are ALiBi's for H/2 heads only at H = 16. Decided for H <= 64.",
        latex=r"e^{-2^{-k}D}=10^{-3}\iff D=2^k\ln 1000;\qquad 2^{-k}=2^{-8k/(H/2)}\iff H=16",
        label="F",
        check=horizons,
        holds={
            "slopes": lambda heads: rotary.swat_slopes(heads, "balanced"),
            "others": biases.alibi_slopes,
            "horizon": lambda power: 2**power * sp.log(1000),
            "equal": frozenset({16}),
        },
        answers=("equal",),
        falsifiers={
            "ALiBi's slopes for H/2 heads": {
                "slopes": lambda heads: tuple(
                    sign * slope for sign in (-1, 1) for slope in biases.alibi_slopes(heads // 2)
                )
            },
            "all slopes negative": {"slopes": lambda heads: rotary.swat_slopes(heads, "negative")},
            "the horizons of 1/100": {"horizon": lambda power: 2**power * sp.log(100)},
            "compared with its own slopes": {"others": lambda heads: [2 ** -sp.Integer(k + 1) for k in range(heads)]},
        },
    ),
)
