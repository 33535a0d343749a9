"""Print the tables and tests of the starts of label tables: PYTHONPATH=. python THIS_FILE, at the root of the project.

The tests were registered before any of the runs (README.md beside this file).
"""

import runpy
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from itertools import chain
from math import sqrt
from pathlib import Path

from scipy.stats import binomtest, hypergeom, norm

from lengthgen.circuits.forecast.rates import recorded_rates
from lengthgen.empirical.trial.conjecture import JudgedCell
from lengthgen.empirical.trial.record import is_record, read_record, table_start

HERE = Path(__file__).parent
GRIDS = ("grid", "grid-slow", "grid-wide")
STARTS = (1.0, 0.3, 0.1, 0.02, 0.0)
OPERANDS = {"aligned": "padded", "filled": "filled", "unaligned": "as they are"}
LEVEL = 0.005
"""Level of the final tests: half of the registered 0.01, as p-values were looked at once, at four runs a cell."""
USUAL_START = ("grid", "figures-2-3")
"""Records with the cells of Figures 2 and 3 at the start 0.02."""
LARGE_START = HERE.parent / "quick" / "until-decided"
"""Records of the same cells at the start 1, trained in the same way; runs were added until a cell was decided."""
FIGURES = (
    (2, "ideal (Shift: with scale hint)", ("ipe", "ipe-sh"), "aligned"),
    (2, "relative", ("rpe",), "aligned"),
    (2, "absolute", ("ape",), "aligned"),
    (3, "ideal with scale hint", ("ipe-sh",), "unaligned"),
)
"""Lines of the figures: number, words, encodings and format."""
FILLED_TASKS = ("parity", "copy")
"""Tasks on which relative positions should work with filled operands, at each start."""


@dataclass(frozen=True, order=True)
class Question:
    """Encoding, operands, task, and the protocol that trains it."""

    encoding: str
    operands: str
    task: str
    protocol: str


Counts = Mapping[float, tuple[int, int, int]]
"""Start -> numbers of runs, of those that fit, and of those that generalize."""


def counts() -> dict[Question, dict[float, tuple[int, int, int]]]:
    """Return the counts of each question, of the protocols that have runs."""
    asked: dict[Question, dict[float, tuple[int, int, int]]] = {}
    for name in filter(lambda name: is_record(HERE / name), GRIDS):
        for cell in read_record(HERE / name).judged():
            key = cell.key
            question = Question(key.encoding.partition("[")[0], OPERANDS[key.format], key.task, name)
            asked.setdefault(question, {})[_start(cell)] = (
                cell.outcome.runs,
                cell.outcome.fit,
                cell.outcome.generalize,
            )
    return asked


def _start(cell: JudgedCell) -> float:
    start = table_start(cell.key.encoding)
    assert start is not None
    return start


def differs(strata: list[Counts], first: float = 0.02, second: float = 1.0) -> float:
    """Return the two-sided p of Cochran, Mantel and Haenszel: do shares at two starts differ, over strata?"""
    excess, variance = 0.0, 0.0
    for each in strata:
        (_, fit, solved), (_, other_fit, other_solved) = each[first], each[second]
        if min(fit, other_fit) and 0 < solved + other_solved < fit + other_fit:
            law = hypergeom(fit + other_fit, solved + other_solved, fit)
            excess, variance = excess + solved - law.mean(), variance + law.var()
    return float(2 * norm.sf(abs(excess) / sqrt(variance))) if variance else 1.0


def figure_lines() -> Iterator[str]:
    """Yield the table of Figures 2 and 3 at two starts: runs that generalize, and cells that the baselines name."""
    usual = {
        (cell.key.task, cell.key.format, cell.key.encoding.replace("[start=0.02]", "")): cell
        for name in USUAL_START
        for cell in read_record(HERE / name).judged()
    }
    yield "| figure | encoding | operands | 0.02 | 1 | always-no right, 0.02 | at 1 | rate right, 0.02 | at 1 |"
    yield "|---" * 9 + "|"
    for figure, words, encodings, operands in FIGURES:
        large = [
            cell
            for cell in read_record(LARGE_START / f"fig{figure}").judged()
            if cell.key.encoding in encodings and cell.key.format == operands
        ]
        small = [usual[cell.key.task, cell.key.format, cell.key.encoding] for cell in large]
        parts = chain(*zip(_numbers(small), _numbers(large), strict=True))
        yield f"| {' | '.join([str(figure), words, OPERANDS[operands], *parts])} |"


