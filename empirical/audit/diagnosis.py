"""Diagnosis: turn measurements into defects, each with a likely cause and the first position that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, log2
from typing import Any

import torch

from empirical.audit.adapter import MOVED
from empirical.audit.agreement import Agreement
from empirical.audit.codes import Codes
from empirical.audit.independence import Independence
from empirical.audit.law import RelativeLawErrors
from empirical.audit.rounded import rounded_to
from empirical.audit.slope import Slope
from empirical.audit.subject import Kind, Subject

EPS = {"float32": 2.0**-23, "float16 or TF32": 2.0**-10, "bfloat16": 2.0**-7}
"""Machine epsilon (one unit in the last place of 1) of each dtype, the finest first."""
GROWING = ("token by token", "a row with positions of its own")
"""Call patterns in which the last position of a call differs from that of the full pass."""
WAYS = {
    ("left padded", "right padded"): "padding changes what real tokens get",
    ("batched",): "other rows of the batch change what a row gets",
    GROWING: "a code depends on the last position of its call: cached keys, and rows batched with longer ones, differ",
}
"""Groups of call patterns, and the defect reported if one differs from the full forward pass."""
ACCURACY = 1e-6
"""Relative accuracy of a frequency that is read from float32 cosines and sines."""


@dataclass(frozen=True, kw_only=True)
class SettingMeasures:
    """Measurements in one setting; `law` is None if the relative law is not claimed, `agreement` is by call pattern."""

    law: RelativeLawErrors | None
    codes: Codes
    agreement: Mapping[str, Agreement]


@dataclass(kw_only=True)
class Defect:
    """Defect: its description, and for each setting the first position that shows it (None: no particular position)."""

    says: str
    first: dict[str, int | None] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file."""
        return {"says": self.says, "first": self.first}


def findings(
    subject: Subject,
    measured: Mapping[str, SettingMeasures],
    independence: Independence,
    slope: Slope | None,
    frequencies: torch.Tensor | None,
    learned: bool,
) -> list[Defect]:
    """List the defects, each once with all settings that show it.

    If the subject has trainable parameters (`learned`), their rounding by a move to a low dtype is not a defect.
    """
    defects: dict[str, Defect] = {}

    def add(description: str, setting: str = "all", position: int | None = None) -> None:
        defects.setdefault(description, Defect(says=description)).first.setdefault(setting, position)

    for description in _independence_defects(subject, independence):
        add(description)
    if slope:
        for description, position in _slope_defects(subject, slope):
            add(description, position=position)
    if frequencies is not None and (dtype := rounded_to(frequencies, ACCURACY)):
        add(f"all frequencies agree with rounding to {dtype}")
    for setting, measures in measured.items():
        plain = measured.get(setting.partition(",")[0], measures)
        drift = None if learned and setting.endswith(MOVED) else _drift_description(setting, plain)
        for description, position in _setting_defects(subject, measures, drift):
            add(description, setting, position)
    return list(defects.values())


def _independence_defects(subject: Subject, result: Independence) -> list[str]:
    """Descriptions of the independence tests that failed."""
    other = ", ".join(f"{name}={value}" for name, value in (result.other or {}).items())
    test_passed = {
        f"an instance with {other} has the codes of one without: a table is kept without {other.partition('=')[0]} in "
        "its key, or the parameter does nothing": result.other_differs,
        f"its codes change once an instance with {other} was used: the two share a table": result.unchanged_by_other,
        "its codes depend on how long the sequences before were: it keeps something of earlier calls": (
            result.unchanged_by_length
        ),
        "its float32 codes change once it was used in bfloat16: what it keeps was rounded": result.unchanged_by_dtype,
        "a move to bfloat16 and back changes its codes: .to() rounds constants that it keeps as tensors": (
            result.unchanged_by_moves
        ),
    }
    return [description for description, holds in test_passed.items() if holds is False]


def _slope_defects(subject: Subject, slope: Slope) -> list[tuple[str, int | None]]:
    """Defects of the sign, the slopes and the codes after the query of a bias."""
    defects: list[tuple[str, int | None]] = []
    rising = [head for head, direction in enumerate(slope.directions) if direction in ("rises", "mixed")]
    only_rises = set(slope.directions) == {"rises"}
    if only_rises or (rising and "decays" in subject.claims):
        rising_heads = "every head" if only_rises else "heads " + ", ".join(map(str, rising))
        defects.append((f"the bias rises with the distance in {rising_heads}: its sign is reversed?", slope.first_rise))
    if "distinct" in subject.claims and slope.of_after and (slope.distinct_after or 0) < slope.of_after:
        defects.append(
            (f"{slope.of_after} distances to keys after the query have {slope.distinct_after} codes: a clamp?", None)
        )
    if dtype := rounded_to(torch.tensor(slope.steps, dtype=torch.float64), ACCURACY):
        defects.append((f"the slopes of all heads agree with rounding to {dtype}", None))
    return defects


