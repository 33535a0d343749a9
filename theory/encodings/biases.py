"""Biases: a number of the positions that is added to the score of a query and a key.

ALiBi, KERPLE and BAM are functions of the distance, T5 and FIRE are learned ones, and graph ALiBi counts the hops
between two nodes of a graph.  Biases that are sums over the tokens between key and query are in `paths`, and those
that GRAPE reads as a group action in `grape`.
"""

from dataclasses import replace

import numpy as np
import sympy as sp

from lengthgen.theory.encodings.encoding import (
    DISTANCE_LAWS,
    HEADS,
    LAYERS,
    ONE_LAW,
    Encoding,
    Family,
    Law,
    Option,
    Parameter,
    Properties,
    Recovery,
    table_start,
)
from lengthgen.theory.relation import Labels, Relation, absolute, relative, t5_buckets

ALIBI_SLOPE = sp.Symbol("m", positive=True)


def alibi_slopes(heads: int) -> tuple[sp.Expr, ...]:
    """Exact slope of each head.

    For a power of two, m_h = 2^(-8h/H), h = 1 .. H.  Otherwise the slopes of the largest power of two below H, then
    every second slope of twice that power, until there are H slopes (the rule of the released code).  [P]

    Raises:
        ValueError: `heads` is not positive.
    """
    if heads <= 0:
        raise ValueError(f"heads must be positive, not {heads}")
    power = 1 << (heads.bit_length() - 1)
    between = _geometric_slopes(2 * power)[::2]
    return _geometric_slopes(power) + between[: heads - power]


