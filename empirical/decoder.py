"""One small decoder for all encodings: pre-norm Transformer blocks with the hooks of `PositionEncoding`.

Shapes: B batch, L length, D width, H heads, J query position, I key position, C head width, V alphabet.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from empirical.encodings.base import Content, PositionEncoding


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
        """Logits [B, L, V]; `labels_BJI` as `Content` holds them, where the encoding needs them."""
        positions = torch.arange(tokens_BL.shape[1], device=tokens_BL.device)
        x_BLD = self.encoding.embed(self.tokens(tokens_BL), positions)
        for block in self.blocks:
            x_BLD = block(x_BLD, self.encoding, positions, labels_BJI)
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

    def forward(
        self, x_BLD: Tensor, encoding: PositionEncoding, positions: Tensor, labels_BJI: Tensor | None
    ) -> Tensor:
        """[B, L, D] -> [B, L, D]; positions int64 [L] or [B, L]."""
        normed_BLD = self.attention_norm(x_BLD)
        projected = self.project(normed_BLD).unflatten(-1, (3, self.heads, -1))
        q_BHJC, k_BHIC, v_BHIC = projected.permute(2, 0, 3, 1, 4)
        content = Content(layer=self.layer, x_BLD=normed_BLD, q_BHJC=q_BHJC, k_BHIC=k_BHIC, labels_BJI=labels_BJI)
        dtype = torch.promote_types(q_BHJC.dtype, torch.float32)
        bias_BHJI = encoding.bias(positions, positions, content, dtype=dtype)
        q_BHJC, k_BHIC = encoding.rotate(q_BHJC, k_BHIC, positions, content)
        if encoding.changes_values or encoding.scores_pairwise:
            scores_BHJI = encoding.scores(q_BHJC, k_BHIC, positions, positions)
            weights_BHJI = attention_weights(scores_BHJI / q_BHJC.shape[-1] ** 0.5, bias_BHJI)
            heads_BHJC = weights_BHJI @ v_BHIC
            if encoding.changes_values:
                heads_BHJC = heads_BHJC + encoding.values(weights_BHJI, content)
        else:
            causal = causal_mask(q_BHJC.shape[2], dtype, q_BHJC.device)
            mask_JI = causal if bias_BHJI is None else bias_BHJI + causal
            heads_BHJC = F.scaled_dot_product_attention(q_BHJC, k_BHIC, v_BHIC, attn_mask=mask_JI.to(q_BHJC.dtype))
        x_BLD = x_BLD + self.merge(heads_BHJC.transpose(1, 2).flatten(2))
        return x_BLD + self.network(self.network_norm(x_BLD))


def causal_mask(length: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """[J, I] to be added to logits: 0 where the key is not after the query, -inf elsewhere."""
    return torch.full((length, length), -torch.inf, dtype=dtype, device=device).triu(1)


def attention_weights(logits_BHJI: Tensor, bias_BHJI: Tensor | None) -> Tensor:
    """softmax over keys of logits + bias, causal: [B, H, J, I], of the dtype of the logits."""
    wide = logits_BHJI if bias_BHJI is None else logits_BHJI + bias_BHJI
    return (wide + causal_mask(wide.shape[-1], wide.dtype, wide.device)).softmax(-1).to(logits_BHJI.dtype)
