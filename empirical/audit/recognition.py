"""Recognition: which encoding was measured, and whether its constants are the published ones that it claims."""

from collections.abc import Sequence
from math import isclose
from typing import Any

import torch

from empirical.audit import causes
from empirical.audit.adapter import Adapter, RefusedPosition
from empirical.audit.diagnosis import Defect
from empirical.audit.published import Rotary, code_slopes, require_fields, rotary, text_slopes
from empirical.audit.rotation import RotateAdapter
from empirical.audit.slope import Slope
from empirical.audit.subject import AuditError, Subject

ACCURACY = 1e-4
"""Relative accuracy of a frequency that is computed in float32 and read from a map; mistakes exceed it."""
NOISE = 2e-7
"""Absolute accuracy of an angle that is read from cosines and sines in float32."""


def describe(reference: Adapter, slope: Slope | None) -> dict[str, Any] | None:
    """Name of the encoding, layout of the planes with its proof, and frequencies; None for other kinds."""
    if slope is not None:
        linear = slope.rule is not None
        return {"encoding": "ALiBi" if linear else "bias of the distance", "slopes": slope.rule, "steps": slope.steps}
    if not isinstance(reference, RotateAdapter):
        return None
    try:
        laid = causes.layout(reference)
        turning = frequencies(reference, last=reference.position_reach(4096))
    except (RefusedPosition, AuditError, RuntimeError):
        return None
    if laid is None:
        return None
    name, planes = laid
    return {
        "encoding": "RoPE",
        "layout": name,
        "permutation_to_interleaved": [coordinate for plane in planes for coordinate in plane],
        "difference_after_permutation": permutation_difference(reference, planes),
        "rotated_coordinates": 2 * len(planes),
        "head_dim": reference.subject.head_dim,
        "frequencies": turning,
        "attention_factor": attention_factor(reference),
    }


def planes(reference: Adapter) -> Sequence[tuple[int, ...]]:
    """Pairs of coordinates that a rotation turns, the fastest first; empty for other kinds."""
    if not isinstance(reference, RotateAdapter) or not (laid := causes.layout(reference)):
        return []
    return laid[1]


def frequencies(reference: RotateAdapter, last: int = 4096) -> list[float]:
    """Angles of the first head's planes in one step, the fastest first, read from one call that ends at `last`.

    A slow plane turns by less than float32 can tell in one step, so its angle is refined at 8, 64, ... and `last`.
    """
    kept = torch.tensor([sum(c >= 0 for c in plane) == 2 for plane in reference.planes.tolist()])
    steps = [8**power for power in range(1, 7) if 8**power < last]
    maps = reference.maps(torch.tensor([0, 1, *steps, last]))[0][:, 0]
    maps = maps[:, kept][..., :2, :2]
    if not kept.any():
        return []
    angles = torch.atan2(maps[..., 1, 0] - maps[..., 0, 1], maps[..., 0, 0] + maps[..., 1, 1])
    best = angles[1]
    for row, step in enumerate([*steps, last], 2):
        turn = 2 * torch.pi
        turns = torch.round((best * step - angles[row]) / turn)
        refined = (angles[row] + turns * turn) / step
        close = (refined - best).abs() * step < 1  # a turn more or less would differ by 6
        best = torch.where(close, refined, best)
    return sorted(best.abs().tolist(), reverse=True)


def attention_factor(reference: RotateAdapter) -> float:
    """Length of a rotated unit vector at position 0, for the query of the first plane."""
    return float(reference.maps(torch.tensor([0]))[0, 0, 0, 0, :, 0].norm())


def permutation_difference(reference: RotateAdapter, planes: list[tuple[int, int]]) -> float:
    """Largest difference between the map with its coordinates permuted, and interleaved rotations of the same planes.

    It is 0 up to rounding if and only if the encoding is the interleaved one after a permutation of channels.
    """
    positions = torch.tensor([1, 3, 17])
    dense, _ = causes.dense(reference, positions)
    order = [coordinate for plane in planes for coordinate in plane]
    rest = [c for c in range(reference.subject.head_dim) if c not in set(order)]
    permuted = dense[:, order + rest][:, :, order + rest]
    expected = torch.zeros_like(permuted)
    for index in range(len(planes)):
        block = slice(2 * index, 2 * index + 2)
        cosine, sine = permuted[:, 2 * index, 2 * index], permuted[:, 2 * index + 1, 2 * index]
        expected[:, block, block] = torch.stack([torch.stack([cosine, -sine], -1), torch.stack([sine, cosine], -1)], -2)
    for coordinate in range(2 * len(planes), len(order) + len(rest)):
        expected[:, coordinate, coordinate] = permuted[:, coordinate, coordinate]
    return float((permuted - expected).abs().max())


