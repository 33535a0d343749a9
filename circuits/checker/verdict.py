"""Verdict on a certificate: the statement that it proves, in one line and as data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lengthgen.circuits.checker.lower import check_lower
from lengthgen.circuits.checker.problem import SHAPES, GuardedTask, fits, need
from lengthgen.circuits.checker.upper import check_upper


@dataclass(frozen=True, kw_only=True)
class CertificateVerdict:
    """Result of a check.

    Attributes:
        statement: the bounds in one line, including what is not proved.
        status: "exact", "reference", "sampled" or "bounds", with the meaning of `lengthgen.circuits.src`.
        proved: True if all bounds are proved; else the upper bound was tried on random prompts only.
        lower: lower bound; inf if there is no circuit.
        upper: upper bound; None if none is claimed.
        upper_checked_to: last scale up to which the circuit was tried on all prompts; beyond it on random ones. 0 if
            there is no circuit.
        sampled: number of random prompts that it was tried on.
    """

    statement: str
    status: str
    proved: bool
    lower: float
    upper: float | None
    upper_checked_to: int
    sampled: int


def bounds_sentence(
    subject: str, setting: str, lower: float, upper: float | None, *, own: bool, tried: int, to: int
) -> str:
    """Return the bounds as a sentence that does not call the upper one proved if it rests on a sample of prompts.

    `own` says that the upper bound is that of the task's own circuit. `tried` is the number of prompts above scale `to`
    that the circuit was tried on, 0 if it was tried on all prompts.
    """
    if tried and upper is not None and not math.isinf(upper):
        bound = f"upper bound {upper}" + (", that of the task's own circuit," if own else "")
        return (
            f"{subject} >= {lower} {setting}; {bound} holds on {tried:,} sampled prompts only above scale {to}, "
            "not proved"
        )
    if lower in (math.inf, upper):
        return f"{subject} = {lower} {setting}"
    if upper is None or math.isinf(upper):
        return f"{subject} >= {lower} {setting}"
    return f"{lower} <= {subject} <= {upper} {setting}"


def check(certificate: Mapping[str, Any], task: Any, *, seed: int) -> CertificateVerdict:
    """Return the verdict on a certificate of a task.

    Args:
        certificate: the JSON object.
        task: the task that it names, in its format. It has `alphabet`, `prompt(n)`, `generate(symbols)` and
            `reference`, which is None or has `arity`, `steps(n)` and `apply(name, symbols)`.
        seed: seed of the random prompts that a circuit is tried on if a scale has too many prompts.

    Raises:
        CertificateError: anything is wrong, or beyond the limits of this package.
    """
    need(
        isinstance(certificate, Mapping) and set(certificate) == set(SHAPES), f"its fields must be {', '.join(SHAPES)}"
    )
    for field, shapes in SHAPES.items():
        need(
            any(fits(certificate[field], shape) for shape in shapes),
            f"'{field}' has a wrong type, a wrong value or a gap",
        )
    need(
        certificate["scale"] <= certificate["largest_scale"] and certificate["task"].isprintable(),
        "the scale is above largest_scale, or the task name is not printable",
    )
    lower, upper = (math.inf if certificate[bound] == "inf" else certificate[bound] for bound in ("lower", "upper"))
    need(upper is None or lower <= upper, "the lower bound is above the upper bound")
    need(upper != math.inf or lower == math.inf, "an upper bound of inf needs a lower bound of inf")
    circuit = certificate["circuit"]
    need((circuit is None) == (upper in (None, math.inf)), "a circuit and a finite upper bound go together")
    problem = GuardedTask(task, certificate["arity"], certificate["mode"])
    check_lower(problem, certificate)
    checked_to, sampled = (0, 0) if circuit is None else check_upper(problem, certificate, seed)

    base = f" base {certificate['base']}" if certificate["base"] else ""
    layout = certificate["layout"]
    to_largest = "" if layout == "unaligned" else f", {layout} to scale {certificate['largest_scale']}"
    own = circuit == {"reference": True}
    statement = bounds_sentence(
        f"SRC({certificate['task'].rpartition(':')[2]}{base}, {certificate['scale']})",
        f"at arity {certificate['arity']}, {certificate['mode']}{to_largest}",
        lower,
        upper,
        own=own,
        tried=sampled,
        to=checked_to,
    )
    if_bounds_meet = "exact" if not sampled else "reference" if own else "sampled"
    return CertificateVerdict(
        statement=statement,
        status=if_bounds_meet if lower in (math.inf, upper) else "bounds",
        proved=not sampled,
        lower=lower,
        upper=upper,
        upper_checked_to=checked_to,
        sampled=sampled,
    )
