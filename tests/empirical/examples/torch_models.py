"""Language models made of PyTorch's own attention modules, as users write them."""

import torch
from torch import Tensor, nn

VOCABULARY, WIDTH, HEADS, LONGEST = 40, 32, 4, 600


class Model(nn.Module):
    """Model of one or two layers of attention over token ids.

    Args:
        attention: "attention" (nn.MultiheadAttention), "layer" (nn.TransformerEncoderLayer) or "encoder".
        encoding: "absolute" (a table added to embeddings), "bias" (ALiBi in the mask) or "none".
        batch_first: layout of the layers.
        need_weights: argument of nn.MultiheadAttention.
        causal: True if later tokens are masked.
    """

    def __init__(self, attention, encoding, *, batch_first=True, need_weights=False, causal=True):
        super().__init__()
        self.kind, self.encoding, self.causal = attention, encoding, causal
        self.batch_first, self.need_weights = batch_first, need_weights
        self.embedding, self.table = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LONGEST, WIDTH)
        if attention == "attention":
            self.layers = nn.MultiheadAttention(WIDTH, HEADS, batch_first=batch_first)
        else:
            self.layers = nn.TransformerEncoderLayer(WIDTH, HEADS, 64, batch_first=batch_first)
            if attention == "encoder":
                self.layers = nn.TransformerEncoder(self.layers, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def mask(self, batch: int, length: int, dtype: torch.dtype) -> Tensor | None:
        """Mask of numbers, [L, L] or, with ALiBi's bias, [B * H, L, L]; None if nothing is masked."""
        later = torch.full((length, length), -torch.inf, dtype=dtype).triu(1) if self.causal else None
        if self.encoding != "bias":
            return later
        positions = torch.arange(length, dtype=dtype)
        slopes = torch.tensor([2.0 ** -(2 * head + 2) for head in range(HEADS)], dtype=dtype)[:, None, None]
        bias = -slopes * (positions[:, None] - positions).abs()
        return (bias if later is None else bias + later).repeat(batch, 1, 1)

    def forward(self, input_ids: Tensor) -> Tensor:
        x = self.embedding(input_ids)
        mask = self.mask(*input_ids.shape, x.dtype)
        if self.encoding == "absolute":
            x = x + self.table.weight[: x.shape[1]]
        x = x if self.batch_first else x.transpose(0, 1)
        if self.kind == "attention":
            x = self.layers(x, x, x, attn_mask=mask, need_weights=self.need_weights)[0]
        else:
            x = self.layers(x, mask)
        return self.head(x if self.batch_first else x.transpose(0, 1))


def encoder_with_bias():
    """An encoder whose bias PyTorch's fast path takes for a mask of truth values."""
    return Model("encoder", "bias")


class OwnSoftmax(nn.Module):
    """Model with a softmax of its own, which cannot be recognised."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)

    def forward(self, input_ids: Tensor) -> Tensor:
        x = self.embedding(input_ids)
        weights = (x @ x.mT).exp()
        return weights / weights.sum(-1, keepdim=True) @ x


class Answering(Model):
    """Model with another way to be called, or another answer.

    Args:
        answer: function of the logits [B, L, V].
        table_first: True if the table of positions is made before the embedding of tokens.
    """

    def __init__(self, answer, table_first=False):
        super().__init__("attention", "absolute")
        self.answer = answer
        if table_first:
            del self.embedding
            self.embedding = nn.Embedding(VOCABULARY, WIDTH)

    def forward(self, input_ids: Tensor):
        return self.answer(super().forward(input_ids))


class ByKeyword(Model):
    """Model that takes arguments by keyword only."""

    def forward(self, *, tokens: Tensor) -> Tensor:
        return super().forward(tokens)


class WithPositions(Model):
    """Model that needs positions, and takes them by a call of its table."""

    def forward(self, input_ids: Tensor, position_ids: Tensor) -> Tensor:
        x = self.embedding(input_ids) + self.table(position_ids)
        return self.head(self.layers(x, x, x, attn_mask=self.mask(*input_ids.shape, x.dtype))[0])


class EncoderDecoder(nn.Module):
    """Encoder and decoder with absolute positions in the decoder only; the decoder attends to the encoder too."""

    def __init__(self):
        super().__init__()
        self.embedding, self.table = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.Transformer(WIDTH, HEADS, 2, 2, 64, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, input_ids: Tensor, decoder_input_ids: Tensor) -> Tensor:
        target = self.embedding(decoder_input_ids) + self.table.weight[: decoder_input_ids.shape[1]]
        later = nn.Transformer.generate_square_subsequent_mask(target.shape[1], dtype=target.dtype)
        return self.head(self.layers(self.embedding(input_ids), target, tgt_mask=later))


class Latents(nn.Module):
    """Model without self-attention: fixed vectors attend to tokens, and tokens to them."""

    def __init__(self):
        super().__init__()
        self.embedding, self.latents = nn.Embedding(VOCABULARY, WIDTH), nn.Parameter(torch.ones(5, WIDTH))
        self.read = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.write = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def forward(self, input_ids: Tensor) -> Tensor:
        x = self.embedding(input_ids)
        latents = self.read(self.latents.expand(len(x), -1, -1), x, x)[0]
        return self.write(x, latents, latents)[0]
