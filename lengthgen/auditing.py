"""Precision audit of an encoding or a whole model as plain data."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthgen.answer import Answer
from lengthgen.circuits.encodings import NUMBER, read_value
from lengthgen.empirical.audit import report
from lengthgen.empirical.audit.lawful import failures, require_known
from lengthgen.empirical.audit.loading import HEAD_DIM, HEADS, load, subjects
from lengthgen.empirical.audit.models.audit import STEPS, audit_model
from lengthgen.empirical.audit.models.configs import PREFIX, load_model
from lengthgen.empirical.audit.models.own import own_model
from lengthgen.empirical.audit.models.runner import Subject as Model
from lengthgen.empirical.audit.report import DTYPES, settings
from lengthgen.empirical.audit.rules import ORDER
from lengthgen.empirical.audit.source import source_of
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.empirical.experiment.protocol import AUDITED
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import parse_json
from lengthgen.infrastructure.settings import Range
from lengthgen.infrastructure.userfile import load_object
from lengthgen.progress import Progress
from lengthgen.theory.encodings.own import is_file

FARTHEST = 10_000_000
"""Largest last position: beyond it float32 runs out of integers, and tables out of memory."""
WIDTH = Range(1, 2_048)
"""Range of heads x head_dim: the memory of an audit grows with it, to 1.6 GB."""
SIZES = {
    "heads": AUDITED,
    "head_dim": AUDITED,
    "width": WIDTH,
    "layers": Range(1, 64),
    "length": Range(1, 50_000),
    "trained_length": Range(1, FARTHEST),
    "buckets": Range(1, 1_024),
    "longest": Range(1, 10_000),
}
"""Ranges of those parameters of the project's encodings that set the size of a table."""


LONGEST_FIELD = 20_000
"""Most characters of the value of a field that is set."""


