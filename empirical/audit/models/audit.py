"""Audit of a whole model: recognise its encoding, compare its constants, test its call patterns, audit its parts."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from lengthgen.empirical.audit.adapter import RefusedPosition
from lengthgen.empirical.audit.diagnosis import Defect
from lengthgen.empirical.audit.models import cached, call_patterns, parts, windows
from lengthgen.empirical.audit.models.anatomy import (
    SQUARE,
    WITHOUT,
    Anatomy,
    groups_of,
    has_state,
    kind_of,
    layer_defects,
    look,
    of_layer,
    repeated,
    rope_fields,
    rounded,
)
from lengthgen.empirical.audit.models.bounds import LONGEST, NAMES, field_of, size_of
from lengthgen.empirical.audit.models.configuration import constants, effects, ignored
from lengthgen.empirical.audit.models.plans import DTYPE, LENGTH, LONG, Facts
from lengthgen.empirical.audit.models.runner import Runner
from lengthgen.empirical.audit.models.whole import WholeModel
from lengthgen.empirical.audit.published_constants import BY_LENGTH
from lengthgen.empirical.audit.report import audit
from lengthgen.empirical.audit.reproduction import confirmed
from lengthgen.empirical.audit.rules import ORDER, RULES, Severity
from lengthgen.empirical.audit.subject import AuditError, Subject

FARTHEST = 8192
"""Positions that a model is asked for, where its configuration names no trained length."""
CAUSES = frozenset({"codes-clamped", "codes-repeated", "positions-rounded", "length-dependent", "call-history"})
"""Rules of mistakes after which frequencies are read wrong too."""
ONLY_CACHED = frozenset({"window-differs-when-cached", "cache-incomplete"})
"""Rules that explain why all calls with a cache differ."""
STEPS = "recognition", "call patterns", "fields"


def audit_model(
    subject: WholeModel,
    *,
    requested: Mapping[str, Any],
    dtypes: Sequence[str],
    to: int,
    budget: float | None,
    with_parts: bool = True,
    on_step: Callable[[str], None] = lambda name: None,
) -> list[dict[str, Any]]:
    """Answers on a model, then on the parts of it that make its encoding, in the form of `report.audit`.

    `requested` are the fields of the configuration that the user has set, `to` is the last position for parts that take
    positions, and `on_step` is called with the name of each finished part.

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
    groups = groups_of(anatomies, kinds)
    recognised, defects = _recognise(subject, groups, kinds, trained)
    defects += layer_defects(subject.config, anatomies, groups, kinds, bool(defects))
    on_step("recognition")
    kind = kind_of(anatomies)
    if single.positions_name and kind in ("rotary", "absolute") and call_patterns.ignores_positions(single):
        says = "other positions that are passed give the same logits: the index in the call is used instead"
        return [_model_answer(subject, [Defect(rule="positions-ignored", says=says, first={"float32": 1})], recognised)]
    dynamic = rope_fields(subject.config)["rope_type"] in BY_LENGTH if kind == "rotary" else False
    window = windows.window_of(subject.config)
    long, table = _reach(single, trained, window, dynamic)
    defects += table
    if kind in ("rotary", "absolute"):
        first = next(anatomy.layer for anatomy in anatomies if anatomy.kind == kind)
        defects += _repeated_positions(single, first, long, trained, dtypes)
    seen = windows.see(single, min(long, (window or long) + windows.BEYOND))
    defects += windows.defects(seen, window, kinds, causal=single.causal)
    for defect in defects:
        if defect.rule == "window-ignored" and not any(kinds):
            defect.reproduction = _reproduce_window(single, len(kinds) * (window or 0) + 1)
    recurrent, fewest = has_state(single, len(anatomies)), min(map(len, seen.full))
    facts = Facts(
        kind=kind, trained=trained, long=long, window=window, recurrent=recurrent, hides=fewest < seen.length,
        hides_near=fewest < min(LENGTH, seen.length), scaled=any(anatomy.scaled for anatomy in anatomies),
    )  # fmt: skip
    results = call_patterns.measure(single, facts)
    explained = next((defect for defect in defects if defect.rule in ONLY_CACHED), None)
    defects += _pattern_defects(
        results, single, dynamic=dynamic, has_state=recurrent or kind in WITHOUT, explained=explained
    )
    defects += _order_defects(single, anatomies)
    on_step("call patterns")
    effect_of = effects(subject, trained)
    for name in ignored(effect_of, set(requested)):
        says = f"the field {name} has no effect"
        defects.append(
            Defect(rule="config-ignored", says=says, first={"all": None}, numbers={name: str(requested[name])})
        )
    on_step("fields")
    answers: list[dict[str, Any]] = []
    first_of: dict[str | None, tuple[Anatomy, dict[str, Any]]] = {}
    for group, described in zip(groups, recognised, strict=True):
        if group[0].kind not in WITHOUT:
            first_of.setdefault(kinds[group[0].layer], (group[0], described))
    for layer_type, (anatomy, described) in first_of.items() if with_parts else ():
        try:
            part = _part(subject, anatomy, layer_type, dynamic, recurrent, dtypes, to)
            if part is not None:
                answers.append(audit(part[0], dtypes=part[1], to=part[2], budget=budget))
                on_step(part[0].name)
        except AuditError as error:
            described["part"] = f"not audited alone: {error}"
    by_design = RULES["length-dependent-by-design"]
    for finding in (finding for answer in answers if dynamic for finding in answer["findings"]):
        if finding["rule"] in ("call-history", "length-dependent"):
            finding |= {"rule": by_design.id, "severity": by_design.severity.value, "law": by_design.law,
                        "mend": by_design.mend}  # fmt: skip
    if any(defect.rule in CAUSES for defect in defects):
        defects = [defect for defect in defects if defect.rule != "frequencies-unpublished"]
    by_pattern = {result.plan.name: result.as_json() for result in results}
    return [_model_answer(subject, defects, recognised, effect_of, by_pattern), *answers]


