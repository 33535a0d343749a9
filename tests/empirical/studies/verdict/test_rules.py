"""Rules of a verdict: each answers what its circuit says, and other circuits are right and only help."""

import pytest

from lengthgen.circuits.analysis import Analysis, SearchStopped, analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.tasks import parse_task
from lengthgen.empirical.studies.court.trial import guess_as_json
from lengthgen.empirical.studies.theories.rival import SURE, Guess
from lengthgen.empirical.studies.verdict import rules
from lengthgen.empirical.studies.verdict.rules import RULES, answers, is_ideal
from tests.circuits.small_random_tasks import CIRCUIT, LANGUAGE, OWN_LETTER, SWAPPED, TEST, TRAIN, TWO_LETTERS

ENCODINGS = ("ipe-sh", "ipe", "rpe", "clipped", "nope")


@pytest.fixture(scope="module")
def of_circuit() -> dict[str, dict[str, Guess]]:
    """Answers for a random circuit."""
    return answers(CIRCUIT, ENCODINGS, TRAIN, TEST)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    """Analysis of the random circuit."""
    return analyse(CIRCUIT.plain(), "aligned", TEST[-1])


def test_every_rule_answers_every_cell_the_same_again(of_circuit: dict[str, dict[str, Guess]]) -> None:
    assert {encoding: set(guesses) for encoding, guesses in of_circuit.items()} == {key: {*RULES} for key in ENCODINGS}
    assert answers(CIRCUIT, ENCODINGS, TRAIN, TEST) == of_circuit
    for guesses in of_circuit.values():
        for guess in guesses.values():
            assert Guess(**guess_as_json(guess)) == guess


def test_rules_of_the_prediction_agree_with_it(of_circuit: dict[str, dict[str, Guess]], analysis: Analysis) -> None:
    for encoding in ("ipe-sh", "rpe", "clipped", "nope"):
        prediction = predict(analysis, parse_encoding(encoding), train=TRAIN, test=TEST)
        guesses = of_circuit[encoding]
        assert prediction.distractors is not None and prediction.selection is not None
        assert (guesses["coverage"].probability == SURE) == prediction.generalizes
        assert guesses["coverage"].breaks_at == prediction.breaks_at
        assert (guesses["literal"].probability == SURE) == prediction.literal
        assert (guesses["labels"].probability == SURE) == prediction.labels_covered
        assert guesses["distractors"].breaks_at == prediction.distractors.breaks_at
        assert guesses["selection"].breaks_at == prediction.selection.breaks_at


def test_rise_beyond_training_breaks_the_ideal_relation(of_circuit: dict[str, dict[str, Guess]]) -> None:
    assert of_circuit["ipe-sh"]["coverage"].breaks_at == 7
    assert of_circuit["ipe-sh"]["name"].probability == SURE
    assert of_circuit["ipe-sh"]["always-no"].probability == pytest.approx(1 - SURE)
    assert of_circuit["rpe"]["arity"].probability == SURE


def test_relation_without_scale_hint_that_does_not_exist_is_an_abstention(
    of_circuit: dict[str, dict[str, Guess]],
) -> None:
    guesses = of_circuit["ipe"]
    assert guesses["coverage"].probability is None and "scale hint" in guesses["coverage"].reason
    assert guesses["minimised"].probability is None
    assert guesses["name"].probability == SURE


def test_learned_labels_without_a_relation_are_no_and_stay_so() -> None:
    guesses = answers(CIRCUIT, ("lbpe",), TRAIN, TEST)["lbpe"]
    for rule in ("coverage", "minimised", "src-counts"):
        assert guesses[rule].probability == pytest.approx(1 - SURE)


def test_only_relations_of_circuits_are_ideal() -> None:
    ideal = {
        name for name in ("ipe", "ipe-sh", "lbpe", "clipped", "t5", "rpe", "nope") if is_ideal(parse_encoding(name))
    }
    assert ideal == {"ipe", "ipe-sh", "lbpe"}


def test_another_circuit_turns_a_no_of_coverage_into_a_yes() -> None:
    guesses = answers(LANGUAGE, ("rpe", "nope"), TRAIN, TEST)
    assert guesses["rpe"]["coverage"].probability == pytest.approx(1 - SURE)
    assert guesses["rpe"]["minimised"].probability == SURE


def test_minimised_never_breaks_before_coverage(of_circuit: dict[str, dict[str, Guess]]) -> None:
    for guesses in of_circuit.values():
        for rule, first in (
            ("minimised", "coverage"),
            ("minimised-distractors", "distractors"),
            ("own-token", "minimised-distractors"),
        ):
            before, after = guesses[first].breaks_at, guesses[rule].breaks_at
            if before is None:
                assert guesses[rule] == guesses[first]
            else:
                assert after is None or after >= before


def test_a_query_token_that_changes_its_place_is_a_no_of_the_rules_that_see_it() -> None:
    """Another circuit cannot help, and the ideal labels say the places."""
    guesses = answers(SWAPPED, ("ipe-sh",), TRAIN, TEST)["ipe-sh"]
    for rule in ("literal", "coverage", "distractors", "selection", "own-token"):
        assert guesses[rule].probability == SURE, rule
    for rule in ("selection-with-token", "distractors-with-token"):
        assert (guesses[rule].probability, guesses[rule].breaks_at) == (pytest.approx(1 - SURE), 6), rule


def test_distractors_with_token_breaks_where_the_first_of_both_rules_does(
    of_circuit: dict[str, dict[str, Guess]],
) -> None:
    for guesses in of_circuit.values():
        both = [guesses[rule].breaks_at for rule in ("distractors", "selection-with-token")]
        first = min((scale for scale in both if scale is not None), default=None)
        assert guesses["distractors-with-token"].breaks_at == first


def test_steps_that_need_the_own_token_alone_are_free_under_every_encoding() -> None:
    own = answers(OWN_LETTER, ("rpe", "ape", "nope"), TRAIN, TEST)
    for guesses in own.values():
        assert guesses["minimised-distractors"].probability == pytest.approx(1 - SURE)
        assert guesses["own-token"].probability == SURE
    for guesses in answers(TWO_LETTERS, ("rpe", "ape", "nope"), TRAIN, TEST).values():
        assert guesses["own-token"].probability == pytest.approx(1 - SURE)


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
