"""Decoder for all encodings and for many models at once: pre-norm Transformer blocks with a model axis.

Shapes: M models, B batch, L length, D width, H heads, J queries, I keys, C head width, V alphabet. The last block may
compute only the queries from some position on, if the logits of earlier positions are not needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.model.layers import Embedding, LayerNorm, Linear
from lengthgen.empirical.model.mapped import MappedEncoding

SHORT = 48
"""Largest number of keys for which a CPU computes attention faster step by step than in PyTorch's fused kernel."""


class Decoder(nn.Module):
    """M models of equal shape: tokens int64 [M, B, L] -> logits of the next token [M, B, J, V].

    Attention is causal unless the encoding says otherwise; then the logits are no predictions of the next token.
    """

    def __init__(self, *, symbols: int, width: int, layers: int, heads: int, encoding: PositionEncoding) -> None:
        """Make one model; `stack_models` joins several. Initial weights as in PyTorch; embedding tables N(0, 1)."""
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads")
        self.encoding = MappedEncoding([encoding])
        self.tokens = Embedding(symbols, width)
        self.blocks = nn.ModuleList(Block(layer=layer, width=width, heads=heads) for layer in range(layers))
        self.norm = LayerNorm(width)
        self.head = Linear(width, symbols, bias=False)

    @property
    def models(self) -> int:
        """Number M of models."""
        return self.encoding.models

    def forward(
        self,
        tokens_MBL: Tensor,
        *,
        first_query: int = 0,
        positions: Tensor | None = None,
        labels: Tensor | None = None,
        scales_MB: Tensor | None = None,
        distances: Tensor | None = None,
    ) -> Tensor:
        """Compute logits [M, B, L - first_query, V].

        Args:
            tokens_MBL: int64 tokens.
            first_query: first position whose logits are computed.
            positions: int64 [L], or [M, L] if each model has its own; default 0 .. L - 1.
            labels: int64 labels if the encoding needs them: [1, L, L] for all, or [M, B or 1, L, L]; queries by keys.
            scales_MB: int64 scale of each instance, if the encoding needs it.
            distances: int64 distances of the tokens if the encoding needs them, in the same shapes as `labels`.
        """
        if positions is None:
            positions = torch.arange(tokens_MBL.shape[-1], device=tokens_MBL.device)
        x = self.encoding.embed(self.tokens(tokens_MBL), positions)
        for block in self.blocks:
            first = first_query if block is self.blocks[-1] else 0
            x = block(x, self.encoding, positions, first, labels, scales_MB, distances)
        return self.head(self.norm(x))


