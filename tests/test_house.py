"""The house's own rules: imports point one way, and what needs no torch runs without it."""

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


WITHOUT_TRAINING = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "safetensors", "pyarrow"):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
sys.argv = ["lengthgen", *{arguments}]
from lengthgen.cli import main
main()
"""


def without_training(*arguments):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_TRAINING.format(arguments=list(arguments))],
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
    done = without_training(*arguments)
    assert done.returncode == 0, done.stderr


def test_training_without_torch_says_what_to_install(tmp_path):
    done = without_training("train", "copy", "--profile", "smoke", "--out", str(tmp_path))
    assert done.returncode == 2
    [line] = [line for line in done.stderr.splitlines() if not line.startswith("training: ")]
    assert line == "error: this needs torch: install the extra with pip install 'lengthgen[train]'"
