"""Reports of an audit for continuous integration can be read, whatever names the user's code has."""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from lengthgen.questions.auditing import write_report, write_reproductions

NAME = "we\udcff\x01\x1b[31m <&\"'\ufffe]]>\n.py:mine"
READABLE = "we\\udcff\\x01\\x1b[31m <&\"'\\ufffe]]>\n.py:mine"


def answer(severity, **changed):
    finding = {
        "rule": "positions-rounded", "severity": severity, "says": NAME, "mend": NAME, "reproduction": NAME,
        "first": None, "numbers": {},
    }  # fmt: skip
    audits = [{"subject": NAME, "findings": [finding], "source": None}]
    return {"encoding": NAME, "allow": [], "audits": audits} | changed


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
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].isascii()


def test_the_program_says_what_it_does_not_show(tmp_path):
    unshown = answer("error")
    unshown["audits"][0]["findings"][0]["reproduction"] = None
    write_reproductions(unshown, tmp_path / "repro.py")
    text = (tmp_path / "repro.py").read_text(encoding="utf-8")
    assert "# No short program shows the error: we" in text
    compile(text, "repro.py", "exec")


def test_a_rule_that_is_allowed_does_not_fail(tmp_path):
    allowed = answer("error", allow=["positions-rounded"])
    write_report(allowed, tmp_path / "report.xml")
    assert ElementTree.parse(tmp_path / "report.xml").getroot()[0].get("failures") == "0"
    write_report(allowed, tmp_path / "report.sarif")
    assert json.loads((tmp_path / "report.sarif").read_bytes())["runs"][0]["results"][0]["level"] == "note"


def place(run, *arguments):
    """Relative address of the first finding, and the text of its line in the folder that has the file."""
    run("audit", *arguments, "--to", "300", "--report", "findings.sarif")
    [document] = json.loads(Path("findings.sarif").read_text(encoding="utf-8"))["runs"]
    for rule in document["tool"]["driver"]["rules"]:  # what uploads to GitHub require of a rule
        assert all(rule[name]["text"] for name in ("shortDescription", "fullDescription", "help"))
    location = document["results"][0]["locations"][0]["physicalLocation"]
    address = location["artifactLocation"]["uri"]
    assert re.fullmatch(r"[\w./%-]+", address)
    assert not address.startswith(("/", "."))
    file = next(file for folder in (".", *sys.path) if (file := Path(folder) / unquote(address)).is_file())
    return address, file.read_text(encoding="utf-8").splitlines()[location["region"]["startLine"] - 1]


MINE = """
import torch

def other(): pass

class Near:
    def other(self): pass

class Far:
    claims = ("relative", "distinct")

    def __call__(self, queries, keys):
        return -(queries[:, None] - keys).clamp(max=9).double()[None]

far = Far()
by_class_of_library = torch.nn.Threshold(0.0, 0.0)
by_class_of_library.forward = far.__call__
by_class_of_library.claims = Far.claims
"""


def test_sarif_has_the_file_and_the_line_of_the_class(run, mine):
    mine(MINE)
    assert place(run, "mine.py:Far", "--dtype", "float64") == ("mine.py", "class Far:")
    assert place(run, "mine.py:far", "--dtype", "float64") == ("mine.py", "class Far:")
    of_library = place(run, "mine.py:by_class_of_library", "--dtype", "float64")
    assert of_library == ("mine.py", "by_class_of_library = torch.nn.Threshold(0.0, 0.0)")


def test_sarif_of_a_model_of_a_library_is_a_path_among_its_packages(run, tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    address, line = place(run, "hf:llama", "--dtype", "float32")
    assert (address, line) == ("transformers/models/llama/modeling_llama.py", "class LlamaRotaryEmbedding(nn.Module):")


FAULTY = """
import torch
from beside import steps

TYPE = torch.bfloat16

def mine(q, k, positions):
    return [turned(x, positions.to(TYPE)) for x in (q, k)]

def turned(x, positions):
    angles = positions.to(x.dtype)[..., None] * steps(x.shape[-1])
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)
"""
BESIDE = """
import torch

def steps(width):
    return 0.01 ** torch.linspace(0, 1, width // 2, dtype=torch.float64)
"""


def test_reproductions_fail_in_a_fresh_process_while_the_fault_is_there(run, tmp_path, monkeypatch):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "mine.py").write_text(FAULTY, encoding="utf-8")
    (tmp_path / "code" / "beside.py").write_text(BESIDE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    audit = ("audit", "code/mine.py:mine", "--dtype", "float64", "--to", "600", "--repro", "shown/repro.py")
    status, out, _ = run(*audit)
    assert status == 1
    assert "reproductions of 1 of 1 errors and warnings written: shown/repro.py" in out
    assert "import runpy" not in out

    def reproduced():
        command = [sys.executable, "-I", str(tmp_path / "shown" / "repro.py")]
        ended = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
        assert not ended.stderr
        return ended.returncode, ended.stdout

    status, printed = reproduced()
    assert status == 1
    assert "test_positions_rounded_1 fails (error 1.0): error: positions agree with rounding to bfloat16" in printed
    (tmp_path / "code" / "mine.py").write_text(FAULTY.replace("bfloat16", "float64"), encoding="utf-8")
    assert reproduced() == (0, "0 of 1 fail\n")
    assert run(*audit)[0] == 0
    assert "def test" not in (tmp_path / "shown" / "repro.py").read_text(encoding="utf-8")
