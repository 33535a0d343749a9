"""Cable: the bias is minus a distance that the tokens between the key and the query add up to.

Source: Cable, arXiv 2503.08067.  Its first version and the released code sum softplus of a linear map with an offset
(`cable`).  The text of its third version sums ReLU of a linear map without offset, and multiplies by a gate of the
query (`cable-gated`), by 1 (`cable-nw`), or takes a logarithm (`cable-log`, K-Cable).  Equation 7 of that text prints
the opposite sign (claim cable-2).  The paper's query is at i and its key at j; here j is the query and i the key.  For
keys after the query the paper gives no sign.  The released attention (src/Cable.py) does not divide scores by sqrt(d);
here they are divided, as in all encodings, so keys sqrt(d) times as large give the released weights.  An older file
(Cable.py) divides by the root of the model's width and does not run as it is.
"""

import sympy as sp

from lengthgen.theory.encodings import alibi, fox
from lengthgen.theory.encodings.encoding import (
    DEPENDS_ON_TOKENS,
    HEADS,
    LAYERS,
    ONE_LAW,
    WIDTH,
    Encoding,
    Family,
    Law,
    Parameter,
    Recovery,
)
from lengthgen.theory.encodings.links import softplus

STEPS = sp.IndexedBase("s", positive=True)
RECTIFIED = sp.IndexedBase("r", nonnegative=True)
GATES = sp.IndexedBase("g", positive=True)
_STEP = sp.Symbol("l", integer=True)


def log_gate(logit: sp.Expr) -> sp.Expr:
    """Log gate -softplus(z) = -log(1 + e^z) of the released code, summed along the path.  [P, code]"""
    return -softplus(logit)


def rectified(logit: sp.Expr) -> sp.Expr:
    """Step f = ReLU(z) = max(z, 0) of the third version, with z = w . x and x the input of the layer.  [P]"""
    return sp.Max(logit, 0)


def gate(logit: sp.Expr) -> sp.Expr:
    """Gate g = softplus(z) of the query in the third version, with z = w . x and no offset.  [P]"""
    return softplus(logit)


def distance(steps: sp.IndexedBase, *, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """Distance S_j - S_i = sum of the steps over i < l <= j, as an unevaluated sum.  [P]"""
    return sp.Sum(steps[_STEP], (_STEP, key + 1, query))


def bias(distance_: sp.Expr, *, gate: sp.Expr) -> sp.Expr:
    """Bias -g_j (S_j - S_i).  [F; Equation 7 of the third version prints it without the minus]"""
    return -gate * distance_


def logarithm(distance_: sp.Expr) -> sp.Expr:
    """Bias -log(1 + D^2) of K-Cable, D the distance times the gate.  [P]"""
    return -sp.log(1 + distance_**2)


SILENT = gate(sp.Integer(0))
"""Gate log 2 of every query if w = 0; no other gate is the same for all content.  [F]"""

_RECTIFIED = Parameter(
    symbol=RECTIFIED,
    meaning="`rectified` of w . x, w of the head and layer",
    learned=LAYERS * HEADS * WIDTH,
    family=Family.TOKENS,
    domain=sp.FiniteSet(rectified(sp.Integer(0))),
)
_GATES = Parameter(
    symbol=GATES,
    meaning="`gate` of w . x at the query, w of the head and layer",
    learned=LAYERS * HEADS * WIDTH,
    family=Family.TOKENS,
    domain=sp.FiniteSet(SILENT),
)
_DEAD = Recovery(of="nope", assignment={RECTIFIED: sp.Integer(0)})
_LAWS = (Law.TRANSLATION, Law.NORM, Law.STREAMING)


def _gated_distance(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Distance times the gate of the query."""
    return GATES[query] * distance(RECTIFIED, key=key, query=query)


RELEASED = Encoding(
    name="cable",
    title="Cable",
    arxiv="2503.08067",
    summary="sums of token steps (Cable)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    parameters=(
        Parameter(
            symbol=STEPS,
            meaning="step of each token, minus `log_gate` of w . x + b, w and b of the head and layer",
            learned=LAYERS * HEADS * (WIDTH + 1),
            family=Family.TOKENS,
        ),
    ),
    bias=lambda query_position, key_position, _: bias(
        distance(STEPS, key=key_position, query=query_position), gate=sp.Integer(1)
    ),
    laws=_LAWS,
    recovers=(
        Recovery(of="fox", assignment={STEPS: sp.Lambda(_STEP, -fox.LOG_GATES[_STEP])}),
        Recovery(of="alibi", assignment={STEPS: alibi.SLOPE}),
        Recovery(of="nope", assignment={STEPS: sp.Integer(0)}, attained=False),
    ),
)

GATED = Encoding(
    name="cable-gated",
    title="Cable, gated",
    arxiv="2503.08067",
    summary="sums of token steps, gated by the query (Cable)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    parameters=(_RECTIFIED, _GATES),
    bias=lambda query_position, key_position, _: bias(
        distance(RECTIFIED, key=key_position, query=query_position), gate=GATES[query_position]
    ),
    laws=_LAWS,
    recovers=(
        Recovery(of="cable-nw", assignment={GATES: SILENT, RECTIFIED: sp.Lambda(_STEP, RECTIFIED[_STEP] / SILENT)}),
        _DEAD,
    ),
)

UNGATED = Encoding(
    name="cable-nw",
    title="Cable, without gates",
    arxiv="2503.08067",
    summary="sums of rectified token steps (Cable)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    parameters=(_RECTIFIED,),
    bias=lambda query_position, key_position, _: bias(
        distance(RECTIFIED, key=key_position, query=query_position), gate=sp.Integer(1)
    ),
    laws=_LAWS,
    recovers=(_DEAD,),
)

LOGARITHMIC = Encoding(
    name="cable-log",
    title="K-Cable",
    arxiv="2503.08067",
    aliases=("k-cable",),
    summary="logarithm of sums of token steps (K-Cable)",
    no_relation=DEPENDS_ON_TOKENS,
    caveat=ONE_LAW,
    parameters=(_RECTIFIED, _GATES),
    bias=lambda query_position, key_position, _: logarithm(_gated_distance(query_position, key_position)),
    laws=_LAWS,
    recovers=(_DEAD,),
)
ENCODINGS = (RELEASED, GATED, UNGATED, LOGARITHMIC)
