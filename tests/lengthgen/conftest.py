"""Calling the command as a user does."""

import json
import sys

import pytest

from lengthgen.cli import main


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
