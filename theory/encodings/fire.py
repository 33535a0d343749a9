"""FIRE: an attention bias that is a learned function of the distance divided by a function of the query position.

Source: Li et al., arXiv 2310.04418.  The paper counts positions from 1; `ENCODING` counts from 0, like the whole
project.  (The listing in the paper counts from 0 in the same formula: the fraction then reaches 1, and is 0/0 at
position 0 if L = 0.)
"""

import numpy as np
import sympy as sp

from lengthgen.theory.encodings import alibi, kerple, t5
from lengthgen.theory.encodings.encoding import HEADS, LAYERS, ONE_LAW, Encoding, Law, Option, Parameter, Recovery
from lengthgen.theory.relation import Labels, Relation, absolute

RATE, THRESHOLD = sp.Symbol("c", positive=True), sp.Symbol("L", positive=True)
LAW = sp.Function("f")
HIDDEN = 32
"""Hidden width of the network f."""


def psi(distance: sp.Expr, *, rate: sp.Expr) -> sp.Expr:
    """Transformed distance log(c x + 1); the paper writes |c|.  [P]"""
    return sp.log(rate * distance + 1)


def fraction(*, distance: sp.Expr, query_position: sp.Expr, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Normalised distance psi(D) / psi(max(j, L)), with the query position j counted from 1.  [P]"""
    return psi(distance, rate=rate) / psi(sp.Max(query_position, threshold), rate=rate)


def recovered_distance(part: sp.Expr, *, threshold: sp.Expr, rate: sp.Expr) -> sp.Expr:
    """Distance (e^(u psi(L)) - 1) / c whose fraction is u, for a query position up to L.  [F]"""
    return (sp.exp(part * psi(threshold, rate=rate)) - 1) / rate


def relation(threshold: int) -> Relation:
    """Relation through which positions act if L is an integer: j - i for j <= L, the pair (i, j) itself for j > L.  [F]

    A key at the position of its query has the fraction 0 at every position, and so always the label 0.
    """

    def law(key: Labels, query: Labels, _: int | None) -> Labels:
        pair = absolute().law(key, query, None)
        return np.where((query <= threshold) | (key == query), query - key, threshold + pair)

    return Relation(name=f"fire-{threshold}", law=law)


_PART = sp.Symbol("u")
_DISTANCE = recovered_distance(_PART, threshold=THRESHOLD, rate=RATE)

ENCODING = Encoding(
    name="fire",
    title="FIRE",
    arxiv="2310.04418",
    summary="distance as a part of the query's position (FIRE)",
    options={
        "rate": Option(default=0.1, least=0, most=1e6),
        "threshold": Option(default=512.0, least=1, most=1e6),
    },
    caveat=ONE_LAW,
    parameters=(
        Parameter(
            symbol=LAW,
            meaning=f"network 1 -> {HIDDEN} -> heads with biases, in every layer",
            learned=LAYERS * (2 * HIDDEN + (HIDDEN + 1) * HEADS),
            network=True,
        ),
        Parameter(symbol=RATE, meaning="rate of the logarithm, in every layer", learned=LAYERS),
        Parameter(symbol=THRESHOLD, meaning="threshold, of which a factor is learned in every layer", learned=LAYERS),
    ),
    bias=lambda query_position, key_position, _: LAW(
        fraction(
            distance=abs(query_position - key_position),
            query_position=query_position + 1,
            threshold=THRESHOLD,
            rate=RATE,
        )
    ),
    relation=absolute(),
    laws=(Law.NORM, Law.STREAMING),
    recovers=(
        Recovery(of="nope", assignment={LAW: sp.Lambda(_PART, 0)}),
        Recovery(
            of="alibi",
            assignment={LAW: sp.Lambda(_PART, alibi.bias(alibi.SLOPE, query_position=_DISTANCE, key_position=0))},
            within=True,
            function=True,
        ),
        Recovery(
            of="kerple-power",
            assignment={LAW: sp.Lambda(_PART, kerple.power(_DISTANCE, scale=kerple.SCALE, exponent=kerple.EXPONENT))},
            within=True,
            function=True,
        ),
        Recovery(
            of="kerple-log",
            assignment={LAW: sp.Lambda(_PART, kerple.logarithm(_DISTANCE, scale=kerple.SCALE, rate=kerple.RATE))},
            within=True,
            function=True,
        ),
        Recovery(
            of="t5",
            assignment={LAW: sp.Lambda(_PART, t5.WEIGHTS[t5.Bucket(_DISTANCE, t5.BUCKETS, t5.LONGEST)])},
            within=True,
            function=True,
        ),
    ),
)
"""FIRE; its relation is that for an unknown L, see `relation`."""
ENCODINGS = (ENCODING,)