class Block(nn.Module):
    """Transformer block: attention, then an MLP of 4D GELU units, each added to its input."""

    def __init__(self, *, layer: int, width: int, heads: int) -> None:
        """Make one block; `layer` is passed to the encoding, which may have separate parameters in every layer."""
        super().__init__()
        self.layer, self.heads = layer, heads
        self.attention_norm = LayerNorm(width)
        self.qkv = Linear(width, 3 * width)
        self.out = Linear(width, width)
        self.mlp_norm = LayerNorm(width)
        self.up = Linear(width, 4 * width)
        self.down = Linear(4 * width, width)

    def forward(
        self,
        x: Tensor,
        encoding: MappedEncoding,
        positions: Tensor,
        first: int,
        labels: Tensor | None,
        scales_MB: Tensor | None,
        distances: Tensor | None = None,
    ) -> Tensor:
        """x [M, B, L, D] -> [M, B, L - first, D], for positions int64 [L] or [M, L]."""
        normed = self.attention_norm(x)
        qkv = self.qkv(normed).unflatten(-1, (3, self.heads, -1))
        q, k, v = qkv.permute(3, 0, 1, 4, 2, 5)  # each [M, B, H, L, C]
        pairs: dict[str, Any] = {"labels_BJI": labels, "distances_BJI": distances}
        content = Content(layer=self.layer, x_BLD=normed, q_BHJC=q, k_BHIC=k, scales_B=scales_MB, **pairs)
        rotated_q, k = encoding.rotate(q, k, positions, content)
        first_attended = first if encoding.shared.takes_last_queries else 0
        pairs = {name: part if part is None else part[..., first_attended:, :] for name, part in pairs.items()}
        content = replace(content, q_BHJC=q[..., first_attended:, :], **pairs)
        queries = positions[..., first_attended:]
        sizes, wide = (queries.shape[-1], positions.shape[-1]), torch.promote_types(q.dtype, torch.float32)
        mask = (causal_mask if encoding.shared.causal else _no_mask)(*sizes, wide, q.device)
        q = rotated_q[..., first_attended:, :]
        attended = attention(q, k, v, encoding, queries, positions, content, mask)[..., first - first_attended :, :]
        x = x[:, :, first:] + self.out(attended.transpose(2, 3).flatten(3))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    encoding: MappedEncoding,
    query_positions: Tensor,
    key_positions: Tensor,
    content: Content,
    mask: Tensor | None,
    drop: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """Attention with the encoding's bias, scores, weights and values: [M, B, H, J, C].

    q [M, B, H, J, C] and k [M, B, H, I, C] are rotated, and v [M, B, H, I, C] are the values.  `mask`, [J, I] or
    [M, B, 1, 1, I], is added to the logits, -inf for a key that is not to be seen; `drop` is dropout of the weights.
    """
    bias = encoding.bias(query_positions, key_positions, content, dtype=torch.promote_types(q.dtype, torch.float32))
    added = mask if bias is None else bias if mask is None else bias + mask
    if drop is None and _takes_fused_kernel(encoding, q, k, added):
        if added is not None:
            if added.dim() == 5:
                added = added.expand(*q.shape[:2], *added.shape[2:]).flatten(0, 1)
            added = added.to(q.dtype)
        models_and_batch = q.shape[:2]
        q, k, v = (tensor.flatten(0, 1) for tensor in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=added).unflatten(0, models_and_batch)
    root = q.shape[-1] ** 0.5
    if encoding.shared.scores_pairwise:
        logits = encoding.scores(q, k, query_positions, key_positions, content) / root
    else:
        logits = (q / root) @ k.transpose(-1, -2)
    logits = logits if added is None else logits + added
    weights = encoding.normalise(logits, query_positions, key_positions).to(q.dtype)
    weights = weights if drop is None else drop(weights)
    attended = weights @ v
    if not encoding.shared.changes_values:
        return attended
    return attended + encoding.values(weights, query_positions, key_positions, content)


def _takes_fused_kernel(encoding: MappedEncoding, q: Tensor, k: Tensor, added: Tensor | None) -> bool:
    """True if PyTorch's fused kernel can compute the attention, and is not slower than its single steps.

    On a CPU it is slower for short sequences, and falls back to single steps if the added bias is trained.
    """
    shared = encoding.shared
    if shared.changes_values or shared.scores_pairwise or encoding.overrides("normalise"):
        return False
    if q.device.type != "cpu" or q.dtype != torch.promote_types(q.dtype, torch.float32):
        return True
    return k.shape[-2] > SHORT and not (added is not None and added.requires_grad)


OLD_NAMES = {"project": "qkv", "merge": "out", "network_norm": "mlp_norm", "widen": "up", "narrow": "down"}
"""Layer names of a block in checkpoints of earlier revisions -> names of today."""


def current_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename the weights of a checkpoint to the names of today's decoder."""
    return {".".join(OLD_NAMES.get(part, part) for part in name.split(".")): tensor for name, tensor in weights.items()}


def causal_mask(queries: int, keys: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Mask [J, I] to add to logits, 0 up to the query and -inf after it; the queries are the last of the keys."""
    return torch.full((queries, keys), -torch.inf, dtype=dtype, device=device).triu(1 + keys - queries)


def _no_mask(queries: int, keys: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Mask of a query that attends to all keys."""
    return torch.zeros((queries, keys), dtype=dtype, device=device)
