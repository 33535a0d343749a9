"""Findings of an audit as files: SARIF 2.1.0, JUnit XML, and a Python file that reproduces them."""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from lengthgen.empirical.audit.rules import RULES, Severity
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.infrastructure.errors import one_line, writable
from lengthgen.infrastructure.files import require_writable, write_bytes
from lengthgen.infrastructure.userfile import split_file

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
WRITERS = (".sarif", ".xml")


def require_report(path: Path) -> None:
    """Check that a report may be written at this path, before the audit.

    Raises:
        AuditError: the ending of the path names no format.
        LengthgenError: no file can be written there.
    """
    if path.suffix not in WRITERS:
        raise AuditError(f"'{path}' names no format: end it with .sarif (SARIF) or .xml (JUnit)")
    require_writable(path)


def write_report(answer: Mapping[str, Any], path: Path) -> None:
    """Write all findings of an answer of `auditing.audit` in the format that the ending of the path names."""
    require_report(path)
    write_bytes(path, (sarif(answer) if path.suffix == ".sarif" else junit(answer)).encode())


def require_reproductions(path: Path) -> None:
    """Check that reproductions may be written at this path, before the audit; raises as `require_report`."""
    if path.suffix != ".py":
        raise AuditError(f"'{path}' is no Python file: end it with .py")
    require_writable(path)


def write_reproductions(answer: Mapping[str, Any], path: Path) -> None:
    """Write the reproductions of all errors and warnings as one Python file, which fails while one of them is there."""
    require_reproductions(path)
    write_bytes(path, reproductions(answer, path).encode())


def by_reproduction(answer: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Errors and warnings of an answer that have a reproduction, and those that have none."""
    faults = [finding for _, finding in _findings(answer) if finding["severity"] != Severity.NOTE]
    return [fault for fault in faults if fault["reproduction"]], [
        fault for fault in faults if not fault["reproduction"]
    ]


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
    used = list(dict.fromkeys(finding["rule"] for _, finding in findings))
    results = [
        {
            "ruleId": finding["rule"],
            "level": finding["severity"],
            "message": {"text": f"{audit['subject']}: {finding['says']}. Mend: {finding['mend']}"},
            "locations": [{"physicalLocation": _location(answer, audit)}],
            "properties": {
                "first": finding["first"],
                "numbers": finding["numbers"],
                "reproduction": finding["reproduction"],
            },
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
        for name in used
    ]
    driver = {"name": "lengthgen audit", "rules": rules}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(document, indent=1) + "\n"


def _location(answer: Mapping[str, Any], audit: Mapping[str, Any]) -> dict[str, Any]:
    """Place of the audited code. Uploads refuse an address with a scheme, such as hf:llama, so it is a relative path.

    The path starts in the folder of installed packages, in the current folder or in one that Python imports from.
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
            if finding is None:
                continue
            text = f"{finding['says']}\n{finding['mend']}\n{finding['reproduction'] or ''}"
            if finding["severity"] == "note":
                ElementTree.SubElement(case, "system-out").text = text
            else:
                ElementTree.SubElement(case, "failure", type=finding["severity"], message=finding["says"]).text = text
    return writable(ElementTree.tostring(suites, encoding="unicode", xml_declaration=True)) + "\n"
