"""SWAT: the bias of the key alone, levels of logits, growth with the window, and what slopes of either sign do."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.facts import Formula, ball, derivative, same_by_sympy, short
from lengthgen.proofs_checks.formulas import bias_of
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.swat import LOGIT, LOGITS, OTHER, REST, SOURCE, Weights, each_alone, softmax
from lengthgen.theory import far, laws
from lengthgen.theory.encodings import biases, rotary
from lengthgen.theory.encodings.encoding import Encoding, Law, Normaliser
from lengthgen.theory.far import FarCase, FarField
from lengthgen.theory.zero.sympy_engine import Undecided

CLAIMS = PaperClaims(SOURCE)
s = rotary.SWAT_SLOPE
Slopes = Callable[[int], Sequence[sp.Expr]]
_MOST_HEADS = 64
_ROW = (
    FarCase(where="slope < 0, D < W", behaviour=FarField.EXPONENTIAL),
    FarCase(where="slope > 0, D < W", behaviour=FarField.SATURATED),
    FarCase(where="D >= W", behaviour=FarField.HIDDEN),
)


def balanced(heads: int) -> Sequence[sp.Expr]:
    """SWAT's balanced slopes."""
    return rotary.swat_slopes(heads, "balanced")


@CLAIMS.claim(
    "swat-4",
    "attention of SWAT: RoPE, slope and sigmoid; the bias of the key alone is ours",
    r"\mathrm{softmax}_i(x_{ji}-si)=\mathrm{softmax}_i(x_{ji}+s(j-i)),\qquad "
    r"\sigma(x_{ji}-si)\ne\sigma(x_{ji}+s(j-i))\ (j>0)",
    assumptions=("a slope s that is not 0",),
    falsifiers={
        "the key alone suffices for the sigmoid": {"kept_under": Normaliser.SIGMOID},
        "it does not for softmax": {"broken_under": Normaliser.SOFTMAX},
        "a slope that grows with the query": {"encoding": replace(rotary.SWAT, bias=lambda j, i, _: s * j * (j - i))},
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
    """
    j, i = sp.symbols("j i", real=True)
    bias = bias_of(encoding)(j, i)
    by_key = replace(encoding, bias=lambda query, key, _: -s * key)
    rulings = []
    for name, record, law, normaliser, holds in (
        *(("s (j - i)", encoding, Law.RELATIVE, normaliser, True) for normaliser in Normaliser),
        ("-s i", by_key, Law.TRANSLATION, kept_under, True),
        ("-s i", by_key, Law.TRANSLATION, broken_under, False),
    ):
        ruling = laws.decide_law(replace(record, normaliser=normaliser), law)
        if ruling.holds is None:
            raise Undecided(f"{law} under {normaliser}: {ruling.reason}")
        refute(ruling.holds != holds, f"{normaliser}, {law}: {ruling.reason}")
        rulings.append(f"{name} under {normaliser}: {law} {'holds' if holds else 'fails'}, {ruling.reason}")
    yield "what is dropped is s j, the same for all keys", lambda: bias - -s * i, lambda: s * j
    yield from rulings


@CLAIMS.claim(
    "swat-5",
    "sigmoid in place of softmax; the consequence is ours",
    r"\mathrm{softmax}(l+c)=\mathrm{softmax}(l),\qquad "
    r"\sigma(l+c)-\sigma(l)=\frac{\sinh(c/2)}{\cosh(c/2)+\cosh(l+c/2)}",
    falsifiers={
        "the sigmoid ignores it": {"ignoring": each_alone},
        "a constant weight": {"changing": lambda logit: sp.Rational(1, 2) + 0 * logit},
    },
)
def constants_of_a_row(ignoring: Weights = softmax, changing: Formula = rotary.swat_weight) -> Facts:
    """Softmax ignores a constant added to all logits of a row; under the sigmoid it raises or lowers every weight, so
    SWAT has no free level of logits.
    """
    c = sp.Symbol("c", real=True)
    moved = (LOGIT + c, OTHER + c, sp.log(REST * sp.exp(c)))
    ignored = "softmax(l + c) = softmax(l), S the sum of e^l over further keys"
    yield ignored, lambda: ignoring(moved)[0], lambda: ignoring(LOGITS)[0]
    yield (
        "sigma(l + c) - sigma(l) = sinh(c/2) / (cosh(c/2) + cosh(l + c/2))",
        lambda: changing(LOGIT + c) - changing(LOGIT),
        lambda: sp.sinh(c / 2) / (sp.cosh(c / 2) + sp.cosh(LOGIT + c / 2)),
    )
    yield "which has the sign of c: the sigmoid's weight of every key rises with c, so no level of logits is free"


@CLAIMS.claim(
    "swat-7",
    "balanced slopes, sigmoid without an offset; the statement is ours",
    r"\sigma(sD)+\sigma(-sD)=1\Rightarrow\tfrac12\sum_{D<W}\big(\sigma(sD)+\sigma(-sD)\big)=\tfrac W2",
    assumptions=("content 0, as for small initial weights; the window is full",),
    falsifiers={
        "negative slopes alone": {"slopes": lambda heads: rotary.swat_slopes(heads, "negative")},
        "softmax beside two keys of logit 0": {"alone": lambda logit: sp.exp(logit) / (sp.exp(logit) + 2)},
    },
)
def growth_with_window(alone: Formula = rotary.swat_weight, slopes: Slopes = balanced) -> Facts:
    """At zero content the weights of a full window of W keys sum to W/2 in the mean of two heads of opposite slopes, as
    balanced slopes are: for equal values the mean output of both grows with the window, which softmax's does not.
    """
    D = sp.Symbol("D", nonnegative=True)
    for heads in range(2, 65, 2):
        given = slopes(heads)
        mean = short(ball(sp.Add(*map(alone, given)) / heads))
        opposite = sorted(given) == sorted(-slope for slope in given)
        refute(not opposite, f"{heads} heads, D = 1: the mean weight is {mean}, not 1/2")
    yield same_by_sympy("sigma(0)", alone(sp.S.Zero), sp.Rational(1, 2))
    yield "sigma(s D) + sigma(-s D) = 1", lambda: alone(s * D) + alone(-s * D), lambda: sp.Integer(1)
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
        "sigmoid weights sum to 1": {"together": each_alone},
    },
)
def output_bound(together: Weights = softmax, bound: Formula = lambda window: window) -> Facts:
    """Under softmax an output is at most as long as the longest value. Under the sigmoid it is shorter than W times the
    longest value for a window of W keys, unless all values are 0, and no smaller bound holds.
    """
    window = sp.Symbol("W", integer=True, positive=True)
    for count, odds in ((3, 2), (3, 9), (5, 99)):  # e^l = odds for all keys, all values 1
        reached = count * rotary.swat_weight(sp.log(sp.Integer(odds)))
        passed = ball(reached - bound(sp.Integer(count))) >= 0
        refute(passed, f"{count} equal values of norm 1 with e^l = {odds}: |y| = {reached}, not below the bound")
    convex = "softmax: the weights are positive and sum to 1, so y is a convex combination: |y| <= max |v|"
    yield convex, lambda: sp.Add(*together(LOGITS)), lambda: sp.Integer(1)
    below_one = "sigmoid: 1 - sigma(l) = sigma(-l), above 0, so each weight is below 1 and |y| < W max |v|"
    yield below_one, lambda: 1 - rotary.swat_weight(LOGIT), lambda: rotary.swat_weight(-LOGIT)
    largest = sp.limit(window * rotary.swat_weight(LOGIT), LOGIT, sp.oo)
    yield same_by_sympy("with equal values |y|/|v| = W sigma(l) goes to the bound as l grows", largest, bound(window))


@CLAIMS.claim(
    "swat-6",
    "balanced slopes: heads for near and for old tokens; the bounds are ours",
    r"u=|s|D-c,\ D<W:\quad\sigma(-u)\le e^{-u},\quad\sigma(u)\ge 1-e^{-u},\quad\sigma'(u)\le e^{-u}",
    assumptions=("the content part of the logit is at most c in size, and u = |s| D - c > 0", "D < W"),
    answers=("cases",),
    falsifiers={
        "weights of a quarter of the logit": {"alone": lambda logit: rotary.swat_weight(logit / 4)},
        "a gradient that falls twice as fast": {"gradient": lambda u: sp.exp(-2 * u)},
        "a weight that rises twice as fast": {"least": lambda u: 1 - sp.exp(-2 * u)},
        "a slope by the root of the distance": {
            "encoding": replace(rotary.SWAT, bias=lambda j, i, _: s * sp.sqrt(j - i))
        },
    },
)
def slope_signs(
    encoding: Encoding = rotary.SWAT,
    alone: Formula = rotary.swat_weight,
    least: Formula = lambda u: 1 - sp.exp(-u),
    gradient: Formula = lambda u: sp.exp(-u),
    cases: tuple[FarCase, ...] = _ROW,
) -> Facts:
    """Inside the window, for content of a size of at most c in the logit, the weight at distance D is at most e^-(|s| D
    - c) for s < 0 and at least 1 - e^-(s D - c) for s > 0, and its slope in the logit is at most e^-(|s| D - c): heads
    of positive slope average old tokens, they do not select among them.

    `least` bounds the weight from below for s > 0, and 1 less it from above for s < 0; `gradient` bounds the weight's
    derivative by the logit for either sign. `cases` are the effects on far keys.
    """
    u, logit = sp.symbols("u l", real=True)
    D, i = sp.symbols("D i", integer=True, nonnegative=True)
    for number in (sp.Integer(1), sp.Integer(3)):
        weight, low = ball(alone(number)), ball(least(number))
        steep = ball(alone(number) * alone(-number))
        too_low = ball(alone(number) - least(number)) < 0
        refute(too_low, f"s D - c = {number}: the weight {short(weight)} is below {short(low)}")
        too_steep = ball(alone(number) * alone(-number) - gradient(number)) > 0
        refute(too_steep, f"s D - c = {number}: the weight changes by {short(steep)} per unit of content")
    computed = far.far_cases(encoding)
    refute(computed != cases, f"far keys: computed {far.cases_text(computed)}")
    law, small = bias_of(encoding), sp.exp(-u)
    yield "the bias at distance D", lambda: law(i + D, i), lambda: s * D
    rising = "the weight rises with the logit: sigma'(l) = sigma(l) sigma(-l), above 0"
    yield rising, lambda: derivative(alone(logit), logit), lambda: alone(logit) * alone(-logit)
    above = "s > 0, logit at least u: sigma(u) - (1 - e^-u) = e^-2u / (1 + e^-u), above 0"
    yield above, lambda: alone(u) - least(u), lambda: small**2 / (1 + small)
    below = "s < 0, logit at most -u: e^-u - sigma(-u) is the same"
    yield below, lambda: 1 - least(u) - alone(-u), lambda: small**2 / (1 + small)
    gradient_below = "either sign: e^-u - sigma'(u) = e^-2u (2 + e^-u) / (1 + e^-u)^2, above 0"
    yield gradient_below, lambda: gradient(u) - alone(u) * alone(-u), lambda: small**2 * (2 + small) / (1 + small) ** 2
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
            "slopes": lambda heads: [sign * slope for sign in (-1, 1) for slope in biases.alibi_slopes(heads // 2)]
        },
        "all slopes negative": {"slopes": lambda heads: rotary.swat_slopes(heads, "negative")},
        "the horizons of 1/100": {"horizon": lambda power: 2**power * sp.log(100)},
        "compared with its own slopes": {"others": lambda heads: [2 ** -sp.Integer(k + 1) for k in range(heads)]},
    },
)
def horizons(
    slopes: Slopes = balanced,
    others: Slopes = biases.alibi_slopes,
    horizon: Formula = lambda power: 2**power * sp.log(1000),
    equal: frozenset[int] = frozenset({16}),
) -> Facts:
    """The k-th head of negative slope multiplies e^logit of a key, which bounds its weight, by at most 1/1000 from 2^k
    log 1000 tokens on (13.8, 27.6, 55.3, ...). These slopes of H heads are ALiBi's for H/2 heads only at H = 16.
    Decided for even H <= 64.
    """
    alike = set()
    for heads in range(2, _MOST_HEADS + 1, 2):
        falling = [slope for slope in slopes(heads) if slope < 0]
        half = heads // 2
        refute(len(falling) != half, f"{heads} heads: {len(falling)} negative slopes, not {half}")
        for number, slope in enumerate(falling, start=1):
            share = slope * horizon(sp.Integer(number)) + sp.log(1000)
            if sp.expand(share) != 0:
                raise Refuted(f"{heads} heads, head {number}: e^(s D) is {sp.exp(share).n(4)}/1000 at the stated D")
        if falling == [-slope for slope in others(half)]:
            alike.add(heads)
    refute(alike != equal, f"the negative slopes of H heads are those of H/2 heads of the other list for H in {alike}")
    yield f"e^(-2^-k D) = 1/1000 at D = 2^k log 1000 for every head of up to {_MOST_HEADS} heads, exactly"
    yield f"k = 1 .. 6: {', '.join(short(ball(horizon(sp.Integer(power)))) for power in range(1, 7))} tokens"
    yield f"equal to ALiBi's list for H/2 heads only at H = {', '.join(map(str, sorted(alike)))}"
