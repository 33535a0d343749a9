"""Rules of prediction that are stored for every cell before it is trained: each gives a probability or abstains.

The rules of circuits.prediction are asked with the circuit that the search finds first (mode free).  `minimised` asks
the rule coverage with other right circuits too, since a task may have a circuit that serves an encoding better.  Its
set of circuits is bounded ([F]): that of mode free, the reference circuit (mode declared), that of mode typed, and one
made in favour of the encoding's relation (`favoured_circuit`).  The relation is the same for all of them: that by
which the model is trained.  So a yes of `minimised` is sound, and a no means that none of these circuits serves.
`minimised-distractors` is the same for the rule distractors.  `own-token` adds to it what a Transformer has without
attention ([F]): the query's own token has a label of its own, and no key disturbs a step that needs no other token.

Of the rivals, src-counts, k-sparse and encodings-order answer; src-counts uses the analysis of the cell.  Left out are
rasp-l, depth, min-degree and c-rasp, which abstain on random circuits and on languages with states.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from circuits.analysis import Analysis, SearchStopped, analyse
from circuits.circuit import Circuit
from circuits.clock import Clock
from circuits.encodings import EncodingError, EncodingSpec, HintNeeded, NoRelation, parse_encoding, relation_of
from circuits.modes import Mode
from circuits.prediction import predict
from circuits.prediction_record import Prediction
from circuits.tasks import TaskSpec
from circuits.tasks.published.subject import Subject
from circuits.theories import encodings_order, k_sparse
from circuits.theories.counts import by_counts, window_of
from circuits.theories.scaled import MAX_STEPS, MORE_PROMPTS
from circuits.theories.theory import Guess, Question, abstain, no, yes
from empirical.verdict.other_circuits import Breaks, favoured_circuit, first_breaks, other_circuits
from theory.relation import Relation, diagonal_apart

RULES = (
    "always-no",
    "name",
    "arity",
    "labels",
    "literal",
    "coverage",
    "distractors",
    "selection",
    "selection-with-token",
    "minimised",
    "minimised-distractors",
    "own-token",
    "src-counts",
    "k-sparse",
    "encodings-order",
)
"""Names of the rules, in the order of tables."""


@dataclass(frozen=True, kw_only=True)
class _Scales:
    """Trained scales, and the other tested scales, ascending."""

    train: tuple[int, ...]
    later: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _Shared:
    """Results that encodings share.

    Attributes:
        others: circuits of other modes.
        counts: window -> answer of operators that read counts.
        breaks: relation -> `first_breaks` of the other circuits, up to one that never fails.
        own_token: relation -> `first_breaks` of all circuits with the query's own token apart, up to one that never
            fails.
    """

    others: Sequence[Circuit]
    counts: dict[int, Guess] = field(default_factory=dict)
    breaks: dict[Relation, list[Breaks]] = field(default_factory=dict)
    own_token: dict[Relation, list[Breaks]] = field(default_factory=dict)


def answers(
    task: TaskSpec, encodings: Sequence[str], train: Sequence[int], test: Sequence[int]
) -> dict[str, dict[str, Guess]]:
    """Return encoding -> rule of RULES -> answer, for models trained on `train` and tested on `test`.

    A rule abstains with its reason if no circuit is found within `MAX_STEPS` counted steps of one search, or if the
    encoding has no relation on the circuit.

    Raises:
        TaskError: the task cannot have its format.
        EncodingError: an encoding is unknown.
    """
    specs = [parse_encoding(text) for text in encodings]
    scales = _Scales(train=tuple(sorted(set(train))), later=tuple(sorted(set(test) - set(train))))
    largest = max(*train, *test)
    subject = Subject(name=str(task), words="", arxiv="", task=partial(task.laid_out, largest))
    analysis: Analysis | None = None
    stopped = ""
    try:
        analysis = analyse(task.plain(), task.format, largest, Mode.FREE, clock=Clock(steps=MAX_STEPS))
    except SearchStopped as reason:
        stopped = str(reason)
    shared = _Shared(others=[] if analysis is None else other_circuits(analysis))
    return {
        text: _of_encoding(analysis, stopped, shared, spec, scales)
        | {
            name: theory.guess(
                Question(subject=subject, encoding=str(spec), train=max(train), test=max(test)),
            )
            for name, theory in (("k-sparse", k_sparse.THEORY), ("encodings-order", encodings_order.THEORY))
        }
        for text, spec in zip(encodings, specs, strict=True)
    }


def _of_encoding(
    analysis: Analysis | None, stopped: str, shared: _Shared, spec: EncodingSpec, scales: _Scales
) -> dict[str, Guess]:
    """Return the answers of all rules that use the analysis for one encoding."""
    ideal = is_ideal(spec)
    guesses = {
        "always-no": no("the same for every cell"),
        "name": yes("its relation is that of a circuit") if ideal else no("its relation is that of no circuit"),
    }
    of_prediction = [rule for rule in RULES[: RULES.index("k-sparse")] if rule not in guesses]
    if analysis is None:
        return guesses | {rule: abstain(stopped) for rule in of_prediction}
    bounded = analysis.result is not None
    guesses["arity"] = yes("a circuit of bounded arity exists") if bounded else no("no circuit of bounded arity exists")
    of_prediction.remove("arity")
    try:
        prediction = predict(
            analysis,
            spec,
            train=scales.train,
            test=scales.train + scales.later,
            more_prompts=MORE_PROMPTS,
        )
    except (HintNeeded, NoRelation) as reason:
        return guesses | {rule: abstain(str(reason)) for rule in of_prediction}
    if prediction.relation is None:
        return guesses | {rule: abstain(prediction.why) for rule in of_prediction}
    guesses |= _of_prediction(prediction)
    guesses["src-counts"] = guesses["coverage"]
    if not _says_yes(guesses["coverage"]):
        try:
            window = window_of(str(spec), analysis)
        except HintNeeded:  # learned labels that cannot tell positions apart at all scales
            window = 1
        if window not in shared.counts:
            shared.counts[window] = by_counts(analysis.traces, window, scales.train[-1])
        guesses["src-counts"] = shared.counts[window]
    return guesses | _minimised(analysis, shared, spec, scales, guesses["coverage"], guesses["distractors"])


def _minimised(
    analysis: Analysis, shared: _Shared, spec: EncodingSpec, scales: _Scales, coverage: Guess, distractors: Guess
) -> dict[str, Guess]:
    """Return the answers of the rules that try several circuits, from those with the circuit that is found first."""
    best = {"minimised": coverage, "minimised-distractors": distractors, "own-token": distractors}
    if analysis.result is None or all(_says_yes(guess) for guess in best.values()):
        return best
    try:
        relation = relation_of(spec, analysis.circuit)
    except HintNeeded:  # learned labels: there is no relation to keep while the circuit changes
        return best
    if relation not in shared.breaks:
        shared.breaks[relation] = _breaks_of(analysis, shared.others, relation, scales)
    for of_coverage, of_distractors in shared.breaks[relation]:
        failures = {"minimised": of_coverage, "minimised-distractors": of_distractors, "own-token": of_distractors}
        best = {rule: _better(guess, failures[rule]) for rule, guess in best.items()}
    if _says_yes(best["own-token"]):
        return best
    if relation not in shared.own_token:
        circuits = [analysis.circuit, *shared.others]
        shared.own_token[relation] = _breaks_of(analysis, circuits, diagonal_apart(relation), scales, own_token=True)
    for _, at in shared.own_token[relation]:
        best["own-token"] = _better(best["own-token"], at)
    return best


def _breaks_of(
    analysis: Analysis, circuits: Sequence[Circuit], relation: Relation, scales: _Scales, *, own_token: bool = False
) -> list[Breaks]:
    """Return `first_breaks` of the circuits and the favoured one, up to the first that never fails."""
    all_breaks = []
    for circuit in [*circuits, *favoured_circuit(analysis, relation, scales.train)]:
        breaks = first_breaks(analysis, circuit, relation, scales.train, scales.later, own_token=own_token)
        all_breaks.append(breaks)
        if breaks == (None, None):
            break
    return all_breaks


def is_ideal(spec: EncodingSpec) -> bool:
    """True if the encoding's relation is that of a circuit of the task, so that there is none without a circuit."""
    if spec.record.relation_of is None:
        return False
    try:
        relation_of(spec, None)
    except EncodingError:
        return True
    return False


