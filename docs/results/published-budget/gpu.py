"""Runs of the published budget on a GPU: prints the lines of its tables, PYTHONPATH=. python THIS_FILE.

They were trained by this file at revision 096b51a, and each of their five protocols has its own record beside it. Where
the six runs of filled Parity under RoPE left the cell open, two more were planned: e-values stay valid.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.trial.conjecture import CellEvidence, CellKey, Criteria, JudgedCell, judge
from lengthgen.empirical.trial.record import read_record

HERE = Path(__file__).parent
PROTOCOLS = ("ten-parity", "ten-copy", "ten-addition", "ten-addition-filled", "others")
OPERANDS = {"aligned": "padded", "filled": "filled"}
NAMES = {"ipe": "ideal (ipe)", "rpe": "relative (rpe)"}


def evidence() -> list[CellEvidence]:
    """Return the evidence of each cell of the five protocols."""
    return [cell for name in PROTOCOLS for cell in read_record(HERE / name).evidence()]


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
        f"Of {len(solved)} runs that solve the training scales after 30 epochs, {len(solved) - later - no_more} have "
        f"the same outcome after 300; {later} of the others solve all scales later, and {no_more} no more."
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
