"""Claims in processes of their own: limits, deaths, interrupts, and what is believed of the time before."""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from lengthgen.infrastructure.files import user_cache
from lengthgen.proofs_checks import ledger
from lengthgen.proofs_checks.claim import Claim
from lengthgen.proofs_checks.ledger import LedgerError
from lengthgen.proofs_checks.result import Result
from lengthgen.proofs_checks.runner import run_claim
from tests.processes import PATIENCE, alive, started, wait_until
from tests.proofs_checks import toys

ROOT = Path(__file__).parents[2]


class Steps:
    def __init__(self) -> None:
        self.total, self.names = -1, []

    def of(self, total: int) -> "Steps":
        self.total = total
        return self

    def step(self, name: str) -> None:
        self.names.append(name)


@pytest.fixture
def steps() -> Steps:
    return Steps()


@pytest.fixture
def run(tmp_path, steps):
    """Function that runs toys by their ids; their results are kept in one folder."""

    def call(*ids: str, home: Path = Path(toys.__file__), **options) -> tuple[Result, ...]:
        return ledger.run(toys.selection(*ids, home=home), cache=tmp_path / "cache", progress=steps.of, **options)

    return call


@pytest.fixture
def here(monkeypatch):
    """Run the claims in this process, where a test is about what is kept of them."""

    def settle(claims, selection, entries, time_limit, record):
        for claim in claims:
            plain = ledger._settle(selection.find, claim.id, selection.home(claim), entries.get(claim.id))
            record(Result.from_plain(claim, plain))

    monkeypatch.setattr(ledger, "_run_in_parallel", settle)


@pytest.fixture
def one_worker(monkeypatch):
    """Have one process at a time, as each takes a second to start: what one leaves undone, its successor does."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Function that returns the deeds of the toys, as they did them: (deed, process)."""
    path = tmp_path / "notes"
    monkeypatch.setenv(toys.NOTES, str(path))
    return lambda: [tuple(line.split()) for line in path.read_text().splitlines()] if path.exists() else []


def timeless(result: Result) -> dict:
    return {**result.as_plain(), "seconds": 0}


def test_results_are_those_of_this_process_in_the_order_asked_for_and_settled_ones_stay(run, steps, notes, monkeypatch):
    """They are run from another thread, beside which this one waits."""
    ids = ("toy-2", "toy-refute", "toy-0", "toy-crash", "toy-leave", "toy-1")
    with ThreadPoolExecutor(1) as threads:
        results = threads.submit(run, *ids).result(60)
    assert tuple(result.claim.id for result in results) == ids
    assert str(os.getpid()) not in {process for _, process in notes()}
    assert [timeless(result) for result in results] == [timeless(run_claim(result.claim)) for result in results]
    assert steps.total == 6
    assert sorted(steps.names) == [
        "toy-0 verified", "toy-1 verified", "toy-2 verified",
        "toy-crash unsettled", "toy-leave unsettled", "toy-refute refuted",
    ]  # fmt: skip
    done = notes()
    monkeypatch.delattr(ledger, "ProcessPool")  # no process starts
    assert run("toy-refute", "toy-0") == (results[1], results[2])
    assert (steps.total, notes()) == (0, done)


def test_a_claim_that_hangs_is_stopped_at_its_limit_and_the_others_go_on(run, one_worker, tmp_path):
    begun = time.monotonic()
    results = run("toy-0", "toy-sleep", "toy-deaf", "toy-1", time_limit=1.5)
    assert time.monotonic() - begun < 60
    assert [result.verdict.value for result in results] == ["verified", "unsettled", "unsettled", "verified"]
    for result in results[1:3]:
        assert result.reason == "passed its time limit of 1.5 s"
        assert (result.seconds, result.strength) == (1.5, None)
        assert [(falsifier.name, falsifier.rejected) for falsifier in result.falsifiers] == [("false", False)]
    assert multiprocessing.active_children() == []
    assert sorted(path.stem for path in (tmp_path / "cache").iterdir()) == ["toy-0", "toy-1"]


def test_a_process_that_dies_is_named_and_the_others_go_on(run, tmp_path):
    results = run("toy-kill", "toy-0", "toy-end", "toy-1")
    assert [result.verdict.value for result in results] == ["unsettled", "verified", "unsettled", "verified"]
    assert results[0].reason == "its process ended before the check did, by signal 9, out of memory perhaps"
    assert results[2].reason == "its process ended before the check did, with exit code 3"
    assert sorted(path.stem for path in (tmp_path / "cache").iterdir()) == ["toy-0", "toy-1"]


