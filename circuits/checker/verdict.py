"""The verdict on a certificate: what it proves, in one line and as data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from circuits.checker.lower import check_lower
from circuits.checker.problem import Problem
from circuits.checker.shape import SHAPES, fits, need
from circuits.checker.upper import check_upper


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The result of a check.

    Attributes:
        statement: in one line, with what is not proved.
        status: in the words of `circuits.src`: "exact", "reference", "sampled" or "bounds".
        proved: whether all of the bounds are; else the upper one was tried on random prompts only.
        lower: inf where there is no circuit.
        upper: None where none is claimed.
        upper_checked_to: the circuit was tried on all prompts up to this scale, on random ones beyond; 0 if there is
            none.
        sampled: random prompts that it was tried on.
    """

    statement: str
    status: str
    proved: bool
    lower: float
    upper: float | None
    upper_checked_to: int
    sampled: int


def in_words(subject: str, setting: str, lower: float, upper: float | None, *, own: bool, tried: int, to: int) -> str:
    """Bounds as a sentence, in which the upper one is not called proved where it rests on some prompts of a scale.

    Args:
        subject: SRC of which task, at which scale.
        setting: what it depends on besides: the arity and so on.
        lower: inf where there is no circuit.
        upper: None where there is none to speak of.
        own: whether the upper bound is that of the task's own circuit.
        tried: of the scales above `to`, the prompts that the circuit was tried on; 0 where those were all prompts.
        to: last scale of which all prompts were tried.
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


def check(certificate: Mapping[str, Any], task: Any, *, seed: int) -> Verdict:
    """The verdict on a certificate of a task.

    Args:
        certificate: the JSON object.
        task: the one it names, in its layout. Has `alphabet`, `prompt(n)`, `generate(symbols)` and `reference`, which
            is None or has `arity`, `steps(n)` and `apply(name, symbols)`.
        seed: of the random prompts that a circuit is tried on where a scale has too many.

    Raises:
        CertificateError: anything is wrong, or beyond the limits of this module.
    """
    c = certificate
    need(isinstance(c, Mapping) and set(c) == set(SHAPES), f"its fields must be {', '.join(SHAPES)}")
    for field, shapes in SHAPES.items():
        need(any(fits(c[field], shape) for shape in shapes), f"'{field}' has a wrong type, a wrong value or a gap")
    need(c["scale"] <= c["largest_scale"] and c["task"].isprintable(), "no such scale or no such task")
    lower, upper = (math.inf if c[bound] == "inf" else c[bound] for bound in ("lower", "upper"))
    need(upper is None or lower <= upper, "the lower bound is above the upper bound")
    need(upper != math.inf or lower == math.inf, "an upper bound of inf needs a lower bound of inf")
    need((c["circuit"] is None) == (upper in (None, math.inf)), "a circuit and a finite upper bound go together")
    problem = Problem(task, c["arity"], c["mode"])
    check_lower(problem, c)
    checked_to, sampled = (0, 0) if c["circuit"] is None else check_upper(problem, c, seed)

    base = f" base {c['base']}" if c["base"] else ""
    layout = f", aligned to scale {c['largest_scale']}" if c["layout"] == "aligned" else ""
    own = c["circuit"] == {"reference": True}
    statement = in_words(
        f"SRC({c['task']}{base}, {c['scale']})",
        f"at arity {c['arity']}, {c['mode']}{layout}",
        lower,
        upper,
        own=own,
        tried=sampled,
        to=checked_to,
    )
    known = "exact" if not sampled else "reference" if own else "sampled"
    return Verdict(
        statement=statement,
        status=known if lower in (math.inf, upper) else "bounds",
        proved=not sampled,
        lower=lower,
        upper=upper,
        upper_checked_to=checked_to,
        sampled=sampled,
    )
