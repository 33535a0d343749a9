"""Fields of a configuration that concern positions: which have an effect, which have none, which are refused."""

from typing import Any

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import RefusedPosition
from lengthgen.empirical.audit.models.anatomy import rope_fields
from lengthgen.empirical.audit.models.bounds import field_of
from lengthgen.empirical.audit.models.runner import Runner, Subject
from lengthgen.empirical.audit.subject import AuditError

OWN = ("rotary_pct", "rotary_emb_base", "rotary_dim", "rope_interleave", "rope_local_base_freq", "alibi",
       "sliding_window",
       "max_position_embeddings", "n_positions", "max_seq_len", "relative_attention_num_buckets",
       "relative_attention_max_distance", "position_embedding_type", "no_rope_layer_interval")  # fmt: skip
"""Fields beside those of `rope_parameters` that say something about positions."""
BOUNDS = frozenset({"max_position_embeddings", "n_positions", "max_seq_len", "sliding_window"})
"""Fields that may be nothing but bounds, so that no effect below them is none to report."""
LENGTH = 40


def effects(subject: Subject, trained: int | None) -> dict[str, str]:
    """Effect of each field that is set: "honoured", "no effect", "bound, no effect below it" or "refused: ..."."""
    if subject.rebuild is None:
        return {}
    rope = rope_fields(subject.config)
    own = {name: field_of(subject.config, name) for name in OWN}
    values = {name: value for name, value in {**own, **rope}.items() if value is not None and name != "rope_type"}
    base = _fingerprint(subject, {}, trained)
    if base is None:
        return {}
    effect_of = {}
    for name, value in values.items():
        answers = [_effect(subject, name, other, base, trained) for other in _others(value)]
        best = next((answer for answer in answers if answer == "honoured"), None)
        if answers:
            effect_of[name] = best or ("bound, no effect below it" if name in BOUNDS else answers[0])
    return effect_of


def _effect(subject: Subject, name: str, value: Any, base: Tensor, trained: int | None) -> str:
    try:
        changed = _fingerprint(subject, {name: value}, trained)
    except (AuditError, ValueError, TypeError, KeyError) as error:
        return f"refused: {error}"[:200]
    if changed is None:
        return "refused: its calls fail"
    return "no effect" if torch.equal(changed, base) else "honoured"


def _fingerprint(subject: Subject, changed: dict[str, Any], trained: int | None) -> Tensor | None:
    """Logits at near positions and, if positions are taken, at far ones beyond the trained length; None if refused."""
    assert subject.rebuild is not None
    rebuild = subject.rebuild
    runner = Runner(Subject(name=subject.name, build=lambda: rebuild(changed)), torch.float32)
    ids = runner.ids(1, LENGTH)
    parts: list[Tensor] = []
    try:
        parts.append(runner.call(ids)[0])
        if runner.positions_name and trained and trained <= 1 << 20:
            far = torch.arange(LENGTH)[None] * max(1, 2 * trained // LENGTH)
            parts.append(runner.call(ids, positions=far)[0])
        elif trained and trained <= 512:
            parts.append(runner.call(runner.ids(1, trained))[0])
    except RefusedPosition:
        if len(parts) == 0:
            return None
    return torch.cat([part.flatten() for part in parts])


def _others(value: Any) -> list[Any]:
    """Other values of a field."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value * 2, max(1, value // 4)]
    if isinstance(value, float):
        return [0.5 if value == 1.0 else value * 1.5, value / 4]
    if isinstance(value, list) and value and isinstance(value[0], int | float):
        return [[part * 1.5 for part in value]]
    return []


def ignored(effect: dict[str, str], requested: set[str]) -> list[str]:
    """Fields that the user has set and that have no effect."""
    return [name for name, what in effect.items() if name in requested and what == "no effect"]
