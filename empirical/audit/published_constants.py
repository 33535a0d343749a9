"""Constants of encodings by the formulas of papers and authors' code; fields are named as in `rope_parameters`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import ceil, cos, floor, isclose, log, log2, pi, sin, sqrt
from typing import Any

from lengthgen.empirical.audit.subject import AuditError
from lengthgen.infrastructure.settings import FLOAT32, Range
from lengthgen.infrastructure.userfile import shown

ROPE_TYPES = ("default", "linear", "dynamic", "yarn", "longrope", "llama3")
"""Types of rotary frequencies that are known here."""
BY_LENGTH = ("dynamic", "longrope")
"""Types whose frequencies depend on the length of the call."""
USUAL_BASE = 10000.0
"""Base of RoFormer's frequencies, the default of most implementations."""
FIELDS = {
    "default": (),
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor", "original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow", "mscale",
             "mscale_all_dim", "truncate"),
    "longrope": ("short_factor", "long_factor", "original_max_position_embeddings", "factor", "attention_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
}  # fmt: skip
"""Fields that each type reads, beside rope_theta and partial_rotary_factor."""
POSITIVE = Range(0.0, FLOAT32.most, above=True)
NUMBERS: Mapping[str, Range[Any]] = {
    **dict.fromkeys(("rope_theta", "rotary_emb_base", "base", "factor", "attention_factor", "beta_fast", "beta_slow",
                     "low_freq_factor", "high_freq_factor", "short_factor", "long_factor"), POSITIVE),
    **dict.fromkeys(("mscale", "mscale_all_dim"), Range(0.0, FLOAT32.most)),
    **dict.fromkeys(("partial_rotary_factor", "rotary_pct"), Range(0.0, 1.0, above=True)),
    **dict.fromkeys(("original_max_position_embeddings", "max_position_embeddings"), Range(1, 1 << 40)),
}  # fmt: skip
"""Ranges of the numbers among these fields, and of those in their lists."""


@dataclass(frozen=True, kw_only=True)
class Rotary:
    """Rotary encoding as its paper defines it, for one length of a call.

    Attributes:
        frequencies: angle of each plane in one position step, the fastest first.
        attention_factor: factor of cosines and sines; a logit of rotated coordinates is multiplied by its square.
        logit_factor: further factor of the softmax scale (DeepSeek).
        variants: frequencies and attention factor of mistakes, by the id of their rule or by words.
    """

    frequencies: tuple[float, ...]
    attention_factor: float = 1.0
    logit_factor: float = 1.0
    variants: Mapping[str, tuple[tuple[float, ...], float]] = field(default_factory=dict)


def require_number(name: str, value: Any, allowed: Range[Any]) -> None:
    """Raise AuditError if a field is no number within its range; whole numbers where the range has whole ends."""
    kinds = int if isinstance(allowed.least, int) else int | float
    if isinstance(value, bool) or not isinstance(value, kinds) or allowed.refusal(value):
        what = "a whole number" if kinds is int else "a number"
        raise AuditError(f"{name} = {shown(value)}: it must be {what}, {allowed}")


def require_fields(fields: Mapping[str, Any]) -> None:
    """Raise AuditError if a number of `rope_parameters` is out of its range."""
    for name, allowed in NUMBERS.items():
        value = fields.get(name)
        for part in value if isinstance(value, list | tuple) else () if value is None else (value,):
            require_number(name, part, allowed)


