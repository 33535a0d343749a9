"""`lengthgen encodings`, `verify FILE` and `verify --lattice` as a user meets them."""

import json
from pathlib import Path

import pytest

OWN = """
import sympy as sp
from lengthgen.theory.encodings.encoding import DISTANCE_LAWS, Encoding, Law, Recovery
c = sp.Symbol("c", positive=True)
linear = Encoding(name="linear", title="linear", arxiv="", bias=lambda j, i, n: -c * (j - i), laws=DISTANCE_LAWS)
crossed = Encoding(name="crossed", title="crossed", arxiv="", bias=lambda j, i, n: -c * i * j, laws=(Law.RELATIVE,))
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_matrix_of_named_encodings(answer):
    rows = {row["name"]: row for row in answer("encodings", "nope", "alibi", "hope")["encodings"]}
    assert [rows[name]["far_field"] for name in rows] == ["no effect", "falls exponentially", "logit to 0, all alike"]
    assert [rows[name]["causal_only"] for name in rows] == [False, False, True]
    assert rows["alibi"]["defined_for"] == "every position"


def test_named_encodings_are_compared_each_with_each_other(answer):
    pairs = {(each["by"], each["of"]): each for each in answer("encodings", "xpos", "hope", "HoPE")["containments"]}
    assert {pair: each["holds"] for pair, each in pairs.items()} == {("xpos", "hope"): True, ("hope", "xpos"): False}
    assert pairs["xpos", "hope"]["claim"] == "containment-heads"
    assert [each["holds"] for each in answer("encodings", "rpe", "wavelet")["containments"]] == [True, False]


def test_an_unknown_encoding_is_one_line_with_the_nearest(run):
    assert run("encodings", "rotory") == (2, "", "error: unknown encoding 'rotory': did you mean rotary?\n")


def test_an_encoding_of_ones_own_is_verified(run):
    Path("mine.py").write_text(OWN, encoding="utf-8")
    code, out, err = run("verify", "mine.py:linear")
    assert code == 0, err
    assert "linear: relative holds: both engines find the two sides identical" in out
    code, out, _ = run("verify", "mine.py", "--json")
    assert code == 1
    answer = json.loads(out)
    assert not answer["holds"]
    (failed,) = [declaration for declaration in answer["declared"] if not declaration["holds"]]
    assert (failed["encoding"], failed["what"]) == ("crossed", "relative")
    assert "a shift of key 0 and query D by s changes the score by" in failed["reason"]


def test_encodings_without_formulas_are_named_beside_the_others(answer, run):
    Path("mine.py").write_text(OWN + 'bare = Encoding(name="bare", title="bare", module=object)\n', encoding="utf-8")
    shown = answer("encodings", "mine.py")
    assert [row["name"] for row in shown["encodings"]] == ["linear", "crossed"]
    assert [*shown["without_formulas"]] == ["bare"]
    code, out, _ = run("verify", "mine.py")
    assert code == 1 and "bare has no formulas: give its record" in " ".join(out.split())
    for command in ("encodings", "verify"):
        assert "'bare' has no formulas: give its record" in run(command, "mine.py:bare")[2]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("verify", "nowhere.py"), "Python file 'nowhere.py' does not exist"),
        (("verify", "nowhere.py", "grape-1"), "nowhere.py is a file of your own"),
        (("encodings", "nowhere.py:mine"), "encoding file 'nowhere.py' does not exist"),
    ],
)
def test_bad_input_is_one_line(run, arguments, reason):
    code, _, err = run(*arguments)
    assert code == 2
    assert reason in err and err.count("\n") == 1


@pytest.mark.usefixtures("claims_run_here")
def test_the_lattice_is_decided_and_drawn(answer):
    """Claims that another test of this test run settled are not run again."""
    output = answer("verify", "--lattice", "--out", "figures")
    assert {edge["verdict"] for edge in output["lattice"]} <= {"verified", "corrected"}
    kinds = {(edge["contains"], edge["contained"]): edge["kind"] for edge in output["lattice"]}
    assert kinds["fox", "alibi"] == "exact" and kinds["t5", "alibi"] == "impossible"
    assert all(Path(path).stat().st_size for path in output["figure"])
