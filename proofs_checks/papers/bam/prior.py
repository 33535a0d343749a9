"""The prior of BAM: attention as a posterior, and ALiBi, NoPE and the sliding window among its priors."""

from collections.abc import Callable
from functools import partial

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.bam import SOURCE
from lengthgen.theory.encodings import biases

Law = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(distance, th_alpha, th_beta) -> log prior."""
Posterior = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(likelihood, prior, sum of likelihood times prior over the other keys) -> posterior."""

_SCALE, _EXPONENT, _TIME = sp.symbols("a b t", real=True)
_DISTANCE, _EPS = sp.Symbol("D", nonnegative=True), sp.Symbol("eps", positive=True)
_SLOPE = biases.ALIBI_SLOPE
MOST_HEADS = 64


def posterior_identity(*, posterior: Posterior, on_others: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Evidence:
    """Decide that softmax of l + log g is the posterior, and that a common factor of all priors changes nothing.

    `on_others(f, f_)` is the factor of the other keys' priors, where the key's own prior has the factor f.
    """
    content, log_prior = sp.symbols("l log_g", real=True)
    others, factor, other_factor, of_likelihoods = sp.symbols("R f f_ h", positive=True)
    weight = sp.exp(content + log_prior)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "e^(l + log g) / (e^(l + log g) + R), R the sum of e^(l + log g) over the other keys",
                lambda: weight / (weight + others),
                lambda: posterior(sp.exp(content), sp.exp(log_prior), others),
            ),
            require_equal(
                "the same with every prior times f, and every likelihood times h",
                lambda: posterior(
                    of_likelihoods * sp.exp(content),
                    factor * sp.exp(log_prior),
                    of_likelihoods * on_others(factor, other_factor) * others,
                ),
                lambda: posterior(sp.exp(content), sp.exp(log_prior), others),
            ),
            "R is a sum over any number of keys, and a factor of each of its terms is a factor of R",
        ),
    )


def alibi_case(*, exponent: int, scale: sp.Expr, location: int) -> Evidence:
    """Decide that the log prior with these values of th_beta, th_alpha and mu is ALiBi's bias less m eps."""
    values = {"log_scale": scale, "exponent": sp.Integer(exponent), "smallest": _EPS, "location": sp.Integer(location)}
    stated = biases.alibi_bias(_SLOPE, query_position=_DISTANCE, key_position=sp.S.Zero) - _SLOPE * _EPS
    facts = tuple(
        require_equal(f"key at distance D {side} the query", partial(biases.bam_log_prior, offset, **values), stated)
        for side, offset in (("before", -_DISTANCE), ("after", _DISTANCE))
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "softmax cancels -m eps, which no key changes (claim bam-1)"),
    )


def geometric_law(*, mass: Callable[[sp.Expr], sp.Expr], total: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide the normaliser of ALiBi's prior on T keys, and on offsets of both signs; `mass` is a probability at D.

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
            "probability at D + 1: e^(-m) times that at D",
            lambda: mass(_DISTANCE + 1),
            lambda: ratio * mass(_DISTANCE),
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
    return Evidence(strength=Strength.GENERAL, facts=tuple(facts), assumptions=("whole offsets, any m > 0",))


def nope_case(*, exponent: sp.Expr, edge: sp.Expr) -> Evidence:
    """Decide that at th_beta = `exponent` all keys have one log prior, and that it goes to 0 as th_alpha -> `edge`."""
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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            same_by_sympy(f"log prior at th_beta = {exponent}", lambda: law(exponent), lambda: -sp.exp(_SCALE)),
            f"for every th_beta and offset the log prior goes to {limit} as th_alpha -> {edge}",
            "a log prior that is the same for all keys changes no weight (claim bam-1)",
        ),
        assumptions=("any location, any eps > 0",),
    )


def window_limit(
    *, law: Law, scale: Callable[[sp.Expr, sp.Expr], sp.Expr], distance: Callable[[sp.Expr], sp.Expr]
) -> Evidence:
    """Decide the limit of the log prior for th_beta -> infinity: 0 inside a window, -1 at its end, -infinity outside.

    Args:
        law: the log prior at a distance.
        scale: (log w, th_beta) -> th_alpha.
        distance: log w + t -> distance that is inside the window for t < 0 and outside for t > 0.
    """
    log_width, beta = sp.Symbol("log_w", real=True), sp.Symbol("b", positive=True)
    facts = [
        require_equal(
            "at the distance w e^t the log prior is -e^(b t)",
            lambda: law(distance(log_width + _TIME), scale(log_width, beta), beta),
            lambda: -sp.exp(beta * _TIME),
        )
    ]
    for place, time in (
        ("inside, t < 0", sp.Symbol("t", negative=True)),
        ("at the end, t = 0", sp.S.Zero),
        ("outside, t > 0", sp.Symbol("t", positive=True)),
    ):
        facts.append(f"{place}: its limit for b to infinity is {sp.limit(-sp.exp(beta * time), beta, sp.oo)}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "so at equal content the weights go to those of the keys at less than w, with e^-1 at w itself"),
        assumptions=("eps = 0", "any width w > 0"),
    )


