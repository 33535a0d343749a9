"""`lengthgen audit`: what it prints, and how it ends."""

import csv
import json
from inspect import signature
from pathlib import Path

import pytest

from lengthgen import assert_lawful
from lengthgen.questions import auditing
from lengthgen.questions.audit import audit as audit_command
from lengthgen.questions.auditing import parse_fields, parse_parameters
from tests.lengthgen.refusal import refused

EXAMPLES = Path(__file__).parents[1] / "empirical" / "examples" / "position_laws.py"
QUICK = ("--to", "3000", "--dtype", "bfloat16", "--heads", "2", "--head-dim", "16")


def test_a_sound_encoding_ends_with_0_and_plain_data(answer):
    output = answer("audit", "rotary", *QUICK)
    assert output["holds"] is True
    [audit] = output["audits"]
    assert (audit["subject"], audit["kind"], audit["last_position"]) == ("rope", "rotate", 3000)
    assert audit["settings"].keys() == {"bfloat16", "bfloat16, autocast"}
    assert audit["findings"] == []
    law = audit["settings"]["bfloat16"]["law"]
    assert law["decades"].keys() == {"0-9", "10-99", "100-999", "1000-9999"}
    assert law["first_beyond"] is None


def test_a_defect_ends_with_1_and_names_position_and_cause(run, told_of_every_piece):
    code, out, err = run("audit", f"{EXAMPLES}:positions_in_bfloat16", *QUICK)
    assert code == 1
    assert "positions agree with rounding to bfloat16: 257 is coded as 256 (positions-rounded; from 257 in" in out
    assert "507, 129" in out
    assert "2 of 3 parts, the last bfloat16" in err, "progress is told"
    code, out, _ = run("audit", f"{EXAMPLES}:positions_in_bfloat16", *QUICK, "--json")
    assert code == 1
    assert json.loads(out)["holds"] is False


def test_budget_claims_and_parameters_are_taken(answer, run):
    spec = f"{EXAMPLES}:angles_in_float32"
    code, out, _ = run("audit", spec, *QUICK[:2], "--dtype", "float32", *QUICK[4:], "--budget", "1e-6", "--json")
    assert code == 1
    assert json.loads(out)["audits"][0]["findings"][0]["first"]["float32"] < 100
    assert answer("audit", spec, *QUICK[:2], "--dtype", "float32", *QUICK[4:], "--budget", "1e-2")["holds"] is True
    claiming = answer("audit", f"{EXAMPLES}:base_grows_with_length", *QUICK, "--claims", "relative,distinct")
    assert claiming["audits"][0]["claims"] == ["distinct", "relative"]
    output = answer("audit", f"{EXAMPLES}:sound", *QUICK, "--parameters", "base=300", "--other", "base=7")
    assert output["audits"][0]["parameters"]["base"] == "300"
    assert output["audits"][0]["independence"]["other"] == {"base": 7}


def test_parameters_read_as_numbers_truth_values_or_words():
    parsed = parse_parameters(" base=10000, factor=1.5,layout=halves ,on=true")
    assert parsed == {"base": 10000, "factor": 1.5, "layout": "halves", "on": True}
    assert parse_parameters("") == {}


def test_fields_read_as_json_or_as_words():
    parsed = parse_fields(["rope_type=yarn", "factor=4", "alibi=True", "short_factor=[1, 2]"])
    assert parsed == {"rope_type": "yarn", "factor": 4, "alibi": True, "short_factor": [1, 2]}


def test_a_rule_that_is_allowed_ends_with_0(run):
    audit = ("audit", f"{EXAMPLES}:positions_in_bfloat16", *QUICK)
    code, out, _ = run(*audit, "--allow", "positions-rounded")
    assert (code, "error, allowed: positions agree" in out) == (0, True)
    assert run(*audit, "--allow", "batch")[0] == 1


def test_the_command_the_function_and_the_assertion_fail_on_the_same():
    functions = (audit_command, auditing.audit, assert_lawful)
    assert {signature(function).parameters["fail_on"].default for function in functions} == {"error"}


def test_a_figure_has_the_error_of_each_dtype_by_position(run, tmp_path):
    spec = f"{EXAMPLES}:positions_in_bfloat16"
    output = run("audit", spec, "--to", "3000", "--dtype", "float64,bfloat16", "--draw", str(tmp_path), "--json")[1]
    files = {Path(path).suffix: Path(path) for path in json.loads(output)["figure"]}
    drawn = files[".svg"].read_text(encoding="utf-8")
    for line in ("float64", "bfloat16", "bfloat16, autocast", "budget float64", "budget bfloat16"):
        assert f'id="{line}"' in drawn
    assert files[".png"].read_bytes().startswith(b"\x89PNG")
    with files[".csv"].open(encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row["setting"] == "float64"]
    beyond = [int(row["position"]) for row in rows if float(row["error"]) > float(row["budget"])]
    assert 257 <= min(beyond) < 300
    assert [int(row["position"]) for row in rows] == sorted({int(row["position"]) for row in rows})


MISTAKES = {
    "unknown rule": (("audit", "rotary", "--allow", "positions-roundd"), "did you mean positions-rounded"),
    "reproduction that is no Python file": (("audit", "rotary", "--repro", "repro.txt"), "end it with .py"),
    "no file": (("audit", "nowhere.py:x"), "does not exist"),
    "nothing to audit": (("audit", "nope"), "does nothing with positions"),
    "deep field": (("audit", "hf:llama", "--set", "x=" + "[" * 9_000), "value of x is not JSON: maximum recursion"),
    "field that is long": (("audit", "hf:llama", "--set", "x=" + "1" * 30_000), "at most 20,000 are read"),
    "field that is no JSON": (("audit", "hf:llama", "--set", "x={y: 1}"), "the value of x is not JSON: Expecting"),
    "no value": (("audit", "rotary", "--parameters", "base"), "is not NAME=VALUE"),
    "no position": (("audit", "rotary", "--to", "0"), "must be within 1..10000000"),
    "odd head": (("audit", "rotary", "--head-dim", "7"), "must be a positive even number"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_line_that_says_what(run, name):
    arguments, says = MISTAKES[name]
    refused(run(*arguments), says, longest=2000)
