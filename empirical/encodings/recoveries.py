"""Exact recoveries in torch: an encoding whose parameters are set so that it equals another encoding."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from lengthgen.empirical.encodings.agreement import module_logits
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.biases import BAM, FIRE, KERPLE_SMALLEST, T5, ALiBi, GraphALiBi, KerplePower
from lengthgen.empirical.encodings.grape import Grape, GrapeAdditive, GrapeCommuting, GrapeContextual, GrapePath
from lengthgen.empirical.encodings.paths import BiasOnlyFoX, Cable, FoX, GatedCable, LogarithmicCable, UngatedCable
from lengthgen.empirical.encodings.rotary import DynamicNTK, NTKAware, PositionInterpolation, Rotary, XPos, YaRN
from lengthgen.empirical.encodings.seqpe import SeqPEBias
from lengthgen.theory.encodings.catalogue import named

HEADS, HEAD_DIM, WIDTH = 4, 6, 24
POSITIONS = (0, 1, 2, 5, 31, 32, 1000, 10**5)
"""Positions of the compared tokens."""
TOLERANCE = 1e-10
"""Largest accepted difference of a logit in float64: the largest bias here, 25 000, is accurate to 4e-12."""

Pair = tuple[PositionEncoding, PositionEncoding]


def _with_parameters(encoding: PositionEncoding, **values: Tensor | float) -> PositionEncoding:
    """Return the encoding in float64 with these values of its parameters."""
    encoding = encoding.double()
    with torch.no_grad():
        for name, value in values.items():
            parameter = encoding.get_parameter(name)
            parameter.copy_(torch.as_tensor(value, dtype=torch.float64).expand_as(parameter))
    return encoding


def _slopes() -> Tensor:
    """ALiBi's slopes, float64 [HEADS]."""
    return torch.tensor(ALiBi(heads=HEADS).slopes, dtype=torch.float64)


def _constant_gates() -> Pair:
    """FoX with gates log sigma(b) = -m, that is b = -log(e^m - 1)."""
    return _with_parameters(
        FoX(width=WIDTH, heads=HEADS, layers=1), weight=0.0, offset=-_slopes().expm1().log()
    ), _alibi()


def _constant_learned_gates() -> Pair:
    """Bias-only FoX with the gates of `_constant_gates`."""
    return _with_parameters(BiasOnlyFoX(heads=HEADS, layers=1), logits=-_slopes().expm1().log()), _alibi()


def _constant_steps() -> Pair:
    """Cable with steps softplus(b) = m, that is b = log(e^m - 1)."""
    return _with_parameters(_cable(Cable), weight=0.0, offset=_slopes().expm1().log()), _alibi()


def _minus_the_logits() -> Pair:
    """Cable(-w, -b) for FoX(w, b)."""
    weight, offset = _drawn(WIDTH), _drawn(1)[:, 0]
    special = _with_parameters(FoX(width=WIDTH, heads=HEADS, layers=1), weight=weight, offset=offset)
    return _with_parameters(_cable(Cable), weight=-weight, offset=-offset), special


def _silent_gates() -> Pair:
    """Gated Cable with gates log 2 and weights divided by it, for Cable without gates."""
    weight = _drawn(WIDTH)
    special = _with_parameters(_cable(UngatedCable), weight=weight)
    return _with_parameters(_cable(GatedCable), weight=weight / math.log(2), gate_weight=0.0), special


def _cable(make: Callable[..., PositionEncoding]) -> PositionEncoding:
    """Cable of one layer."""
    return make(width=WIDTH, heads=HEADS, layers=1)


def _dead_steps(make: Callable[..., PositionEncoding]) -> Pair:
    """Cable with steps ReLU(0) = 0 at every token."""
    return _with_parameters(_cable(make), weight=0.0), PositionEncoding()


