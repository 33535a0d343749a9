"""SWAT (arXiv 2502.18845): sigmoid weights in place of softmax, a window, RoPE and balanced linear biases.

The statements are of the paper's form.  A released layer has sigmoid weights with slopes that all prefer old keys; the
other computes softmax (see theory/encodings/rotary.py). Appendix A says that softmax over many logits becomes sparse;
it spreads out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.facts import ball, derivative, same_by_sympy, short
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory import far, laws
from lengthgen.theory.encodings import biases, rotary
from lengthgen.theory.encodings.encoding import LENGTH, Encoding, Law, Normaliser
from lengthgen.theory.far import FarCase, FarField
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="SWAT", arxiv="2502.18845")

Number = Callable[[sp.Expr], sp.Expr]
Weights = Callable[[Sequence[sp.Expr]], Sequence[sp.Expr]]
OfLogLength = Callable[[sp.Expr, sp.Expr], sp.Expr]
"""Function of the spread s of the logits and of n = log L, the logarithm of their number."""

_LOGIT, _OTHER, _ADDED = sp.symbols("l m c", real=True)
_REST = sp.Symbol("S", positive=True)
_LOGITS = tuple(map(sp.Rational, ("1.5", "5", "2.4", "0.5", "1.3")))
_STATED = ("0.0265", "0.877", "0.0651", "0.0097", "0.0217")
_SIZES = range(1, 6)
_MOST_HEADS = 64
_ROW = (
    FarCase(where="slope < 0, D < W", behaviour=FarField.EXPONENTIAL),
    FarCase(where="slope > 0, D < W", behaviour=FarField.SATURATED),
    FarCase(where="D >= W", behaviour=FarField.HIDDEN),
)
_SCALE = sp.Symbol("s", positive=True)
_LOG = sp.Symbol("n", positive=True)
_LENGTHS = (10**3, 10**5)


def sigmoid(logit: sp.Expr) -> sp.Expr:
    """Return SWAT's weight of a key with this logit."""
    return rotary.swat_weight(logit)


