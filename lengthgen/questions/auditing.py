"""Answer of `lengthgen audit`, and its findings as files: SARIF 2.1.0, JUnit XML, a program that reproduces them."""

import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from lengthgen.circuits.encoding_spec import NUMBER, read_value
from lengthgen.empirical.audit import report
from lengthgen.empirical.audit.lawful import failures, require_known
from lengthgen.empirical.audit.loading import HEAD_DIM, HEADS, load, subjects
from lengthgen.empirical.audit.models.audit import STEPS, audit_model
from lengthgen.empirical.audit.models.configs import PREFIX, load_model
from lengthgen.empirical.audit.models.whole import WholeModel, own_model
from lengthgen.empirical.audit.report import DTYPES, settings, source_of
from lengthgen.empirical.audit.rules import ORDER, RULES, Severity
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.empirical.experiment.protocol import AUDITED
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.errors import LengthgenError, one_line, writable
from lengthgen.infrastructure.files import parse_json, require_writable, write_bytes
from lengthgen.infrastructure.settings import Range
from lengthgen.infrastructure.userfile import load_object, split_file
from lengthgen.terminal.answers import Answer
from lengthgen.terminal.progress import Progress
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
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


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
        instance_of_model = model.build()
        rotary = next((part for part in instance_of_model.modules() if "Rotary" in type(part).__name__), None)
        for result in audits:
            result["source"] = source_of(rotary if rotary and result["kind"] == "rotate" else instance_of_model, text)
    else:
        audits = []
        made = partial(load, text) if named else partial(subjects, encoding, name=text)
        for subject in made(claims=claims, parameters=instance, other=second or None, heads=heads, head_dim=head_dim):
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


def _model(encoding: str, requested: Mapping[str, Any]) -> WholeModel | None:
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
    for name, value, _ in _assignments(texts, "FIELD=VALUE"):
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
    parts = filter(None, (part.strip() for part in text.split(",")))
    return {name: _value(value, text) for name, value, text in _assignments(parts, "NAME=VALUE")}


