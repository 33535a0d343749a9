"""Kinds of faults that are reported of encodings: each is found by its rule, and its right twin is silent."""

import math
from functools import partial
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn

from lengthgen.empirical.audit import AuditError, audit
from lengthgen.empirical.audit.loading import subjects
from lengthgen.empirical.audit.models.whole import is_model

WIDTH = 16


def found(thing: Any, *, to: int = 300, dtypes: tuple[str, ...] = ("float64",), **options: Any) -> dict[str, str]:
    """Findings by rule of an object with two heads of width 16."""
    made = subjects(thing, name="thing", **{"heads": 2, "head_dim": WIDTH, **options})
    return {
        finding["rule"]: finding["says"]
        for subject in made
        for finding in audit(subject, to=to, dtypes=dtypes)["findings"]
    }


def signature(thing: Any) -> tuple[str, str]:
    subject = subjects(thing, name="thing", heads=2, head_dim=WIDTH)[0]
    return subject.kind.value, subject.signature


def frequencies(width: int, base: float = 10000.0) -> Tensor:
    return base ** (-torch.arange(0, width, 2).double() / width)


def turn(x: Tensor, angles: Tensor) -> Tensor:
    """Half-split rotation of the first coordinates by angles [..., L, planes]."""
    planes = angles.shape[-1]
    first, second, rest = x[..., :planes], x[..., planes : 2 * planes], x[..., 2 * planes :]
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine, rest], -1).to(x.dtype)


