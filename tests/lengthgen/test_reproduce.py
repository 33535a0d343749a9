"""The main job, small: it redoes nothing, and being killed changes no number."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from empirical.files import locked, write_json

ROOT = Path(__file__).parents[2]
TELL_TIME = ("claims.json", "environment.json", "files.json", "manifest.json", "report.html", "runs.json", ".lock")


def start(out, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "lengthgen", "reproduce", "--profile", "smoke", "--out", str(out)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def finish(out):
    process = start(out)
    stdout, stderr = process.communicate(timeout=600)
    assert process.returncode == 0, stderr
    return stdout, stderr


def alive(group):
    """Command lines of the processes of a group that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of_group, *_ = status.read_text().rpartition(")")[2].split()
            if int(of_group) == group and state != "Z":
                found.append((status.parent / "cmdline").read_text())
        except OSError:
            continue  # it ended while we looked
    return found


def numbers(out):
    """Every result without what tells time: file -> hash."""
    claims = json.loads((out / "claims.json").read_text())["answer"]["claims"]
    timeless = [{key: value for key, value in claim.items() if key != "seconds"} for claim in claims]
    found = {"claims": hashlib.sha256(json.dumps(timeless, sort_keys=True).encode()).hexdigest()}
    for path in out.rglob("*"):
        name = str(path.relative_to(out))
        if path.is_file() and path.name not in TELL_TIME and not {".locks", ".drawn"} & {*path.parts}:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.fixture(scope="session")
def clean(common):
    """(folder, [(exit status, stdout, stderr), ...], numbers) of two that began at once, made once for all tests."""
    out, told = common / "clean", common / "clean.json"
    with locked(common / "clean.lock"):
        if not told.exists():
            both = [start(out), start(out)]
            said = [process.communicate(timeout=600) for process in both]
            write_json(told, [[[one.returncode, *its] for one, its in zip(both, said, strict=True)], numbers(out)])
    return out, *json.loads(told.read_text())


def test_two_at_once_do_the_work_once(clean):
    _, both, _ = clean
    errors = [stderr for _, _, stderr in both]
    assert [status for status, _, _ in both] == [0, 0], errors
    assert sum("training: 16 runs to do" in error for error in errors) == 1
    assert both[0][1] == both[1][1]


def test_everything_is_there_and_named_by_the_manifest(clean):
    out, [(_, stdout, stderr), (_, _, other)], _ = clean
    manifest = json.loads((out / "manifest.json").read_text())
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    kinds = {Path(name).name for name in manifest["files"]}
    assert {"lrc.json", "claims.json", "src.json", "predictions.json", "conjecture.json"} <= kinds
    figures = {f"{name}.{kind}" for name in ("figure1", "accuracy-fig1", "ledger") for kind in ("pdf", "csv", "tex")}
    assert {*figures, "predicted-fig1.svg", "table-src.tex", "report.html"} <= kinds
    assert sum(name.endswith("metrics.parquet") for name in manifest["files"]) == 16
    assert "s left" in stderr + other, "long work says how long it takes"
    assert "falsifiers rejected" in stdout
    assert len(stdout.splitlines()) <= 50, "the summary fits one screen"


def test_predictions_were_stored_before_training(clean):
    out, *_ = clean
    trial = json.loads((out / "fig1" / "conjecture.json").read_text())
    assert all(cell["predicted_before_training"] for cell in trial["cells"])


def test_run_again_it_redoes_nothing(clean):
    out, [(_, stdout, _), _], _ = clean
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    again, stderr = finish(out)
    after = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert {path.name for path in after if after[path] != before.get(path)} <= {
        "manifest.json",
        "conjecture.json",
        "report.html",
    }
    assert "training" not in stderr
    assert again == stdout


def test_killed_at_random_moments_it_ends_with_the_same_numbers(clean, tmp_path):
    out = tmp_path / "out"
    moments = random.Random(0)
    for _ in range(4):
        process = start(out, start_new_session=True)
        time.sleep(moments.uniform(0.5, 9))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()
        time.sleep(1)
        assert alive(process.pid) == [], "nobody works on behind the back of who starts again"
        for path in out.rglob("*.json"):
            json.loads(path.read_text())
    finish(out)
    assert numbers(out) == clean[2]


def test_an_interrupt_ends_in_one_line_and_leaves_nobody_working(tmp_path):
    process = start(tmp_path / "out", start_new_session=True)
    for line in process.stderr:
        if line.startswith("training: 16 runs to do"):
            break
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to the workers as well
    rest = process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert process.wait(20) == 130
    assert rest.strip().splitlines()[-1] == "error: interrupted; run the same command again to go on"
    assert "Traceback" not in rest
    time.sleep(1)
    assert alive(process.pid) == []
