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
from empirical.audit.models import cached, fields, parts, patterns, windows
from empirical.audit.models.anatomy import SQUARE, Anatomy, has_state, look, repeated, rope_fields
from empirical.audit.models.bounds import NAMES, field_of, size_of
from empirical.audit.models.plans import DTYPE, LENGTH, LONGEST, SINGLE
from empirical.audit.models.runner import Runner, Subject
from empirical.audit.published import BY_LENGTH, require_fields, rotary, yarn_mscale
from empirical.audit.report import audit
from empirical.audit.reproduction import confirmed
from empirical.audit.rotation import FAR, RotateAdapter
from empirical.audit.rules import ORDER, RULES, Severity
from empirical.audit.subject import AuditError
from theory.system.userfile import shown

NEAR = 4096
"""Last position of the calls within the trained length, where frequencies depend on the length."""
WITHOUT = ("none", "scale", "unread")
"""Kinds of layers that have no position encoding, as far as they are read."""
ONLY_CACHED = frozenset({"window-differs-when-cached", "cache-incomplete"})
"""Rules that explain why all calls with a cache differ."""
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
    single = _prepared(subject)
    subject = single.subject
    runner = Runner(subject, origin=single.origin)
    trained = size_of(subject.config, "trained")
    anatomies = look(runner)
    single.causal = all(anatomy.causal for anatomy in anatomies)
    kinds = windows.layer_kinds(subject.config, len(anatomies))
    groups = _groups(anatomies, kinds)
    defects: list[Defect] = []
    recognised: list[dict[str, Any]] = []
    for group in groups:
        anatomy, layer_type = group[0], kinds[group[0].layer]
        members = [member.layer for member in group]
        layers = {"layer": anatomy.layer, "layers": members, "layer_type": layer_type, "kind": anatomy.kind}
        try:
            described, wrong = _constants(subject, anatomy, layer_type, trained)
        except AuditError as error:  # its calls in the model's own patterns may still tell something
            described, wrong = {"encoding": f"{anatomy.kind}, not read: {error}"}, []
        recognised.append(layers | described)
        defects += [_of_layer(defect, group, groups) for defect in wrong]
    defects += _layer_defects(subject, anatomies, groups, kinds, bool(defects))
    on_step("recognition")
    kind = _kind(anatomies)
    if single.positions_name and kind in ("rotary", "absolute") and patterns.ignores_positions(single):
        says = "other positions that are passed give the same logits: the index in the call is used instead"
        return [_model_answer(subject, [Defect(rule="positions-ignored", says=says, first={"float32": 1})], recognised)]
    dynamic = rope_fields(subject.config)["rope_type"] in BY_LENGTH if kind == "rotary" else False
    window = windows.window_of(subject.config)
    long, table = _reach(single, trained, window, dynamic)
    defects += table
    if kind in ("rotary", "absolute"):
        first = next(anatomy.layer for anatomy in anatomies if anatomy.kind == kind)
        defects += _repeated_positions(single, first, long, dtypes)
    seen = windows.see(single, min(long, (window or long) + windows.BEYOND))
    defects += windows.defects(seen, window, kinds, causal=single.causal)
    shorter_window = any(len(distances) < min(LENGTH, seen.length) for distances in seen.full)
    recurrent = has_state(single, len(anatomies))
    results = patterns.measure(
        single, kind, trained=trained, long=long, shorter_window=shorter_window, recurrent=recurrent
    )
    step = next((result for result in patterns.failing(results) if result.plan.features == {"cache"}), None)
    for defect in defects:
        if defect.rule in ONLY_CACHED and step and subject.recipe:
            defect.reproduction = confirmed([*subject.recipe, *step.body])
    known = {defect.rule for defect in defects}
    defects += _pattern_defects(results, single, dynamic=dynamic, has_state=recurrent or kind == "none", known=known)
    if not single.causal and single.cache_name and single.call(single.ids(1, LENGTH))[1] is not None:
        says = "a query sees later keys, though the model gives a cache: a token's logits change once others follow"
        defects.append(Defect(rule="later-tokens-seen", says=says, first={"float32": 0}))
    if single.origin:
        says = f"positions that are passed count from {single.origin}: pass {single.origin}, {single.origin + 1}, ..."
        defects.append(Defect(rule="positions-offset", says=says, first={"all": 0}))
    on_step("call patterns")
    effects = fields.effects(subject, trained)
    for name in fields.ignored(effects, set(requested)):
        says = f"the field {name} has no effect"
        defects.append(
            Defect(rule="config-ignored", says=says, first={"all": None}, numbers={name: str(requested[name])})
        )
    on_step("fields")
    answers: list[dict[str, Any]] = []
    audited: set[str | None] = set()
    for group in groups if with_parts else ():
        if (layer_type := kinds[group[0].layer]) not in audited:
            audited.add(layer_type)
            try:
                answers += _audited_parts(
                    subject, group[0], layer_type, dynamic, recurrent, dtypes, to, budget, on_step
                )
            except AuditError as error:
                recognised[groups.index(group)]["part"] = f"not audited alone: {error}"
    if dynamic:
        for answer in answers:
            answer["findings"] = [_by_design(finding) for finding in answer["findings"]]
    found = {result.plan.name: result.as_json() for result in results}
    return [_model_answer(subject, defects, recognised, effects, found), *answers]


