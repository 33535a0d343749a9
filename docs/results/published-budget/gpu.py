"""Verdicts on the runs of the published budget that a GPU finished: the lines of their tables in README.md.

PYTHONPATH=. python docs/results/published-budget/gpu.py, at the root of the project. The time on the GPU ended before
all planned runs did, and weights were left behind. Kept are the metrics at every checkpoint and scale
(gpu/metrics.parquet), when and with what each run was trained (gpu/runs.json), and for each protocol what was frozen
before. A run counts only if its seed derives from what was frozen.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from statistics import fmean, median

import pyarrow.parquet as pq

from circuits.prediction_record import Prediction
from empirical.runs.measurement import Measurement
from empirical.runs.protocol import Cell, load_protocol
from empirical.runs.run import plan
from empirical.trial.conjecture import CellEvidence, CellKey, Criteria, JudgedCell, judge
from empirical.trial.frozen import frozen_cells
from theory.system.files import read_sealed_json

HERE = Path(__file__).parent
FOLDER = HERE / "gpu"
PROTOCOLS = ("ten-parity", "ten-copy", "ten-addition", "ten-addition-filled")
OPERANDS = {"aligned": "padded", "filled": "filled"}
ENCODINGS = {"ipe": "ideal (ipe)", "rpe": "relative (rpe)"}


def measurements() -> dict[str, list[Measurement]]:
    """Return run -> its rows: one for each checkpoint and scale."""
    columns = pq.ParquetFile(FOLDER / "metrics.parquet").read(use_threads=False).to_pydict()
    rows: dict[str, list[Measurement]] = defaultdict(list)
    names = [field.name for field in fields(Measurement)]
    for run, *values in zip(columns["run"], *(columns[name] for name in names), strict=True):
        rows[run].append(Measurement(**dict(zip(names, values, strict=True))))
    return rows


def evidence() -> list[CellEvidence]:
    """Return the evidence of each cell with a finished run.

    Raises:
        ValueError: a run with metrics has another seed than those that were frozen.
    """
    rows, cells = measurements(), []
    for name in PROTOCOLS:
        protocol = load_protocol(str(HERE / f"{name}.toml"), "paper")
        predictions: dict[Cell, dict[str, Prediction]] = defaultdict(dict)
        for record in read_sealed_json(FOLDER / name / "predictions.json")["answer"]:
            if record["prediction"] is not None:
                predictions[Cell.from_json(record["cell"])][record["mode"]] = Prediction.from_json(record["prediction"])
        planned = plan(protocol)
        for (cell, model), frozen in frozen_cells(protocol, FOLDER, planned).items():
            runs = frozen.runs(planned[cell, model][0], protocol.profile.seeds)
            finished = [(run, rows.pop(run.id)) for run in runs if run.id in rows]
            if finished:
                cells.append(
                    CellEvidence(
                        key=CellKey(cell.task.words, cell.task.format, cell.encoding, str(model)),
                        predictions=predictions[cell],
                        runs=finished,
                        predicted_before_training=True,
                        frozen_rules=frozen.answered,
                    )
                )
    if rows:
        raise ValueError(f"runs whose seeds were not frozen: {', '.join(rows)}")
    return cells


def judged(cells: Sequence[CellEvidence], rule: str) -> list[JudgedCell]:
    """Return the cells as one rule of prediction has them judged, all as one family."""
    [threshold] = {run.evaluation.threshold for cell in cells for run, _ in cell.runs}
    [size] = {cell.key.size for cell in cells}
    return judge(cells, Criteria(threshold=threshold, size=size, rule=rule))


def lines() -> list[str]:
    """Return a line of the first table for each cell."""
    cells = evidence()
    return [_line(*cell) for cell in zip(judged(cells, "coverage"), judged(cells, "distractors"), strict=True)]


def _line(coverage: JudgedCell, distractors: JudgedCell) -> str:
    """Line of one cell, judged by two rules."""
    key = coverage.key
    answers = (f"{'yes' if cell.predicted else 'no'}: {cell.verdict}" for cell in (coverage, distractors))
    failures = sorted(outcome.first_failure for outcome in coverage.outcomes if outcome.first_failure is not None)
    parts = (
        key.task,
        OPERANDS[key.format],
        ENCODINGS[key.encoding],
        *answers,
        f"{coverage.fit.successes} of {coverage.fit.trials}",
        f"{coverage.generalizes_given_fit.successes} of {coverage.generalizes_given_fit.trials}",
        ", ".join(map(str, failures)) or "none",
    )
    return f"| {' | '.join(parts)} |"


def addition() -> list[str]:
    """Return a line of the second table for each cell of Addition: how its runs fail.

    Exact match at scale 20 after 30 and after all 300 epochs (medians), and its mean and largest value; least exact
    match up to scales 6 and 16; share of the steps of scale 20 whose operator entry was in the training set, and share
    of right tokens among these steps and among the others.
    """
    return [
        _how_it_fails(OPERANDS[cell.key.format], [rows for _, rows in cell.runs])
        for cell in evidence()
        if cell.key.task == "addition"
    ]


def _how_it_fails(operands: str, runs: Sequence[Sequence[Measurement]]) -> str:
    """Line of one cell, from the rows of each run."""
    end = max(row.epoch for row in runs[0])
    last = [[row for row in rows if row.epoch == end] for rows in runs]
    at_20 = [[row for row in rows if row.scale == 20] for rows in runs]
    early, late = ([row for rows in at_20 for row in rows if row.epoch == epoch] for epoch in (30, end))
    seen = fmean(row.seen_steps for row in late)
    right_of_seen = fmean(row.token_accuracy_seen * row.seen_steps for row in late)
    right_of_others = fmean(row.token_accuracy for row in late) - right_of_seen
    parts = (
        f"{median(row.exact_match for row in early):.3f}",
        f"{median(row.exact_match for row in late):.3f}",
        f"{fmean(row.exact_match for row in late):.3f}",
        f"{max(row.exact_match for row in late):.3f}",
        *(f"{min(row.exact_match for rows in last for row in rows if row.scale <= scale):.3f}" for scale in (6, 16)),
        f"{seen:.0%}",
        f"{right_of_seen / seen:.1%}",
        f"{right_of_others / (1 - seen):.1%}",
    )
    return f"| {operands} | {' | '.join(parts)} |"


if __name__ == "__main__":
    print("\n".join([*lines(), *addition()]))
