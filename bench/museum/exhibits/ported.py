"""Formulas of the museum that cannot be installed here, ported from their reports: each with its mistake and mended.

Every factory takes `mended`; the audit is run with and without it. The formulas are those of the reports that
`catalogue.toml` names, written anew.
"""

import math

import torch
from torch import nn

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024, "max_position_embeddings": 4096}


def turned(x, cosine, sine):
    """Half-split rotation of x [B, H, L, C] by tables [L, C] or [B, L, C]."""
    cosine, sine = (table.unsqueeze(-3) for table in (cosine, sine))
    half = x.shape[-1] // 2
    swapped = torch.cat((-x[..., half:], x[..., :half]), -1)
    return (x * cosine + swapped * sine).to(x.dtype)


class Rotation(nn.Module):
    """(q, k, positions) -> (q, k) by frequencies and a factor, with what it says it follows."""

    def __init__(self, frequencies, *, factor=1.0, follows=None, positions_dtype=torch.float64):
        super().__init__()
        self.frequencies, self.factor, self.positions_dtype = frequencies.double(), factor, positions_dtype
        self.follows = follows

    def forward(self, q, k, positions):
        angles = positions[..., None].to(self.positions_dtype).double() * self.frequencies
        angles = torch.cat((angles, angles), -1)
        width = angles.shape[-1]
        parts = []
        for x in (q, k):
            rotated = turned(x[..., :width], angles.cos() * self.factor, angles.sin() * self.factor)
            parts.append(torch.cat((rotated, x[..., width:]), -1))
        return tuple(parts)


def plain(width, base=10000.0):
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)


