"""Diagnosis: turn measurements into defects, each with a likely cause and the first position that shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log2
from typing import Any

import torch

from lengthgen.empirical.audit.adapter import MOVED
from lengthgen.empirical.audit.added import Slope
from lengthgen.empirical.audit.causes import Cause
from lengthgen.empirical.audit.independence import Agreement, Independence
from lengthgen.empirical.audit.position_codes import Codes, rounded_to
from lengthgen.empirical.audit.relative_law import LawViolation, RelativeLawErrors
from lengthgen.empirical.audit.rules import ORDER, RULES, Severity
from lengthgen.empirical.audit.subject import Kind, Subject

EPS = {"float32": 2.0**-23, "float16 or TF32": 2.0**-10, "bfloat16": 2.0**-7}
"""Machine epsilon (one unit in the last place of 1) of each dtype, the finest first."""
GROWING = ("token by token", "a row with positions of its own")
"""Call patterns in which the last position of a call differs from that of the full pass."""
WAYS: dict[tuple[str, ...], tuple[str, str]] = {
    ("left padded", "right padded"): ("padding", "padding changes what real tokens get"),
    ("batched",): ("batch", "other rows of the batch change what a row gets"),
    GROWING: (
        "length-dependent",
        "a code depends on the last position of its call: cached keys, and rows batched with longer ones, differ",
    ),
}
"""Groups of call patterns, and the rule and description reported if one differs from the full forward pass."""
CONSEQUENCES = {
    "offset-not-in-cache-key": ("positions-ignored", "padding", "length-dependent", "law-broken", "codes-repeated"),
    "positions-ignored": ("padding", "length-dependent", "codes-clamped", "codes-repeated"),
    "length-dependent": ("law-broken",),
    "no-position": ("codes-clamped", "codes-repeated", "parameter-ignored"),
}
"""Rules whose mistake makes others fail too: only the mistake itself is reported."""
ROUNDINGS = frozenset({"positions-rounded", "angles-rounded", "output-rounded"})
"""Rules of rounding that a bias of keys alone shows in a low dtype, because the constant of its row is rounded."""
ROW_CONSTANT = (
    "the bias depends on the key alone: it differs from one of distances by a constant of the row, which softmax "
    "cancels; its rounding in a low dtype grows with the position of the key"
)
NO_POSITION = "all positions have one code: nothing depends on the position"
NEAR = 64
"""Largest first position of a law that fails by its formula, not by rounding."""
ACCURACY = 1e-6
"""Relative accuracy of a frequency that is read from float32 cosines and sines."""


@dataclass(frozen=True, kw_only=True)
class SettingMeasures:
    """Measurements in one setting; `law` is None if the relative law is not claimed, `agreement` is by call pattern."""

    law: RelativeLawErrors | None
    codes: Codes
    agreement: Mapping[str, Agreement]

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file."""
        agreement = {pattern: compared.as_json() for pattern, compared in self.agreement.items()}
        return {"law": self.law and self.law.as_json(), "codes": self.codes.as_json(), "agreement": agreement}


Seen = tuple[str, str, int | None]
"""A cause, and the first position that shows it."""


