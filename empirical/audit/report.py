"""The whole audit of one subject: measures in every setting, and what they show."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from empirical.audit import agreement, codes, independence, law, slope
from empirical.audit.diagnosis import Measured, findings
from empirical.audit.kinds import use
from empirical.audit.pairs import BiasUse
from empirical.audit.rotation import RotateUse
from empirical.audit.subject import AuditError, Subject
from empirical.audit.use import Refusal, Setting, Use

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
LOW = (torch.bfloat16, torch.float16)
EXACT = Setting(dtype=torch.float64)


def settings(subject: Subject, dtypes: Sequence[str]) -> list[Setting]:
    """Inputs of each dtype; where the subject is a module that holds numbers, moved to a low one; under autocast."""
    instance = subject.instance()
    movable = isinstance(instance, nn.Module) and any(
        one.is_floating_point() for one in (*instance.parameters(), *instance.buffers())
    )
    found = [Setting(dtype=DTYPES[name]) for name in dtypes]
    found += [Setting(dtype=DTYPES[name], moved=True) for name in dtypes if movable and DTYPES[name] in LOW]
    return found + [Setting(dtype=DTYPES[name], autocast=True) for name in dtypes if name == "bfloat16"]


def audit(
    subject: Subject,
    *,
    dtypes: Sequence[str] = tuple(DTYPES),
    to: int = 1_000_000,
    budget: float | None = None,
    device: str = "cpu",
    on_step: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Measures a subject and says what is wrong with it.

    Args:
        subject: what to audit.
        dtypes: of DTYPES.
        to: the last position.
        budget: of the relative law, in place of what one rounding of the code gives.
        device: cpu or cuda.
        on_step: called with the name of each part that ends: `independence`, then every setting's label.

    Returns:
        Plain data; `holds` says that nothing was found.

    Raises:
        AuditError: the subject fails at position 0 in float64, or returns what its kind does not.
    """
    reference = use(subject, EXACT, device)
    position_reach, offset_reach = reference.position_reach(to), reference.offset_reach(to)
    alone = independence.measure(subject, min(position_reach, offset_reach), device)
    on_step("independence")
    refused: dict[str, str] = {}
    measured: dict[str, Measured] = {}
    notes: dict[str, str] = {}
    for setting in settings(subject, dtypes):
        one = reference if setting == EXACT else use(subject, setting, device)
        try:
            measured[setting.label], note = _measured(one, reference, position_reach, offset_reach, budget)
            if note:
                notes["positions of their own for each row [B, L] are not taken"] = note
        except Refusal as error:
            refused[setting.label] = str(error)
        on_step(setting.label)
    if not measured:
        raise AuditError(next(iter(refused.values())))
    shape = slope.measure(reference, offset_reach) if isinstance(reference, BiasUse) else None
    frequencies = reference.frequencies if isinstance(reference, RotateUse) else None
    found = findings(subject, measured, alone, shape, frequencies, learned=subject.learned(reference.instance))
    return {
        "subject": subject.name,
        "kind": subject.kind.value,
        "parameters": {name: str(value) for name, value in subject.parameters.items()},
        "claims": sorted(subject.claims),
        "budget": budget,
        "to": to,
        "last_position": position_reach,
        "last_offset": offset_reach,
        "settings": {label: _setting_as_json(one) for label, one in measured.items()},
        "refused": refused,
        "independence": alone.as_json(),
        "slope": shape and shape.as_json(),
        "notes": notes,
        "findings": [one.as_json() for one in found],
        "holds": not found,
    }


def _measured(
    one: Use, reference: Use, position_reach: int, offset_reach: int, budget: float | None
) -> tuple[Measured, str | None]:
    """Of one setting; and why it takes no [B, L] positions, if it does not."""
    codes_reach = min(position_reach, offset_reach)
    found = (
        law.measure(one, reference, position_reach=position_reach, offset_reach=offset_reach, budget=budget)
        if "relative" in one.subject.claims
        else None
    )
    ways, note = agreement.measure(one, reference, codes_reach)
    return Measured(law=found, codes=codes.measure(one, reference, codes_reach), agreement=ways), note


def _setting_as_json(one: Measured) -> dict[str, Any]:
    return {
        "law": one.law and one.law.as_json(),
        "codes": one.codes.as_json(),
        "agreement": {way: found.as_json() for way, found in one.agreement.items()},
    }
