"""The store never shows half a run, and names what is broken."""

import json
from dataclasses import replace

import pytest

from empirical.files import locked, sweep_partial, write_bytes
from empirical.store import Measurement, RunStore, StoreError

ROW = Measurement(epoch=1, scale=1, exact_match=0.5, token_accuracy=0.75, training_loss=1.0)


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
    assert json.loads((store.folder(run) / "config.json").read_text()) == run.config()


def test_a_run_that_differs_in_anything_is_another(small_run):
    run = small_run()
    others = [
        small_run(seed=1),
        small_run(encoding="ape"),
        small_run(format="unaligned"),
        small_run(epochs=5),
        replace(run, digest="other"),
        replace(run, test=(1, 2, 3)),
    ]
    assert len({run.id, *(other.id for other in others)}) == len(others) + 1
    assert run.id == small_run().id


def test_a_missing_run_is_named(small_run, tmp_path):
    with pytest.raises(StoreError, match=r"run parity-aligned-ipe-seed0-\w+ is not in"):
        RunStore(tmp_path).metrics(small_run())


@pytest.mark.parametrize("content", [b"", b"PAR1 truncated"])
def test_a_truncated_file_is_named(stored, content):
    run, store = stored
    (store.folder(run) / "metrics.parquet").write_bytes(content)
    with pytest.raises(StoreError, match="is broken"):
        store.metrics(run)


def test_an_edited_config_is_noticed(stored):
    run, store = stored
    config = run.config() | {"seed": 7}
    (store.folder(run) / "config.json").write_text(json.dumps(config))
    with pytest.raises(StoreError, match="another config"):
        store.metrics(run)


def test_a_writer_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_bytes(path, b"old")
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_bytes(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def test_what_killed_writers_left_is_swept_and_nothing_else(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / ".metrics.json.x1.partial").write_bytes(b"half")
    (tmp_path / "whole.json").write_bytes(b"{}")
    sweep_partial(tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["whole.json"]


def test_a_lock_is_free_again_after_its_holder(tmp_path):
    for _ in range(2):
        with locked(tmp_path / "lock"):
            pass
