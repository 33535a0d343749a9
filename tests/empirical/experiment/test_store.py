"""The store never shows half a run, and names what is broken."""

import fcntl
import hashlib
import io
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import asdict, replace
from math import inf, nan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment import store as store_module
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import FILES, RunStore, StoreError
from lengthgen.infrastructure.files import Held, locked, read_sealed_json, write_bytes, write_json, write_sealed_json
from lengthgen.questions import runs as runs_module
from lengthgen.questions.runs import runs_answer, runs_table
from tests.empirical.trial.trials import rows_of

FINISHED = ("config.json", "metrics.parquet", "checkpoint.safetensors", "environment.json", "files.json")


def put(store, run, checkpoint=b"weights", **environment):
    store.finish(run, metrics=rows_of(run), checkpoint=checkpoint, environment={"device": "cpu", **environment})


@pytest.fixture
def stored(small_run, tmp_path):
    run, store = small_run(), RunStore(tmp_path)
    put(store, run)
    return run, store


def reseal(folder):
    """Make files.json fit the files, so that only the content of a file gives a damage away."""
    hashes = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.name != FILES
    }
    write_json(folder / FILES, hashes)


def test_a_stored_run_is_read_back(stored):
    run, store = stored
    assert store.finished(run)
    assert repr(store.metrics(run)) == repr(rows_of(run)), "by repr, in which a NaN is one"
    assert store.final_exact_match(run) == {1: 0.5, 2: 0.25, 3: 4 / 24, 4: 0.125}
    assert store.environment(run) == {"device": "cpu"}
    assert store.checkpoint(run) == b"weights"
    assert json.loads((store.folder(run) / "config.json").read_text()) == run.config
    [entry] = store.contents()
    assert (entry.name, entry.run, entry.broken) == (run.id, run, None)


def test_a_process_that_read_metrics_beside_torch_ends_well(stored):
    """Threads of pyarrow that are alive at the end abort most of such processes (apache/arrow issue 34314)."""
    run, store = stored
    code = (
        "import json, pathlib, torch; from lengthgen.empirical.experiment.run import Run; "
        "from lengthgen.empirical.experiment.store import RunStore; "
        "x = torch.ones(2, requires_grad=True); x.sum().backward(); "
        f"run = Run.from_config(json.loads({json.dumps(run.config)!r})); "
        f"RunStore(pathlib.Path({str(store.root)!r})).metrics(run)"
    )
    end = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (end.returncode, end.stderr) == (0, "")


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
    assert "/" not in replace(run, encoding="a/b.py:mine", task=TaskSpec(name="c/d.py:task")).id


def test_a_missing_run_is_named(small_run, tmp_path):
    with pytest.raises(StoreError, match=r"run parity-aligned-ipe-w16l2h2-seed0-\w+ is not in"):
        RunStore(tmp_path).metrics(small_run())


WRONG_ROWS = {
    "none": (lambda rows: [], "0 rows, expected 16"),
    "one lacks": (lambda rows: rows[:-1], "15 rows, expected 16: there is no row of epoch 4 and scale 4"),
    "one twice": (lambda rows: [*rows, rows[0]], "17 rows, expected 16"),
    "another scale": (lambda rows: [replace(rows[0], scale=9), *rows[1:]], "there is no row of epoch 1 and scale 1"),
    "another order": (lambda rows: rows[::-1], "16 rows, expected 16"),
    "no number": (lambda rows: [replace(rows[0], exact_match=nan), *rows[1:]], "not every exact_match is a finite"),
    "infinite": (lambda rows: [replace(rows[0], first_wrong=inf), *rows[1:]], "not every first_wrong is a finite"),
    "nothing": (lambda rows: [replace(rows[0], training_loss=None), *rows[1:]], "some values are not numbers"),
}


