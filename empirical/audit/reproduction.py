"""Reproductions: for each finding a program of a few lines that needs no lengthgen and fails while the defect is there.

A reproduction is run before it is reported. Its last line is `assert error <= BOUND`, and the bound is half of the
error that was seen, so that a mended version passes.
"""

import contextlib
import io
import re
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from lengthgen.empirical.audit.diagnosis import Defect
from lengthgen.empirical.audit.subject import AuditError, Kind, Subject
from lengthgen.infrastructure.userfile import user_code

LAW = {"angles-rounded", "angles-in-float32", "law-broken", "acts-after-rotation", "key-not-rotated", "output-rounded",
       "opposite-rotations", "layouts-mixed", "sine-sign"}  # fmt: skip
"""Rules that are shown by one pair of query and key."""
SAME = {"positions-rounded", "codes-clamped", "codes-repeated"}
"""Rules that are shown by two positions with one code."""
DRIFT = {"rounded-by-move", "drift", "autocast-drift", "overflow", "not-finite"}
"""Rules that are shown by a code in a low dtype against that in float64."""
FREQUENCY = {"frequencies-unpublished", "scaling-ignored", "ntk-constant", "partial-rotary-ignored", "yarn-factor-one",
             "yarn-ramp-inverted"}  # fmt: skip
"""Rules that are shown by the angle of one plane against the published one."""
SLOPES = "one = torch.tensor([1]); slopes = (bias(one, one) - bias(one, one - 1)).flatten().double()"
"""Line that reads the slopes of all heads."""
SEVERAL = "list(range(512))"


def add_reproductions(subject: Subject, defects: Sequence[Defect]) -> None:
    """Give each defect its reproduction, if the subject has a recipe and the program indeed fails."""
    bodies = {Kind.ROTATE: _of_rotation, Kind.EMBED: _of_embedding, Kind.BIAS: _of_bias}
    for defect in defects if subject.recipe and subject.kind in bodies else ():
        # The recipe has defined `made` and `rotate(q, k, positions)`, `bias(queries, keys)` or `embed`.
        if not defect.reproduction and (body := bodies[subject.kind](subject, defect)):
            defect.reproduction = confirmed([*subject.recipe, *body])


def confirmed(lines: Sequence[str]) -> str | None:
    """Program of the lines with its bound filled in; None if it does not fail by its own assertion.

    Args:
        lines: Python lines that set `error`, a number.
    """
    program = "\n".join(lines)
    names: dict[str, Any] = {}
    try:
        with (
            user_code("the reproduction fails", error=AuditError, expected=()),
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
            torch.no_grad(),
        ):
            warnings.simplefilter("ignore")
            exec(compile(program, "<reproduction>", "exec"), names)  # code that the user chose to audit
            error = float(names["error"])
    except AuditError:
        return None
    if not error > 0:
        return None
    return f"{program}\nassert error <= {min(error, 1e9) / 2:.1g}, error"


def _dtype_of(setting: str) -> str:
    return "float64" if setting == "all" else setting.partition(",")[0]


def _where(defect: Defect) -> tuple[str, int | None, int, int]:
    """Setting, first position, and the query and offset at which the law fails worst."""
    setting, first = next(iter(defect.first.items()))
    return setting, first, defect.numbers.get("query") or first or 1, defect.numbers.get("offset") or 0


