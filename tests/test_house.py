"""Rules of the project: imports point one way, and all that needs no torch, or no exact solver, runs without it."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lengthgen.infrastructure.extras import how_to_install
from lengthgen.terminal.menu import COMMANDS

ROOT = Path(__file__).parents[1]
ROOMS = ("theory", "circuits", "empirical", "proofs_checks", "paper_figs")
"""Folders at the root: packages of lengthgen."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_imports_point_one_way():
    checked = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


BARE = re.compile(rf"(?:^|[\"'`;]|\\n)\s*(?:from|import) (?:{'|'.join(ROOMS)})(?:\.\w| import\b|\s*$)", re.MULTILINE)
"""Import of a module under a name without `lengthgen`."""


@pytest.mark.parametrize("room", ROOMS)
def test_a_module_under_a_bare_name_is_noticed(room: str, tmp_path: Path) -> None:
    """A module under two names would be two modules, each with classes of its own."""
    for code in (f"import {room}\n", f"from {room}.part import one\n", f"code = 'from {room}.part import one'\n"):
        assert BARE.search(code), code
    assert not BARE.search(f"from lengthgen import {room}\nfrom lengthgen.{room} import part  # from {room}\n")
    ruff = Path(sys.executable).parent / "ruff"
    if not ruff.exists():
        pytest.skip("ruff is not installed")
    (tmp_path / "bare.py").write_text(f"import {room}.part\nfrom {room} import one\n")
    command = [ruff, "check", "--no-cache", "--select", "TID251", "--config", ROOT / "pyproject.toml", tmp_path]
    done = subprocess.run([*command, "--output-format", "concise"], capture_output=True, text=True, check=False)
    assert done.stdout.count(f"import lengthgen.{room}") == 2, done.stdout + done.stderr


def test_no_module_is_imported_under_a_bare_name() -> None:
    folders = (*ROOMS, "lengthgen", "tests", "bench", "tools", "docs")
    files = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".ipynb")
    ]
    files += ROOT.glob("*.md")
    assert len(files) > 900
    bare = [str(path) for path in files if path != Path(__file__) and BARE.search(path.read_text(encoding="utf-8"))]
    assert bare == []


RUN = """
import contextlib, importlib.abc, io, json, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
{before}
from lengthgen.cli import main
done = []
for arguments in {commands}:
    sys.argv = ["lengthgen", *arguments]
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as ended:
            done.append((ended.code, errors.getvalue(), [*sys.modules]))
print(json.dumps(done))
"""


TRAINING = ("torch", "safetensors", "pyarrow")
SOLVERS = ("pysat", "flint", "ortools")
HEAVY = ("matplotlib", "networkx", "pandas", "scipy", "sympy", "torch")


SETTLE_HERE = """
from lengthgen.proofs_checks import ledger
from tests.lengthgen.settled_here import settled_here
ledger._run_in_parallel = settled_here
"""
"""Claims are settled in the process that lacks packages, as a worker would not."""
TRAIN_HERE = """
from lengthgen.empirical.experiment import sweep
from tests.pool_here import pool_here
sweep.pool = pool_here
"""


def run_in_one_process(commands: list[list[str]], absent: tuple[str, ...] = (), *, before: str = "") -> list[list]:
    """Exit code and stderr of each command, and all modules imported by then; the process lacks some packages."""
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(absent=absent, before=before, commands=commands)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])
    assert len(ended) == len(commands)
    return ended


def test_theory_and_circuits_run_without_torch_and_else_the_message_says_at_once_what_to_install(tmp_path):
    out = tmp_path / "out"
    works = [
        ["lrc", "1", "--scales", "4,8"],
        ["protocols"],
        ["src", "copy", "--scales", "1-4"],
        ["predict", "copy", "--train", "1-2", "--test", "1-4"],
        ["verify", "rope-1"],
    ]
    trains = [["train", "copy"], ["sweep", "fig2"], ["conjecture", "fig2"], ["evaluate", "RUN"], ["relation", "RUN"]]
    fails = [
        *([*command, "--out", str(out)] for command in (*trains, ["text"], ["modular-addition"], ["reproduce"])),
        ["audit", "rotary"],
    ]
    message = (
        "error: this needs torch: pip install torch --index-url https://download.pytorch.org/whl/cpu (the CPU build), "
        "then pip install '.[train]' in the clone of lengthgen\n"
    )
    ended = run_in_one_process([*fails, *works], TRAINING, before=SETTLE_HERE)
    for command, (code, errors, _) in zip([*fails, *works], ended, strict=True):
        assert (code == 0) if command in works else ([code, errors] == [2, message]), (command, errors)
    assert not out.exists()


