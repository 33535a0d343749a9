"""The precision audit as plain data."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from empirical.audit.loading import load
from empirical.audit.report import DTYPES, audit, settings
from empirical.audit.subject import AuditError
from empirical.model.backend import Backend
from empirical.runs.limits import AUDITED, Range
from lengthgen.progress import Progress
from theory.encodings.own import is_file

FARTHEST = 10_000_000
"""Beyond, float32 is about to run out of integers, and tables out of memory."""
WIDTH = Range(1, 2_048)
"""Widths of all heads together: the memory of an audit grows with them, to 1.6 GB."""
SIZES = {
    "heads": AUDITED,
    "head_dim": AUDITED,
    "width": WIDTH,
    "layers": Range(1, 64),
    "length": Range(1, 50_000),
    "trained_length": Range(1, FARTHEST),
    "buckets": Range(1, 1_024),
    "longest": Range(1, 10_000),
}
"""Parameters of the project's encodings that say how large a table is."""
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?", re.IGNORECASE)
LONGEST_NUMBER = 40
"""Characters of the longest number that is read."""


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
        to: the last position, at most FARTHEST.
        budget: of the relative law, in place of the derived one.
        heads: of queries and keys.
        head_dim: of each head; heads x head_dim is in WIDTH.
        device: cpu or cuda.

    Raises:
        AuditError, EncodingError: what was asked for cannot be audited.
        BackendError: there is no such device.
    """
    unknown = [name for name in dtypes if name not in DTYPES]
    if unknown:
        raise AuditError(f"unknown dtype '{unknown[0]}': choose among {', '.join(DTYPES)}")
    if len(set(dtypes)) < len(dtypes):
        raise AuditError("a dtype stands there twice")
    if not 1 <= to <= FARTHEST:
        raise AuditError(f"the last position must be within 1..{FARTHEST}, not {to}")
    if budget is not None and not 0 <= budget < math.inf:
        raise AuditError(f"the budget must be a finite number that is not negative, not {budget}")
    Backend(device).require()
    instance, second = values(parameters), values(other)
    for given in (instance, second):
        _require_sizes({"heads": heads, "head_dim": head_dim} | ({} if is_file(encoding) else given))
    subjects = load(
        encoding,
        claims=claims,
        parameters=instance,
        other=second or None,
        heads=heads,
        head_dim=head_dim,
    )
    audits = []
    for subject in subjects:
        progress = Progress(f"audit of {subject.name}", 1 + len(settings(subject, dtypes)))
        audits.append(audit(subject, dtypes=dtypes, to=to, budget=budget, device=device, on_step=progress.step))
    return {"encoding": encoding, "device": device, "audits": audits, "holds": all(one["holds"] for one in audits)}


def _require_sizes(given: Mapping[str, Any]) -> None:
    numbers = {name: value for name, value in given.items() if name in SIZES and not isinstance(value, str)}
    for name, value in numbers.items():
        if refusal := SIZES[name].refusal(value):
            raise AuditError(f"{name} = {value} {refusal}")
    together = numbers.get("heads", 1) * numbers.get("head_dim", 1)
    if refusal := WIDTH.refusal(together):
        raise AuditError(f"heads x head_dim = {together} {refusal}; one head shows what its width does")


def values(text: str) -> dict[str, Any]:
    """The parameters of "base=10000,layout=halves": numbers and truth values where they read as such.

    Raises:
        AuditError: a part is not NAME=VALUE, a name stands there twice, or a number is not finite or very long.
    """
    read: dict[str, Any] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, value = (one.strip() for one in part.partition("="))
        if not (equals and name and value):
            raise AuditError(f"'{part:.100}' is not NAME=VALUE")
        if name in read:
            raise AuditError(f"'{name:.100}' stands there twice")
        read[name] = _value(value, part)
    return read


def _value(text: str, part: str) -> bool | int | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        raise AuditError(f"'{part}' is no finite number")
    if not NUMBER.fullmatch(text):
        return text
    if len(text) > LONGEST_NUMBER or math.isinf(float(text)):
        raise AuditError(f"'{part:.100}' is a number too long or too large to be read")
    return int(text) if text.lstrip("+-").isdigit() else float(text)