def _drawn(columns: int) -> Tensor:
    """Numbers of each head drawn from N(0, 1), float64 [HEADS, columns]."""
    return torch.randn(HEADS, columns, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def _linear_kernel() -> Pair:
    """KERPLE with p = 1.  Its released bound r1 >= 0.01 excludes ALiBi's smallest slope, which is therefore raised.

    That slope is 2^-8 for any number of heads.
    """
    alibi = _alibi()
    alibi.slopes = tuple(max(slope, KERPLE_SMALLEST) for slope in alibi.slopes)
    scale = torch.tensor(alibi.slopes, dtype=torch.float64)
    return _with_parameters(KerplePower(heads=HEADS), scale=scale, exponent=1.0), alibi


def _silent_path() -> Pair:
    """GRAPE-AP with probes 0: every edge is m log sigma(0) = -m log 2."""
    alibi = _alibi()
    alibi.slopes = tuple(slope * math.log(2) for slope in alibi.slopes)
    return _with_parameters(GrapePath(heads=HEADS, width=WIDTH, layers=1), probes=0.0), alibi


def _alibi() -> ALiBi:
    """ALiBi for HEADS heads."""
    return ALiBi(heads=HEADS)


def _rope() -> Rotary:
    """RoPE for the head width HEAD_DIM."""
    return Rotary(head_dim=HEAD_DIM)


RECOVERIES: dict[tuple[str, str], Callable[[], Pair]] = {
    ("t5", "nope"): lambda: (_with_parameters(T5(heads=HEADS), weights=0.0), PositionEncoding()),
    ("t5-bidirectional", "nope"): lambda: (
        _with_parameters(T5(heads=HEADS, bidirectional=True), weights=0.0),
        PositionEncoding(),
    ),
    ("kerple-power", "alibi"): _linear_kernel,
    ("bam", "alibi"): lambda: (_with_parameters(BAM(heads=HEADS), log_scale=_slopes().log(), exponent=1.0), _alibi()),
    ("bam", "nope"): lambda: (_with_parameters(BAM(heads=HEADS), exponent=0.0), PositionEncoding()),
    ("seqpe", "nope"): lambda: (
        _with_parameters(
            SeqPEBias(heads=HEADS, width=WIDTH, digits=6), **{"query_key.weight": 0.0, "query_key.bias": 0.0}
        ),
        PositionEncoding(),
    ),
    ("fire", "nope"): lambda: (
        _with_parameters(FIRE(heads=HEADS, layers=1), **{"laws.0.outer.weight": 0.0, "laws.0.outer.bias": 0.0}),
        PositionEncoding(),
    ),
    ("xpos", "rope"): lambda: (XPos(head_dim=HEAD_DIM, scale_base=1e300), _rope()),
    ("interpolation", "rope"): lambda: (PositionInterpolation(head_dim=HEAD_DIM, scale=1.0), _rope()),
    ("ntk", "rope"): lambda: (NTKAware(head_dim=HEAD_DIM, scale=1.0), _rope()),
    ("dynamic-ntk", "rope"): lambda: (DynamicNTK(head_dim=HEAD_DIM, trained_length=POSITIONS[-1] + 1), _rope()),
    ("yarn", "rope"): lambda: (YaRN(head_dim=HEAD_DIM, trained_length=4096, scale=1.0), _rope()),
    ("grape", "nope"): lambda: (_with_parameters(Grape(heads=HEADS, head_dim=HEAD_DIM), a=0.0), PositionEncoding()),
    ("grape-commuting", "rope"): lambda: (GrapeCommuting(heads=HEADS, head_dim=HEAD_DIM), _rope()),
    ("grape-contextual", "rope"): lambda: (GrapeContextual(width=WIDTH, head_dim=HEAD_DIM, layers=1), _rope()),
    ("grape-additive", "alibi"): lambda: (GrapeAdditive(heads=HEADS), _alibi()),
    ("grape-path", "alibi"): _silent_path,
    ("fox", "alibi"): _constant_gates,
    ("fox-bias-only", "alibi"): _constant_learned_gates,
    ("cable", "fox"): _minus_the_logits,
    ("cable", "alibi"): _constant_steps,
    ("cable-gated", "cable-nw"): _silent_gates,
    ("cable-gated", "nope"): lambda: _dead_steps(GatedCable),
    ("cable-nw", "nope"): lambda: _dead_steps(UngatedCable),
    ("cable-log", "nope"): lambda: _dead_steps(LogarithmicCable),
    ("graph-alibi", "alibi"): lambda: (GraphALiBi(heads=HEADS), _alibi()),
}
"""(general encoding, special encoding) -> function that makes both, with parameters that make them equal.

Encodings that sum along the tokens are equal only if positions are the tokens' indices: see `PATHS`.
"""
PATHS = {
    ("grape-path", "alibi"),
    ("fox", "alibi"),
    ("fox-bias-only", "alibi"),
    ("grape-contextual", "rope"),
    ("cable", "alibi"),
}
"""Pairs compared at the positions 0, 1, 2, ..."""


def token_positions(by: str, of: str) -> tuple[int, ...]:
    """Positions of the tokens whose logits are compared."""
    return tuple(range(len(POSITIONS))) if (by, of) in PATHS else POSITIONS


def difference(by: str, of: str) -> float:
    """Largest difference of two logits over all pairs of tokens, keys not after queries, in float64.

    If only the weights are to be equal, each query's logits are compared after that of its first key is subtracted.
    """
    positions = token_positions(by, of)
    general, special = (encoding.double() for encoding in RECOVERIES[by, of]())
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, len(positions), WIDTH, dtype=torch.float64, generator=generator)
    q, k = torch.randn(2, 1, HEADS, len(positions), HEAD_DIM, dtype=torch.float64, generator=generator)
    position_tensor = torch.tensor([*positions])
    with torch.no_grad():
        differences = module_logits(general, x, q, k, position_tensor) - module_logits(
            special, x, q, k, position_tensor
        )
    if any(recovery.weights_only for recovery in named(by).recovers if recovery.of == of):
        differences = differences - differences[..., :1]
    return float(differences.tril().abs().max())
