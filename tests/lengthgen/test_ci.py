"""Reports of an audit for continuous integration can be read, whatever names the user's code has."""

import json
from xml.etree import ElementTree

import pytest

from lengthgen.ci import write_report

NAME = "we\udcff\x01\x1b[31m <&\"'\ufffe]]>\n.py:mine"
READABLE = "we\\udcff\\x01\\x1b[31m <&\"'\\ufffe]]>\n.py:mine"


def answer(severity):
    finding = {
        "rule": "positions-rounded", "severity": severity, "says": NAME, "mend": NAME, "reproduction": NAME,
        "first": None, "numbers": {},
    }  # fmt: skip
    return {"encoding": NAME, "audits": [{"subject": NAME, "findings": [finding]}]}


@pytest.mark.parametrize(("severity", "element"), [("error", "failure"), ("note", "system-out")])
def test_junit_is_xml_with_the_names_escaped(tmp_path, severity, element):
    write_report(answer(severity), tmp_path / "report.xml")
    suites = ElementTree.parse(tmp_path / "report.xml").getroot()
    [case] = suites.iter("testcase")
    assert suites.get("name") == suites[0].get("name") == case.get("classname") == READABLE
    assert case.find(element).text == "\n".join([READABLE] * 3)


def test_sarif_is_json_with_the_names_as_they_are(tmp_path):
    write_report(answer("error"), tmp_path / "report.sarif")
    [result] = json.loads((tmp_path / "report.sarif").read_bytes())["runs"][0]["results"]
    assert result["properties"]["reproduction"] == NAME
