"""RPE-Square: a bias by the difference of two distances, the query's from its anchor and the key's from its own.

Source: arXiv 2410.08898.  Symbolic twin: theory/learning/anchored.py.  S distances, from 0
to the largest of the text.
"""

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers


class RPESquare(PositionEncoding):
    """sum over k <= j, l <= i of softmax_k(W1 x_j . W2 x_k) softmax_l(W3 x_i . W4 x_l) R_((j-k) - (i-l)).  [P]

    Parameters: W1..W4, float32 [layers, inner, D], shared by heads; R, float32 [layers, H, 2 length - 1], one number
    per difference [F].  With A_js the weight that query j gives to anchors at distance s, and B_it that of key i, the
    bias is sum_st A_js R_(s-t) B_it.

    "k <= j" is meant along the sequence, as in the causal mask, and any token may be an anchor: padding must come after
    the real tokens.  Attention finds the anchors from content, so no scale is needed.
    """

    def __init__(self, *, width: int, heads: int, layers: int, length: int, inner: int = 16) -> None:
        """Draw the parameters; `width` is D, `length` the largest number of positions that a text may span.

        R covers the distances 0 .. length - 1.  R is initialised N(0, 0.02^2), W1..W4 like PyTorch's linear layers:
        both are our choice.

        Raises:
            ValueError: a size is below 1.
        """
        super().__init__()
        sizes = {"width": width, "heads": heads, "layers": layers, "length": length, "inner": inner}
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"{name} must be at least 1, not {size}")
        self.length = length
        reach = width**-0.5
        self.of_query, self.of_query_anchor, self.of_key, self.of_key_anchor = (
            nn.Parameter(torch.empty(layers, inner, width).uniform_(-reach, reach)) for _ in range(4)
        )
        self.table = nn.Parameter(torch.empty(layers, heads, 2 * length - 1).normal_(std=0.02))

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [B, H, J, I], computed at least in float32; the queries are the last J of the I tokens of x.

        Raises:
            ValueError: positions are not integers, decrease along the sequence, or span more than `length`; x
                is missing or does not have a token for each key; or the queries are not its last tokens.
        """
        if content is None or content.x_BLD is None:
            raise ValueError("RPE-Square finds anchors in the layer's input: the content has no x_BLD")
        self._check(query_positions, key_positions, tokens=content.x_BLD.shape[-2])
        layer, first = content.layer, key_positions.shape[-1] - query_positions.shape[-1]
        wide = torch.promote_types(torch.promote_types(content.x_BLD.dtype, dtype), torch.float32)
        x_BID, positions_1I = content.x_BLD.to(wide), key_positions if key_positions.ndim == 2 else key_positions[None]
        reach = _span(key_positions) + 1
        with torch.autocast(x_BID.device.type, enabled=False):
            weights = (weight[layer].to(wide) for weight in (self.of_query, self.of_query_anchor))
            query_BJS = _by_distance(_anchor_weights(x_BID, *weights, first=first), positions_1I, reach)
            weights = (weight[layer].to(wide) for weight in (self.of_key, self.of_key_anchor))
            key_BIS = _by_distance(_anchor_weights(x_BID, *weights, first=0), positions_1I, reach)
            distance = torch.arange(reach, device=x_BID.device)
            toeplitz_HST = self.table[layer].to(wide)[:, distance[:, None] - distance + self.length - 1]
            return (query_BJS[:, None] @ toeplitz_HST @ key_BIS[:, None].transpose(-1, -2)).to(dtype)

    def _check(self, query_positions: Tensor, key_positions: Tensor, *, tokens: int) -> None:
        """Raise ValueError for positions that `bias` refuses."""
        require_integers(query_positions)
        require_integers(key_positions)
        queries, keys = query_positions.shape[-1], key_positions.shape[-1]
        if tokens != keys:
            raise ValueError(f"x has {tokens} tokens, but there are {keys} key positions")
        if queries > keys or not (query_positions == key_positions[..., keys - queries :]).all():
            raise ValueError(
                f"the {queries} queries are not the last {queries} of the {keys} tokens, by their positions"
            )
        if (key_positions.diff(dim=-1) < 0).any():
            raise ValueError(
                "positions must not decrease along the sequence, because anchors are searched before a token"
            )
        if _span(key_positions) >= self.length:
            raise ValueError(
                f"tokens {_span(key_positions)} positions apart are farther than the table of length {self.length} "
                "covers: make RPE-Square with a larger length"
            )


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


MODULES = {"rpe-square": RPESquare}