def softmax(logits: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Return e^l / (sum of e^l) for each logit l."""
    total = sp.Add(*map(sp.exp, logits))
    return [sp.exp(logit) / total for logit in logits]


def _each_alone(logits: Sequence[sp.Expr]) -> list[sp.Expr]:
    return [sigmoid(logit) for logit in logits]


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "swat-1",
    "comparison of softmax and sigmoid weights; the sum is ours",
    r"\mathrm{softmax}(1.5,5,2.4,.5,1.3)\approx(.0265,.877,.0651,.0097,.0217),\quad\sum_i\sigma(l_i)>4",
    label="P",
    strength=Strength.INTERVAL,
    answers=("stated",),
    falsifiers={
        "temperature 2": {"weights": lambda logits: softmax([logit / 2 for logit in logits])},
        "the sigmoid's weights": {"weights": _each_alone},
    },
)
def worked_example(
    weights: Weights = softmax,
    logits: Sequence[sp.Rational] = _LOGITS,
    stated: Sequence[str] = _STATED,
    alone: Number = sigmoid,
) -> Facts:
    """Softmax gives the logits 1.5, 5, 2.4, 0.5, 1.3 the weights 0.0265, 0.877, 0.0651, 0.0097, 0.0217; the sigmoid's
    weights of these logits sum to more than 4.

    Decide that the weights of the logits are the stated decimals, and that those of `alone` sum to more than 4.
    """
    for value, expected in zip(weights(logits), stated, strict=True):
        half_a_unit = sp.Rational(1, 2 * 10 ** len(expected.partition(".")[2]))
        if not abs(ball(value - sp.Rational(expected))) <= ball(half_a_unit):
            raise Refuted(f"logits {', '.join(map(str, logits))}: the weight {expected} is {short(ball(value))}")
        yield f"{short(ball(value))} is {expected} rounded"
    total = ball(sp.Add(*map(alone, logits)))
    if not total > 4:
        raise Refuted(f"the weights of each logit alone sum to {short(total)}")
    yield f"the sigmoid's weights of these logits sum to {short(total)}"


@CLAIMS.claim(
    "swat-3",
    "sigmoid in place of softmax: tokens do not compete",
    r"\partial\sigma(l_n)/\partial l_m=0,\qquad\partial p_n/\partial l_m=-p_np_m<0\quad(m\ne n)",
    label="P",
    assumptions=("softmax: S > 0 is the sum of e^l over all further keys, so any number of them",),
    falsifiers={
        "softmax's weights depend on their own logits": {"alone": softmax},
        "sigmoid weights depend on the others": {"together": _each_alone},
    },
)
def independence(alone: Weights = _each_alone, together: Weights = softmax) -> Facts:
    """Under the sigmoid the weight of a key does not depend on other keys; under softmax it falls with the logit of
    every other key.

    Decide that a weight of `alone` depends on its own logit only, and one of `together` falls with every other.
    """
    logits = (_LOGIT, _OTHER, sp.log(_REST))
    own, shared = alone(logits)[0], together(logits)[0]
    if own.free_symbols - {_LOGIT}:
        before, after = (own.subs({_LOGIT: 0, _REST: 1, _OTHER: other}) for other in (0, sp.log(2)))
        raise Refuted(f"key 1 has the weight {before} beside logits 0, 0 and {after} beside log 2, 0")
    if _OTHER not in shared.free_symbols:
        raise Refuted(f"the weight {shared} of key 1 has no logit of another key in it")
    yield f"the sigmoid's weight {own} has no other logit in it"
    yield (
        "softmax: the derivative of p_1 by the logit of key 2 is -p_1 p_2, below 0",
        lambda: derivative(shared, _OTHER),
        lambda: -together(logits)[0] * together(logits)[1],
    )


@CLAIMS.claim(
    "swat-4",
    "attention of SWAT: RoPE, slope and sigmoid; the bias of the key alone is ours",
    r"\mathrm{softmax}_i(x_{ji}-si)=\mathrm{softmax}_i(x_{ji}+s(j-i)),\qquad "
    r"\sigma(x_{ji}-si)\ne\sigma(x_{ji}+s(j-i))",
    falsifiers={
        "the key alone suffices for the sigmoid": {"kept_under": Normaliser.SIGMOID},
        "it does not for softmax": {"broken_under": Normaliser.SOFTMAX},
        "a slope that grows with the query": {
            "encoding": replace(rotary.SWAT, bias=lambda query, key, _: rotary.SWAT_SLOPE * query * (query - key))
        },
    },
)
def bias_by_key_alone(
    encoding: Encoding = rotary.SWAT,
    kept_under: Normaliser = Normaliser.SOFTMAX,
    broken_under: Normaliser = Normaliser.SIGMOID,
) -> Facts:
    """With RoPE and the bias s (j - i) scores depend on j - i alone, so the relative law holds under both normalisers.
    Code that adds -s i for s (j - i) has the same weights under softmax, and under the sigmoid weights that a shift of
    all positions changes.

    Args:
        encoding: RoPE with a linear bias.
        kept_under: normaliser under which the bias -s i of the key alone keeps the law of translation.
        broken_under: normaliser under which it breaks it.
    """
    query, key = sp.symbols("j i", real=True)
    law_of_bias = encoding.bias
    assert law_of_bias is not None
    by_key = replace(encoding, bias=lambda query, key, _: -rotary.SWAT_SLOPE * key)
    cases = [(encoding, Law.RELATIVE, normaliser, True) for normaliser in Normaliser]
    cases += [(by_key, Law.TRANSLATION, kept_under, True), (by_key, Law.TRANSLATION, broken_under, False)]
    rulings = []
    for record, law, normaliser, holds in cases:
        ruling = laws.decide_law(replace(record, normaliser=normaliser), law)
        if ruling.holds is None:
            raise Undecided(f"{law} under {normaliser}: {ruling.reason}")
        if ruling.holds != holds:
            raise Refuted(f"{normaliser}, {law}: {ruling.reason}")
        bias = "-s i" if record is by_key else "s (j - i)"
        rulings.append(f"{bias} under {normaliser}: {law} {'holds' if holds else 'fails'}, {ruling.reason}")
    yield (
        "what is dropped is s j, the same for all keys",
        lambda: law_of_bias(query, key, sp.S.One) - -rotary.SWAT_SLOPE * key,
        lambda: rotary.SWAT_SLOPE * query,
    )
    yield from rulings


@CLAIMS.claim(
    "swat-5",
    "sigmoid in place of softmax; the consequence is ours",
    r"\mathrm{softmax}(l+c)=\mathrm{softmax}(l),\qquad "
    r"\sigma(l+c)-\sigma(l)=\frac{\sinh(c/2)}{\cosh(c/2)+\cosh(l+c/2)}",
    falsifiers={
        "the sigmoid ignores it": {"ignoring": _each_alone},
        "a constant weight": {"changing": lambda logit: sp.Rational(1, 2) + 0 * logit},
    },
)
def constants_of_a_row(ignoring: Weights = softmax, changing: Number = sigmoid) -> Facts:
    """Softmax ignores a constant added to all logits of a row; under the sigmoid it raises or lowers every weight, so
    SWAT has no free level of logits.

    Decide that a constant added to all logits leaves the weights of `ignoring` and raises those of `changing`.
    """
    logits = (_LOGIT, _OTHER, sp.log(_REST))
    moved = (_LOGIT + _ADDED, _OTHER + _ADDED, sp.log(_REST * sp.exp(_ADDED)))
    yield (
        "softmax(l + c) = softmax(l), S the sum of e^l over further keys",
        lambda: ignoring(moved)[0],
        lambda: ignoring(logits)[0],
    )
    yield (
        "sigma(l + c) - sigma(l) = sinh(c/2) / (cosh(c/2) + cosh(l + c/2))",
        lambda: changing(_LOGIT + _ADDED) - changing(_LOGIT),
        lambda: sp.sinh(_ADDED / 2) / (sp.cosh(_ADDED / 2) + sp.cosh(_LOGIT + _ADDED / 2)),
    )
    yield "which has the sign of c: the sigmoid's weight of every key rises with c, so no level of logits is free"


@CLAIMS.claim(
    "swat-7",
    "balanced slopes, sigmoid without an offset; the statement is ours",
    r"\sigma(sD)+\sigma(-sD)=1\Rightarrow\tfrac12\sum_{D<W}\big(\sigma(sD)+\sigma(-sD)\big)=\tfrac W2",
    assumptions=("content 0, as for small initial weights; the window is full",),
    falsifiers={
        "negative slopes alone": {"slopes": lambda heads: rotary.swat_slopes(heads, "negative")},
        "weights that sum to 1 for every window": {"alone": lambda logit: sp.exp(logit) / (sp.exp(logit) + 2)},
    },
)
def growth_with_window(
    alone: Number = sigmoid,
    slopes: Callable[[int], Sequence[sp.Expr]] = lambda heads: rotary.swat_slopes(heads, "balanced"),
) -> Facts:
    """At zero content the weights of a full window of W keys sum to W/2 in the mean of two heads of opposite slopes, as
    balanced slopes are: outputs grow with the window, which softmax's do not.

    So the weights of a window of W keys sum to W/2 in the mean of the heads. `slopes` are those of H heads.
    """
    distance = sp.Symbol("D", nonnegative=True)
    for heads in range(2, 65, 2):
        given = slopes(heads)
        if sorted(given) != sorted(-slope for slope in given):
            total = sp.Add(*(alone(slope) for slope in given)) / heads
            raise Refuted(f"{heads} heads, D = 1: the mean weight is {short(ball(total))}, not 1/2")
    yield (
        "sigma(s D) + sigma(-s D) = 1",
        lambda: alone(rotary.SWAT_SLOPE * distance) + alone(-rotary.SWAT_SLOPE * distance),
        lambda: sp.Integer(1),
    )
    yield same_by_sympy("sigma(0)", alone(sp.S.Zero), sp.Rational(1, 2))
    yield (
        "so W keys have weights that sum to W/2 in the mean of both heads, and a window of W' keys at inference "
        "scales an output of equal values by W'/W; softmax's weights sum to 1 for every window"
    )
    yield "the balanced slopes of 2, 4, ..., 64 heads are opposite in pairs"


@CLAIMS.claim(
    "swat-9",
    "sigmoid in place of softmax; the bounds are ours",
    r"\lVert y\rVert\le\max_i\lVert v_i\rVert\ \text{(softmax)},\qquad "
    r"\sup\frac{\lVert y\rVert}{\max_i\lVert v_i\rVert}=W\ \text{(sigmoid)}",
    assumptions=("softmax: S > 0 is the sum of e^l over all further keys, so any number of them",),
    falsifiers={
        "the sigmoid's output is at most max |v|": {"bound": lambda window: sp.S.One},
        "at most W/2 max |v|": {"bound": lambda window: window / 2},
        "sigmoid weights sum to 1": {"together": _each_alone},
    },
)
def output_bound(together: Weights = softmax, alone: Number = sigmoid, bound: Number = lambda window: window) -> Facts:
    """Under softmax an output is at most as long as the longest value. Under the sigmoid it is shorter than W times the
    longest value for a window of W keys, and no smaller bound holds.

    Decide |y| <= max |v| under softmax and |y| < `bound(W)` max |v| under the sigmoid, with no smaller bound.
    """
    window = sp.Symbol("W", integer=True, positive=True)
    logits = (_LOGIT, _OTHER, sp.log(_REST))
    for count, odds in ((3, 1), (3, 9), (5, 99)):  # e^l = odds for all keys, all values 1
        reached = count * alone(sp.log(sp.Integer(odds)))
        if ball(reached - bound(sp.Integer(count))) >= 0:
            raise Refuted(f"{count} equal values of norm 1 with e^l = {odds}: |y| = {reached}, not below the bound")
    yield (
        "softmax: the weights are positive and sum to 1, so y is a convex combination: |y| <= max |v|",
        lambda: sp.Add(*together(logits)),
        lambda: sp.Integer(1),
    )
    yield (
        "sigmoid: 1 - sigma(l) = sigma(-l), above 0, so each weight is below 1 and |y| < W max |v|",
        lambda: 1 - alone(_LOGIT),
        lambda: alone(-_LOGIT),
    )
    yield same_by_sympy(
        "with equal values |y|/|v| = W sigma(l) goes to the bound as l grows",
        sp.limit(window * alone(_LOGIT), _LOGIT, sp.oo),
        bound(window),
    )


@CLAIMS.claim(
    "swat-2",
    "information flow through stacked windows",
    r"\#\{i:\partial x^{(L)}_j/\partial x^{(0)}_i\not\equiv 0\}=1+(W-1)L",
    label="P",
    assumptions=("causal windows; at least that many tokens before; content for which no path cancels another",),
    falsifiers={
        "W L tokens": {"field": lambda window, layers: window * layers},
        "W keys beside the query": {"keys": lambda width: range(width + 1)},
        "every second key": {"keys": lambda width: range(0, width, 2)},
    },
)
def reach_of_layers(
    field: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda window, layers: rotary.swat_receptive_field(
        window=window, layers=layers
    ),
    keys: Callable[[int], range] = range,
) -> Facts:
    """After L layers of causal windows of W tokens an output depends on exactly 1 + (W - 1) L tokens, its own included.

    Decide that the output of a token depends on exactly `field(W, L)` tokens after L layers of window W.

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
    yield f"products of the matrices of seen keys for all W, L <= {_SIZES[-1]}: the count is 1 + (W - 1) L"
    yield "a layer sees the distances 0 .. W - 1; if L layers reach 0 .. a, one more reaches the sums 0 .. a + W - 1"
    yield "no layer: the token itself", lambda: field(window, sp.S.Zero), lambda: sp.Integer(1)
    yield "each layer adds W - 1 tokens", lambda: field(window, layers + 1) - field(window, layers), lambda: window - 1


@CLAIMS.claim(
    "swat-6",
    "balanced slopes: heads for near and for old tokens; the bounds are ours",
    r"u=|s|D-c:\quad\sigma(-u)\le e^{-u},\quad\sigma(u)\ge 1-e^{-u},\quad\sigma'(u)\le e^{-u}",
    assumptions=("the content part of the logit is at most c in size, and u = |s| D - c > 0",),
    answers=("cases",),
    falsifiers={
        "weights of a quarter of the logit": {"alone": lambda logit: rotary.swat_weight(logit / 4)},
        "a gradient that falls twice as fast": {"gradient": lambda margin: sp.exp(-2 * margin)},
        "a weight that rises twice as fast": {"least": lambda margin: 1 - sp.exp(-2 * margin)},
        "a slope by the root of the distance": {
            "encoding": replace(rotary.SWAT, bias=lambda query, key, _: rotary.SWAT_SLOPE * sp.sqrt(query - key))
        },
    },
)
def slope_signs(
    encoding: Encoding = rotary.SWAT,
    alone: Number = sigmoid,
    least: Number = lambda margin: 1 - sp.exp(-margin),
    gradient: Number = lambda margin: sp.exp(-margin),
    cases: tuple[FarCase, ...] = _ROW,
) -> Facts:
    """For content that adds at most c to a logit, the weight at distance D is at most e^-(|s| D - c) for s < 0 and at
    least 1 - e^-(s D - c) for s > 0, and changes with the content by at most e^-(|s| D - c): heads of positive slope
    average old tokens, they do not select among them.

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
    yield "the bias at distance D", lambda: law(key + distance, key, LENGTH), lambda: rotary.SWAT_SLOPE * distance
    yield (
        "the weight rises with the logit: sigma'(l) = sigma(l) sigma(-l), above 0",
        lambda: derivative(alone(logit), logit),
        lambda: alone(logit) * alone(-logit),
    )
    yield (
        "s > 0, logit at least u: sigma(u) - (1 - e^-u) = e^-2u / (1 + e^-u), above 0",
        lambda: alone(margin) - least(margin),
        lambda: small**2 / (1 + small),
    )
    yield (
        "s < 0, logit at most -u: e^-u - sigma(-u) is the same",
        lambda: 1 - least(margin) - alone(-margin),
        lambda: small**2 / (1 + small),
    )
    yield (
        "either sign: e^-u - sigma'(u) = e^-2u (2 + e^-u) / (1 + e^-u)^2, above 0",
        lambda: gradient(margin) - alone(margin) * alone(-margin),
        lambda: small**2 * (2 + small) / (1 + small) ** 2,
    )
    yield f"far keys, by limits: {far.cases_text(computed)}"


@CLAIMS.claim(
    "swat-10",
    "balanced slopes 2^-k; the horizons are ours",
    r"e^{-2^{-k}D}=10^{-3}\iff D=2^k\ln 1000;\qquad 2^{-k}=2^{-8k/(H/2)}\iff H=16",
    strength=Strength.EXHAUSTIVE,
    reach=f"H <= {_MOST_HEADS}",
    answers=("equal",),
    falsifiers={
        "ALiBi's slopes for H/2 heads": {
            "slopes": lambda heads: tuple(sign * slope for sign in (-1, 1) for slope in biases.alibi_slopes(heads // 2))
        },
        "all slopes negative": {"slopes": lambda heads: rotary.swat_slopes(heads, "negative")},
        "the horizons of 1/100": {"horizon": lambda power: 2**power * sp.log(100)},
        "compared with its own slopes": {"others": lambda heads: [2 ** -sp.Integer(k + 1) for k in range(heads)]},
    },
)
def horizons(
    slopes: Callable[[int], Sequence[sp.Expr]] = lambda heads: rotary.swat_slopes(heads, "balanced"),
    others: Callable[[int], Sequence[sp.Expr]] = biases.alibi_slopes,
    horizon: Number = lambda power: 2**power * sp.log(1000),
    equal: frozenset[int] = frozenset({16}),
) -> Facts:
    """The k-th head of negative slope multiplies far weights by 1/1000 from 2^k log 1000 tokens on (13.8, 27.6, 55.3,
    ...). These slopes of H heads are ALiBi's for H/2 heads only at H = 16. Decided for H <= 64.

    Decide how far the heads of negative slope see: e^(s D) = 1/1000 at D = `horizon(k)` for the k-th of them.

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
    yield f"e^(-2^-k D) = 1/1000 at D = 2^k log 1000 for every head of up to {_MOST_HEADS} heads, exactly"
    yield f"k = 1 .. 6: {', '.join(short(ball(horizon(sp.Integer(power)))) for power in range(1, 7))} tokens"
    yield f"equal to ALiBi's list for H/2 heads only at H = {', '.join(map(str, sorted(alike)))}"


def _largest_weight(length: int, scale: float) -> float:
    """Largest softmax weight of the L quantiles (k - 1/2)/L of N(0, s^2)."""
    normal = NormalDist()
    logits = scale * np.array([normal.inv_cdf((number + 0.5) / length) for number in range(length)])
    return float(1 / np.exp(logits - logits[-1]).sum())


@CLAIMS.claim(
    "swat-8",
    "appendix A: variance of softmax over long rows",
    r"\Pr\Big[\max_ip_i\le\tfrac2Le^{2s\sqrt{\ln L}-s^2/2}\Big]\ge 1-\frac{4e^{s^2}-3}{L},\qquad "
    r"L^p\,e^{-s\sqrt{2\ln L}}\to\infty\ \forall p>0",
    assumptions=(
        "independent logits from N(0, s^2) with a fixed s, as in the paper",
        "Chebyshev's and Chernoff's inequalities; the largest logit is near s sqrt(2 log L) (extreme values)",
    ),
    printed={"gap": lambda scale, log_length: scale * sp.exp(log_length)},
    falsifiers={
        "weights exponentially small in L": {"gap": lambda scale, log_length: scale * sp.exp(log_length)},
        "a power of L": {"gap": lambda scale, log_length: scale * log_length},
        "slower than every power of e^sqrt(log L)": {"compared": lambda scale, log_length: sp.sqrt(log_length)},
        "a spread that grows with log L too": {"spread": lambda scale, log_length: 3 * scale * sp.sqrt(log_length)},
    },
)
def dispersion(
    spread: OfLogLength = lambda scale, log_length: scale,
    gap: OfLogLength = lambda scale, log_length: scale * sp.sqrt(2 * log_length),
    compared: OfLogLength = lambda scale, log_length: log_length,
) -> Facts:
    """The largest softmax weight of L independent logits from N(0, s^2) with a fixed s goes to 0 as L grows, and a
    logit of 0 has a weight smaller than it by a factor that falls slower than every power of L (errata F14: not
    exponentially small, and the row does not become sparse).

    Args:
        spread: standard deviation of the logits.
        gap: log of the largest weight over that of a logit 0, up to factors that the comparison does not see.
        compared: logarithm of the functions of L below which e^-gap does not fall: gap/compared goes to 0.
    """
    if spread(_SCALE, _LOG).diff(_LOG) != 0:
        example = spread(sp.S.One, sp.log(_LENGTHS[0]))
        raise Refuted(
            f"s = 1, {_LENGTHS[0]} logits at the quantiles of N(0, {sp.N(example**2, 4)}): the largest weight is "
            f"{_largest_weight(_LENGTHS[0], float(example)):.3f}; the spread must not grow with log L"
        )
    most = sp.limit(gap(_SCALE, _LOG) / (2 * _SCALE * sp.sqrt(_LOG)), _LOG, sp.oo)
    if not (most - 1).is_negative:
        length = _LENGTHS[0]
        stated, bound = (sp.N(value, 4) for value in (gap(sp.S.One, sp.log(length)), 2 * sp.sqrt(sp.log(length))))
        raise Refuted(f"s = 1, L = {length}: a logit above {bound} has a probability below 1/L, and {stated} is stated")
    share = sp.limit(gap(_SCALE, _LOG) / compared(_SCALE, _LOG), _LOG, sp.oo)
    if share != 0:
        raise Refuted(f"e^-{gap(_SCALE, _LOG)} falls with the power {share} of e^{compared(_SCALE, _LOG)}")
    logit, rate, level, root = sp.symbols("x lambda t r", real=True)
    variance = _SCALE**2
    exponent = sp.log(2) + 2 * _SCALE * sp.sqrt(_LOG) - variance / 2 - _LOG
    if sp.limit(exponent, _LOG, sp.oo) != -sp.oo:
        raise Refuted(f"the bound e^({exponent}) does not go to 0")
    yield (
        "E e^x = e^(s^2/2): x - x^2/(2 s^2) = s^2/2 - (x - s^2)^2/(2 s^2)",
        lambda: logit - logit**2 / (2 * variance),
        lambda: variance / 2 - (logit - variance) ** 2 / (2 * variance),
    )
    yield (
        "E e^2x = e^(2 s^2), in the same way",
        lambda: 2 * logit - logit**2 / (2 * variance),
        lambda: 2 * variance - (logit - 2 * variance) ** 2 / (2 * variance),
    )
    yield (
        "so the variance of e^x is e^(s^2) - 1 times its squared mean; by Chebyshev the sum of L of them is "
        "below half its mean with a probability of at most 4 (e^(s^2) - 1)/L",
        lambda: (sp.exp(2 * variance) - sp.exp(variance)) / sp.exp(variance / 2) ** 2,
        lambda: sp.exp(variance) - 1,
    )
    yield (
        "P(x > t) <= e^(-lambda t + lambda^2 s^2/2) (Chernoff), least at lambda = t/s^2",
        lambda: (-rate * level + rate**2 * variance / 2) - (rate - level / variance) ** 2 * variance / 2,
        lambda: -(level**2) / (2 * variance),
    )
    yield (
        "with t = 2 s r, r^2 = n = log L: n - t^2/(2 s^2) = -n, so L P(x > t) <= 1/L",
        lambda: root**2 - (2 * _SCALE * root) ** 2 / (2 * variance),
        lambda: -(root**2),
    )
    yield (
        "so with a probability of at least 1 - (4 e^(s^2) - 3)/L the largest weight is at most "
        f"e^t / (L e^(s^2/2)/2) = e^({exponent}), which goes to 0"
    )
    yield (
        f"a weight of logit 0 is e^-({gap(_SCALE, _LOG)}) of the largest, and that falls slower than every power "
        "of L: its logarithm over log L goes to 0"
    )
    yield from (
        f"s = {scale}, the {length} quantiles: the largest weight is {_largest_weight(length, scale):.2g}"
        for length in _LENGTHS
        for scale in (1, 3)
    )