def _prepared(subject: Subject) -> Runner:
    """Runner in float32 that knows its origin, of a subject that knows its widest dtype and if it takes positions."""
    single = Runner(subject, DTYPE)
    patterns.require_sound(single)
    wide = Runner(subject)
    try:
        wide.call(wide.ids(1, LENGTH))
    except RefusedPosition:
        subject = replace(subject, widest=DTYPE)
    origin = patterns.origin(single)
    return Runner(replace(subject, takes_positions=origin is not None), DTYPE, origin=origin or 0)


def _groups(anatomies: Sequence[Anatomy], kinds: Sequence[str | None]) -> list[list[Anatomy]]:
    """Layers of the same kind by the configuration and with the same encoding, in groups."""
    groups: list[list[Anatomy]] = []
    for anatomy in anatomies:
        for group in groups:
            if kinds[group[0].layer] == kinds[anatomy.layer] and group[0].equals(anatomy):
                group.append(anatomy)
                break
        else:
            groups.append([anatomy])
    return groups


def _kind(anatomies: Sequence[Anatomy]) -> str:
    """Kind of encoding of the whole model: of the first layer that has one."""
    return next((anatomy.kind for anatomy in anatomies if anatomy.kind not in WITHOUT), "none")


def _of_layer(defect: Defect, group: Sequence[Anatomy], groups: Sequence[Sequence[Anatomy]]) -> Defect:
    """Defect with its layers named, where not all have it."""
    if len(groups) > 1:
        layers = ", ".join(str(anatomy.layer) for anatomy in group)
        defect.says = f"{'layer' if len(group) == 1 else 'layers'} {layers}: {defect.says}"
    return defect


def _layer_defects(
    subject: Subject,
    anatomies: Sequence[Anatomy],
    groups: Sequence[Sequence[Anatomy]],
    kinds: Sequence[str | None],
    explained: bool,
) -> list[Defect]:
    """Heads and layers without the encoding that others have, or a whole model without the one that it names."""
    defects = []
    for group in groups:
        if still := group[0].still:
            heads = ", ".join(map(str, still))
            says = f"no position turns queries or keys of heads {heads}, of {group[0].heads}"
            defects.append(_of_layer(Defect(rule="heads-differ", says=says, first={"all": 1}), group, groups))
    without = [anatomy.kind in WITHOUT for anatomy in anatomies]
    named = field_of(subject.config, "no_rope_layers")
    if all(without):
        read = all(anatomy.kind != "unread" for anatomy in anatomies)
        if read and (claims := _claimed(subject.config)):
            says = f"no query, key or logit of any layer depends on the position, and the configuration sets {claims}"
            defects.append(Defect(rule="encoding-missing", says=says, first={"all": 1}))
    elif isinstance(named, list | tuple) and len(named) == len(without):
        wrong = [layer for layer, (use, still) in enumerate(zip(named, without, strict=True)) if bool(use) is still]
        if wrong:
            has = "no rotation" if without[wrong[0]] else "a rotation"
            says = f"layer {wrong[0]} has {has}, and no_rope_layers says {named[wrong[0]]}"
            defects.append(Defect(rule="no-rope-layers-ignored", says=says, first={"all": 1}))
    elif not explained and len(groups) > len(set(kinds)):
        first, second = next(
            (one, other) for one in groups for other in groups
            if one is not other and kinds[one[0].layer] == kinds[other[0].layer]
        )  # fmt: skip
        says = f"layer {second[0].layer} has another encoding than layer {first[0].layer}"
        defects.append(Defect(rule="layers-differ", says=says, first={"all": 1}))
    return defects


