"""Encodings of a user's own: by formulas, one that differs from its formulas, and a relation alone."""

import sympy as sp
import torch

from lengthgen import (
    DISTANCE_LAWS,
    HEADS,
    Encoding,
    Law,
    PairBias,
    Parameter,
    Recovery,
    encoding_named,
    relation_from_function,
    relative,
)

c = sp.Symbol("c", positive=True)
SLOPE = encoding_named("alibi").parameters[0].symbol


class RootBias(PairBias):
    """-c_h sqrt(j - i), with one trained number c_h for each head."""

    def __init__(self, *, heads):
        super().__init__(heads=heads)
        self.rates = torch.nn.Parameter(torch.linspace(0.1, 1, heads))

    def law(self, head, query_position, key_position, dtype):
        distance = (query_position - key_position).abs().to(dtype)
        return -self.rates.to(dtype)[head] * distance.sqrt()


root = Encoding(
    name="root",
    title="root of the distance",
    parameters=(Parameter(symbol=c, meaning="rate of the head", learned=HEADS),),
    bias=lambda j, i, n: -c * sp.sqrt(abs(j - i)),
    relation=relative(),
    laws=DISTANCE_LAWS,
    recovers=(Recovery(of="nope", assignment={c: sp.Integer(0)}, attained=False),),
    module=RootBias,
    values=lambda module, head, plane: {c: module.rates[head].item()},
)
squared = Encoding(
    name="squared",
    title="squared positions",
    parameters=(Parameter(symbol=c, meaning="rate"),),
    bias=lambda j, i, n: -c * (j**2 - i**2),
    laws=(Law.RELATIVE, Law.STREAMING),
    recovers=(Recovery(of="alibi", assignment={c: SLOPE}),),
)


class Thirds:
    """Distance modulo three."""

    relation = relation_from_function(lambda i, j: (j - i) % 3, name="thirds")
