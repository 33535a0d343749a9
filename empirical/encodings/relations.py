"""Encodings in torch by vectors of a pair: by the labels of a relation, given or learned, by anchors, or by wavelets.

Formulas: theory/encodings/relations.py and theory/learning/anchored.py.
"""

import math
from functools import partial
from typing import get_args

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import (
    Bias,
    Content,
    PositionEncoding,
    require_integers,
    require_path,
    require_positive,
    require_sizes,
    require_width,
)
from lengthgen.empirical.encodings.tensors import MANY, block_by_block, drawn_table, one_hot, takes_products
from lengthgen.theory.encodings.relations import WaveletName, wavelet_grid


class LabelTables(Bias):
    """Base class of learned vectors of labels: logit_ij = q_j . (k_i + e^K_ij) / sqrt(C), value_ij = v_i + e^V_ij.

    Parameters: tables E^K and E^V, float32 [layers, labels, C], shared by heads, initialised N(0, start^2).
    """

    changes_values = True

    def draw_tables(self, *, labels: int, layers: int, head_dim: int, start: float) -> None:
        """Draw the tables; tables of another start are the same random numbers times a constant."""
        self.keys = nn.Parameter(drawn_table(layers, labels, head_dim, start=start))
        self.vectors = nn.Parameter(drawn_table(layers, labels, head_dim, start=start))


class Relational(LabelTables):
    """e_ij = E_phi(i,j), after Shaw et al. (1803.02155, eq. 3 and 4), with any relation phi, not the clipped distance.

    The ideal relation of a circuit makes it IPE, j - i makes it a relative encoding ([F]; how 2510.04130 injects IPE is
    not known to us).  Only the labels are read, not the positions.
    """

    needs_labels = True

    def __init__(self, *, labels: int, layers: int, head_dim: int, start: float = 1.0) -> None:
        """Draw the tables for labels 0 .. labels - 1; `head_dim` is C."""
        super().__init__()
        self.draw_tables(labels=labels, layers=layers, head_dim=head_dim, start=start)

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        assert content.q_BHJC is not None and content.labels_BJI is not None
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


PLAIN = ((1, 0, 0), (0, 1, 0), (-1, 1, 0), (2, -1, 0))
"""Features i, j, j - i, 2i - j, as coefficients of (i, j, n)."""
WITH_SCALE = ((0, 0, 1), (-1, 0, 1), (2, 0, -1), (1, 0, 0), (0, 1, 0), (-1, 1, 0), (0, -1, 1))
"""Features n, n - i, 2i - n, i, j, j - i, n - j, as coefficients of (i, j, n).

This order adds i and j late in the sum.
"""


class LBPE(LabelTables):
    """e_ij = sum_k p_k E_k, where p(. | i, j[, n]) = softmax(g / temperature) over K labels.  [P]

    i and j are 1-based positions, n is the scale.  Source: Chen, Liang, Lin, arXiv 2510.04130.  Ours [F]: g is a ReLU
    network with one hidden layer, each of whose units reads one linear feature of i, j and n.  So g is a sum of
    piecewise linear functions, one per feature, defined at every length and scale.  It learns to separate pairs that
    differ in a feature, and does so at other scales too.  A role that depends on another combination, such as
    i = j - n, needs that feature.

    Parameters of g, float32, shared by layers and heads: slopes and offsets [features, hinges], heights
    [features, hinges, labels], levels [labels].
    """

    def __init__(
        self,
        *,
        layers: int,
        head_dim: int,
        scale_hint: bool,
        labels: int = 8,
        hinges: int = 32,
        temperature: float = 1.0,
        start: float = 1.0,
    ) -> None:
        """Draw the parameters; `labels` is K, `hinges` the hidden units per feature, `temperature` is positive.

        The bends of the hidden units start near where the feature is 0.
        """
        super().__init__()
        require_sizes(layers=layers, head_dim=head_dim, labels=labels, hinges=hinges)
        require_positive(temperature=temperature)
        self.scale_hint, self.temperature = scale_hint, temperature
        self.features = WITH_SCALE if scale_hint else PLAIN
        units = len(self.features), hinges
        self.slopes = nn.Parameter(torch.empty(units).uniform_(-1, 1))
        self.offsets = nn.Parameter(torch.empty(units).uniform_(-1, 1))
        reach = math.prod(units) ** -0.5
        self.heights = nn.Parameter(torch.empty(*units, labels).uniform_(-reach, reach))
        self.levels = nn.Parameter(torch.empty(labels).uniform_(-reach, reach))
        self.draw_tables(labels=labels, layers=layers, head_dim=head_dim, start=start)

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

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        assert content.q_BHJC is not None
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
        require_integers(query_positions, key_positions)
        i, j, n = key_positions[..., None, :] + 1, query_positions[..., :, None] + 1, self._scale_or_zero(scales)
        wide = torch.promote_types(self.levels.dtype, torch.float32)
        with torch.autocast(i.device.type, enabled=False):
            logits = (self.levels.to(wide) / self.temperature)[:, None, None]
            for coefficients, *numbers in zip(self.features, self.slopes, self.offsets, self.heights, strict=True):
                feature = i.new_zeros(())
                for coefficient, coordinate in zip(coefficients, (i, j, n), strict=True):
                    feature = feature + coefficient * coordinate if coefficient else feature
                slopes, offsets, heights = (number.to(wide) for number in numbers)
                of_pairs = bool(coefficients[0] and coefficients[1]) and not torch.compiler.is_compiling()
                values, places = distinct(feature) if of_pairs else (feature, None)
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


