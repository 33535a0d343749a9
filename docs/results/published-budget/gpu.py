"""Runs of the published budget on a GPU: prints the lines of its tables, PYTHONPATH=. python THIS_FILE.

Kept are the metrics at every checkpoint and scale (gpu/metrics.parquet), when and with what each run was trained
(gpu/runs.json), and for each protocol what was frozen before; weights are not. A run counts only if its seed derives
from what was frozen. They were trained and added to the record by this file at revision 096b51a.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from lengthgen.circuits.prediction_record import Prediction
from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.protocol import Cell, load_protocol
from lengthgen.empirical.experiment.run import Run, plan
from lengthgen.empirical.experiment.tables import read_rows
from lengthgen.empirical.trial.conjecture import CellEvidence, CellKey, Criteria, JudgedCell, judge
from lengthgen.empirical.trial.frozen import frozen_cells
from lengthgen.infrastructure.files import read_sealed_json

HERE = Path(__file__).parent
FOLDER = HERE / "gpu"
METRICS, RUNS = FOLDER / "metrics.parquet", FOLDER / "runs.json"
PROTOCOLS = ("ten-parity", "ten-copy", "ten-addition", "ten-addition-filled", "others")
OPERANDS = {"aligned": "padded", "filled": "filled"}
NAMES = {"ipe": "ideal (ipe)", "rpe": "relative (rpe)"}
ADDED = {CellKey(task="parity", format="filled", encoding="rope", size="w64l2h4"): 2}
"""Runs beyond those of the protocol, planned where those left a cell open: e-values stay valid."""


@dataclass(frozen=True)
class PlannedCell:
    """Cell that was frozen before training: its protocol's name, its key, all its runs and predictions by mode."""

    protocol: str
    key: CellKey
    runs: Sequence[Run]
    predictions: dict[str, Prediction]
    answered: frozenset[tuple[str, str]]


def planned() -> Iterator[PlannedCell]:
    """Yield every cell of the protocols, in the order in which they are trained."""
    for name in PROTOCOLS:
        protocol = load_protocol(str(HERE / f"{name}.toml"), "paper")
        predictions: dict[Cell, dict[str, Prediction]] = defaultdict(dict)
        for record in read_sealed_json(FOLDER / name / "predictions.json")["answer"]:
            if record["prediction"] is not None:
                predictions[Cell.from_json(record["cell"])][record["mode"]] = Prediction.from_json(record["prediction"])
        first = plan(protocol)
        for (cell, model), frozen in frozen_cells(protocol, FOLDER, first).items():
            key = CellKey(cell.task.key, cell.task.format, cell.encoding, str(model))
            yield PlannedCell(
                name,
                key,
                frozen.runs(first[cell, model][0], protocol.profile.seeds + ADDED.get(key, 0)),
                predictions[cell],
                frozen.answered,
            )


def measurements() -> dict[str, list[Measurement]]:
    """Return run -> its rows: one for each checkpoint and scale."""
    rows: dict[str, list[Measurement]] = defaultdict(list)
    for row in read_rows(METRICS):
        rows[row.pop("run")].append(Measurement(**row))
    return rows


def evidence() -> list[CellEvidence]:
    """Return the evidence of each cell with a finished run.

    Raises:
        ValueError: a run with metrics has another seed than those that were frozen.
    """
    rows, cells = measurements(), []
    for cell in planned():
        finished = [(run, rows.pop(run.id)) for run in cell.runs if run.id in rows]
        if finished:
            cells.append(
                CellEvidence(
                    key=cell.key,
                    predictions=cell.predictions,
                    runs=finished,
                    predicted_before_training=True,
                    frozen_rules=cell.answered,
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
        _name(key),
        *answers,
        f"{coverage.outcome.fit} of {coverage.outcome.runs}",
        f"{coverage.outcome.generalize} of {coverage.outcome.fit}",
        ", ".join(map(str, failures)) or "none",
    )
    return f"| {' | '.join(parts)} |"


def _name(key: CellKey) -> str:
    return NAMES.get(key.encoding, key.encoding)


def early_and_late() -> str:
    """Return the line that compares the runs after a tenth of the training with the same ones at its end."""
    solved: list[tuple[bool, bool]] = []
    for run, rows in (run_and_rows for cell in evidence() for run_and_rows in cell.runs):
        right = [row for row in rows if row.exact_match >= run.evaluation.threshold]
        early, late = ({row.scale for row in right if row.epoch == epoch} for epoch in (30, run.training.epochs))
        if early >= {*run.train}:
            solved.append((early >= {*run.test}, late >= {*run.test}))
    later, no_more = solved.count((False, True)), solved.count((True, False))
    return (
        f"Of {len(solved)} runs that solve the training scales after 30 epochs, {len(solved) - later - no_more} solve "
        f"all scales, or do not, as they do after 300; {later} of the others solve them later, and {no_more} no more."
    )


def addition() -> list[str]:
    """Return a line of the second table for each cell of Addition: how its runs fail.

    Exact match at scale 20 after 30 and after all 300 epochs (medians), and its mean and largest value; least exact
    match up to scales 6 and 16; share of the steps of scale 20 whose operator entry was in the training set, and share
    of right tokens among these steps and among the others.
    """
    return [
        _how_it_fails(cell.key, [rows for _, rows in cell.runs]) for cell in evidence() if cell.key.task == "addition"
    ]


def _how_it_fails(key: CellKey, runs: Sequence[Sequence[Measurement]]) -> str:
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
    return f"| {OPERANDS[key.format]} | {_name(key)} | {' | '.join(parts)} |"


if __name__ == "__main__":
    print("\n".join([*lines(), early_and_late(), *addition()]))
