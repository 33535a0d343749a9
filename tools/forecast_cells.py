"""Make circuits/forecast/cells.csv from the records: `python tools/forecast_cells.py ANSWERS [RECORD ...]`.

What the rules answer for each recorded task is computed once and kept in the folder ANSWERS, so that an interrupted
call goes on: an hour on two cores.  With names of records, the cells of all others stay as they are in the file.
Drawn cells without a fitting run are left out, as no forecast counts them.
"""

import argparse
import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lengthgen.circuits.analysis import SearchStopped, analyse, digest_of
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.encoding_spec import EncodingError, parse_encoding
from lengthgen.circuits.forecast.copies import TRAINED, Copy, copy_of
from lengthgen.circuits.forecast.features import (
    IDEAL_RELATIONS,
    OwnToken,
    bits_of,
    features_of,
    first_break,
    own_token_decides,
)
from lengthgen.circuits.forecast.other_circuits import SeveralCircuits
from lengthgen.circuits.forecast.rates import is_of_kind
from lengthgen.circuits.forecast.record import ANSWERED, DRAWN, RecordedCell, recorded_cells, write_cells
from lengthgen.circuits.prediction import MORE_PROMPTS, predict
from lengthgen.circuits.prediction_record import PREDICTION, Prediction, VariantPrediction
from lengthgen.circuits.src import traces_up_to
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TaskSpec, parse_task
from lengthgen.circuits.tasks.families import PUBLISHED, PUBLISHED_TASKS
from lengthgen.empirical.experiment.outcome import outcome as outcome_of
from lengthgen.empirical.experiment.tables import read_rows
from lengthgen.empirical.studies.court.published.load import published_cells, sources
from lengthgen.empirical.studies.theories.src_rules import MAX_STEPS
from lengthgen.empirical.studies.theories.src_rules import MORE_PROMPTS as FEW_PROMPTS
from lengthgen.empirical.studies.verdict.population import half_of
from lengthgen.empirical.trial.record import read_record
from lengthgen.infrastructure.cache import Cached
from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.shapes import COUNT, NUMBER, TEXT, mapping_to, one_of, record

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
THRESHOLD = 0.95
TRIALS = {
    "filled-addition/base-four": ("filled-addition/base-four",),
    "learned-labels/learned-labels": ("learned-labels/learned-labels",),
    "padding-sink/base-four": ("padding-sink/base-four",),
    "padding-sink/decimal": ("padding-sink/decimal",),
    "padding-sink/wide": ("padding-sink/wide",),
    "prism/algorithmic": ("prism/algorithmic",),
    "prism/prism": ("prism/prism",),
    "published-budget/published-copy": ("published-budget/published-copy",),
    "published-budget/published-copy-filled": ("published-budget/published-copy-filled",),
    "published-budget/published-parity": ("published-budget/published-parity",),
    "published-budget/published-parity-filled": ("published-budget/published-parity-filled",),
    "published-budget/rope-large-batches": ("published-budget/rope-large-batches",),
    "published-budget/rope-small-batches": ("published-budget/rope-small-batches",),
    "quick/controls": ("quick/controls",),
    "quick/fig1": ("quick/fig1",),
    "quick/fig2": ("quick/fig2",),
    "quick/fig3": ("quick/fig3",),
    "quick/fig4": ("quick/fig4",),
    "quick/predecessor": ("quick/predecessor",),
    "quick/randomized": ("quick/randomized",),
    "quick-until-decided/fig2": ("quick/until-decided/fig2",),
    "quick-until-decided/fig3": ("quick/until-decided/fig3",),
    "quick-until-decided/fig4": ("quick/until-decided/fig4",),
    "quick-until-decided/filled-addition": ("quick/until-decided/filled-addition",),
    "quick-until-decided/filled-addition-rpe": ("quick/until-decided/filled-addition-rpe",),
    "quick-until-decided/rope-addition": ("quick/until-decided/rope-addition",),
    "quick-until-decided/wider-operands": ("quick/until-decided/wider-operands",),
    "varied-filler/mixed-usual": ("varied-filler/mixed-usual",),
    "varied-filler/random-usual": ("varied-filler/random-usual",),
    "varied-filler/to-the-end-usual": ("varied-filler/to-the-end-usual",),
    "verdict/parity": ("verdict/parity",),
    "published-budget/gpu": tuple(
        f"published-budget/{name}"
        for name in ("ten-parity", "ten-copy", "ten-addition", "ten-addition-filled", "others")
    ),
}
"""Name of trials in the file -> their folders.  A name is never changed, since a forecast has the hash of the file.

Left out are repetitions with the same seeds, labels that are given, and filler that varies.
"""