def _of_rotation(subject: Subject, defect: Defect) -> list[str]:
    setting, first, query, offset = _where(defect)
    dtype, heads, width = f"torch.{_dtype_of(setting)}", subject.heads, subject.head_dim
    move = [f"made.to({dtype})"] if "moved" in setting else []
    code = (
        f"code = lambda p, d={dtype}: rotate(*[torch.ones(1, {heads}, len(p), {width}, dtype=d)] * 2, torch.tensor(p))"
    )
    differ = "error = float((code(P)[0].double() - exact.double()).abs().nan_to_num(1e9).max())"
    if defect.rule in LAW:
        logit = "logit = lambda j, i: float((code([j])[0].double() * code([i])[1].double()).sum())"
        origin = f"{max(offset, 0)}, {max(-offset, 0)}"
        return [code, logit, *move, f"error = abs(logit({query}, {query - offset}) - logit({origin}))"]
    if defect.rule in SAME and first:
        later, earlier = _pair(defect, first)
        return [code, *move, f"error = float(torch.equal(code([{later}])[0], code([{earlier}])[0]))"]
    if defect.rule == "rounded-by-move" and setting == "all":
        again = "made = make(); " if "make = " in subject.recipe[0] else ""
        moves = f"exact = code({SEVERAL})[0]; {again}made.to(torch.bfloat16).to(torch.float32)"
        return [code.replace("float64", "float32"), moves, differ.replace("P", SEVERAL)]
    if defect.rule in DRIFT:
        differ = differ.replace("P", f"[1, {first or 1000}]")
        if "autocast" in setting:
            differ = f"with torch.autocast('cpu', dtype=torch.bfloat16): {differ}"
        return [code, f"exact = code([1, {first or 1000}], torch.float64)[0]", *move, differ]
    last = max(2, defect.numbers.get("length", 2)) - 1  # frequencies may depend on the length of the call
    planes = (
        f"turn = lambda a, b: float(torch.atan2(*[rotate(*[torch.eye({width}, dtype=torch.float64)[a]"
        f".expand(1, {heads}, 2,"
        f" {width})] * 2, torch.tensor([1, {last}]))[0][0, 0, 0][c] for c in (b, a)]))"
    )
    coordinates, plane = defect.numbers.get("coordinates"), defect.numbers.get("plane")
    if defect.rule == "frequencies-rounded" and coordinates:
        name = defect.says.rpartition(" ")[2]
        return [planes, f"w = torch.tensor([turn(a, b) for a, b in {coordinates}], dtype=torch.float64)",
                f"error = float(((w - w.to(torch.{name}).double()).abs() <= 1e-6 * w.abs()).all())"]  # fmt: skip
    if defect.rule in FREQUENCY and plane is not None and coordinates and defect.numbers["planes"] > plane:
        published = defect.numbers["published"]
        return [planes, f"error = abs(abs(turn{tuple(coordinates[plane])}) / {published!r} - 1)"]
    if defect.rule in FREQUENCY or defect.rule == "mscale-ignored":
        published = defect.numbers["published_attention_factor"]
        return [code, f"error = abs(float(code([0])[0].norm()) / {(heads * width) ** 0.5!r} - {published!r})"]
    has_factory = "make = " in subject.recipe[0]
    copied, fresh = ("", "make()") if has_factory else ("import copy; fresh = copy.deepcopy(made); ", "fresh")
    other = f"make({', '.join(f'{name}={value!r}' for name, value in (subject.other or {}).items())})"
    bodies = {
        "call-history": ["exact = code([5])[0]; code(list(range(4000)))", differ.replace("P", "[5]")],
        "offset-not-in-cache-key": [
            "code(list(range(32)))",
            "error = float(torch.equal(code(list(range(32, 64)))[0], code(list(range(32)))[0]))",
        ],
        "rounded-by-use": [
            f"{copied}exact = code({SEVERAL}, torch.float32)[0]; made = {fresh}; code({SEVERAL}, torch.bfloat16)",
            differ.replace("P", f"{SEVERAL}, torch.float32"),
        ],
        "length-dependent": ["exact = code([5])[0]", differ.replace("code(P)[0]", "code([5, 5000])[0][..., :1, :]")],
        "positions-ignored": ["error = float(torch.equal(code([0, 1, 2])[0], code([9, 10, 11])[0]))"],
        "positions-over-heads": [f"exact = torch.cat([code([p])[0] for p in range({heads})], 2)",
                                 differ.replace("P", f"list(range({heads}))")],
        "batch": [f"x = torch.randn(3, {heads}, 8, {width})", "p = torch.arange(8)",
                  "error = float((rotate(x, x, p)[0][:1] - rotate(x[:1], x[:1], p)[0]).abs().max())"],
        "parameter-ignored": [f"exact = code([1, 7])[0]; made = {other}",
                              "error = float(torch.equal(code([1, 7])[0], exact))"],
        "shared-table": [f"exact = code([1, 7])[0]; first = made; made = {other}; code([1, 7]); made = first",
                         differ.replace("P", "[1, 7]")],
    }  # fmt: skip
    return [code, *bodies[defect.rule]] if defect.rule in bodies else []


def _pair(defect: Defect, first: int) -> tuple[int, int]:
    """Two positions that share a code: those of the description, else the first one and the one before."""
    example = re.search(r"(\d+) (?:is coded as|has the code of) (\d+)", defect.says)
    return (int(example[1]), int(example[2])) if example else (first + 1, first)


def _of_embedding(subject: Subject, defect: Defect) -> list[str]:
    code = f"code = lambda p: embed(torch.zeros(1, len(p), {subject.heads * subject.head_dim}), torch.tensor(p))[0]"
    first = next(iter(defect.first.values()))
    if defect.rule in SAME and first:
        later, earlier = _pair(defect, first)
        return [code, f"error = float(torch.equal(code([{later}]), code([{earlier}])))"]
    if defect.rule == "sinusoids-unpaired":
        products = "e = code(list(range(64))).double(); products = e @ e.T / e.abs().max() ** 2"
        return [code, products, "error = float((products.diagonal(1) - products[0, 1]).abs().max())"]
    return []


def _of_bias(subject: Subject, defect: Defect) -> list[str]:
    setting, first, query, offset = _where(defect)
    dtype = f"torch.{_dtype_of(setting)}"
    move = [f"made.to({dtype})"] if "moved" in setting else []
    at = (
        f"at = lambda j, i: (bias(torch.tensor([j]), torch.tensor([i])).to({dtype}).double()"
        f" - bias(torch.tensor([j]), torch.tensor([j])).to({dtype}).double()).flatten()"
    )
    if defect.rule in LAW:
        origin = f"{max(offset, 0)}, {max(-offset, 0)}"
        return [at, *move, f"error = float((at({query}, {query - offset}) - at({origin})).abs().max())"]
    if defect.rule in SAME and first:
        later, earlier = _pair(defect, first)
        return [at, *move, f"error = float(torch.equal(at({later}, 0), at({earlier}, 0)))"]
    unlike = f"error = float((slopes - torch.tensor({defect.numbers.get('all')})).abs().max())"
    cached = "error = float((of_lengths(1, 7) - of_lengths(7, 7)[..., -1:, :]).abs().max())"
    bodies = {
        "sign-reversed": [at, "error = float((at(9, 0) - at(9, 8)).max())"],
        "not-decaying": [at, f"error = float((at({first or 9}, 0) - at({(first or 9) - 1}, 0)).max())"],
        "slopes-rounded": [
            SLOPES,
            f"error = float((slopes == slopes.to(torch.{defect.says.rpartition(' ')[2]})).all())",
        ],
        "slopes-other-rule": [SLOPES, unlike],
        "slopes-unpublished": [SLOPES, unlike],
        "cached-queries-get-first-rows": [cached],
        "length-dependent": [at, cached],
        "call-history": [at, "exact = at(5, 0); at(900, 0)", "error = float((at(5, 0) - exact).abs().max())"],
    }
    return bodies.get(defect.rule, [])
