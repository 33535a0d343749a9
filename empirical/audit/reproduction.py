"""Reproductions: for each finding a program of a few lines that needs no lengthgen and fails while the defect is there.

A reproduction is run before it is reported. Its last line is `assert error <= BOUND`, and the bound is half of the error
that was seen, so that a mended version passes.
"""

import contextlib
import io
from collections.abc import Sequence
from typing import Any

from empirical.audit.diagnosis import Defect
from empirical.audit.subject import Kind, Subject

LAW = frozenset(
    {
        "angles-rounded", "angles-in-float32", "law-broken", "acts-after-rotation", "key-not-rotated", "output-rounded",
        "opposite-rotations", "layouts-mixed", "sine-sign",
    }
)  # fmt: skip
"""Rules that are shown by one pair of query and key."""
SAME = frozenset({"positions-rounded", "codes-clamped", "codes-repeated"})
"""Rules that are shown by two positions with one code."""
DRIFT = frozenset({"rounded-by-move", "drift", "autocast-drift", "frequencies-rounded", "overflow"})
"""Rules that are shown by a code in a low dtype against that in float64."""
TOKENS = 24


def add_reproductions(subject: Subject, defects: Sequence[Defect]) -> None:
    """Give each defect its reproduction, if the subject has a recipe and the program indeed fails."""
    for defect in defects:
        if subject.recipe and (body := _body(subject, defect)):
            defect.reproduction = confirmed([*subject.recipe, *body])


def confirmed(lines: Sequence[str]) -> str | None:
    """Program of the lines with its bound filled in; None if it does not fail by its own assertion.

    Args:
        lines: Python lines; the last but the assertion sets `error`, a number.
    """
    program = "\n".join(lines)
    names: dict[str, Any] = {}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(program, "<reproduction>", "exec"), names)  # code that the user chose to audit
        error = float(names["error"])
    except (Exception, SystemExit):
        return None
    if not error > 0:
        return None
    bound = float(f"{min(error, 1e9) / 2:.1g}")
    return f"{program}\nassert error <= {bound:g}, error"


def _dtype_of(setting: str) -> str:
    return "float64" if setting == "all" else setting.partition(",")[0]


def _body(subject: Subject, defect: Defect) -> list[str]:
    """Lines after the recipe, which has defined `made` and `rotate(q, k, positions)` or `bias(queries, keys)`."""
    setting, first = next(iter(defect.first.items()))
    dtype, moved = f"torch.{_dtype_of(setting)}", "moved" in setting
    move = [f"made.to({dtype})"] if moved else []
    shape = f"1, {subject.heads}, len(p), {subject.head_dim}"
    position = defect.numbers.get("query", first) or 0
    offset = defect.numbers.get("offset", 1) or 0
    if subject.kind is Kind.ROTATE:
        code = f"code = lambda p, d={dtype}: rotate(*[torch.ones({shape}).to(d)] * 2, torch.tensor(p))"
        logit = "logit = lambda j, i: float((code([j])[0].double() * code([i])[1].double()).sum())"
        law = [code, logit, f"error = abs(logit({position}, {position - offset}) - logit({offset}, 0))"]
    elif subject.kind is Kind.BIAS:
        code = (
            f"code = lambda p, d={dtype}: "
            "[torch.cat([bias(torch.tensor([n]), torch.tensor([0]))[..., 0].to(d) for n in p], -1)]"
        )
        logit = (
            f"logit = lambda j, i: bias(torch.tensor([j]), torch.tensor([i])).to({dtype}).double() "
            f"- bias(torch.tensor([j]), torch.tensor([j])).to({dtype}).double()"
        )
        law = [logit, f"error = float((logit({position}, {position - offset}) - logit({offset}, 0)).abs().max())"]
    else:
        return []
    differ = "error = float((code(P)[0].double() - exact.double()).abs().nan_to_num(1e9).max())"
    if defect.rule in LAW:
        return move + law
    if defect.rule in SAME and first:
        same = defect.numbers.get("same_as", first - 1)
        return [*move, code, f"error = float(torch.equal(code([{first}])[0], code([{same}])[0]))"]
    if defect.rule in DRIFT:
        if defect.rule == "rounded-by-move" and setting == "all":
            return [code, "exact = code([1, 1000])[0]; made.to(torch.bfloat16).to(torch.float32)",
                    differ.replace("P", "[1, 1000]")]  # fmt: skip
        points = f"[1, {first or 1000}]"
        differ = differ.replace("P", points)
        if "autocast" in setting:
            differ = f"with torch.autocast('cpu', dtype=torch.bfloat16): {differ}"
        return [code, f"exact = code({points}, torch.float64)[0]", *move, differ]
    if defect.rule == "call-history":
        return [code, "exact = code([5])[0]; code(list(range(4000)))", differ.replace("P", "[5]")]
    if defect.rule == "offset-not-in-cache-key":
        return [code, "code(list(range(32)))", "error = float(torch.equal(code(list(range(32, 64)))[0], code(list(range(32)))[0]))"]
    if defect.rule == "rounded-by-use":
        return [code, "exact = code([300], torch.float32)[0]; code([300], torch.bfloat16)",
                differ.replace("code(P)", "code([300], torch.float32)")]  # fmt: skip
    if defect.rule == "length-dependent":
        return [code, "exact = code([5])[0]", differ.replace("code(P)[0]", "code([5, 5000])[0][..., :1, :]")
                if subject.kind is Kind.ROTATE else differ.replace("P", "[5]")]  # fmt: skip
    if defect.rule == "sign-reversed":
        return ["error = float((bias(torch.tensor([9]), torch.tensor([0])) - bias(torch.tensor([9]), torch.tensor([8]))).max())"]
    return []
