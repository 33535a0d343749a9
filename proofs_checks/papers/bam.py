"""Bayesian attention mechanism (BAM, arXiv 2505.22842): its prior, the tail of the prior, and the scores it can give.

ALiBi, NoPE and the sliding window are among the priors; the tail says which exponents favour far keys and which give a
law that can be normalised; scores are compared under shifts of positions, and those of SSMax with ALiBi and RoPE. The
bodies of the paper's theorems were not at hand: their subjects are known, and the released code decides formulas.
"""

from collections.abc import Callable
from functools import partial

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from lengthgen.proofs_checks.facts import derivative, is_zero, require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory.encodings import biases, rotary
from lengthgen.theory.encodings.encoding import LENGTH
from lengthgen.theory.relation import Relation

SOURCE = Source(paper="Bayesian attention mechanism (BAM)", arxiv="2505.22842")

Law = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(distance plus eps, th_alpha, th_beta) -> log prior."""
Posterior = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(likelihood, prior, sum of likelihood times prior over the other keys) -> posterior."""
Logit = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(content score, query position, key position) -> logit."""
Score = Callable[[sp.Matrix, sp.Matrix, sp.Expr], sp.Expr]
"""(query, key, distance) -> score."""

_SCALE, _EXPONENT, _TIME = sp.symbols("a b t", real=True)
_DISTANCE, _EPS = sp.Symbol("D", nonnegative=True), sp.Symbol("eps", positive=True)
_SLOPE = biases.ALIBI_SLOPE
MOST_HEADS = 64
_POSITION, _SHIFT = sp.symbols("i s", integer=True, nonnegative=True)
_STEPS, _OTHER_STEPS = sp.symbols("D D_", integer=True, nonnegative=True)
_FACTOR = sp.Symbol("s_h", positive=True)
SCALE = 16
"""Scale up to which the labels of the relation are counted."""


def _posterior(likelihood: sp.Expr, prior: sp.Expr, others: sp.Expr) -> sp.Expr:
    """Posterior of a key."""
    return biases.bam_posterior(likelihood, prior, others)


def _plain(distance: sp.Expr, log_scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Log prior without eps."""
    return biases.bam_power(distance, log_scale=log_scale, exponent=exponent)


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "bam-1",
    "Theorem 1: attention over positions as a posterior",
    r"\mathrm{softmax}(l+\log g)_i=\frac{e^{l_i}g_i}{\sum_k e^{l_k}g_k}",
    label="P",
    falsifiers={
        "a factor of its own for each key": {"on_others": lambda factor, other: other},
        "a normaliser without the priors": {
            "posterior": lambda likelihood, prior, others: likelihood * prior / (likelihood + others)
        },
    },
)
def posterior_identity(
    posterior: Posterior = _posterior, on_others: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda factor, other: factor
) -> Facts:
    """Softmax of content score plus log prior is the posterior of the keys, and a factor that all priors of a row
    share, or all likelihoods, changes no weight.

    `on_others(f, f_)` is the factor of the other keys' priors, where the key's own prior has the factor f.
    """
    content, log_prior = sp.symbols("l log_g", real=True)
    others, factor, other_factor, of_likelihoods = sp.symbols("R f f_ h", positive=True)
    weight = sp.exp(content + log_prior)
    yield (
        "e^(l + log g) / (e^(l + log g) + R), R the sum of e^(l + log g) over the other keys",
        lambda: weight / (weight + others),
        lambda: posterior(sp.exp(content), sp.exp(log_prior), others),
    )
    yield (
        "the same with every prior times f, and every likelihood times h",
        lambda: posterior(
            of_likelihoods * sp.exp(content),
            factor * sp.exp(log_prior),
            of_likelihoods * on_others(factor, other_factor) * others,
        ),
        lambda: posterior(sp.exp(content), sp.exp(log_prior), others),
    )
    yield "R is a sum over any number of keys, and a factor of each of its terms is a factor of R"


