"""Biases that are sums over the tokens on the path from the key to the query, of gates or steps computed from them.

Source: FoX (Forgetting Transformer), Lin et al., arXiv 2503.02130, and its released code where it is named; Cable,
arXiv 2503.08067.  The papers write the query at i and the key at j; here j is the query and i the key.
"""

from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import (
    DEPENDS_ON_TOKENS,
    DISTANCE_LAWS,
    HEADS,
    LAYERS,
    ONE_LAW,
    WIDTH,
    Encoding,
    Family,
    Law,
    Option,
    Parameter,
    Properties,
    Recovery,
)
from lengthgen.theory.relation import relative


def log_sigmoid(logit: sp.Expr) -> sp.Expr:
    """Log sigmoid log sigma(z) = -log(1 + e^-z)."""
    return -sp.log(1 + sp.exp(-logit))


def softplus(logit: sp.Expr) -> sp.Expr:
    """Softplus log(1 + e^z) = -log sigma(-z)."""
    return -log_sigmoid(-logit)


LOG_GATES = sp.IndexedBase("log_f", negative=True)
FOX_LOGIT = sp.Symbol("b", real=True)
FOX_TIMESCALE = sp.Symbol("T", positive=True)
_STEP = sp.Symbol("l", integer=True)


def fox_log_gate(logit: sp.Expr) -> sp.Expr:
    """Log forget gate log f = log sigma(z) = -log(1 + e^(-z)), with z = w . x + b and x the input of the layer.  [P]"""
    return log_sigmoid(logit)


def fox_gate(logit: sp.Expr) -> sp.Expr:
    """Forget gate f = sigma(z) = e^z / (1 + e^z).  [P]"""
    return sp.exp(logit) / (1 + sp.exp(logit))


