"""Calling the command as a user does."""

import json
import sys

import pytest

from lengthgen.cli import main
from lengthgen.empirical.experiment import sweep
from lengthgen.proofs_checks import ledger
from lengthgen.terminal import progress
from tests.attack.watchdog import warm
from tests.lengthgen.settled_here import settled_here
from tests.pool_here import pool_here


@pytest.fixture
def run(monkeypatch, capsys):
    """Function that calls the command; returns (exit code, stdout, stderr)."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["lengthgen", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return call


@pytest.fixture
def answer(run):
    """Function that calls the command with --json, which must succeed; returns its answer."""

    def ask(*arguments):
        code, out, err = run(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return ask


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Function that writes the lines of a user's own file, mine.py, in the working folder of the test."""
    monkeypatch.chdir(tmp_path)

    def write(*lines):
        (tmp_path / "mine.py").write_text("\n".join(lines) + "\n", encoding="utf-8")

    return write


@pytest.fixture
def claims_run_here(monkeypatch):
    """Have claims run and stored in this process, for tests of what is then answered: a worker takes 1 s to start."""
    monkeypatch.setattr(ledger, "_run_in_parallel", settled_here)


@pytest.fixture(scope="session")
def warmed():
    """Everything is imported, so that forks find it imported."""
    warm()


@pytest.fixture
def told_of_every_piece(monkeypatch):
    """Have progress told as on a terminal: a line for every piece."""
    monkeypatch.setattr(progress, "watched", lambda: True)


@pytest.fixture
def trained_here(monkeypatch):
    """Have sweeps train in this process, for tests of what is then answered: a worker takes 4 s to start."""
    monkeypatch.setattr(sweep, "pool", pool_here)


@pytest.fixture
def explored_here(monkeypatch):
    """Have the tasks of a report explored in this process."""
    monkeypatch.setattr(progress, "pool", pool_here)