@CLAIMS.claim(
    "bam-2",
    "Lemma 2: ALiBi as a prior",
    r"\theta_\beta=1,\ e^{\theta_\alpha}=m,\ \mu=0:\quad \log g=-m|i-j|-m\varepsilon",
    label="P",
    falsifiers={
        "th_beta = 2": {"exponent": 2},
        "th_alpha = log 2m": {"scale": sp.log(2 * _SLOPE)},
        "mu = 1": {"location": 1},
    },
)
def alibi_case(exponent: int = 1, scale: sp.Expr = sp.log(_SLOPE), location: int = 0) -> Facts:
    """At th_beta = 1, th_alpha = log m and mu = 0 the log prior is ALiBi's bias less m eps, on both sides of the query,
    so the weights are ALiBi's.
    """
    values = {"log_scale": scale, "exponent": sp.Integer(exponent), "smallest": _EPS, "location": sp.Integer(location)}
    stated = biases.alibi_bias(_SLOPE, query_position=_DISTANCE, key_position=sp.S.Zero) - _SLOPE * _EPS
    for side, offset in (("before", -_DISTANCE), ("after", _DISTANCE)):
        yield f"key at distance D {side} the query", partial(biases.bam_log_prior, offset, **values), stated
    yield "softmax cancels -m eps, which no key changes (claim bam-1)"


@CLAIMS.claim(
    "bam-2-law",
    "Lemma 2: ALiBi as a prior; errata F25",
    r"\sum_{D<T}e^{-mD}=\frac{1-e^{-mT}}{1-e^{-m}},\quad\sum_{x\in\mathbb{Z}}\frac{m}{2}e^{-m|x|}="
    r"\frac{m}{2}\cdot\frac{1+e^{-m}}{1-e^{-m}}>1",
    assumptions=("whole offsets, any m > 0",),
    falsifiers={
        "the Laplace density as a law": {"mass": lambda distance: _SLOPE / 2 * sp.exp(-_SLOPE * distance)},
        "the geometric law of one side": {"mass": lambda distance: (1 - sp.exp(-_SLOPE)) * sp.exp(-_SLOPE * distance)},
        "the normaliser of infinitely many keys": {"total": lambda keys: 1 / (1 - sp.exp(-_SLOPE))},
    },
)
def geometric_law(
    mass: Callable[[sp.Expr], sp.Expr] = lambda distance: (
        (1 - sp.exp(-_SLOPE)) / (1 + sp.exp(-_SLOPE)) * sp.exp(-_SLOPE * distance)
    ),
    total: Callable[[sp.Expr], sp.Expr] = lambda keys: (1 - sp.exp(-_SLOPE * keys)) / (1 - sp.exp(-_SLOPE)),
) -> Facts:
    """ALiBi's prior on T keys up to the query is a truncated geometric law, with the normaliser (1 - e^(-mT))/(1 -
    e^(-m)); on whole offsets of both signs it is tanh(m/2) e^(-m|x|). The Laplace density (m/2) e^(-m|x|) is no law on
    whole offsets: its sum exceeds 1.

    Decide the normaliser of ALiBi's prior on T keys, and on offsets of both signs; `mass` is a probability at D.

    Args:
        mass: distance -> stated probability of an offset of this distance, in the law on all whole offsets.
        total: T -> stated sum of the prior over the distances 0 .. T - 1.
    """
    keys = sp.Symbol("T", integer=True, nonnegative=True)
    ratio = sp.exp(-_SLOPE)
    weight = sp.exp(biases.alibi_bias(_SLOPE, query_position=keys, key_position=sp.S.Zero))
    x = sp.Symbol("x", positive=True)
    facts = [
        require_equal("base: the sum over 0 keys", lambda: total(sp.S.Zero), sp.S.Zero),
        require_equal("step: one key more, at distance T", lambda: total(keys + 1) - total(keys), lambda: weight),
    ]
    # The sum over distances 1, 2, ... is the limit of the sum less its first term, since e^(-mT) falls to 0.
    beyond = ratio / (1 - ratio)
    share = mass(sp.S.Zero)
    excess = x * (sp.exp(x) + sp.exp(-x)) / 2 - (sp.exp(x) - sp.exp(-x)) / 2
    facts += [
        require_equal(
            "probability at D + 1: e^(-m) times that at D", lambda: mass(_DISTANCE + 1), lambda: ratio * mass(_DISTANCE)
        ),
        require_equal("the probabilities of all whole offsets sum to 1", lambda: share * (1 + 2 * beyond), sp.S.One),
        require_equal(
            "the Laplace density (m/2) e^(-m|x|) sums to x cosh x / sinh x at x = m/2",
            lambda: (x * (1 + 2 * beyond)).xreplace({_SLOPE: 2 * x}),
            lambda: x * (sp.exp(x) + sp.exp(-x)) / (sp.exp(x) - sp.exp(-x)),
        ),
        require_equal(
            "x cosh x - sinh x is 0 at 0, and its derivative x sinh x is positive, so that sum is above 1",
            lambda: derivative(excess, x),
            lambda: x * (sp.exp(x) - sp.exp(-x)) / 2,
        ),
    ]
    yield from facts


