"""Anatomy: which position encoding a model has, read from what positions do to queries, keys and logits of a layer.

Values have no positions, so attention over one token that is repeated gives the same hidden state at every position,
in all layers. So such a row shows what the encoding does to queries and keys: nothing, a linear map (rotation), or
anything else (absolute embedding).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import torch
from torch import Tensor, nn

from lengthgen.empirical.audit.diagnosis import Defect
from lengthgen.empirical.audit.models.bounds import field_of, size_of
from lengthgen.empirical.audit.models.runner import Runner
from lengthgen.empirical.audit.models.tap import MASKED, Reading
from lengthgen.empirical.audit.subject import AuditError

NEAR = 24
"""Positions of the first look."""
FEW = (0, 1, 3, 17)
"""Positions of a second look, where each takes a row of its own."""
MORE = 8
"""Tokens beyond the width of a head, so that maps are solved for from vectors in all directions."""
SQUARE = 512
"""Length of the sequence on which a bias is read."""
MAPPED = 128
"""Length of the sequences, one for each token, from which a rotation is read."""
NOISE = 3e-6
"""Entries of a solved map below this may be rounding of queries in float32; the slowest planes turn by more at 17."""
LINEAR = {torch.float64: 1e-6, torch.float32: 1e-4, torch.bfloat16: 1e-3}
"""Largest share of a query that rounding may change, ten times as much over several layers."""
SAME = 1e-4
"""Largest difference of maps, and of lengths, that count as equal."""
WITHOUT = ("none", "scale", "unread")
"""Kinds of layers that have no position encoding, as far as they are read."""
CLAIMS = ("rope_theta", "rope_parameters", "rope_scaling", "rotary_dim", "rotary_pct", "rotary_emb_base", "alibi",
          "relative_attention_num_buckets")  # fmt: skip
"""Fields of configurations that claim an encoding."""


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """Encoding of one layer of self-attention as it was measured.

    Attributes:
        kind: "rotary", "bias", "absolute", "scale" (queries or keys are scaled by their position),
            "none", or "unread" after recurrent layers, whose output changes along a row.
        q_scale: factor of q.k in the logits.
        still, odd: heads of a rotation that positions leave as they are, and that turn otherwise than most.
        scaled: True if queries are rotated and scaled by their position.
        ahead: later keys that a query sees, where it sees some, and all earlier ones; else 0.
        effect: maps of queries and keys at near positions, [2, H, L, C, C], for a rotation.
    """

    layer: int
    kind: str
    q_scale: float
    head_dim: int
    heads: int
    causal: bool
    still: tuple[int, ...] = ()
    odd: tuple[int, ...] = ()
    scaled: bool = False
    ahead: int = 0
    effect: Tensor | None = None

    def equals(self, other: "Anatomy") -> bool:
        """True if both have the same encoding, as far as near positions tell; biases may be learned by layer."""
        if self.kind != other.kind or self.head_dim != other.head_dim or self.still != other.still:
            return False
        first, second = self.effect, other.effect
        if first is None or second is None or first.shape != second.shape:
            return first is second
        return bool(torch.allclose(first, second, atol=SAME))


def look(runner: Runner) -> list[Anatomy]:
    """Find the kind of encoding of each layer of self-attention.

    Raises:
        AuditError: no attention can be read, or queries are not finite.
    """
    widths = [reading.q_BHJC.shape[-1] for reading in runner.readings(runner.ids(1, 4))]
    tokens = torch.arange(2, min(runner.vocabulary, 2 + max(widths) + MORE))
    readings = runner.readings(tokens[:, None].expand(-1, NEAR))
    silent = runner.fresh(runner.dtype)
    silent.silence()
    biases = [_visible(reading) for reading in silent.readings(torch.full((1, NEAR), 2))]
    anatomies = [_of_layer(layer, runner, *pair) for layer, pair in enumerate(zip(readings, biases, strict=True))]
    recurrent = has_state(runner, len(anatomies))
    if any(_is_doubtful(anatomy, recurrent) for anatomy in anatomies):
        anatomies = _without_history(runner, tokens, anatomies, recurrent)
    return anatomies


def _is_doubtful(anatomy: Anatomy, recurrent: bool) -> bool:
    """True if other layers may have made what positions seem to do to a token that is repeated."""
    return anatomy.kind == "absolute" or (recurrent and anatomy.kind in ("rotary", "scale"))


def _without_history(runner: Runner, tokens: Tensor, anatomies: list[Anatomy], recurrent: bool) -> list[Anatomy]:
    """Anatomies in which doubtful ones are read from tokens without earlier ones, if the model takes positions.

    A recurrent layer or a convolution before attention changes the hidden state of a token that is repeated.
    """
    better = [
        replace(anatomy, kind="unread") if recurrent and _is_doubtful(anatomy, recurrent) else anatomy
        for anatomy in anatomies
    ]
    if not runner.positions_name:
        return better
    try:
        alone = runner.alone(tokens, torch.tensor(FEW), last=None)
    except AuditError:
        return better
    for anatomy, parts in zip(anatomies, alone, strict=True) if len(alone) == len(anatomies) else ():
        if _is_doubtful(anatomy, recurrent):
            kind, features = _effect([part.permute(2, 1, 0, 3) for part in parts])
            # A single token may lack what others get, so that only a rotation is believed without recurrent layers.
            if kind == "rotary" or (recurrent and kind != "absolute"):
                better[anatomy.layer] = replace(anatomy, kind=kind, **features)
    return better


def has_state(runner: Runner, attentions: int) -> bool:
    """True if some layers are no attention: fewer are read than the configuration names, or there are convolutions."""
    layers = size_of(runner.subject.config, "layers") or 0
    convolutions = [part for part in runner.model.modules() if isinstance(part, nn.Conv1d) and part.kernel_size != (1,)]
    return attentions < layers or bool(convolutions)


def _of_layer(layer: int, runner: Runner, reading: Reading, bias: Tensor) -> Anatomy:
    """Anatomy of a layer, from a reading of each token repeated, and the logits of tokens without content."""
    q = reading.q_BHJC
    if not q.isfinite().all():
        raise AuditError(
            f"'{runner.subject.name}' has queries that are not finite in layer {layer}: make it sound first"
        )
    later = torch.ones(NEAR, NEAR).triu(1).bool()
    causal = bool((reading.logits_BHJI[..., later] <= MASKED).all())
    middle = NEAR // 2
    visible = (reading.logits_BHJI[:, :, middle] > MASKED).any(0).any(0)
    ahead = int(visible[middle + 1 :].sum()) if visible[:middle].all() and not visible[middle:].all() else 0
    if len(q) < q.shape[-1]:
        raise AuditError(
            f"heads of width {q.shape[-1]} need a vocabulary of {q.shape[-1] + 10} tokens to be read, or smaller heads"
        )
    kind, features = _effect([reading.q_BHJC, reading.k_BHIC])
    relative = torch.where(bias == 0, 0, bias - bias.diagonal(dim1=-2, dim2=-1)[..., None])  # as softmax takes it
    if kind == "none" and bool((relative[:, -1].diff(dim=-1).abs() > 1e-7).any()):
        kind = "bias"
    return Anatomy(layer=layer, kind=kind, q_scale=reading.scale, head_dim=q.shape[-1], heads=q.shape[1], causal=causal,
                   ahead=ahead, **features)  # fmt: skip


def _effect(parts: list[Tensor]) -> tuple[str, dict[str, Any]]:
    """Kind of what positions do to queries and keys [T, H, L, C], and what `Anatomy` says of it beside.

    A rotation is a linear map, of vectors in more directions than they have coordinates; a scale is one that does
    nothing else; an absolute embedding adds a vector.
    """
    moved, maps_of = [], []
    for part in parts:
        x = part.double().permute(1, 2, 0, 3)  # [H, L, T, C]
        start, rest = x[:, :1], x[:, 1:]
        apart = (rest - start).norm(dim=-1) / start.norm(dim=-1).clamp(min=1e-9)
        moved.append((apart > 10 * LINEAR[part.dtype]).flatten(1).any(1))
        identity = torch.eye(x.shape[-1], dtype=x.dtype).expand(*rest.shape[:2], -1, -1)
        maps_of.append(torch.linalg.pinv(start) @ rest if moved[-1].any() else identity)
        if moved[-1].any() and (start @ maps_of[-1] - rest).norm() > LINEAR[part.dtype] * rest.norm():
            return "absolute", {}
    turning, maps = torch.stack(moved), torch.stack(maps_of)
    if not turning.any():
        return "none", {}
    scales = maps.diagonal(dim1=-2, dim2=-1).mean(-1)[..., None, None]
    if float((maps - scales * torch.eye(maps.shape[-1], dtype=maps.dtype)).abs().max()) < SAME:
        return "scale", {}
    still = tuple((~turning.all(0)).nonzero().flatten().tolist()) if turning.any(1).all() else ()
    usual = maps.median(1, keepdim=True).values
    odd = ((maps - usual).abs().amax((0, 2, 3, 4)) > SAME).nonzero().flatten().tolist()
    few = 0 < 4 * len(odd) <= maps.shape[1] and not still
    norms = torch.linalg.matrix_norm(maps)
    changing = norms.std(-1) > SAME * norms.mean(-1)
    scaled = bool(changing[0].any()) and not changing[1].any()
    return "rotary", {"still": still, "odd": tuple(odd) if few else (), "scaled": scaled, "effect": maps}


def repeated(runner: Runner, layer: int, length: int) -> tuple[int, int, bool] | None:
    """First position in a row whose query and key are those of the one before, or of the first; None if there is none.

    With the earlier position, and whether all positions after it are the same too.
    """
    reading = runner.reading(torch.full((1, length), 2), layer=layer)
    codes = torch.cat([reading.q_BHJC[0], reading.k_BHIC[0]], -1).double().transpose(0, 1).flatten(1)
    close = LINEAR[reading.q_BHJC.dtype] * float(codes.norm(dim=-1).max())
    for earlier in (torch.arange(length - 1), torch.zeros(length - 1, dtype=torch.int64)):
        same = ((codes[1:] - codes[earlier]).norm(dim=-1) <= close).nonzero()
        if len(same):
            first = int(same[0])
            return first + 1, int(earlier[first]), len(same) == length - 1 - first
    return None


def rounded(runner: Runner, layer: int, last: int) -> tuple[int, int] | None:
    """First position, up to `last`, that a single token cannot tell from the one before; None if there is none.

    Positions from powers of two on are tried, which a dtype of few digits rounds, if a single token can tell 0 from 1.
    """
    powers = [2**power for power in range(8, 21) if 2**power + 2 <= last]
    if not powers:
        return None
    places = torch.tensor([[start, start + 1, start + 2] for start in (0, *powers)]).flatten() + runner.origin
    reading = runner.reading(torch.full((len(places), 1), 2), positions=places[:, None], layer=layer)
    codes = torch.cat([reading.q_BHJC, reading.k_BHIC], -1).double().flatten(1)
    apart = (codes[1:] - codes[:-1]).norm(dim=-1) / codes[1:].norm(dim=-1)
    same = [row for row in (apart <= LINEAR[reading.q_BHJC.dtype]).nonzero().flatten().tolist() if row % 3 != 2]
    return (int(places[same[0] + 1]), int(places[same[0]])) if same and same[0] > 2 else None


def _visible(reading: Reading) -> Tensor:
    """Logits of the first row, masked pairs as 0: float64 [H, L, L]."""
    logits = reading.logits_BHJI[0].double()
    return torch.where(logits > MASKED, logits, 0)


def square(runner: Runner, length: int = SQUARE, *, layer: int = 0) -> Tensor:
    """Bias of all pairs of a sequence, masked pairs as 0: float64 [H, L, L]. Silences the runner's model."""
    runner.silence()
    return _visible(runner.reading(torch.full((1, length), 2), layer=layer))


