"""Recognition: which encoding was measured, and whether its constants are the published ones that it claims."""

from collections.abc import Mapping, Sequence
from math import inf, isclose
from typing import Any

import torch

from lengthgen.empirical.audit import added, causes
from lengthgen.empirical.audit.adapter import Adapter, RefusedPosition, first_positions
from lengthgen.empirical.audit.added import Slope, first_unlike_t5, runs_of
from lengthgen.empirical.audit.diagnosis import Defect
from lengthgen.empirical.audit.pair_adapters import BiasAdapter
from lengthgen.empirical.audit.published_constants import (
    BY_LENGTH,
    POSITIVE,
    USUAL_BASE,
    Rotary,
    code_slopes,
    plain_frequencies,
    require_fields,
    require_number,
    rotary,
    t5_buckets,
    text_slopes,
)
from lengthgen.empirical.audit.rotation import RotateAdapter
from lengthgen.empirical.audit.rules import RULES
from lengthgen.empirical.audit.subject import AuditError, Subject
from lengthgen.empirical.audit.token_adapters import EmbedAdapter
from lengthgen.infrastructure.settings import Range

ACCURACY = 1e-4
"""Relative accuracy of a frequency that is computed in float32 and read from a map; mistakes exceed it."""
NOISE = 2e-7
"""Absolute accuracy of an angle that is read from cosines and sines in float32."""

SPAN = 4097
"""Longest call from which frequencies are read, where their length does not matter."""


def describe(reference: Adapter, slope: Slope | None, last: int = 4096) -> dict[str, Any] | None:
    """Name of the encoding, layout of the planes with its proof, and frequencies; None for other kinds.

    Frequencies are read from a call that ends at position `last`, or before it where the subject accepts no more.
    """
    if slope is not None:
        name = "ALiBi" if slope.rule else "T5's buckets" if slope.t5 else "bias of the distance"
        return {"encoding": name, "slopes": slope.rule, "steps": slope.steps, **(slope.t5 or {})}
    if isinstance(reference, EmbedAdapter) and (waves := added.read_sinusoids(reference)) and waves.in_pairs:
        return {"encoding": "sinusoids that are added", "published": waves.version(USUAL_BASE)}
    if not isinstance(reference, RotateAdapter):
        return None
    try:
        laid = causes.layout(reference)
        turning = frequencies(reference, last=reference.position_reach(last))
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
    kept = (reference.planes >= 0).sum(1) == 2
    steps = [*(8**power for power in range(1, 7) if 8**power < last), last]
    maps = reference.maps(torch.tensor([0, 1, *steps]))[0][:, 0, kept, :2, :2]
    if not kept.any():
        return []
    best, *angles = torch.atan2(maps[..., 1, 0] - maps[..., 0, 1], maps[..., 0, 0] + maps[..., 1, 1])[1:]
    for step, angle in zip(steps, angles, strict=True):
        turns = torch.round((best * step - angle) / (2 * torch.pi))
        refined = (angle + turns * (2 * torch.pi)) / step
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
    for first in range(0, 2 * len(planes), 2):
        cosine, sine = permuted[:, first, first], permuted[:, first + 1, first]
        rotation = torch.stack([cosine, -sine, sine, cosine], -1).unflatten(-1, (2, 2))
        expected[:, first : first + 2, first : first + 2] = rotation
    for coordinate in range(2 * len(planes), len(order) + len(rest)):
        expected[:, coordinate, coordinate] = permuted[:, coordinate, coordinate]
    return float((permuted - expected).abs().max())