@dataclass(kw_only=True)
class Defect:
    """Defect: its rule, what was seen, and for each setting the first position that shows it (None: no position).

    `numbers` are measurements behind it; `reproduction` is a short program that fails while the defect is there.
    """

    rule: str
    says: str
    first: dict[str, int | None] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    reproduction: str | None = None

    @property
    def severity(self) -> Severity:
        """Severity of the rule."""
        return RULES[self.rule].severity

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file, with the law and the mend of the rule."""
        rule = RULES[self.rule]
        return {
            "rule": self.rule,
            "severity": rule.severity.value,
            "says": self.says,
            "first": self.first,
            "numbers": self.numbers,
            "law": rule.law,
            "mend": rule.mend,
            "reproduction": self.reproduction,
        }


def findings(
    subject: Subject,
    measured: Mapping[str, SettingMeasures],
    independence: Independence,
    slope: Slope | None,
    frequencies: torch.Tensor | None,
    learned: bool,
    broken_law: Cause | None = None,
    planes: Sequence[tuple[int, ...]] = (),
    has_one_code: bool = False,
) -> list[Defect]:
    """List the defects, each once with all settings that show it, the most severe first, without mere consequences.

    If the subject has trainable parameters (`learned`), their rounding by a move to a low dtype is not a defect.
    `planes` are the coordinates of each plane of a rotation. `broken_law` is what the maps of query and key show in
    float64, see `causes.py`. `has_one_code`: all positions have the same code in float64.
    """
    defects: dict[str, Defect] = {}

    def add(rule: str, says: str, setting: str = "all", position: int | None = None, **numbers: Any) -> None:
        """Add a defect; numbers of the first setting that shows it are kept."""
        defects.setdefault(says, Defect(rule=rule, says=says, numbers=numbers)).first.setdefault(setting, position)

    for rule, says in _independence_defects(subject, independence):
        add(rule, says)
    if slope:
        for rule, says, position in _slope_defects(subject, slope):
            add(rule, says, position=position)
    elif has_one_code and subject.of_coordinate:
        add("positions-ignored", f"{subject.name}: {NO_POSITION}")
    elif has_one_code:
        add("no-position", NO_POSITION)
    if subject.note:
        add("tokens-axis", subject.note)
    if frequencies is not None and (dtype := rounded_to(frequencies, ACCURACY)):
        numbers: dict[str, Any] = {"coordinates": [plane for plane in planes if len(plane) == 2]} if planes else {}
        add("frequencies-rounded", f"all frequencies agree with rounding to {dtype}", **numbers)
    for setting, measures in measured.items():
        plain = measured.get(setting.partition(",")[0], measures)
        drift = None if learned and setting.endswith(MOVED) else _drift_description(setting, plain)
        fails_only_here = plain is not measures and not any(_failures(subject, plain))
        cause = _drift_description(setting, plain) if fails_only_here else None
        for rule, says, position in _setting_defects(subject, measures, drift, broken_law, cause):
            is_constant = slope is not None and slope.of_keys and rule in ROUNDINGS and "float16" in setting
            named = ("row-constant", ROW_CONSTANT) if is_constant else (rule, says)
            add(*named, setting, position, **(measures.law.worst() if measures.law else {}))
    rules = {defect.rule for defect in defects.values()}
    hidden = {consequence for rule in rules for consequence in CONSEQUENCES.get(rule, ())}
    kept = [defect for defect in defects.values() if defect.rule not in hidden]
    return sorted(kept, key=lambda defect: ORDER.index(defect.severity))


def _independence_defects(subject: Subject, result: Independence) -> list[Cause]:
    """Independence tests that failed."""
    other = ", ".join(f"{name}={value}" for name, value in (result.other or {}).items())
    tests = (
        (result.other_differs, "parameter-ignored", f"an instance with {other} has the codes of one without: a table "
         f"is kept without {other.partition('=')[0]} in its key, or the parameter does nothing"),
        (result.unchanged_by_other, "shared-table",
         f"its codes change once an instance with {other} was used: the two share a table"),
        (result.unchanged_by_length or not result.repeats_start, "offset-not-in-cache-key", "a call gets the codes of "
         "an earlier call with as many tokens and another start: a cache without the offset in its key"),
        (result.unchanged_by_length or result.repeats_start, "call-history",
         "its codes depend on how long the sequences before were: it keeps something of earlier calls"),
        (result.unchanged_by_dtype, "rounded-by-use",
         "its float32 codes change once it was used in bfloat16: what it keeps was rounded"),
        (result.unchanged_by_moves, "rounded-by-move",
         "a move to bfloat16 and back changes its codes: .to() rounds constants that it keeps as tensors"),
    )  # fmt: skip
    return [(rule, says) for holds, rule, says in tests if holds is False]


def _slope_defects(subject: Subject, slope: Slope) -> list[Seen]:
    """Defects of the sign, the slopes and the codes after the query of a bias."""
    defects: list[Seen] = []
    if slope.after_flat is not None:
        if slope.after_flat < 2:
            return [("no-position", NO_POSITION, None)]
        says = f"all distances to keys before the query have one code, those to keys after it {slope.after_flat}"
        return [("codes-clamped", f"{says}: are query and key exchanged?", 1)]
    if slope.after_undefined is not None:
        return [("not-finite", "the bias of keys after the query is NaN", slope.after_undefined)]
    rising = [head for head, direction in enumerate(slope.directions) if direction in ("rises", "mixed")]
    only_rises = set(slope.directions) == {"rises"}
    if only_rises or (rising and "decays" in subject.claims):
        rising_heads = "every head" if only_rises else "heads " + ", ".join(map(str, rising))
        rule = "sign-reversed" if only_rises else "not-decaying"
        says = f"the bias rises with the distance in {rising_heads}: its sign is reversed?"
        defects.append((rule, says, slope.first_rise))
    if "distinct" in subject.claims and slope.of_after and (slope.distinct_after or 0) < slope.of_after:
        says = f"{slope.of_after} distances to keys after the query have {slope.distinct_after} codes: a clamp?"
        defects.append(("keys-after-clamped", says, None))
    if dtype := rounded_to(torch.tensor(slope.steps, dtype=torch.float64), ACCURACY):
        defects.append(("slopes-rounded", f"the slopes of all heads agree with rounding to {dtype}", None))
    if slope.rule == "unpublished" and not only_rises:
        says = "slopes in geometric order are neither those of ALiBi's text nor those of its code"
        defects.append(("slopes-unpublished", says, None))
    return defects


def _setting_defects(
    subject: Subject, measures: SettingMeasures, drift: Cause | None, broken_law: Cause | None, cause: Cause | None
) -> list[Seen]:
    """Defects in one setting; `drift` describes codes that are far from their float64 values, None: not reported.

    `cause` is that of a broken law or of lost codes, where the setting tells it: the plain call in its dtype is right.
    """
    codes, noun = measures.codes, _position_word(subject)
    defects: list[Seen] = []
    since = codes.not_finite_from
    if since is not None and since <= NEAR:
        defects.append(("not-finite", f"no finite code of small {noun}s", since))
    elif since is not None:
        defects.append(("overflow", f"no finite code from some {noun} on: an overflow", since))
    failure, lost = _failures(subject, measures)
    if failure or lost:
        rule, says, position = _cause_of_failure(subject, measures, lost=lost, broken_law=broken_law)
        since = min(first for first in (failure and failure.position, position) if first is not None)
        defects.append((*(cause or (rule, says)), since))
    if drift and codes.first_beyond is not None and (since is None or codes.first_beyond < since):
        defects.append((*drift, codes.first_beyond))
    return defects + _agreement_defects(subject, measures)


def _failures(subject: Subject, measures: SettingMeasures) -> tuple[LawViolation | None, bool]:
    """First violation of the law and whether codes are lost, where no overflow explains them.

    A distance has one code in a bias only where the bias is relative.
    """
    failure, overflow = measures.law.first if measures.law else None, measures.codes.not_finite_from
    if failure and overflow is not None and not (failure.error < inf and failure.position < overflow):
        failure = None  # an overflow explains failures at later positions
    has_codes = subject.kind is not Kind.BIAS or "relative" in subject.claims
    return failure, "distinct" in subject.claims and has_codes and measures.codes.lost and overflow is None


def _agreement_defects(subject: Subject, measures: SettingMeasures) -> list[Seen]:
    """Defects shown by call patterns that differ from the full forward pass."""
    defects: list[Seen] = []
    for patterns, (rule, says) in WAYS.items():
        beyond = [
            agreement.first_beyond
            for pattern, agreement in measures.agreement.items()
            if pattern.partition(",")[0] in patterns
            and agreement.first_beyond is not None
            and (agreement.difference < inf or measures.codes.not_finite_from is None)
        ]
        if beyond and (patterns != GROWING or "streaming" in subject.claims):
            defects.append((rule, says, min(beyond)))
    return defects


def _cause_of_failure(subject: Subject, measures: SettingMeasures, *, lost: bool, broken_law: Cause | None) -> Seen:
    """Likely cause of a broken law or of lost codes, and the first position if the codes show it."""
    law, codes, noun = measures.law, measures.codes, _position_word(subject)
    repeated = codes.repetition
    if broken_law and (lost or (law and law.first and law.first.position <= NEAR)):
        return *broken_law, None if law and law.first else 0
    if repeated and codes.rounded_to:
        example = f"{repeated.position} is coded as {repeated.same_as}"
        says = f"{noun}s agree with rounding to {codes.rounded_to}: {example}"
        return "positions-rounded", says, repeated.position
    if lost and codes.clamped_from is not None and (not repeated or repeated.position == codes.clamped_from + 1):
        says = f"all {noun}s from {codes.clamped_from} on have one code: a table that clamps?"
        return "codes-clamped", says, codes.clamped_from + 1
    if law and law.first is not None and not (lost and law.beyond_rounding is None):
        return *_cause_of_broken_law(subject, law), None
    if repeated:
        return "codes-repeated", f"{noun} {repeated.position} has the code of {repeated.same_as}", repeated.position
    first = next(run["from"] for run in codes.windows if run["distinct"] < run["expected"])
    return "codes-repeated", f"{noun}s share codes", first


def _cause_of_broken_law(subject: Subject, law: RelativeLawErrors) -> Cause:
    """Rounding that accounts for all errors of the law: of the input, the result, or the angles it is computed from.

    Causes are judged by errors beyond one rounding to the dtype of the inputs, also where a smaller budget is stated.
    """
    dtype_of_input = str(law.dtype).removeprefix("torch.")
    if law.beyond_rounding is None:
        says = f"the budget is smaller than one rounding to {dtype_of_input}, the dtype of what goes in"
        return "budget-below-rounding", says
    errors, finest = law.errors.amax(0), law.rounding.amin(0)
    errors = torch.where(errors.isfinite(), errors, 0)  # an overflow is reported separately
    worst = float(errors.max())
    grows = worst > 4 * float(errors[law.positions < 100].max())
    for dtype, eps in EPS.items():
        coarser = eps > torch.finfo(law.dtype).eps  # what goes in was rounded to its own dtype already
        if coarser and not grows and eps / 8 <= worst <= 4 * eps * law.magnitude:
            return "output-rounded", f"what comes out is rounded to {dtype}, whatever the dtype of what goes in"
    if name := _rounding_of_angles(law, errors, finest):
        rule = "angles-in-float32" if name == "float32" else "angles-rounded"
        what = "angles are" if subject.kind is Kind.ROTATE else "the bias is a difference of numbers that are"
        return rule, f"{what} rounded to {name}: the error of the relative law grows with the position"
    if not (law.errors > law.rounding)[law.offsets >= 0].any():
        return "law-broken", "the relative law fails for keys after the query"
    if law.beyond_rounding.offset == 0 and subject.kind is not Kind.BIAS:
        says = "the relative law fails even between a position and itself: something acts after the rotation?"
        return "acts-after-rotation", says
    return "law-broken", "the relative law fails"


def _rounding_of_angles(law: RelativeLawErrors, errors: torch.Tensor, finest: torch.Tensor) -> str | None:
    """Name of the dtype whose rounding of the angles explains all errors; None if there is none.

    Rounding four angles below w j causes an error of at most eps w j; real errors reach a quarter of that and more.
    Errors near 1 tell nothing, because the angles have wrapped around. The dtype nearest to the largest other error
    must explain all of them; float32 comes first, as cosines of slow angles err by more than the angles. An angle made
    by two operations may add as much again.
    """
    growth = law.rate * law.magnitude * law.positions

    def explains(eps: float) -> bool:
        most = finest.clamp(min=4 * eps * law.magnitude) + 2 * eps * growth
        return bool((errors <= most)[most < 0.5].all())

    informative = (errors > finest) & (errors < 0.25) & (law.positions > 0)
    if not informative.any():
        return None
    if explains(EPS["float32"]):
        return "float32"
    largest_share = float((errors / growth)[informative].max())
    name, eps = min(EPS.items(), key=lambda dtype_eps: abs(log2(dtype_eps[1]) - log2(2 * largest_share)))
    return name if explains(eps) else None


def _drift_description(setting: str, plain: SettingMeasures) -> Cause:
    """Rule and description of codes that drift from float64; `plain`: measures with the same dtype, nothing moved."""
    if plain.codes.first_beyond is not None:
        return "drift", "codes differ from those in float64 by more than one rounding"
    rule, what = ("rounded-by-move", "moving the module") if setting.endswith(MOVED) else ("autocast-drift", "autocast")
    return rule, f"{what} rounds what codes are computed from: they drift from those in float64"


def _position_word(subject: Subject) -> str:
    """Word for what a code belongs to: the distance for pair hooks, else the position."""
    return "distance" if subject.kind in (Kind.BIAS, Kind.SCORES) else "position"