def fox_bias(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """Bias D_ij = sum of log f_l over i < l <= j, as an unevaluated sum in `LOG_GATES`.  [P]"""
    return sp.Sum(LOG_GATES[_STEP], (_STEP, key + 1, query))


def fox_path_gate(*, key: sp.Expr, query: sp.Expr) -> sp.Product:
    """Forget factor F_ij = product of f_l = exp(log f_l) over i < l <= j, as an unevaluated product.  [P]"""
    return sp.Product(sp.exp(LOG_GATES[_STEP]), (_STEP, key + 1, query))


def fox_constant_bias(gate: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias D_ij = (j - i) log f, for one log gate at all positions.  [P]"""
    return gate * (query_position - key_position)


def fox_timescale_logit(timescale: sp.Expr) -> sp.Expr:
    """Logit b = -log(e^(1/T) - 1), for which the gate is e^(-1/T).  [P, code]"""
    return -sp.log(sp.exp(1 / timescale) - 1)


def fox_timescales(heads: int, *, shortest: sp.Expr, longest: sp.Expr) -> tuple[sp.Expr, ...]:
    """Timescale T of each head, in equal steps of log T from the shortest to the longest.  [P, code]"""
    steps = max(heads - 1, 1)
    return tuple(shortest * (longest / shortest) ** sp.Rational(head, steps) for head in range(heads))


def fox_state(state: sp.Expr, *, gate: sp.Expr, written: sp.Expr) -> sp.Expr:
    """State S_t = f_t S_(t-1) + w_t of linear attention with a forget gate, w_t = v_t phi(k_t)^T or phi(k_t).  [P]"""
    return gate * state + written


def fox_pruning_threshold(*, bound: sp.Expr, keys: sp.Expr, mass: sp.Expr) -> sp.Expr:
    """Threshold delta = -(2U + log T) + log eps: keys with D_ij < delta have total weight at most eps.  [P, code]

    U bounds |q.k| / sqrt(d), T is the number of keys.
    """
    return -(2 * bound + sp.log(keys)) + sp.log(mass)


_EXPONENTIAL = Properties(far="falls exponentially", bounded=False, causal_only=True, width="2")


FOX = Encoding(
    name="fox",
    title="FoX",
    arxiv="2503.02130",
    aliases=("forgetting-transformer",),
    summary="products of forget gates (FoX)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    parameters=(
        Parameter(
            LOG_GATES,
            "log gate of each token, `fox_log_gate` of w . x + b, w and b of the head and layer",
            learned=LAYERS * HEADS * (WIDTH + 1),
            family=Family.TOKENS,
        ),
    ),
    bias=lambda query_position, key_position, _: fox_bias(key=key_position, query=query_position),
    laws=(Law.TRANSLATION, Law.NORM, Law.STREAMING),
    properties=_EXPONENTIAL,
    recovers=(
        Recovery("alibi", {LOG_GATES: -biases.ALIBI_SLOPE}),
        Recovery("nope", {LOG_GATES: sp.Integer(0)}, attained=False),
    ),
)
"""FoX: the bias is the sum of the log forget gates.

The gate type "none" of the released code has no gates: it is NoPE.
"""


def _constant_gate(logit: sp.Expr) -> Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]:
    """Bias of gates that do not depend on the tokens."""
    return lambda query_position, key_position, _: fox_constant_bias(
        fox_log_gate(logit), query_position=query_position, key_position=key_position
    )


FOX_BIAS_ONLY = replace(
    FOX,
    name="fox-bias-only",
    title="FoX, gates without data",
    aliases=(),
    summary="exponential in the distance, learned (FoX)",
    no_relation="",
    parameters=(Parameter(FOX_LOGIT, "logit of the gate of the head and layer", learned=LAYERS * HEADS),),
    bias=_constant_gate(FOX_LOGIT),
    relation=relative(),
    laws=DISTANCE_LAWS,
    recovers=(
        Recovery("alibi", {FOX_LOGIT: fox_timescale_logit(1 / biases.ALIBI_SLOPE)}),
        Recovery("nope", {FOX_LOGIT: sp.oo}, attained=False),
    ),
)

FOX_FIXED = replace(
    FOX_BIAS_ONLY,
    name="fox-fixed",
    title="FoX, fixed gates",
    summary="exponential in the distance (FoX)",
    options={
        "shortest": Option(default=2.0, least=1e-3, most=1e12),
        "longest": Option(default=2048.0, least=1e-3, most=1e12),
    },
    parameters=(Parameter(FOX_TIMESCALE, "timescale of the head, from `fox_timescales`"),),
    bias=_constant_gate(fox_timescale_logit(FOX_TIMESCALE)),
    recovers=(
        Recovery("alibi", {FOX_TIMESCALE: 1 / biases.ALIBI_SLOPE}),
        Recovery("nope", {FOX_TIMESCALE: sp.oo}, attained=False),
    ),
)


CABLE_STEPS = sp.IndexedBase("s", positive=True)
CABLE_RECTIFIED = sp.IndexedBase("r", nonnegative=True)
CABLE_GATES = sp.IndexedBase("g", positive=True)


def cable_log_gate(logit: sp.Expr) -> sp.Expr:
    """Log gate -softplus(z) = -log(1 + e^z) of the released code, summed along the path.  [P, code]"""
    return -softplus(logit)


def cable_rectified(logit: sp.Expr) -> sp.Expr:
    """Step f = ReLU(z) = max(z, 0) of the third version, with z = w . x and x the input of the layer.  [P]"""
    return sp.Max(logit, 0)


def cable_gate(logit: sp.Expr) -> sp.Expr:
    """Gate g = softplus(z) of the query in the third version, with z = w . x and no offset.  [P]"""
    return softplus(logit)


def cable_distance(steps: sp.IndexedBase, *, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """Distance S_j - S_i = sum of the steps over i < l <= j, as an unevaluated sum.  [P]"""
    return sp.Sum(steps[_STEP], (_STEP, key + 1, query))


def cable_bias(distance_: sp.Expr, *, gate: sp.Expr) -> sp.Expr:
    """Bias -g_j (S_j - S_i).  [F; Equation 7 of the third version prints it without the minus]"""
    return -gate * distance_


def cable_logarithm(distance_: sp.Expr) -> sp.Expr:
    """Bias -log(1 + D^2) of K-Cable, D the distance times the gate.  [P]"""
    return -sp.log(1 + distance_**2)


CABLE_SILENT = cable_gate(sp.Integer(0))
"""Gate log 2 of every query if w = 0; no other gate is the same for all content.  [F]"""


CABLE = Encoding(
    name="cable",
    title="Cable",
    arxiv="2503.08067",
    summary="sums of token steps (Cable)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    parameters=(
        Parameter(
            CABLE_STEPS,
            "step of each token, minus `cable_log_gate` of w . x + b, w and b of the head and layer",
            learned=LAYERS * HEADS * (WIDTH + 1),
            family=Family.TOKENS,
        ),
    ),
    bias=lambda query_position, key_position, _: cable_bias(
        cable_distance(CABLE_STEPS, key=key_position, query=query_position), gate=sp.Integer(1)
    ),
    laws=(Law.TRANSLATION, Law.NORM, Law.STREAMING),
    properties=_EXPONENTIAL,
    recovers=(
        Recovery("fox", {CABLE_STEPS: sp.Lambda(_STEP, -LOG_GATES[_STEP])}),
        Recovery("alibi", {CABLE_STEPS: biases.ALIBI_SLOPE}),
        Recovery("nope", {CABLE_STEPS: sp.Integer(0)}, attained=False),
    ),
)
"""Cable as in its first version and its released code: the steps are softplus of a linear map with an offset.

The text of its third version sums ReLU of a linear map without offset, and multiplies by a gate of the query
(`CABLE_GATED`), by 1 (`CABLE_UNGATED`), or takes a logarithm (`CABLE_LOGARITHMIC`, K-Cable).  Equation 7 of that text
prints the opposite sign (claim cable-2).  For keys after the query the paper gives no sign.  The released attention
does not divide scores by sqrt(d); here they are divided, as in all encodings.
"""

CABLE_UNGATED = replace(
    CABLE,
    name="cable-nw",
    title="Cable, without gates",
    summary="sums of rectified token steps (Cable)",
    parameters=(
        Parameter(
            CABLE_RECTIFIED,
            "`cable_rectified` of w . x, w of the head and layer",
            learned=LAYERS * HEADS * WIDTH,
            family=Family.TOKENS,
            domain=sp.FiniteSet(cable_rectified(sp.Integer(0))),
        ),
    ),
    bias=lambda query_position, key_position, _: cable_bias(
        cable_distance(CABLE_RECTIFIED, key=key_position, query=query_position), gate=sp.Integer(1)
    ),
    properties=Properties(
        far="r > 0: falls exponentially; r = 0: constant", bounded=False, causal_only=True, width="2"
    ),
    recovers=(Recovery("nope", {CABLE_RECTIFIED: sp.Integer(0)}),),
)

CABLE_GATED = replace(
    CABLE_UNGATED,
    name="cable-gated",
    title="Cable, gated",
    summary="sums of token steps, gated by the query (Cable)",
    parameters=(
        *CABLE_UNGATED.parameters,
        Parameter(
            CABLE_GATES,
            "`cable_gate` of w . x at the query, w of the head and layer",
            learned=LAYERS * HEADS * WIDTH,
            family=Family.TOKENS,
            domain=sp.FiniteSet(CABLE_SILENT),
        ),
    ),
    bias=lambda query_position, key_position, _: cable_bias(
        cable_distance(CABLE_RECTIFIED, key=key_position, query=query_position), gate=CABLE_GATES[query_position]
    ),
    recovers=(
        Recovery(
            "cable-nw",
            {CABLE_GATES: CABLE_SILENT, CABLE_RECTIFIED: sp.Lambda(_STEP, CABLE_RECTIFIED[_STEP] / CABLE_SILENT)},
        ),
        *CABLE_UNGATED.recovers,
    ),
)

CABLE_LOGARITHMIC = replace(
    CABLE_GATED,
    name="cable-log",
    title="K-Cable",
    aliases=("k-cable",),
    summary="logarithm of sums of token steps (K-Cable)",
    bias=lambda query_position, key_position, _: cable_logarithm(
        CABLE_GATES[query_position] * cable_distance(CABLE_RECTIFIED, key=key_position, query=query_position)
    ),
    properties=Properties(far="r > 0: falls like a power; r = 0: constant", bounded=False, width="none"),
    recovers=CABLE_UNGATED.recovers,
)

ENCODINGS = (FOX, FOX_BIAS_ONLY, FOX_FIXED, CABLE, CABLE_GATED, CABLE_UNGATED, CABLE_LOGARITHMIC)
