"""Parts that an encoding adds: a bias of the distance to logits, with its sign and slope, or sinusoids."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isclose

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import WINDOW, RefusedPosition, first_positions
from lengthgen.empirical.audit.pair_adapters import BiasAdapter
from lengthgen.empirical.audit.position_codes import distinct
from lengthgen.empirical.audit.published_constants import (
    code_slopes,
    is_meant_as_alibi,
    sinusoids,
    t5_buckets,
    text_slopes,
)
from lengthgen.empirical.audit.token_adapters import EmbedAdapter

SPAN = 512
"""Positions that are read."""
LEAST = 8
"""Fewest positions that show a sinusoid."""
CLOSE = 2e-3
"""Largest difference of entries, as a share of the amplitude, that is rounding: angles may be in float32."""
UNPAIRED = 1e-2
"""Largest change of a product of two embeddings of one distance, as a share of the largest product."""
FIRST = 3
"""Positions of the published table that the first one may be: some count from a padding index on."""


@dataclass(frozen=True, kw_only=True)
class Slope:
    """Direction and first step of the bias, measured in float64.

    Attributes:
        directions: for each head, as the distance grows: "falls", "rises", "flat" or "mixed".
        first_rise: first distance at which the bias of some head is larger than at the distance before.
        steps: for each head, change of the bias from distance 0 to 1.
        distinct_after: number of distinct codes among `of_after` distances to keys after the query; None if unused.
        after_flat: number of distinct finite codes of keys after the query if all keys before it have one code.
        after_undefined: first distance to a key after the query whose bias is NaN.
        of_keys: True if the bias of a pair depends on the key alone, and softmax cancels what it lacks.
        t5: numbers of T5's buckets, if the bias changes with the distance as they do.
        rule: rule of ALiBi's slopes that a bias -m D follows: "text", "code", "text and code", or "unpublished".
    """

    directions: list[str]
    first_rise: int | None
    steps: list[float]
    distinct_after: int | None
    of_after: int | None
    after_flat: int | None
    after_undefined: int | None
    of_keys: bool
    t5: dict[str, int] | None
    rule: str | None


def measure_slope(reference: BiasAdapter, reach: int) -> Slope:
    """Measure distances 0..4095, or up to the last one that the subject accepts."""
    values = reference.code(first_positions(reach))
    change = values.diff(dim=0)
    rising = (change > 0).any(1).nonzero().flatten()
    distinct_after = of_after = after_undefined = None
    if "bidirectional" in reference.subject.claims:
        codes_after = reference.after(torch.arange(min(WINDOW, reach + 1)))
        distinct_after, of_after = distinct(codes_after), len(codes_after)
        after_undefined = next(iter(codes_after.isnan().any(1).nonzero().flatten().tolist()), None)
    ways = {(True, False): "falls", (False, True): "rises", (False, False): "flat", (True, True): "mixed"}
    return Slope(
        directions=[ways[bool((head < 0).any()), bool((head > 0).any())] for head in change.T],
        first_rise=int(rising[0]) + 1 if len(rising) else None,
        steps=change[0].tolist() if len(change) else [],
        distinct_after=distinct_after,
        of_after=of_after,
        after_flat=_distinct_after(reference, reach) if len(change) and not change.any() else None,
        after_undefined=after_undefined,
        of_keys=reference.subject.by_softmax and _is_of_keys(reference, reach),
        t5=_t5_of(runs_of(change)),
        rule=_rule_of_slopes(change),
    )


def _is_of_keys(reference: BiasAdapter, reach: int) -> bool:
    """True if all queries have the same row of biases, which are not all equal."""
    positions = torch.arange(min(32, reach + 1))
    values = reference.bias(positions, positions)[0]
    return bool((values == values[:, :1]).all() and (values != values[..., :1]).any())


def runs_of(change: Tensor) -> list[int]:
    """Number of changes of the bias before each distance 0, 1, ...; from its steps [P - 1, H]."""
    return [0, *change.ne(0).any(1).cumsum(0).tolist()]


def first_unlike_t5(runs: Sequence[int], buckets: int, max_distance: int) -> int | None:
    """First distance whose run is not T5's bucket; a logarithm that is a whole number may be rounded either way."""
    low, high = (t5_buckets(buckets, max_distance, len(runs), nudge=nudge) for nudge in (-1e-5, 1e-5))
    within = (a <= run <= b for run, a, b in zip(runs, low, high, strict=True))
    return next((distance for distance, holds in enumerate(within) if not holds), None)


