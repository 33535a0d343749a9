"""Forecasts for the encodings of a task, with the answers of all rules: `lengthgen predict`, `forecast` in Python."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import EncodingSpec, parse_encodings
from lengthgen.circuits.forecast.ask import forecasts, require_beyond
from lengthgen.circuits.prediction_record import Forecast, Prediction
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import TaskSpec, parse_task
from lengthgen.defaults import usual_encodings


@dataclass(frozen=True, kw_only=True, repr=False)
class Forecasts:
    """Forecasts for several encodings on one task; `forecasts["rpe"]` is that of one.

    Attributes:
        task: name of the task in its format.
        format: format of the task.
        arity: argument slots of its operators; None if no bounded number is enough.
        train, test: scales of training and of the test.
        predictions: text of the encoding -> its forecast with the answers of all rules.
    """

    task: str
    format: str
    arity: int | None
    train: tuple[int, ...]
    test: tuple[int, ...]
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
            "train": list(self.train),
            "test": list(self.test),
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
    encodings: str | Sequence[EncodingSpec] | None = None,
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
    if isinstance(task, str):
        task = parse_task(task)
        task = TaskSpec(name=task.name, base=task.base, format=format)
    require_beyond(train := [*train], test := [*test])
    train, test = sorted({*train}), sorted({*test})
    spec = task if isinstance(task, TaskSpec) else None
    analysis = analyse(
        task.plain() if isinstance(task, TaskSpec) else task, spec.format if spec else format, max(*train, *test)
    )
    texts = usual_encodings(analysis.format) if encodings is None else encodings
    specs = parse_encodings(texts) if isinstance(texts, str) else texts
    return forecasts_of(analysis, specs, train, test, task=spec)


def forecasts_of(
    analysis: Analysis,
    encodings: Sequence[EncodingSpec],
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
    return Forecasts(
        task=analysis.task.name,
        format=analysis.format,
        arity=analysis.result.arity if analysis.result else None,
        train=tuple(train),
        test=tuple(test),
        predictions=forecasts(analysis, encodings, train, test, task=task),
    )
