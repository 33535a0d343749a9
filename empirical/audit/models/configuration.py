"""Configuration against model: constants of a layer's rotation, and effects of its fields."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lengthgen.empirical.audit import causes, recognition
from lengthgen.empirical.audit.adapter import RefusedPosition, Setting
from lengthgen.empirical.audit.diagnosis import Defect
from lengthgen.empirical.audit.models import parts
from lengthgen.empirical.audit.models.anatomy import Anatomy, rope_fields
from lengthgen.empirical.audit.models.bounds import field_of
from lengthgen.empirical.audit.models.runner import Runner
from lengthgen.empirical.audit.models.whole import WholeModel
from lengthgen.empirical.audit.published_constants import BY_LENGTH, require_fields, rotary, yarn_mscale
from lengthgen.empirical.audit.reproduction import confirmed
from lengthgen.empirical.audit.rotation import FAR, RotateAdapter
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.empirical.audit.token_adapters import adapter_for
from lengthgen.infrastructure.userfile import shown

NEAR = 4096
"""Last position of the calls within the trained length, where frequencies depend on the length."""
OWN = ("rotary_pct", "rotary_emb_base", "rotary_dim", "rope_interleave", "rope_local_base_freq", "alibi",
       "sliding_window",
       "max_position_embeddings", "n_positions", "max_seq_len", "relative_attention_num_buckets",
       "relative_attention_max_distance", "position_embedding_type", "no_rope_layer_interval")  # fmt: skip
"""Fields beside those of `rope_parameters` that say something about positions."""
BOUNDS = frozenset({"max_position_embeddings", "n_positions", "max_seq_len", "sliding_window"})
"""Fields that may be nothing but bounds, so that no effect below them is none to report."""
TRIED = 40
ENCODINGS = {"absolute": "absolute positions, added to embeddings", "none": "no position encoding", "bias": "bias",
             "unread": "not read, after recurrent layers",
             "scale": "no position encoding, but queries are scaled by their position"}  # fmt: skip


def _fields_of(config: Any, layer_type: str | None) -> dict[str, Any]:
    """Rope fields of a kind of layer."""
    nested = field_of(config, "rope_parameters")
    part = nested.get(layer_type) if isinstance(nested, dict) and layer_type else None
    return {"rope_type": "default", **part} if isinstance(part, dict) else rope_fields(config)


def constants(
    subject: WholeModel, anatomy: Anatomy, layer_type: str | None, trained: int | None
) -> tuple[dict[str, Any], list[Defect]]:
    """Description of the encoding of a layer, and defects of its constants and of its rotation."""
    config = subject.config
    described: dict[str, Any] = {}
    if anatomy.kind != "rotary":
        return {"encoding": ENCODINGS[anatomy.kind]}, []
    part = parts.maps_part(subject, anatomy)
    reference = adapter_for(part, Setting(dtype=torch.float64))
    assert isinstance(reference, RotateAdapter)
    defects: list[Defect] = []
    cause = causes.of(reference)
    if anatomy.scaled:  # by design, as in softmax that is scaled by the number of keys
        described["scaled"] = "queries are scaled by their position"
    elif cause:
        defects.append(Defect(rule=cause[0], says=cause[1], first={"all": 0}))
    given = _fields_of(config, layer_type) if config is not None else {"rope_type": "default"}
    last = NEAR if given["rope_type"] in BY_LENGTH else FAR
    described |= recognition.describe(reference, None, last) or {"encoding": "rotation of unknown form"}
    if config is None or "frequencies" not in described:
        return described, defects
    described["rope"] = {str(name): _as_json(value) for name, value in given.items()}
    latent, rotated = (field_of(config, name) for name in ("qk_rope_head_dim", "rotary_dim"))
    head_dim = latent if type(latent) is int else anatomy.head_dim
    try:
        require_fields(given)
        width = int(head_dim * float(given.get("partial_rotary_factor") or 1))
        width = rotated if type(rotated) is int else width
        lengths = _lengths(reference, given, trained or 2048)
        sizes: dict[str, int] = {"width": width, "head_dim": head_dim, "trained": trained or 2048}
        of_lengths = [replace(rotary(given, **sizes, length=n), logit_factor=_logit_factor(given)) for n in lengths]
    except AuditError as error:
        described["constants"] = str(error)
        return described, defects
    for length, published in zip(lengths, of_lengths, strict=True):
        fresh = reference.fresh()  # what it keeps of longer calls is a finding of its own
        assert isinstance(fresh, RotateAdapter)
        measured = recognition.frequencies(fresh if len(lengths) > 1 else reference, last=length - 1)
        factor, logit = _factors(subject, layer_type, anatomy, given)
        differing = recognition.differences(
            published,
            measured,
            published.attention_factor if factor is None else factor,
            logit,
            least=recognition.least(reference, length - 1),
        )
        for defect in differing:
            defect.numbers["length"] = length
            defect.reproduction = _reproduce_constant(subject, defect, length)
        defects += differing
        described["attention_factor"] = factor
    described["constants"] = "published" if not defects else "differ"
    return described, defects


def _as_json(value: Any) -> Any:
    """Value of a field if JSON has it, else a text for it."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return shown(value)
    return value