CLAIMS = ("rope_theta", "rope_parameters", "rope_scaling", "rotary_dim", "rotary_pct", "rotary_emb_base", "alibi",
          "relative_attention_num_buckets")  # fmt: skip
"""Fields of configurations that claim an encoding."""


def _claimed(config: Any) -> str | None:
    """First field that claims an encoding; None if there is none."""
    return next((name for name in CLAIMS if field_of(config, name)), None)


def _reach(runner: Runner, trained: int | None, window: int | None, dynamic: bool) -> tuple[int, list[Defect]]:
    """Tokens of long rows, and the defect of a table that is shorter than the configuration promises."""
    wanted = max(SINGLE, 2 * window + windows.BEYOND if window else 0)
    wanted = min(wanted, LONGEST)
    if dynamic:
        wanted = min(wanted, int(rope_fields(runner.subject.config).get("original_max_position_embeddings") or wanted))
    promised = trained - runner.origin if trained and trained <= LONGEST else None
    accepted, refusal = runner.reach(max(wanted, promised or 0) if not dynamic else wanted)
    longest = min(max(wanted, promised or 0), accepted, promised or wanted)
    if promised is None or accepted >= promised or dynamic:
        return longest, []
    says = f"position {accepted} is refused, and the configuration promises {trained} positions: {refusal[:120]}"
    numbers = {"accepted": accepted, "promised": promised}
    return longest, [Defect(rule="table-too-short", says=says, first={"all": accepted}, numbers=numbers)]


def _repeated_positions(single: Runner, layer: int, length: int, dtypes: Sequence[str]) -> list[Defect]:
    """Defect of two positions that are the same to a model, in float32 or, if it was asked for, in bfloat16."""
    pair = repeated(single, layer, length)
    if pair:
        rule = "codes-repeated" if pair[1] == 0 else "codes-clamped"
        return [_same_position(rule, pair, "float32")]
    if "bfloat16" not in dtypes:
        return []
    try:
        pair = repeated(single.fresh(torch.bfloat16), layer, length)
    except AuditError:  # it does not work in bfloat16
        return []
    return [_same_position("rounded-by-move", pair, "bfloat16")] if pair else []


def _same_position(rule: str, pair: tuple[int, int], dtype: str) -> Defect:
    says = f"a token at position {pair[0]} has the query and the key that it has at position {pair[1]}"
    return Defect(rule=rule, says=f"{says}, in {dtype}", first={dtype: pair[0]})


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
        runner = Runner(subject, DTYPE)
        runner.call(runner.ids(1, 8))
        return None
    except RefusedPosition as error:
        reason = str(error)
    try:
        other = Runner(replace(subject, build=lambda: rebuild(changed)), DTYPE)
        other.call(other.ids(1, 8))
    except RefusedPosition:
        return None
    says = f"a call fails with {heads} heads and works with {power}: {reason[:160]}"
    lines = [*subject.recipe, "error = 0", "try: model(torch.arange(8)[None])", "except RuntimeError: error = 1"]
    return Defect(rule="head-count-fails", says=says, first={"all": 0}, numbers={"heads": heads, "works": power},
                  reproduction=confirmed(lines))  # fmt: skip