def tail_order(*, law: Law, farther_than_scale: bool) -> Evidence:
    """Decide that the larger of two exponents penalises more at every distance on one side of the scale alpha.

    `farther_than_scale` is True for distances D = alpha e^t > alpha, that is for t > 0.
    """
    low, gap = sp.symbols("beta_1 gap", positive=True)
    log_width = sp.Symbol("log_alpha", real=True)
    t = sp.Symbol("t", positive=True) if farther_than_scale else sp.Symbol("t", negative=True)

    def log_prior(exponent: sp.Expr) -> sp.Expr:
        return law(sp.exp(log_width + t), -exponent * log_width, exponent)

    fact = require_equal(
        "at D = alpha e^t: penalty_2 / penalty_1 = e^(t (beta_2 - beta_1))",
        lambda: log_prior(low + gap) / log_prior(low),
        lambda: sp.exp(t * gap),
    )
    if not (t * gap).is_positive:
        inner, outer = (-law(sp.Integer(2), -exponent * sp.log(4), sp.Integer(exponent)) for exponent in (2, 1))
        raise Refuted(f"within the scale the larger exponent penalises less: {inner} < {outer} at D = 2, alpha = 4")
    return Evidence(strength=Strength.GENERAL, facts=(fact, "t (beta_2 - beta_1) > 0, so the ratio is above 1"))


