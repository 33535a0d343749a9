"""Audit of one subject: measure it in every precision setting and report the defects. It says where the code stands."""

import ast
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch
from torch import nn

from lengthgen.empirical.audit import added, causes, independence, position_codes, recognition, relative_law
from lengthgen.empirical.audit.adapter import Adapter, RefusedPosition, Setting
from lengthgen.empirical.audit.diagnosis import Defect, SettingMeasures, findings
from lengthgen.empirical.audit.pair_adapters import BiasAdapter
from lengthgen.empirical.audit.reproduction import add_reproductions
from lengthgen.empirical.audit.rotation import RotateAdapter
from lengthgen.empirical.audit.rules import Severity
from lengthgen.empirical.audit.subject import AuditError, Kind, Subject
from lengthgen.empirical.audit.token_adapters import adapter_for
from lengthgen.infrastructure.userfile import split_file

DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
LOW = ("bfloat16", "float16")
EXACT = Setting(dtype=torch.float64)


def settings(subject: Subject, dtypes: Sequence[str]) -> list[Setting]:
    """Precision settings: inputs of each dtype, a module with numbers moved to low ones, and autocast to bfloat16."""
    instance = subject.instance()
    kept = (*instance.parameters(), *instance.buffers()) if isinstance(instance, nn.Module) else ()
    low = [name for name in dtypes if name in LOW and any(tensor.is_floating_point() for tensor in kept)]
    listed = [Setting(dtype=DTYPES[name]) for name in dtypes] + [
        Setting(dtype=DTYPES[name], moved=True) for name in low
    ]
    return listed + [Setting(dtype=DTYPES[name], autocast=True) for name in dtypes if name == "bfloat16"]


