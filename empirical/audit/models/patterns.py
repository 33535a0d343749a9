"""Call patterns of a whole model: cached, padded, packed, batched and shifted calls must agree with a full pass.

All are compared in float32, the dtype that models are made in: masks of transformers overflow in float64 where all keys
of a padding token are hidden. A mistake changes logits by 1 % and more, rounding by some 1e-6.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from empirical.audit.adapter import RefusedPosition
from empirical.audit.models.runner import Runner
from empirical.audit.subject import AuditError

LENGTH, PADS, SHIFT = 24, 5, 7
ALLOWED = 1e-4
"""Allowed difference of logits as a share of the largest one."""
DTYPE = torch.float32
WITH_FAST_PATH = nn.TransformerEncoderLayer, nn.MultiheadAttention
"""Modules with another implementation for evaluation, the "fast path", which the tap does not see."""


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Result of one call pattern.

    Attributes:
        name: call pattern.
        rule: rule that is broken if it differs.
        difference: largest difference of logits on real tokens, over the largest logit; None if it was refused.
        first: first real token whose logits differ too much; None if none.
        refusal: message of the model if it refused the call.
        body: lines that reproduce it, after those that make `model`.
    """

    name: str
    rule: str
    difference: float | None
    first: int | None = None
    refusal: str = ""
    body: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file."""
        return {"difference": self.difference, "first_beyond": self.first, "refusal": self.refusal or None}


Compute = Callable[[], tuple[Tensor, Tensor]]
"""Function that returns the result of a pattern and the expected one, both [B, L, V]."""


def measure(runner: Runner, kind: str, trained: int | None, *, causal: bool) -> list[Pattern]:
    """Compare all call patterns that the model takes.

    If PyTorch's fast path gives other logits, all other patterns are compared without it.

    Args:
        runner: model in DTYPE.
        kind: kind of encoding, see `anatomy.Anatomy`; a model with absolute positions has no shifts.
        trained: trained length, for calls longer than it; None if not known.
        causal: True if no token sees a later one, so that further tokens change nothing and keys can be cached.
    """
    results = []
    pick = _require_sound(runner)
    with fast_path():
        for name, rule, body, compute in _patterns(runner, kind, trained, causal=causal):
            try:
                got, expected = compute()
            except (RefusedPosition, AuditError) as error:
                results.append(Pattern(name=name, rule=rule, difference=None, refusal=str(error)))
                continue
            scale = float(expected[expected.isfinite()].abs().max()) or 1.0
            apart = torch.where(got == expected, 0, got - expected).abs().nan_to_num(nan=torch.inf).amax((0, 2)) / scale
            beyond = (apart > ALLOWED).nonzero()
            first = int(beyond[0]) if len(beyond) else None
            lines = tuple(line.replace(".logits", pick) for line in body)
            results.append(Pattern(name=name, rule=rule, difference=float(apart.max()), first=first, body=lines))
            if rule == "fast-path" and first is not None:
                torch.backends.mha.set_fastpath_enabled(False)
    return results


def _require_sound(runner: Runner) -> str:
    """Text that takes the logits out of the model's answer; AuditError if they are NaN, or random in evaluation."""
    ids, name = runner.ids(1, LENGTH), runner.subject.name
    alone = runner.fresh(DTYPE)
    first, second = alone.call(ids)[0], runner.fresh(DTYPE).call(ids)[0]
    if first.isnan().any() or not first.isfinite().any():
        raise AuditError(f"'{name}' gives logits that are not finite for {LENGTH} random tokens: make it sound first")
    if not torch.equal(first, second):
        raise AuditError(f"'{name}' gives other logits in each call: switch dropout and noise off under model.eval()")
    return alone.pick


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