@CLAIMS.claim(
    "bam-2-init",
    "initial values in the released code; errata F16",
    r"e^{\theta_{\alpha,h}}=m_h\iff\theta_{\alpha,h}=\log m_h",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"H <= {MOST_HEADS}",
    printed={"initial": lambda slope: slope},
    falsifiers={
        "the slope without a logarithm": {"initial": lambda slope: slope},
        "a logarithm to base 2": {"initial": lambda slope: sp.log(slope, 2)},
    },
)
def initial_slopes(initial: Callable[[sp.Expr], sp.Expr] = sp.log) -> Facts:
    """With th_alpha = log m_h, th_beta = 1 and mu = 0 at the start BAM is ALiBi in every head, for all H <= 64. With
    th_alpha = m_h, as the README has it, its slopes start at e^(m_h) instead.
    """
    for heads in range(1, MOST_HEADS + 1):
        for head, slope in enumerate(biases.alibi_slopes(heads), start=1):
            multiplier = sp.exp(initial(slope))
            if multiplier != slope:
                raise Refuted(f"head {head} of {heads} starts with the slope {multiplier.n(4)}, not {slope.n(4)}")
    yield "equal as numbers, head by head; th_beta starts at 1 and mu at 0 (claim bam-2)"


@CLAIMS.claim(
    "bam-3",
    "Lemma 1: NoPE as the uniform prior; that th_beta = 0 reaches it is ours",
    r"-e^{\theta_\alpha}(|x-\mu|+\varepsilon)^0=-e^{\theta_\alpha}",
    assumptions=("any location, any eps > 0",),
    falsifiers={
        "th_beta = 1": {"exponent": sp.S.One},
        "th_beta = -1": {"exponent": -sp.S.One},
        "th_beta to infinity": {"exponent": sp.oo},
        "for th_alpha to infinity": {"edge": sp.oo},
    },
)
def nope_case(exponent: sp.Expr = sp.S.Zero, edge: sp.Expr = -sp.oo) -> Facts:
    """At th_beta = 0 all keys have one log prior, whatever the scale and the location: BAM is NoPE there. For th_alpha
    to -infinity it tends to NoPE at every exponent.

    Decide that at th_beta = `exponent` all keys have one log prior, and that it goes to 0 as th_alpha -> `edge`.
    """
    offset, location = sp.symbols("x mu", real=True)
    numbers = {"log_scale": sp.S.Zero, "smallest": biases.BAM_RELEASED_SMALLEST}
    own, next_one = (biases.bam_log_prior(sp.Integer(-distance), exponent=exponent, **numbers) for distance in (0, 1))
    if own != next_one:
        raise Refuted(f"th_beta = {exponent}: the log prior is {own.n(4)} at distance 0 and {next_one.n(4)} at 1")

    def law(th_beta: sp.Expr) -> sp.Expr:
        return biases.bam_log_prior(offset, log_scale=_SCALE, exponent=th_beta, smallest=_EPS, location=location)

    limit = sp.limit(law(_EXPONENT), _SCALE, edge)
    if limit != 0:
        raise Refuted(f"th_alpha -> {edge}: the log prior goes to {limit}, not to 0")
    yield same_by_sympy(f"log prior at th_beta = {exponent}", lambda: law(exponent), lambda: -sp.exp(_SCALE))
    yield f"for every th_beta and offset the log prior goes to {limit} as th_alpha -> {edge}"
    yield "a log prior that is the same for all keys changes no weight (claim bam-1)"


