"""Anatomy: which position encoding a model has, found from what positions do to queries, keys and logits of a layer.

In the first layer the hidden state of a token does not depend on its neighbours. So the same token at every position
gives what the encoding does to its query: nothing, a linear map (rotation), or anything else (absolute embedding).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from empirical.audit.models.bounds import field_of
from empirical.audit.models.runner import Runner
from empirical.audit.models.tap import MASKED
from empirical.audit.subject import AuditError

NEAR = 24
"""Positions of the first look."""
SQUARE = 512
"""Length of the sequence on which a bias is read."""
MAPPED = 128
"""Length of the sequences, one for each token, from which a rotation is read."""
NOISE = 3e-6
"""Entries of a solved map below this may be rounding of queries in float32; the slowest planes turn by more at 17."""
LINEAR = 1e-6
"""Largest share of a query that a linear map may leave unexplained in float64."""


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """Encoding of one layer as it was measured.

    Attributes:
        kind: "rotary", "bias", "absolute" or "none".
        q_scale: factor of q.k in the logits.
        head_dim: width of queries as they enter the logits.
        heads: number of heads.
        causal: True if no query sees a later key.
    """

    kind: str
    q_scale: float
    head_dim: int
    heads: int
    causal: bool


def look(runner: Runner, layer: int = 0) -> Anatomy:
    """Find the kind of encoding of a layer."""
    width = runner.reading(runner.ids(1, 4), layer=layer).q_BHJC.shape[-1]
    tokens = torch.arange(2, min(runner.vocabulary, 2 + width + 8))
    reading = runner.reading(tokens[:, None].expand(-1, NEAR), layer=layer)
    q, heads = reading.q_BHJC.double(), reading.q_BHJC.shape[1]
    if not q.isfinite().all():
        raise AuditError(
            f"'{runner.subject.name}' has queries that are not finite in layer {layer}: make it sound first"
        )
    later = torch.ones(NEAR, NEAR).triu(1).bool()
    causal = bool((reading.logits_BHJI[..., later] <= MASKED).all())
    measured: dict[str, Any] = {"head_dim": width, "heads": heads, "q_scale": reading.scale, "causal": causal}
    if not torch.allclose(q, q[:, :, :1].expand_as(q), rtol=1e-5, atol=1e-7):
        if len(tokens) < width:
            raise AuditError(
                f"heads of width {width} need a vocabulary of {width + 10} tokens to be read, or smaller heads"
            )
        residual = q.flatten(1, 1).transpose(0, 2)  # [L, H, T, C]
        start, rest = residual[0], residual[1:]
        maps = torch.linalg.pinv(start) @ rest
        unexplained = (start @ maps - rest).norm() / rest.norm()
        norms = rest.norm(dim=-1) / start.norm(dim=-1)
        # A linear map that keeps or scales all lengths alike; an absolute embedding adds a vector.
        is_rotation = unexplained < LINEAR and float((norms - norms.mean(-1, keepdim=True)).abs().max()) < 1e-4
        return Anatomy(kind="rotary" if is_rotation else "absolute", **measured)
    bias = square(runner.fresh(), NEAR, layer=layer)
    steps = bias[:, -1].diff(dim=-1)
    return Anatomy(kind="bias" if bool((steps.abs() > 1e-7).any()) else "none", **measured)


def square(runner: Runner, length: int = SQUARE, *, layer: int = 0) -> Tensor:
    """Bias of all pairs of a sequence, masked pairs as 0: float64 [H, L, L]. Silences the runner's model."""
    runner.silence()
    logits = runner.reading(torch.full((1, length), 2), layer=layer).logits_BHJI[0].double()
    return torch.where(logits > MASKED, logits, 0)


class Maps:
    """Rotation of a model's first layer as a function (q, k, positions) -> (q, k), read off by solving for the maps.

    The maps are relative to position 0, so a constant factor of cosines and sines does not show.
    """

    noise = NOISE

    def __init__(self, runner: Runner, width: int, layer: int = 0) -> None:
        self.runner, self.layer = runner, layer
        self.tokens = torch.arange(2, 2 + width + 8)
        self.start = [torch.linalg.pinv(part) for part in self._read(torch.tensor([0]))]

    def _read(self, positions: Tensor) -> list[Tensor]:
        """Queries and keys of every token at every position: two tensors [P, H, T, C]."""
        count = len(self.tokens)
        if self.runner.positions_name:
            ids = self.tokens.repeat(len(positions))[:, None]
            reading = self.runner.reading(ids, positions=positions.repeat_interleave(count)[:, None], layer=self.layer)
            parts = (reading.q_BHJC[:, :, 0], reading.k_BHIC[:, :, 0])
            return [part.double().unflatten(0, (len(positions), count)).transpose(1, 2) for part in parts]
        length = int(positions.max()) + 1
        if length > MAPPED:
            raise ValueError(f"a model that takes no positions is read up to {MAPPED}")
        reading = self.runner.reading(self.tokens[:, None].expand(-1, length), layer=self.layer)
        parts = (reading.q_BHJC, reading.k_BHIC)
        return [part.double()[:, :, positions].permute(2, 1, 0, 3) for part in parts]

    def __call__(self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        if positions.ndim > 1:
            raise ValueError("one row of positions only")
        distinct, index = positions.unique(return_inverse=True)
        maps = [start @ read for start, read in zip(self.start, self._read(distinct), strict=True)]
        turned = [
            torch.einsum("bhlc,lhcd->bhld", x.double(), of_position[index][:, : x.shape[1]])
            for x, of_position in zip((q_BHLC, k_BHLC), maps, strict=True)
        ]
        return turned[0].to(q_BHLC.dtype), turned[1].to(k_BHLC.dtype)


def rope_fields(config: Any) -> dict[str, Any]:
    """Rope fields of a configuration of transformers, of version 4 or 5, in one flat form."""
    given = field_of(config, "rope_parameters") or field_of(config, "rope_scaling")
    fields = dict(given) if isinstance(given, Mapping) else {}
    if fields and all(isinstance(part, dict) or part is None for part in fields.values()):  # one for each kind of layer
        kinds = {str(name): part for name, part in fields.items() if part}
        fields = dict(next((part for name, part in kinds.items() if "full" in name), next(iter(kinds.values()), {})))
    fields.setdefault("rope_type", fields.pop("type", "default"))
    if fields["rope_type"] == "su":
        fields["rope_type"] = "longrope"
    for name in ("rope_theta", "rotary_emb_base", "original_max_position_embeddings"):
        if name not in fields and (value := field_of(config, name)) is not None:
            fields["rope_theta" if name == "rotary_emb_base" else name] = value
    for name in ("partial_rotary_factor", "rotary_pct"):
        if "partial_rotary_factor" not in fields and (value := field_of(config, name)) is not None:
            fields["partial_rotary_factor"] = value
    return fields
