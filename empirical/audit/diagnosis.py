"""From measures to findings: what fails, since which position, and the defect that would look like this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, log2
from typing import Any

import torch

from empirical.audit.agreement import Agreement
from empirical.audit.codes import Codes
from empirical.audit.independence import Independence
from empirical.audit.law import Law
from empirical.audit.rounded import rounded_to
from empirical.audit.slope import Slope
from empirical.audit.subject import Kind, Subject
from empirical.audit.use import MOVED

EPS = {"float32": 2.0**-23, "float16 or TF32": 2.0**-10, "bfloat16": 2.0**-7}
"""A unit in the last place of 1, from the finest."""
GROWING = ("token by token", "a row with positions of its own")
WAYS = {
    ("left padded", "right padded"): "padding changes what real tokens get",
    ("batched",): "other rows of the batch change what a row gets",
    GROWING: "a code depends on the last position of its call: cached keys, and rows batched with longer ones, differ",
}
"""Ways of use, and what it means that one differs from the whole sequence alone."""
ACCURACY = 1e-6
"""To which a frequency read from float32 cosines and sines is known."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One setting's measures."""

    law: Law | None
    codes: Codes
    agreement: Mapping[str, Agreement]


@dataclass(kw_only=True)
class Finding:
    """One defect: what it looks like, and by setting the first position that shows it (None: at all)."""

    says: str
    first: dict[str, int | None] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"says": self.says, "first": self.first}


def findings(
    subject: Subject,
    measured: Mapping[str, Measured],
    independence: Independence,
    slope: Slope | None,
    frequencies: torch.Tensor | None,
    learned: bool,
) -> list[Finding]:
    """All, each said once for all settings that show it.

    Of a subject that has `learned` parameters, that a move to a low dtype rounds them is no defect.
    """
    found: dict[str, Finding] = {}

    def add(says: str, setting: str = "all", position: int | None = None) -> None:
        found.setdefault(says, Finding(says=says)).first.setdefault(setting, position)

    for says in _of_independence(subject, independence):
        add(says)
    if slope:
        for says, position in _of_slope(subject, slope):
            add(says, position=position)
    if frequencies is not None and (dtype := rounded_to(frequencies, ACCURACY)):
        add(f"all frequencies agree with rounding to {dtype}")
    for setting, one in measured.items():
        plain = measured.get(setting.partition(",")[0], one)
        drift = None if learned and setting.endswith(MOVED) else _drift(setting, plain)
        for says, position in _of_setting(subject, one, drift):
            add(says, setting, position)
    return list(found.values())


def _of_independence(subject: Subject, one: Independence) -> list[str]:
    other = ", ".join(f"{name}={value}" for name, value in (one.other or {}).items())
    said = {
        f"an instance with {other} has the codes of one without: a table is kept without {other.partition('=')[0]} in "
        "its key, or the parameter does nothing": one.other_differs,
        f"its codes change once an instance with {other} was used: the two share a table": one.unchanged_by_other,
        "its codes depend on how long the sequences before were: it keeps something of earlier calls": (
            one.unchanged_by_length
        ),
        "its float32 codes change once it was used in bfloat16: what it keeps was rounded": one.unchanged_by_dtype,
        "a move to bfloat16 and back changes its codes: .to() rounds constants that it keeps as tensors": (
            one.unchanged_by_moves
        ),
    }
    return [says for says, holds in said.items() if holds is False]


def _of_slope(subject: Subject, slope: Slope) -> list[tuple[str, int | None]]:
    said: list[tuple[str, int | None]] = []
    rising = [head for head, direction in enumerate(slope.directions) if direction in ("rises", "mixed")]
    only_rises = set(slope.directions) == {"rises"}
    if only_rises or (rising and "decays" in subject.claims):
        which = "every head" if only_rises else "heads " + ", ".join(map(str, rising))
        said.append((f"the bias rises with the distance in {which}: its sign is reversed?", slope.first_rise))
    if "distinct" in subject.claims and slope.of_after and (slope.distinct_after or 0) < slope.of_after:
        said.append(
            (f"{slope.of_after} distances to keys after the query have {slope.distinct_after} codes: a clamp?", None)
        )
    if dtype := rounded_to(torch.tensor(slope.steps, dtype=torch.float64), ACCURACY):
        said.append((f"the slopes of all heads agree with rounding to {dtype}", None))
    return said


