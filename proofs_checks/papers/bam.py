"""Bayesian attention mechanism (BAM, arXiv 2505.22842): its prior, ALiBi and NoPE among the priors, and its tail.

The bodies of the paper's theorems were not at hand: their subjects are known, and the released code decides formulas.
"""

from functools import partial

import sympy as sp

from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.facts import Formula, derivative, is_zero, require_equal, same_by_sympy
from lengthgen.proofs_checks.formulas import alibi
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import biases

SOURCE = Source(paper="Bayesian attention mechanism (BAM)", arxiv="2505.22842")
CLAIMS = PaperClaims(SOURCE)
SCALE, EXPONENT, TIME = sp.symbols("a b t", real=True)
STEPS, OTHER_STEPS = sp.symbols("D D_", integer=True, nonnegative=True)
POSITION = sp.Symbol("i", integer=True)
SHIFTED = (
    "a shift moves the tokens along",
    "query at i + D + D_ for a whole number i of either sign, its keys at the distances D and D_",
)
MOST_HEADS = 64
m, D = biases.ALIBI_SLOPE, sp.Symbol("D", nonnegative=True)


def power(distance: sp.Expr, log_scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Log prior without eps."""
    return biases.bam_power(distance, log_scale=log_scale, exponent=exponent)


def formula(law: Formula, exponent: sp.Expr = EXPONENT) -> str:
    """Fact that the log prior at D + eps = e^t is -e^(a + b t)."""
    return require_equal(
        "log prior at D + eps = e^t, a for th_alpha and b for th_beta",
        lambda: law(sp.exp(TIME), SCALE, exponent),
        lambda: -sp.exp(SCALE + exponent * TIME),
    )


def logit(content: sp.Expr, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Logit of BAM, with a location."""
    return content + biases.bam_log_prior(
        key - query,
        log_scale=biases.BAM_LOG_SCALE,
        exponent=biases.BAM_EXPONENT,
        smallest=biases.BAM_SMALLEST,
        location=biases.bam_location(biases.BAM_LOCATION),
    )


def temperature(query: sp.Expr) -> sp.Expr:
    """Factor of the logits of a query under SSMax."""
    return biases.bam_temperature(query, factor=sp.Symbol("s_h", positive=True))


def ssmax(content: sp.Expr, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Logit of BAM with SSMax."""
    return temperature(query) * logit(content, query, key)


def shifted(logit: Formula, multiplied: Formula) -> Facts:
    """Facts on what a shift of all positions by s does to the difference of two logits of one query.

    `multiplied` is (query position, s) -> stated factor of the difference.
    """
    content, other_content = sp.symbols("l l_", real=True)
    shift, query = sp.Symbol("s", integer=True, nonnegative=True), POSITION + STEPS + OTHER_STEPS

    def difference(by: sp.Expr) -> sp.Expr:
        near, far = (query - distance + by for distance in (STEPS, OTHER_STEPS))
        return logit(content, query + by, near) - logit(other_content, query + by, far)

    factor, after = multiplied(query, shift), difference(shift)
    expected = factor * difference(sp.S.Zero)
    values = {POSITION: 1, STEPS: 0, OTHER_STEPS: 1, shift: 3, content: 0, other_content: 1}
    values |= {biases.BAM_LOG_SCALE: 0, biases.BAM_EXPONENT: 1, biases.BAM_SMALLEST: biases.BAM_RELEASED_SMALLEST}
    values |= {biases.BAM_FACTOR: 1, biases.BAM_LOCATION: 0}
    numbers = [sp.N(side.subs(values), 8) for side in (after, expected)]
    apart = f"query 2, keys 2 and 1, shifted by 3: the logits differ by {numbers[0]}, not {numbers[1]}"
    refute(abs(numbers[0] - numbers[1]) > sp.Rational(1, 10**6), apart)
    equal = require_equal if factor != 1 else same_by_sympy
    yield equal(f"l - l_ of the shifted keys, against ({factor}) times that of the keys before", after, expected)
    yield "the weights of a row follow from these differences, and its output from the weights"


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
    posterior: Formula = biases.bam_posterior, on_others: Formula = lambda factor, other: factor
) -> Facts:
    """Softmax of content score plus log prior is the posterior of the keys, and a factor that all priors of a row
    share, or all likelihoods, changes no weight.

    `on_others(f, f_)` is the factor of the other keys' priors, where the key's own prior has the factor f.
    """
    content, log_prior = sp.symbols("l log_g", real=True)
    others, factor, other_factor, of_likelihoods = sp.symbols("R f f_ h", positive=True)
    weight = sp.exp(content + log_prior)
    softmax = "e^(l + log g) / (e^(l + log g) + R), R the sum of e^(l + log g) over the other keys"
    yield softmax, lambda: weight / (weight + others), lambda: posterior(sp.exp(content), sp.exp(log_prior), others)
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
        "th_alpha = log 2m": {"scale": sp.log(2 * m)},
        "mu = 1": {"location": 1},
    },
)
def alibi_case(exponent: int = 1, scale: sp.Expr = sp.log(m), location: int = 0) -> Facts:
    """At th_beta = 1, th_alpha = log m and mu = 0 the log prior is ALiBi's bias less m eps, on both sides of the query,
    so the weights are ALiBi's.
    """
    eps = sp.Symbol("eps", positive=True)
    values = {"log_scale": scale, "exponent": sp.Integer(exponent), "smallest": eps, "location": sp.Integer(location)}
    for side, offset in (("before", -D), ("after", D)):
        yield f"key at distance D {side} the query", partial(biases.bam_log_prior, offset, **values), alibi(D) - m * eps
    yield "softmax cancels -m eps, which no key changes (claim bam-1)"


@CLAIMS.claim(
    "bam-2-law",
    "Lemma 2: ALiBi as a prior; errata F25",
    r"\sum_{D<T}e^{-mD}=\frac{1-e^{-mT}}{1-e^{-m}},\quad\sum_{x\in\mathbb{Z}}\frac{m}{2}e^{-m|x|}="
    r"\frac{m}{2}\cdot\frac{1+e^{-m}}{1-e^{-m}}>1",
    assumptions=("whole offsets, any m > 0",),
    falsifiers={
        "the Laplace density as a law": {"mass": lambda distance: m / 2 * sp.exp(-m * distance)},
        "the geometric law of one side": {"mass": lambda distance: (1 - sp.exp(-m)) * sp.exp(-m * distance)},
        "the normaliser of infinitely many keys": {"total": lambda keys: 1 / (1 - sp.exp(-m))},
    },
)
def geometric_law(
    mass: Formula = lambda distance: (1 - sp.exp(-m)) / (1 + sp.exp(-m)) * sp.exp(-m * distance),
    total: Formula = lambda keys: (1 - sp.exp(-m * keys)) / (1 - sp.exp(-m)),
) -> Facts:
    """ALiBi's prior on T keys up to the query is a truncated geometric law, with the normaliser (1 - e^(-mT))/(1 -
    e^(-m)); on whole offsets of both signs it is tanh(m/2) e^(-m|x|). The Laplace density (m/2) e^(-m|x|) is no law on
    whole offsets: its sum exceeds 1.

    `mass` is the probability of an offset at distance D in the law on all whole offsets, `total` the sum over T keys.
    """
    keys, x = sp.Symbol("T", integer=True, nonnegative=True), sp.Symbol("x", positive=True)
    ratio, weight = sp.exp(-m), sp.exp(alibi(keys))
    beyond = ratio / (1 - ratio)
    share = mass(sp.S.Zero)
    excess = x * (sp.exp(x) + sp.exp(-x)) / 2 - (sp.exp(x) - sp.exp(-x)) / 2
    yield "base: the sum over 0 keys", lambda: total(sp.S.Zero), sp.S.Zero
    yield "step: one key more, at distance T", lambda: total(keys + 1) - total(keys), lambda: weight
    yield "probability at D + 1: e^(-m) times that at D", lambda: mass(D + 1), lambda: ratio * mass(D)
    yield "e^(-mT) falls to 0: over all D >= 0 the weights sum to 1/(1 - e^(-m)), over D >= 1 to e^(-m)/(1 - e^(-m))"
    yield "the probabilities of all whole offsets sum to 1", lambda: share * (1 + 2 * beyond), sp.S.One
    yield same_by_sympy("the probability at 0 is tanh(m/2)", share, sp.tanh(m / 2))
    yield (
        "the Laplace density (m/2) e^(-m|x|) sums to x cosh x / sinh x at x = m/2",
        lambda: (x * (1 + 2 * beyond)).xreplace({m: 2 * x}),
        lambda: x * (sp.exp(x) + sp.exp(-x)) / (sp.exp(x) - sp.exp(-x)),
    )
    rise = "x cosh x - sinh x is 0 at 0, and its derivative x sinh x is positive, so that sum is above 1"
    yield rise, lambda: derivative(excess, x), lambda: x * (sp.exp(x) - sp.exp(-x)) / 2


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
def initial_slopes(initial: Formula = sp.log) -> Facts:
    """With th_alpha = log m_h, th_beta = 1 and mu = 0 at the start BAM is ALiBi in every head, for all H <= 64. With
    th_alpha = m_h, as the README has it, its slopes start at e^(m_h) instead.
    """
    for heads in range(1, MOST_HEADS + 1):
        for head, slope in enumerate(biases.alibi_slopes(heads), start=1):
            multiplier = sp.exp(initial(slope))
            numbers = f"{multiplier.n(4)}, not {slope.n(4)}"
            refute(multiplier != slope, f"head {head} of {heads} starts with the slope {numbers}")
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
    """
    offset, location = sp.symbols("x mu", real=True)
    eps, numbers = sp.Symbol("eps", positive=True), {"smallest": biases.BAM_RELEASED_SMALLEST, "log_scale": sp.S.Zero}
    own, next_one = (biases.bam_log_prior(sp.Integer(-distance), exponent=exponent, **numbers) for distance in (0, 1))
    both = f"{own.n(4)} at distance 0 and {next_one.n(4)} at 1"
    refute(own != next_one, f"th_beta = {exponent}: the log prior is {both}")

    def law(th_beta: sp.Expr) -> sp.Expr:
        return biases.bam_log_prior(offset, log_scale=SCALE, exponent=th_beta, smallest=eps, location=location)

    near, far = (
        biases.bam_log_prior(sp.Integer(-distance), log_scale=SCALE, exponent=sp.S.One, smallest=eps)
        for distance in (0, 1)
    )
    gap = sp.limit(sp.expand(near - far), SCALE, edge)
    refute(gap != 0, f"th_alpha -> {edge}, th_beta = 1: log priors at distances 0 and 1 differ by {gap}")
    limit = sp.limit(law(EXPONENT), SCALE, edge)
    refute(limit != 0, f"th_alpha -> {edge}: the log prior goes to {limit}, not to 0")
    yield same_by_sympy(f"log prior at th_beta = {exponent}", lambda: law(exponent), lambda: -sp.exp(SCALE))
    yield f"for every th_beta and offset the log prior goes to {limit} as th_alpha -> {edge}"
    yield "a log prior that is the same for all keys changes no weight (claim bam-1)"


@CLAIMS.claim(
    "bam-5",
    "locality of the generalised Gaussian prior",
    r"(D/\alpha)^{\beta_2}>(D/\alpha)^{\beta_1}\iff D>\alpha\quad(\beta_2>\beta_1)",
    assumptions=("eps = 0, mu = 0 and one scale alpha for both exponents",),
    printed={"farther_than_scale": False},
    falsifiers={
        "within the scale": {"farther_than_scale": False},
        "the exponents of the other sign": {"law": lambda distance, a, b: power(distance, -a, -b)},
        "one exponent for all": {"law": lambda distance, a, b: power(distance, a / b, sp.S.One)},
    },
)
def tail_order(law: Formula = power, farther_than_scale: bool = True) -> Facts:
    """The larger of two exponents penalises more beyond the scale alpha, and only there (errata F16: not at every
    distance, within alpha it penalises no more).

    `farther_than_scale` is True for distances D = alpha e^t > alpha, that is for t > 0.
    """
    low, log_width = sp.symbols("beta_1 log_alpha", real=True)
    gap = sp.Symbol("gap", positive=True)
    t = sp.Symbol("t", positive=True) if farther_than_scale else sp.Symbol("t", negative=True)

    def log_prior(exponent: sp.Expr) -> sp.Expr:
        return law(sp.exp(log_width + TIME), -exponent * log_width, exponent)

    ratio = "at D = alpha e^t: penalty_2 / penalty_1 = e^(t (beta_2 - beta_1))"
    yield ratio, lambda: log_prior(low + gap) / log_prior(low), lambda: sp.exp(TIME * gap)
    inner, outer = (-law(sp.Integer(2), -exponent * sp.log(4), sp.Integer(exponent)) for exponent in (2, 1))
    within = f"within the scale the larger exponent penalises less: {inner} < {outer} at D = 2, alpha = 4"
    refute(not (t * gap).is_positive, within)
    yield "t (beta_2 - beta_1) has the sign of t: the ratio is above 1 beyond alpha, 1 at it, and below 1 nearer"
    yield "at D = 0 no positive exponent penalises"


@CLAIMS.claim(
    "bam-6",
    "negative exponents: retrieval heads; the proof is ours",
    r"\theta_\beta<0:\quad\log g\nearrow 0,\qquad\log g(0)=-e^{\theta_\alpha}\varepsilon^{\theta_\beta}",
    label="P",
    assumptions=("any th_alpha", "mu = 0"),
    answers=("own",),
    falsifiers={
        "for th_beta > 0": {"exponent": sp.Symbol("b", positive=True)},
        "for th_beta = 0": {"exponent": sp.S.Zero},
        "with eps = 1": {"smallest": sp.S.One},
        "a bonus, not a penalty": {"law": lambda *at: -power(*at)},
    },
)
def favours_far_keys(
    law: Formula = power,
    exponent: sp.Symbol = sp.Symbol("b", negative=True),
    smallest: sp.Rational = biases.BAM_RELEASED_SMALLEST,
    own: int = -(10**5),
) -> Facts:
    """With th_beta < 0 the log prior rises with the distance towards 0, so far keys are alike, and eps = 1e-5 puts the
    query's own key at -10^5 at th_alpha = 0, th_beta = -1: beside another key of equal content its weight is below
    e^-99999.
    """
    rise = -exponent * sp.exp(SCALE + exponent * TIME)
    example = sp.S.Zero if exponent.is_zero else sp.S.One
    near, far = (law(sp.Integer(distance), sp.S.Zero, example) for distance in (1, 10))
    falls = f"th_beta = {example}: the log prior is {near} at distance 1 and {far} at 10"
    refute(not rise.is_positive, f"th_alpha = 0, {falls}")
    at_own = law(smallest, sp.S.Zero, -sp.S.One)
    stated = f"the query's own key has the log prior {at_own}, not {own}"
    refute(at_own != own, f"th_alpha = 0, th_beta = -1: {stated}")
    lead = at_own - law(1 + smallest, sp.S.Zero, -sp.S.One)
    refute(lead >= own + 1, f"th_alpha = 0, th_beta = -1: the own key's log prior less that at distance 1 is {lead}")
    limit = sp.limit(-sp.exp(SCALE + exponent * TIME), TIME, sp.oo)
    yield formula(law, exponent)
    what = "its derivative in t, positive for b < 0"
    yield what, lambda: derivative(law(sp.exp(TIME), SCALE, exponent), TIME), lambda: rise
    yield f"for b < 0 its limit for t to infinity is {limit}: far keys are alike, whatever their distance"
    yield f"eps = {smallest}: at th_alpha = 0, th_beta = -1 the query's own key has {at_own}"
    yield f"keys at distance 1 or more have {sp.N(at_own - lead, 6)} or more: it weighs below e^{own + 1} of each"


@CLAIMS.claim(
    "bam-11",
    "the number eps in the released code",
    r"\partial_{\theta_\beta}\log g=\log g\cdot\log(|x-\mu|+\varepsilon)",
    label="P",
    assumptions=("eps > 0; 10^5 log 10^5 is for the released eps = 1e-5",),
    answers=("stated",),
    falsifiers={
        "with eps = 0": {"smallest": sp.S.Zero},
        "with eps = 1": {"smallest": sp.S.One},
        "of the squared distance": {"law": lambda distance, a, b: power(distance**2, a, b)},
    },
)
def gradient(
    law: Formula = power, smallest: sp.Rational = biases.BAM_RELEASED_SMALLEST, stated: sp.Expr = 10**5 * sp.log(10**5)
) -> Facts:
    """The gradient of the log prior in th_beta is the log prior times log(D + eps). At distance 0 and th_beta <= 0 only
    eps keeps it finite; there it is 10^5 log 10^5 at th_alpha = 0, th_beta = -1, about 1.15 million.
    """
    change = -TIME * sp.exp(SCALE + EXPONENT * TIME)
    limits = {b: sp.limit(change.subs({SCALE: 0, EXPONENT: b}), TIME, -sp.oo) for b in (-1, 0, 1)}
    text = ", ".join(f"{limit} at th_beta = {b}" for b, limit in limits.items())
    refute(smallest == 0, f"eps = 0: the gradient at distance 0 is the limit for t to -infinity, {text}")
    value = change.subs({TIME: sp.log(smallest), SCALE: sp.S.Zero, EXPONENT: -sp.S.One})
    numbers = f"{value.n(7)}, not {stated.n(7)}"
    refute(not is_zero(value - stated), f"eps = {smallest}: the gradient at distance 0 is {numbers}")
    yield formula(law)
    what = "its derivative in b is t times itself, with t = log(D + eps)"
    yield what, lambda: derivative(law(sp.exp(TIME), SCALE, EXPONENT), EXPONENT), lambda: change
    yield f"at distance 0 t = log eps, a number; at th_alpha = 0, th_beta = -1 the gradient is {value.n(7)}"
    unbounded = [b for b, limit in limits.items() if limit.is_infinite]
    refute(unbounded != [-1, 0], f"eps = 0: the gradient at distance 0 is the limit for t to -infinity, {text}")
    yield f"without eps its limit for t to -infinity is {text}: infinite for th_beta <= 0, as e^(b t) >= 1 for t <= 0"


@CLAIMS.claim(
    "bam-8",
    "the prior depends on the offset; the released code",
    r"l_{j+s,i+s}-l_{j+s,i^\prime+s}=l_{j,i}-l_{j,i^\prime}",
    label="P",
    assumptions=SHIFTED,
    falsifiers={
        "with SSMax too": {"logit": ssmax},
        "of the distance from the start": {"logit": lambda content, query, key: logit(content, 0, key) + query},
    },
)
def relative_law(logit: Formula = logit) -> Facts:
    """A shift of all positions changes no logit difference of a query under BAM, with any location."""
    yield from shifted(logit, lambda query, shift: sp.S.One)
