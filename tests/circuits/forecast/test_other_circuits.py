"""Other circuits of a task are right, and the best of them fails no sooner than the first."""

import pytest

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.coverage import unseen_distractors
from lengthgen.circuits.encoding_spec import parse_encoding, relation_of
from lengthgen.circuits.forecast.other_circuits import (
    MinimisedRule,
    SeveralCircuits,
    all_circuits_fail,
    favoured_circuit,
    first_breaks,
    other_circuit,
)
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.search.wirings import Mode
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load, parse_task
from lengthgen.theory.relation import absolute, clipped_relative, constant, diagonal_apart, relative
from tests.circuits.small_random_tasks import CIRCUIT, LANGUAGE, OWN_LETTER, TEST, TRAIN, TWO_LETTERS


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    """Analysis of the random circuit."""
    return analyse(CIRCUIT.plain(), "aligned", TEST[-1])


def _others(analysis: Analysis) -> list[Circuit]:
    """Circuits of the modes declared and typed."""
    return [circuit for mode in (Mode.DECLARED, Mode.TYPED) for circuit in other_circuit(analysis, mode)]


def test_other_circuits_are_right_and_favoured_ones_read_seen_labels(analysis: Analysis) -> None:
    relation = relation_of(parse_encoding("rpe"), analysis.circuit)
    for circuit in [*_others(analysis), *favoured_circuit(analysis, relation, TRAIN)]:
        assert circuit.check(analysis.traces)


def test_breaks_of_a_circuit_are_those_of_its_prediction(analysis: Analysis) -> None:
    for encoding in ("ipe-sh", "rpe", "clipped", "nope"):
        spec = parse_encoding(encoding)
        relation = relation_of(spec, analysis.circuit)
        prediction = predict(analysis, spec, train=TRAIN, test=TEST)
        breaks = first_breaks(analysis, analysis.circuit, relation, TRAIN, TEST[len(TRAIN) :])
        assert breaks == (prediction.breaks_at, prediction.distractors.breaks_at)


def test_no_key_disturbs_steps_that_need_the_own_token_alone() -> None:
    for task, free in ((OWN_LETTER, True), (TWO_LETTERS, False)):
        analysis = analyse(task.plain(), task.format, TEST[-1])
        relation = diagonal_apart(relative())
        (circuit,) = favoured_circuit(analysis, relation, TRAIN)
        seen, later = analysis.traces[: len(TRAIN)], analysis.traces[len(TRAIN) :]
        disturbing = unseen_distractors(circuit, relation, seen, later)
        left = unseen_distractors(circuit, relation, seen, later, own_token=True)
        assert disturbing.keys() == {trace.scale for trace in later}
        assert left.keys() == (set() if free else disturbing.keys())
        for scale, pairs in left.items():
            assert not len(pairs - disturbing[scale]) and not len(disturbing[scale] - pairs)


def test_the_best_circuit_is_one_that_fails_last() -> None:
    analysis = analyse(LANGUAGE.plain(), LANGUAGE.format, TEST[-1])
    several = SeveralCircuits(analysis, TRAIN, TEST)
    for encoding in ("rpe", "clipped", "nope"):
        spec = parse_encoding(encoding)
        relation = relation_of(spec, analysis.circuit)
        circuits = [analysis.circuit, *_others(analysis), *favoured_circuit(analysis, relation, TRAIN)]
        of_each = [first_breaks(analysis, circuit, relation, TRAIN, several.later) for circuit in circuits]
        never = TEST[-1] + 1
        latest = [max(never if breaks[at] is None else breaks[at] for breaks in of_each) for at in range(2)]
        prediction = predict(analysis, spec, train=TRAIN, test=TEST)
        assert (prediction.breaks_at, prediction.distractors.breaks_at) == of_each[0]
        got = [several.latest_break(rule, spec, prediction) or never for rule in MinimisedRule]
        assert got[:2] == latest
        assert got[2] >= latest[1]


REPEAT = Task(
    name="repeat",
    alphabet=("#", "0", "1"),
    prompt=lambda n: [*["#"] * (n - 1), ("0", "1")],
    generate=lambda prompt: [prompt[-1]] * len(prompt),
)
"""`# .. # x x .. x`: each step may read any x, near or far."""


@pytest.mark.parametrize(
    "task",
    [CIRCUIT.laid_out(TEST[-1]), LANGUAGE.plain(), OWN_LETTER.plain(), load("addition-carry", base=3), REPEAT],
    ids=lambda task: task.name,
)
def test_where_all_circuits_fail_each_that_is_tried_fails(task: Task) -> None:
    analysis = analyse(task, "unaligned", TEST[-1])
    sure = 0
    for relation in (relative(), clipped_relative(2), constant(), absolute()):
        for own_token in (False, True):
            labels = diagonal_apart(relation) if own_token else relation
            for circuit in [analysis.circuit, *_others(analysis), *favoured_circuit(analysis, labels, TRAIN)]:
                later = TEST[len(TRAIN) :]
                breaks = first_breaks(analysis, circuit, labels, TRAIN, later, own_token=own_token)
                for disturbed, at in zip((False, True), breaks, strict=True):
                    fail = [
                        all_circuits_fail(analysis, labels, TRAIN, scale, disturbed=disturbed, own_token=own_token)
                        for scale in TEST
                    ]
                    first = TEST[fail.index(True)] if any(fail) else None
                    assert first is None or (at is not None and at <= first), (relation.name, own_token, disturbed)
                    sure += first == at is not None
    assert sure  # the answer is known for some


def test_what_never_fails_needs_no_other_circuit(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = analyse(parse_task("parity").plain(), "aligned", TEST[-1])
    spec = parse_encoding("ipe")
    prediction = predict(analysis, spec, train=TRAIN, test=TEST)
    monkeypatch.setattr("lengthgen.circuits.forecast.other_circuits.first_breaks", None)  # would fail if it were called
    several = SeveralCircuits(analysis, TRAIN, TEST)
    assert all(several.latest_break(rule, spec, prediction) is None for rule in MinimisedRule)


def test_learned_labels_without_a_relation_have_one_circuit(analysis: Analysis) -> None:
    spec = parse_encoding("lbpe")
    prediction = predict(analysis, spec, train=TRAIN, test=TEST)
    assert prediction.breaks_at is not None and prediction.distractors is not None
    at = prediction.distractors.breaks_at
    several = SeveralCircuits(analysis, TRAIN, TEST)
    assert [several.latest_break(rule, spec, prediction) for rule in MinimisedRule] == [prediction.breaks_at, at, at]


def test_an_encoding_without_a_relation_has_no_best_circuit(analysis: Analysis) -> None:
    spec = parse_encoding("random-rope[longest=64]")
    prediction = predict(analysis, spec, train=TRAIN, test=TEST)
    with pytest.raises(ValueError, match="no prediction that other circuits could better"):
        SeveralCircuits(analysis, TRAIN, TEST).latest_break(MinimisedRule.COVERAGE, spec, prediction)
