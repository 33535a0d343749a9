"""The precision audit as plain data."""

from collections.abc import Sequence
from typing import Any

from empirical.audit.loading import load
from empirical.audit.report import DTYPES, audit, settings
from empirical.audit.subject import AuditError
from empirical.backend import Backend
from lengthgen.progress import Progress

FARTHEST = 10_000_000
"""Beyond, float32 is about to run out of integers, and tables out of memory."""


def audit_answer(
    encoding: str,
    *,
    dtypes: Sequence[str],
    claims: Sequence[str] | None,
    parameters: str,
    other: str,
    to: int,
    budget: float | None,
    heads: int,
    head_dim: int,
    device: str,
) -> dict[str, Any]:
    """One audit for each way in which the encoding acts; `holds` if nothing was found in any.

    Args:
        encoding: a name, or path/to/file.py:object, which is run.
        dtypes: of inputs.
        claims: in place of those that the encoding makes.
        parameters: like "base=500000,factor=4".
        other: of the second instance, alike.
        to: the last position.
        budget: of the relative law, in place of the derived one.
        heads: of queries and keys.
        head_dim: of each head.
        device: cpu or cuda.

    Raises:
        AuditError, EncodingError: what was asked for cannot be audited.
        BackendError: there is no such device.
    """
    unknown = [name for name in dtypes if name not in DTYPES]
    if unknown:
        raise AuditError(f"unknown dtype '{unknown[0]}': choose among {', '.join(DTYPES)}")
    if not 1 <= to <= FARTHEST:
        raise AuditError(f"the last position must be within 1..{FARTHEST}, not {to}")
    Backend(device).require()
    subjects = load(
        encoding,
        claims=claims,
        parameters=values(parameters),
        other=values(other) or None,
        heads=heads,
        head_dim=head_dim,
    )
    audits = []
    for subject in subjects:
        progress = Progress(f"audit of {subject.name}", 1 + len(settings(subject, dtypes)))
        audits.append(audit(subject, dtypes=dtypes, to=to, budget=budget, device=device, on_step=progress.step))
    return {"encoding": encoding, "device": device, "audits": audits, "holds": all(one["holds"] for one in audits)}


def values(text: str) -> dict[str, Any]:
    """The parameters of "base=10000,layout=halves": numbers and truth values where they read as such.

    Raises:
        AuditError: a part is not NAME=VALUE.
    """
    found = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, value = part.partition("=")
        if not (equals and name and value):
            raise AuditError(f"'{part}' is not NAME=VALUE")
        found[name.strip()] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
