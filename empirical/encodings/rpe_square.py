"""RPE-Square: a bias by how much farther the query is from its anchor than the key is from its own.

Source: arXiv 2410.08898.  Symbolic twin: theory/rpe_square.py.  S distances, from 0 to the largest of the text.
"""

import torch
from torch import Tensor, nn

from empirical.encodings.base import Content, PositionEncoding, require_integers


class RPESquare(PositionEncoding):
    """sum over k <= j, l <= i of softmax_k(W1 x_j . W2 x_k) softmax_l(W3 x_i . W4 x_l) R_((j-k) - (i-l)).  [P]

    W1..W4 are [inner, D] of the layer and shared by heads, R one number a difference of the layer and head [F].  With
    A_js the weight that query j gives anchors at distance s, and B_it that of key i, it is sum_st A_js R_(s-t) B_it.

    "Up to" is along the sequence, as the causal mask has it, and any token may be an anchor: padding must come after
    what is real.  Attention finds the anchors from content, so that no scale is needed.
    """

    def __init__(self, *, width: int, heads: int, layers: int, length: int, inner: int = 16) -> None:
        """`width` is D; `length` is how many positions a text may span: R knows the distances 0 .. length - 1.

        R starts as N(0, 0.02^2), W as linear layers of PyTorch do: both are our choice.

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
        """[B, H, J, I], computed at least in float32; the queries are the last J of the I tokens of x.

        Raises:
            ValueError: positions are not integers, decrease along the sequence, or span more than `length`; there is no
                x, it does not have a token for each key, or the queries are not the last of them.
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
            raise ValueError("positions must not decrease along the sequence, as anchors are looked for before a token")
        if _span(key_positions) >= self.length:
            raise ValueError(
                f"tokens {_span(key_positions)} positions apart are farther than the table of length {self.length} "
                "knows: make RPE-Square with a larger length"
            )


def _span(positions: Tensor) -> int:
    """How far apart the first and the last token of a text are, at most."""
    apart = positions[..., -1:] - positions[..., :1]
    return int(apart.max()) if apart.numel() else 0


def _anchor_weights(x_BID: Tensor, asking: Tensor, asked: Tensor, *, first: int) -> Tensor:
    """softmax over k <= p of (asking x_p) . (asked x_k), of the tokens p from `first` on: [B, P, I]."""
    logits_BPI = (x_BID[..., first:, :] @ asking.T) @ (x_BID @ asked.T).transpose(-1, -2)
    later = torch.ones(logits_BPI.shape[-2:], dtype=torch.bool, device=x_BID.device).triu(1 + first)
    return logits_BPI.masked_fill(later, -torch.inf).softmax(-1)


def _by_distance(weights_BPI: Tensor, positions_1I: Tensor, reach: int) -> Tensor:
    """[B, P, S]: the weight of anchors at each distance 0 .. reach - 1 from p, the last P of the I tokens."""
    asking = positions_1I[:, positions_1I.shape[-1] - weights_BPI.shape[-2] :]
    # A token after p has no weight; its distance only has to be in the table.
    distance = (asking[:, :, None] - positions_1I[:, None, :]).clamp(min=0).expand(weights_BPI.shape)
    return weights_BPI.new_zeros(*weights_BPI.shape[:-1], reach).scatter_add(-1, distance, weights_BPI)
