"""Dependence of a bias on the distance: sign and slope of every head."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isclose
from typing import Any

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import RefusedPosition
from lengthgen.empirical.audit.codes import distinct
from lengthgen.empirical.audit.grid import WINDOW, first_positions
from lengthgen.empirical.audit.pairs import BiasAdapter
from lengthgen.empirical.audit.published import code_slopes, is_meant_as_alibi, t5_buckets, text_slopes


@dataclass(frozen=True, kw_only=True)
class Slope:
    """Direction and first step of the bias, measured in float64.

    Attributes:
        directions: for each head, as the distance grows: "falls", "rises", "flat" or "mixed".
        first_rise: first distance at which the bias of some head is larger than at the distance before; None if none.
        steps: for each head, change of the bias from distance 0 to 1.
        distinct_after: number of distinct codes among `of_after` distances to keys after the query; None if unused.
        of_after: number of these distances.
        after_flat: number of distinct finite codes of keys after the query if all keys before it have one code, else
            None.
        after_undefined: first distance to a key after the query whose bias is NaN; None if there is none.
        of_keys: True if the bias of a pair depends on the key alone, and softmax cancels what it lacks.
        t5: numbers of T5's buckets, if the bias changes with the distance as they do; else None.
        rule: for a bias -m D: "text" or "code", the rule of ALiBi's slopes that the steps follow, "text and code" where
            both agree, "unpublished" if its slopes fall geometrically and follow neither; None for any other bias.
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

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file."""
        return dict(vars(self))


def measure(reference: BiasAdapter, reach: int) -> Slope:
    """Measure distances 0..4095, or up to the last one that the subject accepts."""
    values = reference.code(first_positions(reach))
    change = values.diff(dim=0)
    rising = (change > 0).any(1).nonzero().flatten()
    codes_after = after_undefined = None
    if "bidirectional" in reference.subject.claims:
        codes_after = reference.after(torch.arange(min(WINDOW, reach + 1)))
        after_undefined = next(iter(codes_after.isnan().any(1).nonzero().flatten().tolist()), None)
    return Slope(
        directions=[_direction(head) for head in change.T],
        first_rise=int(rising[0]) + 1 if len(rising) else None,
        steps=change[0].tolist() if len(change) else [],
        distinct_after=None if codes_after is None else distinct(codes_after),
        of_after=None if codes_after is None else len(codes_after),
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
    matching = {
        rule: [isclose(slope, published, rel_tol=1e-3) for slope, published in zip(slopes, of_rule, strict=True)]
        for rule, of_rule in {"text": text_slopes(len(slopes)), "code": code_slopes(len(slopes))}.items()
    }
    if rules := [rule for rule, equal in matching.items() if all(equal)]:
        return " and ".join(rules)
    return "unpublished" if is_meant_as_alibi(slopes) else None


def _direction(change: Tensor) -> str:
    """Direction of one head's bias, from its changes per step of distance."""
    falls, rises = bool((change < 0).any()), bool((change > 0).any())
    return {(True, False): "falls", (False, True): "rises", (False, False): "flat"}.get((falls, rises), "mixed")
