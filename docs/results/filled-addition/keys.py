"""Do runs of filled addition fail because steps of long samples see fewer keys than any in training? Lines of tables.

At the root of the project, PYTHONPATH=. python docs/results/filled-addition/keys.py prints them from keys.parquet. The
runs were trained and asked by this file at revision 096b51a.

In the filled format all samples are equally long, so that training shows steps at the last places alone, where the most
keys are before them. Steps of long samples come earlier. Three things change this, one in long samples for a trained
model (`late`), two in the samples of training (`staggered`, `shifted`). Another (`varied`) changes what filler is too.
None changes the right answers, or the labels of the keys that were there before. The settings `prompts_as_filler` and
`leave_out` of training came after these runs, and draw other filler.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from lengthgen.empirical.experiment.judge import Estimand
from lengthgen.empirical.experiment.protocol import load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.tables import read_rows
from lengthgen.empirical.trial.frozen import stored_runs

RECORD = Path(__file__).parent
STORED = RECORD / "keys.parquet"
PROTOCOL = load_protocol(str(RECORD / "base-four.toml"), "quick")
SHORT, LONG = PROTOCOL.train[-1], PROTOCOL.test[-1]
"""Largest scales of training and of the test."""
CHANGES = ("long", "long, late", "long, late by digits", "short", "short, early")
"""Samples that models of filled and of staggered samples are asked."""
ENCODINGS = ("ipe", "rpe")
KINDS = ("filled", "staggered", "shifted", "varied")
"""Samples of training."""
ASKED = ("filled", "staggered")


def planned(out: Path) -> list[Run]:
    """Return the runs whose seeds derive from what was frozen in a folder."""
    return [run for runs in stored_runs(PROTOCOL, out).values() for run in runs]


def solves(row: Mapping[str, Any], change: str) -> bool:
    """True if a run solves samples."""
    return bool(row[change] >= PROTOCOL.profile.evaluation.threshold)


def compared(pairs: Iterable[tuple[bool, bool]]) -> str:
    """Return how many of the pairs hold only first, only second, and the e-value for most of these only first."""
    each = list(pairs)
    for_it, against = each.count((True, False)), each.count((False, True))
    return f"{for_it} | {against} | {Estimand.MAJORITY.evidence(for_it, for_it + against).above:.3g}"


def change_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each encoding and kind: how many runs solve which samples, and the mean share of right ones."""
    lines = []
    for encoding, kind in product(ENCODINGS, ASKED):
        own = [row for row in rows if (row["encoding"], row["kind"]) == (encoding, kind)]
        cells = [
            f"{sum(solves(row, change) for row in own)} of {len(own)}, {fmean(row[change] for row in own):.2f}"
            for change in CHANGES
        ]
        lines.append(f"| {encoding} | {kind} | {' | '.join(cells)} |")
    return lines


def predicted_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each prediction but those of single encodings: runs for it, against it, and the e-value."""
    usual = [row for row in rows if row["kind"] == "filled"]
    failing = [row for row in usual if fits(row) and not wins(row)]
    unerring, erring = ([row for row in failing if (row["wrong_in_training"] > 0) == some] for some in (False, True))
    fitting = {kind: {row["run"]: row for row in rows if row["kind"] == kind and fits(row)} for kind in KINDS}

    def won(kind: str, other: str) -> str:
        """Compare runs of two kinds with the same seeds, where both fit: only the first solves all, or only other."""
        both = fitting[kind].keys() & fitting[other].keys()
        return compared((wins(fitting[kind][run]), wins(fitting[other][run])) for run in both)

    return [
        f"| 1 | {compared((solves(row, 'long, late'), solves(row, 'long')) for row in usual)} |",
        f"| 2 | {compared((solves(row, 'long, late'), not solves(row, 'long, late')) for row in unerring)} |",
        f"| 3 | {compared((not solves(row, 'long, late'), solves(row, 'long, late')) for row in erring)} |",
        f"| 4 | {won('staggered', 'filled')} |",
        f"| 7 | {won('shifted', 'filled')} |",
        f"| 8 | {won('shifted', 'staggered')} |",
        f"| 12 | {won('varied', 'filled')} |",
        f"| 13 | {won('varied', 'shifted')} |",
    ]


def fits(row: Mapping[str, Any]) -> bool:
    """True if a run solves the scales of its training."""
    return bool(row["first_failure"] > SHORT)


def wins(row: Mapping[str, Any]) -> bool:
    """True if a run solves all scales."""
    return bool(row["first_failure"] > LONG)


def generalization_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each encoding and kind: fitting runs that solve all scales, e-value, first failing scales."""
    lines = []
    for encoding, kind in product(ENCODINGS, KINDS):
        own = [row for row in rows if (row["encoding"], row["kind"]) == (encoding, kind) and fits(row)]
        solved = sum(map(wins, own))
        evidence = Estimand.MAJORITY.evidence(solved, len(own))
        scales = ", ".join(
            str(row["first_failure"]) for row in sorted(own, key=itemgetter("first_failure")) if not wins(row)
        )
        lines.append(f"| {encoding} | {kind} | {solved} of {len(own)} | {evidence.above:.3g} | {scales or 'none'} |")
    return lines


if __name__ == "__main__":
    stored = read_rows(STORED)
    for table in (change_lines(stored), predicted_lines(stored), generalization_lines(stored)):
        print("\n".join([*table, ""]))
