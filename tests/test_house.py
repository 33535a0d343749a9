"""Rules of the project: imports point one way, and all that needs no torch, or no exact solver, runs without it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_imports_point_one_way():
    checked = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


WITHOUT = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
sys.argv = ["lengthgen", *{arguments}]
from lengthgen.cli import main
main()
"""


TRAINING = ("torch", "safetensors", "pyarrow")
SOLVERS = ("pysat", "flint", "ortools")


def without(absent, *arguments):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(absent=absent, arguments=list(arguments))],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("lrc", "1", "--scales", "4,8"),
        ("src", "copy", "--scales", "1-4"),
        ("predict", "copy", "--train", "1-2", "--test", "1-4"),
        ("verify", "rope"),
    ],
)
def test_theory_and_circuits_run_without_torch(arguments):
    done = without(TRAINING, *arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "copy"),
        ("sweep", "fig2"),
        ("conjecture", "fig2"),
        ("evaluate", "RUN"),
        ("relation", "RUN"),
        ("reproduce",),
        ("audit", "rotary"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_torch_the_message_says_at_once_what_to_install(arguments, tmp_path):
    out = () if arguments[0] == "audit" else ("--out", str(tmp_path / "out"))
    done = without(TRAINING, *arguments, *out)
    assert done.returncode == 2
    assert done.stderr == "error: this needs torch: install the extra with pip install 'lengthgen[train]'\n"
    assert not (tmp_path / "out").exists()


PROTOCOL = """
title = "One cell"
source = "this test"
train = [1, 2]
test = [1, 4]
cells = [{ tasks = ["parity"], formats = ["aligned"], encodings = ["ipe"] }]
"""


@pytest.mark.parametrize(
    "arguments",
    [("train", "parity", "--encoding", "ipe", "--train", "1-2", "--test", "1-4"), ("conjecture", "{protocol}")],
)
def test_training_runs_without_the_exact_solvers(arguments, tmp_path):
    """Training without the solvers can be carried to a computer that has torch and little else."""
    protocol = tmp_path / "one.toml"
    protocol.write_text(PROTOCOL)
    arguments = [argument.format(protocol=protocol) for argument in arguments]
    done = without(SOLVERS, *arguments, "--profile", "smoke", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
