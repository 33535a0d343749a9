"""Frozen predictions: a changed answer changes the seeds, and whoever forges the files around old runs is noticed."""

import hashlib
import json
from dataclasses import replace

import pytest

from lengthgen.circuits.prediction_record import RULES, VariantPrediction
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment.protocol import Cell, checked_protocol, load_profile
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.model.backend import CPU
from lengthgen.empirical.trial import frozen as frozen_module
from lengthgen.empirical.trial.frozen import FILE, Frozen, stored_runs
from lengthgen.infrastructure.files import DamagedFile, read_json, read_sealed_json, write_json, write_sealed_json
from lengthgen.questions import rounds
from lengthgen.questions.experiment import Experiment
from lengthgen.questions.rounds import run_conjecture
from tests.empirical.trial.trials import NO, YES, rows_of

CELLS = tuple(Cell(task=TaskSpec(name="copy", format="aligned"), encoding=name) for name in ("ipe", "ape"))


def protocol(seeds=3, **changes):
    return checked_protocol(
        **{
            "name": "mine", "cli_name": "mine", "title": "", "source": "", "cells": CELLS, "train": (1, 2),
            "test": (1, 2, 3, 4), "profile_name": "smoke", "profile": load_profile("smoke", {"seeds": seeds}),
        } | changes
    )  # fmt: skip


def freeze(path, first=YES, second=NO, **changes):
    predictions = {CELLS[0]: {"free": first}, CELLS[1]: {"free": second}}
    return Frozen.of(protocol(**changes), predictions, path / "mine" / FILE)


def seeds(frozen):
    return [[run.seed for run in runs] for runs in frozen.runs().values()]


def test_the_same_predictions_give_the_same_seeds_and_no_two_runs_share_one(tmp_path):
    first, again = freeze(tmp_path), freeze(tmp_path)
    assert seeds(first) == seeds(again) and first.digest == again.digest
    assert len({seed for cell in seeds(first) for seed in cell}) == 6
    assert len(read_sealed_json(tmp_path / "mine" / FILE)["frozen"]) == 1


def test_a_damaged_file_says_what_to_do_and_freezing_anew_gives_the_same_seeds(tmp_path):
    before, path = freeze(tmp_path), tmp_path / "mine" / FILE
    path.write_text(path.read_text(encoding="utf-8").replace('"ipe"', '"rpe"'), encoding="utf-8")
    with pytest.raises(
        DamagedFile, match=r"frozen.json is not as it was written .*: restore it from a copy, or remove it"
    ):
        freeze(tmp_path)
    path.unlink()
    assert seeds(freeze(tmp_path)) == seeds(before)


def test_a_changed_prediction_changes_the_seeds_of_its_cell_alone(tmp_path):
    before, after = freeze(tmp_path), freeze(tmp_path, second=replace(NO, breaks_at=4))
    assert seeds(before)[0] == seeds(after)[0]
    assert not {*seeds(before)[1]} & {*seeds(after)[1]}
    assert before.digest != after.digest
    assert len(read_sealed_json(tmp_path / "mine" / FILE)["frozen"]) == 2, "the earlier record stays"


@pytest.mark.parametrize(
    "changes",
    [
        {"test": (1, 2, 3)},
        {"cells": CELLS[:1]},
        {"profile": load_profile("smoke", {"evaluation": {"threshold": 0.5}})},
        {"profile": load_profile("smoke", {"training": {"epochs": 3}})},
    ],
    ids=["scales", "cells", "threshold", "training"],
)
def test_what_was_preregistered_is_part_of_the_seeds(tmp_path, changes):
    assert seeds(freeze(tmp_path))[0] != seeds(freeze(tmp_path, **changes))[0]


def test_more_seeds_titles_explanations_and_versions_of_the_code_change_nothing(tmp_path, monkeypatch):
    before = freeze(tmp_path)
    monkeypatch.setattr("lengthgen.empirical.experiment.run.FORMAT_VERSION", 99)
    reworded = replace(YES, why="in other words", unseen_distractors=7, labels_covered=None)
    after = freeze(tmp_path / "elsewhere", first=reworded, seeds=4, title="Another title", source="Another source")
    assert [cell[:3] for cell in seeds(after)] == seeds(before)
    assert before.digest == after.digest


def test_a_rule_added_later_changes_no_seed_and_is_post_hoc(tmp_path):
    before = freeze(tmp_path)
    variant = VariantPrediction(complexity_train=1, complexity_test=1, breaks_at=None, why="")
    after = freeze(tmp_path, first=replace(YES, selection=variant))
    assert seeds(before) == seeds(after)
    assert "free/selection" not in next(iter(after.cells.values())).rules
    new = freeze(tmp_path / "new", first=replace(YES, selection=variant))
    assert "free/selection" in next(iter(new.cells.values())).rules
    assert seeds(new)[0] != seeds(before)[0], "as a prediction it needs runs of its own"


