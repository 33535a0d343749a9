"""`lengthgen encodings`, `verify FILE` and `verify --lattice` as a user meets them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OWN = """
import sympy as sp
from theory.encodings.encoding import Encoding, Law, Recovery
c = sp.Symbol("c", positive=True)
linear = Encoding(name="linear", title="linear", arxiv="", bias=lambda j, i, n: -c * (j - i), laws=tuple(Law))
crossed = Encoding(name="crossed", title="crossed", arxiv="", bias=lambda j, i, n: -c * i * j, laws=(Law.RELATIVE,))
"""


def run(*arguments, cache):
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "lengthgen", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=cache)


def test_the_matrix_of_named_encodings(tmp_path):
    done = run("encodings", "nope", "alibi", "hope", "--json", cache=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["encodings"]}
    assert [rows[name]["far_field"] for name in rows] == ["no effect", "falls exponentially", "logit to 0, all alike"]
    assert [rows[name]["causal_only"] for name in rows] == [False, False, True]
    assert rows["alibi"]["defined_for"] == "every position"


def test_an_unknown_encoding_is_one_line_with_the_nearest(tmp_path):
    done = run("encodings", "rotory", cache=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: unknown encoding 'rotory': did you mean rotary?\n"


def test_an_encoding_of_ones_own_is_verified(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    done = run("verify", f"{path}:linear", cache=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "linear: relative holds: both engines find the two sides identical" in done.stdout
    done = run("verify", path, "--json", cache=tmp_path)
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert not answer["holds"]
    (failed,) = [declaration for declaration in answer["declared"] if not declaration["holds"]]
    assert (failed["encoding"], failed["what"]) == ("crossed", "relative")
    assert "a shift of key 0 and query D by s changes the score by" in failed["reason"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("verify", "nowhere.py"), "Python file 'nowhere.py' does not exist"),
        (("verify", "nowhere.py", "grape-1"), "nowhere.py is a file of your own"),
        (("encodings", "nowhere.py:mine"), "encoding file 'nowhere.py' does not exist"),
    ],
)
def test_bad_input_is_one_line(tmp_path, arguments, reason):
    done = run(*arguments, cache=tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr and done.stderr.count("\n") == 1


def test_the_lattice_is_decided_and_drawn(tmp_path):
    done = run("verify", "--lattice", "--out", tmp_path / "figures", "--json", cache=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert {edge["verdict"] for edge in answer["lattice"]} <= {"verified", "corrected"}
    kinds = {(edge["contains"], edge["contained"]): edge["kind"] for edge in answer["lattice"]}
    assert kinds["fox", "alibi"] == "exact" and kinds["t5", "alibi"] == "impossible"
    assert all(Path(path).stat().st_size for path in answer["figure"])