def compare(subject: Subject, reference: Adapter, slope: Slope | None) -> list[Defect]:
    """Defects of constants that differ from those that the subject says it follows."""
    follows = subject.follows
    if isinstance(reference, EmbedAdapter):
        return _sinusoids_differ(reference, (follows or {}).get("sinusoidal"))
    if not follows or subject.of_coordinate:
        return []
    if slope is not None and "alibi" in follows:
        return _slopes_differ(slope, str(follows["alibi"]))
    if slope is not None and "t5" in follows:
        return _buckets_differ(reference, follows["t5"])
    if not isinstance(reference, RotateAdapter) or "alibi" in follows:
        return []
    require_fields(follows)
    width = int(subject.head_dim * float(follows.get("partial_rotary_factor") or 1))
    trained = int(follows.get("max_position_embeddings") or follows.get("original_max_position_embeddings") or 2048)
    original = int(follows.get("original_max_position_embeddings") or trained)
    near, far = original if depends_on_length(subject) else SPAN, 4 * original
    lengths = [1 + reference.position_reach(min(near, SPAN) - 1)]
    if depends_on_length(subject) and (reach := reference.position_reach(far - 1)) >= original:
        lengths.append(reach + 1)
    defects: dict[str, Defect] = {}
    for length in lengths:
        published = rotary(follows, width=width, head_dim=subject.head_dim, trained=trained, length=length)
        fresh = reference.fresh()  # what it keeps of longer calls is a finding of its own
        assert isinstance(fresh, RotateAdapter)
        measured = frequencies(fresh, last=length - 1)
        slowest = least(reference, length - 1)
        for defect in differences(published, measured, attention_factor(fresh), least=slowest):
            defect.numbers |= {"coordinates": planes(reference), "length": length}
            defects.setdefault(defect.rule, defect)
    return list(defects.values())


def depends_on_length(subject: Subject) -> bool:
    """True if the subject says that it follows a type whose frequencies depend on the length of the call."""
    follows = subject.follows or {}
    return (follows.get("rope_type") or follows.get("type")) in BY_LENGTH


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
                rule, cause = (name, f"of the mistake '{name}'") if name in RULES else (rule, name)
                break
        else:
            if (base := _base_of(measured)) and (stated := _base_of(expected)) and base != stated:
                cause = f"of base {base:g}, not {stated:g}"
            elif factor_of_all := _quotient(expected, measured):
                cause = f"divided by {factor_of_all:g}"
        pairs = enumerate(zip(measured, expected, strict=False))
        worst = next((plane for plane, pair in pairs if not close(*pair, least)), None)
        numbers |= {"plane": worst, "planes": len(measured), "published_planes": len(expected)}
        says = f"frequencies are not the published ones but those {cause}"
        if worst is not None:
            numbers |= {"frequency": measured[worst], "published": expected[worst]}
            says += f": plane {worst} turns by {measured[worst]:.6g}, not {expected[worst]:.6g}"
        if len(measured) != len(expected):
            says = f"{2 * len(measured)} coordinates are rotated, not {2 * len(expected)}: frequencies {cause}"
        defects.append(Defect(rule=rule, says=says, first={"all": 1}, numbers=numbers))
    if not isclose(factor, published.attention_factor, rel_tol=1e-4):
        unguarded = published.variants.get("yarn-factor-one", ((), inf))[1]
        rule = "yarn-factor-one" if isclose(factor, unguarded, rel_tol=1e-4) else "mscale-ignored"
        says = f"cosines are multiplied by {factor:.6g}, the published factor is {published.attention_factor:.6g}"
        defects.append(Defect(rule=rule, says=says, first={"all": 0}, numbers=numbers))
    if logit is not None and not isclose(logit, published.logit_factor, rel_tol=1e-4):
        says = f"the softmax scale has the factor {logit:.6g}, the published one is {published.logit_factor:.6g}"
        numbers = {"logit_factor": logit, "published_logit_factor": published.logit_factor}
        defects.append(Defect(rule="mscale-all-dim", says=says, first={"all": 0}, numbers=numbers))
    return defects


def least(reference: RotateAdapter, last: int) -> float:
    """Slowest frequency that can be told from 0 by an angle at position `last`."""
    return max(NOISE, getattr(reference.function, "noise", 0.0)) / max(1, last)


def _base_of(frequencies: Sequence[float]) -> float | None:
    """Base b if the frequencies are b^(-2l / d), l = 0 .. d/2 - 1, to four digits; None if they are not."""
    planes = len(frequencies)
    if planes < 3 or frequencies[-1] <= 0:
        return None
    base = float(f"{frequencies[-1] ** (-planes / (planes - 1)):.4g}")
    return base if same(list(frequencies), list(plain_frequencies(base, 2 * planes)), 0.0) else None