def test_processes_that_cannot_begin_leave_all_unsettled(one_worker, tmp_path, steps):
    selection = toys.selection("toy-0", "toy-1")
    broken = ledger.Selection(claims=selection.claims, find=_NotThere(), home=selection.home)
    results = ledger.run(broken, cache=tmp_path, progress=steps.of)
    assert {result.reason for result in results} == {"its process ended before the check began"}


class _NotThere:
    """Object that can be handed over, but not taken."""

    def __call__(self, claim_id: str) -> Claim:
        raise AssertionError

    def __reduce__(self):
        return (os._exit, (1,))


def test_fresh_runs_settled_claims_as_well(here, run, steps, notes):
    first = run("toy-0", "toy-1")
    done = notes()
    again = run("toy-0", "toy-1", fresh=True)
    assert steps.total == 2
    assert len(notes()) == 2 * len(done)
    assert [timeless(result) for result in again] == [timeless(result) for result in first]
    assert run("toy-0", "toy-1") == again


def test_only_new_claims_are_run(here, run, steps):
    run("toy-0")
    run("toy-0", "toy-1")
    assert (steps.total, steps.names) == (1, ["toy-0 verified", "toy-1 verified"])


def test_an_unsettled_claim_is_run_again(here, run, steps):
    run("toy-crash")
    run("toy-crash")
    assert steps.total == 1
    assert steps.names == ["toy-crash unsettled"] * 2


