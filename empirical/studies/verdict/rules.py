"""Rules of prediction that are stored for every cell before it is trained: each gives a probability or abstains.

The rules of lengthgen.circuits.prediction are asked with the circuit that the search finds first (mode free).
`minimised` asks the rule coverage with other right circuits too (`lengthgen.circuits.forecast.other_circuits`), since a
task may have a circuit that serves an encoding better.  `minimised-distractors` is the same for the rule distractors,
and `own-token` adds to it what a Transformer has without attention ([F]).  `distractors-with-token` asks for all that
distractors and selection-with-token do: training must show what a model needs in its view, the query's own token with
it ([F]).  `forecast` is the share that `lengthgen predict` states.

Of the rivals, src-counts, k-sparse and encodings-order answer; src-counts uses the analysis of the cell.  Left out are
rasp-l, depth, min-degree and c-rasp, which abstain on random circuits and on languages with states.
"""

from collections.abc import Sequence
from functools import partial

from lengthgen.circuits.analysis import SearchStopped, analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.encoding_spec import (
    EncodingError,
    EncodingSpec,
    HintNeeded,
    NoRelation,
    parse_encoding,
    relation_of,
)
from lengthgen.circuits.forecast.ask import with_forecast
from lengthgen.circuits.forecast.other_circuits import MinimisedRule, SeveralCircuits
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.prediction_record import Prediction, VariantPrediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.tasks.published.subjects import Subject
from lengthgen.empirical.studies.theories.by_encoding import ENCODINGS_ORDER
from lengthgen.empirical.studies.theories.counts import by_counts, window_of
from lengthgen.empirical.studies.theories.k_sparse import K_SPARSE
from lengthgen.empirical.studies.theories.rival import Guess, Question, abstain, no, yes
from lengthgen.empirical.studies.theories.src_rules import MAX_STEPS, MORE_PROMPTS

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
    "distractors-with-token",
    "minimised",
    "minimised-distractors",
    "own-token",
    "forecast",
    "src-counts",
    "k-sparse",
    "encodings-order",
)
"""Names of the rules, in the order of tables."""
_OF_CIRCUITS = RULES[RULES.index("arity") : RULES.index("k-sparse")]
"""Rules that use circuits of the task."""


def answers(
    task: TaskSpec, encodings: Sequence[str], train: Sequence[int], test: Sequence[int]
) -> dict[str, dict[str, Guess]]:
    """Return encoding -> rule of RULES -> answer, for models trained on `train` and tested on `test`.

    A rule abstains with its reason if no circuit is found within `MAX_STEPS` counted steps of one search, or if the
    encoding has no relation on the circuit.
    """
    specs = [parse_encoding(text) for text in encodings]
    largest = max(*train, *test)
    subject = Subject(name=str(task), words="", arxiv="", task=partial(task.laid_out, largest))
    several: SeveralCircuits | None = None
    stopped = ""
    try:
        analysis = analyse(task.plain(), task.format, largest, Mode.FREE, clock=Clock(steps=MAX_STEPS))
        several = SeveralCircuits(analysis, train, test)
    except SearchStopped as reason:
        stopped = str(reason)
    counts: dict[int, Guess] = {}
    return {
        text: _with_name(spec)
        | (_of_circuits(several, counts, spec) if several else dict.fromkeys(_OF_CIRCUITS, abstain(stopped)))
        | {
            name: theory.guess(
                Question(subject=subject, encoding=str(spec), train=max(train), test=max(test)),
            )
            for name, theory in (("k-sparse", K_SPARSE), ("encodings-order", ENCODINGS_ORDER))
        }
        for text, spec in zip(encodings, specs, strict=True)
    }


def _with_name(spec: EncodingSpec) -> dict[str, Guess]:
    """Return the answers of the rules that know no more than the encoding's name."""
    ideal = yes("its relation is that of a circuit") if is_ideal(spec) else no("its relation is that of no circuit")
    return {"always-no": no("the same for every cell"), "name": ideal}


