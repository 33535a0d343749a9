"""Whatever lies in a store, a command that reads it ends with an answer or with one line that names run and file."""

import fcntl
import hashlib
import json
import os
import random
import re
import shlex
import shutil
from dataclasses import replace

import pytest

from lengthgen.empirical.experiment.metrics import to_parquet
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.train import train
from lengthgen.empirical.model.backend import CPU
from lengthgen.empirical.trial.frozen import stored_runs
from lengthgen.questions.experiment import TaskOptions, chosen
from lengthgen.questions.rounds import run_conjecture
from tests.empirical.conftest import smoke_run
from tests.lengthgen.refusal import refused
from tests.pool_here import pool_here

SCALES = ("--train", "1-2", "--test", "1-4", "--profile", "smoke")
LEARNING = ("select-first", "--format", "unaligned", "--encoding", "lbpe-sh")
COMMANDS = {
    "evaluate": ("evaluate", "RUN", "--test", "1-2", "--samples", "5"),
    "relation": ("relation", "RUN", "--test", "1-2"),
    "conjecture": ("conjecture", *LEARNING, *SCALES, "--seeds", "1"),
    "runs": ("runs",),
}
DAMAGES = {
    "truncated": lambda content: content[:-3],
    "empty": lambda content: b"",
    "null": lambda content: b"null",
    "a list": lambda content: b"[]",
    "deep nesting": lambda content: b"[" * 200_000,
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with one finished run, which learned a relation under a frozen prediction."""
    out = tmp_path_factory.mktemp("trained")
    options = TaskOptions(encodings="lbpe-sh", formats="unaligned", train=(1, 2), test=range(1, 5), seeds=1)
    experiment = chosen("select-first", options, profile="smoke", out=out)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lengthgen.empirical.experiment.sweep.pool", pool_here)
        run_conjecture(experiment, CPU)
    [[run]] = stored_runs(experiment.protocol, out).values()
    return out, run


@pytest.fixture
def stored(trained, tmp_path):
    """Value of --out, the run and its folder, in a copy for one test."""
    out, run = trained
    shutil.copytree(out, tmp_path / "out")
    return tmp_path / "out", run, tmp_path / "out" / "runs" / run.id


def call_command(run, command, name, out):
    return run(*(name if part == "RUN" else part for part in COMMANDS[command]), "--out", str(out))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_sound_run_is_shown(run, stored, command):
    out, of, _ = stored
    code, shown, err = call_command(run, command, of.id, out)
    assert code == 0, err
    assert shown


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize(
    "name", ["config.json", "files.json", "metrics.parquet", "environment.json", "checkpoint.safetensors"]
)
def test_a_damaged_file_is_named_with_its_run_and_the_way_on(run, stored, name, kind):
    out, of, folder = stored
    (folder / name).write_bytes(DAMAGES[kind]((folder / name).read_bytes()))
    for command in COMMANDS:
        code, shown, err = call_command(run, command, of.id, out)
        if command == "runs":
            assert code == 1
            words = "".join(shown.split())
        else:
            [line] = [line for line in err.splitlines() if line.startswith("error: ")]
            assert (code, shown) == (2, "")
            words = "".join(line.split())
        assert of.id in words
        assert name in words or name == "files.json"
        assert f"(lengthgenruns--remove{of.id}--out{out})" in words


def test_a_folder_without_runs_is_an_empty_store(run, tmp_path):
    code, shown, err = run("runs", "--out", str(tmp_path), "--json")
    nothing = {"runs": [], "broken": 0, "stored": {"runs": 0, "task": {}, "encoding": {}}}
    assert (code, json.loads(shown), err) == (0, nothing, "")
    assert run("runs", "--out", str(tmp_path)) == (0, "no runs\n", "")


def test_where_no_run_matches_what_is_stored_is_named(run, trained):
    out, of = trained
    code, shown, err = run("runs", "--task", "copi", "--out", str(out))
    assert (code, shown.splitlines()[0], err) == (0, "none of 1 runs matches", "")
    assert f"stored runs by task: {of.task.name} (" in shown and f"stored runs by encoding: {of.encoding} (" in shown


def test_the_advice_is_a_command_that_works_as_it_is_printed(run, trained, tmp_path):
    out, of = tmp_path / "my results", trained[1]
    shutil.copytree(trained[0], out)
    (out / "runs" / of.id / "config.json").unlink()
    _, _, err = run("evaluate", of.id, "--out", str(out))
    program, *arguments = shlex.split(re.search(r"\((lengthgen runs --remove [^)]*)\)", err)[1])
    assert (program, run(*arguments)[0]) == ("lengthgen", 0)
    assert not list(out.glob("runs/[!.]*"))


def test_no_flipped_bit_of_any_file_is_shown_as_a_run(run, stored):
    out, _, folder = stored
    places = random.Random(1)
    files = sorted(folder.iterdir())
    for _ in range(20):
        path = places.choice(files)
        undamaged = path.read_bytes()
        damaged = bytearray(undamaged)
        damaged[places.randrange(len(undamaged))] ^= 1 << places.randrange(8)
        path.write_bytes(damaged)
        code, shown, _ = run("runs", "--out", str(out), "--json")
        [row] = json.loads(shown)["runs"]
        assert (code, row["state"]) == (1, "broken"), path.name
        path.write_bytes(undamaged)
    assert run("runs", "--out", str(out))[0] == 0


@pytest.mark.parametrize("content", [{}, {"seconds": None}, {"seconds": "long", "peak_memory_mib": []}])
def test_numbers_that_an_environment_lacks_are_shown_as_unknown(run, stored, content):
    out, _, folder = stored
    seal_again(folder, "environment.json", json.dumps(content).encode())
    code, shown, _ = run("runs", "--out", str(out), "--json")
    [row] = json.loads(shown)["runs"]
    assert (code, row["seconds"], row["peak_memory_mib"]) == (0, None, None)
    assert run("runs", "--out", str(out))[0] == 0


def test_weights_that_do_otherwise_than_their_metrics_say_are_named(run, stored):
    out, of, folder = stored
    store = RunStore(out / "runs")
    for options in ((), ("--sample", "3")):
        code, shown, err = run("runs", "--check", *options, "--out", str(out))
        assert code == 0 and "1 of 1 runs that were tested again do as stored" in shown, err
    rows = store.metrics(of)
    last = rows[-1].epoch
    forged = [replace(row, exact_match=1.0 - row.exact_match) if row.epoch == last else row for row in rows]
    seal_again(folder, "metrics.parquet", to_parquet(forged, of.metric_keys(), of.may_end))
    assert run("runs", "--out", str(out))[0] == 0, "its hash is that of the file"
    code, shown, _ = run("runs", "--check", "--out", str(out), "--json")
    check = json.loads(shown)["check"]
    assert (code, check["tested"], [*check["differ"]]) == (1, 1, [of.id])
    assert "metrics.parquet says that" in check["differ"][of.id] and "lengthgen runs --remove" in check["differ"][of.id]
    assert "0 of 1 runs" in run("runs", "--check", "--out", str(out))[1]
    seal_again(folder, "checkpoint.safetensors", b"none")
    code, shown, _ = run("runs", "--check", "--out", str(out), "--json")
    assert code == 1 and "holds no weights of this model" in json.loads(shown)["check"]["differ"][of.id]
    assert json.loads(run("runs", "--check", "--state", "unfinished", "--out", str(out), "--json")[1])["check"] == {
        "tested": 0, "differ": {}, "seconds_each": None,
    }  # fmt: skip
    refused(run("runs", "--sample", "3", "--out", str(out)), "--sample goes with --check")


def seal_again(folder, name, content):
    """Write a file of a run, and its hash among those of all files."""
    (folder / name).write_bytes(content)
    hashes = json.loads((folder / "files.json").read_text())
    (folder / "files.json").write_text(json.dumps(hashes | {name: hashlib.sha256(content).hexdigest()}))


@pytest.fixture
def stopped(tmp_path):
    """A folder with a training that was stopped after two epochs of four, and its run: the one that `again` trains."""
    out, of = tmp_path / "out", smoke_run()

    class Stop(Exception):
        pass

    def stop(done, total):
        if done == 2:
            raise Stop

    with pytest.raises(Stop):
        train([of], RunStore(out / "runs"), progress=stop)
    return out, of


def again(run, out):
    return run("train", "parity", *SCALES, "--out", str(out), "--json")


def test_a_flipped_bit_of_a_state_never_ends_as_a_finished_run(run, stopped):
    out, of = stopped
    [state] = out.glob("runs/.unfinished/*/state.*")
    undamaged = bytearray(state.read_bytes())
    for place in (0, 40, len(undamaged) // 2, len(undamaged) - 50):
        damaged = undamaged.copy()
        damaged[place] ^= 4
        state.write_bytes(damaged)
        code, shown, err = again(run, out)
        [line] = [line for line in err.splitlines() if line.startswith("error: ")]
        assert (code, shown) == (2, "")
        assert str(state) in line and f"(lengthgen runs --remove {of.id} --out {out})" in line
        code, shown, _ = run("runs", "--out", str(out))
        assert code == 1 and "broken" in shown
    assert run("runs", "--remove", of.id, "--out", str(out))[0] == 0
    assert again(run, out)[0] == 0


def test_a_damaged_note_is_broken_until_the_run_goes_on(run, stopped, told_of_every_piece):
    out, of = stopped
    [note] = out.glob("runs/.unfinished/*/progress.json")
    for content in (b"", b"[]", b"[" * 200_000, note.read_bytes().replace(b'"done":2', b'"done":3')):
        note.write_bytes(content)
        code, shown, _ = run("runs", "--out", str(out), "--json")
        [row] = json.loads(shown)["runs"]
        assert (code, row["name"], row["state"]) == (1, of.id, "broken")
        assert str(note) in row["reason"]
    code, _, err = again(run, out)
    assert code == 0 and "epoch 3" in err and "epoch 2" not in err
    assert run("runs", "--out", str(out))[0] == 0


def test_runs_that_are_trained_together_are_removed_together_only(run, tmp_path):
    store, group = RunStore(tmp_path / "runs"), [smoke_run(seed=seed) for seed in range(2)]
    store.note_progress(group, 1)
    code, _, err = run("runs", "--remove", group[0].id, "--out", str(tmp_path))
    name = store.state_path(group).parent.name
    assert code == 2 and f"remove them all (lengthgen runs --remove {name} --out {tmp_path})" in err
    assert len(store.contents()) == 2
    assert run("runs", "--remove", name, "--out", str(tmp_path))[0] == 0
    assert store.contents() == []


def test_a_run_that_is_being_trained_is_not_removed(run, stored):
    out, of, folder = stored
    lock = out / "runs" / ".locks" / of.id
    lock.write_text("process 17 on elsewhere\n")
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        code, shown, err = run("runs", "--remove", of.id, "--out", str(out))
    assert (code, shown) == (2, "")
    assert err == f"error: {of.id} is not removed, because process 17 on elsewhere trains it: stop that first\n"
    assert folder.is_dir()


def test_a_run_that_cannot_be_removed_is_one_line(run, stored, monkeypatch):
    """A refusing function stands for a folder that may not be written, since root may write everywhere."""
    out, of, folder = stored

    def refuse(path, *others, **options):
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        for name in ("rename", "unlink", "rmdir"):
            patch.setattr(os, name, refuse)
        code, shown, err = run("runs", "--remove", of.id, "--out", str(out))
    assert (code, shown) == (2, "")
    assert err.startswith(f"error: {folder} cannot be removed: ") and err.count("\n") == 1
    assert run("runs", "--out", str(out))[0] == 0, "it is whole"


def test_a_sweep_that_ends_with_a_broken_run_says_so_in_its_status(run, stored, monkeypatch):
    out, of, folder = stored
    monkeypatch.chdir(out)
    cells = '[[cells]]\ntasks = ["select-first"]\nformats = ["unaligned"]\nencodings = ["lbpe-sh"]\n'
    (out / "small.toml").write_text(f'title = ""\nsource = ""\ntrain = [1, 2]\ntest = [1, 4]\n{cells}')
    monkeypatch.setattr("lengthgen.questions.rounds.train_all", lambda *_, **options: None)
    status = {}
    for state in ("finished", "broken"):
        status[state], shown, err = run("sweep", "small.toml", "--profile", "smoke", "--out", str(out), "--json")
        assert shown, err
        assert [row["state"] for row in json.loads(shown)["runs"] if row["name"] == of.id] == [state]
        (folder / "environment.json").write_bytes(b"{")
    assert status == {"finished": 0, "broken": 1}
