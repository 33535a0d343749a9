"""The main job, small: it redoes nothing, and being killed changes no number."""

import hashlib
import json
import os
import random
import runpy
import signal
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from lengthgen.empirical.experiment import protocol
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.trial.record import read_record
from lengthgen.infrastructure.files import locked, read_sealed_json, write_json
from tests.lengthgen.forked import forked
from tests.lengthgen.small_reproduce import one_epoch, small_reproduce
from tests.processes import alive, wait_until

ROOT = Path(__file__).parents[2]
TELL_TIME = ("claims.json", "environment.json", "files.json", "manifest.json", "report.html", "runs.json", ".lock")


def times(out):
    return {str(path.relative_to(out)): path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}


def numbers(out):
    """Hash of every result by file, without what tells time."""
    claims = json.loads((out / "claims.json").read_text())["answer"]["claims"]
    timeless = [{key: value for key, value in claim.items() if key != "seconds"} for claim in claims]
    hashes = {"claims": hashlib.sha256(json.dumps(timeless, sort_keys=True).encode()).hexdigest()}
    for path in out.rglob("*"):
        name = str(path.relative_to(out))
        if path.is_file() and path.name not in TELL_TIME and not {".locks", ".drawn"} & {*path.parts}:
            hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashes


@pytest.fixture(scope="session")
def cache(common):
    return common / "clean-cache"


@pytest.fixture(scope="session")
def clean(common, cache, warmed):
    """Folder; [exit status, stdout, stderr] of two commands that began at once; what the second changed; and numbers.

    The second is held while it waits, until the files of the first are looked at.
    """
    out, record = common / "clean", common / "clean.json"
    work = partial(small_reproduce, out, cache, worker=False)
    with locked(common / "clean.lock", "reproduces"):
        if not record.exists():
            with ExitStack() as ends:
                both = [
                    ends.enter_context(forked(work, common / f"clean-{at}.out", common / f"clean-{at}.err"))
                    for at in (1, 2)
                ]
                waiting = wait_until(
                    lambda: [at for at, fork in enumerate(both) if "waiting for " in fork.err.read_text()]
                )
                second, first = both[waiting[0]], both[1 - waiting[0]]
                os.kill(second.pid, signal.SIGSTOP)
                statuses = {first: first.ends(600)}
                before = times(out)
                os.kill(second.pid, signal.SIGCONT)
                statuses[second] = second.ends(600)
            ended = [[statuses[fork], fork.out.read_text(), fork.err.read_text()] for fork in both]
            changed = [name for name, time_of in times(out).items() if time_of != before.get(name)]
            write_json(record, [ended, changed, numbers(out)])
    return out, *json.loads(record.read_text())


def test_two_at_once_do_the_work_once(clean):
    _, both, changed, _ = clean
    errors = [stderr for _, _, stderr in both]
    assert [status for status, _, _ in both] == [0, 0], errors
    assert "".join(errors).count("runs to do") == "".join(errors).count("training: 10 runs to do") == 1
    assert sum("waiting for process " in error and ", which reproduces into " in error for error in errors) == 1
    assert both[0][1] == both[1][1]
    assert {Path(name).name for name in changed} <= {".lock", "manifest.json", "conjecture.json", "report.html"}


def test_everything_is_there_and_named_by_the_manifest(clean):
    out, [(_, stdout, stderr), (_, _, other)], *_ = clean
    manifest = read_sealed_json(out / "manifest.json")
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    kinds = {Path(name).name for name in manifest["files"]}
    assert {"lrc.json", "claims.json", "src.json", "predictions.json", "conjecture.json"} <= kinds
    figures = {f"{name}.{kind}" for name in ("accuracy-fig1", "ledger") for kind in ("pdf", "csv", "tex")}
    assert {*figures, "predicted-fig1.svg", "table-formats.tex", "report.html"} <= kinds
    assert sum(name.endswith("metrics.parquet") for name in manifest["files"]) == 10
    assert "verify: " in stderr + other and " claims to do" in stderr + other, "long work says how much it is"
    assert "falsifiers rejected" in stdout
    lines = stdout.splitlines()
    papers, patterns, tasks, *rest = lines[lines.index("Found") + 1 :]
    assert [line.split(":")[0].strip() for line in (papers, patterns, tasks)] == ["Papers", "Patterns", "Tasks"]
    assert f"to draw it: lengthgen figures --trial {out / 'fig1'}" in " ".join(stdout.split())
    where = " ".join(rest)  # a long path is wrapped
    assert where.startswith("To explore it all: ") and "manifest.json names every file" in where
    assert len(stdout.splitlines()) <= 50, "the summary fits one screen"


