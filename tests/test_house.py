"""Rules of the project: imports point one way, and all that needs no torch, or no exact solver, runs without it."""

import json
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
import contextlib, importlib.abc, io, json, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from lengthgen.cli import main
done = []
for arguments in {commands}:
    sys.argv = ["lengthgen", *arguments]
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        try:
            main()
        except SystemExit as ended:
            done.append((ended.code, errors.getvalue()))
print(json.dumps(done))
"""


TRAINING = ("torch", "safetensors", "pyarrow")
SOLVERS = ("pysat", "flint", "ortools")


def without(absent: tuple[str, ...], *commands: list[str]) -> list[list]:
    """Exit code and stderr of each command, all run one after the other in one process that lacks some packages."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(absent=absent, commands=commands)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])
    assert len(ended) == len(commands)
    return ended


def test_theory_and_circuits_run_without_torch():
    commands = (
        ["lrc", "1", "--scales", "4,8"],
        ["src", "copy", "--scales", "1-4"],
        ["predict", "copy", "--train", "1-2", "--test", "1-4"],
        ["verify", "rope-1"],
    )
    for command, (code, errors) in zip(commands, without(TRAINING, *commands), strict=True):
        assert code == 0, (command, errors)


def test_without_torch_the_message_says_at_once_what_to_install(tmp_path):
    out = tmp_path / "out"
    commands = (
        ["train", "copy"],
        ["sweep", "fig2"],
        ["conjecture", "fig2"],
        ["evaluate", "RUN"],
        ["relation", "RUN"],
        ["reproduce"],
        ["audit", "rotary"],
    )
    ended = without(TRAINING, *(c if c[0] == "audit" else [*c, "--out", str(out)] for c in commands))
    message = "error: this needs torch: install the extra with pip install 'lengthgen[train]'\n"
    assert {command[0]: end for command, end in zip(commands, ended, strict=True)} == {
        command[0]: [2, message] for command in commands
    }
    assert not out.exists()


PROTOCOL = """
title = "One cell"
source = "this test"
train = [1, 2]
test = [1, 4]
cells = [{ tasks = ["parity"], formats = ["aligned"], encodings = ["ipe"] }]
[smoke]
seeds = 1
"""


def test_training_runs_without_the_exact_solvers(tmp_path):
    """Training without the solvers can be carried to a computer that has torch and little else."""
    protocol = tmp_path / "one.toml"
    protocol.write_text(PROTOCOL)
    commands = (
        ["train", "parity", "--encoding", "ipe", "--train", "1-2", "--test", "1-4"],
        ["conjecture", str(protocol)],
    )
    smoke = ["--profile", "smoke", "--out", str(tmp_path)]
    for command, (code, errors) in zip(commands, without(SOLVERS, *([*c, *smoke] for c in commands)), strict=True):
        assert code == 0, (command, errors)


HEAVY = ("matplotlib", "networkx", "pandas", "scipy", "sympy", "torch")


@pytest.mark.parametrize(
    ("command", "heavy"),
    [("--help", ()), ("tasks", ()), ("src copy --scales 1-4", ()), ("predict copy --train 1-2 --test 1-4", ("sympy",))],
)
def test_a_command_imports_no_heavy_package_that_it_does_not_need(command, heavy):
    """Such a command starts in less than half of the time."""
    code = (
        f"import sys; from lengthgen.cli import click_app; click_app({command.split()}, standalone_mode=False); "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str([*heavy])


def test_a_training_imports_neither_the_compiler_nor_pandas(tmp_path):
    """They take longer than a small training."""
    arguments = ["train", "parity", "--train", "1-2", "--test", "1-3", "--profile", "smoke", "--out", str(tmp_path)]
    code = (
        f"import sys; from lengthgen.cli import click_app; click_app({arguments}, standalone_mode=False); "
        "print([name for name in ('torch._dynamo', 'torch._inductor', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