def _at_places(rows: Tensor, places: Tensor) -> Tensor:
    """Rows [values, K] at places of any shape: [..., K]."""
    return rows.T.gather(1, places.flatten().expand(rows.shape[1], -1)).unflatten(1, places.shape).movedim(0, -1)


class RPESquare(Bias):
    """sum over k <= j, l <= i of softmax_k(W1 x_j . W2 x_k) softmax_l(W3 x_i . W4 x_l) R_((j-k) - (i-l)).  [P]

    Source: arXiv 2410.08898.  Parameters: W1..W4, float32 [layers, inner, D], shared by heads; R, float32 [layers, H, 2
    length - 1], one number per difference [F].  With A_js the weight that query j gives to anchors at distance s, and
    B_it that of key i, the bias is sum_st A_js R_(s-t) B_it.

    "k <= j" is meant along the sequence, as in the causal mask, and any token may be an anchor: padding must come after
    the real tokens.  Attention finds the anchors from content, so no scale is needed.  The queries are the last J of
    the I tokens of x, whose positions do not decrease and span less than `length`.
    """

    def __init__(
        self, *, width: int, heads: int, layers: int, length: int, inner: int = 16, start: float = 0.02
    ) -> None:
        """Draw the parameters; `width` is D, `length` the largest number of positions that a text may span.

        R covers the distances 0 .. length - 1.  R is initialised N(0, start^2), W1..W4 like PyTorch's linear layers:
        both are our choice.
        """
        super().__init__()
        require_sizes(width=width, heads=heads, layers=layers, length=length, inner=inner)
        self.length = length
        reach = width**-0.5
        self.of_query, self.of_query_anchor, self.of_key, self.of_key_anchor = (
            nn.Parameter(torch.empty(layers, inner, width).uniform_(-reach, reach)) for _ in range(4)
        )
        self.table = nn.Parameter(drawn_table(layers, heads, 2 * length - 1, start=start))

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        if content.x_BLD is None:
            raise ValueError("RPE-Square finds anchors in the layer's input: the content has no x_BLD")
        tokens, span = content.x_BLD.shape[-2], _span(key_positions)
        require_path(query_positions, key_positions, tokens, "anchors are searched before a token")
        if span >= self.length:
            raise ValueError(
                f"tokens {span} positions apart are farther than the table of length {self.length} covers: make "
                "RPE-Square with a larger length"
            )
        layer, first = content.layer, key_positions.shape[-1] - query_positions.shape[-1]
        wide = torch.promote_types(torch.promote_types(content.x_BLD.dtype, dtype), torch.float32)
        x_BID, positions_1I = content.x_BLD.to(wide), key_positions if key_positions.ndim == 2 else key_positions[None]
        reach = span + 1
        with torch.autocast(x_BID.device.type, enabled=False):
            weights = (weight[layer].to(wide) for weight in (self.of_query, self.of_query_anchor))
            query_BJS = _by_distance(_anchor_weights(x_BID, *weights, first=first), positions_1I, reach)
            weights = (weight[layer].to(wide) for weight in (self.of_key, self.of_key_anchor))
            key_BIS = _by_distance(_anchor_weights(x_BID, *weights, first=0), positions_1I, reach)
            distance = torch.arange(reach, device=x_BID.device)
            toeplitz_HST = self.table[layer].to(wide)[:, distance[:, None] - distance + self.length - 1]
            return (query_BJS[:, None] @ toeplitz_HST @ key_BIS[:, None].transpose(-1, -2)).to(dtype)


def _span(positions: Tensor) -> int:
    """Largest distance between the first and the last token of a text."""
    spans = positions[..., -1:] - positions[..., :1]
    return int(spans.max()) if spans.numel() else 0


def _anchor_weights(x_BID: Tensor, query_weight: Tensor, key_weight: Tensor, *, first: int) -> Tensor:
    """softmax over k <= p of (query_weight x_p) . (key_weight x_k), for the tokens p from `first` on: [B, P, I]."""
    logits_BPI = (x_BID[..., first:, :] @ query_weight.T) @ (x_BID @ key_weight.T).transpose(-1, -2)
    later = torch.ones(logits_BPI.shape[-2:], dtype=torch.bool, device=x_BID.device).triu(1 + first)
    return logits_BPI.masked_fill(later, -torch.inf).softmax(-1)


