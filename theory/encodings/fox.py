"""FoX (Forgetting Transformer): the bias is the sum of the log forget gates between the key and the query.

Source: Lin et al., Forgetting Transformer, arXiv 2503.02130, and the released code where it is named; as a group
action: GRAPE, arXiv 2512.07805.  Both papers write the query at i and the key at j; here j is the query and i the key.
The gate type "none" of the code has no gates: it is NoPE.
"""

from collections.abc import Mapping

import sympy as sp

from lengthgen.theory.encodings import alibi, grape_additive
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
    Recovery,
)
from lengthgen.theory.relation import relative

LOG_GATES = sp.IndexedBase("log_f", negative=True)
LOGIT = sp.Symbol("b", real=True)
TIMESCALE = sp.Symbol("T", positive=True)
_STEP = sp.Symbol("l", integer=True)


def log_gate(logit: sp.Expr) -> sp.Expr:
    """Log forget gate log f = log sigma(z) = -log(1 + e^(-z)), with z = w . x + b and x the input of the layer.  [P]"""
    return -sp.log(1 + sp.exp(-logit))


def gate(logit: sp.Expr) -> sp.Expr:
    """Forget gate f = sigma(z) = e^z / (1 + e^z).  [P]"""
    return sp.exp(logit) / (1 + sp.exp(logit))


def path_bias(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """Bias D_ij = sum of log f_l over i < l <= j, as an unevaluated sum in `LOG_GATES`.  [P]"""
    return sp.Sum(LOG_GATES[_STEP], (_STEP, key + 1, query))


def path_gate(*, key: sp.Expr, query: sp.Expr) -> sp.Product:
    """Forget factor F_ij = product of f_l = exp(log f_l) over i < l <= j, as an unevaluated product.  [P]"""
    return sp.Product(sp.exp(LOG_GATES[_STEP]), (_STEP, key + 1, query))


def constant_bias(gate: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias D_ij = (j - i) log f, for one log gate at all positions.  [P]"""
    return gate * (query_position - key_position)


def timescale_logit(timescale: sp.Expr) -> sp.Expr:
    """Logit b = -log(e^(1/T) - 1), for which the gate is e^(-1/T).  [P, code]"""
    return -sp.log(sp.exp(1 / timescale) - 1)


def timescales(heads: int, *, shortest: sp.Expr, longest: sp.Expr) -> tuple[sp.Expr, ...]:
    """Timescale T of each head, in equal steps of log T from the shortest to the longest.  [P, code]"""
    steps = max(heads - 1, 1)
    return tuple(shortest * (longest / shortest) ** sp.Rational(head, steps) for head in range(heads))


def recurrent_state(state: sp.Expr, *, gate: sp.Expr, written: sp.Expr) -> sp.Expr:
    """State S_t = f_t S_(t-1) + w_t of linear attention with a forget gate, w_t = v_t phi(k_t)^T or phi(k_t).  [P]"""
    return gate * state + written


def link(*, log_gate: sp.Expr) -> sp.Matrix:
    """Unipotent factor I - psi E of one step of the path, psi = log f.  [P, GRAPE; its Appendix C prints +]"""
    return grape_additive.unipotent(grape_additive.nilpotent(), -log_gate)


def pruning_threshold(*, bound: sp.Expr, keys: sp.Expr, mass: sp.Expr) -> sp.Expr:
    """Threshold delta = -(2U + log T) + log eps: keys with D_ij < delta have total weight at most eps.  [P, code]

    U bounds |q.k| / sqrt(d), T is the number of keys.
    """
    return -(2 * bound + sp.log(keys)) + sp.log(mass)


def _constant_gate(
    name: str,
    title: str,
    summary: str,
    parameter: Parameter,
    logit: sp.Expr,
    *,
    alibi_value: sp.Expr,
    nope_value: sp.Expr,
    options: Mapping[str, Option] | None = None,
) -> Encoding:
    """Variant of FoX whose gates do not depend on the tokens."""
    return Encoding(
        name=name,
        title=title,
        arxiv="2503.02130",
        summary=summary,
        options=options or {},
        caveat=ONE_LAW,
        parameters=(parameter,),
        bias=lambda query_position, key_position, _: constant_bias(
            log_gate(logit), query_position=query_position, key_position=key_position
        ),
        relation=relative(),
        laws=DISTANCE_LAWS,
        recovers=(
            Recovery(of="alibi", assignment={parameter.symbol: alibi_value}),
            Recovery(of="nope", assignment={parameter.symbol: nope_value}, attained=False),
        ),
    )


ENCODING = Encoding(
    name="fox",
    title="FoX",
    arxiv="2503.02130",
    aliases=("forgetting-transformer",),
    summary="products of forget gates (FoX)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    parameters=(
        Parameter(
            symbol=LOG_GATES,
            meaning="log gate of each token, `log_gate` of w . x + b, w and b of the head and layer",
            learned=LAYERS * HEADS * (WIDTH + 1),
            family=Family.TOKENS,
        ),
    ),
    bias=lambda query_position, key_position, _: path_bias(key=key_position, query=query_position),
    laws=(Law.TRANSLATION, Law.NORM, Law.STREAMING),
    recovers=(
        Recovery(of="alibi", assignment={LOG_GATES: -alibi.SLOPE}),
        Recovery(of="nope", assignment={LOG_GATES: sp.Integer(0)}, attained=False),
    ),
)

BIAS_ONLY = _constant_gate(
    "fox-bias-only",
    "FoX, gates without data",
    "exponential in the distance, learned (FoX)",
    Parameter(symbol=LOGIT, meaning="logit of the gate of the head and layer", learned=LAYERS * HEADS),
    LOGIT,
    alibi_value=timescale_logit(1 / alibi.SLOPE),
    nope_value=sp.oo,
)

FIXED = _constant_gate(
    "fox-fixed",
    "FoX, fixed gates",
    "exponential in the distance (FoX)",
    Parameter(symbol=TIMESCALE, meaning="timescale of the head, from `timescales`"),
    timescale_logit(TIMESCALE),
    alibi_value=1 / alibi.SLOPE,
    nope_value=sp.oo,
    options={
        "shortest": Option(default=2.0, least=1e-3, most=1e12),
        "longest": Option(default=2048.0, least=1e-3, most=1e12),
    },
)
ENCODINGS = (ENCODING, BIAS_ONLY, FIXED)