@CLAIMS.claim(
    "bam-4",
    "the generalised Gaussian prior; its limit is ours",
    r"-(D/w)^\beta\to 0,\,-1,\,-\infty\quad(D<w,\ D=w,\ D>w)",
    assumptions=("eps = 0", "any width w > 0"),
    falsifiers={
        "a window that ends at 2w": {"distance": lambda logarithm: 2 * sp.exp(logarithm)},
        "at a scale that does not move": {"scale": lambda log_width, beta: -log_width},
        "for th_beta to -infinity": {
            "law": lambda distance, log_scale, exponent: _plain(distance, log_scale, -exponent)
        },
    },
)
def window_limit(
    law: Law = _plain,
    scale: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda log_width, beta: -beta * log_width,
    distance: Callable[[sp.Expr], sp.Expr] = sp.exp,
) -> Facts:
    """With e^th_alpha = w^(-th_beta), for th_beta to infinity the prior becomes a window: its logarithm goes to 0 at
    distances below w, to -1 at w and to -infinity beyond.

    Args:
        law: the log prior at a distance.
        scale: (log w, th_beta) -> th_alpha.
        distance: log w + t -> distance that is inside the window for t < 0 and outside for t > 0.
    """
    log_width, beta = sp.Symbol("log_w", real=True), sp.Symbol("b", positive=True)
    yield (
        "at the distance w e^t the log prior is -e^(b t)",
        lambda: law(distance(log_width + _TIME), scale(log_width, beta), beta),
        lambda: -sp.exp(beta * _TIME),
    )
    for place, time in (
        ("inside, t < 0", sp.Symbol("t", negative=True)),
        ("at the end, t = 0", sp.S.Zero),
        ("outside, t > 0", sp.Symbol("t", positive=True)),
    ):
        yield f"{place}: its limit for b to infinity is {sp.limit(-sp.exp(beta * time), beta, sp.oo)}"
    yield "so at equal content the weights go to those of the keys at less than w, with e^-1 at w itself"


@CLAIMS.claim(
    "bam-5",
    "locality of the generalised Gaussian prior",
    r"(D/\alpha)^{\beta_2}>(D/\alpha)^{\beta_1}\iff D>\alpha\quad(\beta_2>\beta_1)",
    printed={"farther_than_scale": False},
    falsifiers={
        "within the scale": {"farther_than_scale": False},
        "the exponents of the other sign": {
            "law": lambda distance, log_scale, exponent: _plain(distance, -log_scale, -exponent)
        },
        "one exponent for all": {
            "law": lambda distance, log_scale, exponent: _plain(distance, log_scale / exponent, sp.S.One)
        },
    },
)
def tail_order(law: Law = _plain, farther_than_scale: bool = True) -> Facts:
    """Of two exponents the larger one penalises more beyond the scale alpha (errata F16: not at every distance, within
    alpha it penalises less).

    `farther_than_scale` is True for distances D = alpha e^t > alpha, that is for t > 0.
    """
    low, gap = sp.symbols("beta_1 gap", positive=True)
    log_width = sp.Symbol("log_alpha", real=True)
    t = sp.Symbol("t", positive=True) if farther_than_scale else sp.Symbol("t", negative=True)

    def log_prior(exponent: sp.Expr) -> sp.Expr:
        return law(sp.exp(log_width + t), -exponent * log_width, exponent)

    yield (
        "at D = alpha e^t: penalty_2 / penalty_1 = e^(t (beta_2 - beta_1))",
        lambda: log_prior(low + gap) / log_prior(low),
        lambda: sp.exp(t * gap),
    )
    if not (t * gap).is_positive:
        inner, outer = (-law(sp.Integer(2), -exponent * sp.log(4), sp.Integer(exponent)) for exponent in (2, 1))
        raise Refuted(f"within the scale the larger exponent penalises less: {inner} < {outer} at D = 2, alpha = 4")
    yield "t (beta_2 - beta_1) > 0, so the ratio is above 1"


def _formula(law: Law, exponent: sp.Expr = _EXPONENT) -> str:
    """Fact that the log prior at D + eps = e^t is -e^(a + b t)."""
    return require_equal(
        "log prior at D + eps = e^t, a for th_alpha and b for th_beta",
        lambda: law(sp.exp(_TIME), _SCALE, exponent),
        lambda: -sp.exp(_SCALE + exponent * _TIME),
    )