def _setting_defects(subject: Subject, measures: SettingMeasures, drift: str | None) -> list[tuple[str, int | None]]:
    """Defects in one setting; `drift` describes codes that are far from their float64 values, None: not reported."""
    law, codes = measures.law, measures.codes
    defects: list[tuple[str, int | None]] = []
    has_overflow = codes.not_finite_from is not None
    if has_overflow:
        defects.append((f"no finite code from some {_position_word(subject)} on: an overflow", codes.not_finite_from))
    failing = law is not None and law.first is not None
    if failing and has_overflow:  # an overflow explains failures at later positions
        failing = law.first.error < inf and law.first.position < codes.not_finite_from
    lost = "distinct" in subject.claims and codes.lost and not has_overflow
    since = codes.not_finite_from
    if failing or lost:
        cause, position = _cause_of_failure(subject, measures, lost=lost)
        firsts = [first for first in (law.first.position if failing else None, position) if first is not None]
        since = min(firsts)
        defects.append((cause, since))
    if drift and codes.first_beyond is not None and (since is None or codes.first_beyond < since):
        defects.append((drift, codes.first_beyond))
    return defects + _agreement_defects(subject, measures, has_overflow=has_overflow)


def _agreement_defects(
    subject: Subject, measures: SettingMeasures, *, has_overflow: bool
) -> list[tuple[str, int | None]]:
    """Defects shown by call patterns that differ from the full forward pass."""
    defects: list[tuple[str, int | None]] = []
    for patterns, description in WAYS.items():
        if patterns == GROWING and "streaming" not in subject.claims:
            continue
        first_positions = [
            agreement.first_beyond
            for pattern, agreement in measures.agreement.items()
            if pattern.partition(",")[0] in patterns and (agreement.difference < inf or not has_overflow)
        ]
        if beyond := [position for position in first_positions if position is not None]:
            defects.append((description, min(beyond)))
    return defects


def _cause_of_failure(subject: Subject, measures: SettingMeasures, *, lost: bool) -> tuple[str, int | None]:
    """Likely cause of a broken law or of lost codes, and the first position if the codes show it."""
    law, codes, noun = measures.law, measures.codes, _position_word(subject)
    repeated = codes.repetition
    if repeated and codes.rounded_to:
        example = f"{repeated.position} is coded as {repeated.same_as}"
        return f"{noun}s agree with rounding to {codes.rounded_to}: {example}", repeated.position
    if lost and codes.clamped_from is not None and (not repeated or repeated.position == codes.clamped_from + 1):
        return f"all {noun}s from {codes.clamped_from} on have one code: a table that clamps?", codes.clamped_from + 1
    if law and law.first is not None:
        return _cause_of_broken_law(subject, law), None
    if repeated:
        return f"{noun} {repeated.position} has the code of {repeated.same_as}", repeated.position
    return f"{noun}s share codes", next(run["from"] for run in codes.windows if run["distinct"] < run["expected"])


def _cause_of_broken_law(subject: Subject, law: RelativeLawErrors) -> str:
    """Dtype rounding that accounts for all errors of the law: of the result, or of the angles it is computed from."""
    errors, finest = law.errors.amax(0), law.budgets.amin(0)
    errors = torch.where(errors.isfinite(), errors, 0)  # an overflow is reported separately
    worst = float(errors.max())
    grows = worst > 4 * float(errors[law.positions < 100].max())
    for name, eps in EPS.items():
        if not grows and eps / 8 <= worst <= 4 * eps * law.magnitude:
            return f"what comes out is rounded to {name}, whatever the dtype of what goes in"
    if name := _rounding_of_angles(law, errors, finest):
        return f"{_rounded_quantity(subject)} rounded to {name}: the error of the relative law grows with the position"
    if law.first and law.first.offset == 0:
        return "the relative law fails even between a position and itself: something acts after the rotation?"
    return "the relative law fails"


def _rounding_of_angles(law: RelativeLawErrors, errors: torch.Tensor, finest: torch.Tensor) -> str | None:
    """Name of the dtype whose rounding of the angles explains all errors; None if there is none.

    Rounding four angles below w j causes an error of at most eps w j; real errors reach a quarter of that and more.
    Errors near 1 tell nothing, because the angles have wrapped around. The dtype nearest to the largest other error
    must explain all of them. An angle made by two operations may add as much again.
    """
    growth = law.rate * law.magnitude * law.positions
    informative = (errors > finest) & (errors < 0.25) & (law.positions > 0)
    if not informative.any():
        return None
    largest_share = float((errors / growth)[informative].max())
    name, eps = min(EPS.items(), key=lambda dtype_eps: abs(log2(dtype_eps[1]) - log2(2 * largest_share)))
    most = finest.clamp(min=4 * eps * law.magnitude) + 2 * eps * growth
    return name if (errors <= most)[most < 0.5].all() else None


def _rounded_quantity(subject: Subject) -> str:
    """Subject and verb of the message: the quantity that grows with the position and is rounded."""
    return "angles are" if subject.kind is Kind.ROTATE else "the bias is a difference of numbers that are"


def _drift_description(setting: str, plain: SettingMeasures) -> str:
    """Description of codes that drift from float64; `plain`: measures with the same input dtype, nothing moved."""
    if plain.codes.first_beyond is not None:
        return "codes differ from those in float64 by more than one rounding"
    if setting.endswith(MOVED):
        return "moving the module rounds what codes are computed from: they drift from those in float64"
    return "autocast rounds what codes are computed from: they drift from those in float64"


def _position_word(subject: Subject) -> str:
    """Word for what a code belongs to: the distance for pair hooks, else the position."""
    return "distance" if subject.kind in (Kind.BIAS, Kind.SCORES) else "position"
