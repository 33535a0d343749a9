"""Softmax over many independent logits spreads out (appendix A of SWAT says that it becomes sparse)."""

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.swat import SOURCE

OfLogLength = Callable[[sp.Expr, sp.Expr], sp.Expr]
"""Function of the spread s of the logits and of n = log L, the logarithm of their number."""

_SCALE = sp.Symbol("s", positive=True)
_LOG = sp.Symbol("n", positive=True)
_LENGTHS = (10**3, 10**5)


def _largest_weight(length: int, scale: float) -> float:
    """Largest softmax weight of the L quantiles (k - 1/2)/L of N(0, s^2)."""
    normal = NormalDist()
    logits = scale * np.array([normal.inv_cdf((number + 0.5) / length) for number in range(length)])
    return float(1 / np.exp(logits - logits[-1]).sum())


CLAIMS = PaperClaims(SOURCE)


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