class TestMetrics:
    """Metrics are exactly those that the run's config asks for, when they are written and when they are read."""

    @pytest.mark.parametrize("wrong", WRONG_ROWS)
    def test_other_metrics_are_not_stored(self, small_run, tmp_path, wrong):
        change, says = WRONG_ROWS[wrong]
        run, store = small_run(), RunStore(tmp_path)
        with pytest.raises(StoreError, match=rf"run {run.id} is not stored, .*{says}"):
            store.finish(run, metrics=change(rows_of(run)), checkpoint=b"weights", environment={})
        assert not store.finished(run)
        assert not list(tmp_path.glob(".unfinished/*"))

    @pytest.mark.parametrize("wrong", WRONG_ROWS)
    def test_other_metrics_are_named_by_every_reader(self, stored, wrong):
        run, store = stored
        change, _ = WRONG_ROWS[wrong]
        path = store.folder(run) / "metrics.parquet"
        pq.write_table(pa.Table.from_pylist([asdict(row) for row in change(rows_of(run))]), path)
        reseal(store.folder(run))
        for read in (store.metrics, store.final_exact_match):
            with pytest.raises(
                StoreError, match=rf"metrics.parquet does not have the rows .*: remove {run.id} \(lengthgen runs"
            ):
                read(run)
        assert "metrics.parquet does not have the rows that config.json requires" in store.contents()[0].broken

    def test_columns_of_another_type_or_name_are_refused(self, stored):
        run, store = stored
        rows = [asdict(row) for row in rows_of(run)]
        for other in (
            [row | {"exact_match": "0.5"} for row in rows],
            [row | {"epoch": float(row["epoch"])} for row in rows],
            [row | {"extra": 1.0} for row in rows],
            [{key: value for key, value in row.items() if key != "seen_steps"} for row in rows],
        ):
            pq.write_table(pa.Table.from_pylist(other), store.folder(run) / "metrics.parquet")
            reseal(store.folder(run))
            with pytest.raises(StoreError, match="its columns are not those of a measurement"):
                store.metrics(run)

    def test_a_hundred_million_rows_are_refused_before_they_are_read(self, stored, monkeypatch):
        run, store = stored
        path = store.folder(run) / "metrics.parquet"
        table = pa.Table.from_pylist([asdict(row) for row in rows_of(run)])
        part = pa.table(
            {name: pa.concat_arrays([table[name].combine_chunks()] * 10_000) for name in table.column_names}
        )
        with pq.ParquetWriter(path, part.schema) as writer:
            for _ in range(3):
                writer.write_table(part)
        reseal(store.folder(run))
        monkeypatch.setattr(pq.ParquetFile, "read", None)
        with pytest.raises(StoreError, match="it has 480,000 rows, expected 16"):
            store.metrics(run)

    def test_checkpoints_are_those_of_the_training_and_the_last_epoch(self, small_run):
        def checkpoints(**training):
            return sorted({epoch for epoch, _ in small_run(**training).metric_keys()})

        assert checkpoints(epochs=7, evaluate_every=3) == [3, 6, 7]
        assert checkpoints(epochs=6, evaluate_every=3) == [3, 6]
        assert checkpoints(epochs=2, evaluate_every=5) == [2]

    @pytest.mark.parametrize("training", [{"epochs": 0}, {"evaluate_every": 0}, {"epochs": 10**15}])
    def test_a_run_that_asks_for_none_or_too_many_is_refused(self, small_run, tmp_path, training):
        run, store = small_run(), RunStore(tmp_path)
        run = replace(run, training=replace(run.training, **training))
        with pytest.raises(
            ValueError, match=r"has no checkpoint to measure|asks for 4,000,000,000,000,000 rows of metrics"
        ):
            store.finish(run, metrics=[], checkpoint=b"weights", environment={})
        write_json(tmp_path / run.id / "config.json", run.config)
        for name, content in (("environment.json", b"{}"), ("checkpoint.safetensors", b"")):
            write_bytes(tmp_path / run.id / name, content)
        pq.write_table(pa.Table.from_pylist([]), tmp_path / run.id / "metrics.parquet")
        reseal(tmp_path / run.id)
        [entry] = store.contents()
        assert run.id in entry.broken