def _fields_of(config: Any, layer_type: str | None) -> dict[str, Any]:
    """Rope fields of a kind of layer."""
    nested = field_of(config, "rope_parameters")
    part = nested.get(layer_type) if isinstance(nested, dict) and layer_type else None
    return {"rope_type": "default", **part} if isinstance(part, dict) else rope_fields(config)


def _constants(
    subject: Subject, anatomy: Anatomy, layer_type: str | None, trained: int | None
) -> tuple[dict[str, Any], list[Defect]]:
    """Description of the encoding of a layer, and defects of its constants and of its rotation."""
    config = subject.config
    described: dict[str, Any] = {
        "heads": anatomy.heads, "head_dim": anatomy.head_dim, "softmax_scale": anatomy.q_scale, "causal": anatomy.causal
    }  # fmt: skip
    if anatomy.kind != "rotary":
        names = {"absolute": "absolute positions, added to embeddings", "none": "no position encoding", "bias": "bias",
                 "unread": "not read, after recurrent layers",
                 "scale": "no position encoding, but queries are scaled by their position"}  # fmt: skip
        return {**described, "encoding": names[anatomy.kind]}, []
    part = parts.maps_part(subject, anatomy)
    reference = adapter_for(part, Setting(dtype=torch.float64))
    assert isinstance(reference, RotateAdapter)
    defects: list[Defect] = []
    cause = causes.of(reference)
    if cause:
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


def _pattern_defects(
    results: Sequence[patterns.Pattern], runner: Runner, *, dynamic: bool, has_state: bool, known: set[str]
) -> list[Defect]:
    """Defects shown by the call patterns, but for those that `known` rules explain."""
    defects = []
    for result in results:
        if result.refusal and "beyond the trained length" in result.plan.name:
            says = f"a call beyond the trained length fails: {result.refusal[:160]}"
            defects.append(Defect(rule="beyond-trained-length", says=says, first={"all": None}))
    agrees_with_positions = any(
        {"cache", "positions"} == result.plan.features and result.first is None and not result.refusal
        for result in results
    )
    for result in patterns.failing(list(results)):
        plan, rule = result.plan, result.plan.rule
        if "cache" in plan.features and known & ONLY_CACHED:
            continue
        if rule == "call-history" and dynamic and plan.name == "after a shorter call":
            rule = "length-dependent-by-design"
        seen = f"{plan.name}: logits differ by {result.difference:.2g} of the largest from token {result.first} on"
        if rule == "start-index-ignored" and has_state and set(plan.chunks) == {1} and agrees_with_positions:
            seen = f"{seen}, and agree where positions are given"
        elif rule == "start-index-ignored":
            cause = cached.cause(runner, plan.chunks, result.first or 0, has_state=has_state)
            rule, seen = (cause[0], f"{seen}: {cause[1]}") if cause else (rule, seen)
        reproduction = None
        if runner.subject.recipe and result.body:
            reproduction = confirmed([*runner.subject.recipe, *result.body])
        numbers = {"difference": result.difference, "allowed": patterns.ALLOWED}
        defects.append(
            Defect(rule=rule, says=seen, first={"float32": result.first}, numbers=numbers, reproduction=reproduction)
        )
    return defects


def _audited_parts(
    subject: Subject,
    anatomy: Anatomy,
    layer_type: str | None,
    dynamic: bool,
    recurrent: bool,
    dtypes: Sequence[str],
    to: int,
    budget: float | None,
    on_step: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Audits of the rotation or the bias of one layer by dtype and position."""
    if anatomy.kind == "rotary":
        part = parts.rotary_part(subject, layer_type, streaming=not dynamic)
        if part is None and recurrent:  # each reading runs the layers before it, and the constants have been read
            return []
        if part is None:
            part, dtypes, to = parts.maps_part(subject, anatomy), ("float64",), min(to, parts.SOLVED)
        elif part.makes_tables:
            to = min(to, parts.LONGEST_TABLE)
    elif anatomy.kind == "bias":
        part, to = parts.bias_part(subject, anatomy), min(to, SQUARE - 1)
    else:
        return []
    answer = audit(part, dtypes=dtypes, to=to, budget=budget)
    on_step(part.name)
    return [answer]