@CLAIMS.claim(
    "bam-6",
    "negative exponents: retrieval heads; the proof is ours",
    r"\theta_\beta<0:\quad\log g\nearrow 0,\qquad\log g(0)=-e^{\theta_\alpha}\varepsilon^{\theta_\beta}",
    label="P",
    assumptions=("any th_alpha",),
    answers=("own",),
    falsifiers={
        "for th_beta > 0": {"exponent": sp.Symbol("b", positive=True)},
        "for th_beta = 0": {"exponent": sp.S.Zero},
        "with eps = 1": {"smallest": sp.S.One},
        "a bonus, not a penalty": {"law": lambda *at: -_plain(*at)},
    },
)
def favours_far_keys(
    law: Law = _plain,
    exponent: sp.Symbol = sp.Symbol("b", negative=True),
    smallest: sp.Rational = biases.BAM_RELEASED_SMALLEST,
    own: int = -(10**5),
) -> Facts:
    """With th_beta < 0 the log prior rises with the distance towards 0, so far keys are alike, and eps = 1e-5 puts the
    query's own key at -10^5 at th_alpha = 0, th_beta = -1: it is not attended to.

    Args:
        law: the log prior.
        exponent: th_beta, a symbol with a sign.
        smallest: eps.
        own: log prior of the query's own key at th_alpha = 0 and th_beta = -1.
    """
    rise = -exponent * sp.exp(_SCALE + exponent * _TIME)
    if not rise.is_positive:
        example = sp.S.Zero if exponent.is_zero else sp.S.One
        near, far = (law(sp.Integer(distance), sp.S.Zero, example) for distance in (1, 10))
        raise Refuted(f"th_alpha = 0, th_beta = {example}: the log prior is {near} at distance 1 and {far} at 10")
    at_own = law(smallest, sp.S.Zero, -sp.S.One)
    if at_own != own:
        raise Refuted(f"th_alpha = 0, th_beta = -1: the query's own key has the log prior {at_own}, not {own}")
    limit = sp.limit(-sp.exp(_SCALE + exponent * _TIME), _TIME, sp.oo)
    yield _formula(law, exponent)
    yield (
        "its derivative in t, positive for b < 0",
        lambda: derivative(law(sp.exp(_TIME), _SCALE, exponent), _TIME),
        lambda: rise,
    )
    yield f"for b < 0 its limit for t to infinity is {limit}: far keys are alike, whatever their distance"
    yield f"eps = {smallest}: at th_alpha = 0, th_beta = -1 the query's own key has {at_own}"


