"""Findings of an audit for continuous integration: SARIF 2.1.0 and JUnit XML."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from empirical.audit.rules import RULES
from empirical.audit.subject import AuditError
from theory.system.errors import writable
from theory.system.files import require_writable, write_bytes

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


def sarif(answer: Mapping[str, Any]) -> str:
    """Findings as SARIF; the location is the file that was audited, or the name of the model."""
    findings = [(audit["subject"], finding) for audit in answer["audits"] for finding in audit["findings"]]
    used = list(dict.fromkeys(finding["rule"] for _, finding in findings))
    uri = str(answer["encoding"]).partition(".py:")[0] + (".py" if ".py:" in str(answer["encoding"]) else "")
    results = [
        {
            "ruleId": finding["rule"],
            "level": finding["severity"],
            "message": {"text": f"{subject}: {finding['says']}. Mend: {finding['mend']}"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}}],
            "properties": {
                "first": finding["first"],
                "numbers": finding["numbers"],
                "reproduction": finding["reproduction"],
            },
        }
        for subject, finding in findings
    ]
    rules = [
        {
            "id": name,
            "shortDescription": {"text": RULES[name].law},
            "help": {"text": RULES[name].mend},
            "defaultConfiguration": {"level": RULES[name].severity.value},
        }
        for name in used
    ]
    driver = {"name": "lengthgen audit", "rules": rules}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(document, indent=1) + "\n"


def junit(answer: Mapping[str, Any]) -> str:
    """Findings as JUnit: a suite for each audited part, a failing case for each error or warning."""
    suites = ElementTree.Element("testsuites", name=str(answer["encoding"]))
    for audit in answer["audits"]:
        cases = [(finding["rule"], finding) for finding in audit["findings"]] or [("all laws", None)]
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