def audit(
    subject: Subject,
    *,
    dtypes: Sequence[str] = tuple(DTYPES),
    to: int = 1_000_000,
    budget: float | None = None,
    device: str = "cpu",
    on_step: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Audit one subject and report its defects as plain data; `holds` is True if no finding is worse than a note.

    `dtypes` are names in DTYPES, `to` is the last position, and `budget` the largest allowed error of the relative law,
    or None: the error that one rounding of the code gives. `on_step` is called with the name of each finished part:
    `independence`, then the label of each setting.

    Raises:
        AuditError: the subject fails at position 0 in float64, or returns values that do not fit its kind.
    """
    reference = adapter_for(subject, EXACT, device)
    cause = causes.of(reference)
    if cause and (cause[0] in causes.FATAL or subject.kind is Kind.EMBED):  # nothing else can be measured
        return _answer(subject, [Defect(rule=cause[0], says=cause[1], first={"all": 0})], budget=budget, to=to)
    position_reach, offset_reach = reference.position_reach(to), reference.offset_reach(to)
    codes_reach = min(position_reach, offset_reach)
    isolation = independence.measure(subject, codes_reach, device)
    on_step("independence")
    refused: dict[str, str] = {}
    measured: dict[str, SettingMeasures] = {}
    notes: dict[str, str] = {}
    for setting in settings(subject, dtypes):
        adapter = reference if setting == EXACT else adapter_for(subject, setting, device)
        try:
            measured[setting.label], note = _measure(adapter, reference, position_reach, offset_reach, budget)
            if note:
                notes["positions of their own for each row [B, L] are not taken"] = note
        except RefusedPosition as error:
            refused[setting.label] = str(error)
        on_step(setting.label)
    if not measured:
        raise AuditError(next(iter(refused.values())))
    shape = added.measure_slope(reference, offset_reach) if isinstance(reference, BiasAdapter) else None
    defects = findings(
        subject,
        measured,
        isolation,
        shape,
        reference.frequencies if isinstance(reference, RotateAdapter) else None,
        learned=subject.is_trainable(reference.instance),
        broken_law=cause if "relative" in subject.claims else None,
        planes=recognition.planes(reference),
        has_one_code=bool(codes_reach) and position_codes.distinct(reference.codes_of_windows(codes_reach)[0]) == 1,
    )
    differing = recognition.compare(subject, reference, shape)
    for defect in defects:
        if budget is not None and defect.rule == "angles-in-float32":  # usual, but beyond the budget that was asked for
            defect.rule = "angles-rounded"
        if defect.rule == "length-dependent" and recognition.depends_on_length(subject) and not differing:
            defect.rule = "length-dependent-by-design"
    defects += differing
    promised = (subject.follows or {}).get("max_position_embeddings") or 0
    if position_reach + 1 < min(promised, to + 1) and not subject.makes_tables:
        says = f"positions from {position_reach + 1} on are refused, but max_position_embeddings is {promised}"
        defects.append(Defect(rule="beyond-trained-length", says=says, first={"all": position_reach + 1}))
    return _answer(
        subject,
        defects,
        budget=budget,
        to=to,
        recognised=recognition.describe(reference, shape),
        last_position=position_reach,
        last_offset=offset_reach,
        settings={label: measures.as_json() for label, measures in measured.items()},
        refused=refused,
        independence=dict(vars(isolation)),
        slope=shape and dict(vars(shape)),
        notes=notes,
    )


def _answer(subject: Subject, defects: list[Defect], **measured: Any) -> dict[str, Any]:
    """Answer as plain data; `holds` is True if no finding is worse than a note."""
    add_reproductions(subject, defects)
    return {
        "subject": subject.name,
        "kind": subject.kind.value,
        "signature": subject.signature,
        "parameters": {name: str(value) for name, value in subject.parameters.items()},
        "claims": sorted(subject.claims),
        **{"recognised": None, "last_position": 0, "last_offset": 0, "settings": {}, "refused": {}, "notes": {}},
        **measured,
        "findings": [defect.as_json() for defect in defects],
        "holds": all(defect.severity is Severity.NOTE for defect in defects),
    }


def _measure(
    adapter: Adapter, reference: Adapter, position_reach: int, offset_reach: int, budget: float | None
) -> tuple[SettingMeasures, str | None]:
    """Measures in one setting, and the error message if per-row positions [B, L] are refused, else None."""
    codes_reach, law = min(position_reach, offset_reach), None
    if "relative" in adapter.subject.claims:
        law = relative_law.measure(
            adapter, reference, position_reach=position_reach, offset_reach=offset_reach, budget=budget
        )
    agreements, note = independence.measure_patterns(adapter, reference, codes_reach)
    codes = position_codes.measure(adapter, reference, codes_reach)
    return SettingMeasures(law=law, codes=codes, agreement=agreements), note


def source_of(thing: Any, spec: str = "") -> dict[str, Any] | None:
    """File and line of the function of an object, or of its class; None for code without a file.

    If its code is not in the file of `spec` (path/to/file.py:name, by which the user named it), as that of a class of a
    library is not, the place is that of the name.
    """
    try:
        code = _code_of(thing)
        place = (
            (code.co_filename, code.co_firstlineno)
            if code
            else _of_class(thing if isinstance(thing, type) else type(thing))
        )
        own = split_file(spec)
        if own and (place is None or Path(place[0]).resolve() != Path(own[0]).resolve()):
            place = own[0], _line_of_name(own[0], own[1] or "")
    except Exception:  # its code may raise wherever it is asked for something
        return None
    return place and {"file": place[0], "line": place[1]}


def _code_of(thing: Any) -> CodeType | None:
    """Code of a function, also within a method, a partial call or a decorator that keeps what it wraps."""
    while isinstance(thing, MethodType | partial | staticmethod | classmethod):
        thing = thing.func if isinstance(thing, partial) else thing.__func__
    unwrapped = inspect.unwrap(thing) if isinstance(thing, FunctionType) else None
    return unwrapped.__code__ if isinstance(unwrapped, FunctionType) else None


def _of_class(kind: type) -> tuple[str, int] | None:
    """File and line of a class: the innermost one in the file around its first method, else one of its name."""
    codes = [code for code in map(_code_of, vars(kind).values()) if code and Path(code.co_filename).is_file()]
    file = codes[0].co_filename if codes else getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is None:
        return None
    nodes = ast.walk(ast.parse(Path(file).read_bytes()))
    classes = [node for node in nodes if isinstance(node, ast.ClassDef) and node.name == kind.__name__]
    first = codes[0].co_firstlineno if codes else 0
    around = [node for node in classes if node.lineno <= first <= (node.end_lineno or 0)] or classes
    return file, around[-1].lineno if around else max(first, 1)


def _line_of_name(file: str, name: str) -> int:
    """Line at the top level of a file that last defines a name; 1 if there is none."""
    lines = [1]
    for node in ast.parse(Path(file).read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined = {node.name}
        else:
            defined = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and type(part.ctx) is ast.Store}
        if name in defined:
            lines.append(node.lineno)
    return lines[-1]
