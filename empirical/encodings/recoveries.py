"""Exact recoveries in torch: an encoding whose parameters are set so that it equals another encoding."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from lengthgen.empirical.encodings.agreement import module_logits
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.biases import KERPLE_SMALLEST, alibi_slopes
from lengthgen.theory.encodings import catalogue

HEADS, HEAD_DIM, WIDTH = 4, 6, 24
POSITIONS = (0, 1, 2, 5, 31, 32, 1000, 10**5)
"""Positions of the compared tokens."""
TOLERANCE = 1e-10
"""Largest accepted difference of a logit in float64: the largest bias here, 25 000, is accurate to 4e-12."""

Number = float | Tensor
SLOPES = torch.tensor(alibi_slopes(HEADS), dtype=torch.float64)
"""ALiBi's slopes m, float64 [H].  A gate or step with them is log sigma(b) = -m or softplus(b) = m."""
_GATE_LOGITS = -SLOPES.expm1().log()
_WEIGHT = torch.randn(HEADS, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """Parameters with which one module equals another.

    Attributes:
        parameters: values of the general module's parameters, by name.
        options: options of the general module.
        of: values of the special module's parameters.
        slopes: slopes that the special module has in place of ALiBi's.
        along_tokens: True if the encoding sums along the tokens, so that it is equal only at the positions 0, 1, 2, ...
    """

    parameters: Mapping[str, Number] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    of: Mapping[str, Number] = field(default_factory=dict)
    slopes: Tensor | None = None
    along_tokens: bool = False


def _made(name: str, parameters: Mapping[str, Number], options: Mapping[str, Any]) -> Any:
    """Return the named module in float64 with these values of its parameters."""
    from lengthgen.empirical.encodings.modules import named  # which imports all modules of this package

    length = POSITIONS[-1] + 1
    encoding = named(name, heads=HEADS, head_dim=HEAD_DIM, length=length, **options).double()
    with torch.no_grad():
        for path, value in parameters.items():
            parameter = encoding.get_parameter(path)
            parameter.copy_(torch.as_tensor(value, dtype=torch.float64).expand_as(parameter))
    return encoding


# KERPLE's released bound r1 >= 0.01 excludes ALiBi's smallest slope, 2^-8 for any number of heads: it is raised.
_RAISED = SLOPES.clamp(min=KERPLE_SMALLEST)
_NO_STEPS = Recovery(parameters={"weight": 0.0})
_PLAIN = Recovery()
RECOVERIES: dict[tuple[str, str], Recovery] = {
    ("t5", "nope"): Recovery(parameters={"weights": 0.0}),
    ("t5-bidirectional", "nope"): Recovery(parameters={"weights": 0.0}),
    ("kerple-power", "alibi"): Recovery(parameters={"scale": _RAISED, "exponent": 1.0}, slopes=_RAISED),
    ("bam", "alibi"): Recovery(parameters={"log_scale": SLOPES.log(), "exponent": 1.0}),
    ("bam", "nope"): Recovery(parameters={"exponent": 0.0}),
    ("seqpe", "nope"): Recovery(parameters={"query_key.weight": 0.0, "query_key.bias": 0.0}, options={"digits": 6}),
    ("fire", "nope"): Recovery(parameters={"laws.0.outer.weight": 0.0, "laws.0.outer.bias": 0.0}),
    ("xpos", "rope"): Recovery(options={"scale_base": 1e300}),
    ("interpolation", "rope"): Recovery(options={"scale": 1.0}),
    ("ntk", "rope"): Recovery(options={"scale": 1.0}),
    ("dynamic-ntk", "rope"): _PLAIN,
    ("yarn", "rope"): Recovery(options={"scale": 1.0}),
    ("grape", "nope"): Recovery(parameters={"a": 0.0}),
    ("grape-commuting", "rope"): _PLAIN,
    ("grape-contextual", "rope"): Recovery(along_tokens=True),
    ("grape-additive", "alibi"): _PLAIN,
    # Every edge is m log sigma(0) = -m log 2.
    ("grape-path", "alibi"): Recovery(parameters={"probes": 0.0}, slopes=SLOPES * math.log(2), along_tokens=True),
    ("fox", "alibi"): Recovery(parameters={"weight": 0.0, "offset": _GATE_LOGITS}, along_tokens=True),
    ("fox-bias-only", "alibi"): Recovery(parameters={"logits": _GATE_LOGITS}, along_tokens=True),
    ("cable", "fox"): Recovery(
        parameters={"weight": -_WEIGHT, "offset": -_WEIGHT[:, 0]}, of={"weight": _WEIGHT, "offset": _WEIGHT[:, 0]}
    ),
    ("cable", "alibi"): Recovery(parameters={"weight": 0.0, "offset": -_GATE_LOGITS}, along_tokens=True),
    # Every gate is log 2.
    ("cable-gated", "cable-nw"): Recovery(
        parameters={"weight": _WEIGHT / math.log(2), "gate_weight": 0.0}, of={"weight": _WEIGHT}
    ),
    ("cable-gated", "nope"): _NO_STEPS,
    ("cable-nw", "nope"): _NO_STEPS,
    ("cable-log", "nope"): _NO_STEPS,
    ("graph-alibi", "alibi"): _PLAIN,
}
"""(general encoding, special encoding) -> parameters that make them equal."""


def modules_of(by: str, of: str) -> tuple[PositionEncoding, PositionEncoding]:
    """Return the general and the special module of a pair."""
    recovery = RECOVERIES[by, of]
    special = _made(of, recovery.of, {})
    if recovery.slopes is not None:
        special.slopes = tuple(recovery.slopes.tolist())
    return _made(by, recovery.parameters, recovery.options), special


def token_positions(by: str, of: str) -> tuple[int, ...]:
    """Positions of the tokens whose logits are compared."""
    return tuple(range(len(POSITIONS))) if RECOVERIES[by, of].along_tokens else POSITIONS


def difference(by: str, of: str) -> float:
    """Largest difference of two logits over all pairs of tokens, keys not after queries, in float64.

    If only the weights are to be equal, each query's logits are compared after that of its first key is subtracted.
    """
    positions = torch.tensor(token_positions(by, of))
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, len(positions), WIDTH, dtype=torch.float64, generator=generator)
    q, k = torch.randn(2, 1, HEADS, len(positions), HEAD_DIM, dtype=torch.float64, generator=generator)
    with torch.no_grad():
        general, special = (module_logits(module, x, q, k, positions) for module in modules_of(by, of))
    differences = general - special
    if any(recovery.weights_only for recovery in catalogue.named(by).recovers if recovery.of == of):
        differences = differences - differences[..., :1]
    return float(differences.tril().abs().max())
