"""The tail of BAM's prior: which exponents favour far keys, which give a law that can be normalised, and gradients."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import derivative, require_equal
from lengthgen.proofs_checks.papers.bam import SOURCE
from lengthgen.proofs_checks.signs import is_zero
from lengthgen.theory.encodings import biases

Law = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(distance plus eps, th_alpha, th_beta) -> log prior."""

_SCALE, _EXPONENT, _TIME = sp.symbols("a b t", real=True)


def _formula(law: Law, exponent: sp.Expr = _EXPONENT) -> str:
    """Fact that the log prior at D + eps = e^t is -e^(a + b t)."""
    return require_equal(
        "log prior at D + eps = e^t, a for th_alpha and b for th_beta",
        lambda: law(sp.exp(_TIME), _SCALE, exponent),
        lambda: -sp.exp(_SCALE + exponent * _TIME),
    )


def favours_far_keys(*, law: Law, exponent: sp.Symbol, smallest: sp.Rational, own: int) -> Evidence:
    """Decide that with this exponent the log prior rises with the distance to 0, from a wall at the query itself.

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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            _formula(law, exponent),
            require_equal(
                "its derivative in t, positive for b < 0",
                lambda: derivative(law(sp.exp(_TIME), _SCALE, exponent), _TIME),
                lambda: rise,
            ),
            f"for b < 0 its limit for t to infinity is {limit}: far keys are alike, whatever their distance",
            f"eps = {smallest}: at th_alpha = 0, th_beta = -1 the query's own key has {at_own}",
        ),
        assumptions=("any th_alpha",),
    )


def normalisable(*, law: Law, block: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Evidence:
    """Decide that the prior's sum over all distances is finite if and only if th_beta > 0.

    `block` is (k L, N b) -> stated bound of c^N/N! times the sum over the 2^k distances from 2^k on, L = log 2.
    """
    level, power, base, surplus = sp.symbols("k N L r", positive=True)
    nonpositive = sp.Symbol("b", nonpositive=True)
    slope = -nonpositive * sp.exp(_SCALE + nonpositive * _TIME)
    if not slope.is_nonnegative:
        raise Refuted(f"b <= 0: the log prior changes with t by {slope}, which may be negative")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            _formula(law),
            require_equal(
                "b <= 0: its derivative in t is not negative, so each term is at least the one at D = 0",
                lambda: derivative(law(sp.exp(_TIME), _SCALE, nonpositive), _TIME),
                lambda: slope,
            ),
            "so T terms sum to at least T times a positive number, which has no bound",
            "b > 0: for y > 0 and whole N, e^y exceeds its term y^N/N!, so e^(-y) < N!/y^N",
            "with c = e^a each of the 2^k distances from 2^k on has the term e^(-c (D + eps)^b) < N!/(c^N 2^(kbN))",
            require_equal(
                "so they sum to less than N!/c^N times 2^k 2^(-kbN), written with 2^k = e^(kL)",
                lambda: sp.exp(level * base) * sp.exp(-power * _EXPONENT * level * base),
                lambda: block(level * base, power * _EXPONENT),
            ),
            require_equal(
                "with N b = 2 + r, r >= 0, which whole N reach, this is at most 2^(-k)",
                lambda: block(level * base, 2 + surplus),
                lambda: sp.exp(-level * base) * sp.exp(-surplus * level * base),
            ),
            "and the sum of 2^(-k) over k is 2, so with the one term at D = 0 the prior's sum is finite",
            "an infinite sum means: at equal content the share of any fixed window falls to 0 as the context grows; a "
            "finite one keeps it above a positive number",
        ),
        assumptions=("equal contents", "mu = 0"),
    )


def gradient(*, law: Law, smallest: sp.Rational, stated: sp.Expr) -> Evidence:
    """Decide the gradient in th_beta, and that it is finite at distance 0.

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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            _formula(law),
            require_equal(
                "its derivative in b is t times itself, with t = log(D + eps)",
                lambda: derivative(law(sp.exp(_TIME), _SCALE, _EXPONENT), _EXPONENT),
                lambda: change,
            ),
            f"at distance 0 t = log eps, a number; at th_alpha = 0, th_beta = -1 the gradient is {value.n(7)}",
        ),
        assumptions=("eps > 0",),
    )


def _plain(distance: sp.Expr, log_scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Log prior at a distance that has eps in it."""
    return biases.bam_power(distance, log_scale=log_scale, exponent=exponent)


CLAIMS = (
    Claim(
        id="bam-6",
        source=SOURCE.at("negative exponents: retrieval heads; the proof is ours"),
        statement="With th_beta < 0 the log prior rises with the distance towards 0, so far keys are alike, and eps = "
        "1e-5 puts the query's own key at -10^5 at th_alpha = 0, th_beta = -1: it is not attended to.",
        latex=r"\theta_\beta<0:\quad\log g\nearrow 0,\qquad\log g(0)=-e^{\theta_\alpha}\varepsilon^{\theta_\beta}",
        label="P",
        check=favours_far_keys,
        holds={
            "law": _plain,
            "exponent": sp.Symbol("b", negative=True),
            "smallest": biases.BAM_RELEASED_SMALLEST,
            "own": -(10**5),
        },
        answers=("own",),
        falsifiers={
            "for th_beta > 0": {"exponent": sp.Symbol("b", positive=True)},
            "for th_beta = 0": {"exponent": sp.S.Zero},
            "with eps = 1": {"smallest": sp.S.One},
            "a bonus, not a penalty": {"law": lambda *at: -_plain(*at)},
        },
    ),
    Claim(
        id="bam-7",
        source=SOURCE.at("priors that are no laws; the uniform prior of Lemma 1 on an infinite past is one"),
        statement="The prior's sum over all distances is finite if and only if th_beta > 0, at every scale. So at "
        "equal content the share of a fixed window falls to 0 with growing context if th_beta <= 0, and only then.",
        latex=r"\sum_{D\ge 0}\exp(-c(D+\varepsilon)^{\beta})<\infty\iff\beta>0\qquad(c>0)",
        label="F",
        check=normalisable,
        holds={
            "law": _plain,
            "block": lambda level, power: sp.exp(level * (1 - power)),
        },
        falsifiers={
            "for the exponent's opposite": {"law": lambda distance, a, b: _plain(distance, a, -b)},
            "for the square of the exponent, so for th_beta = -1/2 too": {
                "law": lambda distance, a, b: _plain(distance, a, b**2)
            },
            "never, by blocks in the plane": {"block": lambda level, power: sp.exp(level * (2 - power))},
        },
    ),
    Claim(
        id="bam-11",
        source=SOURCE.at("the number eps in the released code"),
        statement="The gradient of the log prior in th_beta is the log prior times log(D + eps). At distance 0 only "
        "eps keeps it finite; there it is 10^5 log 10^5 at th_alpha = 0, th_beta = -1, about 1.15 million.",
        latex=r"\partial_{\theta_\beta}\log g=\log g\cdot\log(|x-\mu|+\varepsilon)",
        label="P",
        check=gradient,
        holds={"law": _plain, "smallest": biases.BAM_RELEASED_SMALLEST, "stated": 10**5 * sp.log(10**5)},
        answers=("stated",),
        falsifiers={
            "with eps = 0": {"smallest": sp.S.Zero},
            "with eps = 1": {"smallest": sp.S.One},
            "of the squared distance": {"law": lambda distance, a, b: _plain(distance**2, a, b)},
        },
    ),
)
