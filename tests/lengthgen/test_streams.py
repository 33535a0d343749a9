"""Whatever is done to the standard streams, a command ends without a traceback and with the status that is usual."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PATIENCE

ROOT = Path(__file__).parents[2]
GONE = "exec {gone}> >(:); wait $!; "
"""Line of bash that opens a pipe whose reader has gone."""


def lengthgen(arguments, before="", **environment):
    """Run the command in a line of bash; return (exit status, stdout, stderr)."""
    done = subprocess.run(
        ["bash", "-c", f"{before}{sys.executable} -m lengthgen {arguments}"],
        cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arguments", ["tasks", "tasks --json", "--help"])
def test_an_answer_that_cannot_be_written_is_one_line(arguments):
    why = "error: the answer cannot be written to stdout: No space left on device\n"
    assert lengthgen(f"{arguments} >/dev/full") == (2, "", why)


@pytest.mark.parametrize("arguments", ["tasks", "tasks --json", "--help"])
def test_a_pipe_that_is_closed_early_ends_the_command_silently(arguments):
    assert lengthgen(f"{arguments} >&$gone", GONE) == (141, "", "")


def test_a_closed_stdout_is_reported_before_the_work():
    why = "error: the answer cannot be written to stdout: it is closed; name a file, or /dev/null\n"
    assert lengthgen("tasks nonsense >&-") == (2, "", why)


@pytest.mark.parametrize("stderr", ["2>/dev/full", "2>&-", "2>&$gone"], ids=["full", "closed", "pipe"])
def test_an_error_that_cannot_be_printed_keeps_its_status(stderr):
    assert lengthgen(f"src nonsense {stderr}", GONE) == (2, "", "")


def test_without_stdin_and_stderr_the_answer_is_the_same_and_nothing_else_is_written(tmp_path):
    status, stdout, _ = lengthgen("verify rope-1 --json <&- 2>&-", XDG_CACHE_HOME=str(tmp_path))
    assert status == 0
    assert json.loads(stdout)["holds"]


def test_the_status_is_right_without_any_stream():
    assert lengthgen("tasks <&- >&- 2>&-") == (2, "", "")
