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

    `own` says that the upper bound is that of the task's own circuit, `tried` is the number of prompts above scale `to`
    that a circuit was tried on; 0 if all prompts were.
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
        CertificateError: anything is wrong, or beyond the limits of this module.
    """
    c = certificate
    need(isinstance(c, Mapping) and set(c) == set(SHAPES), f"its fields must be {', '.join(SHAPES)}")
    for field, shapes in SHAPES.items():
        need(any(fits(c[field], shape) for shape in shapes), f"'{field}' has a wrong type, a wrong value or a gap")
    need(
        c["scale"] <= c["largest_scale"] and c["task"].isprintable(),
        "the scale is above largest_scale, or the task name is not printable",
    )
    lower, upper = (math.inf if c[bound] == "inf" else c[bound] for bound in ("lower", "upper"))
    need(upper is None or lower <= upper, "the lower bound is above the upper bound")
    need(upper != math.inf or lower == math.inf, "an upper bound of inf needs a lower bound of inf")
    need((c["circuit"] is None) == (upper in (None, math.inf)), "a circuit and a finite upper bound go together")
    problem = GuardedTask(task, c["arity"], c["mode"])
    check_lower(problem, c)
    checked_to, sampled = (0, 0) if c["circuit"] is None else check_upper(problem, c, seed)

    base = f" base {c['base']}" if c["base"] else ""
    layout = "" if c["layout"] == "unaligned" else f", {c['layout']} to scale {c['largest_scale']}"
    own = c["circuit"] == {"reference": True}
    statement = bounds_sentence(
        f"SRC({c['task'].rpartition(':')[2]}{base}, {c['scale']})",
        f"at arity {c['arity']}, {c['mode']}{layout}",
        lower,
        upper,
        own=own,
        tried=sampled,
        to=checked_to,
    )
    met = "exact" if not sampled else "reference" if own else "sampled"
    return CertificateVerdict(
        statement=statement,
        status=met if lower in (math.inf, upper) else "bounds",
        proved=not sampled,
        lower=lower,
        upper=upper,
        upper_checked_to=checked_to,
        sampled=sampled,
    )