DAMAGES = {
    "truncated": lambda content: content[:-3],
    "empty": lambda content: b"",
    "null": lambda content: b"null",
    "a list": lambda content: b"[]",
    "a number": lambda content: b"7",
    "an empty object": lambda content: b"{}",
    "wrong types": lambda content: b'{"version": [2], "task": 1, "metrics.parquet": [], "seconds": "x"}',
    "deep nesting": lambda content: b"[" * 200_000,
    "not UTF-8": lambda content: b"\xff\xfe{",
}


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("name", FINISHED)
@pytest.mark.parametrize("sealed", [False, True], ids=["", "with hashes that fit"])
def test_whatever_the_damage_the_file_and_the_way_on_are_named_in_one_line(stored, name, kind, sealed):
    run, store = stored
    path = store.folder(run) / name
    path.write_bytes(DAMAGES[kind](path.read_bytes()))
    believed = name == "checkpoint.safetensors" or (name, kind) in (
        ("environment.json", "an empty object"), ("environment.json", "wrong types"),
    )  # fmt: skip
    if sealed:
        if name == FILES:
            return
        reseal(store.folder(run))
    [entry] = store.contents()
    if sealed and believed:
        assert entry.broken is None, "any bytes may be weights, and any object an environment"
        return
    assert entry.run is None
    assert name in entry.broken or name == FILES, entry.broken
    assert run.id in entry.broken
    command = f"lengthgen runs --remove {run.id} --out {store.root.parent}"
    assert entry.broken.endswith(f"remove {run.id} ({command}), and it is trained again")
    if not sealed:
        with pytest.raises(StoreError, match=run.id):
            store.digest(run)


def test_no_flipped_bit_of_a_finished_run_shows_a_wrong_number(stored):
    run, store = stored
    places = random.Random(0)
    right = (repr(store.metrics(run)), store.environment(run), store.checkpoint(run), store.digest(run))
    noticed = 0
    for _ in range(100):
        path = store.folder(run) / places.choice(FINISHED)
        content = path.read_bytes()
        damaged = bytearray(content)
        damaged[places.randrange(len(content))] ^= 1 << places.randrange(8)
        path.write_bytes(damaged)
        for read, number in zip((store.metrics, store.environment, store.checkpoint, store.digest), right, strict=True):
            try:
                assert (repr(read(run)) if read == store.metrics else read(run)) == number
            except StoreError as error:
                assert run.id in str(error)
        noticed += store.look(run.id).run is None
        path.write_bytes(content)
    assert noticed == 100
    assert store.look(run.id).run == run


def test_a_file_that_is_too_large_is_not_read(stored, monkeypatch):
    run, store = stored
    for name in FINISHED:
        with monkeypatch.context() as small:
            small.setitem(store_module.LARGEST, name, 5)
            assert f"{name} has " in store.contents()[0].broken and "at most 5 are read" in store.contents()[0].broken
    with (store.folder(run) / "checkpoint.safetensors").open("r+b") as file:
        file.truncate(1 << 40)
    assert "at most 1,073,741,824 are read" in store.contents()[0].broken


def test_a_run_of_an_older_format_says_how_to_redo_it(stored):
    run, store = stored
    path = store.folder(run) / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 1}))
    assert "is of format 1, not 2: remove" in store.contents()[0].broken


def test_a_run_under_another_name_is_not_believed(stored, small_run):
    """All hashes fit, and the run whose config it has is there too."""
    run, store = stored
    other = small_run(seed=run.seed + 1)
    shutil.copytree(store.folder(run), store.folder(other))
    assert {entry.name: entry.run for entry in store.contents()} == {run.id: run, other.id: None}
    assert f"config.json belongs to another run, {run.id}" in store.look(other.id).broken
    for read in (store.metrics, store.checkpoint, store.environment, store.digest, store.final_exact_match):
        with pytest.raises(StoreError, match="belongs to another run than the folder's name says"):
            read(other)


