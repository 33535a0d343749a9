"""BAM's priors: the window as a limit, which have a sum; what SSMax breaks, and that RoPE is no prior of positions."""

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, derivative, same_by_sympy
from lengthgen.proofs_checks.formulas import bias_of
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers import bam
from lengthgen.proofs_checks.papers.bam import EXPONENT, SCALE, TIME, power, temperature
from lengthgen.theory.encodings import biases, rotary
from lengthgen.theory.relation import Relation

CLAIMS = PaperClaims(bam.SOURCE)
LARGEST_SCALE = 16
"""Scale up to which the labels of the relation are counted."""
s_h = biases.BAM_FACTOR


@CLAIMS.claim(
    "bam-4",
    "the generalised Gaussian prior; its limit is ours",
    r"-(D/w)^\beta\to 0,\,-1,\,-\infty\quad(D<w,\ D=w,\ D>w)",
    assumptions=("eps = 0", "any width w > 0"),
    falsifiers={
        "a window that ends at 2w": {"distance": lambda logarithm: 2 * sp.exp(logarithm)},
        "at a scale that does not move": {"scale": lambda log_width, beta: -log_width},
        "for th_beta to -infinity": {"law": lambda distance, a, b: power(distance, a, -b)},
    },
)
def window_limit(
    law: Formula = power, scale: Formula = lambda log_width, beta: -beta * log_width, distance: Formula = sp.exp
) -> Facts:
    """With e^th_alpha = w^(-th_beta), for th_beta to infinity the prior becomes a window: its logarithm goes to 0 at
    distances below w, to -1 at w and to -infinity beyond.

    `scale` is th_alpha by log w and th_beta; `distance(log w + t)` is inside the window for t < 0, outside for t > 0.
    """
    log_width, beta = sp.Symbol("log_w", real=True), sp.Symbol("b", positive=True)
    inside = "at the distance w e^t the log prior is -e^(b t)"
    yield inside, lambda: law(distance(log_width + TIME), scale(log_width, beta), beta), lambda: -sp.exp(beta * TIME)
    at_query = law(sp.S.Zero, scale(log_width, beta), beta)
    yield same_by_sympy("at the distance 0 the log prior", at_query, sp.S.Zero)
    before, after = sp.Symbol("t", negative=True), sp.Symbol("t", positive=True)
    places = {"inside, t < 0": before, "at the end, t = 0": sp.S.Zero, "outside, t > 0": after}
    for place, time in places.items():
        yield f"{place}: its limit for b to infinity is {sp.limit(-sp.exp(beta * time), beta, sp.oo)}"
    yield "so at equal content the weights go to those of the keys at less than w, with e^-1 at w itself"


@CLAIMS.claim(
    "bam-7",
    "priors that are no laws; the uniform prior of Lemma 1 on an infinite past is one",
    r"\sum_{D\ge 0}\exp(-c(D+\varepsilon)^{\beta})<\infty\iff\beta>0\qquad(c>0)",
    assumptions=("equal contents", "mu = 0", "eps > 0"),
    falsifiers={
        "for the exponent's opposite": {"law": lambda distance, a, b: power(distance, a, -b)},
        "for the square of the exponent, so for th_beta = -1/2 too": {"law": lambda D, a, b: power(D, a, b**2)},
        "never, by blocks in the plane": {"block": lambda level, exponent: sp.exp(level * (2 - exponent))},
    },
)
def normalisable(
    law: Formula = power, block: Formula = lambda level, exponent: sp.exp(level * (1 - exponent))
) -> Facts:
    """The prior's sum over all distances is finite if and only if th_beta > 0, at every scale. So at equal content the
    share of a fixed window falls to 0 with growing context if th_beta <= 0, and only then.

    `block` is (k L, N b) -> stated bound of c^N/N! times the sum over the 2^k distances from 2^k on, L = log 2.
    """
    level, terms, base, surplus = sp.symbols("k N L r", positive=True)
    exponent = sp.simplify(sp.diff(sp.log(-law(sp.exp(TIME), SCALE, EXPONENT)), TIME))
    for value in (-sp.Rational(1, 2), sp.Rational(1, 2)):
        power_at = exponent.subs(EXPONENT, value)
        refute(power_at * value <= 0, f"th_beta = {value}: the log prior has the power {power_at} of the distance")
    nonpositive = sp.Symbol("b", nonpositive=True)
    slope = -nonpositive * sp.exp(SCALE + nonpositive * TIME)
    refute(not slope.is_nonnegative, f"b <= 0: the log prior changes with t by {slope}, which may be negative")
    yield bam.formula(law)
    rising = "b <= 0: its derivative in t is not negative, so each term is at least the one at D = 0"
    yield rising, lambda: derivative(law(sp.exp(TIME), SCALE, nonpositive), TIME), lambda: slope
    yield "so T terms sum to at least T times a positive number, which has no bound"
    yield "b > 0: for y > 0 and whole N, e^y exceeds its term y^N/N!, so e^(-y) < N!/y^N"
    yield "with c = e^a each of the 2^k distances from 2^k on has the term e^(-c (D + eps)^b) < N!/(c^N 2^(kbN))"
    yield (
        "so they sum to less than N!/c^N times 2^k 2^(-kbN), written with 2^k = e^(kL)",
        lambda: sp.exp(level * base) * sp.exp(-terms * EXPONENT * level * base),
        lambda: block(level * base, terms * EXPONENT),
    )
    yield (
        "with N b = 2 + r, r >= 0, which whole N reach, this is at most 2^(-k)",
        lambda: block(level * base, 2 + surplus),
        lambda: sp.exp(-level * base) * sp.exp(-surplus * level * base),
    )
    yield "and the sum of 2^(-k) over k is 2, so with the one term at D = 0 the prior's sum is finite"
    yield (
        "an infinite sum means: at equal content the share of any fixed window falls to 0 as the context grows; a "
        "finite one keeps it above a positive number"
    )