def _numbers(cells: list[JudgedCell]) -> tuple[str, str, str]:
    """Return how many fitting runs of some cells generalize, and how many cells always-no and the rate name."""
    share = recorded_rates(frozenset()).share
    outcomes = [cell.outcome for cell in cells]
    most = [each.generalize > each.fit / 2 for each in outcomes]
    rated = [share(cell.key.encoding.partition("[")[0], cell.key.format) > 0.5 for cell in cells]
    right = sum(said == seen for said, seen in zip(rated, most, strict=True))
    return (
        f"{sum(each.generalize for each in outcomes)} of {sum(each.fit for each in outcomes)}",
        f"{most.count(False)} of {len(cells)}",
        f"{right} of {len(cells)}",
    )


def comparisons(asked: Mapping[Question, Counts]) -> Iterator[str]:
    """Yield the table of the registered comparisons of the starts 0.02 and 1."""
    pairs = [(encoding, operands) for encoding in ("ipe", "rpe") for operands in ("padded", "filled")]
    strata = {
        pair: [each for question, each in asked.items() if (question.encoding, question.operands) == pair]
        for pair in pairs
    }
    values = [differs(strata[pair]) for pair in pairs]
    corrected = runpy.run_path(str(HERE.parent / "dose" / "doses.py"))["holm"](values)
    yield "| encoding | operands | generalize at 0.02 | at 1 | p | after Holm | does the start decide? |"
    yield "|---" * 7 + "|"
    for pair, value, own in zip(pairs, values, corrected, strict=True):
        shares = [share_text(strata[pair], start) for start in (0.02, 1.0)]
        answer = "yes" if own < LEVEL else "not shown"
        yield f"| {' | '.join((*pair, *shares, f'{value:.2g}', f'{own:.2g}', answer))} |"


def share_text(cells: list[Counts], start: float) -> str:
    """Return how many of the fitting runs of some cells generalize at a start."""
    return "{2} of {1}".format(*(sum(numbers) for numbers in zip(*(each[start] for each in cells), strict=True)))


def tests() -> Iterator[str]:
    """Yield the table of the registered comparisons, over the two learning rates."""
    yield from comparisons({question: each for question, each in counts().items() if question.protocol != "grid-wide"})


def statements() -> Iterator[str]:
    """Yield the table of the statements on padding and filling, with Clopper-Pearson intervals."""
    asked = counts()
    yield f"| relative positions | {' | '.join(f'{start:g}' for start in STARTS)} |"
    yield "|---" * (1 + len(STARTS)) + "|"
    for operands, tasks in (("padded", None), ("filled", FILLED_TASKS)):
        parts = []
        for start in STARTS:
            pooled = [
                each
                for question, each in asked.items()
                if (question.encoding, question.operands) == ("rpe", operands) and start in each
                if tasks is None or question.task in tasks
            ]
            fit, solved = (sum(each[start][index] for each in pooled) for index in (1, 2))
            interval = binomtest(solved, fit).proportion_ci()
            parts.append(f"{solved} of {fit} ({interval.low:.2f}-{interval.high:.2f})")
        yield f"| {' | '.join((operands + (', Parity and Copy' if tasks else ''), *parts))} |"


def lines() -> Iterator[str]:
    """Yield the table of all questions: generalizing of fitting runs, and fitting runs of all where some do not fit."""
    yield f"| encoding | operands | task | protocol | {' | '.join(f'{start:g}' for start in STARTS)} |"
    yield "|---|---|---|---|" + "---|" * len(STARTS)
    for question, by_start in sorted(counts().items()):
        parts = []
        for start in STARTS:
            runs, fit, solved = by_start.get(start, (0, 0, 0))
            parts.append(
                "" if not runs else f"{solved} of {fit}" + ("" if fit == runs else f" ({runs - fit} do not fit)")
            )
        yield f"| {' | '.join((*astuple(question), *parts))} |"


if __name__ == "__main__":
    print("\n".join([*figure_lines(), "", *lines(), "", *tests(), "", *statements()]))