class TestListing:
    """A listing reads again only the runs whose files have changed, and so finds every damage that a full one finds."""

    @pytest.fixture
    def listed(self, small_run, tmp_path, monkeypatch):
        """A store of several runs and what lists it: a function that returns the answer and the runs that it read."""
        monkeypatch.setattr(runs_module, "SETTLING", 0.0)
        store, read = RunStore(tmp_path / "runs"), []
        for seed in range(6):
            put(store, small_run(seed=seed))
        look = RunStore.look
        monkeypatch.setattr(RunStore, "look", lambda store, name: read.append(name) or look(store, name))

        def again():
            read.clear()
            return runs_answer(tmp_path), list(read)

        return store, again

    def test_a_run_that_has_not_changed_is_not_read_again(self, listed, small_run):
        store, again = listed
        names = store.finished_names()
        first, read = again()
        assert read == names == sorted(row["name"] for row in first["runs"])
        assert again() == (first, [])
        put(store, small_run("ape"))
        more, read = again()
        assert (read, len(more["runs"])) == ([small_run("ape").id], 7)
        store.remove(small_run("ape").id)
        assert again() == again() == (first, [])

    @pytest.mark.parametrize("name", FINISHED)
    def test_every_damage_to_a_listed_run_is_found(self, listed, small_run, name):
        """The damaged file has the size and, as after a restored backup, the time of the right one."""
        store, again = listed
        first, _ = again()
        path = store.folder(small_run(seed=3)) / name
        content, times = path.read_bytes(), path.stat()
        damaged = bytearray(content)
        damaged[len(content) // 2] ^= 1
        for change in (lambda: path.write_bytes(damaged), lambda: path.write_bytes(content[:-9]), path.unlink):
            change()
            if path.exists():
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            for _ in range(2):  # a broken run is read each time
                answer, read = again()
                assert (answer["broken"], read) == (1, [small_run(seed=3).id])
        path.write_bytes(content)
        assert again() == (first, [small_run(seed=3).id])

    def test_a_run_that_has_just_changed_is_read_again(self, listed, monkeypatch):
        store, again = listed
        monkeypatch.setattr(runs_module, "SETTLING", 60.0)
        assert again()[1] == again()[1] == store.finished_names()

    def test_rows_that_are_damaged_or_of_other_code_are_made_again(self, listed, common, monkeypatch):
        _, again = listed
        first, names = again()
        with monkeypatch.context() as patch:
            patch.setattr(runs_module, "versions", lambda: {"python": "another"})
            assert again() == (first, names)
        assert again() == (first, names)
        for path in (common / "cache" / "lengthgen" / "listings").iterdir():
            path.write_bytes(path.read_bytes()[:-1])
        assert again() == (first, names)
        assert again() == (first, [])

    def test_files_and_hidden_folders_are_no_runs(self, stored, tmp_path):
        run, store = stored
        (tmp_path / "notes.txt").touch()
        assert store.finished_names() == [run.id]
        assert RunStore(tmp_path / "none").finished_names() == []

    def test_of_many_runs_the_first_are_shown_and_every_broken_one(self, listed, monkeypatch):
        store, again = listed
        monkeypatch.setattr(runs_module, "MOST_SHOWN", 4)
        names = store.finished_names()
        (store.root / names[5] / "config.json").write_bytes(b"{")
        console = Console(file=io.StringIO(), width=200)
        console.print(runs_table(again()[0]))
        shown = console.file.getvalue()
        assert [name in shown for name in names] == [True] * 4 + [False, True]
        assert "6 runs" in shown and "and 2 more: choose by --task" in shown


def test_the_digest_of_a_run_is_that_of_its_content(stored, tmp_path):
    run, store = stored

    def digest(name, **parts):
        put(RunStore(tmp_path / name), run, **parts)
        return RunStore(tmp_path / name).digest(run)

    assert digest("other") == store.digest(run)
    assert digest("elsewhere", machine="another") == store.digest(run)
    assert digest("third", checkpoint=b"others") != store.digest(run)


class TestRemoval:
    """A removed run is gone, and a run that is being trained is not removed."""

    def test_a_removed_run_is_gone(self, stored, small_run):
        run, store = stored
        store.note_progress([small_run(seed=1)], 3)
        assert [entry.done for entry in store.contents()] == [None, 3]
        for entry in store.contents():
            store.remove(entry.name)
        assert store.contents() == []
        assert not store.finished(run)

    def test_runs_that_are_trained_together_are_removed_by_the_name_of_their_folder(self, small_run, tmp_path):
        store, runs = RunStore(tmp_path), [small_run(seed=seed) for seed in range(2)]
        store.note_progress(runs, 2)
        [name] = store.removable()
        assert name.startswith(f"{runs[0].group}-2-runs-")
        store.remove(name)
        assert store.contents() == []
        assert store.removable() == []

    def test_a_damaged_note_is_removed_by_the_name_under_which_it_is_broken(self, small_run, tmp_path):
        store = RunStore(tmp_path)
        for runs in ([small_run()], [small_run("ape", seed=seed) for seed in range(2)]):
            store.note_progress(runs, 2)
            store.state_path(runs).with_name("progress.json").write_bytes(b"{")
            [entry] = store.contents()
            assert entry.broken
            store.remove(entry.name)
            assert store.contents() == []

    def test_a_run_that_another_process_trains_is_not_removed_and_the_process_is_named(self, stored):
        run, store = stored
        with store.locks([run]):
            with pytest.raises(
                StoreError, match=rf"{run.id} is not removed, because process {os.getpid()} on .* trains it"
            ):
                store.remove(run.id)
            assert store.finished(run)
        store.remove(run.id)
        assert not store.finished(run)

    def test_runs_that_are_being_trained_together_are_not_removed(self, small_run, tmp_path):
        store, runs = RunStore(tmp_path), [small_run(seed=seed) for seed in range(2)]
        store.note_progress(runs, 2)
        [name] = store.removable()
        with store.locks(runs), pytest.raises(StoreError, match=f"{name} is not removed, because process"):
            store.remove(name)
        assert store.removable() == [name]

    @pytest.mark.parametrize("call", ["rename", "unlink"])
    def test_a_run_that_cannot_be_removed_is_an_error_and_stays_whole(self, stored, monkeypatch, call):
        """The patch stands for folders without write permission, as root may write to all."""
        run, store = stored

        def refuse(path, *others, **options):
            raise PermissionError(13, "Permission denied", str(path))

        with monkeypatch.context() as patch:
            patch.setattr(os, call, refuse)
            with pytest.raises(StoreError, match=rf"{run.id} cannot be removed: .*Permission denied"):
                store.remove(run.id)
        assert store.finished(run) == (call == "rename")
        assert all(entry.run == run for entry in store.contents())


class TestUnfinished:
    """Notes and states of what is under way: sealed, named when they are damaged, and of their own runs."""

    def test_unfinished_trainings_are_listed(self, small_run, tmp_path):
        store, runs = RunStore(tmp_path), [small_run(seed=seed) for seed in range(2)]
        store.note_progress(runs, 2)
        assert [(entry.run, entry.done) for entry in store.contents()] == [(run, 2) for run in runs]
        assert list(store.notes()) == [(tuple(runs), 2)]
        assert store.resumable() == [], "there is no state to go on from"
        write_bytes(store.state_path(runs), b"state")
        assert store.resumable() == [tuple(runs)]
        assert "state.sealed cannot be used" in store.contents()[0].broken

    @pytest.mark.parametrize("kind", DAMAGES)
    def test_a_damaged_note_is_named_and_nobody_else_minds(self, small_run, tmp_path, kind):
        store, run = RunStore(tmp_path), small_run()
        store.note_progress([run], 2)
        note = store.state_path([run]).with_name("progress.json")
        note.write_bytes(DAMAGES[kind](note.read_bytes()))
        assert list(store.notes()) == []
        assert store.resumable() == []
        [entry] = store.contents()
        assert (entry.name, entry.run) == (run.id, None)
        assert f"{note} cannot be used" in entry.broken
        assert entry.broken.endswith(f"(lengthgen runs --remove {run.id} --out {store.root.parent})")

    @pytest.mark.parametrize(
        "content", [{}, {"runs": [], "done": 1}, {"runs": 3, "done": 1}, {"runs": [1], "done": 1}, {"done": 1}]
    )
    def test_a_sealed_note_of_something_else_is_named(self, small_run, tmp_path, content):
        store, run = RunStore(tmp_path), small_run()
        store.note_progress([run], 2)
        note = store.state_path([run]).with_name("progress.json")
        for other in (content, read_sealed_json(note) | {"done": inf}, read_sealed_json(note) | {"done": "1"}):
            write_sealed_json(note, other)
            assert "progress.json cannot be used" in store.contents()[0].broken
            assert list(store.notes()) == []

    def test_a_note_of_another_training_is_not_believed(self, small_run, tmp_path):
        store, run, other = RunStore(tmp_path), small_run(), small_run(seed=1)
        for noted_run in (run, other):
            store.note_progress([noted_run], 2)
        note = store.state_path([run]).with_name("progress.json")
        note.write_bytes(store.state_path([other]).with_name("progress.json").read_bytes())
        assert [entry.run for entry in store.contents()] == [None, other]
        assert "it belongs to other runs than the folder's name says" in store.contents()[0].broken

    def test_leftovers_of_a_killed_process_are_not_shown_for_a_finished_run(self, stored):
        run, store = stored
        store.note_progress([run], 4)
        store.state_path([run]).with_name("progress.json").write_bytes(b"{")
        assert [(entry.run, entry.broken) for entry in store.contents()] == [(run, None)]

    def test_leftovers_of_finished_runs_are_removed_and_nothing_else(self, stored, small_run):
        run, store = stored
        other = small_run(seed=run.seed + 1)
        left = store.root / ".unfinished"
        for runs in ([run], [run, other], [other]):
            store.note_progress(runs, 2)
        for name in (f"{run.id}/.progress.json.0.partial", f"{run.id}.01.finished/x", f"{other.id}.01.finished/x"):
            (left / name).parent.mkdir(exist_ok=True)
            (left / name).write_bytes(b"")
        store.remove_leftovers()
        kept = {store.state_path([run, other]).parent.name, other.id, f"{other.id}.01.finished"}
        assert {path.name for path in left.iterdir()} == kept
        shutil.copytree(store.folder(run), store.folder(other))  # now all of them are finished
        store.remove_leftovers()
        assert [*left.iterdir()] == []


def test_locks_are_taken_in_one_order_whatever_that_of_the_runs(small_run, tmp_path, monkeypatch):
    """A common order keeps two sweeps from waiting for each other; one lock is of all the runs together."""
    taken = []

    @contextmanager
    def locked(path, work):
        taken.append(path.name)
        yield
        taken.remove(path.name)

    monkeypatch.setattr(store_module, "locked", locked)
    orders = set()
    for runs in itertools.permutations([small_run(seed=seed) for seed in range(3)]):
        with RunStore(tmp_path).locks(runs):
            orders.add(tuple(name for name in taken if name in {run.id for run in runs}))
            assert taken == sorted(taken)
            assert len(taken) == 4
        assert not taken
    assert len(orders) == 1


def test_a_process_that_waits_for_a_run_is_told_once_which_process_trains_it(small_run, tmp_path, monkeypatch):
    store, run = RunStore(tmp_path), small_run()
    holder = (
        "import sys; from lengthgen.infrastructure.files import locked; from pathlib import Path\n"
        "with locked(Path(sys.argv[1]), 'trains'): print('held', flush=True); sys.stdin.read()"
    )
    lines = []
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path / ".locks" / run.id)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "held\n"

        def hear(line):
            lines.append(line)
            process.stdin.close()  # the holder ends

        monkeypatch.setattr("lengthgen.infrastructure.files.tell", hear)
        with store.locks([run, small_run(seed=1)]):
            pass
    [line] = lines
    assert line.startswith(f"waiting for process {process.pid} on ") and line.endswith(f", which trains {run.id}")


def test_a_lock_file_may_hold_any_bytes(tmp_path):
    (tmp_path / "lock").write_bytes(b"\xff" * 10)
    with (tmp_path / "lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Held, match=r"^\ufffd{10} works$"), locked(tmp_path / "lock", "works", wait=False):
            pass


def test_a_full_disk_leaves_no_half_run(small_run, tmp_path, monkeypatch):
    run, store = small_run(), RunStore(tmp_path)
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        put(store, run)
    assert not store.finished(run)
    assert store.contents() == []
    monkeypatch.undo()
    put(store, run)
    assert repr(store.metrics(run)) == repr(rows_of(run))
