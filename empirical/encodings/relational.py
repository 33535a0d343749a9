"""Encoding by a relation: each label has a learned key vector and a learned value vector in every layer."""

import torch
from torch import Tensor, nn

from empirical.encodings.base import Content, PositionEncoding


class Relational(PositionEncoding):
    """logit_ij = q_j . (k_i + E^K_phi(i,j)) / sqrt(C), value_ij = v_i + E^V_phi(i,j).

    After Shaw et al. (1803.02155, eq. 3 and 4), with any relation phi instead of the clipped distance.  The ideal
    relation of a circuit makes it IPE, j - i makes it a relative encoding ([F]; how 2510.04130 injects IPE is not
    known to us).  Parameters: tables E^K and E^V, float32 [layers, labels, C], shared by heads, initialised N(0, 1).
    """

    needs_labels = True
    changes_values = True

    def __init__(self, *, labels: int, layers: int, head_dim: int) -> None:
        """Draw the tables for labels 0 .. labels - 1; `head_dim` is C."""
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
        """q_j . E^K_phi(i,j) / sqrt(C): [B, H, J, I].  Only the labels are read, not the positions."""
        assert content is not None and content.q_BHJC is not None and content.labels_BJI is not None
        scores_BHJK: Tensor = content.q_BHJC @ self.keys[content.layer].T / content.q_BHJC.shape[-1] ** 0.5
        return scores_BHJK.gather(3, self._repeat_for_heads(content.labels_BJI, scores_BHJK)).to(dtype)

    def values(self, weights_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """Sum over i of a_ij E^V_phi(i,j): total weight of each label times its value vector, [B, H, J, C]."""
        assert content.labels_BJI is not None
        by_label = weights_BHJI.new_zeros(*weights_BHJI.shape[:3], self.vectors.shape[1])
        by_label = by_label.scatter_add(3, self._repeat_for_heads(content.labels_BJI, weights_BHJI), weights_BHJI)
        return by_label @ self.vectors[content.layer]

    @staticmethod
    def _repeat_for_heads(labels_BJI: Tensor, like_BHJX: Tensor) -> Tensor:
        """Labels [B, J, I] as [B, H, J, I], with B and H of the other tensor."""
        batch, heads = like_BHJX.shape[:2]
        return labels_BJI[:, None].expand(batch, heads, -1, -1)


MODULES = {"rpe": Relational, "clipped": Relational, "ipe": Relational, "ipe-sh": Relational}
