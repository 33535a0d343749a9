"""Do more runs generalize if filler looks like the text of long samples? Lines of the tables in README.md.

At the root of the project, PYTHONPATH=. python docs/results/varied-filler/shares.py.
"""

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from scipy.stats import fisher_exact

from lengthgen.empirical.experiment.judge import Estimand
from lengthgen.empirical.trial.record import read_record

RECORD = Path(__file__).parent
FIG2 = RECORD.parent / "quick" / "until-decided" / "fig2"
USUAL_TO_THE_END = (RECORD / "to-the-end-usual", RECORD.parent / "filled-addition" / "base-four")
VARIED_TO_THE_END = (RECORD / "to-the-end-varied", RECORD / "once")
ENDED_EARLY = ((RECORD / "mixed-usual",), (RECORD / "mixed",))
"""Trials that ended early, with the usual and with varied filler."""
ENCODINGS = ("rpe", "rope")
ADDITION = tuple(("addition base 4", encoding) for encoding in ENCODINGS)
Cells = Mapping[tuple[str, str], Mapping[str, Any]]
"""Task and encoding -> cell of a trial."""


@cache
def filled_cells(folder: Path) -> Cells:
    """Return the cells with filled operands of a recorded trial."""
    cells = read_record(folder).trial["cells"]
    return {(cell["task"], cell["encoding"]): cell for cell in cells if cell["format"] == "filled"}


def _counts(cell: Mapping[str, Any]) -> Mapping[str, int]:
    """Successes and trials: fitting runs that generalize, and fitting runs."""
    counts: Mapping[str, int] = cell["generalizes_given_fit"]
    return counts


def share(cell: Mapping[str, Any]) -> str:
    """Return how many of the fitting runs of a cell generalize."""
    counts = _counts(cell)
    return f"{counts['successes']} of {counts['trials']}"


def named_lines() -> list[str]:
    """Return a line for each cell of a named task: its shares with the usual and with varied filler, and verdicts."""
    usual, varied = filled_cells(FIG2), filled_cells(RECORD / "mixed")
    return [
        f"| {task} | {encoding} | {share(usual[task, encoding])}, {usual[task, encoding]['verdict']} | {share(cell)}, "
        f"{cell['verdict']} |"
        for (task, encoding), cell in varied.items()
    ]


def same_processor_lines() -> list[str]:
    """Return a line for each cell with the usual filler trained anew: its share, that with varied filler, p-value."""
    varied = filled_cells(RECORD / "mixed")
    return [
        f"| {' | '.join(key)} | {share(cell)} | {share(varied[key])} | {p_value(varied[key], cell):.2g} |"
        for key, cell in filled_cells(RECORD / "mixed-usual").items()
    ]


def to_the_end_lines() -> list[str]:
    """Return a line for each cell that is trained to the end: its shares and verdicts with each filler, and p-values.

    These are Fisher's, one-sided: of a larger share than in the column before, if both shares are equal.
    """
    columns = [filled_cells(folder) for folder in VARIED_TO_THE_END]
    usual = {key: cell for folder in USUAL_TO_THE_END for key, cell in filled_cells(folder).items()}
    lines = []
    for key in columns[0]:
        line = [*key, f"{share(usual[key])}, {usual[key]['verdict']}"]
        before = usual[key]
        for column in columns:
            if cell := column.get(key):
                line += [f"{share(cell)}, {cell['verdict']}", f"{p_value(cell, before):.2g}"]
                before = cell
            else:
                line += ["", ""]
        lines.append(f"| {' | '.join(line)} |")
    return lines


def p_value(cell: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Return Fisher's p-value, one-sided, of a larger share of the fitting runs of a cell than of another's."""
    return fisher(*((each["successes"], each["trials"]) for each in (_counts(cell), _counts(other))))


def fisher(more: tuple[int, int], fewer: tuple[int, int]) -> float:
    """Return Fisher's p-value, one-sided, of a larger share of the first than of the second (successes, trials)."""
    table = [[successes, trials - successes] for successes, trials in (more, fewer)]
    return float(fisher_exact(table, alternative="greater").pvalue)


def pooled(folders: Iterable[Path], keys: Collection[tuple[str, str]]) -> tuple[int, int]:
    """Return how many of the fitting runs of some cells generalize, and how many fit, over several trials."""
    counts = [_counts(cell) for folder in folders for key, cell in filled_cells(folder).items() if key in keys]
    return sum(each["successes"] for each in counts), sum(each["trials"] for each in counts)


def pooled_lines() -> list[str]:
    """Return lines of shares over several cells and trials: with the usual filler, with varied filler, p-value."""
    early, varied_early = ENDED_EARLY
    to_the_end = filled_cells(VARIED_TO_THE_END[0])
    rows = {
        "addition, ended early": (pooled(early, ADDITION), pooled(varied_early, ADDITION)),
        "addition, to the end": (pooled(USUAL_TO_THE_END, ADDITION), pooled(VARIED_TO_THE_END, ADDITION)),
        "addition, both": (
            pooled([*early, *USUAL_TO_THE_END], ADDITION),
            pooled([*varied_early, *VARIED_TO_THE_END], ADDITION),
        ),
        "three cells, to the end, without `once`": (
            pooled(USUAL_TO_THE_END, to_the_end),
            pooled(VARIED_TO_THE_END[:1], to_the_end),
        ),
    }
    return [
        f"| {name} | {usual[0]} of {usual[1]} | {varied[0]} of {varied[1]} | {fisher(varied, usual):.2g} |"
        for name, (usual, varied) in rows.items()
    ]


def addition_lines() -> list[str]:
    """Return a line for each encoding of addition: shares of all its runs with varied filler, e-value for most."""
    lines = []
    for key in ADDITION:
        successes, trials = pooled([*ENDED_EARLY[1], *VARIED_TO_THE_END], [key])
        evidence = Estimand.MAJORITY.evidence(successes, trials)
        lines.append(f"| {key[1]} | {successes} of {trials} | {evidence.above:.2g} | {evidence.below:.2g} |")
    return lines


def random_lines() -> list[str]:
    """Return a line for each encoding of the random tasks: shares, tasks with the larger share for either, e-value."""
    usual, varied = (filled_cells(RECORD / f"random-{filler}") for filler in ("usual", "varied"))
    lines = []
    for encoding in ENCODINGS:
        tasks = [task for task, other in varied if other == encoding]
        counts = [[_counts(cells[task, encoding]) for task in tasks] for cells in (usual, varied)]
        totals = [
            f"{sum(each['successes'] for each in cells)} of {sum(each['trials'] for each in cells)}" for cells in counts
        ]
        differences = [
            Fraction(new["successes"], new["trials"]) - Fraction(old["successes"], old["trials"])
            for old, new in zip(*counts, strict=True)
            if old["trials"] and new["trials"]
        ]
        larger, smaller = (sum(sign * difference > 0 for difference in differences) for sign in (1, -1))
        evidence = Estimand.MAJORITY.evidence(larger, larger + smaller).above
        lines.append(f"| {encoding} | {' | '.join(totals)} | {larger} | {smaller} | {evidence:.3g} |")
    return lines


if __name__ == "__main__":
    for lines_of in (named_lines, same_processor_lines, to_the_end_lines, pooled_lines, addition_lines, random_lines):
        print("\n".join([*lines_of(), ""]))
