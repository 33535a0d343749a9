"""Exact recoveries on the torch side: one encoding, with its parameters set, against the one that it becomes."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from empirical.encodings.alibi import ALiBi
from empirical.encodings.base import Content, PositionEncoding
from empirical.encodings.fire import FIRE
from empirical.encodings.fox import BiasOnlyFoX, FoX
from empirical.encodings.grape import Grape
from empirical.encodings.grape_additive import GrapeAdditive
from empirical.encodings.grape_commuting import GrapeCommuting
from empirical.encodings.grape_contextual import GrapeContextual
from empirical.encodings.grape_path import GrapePath
from empirical.encodings.interpolation import PositionInterpolation
from empirical.encodings.kerple import SMALLEST, KerplePower
from empirical.encodings.ntk import DynamicNTK, NTKAware
from empirical.encodings.rotary import Rotary
from empirical.encodings.t5 import T5
from empirical.encodings.xpos import XPos
from empirical.encodings.yarn import YaRN

HEADS, HEAD_DIM, WIDTH = 4, 6, 24
POSITIONS = (0, 1, 2, 5, 31, 32, 1000, 10**5)
"""Of the tokens that are compared."""
TOLERANCE = 1e-10
"""Of a logit, in float64: the largest bias here, 25 000, is known to 4e-12."""

Pair = tuple[PositionEncoding, PositionEncoding]


def _set(encoding: PositionEncoding, **values: Tensor | float) -> PositionEncoding:
    """The encoding in float64 with these values for its parameters."""
    encoding = encoding.double()
    with torch.no_grad():
        for name, value in values.items():
            parameter = encoding.get_parameter(name)
            parameter.copy_(torch.as_tensor(value, dtype=torch.float64).expand_as(parameter))
    return encoding


def _slopes() -> Tensor:
    return torch.tensor(ALiBi(heads=HEADS).slopes, dtype=torch.float64)


def _constant_gates() -> Pair:
    """log sigma(b) = -m where b = -log(e^m - 1)."""
    return _set(FoX(width=WIDTH, heads=HEADS, layers=1), weight=0.0, offset=-_slopes().expm1().log()), _alibi()


def _constant_learned_gates() -> Pair:
    return _set(BiasOnlyFoX(heads=HEADS, layers=1), logits=-_slopes().expm1().log()), _alibi()


def _linear_kernel() -> Pair:
    """The released bound r1 >= 0.01 leaves out ALiBi's gentlest slope, 2^-8 for any number of heads: it is raised."""
    special = _alibi()
    special.slopes = tuple(max(slope, SMALLEST) for slope in special.slopes)
    scale = torch.tensor(special.slopes, dtype=torch.float64)
    return _set(KerplePower(heads=HEADS), scale=scale, exponent=1.0), special


def _silent_path() -> Pair:
    """Without probes every edge is m log sigma(0) = -m log 2."""
    special = _alibi()
    special.slopes = tuple(slope * math.log(2) for slope in special.slopes)
    return _set(GrapePath(heads=HEADS, width=WIDTH, layers=1), probes=0.0), special


def _alibi() -> ALiBi:
    """ALiBi for these heads."""
    return ALiBi(heads=HEADS)


def _rope() -> Rotary:
    """RoPE for this head width."""
    return Rotary(head_dim=HEAD_DIM)


TWINS: dict[tuple[str, str], Callable[[], Pair]] = {
    ("t5", "nope"): lambda: (_set(T5(heads=HEADS), weights=0.0), PositionEncoding()),
    ("t5-bidirectional", "nope"): lambda: (_set(T5(heads=HEADS, bidirectional=True), weights=0.0), PositionEncoding()),
    ("kerple-power", "alibi"): _linear_kernel,
    ("fire", "nope"): lambda: (
        _set(FIRE(heads=HEADS, layers=1), **{"laws.0.outer.weight": 0.0, "laws.0.outer.bias": 0.0}),
        PositionEncoding(),
    ),
    ("xpos", "rope"): lambda: (XPos(head_dim=HEAD_DIM, scale_base=1e300), _rope()),
    ("interpolation", "rope"): lambda: (PositionInterpolation(head_dim=HEAD_DIM, scale=1.0), _rope()),
    ("ntk", "rope"): lambda: (NTKAware(head_dim=HEAD_DIM, scale=1.0), _rope()),
    ("dynamic-ntk", "rope"): lambda: (DynamicNTK(head_dim=HEAD_DIM, trained_length=POSITIONS[-1] + 1), _rope()),
    ("yarn", "rope"): lambda: (YaRN(head_dim=HEAD_DIM, trained_length=4096, scale=1.0), _rope()),
    ("grape", "nope"): lambda: (_set(Grape(heads=HEADS, head_dim=HEAD_DIM), a=0.0), PositionEncoding()),
    ("grape-commuting", "rope"): lambda: (GrapeCommuting(heads=HEADS, head_dim=HEAD_DIM), _rope()),
    ("grape-contextual", "rope"): lambda: (GrapeContextual(width=WIDTH, head_dim=HEAD_DIM, layers=1), _rope()),
    ("grape-additive", "alibi"): lambda: (GrapeAdditive(heads=HEADS), _alibi()),
    ("grape-path", "alibi"): _silent_path,
    ("fox", "alibi"): _constant_gates,
    ("fox-bias-only", "alibi"): _constant_learned_gates,
}
"""(the general encoding, the special one) -> both, with parameters that make them equal.

Laws of the path through tokens are recovered where positions are the tokens' places: `PATHS`.
"""
PATHS = {("grape-path", "alibi"), ("fox", "alibi"), ("fox-bias-only", "alibi"), ("grape-contextual", "rope")}


def compared(by: str, of: str) -> tuple[int, ...]:
    """The positions of the tokens whose logits are compared."""
    return tuple(range(len(POSITIONS))) if (by, of) in PATHS else POSITIONS


def difference(by: str, of: str) -> float:
    """The largest difference of two logits over all pairs of tokens, keys not after queries, in float64."""
    positions = compared(by, of)
    general, special = (one.double() for one in TWINS[by, of]())
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, len(positions), WIDTH, dtype=torch.float64, generator=generator)
    q, k = torch.randn(2, 1, HEADS, len(positions), HEAD_DIM, dtype=torch.float64, generator=generator)
    at = torch.tensor([*positions])
    with torch.no_grad():
        apart = _logits(general, x, q, k, at) - _logits(special, x, q, k, at)
    return float(apart.tril().abs().max())


def _logits(encoding: PositionEncoding, x: Tensor, q: Tensor, k: Tensor, positions: Tensor) -> Tensor:
    """[1, H, J, I]: scores over sqrt(C), plus the bias."""
    content = Content(x_BLD=x, q_BHJC=q, k_BHIC=k)
    bias = encoding.bias(positions, positions, content, dtype=torch.float64)
    turned_q, turned_k = encoding.rotate(q, k, positions, content)
    logits: Tensor = encoding.scores(turned_q, turned_k, positions, positions) / HEAD_DIM**0.5
    return logits if bias is None else logits + bias
