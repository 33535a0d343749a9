"""Sharpening in PRISM lowers the entropy of a histogram."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.identity import derivative, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.prism import SOURCE, noisy_gates
from lengthgen.theory.encodings import prism

Path = Callable[[Sequence[sp.Expr], sp.Expr], list[sp.Expr]]


def _entropy(masses: Sequence[sp.Expr]) -> sp.Expr:
    """Entropy of a histogram, as a number with 30 digits."""
    return sp.N(-sp.Add(*(mass * sp.log(mass) for mass in masses if mass != 0)), 30)


def _mean(polynomial: sp.Expr, variable: sp.Symbol, moments: Mapping[int, sp.Expr]) -> sp.Expr:
    """Mean of a polynomial in a random variable with these moments."""
    terms = sp.Poly(sp.expand(polynomial), variable).as_dict()
    return sp.Add(*(coefficient * moments[degree] for (degree,), coefficient in terms.items()))


def _noisy_path(mixture: Sequence[sp.Expr], tokens: int) -> list[sp.Expr]:
    """Histogram after some tokens that increment or keep with equal probability."""
    histogram = list(mixture)
    for _ in range(tokens):
        histogram = prism.step(histogram, noisy_gates(sp.Rational(1, 2)), sp.S.One)
    return histogram


def _sharpened(mixture: Sequence[sp.Expr], exponent: sp.Expr) -> list[sp.Expr]:
    """Sharpening of the encoding."""
    return prism.sharpened(mixture, exponent)


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "prism-3",
    "",
    r"\tfrac{d}{d\gamma}H(h_\gamma)=-\gamma\operatorname{Var}_{h_\gamma}(\log n)\le 0",
    assumptions=("gamma > 0", "the sum is over positions with a positive mass"),
    falsifiers={
        "along the tokens": {"path": lambda mixture, tokens: _noisy_path(mixture, int(tokens))},
        "roots in place of powers": {"path": lambda mixture, exponent: prism.sharpened(mixture, 1 / exponent)},
    },
)
def entropy_falls(path: Path = _sharpened) -> Facts:
    """The entropy of the sharpened histogram does not grow with gamma, and falls unless all positive masses are equal;
    its slope is -gamma times the variance of the log mass (our reconstruction).

    Decide that the entropy of `path(mixture, gamma)` does not grow with gamma.

    The slope is -gamma times the variance of the logarithm of a mass n_k under the masses n_k^gamma.
    """
    mixtures = [[sp.Rational(part, sum(parts)) for part in parts] for parts in ((1, 0, 0), (3, 2, 1), (2, 2, 1))]
    for mixture in mixtures:
        entropies = [_entropy(path(mixture, sp.Integer(exponent))) for exponent in (1, 2, 3)]
        for exponent, (before, after) in enumerate(pairwise(entropies), 1):
            if after > before:
                raise Refuted(
                    f"from {', '.join(map(str, mixture))} the entropy grows from {sp.N(before, 6)} at {exponent} to "
                    f"{sp.N(after, 6)} at {exponent + 1}"
                )
    exponent, *logs = sp.symbols("gamma x:3", real=True)
    masses = path([sp.exp(value) for value in logs], exponent)
    mean = sp.Add(*(mass * value for mass, value in zip(masses, logs, strict=True)))
    power, total, log, other, first, second, log_total = sp.symbols("w Z x y m s L", real=True)
    slope = -(log - first) * (exponent * log - log_total + 1)  # of -h log h, divided by h; log h = gamma x - log Z
    yield (
        "slope of the mass h_k, P = 3: h_k (x_k - m), with x = log n and its mean m under h",
        derivative(sp.Matrix(masses), exponent),
        sp.Matrix([mass * (value - mean) for mass, value in zip(masses, logs, strict=True)]),
    )
    yield (
        "for every P, by the slopes x w of a power w = n^gamma and m Z of the total Z: the same",
        lambda: (log * power * total - power * first * total) / total**2,
        lambda: power / total * (log - first),
    )
    yield (
        "summed over k, with the mean m and the mean s of x^2: the slope of the entropy",
        _mean(slope, log, {0: sp.S.One, 1: first, 2: second}),
        -exponent * (second - first**2),
    )
    yield same_by_sympy(
        "s - m^2 is half the mean of (x - y)^2 over independent x, y, so not negative",
        _mean(_mean((log - other) ** 2 / 2, log, {0: 1, 1: first, 2: second}), other, {0: 1, 1: first, 2: second}),
        second - first**2,
    )
    yield same_by_sympy(
        "power of the ratio 1/(1 + d) of a smaller mass to a larger, as gamma grows",
        sp.limit((1 + sp.Symbol("d", positive=True)) ** -exponent, exponent, sp.oo),
        sp.S.Zero,
    )
    yield "the slope is 0 only if all positive masses are equal; in the limit the largest masses are left, all equal"