@CLAIMS.claim(
    "bam-7",
    "priors that are no laws; the uniform prior of Lemma 1 on an infinite past is one",
    r"\sum_{D\ge 0}\exp(-c(D+\varepsilon)^{\beta})<\infty\iff\beta>0\qquad(c>0)",
    assumptions=("equal contents", "mu = 0"),
    falsifiers={
        "for the exponent's opposite": {"law": lambda distance, a, b: _plain(distance, a, -b)},
        "for the square of the exponent, so for th_beta = -1/2 too": {
            "law": lambda distance, a, b: _plain(distance, a, b**2)
        },
        "never, by blocks in the plane": {"block": lambda level, power: sp.exp(level * (2 - power))},
    },
)
def normalisable(
    law: Law = _plain, block: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda level, power: sp.exp(level * (1 - power))
) -> Facts:
    """The prior's sum over all distances is finite if and only if th_beta > 0, at every scale. So at equal content the
    share of a fixed window falls to 0 with growing context if th_beta <= 0, and only then.

    `block` is (k L, N b) -> stated bound of c^N/N! times the sum over the 2^k distances from 2^k on, L = log 2.
    """
    level, power, base, surplus = sp.symbols("k N L r", positive=True)
    nonpositive = sp.Symbol("b", nonpositive=True)
    slope = -nonpositive * sp.exp(_SCALE + nonpositive * _TIME)
    if not slope.is_nonnegative:
        raise Refuted(f"b <= 0: the log prior changes with t by {slope}, which may be negative")
    yield _formula(law)
    yield (
        "b <= 0: its derivative in t is not negative, so each term is at least the one at D = 0",
        lambda: derivative(law(sp.exp(_TIME), _SCALE, nonpositive), _TIME),
        lambda: slope,
    )
    yield "so T terms sum to at least T times a positive number, which has no bound"
    yield "b > 0: for y > 0 and whole N, e^y exceeds its term y^N/N!, so e^(-y) < N!/y^N"
    yield "with c = e^a each of the 2^k distances from 2^k on has the term e^(-c (D + eps)^b) < N!/(c^N 2^(kbN))"
    yield (
        "so they sum to less than N!/c^N times 2^k 2^(-kbN), written with 2^k = e^(kL)",
        lambda: sp.exp(level * base) * sp.exp(-power * _EXPONENT * level * base),
        lambda: block(level * base, power * _EXPONENT),
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
    "bam-11",
    "the number eps in the released code",
    r"\partial_{\theta_\beta}\log g=\log g\cdot\log(|x-\mu|+\varepsilon)",
    label="P",
    assumptions=("eps > 0",),
    answers=("stated",),
    falsifiers={
        "with eps = 0": {"smallest": sp.S.Zero},
        "with eps = 1": {"smallest": sp.S.One},
        "of the squared distance": {"law": lambda distance, a, b: _plain(distance**2, a, b)},
    },
)
def gradient(
    law: Law = _plain, smallest: sp.Rational = biases.BAM_RELEASED_SMALLEST, stated: sp.Expr = 10**5 * sp.log(10**5)
) -> Facts:
    """The gradient of the log prior in th_beta is the log prior times log(D + eps). At distance 0 only eps keeps it
    finite; there it is 10^5 log 10^5 at th_alpha = 0, th_beta = -1, about 1.15 million.

    `smallest` is eps, `stated` the gradient at distance 0 for th_alpha = 0 and th_beta = -1.
    """
    at_zero = {_TIME: sp.log(smallest), _SCALE: sp.S.Zero, _EXPONENT: -sp.S.One}
    change = -_TIME * sp.exp(_SCALE + _EXPONENT * _TIME)
    if smallest == 0:
        limits = {b: sp.limit(change.subs({_SCALE: 0, _EXPONENT: b}), _TIME, -sp.oo) for b in (-1, 0, 1)}
        text = ", ".join(f"{limit} at th_beta = {b}" for b, limit in limits.items())
        raise Refuted(f"eps = 0: the gradient at distance 0 is the limit for t to -infinity, {text}")
    value = change.subs(at_zero)
    if not is_zero(value - stated):
        raise Refuted(f"eps = {smallest}: the gradient at distance 0 is {value.n(7)}, not {stated.n(7)}")
    yield _formula(law)
    yield (
        "its derivative in b is t times itself, with t = log(D + eps)",
        lambda: derivative(law(sp.exp(_TIME), _SCALE, _EXPONENT), _EXPONENT),
        lambda: change,
    )
    yield f"at distance 0 t = log eps, a number; at th_alpha = 0, th_beta = -1 the gradient is {value.n(7)}"


def shifted(*, logit: Logit, multiplied: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Evidence:
    """Decide what a shift of all positions by s does to the difference of two logits of one query.

    `multiplied` is (query position, s) -> stated factor of the difference.
    """
    content, other_content = sp.symbols("l l_", real=True)
    query = _POSITION + _STEPS + _OTHER_STEPS

    def difference(shift: sp.Expr) -> sp.Expr:
        near, far = (query - distance + shift for distance in (_STEPS, _OTHER_STEPS))
        return logit(content, query + shift, near) - logit(other_content, query + shift, far)

    factor = multiplied(query, _SHIFT)
    before, after = difference(sp.S.Zero), difference(_SHIFT)
    values = {_POSITION: 1, _STEPS: 0, _OTHER_STEPS: 1, _SHIFT: 3, content: 0, other_content: 1}
    plain = {
        biases.BAM_LOG_SCALE: 0,
        biases.BAM_EXPONENT: 1,
        biases.BAM_SMALLEST: biases.BAM_RELEASED_SMALLEST,
        biases.BAM_FACTOR: 1,
        biases.BAM_LOCATION: 0,
    }
    numbers = [sp.N(side.subs(values | plain), 8) for side in (after, factor * before)]
    if abs(numbers[0] - numbers[1]) > sp.Rational(1, 10**6):
        raise Refuted(f"query 2, keys 2 and 1, shifted by 3: the logits differ by {numbers[0]}, not {numbers[1]}")
    equal = require_equal if factor != 1 else same_by_sympy
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            equal(
                f"l - l_ of the shifted keys, against ({factor}) times that of the keys before", after, factor * before
            ),
            "the weights of a row follow from these differences, and its output from the weights",
        ),
        assumptions=("a shift moves the tokens along", "query at i + D + D_, its keys at the distances D and D_"),
    )


