"""The page "What you can rely on": every row names its test, and the rows that no other test shows."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.empirical.experiment.test_run import TASK

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "reliability.md"
ASK = """
import contextlib, shlex, sys
from lengthgen.cli import main

for line in sys.stdin.read().splitlines():
    sys.argv = ["lengthgen", *shlex.split(line)]
    with contextlib.suppress(SystemExit):
        main()
"""
"""Ask several commands in one process: its start takes longest."""
COMMANDS = """
src parity --scales 1-4 --json
lrc '1 if j - i < 3 else 0' --scales 2,5 --json
predict own.py:task --encoding rope --train 1-2 --test 1-4 --json
language '(ab)*' --json
train parity --encoding ipe --format aligned --train 1-2 --test 1-3 --profile smoke --json
""".strip()
TRAP = "open('trap', 'w').close()"
SETTINGS = {
    "PYTHONHASHSEED": "7",
    "OMP_NUM_THREADS": "2",
    "LC_ALL": "tr_TR.UTF-8",
    "TZ": "Asia/Kathmandu",
    "COLUMNS": "40",
}


def furnish(folder):
    """Lay the user's file in the working folder, and files of the names of libraries, tasks and protocols."""
    (folder / "own.py").write_text(TASK.format(changed=9))
    for name in ("numpy", "sympy", "task", "conftest", "sitecustomize", "usercustomize", "lengthgen", "parity"):
        (folder / f"{name}.py").write_text(TRAP, encoding="utf-8")
    (folder / "parity.toml").write_text(TRAP, encoding="utf-8")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Folder in which another process was asked the commands under other settings, and what it printed."""
    folder = tmp_path_factory.mktemp("ünï cødé")
    furnish(folder)
    environment = SETTINGS | {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder)}
    command = [sys.executable, "-P", "-c", ASK]
    done = subprocess.run(command, cwd=folder, env=environment, input=COMMANDS, stdout=-1, encoding="utf-8", check=True)
    return folder, done.stdout


def rows(text):
    """Yield the rows of tables whose last column names tests, without their heads."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[-1] != "test":
            yield cells


def test_every_row_names_tests_that_exist():
    named = [(row[0], re.findall(r"`([\w/]+\.py)::(\w+)`", row[-1])) for row in rows(PAGE.read_text(encoding="utf-8"))]
    assert len(named) > 25
    for sentence, tests in named:
        assert tests, f"no test: {sentence}"
        for file, name in tests:
            assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file}::{name}: {sentence}"


def answers(text):
    """JSON answers that follow one another, without their times."""
    decoder = json.JSONDecoder(object_hook=lambda answer: {key: answer[key] for key in answer if key != "seconds"})
    while text := text.strip():
        answer, end = decoder.raw_decode(text)
        yield answer
        text = text[end:]


def test_threads_hash_seed_locale_and_folder_change_no_answer(elsewhere, run, trained_here, tmp_path, monkeypatch):
    there, printed = elsewhere
    furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    here = [run(*shlex.split(command))[1] for command in COMMANDS.splitlines()]
    assert [answer for text in here for answer in answers(text)] == [*answers(printed)]
    assert all(here)
    for name in ("metrics.parquet", "checkpoint.safetensors"):
        [made_here], [made_there] = (list(folder.glob(f"out/runs/*/{name}")) for folder in (tmp_path, there))
        assert made_here.read_bytes() == made_there.read_bytes()


def test_no_file_but_a_named_one_is_run(elsewhere, mine, answer):
    assert not (elsewhere[0] / "trap").exists()
    mine("import beside_mine", TASK.format(changed=9))
    Path("beside_mine.py").write_text(TRAP, encoding="utf-8")
    answer("predict", "mine.py:task", "--train", "1-2", "--test", "1-3")
    assert Path("trap").exists(), "a module that the named file imports is run"
