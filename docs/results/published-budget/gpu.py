"""Verdicts on the runs of the published budget that a GPU finished: the lines of their table in README.md.

PYTHONPATH=. python docs/results/published-budget/gpu.py, at the root of the project. The time on the GPU ended before
all planned runs did, and weights were left behind. Kept are the metrics at every checkpoint and scale
(gpu/metrics.parquet), when and with what each run was trained (gpu/runs.json), and for each protocol what was frozen
before. A run counts only if its seed derives from what was frozen.
"""

from collections import defaultdict
from dataclasses import fields
from pathlib import Path

import pyarrow.parquet as pq

from circuits.modes import Mode
from circuits.prediction_record import Prediction
from empirical.runs.measurement import Measurement
from empirical.runs.protocol import Cell, load_protocol
from empirical.runs.run import plan
from empirical.trial.conjecture import RULES, CellEvidence, CellKey, Criteria, JudgedCell, judge
from empirical.trial.frozen import frozen_cells, rule_name
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
                        frozen_rules=frozenset(
                            (mode, rule) for mode in Mode for rule in RULES if rule_name(mode, rule) in frozen.rules
                        ),
                    )
                )
    if rows:
        raise ValueError(f"runs whose seeds were not frozen: {', '.join(rows)}")
    return cells


def judged(rule: str) -> list[JudgedCell]:
    """Return the cells as one rule of prediction has them judged, all as one family."""
    cells = evidence()
    [threshold] = {run.evaluation.threshold for cell in cells for run, _ in cell.runs}
    [size] = {cell.key.size for cell in cells}
    return judge(cells, Criteria(threshold=threshold, size=size, rule=rule))


def lines() -> list[str]:
    """Return a line of the table for each cell."""
    return [_line(*cell) for cell in zip(judged("coverage"), judged("distractors"), strict=True)]


def _line(coverage: JudgedCell, distractors: JudgedCell) -> str:
    """Line of one cell, judged by two rules."""
    key = coverage.key
    answers = (f"{'yes' if cell.predicted else 'no'}: {cell.verdict}" for cell in (coverage, distractors))
    failures = sorted(outcome.first_failure for outcome in coverage.outcomes if outcome.first_failure is not None)
    parts = (
        key.task.replace("addition base 10", "addition"),
        OPERANDS[key.format],
        ENCODINGS[key.encoding],
        *answers,
        f"{coverage.fit.successes} of {coverage.fit.trials}",
        f"{coverage.generalizes_given_fit.successes} of {coverage.generalizes_given_fit.trials}",
        ", ".join(map(str, failures)) or "none",
    )
    return f"| {' | '.join(parts)} |"


if __name__ == "__main__":
    print("\n".join(lines()))
