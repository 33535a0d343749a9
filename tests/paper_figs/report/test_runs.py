"""Runs on the report page: each number equals that of the store, and broken runs are named."""

import hashlib
import json
from dataclasses import replace

import pytest

from lengthgen.infrastructure.cache import Cached
from lengthgen.paper_figs.report import runs
from lengthgen.paper_figs.report.runs import by_checkpoint, runs_data
from lengthgen.questions import report
from tests.proofs_checks import stores


@pytest.fixture
def store(tmp_path):
    def scores(cell, seed):
        chosen = cell.encoding == "lbpe" and seed < 3
        return (lambda scale: 1.0 if scale <= 10 else round(1 / (scale + seed), 3)) if chosen else None

    return stores.fill(tmp_path, "fig4", scores)


def test_every_number_is_that_of_the_store(store):
    content = runs_data(store, {}).content
    finished = {stored.name: stored.run for stored in store.contents()}
    assert {run["name"] for run in content["runs"]} == set(finished)
    for shown in content["runs"]:
        run, group = finished[shown["name"]], content["groups"][shown["group"]]
        assert (group["encoding"], group["train"], group["test"]) == (run.encoding, [*run.train], [*run.test])
        assert shown["seed"] == run.seed
        assert shown["hash"] == hashlib.sha256((store.folder(run) / "files.json").read_bytes()).hexdigest()
        stored = {(row.epoch, row.scale): row for row in store.metrics(run)}
        assert len(stored) == len(shown["epochs"]) * len(group["test"])
        for epoch, loss, row in zip(shown["epochs"], shown["loss"], shown["exact"], strict=True):
            for scale, value in zip(group["test"], row, strict=True):
                assert value == stored[epoch, scale].exact_match
                assert loss == stored[epoch, scale].training_loss


def test_only_runs_not_read_before_are_read(store, monkeypatch):
    first = runs_data(store, {})
    remembered = json.loads(json.dumps(first.read))
    new = remembered.popitem()
    read = []
    monkeypatch.setattr(runs, "by_checkpoint", lambda rows: read.append(rows) or by_checkpoint(rows))
    again = runs_data(store, remembered)
    assert len(read) == 1
    assert again == first and again.read[new[0]] == new[1]


def test_a_run_that_differs_from_the_remembered_one_is_read_again(store):
    """A run removed and trained again under its old name, where rounding is different, is read again."""
    first = runs_data(store, {})
    shown = first.content["runs"][4]
    run = store.look(shown["name"]).run
    rows = [replace(row, exact_match=row.exact_match / 2, training_loss=0.75) for row in store.metrics(run)]
    kept = {"checkpoint": store.checkpoint(run), "environment": store.environment(run)}
    store.remove(shown["name"])
    store.finish(run, metrics=rows, **kept)
    again = runs_data(store, first.read)
    assert {*again.content["runs"][4]["loss"]} == {0.75}
    assert again == runs_data(store, {})
    pairs = zip(first.content["runs"], again.content["runs"], strict=True)
    assert sum(before != after for before, after in pairs) == 1


def test_seeds_of_one_cell_are_one_group(store):
    content = runs_data(store, {}).content
    assert len(content["groups"]) == 3
    assert sorted(run["seed"] for run in content["runs"] if run["group"] == 0) == [0, 1, 2]
    assert len(content["environments"]) == 1


@pytest.mark.parametrize(
    "name", ["metrics.parquet", "config.json", "checkpoint.safetensors", "files.json", "environment.json"]
)
def test_a_damaged_run_is_named_and_the_others_stay(store, name):
    damaged = sorted(stored.name for stored in store.contents())[0]
    (store.root / damaged / name).write_bytes(b"{")
    data = runs_data(store, {})
    assert list(data.broken) == [damaged]
    assert len(data.content["runs"]) == 8
    assert damaged not in {run["name"] for run in data.content["runs"]}


@pytest.mark.parametrize("wrong", [[], "text", 7, None, {"seconds": "1"}, {"seconds": [1]}, {"versions": [1]}], ids=str)
def test_a_run_whose_environment_is_of_another_form_is_named(store, monkeypatch, wrong):
    monkeypatch.setattr(store, "environment", lambda run: wrong)
    data = runs_data(store, {})
    assert len(data.broken) == 9 and not data.content["runs"] and not data.read
    assert all("holds no run that can be shown" in why for why in data.broken.values())


def test_texts_of_an_environment_are_bounded(store, monkeypatch):
    monkeypatch.setattr(
        store, "environment", lambda run: {"machine": "\x1b" * 10**6, "versions": {"a\nb": "1" * 10**6}}
    )
    [environment] = runs_data(store, {}).content["environments"]
    assert len(json.dumps(environment)) < 100_000 and "\x1b" not in environment["machine"]
    assert [*environment["versions"]] == ["a b"]


@pytest.mark.parametrize("wrong", [7, [], {}, {"epochs": "all"}, {"broken": "no"}], ids=str)
def test_runs_remembered_in_another_form_are_read_again(store, monkeypatch, wrong):
    monkeypatch.setattr(report, "source_digest", lambda *_: "code")
    first = runs_data(store, {})
    memory = Cached(path=store.root.parent / report.MEMORY / "runs.json", code="code")
    memory.keep(dict.fromkeys(first.read, wrong))
    assert report._runs_data(store.root.parent) == first


def test_a_run_of_another_format_version_is_named(store):
    name = sorted(stored.name for stored in store.contents())[0]
    path = store.root / name / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 1}))
    [why] = runs_data(store, {}).broken.values()
    assert "format 1" in why


def test_an_unfinished_run_says_how_far_it_is(tmp_path):
    from lengthgen.empirical.experiment.store import RunStore

    [run, *_] = next(iter(stores.runs_of("fig4").values()))
    store = RunStore(tmp_path)
    store.note_progress([run], 2)
    [shown] = runs_data(store, {}).content["runs"]
    assert shown["done"] == 2 and "exact" not in shown


def test_nothing_stored_is_nothing_shown(tmp_path):
    from lengthgen.empirical.experiment.store import RunStore

    data = runs_data(RunStore(tmp_path / "runs"), {})
    assert data.content == {"groups": [], "environments": [], "runs": []} and not data.broken