def _of_circuits(several: SeveralCircuits, counts: dict[int, Guess], spec: EncodingSpec) -> dict[str, Guess]:
    """Return the answers of the rules that use circuits.

    Args:
        several: circuits of the task.
        counts: window -> answer of operators that read counts, which encodings share; what is missing is added.
        spec: the encoding.
    """
    analysis = several.analysis
    bounded = analysis.result is not None
    arity = yes("a circuit of bounded arity exists") if bounded else no("no circuit of bounded arity exists")
    try:
        prediction = predict(
            analysis,
            spec,
            train=several.train,
            test=several.train + several.later,
            more_prompts=MORE_PROMPTS,
        )
    except (HintNeeded, NoRelation) as reason:
        return dict.fromkeys(_OF_CIRCUITS, abstain(str(reason))) | {"arity": arity}
    guesses = {"arity": arity, "forecast": _of_forecast(with_forecast(several, spec, prediction))}
    if prediction.relation is None:
        return dict.fromkeys(_OF_CIRCUITS, abstain(prediction.why)) | guesses
    guesses |= _of_prediction(prediction) | _of_best_circuits(several, spec, prediction)
    guesses["src-counts"] = guesses["coverage"]
    if not prediction.generalizes:
        try:
            window = window_of(str(spec), analysis)
        except HintNeeded:  # learned labels that cannot tell positions apart at all scales
            window = 1
        if window not in counts:
            counts[window] = by_counts(analysis.traces, window, several.train[-1])
        guesses["src-counts"] = counts[window]
    return guesses


def _of_forecast(prediction: Prediction) -> Guess:
    """Return the answer of the forecast of a prediction."""
    forecast = prediction.forecast
    assert forecast
    breaks_at = None if forecast.breaks_at is None else round(forecast.breaks_at)
    return Guess(probability=forecast.share, reason=forecast.why, breaks_at=breaks_at)


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
    assert prediction.selection and prediction.selection_with_token
    assert prediction.distractors and prediction.distractors_with_token
    if prediction.labels_covered is None:
        labels = abstain("no circuit, so that no label is relevant")
    else:
        labels = yes("training shows every label") if prediction.labels_covered else no("the test has new labels")
    literal = yes if prediction.literal else no
    variants = {
        "distractors": prediction.distractors,
        "selection": prediction.selection,
        "selection-with-token": prediction.selection_with_token,
        "distractors-with-token": prediction.distractors_with_token,
    }
    return {
        "labels": labels,
        "literal": literal(f"operators: {low:g} in training, {high:g} in the test"),
        "coverage": _guess(prediction.breaks_at, prediction.why),
    } | {rule: _guess(variant.breaks_at, variant.why) for rule, variant in variants.items()}


def _of_best_circuits(several: SeveralCircuits, spec: EncodingSpec, prediction: Prediction) -> dict[str, Guess]:
    """Return the answers of the rules that are minimised over circuits."""
    assert prediction.distractors
    coverage, distractors, own_token = (several.latest_break(rule, spec, prediction) for rule in MinimisedRule)
    return {
        "minimised": _better(prediction, coverage),
        "minimised-distractors": _better(prediction.distractors, distractors),
        "own-token": _better(prediction.distractors, own_token),
    }


def _guess(breaks_at: int | None, why: str) -> Guess:
    """Return the answer of a rule that names the scale of a failure; None means that there is none."""
    return yes(why) if breaks_at is None else no(why, breaks_at=breaks_at)


def _better(first: Prediction | VariantPrediction, latest: int | None) -> Guess:
    """Return the answer with the best circuit, from that with the circuit that is found first."""
    if latest == first.breaks_at:
        return _guess(first.breaks_at, first.why)
    if latest is None:
        return yes("there is a circuit with which training shows all that the rule asks for")
    return no(f"of the circuits that were tried, the best fails at scale {latest}", breaks_at=latest)