@CLAIMS.claim(
    "bam-8-ssmax",
    "SSMax; that it breaks the relative law is ours",
    r"l_{j+s,i+s}-l_{j+s,i^\prime+s}=\frac{\ln(j+s+1)}{\ln(j+1)}(l_{j,i}-l_{j,i^\prime})",
    assumptions=(*bam.SHIFTED, "at j = 0 there is one key, and no difference"),
    falsifiers={
        "by no factor": {"multiplied": lambda query, shift: sp.S.One},
        "without SSMax": {"logit": bam.logit},
        "log n of the content alone": {
            "logit": lambda content, query, key: temperature(query) * content + bam.logit(sp.S.Zero, query, key)
        },
    },
)
def sharper(
    logit: Formula = bam.ssmax, multiplied: Formula = lambda query, shift: sp.log(query + shift + 1) / sp.log(query + 1)
) -> Facts:
    """Under BAM with SSMax a shift by s > 0 multiplies the logit differences of the query at j >= 1 by log(j + s +
    1)/log(j + 1), so attention sharpens.
    """
    yield from bam.shifted(logit, multiplied)


@CLAIMS.claim(
    "bam-9",
    "SSMax; that it leaves ALiBi out is ours",
    r"m\,s\ln(j+1)\ne m'\ \text{for two rows}",
    assumptions=("three tokens or more", "in words: any th_beta, mu and s_h; the slope of ALiBi is not 0"),
    falsifiers={
        "on two tokens": {"tokens": 2},
        "a factor of all rows": {"factor": lambda query: s_h},
        "the logarithm of one key more": {"factor": lambda query: s_h * sp.log(query + 2)},
        "from the second row on one factor": {"factor": lambda query: s_h * sp.log(sp.Min(query, 1) + 1)},
    },
)
def slopes_by_row(factor: Formula = temperature, tokens: int = 3) -> Facts:
    """BAM with SSMax does not contain ALiBi on three tokens or more: from distance 0 to 1 the bias of row j falls by
    s_h log(j + 1) times a number of the prior, so not by one m > 0 in two rows. At th_beta = 1 and mu = 0 the slope of
    row j is m s_h log(j + 1).
    """
    row, m = sp.Symbol("j", integer=True, positive=True), biases.ALIBI_SLOPE
    values = {"log_scale": sp.log(m), "exponent": sp.S.One, "smallest": biases.BAM_RELEASED_SMALLEST}

    def slope(query: sp.Expr) -> sp.Expr:
        near, far = (factor(query) * biases.bam_log_prior(-sp.Integer(distance), **values) for distance in (0, 1))
        return near - far

    slopes = [sp.expand(factor(sp.Integer(query)) / s_h) for query in range(1, tokens)]
    same = ", ".join(map(str, set(slopes)))
    refute(len(set(slopes)) < 2, f"{tokens} tokens: all rows have the slope m s_h {same}: it is ALiBi")
    slope_of_row = "slope of row j, the log prior at distance 0 less that at 1: m s_h log(j + 1)"
    yield slope_of_row, lambda: slope(row), lambda: m * (s_h * sp.log(row + 1))
    ratio = sp.simplify(slopes[1] / slopes[0])
    yield f"rows 1 and 2 differ by the factor {ratio} = {ratio.n(4)} for every m and s_h, while ALiBi has one slope"
    yield "at any th_beta and mu both rows have log g(0) - log g(1), times their factors: equal falls would make it 0"
    yield "row 0 has one key, and no slope"


def _rope(query: sp.Matrix, key: sp.Matrix, angle: sp.Expr) -> sp.Expr:
    """Score of RoPE on a plane."""
    return (query.T * rotary.rotation(-angle) * key)[0]