def test_stored_runs_are_those_of_the_frozen_cells_and_old_ones_without(tmp_path):
    assert [[run.seed for run in runs] for runs in stored_runs(protocol(), tmp_path).values()] == [[0, 1, 2]] * 2
    frozen = freeze(tmp_path)
    assert stored_runs(protocol(), tmp_path) == frozen.runs()
    [part] = stored_runs(protocol(), tmp_path, CELLS[1:]).values()
    assert [run.seed for run in part] == seeds(frozen)[1]


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """Experiment whose runs get made-up metrics; a list of the runs that were trained."""
    done = []

    def train_all(runs, store, *, provenance, **options):
        for run in runs:
            if not store.finished(run):
                done.append(run)
                rows = [replace(row, exact_match=1.0, exact_match_seen=1.0) for row in rows_of(run)]
                store.finish(run, metrics=rows, checkpoint=b"", environment=provenance[run.id])

    monkeypatch.setattr(rounds, "train_all", train_all)
    return Experiment(protocol=protocol(), out=tmp_path), done


def forge(trained):
    """Turn the prediction of the second cell around, and rewrite every file that names it, with its hashes."""
    path = trained.folder / "predictions.json"
    content = read_sealed_json(path)
    digests = {}
    for entry in content["answer"]:
        if entry["cell"]["encoding"] == "ape" and entry["prediction"]:
            before = frozen_module.Prediction.from_json(entry["prediction"])
            after = replace(before, breaks_at=None, entries_covered=True, complexity_test=before.complexity_train)
            entry["prediction"] = after.as_json()
            digests[before.digest] = after.digest
    write_sealed_json(path, content)
    for folder in RunStore(trained.out / "runs").root.glob("[!.]*"):
        environment = read_json(folder / "environment.json")
        write_json(folder / "environment.json", {key: digests.get(value, value) for key, value in environment.items()})
        files = read_json(folder / "files.json")
        new = hashlib.sha256((folder / "environment.json").read_bytes()).hexdigest()
        write_json(folder / "files.json", files | {"environment.json": new})


def test_rewritten_predictions_that_agree_with_all_hashes_are_not_those_of_the_runs(trained):
    experiment, done = trained
    honest = run_conjecture(experiment, CPU)
    assert [cell["predicted_before_training"] for cell in honest["cells"]] == [True] * 2
    assert honest["cells"][1]["coverage"] is False
    seeds_before = {run.seed for run in done}
    done.clear()
    run_conjecture(experiment, CPU)
    assert not done, "nothing is trained twice"
    forge(experiment)
    forged = run_conjecture(experiment, CPU)
    assert len(done) == 3 and not {run.seed for run in done} & seeds_before, "a changed prediction needs new runs"
    assert forged["cells"][1]["coverage"] is True
    assert [cell["not_frozen"]["runs"] for cell in forged["cells"]] == [0, 3]
    assert forged["frozen"] != honest["frozen"]


def test_runs_stored_before_predictions_were_frozen_are_shown_and_decide_nothing(trained):
    experiment, done = trained
    store = experiment.store
    for runs in stored_runs(experiment.protocol, experiment.out).values():
        for run in runs:
            store.finish(run, metrics=rows_of(run, exact_match_seen=0.5), checkpoint=b"", environment={})
    trial = run_conjecture(experiment, CPU)
    assert len(done) == 6
    assert [cell["not_frozen"] for cell in trial["cells"]] == [{"runs": 3, "fit": 0, "generalize": 0}] * 2


def test_the_hash_is_said_before_training_and_stored(trained, capsys, monkeypatch):
    experiment, _ = trained
    train_all, said_before = rounds.train_all, []

    def listen(*runs, **options):
        said_before.append(capsys.readouterr().err)
        train_all(*runs, **options)

    monkeypatch.setattr(rounds, "train_all", listen)
    trial = run_conjecture(experiment, CPU)
    assert f"frozen predictions: {trial['frozen']}; publish it before training" in said_before[0]
    [record] = json.loads((experiment.folder / FILE).read_text())["frozen"]
    assert record["hash"] == trial["frozen"]


def test_a_rule_without_a_frozen_answer_is_marked_in_the_trial(trained, monkeypatch):
    experiment, done = trained
    with monkeypatch.context() as earlier:
        earlier.setattr(frozen_module, "RULES", {name: text for name, text in RULES.items() if name != "distractors"})
        run_conjecture(experiment, CPU)
    done.clear()
    trial = run_conjecture(experiment, CPU)
    assert not done
    assert trial["rules"]["distractors"]["post_hoc"] and not trial["rules"]["coverage"]["post_hoc"]
    assert not any(cell["post_hoc"] for cell in trial["cells"])