def _t5_of(runs: Sequence[int]) -> dict[str, int] | None:
    """Number of buckets on a side and largest distance, if the bias changes with the distance as T5's does."""
    buckets = runs[-1] + 1
    exact = buckets // 2
    if buckets < 8 or buckets == len(runs):
        return None
    last = runs.index(runs[-1])  # the last bucket begins at exact (max_distance / exact)^(share of the logarithm)
    share = (buckets - exact - 1) / (buckets - exact)
    lowest, highest = (ceil(exact * (start / exact) ** (1 / share)) for start in (last - 1, last))
    distances = sorted(range(lowest, highest + 1), key=lambda distance: distance & (distance - 1) != 0)
    for distance in distances:
        if distance > exact and first_unlike_t5(runs, buckets, distance) is None:
            return {"buckets": buckets, "max_distance": distance}
    return None


def _distinct_after(reference: BiasAdapter, reach: int) -> int:
    """Number of distinct finite codes of keys after the query; 0 if these are refused."""
    try:
        codes = reference.after(torch.arange(1, min(WINDOW, reach + 1)))
    except RefusedPosition:
        return 0
    return distinct(codes[codes.isfinite().all(1)])


def _rule_of_slopes(change: Tensor) -> str | None:
    """Rule of ALiBi that the slopes follow; None if the bias is not linear or not meant to be ALiBi's.

    Slopes are meant to be ALiBi's if most of them are those of one of its rules.
    """
    if len(change) < 2 or change.shape[1] < 2 or not torch.allclose(change, change[:1].expand_as(change), rtol=1e-3):
        return None
    slopes = (-change[0]).tolist()
    rules = [
        rule
        for rule, published in (("text", text_slopes(len(slopes))), ("code", code_slopes(len(slopes))))
        if all(isclose(*pair, rel_tol=1e-3) for pair in zip(slopes, published, strict=True))
    ]
    return " and ".join(rules) or ("unpublished" if is_meant_as_alibi(slopes) else None)


@dataclass(frozen=True, kw_only=True)
class Sinusoids:
    """Table of sines and cosines.

    Attributes:
        table: entries divided by the amplitude, float64 [P, D], from position 0.
        steps: angle of one position step for each channel, [D].
        in_pairs: True if it is meant as pairs of one frequency each: half sines and half cosines, or each sine twice.
        change: largest change of e(p) . e(p + d) with p, as a share of the largest product.
    """

    table: Tensor
    steps: Tensor
    in_pairs: bool
    change: float

    def version(self, base: float) -> str | None:
        """Published version with this base that the table is; None if it is none."""
        return next((name for name, far in self.distances(base).items() if far.abs().max() < CLOSE), None)

    def distances(self, base: float) -> dict[str, Tensor]:
        """Difference from each published version, from the first position on that is the nearest: [P, D]."""
        rows, width = self.table.shape
        nearest = {}
        for name, sheet in sinusoids(rows + FIRST - 1, width, base).items():
            far = self.table - torch.tensor(sheet, dtype=torch.float64).unfold(0, rows, 1).transpose(1, 2)
            nearest[name] = far[far.abs().mean((1, 2)).argmin()]
        return nearest

    @property
    def likely_bases(self) -> list[float]:
        """Bases that the second frequency may have, to four digits, by the published versions."""
        half = self.table.shape[1] // 2
        exponents = [(step, power) for step in self.steps[1:3].tolist() if step > 0 for power in (half, half - 1)]
        return [float(f"{step**-power:.4g}") for step, power in exponents]


def read_sinusoids(reference: EmbedAdapter) -> Sinusoids | None:
    """Read the added table; None if its channels are not sines and cosines of one amplitude.

    Each channel must follow e(p + 1) + e(p - 1) = 2 cos(w) e(p).
    """
    table = reference.code(torch.arange(reference.position_reach(SPAN - 1) + 1))
    amplitude = table.abs().max()
    if len(table) < LEAST or not 0 < amplitude < torch.inf or table.shape[1] % 2:
        return None
    table = table / amplitude
    middle, around = table[1:-1], table[2:] + table[:-2]
    twice_cosine = (middle * around).sum(0) / (middle**2).sum(0).clamp(min=torch.finfo(torch.float64).tiny)
    if (around - twice_cosine * middle).abs().max() > CLOSE:
        return None
    start, half = table[0].abs(), table.shape[1] // 2
    slow_last = twice_cosine.sort().values.unflatten(0, (half, 2))
    is_twice = (start < CLOSE).all() and (slow_last.diff(dim=1).abs() < CLOSE).all()
    products = table @ table.T / half
    changes = [(products.diagonal(far) - products[0, far]).abs().max() for far in range(len(table) // 2)]
    return Sinusoids(
        table=table,
        steps=(twice_cosine / 2).clamp(-1, 1).acos(),
        in_pairs=bool((start < CLOSE).sum() == (start > 1 - CLOSE).sum() == half or is_twice),
        change=float(torch.stack(changes).max()),
    )
