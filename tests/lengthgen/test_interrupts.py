"""Ctrl-C, SIGTERM and SIGHUP end a command with one line and the status that shells give, and leave nothing behind."""

import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from lengthgen import cli
from lengthgen.cli import main
from lengthgen.terminal.menu import COMMANDS, function
from tests.lengthgen.forked import forked
from tests.processes import DEAF, PATIENCE, alive, started, wait_until

ROOT = Path(__file__).parents[2]
AGAIN = "what was stored is kept: run the same command again\n"
CALLED = """
import gc, os, sys
from pathlib import Path
from lengthgen.infrastructure.files import write_bytes
from lengthgen import cli
from lengthgen.__main__ import main

gc.freeze()  # the end of each child takes a tenth of the time
for line in sys.stdin:
    if os.fork():
        continue  # also if the work hangs
    folder = line.strip()
    if not os.fork():
        break
    write_bytes(Path(folder, "status"), b"%d" % os.waitstatus_to_exitcode(os.wait()[1]))
    os._exit(0)
else:
    sys.exit()

for name, stream in (("stdout", 1), ("stderr", 2)):
    os.dup2(os.open(Path(folder, name), os.O_WRONLY | os.O_CREAT), stream)
sys.path.insert(0, folder)
import given
cli.click_app = given.work
sys.argv = ["lengthgen", "train"]
main()
"""
WORK = """
import atexit, os, signal, sys, time
from threading import Thread
from lengthgen.infrastructure.processes import interrupts_left

def send(name):
    os.kill(os.getpid(), getattr(signal, name))

class Dropping:
    def __del__(self):
        raise KeyboardInterrupt

class Sending:
    def __del__(self):
        send("SIGTERM")
        time.sleep(0)

class Named:
    def __set_name__(self, *_):
        send("SIGINT")
        time.sleep(0)

class Last:
    def __init__(self, name):
        self.number = getattr(signal, name)
    def __del__(self, kill=os.kill, here=os.getpid()):
        kill(here, self.number)

def work(**options):
{work}
"""


@pytest.fixture(scope="module")
def process_before_work(tmp_path_factory):
    """Function that gives a process that has imported the command and becomes one anew for each folder of work."""
    folder = tmp_path_factory.mktemp("called")
    # Only of a module does Python's own end depend on where the interrupt was met.
    (folder / "called.py").write_text(CALLED)
    with ExitStack() as ends:

        @cache
        def process(before):
            command = [*before, sys.executable, "-m", "called"]
            return ends.enter_context(started(command, cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL))

        yield process


@pytest.fixture
def called(tmp_path, process_before_work):
    """Function that ends a command during some work; returns (exit status, stdout, stderr)."""

    def call(work, before=()):
        folder = tmp_path / f"work{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / "given.py").write_text(WORK.format(work=textwrap.indent(work, "    ")))
        process = process_before_work(tuple(before))
        process.stdin.write(f"{folder}\n")
        process.stdin.flush()
        wait_until((folder / "status").exists)
        return int((folder / "status").read_text()), *((folder / name).read_text() for name in ("stdout", "stderr"))

    return call


@pytest.mark.parametrize(
    "work",
    [
        "raise KeyboardInterrupt",
        "Dropping(); time.sleep(600)",
        "exec('raise KeyboardInterrupt')",
        "class _:\n    named = Named()",
    ],
    ids=["at work", "where Python drops errors", "in code made from a string", "where Python makes it another error"],
)
def test_an_interrupt_is_one_line_and_its_status(called, work):
    assert called(work) == (130, "", f"error: interrupted; {AGAIN}")


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("command", [["-m", "lengthgen"], ["-c", "import lengthgen.__main__ as at; at.main()"]])
def test_an_interrupt_while_the_command_is_imported_is_one_line_and_its_status(tmp_path, command, name, status):
    """The first package that it needs is one that sends the signal."""
    (tmp_path / "typer.py").write_text(
        f"import os, time; os.kill(os.getpid(), {getattr(signal, name)}); time.sleep(600)"
    )
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (status, "error: interrupted\n")


@pytest.mark.parametrize(
    ("work", "ending"),
    [
        ("atexit.register(send, 'SIGINT')", (130, "", "error: interrupted\n")),
        ("global last; last = Last('SIGINT')", (0, "", "")),
        ("global last; last = Last('SIGTERM')", (0, "", "")),
        ("global last; last = Last('SIGHUP')", (0, "", "")),
    ],
    ids=["functions called at exit", "modules taken down", "by SIGTERM", "by SIGHUP"],
)
def test_an_interrupt_after_the_answer_has_no_traceback(called, work, ending):
    assert called(work) == ending


def test_only_commands_that_store_results_so_far_say_that_they_are_kept(run, monkeypatch):
    monkeypatch.setattr(cli, "click_app", lambda **_: 130)
    saying = {name for name in COMMANDS if run(name) == (130, "", f"error: interrupted; {AGAIN}")}
    assert {run(name)[2] for name in {*COMMANDS} - saying} == {"error: interrupted\n"}
    storing = {name for name in COMMANDS if "out" in inspect.signature(function(name)).parameters}
    at_the_end, nothing = {"court"}, {"evaluate", "relation", "runs"}
    assert saying == storing - at_the_end - nothing


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_that_ends_is_one_line_and_its_status(called, name, status):
    assert called(f"send('{name}'); time.sleep(600)") == (status, "", f"error: ended by {name}; {AGAIN}")


def test_a_signal_that_python_drops_ends_the_command_all_the_same(called):
    assert called("Sending(); time.sleep(600)") == (143, "", f"error: ended by SIGTERM; {AGAIN}")


