"""Encodings as a user of the audit would write them: sound ones, and the same with one defect each.

lengthgen audit tests/empirical/examples/position_laws.py:positions_in_bfloat16
"""

import torch
from torch import nn


def frequencies(base, head_dim):
    return base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)


def turned(x, angles):
    """The planes (2l, 2l+1) of x [B, H, L, C] turned by angles [L, C/2] or [B, L, C/2]."""
    angles = angles[:, None] if angles.ndim == 3 else angles
    wide = torch.promote_types(x.dtype, torch.float32)
    cosine, sine = angles.cos().to(wide), angles.sin().to(wide)
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack((first * cosine - second * sine, second * cosine + first * sine), -1).flatten(-2).to(x.dtype)


def rotary(angles_of):
    """Factory of (q, k, positions) -> (q, k) from (positions, frequencies) -> angles."""

    def make(base=10000.0, head_dim=64):
        def rotate(q, k, positions):
            angles = angles_of(positions, frequencies(base, head_dim))
            return turned(q, angles), turned(k, angles)

        return rotate

    return make


sound = rotary(lambda p, w: p[..., None].double() * w)
positions_in_bfloat16 = rotary(lambda p, w: p[..., None].bfloat16().double() * w)
positions_in_float16 = rotary(lambda p, w: p[..., None].half().double() * w)
frequencies_in_bfloat16 = rotary(lambda p, w: p[..., None].double() * w.bfloat16().double())
angles_in_bfloat16 = rotary(lambda p, w: (p[..., None].double() * w).bfloat16().double())
angles_in_float32 = rotary(lambda p, w: (p[..., None].float() * w.float()).double())
angles_by_matrix_product = rotary(lambda p, w: (p[..., None].float() @ w.float()[None]).double())
own_positions = rotary(lambda p, w: torch.arange(p.shape[-1])[:, None].double() * w)


def positions_in_the_dtype_of_queries(base=10000.0, head_dim=64):
    def rotate(q, k, positions):
        angles = positions[..., None].to(q.dtype).double() * frequencies(base, head_dim)
        return turned(q, angles), turned(k, angles)

    return rotate


def codes_in_float32(base=10000.0, head_dim=64):
    rotate = sound(base, head_dim)
    return lambda q, k, positions: tuple(x.to(q.dtype) for x in rotate(q.float(), k.float(), positions))


TABLES = {}


def from_table(key):
    """Factory of rotations by a table that all instances with the same key share."""

    def make(base=10000.0, head_dim=64):
        def rotate(q, k, positions):
            length, name = int(positions.max()) + 1, key(base, head_dim)
            if len(TABLES.get(name, ())) < length:
                TABLES[name] = torch.arange(length, dtype=torch.float64)[:, None] * frequencies(base, head_dim)
            return turned(q, TABLES[name][positions]), turned(k, TABLES[name][positions])

        return rotate

    return make


table_without_base_in_key = from_table(lambda base, head_dim: ("without", head_dim))
table_with_base_in_key = from_table(lambda base, head_dim: (base, head_dim))


class LastTable:
    """A table that every new instance makes anew, for all."""

    steps = None

    def __init__(self, base=10000.0, head_dim=64):
        LastTable.steps = frequencies(base, head_dim)

    def __call__(self, q, k, positions):
        angles = positions[..., None].double() * LastTable.steps
        return turned(q, angles), turned(k, angles)


class RoundedTable:
    """A table of cosines and sines kept in the dtype of the first call."""

    def __init__(self, base=10000.0, head_dim=64):
        self.steps, self.table = frequencies(base, head_dim), None

    def __call__(self, q, k, positions):
        if self.table is None or len(self.table) <= int(positions.max()):
            angles = torch.arange(int(positions.max()) + 1, dtype=torch.float64)[:, None] * self.steps
            self.table = torch.polar(torch.ones_like(angles), angles)
            self.cosine, self.sine = self.table.real.to(q.dtype), self.table.imag.to(q.dtype)
        cosine, sine = self.cosine[positions], self.sine[positions]
        if positions.ndim == 2:
            cosine, sine = cosine[:, None], sine[:, None]

        def turn(x):
            first, second = x[..., 0::2], x[..., 1::2]
            both = torch.stack((first * cosine - second * sine, second * cosine + first * sine), -1)
            return both.flatten(-2).to(x.dtype)

        return turn(q), turn(k)


