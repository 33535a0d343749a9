"""BAM (Bayesian attention mechanism): a learned prior over positions, whose logarithm is the attention bias.

The prior is a generalised Gaussian of the offset of key and query.  Source: Bianchessi, Aguirre, Barros, Kupssinsku,
arXiv 2505.22842, whose theorems are known here by name only; the formulas are those of its released code
(ArthurSBianchessi/BAM) in its last snapshots.  There the logarithm of the prior is left without its normaliser, a
number of the row, which softmax cancels.  Earlier snapshots of the SSMax model have the scale inside the power,
-(e^a |x - mu| + eps)^b, and multiply the content alone by s ln n.  Scalable softmax (SSMax): Nakanishi,
arXiv 2501.19399.
"""

import sympy as sp

from lengthgen.theory.encodings import kerple
from lengthgen.theory.encodings.alibi import SLOPE
from lengthgen.theory.encodings.encoding import (
    DISTANCE_LAWS,
    HEADS,
    LAYERS,
    ONE_LAW,
    Encoding,
    Law,
    Option,
    Parameter,
    Recovery,
)
from lengthgen.theory.relation import absolute, relative

LOG_SCALE, EXPONENT, LOCATION = sp.symbols("th_alpha th_beta th_mu", real=True)
SMALLEST = sp.Symbol("eps", positive=True)
RELEASED_SMALLEST = sp.Rational(1, 10**5)
"""Number eps of the released code.  It keeps negative exponents, and the gradient of the exponent, finite at 0."""
FACTOR = sp.Symbol("s_h", positive=True)


def location(parameter: sp.Expr) -> sp.Expr:
    """Location mu = e^th - e^(-th) of the prior, for its parameter th; 0 at th = 0.  [P, code]"""
    return sp.exp(parameter) - sp.exp(-parameter)


def power(distance: sp.Expr, *, log_scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Log prior -e^th_alpha D^th_beta at the distance D, without eps and location.  [P, code]

    It is -(D / alpha)^beta, the plain generalised Gaussian, at th_beta = beta and e^th_alpha = alpha^(-beta).
    """
    return -sp.exp(log_scale) * distance**exponent


def log_prior(
    offset: sp.Expr,
    *,
    log_scale: sp.Expr,
    exponent: sp.Expr,
    smallest: sp.Expr,
    location: sp.Expr = sp.S.Zero,
) -> sp.Expr:
    """Log prior -e^th_alpha (|x - mu| + eps)^th_beta at the offset x = i - j, key minus query position.  [P, code]

    The code subtracts mu from key minus query, so mu = -c prefers the key c steps before the query.
    """
    return power(abs(offset - location) + smallest, log_scale=log_scale, exponent=exponent)


def temperature(query_position: sp.Expr, *, factor: sp.Expr) -> sp.Expr:
    """Factor s ln n of all logits of a query that sees n = j + 1 keys, j its 0-based position.  [P, code]"""
    return factor * sp.log(query_position + 1)


def posterior(likelihood: sp.Expr, prior: sp.Expr, others: sp.Expr) -> sp.Expr:
    """Posterior e^l g / (sum of e^l' g' over all keys) of a key; `others` is the sum over the other keys.  [P]"""
    return likelihood * prior / (likelihood * prior + others)


def _bias(query_position: sp.Expr, key_position: sp.Expr, _: sp.Expr) -> sp.Expr:
    """Log prior of a key, with location 0."""
    return log_prior(key_position - query_position, log_scale=LOG_SCALE, exponent=EXPONENT, smallest=SMALLEST)


_OPTIONS = {"location": Option(default=False)}
_PARAMETERS = (
    Parameter(symbol=LOG_SCALE, meaning="logarithm of the scale, in every head, shared by all layers", learned=HEADS),
    Parameter(symbol=EXPONENT, meaning="exponent, in every head, shared by all layers", learned=HEADS),
    Parameter(symbol=SMALLEST, meaning="number added to the distance, 1e-5 in the released code"),
)

ENCODING = Encoding(
    name="bam",
    title="BAM",
    arxiv="2505.22842",
    summary="learned power of the distance (BAM)",
    options=_OPTIONS,
    caveat=ONE_LAW,
    parameters=_PARAMETERS,
    bias=_bias,
    relation=relative(),
    laws=DISTANCE_LAWS,
    recovers=(
        Recovery(of="alibi", assignment={LOG_SCALE: sp.log(SLOPE), EXPONENT: sp.Integer(1)}, weights_only=True),
        Recovery(of="nope", assignment={EXPONENT: sp.Integer(0)}, weights_only=True),
        Recovery(
            of="kerple-power",
            assignment={LOG_SCALE: sp.log(kerple.SCALE), EXPONENT: kerple.EXPONENT, SMALLEST: sp.Integer(0)},
            attained=False,
        ),
    ),
)
"""BAM with its location at 0, as released.

With the option `location` the head also learns th_mu, and the bias is that of `log_prior` at `location(th_mu)`.
"""

SSMAX = Encoding(
    name="bam-ssmax",
    title="BAM with SSMax",
    arxiv="2505.22842",
    summary="BAM, sharper with every key seen (SSMax)",
    options=_OPTIONS,
    caveat=ONE_LAW,
    parameters=(
        *_PARAMETERS,
        Parameter(
            symbol=FACTOR,
            meaning="factor of the logits, in every head and layer; it starts at 1, and no bound keeps it positive",
            learned=LAYERS * HEADS,
        ),
    ),
    rotate=lambda position, _: (temperature(position, factor=FACTOR) * sp.eye(2), sp.eye(2)),
    bias=lambda query_position, key_position, length: (
        temperature(query_position, factor=FACTOR) * _bias(query_position, key_position, length)
    ),
    relation=absolute(),
    laws=(Law.STREAMING,),
)
"""BAM with all logits, content and log prior, multiplied by s ln n, for causal attention over n visible keys.

Its relation is absolute: the prior tells distances of one query apart, and the factor ln n tells queries apart, so no
two pairs have one score for the same content.
"""
ENCODINGS = (ENCODING, SSMAX)
