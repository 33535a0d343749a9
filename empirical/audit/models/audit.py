"""Audit of a whole model: recognise its encoding, compare its constants, test its call patterns, audit its parts."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from empirical.audit import causes, recognition
from empirical.audit.adapter import RefusedPosition, Setting
from empirical.audit.diagnosis import Defect
from empirical.audit.kinds import adapter_for
from empirical.audit.models import fields, parts, patterns
from empirical.audit.models.anatomy import SQUARE, Anatomy, look, rope_fields
from empirical.audit.models.bounds import NAMES, field_of, size_of
from empirical.audit.models.runner import Runner, Subject
from empirical.audit.published import BY_LENGTH, require_fields, rotary, yarn_mscale
from empirical.audit.report import audit
from empirical.audit.reproduction import confirmed
from empirical.audit.rotation import RotateAdapter
from empirical.audit.rules import ORDER, RULES, Severity
from empirical.audit.subject import AuditError
from theory.system.userfile import shown

STEPS = "recognition", "call patterns", "fields"


def audit_model(
    subject: Subject,
    *,
    requested: Mapping[str, Any],
    dtypes: Sequence[str],
    to: int,
    budget: float | None,
    with_parts: bool = True,
    on_step: Callable[[str], None] = lambda name: None,
) -> list[dict[str, Any]]:
    """Audit a model and the parts of it that make its encoding.

    Args:
        subject: whole model.
        requested: fields of the configuration that the user has set.
        dtypes: names in `report.DTYPES`.
        to: last position for parts that take positions.
        budget: largest allowed error of the relative law, see `report.audit`.
        with_parts: also audit the parts that make the encoding, by dtype and position.
        on_step: called with the name of each finished part.

    Returns:
        Answers as plain data: that of the model, then those of its parts, in the form of `report.audit`.

    Raises:
        AuditError: the model cannot be made, called or read.
    """
    torch.set_num_threads(1)  # small tensors: more threads only wait for each other
    if failing := _head_count(subject):
        on_step(STEPS[0])
        return [_model_answer(subject, [failing])]
    runner = Runner(subject)
    trained = size_of(subject.config, "trained")
    layers = _layers(subject)
    defects: list[Defect] = []
    recognised: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for layer, layer_type in layers.items():
        anatomy = look(runner, layer)
        described, wrong = _constants(subject, anatomy, layer, layer_type, trained)
        recognised.append({"layer": layer, "layer_type": layer_type, "kind": anatomy.kind, **described})
        defects += wrong
    on_step("recognition")
    kind = recognised[0]["kind"]
    single = Runner(subject, patterns.DTYPE)
    causal = all(layer["causal"] for layer in recognised)
    results = patterns.measure(single, kind, trained, causal=causal)
    dynamic = rope_fields(subject.config)["rope_type"] in BY_LENGTH if kind == "rotary" else False
    defects += _pattern_defects(results, subject, dynamic=dynamic)
    if single.positions_name and kind in ("rotary", "absolute") and patterns.ignores_positions(single):
        says = "other positions that are passed give the same logits: the index in the call is used instead"
        return [_model_answer(subject, [Defect(rule="positions-ignored", says=says, first={"float32": 1})], recognised)]
    on_step("call patterns")
    effects = fields.effects(subject, trained)
    for name in fields.ignored(effects, set(requested)):
        says = f"the field {name} has no effect"
        defects.append(
            Defect(rule="config-ignored", says=says, first={"all": None}, numbers={name: str(requested[name])})
        )
    on_step("fields")
    for layer, layer_type in layers.items() if with_parts else ():
        anatomy = look(Runner(subject), layer)
        answers += _audited_parts(subject, anatomy, layer, layer_type, dynamic, dtypes, to, budget, on_step)
    if dynamic:
        for answer in answers:
            answer["findings"] = [_by_design(finding) for finding in answer["findings"]]
    model = _model_answer(subject, defects, recognised, effects, {result.name: result.as_json() for result in results})
    return [model, *answers]


def _model_answer(
    subject: Subject,
    defects: Sequence[Defect],
    recognised: Sequence[dict[str, Any]] = (),
    effects: Mapping[str, str] | None = None,
    results: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Answer on the model itself as plain data."""
    return {
        "subject": subject.name,
        "kind": "model",
        "recognised": list(recognised),
        "sizes": dict(subject.sizes or {}),
        "fields": dict(effects or {}),
        "patterns": dict(results or {}),
        "findings": [defect.as_json() for defect in sorted(defects, key=lambda defect: ORDER.index(defect.severity))],
        "holds": all(defect.severity is Severity.NOTE for defect in defects),
    }