def _recognise(
    subject: WholeModel, groups: Sequence[Sequence[Anatomy]], kinds: Sequence[str | None], trained: int | None
) -> tuple[list[dict[str, Any]], list[Defect]]:
    """Descriptions of groups of layers with one encoding, and defects of their constants."""
    recognised, defects = [], []
    for group in groups:
        anatomy, layer_type = group[0], kinds[group[0].layer]
        members = [member.layer for member in group]
        place = {"layer": anatomy.layer, "layers": members, "layer_type": layer_type, "kind": anatomy.kind,
                 "heads": anatomy.heads, "head_dim": anatomy.head_dim, "softmax_scale": anatomy.q_scale,
                 "causal": anatomy.causal}  # fmt: skip
        try:
            described, wrong = constants(subject, anatomy, layer_type, trained)
        except AuditError as error:  # its calls in the model's own patterns may still tell something
            described, wrong = {"encoding": f"{anatomy.kind}, not read: {error}"}, []
        recognised.append(place | described)
        defects += [of_layer(defect, group, groups) for defect in wrong]
    return recognised, defects


def _order_defects(single: Runner, anatomies: Sequence[Anatomy]) -> list[Defect]:
    """Defects of which tokens come before which: later ones that are seen, and positions that start elsewhere."""
    defects, says = [], ""
    if ahead := max(anatomy.ahead for anatomy in anatomies):
        says = f"a query sees {ahead} later {'key' if ahead == 1 else 'keys'}, and no more of them"
    elif not single.causal and single.cache_name and single.call(single.ids(1, LENGTH))[1] is not None:
        says = "a query sees later keys, though the model gives a cache: a token's logits change once others follow"
    if says:
        defects.append(Defect(rule="later-tokens-seen", says=says, first={"float32": 0}))
    if single.origin:
        says = f"positions that are passed count from {single.origin}: pass {single.origin}, {single.origin + 1}, ..."
        defects.append(Defect(rule="positions-offset", says=says, first={"all": 0}))
    return defects


def _prepared(subject: WholeModel) -> Runner:
    """Runner in float32 that knows its origin, of a subject that knows its widest dtype and if it takes positions."""
    single = Runner(subject, DTYPE)
    call_patterns.require_sound(single)
    if any(part.ndim > 1 and not part.any() for part in single.model.parameters()):
        subject = _filled(subject)
        single = Runner(subject, DTYPE)
    subject = replace(subject, mask_hides=call_patterns.mask_hides(single))
    wide = Runner(subject)
    try:
        wide.call(wide.ids(1, LENGTH))
    except RefusedPosition:
        subject = replace(subject, widest=DTYPE)
    origin = call_patterns.origin(single)
    return Runner(replace(subject, takes_positions=origin is not None), DTYPE, origin=origin or 0)


FILL = (
    "torch.manual_seed(1); [torch.nn.init.normal_(part, std=0.1) for part in model.parameters() "
    "if part.ndim > 1 and not part.any()]"
)
"""Line that fills the weights of a model that are zero until training, which would hide what positions do."""


def _filled(subject: WholeModel) -> WholeModel:
    """Model with weights in place of zeros."""

    def fill(model: nn.Module) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            exec(FILL, {"torch": torch, "model": model})
        return model

    rebuild = subject.rebuild
    return replace(
        subject,
        build=lambda: fill(subject.build()),
        recipe=(*subject.recipe, FILL) if subject.recipe else (),
        rebuild=rebuild and (lambda changed: fill(rebuild(changed))),
    )


