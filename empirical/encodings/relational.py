"""Encodings by a relation: one learned key and value vector a label, in every layer."""

import torch
from torch import Tensor, nn

from empirical.encodings.base import Content, PositionEncoding


class Relational(PositionEncoding):
    """logit_ij = q_j . (k_i + E^K_phi(i,j)) / sqrt(C), value_ij = v_i + E^V_phi(i,j).

    After Shaw et al. (1803.02155, eq. 3 and 4), with any relation phi in place of the clipped distance: the ideal
    relation of a circuit makes it IPE, j - i makes it a relative encoding ([F]; how 2510.04130 injects IPE is not
    known to us). Tables float32 [layers, labels, head width], shared by heads, N(0, 1) at first.
    """

    needs_labels = True
    changes_values = True

    def __init__(self, *, labels: int, layers: int, head_dim: int) -> None:
        """Tables for labels 0..labels-1."""
        super().__init__()
        self.keys = nn.Parameter(torch.randn(layers, labels, head_dim))
        self.vectors = nn.Parameter(torch.randn(layers, labels, head_dim))

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """q_j . E^K_phi(i,j) / sqrt(C): [B, H, J, I]; the labels say all that positions could."""
        assert content is not None and content.q_BHJC is not None and content.labels_BJI is not None
        scores_BHJK: Tensor = content.q_BHJC @ self.keys[content.layer].T / content.q_BHJC.shape[-1] ** 0.5
        return scores_BHJK.gather(3, self._for_heads(content.labels_BJI, scores_BHJK)).to(dtype)

    def values(self, weights_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """Sum over i of a_ij E^V_phi(i,j): the weight that each label got, times its vector: [B, H, J, C]."""
        assert content.labels_BJI is not None
        by_label = weights_BHJI.new_zeros(*weights_BHJI.shape[:3], self.vectors.shape[1])
        by_label = by_label.scatter_add(3, self._for_heads(content.labels_BJI, weights_BHJI), weights_BHJI)
        return by_label @ self.vectors[content.layer]

    @staticmethod
    def _for_heads(labels_BJI: Tensor, like_BHJX: Tensor) -> Tensor:
        batch, heads = like_BHJX.shape[:2]
        return labels_BJI[:, None].expand(batch, heads, -1, -1)
