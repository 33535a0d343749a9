"""Encoder for all encodings and for many models at once: post-norm Transformer blocks in which every token sees all.

With the same weights it computes what torch.nn.TransformerEncoderLayer computes (`norm_first=False`, GELU), and then
one vector of classes.  Shapes: M models, B batch, L text length, T = L tokens, or L + 1 with CLS, D width, H heads,
C head width, N classes.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.biases import path_distances
from lengthgen.empirical.model.decoder import attention
from lengthgen.empirical.model.layers import Embedding, LayerNorm, Linear
from lengthgen.empirical.model.mapped import MappedEncoding


class Dropout:
    """Dropout of M models, each with its own numbers, which a counter determines."""

    def __init__(self, share: float) -> None:
        """Set the share of numbers that become 0; `begin` must be called before each training step."""
        self.share = share
        self.generators: list[torch.Generator] = []

    def begin(self, seeds: Sequence[int], device: str) -> None:
        """Start the numbers of a step, from one seed for each model."""
        self.generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def __call__(self, x: Tensor) -> Tensor:
        """x [M, ...], with each model's numbers set to 0 or divided by the share of those that stay."""
        stays = 1 - self.share
        drawn = [
            torch.empty_like(part).bernoulli_(stays, generator=g) for part, g in zip(x, self.generators, strict=True)
        ]
        return x * torch.stack(drawn) / stays


class Encoder(nn.Module):
    """M models of equal shape: tokens int64 [M, B, L] -> logits of the classes [M, B, N].

    With CLS, a learned vector without position code stands before the text: for encodings by relation or rotation it is
    at position 0 and the text at 1 .. L, while `embed` sees the text alone, at 0 .. L - 1.
    """

    def __init__(
        self,
        *,
        symbols: int,
        classes: int,
        width: int,
        layers: int,
        heads: int,
        encoding: PositionEncoding,
        has_cls: bool,
        dropout: float = 0.0,
    ) -> None:
        """Make one model; `stack_models` joins several.

        Initial weights are those of PyTorch's encoder layer and linear layer; embeddings and CLS are N(0, 1).
        """
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads")
        self.encoding = MappedEncoding([encoding])
        self.tokens = Embedding(symbols, width)
        self.cls = nn.Parameter(torch.randn(1, width)) if has_cls else None
        self.blocks = nn.ModuleList(EncoderBlock(layer=layer, width=width, heads=heads) for layer in range(layers))
        self.head = Linear(width, classes)
        self.dropout = Dropout(dropout)

    def forward(
        self, tokens_MBL: Tensor, *, hidden_MBL: Tensor | None = None, read_MBL: Tensor | None = None
    ) -> Tensor:
        """Compute logits [M, B, N].

        Args:
            tokens_MBL: int64 tokens.
            hidden_MBL: bool, True for tokens that attention does not see; None if it sees all.
            read_MBL: bool, True for the tokens whose mean is read, at least one of each input, if there is no CLS.
        """
        models, batch, length = tokens_MBL.shape
        x = self.encoding.embed(self.tokens(tokens_MBL), torch.arange(length, device=tokens_MBL.device))
        if self.cls is not None:
            x = torch.cat([self.cls[:, None, None].expand(models, batch, 1, -1), x], dim=2)
            if hidden_MBL is not None:
                hidden_MBL = F.pad(hidden_MBL, (1, 0))
        mask = None
        if hidden_MBL is not None:
            mask = torch.zeros(hidden_MBL.shape, device=x.device).masked_fill(hidden_MBL, -torch.inf)[:, :, None, None]
        positions = torch.arange(x.shape[2], device=x.device)
        drop = self.dropout if self.training and self.dropout.share else None
        for block in self.blocks:
            queries = 1 if self.cls is not None and block is self.blocks[-1] else None
            x = block(x, self.encoding, positions, mask, queries, drop)
        if self.cls is not None:
            return self.head(x[:, :, 0])
        assert read_MBL is not None
        shares = read_MBL / read_MBL.sum(-1, keepdim=True)
        return self.head((shares[..., None] * x).sum(2))


class EncoderBlock(nn.Module):
    """Transformer block: attention, then an MLP of 4D GELU units, each added to its input and then normalised."""

    def __init__(self, *, layer: int, width: int, heads: int) -> None:
        """Make one block; `layer` is passed to the encoding, which may have separate parameters in every layer."""
        super().__init__()
        self.layer, self.heads = layer, heads
        self.query, self.key_value, self.out = Linear(width, width), Linear(width, 2 * width), Linear(width, width)
        bound = (6 / (width + 3 * width)) ** 0.5  # the three matrices are drawn as one, and biases are 0
        for linear in (self.query, self.key_value):
            nn.init.uniform_(linear.weight, -bound, bound)
        for linear in (self.query, self.key_value, self.out):
            assert linear.bias is not None
            nn.init.zeros_(linear.bias)
        self.up, self.down = Linear(width, 4 * width), Linear(4 * width, width)
        self.attention_norm, self.mlp_norm = LayerNorm(width), LayerNorm(width)

    def forward(
        self,
        x: Tensor,
        encoding: MappedEncoding,
        positions: Tensor,
        mask: Tensor | None,
        queries: int | None,
        drop: Dropout | None,
    ) -> Tensor:
        """x [M, B, T, D] -> [M, B, J, D], for positions int64 [T] and the first J = `queries` tokens; None for all."""
        read = x[:, :, :queries]
        q = self.query(read).unflatten(-1, (self.heads, -1)).transpose(2, 3)
        k, v = self.key_value(x).unflatten(-1, (2, self.heads, -1)).permute(3, 0, 1, 4, 2, 5)
        at = positions[: q.shape[3]]
        distances = path_distances(at, positions) if encoding.shared.needs_distances else None
        content = Content(layer=self.layer, x_BLD=x, q_BHJC=q, k_BHIC=k, distances_BJI=distances)
        if encoding.overrides("rotate"):
            q, k = encoding.rotate(q, q, at, content)[0], encoding.rotate(k, k, positions, content)[1]
        attended = attention(q, k, v, encoding, at, positions, content, mask, drop)
        attended = self.out(attended.transpose(2, 3).flatten(3))
        x = self.attention_norm(read + (attended if drop is None else drop(attended)))
        inner = F.gelu(self.up(x))
        outer = self.down(inner if drop is None else drop(inner))
        return self.mlp_norm(x + (outer if drop is None else drop(outer)))
