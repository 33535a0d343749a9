"""Right implementations, into which tests plant bugs by replacing text."""

import torch
from torch import nn

TABLES = {}


class Rope(nn.Module):
    """Half-split RoPE with a table that is keyed by all that it depends on."""

    def __init__(self, head_dim=64, base=10000.0):
        super().__init__()
        self.tables = TABLES
        self.head_dim, self.base = head_dim, base

    def table(self, positions):
        key = (self.base, self.head_dim, positions.dtype, tuple(positions.flatten().tolist()), positions.shape)
        if key not in self.tables:
            self.tables.clear()
            steps = self.base ** (-torch.arange(0, self.head_dim, 2).double() / self.head_dim)
            angles = positions.double()[..., None] * steps
            angles = torch.cat((angles, angles), -1)
            self.tables[key] = angles.cos().unsqueeze(-3), angles.sin().unsqueeze(-3)
        return self.tables[key]

    def forward(self, q, k, positions):
        cosine, sine = self.table(positions)
        half = self.head_dim // 2

        def turn(x):
            wide = x.double()
            swapped = torch.cat((-wide[..., half:], wide[..., :half]), -1)
            return (wide * cosine + swapped * sine).to(x.dtype)

        return turn(q), turn(k)


def alibi(heads=12):
    """ALiBi with the slopes of the paper's text."""
    slopes = 2.0 ** (-8 * torch.arange(1, heads + 1).double() / heads)

    def bias(query_positions, key_positions):
        distance = query_positions[..., :, None] - key_positions[..., None, :]
        return -slopes[:, None, None] * distance.abs()[..., None, :, :]

    return bias


class Model(nn.Module):
    """Decoder of one layer with RoPE, a cache, positions and a mask."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(64, 64)
        self.query, self.key, self.value, self.output = (nn.Linear(64, 64, bias=False) for _ in range(4))

    def forward(self, input_ids, position_ids=None, attention_mask=None, past_key_values=None, use_cache=False):
        x = self.embedding(input_ids)
        batch, length = input_ids.shape
        start = 0 if past_key_values is None else past_key_values[0].shape[2]
        if position_ids is None:
            position_ids = torch.arange(start, start + length)[None]
        q, k, v = (part(x).view(batch, length, 4, 16).transpose(1, 2) for part in (self.query, self.key, self.value))
        q, k = Rope(16)(q, k, position_ids)
        if past_key_values is not None:
            k, v = torch.cat((past_key_values[0], k), 2), torch.cat((past_key_values[1], v), 2)
        scores = q @ k.transpose(-1, -2) / 4
        hidden = torch.ones(length, start + length, dtype=torch.bool).triu(start + 1)[None, None]
        if attention_mask is not None and attention_mask.ndim == 2:
            hidden = hidden | (attention_mask == 0)[:, None, None, :]
        if attention_mask is not None and attention_mask.ndim == 4:
            hidden = hidden | (attention_mask < -1)
        weights = scores.masked_fill(hidden, -1e9).softmax(-1)
        x = x + self.output((weights @ v).transpose(1, 2).flatten(2))
        return Answer(logits=x @ self.embedding.weight.T, past_key_values=(k, v))


class Answer:
    """Logits and cache, as whole models of transformers return them."""

    def __init__(self, logits, past_key_values):
        self.logits, self.past_key_values = logits, past_key_values

    def __getitem__(self, index):
        return (self.logits, self.past_key_values)[index]