def initial_slopes(*, initial: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide that BAM starts as ALiBi: e^th_alpha is the slope of each head, if th_alpha starts at initial(slope)."""
    for heads in range(1, MOST_HEADS + 1):
        for head, slope in enumerate(biases.alibi_slopes(heads), start=1):
            multiplier = sp.exp(initial(slope))
            if multiplier != slope:
                raise Refuted(f"head {head} of {heads} starts with the slope {multiplier.n(4)}, not {slope.n(4)}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"H <= {MOST_HEADS}",
        facts=("equal as numbers, head by head; th_beta starts at 1 and mu at 0 (claim bam-2)",),
    )


def _posterior(likelihood: sp.Expr, prior: sp.Expr, others: sp.Expr) -> sp.Expr:
    """Posterior of a key."""
    return biases.bam_posterior(likelihood, prior, others)


def _plain(distance: sp.Expr, log_scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Log prior without eps."""
    return biases.bam_power(distance, log_scale=log_scale, exponent=exponent)


CLAIMS = (
    Claim(
        id="bam-1",
        source=SOURCE.at("Theorem 1: attention over positions as a posterior"),
        statement="Softmax of content score plus log prior is the posterior of the keys, and a factor that all priors "
        "of a row share, or all likelihoods, changes no weight.",
        latex=r"\mathrm{softmax}(l+\log g)_i=\frac{e^{l_i}g_i}{\sum_k e^{l_k}g_k}",
        label="P",
        check=posterior_identity,
        holds={"posterior": _posterior, "on_others": lambda factor, other: factor},
        falsifiers={
            "a factor of its own for each key": {"on_others": lambda factor, other: other},
            "a normaliser without the priors": {
                "posterior": lambda likelihood, prior, others: likelihood * prior / (likelihood + others)
            },
        },
    ),
    Claim(
        id="bam-2",
        source=SOURCE.at("Lemma 2: ALiBi as a prior"),
        statement="At th_beta = 1, th_alpha = log m and mu = 0 the log prior is ALiBi's bias less m eps, on both sides "
        "of the query, so the weights are ALiBi's.",
        latex=r"\theta_\beta=1,\ e^{\theta_\alpha}=m,\ \mu=0:\quad \log g=-m|i-j|-m\varepsilon",
        label="P",
        check=alibi_case,
        holds={"exponent": 1, "scale": sp.log(_SLOPE), "location": 0},
        falsifiers={
            "th_beta = 2": {"exponent": 2},
            "th_alpha = log 2m": {"scale": sp.log(2 * _SLOPE)},
            "mu = 1": {"location": 1},
        },
    ),
    Claim(
        id="bam-2-law",
        source=SOURCE.at("Lemma 2: ALiBi as a prior; errata F25"),
        statement="ALiBi's prior on T keys up to the query is a truncated geometric law, with the normaliser "
        "(1 - e^(-mT))/(1 - e^(-m)); on whole offsets of both signs it is tanh(m/2) e^(-m|x|). The Laplace density "
        "(m/2) e^(-m|x|) is no law on whole offsets: its sum exceeds 1.",
        latex=r"\sum_{D<T}e^{-mD}=\frac{1-e^{-mT}}{1-e^{-m}},\quad\sum_{x\in\mathbb{Z}}\frac{m}{2}e^{-m|x|}="
        r"\frac{m}{2}\cdot\frac{1+e^{-m}}{1-e^{-m}}>1",
        label="F",
        check=geometric_law,
        holds={
            "mass": lambda distance: (1 - sp.exp(-_SLOPE)) / (1 + sp.exp(-_SLOPE)) * sp.exp(-_SLOPE * distance),
            "total": lambda keys: (1 - sp.exp(-_SLOPE * keys)) / (1 - sp.exp(-_SLOPE)),
        },
        falsifiers={
            "the Laplace density as a law": {"mass": lambda distance: _SLOPE / 2 * sp.exp(-_SLOPE * distance)},
            "the geometric law of one side": {
                "mass": lambda distance: (1 - sp.exp(-_SLOPE)) * sp.exp(-_SLOPE * distance)
            },
            "the normaliser of infinitely many keys": {"total": lambda keys: 1 / (1 - sp.exp(-_SLOPE))},
        },
    ),
    Claim(
        id="bam-2-init",
        source=SOURCE.at("initial values in the released code; errata F16"),
        statement="With th_alpha = log m_h, th_beta = 1 and mu = 0 at the start BAM is ALiBi in every head, for all "
        "H <= 64. With th_alpha = m_h, as the README has it, its slopes start at e^(m_h) instead.",
        latex=r"e^{\theta_{\alpha,h}}=m_h\iff\theta_{\alpha,h}=\log m_h",
        label="P",
        check=initial_slopes,
        holds={"initial": sp.log},
        printed={"initial": lambda slope: slope},
        falsifiers={
            "the slope without a logarithm": {"initial": lambda slope: slope},
            "a logarithm to base 2": {"initial": lambda slope: sp.log(slope, 2)},
        },
    ),
    Claim(
        id="bam-3",
        source=SOURCE.at("Lemma 1: NoPE as the uniform prior; that th_beta = 0 reaches it is ours"),
        statement="At th_beta = 0 all keys have one log prior, whatever the scale and the location: BAM is NoPE "
        "there. For th_alpha to -infinity it tends to NoPE at every exponent.",
        latex=r"-e^{\theta_\alpha}(|x-\mu|+\varepsilon)^0=-e^{\theta_\alpha}",
        label="F",
        check=nope_case,
        holds={"exponent": sp.S.Zero, "edge": -sp.oo},
        falsifiers={
            "th_beta = 1": {"exponent": sp.S.One},
            "th_beta = -1": {"exponent": -sp.S.One},
            "th_beta to infinity": {"exponent": sp.oo},
            "for th_alpha to infinity": {"edge": sp.oo},
        },
    ),
    Claim(
        id="bam-4",
        source=SOURCE.at("the generalised Gaussian prior; its limit is ours"),
        statement="With e^th_alpha = w^(-th_beta), for th_beta to infinity the prior becomes a window: its logarithm "
        "goes to 0 at distances below w, to -1 at w and to -infinity beyond.",
        latex=r"-(D/w)^\beta\to 0,\,-1,\,-\infty\quad(D<w,\ D=w,\ D>w)",
        label="F",
        check=window_limit,
        holds={
            "law": _plain,
            "scale": lambda log_width, beta: -beta * log_width,
            "distance": sp.exp,
        },
        falsifiers={
            "a window that ends at 2w": {"distance": lambda logarithm: 2 * sp.exp(logarithm)},
            "at a scale that does not move": {"scale": lambda log_width, beta: -log_width},
            "for th_beta to -infinity": {
                "law": lambda distance, log_scale, exponent: _plain(distance, log_scale, -exponent)
            },
        },
    ),
    Claim(
        id="bam-5",
        source=SOURCE.at("locality of the generalised Gaussian prior"),
        statement="Of two exponents the larger one penalises more beyond the scale alpha (errata F16: not at every "
        "distance, within alpha it penalises less).",
        latex=r"(D/\alpha)^{\beta_2}>(D/\alpha)^{\beta_1}\iff D>\alpha\quad(\beta_2>\beta_1)",
        label="F",
        check=tail_order,
        holds={"law": _plain, "farther_than_scale": True},
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
    ),
)
