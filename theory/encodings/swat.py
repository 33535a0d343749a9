"""SWAT: the logistic function of each logit in place of softmax, a window, RoPE, and linear biases of both signs.

Source: Fu et al., arXiv 2502.18845.  The weight of key i for query j is sigma((R(j) q . R(i) k) / sqrt(d) + s (j - i))
if i is among the last W tokens up to j, else 0; weights do not sum to 1.  Half of the heads have s < 0, which prefers
near keys as ALiBi does, and half s > 0, which prefers old ones.

The released layers differ [P, code].  The one that calls a sigmoid kernel (fla/layers/swat_attn.py, with the kernel of
FlashSigmoid) is `positive` here: all heads prefer old keys, with slopes 2^(-8h/H) also where H is no power of two.  The
one that the README names (fla/layers/swattn.py) computes softmax, with ALiBi's slopes in a copy of an early revision
and with learned numbers for 1,024 distances in the last.  The balanced slopes are not in use in any of them.
"""

from typing import Literal

import sympy as sp

from lengthgen.theory.encodings import alibi, rotary
from lengthgen.theory.encodings.encoding import ONE_LAW, Encoding, Law, Normaliser, Option, Parameter
from lengthgen.theory.relation import clipped_relative

SLOPE = sp.Symbol("slope", real=True, nonzero=True)
WINDOW = sp.Symbol("W", integer=True, positive=True)

Slopes = Literal["balanced", "negative", "positive"]
SLOPES = ("balanced", "negative", "positive")
"""Signs of the slopes: SWAT(-+), the paper's choice, SWAT(-) and SWAT(+).  [P]"""

_WINDOW = 128
"""Window for which the description of the released code reports its results.  [P, code]"""


def weight(logit: sp.Expr) -> sp.Expr:
    """Weight sigma(l) = 1 / (1 + e^-l) of a key with the logit l.  [P]"""
    return 1 / (1 + sp.exp(-logit))


def slopes(heads: int, kind: Slopes = "balanced") -> tuple[sp.Expr, ...]:
    """Exact slope of each head.

    Balanced: -2^-k for k = 1 .. ceil(H/2), then 2^-k for k = 1 .. floor(H/2).  The paper has an even H [P]; with an odd
    one there is one negative slope more [F].  Negative and positive: ALiBi's slopes with this sign; the released code
    has the positive ones where H is a power of two [P, code].

    Raises:
        ValueError: `heads` is not positive, or `kind` is none of the three.
    """
    if kind not in SLOPES:
        raise ValueError(f"slopes must be {', '.join(SLOPES)}, not {kind!r}")
    if heads <= 0:
        raise ValueError(f"heads must be positive, not {heads}")
    if kind == "balanced":
        sizes = [sp.Rational(1, 2**power) for power in range(1, (heads + 1) // 2 + 1)]
        return (*(-size for size in sizes), *sizes[: heads // 2])
    sign = -1 if kind == "negative" else 1
    return tuple(sign * slope for slope in alibi.slopes(heads))


def bias(slope: sp.Expr, *, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias s (j - i), with j the query and i the key position: that of ALiBi with the slope -s.  [P]"""
    return alibi.bias(-slope, query_position=query_position, key_position=key_position)


def receptive_field(*, window: sp.Expr, layers: sp.Expr) -> sp.Expr:
    """Number 1 + (W - 1) L of tokens, itself included, on which the output of a token depends after L layers.  [P]"""
    return 1 + (window - 1) * layers


ENCODING = Encoding(
    name="swat",
    title="SWAT",
    arxiv="2502.18845",
    summary="rotary and linear, sigmoid weights, window (SWAT)",
    options={
        "slopes": Option(default="balanced", words=SLOPES),
        "window": Option(default=_WINDOW, least=1, most=10**9),
        "base": rotary.BASE,
    },
    caveat=f"{ONE_LAW}; keys as many tokens back as the window, or more, share a label and have no weight",
    planes="head",
    parameters=(
        Parameter(symbol=rotary.FREQUENCY, meaning="angle of the plane in one step, from `rotary.frequencies`"),
        Parameter(symbol=SLOPE, meaning="slope of the head, from `slopes`"),
        Parameter(symbol=WINDOW, meaning="number of keys that a query sees, itself included"),
    ),
    rotate=rotary.ENCODING.rotate,
    bias=lambda query_position, key_position, _: bias(SLOPE, query_position=query_position, key_position=key_position),
    normaliser=Normaliser.SIGMOID,
    window=WINDOW,
    relation=clipped_relative(_WINDOW),
    relation_of=lambda circuit, window, **_: clipped_relative(window),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.NORM, Law.STREAMING),
)
ENCODINGS = (ENCODING,)
