"""LBPE: an encoding by a relation that is learned with the model, as weights of labels for every pair of positions.

Source: Chen, Liang, Lin, arXiv 2510.04130.
"""

import math

import torch
from torch import Tensor, nn

from empirical.encodings.base import Content, PositionEncoding, require_integers

PLAIN = ((1, 0, 0), (0, 1, 0), (-1, 1, 0), (2, -1, 0))
"""The features i, j, j - i, 2i - j, as multiples of (i, j, n)."""
WITH_SCALE = ((0, 0, 1), (-1, 0, 1), (2, 0, -1), (1, 0, 0), (0, 1, 0), (-1, 1, 0), (0, -1, 1))
"""The features n, n - i, 2i - n, i, j, j - i, n - j, likewise; in this order their sum has both i and j late."""


class LBPE(PositionEncoding):
    """logit_ij = q_j . (k_i + e^K_ij) / sqrt(C), value_ij = v_i + e^V_ij, where e_ij = sum_k p_k E_k.

    p(. | i, j[, n]) = softmax(g / temperature) over K labels [P]; i and j are positions from 1 on, n is the scale.

    Ours [F]: g is a ReLU network with one hidden layer, each of whose units reads one linear feature of i, j and n.  So
    it is a sum of piecewise linear functions, one a feature, with a value at every length and scale; it learns to tell
    apart what differs in a feature, and goes on doing so at other scales.  A role that hangs on another combination,
    such as i = j - n, needs that feature.  g is shared by layers and heads; the tables of E^K and E^V are those of
    `Relational`: float32 [layers, labels, head width], shared by heads, N(0, 1) at first.
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
        """`labels` is K, `hinges` the hidden units of each feature, whose bends start near where the feature is 0.

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
        """p of every pair, at least float32: [J, I, K], or [B, J, I, K] where positions or scales have a batch.

        Args:
            query_positions: int64 [J] or [B, J], from 0 on.
            key_positions: int64 [I] or [B, I].
            scales: int64 [B], or one for all, []; not looked at without scale hint.

        Raises:
            ValueError: positions or scales are not integers, or there are no scales and g reads them.
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
        """q_j . e^K_ij / sqrt(C): [B, H, J, I].  Raises as `label_weights` does."""
        assert content is not None and content.q_BHJC is not None
        scores_BHJK = content.q_BHJC @ self.keys[content.layer].T / content.q_BHJC.shape[-1] ** 0.5
        labels_BKJI = self._batched(query_positions, key_positions, content)
        return torch.einsum("bhjk,bkji->bhji", scores_BHJK.to(labels_BKJI), labels_BKJI).to(dtype)

    def values(self, weights_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """Sum over i of a_ij e^V_ij: the attention that each label got, times its vector: [B, H, J, C]."""
        labels_BKJI = self._batched(query_positions, key_positions, content).to(weights_BHJI)
        return torch.einsum("bhji,bkji->bhjk", weights_BHJI, labels_BKJI) @ self.vectors[content.layer]

    def _batched(self, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """p with a batch, which may be 1: [B or 1, K, J, I]."""
        found = self._weights(query_positions, key_positions, content.scales_B)
        return found if found.ndim == 4 else found[None]

    def _weights(self, query_positions: Tensor, key_positions: Tensor, scales: Tensor | None) -> Tensor:
        """p, [..., K, J, I]: a softmax over a short last axis would take most of the time."""
        require_integers(query_positions)
        require_integers(key_positions)
        i, j, n = key_positions[..., None, :] + 1, query_positions[..., :, None] + 1, self._read(scales)
        wide = torch.promote_types(self.levels.dtype, torch.float32)
        with torch.autocast(i.device.type, enabled=False):
            logits = self.levels.to(wide)[:, None, None]
            for multiples, *numbers in zip(self.features, self.slopes, self.offsets, self.heights, strict=True):
                feature = i.new_zeros(())
                for multiple, one in zip(multiples, (i, j, n), strict=True):
                    feature = feature + multiple * one if multiple else feature
                slopes, offsets, heights = (number.to(wide) for number in numbers)
                of_labels = (feature[..., None].to(wide) * slopes + offsets).relu() @ heights
                logits = logits + of_labels.movedim(-1, -3).contiguous()
            return (logits / self.temperature).softmax(-3)

    def _read(self, scales: Tensor | None) -> Tensor | int:
        """n, [..., 1, 1]; 0 where no feature has it."""
        if not self.scale_hint:
            return 0
        if scales is None:
            raise ValueError("LBPE with scale hint reads the scale of each instance: give scales")
        if scales.is_floating_point() or scales.is_complex() or scales.dtype == torch.bool:
            raise ValueError(f"scales must be integers, not {scales.dtype}")
        return scales[..., None, None]