def _patterns(
    runner: Runner, kind: str, trained: int | None, *, causal: bool
) -> Iterator[tuple[str, str, tuple[str, ...], Compute]]:
    ids, others = runner.ids(1, LENGTH), runner.ids(2, LENGTH, seed=3)
    order = torch.arange(LENGTH)[None]
    given = "ids = torch.arange(2, 26)[None]"

    if any(isinstance(part, WITH_FAST_PATH) for part in runner.model.modules()):

        def both_paths() -> tuple[Tensor, Tensor]:
            with fast_path(off=True):
                slow = runner.fresh(DTYPE).call(ids)[0]
            return runner.fresh(DTYPE).call(ids)[0], slow

        yield (
            "by PyTorch's fast path", "fast-path",
            (given, "with torch.no_grad(): part = model(ids).logits",
             "torch.backends.mha.set_fastpath_enabled(False)",
             "with torch.no_grad(): full = model(ids).logits",
             "torch.backends.mha.set_fastpath_enabled(True)",
             "error = ((part - full).abs().max() / full.abs().max()).item()"),
            both_paths,
        )  # fmt: skip

    full = runner.fresh(DTYPE).call(ids)[0]  # after that pattern, whose result may turn the fast path off

    if (cache := runner.cache_name) and causal:  # else an earlier token changes once a later one comes

        def cached(sizes: list[int]) -> Compute:
            def compute() -> tuple[Tensor, Tensor]:
                model, past, rows = runner.fresh(DTYPE), None, []
                for part in ids.split(sizes, 1):
                    logits, past = model.call(part, past=past)
                    rows.append(logits)
                return torch.cat(rows, 1), full

            return compute

        past = f"{cache}=model(ids[:, :N], use_cache=True).{cache}"
        keyword = "input_ids=ids[:, :7], decoder_input_ids=" if runner.is_seq2seq else "input_ids="
        past = past.replace("model(", f"model({keyword}") if runner.is_seq2seq else past

        def body(start: int) -> tuple[str, ...]:
            return (given, f"full = model({keyword}ids).logits[:, {start}:]",
                    f"part = model({keyword}ids[:, {start}:], {past.replace('N', str(start))}).logits",
                    "error = ((part - full).abs().max() / full.abs().max()).item()")  # fmt: skip

        yield "token by token with a cache", "start-index-ignored", body(LENGTH - 1), cached([1] * LENGTH)
        yield "prompt, then several tokens with a cache", "start-index-ignored", body(8), cached([8, LENGTH - 8])

    if runner.mask_name:
        pads = torch.full((1, PADS), 0)
        left, right = torch.cat([pads, ids], 1), torch.cat([ids, pads], 1)
        masks = torch.cat([torch.zeros(1, PADS), torch.ones(1, LENGTH)], 1).long()
        name, places = runner.mask_name, runner.positions_name

        def padded(tokens: Tensor, mask: Tensor, keep: slice, positions: Tensor | None) -> Compute:
            def compute() -> tuple[Tensor, Tensor]:
                return runner.fresh(DTYPE).call(tokens, mask=_as(mask, runner), positions=positions)[0][:, keep], full

            return compute

        def padded_body(at_left: bool, positions: str) -> tuple[str, ...]:
            sides = ("[pad, ids]", f"{PADS}:") if at_left else ("[ids, pad]", f":{LENGTH}")
            return (f"{given}; pad = torch.zeros(1, {PADS}, dtype=torch.long)", f"row = torch.cat({sides[0]}, 1)",
                    "full = model(ids).logits; "
                    f"part = model(row, {name}=(row > 0).long(){positions}).logits[:, {sides[1]}]",
                    "error = ((part - full).abs().max() / full.abs().max()).item()")  # fmt: skip

        yield ("right padded", "padding", padded_body(False, ""),
               padded(right, masks.flip(1), slice(0, LENGTH), None))  # fmt: skip
        if places:
            explicit = (masks.cumsum(1) - 1).clamp(min=0)
            text = f", {places}=((row > 0).cumsum(1) - 1).clamp(min=0)"
            yield ("left padded, with positions", "padding", padded_body(True, text),
                   padded(left, masks, slice(PADS, None), explicit))  # fmt: skip
        if kind in ("rotary", "bias", "none"):
            yield ("left padded, without positions", "padding", padded_body(True, ""),
                   padded(left, masks, slice(PADS, None), None))  # fmt: skip

    def batched() -> tuple[Tensor, Tensor]:
        return runner.fresh(DTYPE).call(torch.cat([ids, others]))[0][:1], full

    yield ("batched with other rows", "batch", (), batched)

    def prefix() -> tuple[Tensor, Tensor]:
        return runner.fresh(DTYPE).call(torch.cat([ids, others[:1]], 1))[0][:, :LENGTH], full

    if causal:
        yield ("with further tokens after it", "length-dependent", (), prefix)

    if places := runner.positions_name:
        call = f"model(ids, {places}=p).logits"

        def placed(positions: Tensor, expected: Callable[[], Tensor] = lambda: full) -> Compute:
            return lambda: (runner.fresh(DTYPE).call(ids, positions=positions)[0], expected())

        spread = order + order // 5
        yield (
            "with the usual positions given", "positions-ignored",
            (f"{given}; p = torch.arange({LENGTH})[None]", f"part, full = {call}, model(ids).logits",
             "error = ((part - full).abs().max() / full.abs().max()).item()"),
            placed(order),
        )  # fmt: skip

        def rows_of_their_own() -> tuple[Tensor, Tensor]:
            rows = runner.fresh(DTYPE).call(ids.expand(2, -1), positions=torch.cat([spread, order]))[0]
            alone = [runner.fresh(DTYPE).call(ids, positions=positions)[0] for positions in (spread, order)]
            return rows, torch.cat(alone)

        yield (
            "rows with positions of their own", "batch",
            (f"{given}; p = torch.arange({LENGTH})[None]",
             f"rows = model(ids.expand(2, -1), {places}=torch.cat([p, p + p // 5])).logits",
             f"alone = torch.cat([model(ids, {places}=p).logits, model(ids, {places}=p + p // 5).logits])",
             "error = ((rows - alone).abs().max() / alone.abs().max()).item()"),
            rows_of_their_own,
        )  # fmt: skip
        if kind == "rotary":
            yield (
                "all positions shifted", "law-broken",
                (f"{given}; p = torch.arange({SHIFT}, {SHIFT + LENGTH})[None]",
                 f"part, full = {call}, model(ids).logits",
                 "error = ((part - full).abs().max() / full.abs().max()).item()"),
                placed(order + SHIFT),
            )  # fmt: skip

            def packed() -> tuple[Tensor, Tensor]:
                row = torch.cat([others[:1], ids], 1)
                blocks = torch.block_diag(*[torch.ones(LENGTH, LENGTH).tril()] * 2).bool()
                mask = torch.zeros(blocks.shape, dtype=DTYPE).masked_fill(~blocks, -1e9)[None, None]
                model = runner.fresh(DTYPE)
                return model.call(row, positions=torch.cat([order, order], 1), mask=mask)[0][:, LENGTH:], full

            if runner.mask_name:
                yield "packed with another sequence", "packing", (), packed

    if trained and trained <= 1024 and kind != "absolute":
        long = runner.ids(1, 2 * trained, seed=5)

        def after_long() -> tuple[Tensor, Tensor]:
            model = runner.fresh(DTYPE)
            model.call(long)
            return model.call(ids)[0], full

        yield (
            "after a call beyond the trained length", "call-history",
            (given, "full = model(ids).logits", f"model(torch.arange({2 * trained})[None] % 100)",
             "error = float((model(ids).logits - full).abs().max() / full.abs().max())"),
            after_long,
        )  # fmt: skip
    if trained and trained <= 1024:

        def after_short() -> tuple[Tensor, Tensor]:
            long = runner.ids(1, trained, seed=5)
            model = runner.fresh(DTYPE)
            model.call(ids)
            return model.call(long)[0], runner.fresh(DTYPE).call(long)[0]

        yield "after a shorter call", "call-history", (), after_short


def _as(mask: Tensor, runner: Runner) -> Tensor:
    """Mask as the model takes it: numbers 0 and 1, or truth values where the argument is not called attention_mask."""
    return mask if runner.mask_name == "attention_mask" else mask.bool()
