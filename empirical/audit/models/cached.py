"""Causes of a cached step that differs from a full pass: where its query and the keys of its cache stand.

One token, repeated, has the same hidden state everywhere as long as all is right, so its query and key tell positions.
"""

import torch
from torch import Tensor

from lengthgen.empirical.audit.causes import Cause
from lengthgen.empirical.audit.models.plans import DTYPE
from lengthgen.empirical.audit.models.runner import Runner
from lengthgen.empirical.audit.models.tap import Reading
from lengthgen.empirical.audit.subject import AuditError

CLOSE = 1e-3
"""Largest difference, over the length of a vector, of vectors at the same position."""
INCOMPLETE = (
    "cache-incomplete", "positions are right, and the step gets something else that depends on earlier tokens"
)  # fmt: skip


def cause(runner: Runner, chunks: tuple[int, ...], first: int, *, has_state: bool) -> Cause | None:
    """Rule and description of why token `first` differs when it comes in chunks; None if no layer can be read.

    `has_state`: attention is not all that carries something from token to token, or has no positions.
    """
    if has_state:
        return INCOMPLETE
    ids, model, past, end = torch.full((1, 2 * sum(chunks)), 3), runner.fresh(DTYPE), None, 0
    try:
        full = runner.fresh(DTYPE).readings(ids)
        for size in chunks:
            start, end = end, end + size
            if end > first and past is not None:
                steps = model.readings(ids[:, start:end], past=past)
                break
            past = model.call(ids[:, start:end], past=past)[1]
        else:
            return None
    except AuditError:
        return None
    first = max(first, start)  # a token may differ in the first call, before there is a cache
    if len(steps) != len(full):
        return None
    for layer, pair in enumerate(zip(full, steps, strict=True)):
        if seen := _of_layer(*pair, first, start, end, is_first=layer == 0):
            rule, says = seen
            return rule, says if layer == 0 else f"in layer {layer}, {says}"
    return INCOMPLETE


def _of_layer(full: Reading, step: Reading, first: int, start: int, end: int, *, is_first: bool) -> Cause | None:
    """Cause shown by a layer, from a row of one token and the call of tokens start .. end - 1 of it.

    A bias is read from logits, which in later layers hold what the layers before them made of the tokens.
    """
    place = first - start
    queries, keys = full.q_BHJC[0].transpose(0, 1), full.k_BHIC[0].transpose(0, 1)
    if _same(queries[1], queries[0]) and _same(keys[1], keys[0]):
        if not is_first:
            return None
        return _of_bias(full.logits_BHJI[0, :, first], step.logits_BHJI[0, :, place])
    query = step.q_BHJC[0, :, place]
    if not _same(query, queries[first]):
        at = _position(query, queries)
        if at is None and all(_turned(other, queries[0]) for other in queries) and not _turned(query, queries[0]):
            return INCOMPLETE
        what = f"gets position {at}, not {first}" if at is not None else "gets no position, or one that no token has"
        return "start-index-ignored", f"token {first} {what}"
    kept = step.k_BHIC[0].transpose(0, 1)
    count = len(kept)
    own = range(max(0, end - count), max(end, count))  # tokens of the keys: the last ones, or slots of a fixed table
    wrong = [index for index, token in enumerate(own) if token < end and not _same(kept[index], keys[token])]
    if wrong and all(_same(kept[index], keys[2 * own[index]]) for index in wrong if 2 * own[index] < len(keys)):
        says = "keys of the cache stand at twice their positions: they were rotated before, and are again"
        return "rotated-twice", says
    if wrong:
        index = wrong[-1]
        at, name = _position(kept[index], keys), f"the {'cached ' * (own[index] < start)}key of token {own[index]}"
        if at is not None:
            return "start-index-ignored", f"in the call of token {first}, {name} stands at position {at}"
        says = f"in the call of token {first}, {name} is not the one of a full pass"
        return "rotated-twice" if _turned(kept[index], keys[own[index]]) else "cache-incomplete", says
    return None


def _position(vector: Tensor, vectors: Tensor) -> int | None:
    """First position at which a vector stands among those of a full pass; None if at none."""
    return next((position for position, other in enumerate(vectors) if _same(vector, other)), None)


def _of_bias(row: Tensor, step: Tensor) -> Cause | None:
    """Cause shown by logits where queries tell no position: those of a row in a full pass and in a step."""
    count = min(step.shape[-1], row.shape[-1])
    step, row = step[:, -count:], row[:, :count]
    if _same(step, row):
        return None
    rule, which = "start-index-ignored", "another bias than in a full pass"
    if _same(step, step[:, -1:].expand_as(step)):
        rule, which = "cached-queries-get-first-rows", "the same bias for all keys"
    return rule, f"a cached query gets {which}: it counts itself as the first"


def _same(first: Tensor, second: Tensor) -> bool:
    return float((first - second).abs().max()) <= CLOSE * float(second.norm(dim=-1).max())


def _turned(first: Tensor, second: Tensor) -> bool:
    """True if one vector is the other turned."""
    return bool(torch.allclose(first.norm(dim=-1), second.norm(dim=-1), rtol=CLOSE))