def _bam(content: sp.Expr, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Logit of BAM, with a location."""
    return content + biases.bam_log_prior(
        key - query,
        log_scale=biases.BAM_LOG_SCALE,
        exponent=biases.BAM_EXPONENT,
        smallest=biases.BAM_SMALLEST,
        location=biases.bam_location(biases.BAM_LOCATION),
    )


def _ssmax(content: sp.Expr, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Logit of BAM with SSMax."""
    return _temperature(query) * _bam(content, query, key)


def _temperature(query: sp.Expr) -> sp.Expr:
    """Factor of the logits of a query."""
    return biases.bam_temperature(query, factor=_FACTOR)


def _rope(query: sp.Matrix, key: sp.Matrix, angle: sp.Expr) -> sp.Expr:
    """Score of RoPE on a plane."""
    return (query.T * rotary.rotation(-angle) * key)[0]


CLAIMS.append(
    Claim(
        id="bam-8",
        source=SOURCE.at("the prior depends on the offset; the released code"),
        statement="A shift of all positions changes no logit difference of a query under BAM, with any location.",
        latex=r"l_{j+s,i+s}-l_{j+s,i^\prime+s}=l_{j,i}-l_{j,i^\prime}",
        label="P",
        check=shifted,
        holds={"logit": _bam, "multiplied": lambda query, shift: sp.S.One},
        falsifiers={
            "with SSMax too": {"logit": _ssmax},
            "of the distance from the start": {
                "logit": lambda content, query, key: _bam(content, sp.S.Zero, key) + query
            },
        },
    )
)


CLAIMS.append(
    Claim(
        id="bam-8-ssmax",
        source=SOURCE.at("SSMax; that it breaks the relative law is ours"),
        statement="Under BAM with SSMax a shift by s multiplies the logit differences of the query at j by "
        "log(j + s + 1)/log(j + 1), so attention sharpens.",
        latex=r"l_{j+s,i+s}-l_{j+s,i^\prime+s}=\frac{\ln(j+s+1)}{\ln(j+1)}(l_{j,i}-l_{j,i^\prime})",
        label="F",
        check=shifted,
        holds={"logit": _ssmax, "multiplied": lambda query, shift: sp.log(query + shift + 1) / sp.log(query + 1)},
        falsifiers={
            "by no factor": {"multiplied": lambda query, shift: sp.S.One},
            "without SSMax": {"logit": _bam},
            "log n of the content alone": {
                "logit": lambda content, query, key: _temperature(query) * content + _bam(sp.S.Zero, query, key)
            },
        },
    )
)


@CLAIMS.claim(
    "bam-9",
    "SSMax; that it leaves ALiBi out is ours",
    r"m\,s\ln(j+1)\ne m'\ \text{for two rows}",
    assumptions=("th_beta = 1 and mu = 0, without which even one row is not linear", "three tokens or more"),
    falsifiers={
        "on two tokens": {"tokens": 2},
        "a factor of all rows": {"factor": lambda query: _FACTOR},
        "from the second row on one factor": {"factor": lambda query: _FACTOR * sp.log(sp.Min(query, 1) + 1)},
    },
)
def slopes_by_row(factor: Callable[[sp.Expr], sp.Expr] = _temperature, tokens: int = 3) -> Facts:
    """BAM with SSMax does not contain ALiBi on three tokens or more: at th_beta = 1 the slope of row j is m s_h log(j +
    1), another in every row.

    `factor` is query position -> factor of the row's logits.
    """
    row = sp.Symbol("j", integer=True, positive=True)
    values = {"log_scale": sp.log(_SLOPE), "exponent": sp.S.One, "smallest": biases.BAM_RELEASED_SMALLEST}

    def slope(query: sp.Expr) -> sp.Expr:
        near, far = (factor(query) * biases.bam_log_prior(-sp.Integer(distance), **values) for distance in (0, 1))
        return near - far

    yield (
        "slope of row j, the log prior at distance 0 less that at 1: m times the factor of the row",
        lambda: slope(row),
        lambda: _SLOPE * factor(row),
    )
    rows = [sp.Integer(query) for query in range(1, tokens)]
    slopes = [sp.expand(factor(query) / _FACTOR) for query in rows]
    if len(set(slopes)) < 2:
        raise Refuted(f"{tokens} tokens: all rows have the slope m s_h {', '.join(map(str, set(slopes)))}: it is ALiBi")
    ratio = sp.simplify(slopes[1] / slopes[0])
    yield f"rows 1 and 2 differ by the factor {ratio} = {ratio.n(4)} for every m and s_h, while ALiBi has one slope"
    yield "row 0 has one key, and no slope"


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
def rope_outside(score: Score = _rope, frequency: sp.Expr = sp.S.One) -> Facts:
    """RoPE is outside BAM and outside every static bias, whatever maps give queries and keys: the sign of its score
    difference of two distances flips with the key.

    In such a model the scores of one key token at two distances of one query differ by B(D) - B(D_), whatever the
    tokens. `score` is the encoding to be imitated, with the frequency of its plane.
    """
    query, key = (sp.Matrix(sp.symbols(names, real=True)) for names in ("q1 q2", "k1 k2"))
    near, far = sp.symbols("D D_", integer=True, nonnegative=True)

    def difference(content: sp.Matrix, first: sp.Expr, second: sp.Expr) -> sp.Expr:
        return score(query, content, first * frequency) - score(query, content, second * frequency)

    yield (
        "k -> -k turns S(q, k, D) - S(q, k, D_) into its negative",
        lambda: difference(-key, near, far),
        lambda: -difference(key, near, far),
    )
    unit = sp.Matrix([1, 0])
    witness = sp.simplify(score(unit, unit, sp.S.Zero) - score(unit, unit, frequency))
    if witness == 0:
        raise Refuted(f"frequency {frequency}: q = k = (1, 0) has one score at the distances 0 and 1: B = 0 gives it")
    if not witness.is_positive:
        raise Refuted(f"the difference {witness} of the scores at the distances 0 and 1 is not positive")
    yield "a static bias leaves that difference at B(D) - B(D_) for k and for -k, so it would be 0 for all tokens"
    yield f"but q = k = (1, 0) has the difference {witness} = {witness.n(4)} between the distances 0 and 1"


@CLAIMS.claim(
    "bam-13",
    "SSMax; its relation is ours",
    r"\phi(i,j)=(i,j)",
    assumptions=("th_beta is not 0", "queries from position 1 on: at position 0 there is one key"),
    falsifiers={
        "one factor for all queries": {"factor": lambda query: _FACTOR},
        "the relation of BAM": {"relation": biases.BAM.relation},
    },
)
def pairs_told_apart(
    factor: Callable[[sp.Expr], sp.Expr] = _temperature, relation: Relation | None = biases.BAM_SSMAX.relation
) -> Facts:
    """With SSMax and th_beta not 0 no two pairs of positions have one score for all contents: log(j + 1) tells queries
    apart and the prior the distances of one query, so its relation is the absolute one.

    `factor` is query position -> factor of the row's logits; `relation` is that of the encoding, with positions from 1.
    """
    row = sp.Symbol("j", nonnegative=True)
    rise = sp.diff(factor(row), row)
    if not rise.is_positive:
        raise Refuted(f"the factor of row j changes by {rise}: rows 1 and 2 have {factor(sp.S.One)} both")
    time, scale, exponent = sp.Symbol("t", real=True), biases.BAM_LOG_SCALE, biases.BAM_EXPONENT
    assert biases.BAM_SSMAX.bias is not None and relation is not None
    written = biases.BAM_SSMAX.bias(_POSITION + _STEPS, _POSITION, LENGTH)
    prior = biases.bam_log_prior(-_STEPS, log_scale=scale, exponent=exponent, smallest=biases.BAM_SMALLEST)
    labels = relation.labels(SCALE)
    seen = labels[labels >= 0]
    if len(set(seen.tolist())) < len(seen):
        raise Refuted(f"up to scale {SCALE} the relation has {len(set(seen.tolist()))} labels for {len(seen)} pairs")
    yield f"the factor of row j rises with j: its derivative is {rise}"
    yield "so equal scores for all contents, of which it is the coefficient, mean one query"
    yield (
        "bias of the record: the factor times the log prior",
        lambda: written,
        lambda: factor(_POSITION + _STEPS) * prior,
    )
    yield (
        "in t = log(D + eps) the log prior has the derivative b times itself, of one sign for b not 0",
        lambda: sp.Derivative(biases.bam_power(sp.exp(time), log_scale=scale, exponent=exponent), time),
        lambda: -exponent * sp.exp(scale + exponent * time),
    )
    yield f"so in a row each distance has its own bias; up to scale {SCALE} each of {len(seen)} pairs has its label"