def _by_design(finding: dict[str, Any]) -> dict[str, Any]:
    """Finding of a rotation whose frequencies depend on the length of the call by its definition."""
    if finding["rule"] not in ("call-history", "length-dependent"):
        return finding
    rule = RULES["length-dependent-by-design"]
    return {**finding, "rule": rule.id, "severity": rule.severity.value, "law": rule.law, "mend": rule.mend}


def _head_count(subject: Subject) -> Defect | None:
    """Defect of a model that fails with its number of heads and works with a power of two."""
    heads = size_of(subject.config, "heads") or 4
    if heads & (heads - 1) == 0 or subject.rebuild is None:
        return None
    rebuild, power = subject.rebuild, 1 << heads.bit_length()
    name = next(name for name in NAMES["heads"] if field_of(subject.config, name) == heads)
    width = {name: power * 16 for name in NAMES["width"] if field_of(subject.config, name) is not None}
    changed = {name: power, **width}
    try:
        runner = Runner(subject, patterns.DTYPE)
        runner.call(runner.ids(1, 8))
        return None
    except RefusedPosition as error:
        reason = str(error)
    try:
        other = Runner(replace(subject, build=lambda: rebuild(changed)), patterns.DTYPE)
        other.call(other.ids(1, 8))
    except RefusedPosition:
        return None
    says = f"a call fails with {heads} heads and works with {power}: {reason[:160]}"
    lines = [*subject.recipe, "error = 0", "try: model(torch.arange(8)[None])", "except RuntimeError: error = 1"]
    return Defect(rule="head-count-fails", says=says, first={"all": 0}, numbers={"heads": heads, "works": power},
                  reproduction=confirmed(lines))  # fmt: skip


def _layers(subject: Subject) -> dict[int, str | None]:
    """First layer of each kind, with the name of its kind."""
    kinds = field_of(subject.config, "layer_types")
    if not (kinds and isinstance(kinds, list | tuple) and all(isinstance(kind, str) for kind in kinds)):
        kinds = [None]
    first: dict[str | None, int] = {}
    for layer, layer_type in enumerate(kinds):
        first.setdefault(layer_type, layer)
    return {layer: layer_type for layer_type, layer in first.items()}


def _fields_of(config: Any, layer_type: str | None) -> dict[str, Any]:
    """Rope fields of a kind of layer."""
    nested = field_of(config, "rope_parameters")
    part = nested.get(layer_type) if isinstance(nested, dict) and layer_type else None
    return {"rope_type": "default", **part} if isinstance(part, dict) else rope_fields(config)