@CLAIMS.claim(
    "bam-10",
    "which encodings are priors of positions alone; the proof is ours",
    r"q^\top(R_{D}-R_{D'})k\ne B(D)-B(D')",
    assumptions=(
        "one layer; tokens with the keys k and -k both occur",
        "any maps of tokens to queries and keys beside the bias, and any number added to a row",
    ),
    falsifiers={
        "with a full turn for each step": {"frequency": 2 * sp.pi},
        "ALiBi": {"score": lambda query, key, angle: (query.T * key)[0] - angle},
        "a score that is even in the key": {"score": lambda query, key, angle: _rope(query, key, angle) ** 2},
    },
)
def rope_outside(score: Formula = _rope, frequency: sp.Expr = sp.S.One) -> Facts:
    """RoPE is outside BAM and outside every static bias, whatever maps give queries and keys: the sign of its score
    difference of two distances flips with the key.

    In such a model the scores of one key token at two distances of one query differ by B(D) - B(D_), whatever the
    tokens. `score` is the encoding to be imitated, with the frequency of its plane.
    """
    query, key = (sp.Matrix(sp.symbols(names, real=True)) for names in ("q1 q2", "k1 k2"))
    distances = sp.symbols("D D_", integer=True, nonnegative=True)

    def difference(content: sp.Matrix) -> sp.Expr:
        near, far = (score(query, content, distance * frequency) for distance in distances)
        return near - far

    turned = "k -> -k turns S(q, k, D) - S(q, k, D_) into its negative"
    yield turned, lambda: difference(-key), lambda: -difference(key)
    unit = sp.Matrix([1, 0])
    witness = sp.simplify(score(unit, unit, sp.S.Zero) - score(unit, unit, frequency))
    refute(
        witness == 0,
        f"frequency {frequency}: q = k = (1, 0) has one score at the distances 0 and 1: B = 0 gives it",
    )
    refute(not witness.is_positive, f"the difference {witness} of the scores at the distances 0 and 1 is not positive")
    yield "a static bias leaves that difference at B(D) - B(D_) for k and for -k, so it would be 0 for all tokens"
    yield f"but q = k = (1, 0) has the difference {witness} = {witness.n(4)} between the distances 0 and 1"


@CLAIMS.claim(
    "bam-13",
    "SSMax; its relation is ours",
    r"\phi(i,j)=(i,j)",
    assumptions=(
        "mu = 0; th_beta is not 0, s_h neither; keys up to the query",
        "queries from position 1 on: at position 0 there is one key",
        "in words: a prior that is strictly monotone in the distance tells any two distances apart",
    ),
    falsifiers={
        "one factor for all queries": {"factor": lambda query: s_h},
        "the relation of BAM": {"relation": biases.BAM.relation},
    },
)
def pairs_told_apart(factor: Formula = temperature, relation: Relation | None = biases.BAM_SSMAX.relation) -> Facts:
    """With SSMax, mu = 0 and th_beta not 0 no two pairs of positions have one score for all contents: log(j + 1) tells
    queries apart and the prior the distances of one query, so its relation is the absolute one.
    """
    row = sp.Symbol("j", nonnegative=True)
    rise = sp.diff(factor(row), row)
    refute(not rise.is_positive, f"the factor of row j changes by {rise}: rows 1 and 2 have {factor(sp.S.One)} both")
    scale, exponent = biases.BAM_LOG_SCALE, biases.BAM_EXPONENT
    written = bias_of(biases.BAM_SSMAX)(bam.POSITION + bam.STEPS, bam.POSITION)
    prior = biases.bam_log_prior(-bam.STEPS, log_scale=scale, exponent=exponent, smallest=biases.BAM_SMALLEST)
    assert relation is not None
    labels = relation.labels(LARGEST_SCALE)
    seen = labels[labels >= 0].tolist()
    few = f"up to scale {LARGEST_SCALE} the relation has {len(set(seen))} labels for {len(seen)} pairs"
    refute(len(set(seen)) < len(seen), few)
    yield f"the factor of row j rises with j: its derivative is {rise}"
    yield "so equal scores for all contents, of which it is the coefficient, mean one query"
    bias = "bias of the record: the factor times the log prior"
    yield bias, lambda: written, lambda: factor(bam.POSITION + bam.STEPS) * prior
    yield (
        "in t = log(D + eps) the log prior has the derivative b times itself, of one sign for b not 0",
        lambda: sp.Derivative(biases.bam_power(sp.exp(TIME), log_scale=scale, exponent=exponent), TIME),
        lambda: -exponent * sp.exp(scale + exponent * TIME),
    )
    pairs = f"up to scale {LARGEST_SCALE} each of {len(seen)} pairs has its label"
    yield f"so in a row each distance has its own bias; {pairs}"