def _by_distance(weights_BPI: Tensor, positions_1I: Tensor, reach: int) -> Tensor:
    """Weight of anchors at each distance 0 .. reach - 1 from p, the last P of the I tokens: [B, P, S]."""
    last_positions = positions_1I[:, positions_1I.shape[-1] - weights_BPI.shape[-2] :]
    # A token after p has weight 0, so any distance within the table will do.
    distance = (last_positions[:, :, None] - positions_1I[:, None, :]).clamp(min=0).expand(weights_BPI.shape)
    return weights_BPI.new_zeros(*weights_BPI.shape[:-1], reach).scatter_add(-1, distance, weights_BPI)


class Wavelet(PositionEncoding):
    """score(j, i) = q_j . (k_i + p(j - i)); coordinate c of p(D) is psi((D - b_c)/a_c), with a, b from `wavelet_grid`.

    Source: Oka et al., arXiv 2502.02004.  psi is `ricker`, (1 - t^2) e^(-t^2/2); `haar`, 1 on (0, 1/2] and -1 on (1/2,
    1]; `gaussian`, e^(-t^2); or `morlet`, e^(-t^2) cos(a t).  The vectors are the same in all heads and layers, and
    nothing is trained.

    The products of the queries with the vectors are taken once for each distance that occurs, and then gathered by
    pair.  So besides the scores there are d numbers for each distance, and one product for each query and distance:
    for J queries and I keys at consecutive positions there are J + I - 1 distances.
    """

    scores_pairwise = True

    def __init__(self, *, head_dim: int, wavelet: WaveletName = "ricker", scales: int = 8) -> None:
        """Set the head width d, the wavelet psi and the number s, from 1 to 32, of scales 1, 2, ..., 2^(s-1)."""
        super().__init__()
        require_sizes(head_dim=head_dim)
        if wavelet not in get_args(WaveletName):
            raise ValueError(f"wavelet must be {', '.join(get_args(WaveletName))}, not {wavelet!r}")
        if not 1 <= scales <= 32:
            raise ValueError(f"scales must be from 1 to 32, not {scales}")
        self.head_dim, self.wavelet, self.scales = head_dim, wavelet, scales

    def vectors(self, distances: Tensor) -> Tensor:
        """Vectors p of the distances, int64 [R]: float64 [R, C]."""
        scales_C, shifts_C = torch.tensor(wavelet_grid(self.head_dim, self.scales), device=distances.device).T
        offsets = distances[:, None] - shifts_C
        t = offsets.double() / scales_C  # exact: scales are powers of two
        if self.wavelet == "haar":
            return ((t > 0) & (t <= 0.5)).double() - ((t > 0.5) & (t <= 1)).double()
        square = t * t
        if self.wavelet == "ricker":
            return (1 - square) * torch.exp(-square / 2)
        bell = torch.exp(-square)
        return bell * offsets.double().cos() if self.wavelet == "morlet" else bell

    def scores(
        self,
        q_BHJC: Tensor,
        k_BHIC: Tensor,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
    ) -> Tensor:
        """Scores [B, H, J, I] of the dtype of q; products and sums at least in float32."""
        require_integers(query_positions, key_positions)
        require_width(q_BHJC, self.head_dim)
        wide = torch.promote_types(q_BHJC.dtype, torch.float32)
        q_BHJC, k_BHIC, narrow = q_BHJC.to(wide), k_BHIC.to(wide), q_BHJC.dtype
        distances_R, places = distinct(query_positions[..., :, None] - key_positions[..., None, :])
        by_distance = q_BHJC @ self.vectors(distances_R).to(wide).T
        scores = q_BHJC @ k_BHIC.transpose(-1, -2)
        return (scores + by_distance.gather(-1, places[..., None, :, :].expand(scores.shape))).to(narrow)


def distinct(values: Tensor) -> tuple[Tensor, Tensor]:
    """Return a table of integers, int64 [R], and the place of each given value in it, of their shape.

    The table is the range of the values, or only those that occur if there are fewer entries than the range is long.
    """
    if not values.numel():
        return values.new_zeros(1), values
    least, greatest = (int(end) for end in values.aminmax())
    if greatest - least < values.numel():
        return torch.arange(least, greatest + 1, device=values.device), values - least
    table, places = values.unique(return_inverse=True)
    return table, places


MODULES = {
    "rpe": Relational,
    "clipped": Relational,
    "ipe": Relational,
    "ipe-sh": Relational,
    "lbpe": partial(LBPE, scale_hint=False),
    "lbpe-sh": partial(LBPE, scale_hint=True),
    "rpe-square": RPESquare,
    "wavelet": Wavelet,
}