def test_derived_files_are_sealed(clean):
    out, *_ = clean
    sealed = ("claims", "lrc", "src", "manifest", "fig1/conjecture", "fig1/predictions", "fig1/frozen", "report/runs")
    for path in [*(out / f"{name}.json" for name in sealed), *out.glob("figures/.drawn/*.json")]:
        assert read_sealed_json(path), path


def test_what_is_not_drawn_is_a_number_and_one_command(clean):
    out, [(_, stdout, stderr), _], *_ = clean
    assert "not drawn" not in stderr
    command = f"lengthgen figures --profile smoke --out {out}"
    summary = " ".join(stdout.split())  # a long path is wrapped
    assert f"Not drawn: 3 (why, and how to make them: {command})" in summary
    assert {"figure2", "results-fig2", "labels-fig2-addition"}.isdisjoint(path.stem for path in out.glob("figures/*"))


def test_predictions_were_stored_before_training(clean):
    out, *_ = clean
    trial = json.loads((out / "fig1" / "conjecture.json").read_text())
    assert all(cell["predicted_before_training"] for cell in trial["cells"])


def test_the_record_of_an_experiment_has_its_trial_and_every_run_by_name(clean, tmp_path, monkeypatch):
    out, *_ = clean
    monkeypatch.setattr(protocol, "load_profile", one_epoch)
    monkeypatch.setattr(sys, "argv", ["record.py", str(out), "smoke", str(tmp_path), "fig1"])
    runpy.run_path(str(ROOT / "tools" / "record.py"), run_name="__main__")
    record, store = read_record(tmp_path / "fig1"), RunStore(out / "runs")
    assert {each.run.id for each in record.runs} == {*store.finished_names()} and len(record.runs) == 10
    for each in record.runs:
        kept, environment = each.provenance, store.environment(each.run)
        assert kept["sha256"] == store.digest(each.run)[:16] and kept["seconds"] == environment["seconds"] > 0
        assert (kept["time"], json.loads(kept["versions"])) == (environment["time"], environment["versions"])
        assert repr(each.rows) == repr(store.metrics(each.run))
    assert read_sealed_json(tmp_path / "fig1" / "frozen.json") == read_sealed_json(out / "fig1" / "frozen.json")
    assert record.trial == read_sealed_json(out / "fig1" / "conjecture.json"), "derived as it was judged"


def test_interrupted_and_killed_it_ends_with_the_same_numbers_and_leaves_nobody_working(clean, cache, tmp_path):
    """A training that is killed by SIGKILL is one of the attacks, tests/attack."""
    out = tmp_path / "out"
    start = partial(forked, partial(small_reproduce, out, cache, worker=True), tmp_path / "stdout", tmp_path / "stderr")
    with start() as fork:
        fork.says("training: 10 runs to do\n")
        os.killpg(fork.pid, signal.SIGINT)  # as a terminal does, to the workers as well
        assert fork.ends() == 130
        wait_until(lambda: not alive(fork.pid))
    lines = fork.err.read_text().splitlines()
    assert lines[-1] == "error: interrupted; what was stored is kept: run the same command again"
    assert not any("Traceback" in line for line in lines)
    with start() as fork:
        fork.says("drawing: ")
        time.sleep(random.Random(0).uniform(0, 1))
        os.kill(fork.pid, signal.SIGKILL)
        wait_until(lambda: not alive(fork.pid))  # else it works on behind who starts again
    for path in out.rglob("*.json"):
        json.loads(path.read_text())
    with start() as fork:
        assert fork.ends(600) == 0, fork.err.read_text()
    assert numbers(out) == clean[-1]