def test_a_signal_waits_while_processes_are_started(called):
    work = "with interrupts_left():\n    send('SIGTERM')\n    print('started')\nprint('went on')"
    assert called(work) == (143, "started\n", f"error: ended by SIGTERM; {AGAIN}")


def test_an_interrupt_waits_while_processes_are_started_whichever_thread_receives_it(called):
    """Threads of numpy block nothing."""
    work = "Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
    work += "with interrupts_left():\n    send('SIGINT'); time.sleep(0.2)\n    print('started')\nprint('went on')"
    assert called(work) == (130, "started\n", f"error: interrupted; {AGAIN}")


def test_a_signal_sent_twice_does_not_disturb_the_cleaning_up(called):
    work = "try:\n    send('SIGTERM'); time.sleep(600)\nfinally:\n    send('SIGTERM'); print('cleaned up')"
    assert called(work) == (143, "cleaned up\n", f"error: ended by SIGTERM; {AGAIN}")


def test_a_partial_answer_keeps_the_status_of_the_signal(called):
    work = "try:\n    send('SIGTERM'); time.sleep(600)\nexcept KeyboardInterrupt:\n    print('so far'); return 130"
    assert called(work) == (143, "so far\n", f"error: ended by SIGTERM; {AGAIN}")


def test_in_the_background_ctrl_c_is_ignored_and_sigterm_is_not(called):
    assert called("send('SIGINT'); print('went on')", DEAF) == (0, "went on\n", "")
    assert called("send('SIGTERM'); time.sleep(600)", DEAF) == (143, "", f"error: ended by SIGTERM; {AGAIN}")


def test_under_nohup_a_hangup_is_ignored(called):
    assert called("send('SIGHUP'); print('went on')", ["nohup"])[:2] == (0, "went on\n")


def test_afterwards_signals_are_as_they_were(run):
    numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    before = [signal.getsignal(number) for number in numbers]
    run("tasks", "nonsense")
    assert [signal.getsignal(number) for number in numbers] == before


def test_tests_of_interrupts_hold_where_the_shell_ignores_ctrl_c():
    """Without the set-up of the tests the processes that they start would ignore it too."""
    interrupted = f"{[sys.executable, '-c', 'import os; os.kill(os.getpid(), 2)']}"
    for line, ignored in (("pass", True), ("import tests.conftest", False)):
        done = subprocess.run(
            [*DEAF, sys.executable, "-c", f"import subprocess; {line}; subprocess.run({interrupted})"],
            cwd=ROOT, check=False, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert (done.stderr == "", done.returncode) == (ignored, 0), done.stderr


LONG = """
title = "Long"
source = ""
train = [1, 2]
test = [1, 3]

[[cells]]
tasks = ["copy"]
formats = ["aligned"]
encodings = ["rpe"]

[smoke]
seeds = {seeds}

[smoke.training]
epochs = 100000
evaluate_every = 1
"""
"""Protocol of runs that no test sees the end of, each in a process of its own."""
TRAINING, CHECKING = "runs/.unfinished/*/progress.json", "cache/lengthgen/claims/*.json"


@pytest.mark.parametrize(
    ("arguments", "workers", "at_work", "to_all"),
    [
        (["train", "parity", "--train", "1-2", "--test", "1-3", "--profile", "paper"], 0, TRAINING, False),
        (["sweep", "two.toml", "--profile", "smoke"], 2, TRAINING, False),
        (["sweep", "one.toml", "--profile", "smoke"], 1, TRAINING, True),
        (["verify", "rope", "fox"], 1, CHECKING, True),
    ],
)
def test_sigterm_leaves_no_process_and_no_half_file(tmp_path, warmed, arguments, workers, at_work, to_all):
    place = tmp_path / "place"
    (place / "cache").mkdir(parents=True)
    for seeds, name in enumerate(("one.toml", "two.toml"), start=1):
        (place / name).write_text(LONG.format(seeds=seeds))

    def command():
        os.chdir(place)
        os.environ |= {name: str(place / "cache") for name in ("XDG_CACHE_HOME", "TMPDIR")}
        tempfile.tempdir = None  # it may have been looked up before
        os.cpu_count = lambda: workers
        sys.argv = ["lengthgen", *arguments, "--out", "."]
        main()

    with forked(command, tmp_path / "stdout", tmp_path / "stderr") as fork:
        fork.comes_to(lambda: list(place.glob(at_work)))
        (os.killpg if to_all else os.kill)(fork.pid, signal.SIGTERM)
        status, stdout, stderr = fork.ends(), fork.out.read_text(), fork.err.read_text()
        wait_until(lambda: not alive(fork.pid))
    assert (status, stdout) == (143, ""), stderr
    assert stderr.endswith(f"error: ended by SIGTERM; {AGAIN}")
    assert "Traceback" not in stderr
    left = [name for pattern in ("*.partial", "tmp*", "pymp-*") for name in place.rglob(pattern)]
    assert left == []
    for path in place.rglob("*.json"):
        json.loads(path.read_text())


def test_other_errors_that_python_drops_are_still_printed(called):
    status, _, stderr = called("import gc; gc.callbacks.append(lambda *_: 1 / 0); gc.collect(); gc.callbacks.clear()")
    assert status == 0
    assert "ZeroDivisionError" in stderr


@pytest.mark.parametrize("code", ["0", "", "None", "'bye'"])
def test_a_user_s_sys_exit_is_an_error_and_not_the_command_s_status(called, code):
    status, _, stderr = called(f"sys.exit({code})")
    assert status == 2
    assert stderr.startswith("error: your own code called sys.exit(")