def _assignments(texts: Iterable[str], form: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and the whole of each NAME=VALUE. Raise AuditError if it is none, or a name is given twice."""
    given: set[str] = set()
    for text in texts:
        name, equals, value = (side.strip() for side in text.partition("="))
        if not (equals and name and value):
            raise AuditError(f"'{text:.100}' is not {form}")
        if name in given:
            raise AuditError(f"'{name:.100}' is given twice")
        given.add(name)
        yield name, value, text


def _value(text: str, part: str) -> bool | int | float | str:
    """Return the value of one parameter."""
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        raise AuditError(f"'{part}' is no finite number")
    value = read_value(text)
    if (value == text and NUMBER.fullmatch(text)) or (isinstance(value, float) and math.isinf(value)):
        raise AuditError(f"'{part:.100}' is a number too long or too large to be read")
    return value


def require_report(path: Path) -> None:
    """Check that a report may be written at this path, before the audit.

    Raises:
        AuditError: the ending of the path names no format.
        LengthgenError: no file can be written there.
    """
    if path.suffix not in (".sarif", ".xml"):
        raise AuditError(f"'{path}' names no format: end it with .sarif (SARIF) or .xml (JUnit)")
    require_writable(path)


def write_report(answer: Mapping[str, Any], path: Path) -> None:
    """Write all findings of an answer of `auditing.audit` in the format that the ending of the path names."""
    write_bytes(path, (sarif(answer) if path.suffix == ".sarif" else junit(answer)).encode())


def require_reproductions(path: Path) -> None:
    """Check that reproductions may be written at this path, before the audit; raises as `require_report`."""
    if path.suffix != ".py":
        raise AuditError(f"'{path}' is no Python file: end it with .py")
    require_writable(path)


def write_reproductions(answer: Mapping[str, Any], path: Path) -> None:
    """Write the reproductions of all errors and warnings as one Python file, which fails while one of them is there."""
    write_bytes(path, reproductions(answer, path).encode())


def by_reproduction(answer: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Errors and warnings of an answer that have a reproduction, and those that have none."""
    faults = [finding for _, finding in _findings(answer) if finding["severity"] != Severity.NOTE]
    with_one, without = ([fault for fault in faults if bool(fault["reproduction"]) is has] for has in (True, False))
    return with_one, without


def reproductions(answer: Mapping[str, Any], path: Path) -> str:
    """Text of the Python file at `path`: a function for each reproduction, which pytest takes for a test."""
    shown, missing = by_reproduction(answer)
    lines = [
        f"# Reproductions of errors and warnings of: lengthgen audit {one_line(answer['encoding'])}",
        "# Run this file by python or pytest: each function fails while what it shows is there.",
        *(f"# No short program shows the {_words(fault)}" for fault in missing),
        "",
        "import os",
        "import sys",
        "",
        "import torch",
        "",
    ]
    if own := split_file(answer["encoding"]):
        here = os.path.relpath(os.getcwd(), path.absolute().parent)
        lines += [
            "# The programs name the audited file as the audit did, and it imports the modules beside it.",
            f"os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), {here!r}))",
            f"sys.path.insert(0, os.path.abspath({os.path.dirname(own[0])!r}))",
            "",
        ]
    used, names = Counter[str](), []
    for finding in shown:
        used[finding["rule"]] += 1
        names.append(f"test_{finding['rule'].replace('-', '_')}_{used[finding['rule']]}")
        lines += [
            "",
            "@torch.no_grad()",
            f"def {names[-1]}():",
            f"    {_words(finding)!r}",
            indent(finding["reproduction"], "    "),
            "",
        ]
    lines += [
        "",
        'if __name__ == "__main__":',
        "    failing = 0",
        f"    for test in ({''.join(f'{name}, ' for name in names)}):",
        "        try:",
        "            test()",
        "        except AssertionError as error:",
        "            failing += 1",
        '            print(f"{test.__name__} fails (error {error}): {test.__doc__}")',
        f'    print(f"{{failing}} of {len(names)} fail")',
        "    sys.exit(1 if failing else 0)",
    ]
    return writable("\n".join(lines)) + "\n"


def _words(finding: Mapping[str, Any]) -> str:
    return one_line(f"{finding['severity']}: {finding['says']} ({finding['rule']})")


def _findings(answer: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each finding after the audit that has it; one of a rule that is allowed is a note."""
    for audit in answer["audits"]:
        for finding in audit["findings"]:
            allowed = finding["rule"] in answer["allow"]
            yield audit, {**finding, "severity": Severity.NOTE.value} if allowed else finding


def sarif(answer: Mapping[str, Any]) -> str:
    """Findings as SARIF, with what the uploads of GitHub ask for; the location is the code of what was audited."""
    findings = list(_findings(answer))
    results = [
        {
            "ruleId": finding["rule"],
            "level": finding["severity"],
            "message": {"text": f"{audit['subject']}: {finding['says']}. Mend: {finding['mend']}"},
            "locations": [{"physicalLocation": _location(answer, audit)}],
            "properties": {name: finding[name] for name in ("first", "numbers", "reproduction")},
        }
        for audit, finding in findings
    ]
    rules = [
        {
            "id": name,
            "shortDescription": {"text": RULES[name].law},
            "fullDescription": {"text": RULES[name].law},
            "help": {"text": RULES[name].mend},
            "defaultConfiguration": {"level": RULES[name].severity.value},
        }
        for name in dict.fromkeys(finding["rule"] for _, finding in findings)
    ]
    driver = {"name": "lengthgen audit", "rules": rules}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(document, indent=1) + "\n"


def _location(answer: Mapping[str, Any], audit: Mapping[str, Any]) -> dict[str, Any]:
    """Place of the audited code: a path below the installed packages, the current folder or one of `sys.path`.

    Uploads refuse an address with a scheme, such as hf:llama.
    """
    source = audit["source"] or {"file": answer["encoding"], "line": 1}
    path = Path(os.path.abspath(source["file"]))
    packages = [folder for folder in sys.path if Path(folder).name in ("site-packages", "dist-packages")]
    roots = [Path(os.path.abspath(folder)) for folder in (*packages, os.getcwd(), *sys.path, path.anchor)]
    relative = next(path.relative_to(root) for root in roots if path.is_relative_to(root))
    return {
        "artifactLocation": {"uri": quote(os.fsencode(relative.as_posix()))},
        "region": {"startLine": source["line"]},
    }


def junit(answer: Mapping[str, Any]) -> str:
    """Findings as JUnit: a suite for each audited part, a failing case for each error or warning."""
    suites = ElementTree.Element("testsuites", name=str(answer["encoding"]))
    for audit in answer["audits"]:
        findings = [finding for owner, finding in _findings(answer) if owner is audit]
        cases: list[tuple[str, Mapping[str, Any] | None]] = [(finding["rule"], finding) for finding in findings]
        cases = cases or [("all laws", None)]
        failing = sum(finding is not None and finding["severity"] != "note" for _, finding in cases)
        suite = ElementTree.SubElement(
            suites, "testsuite", name=audit["subject"], tests=str(len(cases)), failures=str(failing)
        )
        for name, finding in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=str(audit["subject"]), name=name)
            if finding is not None:
                kind = (
                    {"type": finding["severity"], "message": finding["says"]} if finding["severity"] != "note" else {}
                )
                shown = ElementTree.SubElement(case, "failure" if kind else "system-out", kind)
                shown.text = f"{finding['says']}\n{finding['mend']}\n{finding['reproduction'] or ''}"
    return writable(ElementTree.tostring(suites, encoding="unicode", xml_declaration=True)) + "\n"