def _of_setting(subject: Subject, one: Measured, drift: str | None) -> list[tuple[str, int | None]]:
    """`drift`: what to say of codes that are far from those in float64, if anything."""
    law, codes = one.law, one.codes
    said: list[tuple[str, int | None]] = []
    overflows = codes.not_finite_from is not None
    if overflows:
        said.append((f"no finite code from some {_what(subject)} on: an overflow", codes.not_finite_from))
    failing = law is not None and law.first is not None
    if failing and overflows:  # which explains what comes after it
        failing = law.first.error < inf and law.first.position < codes.not_finite_from
    lost = "distinct" in subject.claims and codes.lost and not overflows
    since = codes.not_finite_from
    if failing or lost:
        cause, position = _cause(subject, one, lost=lost)
        firsts = [first for first in (law.first.position if failing else None, position) if first is not None]
        since = min(firsts)
        said.append((cause, since))
    if drift and codes.first_beyond is not None and (since is None or codes.first_beyond < since):
        said.append((drift, codes.first_beyond))
    return said + _of_agreement(subject, one, overflows=overflows)


def _of_agreement(subject: Subject, one: Measured, *, overflows: bool) -> list[tuple[str, int | None]]:
    said: list[tuple[str, int | None]] = []
    for ways, says in WAYS.items():
        if ways == GROWING and "streaming" not in subject.claims:
            continue
        found = [
            agreement.first_beyond
            for way, agreement in one.agreement.items()
            if way.partition(",")[0] in ways and (agreement.difference < inf or not overflows)
        ]
        if beyond := [position for position in found if position is not None]:
            said.append((says, min(beyond)))
    return said


def _cause(subject: Subject, one: Measured, *, lost: bool) -> tuple[str, int | None]:
    """What explains a broken law or lost codes, and its first position where codes show that."""
    law, codes, what = one.law, one.codes, _what(subject)
    repeated = codes.repetition
    if repeated and codes.rounded_to:
        example = f"{repeated.position} is coded as {repeated.same_as}"
        return f"{what}s agree with rounding to {codes.rounded_to}: {example}", repeated.position
    if lost and codes.clamped_from is not None and (not repeated or repeated.position == codes.clamped_from + 1):
        return f"all {what}s from {codes.clamped_from} on have one code: a table that clamps?", codes.clamped_from + 1
    if law and law.first is not None:
        return _law_cause(subject, law), None
    if repeated:
        return f"{what} {repeated.position} has the code of {repeated.same_as}", repeated.position
    return f"{what}s share codes", next(run["from"] for run in codes.windows if run["distinct"] < run["expected"])


def _law_cause(subject: Subject, law: Law) -> str:
    """A rounding that accounts for all errors: of what comes out, or of the angles that it is made from."""
    errors, finest = law.errors.amax(0), law.budgets.amin(0)
    errors = torch.where(errors.isfinite(), errors, 0)  # an overflow is a finding of its own
    worst = float(errors.max())
    grows = worst > 4 * float(errors[law.positions < 100].max())
    for name, eps in EPS.items():
        if not grows and eps / 8 <= worst <= 4 * eps * law.magnitude:
            return f"what comes out is rounded to {name}, whatever the dtype of what goes in"
    if name := _rounding_of_angles(law, errors, finest):
        return f"{_growing(subject)} rounded to {name}: the error of the relative law grows with the position"
    if law.first and law.first.offset == 0:
        return "the relative law fails even between a position and itself: something acts after the rotation?"
    return "the relative law fails"


def _rounding_of_angles(law: Law, errors: torch.Tensor, finest: torch.Tensor) -> str | None:
    """As in the budget, four angles below w j, rounded, make at most eps w j; met are a quarter of it and more.

    Errors near 1 say nothing: there angles have gone round. The dtype nearest to what the others say must then account
    for all of them, with as much again for an angle that is made by two operations.
    """
    growth = law.rate * law.magnitude * law.positions
    telling = (errors > finest) & (errors < 0.25) & (law.positions > 0)
    if not telling.any():
        return None
    met = float((errors / growth)[telling].max())
    name, eps = min(EPS.items(), key=lambda one: abs(log2(one[1]) - log2(2 * met)))
    most = finest.clamp(min=4 * eps * law.magnitude) + 2 * eps * growth
    return name if (errors <= most)[most < 0.5].all() else None


def _growing(subject: Subject) -> str:
    return "angles are" if subject.kind is Kind.ROTATE else "the bias is a difference of numbers that are"


def _drift(setting: str, plain: Measured) -> str:
    """`plain`: measured with inputs of the same dtype and nothing else."""
    if plain.codes.first_beyond is not None:
        return "codes differ from those in float64 by more than one rounding"
    if setting.endswith(MOVED):
        return "moving the module rounds what codes are computed from: they drift from those in float64"
    return "autocast rounds what codes are computed from: they drift from those in float64"


def _what(subject: Subject) -> str:
    return "distance" if subject.kind in (Kind.BIAS, Kind.SCORES) else "position"
