"""LBPE: an encoding by a relation that is learned with the model, as weights of labels for every pair of positions.

Source: Chen, Liang, Lin, arXiv 2510.04130.
"""

import math
from functools import partial

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.empirical.encodings.blocks import block_by_block

PLAIN = ((1, 0, 0), (0, 1, 0), (-1, 1, 0), (2, -1, 0))
"""Features i, j, j - i, 2i - j, as coefficients of (i, j, n)."""
WITH_SCALE = ((0, 0, 1), (-1, 0, 1), (2, 0, -1), (1, 0, 0), (0, 1, 0), (-1, 1, 0), (0, -1, 1))
"""Features n, n - i, 2i - n, i, j, j - i, n - j, as coefficients of (i, j, n).

This order adds i and j late in the sum.
"""


class LBPE(PositionEncoding):
    """logit_ij = q_j . (k_i + e^K_ij) / sqrt(C), value_ij = v_i + e^V_ij, where e_ij = sum_k p_k E_k.

    p(. | i, j[, n]) = softmax(g / temperature) over K labels [P]; i and j are 1-based positions, n is the scale.

    Ours [F]: g is a ReLU network with one hidden layer, each of whose units reads one linear feature of i, j and n.  So
    g is a sum of piecewise linear functions, one per feature, defined at every length and scale.  It learns to separate
    pairs that differ in a feature, and does so at other scales too.  A role that depends on another combination, such
    as i = j - n, needs that feature.

    Parameters of g, float32, shared by layers and heads: slopes and offsets [features, hinges], heights
    [features, hinges, labels], levels [labels].  The tables E^K and E^V are those of `Relational`: float32
    [layers, labels, C], shared by heads, initialised N(0, 1).
    """

    changes_values = True

    def __init__(
        self,
        *,
        layers: int,
        head_dim: int,
        scale_hint: bool,
        labels: int = 8,
        hinges: int = 32,
        temperature: float = 1.0,
    ) -> None:
        """Draw the parameters; `labels` is K, `hinges` the hidden units per feature.

        The bends of the hidden units start near where the feature is 0.

        Raises:
            ValueError: a size below 1; temperature not a positive finite number.
        """
        super().__init__()
        for name, size in {"layers": layers, "head_dim": head_dim, "labels": labels, "hinges": hinges}.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1, not {size}")
        if not (math.isfinite(temperature) and temperature > 0):
            raise ValueError(f"temperature must be a positive finite number, not {temperature}")
        self.scale_hint, self.temperature = scale_hint, temperature
        self.features = WITH_SCALE if scale_hint else PLAIN
        units = len(self.features), hinges
        self.slopes = nn.Parameter(torch.empty(units).uniform_(-1, 1))
        self.offsets = nn.Parameter(torch.empty(units).uniform_(-1, 1))
        reach = math.prod(units) ** -0.5
        self.heights = nn.Parameter(torch.empty(*units, labels).uniform_(-reach, reach))
        self.levels = nn.Parameter(torch.empty(labels).uniform_(-reach, reach))
        self.keys = nn.Parameter(torch.randn(layers, labels, head_dim))
        self.vectors = nn.Parameter(torch.randn(layers, labels, head_dim))

    def label_weights(self, query_positions: Tensor, key_positions: Tensor, scales: Tensor | None = None) -> Tensor:
        """Weights p of every pair, at least float32: [J, I, K], or [B, J, I, K] if an argument has a batch axis.

        Args:
            query_positions: int64 [J] or [B, J], 0-based.
            key_positions: int64 [I] or [B, I], 0-based.
            scales: int64 [B], or [] for one scale of all; ignored without scale hint.

        Raises:
            ValueError: positions or scales are not integers, or scales are missing although g reads them.
        """
        return self._weights(query_positions, key_positions, scales).movedim(-3, -1)

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """q_j . e^K_ij / sqrt(C): [B, H, J, I].  Raises what `label_weights` raises."""
        assert content is not None and content.q_BHJC is not None
        scores_BHJK = content.q_BHJC @ self.keys[content.layer].T / content.q_BHJC.shape[-1] ** 0.5

        def of_block(block: slice) -> Tensor:
            labels_BKJI = self._batched(query_positions[..., block], key_positions, content)
            scores = scores_BHJK[:, :, block].to(labels_BKJI)
            return torch.einsum("bhjk,bkji->bhji", scores, labels_BKJI).to(dtype)

        return block_by_block(of_block, query_positions.shape[-1], key_positions.shape[-1])

    def values(self, weights_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """Sum over i of a_ij e^V_ij: attention that each label gets, times its vector, [B, H, J, C]."""

        def of_block(block: slice) -> Tensor:
            labels_BKJI = self._batched(query_positions[..., block], key_positions, content).to(weights_BHJI)
            return torch.einsum("bhji,bkji->bhjk", weights_BHJI[:, :, block], labels_BKJI)

        attended = block_by_block(of_block, query_positions.shape[-1], key_positions.shape[-1])
        return attended @ self.vectors[content.layer]

    def _batched(self, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """Weights p with a batch axis, which may be 1: [B or 1, K, J, I]."""
        weights = self._weights(query_positions, key_positions, content.scales_B)
        return weights if weights.ndim == 4 else weights[None]

    def _weights(self, query_positions: Tensor, key_positions: Tensor, scales: Tensor | None) -> Tensor:
        """Weights p, [..., K, J, I]; the labels are not last, because a softmax over a short last axis is slow."""
        require_integers(query_positions)
        require_integers(key_positions)
        i, j, n = key_positions[..., None, :] + 1, query_positions[..., :, None] + 1, self._scale_or_zero(scales)
        wide = torch.promote_types(self.levels.dtype, torch.float32)
        with torch.autocast(i.device.type, enabled=False):
            logits = (self.levels.to(wide) / self.temperature)[:, None, None]
            for coefficients, *numbers in zip(self.features, self.slopes, self.offsets, self.heights, strict=True):
                feature = i.new_zeros(())
                for coefficient, coordinate in zip(coefficients, (i, j, n), strict=True):
                    feature = feature + coefficient * coordinate if coefficient else feature
                slopes, offsets, heights = (number.to(wide) for number in numbers)
                of_pairs = bool(coefficients[0] and coefficients[1])
                values, places = _distinct(feature) if of_pairs else (feature, None)
                label_logits = (values[..., None].to(wide) * slopes + offsets).relu() @ (heights / self.temperature)
                if places is not None:
                    label_logits = _at_places(label_logits, places)
                label_logits = label_logits.movedim(-1, -3).contiguous()
                in_place = label_logits.shape == logits.shape  # an array of all pairs is large
                logits = logits.add_(label_logits) if in_place else logits + label_logits
            return logits.softmax(-3)

    def _scale_or_zero(self, scales: Tensor | None) -> Tensor | int:
        """n with shape [..., 1, 1]; 0 without scale hint."""
        if not self.scale_hint:
            return 0
        if scales is None:
            raise ValueError("LBPE with scale hint reads the scale of each instance: give scales")
        if scales.is_floating_point() or scales.is_complex() or scales.dtype == torch.bool:
            raise ValueError(f"scales must be integers, not {scales.dtype}")
        return scales[..., None, None]


def _distinct(feature: Tensor) -> tuple[Tensor, Tensor | None]:
    """All integers from the smallest value of a feature to the largest, and the place of each entry among them.

    None as places, and the feature itself, if it has fewer entries than that, or if a compiler must know the sizes.
    """
    if torch.compiler.is_compiling() or not feature.numel():
        return feature, None
    low, high = (int(end) for end in feature.aminmax())
    if high - low + 1 >= feature.numel():
        return feature, None
    return torch.arange(low, high + 1, device=feature.device), feature - low


def _at_places(rows: Tensor, places: Tensor) -> Tensor:
    """Rows [values, K] at places of any shape: [..., K]."""
    return rows.T.gather(1, places.flatten().expand(rows.shape[1], -1)).unflatten(1, places.shape).movedim(0, -1)


MODULES = {"lbpe": partial(LBPE, scale_hint=False), "lbpe-sh": partial(LBPE, scale_hint=True)}
