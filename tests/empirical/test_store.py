"""The store never shows half a run, and names what is broken."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from empirical.files import write_bytes
from empirical.measurement import Measurement
from empirical.run import Run
from empirical.store import RunStore, StoreError

ROW = Measurement(
    epoch=1, scale=1, exact_match=0.5, token_accuracy=0.75, first_wrong=2.0, seen_steps=1.0, seen_samples=1.0,
    exact_match_seen=0.5, token_accuracy_seen=0.75, training_loss=1.0,
)  # fmt: skip


@pytest.fixture
def stored(small_run, tmp_path):
    run, store = small_run(), RunStore(tmp_path)
    store.finish(run, metrics=[ROW], checkpoint=b"weights", environment={"device": "cpu"})
    return run, store


def test_what_is_stored_is_read_back(stored):
    run, store = stored
    assert store.finished(run)
    assert store.metrics(run) == [ROW]
    assert store.final_exact_match(run) == {1: 0.5}
    assert store.environment(run) == {"device": "cpu"}
    assert store.checkpoint(run) == b"weights"
    assert json.loads((store.folder(run) / "config.json").read_text()) == run.config
    [found] = store.contents()
    assert (found.name, found.run, found.broken) == (run.id, run, None)


def test_a_process_that_read_metrics_beside_torch_ends_well(stored):
    """Threads of pyarrow that are alive at the end abort most of such processes (apache/arrow issue 34314)."""
    run, store = stored
    code = (
        "import json, pathlib, torch; from empirical.run import Run; from empirical.store import RunStore; "
        "x = torch.ones(2, requires_grad=True); x.sum().backward(); "
        f"run = Run.from_config(json.loads({json.dumps(run.config)!r})); "
        f"RunStore(pathlib.Path({str(store.root)!r})).metrics(run)"
    )
    ends = [subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True) for _ in range(3)]
    assert [(end.returncode, end.stderr) for end in ends] == [(0, "")] * 3


def test_a_config_is_read_back_as_its_run(small_run):
    for run in (small_run(), small_run("clipped[limit=2]", "unaligned", 3)):
        assert Run.from_config(json.loads(json.dumps(run.config))) == run


def test_a_run_that_differs_in_anything_is_another(small_run):
    run = small_run()
    others = [
        small_run(seed=1),
        small_run("ape"),
        small_run("rpe", format="unaligned"),
        small_run(epochs=5),
        small_run(task="copy"),
        replace(run, digest="other"),
        replace(run, test=(1, 2, 3)),
        replace(run, model=replace(run.model, width=32)),
    ]
    assert len({run.id, *(other.id for other in others)}) == len(others) + 1
    assert run.id == small_run().id
    assert {other.group == run.group for other in others[1:]} == {False}
    assert others[0].group == run.group


def test_parameters_of_an_encoding_and_a_file_s_path_make_no_folder_of_their_own(small_run):
    run = small_run("clipped[limit=2]")
    assert "clipped-limit2" in run.id
    assert "/" not in replace(run, encoding="a/b.py:mine", task="c/d.py:task").id


def test_a_missing_run_is_named(small_run, tmp_path):
    with pytest.raises(StoreError, match=r"run parity-aligned-ipe-w16l2h2-seed0-\w+ is not in"):
        RunStore(tmp_path).metrics(small_run())


@pytest.mark.parametrize("name", ["metrics.parquet", "checkpoint.safetensors", "environment.json", "config.json"])
@pytest.mark.parametrize("content", [b"", b"PAR1 truncated", b'{"seed": 7}'])
def test_a_truncated_or_edited_file_is_named(stored, name, content):
    run, store = stored
    (store.folder(run) / name).write_bytes(content)
    with pytest.raises(StoreError, match=f"{name} is not as it was written: remove {run.id}"):
        store.digest(run)
    assert name in store.contents()[0].broken or name == "config.json"
    assert store.contents()[0].run is None


def test_a_missing_file_is_named(stored):
    run, store = stored
    (store.folder(run) / "files.json").unlink()
    with pytest.raises(StoreError, match=r"is broken .*files.json"):
        store.metrics(run)


def test_a_run_of_an_older_format_says_how_to_redo_it(stored):
    run, store = stored
    path = store.folder(run) / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 1}))
    assert "is of format 1, not 2: remove" in store.contents()[0].broken


def test_the_digest_of_a_run_is_that_of_its_content(stored, small_run, tmp_path):
    run, store = stored
    other = RunStore(tmp_path / "other")
    other.finish(run, metrics=[ROW], checkpoint=b"weights", environment={"device": "cpu"})
    assert store.digest(run) == other.digest(run)
    elsewhere = RunStore(tmp_path / "elsewhere")
    elsewhere.finish(run, metrics=[ROW], checkpoint=b"weights", environment={"device": "cuda"})
    assert store.digest(run) == elsewhere.digest(run)
    third = RunStore(tmp_path / "third")
    third.finish(run, metrics=[ROW], checkpoint=b"others", environment={"device": "cpu"})
    assert store.digest(run) != third.digest(run)


def test_a_removed_run_is_gone(stored, small_run):
    run, store = stored
    store.tell([small_run(seed=1)], 3)
    assert [one.done for one in store.contents()] == [None, 3]
    for one in store.contents():
        store.remove(one.name)
    assert store.contents() == []
    assert not store.finished(run)


def test_what_is_under_way_is_told_and_what_its_note_lacks_is_named(small_run, tmp_path):
    store, runs = RunStore(tmp_path), [small_run(seed=seed) for seed in range(2)]
    store.tell(runs, 2)
    assert [(one.run, one.done) for one in store.contents()] == [(run, 2) for run in runs]
    assert store.begun() == [], "there is no state to go on from"
    write_bytes(store.state_path(runs), b"state")
    assert store.begun() == [tuple(runs)]
    note = store.state_path(runs).with_name("progress.json")
    note.write_text("{}")
    assert store.begun() == []
    assert store.contents()[0].broken


def test_a_writer_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_bytes(path, b"old")
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_bytes(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def test_a_full_disk_leaves_no_half_run(small_run, tmp_path, monkeypatch):
    run, store = small_run(), RunStore(tmp_path)
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        store.finish(run, metrics=[ROW], checkpoint=b"weights", environment={})
    assert not store.finished(run)
    assert store.contents() == []
    monkeypatch.undo()
    store.finish(run, metrics=[ROW], checkpoint=b"weights", environment={})
    assert store.metrics(run) == [ROW]