def audit(
    encoding: Any,
    *,
    dtypes: Sequence[str] = ("float64", "float32", "bfloat16", "float16"),
    claims: Iterable[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    other: Mapping[str, Any] | None = None,
    to: int = 1_000_000,
    budget: float | None = None,
    heads: int = HEADS,
    head_dim: int = HEAD_DIM,
    device: str = "cpu",
    fields: Mapping[str, Any] | None = None,
    fail_on: str = "error",
    allow: Iterable[str] = (),
) -> Answer:
    """Test the laws of a position encoding, or of a whole model, by dtype, position and call pattern.

        audit("rotary", parameters={"base": 500_000.0}, to=100_000)["holds"]

    Args:
        encoding: a module, function, factory or model, as in `assert_lawful`; or the name of an encoding;
            path/to/file.py:object (the file is run); hf:MODEL, a model of transformers by its type, its class or its
            config.json.
        dtypes: dtypes of inputs.
        claims: claims to test instead of those that the encoding makes.
        parameters: parameters of the encoding.
        other: parameters of the second instance, with which it is compared.
        to: last position, at most FARTHEST.
        budget: largest error of the relative law, instead of the derived one.
        heads: number of heads of queries and keys.
        head_dim: width of each head; heads x head_dim is in WIDTH.
        device: cpu or cuda; whole models are audited on the CPU.
        fields: changed fields of the configuration of an hf: model.
        fail_on: least severity of a finding with which `holds` is False: error, warning or note.
        allow: rules whose findings do not count for `holds`.

    Returns:
        encoding, device, fail_on, allow, holds, and audits: one for each way in which the encoding acts, with
        `findings`, and with `source`, the file and line of its code.

    Raises:
        AuditError, EncodingError: the request cannot be audited.
        BackendError: the device does not exist.
    """
    named = isinstance(encoding, str)
    text = encoding if named else str(getattr(encoding, "__name__", type(encoding).__name__))
    unknown = [name for name in dtypes if name not in DTYPES]
    if unknown:
        raise AuditError(f"unknown dtype '{unknown[0]}': choose among {', '.join(DTYPES)}")
    if len(set(dtypes)) < len(dtypes):
        raise AuditError("a dtype is given twice")
    if not 1 <= to <= FARTHEST:
        raise AuditError(f"the last position must be within 1..{FARTHEST}, not {to}")
    if budget is not None and not 0 <= budget < math.inf:
        raise AuditError(f"the budget must be a finite number >= 0, not {budget}")
    allowed = require_known(fail_on, allow)
    Backend(device).require()
    requested, instance, second = (dict(given or {}) for given in (fields, parameters, other))
    if requested and not text.startswith(PREFIX):
        raise AuditError("--set changes fields of the configuration of an hf: model; use --parameters for an encoding")
    for given in (instance, second):
        _require_sizes({"heads": heads, "head_dim": head_dim} | (given if named and not is_file(text) else {}))
    model = _model(text, requested) if named else own_model(encoding, text)
    if model is not None:
        if instance or second or claims is not None or device != "cpu":
            raise AuditError(
                f"'{text}' is a whole model: --parameters, --other, --claims and --device are for encodings"
            )
        progress = Progress(f"audit of {model.name}", len(STEPS) + 1, "parts")
        audits = audit_model(model, requested=requested, dtypes=dtypes, to=to, budget=budget, on_step=progress.step)
        made = model.build()
        rotary = next((part for part in made.modules() if "Rotary" in type(part).__name__), made)
        for result in audits:
            result["source"] = source_of(rotary if result["kind"] == "rotate" else made, text)
    else:
        audits = []
        options: dict[str, Any] = {
            "claims": claims,
            "parameters": instance,
            "other": second or None,
            "heads": heads,
            "head_dim": head_dim,
        }
        for subject in load(text, **options) if named else subjects(encoding, name=text, **options):
            progress = Progress(f"audit of {subject.name}", 1 + len(settings(subject, dtypes)), "parts")
            result = report.audit(subject, dtypes=dtypes, to=to, budget=budget, device=device, on_step=progress.step)
            audits.append(result | {"source": source_of(subject.instance(), text)})
    holds = not any(failures(result, fail_on, allowed) for result in audits)
    counts = Counter(finding["severity"] for result in audits for finding in result["findings"])
    says = ", ".join(f"{counts[severity]} of severity {severity}" for severity in ORDER if counts[severity])
    answer = {
        "encoding": text, "device": device, "audits": audits, "fail_on": fail_on, "allow": allowed, "holds": holds
    }  # fmt: skip
    return Answer(answer, f"{text} {'holds' if holds else 'fails'}; findings: {says or 'none'}")


def _model(encoding: str, requested: Mapping[str, Any]) -> Model | None:
    """Whole model that the text names; None if it names an encoding."""
    if encoding.startswith(PREFIX):
        return load_model(encoding, requested)
    if not is_file(encoding):
        return None
    path, _, name = encoding.rpartition(":")
    loaded = load_object(encoding, what="encoding", error=AuditError)
    return own_model(loaded, name, source=f"runpy.run_path({path!r})[{name!r}]")


def parse_fields(texts: Sequence[str]) -> dict[str, Any]:
    """Return the fields of ["rope_type=yarn", "factor=4"]: values as JSON if they read as such, else text.

    Raises:
        AuditError: a text is not FIELD=VALUE, a field is given twice, a value is very long, or begins as JSON and is
            none.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (equals and name and value):
            raise AuditError(f"'{text:.100}' is not FIELD=VALUE")
        if name in values:
            raise AuditError(f"'{name:.100}' is given twice")
        if len(value) > LONGEST_FIELD:
            raise AuditError(
                f"the value of '{name:.100}' has {len(value):,} characters; at most {LONGEST_FIELD:,} are read"
            )
        try:
            values[name] = parse_json(value.encode("utf-8", "surrogateescape"), Path(name))
        except LengthgenError as error:
            if value.startswith(("[", "{", '"')):
                raise AuditError(f"the value of {error}") from None
            values[name] = {"True": True, "False": False, "None": None}.get(value, value)
    return values


def _require_sizes(parameters: Mapping[str, Any]) -> None:
    """Raise AuditError if a size is out of its range."""
    numbers = {name: value for name, value in parameters.items() if name in SIZES and not isinstance(value, str)}
    for name, value in numbers.items():
        if refusal := SIZES[name].refusal(value):
            raise AuditError(f"{name} = {value} {refusal}")
    width = numbers.get("heads", 1) * numbers.get("head_dim", 1)
    if refusal := WIDTH.refusal(width):
        raise AuditError(f"heads x head_dim = {width} {refusal}; use fewer heads, one is enough")


def parse_parameters(text: str) -> dict[str, Any]:
    """Return the parameters of "base=10000,layout=halves": numbers and truth values if they read as such, else text.

    Raises:
        AuditError: a part is not NAME=VALUE, a name is given twice, or a number is not finite or very long.
    """
    values: dict[str, Any] = {}
    for part in filter(None, (item.strip() for item in text.split(","))):
        name, equals, value = (item.strip() for item in part.partition("="))
        if not (equals and name and value):
            raise AuditError(f"'{part:.100}' is not NAME=VALUE")
        if name in values:
            raise AuditError(f"'{name:.100}' is given twice")
        values[name] = _value(value, part)
    return values


def _value(text: str, part: str) -> bool | int | float | str:
    """Return the value of one parameter."""
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        raise AuditError(f"'{part}' is no finite number")
    value = read_value(text)
    if (value == text and NUMBER.fullmatch(text)) or (isinstance(value, float) and math.isinf(value)):
        raise AuditError(f"'{part:.100}' is a number too long or too large to be read")
    return value