MEASURED = {f"published/{evidence}": evidence for evidence in sources()}
"""Name of published results in the file -> their evidence in the court."""
PUBLISHED_THRESHOLD = 0.9
"""Share of right answers from which on a published length is solved, as in the court."""
RECORDS = (*DRAWN, *TRIALS, *MEASURED)
"""Names of all records, in the order of the file."""


def is_random(task: TaskSpec) -> bool:
    """True for a random task."""
    return task.name.startswith("random-")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Runs of a cell of a record: where fitting ones fail first, how many fit, and the row that was frozen, if any."""

    record: str
    task: TaskSpec
    encoding: str
    train: int
    test: int
    runs: int
    fit: int
    first_failures: Counter[int]
    frozen: Mapping[str, Any]


def registered(name: str) -> Iterator[Outcome]:
    """Yield the cells of a registered record of random tasks that have a fitting run."""
    folder = RESULTS / name
    cells = {f"{row['task']}/{row['format']}/{row['encoding']}": row for row in read_rows(folder / "cells.parquet")}
    curves = defaultdict(list)
    for run in read_rows(folder / "runs.parquet"):
        curves[run["cell"]].append([score is not None and score >= THRESHOLD for score in run["exact_match"]])
    for cell, solved in curves.items():
        row = cells[cell]
        task = parse_task(row["task"])
        firsts = [scales.index(False) + 1 if False in scales else None for scales in solved]
        yield _outcome(
            name,
            TaskSpec(name=task.name, base=task.base, format=row["format"]),
            row["encoding"],
            5,
            len(solved[0]),
            firsts,
            row,
        )


def trial(name: str) -> Iterator[Outcome]:
    """Yield the cells of trials that were recorded under one name, at the last checkpoint."""
    for folder in TRIALS[name]:
        for cell in read_record(RESULTS / folder).evidence():
            run = cell.runs[0][0]
            firsts = [outcome_of(history, threshold=THRESHOLD).first_failure for history in cell.runs]
            yield _outcome(name, run.task, run.encoding, run.train[-1], run.test[-1], firsts)


def measured(name: str) -> Iterator[Outcome]:
    """Yield the cells of published results whose task can be written down."""
    for cell in published_cells():
        question, outcome = cell.question, cell.outcome(PUBLISHED_THRESHOLD)
        if cell.evidence == MEASURED[name] and f"{PUBLISHED}{cell.task}" in PUBLISHED_TASKS:
            yield Outcome(
                record=name,
                task=TaskSpec(name=f"{PUBLISHED}{cell.task}"),
                encoding=question.encoding,
                train=question.train,
                test=question.test,
                runs=outcome.runs,
                fit=outcome.fit,
                first_failures=Counter(int(failure) for failure in outcome.failures if failure is not None),
                frozen={},
            )


def _outcome(
    record: str,
    task: TaskSpec,
    encoding: str,
    train: int,
    test: int,
    firsts: Sequence[int | None],
    frozen: Mapping[str, Any] = MappingProxyType({}),
) -> Outcome:
    """Return the outcome of runs whose first failures are given, None for runs without one."""
    fitting = [first for first in firsts if first is None or first > train]
    return Outcome(
        record=record,
        task=task,
        encoding=encoding,
        train=train,
        test=test,
        runs=len(firsts),
        fit=len(fitting),
        first_failures=Counter(first for first in fitting if first is not None),
        frozen=frozen,
    )


def outcomes(records: Collection[str]) -> list[Outcome]:
    """Return the cells of some records; those that were drawn only if a run fits."""

    def of(record: str) -> Iterator[Outcome]:
        return registered(record) if record in DRAWN else (measured if record in MEASURED else trial)(record)

    return [cell for record in records for cell in of(record) if cell.fit or cell.record not in DRAWN]


LENGTH = 40
"""Length at which the labels of registered encodings are told apart; sequences of scale 20 have about this length."""
Key = tuple[TaskSpec, int, int]
"""Task, and largest scales of training and of the test."""
Job = tuple[TaskSpec, int, int, tuple[str, ...]]
"""Task, largest scales of training and of the test, and encodings."""
_ANSWER = record(digest=TEXT, length=COUNT, predictions=mapping_to(PREDICTION))
_OUTPUTS = record(own_token=one_of(OwnToken.__members__), bits=NUMBER)


def answered(job: Job, folder: Path) -> dict[str, Any]:
    """Return the digest of a task, its length at the largest scale, and encoding -> prediction; computed once."""
    name = hashlib.sha256(repr(job).encode()).hexdigest()[:16]
    content: dict[str, Any] = _entry(folder, name, job).computed(lambda: _answered(*job), _ANSWER)
    return content


@cache  # thousands of answers ask for it
def _code() -> str:
    return source_digest("theory", "circuits")


def _entry(folder: Path, name: str, of: Any) -> Cached:
    return Cached(path=folder / f"{name}.json", code=_code(), inputs=repr(of))


def _answered(task: TaskSpec, train: int, test: int, encodings: Sequence[str]) -> dict[str, Any]:
    copy = copy_at(task, train, test)
    try:
        analysis = analyse(task.plain(), task.format, copy.test[-1], clock=Clock(steps=MAX_STEPS))
    except SearchStopped:
        return {"digest": "", "length": 0, "predictions": {}}
    several = SeveralCircuits(analysis, copy.train, copy.test)
    more = FEW_PROMPTS if is_random(task) else MORE_PROMPTS  # as the rules answered when they were frozen
    predictions = {}
    for encoding in encodings:
        spec = parse_encoding(encoding)
        try:
            prediction = predict(analysis, spec, train=several.train, test=copy.test, more_prompts=more)
        except EncodingError:  # no ideal relation without scale hint, or none at all
            continue
        predictions[encoding] = several.with_own_token(spec, prediction).as_json()
    return {"digest": digest_of(analysis), "length": analysis.traces[-1].length, "predictions": predictions}


def copy_at(task: TaskSpec, train: int, test: int) -> Copy:
    """Return the scales at which a question is answered; smaller ones if the task has no prompts of these."""
    for trained in range(TRAINED, 1, -1):
        copy = copy_of(range(1, train + 1), range(1, test + 1), trained)
        with suppress(TaskError):
            task.plain().prompt(copy.test[-1])
            break
    return copy


def frozen_prediction(outcome: Outcome) -> Prediction | None:
    """Return the answers that were frozen for a registered cell; None if one that a forecast needs is not among them.

    Numbers that no forecast reads, such as those of operators, are not stored with the answers and are made up.
    """
    row = outcome.frozen
    minimised, own_token = row.get("minimised-distractors"), row.get("own-token")
    if minimised is None or (own_token is None and minimised < 0.5):
        return None

    def variant(*rules: str) -> VariantPrediction:
        breaks = [row[f"{rule} breaks at"] for rule in rules if row[rule] < 0.5]
        at = min(breaks, default=None)
        return VariantPrediction(complexity_train=1, complexity_test=1, breaks_at=at, why="")

    return Prediction(
        encoding=outcome.encoding,
        relation=IDEAL_RELATIONS[0] if is_of_kind(outcome.encoding, "ideal") else outcome.encoding,
        scale_hint=False,
        complexity_train=1,
        complexity_test=1 if row["literal"] > 0.5 else 2,
        labels_covered=None if row["labels"] is None else row["labels"] > 0.5,
        entries_covered=None,
        unseen_distractors=None,
        breaks_at=variant("coverage").breaks_at,
        why="",
        selection=variant("selection"),
        selection_with_token=variant("selection-with-token"),
        distractors=variant("distractors"),
        distractors_with_token=variant("distractors", "selection-with-token"),
        own_token=variant("minimised-distractors" if own_token is None else "own-token"),
    )


def outputs(key: Key, folder: Path) -> tuple[OwnToken, float]:
    """Return which steps beyond training the query's own token decides, and the bits of an output; computed once."""
    task, train, test = key
    copy = copy_at(task, train, test)

    def computed() -> dict[str, Any]:
        traces = traces_up_to(task.laid_out(copy.test[-1]), copy.test[-1])
        return {"own_token": own_token_decides(traces, copy.train[-1]).name, "bits": bits_of(traces[-1])}

    name = hashlib.sha256(f"outputs {key!r}".encode()).hexdigest()[:16]
    content = _entry(folder, name, key).computed(computed, _OUTPUTS)
    return OwnToken[content["own_token"]], content["bits"]


