"""Decoder for all encodings and for many models at once: pre-norm Transformer blocks with a model axis.

Shapes: M models, B batch, L length, D width, H heads, J queries, I keys, C head width, V alphabet. The last block may
compute only the queries from some position on, if the logits of earlier positions are not needed.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from empirical.encodings.base import Content, PositionEncoding
from empirical.model.layers import Embedding, LayerNorm, Linear
from empirical.model.mapped import MappedEncoding


class Decoder(nn.Module):
    """M models of equal shape: tokens int64 [M, B, L] -> logits of the next token [M, B, J, V].

    Attention is causal unless the encoding says otherwise; then the logits are no predictions of the next token.
    """

    def __init__(self, *, symbols: int, width: int, layers: int, heads: int, encoding: PositionEncoding) -> None:
        """Make one model; `stack_decoders` joins several. Initial weights as in PyTorch; embedding tables N(0, 1).

        Raises:
            ValueError: `width` is not a multiple of `heads`.
        """
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
        content = Content(
            layer=self.layer,
            x_BLD=normed,
            q_BHJC=q,
            k_BHIC=k,
            labels_BJI=labels,
            scales_B=scales_MB,
            distances_BJI=distances,
        )
        rotated_q, k = encoding.rotate(q, k, positions, content)
        first_attended = first if encoding.shared.takes_last_queries else 0
        labels, distances = (None if pairs is None else pairs[..., first_attended:, :] for pairs in (labels, distances))
        content = replace(content, q_BHJC=q[..., first_attended:, :], labels_BJI=labels, distances_BJI=distances)
        attended = _attention(rotated_q[..., first_attended:, :], k, v, encoding, positions, content)[
            ..., first - first_attended :, :
        ]
        x = x[:, :, first:] + self.out(attended.transpose(2, 3).flatten(3))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


def _attention(
    q: Tensor, k: Tensor, v: Tensor, encoding: MappedEncoding, positions: Tensor, content: Content
) -> Tensor:
    """Attention of the last J of the I tokens: [M, B, H, J, C]."""
    queries = positions[..., -q.shape[3] :]
    dtype = torch.promote_types(q.dtype, torch.float32)
    bias = encoding.bias(queries, positions, content, dtype=dtype)
    shared = encoding.shared
    if not (shared.changes_values or shared.scores_pairwise or encoding.overrides("normalise")):
        mask = attention_mask(q.shape[3], k.shape[3], dtype, q.device, causal=shared.causal)
        if bias is not None:
            mask = (bias + mask).expand(*q.shape[:2], *bias.shape[2:]).flatten(0, 1)
        q, k, v = (tensor.flatten(0, 1) for tensor in (q, k, v))
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.to(q.dtype))
        return attended.unflatten(0, content.x_BLD.shape[:2])
    logits = encoding.scores(q, k, queries, positions, content) / q.shape[-1] ** 0.5
    weights = attention_weights(encoding, logits, bias, queries, positions, causal=shared.causal)
    attended = weights @ v
    return attended + encoding.values(weights, queries, positions, content) if shared.changes_values else attended


OLD_NAMES = {"project": "qkv", "merge": "out", "network_norm": "mlp_norm", "widen": "up", "narrow": "down"}
"""Layer names of a block in checkpoints of earlier revisions -> names of today."""


def current_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename the weights of a checkpoint to the names of today's decoder."""
    return {".".join(OLD_NAMES.get(part, part) for part in name.split(".")): tensor for name, tensor in weights.items()}


def attention_mask(queries: int, keys: int, dtype: torch.dtype, device: torch.device, *, causal: bool) -> Tensor:
    """Mask [J, I] to add to logits: `causal_mask`, or 0 everywhere if a query attends to all keys."""
    if causal:
        return causal_mask(queries, keys, dtype, device)
    return torch.zeros((queries, keys), dtype=dtype, device=device)


def causal_mask(queries: int, keys: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Mask [J, I] to add to logits, 0 up to the query and -inf after it; the queries are the last of the keys."""
    return torch.full((queries, keys), -torch.inf, dtype=dtype, device=device).triu(1 + keys - queries)


def attention_weights(
    encoding: MappedEncoding | PositionEncoding,
    logits: Tensor,
    bias: Tensor | None,
    query_positions: Tensor,
    key_positions: Tensor,
    *,
    causal: bool = True,
) -> Tensor:
    """Normalised logits + bias, over keys up to the query if causal: [..., J, I], in the dtype of the logits."""
    biased = logits if bias is None else logits + bias
    masked = biased + attention_mask(*biased.shape[-2:], biased.dtype, biased.device, causal=causal)
    return encoding.normalise(masked, query_positions, key_positions).to(logits.dtype)


def stack_decoders(members: Sequence[Decoder]) -> Decoder:
    """Join decoders of equal shape into one decoder of all their models, with copies of their weights."""
    decoder = copy.deepcopy(members[0])
    decoder.encoding = MappedEncoding([encoding for member in members for encoding in member.encoding.each()])
    with torch.no_grad():
        for name, parameter in decoder.named_parameters():
            if not name.startswith("encoding."):
                parameter.data = torch.cat([member.get_parameter(name) for member in members])
    return decoder
