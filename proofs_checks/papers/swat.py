"""SWAT (arXiv 2502.18845): sigmoid weights in place of softmax, and windows; softmax over long rows.

The statements are of the paper's form.  A released layer has sigmoid weights with slopes that all prefer old keys; the
other computes softmax (see theory/encodings/rotary.py). Appendix A says that softmax over many logits becomes sparse;
it spreads out.
"""

from collections.abc import Callable, Sequence
from itertools import product
from statistics import NormalDist

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.facts import Formula, ball, derivative, short
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import rotary
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="SWAT", arxiv="2502.18845")
CLAIMS = PaperClaims(SOURCE)
Weights = Callable[[Sequence[sp.Expr]], Sequence[sp.Expr]]
LOGIT, OTHER = sp.symbols("l m", real=True)
REST = sp.Symbol("S", positive=True)
LOGITS = (LOGIT, OTHER, sp.log(REST))
"""Logits of two keys, and log of the sum of e^l over all further keys."""
s, n = sp.symbols("s n", positive=True)
"""Spread of the logits, and log L, the logarithm of their number."""
_LENGTHS = (10**3, 10**5)


def softmax(logits: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Weight e^l / (sum of e^l) of each logit l."""
    total = sp.Add(*map(sp.exp, logits))
    return [sp.exp(logit) / total for logit in logits]


def each_alone(logits: Sequence[sp.Expr]) -> list[sp.Expr]:
    """SWAT's weight of each logit."""
    return [rotary.swat_weight(logit) for logit in logits]


@CLAIMS.claim(
    "swat-1",
    "comparison of softmax and sigmoid weights; the sum is ours",
    r"\mathrm{softmax}(1.5,5,2.4,.5,1.3)\approx(.0265,.877,.0651,.0097,.0217),\quad\sum_i\sigma(l_i)>4",
    label="P",
    strength=Strength.INTERVAL,
    answers=("stated",),
    falsifiers={
        "temperature 2": {"weights": lambda logits: softmax([logit / 2 for logit in logits])},
        "the sigmoid's weights": {"weights": each_alone},
    },
)
def worked_example(
    weights: Weights = softmax, stated: Sequence[str] = ("0.0265", "0.877", "0.0651", "0.0097", "0.0217")
) -> Facts:
    """Softmax gives the logits 1.5, 5, 2.4, 0.5, 1.3 the weights 0.0265, 0.877, 0.0651, 0.0097, 0.0217; the sigmoid's
    weights of these logits sum to more than 4.
    """
    logits = [*map(sp.Rational, ("1.5", "5", "2.4", "0.5", "1.3"))]
    for value, expected in zip(weights(logits), stated, strict=True):
        off = abs(ball(value - sp.Rational(expected)))
        half_a_unit = ball(sp.Rational(1, 2 * 10 ** len(expected.partition(".")[2])))
        logits_text = ", ".join(map(str, logits))
        refute(not off <= half_a_unit, f"logits {logits_text}: the weight {expected} is {short(ball(value))}")
        yield f"{short(ball(value))} is {expected} rounded"
    total = ball(sp.Add(*each_alone(logits)))
    refute(not total > 4, f"the weights of each logit alone sum to {short(total)}")
    yield f"the sigmoid's weights of these logits sum to {short(total)}"


@CLAIMS.claim(
    "swat-3",
    "sigmoid in place of softmax: tokens do not compete",
    r"\partial\sigma(l_n)/\partial l_m=0,\qquad\partial p_n/\partial l_m=-p_np_m<0\quad(m\ne n)",
    label="P",
    assumptions=("softmax: S > 0 is the sum of e^l over all further keys, so any number of them",),
    falsifiers={
        "softmax's weights depend on their own logits": {"alone": softmax},
        "sigmoid weights depend on the others": {"together": each_alone},
    },
)
def independence(alone: Weights = each_alone, together: Weights = softmax) -> Facts:
    """Under the sigmoid the weight of a key does not depend on other keys; under softmax it falls with the logit of
    every other key.
    """
    own, shared = alone(LOGITS)[0], together(LOGITS)[0]
    before, after = (own.subs({LOGIT: 0, REST: 1, OTHER: other}) for other in (0, sp.log(2)))
    alike = own.free_symbols <= {LOGIT}
    refute(not alike, f"key 1 has the weight {before} beside logits 0, 0 and {after} beside log 2, 0")
    refute(OTHER not in shared.free_symbols, f"the weight {shared} of key 1 has no logit of another key in it")
    yield f"the sigmoid's weight {own} has no other logit in it"
    falling = "softmax: the derivative of p_1 by the logit of key 2 is -p_1 p_2, below 0"
    yield falling, lambda: derivative(shared, OTHER), lambda: -together(LOGITS)[0] * together(LOGITS)[1]


@CLAIMS.claim(
    "swat-2",
    "information flow through stacked windows",
    r"\#\{i:\partial x^{(L)}_j/\partial x^{(0)}_i\not\equiv 0\}=1+(W-1)L",
    label="P",
    assumptions=(
        "causal windows; at least that many tokens before; content for which no path cancels another",
        "in words: distances up to a and distances up to W - 1 have as sums all up to a + W - 1; induction on L",
    ),
    falsifiers={
        "W L tokens": {"field": lambda window, layers: window * layers},
        "W keys beside the query": {"keys": lambda width: range(width + 1)},
        "windows of the W keys before the query": {"keys": lambda width: range(1, width + 1)},
        "every second key": {"keys": lambda width: range(0, width, 2)},
    },
)
def reach_of_layers(field: Formula = rotary.swat_receptive_field, keys: Callable[[int], range] = range) -> Facts:
    """After L layers of causal windows of W tokens an output depends on exactly 1 + (W - 1) L tokens, its own included.

    `keys(W)` are the distances of the keys that a query sees.
    """
    W, L = sp.symbols("W L", integer=True, positive=True)
    for width, depth in product(range(1, 6), repeat=2):
        places = np.arange(width * depth + 2)
        seen = np.isin(np.subtract.outer(places, places), [*keys(width)]).astype(np.int64)
        reached_by_last = np.linalg.matrix_power(seen, depth)[-1] > 0
        count = int(reached_by_last.sum())
        stated = field(window=sp.Integer(width), layers=sp.Integer(depth))
        last = f"the last of {len(places)} tokens depends on {count}"
        refute(count != stated, f"W = {width}, L = {depth}: {last}, not {stated}")
        own = f"the last of {len(places)} tokens does not depend on itself"
        refute(not reached_by_last[-1], f"W = {width}, L = {depth}: {own}")
    yield "products of the matrices of seen keys for all W, L <= 5: the count is 1 + (W - 1) L, the own token included"
    yield "a layer sees the distances 0 .. W - 1; if L layers reach 0 .. a, one more reaches the sums 0 .. a + W - 1"

    def reached(layers: sp.Expr) -> sp.Expr:
        return field(window=W, layers=layers)

    yield "no layer: the token itself", lambda: reached(sp.S.Zero), lambda: sp.Integer(1)
    yield "each layer adds W - 1 tokens", lambda: reached(L + 1) - reached(L), lambda: W - 1


def _largest_weight(length: int, scale: float) -> float:
    """Largest softmax weight of the L quantiles (k - 1/2)/L of N(0, s^2)."""
    normal = NormalDist()
    logits = scale * np.array([normal.inv_cdf((number + 0.5) / length) for number in range(length)])
    return float(1 / np.exp(logits - logits[-1]).sum())


@CLAIMS.claim(
    "swat-8",
    "appendix A: variance of softmax over long rows",
    r"\Pr\Big[\max_ip_i\le\tfrac2Le^{2s\sqrt{\ln L}-s^2/2}\Big]\ge 1-\frac{4e^{s^2}-3}{L},\qquad "
    r"L^p\,e^{-2s\sqrt{\ln L}}\to\infty\ \forall p>0",
    assumptions=(
        "independent logits from N(0, s^2) with a fixed s, as in the paper",
        "in words: Chebyshev's and Chernoff's inequalities, and the sum of the probabilities that either bound fails",
    ),
    printed={"gap": lambda s, n: s * sp.exp(n)},
    falsifiers={
        "weights exponentially small in L": {"gap": lambda s, n: s * sp.exp(n)},
        "a power of L": {"gap": lambda s, n: s * n},
        "slower than every power of e^sqrt(log L)": {"compared": sp.sqrt},
        "a spread that grows with log L too": {"spread": lambda s, n: 3 * s * sp.sqrt(n)},
    },
)
def dispersion(
    spread: Formula = lambda s, n: s, gap: Formula = lambda s, n: 2 * s * sp.sqrt(n), compared: Formula = lambda n: n
) -> Facts:
    """With a probability that goes to 1 as L grows, the largest softmax weight of L independent logits from N(0, s^2)
    with a fixed s goes to 0, and that of a logit 0 is at least e^(-2 s sqrt(log L)) of it, which falls slower than
    every power of L (errata F14: not exponentially small, and the row does not become sparse).

    With n = log L, `gap` bounds log of the largest weight over that of a logit 0, and e^-gap does not fall below
    functions of e^`compared`: gap/compared goes to 0.
    """
    length, fall = _LENGTHS[0], gap(s, n)
    if sp.limit(spread(s, n) / s, n, sp.oo) != 1:
        example = spread(sp.S.One, sp.log(length))
        largest = f"the largest weight is {_largest_weight(length, float(example)):.3f}"
        quantiles = f"{length} logits at the quantiles of N(0, {sp.N(example**2, 4)})"
        refute(True, f"s = 1, {quantiles}: {largest}; the spread is not s")
    most = sp.limit(fall / (2 * s * sp.sqrt(n)), n, sp.oo)
    stated, bound = (sp.N(value, 4) for value in (gap(sp.S.One, sp.log(length)), 2 * sp.sqrt(sp.log(length))))
    rare = f"a logit above {bound} has a probability below 1/L, and {stated} is stated"
    refute(not (most - 1).is_nonpositive, f"s = 1, L = {length}: {rare}")
    above = length * NormalDist().cdf(-float(gap(sp.S.One, sp.log(length))))
    refute(above > 1, f"s = 1, L = {length}: {above:.2g} logits above {stated} are expected, and none is stated")
    root = sp.Symbol("r", positive=True)
    if gap(s, root**2) != 2 * s * root:
        raise Undecided(f"the tail bound below is that of 2 s sqrt(log L), not of {fall}")
    share = sp.limit(fall / compared(n), n, sp.oo)
    refute(share != 0, f"e^-{fall} falls with the power {share} of e^{compared(n)}")
    x, rate, t, r = sp.symbols("x lambda t r", real=True)
    variance = s**2
    exponent = sp.log(2) + 2 * s * sp.sqrt(n) - variance / 2 - n
    refute(sp.limit(exponent, n, sp.oo) != -sp.oo, f"the bound e^({exponent}) does not go to 0")
    first_moment = "E e^x = e^(s^2/2): x - x^2/(2 s^2) = s^2/2 - (x - s^2)^2/(2 s^2)"
    yield first_moment, lambda: x - x**2 / (2 * variance), lambda: variance / 2 - (x - variance) ** 2 / (2 * variance)
    yield (
        "E e^2x = e^(2 s^2), in the same way",
        lambda: 2 * x - x**2 / (2 * variance),
        lambda: 2 * variance - (x - 2 * variance) ** 2 / (2 * variance),
    )
    yield (
        "so the variance of e^x is e^(s^2) - 1 times its squared mean; by Chebyshev the sum of L of them is "
        "below half its mean with a probability of at most 4 (e^(s^2) - 1)/L",
        lambda: (sp.exp(2 * variance) - sp.exp(variance)) / sp.exp(variance / 2) ** 2,
        lambda: sp.exp(variance) - 1,
    )
    yield (
        "P(x > t) <= e^(-lambda t + lambda^2 s^2/2) (Chernoff), least at lambda = t/s^2",
        lambda: (-rate * t + rate**2 * variance / 2) - (rate - t / variance) ** 2 * variance / 2,
        lambda: -(t**2) / (2 * variance),
    )
    tail = "with t = 2 s r, r^2 = n = log L: n - t^2/(2 s^2) = -n, so L P(x > t) <= 1/L"
    yield tail, lambda: r**2 - (2 * s * r) ** 2 / (2 * variance), lambda: -(r**2)
    yield (
        "so with a probability of at least 1 - (4 e^(s^2) - 3)/L the largest weight is at most "
        f"e^t / (L e^(s^2/2)/2) = e^({exponent}), which goes to 0"
    )
    yield (
        f"then a weight of logit 0 is at least e^-({fall}) of the largest, and that falls slower than every power of "
        "L: its logarithm over log L goes to 0"
    )
    for length, scale in product(_LENGTHS, (1, 3)):
        yield f"s = {scale}, the {length} quantiles: the largest weight is {_largest_weight(length, scale):.2g}"