def _constants(
    subject: Subject, anatomy: Anatomy, layer: int, layer_type: str | None, trained: int | None
) -> tuple[dict[str, Any], list[Defect]]:
    """Description of the encoding of a layer, and defects of its constants and of its rotation."""
    config = subject.config
    described: dict[str, Any] = {
        "heads": anatomy.heads, "head_dim": anatomy.head_dim, "softmax_scale": anatomy.q_scale, "causal": anatomy.causal
    }  # fmt: skip
    if anatomy.kind != "rotary":
        names = {"absolute": "absolute positions, added to embeddings", "none": "no position encoding", "bias": "bias"}
        return {**described, "encoding": names[anatomy.kind]}, []
    part = parts.maps_part(subject, anatomy, layer)
    reference = adapter_for(part, Setting(dtype=torch.float64))
    assert isinstance(reference, RotateAdapter)
    defects: list[Defect] = []
    cause = causes.of(reference)
    if cause:
        defects.append(Defect(rule=cause[0], says=cause[1], first={"all": 0}))
    described |= recognition.describe(reference, None) or {"encoding": "rotation of unknown form"}
    if config is None or "frequencies" not in described:
        return described, defects
    given = _fields_of(config, layer_type)
    described["rope"] = {str(name): _as_json(value) for name, value in given.items()}
    latent, rotated = (field_of(config, name) for name in ("qk_rope_head_dim", "rotary_dim"))
    head_dim = latent if type(latent) is int else anatomy.head_dim
    try:
        require_fields(given)
        width = int(head_dim * float(given.get("partial_rotary_factor") or 1))
        width = rotated if type(rotated) is int else width
        lengths = _lengths(given, trained or 2048)
        sizes: dict[str, int] = {"width": width, "head_dim": head_dim, "trained": trained or 2048}
        of_lengths = [replace(rotary(given, **sizes, length=n), logit_factor=_logit_factor(given)) for n in lengths]
    except AuditError as error:
        described["constants"] = str(error)
        return described, defects
    for length, published in zip(lengths, of_lengths, strict=True):
        measured = recognition.frequencies(reference, last=length - 1)
        factor, logit = _factors(subject, layer_type, anatomy, given)
        differing = recognition.differences(
            published, measured, published.attention_factor if factor is None else factor, logit
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


def _lengths(given: Mapping[str, Any], trained: int) -> list[int]:
    """Lengths of calls at which frequencies are compared: within the trained length and, where that matters, beyond."""
    original = int(given.get("original_max_position_embeddings") or trained)
    near = min(original, 4097)
    return [near, 4 * original] if given["rope_type"] in BY_LENGTH and original <= 1 << 18 else [near]


def _logit_factor(given: Mapping[str, Any]) -> float:
    """Published factor of the softmax scale: DeepSeek's (0.1 mscale_all_dim ln s + 1)^2."""
    all_dim = given.get("mscale_all_dim")
    if given["rope_type"] != "yarn" or not all_dim or not given.get("factor"):
        return 1.0
    return yarn_mscale(float(given["factor"]), float(all_dim)) ** 2


def _factors(
    subject: Subject, layer_type: str | None, anatomy: Anatomy, given: Mapping[str, Any]
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


def _reproduce_constant(subject: Subject, defect: Defect, length: int) -> str | None:
    """Reproduction of a frequency of the rotary module of a model of transformers."""
    plane = defect.numbers.get("plane")
    if not subject.recipe or plane is None:
        return None
    return confirmed(
        [
            *subject.recipe,
            "made = next(part for part in model.modules() if 'Rotary' in type(part).__name__)",
            f"cos, sin = made(torch.zeros(1, 1), torch.tensor([[1, {length - 1}]]))",
            f"w = float(torch.atan2(sin, cos)[0, 0, {plane}]); error = abs(w / {defect.numbers['published']!r} - 1)",
        ]
    )


def _pattern_defects(results: Sequence[patterns.Pattern], subject: Subject, *, dynamic: bool) -> list[Defect]:
    """Defects shown by the call patterns."""
    defects = []
    for result in results:
        if result.refusal and "beyond the trained length" in result.name:
            says = f"a call beyond the trained length fails: {result.refusal[:160]}"
            defects.append(Defect(rule="beyond-trained-length", says=says, first={"all": None}))
        if result.first is None:
            continue
        rule = result.rule
        if rule == "call-history" and dynamic and result.name == "after a shorter call":
            rule = "length-dependent-by-design"
        says = f"{result.name}: logits differ by {result.difference:.2g} of the largest from token {result.first} on"
        reproduction = None
        if subject.recipe and result.body:
            lines = [*subject.recipe, *result.body]
            reproduction = confirmed(lines)
        numbers = {"difference": result.difference, "allowed": patterns.ALLOWED}
        defects.append(
            Defect(rule=rule, says=says, first={"float32": result.first}, numbers=numbers, reproduction=reproduction)
        )
    return defects


def _audited_parts(
    subject: Subject,
    anatomy: Anatomy,
    layer: int,
    layer_type: str | None,
    dynamic: bool,
    dtypes: Sequence[str],
    to: int,
    budget: float | None,
    on_step: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Audits of the rotation or the bias of one layer by dtype and position."""
    if anatomy.kind == "rotary":
        part = parts.rotary_part(subject, layer_type, streaming=not dynamic)
        if part is None:
            part, dtypes, to = parts.maps_part(subject, anatomy, layer), ("float64",), min(to, parts.SOLVED)
        elif part.makes_tables:
            to = min(to, parts.LONGEST_TABLE)
    elif anatomy.kind == "bias":
        part, to = parts.bias_part(subject, anatomy, layer), min(to, SQUARE - 1)
    else:
        return []
    try:
        answer = audit(part, dtypes=dtypes, to=to, budget=budget)
    except RefusedPosition as error:
        raise AuditError(str(error)) from None
    on_step(part.name)
    return [answer]