def _quotient(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Number by which all of the first are divided in the second, to four digits; None if there is none."""
    if len(first) != len(second) or not second or not all(second):
        return None
    quotient = float(f"{first[0] / second[0]:.4g}")
    return quotient if same([part * quotient for part in second], list(first), 0.0) else None


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


def _buckets_differ(reference: Adapter, stated: Any) -> list[Defect]:
    """Defect of a bias that changes at other distances than T5's buckets with these numbers."""
    if not isinstance(stated, Mapping):
        raise AuditError("follows = {'t5': ...}: give {'num_buckets': 32, 'max_distance': 128, 'bidirectional': False}")
    numbers = {name: stated.get(name, usual) for name, usual in (("num_buckets", 32), ("max_distance", 128))}
    for name, number in numbers.items():
        require_number(name, number, Range(4, 1 << 20))
    buckets = numbers["num_buckets"] // (2 if stated.get("bidirectional") else 1)
    assert isinstance(reference, BiasAdapter)
    distances = first_positions(reference.offset_reach(SPAN - 1))
    sides = {"": reference.code(distances)}
    rule, says, first = "buckets-unpublished", "", 1
    if stated.get("bidirectional"):
        sides[" to keys after the query"] = after = reference.after(distances)
        if len(after) > 1 and torch.equal(after, after[:1].expand_as(after)):
            rule = "keys-after-clamped"
            says = "the bidirectional buckets have one value for all keys after the query: those of a decoder?"
        elif torch.equal(after, sides[""]):
            says = "the bidirectional buckets are the same for keys before and after the query: each side has its own"
    for side, values in sides.items() if not says else ():
        runs = runs_of(values.diff(dim=0))
        distance = first_unlike_t5(runs, buckets, numbers["max_distance"])
        if distance is not None and not says:
            expected = t5_buckets(buckets, numbers["max_distance"], len(runs))[distance]
            has = f"the bias has {runs[distance] + 1} values up to distance {distance}{side}"
            says, first = f"{has}, T5's buckets have {expected + 1}", distance
    return [Defect(rule=rule, says=says, first={"all": first}, numbers=numbers)] if says else []


def _sinusoids_differ(reference: EmbedAdapter, stated: Any) -> list[Defect]:
    """Defects of sinusoids: pairs of two frequencies, or, where a base is stated, another table than the published."""
    waves = added.read_sinusoids(reference)
    if waves and waves.in_pairs and waves.change > added.UNPAIRED:
        says = "the product of two embeddings of one distance changes with the position: sines and cosines do not share"
        numbers = {"change": waves.change}
        return [Defect(rule="sinusoids-unpaired", says=f"{says} their frequencies", first={"all": 1}, numbers=numbers)]
    if stated is None:
        return []
    if not isinstance(stated, Mapping):
        raise AuditError("follows = {'sinusoidal': ...}: give {'base': 10000}")
    base = stated.get("base", USUAL_BASE)
    require_number("base", base, POSITIVE)
    if waves and waves.version(base):
        return []
    if not waves:
        says, position = "what is added are no sines and cosines", 0
    elif likely := next((likely for likely in waves.likely_bases if waves.version(likely)), None):
        says, position = f"sinusoids are {waves.version(likely)} of base {likely:g}, not of base {base:g}", 1
    else:
        name, far = min(waves.distances(base).items(), key=lambda pair: float(pair[1].abs().mean()))
        position, channel = (int(index[0]) for index in (far.abs() > added.CLOSE).nonzero(as_tuple=True))
        value = float(waves.table[position, channel])
        says = (
            f"sinusoids are not the published ones of base {base:g}; the nearest are {name}: channel {channel} at "
            f"position {position} is {value:.4g}, not {value - float(far[position, channel]):.4g}"
        )
    return [Defect(rule="frequencies-unpublished", says=says, first={"all": position})]