def compare(subject: Subject, reference: Adapter, slope: Slope | None) -> list[Defect]:
    """Defects of constants that differ from those that the subject says it follows."""
    follows = subject.follows
    if not follows:
        return []
    if slope is not None and "alibi" in follows:
        return _slopes_differ(slope, str(follows["alibi"]))
    if not isinstance(reference, RotateAdapter) or "alibi" in follows:
        return []
    require_fields(follows)
    width = int(subject.head_dim * float(follows.get("partial_rotary_factor") or 1))
    trained = int(follows.get("max_position_embeddings") or follows.get("original_max_position_embeddings") or 2048)
    # The maps above are read from calls that end at position 4096 at most.
    published = rotary(follows, width=width, head_dim=subject.head_dim, trained=trained, length=4097)
    measured, factor = frequencies(reference), attention_factor(reference)
    defects = differences(published, measured, factor, least=least(reference))
    for defect in defects:
        defect.numbers["coordinates"] = planes(reference)
    return defects


def differences(
    published: Rotary, measured: list[float], factor: float, logit: float | None = None, *, least: float
) -> list[Defect]:
    """Defects of measured frequencies (the fastest first, told from 0 above `least`), attention and logit factor."""
    expected = sorted(published.frequencies, reverse=True)
    defects = []
    numbers: dict[str, Any] = {"attention_factor": factor, "published_attention_factor": published.attention_factor}
    if not same(measured, expected, least):
        rule, cause = "frequencies-unpublished", "of no known mistake"
        for name, (variant, _) in published.variants.items():
            if same(measured, sorted(variant, reverse=True), least):
                rule, cause = name, f"of the mistake '{name}'"
                break
        worst = next(
            (n for n, pair in enumerate(zip(measured, expected, strict=False)) if not close(*pair, least)), None
        )
        numbers |= {"plane": worst, "planes": len(measured), "published_planes": len(expected)}
        if worst is not None:
            numbers |= {"frequency": measured[worst], "published": expected[worst]}
        where = (
            f": plane {worst} turns by {measured[worst]:.6g}, not {expected[worst]:.6g}" if worst is not None else ""
        )
        says = f"frequencies are not the published ones but those {cause}{where}"
        if len(measured) != len(expected):
            says = f"{2 * len(measured)} coordinates are rotated, not {2 * len(expected)}: frequencies {cause}"
        defects.append(Defect(rule=rule, says=says, first={"all": 1}, numbers=numbers))
    if not isclose(factor, published.attention_factor, rel_tol=1e-4):
        rule = "mscale-ignored"
        for name, (_, its_factor) in published.variants.items():
            if isclose(factor, its_factor, rel_tol=1e-4) and name == "yarn-factor-one":
                rule = name
        says = f"cosines are multiplied by {factor:.6g}, the published factor is {published.attention_factor:.6g}"
        defects.append(Defect(rule=rule, says=says, first={"all": 0}, numbers=numbers))
    if logit is not None and not isclose(logit, published.logit_factor, rel_tol=1e-4):
        says = f"the softmax scale has the factor {logit:.6g}, the published one is {published.logit_factor:.6g}"
        numbers = {"logit_factor": logit, "published_logit_factor": published.logit_factor}
        defects.append(Defect(rule="mscale-all-dim", says=says, first={"all": 0}, numbers=numbers))
    return defects


def least(reference: RotateAdapter, last: int = 4096) -> float:
    """Slowest frequency that can be told from 0 by an angle at position `last`."""
    return max(NOISE, getattr(reference.function, "noise", 0.0)) / last


def same(measured: list[float], expected: list[float], least: float) -> bool:
    """True if both have the same numbers, the fastest first, but for planes that are too slow to be told from 0."""
    agree = all(close(*pair, least) for pair in zip(measured, expected, strict=False))
    return agree and len(measured) <= len(expected) and all(slow <= least for slow in expected[len(measured) :])


def close(measured: float, expected: float, least: float) -> bool:
    """True if two frequencies agree; slow planes are read less exactly."""
    return isclose(measured, expected, rel_tol=ACCURACY, abs_tol=least)


def _slopes_differ(slope: Slope, rule: str) -> list[Defect]:
    """Defect of slopes that follow another rule than the claimed one."""
    if rule not in ("text", "code"):
        raise AuditError(f"follows = {{'alibi': '{rule}'}}: choose text or code")
    measured = [-step for step in slope.steps]
    expected = (text_slopes if rule == "text" else code_slopes)(len(measured))
    wrong = [head for head, pair in enumerate(zip(measured, expected, strict=True)) if not isclose(*pair, rel_tol=1e-3)]
    if not wrong:
        return []
    head = wrong[0]
    says = (
        f"slopes follow the rule of ALiBi's {slope.rule or 'neither text nor code'}, not that of its {rule}: "
        f"head {head} of {len(measured)} has {measured[head]:.6g}, not {expected[head]:.6g}"
    )
    numbers = {"head": head, "slope": measured[head], "published": expected[head], "heads_that_differ": wrong}
    numbers["all"] = expected
    return [Defect(rule="slopes-other-rule", says=says, numbers=numbers, first={"all": 1})]