def _of_prediction(prediction: Prediction) -> dict[str, Guess]:
    """Return the answers of the rules that one prediction holds."""
    low, high = prediction.complexity_train, prediction.complexity_test
    assert prediction.selection and prediction.selection_with_token and prediction.distractors
    if prediction.labels_covered is None:
        labels = abstain("no circuit, so that no label is relevant")
    else:
        labels = yes("training shows every label") if prediction.labels_covered else no("the test has new labels")
    literal = yes if prediction.literal else no
    variants = {
        "distractors": prediction.distractors,
        "selection": prediction.selection,
        "selection-with-token": prediction.selection_with_token,
    }
    return {
        "labels": labels,
        "literal": literal(f"operators: {low:g} in training, {high:g} in the test"),
        "coverage": _guess(prediction.breaks_at, prediction.why),
    } | {rule: _guess(variant.breaks_at, variant.why) for rule, variant in variants.items()}


def _guess(breaks_at: int | None, why: str) -> Guess:
    """Return the answer of a rule that names the scale of a failure; None means that there is none."""
    return yes(why) if breaks_at is None else no(why, breaks_at=breaks_at)


def _says_yes(guess: Guess) -> bool:
    return guess.probability is not None and guess.probability > 0.5


def _better(guess: Guess, breaks_at: int | None) -> Guess:
    """Return the answer so far, or that of another circuit if this fails later; None stands for no failure."""
    if _says_yes(guess):
        return guess
    if breaks_at is None:
        return yes("there is a circuit with which training shows all that the rule asks for")
    if guess.breaks_at is not None and breaks_at > guess.breaks_at:
        return no(f"of the circuits that were tried, the best fails at scale {breaks_at}", breaks_at=breaks_at)
    return guess
