"""Forecasts for the encodings of a task, each with its reason, comparable runs, and the runs on record."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lengthgen.circuits.analysis import Analysis, digest_of
from lengthgen.circuits.encoding_spec import EncodingSpec
from lengthgen.circuits.forecast.copies import Copy, copy_of
from lengthgen.circuits.forecast.features import (
    Features,
    Labels,
    Shown,
    bits_of,
    features_of,
    first_break,
    own_token_decides,
)
from lengthgen.circuits.forecast.other_circuits import SeveralCircuits
from lengthgen.circuits.forecast.record import OnRecord, on_record, version
from lengthgen.circuits.forecast.table import CONFIDENCE, FEATURES, Table, fitted_table, keys_of, middle
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.prediction_record import FARTHEST, Counted, Forecast, Prediction
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TaskSpec


def require_beyond(train: Sequence[int], test: Sequence[int]) -> None:
    """Raise TaskError if the largest test scale is not beyond the training scales, or if there are no scales."""
    if not train or not test or not all(isinstance(scale, int) for scale in (*train, *test)):
        raise TaskError("train and test are whole numbers, at least one of each, for example range(1, 6)")
    if max(test) <= max(train):
        raise TaskError(
            f"no test scale lies beyond the training scales {min(train)}-{max(train)}, so nothing would show "
            f"generalization: test up to a larger one, for example {min(train)}-{4 * max(train)}"
        )


def forecasts(
    analysis: Analysis,
    encodings: Iterable[EncodingSpec],
    train: Sequence[int],
    test: Sequence[int],
    *,
    task: TaskSpec | None = None,
) -> dict[str, Prediction]:
    """Return text of the encoding -> its prediction with all rules and its forecast; `task` as in `with_forecast`.

    A question on long inputs is answered by its copy (`lengthgen.circuits.forecast.copies.copy_of`), up to whose
    largest scale the task is analysed. Rules then name scales of the copy; forecasts name those of the question, and no
    run is on record for them.

    Raises:
        TaskError: some scale was not analysed, or no test scale lies beyond the training scales.
        HintNeeded, NoRelation, EncodingError: as `lengthgen.circuits.prediction.predict`.
    """
    require_beyond(train, test)
    copy = copy_of(train, test)
    several = SeveralCircuits(analysis, copy.train, copy.test)
    answers = {}
    for encoding in encodings:
        prediction = predict(analysis, encoding, train=copy.train, test=copy.test)
        small = None if copy.exact else copy
        answers[str(encoding)] = with_forecast(several, encoding, prediction, task=task, copy=small)
    return answers


def with_forecast(
    several: SeveralCircuits,
    spec: EncodingSpec,
    prediction: Prediction,
    *,
    task: TaskSpec | None = None,
    copy: Copy | None = None,
) -> Prediction:
    """Return a prediction with the answer of the rule `own_token`, and with its forecast.

    Args:
        several: circuits of the task.
        spec: the encoding.
        prediction: its prediction, as `lengthgen.circuits.prediction.predict` makes it.
        task: the task, if it is one of the project, which has its record by name; any other has it by its sequences.
        copy: copy of the question that the circuits answer; None if they answer it at its own scales.

    Raises:
        EncodingError: an object of the user's own cannot be loaded.
        RelationError: the relation gives no label to some pair.
    """
    analysis, train, test = several.analysis, several.train[-1], several.later[-1]
    is_usual = several.train + several.later == tuple(range(1, test + 1)) and train == len(several.train)
    prediction = several.with_own_token(spec, prediction)
    traces = analysis.traces[:test]
    own_token = analysis.remembered(("own token", train, test), lambda: own_token_decides(traces, train))
    features = features_of(
        spec,
        prediction,
        operands=analysis.format,
        bits=analysis.remembered(("bits", test), lambda: bits_of(traces[-1])),
        length=traces[-1].length,
        own_token=own_token,
    )
    named = task if task and not task.is_own else None
    seen = OnRecord(counted=Counted(runs=0, generalize=0), first_failures=Counter())
    if is_usual and copy is None:  # recorded runs were trained and tested on all scales from 1 on
        seen = on_record(
            named.name if named else "",
            named.base if named else None,
            analysis.remembered("digest", lambda: digest_of(analysis)),
            operands=analysis.format,
            encoding=str(spec),
            train=train,
            test=test,
        )
    table = fitted_table()
    share, low, high = posterior(table, features, seen)
    breaks = None if share > 0.5 else _breaks(table, features, seen, first_break(prediction, features.shown, train))
    if breaks:
        breaks = min(breaks[0], test), min(breaks[1], test), min(breaks[2], test)
        if copy:  # a scale of the copy stands for all after the one before it
            before, middle_break, last = (round(copy.factor * scale) for scale in (breaks[0] - 1, *breaks[1:]))
            breaks = before + 1, middle_break, last
    return replace(
        prediction,
        forecast=Forecast(
            share=share,
            low=low,
            high=high,
            breaks_at=breaks and breaks[1],
            breaks_within=breaks and (breaks[0], breaks[2]),
            why=_start(features, table) + _why(features, prediction),
            distance=table.distance(features),
            comparable=table.finest(features).counted,
            comparable_tasks=table.finest(features).tasks,
            recorded=seen.counted,
            version=version(),
        ),
    )


def posterior(table: Table, features: Features, seen: OnRecord) -> tuple[float, float, float]:
    """Return the expected share of a cell and the ends of its interval, each rounded to thousandths.

    Before a run of the cell is seen, its share follows the beta distribution of its row; runs on record update it. The
    interval also counts how few tasks the row has (`Table.spread`).
    """
    from scipy.special import betaincinv  # slow to import, and most commands need none of it

    share, weight = table.share(features), table.concentration(features)
    generalize, fail = seen.counted.generalize, seen.counted.runs - seen.counted.generalize
    expected = (weight * share + generalize) / (weight + seen.counted.runs)
    middle_share, weight = table.spread(features)
    yes, no = weight * middle_share + generalize, weight * (1 - middle_share) + fail
    tail = (1 - CONFIDENCE) / 2
    # Close to 0 or 1 a tail may hold the mean, which the interval should not leave out.
    low, high = min(expected, float(betaincinv(yes, no, tail))), max(expected, float(betaincinv(yes, no, 1 - tail)))
    return round(expected, 3), round(low, 3), round(high, 3)


def _breaks(table: Table, features: Features, seen: OnRecord, expected: int | None) -> tuple[int, float, int] | None:
    """Return where failing runs should fail first: the lower end, the middle and the upper end.

    Runs of the cell say it if any is on record, and else comparable runs, counted from the scale that a rule names.
    """
    if seen.first_failures:
        return middle(seen.first_failures)
    if table.distance(features) == FARTHEST:
        return None
    return table.breaks_of(features, expected)


def _start(features: Features, table: Table) -> str:
    """Return a warning if no counted table of these labels starts like this one; empty if some does."""
    with_start = keys_of(features)[FEATURES.index("start") + 1]
    unusual = features.start and with_start not in table.rows
    return f"no counted run starts at {features.start}: " if unusual else ""


def _why(features: Features, prediction: Prediction) -> str:
    low, high = prediction.complexity_train, prediction.complexity_test
    if features.shown in (Shown.DRAWN, Shown.UNKNOWN):
        return f"no rule answers: {prediction.why}"
    if features.shown is not Shown.NEW_ENTRIES or features.labels is Labels.LEARNED or low is None or high is None:
        return features.shown.value
    if math.isinf(high):
        return "labels do not tell arguments from other keys"
    if not prediction.labels_covered:
        return "steps meet labels that training never showed"
    if high > low:
        return f"steps need more operators: {low:g} become {high:g}"
    return "steps need table entries that training never showed"
