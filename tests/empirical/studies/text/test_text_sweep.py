"""Runs of the text protocol: stored once, whole, sealed, and apart from each other's failures."""

import json
from dataclasses import replace

import pytest

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.empirical.experiment import sweep
from lengthgen.empirical.experiment.sweep import train_sealed
from lengthgen.empirical.model.backend import CPU
from lengthgen.empirical.studies.text.corpus import load_profile
from lengthgen.empirical.studies.text.text_run import STRETCHED, TextRun, usual_encodings
from lengthgen.infrastructure.files import DamagedFile
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.theory.encodings.catalogue import ENCODINGS
from tests.pool_here import pool_here

PROFILE = load_profile("smoke")


@pytest.fixture
def trained_in_this_process(monkeypatch):
    monkeypatch.setattr(sweep, "pool", pool_here)


def run_of(encoding, **changes):
    return TextRun(encoding=encoding, profile_name="smoke", profile=replace(PROFILE, **changes))


def test_every_encoding_is_usual_but_those_of_a_circuit_and_those_that_see_later_tokens():
    assert set(ENCODINGS) - set(usual_encodings(PROFILE)) == {"ipe", "ipe-sh", "graph-alibi"}


def test_drawn_positions_are_enough_for_the_longest_text():
    usual = {parse_encoding(name).name: name for name in usual_encodings(load_profile("quick"))}
    assert set(usual) == {parse_encoding(name).name for name in usual_encodings(PROFILE)}
    drawn = {name for name, record in ENCODINGS.items() if record.drawn_from}
    assert {usual[name] for name in drawn} == {f"{name}[longest=2048]" for name in drawn} and len(drawn) == 5
    assert all(usual[name] == name for name in usual.keys() - drawn)


def test_a_file_that_changes_after_the_start_is_not_trained_under_the_old_name(tmp_path):
    path = tmp_path / "own.py"
    path.write_text("import beside_a_text\n")
    (tmp_path / "beside_a_text.py").write_text("number = 1\n")
    run = run_of(f"{path}:Own")
    before = run.config
    (tmp_path / "beside_a_text.py").write_text("number = 2\n")
    with pytest.raises(ProfileError, match="was changed meanwhile: run the same command again"):
        run.train(tmp_path, CPU)
    assert run_of(f"{path}:Own").config != before


def test_a_result_is_stored_once_and_a_failure_leaves_the_others(tmp_path, trained_in_this_process):
    runs, ended = [run_of("nope"), run_of("random-rope[longest=40]"), run_of("rope")], []
    failures = train_sealed(runs, tmp_path, CPU, ended.append)
    assert [failure.count("\n") for failure in failures] == [0] and "longest=64" in failures[0]
    assert sorted(run.encoding for run in ended) == sorted(run.encoding for run in runs)
    assert runs[1].result(tmp_path) is None
    rope = runs[2].result(tmp_path)
    assert list(rope["tests"]) == sorted(["rope", *(text.partition("[")[0] for text in STRETCHED)])
    assert rope["tests"]["ntk"][0] == rope["tests"]["rope"][0]
    assert rope["tests"]["ntk"][1] != rope["tests"]["rope"][1]
    assert rope["losses"] == [pytest.approx(losses) for losses in rope["losses"]] and rope["steps_shown"] == [0, 1, 2]
    ended.clear()
    assert train_sealed([runs[0], runs[2]], tmp_path, CPU, ended.append) == ended == []


def test_a_changed_file_is_refused(tmp_path, trained_in_this_process):
    run = run_of("nope")
    train_sealed([run], tmp_path, CPU, lambda run: None)
    content = json.loads(run.path(tmp_path).read_text())
    content["tests"]["nope"][0]["loss"][0] += 1
    run.path(tmp_path).write_text(json.dumps(content))
    with pytest.raises(DamagedFile, match=r"nope-\w+\.json is not as it was written"):
        run.result(tmp_path)


def test_whatever_the_numbers_depend_on_names_the_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("one = 1\n")
    own = [run_of(f"{file}:one")]
    paths = [run_of("nope").path(tmp_path), run_of("nope", seeds=3).path(tmp_path), own[0].path(tmp_path)]
    file.write_text("one = 2\n")
    paths.append(run_of(f"{file}:one").path(tmp_path))
    assert len(set(paths)) == 4
    assert {path.parent for path in paths} == {tmp_path / "text" / "smoke"}


@pytest.mark.parametrize(
    ("lengths", "says"), [((64, 32), "do not ascend"), ((64, 128), "do not ascend from the trained length 32")]
)
def test_lengths_ascend_from_the_trained_one(lengths, says):
    with pytest.raises(ProfileError, match=says):
        replace(PROFILE, lengths=lengths)
