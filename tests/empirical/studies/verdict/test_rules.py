"""Rules of a verdict: they say today what was frozen before the runs, and abstain where there is nothing to say."""

import json
from pathlib import Path

import pytest

from lengthgen.circuits.analysis import Analysis, SearchStopped
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.tasks import parse_task
from lengthgen.empirical.studies.theories.rival import SURE, Guess
from lengthgen.empirical.studies.verdict import rules
from lengthgen.empirical.studies.verdict.frozen import answers_of, load_frozen
from lengthgen.empirical.studies.verdict.power import gate
from lengthgen.empirical.studies.verdict.preregistration import load_preregistration
from lengthgen.empirical.studies.verdict.rules import RULES, answers, is_ideal
from lengthgen.questions.predict import forecast
from tests.circuits.small_random_tasks import CIRCUIT, TEST, TRAIN

RECORD = Path(__file__).parents[4] / "docs" / "results" / "verdict"


@pytest.mark.parametrize(
    ("name", "task", "form"),
    [
        ("swapped-arguments", "random-reversed-swaps10-704481250[base=3]", "aligned"),
        ("swapped-arguments", "random-local-swaps11-773916902[base=3]", "aligned"),
        ("random-tasks", "random-reversed-rises7-736400609[base=3]", "aligned"),
        ("random-languages", "random-language-4-3-672958-13-with-states", "unaligned"),
    ],
)
def test_the_rules_answer_today_what_was_frozen(name: str, task: str, form: str) -> None:
    registered = load_preregistration(name)
    cells = [cell for cell in load_frozen(registered, RECORD / name).cells if (cell.task, cell.format) == (task, form)]
    assert {cell.encoding: dict(cell.answers) for cell in cells} == answers_of(registered, task, form)
    assert {*RULES} >= {*registered.rules}


@pytest.mark.parametrize("name", ["swapped-arguments", "random-languages"])
def test_the_power_before_the_first_run_is_that_of_the_record(name: str) -> None:
    power = gate(load_frozen(load_preregistration(name), RECORD / name))
    assert json.loads(json.dumps(power)) == json.loads((RECORD / name / "gate.json").read_text(encoding="utf-8"))


def test_relation_without_scale_hint_that_does_not_exist_is_an_abstention() -> None:
    guesses = answers(CIRCUIT, ("ipe",), TRAIN, TEST)["ipe"]
    assert guesses["coverage"].probability is None and "scale hint" in guesses["coverage"].reason
    assert guesses["minimised"].probability is None
    assert guesses["name"].probability == SURE


def test_learned_labels_without_a_relation_are_no_and_stay_so() -> None:
    guesses = answers(CIRCUIT, ("lbpe",), TRAIN, TEST)["lbpe"]
    for rule in ("coverage", "minimised", "src-counts"):
        assert guesses[rule].probability == pytest.approx(1 - SURE)


def test_the_forecast_answers_for_every_encoding_as_predict_does() -> None:
    names = ("ipe-sh", "rpe", "random-rope")
    guesses = answers(CIRCUIT, names, TRAIN, TEST)
    stated = forecast(CIRCUIT, ",".join(names), train=TRAIN, test=TEST)
    assert [guesses[name]["forecast"].probability for name in names] == [stated[name].share for name in names]
    assert [guesses[name]["forecast"].reason for name in names] == [stated[name].why for name in names]
    assert guesses["random-rope"]["coverage"].probability is None


def test_only_relations_of_circuits_are_ideal() -> None:
    names = ("ipe", "ipe-sh", "rpe", "ape", "nope", "fox", "clipped")
    assert [name for name in names if is_ideal(parse_encoding(name))] == ["ipe", "ipe-sh"]


def test_task_without_bounded_arity_is_a_no_of_arity_and_an_abstention_of_ideal_relations() -> None:
    guesses = answers(parse_task("majority-direct"), ("ipe-sh", "nope"), range(1, 6), range(1, 12))
    assert guesses["nope"]["arity"].probability == pytest.approx(1 - SURE)
    assert guesses["nope"]["labels"].probability is None
    assert guesses["ipe-sh"]["coverage"].probability is None


def test_stopped_search_is_an_abstention(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, clock: Clock) -> Analysis:
        raise SearchStopped("the limit is reached")

    monkeypatch.setattr(rules, "analyse", stop)
    guesses = answers(CIRCUIT, ("rpe",), TRAIN, TEST)["rpe"]
    assert guesses["coverage"] == Guess(probability=None, reason="the limit is reached")
    assert guesses["arity"].probability is None and guesses["name"].probability is not None
