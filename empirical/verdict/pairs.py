"""Evidence for one rule of prediction against another, over cells that are clustered by task.

The unit is a task, as its cells share their luck. The difference of a task lies in [-1, 1]; by the null hypothesis its
expectation is at most 0 whatever was seen before. Then every bet 1 + lambda d has expectation at most 1, the products
over tasks are supermartingales, and so is their mean over bets fixed beforehand (Waudby-Smith and Ramdas 2024,
arXiv 2010.09686). Tasks stand in the order of a hash of their names, which is fixed before the runs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from math import exp

import numpy as np
import numpy.typing as npt

from lengthgen.empirical.experiment.judge import LARGEST_LOG, EvidenceError

BETS = tuple(step / 20 for step in range(1, 20))
"""Bets lambda in (0, 1), each with the same weight."""
TIE = 1e-9
"""Largest absolute difference of a task that is a tie: sums of shares round, such as 1/3 and -1/3 to 4e-17. A real
difference is at least one run of one cell of the task."""


@dataclass(frozen=True, kw_only=True)
class PairCell:
    """Probabilities of success that rules A and B gave to one cell (None: abstains), and its runs that fit."""

    task: str
    rule_a: float | None
    rule_b: float | None
    successes: int
    trials: int


class Score(Enum):
    """Loss of a prediction: 1 for a wrong answer (`RIGHT`), or the squared error of the probability (`BRIER`).

    An abstention is the probability 1/2 [F]: half wrong, or a squared error of 1/4.
    """

    RIGHT = "right"
    BRIER = "brier"


@dataclass(frozen=True, kw_only=True)
class PairEvidence:
    """Evidence of two rules against each other, task by task in the order of the hash.

    `against_a` and `against_b` are running e-values after each task, `cells_seen` the numbers of cells until then. Only
    cells with fitting runs count on which the rules' predictions differ; `wins_a` and `wins_b` are numbers of tasks,
    neither of which has those with a tie.
    """

    tasks: tuple[str, ...]
    cells_seen: tuple[int, ...]
    differences: tuple[float, ...]
    log_against_a: tuple[float, ...]
    log_against_b: tuple[float, ...]

    @property
    def cells(self) -> int:
        """Number of cells that count."""
        return self.cells_seen[-1] if self.cells_seen else 0

    @property
    def wins_a(self) -> int:
        """Number of tasks on which A does better."""
        return sum(difference > TIE for difference in self.differences)

    @property
    def wins_b(self) -> int:
        """Number of tasks on which B does better."""
        return sum(difference < -TIE for difference in self.differences)

    @property
    def against_a(self) -> list[float]:
        """Running e-values against "A does at least as well as B"."""
        return _e_values(self.log_against_a)

    @property
    def against_b(self) -> list[float]:
        """Running e-values against "B does at least as well as A"."""
        return _e_values(self.log_against_b)


def compare(cells: Iterable[PairCell], score: Score = Score.RIGHT) -> PairEvidence:
    """Compute the evidence of two rules against each other.

    The difference of a task is the mean over its cells of B's loss minus A's, where the loss on a cell is the mean over
    its fitting runs. With `Score.RIGHT` that is the share of runs with A right minus the share with B right.

    Raises:
        EvidenceError: if a probability or a count of a cell is out of range.
    """
    by_task: dict[str, list[float]] = {}
    for cell in cells:
        if not 0 <= cell.successes <= cell.trials:
            raise EvidenceError(f"task {cell.task!r}: {cell.successes} successes in {cell.trials} runs")
        a, b = (prediction(probability, score, cell.task) for probability in (cell.rule_a, cell.rule_b))
        if cell.trials and a != b:
            share = cell.successes / cell.trials
            by_task.setdefault(cell.task, []).append(_loss(b, share, score) - _loss(a, share, score))
    tasks = tuple(sorted(by_task, key=hash_order))
    differences = np.array([np.mean(by_task[task]) for task in tasks])
    return PairEvidence(
        tasks=tasks,
        cells_seen=tuple(int(count) for count in np.cumsum([len(by_task[task]) for task in tasks])),
        differences=tuple(differences.tolist()),
        log_against_a=tuple(log_e_values(-differences).tolist()),
        log_against_b=tuple(log_e_values(differences).tolist()),
    )


def trajectory(evidence: PairEvidence) -> list[tuple[int, float, float]]:
    """Return points of a figure, from (0, 0, 0): cells seen, logarithms of the e-values against A and against B."""
    steps = zip(evidence.cells_seen, evidence.log_against_a, evidence.log_against_b, strict=True)
    return [(0, 0.0, 0.0), *steps]


def log_e_values(differences: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Compute the logarithms of the running e-values against "the expected difference is at most 0".

    Args:
        differences: shape (..., tasks), float64, each in [-1, 1].

    Returns:
        Logarithm of the mean over BETS of prod(1 + lambda d) up to each task; shape (..., tasks).
    """
    return _log_mean([np.cumsum(np.log1p(bet * differences), axis=-1) for bet in BETS])


def log_last_e_values(differences: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Compute the last of the `log_e_values` alone, in less time; shape (...), and 0 without tasks."""
    return _log_mean([np.log1p(bet * differences).sum(axis=-1) for bet in BETS])


def _log_mean(wealth: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Return the logarithm of the mean over BETS of the wealth whose logarithms are given."""
    from scipy.special import logsumexp  # slow to import, and most commands need none of it

    mean: npt.NDArray[np.float64] = logsumexp(np.stack(wealth), axis=0) - np.log(len(BETS))
    return mean


def hash_order(task: str) -> str:
    """Return the key by which tasks are sorted: SHA-256 of the name, which nobody chose with the outcomes in view."""
    return sha256(task.encode()).hexdigest()


def prediction(probability: float | None, score: Score, task: str) -> float:
    """Return a rule's prediction as a score sees it: its probability, or the side of 1/2 on which that lies.

    Raises:
        EvidenceError: the probability, which was given for a cell of `task`, is out of range.
    """
    if probability is None:
        return 0.5
    if not 0 <= probability <= 1:
        raise EvidenceError(f"task {task!r}: probability {probability} must lie between 0 and 1")
    if score is Score.BRIER or probability == 0.5:
        return probability
    return float(probability > 0.5)


def _loss(prediction: float, share: float, score: Score) -> float:
    power = 2 if score is Score.BRIER else 1
    return share * (1 - prediction) ** power + (1 - share) * prediction**power


def _e_values(logarithms: tuple[float, ...]) -> list[float]:
    return [exp(min(logarithm, LARGEST_LOG)) for logarithm in logarithms]
