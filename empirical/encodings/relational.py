"""Encoding by a relation: each label has a learned key vector and a learned value vector in every layer."""

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.blocks import block_by_block
from lengthgen.empirical.encodings.one_hot import MANY, one_hot, takes_products


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
        q_BHJC, labels_BJI, keys = content.q_BHJC, content.labels_BJI, self.keys[content.layer]
        keys = keys[: _labels_in_use(labels_BJI, len(keys))]

        def of_block(block: slice) -> Tensor:
            scores_BHJK: Tensor = q_BHJC[:, :, block] @ keys.T / q_BHJC.shape[-1] ** 0.5
            return _of_label(scores_BHJK, labels_BJI[:, block]).to(dtype)

        return block_by_block(of_block, *labels_BJI.shape[1:])

    def values(self, weights_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """Sum over i of a_ij E^V_phi(i,j): total weight of each label times its value vector, [B, H, J, C]."""
        assert content.labels_BJI is not None
        labels_BJI, vectors = content.labels_BJI, self.vectors[content.layer]
        vectors = vectors[: _labels_in_use(labels_BJI, len(vectors))]

        def of_block(block: slice) -> Tensor:
            return _by_label(weights_BHJI[:, :, block], labels_BJI[:, block], len(vectors)) @ vectors

        return block_by_block(of_block, *labels_BJI.shape[1:])


def _of_label(scores_BHJK: Tensor, labels_BJI: Tensor) -> Tensor:
    """Score of the label of each pair: [B, H, J, I]."""
    count = scores_BHJK.shape[-1]
    if takes_products(scores_BHJK, count):
        return torch.einsum("bhjk,bjik->bhji", scores_BHJK, one_hot(labels_BJI, count, scores_BHJK.dtype))
    return scores_BHJK.gather(3, _repeat_for_heads(labels_BJI, scores_BHJK))


def _by_label(weights_BHJI: Tensor, labels_BJI: Tensor, count: int) -> Tensor:
    """Sum of the weights of the pairs of each label: [B, H, J, K], K = count."""
    if takes_products(weights_BHJI, count):
        return torch.einsum("bhji,bjik->bhjk", weights_BHJI, one_hot(labels_BJI, count, weights_BHJI.dtype))
    by_label = weights_BHJI.new_zeros(*weights_BHJI.shape[:3], count)
    return by_label.scatter_add(3, _repeat_for_heads(labels_BJI, weights_BHJI), weights_BHJI)


def _repeat_for_heads(labels_BJI: Tensor, like_BHJX: Tensor) -> Tensor:
    """Labels [B, J, I] as [B, H, J, I], with B and H of the other tensor."""
    batch, heads = like_BHJX.shape[:2]
    return labels_BJI[:, None].expand(batch, heads, -1, -1)


def _labels_in_use(labels_BJI: Tensor, count: int) -> int:
    """Number of labels up to the largest of these; `count`, that of all, where the values cannot be read.

    Sequences that are shorter than the longest of a run have few of the labels of distances.  With fewer than MANY
    labels all are computed: it costs little, and roundings are those of earlier results.
    """
    if count < max(MANY, labels_BJI.shape[-1] + 1) or torch.compiler.is_compiling():
        return count
    try:
        return int(labels_BJI.max()) + 1
    except RuntimeError:  # the labels differ between models, and vmap hides them
        return count


MODULES = {"rpe": Relational, "clipped": Relational, "ipe": Relational, "ipe-sh": Relational}