def _reach(runner: Runner, trained: int | None, window: int | None, dynamic: bool) -> tuple[int, list[Defect]]:
    """Tokens of long rows, and the defect of a table that is shorter than the configuration promises."""
    wanted = max(LONG, 2 * window + windows.BEYOND if window else 0)
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
    lines = [*runner.subject.recipe, "error = 0", f"try: model(torch.full((1, {accepted + 1}), 2))",
             "except (IndexError, RuntimeError, ValueError): error = 1"]  # fmt: skip
    short = Defect(rule="table-too-short", says=says, first={"all": accepted}, numbers=numbers,
                   reproduction=confirmed(lines) if runner.subject.recipe else None)  # fmt: skip
    return longest, [short]


def _reproduce_window(single: Runner, length: int) -> str | None:
    """Reproduction of windows that no layer has: the last of so many tokens cannot tell the first."""
    if not single.subject.recipe or length > LONGEST:
        return None
    lines = [f"ids = torch.full((1, {length}), 2); other = ids.clone(); other[0, 0] = 3",
             f"first, second = (model(x){single.pick}[0, -1] for x in (ids, other))",
             "error = ((first - second).abs().max() / first.abs().max()).item()"]  # fmt: skip
    return confirmed([*single.subject.recipe, *lines])


def _repeated_positions(
    single: Runner, layer: int, length: int, trained: int | None, dtypes: Sequence[str]
) -> list[Defect]:
    """Defect of two positions that are the same to a model, in float32 or, if it was asked for, in bfloat16."""
    rule, dtype, pair = "positions-rounded", "float32", None
    if same := repeated(single, layer, length):
        pair = same[:2]
        rule = "codes-clamped" if same[2] else "codes-repeated" if same[1] == 0 else rule
    elif single.positions_name:
        with suppress(AuditError):  # it takes no rows of one token, or no position as far
            pair = rounded(single, layer, min(trained or FARTHEST, FARTHEST) - 1)
    if not pair and "bfloat16" in dtypes:
        with suppress(AuditError):  # it does not work in bfloat16
            if same := repeated(single.fresh(torch.bfloat16), layer, length):
                rule, dtype, pair = "rounded-by-move", "bfloat16", same[:2]
    if not pair:
        return []
    says = f"a token at position {pair[0]} has the query and the key that it has at position {pair[1]}, in {dtype}"
    return [Defect(rule=rule, says=says, first={dtype: pair[0]})]


def _model_answer(
    subject: WholeModel,
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


def _head_count(subject: WholeModel) -> Defect | None:
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


def _pattern_defects(
    results: Sequence[call_patterns.Pattern],
    runner: Runner,
    *,
    dynamic: bool,
    has_state: bool,
    explained: Defect | None,
) -> list[Defect]:
    """Defects shown by the call patterns; those of a cache that are explained give that defect its reproduction."""
    defects = [
        Defect(
            rule="beyond-trained-length",
            says=f"a call beyond the trained length fails: {result.refusal[:160]}",
            first={"all": None},
        )
        for result in results
        if result.refusal and "beyond the trained length" in result.plan.name
    ]
    answered = [result.plan.features for result in results if result.first is None and not result.refusal]
    for result in call_patterns.failing(list(results)):
        plan, rule = result.plan, result.plan.rule
        reproduction = None
        if runner.subject.recipe and result.body:
            reproduction = confirmed([*runner.subject.recipe, *result.body])
        if "cache" in plan.features and explained:
            explained.reproduction = explained.reproduction or reproduction
            continue
        if rule == "call-history" and dynamic and plan.name == "after a shorter call":
            rule = "length-dependent-by-design"
        seen = f"{plan.name}: logits differ by {result.difference:.2g} of the largest from token {result.first} on"
        if rule == "start-index-ignored" and has_state and {*plan.chunks} == {1} and {"cache", "positions"} in answered:
            seen = f"{seen}, and agree where positions are given"
        elif rule == "start-index-ignored":
            cause = cached.cause(runner, plan.chunks, result.first or 0, has_state=has_state)
            rule, seen = (cause[0], f"{seen}: {cause[1]}") if cause else (rule, seen)
        numbers = {"difference": result.difference, "allowed": call_patterns.ALLOWED}
        defects.append(
            Defect(rule=rule, says=seen, first={"float32": result.first}, numbers=numbers, reproduction=reproduction)
        )
    return defects


def _part(
    subject: WholeModel,
    anatomy: Anatomy,
    layer_type: str | None,
    dynamic: bool,
    recurrent: bool,
    dtypes: Sequence[str],
    to: int,
) -> tuple[Subject, Sequence[str], int] | None:
    """Rotation or bias of one layer, with the dtypes and the last position for its audit; None for other kinds."""
    if anatomy.kind == "bias":
        return parts.bias_part(subject, anatomy), dtypes, min(to, SQUARE - 1)
    if anatomy.kind != "rotary":
        return None
    if part := parts.rotary_part(subject, layer_type, streaming=not dynamic):
        return part, dtypes, min(to, parts.LONGEST_TABLE) if part.makes_tables else to
    if recurrent:  # each reading runs the layers before it, and the constants have been read
        return None
    return parts.maps_part(subject, anatomy), ("float64",), min(to, parts.SOLVED)