def rotary(fields: Mapping[str, Any], *, width: int, head_dim: int, trained: int, length: int) -> Rotary:
    """Rotary encoding that the fields name: rope_type, rope_theta and the fields of the type.

    Args:
        fields: as in `rope_parameters`.
        width: number of rotated coordinates.
        head_dim: width of a head.
        trained: `max_position_embeddings`, where the fields do not give the original one.
        length: number of positions of the call; dynamic and LongRoPE depend on it.

    Raises:
        AuditError: the type is not known, a field is missing or out of its range, or the fields give no frequencies.
    """
    require_fields(fields)
    if not 0 <= width <= head_dim:
        raise AuditError(f"{width} coordinates of a head of width {head_dim} cannot be rotated")
    kind = str(fields.get("rope_type") or fields.get("type") or "default")
    if kind not in ROPE_TYPES:
        raise AuditError(f"rope_type '{kind}' is not known: choose among {', '.join(ROPE_TYPES)}")
    base = float(fields.get("rope_theta") or fields.get("base") or USUAL_BASE)
    try:
        made = MAKERS[kind](fields, base, width, trained, length)
        plain, of_head = plain_frequencies(base, width), plain_frequencies(base, head_dim)
        of_usual_base = MAKERS[kind](fields, USUAL_BASE, width, trained, length)
    except KeyError as error:
        raise AuditError(f"rope_type '{kind}' needs the field {error}") from None
    except AuditError:
        raise
    except (ArithmeticError, TypeError, ValueError) as error:  # numbers that do not go together
        raise AuditError(f"rope_type '{kind}' has no frequencies with these fields: {error}") from None
    variants = dict(made.variants)
    if not all(isclose(*pair, rel_tol=1e-6) for pair in zip(plain, made.frequencies, strict=True)):
        variants.setdefault("scaling-ignored", (plain, 1.0))
    if made.attention_factor != 1:
        variants["mscale-ignored"] = (made.frequencies, 1.0)
    if width != head_dim:
        variants["partial-rotary-ignored"] = (of_head, made.attention_factor)
        variants["of the full width, for a part of the coordinates"] = (of_head[: width // 2], made.attention_factor)
    if kind != "default" and base != USUAL_BASE:
        usual = (of_usual_base.frequencies, of_usual_base.attention_factor)
        variants[f"of base {USUAL_BASE:g}, not {base:g}"] = usual
    return replace(made, variants=variants)


def plain_frequencies(base: float, width: int) -> tuple[float, ...]:
    """RoPE: base^(-2l / width) for l = 0 .. width/2 - 1 (RoFormer, arXiv 2104.09864, section 3.2)."""
    return tuple(base ** (-2 * plane / width) for plane in range(width // 2))


def _default(fields: Mapping[str, Any], base: float, width: int, trained: int, length: int) -> Rotary:
    return Rotary(frequencies=plain_frequencies(base, width))


def _linear(fields: Mapping[str, Any], base: float, width: int, trained: int, length: int) -> Rotary:
    """Position interpolation (arXiv 2306.15595): positions are divided by the factor."""
    factor = float(fields["factor"])
    return Rotary(frequencies=tuple(frequency / factor for frequency in plain_frequencies(base, width)))


def _dynamic(fields: Mapping[str, Any], base: float, width: int, trained: int, length: int) -> Rotary:
    """Dynamic NTK: base (s L / L0 - (s - 1))^(d / (d - 2)) for length L beyond the trained length L0."""
    factor = float(fields["factor"])
    trained = int(fields.get("original_max_position_embeddings") or trained)
    exponent = width / (width - 2)
    grown = base * (factor * max(length, trained) / trained - (factor - 1)) ** exponent
    constant = base * (factor * factor - (factor - 1)) ** exponent
    variants = {"ntk-constant": (plain_frequencies(constant, width), 1.0)}
    return Rotary(frequencies=plain_frequencies(grown, width), variants=variants)


def yarn_mscale(factor: float, mscale: float = 1.0) -> float:
    """YaRN's temperature, 0.1 m ln s + 1 (arXiv 2309.00071, equation 22); 1 where nothing is stretched."""
    return 0.1 * mscale * log(factor) + 1.0 if factor > 1 else 1.0


def _yarn(fields: Mapping[str, Any], base: float, width: int, trained: int, length: int) -> Rotary:
    """YaRN (arXiv 2309.00071, section 3.2): interpolate slow planes, keep fast ones, ramp between them."""
    original = int(fields["original_max_position_embeddings"])
    factor = float(fields.get("factor") or trained / original)
    turns = (float(fields.get("beta_fast") or 32), float(fields.get("beta_slow") or 1))

    def plane_of(rotations: float) -> float:
        return width * log(original / (rotations * 2 * pi)) / (2 * log(base))

    low, high = plane_of(turns[0]), plane_of(turns[1])
    if fields.get("truncate", True):
        low, high = floor(low), ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    high += 0.001 * (low == high)
    plain = plain_frequencies(base, width)
    share = [min(1.0, max(0.0, (plane - low) / (high - low))) for plane in range(width // 2)]
    frequencies = _interpolated(plain, share, factor)
    mscale, all_dim, attention = (fields.get(name) for name in ("mscale", "mscale_all_dim", "attention_factor"))
    if attention is None and mscale and all_dim:
        attention = yarn_mscale(factor, float(mscale)) / yarn_mscale(factor, float(all_dim))
    attention = float(yarn_mscale(factor) if attention is None else attention)
    inverted = _interpolated(plain, [1 - s for s in share], factor)
    variants = {"mscale-ignored": (frequencies, 1.0), "yarn-ramp-inverted": (inverted, attention)}
    if factor <= 1:
        variants = {"yarn-factor-one": (frequencies, 0.1 * log(factor) + 1.0)}
    return Rotary(frequencies=frequencies, attention_factor=attention, variants=variants)


def _interpolated(plain: Sequence[float], share: Sequence[float], factor: float) -> tuple[float, ...]:
    """Frequencies of which a share is divided by the factor, plane by plane."""
    return tuple(w * (1 - s) + w / factor * s for w, s in zip(plain, share, strict=True))


def _longrope(fields: Mapping[str, Any], base: float, width: int, trained: int, length: int) -> Rotary:
    """LongRoPE (arXiv 2402.13753): a factor for each plane; a second set beyond the original length."""
    original = int(fields["original_max_position_embeddings"])
    factor = float(fields.get("factor") or trained / original)
    attention = fields.get("attention_factor")
    if attention is None:
        attention = sqrt(1 + log(factor) / log(original)) if factor > 1 else 1.0
    sets = {name: tuple(map(float, fields[name])) for name in ("short_factor", "long_factor")}
    chosen = "long_factor" if length > original else "short_factor"
    if len(sets[chosen]) != width // 2:
        raise AuditError(f"LongRoPE needs {width // 2} factors, one for each plane, not {len(sets[chosen])}")
    plain = plain_frequencies(base, width)
    of_sets = {name: tuple(w / f for w, f in zip(plain, its, strict=False)) for name, its in sets.items()}
    frequencies = of_sets.pop(chosen)
    variants = {f"of {name}, in a call of {length} tokens": (its, float(attention)) for name, its in of_sets.items()}
    return Rotary(frequencies=frequencies, attention_factor=float(attention), variants=variants)


def _llama3(fields: Mapping[str, Any], base: float, width: int, trained: int, length: int) -> Rotary:
    """Llama 3.1 (reference code of its release): slow planes are divided by the factor, with a ramp between."""
    factor, original = float(fields["factor"]), int(fields["original_max_position_embeddings"])
    low, high = float(fields["low_freq_factor"]), float(fields["high_freq_factor"])

    plain = plain_frequencies(base, width)
    turns = [original * frequency / (2 * pi) for frequency in plain]
    share = [1 - min(1.0, max(0.0, (turn - low) / (high - low))) for turn in turns]
    ramps = {"": [1 - s if 0 < s < 1 else s for s in share], ", fast planes divided": [1 - s for s in share]}
    variants = {
        f"of a ramp that runs the wrong way{name}": (_interpolated(plain, ramp, factor), 1.0)
        for name, ramp in ramps.items()
    }
    return Rotary(frequencies=_interpolated(plain, share, factor), variants=variants)


MAKERS = {"default": _default, "linear": _linear, "dynamic": _dynamic, "yarn": _yarn, "longrope": _longrope,
          "llama3": _llama3}  # fmt: skip


def t5_buckets(buckets: int, max_distance: int, count: int, *, nudge: float = 0.0) -> list[int]:
    """Bucket of each distance 0 .. count - 1 on one side with `buckets` buckets (T5, arXiv 1910.10683, section 2.1).

    As in the authors' code, distances below half of the buckets have one each, and those up to `max_distance` share
    the rest by their logarithm. `nudge` is added to that logarithm's bucket before it is cut to an integer.
    """
    exact = buckets // 2
    per_bucket = log(max_distance / exact) / (buckets - exact)
    shared = (
        exact + floor(log(distance / exact) / per_bucket + nudge) if distance > exact else distance
        for distance in range(count)
    )
    return [min(bucket, buckets - 1) for bucket in shared]


def sinusoids(count: int, width: int, base: float = USUAL_BASE) -> dict[str, list[list[float]]]:
    """Published tables of sinusoids of positions 0 .. count - 1, each [count][width].

    The paper (arXiv 1706.03762, section 3.5) has frequencies base^(-2 i / D), with sine and cosine in turn; many have
    all sines first, and diffusion models (code of arXiv 2105.05233) all cosines. The authors' code, tensor2tensor, has
    base^(-i / (D / 2 - 1)), all sines first.
    """
    paper = plain_frequencies(base, width)
    code = tuple(base ** (-plane / max(1, width // 2 - 1)) for plane in range(width // 2))
    sines, cosines = (sin, cos), (cos, sin)
    channels = {
        "the paper's, interleaved": [(turn, w) for w in paper for turn in sines],
        "the paper's, interleaved, cosines first": [(turn, w) for w in paper for turn in cosines],
        "the paper's, sines first": [*product(sines, paper)],
        "the paper's, cosines first": [*product(cosines, paper)],
        "tensor2tensor's": [*product(sines, code)],
        "tensor2tensor's, cosines first": [*product(cosines, code)],
    }
    return {
        name: [[turn(position * w) for turn, w in turns] for position in range(count)]
        for name, turns in channels.items()
    }


def text_slopes(heads: int) -> list[float]:
    """ALiBi's slopes by the paper's text (arXiv 2108.12409, section 3): 2^(-8h/H) for h = 1 .. H."""
    return [2.0 ** (-8 * head / heads) for head in range(1, heads + 1)]


def code_slopes(heads: int) -> list[float]:
    """ALiBi's slopes by the authors' code: those of the power of two below H, then every other one of its double."""
    below = 2 ** floor(log2(heads))
    return text_slopes(below) + text_slopes(2 * below)[0::2][: heads - below]


def is_meant_as_alibi(slopes: list[float]) -> bool:
    """True if all slopes are positive and most of them occur in one of ALiBi's two sets."""
    if min(slopes) <= 0 or max(slopes) > 1:
        return False
    return any(
        sum(any(isclose(slope, other, rel_tol=1e-3) for other in published) for slope in slopes) > len(slopes) / 2
        for published in (text_slopes(len(slopes)), code_slopes(len(slopes)))
    )
