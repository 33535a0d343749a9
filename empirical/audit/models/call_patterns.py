"""Call patterns of a whole model: cached, padded, packed, batched and shifted calls must agree with a full pass.

All are compared in float32. A mistake changes logits by 1 % and more, rounding by some 1e-6.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from lengthgen.empirical.audit.adapter import RefusedPosition
from lengthgen.empirical.audit.models.plans import CACHE, DTYPE, LENGTH, PADS, Facts, Plan, plans
from lengthgen.empirical.audit.models.runner import Runner
from lengthgen.empirical.audit.subject import AuditError

ALLOWED = 1e-4
"""Allowed difference of logits as a share of the largest one."""
ORIGINS = range(8)
"""First positions that are tried where models count from another number than 0."""
FAST_PATH = Plan(name="by PyTorch's fast path", rule="fast-path")
FAST_PATH_BODY = (
    "ids = torch.arange(2, 26)[None]",
    "with torch.no_grad(): part = model(ids).logits",
    "torch.backends.mha.set_fastpath_enabled(False)",
    "with torch.no_grad(): full = model(ids).logits",
    "torch.backends.mha.set_fastpath_enabled(True)",
    "error = ((part - full).abs().max() / full.abs().max()).item()",
)
WITH_FAST_PATH = nn.TransformerEncoderLayer, nn.MultiheadAttention
"""Modules with another implementation for evaluation, the "fast path", which the tap does not see."""


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Result of one call pattern.

    Attributes:
        difference: largest difference of logits on real tokens, over the largest logit; None if it was refused.
        first: first real token whose logits differ too much.
        refusal: message of the model if it refused the call.
        body: lines that reproduce it, after those that make `model`.
    """

    plan: Plan
    difference: float | None
    first: int | None = None
    refusal: str = ""
    body: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file."""
        return {"difference": self.difference, "first_beyond": self.first, "refusal": self.refusal or None}


def measure(runner: Runner, facts: Facts) -> list[Pattern]:
    """Compare all call patterns that the model takes.

    If PyTorch's fast path gives other logits, all other patterns are compared without it.
    """
    alone = require_sound(runner)
    results = []
    expected_rows: dict[Plan, list[Tensor]] = {}
    with fast_path():
        if any(isinstance(part, WITH_FAST_PATH) for part in runner.model.modules()):
            with fast_path(off=True):
                slow = FAST_PATH.result(runner)
            lines = tuple(line.replace(".logits", alone.pick) for line in FAST_PATH_BODY)
            results.append(_compared(FAST_PATH, FAST_PATH.result(runner), slow, lines))
            torch.backends.mha.set_fastpath_enabled(results[0].first is None)
        for plan in plans(runner, facts):
            rows = Plan(name="", rule="", length=plan.length, left=plan.left, right=plan.right,
                        positions="spread" if plan.positions == "spread" else "")  # fmt: skip
            try:
                if rows not in expected_rows:
                    expected_rows[rows] = rows.expected(runner)
                got = plan.result(runner)
            except (RefusedPosition, AuditError) as error:
                results.append(Pattern(plan=plan, difference=None, refusal=str(error)))
                continue
            picked = [line.replace(".logits", alone.pick) for line in plan.body(runner)]
            body = tuple(line.replace(f"answer{CACHE}", f"answer{alone.pick_cache}") for line in picked)
            results.append(_compared(plan, got, expected_rows[rows], body))
    return results


def _compared(plan: Plan, got: list[Tensor], expected: list[Tensor], body: tuple[str, ...]) -> Pattern:
    worst, firsts = 0.0, []
    for row, full in zip(got, expected, strict=True):
        scale = float(full[full.isfinite()].abs().max()) or 1.0
        apart = torch.where(row == full, 0, row - full).abs().nan_to_num(nan=torch.inf).amax(1) / scale
        worst = max(worst, float(apart.max()))
        firsts += (apart > ALLOWED).nonzero().flatten()[:1].tolist()
    return Pattern(plan=plan, difference=worst, first=min(firsts, default=None), body=body)


def failing(results: list[Pattern]) -> list[Pattern]:
    """Patterns that differ, without those that have all that is unusual in another one that differs.

    Where the number of further tokens counts, tokens that come in parts must differ too.
    """
    differing = [result for result in results if result.first is not None]
    if any(result.plan.features == {"further"} for result in differing):
        differing = [result for result in differing if "cache" not in result.plan.features]
    kept: list[Pattern] = []
    for result in differing:
        unusual = result.plan.features
        simpler = [other for other in differing if other.plan.features and other.plan.features < unusual]
        if not simpler and not any(other.plan.features == unusual for other in kept):
            kept.append(result)
    return kept


def require_sound(runner: Runner) -> Runner:
    """Runner that has been called; AuditError if logits are NaN, or random in evaluation."""
    ids, name = runner.ids(1, LENGTH), runner.subject.name
    alone = runner.fresh(DTYPE)
    first, second = alone.call(ids)[0], runner.fresh(DTYPE).call(ids)[0]
    if first.isnan().any() or not first.isfinite().any():
        raise AuditError(f"'{name}' gives logits that are not finite for {LENGTH} random tokens: make it sound first")
    if not torch.equal(first, second):
        raise AuditError(f"'{name}' gives other logits in each call: switch dropout and noise off under model.eval()")
    return alone


@contextmanager
def fast_path(*, off: bool = False) -> Iterator[None]:
    """Context with PyTorch's fast path as it was, or off; at its end the switch is set back to where it was."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(before and not off)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def ignores_positions(runner: Runner) -> bool:
    """True if logits are the same for positions 0, 1, 2, ... and 0, 2, 4, ..."""
    ids, order = runner.ids(1, LENGTH), torch.arange(LENGTH)[None]
    try:
        near, far = (runner.fresh(DTYPE).call(ids, positions=order * step)[0] for step in (1, 2))
    except RefusedPosition:
        return False
    return torch.equal(near, far)


def mask_hides(runner: Runner) -> bool:
    """True if a mask of padding is true where tokens are padding, as PyTorch's are, by what padding changes."""
    if "padding" not in (runner.mask_name or ""):
        return False
    padded = Plan(name="right padded", rule="padding", right=(PADS,))
    for hides in (False, True):
        other = Runner(replace(runner.subject, mask_hides=hides), runner.dtype)
        try:
            if _compared(padded, padded.result(other), padded.expected(other), ()).first is None:
                return hides
        except RefusedPosition:
            continue
    return True


def origin(runner: Runner) -> int | None:
    """Position that the first token has where none are given, 0 if no number tells; None if positions are refused."""
    ids, order = runner.ids(1, LENGTH), torch.arange(LENGTH)[None]
    full = runner.fresh(DTYPE).call(ids)[0]
    if not runner.positions_name or runner.needs_positions:
        return 0
    for start in ORIGINS:
        try:
            given = runner.fresh(DTYPE).call(ids, positions=order + start)[0]
        except RefusedPosition:
            return None if start == 0 else 0
        if float((given - full).abs().max()) <= ALLOWED * float(full.abs().max()):
            return start
    return 0