class FrequenciesInBuffer(nn.Module):
    """Sound as it is, but not once it is moved to a low dtype."""

    def __init__(self, base=10000.0, head_dim=64):
        super().__init__()
        self.register_buffer("steps", frequencies(base, head_dim), persistent=False)

    def forward(self, q, k, positions):
        angles = positions[..., None].to(self.steps.dtype) * self.steps
        return turned(q, angles.double()), turned(k, angles.double())


class GainAfterRotation(nn.Module):
    """A norm with a gain of its own for every coordinate, after the rotation."""

    def __init__(self, head_dim=64):
        super().__init__()
        self.rotate, self.gain = sound(head_dim=head_dim), nn.Parameter(torch.rand(head_dim) + 0.5)

    def forward(self, q, k, positions):
        return tuple((x * self.gain).to(x.dtype) for x in self.rotate(q, k, positions))


def base_grows_with_length(base=10000.0, head_dim=64):
    """Codes depend on the longest position of the call, so cached keys go wrong."""

    def rotate(q, k, positions):
        steps = frequencies(base * max(1, int(positions.max()) / 512), head_dim)
        angles = positions[..., None].double() * steps
        return turned(q, angles), turned(k, angles)

    return rotate


def mixes_the_batch(base=10000.0, head_dim=64):
    rotate = sound(base, head_dim)

    def mixed(q, k, positions):
        return rotate(q - q.mean(0) + q[:1], k, positions)

    return mixed


def slopes(heads):
    return 2.0 ** (-8 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)


def distances(query_positions, key_positions):
    return query_positions[..., :, None] - key_positions[..., None, :]


def linear(of_distance):
    """Factory of (query_positions, key_positions) -> bias [H, J, I] or [B, H, J, I]."""

    def make(heads=4):
        def bias(query_positions, key_positions):
            apart = of_distance(distances(query_positions, key_positions))[..., None, :, :]
            return slopes(heads)[:, None, None] * apart

        return bias

    return make


alibi, reversed_alibi = linear(lambda apart: -apart.abs()), linear(lambda apart: apart)


def alibi_with_another_constant_in_each_row(heads=4):
    """Softmax ignores the constants, but they are rounded with the bias."""
    of_distance = alibi(heads)

    def bias(query_positions, key_positions):
        constants = query_positions.double().cos()[..., None, :, None]
        return of_distance(query_positions, key_positions) + constants

    return bias


def alibi_by_key_in_bfloat16(heads=4):
    """m i instead of -m (j - i), which softmax cannot tell apart, but rounded."""

    def bias(query_positions, key_positions):
        keys = key_positions.bfloat16().double() + 0 * query_positions[..., :, None]
        return slopes(heads)[:, None, None] * keys[..., None, :, :]

    return bias


def slopes_in_float16(heads=12):
    def bias(query_positions, key_positions):
        rounded = (2.0 ** -(torch.arange(1, heads + 1) * 8 / heads)).half().float()
        return rounded[:, None, None] * -distances(query_positions, key_positions)[..., None, :, :].abs()

    return bias


def relative_table(index, rows=1000):
    """Factory of biases by a table with a row for each distance, as `index` chooses it."""

    def make(heads=4):
        values = torch.randn(rows, heads)

        def bias(query_positions, key_positions):
            return values[index(distances(query_positions, key_positions))].movedim(-1, -3)

        return bias

    return make


def beyond(apart):
    if int(apart.abs().max()) >= 1000:
        raise IndexError("distance beyond 999")
    return apart + 999


clamps_at_its_end = relative_table(lambda apart: apart.clamp(0, 999))
half_a_table = relative_table(lambda apart: (apart + 999).clamp(0, 999))  # N rows for the 2 N - 1 distances
wraps = relative_table(lambda apart: apart % 1000)
refuses = relative_table(beyond, 1999)


def bias_of_tokens(heads=4):
    """(q, k, positions) -> bias."""
    law = alibi(heads)
    return lambda q, k, positions: law(positions, positions)


half_finished = {"base": 10000.0}


def wrong_shape(heads=4):
    return lambda q, k, positions: q[..., :1]