DAMAGE = {
    "empty": lambda text: b"",
    "cut": lambda text: text[: len(text) // 2],
    "no text": lambda text: b"\xff\x00" + text,
    "another kind": lambda text: b"[1, 2]",
    "no seal": lambda text: text.replace(b'"seal"', b'"deal"'),
    "another verdict": lambda text: text.replace(b"refuted", b"verified"),
    "another fact": lambda text: text.replace(b"1 != 2", b"1 != 3"),
    "another key": lambda text: text.replace(b'"key":"', b'"key":"0'),
    "deep": lambda text: b"[" * 100_000,
}


def test_damaged_files_are_named_made_again_and_not_believed(here, run, steps, tmp_path, capfd):
    ids = [f"toy-refute-{number}" for number in range(len(DAMAGE))]
    first = run(*ids)
    paths = [tmp_path / "cache" / f"{id}.json" for id in ids]
    for path, damage in zip(paths, DAMAGE.values(), strict=True):
        undamaged = path.read_bytes()
        path.write_bytes(damage(undamaged))
        assert path.read_bytes() != undamaged
    again = run(*ids)
    messages = capfd.readouterr().err.splitlines()
    for name, path, message in zip(DAMAGE, paths, messages, strict=True):
        assert message == f"{path} was damaged and is made again", name
    assert steps.total == len(DAMAGE)
    assert list(map(timeless, again)) == list(map(timeless, first))
    assert run(*ids) == again
    assert steps.total == 0


def test_a_result_is_not_taken_for_another_claim(here, run, steps, tmp_path):
    run("toy-0")
    (tmp_path / "cache" / "toy-0.json").rename(tmp_path / "cache" / "toy-1.json")
    run("toy-1")
    assert steps.total == 1


def test_a_claim_is_run_again_if_a_file_that_it_reads_changes_or_changes_back(here, run, steps, tmp_path, capfd):
    home, helper = tmp_path / "mine.py", tmp_path / "helper.py"
    home.write_text("import helper\n")
    helper.write_text("value = 1\n")
    run("toy-0", home=home)
    run("toy-0", home=home)
    assert steps.total == 0
    helper.write_text("value = 2\n")
    run("toy-0", home=home)
    assert steps.total == 1
    (tmp_path / "other.py").write_text("value = 3\n")
    run("toy-0", home=home)
    assert steps.total == 0
    assert capfd.readouterr().err == ""


def test_other_libraries_and_another_runner_run_it_again(here, run, steps, tmp_path, monkeypatch):
    run("toy-0")
    monkeypatch.setattr("lengthgen.infrastructure.cache.versions", lambda: {"python": "4.0"})
    run("toy-0")
    assert steps.total == 1
    changed = tmp_path / "runner.py"
    changed.write_text("judge = None\n")
    monkeypatch.setattr(ledger.runner, "__file__", str(changed))
    run("toy-0")
    assert steps.total == 1


def test_a_result_of_code_that_changed_meanwhile_is_not_kept(here, run, steps, tmp_path, monkeypatch):
    home = tmp_path / "mine.py"
    home.write_text("")
    monkeypatch.setenv(toys.NOTES, str(home))  # each deed changes the file
    run("toy-0", home=home)
    assert list((tmp_path / "cache").iterdir()) == []


def test_an_id_cannot_lead_out_of_the_folder(here, run, steps, tmp_path):
    run(toys.STRANGE)
    run(toys.STRANGE)
    assert steps.total == 0
    assert {path.name for path in tmp_path.iterdir()} == {"cache"}


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_a_limit_that_is_not_positive_is_refused(run, limit, tmp_path):
    with pytest.raises(LedgerError, match="the time limit must be a positive number of seconds"):
        run("toy-0", time_limit=limit)
    assert not (tmp_path / "cache").exists()


def test_where_nothing_can_be_kept_the_claims_are_run_and_one_line_says_so(here, run, steps, tmp_path, capfd):
    (tmp_path / "cache").write_text("in the way")
    assert [result.verdict for result in run("toy-0")] == [result.verdict for result in run("toy-0", time_limit=9)]
    assert steps.total == 1
    assert capfd.readouterr().err.count("set XDG_CACHE_HOME to another folder\n") == 1


def test_the_users_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache("claims") == tmp_path / "lengthgen" / "claims"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache("claims") == tmp_path / ".cache" / "lengthgen" / "claims"


SCRIPT = """
import sys
from pathlib import Path
from lengthgen.proofs_checks import ledger
from tests.proofs_checks import toys

class Steps:
    def __init__(self, total): print(total, flush=True)
    def step(self, name): print(name, flush=True)

_, cache, *ids = sys.argv
try:
    ledger.run(toys.selection(*ids), cache=Path(cache), progress=Steps)
except KeyboardInterrupt:
    sys.exit(130)
"""


HANG = "toy-sleep", "toy-block"


def hanging(cache: Path, *ids: str) -> AbstractContextManager[subprocess.Popen]:
    """A run in a process group of its own, which hangs when it has done what it can."""
    command = [sys.executable, "-c", SCRIPT, str(cache), *ids, *HANG]
    return started(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(process: subprocess.Popen, *lines: str) -> None:
    waiting = set(lines)
    while waiting:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        waiting.discard(line)


SETTLED = "toy-0 verified\n", "toy-1 verified\n"


def settled(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.iterdir() if json.loads(path.read_text())["seal"])


def interrupt(run: subprocess.Popen) -> None:
    """Interrupt a run as a terminal does, its workers as well, and require that none of its processes stays."""
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(PATIENCE) == 130
    assert run.stderr.read() == ""
    wait_until(lambda: not alive(run.pid))


def test_an_interrupt_at_the_start_leaves_no_process(tmp_path):
    with hanging(tmp_path) as run:
        wait_for(run, "2\n")
        wait_until(lambda: len(alive(run.pid)) >= 3)
        interrupt(run)


def test_an_interrupt_leaves_no_process_and_loses_no_result(tmp_path):
    """Workers block Ctrl-C from their first moment, and their successors too."""

    def workers():
        return [folder for folder, command in alive(run.pid).items() if "spawn_main" in command]

    with hanging(tmp_path, "toy-kill", "toy-0", "toy-1") as run:
        wait_for(run, *SETTLED, "toy-kill unsettled\n")
        wait_until(lambda: len(workers()) == min(os.cpu_count(), 5))  # that was killed has a successor
        for worker in workers():
            [blocked] = re.findall(r"^SigBlk:\s*(\w+)$", (worker / "status").read_text(), flags=re.MULTILINE)
            assert int(blocked, 16) & 1 << signal.SIGINT - 1
        interrupt(run)
    assert settled(tmp_path) == ["toy-0", "toy-1"]


def test_the_processes_of_a_killed_run_end_as_well(tmp_path):
    with hanging(tmp_path, "toy-0", "toy-1") as run:
        wait_for(run, *SETTLED)
        os.kill(run.pid, signal.SIGKILL)
        wait_until(lambda: not alive(run.pid))
    assert settled(tmp_path) == ["toy-0", "toy-1"]


def test_partial_files_of_ended_workers_are_removed_by_the_run(here, run, tmp_path):
    half = tmp_path / "cache" / ".toy-0.json.0123.partial"
    half.parent.mkdir()
    half.touch()
    run("toy-0")
    assert not half.exists()
