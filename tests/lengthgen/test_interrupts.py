"""Ctrl-C ends a command with one line and status 130, whatever it meets."""

import subprocess
import sys
import textwrap

import pytest

CALLED = """
import sys, time
from lengthgen import cli

class Dropping:
    def __del__(self):
        raise KeyboardInterrupt

def work(**options):
{work}

cli.app = work
sys.argv = ["lengthgen"]
cli.main()
"""


@pytest.mark.parametrize(
    "work",
    ["raise KeyboardInterrupt", "Dropping(); time.sleep(60)", "exec('raise KeyboardInterrupt')"],
    ids=["at work", "where Python drops errors", "in code made from a string"],
)
def test_an_interrupt_is_one_line_and_its_status(tmp_path, work):
    # Only of a module does Python's own end depend on where the interrupt was met.
    (tmp_path / "called.py").write_text(CALLED.format(work=textwrap.indent(work, "    ")))
    done = subprocess.run(
        [sys.executable, "-m", "called"], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=50
    )
    assert done.returncode == 130
    assert done.stderr == "error: interrupted; run the same command again to go on\n"


def test_other_errors_that_python_drops_are_still_told(tmp_path):
    work = "import gc; gc.callbacks.append(lambda *_: 1 / 0); gc.collect(); gc.callbacks.clear()"
    (tmp_path / "called.py").write_text(CALLED.format(work=textwrap.indent(work, "    ")))
    done = subprocess.run([sys.executable, "-m", "called"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("code", ["0", "", "None", "'bye'"])
def test_a_user_s_sys_exit_is_an_error_and_not_the_command_s_status(tmp_path, code):
    (tmp_path / "called.py").write_text(CALLED.format(work=f"    sys.exit({code})"))
    done = subprocess.run([sys.executable, "-m", "called"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: your own code ended the command by sys.exit(")
