"""Circuits of trials reach the report page without the user's file; damage is named with the command that mends it."""

import pytest

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.infrastructure.cache import Cached
from lengthgen.paper_figs.report.relations import explored, pool_labels
from lengthgen.paper_figs.report.trial_circuits import CIRCUITS, trial_circuits

TRIALS = {"mine": "lengthgen conjecture my_task.py:mine"}


@pytest.fixture(scope="module")
def exploration():
    task = TaskSpec(name="parity", format="aligned")
    return explored(task, analyse(task.plain(), task.format, 4), {}, range(0))


def store(out, answer):
    (out / "mine").mkdir(exist_ok=True)
    Cached(path=out / "mine" / CIRCUITS, code="any").keep(answer)


def test_a_stored_circuit_is_read_as_it_was_computed(tmp_path, exploration):
    explorations, pool = pool_labels([exploration])
    store(tmp_path, {"explorations": explorations, "pool": pool})
    data = trial_circuits(tmp_path, TRIALS)
    [read] = data.content["explorations"]
    parts = ("task", "format", "src", "scales", "roles")
    assert {key: read[key] for key in parts} == {key: exploration[key] for key in parts}
    assert list(data.hashes) == ["mine/circuits.json"] and not data.broken


def test_a_trial_without_circuits_is_no_damage(tmp_path):
    data = trial_circuits(tmp_path, TRIALS)
    assert not data.content["explorations"] and not data.broken


@pytest.mark.parametrize(
    "change",
    [
        lambda given: given | {"scales": [{"names": ["x"], "steps": [[1, "u", []]]}]},
        lambda given: given | {"encodings": {"ipe": {"labels": [10**6]}}},
        lambda given: given | {"encodings": {"ipe": {"labels": [-1]}}},
        lambda given: {key: value for key, value in given.items() if key != "roles"} | {"src": [[1]]},
        lambda given: given["task"],
    ],
)
def test_content_of_another_form_is_named_with_the_command(tmp_path, exploration, change):
    explorations, pool = pool_labels([exploration])
    store(tmp_path, {"explorations": [change(explorations[0])], "pool": pool})
    data = trial_circuits(tmp_path, TRIALS)
    assert not data.content["explorations"]
    assert data.broken["mine/circuits.json"].endswith("make it again with  lengthgen conjecture my_task.py:mine")


def test_an_edited_file_is_named(tmp_path, exploration):
    explorations, pool = pool_labels([exploration])
    store(tmp_path, {"explorations": explorations, "pool": pool})
    path = tmp_path / "mine" / CIRCUITS
    path.write_text(path.read_text().replace("x1", "x9"))
    assert "is not as it was written" in trial_circuits(tmp_path, TRIALS).broken["mine/circuits.json"]