@pytest.mark.parametrize("extra", PROJECT["optional-dependencies"])
def test_an_extra_is_installed_from_the_clone_as_the_project_is_on_no_index(extra):
    """The CPU build of torch comes first, as PyPI's for Linux brings CUDA."""
    commands = how_to_install(extra)
    assert f"pip install '.[{extra}]' in the clone" in commands
    needs_torch = any(needed.startswith("torch") for needed in PROJECT["optional-dependencies"][extra])
    assert ("torch --index-url https://download.pytorch.org/whl/cpu" in commands) == needs_torch


def test_no_message_names_the_project_as_if_an_index_had_it():
    sources = [path for name in (*ROOMS, "lengthgen") for path in (ROOT / name).rglob("*.py")]
    assert [path for path in sources if "lengthgen[" in path.read_text(encoding="utf-8")] == []


PROTOCOL = """
title = "One cell"
source = "this test"
train = [1, 2]
test = [1, 4]
cells = [{ tasks = ["parity"], formats = ["aligned"], encodings = ["ipe"] }]
[smoke]
seeds = 1
"""


def test_training_runs_without_the_exact_solvers_and_imports_neither_the_compiler_nor_pandas(tmp_path):
    """Training can be carried to a computer that has torch and little else; those imports take longer than it."""
    protocol = tmp_path / "one.toml"
    protocol.write_text(PROTOCOL)
    smoke = ["--profile", "smoke", "--out", str(tmp_path)]
    commands = [
        ["train", "parity", "--encoding", "ipe", "--train", "1-2", "--test", "1-4", *smoke],
        ["conjecture", str(protocol), *smoke],
    ]
    ended = run_in_one_process(commands, SOLVERS, before=TRAIN_HERE)
    for command, (code, errors, imported) in zip(commands, ended, strict=True):
        assert code == 0, (command, errors)
        assert not {"torch._dynamo", "torch._inductor", "pandas", *ROOMS} & {*imported}


def test_a_command_imports_no_heavy_package_that_it_does_not_need():
    """Such a command starts in less than half of the time."""
    expected = {command: [] for command in ("--help", "tasks", "src copy --scales 1-4")}
    expected["predict copy --train 1-2 --test 1-4"] = ["scipy", "sympy"]
    ended = run_in_one_process([command.split() for command in expected])
    heavy = [[name for name in HEAVY if name in imported] for _, _, imported in ended]
    assert dict(zip(expected, heavy, strict=True)) == expected
    help_modules = ended[0][-1]
    assert "lengthgen.terminal.menu" in help_modules
    commands = [
        name
        for name in help_modules
        if name.startswith(("lengthgen.questions", "lengthgen.circuits", "lengthgen.proofs_checks"))
    ]
    assert not commands, "help imports no command: it is there in a fifth of a second"


def test_the_help_of_a_command_imports_no_heavy_package():
    """Packages that compute are imported in functions, also in the module that has the options of a command."""
    commands = [[name, option] for name in COMMANDS for option in ("--help", "--wrong")]
    ended = run_in_one_process(commands)
    assert [code for code, _, _ in ended] == [0, 2] * len(COMMANDS)
    assert not {*HEAVY} & {*ended[-1][-1]}


def test_lrc_imports_sympy_and_nothing_else_that_takes_long():
    """An answer comes within a second, with sympy alone."""
    [(code, _, imported)] = run_in_one_process([["lrc", "0.5**(j-i)"]])
    assert code == 0
    assert [name for name in HEAVY if name in imported] == ["sympy"]
    assert not {"lengthgen.circuits", "lengthgen.paper_figs", "automata", "pysat", "pebble"} & {*imported}
