"""Small decoders written by hand, right as they are; tests put one fault into each by overriding one method."""

import math
from types import SimpleNamespace

import torch
from torch import nn

VOCABULARY, WIDTH, HEADS, LONGEST = 64, 32, 4, 600
SIZE = WIDTH // HEADS


class Config(SimpleNamespace):
    """Configuration that says of itself what it holds, as those of transformers."""

    def to_dict(self):
        return dict(vars(self))


def turned(x, angle):
    """Rotation of the planes (c, c + C/2) of x [..., L, C] by angles [..., L, C/2]."""
    first, second = x.chunk(2, -1)
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


class Decoder(nn.Module):
    """Two layers of attention with RoPE, padding, positions and a cache of rotated keys."""

    window, bases = None, (10_000.0, 10_000.0)
    config = None

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.inputs = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH, bias=False) for _ in range(2))
        self.outputs = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))

    def positions(self, ids, mask, start):
        """Positions of the new tokens, which follow `start` earlier ones: those of real tokens count."""
        if mask is None:
            return torch.arange(start, start + ids.shape[1]).expand(len(ids), -1)
        return (mask.long().cumsum(1) - 1).clamp(min=0)[:, start:]

    def embed(self, ids, positions):
        return self.embedding(ids)

    def rotate(self, x, positions, layer):
        steps = self.bases[layer] ** (-torch.arange(0, SIZE, 2, dtype=torch.float64) / SIZE)
        return turned(x, positions[:, None, :, None] * steps)

    def query(self, q, positions):
        return q

    def keys(self, kept, new, positions, layer):
        """Keys for attention and for the cache, from the rotated ones of the cache and the new ones."""
        new = self.rotate(new, positions, layer)
        return new if kept is None else torch.cat([kept, new], 2)

    def visible(self, queries, keys, layer):
        seen = keys <= queries
        return seen if self.window is None else seen & (queries - keys < self.window)

    def bias(self, queries, keys):
        return 0.0

    def kept(self, parts):
        """Keys and values that the cache keeps."""
        return parts

    def forward(self, input_ids, attention_mask=None, position_ids=None, past_key_values=None, use_cache=False):
        start, layers = past_key_values or (0, [None, None])
        mask = attention_mask if attention_mask is not None and attention_mask.ndim == 2 else None
        positions = self.positions(input_ids, mask, start) if position_ids is None else position_ids
        x, caches = self.embed(input_ids, positions), []
        new = torch.arange(start, start + input_ids.shape[1])
        for layer, cache in enumerate(layers):
            parts = self.inputs[layer](self.norms[layer](x)).chunk(3, -1)
            q, k, v = (part.unflatten(-1, (HEADS, SIZE)).transpose(1, 2) for part in parts)
            k = self.keys(cache and cache[0], k, positions, layer)
            v = v if cache is None else torch.cat([cache[1], v], 2)
            caches.append(self.kept((k, v)))
            old = torch.arange(start + input_ids.shape[1] - k.shape[2], start + input_ids.shape[1])
            q = self.query(self.rotate(q, positions, layer), positions)
            scores = q @ k.mT / math.sqrt(SIZE) + self.bias(new[:, None], old)
            seen = self.visible(new[:, None], old, layer)
            if mask is not None:
                seen = seen & (mask[:, None, None, old] > 0)
            elif attention_mask is not None:
                seen = seen & (attention_mask == 0)
            weights = scores.masked_fill(~seen, -1e9).softmax(-1)
            x = x + self.outputs[layer]((weights @ v).transpose(1, 2).flatten(2)).tanh()
        cache = (start + input_ids.shape[1], caches) if use_cache else None
        return SimpleNamespace(logits=x @ self.embedding.weight.T, past_key_values=cache)


class Absolute(Decoder):
    """Decoder with a table of positions that is added to the embeddings."""

    rows, first = LONGEST, 0

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(self.rows, WIDTH)

    def embed(self, ids, positions):
        return self.embedding(ids) + self.table(positions + self.first)

    def rotate(self, x, positions, layer):
        return x


class Without(Decoder):
    """Decoder without positions: only the mask tells an order."""

    def rotate(self, x, positions, layer):
        return x


class Biased(Without):
    """Decoder with the bias of ALiBi."""

    def bias(self, queries, keys):
        slopes = 2.0 ** -(2.0 * torch.arange(1, HEADS + 1))
        return -slopes[:, None, None] * (queries - keys).abs()


class Windowed(Decoder):
    """Decoder of which each query sees a window of keys, and whose cache keeps no more."""

    window = 40
    config = Config(sliding_window=40, num_hidden_layers=2)

    def kept(self, parts):
        return tuple(part[:, :, -self.window :] for part in parts)


class Encoder(Decoder):
    """The same layers without a causal mask and without a cache."""

    def visible(self, queries, keys, layer):
        return (keys >= 0) & (queries >= 0)

    def forward(self, input_ids, attention_mask=None, position_ids=None):
        return super().forward(input_ids, attention_mask, position_ids)
