"""Dependence of a bias on the distance: sign and slope of every head."""

from dataclasses import dataclass
from math import isclose
from typing import Any

import torch
from torch import Tensor

from empirical.audit.codes import distinct
from empirical.audit.grid import WINDOW, first_positions
from empirical.audit.pairs import BiasAdapter
from empirical.audit.published import code_slopes, is_meant_as_alibi, text_slopes


@dataclass(frozen=True, kw_only=True)
class Slope:
    """Direction and first step of the bias, measured in float64.

    Attributes:
        directions: for each head, as the distance grows: "falls", "rises", "flat" or "mixed".
        first_rise: first distance at which the bias of some head is larger than at the distance before; None if none.
        steps: for each head, change of the bias from distance 0 to 1.
        distinct_after: number of distinct codes among `of_after` distances to keys after the query; None if unused.
        of_after: number of these distances.
        rule: for a bias -m D: "text" or "code", the rule of ALiBi's slopes that the steps follow, "text and code" where
            both agree, "unpublished" if its slopes fall geometrically and follow neither; None for any other bias.
    """

    directions: list[str]
    first_rise: int | None
    steps: list[float]
    distinct_after: int | None
    of_after: int | None
    rule: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file."""
        return dict(vars(self))


def measure(reference: BiasAdapter, reach: int) -> Slope:
    """Measure distances 0..4095, or up to the last one that the subject accepts."""
    values = reference.code(first_positions(reach))
    change = values.diff(dim=0)
    rising = (change > 0).any(1).nonzero().flatten()
    codes_after = None
    if "bidirectional" in reference.subject.claims:
        codes_after = reference.after(torch.arange(min(WINDOW, reach + 1)))
    return Slope(
        directions=[_direction(head) for head in change.T],
        first_rise=int(rising[0]) + 1 if len(rising) else None,
        steps=change[0].tolist() if len(change) else [],
        distinct_after=None if codes_after is None else distinct(codes_after),
        of_after=None if codes_after is None else len(codes_after),
        rule=_rule_of_slopes(change),
    )


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