def cells(records: Collection[str], folder: Path, workers: int) -> Iterator[RecordedCell]:
    """Yield the cells of records; what was not frozen before their runs is computed."""
    all_outcomes = outcomes(records)
    encodings = defaultdict(set)
    for outcome in all_outcomes:
        if frozen_prediction(outcome) is None:
            encodings[outcome.task, outcome.train, outcome.test].add(outcome.encoding)
    jobs: list[Job] = [(*key, tuple(sorted(of_key))) for key, of_key in encodings.items()]
    answers: dict[Key, dict[str, Any]] = {}
    keys = list(dict.fromkeys((outcome.task, outcome.train, outcome.test) for outcome in all_outcomes))
    with ProcessPoolExecutor(workers) as pool:
        outputs_of = dict(zip(keys, pool.map(outputs, keys, [folder] * len(keys)), strict=True))
        futures = {pool.submit(answered, job, folder): job[:3] for job in jobs}
        for count, future in enumerate(as_completed(futures), start=1):
            answers[futures[future]] = future.result()
            print(f"\r{count} of {len(jobs)} tasks", end="", flush=True)
    nothing: dict[str, Any] = {"digest": "", "length": LENGTH, "predictions": {}}
    for outcome in all_outcomes:
        answer = answers.get((outcome.task, outcome.train, outcome.test), nothing)
        prediction = frozen_prediction(outcome)
        if prediction is None:
            if outcome.encoding not in answer["predictions"]:
                continue
            prediction = Prediction.from_json(answer["predictions"][outcome.encoding])
        own_token, bits = outputs_of[outcome.task, outcome.train, outcome.test]
        features = features_of(
            parse_encoding(outcome.encoding),
            prediction,
            operands=outcome.task.format,
            bits=bits,
            length=answer["length"],
            own_token=own_token,
        )
        copy = copy_at(outcome.task, outcome.train, outcome.test)
        breaks_at = first_break(prediction, features.shown, copy.train[-1])
        yield RecordedCell(
            record=outcome.record,
            half=half_of(str(replace(outcome.task, format="unaligned"))) if outcome.record in DRAWN else "",
            task=outcome.task.name if outcome.record in DRAWN else outcome.task.short_name,
            base=outcome.task.base,
            encoding=outcome.encoding,
            train=outcome.train,
            test=outcome.test,
            digest="" if is_random(outcome.task) else answer["digest"],
            features=features,
            first_break=breaks_at and round(copy.factor * breaks_at),
            answers={name: prediction.says(rule) for rule, name in ANSWERED.items()},
            runs=outcome.runs,
            fit=outcome.fit,
            first_failures=outcome.first_failures,
        )


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path, help="folder of what was computed before")
    parser.add_argument("records", nargs="*", default=RECORDS, help="names of records; all without")
    parser.add_argument("--workers", type=int, default=2, help="number of processes")
    options = parser.parse_args()
    if unknown := [name for name in options.records if name not in RECORDS]:
        parser.error(f"no record '{unknown[0]}': choose among {', '.join(RECORDS)}")
    options.answers.mkdir(parents=True, exist_ok=True)
    made = [*cells(options.records, options.answers, options.workers)]
    kept = [cell for cell in recorded_cells() if cell.record not in options.records]
    write_cells(sorted([*made, *kept], key=lambda cell: RECORDS.index(cell.record)))


if __name__ == "__main__":
    main()
