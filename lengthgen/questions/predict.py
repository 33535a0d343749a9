"""`lengthgen predict`, `forecast` in Python: forecasts for the encodings of a task, with the answers of all rules."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.prediction_record import RULES, Forecast, Prediction
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import TaskSpec, parse_task
from lengthgen.empirical.experiment.protocol import SCALE
from lengthgen.infrastructure.files import require_folder
from lengthgen.infrastructure.messages import tell
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import BETWEEN, EDGES, filled, titled, yes_no
from lengthgen.terminal.options import (
    Base,
    Encodings,
    Format,
    Json,
    TaskArgument,
    TestScales,
    TrainScales,
    path_option,
    usual_encodings,
)
from lengthgen.terminal.progress import phases_told
from lengthgen.terminal.typed import parse_scales

if TYPE_CHECKING:
    from lengthgen.circuits.encoding_spec import EncodingSpec
    from lengthgen.circuits.forecast.copies import Copy


def predict(
    task: TaskArgument,
    encoding: Encodings = None,
    train: TrainScales = "1-5",
    test: TestScales = "1-20",
    format: Format = "aligned",
    base: Base = None,
    rules: Annotated[bool, typer.Option("--rules", help="Show also what each theory says.")] = False,
    draw: Annotated[Path | None, path_option("Folder to write with a picture: circuit, labels and forecast.")] = None,
    as_json: Json = False,
) -> None:
    """Forecast which share of the runs generalizes under each encoding, where the others break, and why."""
    from lengthgen.circuits.encoding_spec import HintNeeded, NoRelation, parse_encodings
    from lengthgen.circuits.forecast.ask import require_beyond
    from lengthgen.circuits.forecast.copies import copy_of

    training, testing = (parse_scales(scales, largest=SCALE.most) for scales in (train, test))
    require_beyond(training, testing)
    if draw:
        require_folder(draw)
    specs = parse_encodings(usual_encodings(format) if encoding is None else encoding)
    spec = TaskSpec(name=task, base=base, format=format)
    copy, clock = copy_of(training, testing), Clock()
    with phases_told(f"analysis of {task}", clock):
        analysis = analyse(spec.plain(), spec.format, copy.test[-1], clock=clock)
        ask = partial(forecasts_of, analysis, train=training, test=testing, task=spec)
        with clock.phase("predictions"):
            try:
                answer = ask(specs)
            except (HintNeeded, NoRelation) as reason:
                if encoding is not None:
                    raise
                if isinstance(reason, HintNeeded):
                    tell(f"ipe is replaced by ipe-sh: {reason}")
                    specs = parse_encodings(usual_encodings("unaligned"))
                else:
                    tell(f"{specs[0]} is left out: {reason}")
                    specs = specs[1:]
                answer = ask(specs)
    tables = [forecast_table(answer), *([rules_table(answer)] if rules else [])]
    content = answer.as_json()
    if draw:
        from lengthgen.paper_figs.figures import forecast_panels

        content["figure"] = forecast_panels.write(analysis, answer.predictions, draw, train=copy.train, test=copy.test)
    written = [Text(f"written: {path}") for path in content.get("figure", [])]
    show(content, Group(*tables, *written), as_json)


@dataclass(frozen=True, kw_only=True, repr=False)
class Forecasts:
    """Forecasts for several encodings on one task; `forecasts["rpe"]` is that of one.

    Attributes:
        task: name of the task in its format.
        format: format of the task.
        arity: argument slots of its operators; None if no bounded number is enough.
        src_at_least: lower bound of SRC over all scales; None if no bounded number of slots is enough.
        train, test: scales of training and of the test.
        copy: small copy of the question that answers it; None if it is answered at its own scales.
        predictions: text of the encoding -> its forecast with the answers of all rules.
    """

    task: str
    format: str
    arity: int | None
    src_at_least: float | None
    train: tuple[int, ...]
    test: tuple[int, ...]
    copy: "Copy | None"
    predictions: Mapping[str, Prediction]

    def __getitem__(self, encoding: str) -> Forecast:
        """Return the forecast for one encoding."""
        forecast = self.predictions[encoding].forecast
        assert forecast is not None
        return forecast

    def __repr__(self) -> str:
        shown = [f"{encoding}: {summary(self[encoding])}" for encoding in self.predictions]
        more = [f"and {len(shown) - 8} more"] if len(shown) > 8 else []
        return "\n".join([f"Forecasts for {self.title}", *shown[:8], *more])

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{head}</th>" for head in HEADINGS)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(part)}</td>" for part in (encoding, *cells(self[encoding]))) + "</tr>"
            for encoding in self.predictions
        )
        return f"<table><caption>{escape(self.title)}</caption><tr>{heads}</tr>{rows}</table>"

    @property
    def title(self) -> str:
        """Task and scales in words."""
        return f"{self.task}, trained on {self.train[0]}-{self.train[-1]}, tested on {self.test[0]}-{self.test[-1]}"

    def as_json(self) -> dict[str, Any]:
        """Return all answers as plain data, those of `lengthgen predict --json`."""
        return {
            "task": self.task,
            "format": self.format,
            "mode": "free",
            "arity": self.arity,
            "src_at_least": self.src_at_least,
            "train": list(self.train),
            "test": list(self.test),
            "copy": self.copy and {"train": list(self.copy.train), "test": list(self.copy.test)},
            "predictions": {encoding: prediction.as_json() for encoding, prediction in self.predictions.items()},
            "label": "F",
        }


HEADINGS = ("encoding", "generalize", "breaks at", "because", "on record")
"""Headings of a table of forecasts."""


def cells(forecast: Forecast) -> tuple[str, str, str, str]:
    """Return share, breaking scale, reason and record of a forecast as the entries of a table."""
    recorded = forecast.recorded
    record = f"{recorded.generalize} of {recorded.runs}" if recorded.runs else "-"
    if recorded.unfit and not recorded.runs:
        record = f"0 of {recorded.unfit} fit"
    share = interval_text(forecast.share, forecast.low, forecast.high)
    return share, breaks_text(forecast), forecast.why, record


def interval_text(share: float, low: float, high: float) -> str:
    """Return the share of a forecast with its interval."""
    return f"{share:.2f} ({low:.2f}-{high:.2f})"


def breaks_text(forecast: Forecast) -> str:
    """Return the breaking scale of a forecast, with its range where it is not one scale."""
    if forecast.breaks_at is None or forecast.breaks_within is None:
        return "-"
    low, high = forecast.breaks_within
    return f"{forecast.breaks_at:g}" if low == high else f"{forecast.breaks_at:g} ({low}-{high})"


def summary(forecast: Forecast) -> str:
    """Return a forecast in one line."""
    share, breaks, why, record = cells(forecast)
    where = "" if breaks == "-" else f", breaks at {breaks}"
    return f"{share}{where}: {why}" + ("" if record == "-" else f"; on record {record}")


def forecast(
    task: Task | TaskSpec | str,
    encodings: "str | Sequence[EncodingSpec] | None" = None,
    *,
    train: Iterable[int] = range(1, 6),
    test: Iterable[int] = range(1, 21),
    format: str = "aligned",
) -> Forecasts:
    """Return for each encoding the share of runs that should generalize, of those that fit their training scales.

        forecast("parity", "rpe,ape", train=range(1, 6), test=range(1, 21))

    Args:
        task: a task, or its name: `parity`, `addition[base=4]`, `path/to/file.py:mine`.
        encodings: names separated by commas, or encodings; the usual four if None.
        train: scales of training.
        test: scales of the test.
        format: format of the task, one of aligned, filled and unaligned; that of a TaskSpec is kept.

    Raises:
        TaskError: the task does not exist or cannot have the format, or no test scale lies beyond the training scales.
        EncodingError: an encoding does not exist.
        HintNeeded: an encoding is ideal without scale hint, and the task needs one.
        NoRelation: an encoding is ideal, and the task has no circuit.
    """
    from lengthgen.circuits.encoding_spec import parse_encodings
    from lengthgen.circuits.forecast.ask import require_beyond
    from lengthgen.circuits.forecast.copies import copy_of

    if isinstance(task, str):
        task = parse_task(task)
        task = TaskSpec(name=task.name, base=task.base, format=format)
    require_beyond(train := [*train], test := [*test])
    train, test = sorted({*train}), sorted({*test})
    spec = task if isinstance(task, TaskSpec) else None
    plain = task.plain() if isinstance(task, TaskSpec) else task
    analysis = analyse(plain, spec.format if spec else format, copy_of(train, test).test[-1])
    texts = usual_encodings(analysis.format) if encodings is None else encodings
    specs = parse_encodings(texts) if isinstance(texts, str) else texts
    return forecasts_of(analysis, specs, train, test, task=spec)


def forecasts_of(
    analysis: Analysis,
    encodings: "Sequence[EncodingSpec]",
    train: Sequence[int],
    test: Sequence[int],
    *,
    task: TaskSpec | None,
) -> Forecasts:
    """Return the forecasts on an analysed task; `task` names it on record, if it has a name there.

    Raises:
        TaskError: no test scale lies beyond the training scales, or some scale was not analysed.
        HintNeeded, NoRelation, EncodingError: as `forecast`.
    """
    from lengthgen.circuits.forecast.ask import forecasts
    from lengthgen.circuits.forecast.copies import copy_of

    predictions = forecasts(analysis, encodings, train, test, task=task)
    copy = copy_of(train, test)
    return Forecasts(
        task=analysis.task.name,
        format=analysis.format,
        arity=analysis.result.arity if analysis.result else None,
        src_at_least=analysis.result.bounds[max(analysis.result.bounds)][0] if analysis.result else None,
        train=tuple(train),
        test=tuple(test),
        copy=None if copy.exact else copy,
        predictions=predictions,
    )


WIDTH, REASON, NARROWEST = 80, HEADINGS.index("because"), 20
"""Width of a table of forecasts in characters, and the column that is folded for it, with its least width."""


def _from_train_to_test(train: float | None, test: float | None) -> str:
    """Return a number in training and in the test as text."""
    return "-" if train is None else f"{train:g} -> {test:g}"


def forecast_table(forecasts: Forecasts) -> Group:
    """Return the forecasts by encoding, in five columns of 80 characters together, with the runs that they count."""
    rows = [(encoding, *cells(forecasts[encoding])) for encoding in forecasts.predictions]
    widths = [max(map(len, entries)) for entries in zip(HEADINGS, *rows, strict=True)]
    left = max(WIDTH - sum(widths) + widths[REASON] - BETWEEN * (len(widths) - 1) - EDGES, NARROWEST)
    folded = ([Text(fill(entry, left) if at == REASON else entry) for at, entry in enumerate(row)] for row in rows)
    notes = [f"{encoding}: {_comparable(forecasts[encoding])}" for encoding in forecasts.predictions]
    notes += _at_most(forecasts)
    if copy := forecasts.copy:
        notes.append(f"computed on a copy, scales {copy.words}; breaking scales times {copy.factor:g} [F]")
        notes.append("copies are no guide to published results, least of all without a circuit: `lengthgen forecast`")
    return titled(
        f"Forecasts for {forecasts.title}",
        filled(HEADINGS, folded),
        *notes,
        "generalize: share of fitting runs, 95% interval; breaks at: median, 80% between [F]",
        "counted runs start their tables at N(0, 1), some of ape, rpe and ipe, and all of T5, at N(0, 0.02^2)",
        "--rules: what each theory says; `lengthgen forecast`: how good forecasts are",
    )


def _at_most(forecasts: Forecasts) -> list[str]:
    """Return a sentence for each ideal relation that breaks and whose circuit may not be the simplest."""
    from lengthgen.circuits.forecast.features import IDEAL_RELATIONS  # imports sympy

    return [
        f"{encoding}: at most {prediction.complexity_test:g} operators, at least {least:g}: another circuit may have "
        "simpler labels"
        for encoding, prediction in forecasts.predictions.items()
        if (least := forecasts.src_at_least) and prediction.relation in IDEAL_RELATIONS and not prediction.generalizes
        if least < (prediction.complexity_test or 0) < math.inf
    ]


def _comparable(forecast: Forecast) -> str:
    """Return how many comparable runs a forecast counts, and how far it had to go for them."""
    counted = forecast.comparable
    if forecast.out_of_depth and not forecast.recorded.runs:
        return f"out of its depth: of all {counted.runs:,} counted runs, {counted.generalize:,} generalized"
    near = "" if not forecast.distance else f", at distance {forecast.distance} [F]"
    tasks = f"{forecast.comparable_tasks:,} task{'s' if forecast.comparable_tasks != 1 else ''}"
    return f"{counted.runs:,} comparable runs of {tasks}{near}, {counted.generalize:,} generalized"


def rules_table(forecasts: Forecasts) -> Group:
    """Return what each rule says of each encoding: yes, or no with the scale at which it expects a failure."""
    rows: list[list[str | Text]] = []
    for encoding, prediction in forecasts.predictions.items():
        labels = prediction.selection and (prediction.selection.labels_train, prediction.selection.labels_test)
        counts = (prediction.complexity_train, prediction.complexity_test), labels or (None, None)
        names = Text(encoding), Text(prediction.relation or "-")  # brackets in a Text are no markup
        answers = (_rule_text(prediction, rule) for rule in RULES)
        rows.append([*names, *(_from_train_to_test(*of) for of in counts), *answers])
    return titled(
        "What the rules say [F], and the scale at which they expect a failure; they are explained in the glossary",
        filled(("encoding", "relation", "operators", "labels", *RULES.values()), rows),
        *(f"{encoding}: {prediction.why}" for encoding, prediction in forecasts.predictions.items()),
        *_at_most(forecasts),
        "operators, labels: over the training scales -> over all scales; labels are those of arguments, which for the "
        "ideal relation are its roles (operator, slot) [F]",
    )


def _rule_text(prediction: Prediction, rule: str) -> str:
    """Return the answer of a rule with the scale of the failure."""
    answer, at = prediction.says(rule), prediction.expects_failure_at(rule)
    return yes_no(answer) if at is None or answer is not False else f"no, {at:g}"