def _lengths(reference: RotateAdapter, given: Mapping[str, Any], trained: int) -> list[int]:
    """Lengths of calls at which frequencies are compared: as long as can be, or on both sides of the trained length."""
    if given["rope_type"] not in BY_LENGTH:
        return [reference.position_reach(FAR) + 1]
    original = int(given.get("original_max_position_embeddings") or trained)
    return [min(original, NEAR + 1), *([4 * original] if original <= FAR else [])]


def _logit_factor(given: Mapping[str, Any]) -> float:
    """Published factor of the softmax scale: DeepSeek's (0.1 mscale_all_dim ln s + 1)^2."""
    all_dim = given.get("mscale_all_dim")
    if given["rope_type"] != "yarn" or not all_dim or not given.get("factor"):
        return 1.0
    return yarn_mscale(float(given["factor"]), float(all_dim)) ** 2


def _factors(
    subject: WholeModel, layer_type: str | None, anatomy: Anatomy, given: Mapping[str, Any]
) -> tuple[float | None, float | None]:
    """Attention factor of the rotary module, and factor of the softmax scale; None where they cannot be told."""
    part = parts.rotary_part(subject, layer_type, streaming=False)
    factor = None
    if part is not None:
        reference = adapter_for(part, Setting(dtype=torch.float64))
        assert isinstance(reference, RotateAdapter)
        factor = recognition.attention_factor(reference)
    latent = field_of(subject.config, "qk_rope_head_dim") is not None
    return factor, anatomy.q_scale * anatomy.head_dim**0.5 if latent and given.get("mscale_all_dim") else None


def _reproduce_constant(subject: WholeModel, defect: Defect, length: int) -> str | None:
    """Reproduction of a frequency of the rotary module of a model of transformers."""
    plane = defect.numbers.get("plane")
    if not subject.recipe or plane is None:
        return None
    error = f"abs(w / {defect.numbers['published']!r} - 1)"
    lines = ["made = next(part for part in model.modules() if 'Rotary' in type(part).__name__)",
             f"cos, sin = made(torch.zeros(1, 1), torch.tensor([[1, {length - 1}]]))",
             f"w = float(torch.atan2(sin, cos)[0, 0, {plane}]); error = {error}"]  # fmt: skip
    return confirmed([*subject.recipe, *lines])


def effects(subject: WholeModel, trained: int | None) -> dict[str, str]:
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
        usual = "bound, no effect below it" if name in BOUNDS else "".join(answers[:1])
        if answers:
            effect_of[name] = "honoured" if "honoured" in answers else usual
    return effect_of


def _effect(subject: WholeModel, name: str, value: Any, base: Tensor, trained: int | None) -> str:
    try:
        changed = _fingerprint(subject, {name: value}, trained)
    except (AuditError, ValueError, TypeError, KeyError) as error:
        return f"refused: {error}"[:200]
    if changed is None:
        return "refused: its calls fail"
    return "no effect" if torch.equal(changed, base) else "honoured"


def _fingerprint(subject: WholeModel, changed: dict[str, Any], trained: int | None) -> Tensor | None:
    """Logits at near positions and, if positions are taken, at far ones beyond the trained length; None if refused."""
    assert subject.rebuild is not None
    rebuild = subject.rebuild
    runner = Runner(WholeModel(name=subject.name, build=lambda: rebuild(changed)), torch.float32)
    ids = runner.ids(1, TRIED)
    parts: list[Tensor] = []
    try:
        parts.append(runner.call(ids)[0])
        if runner.positions_name and trained and trained <= 1 << 20:
            far = torch.arange(TRIED)[None] * max(1, 2 * trained // TRIED)
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