def alibi_bias(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias -m (j - i), with j the query and i the key position, i <= j.  [P]"""
    return -slope * (query_position - key_position)


def _geometric_slopes(heads: int) -> tuple[sp.Expr, ...]:
    """Slopes 2^(-8h/H), h = 1 .. H."""
    return tuple(sp.Integer(2) ** sp.Rational(-8 * head, heads) for head in range(1, heads + 1))


ALIBI = Encoding(
    name="alibi",
    title="ALiBi",
    arxiv="2108.12409",
    summary="linear in the distance (ALiBi)",
    caveat=ONE_LAW,
    parameters=(Parameter(ALIBI_SLOPE, "slope of the head, from `alibi_slopes`"),),
    bias=lambda query_position, key_position, _: alibi_bias(
        ALIBI_SLOPE, query_position=abs(query_position - key_position), key_position=sp.Integer(0)
    ),
    relation=relative(),
    laws=DISTANCE_LAWS,
    properties=Properties(far="falls exponentially", bounded=False, width="2"),
)
"""ALiBi.

Source: Press, Smith, Lewis, arXiv 2108.12409; `grape.alibi_generator` has its bias as a group action.
"""


KERPLE_SCALE, KERPLE_EXPONENT, KERPLE_RATE = (
    sp.Symbol("r1", positive=True),
    sp.Symbol("p", positive=True),
    sp.Symbol("r2", positive=True),
)
KERPLE_EXPONENTS = sp.Interval.Lopen(0, 2)
"""Exponents for which the power kernel is conditionally positive definite.  [P]"""


def kerple_power(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Power bias -r1 D^p, with 0 < p <= 2.  [P]"""
    return -scale * distance**exponent


def kerple_logarithm(distance: sp.Expr, *, scale: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Logarithmic bias -r1 log(1 + r2 D).  [P]"""
    return -scale * sp.log(1 + rate * distance)


KERPLE_POWER = Encoding(
    name="kerple-power",
    title="Kerple (power)",
    arxiv="2205.09921",
    summary="power of the distance (Kerple)",
    caveat=ONE_LAW,
    parameters=(
        Parameter(KERPLE_SCALE, "scale, in every head", learned=HEADS),
        Parameter(KERPLE_EXPONENT, "exponent, in every head", learned=HEADS, domain=KERPLE_EXPONENTS),
    ),
    bias=lambda query_position, key_position, _: kerple_power(
        abs(query_position - key_position), scale=KERPLE_SCALE, exponent=KERPLE_EXPONENT
    ),
    relation=relative(),
    laws=DISTANCE_LAWS,
    properties=Properties(
        far="0 < p < 1: falls slower than exponentially, faster than any power; p = 1: falls exponentially; "
        "1 < p <= 2: falls faster than exponentially",
        bounded=False,
        width="p = 1: 2; p = 2: 3; other p: none",
    ),
    recovers=(
        Recovery("alibi", {KERPLE_SCALE: ALIBI_SLOPE, KERPLE_EXPONENT: sp.Integer(1)}),
        Recovery("nope", {KERPLE_SCALE: sp.Integer(0)}, attained=False),
    ),
)
"""KERPLE with the power kernel, which is conditionally positive definite.

Source: Chi, Fan, Ramadge, Rudnicky, arXiv 2205.09921.  Its released code decides which numbers are learned, and that
all layers share them.
"""

KERPLE_LOG = replace(
    KERPLE_POWER,
    name="kerple-log",
    title="Kerple (log)",
    aliases=("kerple",),
    summary="logarithm of the distance (Kerple)",
    parameters=(KERPLE_POWER.parameters[0], Parameter(KERPLE_RATE, "rate, in every head", learned=HEADS)),
    bias=lambda query_position, key_position, _: kerple_logarithm(
        abs(query_position - key_position), scale=KERPLE_SCALE, rate=KERPLE_RATE
    ),
    properties=Properties(far="falls like a power", bounded=False, width="none"),
    recovers=KERPLE_POWER.recovers[1:],
)


BAM_LOG_SCALE, BAM_EXPONENT, BAM_LOCATION = sp.symbols("th_alpha th_beta th_mu", real=True)
BAM_SMALLEST = sp.Symbol("eps", positive=True)
BAM_RELEASED_SMALLEST = sp.Rational(1, 10**5)
"""Number eps of the released code.  It keeps negative exponents, and the gradient of the exponent, finite at 0."""
BAM_FACTOR = sp.Symbol("s_h", positive=True)


def bam_location(parameter: sp.Expr) -> sp.Expr:
    """Location mu = e^th - e^(-th) of the prior, for its parameter th; 0 at th = 0.  [P, code]"""
    return sp.exp(parameter) - sp.exp(-parameter)


def bam_power(distance: sp.Expr, *, log_scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """Log prior -e^th_alpha D^th_beta at the distance D, without eps and location.  [P, code]

    It is -(D / alpha)^beta, the plain generalised Gaussian, at th_beta = beta and e^th_alpha = alpha^(-beta).
    """
    return -sp.exp(log_scale) * distance**exponent


def bam_log_prior(
    offset: sp.Expr, *, log_scale: sp.Expr, exponent: sp.Expr, smallest: sp.Expr, location: sp.Expr = sp.S.Zero
) -> sp.Expr:
    """Log prior -e^th_alpha (|x - mu| + eps)^th_beta at the offset x = i - j, key minus query position.  [P, code]

    The code subtracts mu from key minus query, so mu = -c prefers the key c steps before the query.
    """
    return bam_power(abs(offset - location) + smallest, log_scale=log_scale, exponent=exponent)


def bam_temperature(query_position: sp.Expr, *, factor: sp.Expr) -> sp.Expr:
    """Factor s ln n of all logits of a query that sees n = j + 1 keys, j its 0-based position.  [P, code]"""
    return factor * sp.log(query_position + 1)


def bam_posterior(likelihood: sp.Expr, prior: sp.Expr, others: sp.Expr) -> sp.Expr:
    """Posterior e^l g / (sum of e^l' g' over all keys) of a key; `others` is the sum over the other keys.  [P]"""
    return likelihood * prior / (likelihood * prior + others)


def _bam_bias(query_position: sp.Expr, key_position: sp.Expr, _: sp.Expr) -> sp.Expr:
    """Log prior of a key, with location 0."""
    return bam_log_prior(
        key_position - query_position, log_scale=BAM_LOG_SCALE, exponent=BAM_EXPONENT, smallest=BAM_SMALLEST
    )


BAM = Encoding(
    name="bam",
    title="BAM",
    arxiv="2505.22842",
    summary="learned power of the distance (BAM)",
    options={"location": Option(default=False)},
    caveat=ONE_LAW,
    parameters=(
        Parameter(BAM_LOG_SCALE, "logarithm of the scale, in every head, shared by all layers", learned=HEADS),
        Parameter(BAM_EXPONENT, "exponent, in every head, shared by all layers", learned=HEADS),
        Parameter(BAM_SMALLEST, "number added to the distance, 1e-5 in the released code"),
    ),
    bias=_bam_bias,
    relation=relative(),
    laws=DISTANCE_LAWS,
    properties=Properties(
        far="th_beta < 0: constant; th_beta = 0: constant; 0 < th_beta < 1: falls slower than exponentially, faster "
        "than any power; th_beta = 1: falls exponentially; th_beta > 1: falls faster than exponentially",
        bounded=False,
        width="th_beta = 0, 1, 2, ...: th_beta + 1; other th_beta: none",
    ),
    recovers=(
        Recovery("alibi", {BAM_LOG_SCALE: sp.log(ALIBI_SLOPE), BAM_EXPONENT: sp.Integer(1)}, weights_only=True),
        Recovery("nope", {BAM_EXPONENT: sp.Integer(0)}, weights_only=True),
        Recovery(
            "kerple-power",
            {BAM_LOG_SCALE: sp.log(KERPLE_SCALE), BAM_EXPONENT: KERPLE_EXPONENT, BAM_SMALLEST: sp.Integer(0)},
            attained=False,
        ),
    ),
)
"""BAM (Bayesian attention mechanism) with its location at 0, as released: the bias is the logarithm of a learned prior.

With the option `location` the head also learns th_mu, and the bias is that of `bam_log_prior` at `bam_location(th_mu)`.
The prior is a generalised Gaussian of the offset of key and query.  Source: Bianchessi, Aguirre, Barros, Kupssinsku,
arXiv 2505.22842, whose theorems are known here by name only; the formulas are those of its released code
(ArthurSBianchessi/BAM) in its last snapshots.  There the logarithm of the prior is left without its normaliser, a
number of the row, which softmax cancels.
"""

BAM_SSMAX = replace(
    BAM,
    name="bam-ssmax",
    title="BAM with SSMax",
    summary="BAM, sharper with every key seen (SSMax)",
    parameters=(
        *BAM.parameters,
        Parameter(
            BAM_FACTOR,
            "factor of the logits, in every head and layer; it starts at 1, and no bound keeps it positive",
            learned=LAYERS * HEADS,
        ),
    ),
    rotate=lambda position, _: (bam_temperature(position, factor=BAM_FACTOR) * sp.eye(2), sp.eye(2)),
    bias=lambda query_position, key_position, length: (
        bam_temperature(query_position, factor=BAM_FACTOR) * _bam_bias(query_position, key_position, length)
    ),
    relation=absolute(),
    laws=(Law.STREAMING,),
    recovers=(),
)
"""BAM with all logits, content and log prior, multiplied by s ln n, for causal attention over n visible keys.

Scalable softmax (SSMax): Nakanishi, arXiv 2501.19399.  Its relation is absolute: the prior tells distances of one query
apart, and the factor ln n tells queries apart, so no two pairs have one score for the same content.
"""


T5_BUCKETS, T5_LONGEST = 32, 128
"""Values of the released models: number of buckets, and the distance from which on all distances share the last."""
T5_WEIGHTS = sp.IndexedBase("w")


class Bucket(sp.Function):  # type: ignore[misc]  # sympy has no types
    """Bucket(D, buckets, longest): bucket of a distance D >= 0, numbered as in `t5_buckets` of theory/relation.py.  [P]

    It is a number if D is a number, or is known to be at least `longest`; otherwise it stays unevaluated.
    """

    @classmethod
    def eval(cls, distance: sp.Expr, buckets: sp.Integer, longest: sp.Integer) -> sp.Integer | None:
        """Number of the bucket, or None to stay unevaluated."""
        clipped = sp.Min(distance, longest)
        if not clipped.is_Integer:
            return None
        relation = t5_buckets(int(buckets), int(longest))
        return sp.Integer(relation.label(np.array([1]), np.array([1 + int(clipped)]))[0])


def t5_bucket(offset: sp.Expr) -> sp.Expr:
    """Bucket of the causal model: that of D = j - i; a key after the query has the bucket of 0.  [P]"""
    return Bucket(sp.Max(offset, 0), T5_BUCKETS, T5_LONGEST)


def t5_bidirectional_bucket(offset: sp.Expr) -> sp.Expr:
    """Bucket of the bidirectional model.

    Half of the buckets serve D = j - i >= 0, by D; the other half serve a key after the query, by -D.  [P]
    """
    half = T5_BUCKETS // 2
    return Bucket(abs(offset), half, T5_LONGEST) + sp.Piecewise((0, offset >= 0), (half, True))


T5 = Encoding(
    name="t5",
    title="T5 bias",
    arxiv="1910.10683",
    summary="relative, in buckets (T5)",
    options={
        "buckets": Option(default=32, least=2, most=1_024),
        "longest": Option(default=128, least=2, most=100_000),
        **table_start(0.02),
    },
    relation_of=lambda circuit, buckets, longest: t5_buckets(buckets, longest),
    parameters=(Parameter(T5_WEIGHTS, "bias of each bucket, in every head", learned=T5_BUCKETS * HEADS),),
    bias=lambda query_position, key_position, _: T5_WEIGHTS[t5_bucket(query_position - key_position)],
    relation=t5_buckets(T5_BUCKETS, T5_LONGEST),
    laws=DISTANCE_LAWS,
    properties=Properties(far="constant", width="none"),
    recovers=(Recovery("nope", {T5_WEIGHTS: sp.Integer(0)}),),
)
"""T5 bias of the decoder, causal: small distances have buckets of their own, large ones share.

Source: Raffel et al., arXiv 1910.10683, section 2.1; the rule of the buckets is that of its published code.  T5 also
omits the division by sqrt(d), which is not part of the bias.
"""

T5_BIDIRECTIONAL = replace(
    T5,
    name="t5-bidirectional",
    title="T5 bias (bidirectional)",
    summary="relative, in buckets of both sides (T5)",
    relation_of=lambda circuit, buckets, longest: t5_buckets(buckets // 2, longest),
    bias=lambda query_position, key_position, _: T5_WEIGHTS[t5_bidirectional_bucket(query_position - key_position)],
    relation=t5_buckets(T5_BUCKETS // 2, T5_LONGEST),
    properties=Properties(far="constant", width="none"),
)
"""T5 bias of the encoder; its relation covers keys up to the query."""


FIRE_RATE, FIRE_THRESHOLD = sp.Symbol("c", positive=True), sp.Symbol("L", positive=True)
FIRE_LAW = sp.Function("f")
FIRE_HIDDEN = 32
"""Hidden width of the network f."""


def fire_psi(distance: sp.Expr, *, rate: sp.Expr) -> sp.Expr:
    """Transformed distance log(c x + 1); the paper writes |c|.  [P]"""
    return sp.log(rate * distance + 1)


def fire_fraction(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Normalised distance psi(D) / psi(max(j, L)), with the query position j counted from 1.  [P]"""
    return fire_psi(distance, rate=rate) / fire_psi(sp.Max(query_position, threshold), rate=rate)


def fire_distance(part: sp.Expr, *, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Distance (e^(u psi(L)) - 1) / c whose fraction is u, for a query position up to L.  [F]"""
    return (sp.exp(part * fire_psi(threshold, rate=rate)) - 1) / rate


def fire_relation(threshold: int) -> Relation:
    """Relation through which positions act if L is an integer: j - i for j <= L, the pair (i, j) itself for j > L.  [F]

    A key at the position of its query has the fraction 0 at every position, and so always the label 0.
    """

    def law(key: Labels, query: Labels, _: int | None) -> Labels:
        pair = absolute().law(key, query, None)
        return np.where((query <= threshold) | (key == query), query - key, threshold + pair)

    return Relation(name=f"fire-{threshold}", law=law)


_FIRE_PART = sp.Symbol("u")
_FIRE_DISTANCE = fire_distance(_FIRE_PART, threshold=FIRE_THRESHOLD, rate=FIRE_RATE)

FIRE = Encoding(
    name="fire",
    title="FIRE",
    arxiv="2310.04418",
    summary="distance as a part of the query's position (FIRE)",
    options={"rate": Option(default=0.1, least=0, most=1e6), "threshold": Option(default=512.0, least=1, most=1e6)},
    caveat=ONE_LAW,
    parameters=(
        Parameter(
            FIRE_LAW,
            f"network 1 -> {FIRE_HIDDEN} -> heads with biases, in every layer",
            learned=LAYERS * (2 * FIRE_HIDDEN + (FIRE_HIDDEN + 1) * HEADS),
            network=True,
        ),
        Parameter(FIRE_RATE, "rate of the logarithm, in every layer", learned=LAYERS),
        Parameter(FIRE_THRESHOLD, "threshold, of which a factor is learned in every layer", learned=LAYERS),
    ),
    bias=lambda query_position, key_position, _: FIRE_LAW(
        fire_fraction(
            distance=abs(query_position - key_position),
            query_position=query_position + 1,
            threshold=FIRE_THRESHOLD,
            rate=FIRE_RATE,
        )
    ),
    relation=absolute(),
    laws=(Law.NORM, Law.STREAMING),
    properties=Properties(far="constant", causal_only=True, width="none", learned=LAYERS * (33 * HEADS + 66)),
    recovers=(
        Recovery("nope", {FIRE_LAW: sp.Lambda(_FIRE_PART, 0)}),
        Recovery(
            "alibi",
            {FIRE_LAW: sp.Lambda(_FIRE_PART, alibi_bias(ALIBI_SLOPE, query_position=_FIRE_DISTANCE, key_position=0))},
            within=True,
            function=True,
        ),
        Recovery(
            "kerple-power",
            {
                FIRE_LAW: sp.Lambda(
                    _FIRE_PART, kerple_power(_FIRE_DISTANCE, scale=KERPLE_SCALE, exponent=KERPLE_EXPONENT)
                )
            },
            within=True,
            function=True,
        ),
        Recovery(
            "kerple-log",
            {FIRE_LAW: sp.Lambda(_FIRE_PART, kerple_logarithm(_FIRE_DISTANCE, scale=KERPLE_SCALE, rate=KERPLE_RATE))},
            within=True,
            function=True,
        ),
        Recovery(
            "t5",
            {FIRE_LAW: sp.Lambda(_FIRE_PART, T5_WEIGHTS[Bucket(_FIRE_DISTANCE, T5_BUCKETS, T5_LONGEST)])},
            within=True,
            function=True,
        ),
    ),
)
"""FIRE: a learned function of the distance divided by a function of the query position.

Its relation is that for an unknown L, see `fire_relation`.  Source: Li et al., arXiv 2310.04418.  The paper counts
positions from 1; here they count from 0, like in the whole project.
"""


HOPS = sp.IndexedBase("hops", integer=True, nonnegative=True)
"""Distances: HOPS[u, v, n] is the length of a shortest path between the nodes u and v of a graph of n nodes."""
_NODE, _OTHER_NODE, _NODES = sp.symbols("u v n_", integer=True, nonnegative=True)
PATH_HOPS = sp.Lambda((_NODE, _OTHER_NODE, _NODES), abs(_NODE - _OTHER_NODE))
"""Distances in a path whose nodes are numbered along it."""


def graph_alibi_bias(slope: sp.Expr, *, hops: sp.Expr) -> sp.Expr:
    """Bias -m d_G(u, v), with d_G(u, v) = `hops`.  [P]"""
    return -slope * hops


GRAPH_ALIBI = Encoding(
    name="graph-alibi",
    title="Graph ALiBi",
    arxiv="2506.19834",
    summary="linear in the hops of a graph (graph ALiBi)",
    caveat=ONE_LAW,
    no_relation="its labels are distances in a graph that is given with the tokens, and a task gives none",
    parameters=(
        Parameter(ALIBI_SLOPE, "slope of the head, from `alibi_slopes`"),
        Parameter(HOPS, "hops between two nodes of the graph, symmetric", family=Family.STRUCTURE),
    ),
    bias=lambda query_position, key_position, length: graph_alibi_bias(
        ALIBI_SLOPE, hops=HOPS[query_position, key_position, length]
    ),
    causal=False,
    laws=(Law.TRANSLATION, Law.NORM, Law.RELABELLING),
    properties=Properties(far="falls exponentially", bounded=False, width="none"),
    recovers=(Recovery("alibi", {HOPS: PATH_HOPS}),),
)
"""Graph ALiBi: the bias falls linearly with the number of hops between two nodes of a graph.

The tokens are the nodes, for example the atoms of a molecule, and attention is bidirectional.  Source: Gurev and
Rumbell, S23D, arXiv 2506.19834.  Only its abstract and notes on it were within reach: the slopes are ALiBi's, and nodes
of different components do not attend to each other [F].
"""

ENCODINGS = (T5, T5_BIDIRECTIONAL, ALIBI, KERPLE_POWER, KERPLE_LOG, BAM, BAM_SSMAX, FIRE, GRAPH_ALIBI)
