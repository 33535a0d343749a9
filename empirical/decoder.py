"""One small decoder for all encodings: pre-norm Transformer blocks with the hooks of `PositionEncoding`.

Shapes: B batch, L length, D width, H heads, J query position, I key position, C head width, V alphabet.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from empirical.encodings import PositionEncoding


class Decoder(nn.Module):
    """Causal decoder: token numbers [B, L] -> logits of the next token [B, L, V]."""

    def __init__(self, *, symbols: int, width: int, layers: int, heads: int, encoding: PositionEncoding) -> None:
        """`width` must be a multiple of `heads`. Weights start as PyTorch draws them: tables N(0, 1)."""
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads")
        self.encoding = encoding
        self.tokens = nn.Embedding(symbols, width)
        self.blocks = nn.ModuleList(Block(layer=layer, width=width, heads=heads) for layer in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, symbols, bias=False)

    def forward(self, tokens_BL: Tensor, labels_BJI: Tensor | None = None) -> Tensor:
        """Logits [B, L, V]; `labels_BJI` as `PositionEncoding` takes them, where the encoding needs them."""
        x_BLD = self.encoding.embed(self.tokens(tokens_BL))
        for block in self.blocks:
            x_BLD = block(x_BLD, self.encoding, labels_BJI)
        return self.head(self.norm(x_BLD))


class Block(nn.Module):
    """Attention, then a GELU network four times as wide, each added to its input."""

    def __init__(self, *, layer: int, width: int, heads: int) -> None:
        """`layer` is handed to the encoding, which may have parameters of its own in every layer."""
        super().__init__()
        self.layer, self.heads = layer, heads
        self.attention_norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.network_norm = nn.LayerNorm(width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x_BLD: Tensor, encoding: PositionEncoding, labels_BJI: Tensor | None) -> Tensor:
        """[B, L, D] -> [B, L, D]."""
        projected = self.project(self.attention_norm(x_BLD)).unflatten(-1, (3, self.heads, -1))
        q_BHJC, k_BHIC, v_BHIC = projected.permute(2, 0, 3, 1, 4)
        bias_BHJI = encoding.bias(self.layer, q_BHJC, labels_BJI)
        if encoding.changes_values:
            weights_BHJI = attention_weights(q_BHJC, k_BHIC, bias_BHJI)
            heads_BHJC = weights_BHJI @ v_BHIC + encoding.values(self.layer, weights_BHJI, labels_BJI)
        else:
            causal = causal_mask(q_BHJC)
            heads_BHJC = F.scaled_dot_product_attention(
                q_BHJC, k_BHIC, v_BHIC, attn_mask=causal if bias_BHJI is None else bias_BHJI + causal
            )
        x_BLD = x_BLD + self.merge(heads_BHJC.transpose(1, 2).flatten(2))
        return x_BLD + self.network(self.network_norm(x_BLD))


def causal_mask(q_BHJC: Tensor) -> Tensor:
    """[J, I] to be added to logits: 0 where the key is not after the query, -inf elsewhere."""
    length = q_BHJC.shape[2]
    return torch.full((length, length), -torch.inf, dtype=q_BHJC.dtype, device=q_BHJC.device).triu(1)


def attention_weights(q_BHJC: Tensor, k_BHIC: Tensor, bias_BHJI: Tensor | None) -> Tensor:
    """softmax over keys of q.k / sqrt(C) + bias, causal: [B, H, J, I]."""
    logits_BHJI = q_BHJC @ k_BHIC.transpose(-1, -2) / q_BHJC.shape[-1] ** 0.5 + causal_mask(q_BHJC)
    return (logits_BHJI if bias_BHJI is None else logits_BHJI + bias_BHJI).softmax(-1)