class Rope(nn.Module):
    """Rotation of queries and keys; `steps` are the angles of one position."""

    def __init__(self, steps: Tensor, rows: int | None = None, **follows: Any) -> None:
        super().__init__()
        self.steps, self.rows, self.follows = steps, rows, follows or None

    def angles(self, positions: Tensor) -> Tensor:
        if self.rows is not None:
            positions = torch.arange(self.rows)[positions]
        return positions[..., None] * self.steps

    def forward(self, q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = self.angles(positions)
        angles = angles[:, None] if positions.ndim > 1 else angles
        return turn(q, angles), turn(k, angles)


# Frequencies against the published ones


def divided(share: Tensor, factor: float) -> Tensor:
    """Frequencies of which a share is divided."""
    return frequencies(WIDTH) * (1 - share + share / factor)


PLAIN = frequencies(WIDTH)
LLAMA3 = 1 - ((2048 * PLAIN / (2 * math.pi) - 1) / 3).clamp(0, 1)
YARN = [WIDTH * math.log(2048 / (turns * 2 * math.pi)) / (2 * math.log(10000.0)) for turns in (32, 1)]
YARN = ((torch.arange(WIDTH // 2) - math.floor(YARN[0])) / (math.ceil(YARN[1]) - math.floor(YARN[0]))).clamp(0, 1)
ORIGINAL = {"original_max_position_embeddings": 2048, "factor": 4.0, "attention_factor": 1.0}
OF_BASE = ("frequencies-unpublished", "those of base 10000, not 500000")
FREQUENCIES = {
    "default": ({"rope_theta": 500000.0}, frequencies(WIDTH, 500000.0), PLAIN, *OF_BASE),
    "linear": ({"rope_theta": 500000.0, "factor": 2.0}, frequencies(WIDTH, 500000.0) / 2, PLAIN / 2, *OF_BASE),
    "yarn": (ORIGINAL, divided(YARN, 4.0), divided(1 - YARN, 4.0), "yarn-ramp-inverted", ""),
    "llama3": (ORIGINAL | {"low_freq_factor": 1.0, "high_freq_factor": 4.0}, divided(LLAMA3, 4.0),
               divided(1 - LLAMA3, 4.0), "frequencies-unpublished", "a ramp that runs the wrong way"),
    "partial": ({"rope_type": "default", "partial_rotary_factor": 0.5}, frequencies(8), PLAIN[:4],
                "frequencies-unpublished", "of the full width, for a part of the coordinates"),
}  # fmt: skip
"""By type: fields, the published frequencies, wrong ones, the rule that names these, and words of it."""


@pytest.mark.parametrize("kind", FREQUENCIES)
def test_other_frequencies_than_the_published_ones_are_named(kind: str) -> None:
    follows, published, wrong, rule, words = FREQUENCIES[kind]
    follows = {"rope_type": kind, **follows}
    assert found(Rope(published, **follows)) == {}
    assert words in found(Rope(wrong, **follows))[rule]


class ByLength(Rope):
    """LongRoPE with the short factors up to `limit` tokens."""

    FOLLOWS: ClassVar[dict[str, Any]] = {
        "rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [float(n) for n in range(1, 9)],
        "original_max_position_embeddings": 64, "attention_factor": 1.0,
    }  # fmt: skip

    def __init__(self, limit: int) -> None:
        super().__init__(frequencies(WIDTH), **self.FOLLOWS)
        self.limit = limit

    def angles(self, positions: Tensor) -> Tensor:
        factors = self.FOLLOWS["long_factor" if positions.max() >= self.limit else "short_factor"]
        return super().angles(positions) / torch.tensor(factors)


def test_frequencies_by_length_are_compared_at_a_short_and_a_long_length() -> None:
    assert list(found(ByLength(64))) == ["length-dependent-by-design"]
    assert "of long_factor, in a call of 64 tokens" in found(ByLength(0))["frequencies-unpublished"]
    assert "of short_factor, in a call of 256 tokens" in found(ByLength(1 << 20))["frequencies-unpublished"]


def test_a_short_table_is_audited_to_its_end_and_named_where_more_is_promised() -> None:
    follows = {"rope_type": "default", "max_position_embeddings": 200}
    assert found(Rope(frequencies(WIDTH), rows=200, **follows)) == {}
    short = found(Rope(frequencies(WIDTH), rows=100, **follows))
    assert short == {"beyond-trained-length": "positions from 100 on are refused, but max_position_embeddings is 200"}
    assert (
        "of base 500, not 10000"
        in found(Rope(frequencies(WIDTH, 500.0), rows=100, **follows))["frequencies-unpublished"]
    )


# Rotations


class Scaled(Rope):
    """xPos: queries grow and keys shrink with the position."""

    def __init__(self, power: float, dtype: torch.dtype = torch.float64) -> None:
        super().__init__(frequencies(WIDTH))
        self.power, self.dtype = power, dtype

    def forward(self, q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        q, k = super().forward(q, k, positions)
        scale = 0.9 ** (positions.to(self.dtype) / 16)[..., None]
        scale = scale[:, None] if positions.ndim > 1 else scale
        return q * scale, k * scale**self.power


def test_scales_that_do_not_cancel_are_no_mixed_layouts() -> None:
    assert found(Scaled(-1)) == {}
    assert list(found(Scaled(-1, torch.float32))) == ["output-rounded"]
    assert found(Scaled(1)) == {"law-broken": "the scales of queries and keys do not cancel: those of keys must be the "
                                "inverse ones"}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_cosines_of_slow_planes_in_float32_are_not_taken_for_float16(dtype: torch.dtype) -> None:
    def by_milliseconds(q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        angles = (positions[..., None] * frequencies(WIDTH) / 1000).to(dtype).float()
        angles = angles[:, None] if positions.ndim > 1 else angles
        return turn(q, angles), turn(k, angles)

    assert ("angles-rounded" in found(by_milliseconds, to=4000)) is (dtype == torch.float16)


@pytest.mark.parametrize("rounded", [False, True])
def test_a_rotation_that_only_a_move_breaks_is_a_warning(rounded: bool) -> None:
    class Moved(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("steps", frequencies(WIDTH).float())

        def forward(self, q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
            positions = positions.bfloat16() if rounded else positions
            angles = positions[..., None] * self.steps
            angles = angles[:, None] if positions.ndim > 1 else angles
            return turn(q, angles), turn(k, angles)

    rules = found(Moved(), dtypes=("bfloat16",))
    assert "rounded-by-move" in rules
    assert ("positions-rounded" in rules) is rounded


class Numbering(nn.Module):
    """(q, k) -> (q, k), positions counted along an axis."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.axis = axis

    def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        angles = torch.arange(q.shape[self.axis])[:, None] * frequencies(WIDTH)
        angles = angles[:, None] if self.axis == 1 else angles
        return turn(q, angles), turn(k, angles)


def test_a_rotation_that_counts_tokens_itself_is_audited_in_both_layouts() -> None:
    assert signature(Numbering(2)) == ("rotate", "(q [B, H, L, C], k) -> (q, k)")
    assert found(Numbering(2), to=60) == {}
    assert signature(Numbering(1)) == ("rotate", "(q [B, L, H, C], k) -> (q, k)")
    assert list(found(Numbering(1), to=60)) == ["tokens-axis"]


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(("axes", "tokens"), [("[B H, L, C]", 1), ("[L, B, H, C]", 0), ("[L, B H, C]", 0)])
def test_packed_heads_are_audited(number: int, axes: str, tokens: int) -> None:
    ndim = axes.count(",") + 1

    def one(x: Tensor) -> Tensor:
        assert x.ndim == ndim
        return turn(x.movedim(tokens, -2), torch.arange(x.shape[tokens])[:, None] * frequencies(WIDTH)).movedim(
            -2, tokens
        )

    thing = one if number == 1 else lambda q, k: (one(q), one(k))
    assert signature(thing) == ("rotate", f"x {axes} -> x" if number == 1 else f"(q {axes}, k) -> (q, k)")
    assert list(found(thing, to=60)) == ([] if tokens else ["tokens-axis"])


def test_packed_heads_may_take_positions() -> None:
    def packed(x: Tensor, positions: Tensor, rounded: bool = False) -> Tensor:
        assert x.ndim == 3
        positions = positions.bfloat16() if rounded else positions
        return turn(x, positions[..., None] * frequencies(WIDTH))

    assert found(packed) == {}
    assert "positions-rounded" in found(partial(packed, rounded=True))


def test_positions_of_each_row_are_not_taken_for_positions_over_heads() -> None:
    rope = Rope(frequencies(WIDTH))

    def rowwise(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angles = rope.angles(position_ids).unsqueeze(1)
        return turn(q, angles), turn(k, angles)

    assert found(rowwise) == {}


@pytest.mark.parametrize("count", [2, 3])
def test_positions_with_coordinates_are_audited_along_each(count: int) -> None:
    axis = -1 if count == 2 else 0

    def rotation(used: tuple[int, ...]) -> Any:
        def rotate(q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
            if positions.shape[axis] != count:
                raise ValueError("coordinates")
            parts = [positions.select(axis, n)[..., None] * frequencies(4) for n in used]
            angles = torch.cat(parts, -1).unsqueeze(-3)
            return turn(q, angles), turn(k, angles)

        return rotate

    assert found(rotation(tuple(range(count)))) == {}
    ignored = found(rotation((0,) * count))["positions-ignored"]
    assert ignored == f"thing, coordinate {count - 1}: all positions have one code: nothing depends on the position"


@pytest.mark.parametrize("thing", [nn.Identity(), lambda q, k: (q, k), lambda q, k, positions: (q, k)])
def test_an_object_that_ignores_positions_has_none(thing: Any) -> None:
    assert list(found(thing, to=60)) == ["no-position"]


# Biases


def slopes() -> Tensor:
    return torch.tensor([0.25, 0.0625])[:, None, None].double()


class ByContent(nn.Module):
    """Bias [1, H, L, L], the product of the query with a vector of the distance; `after`: what keys after it get."""

    claims = ("relative", "bidirectional")

    def __init__(self, after: str) -> None:
        super().__init__()
        self.after = after
        self.table = torch.rand(2, 1024, WIDTH)

    def forward(self, q: Tensor, k: Tensor, positions: Tensor) -> Tensor:
        indices = torch.arange(q.shape[-2])
        distances = indices[:, None] - indices
        if self.after == "wrong":
            distances = torch.where(distances < 0, indices[:, None] + indices, distances)
        rows = self.table.to(q.dtype)[:, distances + 512]
        return (q[:, :, :, None] * rows).sum(-1)


def test_a_bias_of_content_that_ignores_positions_fails_only_for_keys_after_the_query() -> None:
    assert found(ByContent("right"), to=40) == {}
    assert found(ByContent("wrong"), to=40) == {"law-broken": "the relative law fails for keys after the query"}


@pytest.mark.parametrize("ndim", [3, 4])
def test_a_bias_of_lengths_may_take_q_and_k(ndim: int) -> None:
    def of_number(q: Tensor, k: Tensor, positions: Tensor) -> Tensor:
        rows = torch.arange(q.shape[-2])
        bias = -slopes() * (rows[:, None] - rows).abs()
        return bias if ndim == 3 else bias[None]

    assert found(of_number, to=60) == {}


def test_a_bias_that_depends_on_the_length_is_not_also_a_broken_law() -> None:
    def bias(queries: Tensor, keys: Tensor, *, far: float) -> Tensor:
        return -slopes() * ((queries[:, None] - keys).abs() * far).sqrt()

    assert found(partial(bias, far=3.0)) == {}

    def by_length(queries: Tensor, keys: Tensor) -> Tensor:
        return bias(queries, keys, far=float(keys.max() + 1))

    assert list(found(by_length)) == ["length-dependent"]

    def of_number(queries: int, keys: int, far: float | None = None) -> Tensor:
        return bias(torch.arange(queries), torch.arange(keys), far=far or keys)

    claims = ("relative", "bidirectional")  # of an encoder: no query is asked for alone
    assert list(found(of_number, to=60, claims=claims)) == ["length-dependent"]
    assert found(partial(of_number, far=3.0), to=60, claims=claims) == {}


def t5_bias(queries: Tensor, keys: Tensor, *, sign: int = 1, far: int = 64) -> Tensor:
    distance = (sign * (queries[:, None] - keys)).clamp(min=0)
    shared = 8 + ((distance.clamp(min=1) / 8).log() / math.log(far / 8) * 8).long()
    table = torch.rand(2, 16, generator=torch.Generator().manual_seed(1))
    return table[:, torch.where(distance < 8, distance, shared.clamp(max=15))]


class T5(nn.Module):
    follows: ClassVar[dict[str, Any]] = {"t5": {"num_buckets": 16, "max_distance": 64}}

    def __init__(self, far: int) -> None:
        super().__init__()
        self.far = far

    def forward(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        return t5_bias(query_positions, key_positions, far=self.far)


def test_buckets_are_recognised_and_compared_with_those_of_t5() -> None:
    [subject] = subjects(partial(t5_bias), name="t5", heads=2)
    recognised = audit(subject, to=200, dtypes=("float64",))["recognised"]
    assert (recognised["encoding"], recognised["buckets"], recognised["max_distance"]) == ("T5's buckets", 16, 64)
    assert found(T5(64)) == {}
    assert found(T5(100))["buckets-unpublished"].startswith("the bias has 10 values up to distance 14")


def two_sided(queries: Tensor, keys: Tensor, after: float) -> Tensor:
    return t5_bias(queries, keys) + after * t5_bias(queries, keys, sign=-1)


@pytest.mark.parametrize(("after", "rule"), [(2.0, None), (1.0, "buckets-unpublished"), (0.0, "keys-after-clamped")])
def test_buckets_of_keys_after_the_query_have_values_of_their_own(after: float, rule: str | None) -> None:
    thing: Any = partial(two_sided, after=after)
    thing.follows = {"t5": {"num_buckets": 32, "max_distance": 64, "bidirectional": True}}
    assert list(found(thing)) == ([rule] if rule else [])


@pytest.mark.parametrize("claims", [("relative", "bidirectional"), ("relative",)])
def test_numbers_of_keys_after_the_query_are_looked_at_where_they_are_used(claims: tuple[str, ...]) -> None:
    def kernel(queries: Tensor, keys: Tensor) -> Tensor:
        return -slopes() * torch.log1p(queries[:, None] - keys)

    assert list(found(kernel, claims=claims)) == (["not-finite"] if "bidirectional" in claims else [])


def test_one_code_for_all_keys_before_the_query_is_a_clamp_also_where_codes_may_repeat() -> None:
    assert found(partial(t5_bias)) == {}
    says = found(partial(t5_bias, sign=-1))["codes-clamped"]
    assert says == (
        "all distances to keys before the query have one code, those to keys after it 15: are query and key exchanged?"
    )


def test_a_constant_of_the_row_is_no_defect() -> None:
    def later(queries: Tensor, keys: Tensor) -> Tensor:
        return -slopes() * (queries[:, None] - keys + 1)

    def of_keys(queries: Tensor, keys: Tensor) -> Tensor:
        return slopes() * keys[None]

    assert found(later, dtypes=("float64", "bfloat16")) == {}
    assert list(found(of_keys, dtypes=("float64", "bfloat16"))) == ["row-constant"]


# Embeddings


class Added(nn.Module):
    """Sinusoids that are added: x [B, L, D], or [L, B, D]."""

    def __init__(self, *, paired: bool = True, base: float = 10000.0, axis: int = 1, scale: float = 1.0) -> None:
        super().__init__()
        self.axis, self.scale, self.follows = axis, scale, {"sinusoidal": {"base": 10000.0}}
        channels = torch.arange(WIDTH)
        angles = torch.arange(512)[:, None] * base ** (-(channels - channels % 2 * paired).double() / WIDTH)
        self.table = torch.where(channels % 2 == 0, angles.sin(), angles.cos())

    def forward(self, x: Tensor) -> Tensor:
        rows = self.table[: x.shape[self.axis]].to(x.dtype)
        return x * self.scale + (rows if self.axis == 1 else rows[:, None])


class AddedAt(Added):
    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.table[positions].to(x.dtype)


@pytest.mark.parametrize("kind", [Added, AddedAt])
def test_an_embedding_is_seen_as_one_and_its_sinusoids_are_read(kind: type[Added]) -> None:
    assert signature(kind())[0] == "embed"
    assert found(kind()) == {}
    assert list(found(kind(paired=False))) == ["sinusoids-unpaired"]
    assert "interleaved of base 100, not of base 10000" in found(kind(base=100.0))["frequencies-unpublished"]


@pytest.mark.parametrize("interleaved", [False, True])
def test_sinusoids_may_begin_with_cosines_and_at_another_position(interleaved: bool) -> None:
    def added(positions: Tensor, base: float = 10000.0, first: int = 2, sines: int = 1) -> Tensor:
        angles = (positions[..., None] + first) * frequencies(WIDTH, base)
        parts = (angles.cos() if sines == 1 else angles.sin(), angles.sin())
        return torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)

    def following(**options: Any) -> Any:
        part: Any = partial(added, **options)
        part.follows = {"sinusoidal": {"base": 10000.0}}
        return part

    assert found(following()) == {}
    assert "cosines first of base 500, not" in found(following(base=500.0))["frequencies-unpublished"]
    assert "sinusoids-unpaired" in found(following(sines=2, first=0))


def test_positions_that_an_embedding_does_not_use_are_named() -> None:
    table = torch.randn(64, WIDTH)

    def added(x: Tensor, positions: Tensor, start: bool = False) -> Tensor:
        index = positions - positions.min() if start else torch.arange(x.shape[1])
        return x + table[index].to(x.dtype)

    assert found(lambda x, positions: x + table[positions].to(x.dtype)) == {}
    assert list(found(added)) == ["positions-ignored"]
    assert list(found(partial(added, start=True))) == ["length-dependent"]


def test_a_table_of_positions_is_no_model() -> None:
    class Table(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rows = nn.Embedding(64, WIDTH)

        def forward(self, t: Tensor) -> Tensor:
            return self.rows(t)

    assert not is_model(Table())
    assert signature(Table()) == ("embed", "positions -> e [L, D]")


def test_an_embedding_may_scale_and_have_tokens_first() -> None:
    assert found(Added(scale=4.0)) == {}
    assert signature(Added(axis=0)) == ("embed", "x [L, B, D] -> x + e")
    assert list(found(Added(axis=0))) == ["tokens-axis"]


def test_a_table_that_is_zero_until_training_is_filled() -> None:
    class Learned(nn.Module):
        def __init__(self, last: int) -> None:
            super().__init__()
            self.table, self.last = nn.Parameter(torch.zeros(400, WIDTH)), last

        def forward(self, x: Tensor, positions: Tensor) -> Tensor:
            return x + self.table[positions.clamp(max=self.last)].to(x.dtype)

    assert found(Learned(399)) == {}
    assert list(found(Learned(99))) == ["codes-clamped"]


def test_a_refusal_says_how_to_wrap() -> None:
    with pytest.raises(AuditError, match="wrap it in a function of one of the signatures"):
        found(lambda grid: grid.missing)