def yarn_frequencies(width, factor, original, base=10000.0, *, inverted=False):
    def plane(turns):
        return width * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = max(math.floor(plane(32)), 0), min(math.ceil(plane(1)), width - 1)
    share = ((torch.arange(width // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
    share = 1 - share if inverted else share
    return plain(width, base) * (1 - share) + plain(width, base) / factor * share


def ntk_constant(head_dim=64, mended=False):
    """Dynamic NTK whose base has the factor squared in place of the factor times the stretch of the length."""
    trained, factor = 1024, 2.0

    class Dynamic(Rotation):
        claims = ("relative", "distinct")  # not "streaming": keys are rotated anew as the sequence grows

        def forward(self, q, k, positions):
            stretch = max(int(positions.max()) + 1, trained) / trained if mended else factor
            base = 10000.0 * (factor * stretch - (factor - 1)) ** (head_dim / (head_dim - 2))
            self.frequencies = plain(head_dim, base)
            return super().forward(q, k, positions)

    follows = {"rope_type": "dynamic", "factor": factor, "max_position_embeddings": trained}
    return Dynamic(plain(head_dim), follows=follows)


def yarn_without_mscale(head_dim=64, mended=False):
    """YaRN with the right frequencies, but without the factor of cosines and sines."""
    factor = 0.1 * math.log(4.0) + 1 if mended else 1.0
    return Rotation(yarn_frequencies(head_dim, 4.0, 1024), factor=factor, follows=YARN)


def mscale_all_dim(head_dim=64, mended=False):
    """DeepSeek's factor as the ratio of mscale and mscale_all_dim, or with mscale alone."""
    follows = YARN | {"mscale": 1.0, "mscale_all_dim": 0.707}
    factor = 0.1 * math.log(4.0) + 1
    if mended:
        factor /= 0.1 * 0.707 * math.log(4.0) + 1
    return Rotation(yarn_frequencies(head_dim, 4.0, 1024), factor=factor, follows=follows)


def partial_rotary(head_dim=64, mended=False):
    """A quarter of the head should be rotated; all of it is."""
    width = head_dim // 4 if mended else head_dim
    return Rotation(plain(width), follows={"rope_type": "default", "partial_rotary_factor": 0.25})


def positions_in_bfloat16(head_dim=64, mended=False):
    """Positions are cast to the dtype of the model before the trigonometry."""
    return Rotation(plain(head_dim), positions_dtype=torch.float64 if mended else torch.bfloat16)


def yarn_factor_below_one(head_dim=64, mended=False):
    """YaRN with a factor of at most 1: the logarithm of it is applied without a guard."""
    follows = YARN | {"factor": 0.5}
    factor = 1.0 if mended else 0.1 * math.log(0.5) + 1
    return Rotation(yarn_frequencies(head_dim, 0.5, 1024), factor=factor, follows=follows)


def yarn_ramp_inverted(head_dim=64, mended=False):
    """YaRN that divides the fast planes and keeps the slow ones, without the factor of cosines and sines."""
    factor = 0.1 * math.log(4.0) + 1 if mended else 1.0
    return Rotation(yarn_frequencies(head_dim, 4.0, 1024, inverted=not mended), factor=factor, follows=YARN)


def llama3_scaling_lost(head_dim=64, mended=False):
    """Llama 3.1: the scaled frequencies are computed, and the plain ones are used."""
    follows = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    follows |= {"original_max_position_embeddings": 1024}
    frequencies = plain(head_dim)
    share = ((1024 * frequencies / (2 * math.pi) - 1) / 3).clamp(0, 1)
    scaled = frequencies * (share + (1 - share) / 8)
    return Rotation(scaled if mended else frequencies, follows=follows)


def partial_rotary_frequencies(head_dim=64, mended=False):
    """Half of the head is rotated, by the first frequencies of the whole head."""
    width = head_dim // 2
    frequencies = plain(width) if mended else plain(head_dim)[: width // 2]
    return Rotation(frequencies, follows={"rope_type": "default", "partial_rotary_factor": 0.5})


def tables_of_halves(head_dim=64, mended=False):
    """Neighbouring coordinates are turned by tables that are made for halves."""

    def rotate(q, k, positions):
        angles = positions[..., None].double() * plain(head_dim)
        angles = angles.repeat_interleave(2, -1) if mended else torch.cat((angles, angles), -1)
        cosine, sine = angles.cos().unsqueeze(-3), angles.sin().unsqueeze(-3)
        swapped = (torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2) for x in (q, k))
        return tuple((x * cosine + y * sine).to(x.dtype) for x, y in zip((q, k), swapped, strict=True))

    return rotate


class Decoder(nn.Module):
    """Layer of attention with a cache; two of its numbers may forget the length of the cache.

    Args:
        shifts_positions: positions of new tokens begin after the cache, not at 0.
        window: number of keys that a query sees, itself included; None for all before it.
        shifts_window: rows of the window's mask are numbered after the cache, not from 0.
    """

    def __init__(self, *, shifts_positions=True, window=None, shifts_window=True):
        super().__init__()
        self.shifts_positions, self.window, self.shifts_window = shifts_positions, window, shifts_window
        self.heads, self.head_dim = 4, 16
        width = self.heads * self.head_dim
        self.embedding = nn.Embedding(64, width)
        self.query, self.key, self.value, self.output = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.head = nn.Linear(width, 64, bias=False)

    def forward(self, input_ids, past_key_values=None, use_cache=False):
        x = self.embedding(input_ids)
        batch, length = input_ids.shape
        cached = 0 if past_key_values is None else past_key_values[0].shape[2]
        start = cached if self.shifts_positions else 0
        q, k, v = (
            part(x).view(batch, length, self.heads, self.head_dim).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        angles = torch.arange(start, start + length)[:, None].double() * plain(self.head_dim)
        angles = torch.cat((angles, angles), -1)
        q, k = (turned(part, angles.cos(), angles.sin()) for part in (q, k))
        if past_key_values is not None:
            k, v = (torch.cat(pair, 2) for pair in zip(past_key_values, (k, v), strict=True))
        logits = q @ k.transpose(-1, -2) / self.head_dim**0.5
        keys = torch.arange(cached + length)
        hidden = keys > keys[cached:, None]
        if self.window is not None:
            rows = keys[cached if self.shifts_window else 0 :][:length]
            hidden = hidden | ((rows[:, None] - keys).abs() >= self.window)
        weights = logits.masked_fill(hidden, -torch.inf).softmax(-1)
        x = x + self.output((weights @ v).transpose(1, 2).flatten(2))
        return Answer(self.head(x), (k, v))


class Answer(tuple):
    """Logits and cache, with names as in transformers."""

    def __new__(cls, logits, past_key_values):
        made = super().__new__(cls, (logits, past_key_values))
        made.logits, made.past_key_values = logits, past_key_values
        return made


def start_index_ignored():
    return Decoder(shifts_positions=False)


def start_index_ignored_mended():
    return Decoder()


def window_from_first_row():
    return Decoder(window=8, shifts_window=False)


def window_from_first_row_mended():
    return Decoder(window=8)