class Maps:
    """Rotation of a model's first layer as a function (q, k, positions) -> (q, k), read off by solving for the maps.

    The maps are relative to position 0, so a constant factor of cosines and sines does not show.
    """

    def __init__(self, runner: Runner, width: int, layer: int = 0, *, lever: int) -> None:
        self.runner, self.layer, self.lever = runner, layer, lever
        self.noise = NOISE if runner.dtype is torch.float64 else 10 * NOISE
        self.tokens = torch.arange(2, 2 + width + MORE)
        self.solved: dict[tuple[int, ...], Tensor] = {}
        self.start = self._read(torch.tensor([0]))

    def _read(self, positions: Tensor) -> list[Tensor]:
        """Queries and keys of every token at every position: two tensors [P, H, T, C]."""
        if self.runner.positions_name:
            return [part.double() for part in self.runner.alone(self.tokens, positions, last=self.layer)[self.layer]]
        length = int(positions.max()) + 1
        if length > MAPPED:
            raise ValueError(f"a model that takes no positions is read up to {MAPPED}")
        reading = self.runner.reading(self.tokens[:, None].expand(-1, length), layer=self.layer)
        parts = (reading.q_BHJC, reading.k_BHIC)
        return [part.double()[:, :, positions].permute(2, 1, 0, 3) for part in parts]

    def _solve(self, positions: Tensor) -> Tensor:
        """Maps of queries and keys at positions, relative to position 0: [2, P, H, C, C]."""
        solved = []
        for start, read in zip(self.start, self._read(positions), strict=True):
            maps = torch.linalg.pinv(start) @ read
            if start.shape[-1] == int(torch.linalg.matrix_rank(start).min()) + 1:
                maps = maps + _completion(start, maps)
            solved.append(maps)
        return torch.stack(solved)

    def __call__(self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        if positions.ndim > 1:
            raise ValueError("one row of positions only")
        distinct, index = positions.unique(return_inverse=True)
        call = tuple(distinct.tolist())  # frequencies may depend on the longest position of a call
        if call not in self.solved:
            self.solved[call] = self._solve(distinct)
        turned = [
            torch.einsum("bhlc,lhcd->bhld", x.double(), of_position[index][:, : x.shape[1]])
            for x, of_position in zip((q_BHLC, k_BHLC), self.solved[call], strict=True)
        ]
        return turned[0].to(q_BHLC.dtype), turned[1].to(k_BHLC.dtype)


def _completion(start: Tensor, maps: Tensor) -> Tensor:
    """Image of the one direction that no token has, as where a norm takes the mean away.

    `start` are vectors [..., T, C] of rank C - 1 at position 0; `maps` [P, ..., C, C] are solved for on their span.
    """
    missing = torch.linalg.svd(start).Vh[..., -1, :].expand(*maps.shape[:-1])
    image = torch.linalg.svd(maps).Vh[..., -1, :]
    added = missing[..., :, None] * image[..., None, :]
    return added * torch.linalg.det(maps + added).sign()[..., None, None]


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


def groups_of(anatomies: Sequence[Anatomy], kinds: Sequence[str | None]) -> list[list[Anatomy]]:
    """Layers of the same kind by the configuration and with the same encoding, in groups."""
    groups: list[list[Anatomy]] = []
    for anatomy in anatomies:
        alike = (
            group for group in groups if kinds[group[0].layer] == kinds[anatomy.layer] and group[0].equals(anatomy)
        )
        if group := next(alike, None):
            group.append(anatomy)
        else:
            groups.append([anatomy])
    return groups


def kind_of(anatomies: Sequence[Anatomy]) -> str:
    """Kind of encoding of the whole model: of the first layer that has one, else "unread" where one was not read."""
    kinds = [anatomy.kind for anatomy in anatomies]
    return next((kind for kind in kinds if kind not in WITHOUT), "unread" if "unread" in kinds else "none")


def of_layer(defect: Defect, group: Sequence[Anatomy], groups: Sequence[Sequence[Anatomy]]) -> Defect:
    """Defect with its layers named, where not all have it."""
    if len(groups) > 1:
        layers = ", ".join(str(anatomy.layer) for anatomy in group)
        defect.says = f"{'layer' if len(group) == 1 else 'layers'} {layers}: {defect.says}"
    return defect


def layer_defects(
    config: Any,
    anatomies: Sequence[Anatomy],
    groups: Sequence[Sequence[Anatomy]],
    kinds: Sequence[str | None],
    explained: bool,
) -> list[Defect]:
    """Heads and layers without the encoding that others have, or a whole model without the one that it names."""
    made = []
    for group in groups:
        still, odd, count = group[0].still, group[0].odd, group[0].heads
        for heads, says in ((still, "no position turns queries or keys of heads {}, of {}"),
                            (odd, "heads {} of {} turn otherwise than the rest")):  # fmt: skip
            if heads:
                defect = Defect(
                    rule="heads-differ", says=says.format(", ".join(map(str, heads)), count), first={"all": 1}
                )
                made.append(of_layer(defect, group, groups))
    without = [anatomy.kind in WITHOUT for anatomy in anatomies]
    named, rule, says = field_of(config, "no_rope_layers"), "", ""
    if all(without):
        claim = next((name for name in CLAIMS if field_of(config, name)), None)
        if claim and all(anatomy.kind != "unread" for anatomy in anatomies):
            rule = "encoding-missing"
            says = f"no query, key or logit of any layer depends on the position, and the configuration sets {claim}"
    elif isinstance(named, list | tuple) and len(named) == len(without):
        wrong = [layer for layer, (use, still) in enumerate(zip(named, without, strict=True)) if bool(use) is still]
        if wrong:
            has = "no rotation" if without[wrong[0]] else "a rotation"
            rule, says = (
                "no-rope-layers-ignored",
                f"layer {wrong[0]} has {has}, and no_rope_layers says {named[wrong[0]]}",
            )
    elif not explained and len(groups) > len(set(kinds)):
        firsts = [group[0].layer for group in groups]
        first, second = next(pair for pair in permutations(firsts, 2) if kinds[pair[0]] == kinds[pair[1]])
        rule, says = "layers-differ", f"layer {second} has another encoding than layer {first}"
    return made + ([Defect(rule=rule, says=says, first={"all": 1})] if rule else [])
