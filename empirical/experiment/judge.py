"""Exact statistics of few runs: shares, e-values of what most runs do, and scores of predictions.

An e-value has expectation at most 1 under its null hypothesis, so it reaches 1/alpha with probability at most alpha.
For a supermartingale this holds at any stopping time (Ville's inequality): seeds may be added until a cell is decided.

Published packages do not replace the e-values: `expectation` needs Python 3.12, `confseq` a C++ build, and `ville`
tests a share against a single value, not against all values up to it. The formula is one line; the tests compare it
with exact expectations and with the closed form for a beta distribution, and e-BH with that of `ville` if installed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import comb, exp, isfinite, log

from lengthgen.infrastructure.errors import LengthgenError

CONFIDENCE = 0.95
ALPHA = 0.05
PRIOR = ((0.0, 0.5), (0.2, 0.3), (0.4, 0.15), (0.7, 0.05))
"""Alternatives, each with its weight: position between the extreme share (at 0) and the threshold (at 1).

Half of the weight is on unanimous runs, so that five of them decide at threshold 1/2; the rest survives dissent. With
none, one and two dissenting runs, 5, 11 and 14 runs decide.
"""
NEAR_HALF = 5.0
"""Both parameters of the symmetric beta mixture near one half, whose standard deviation is 0.15."""
LARGEST_LOG = 700.0
"""Logarithm at which e-values are cut off; a smaller e-value is valid too, and a larger one is no float."""
ABSTAINED = 0.5
"""Probability by which an abstention is scored ([F])."""


class EvidenceError(LengthgenError):
    """Counts, thresholds or e-values that cannot be."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """Share `successes` / `trials` with its exact (Clopper-Pearson) 95% interval; [0, 1] if there are no trials."""

    successes: int
    trials: int
    low: float
    high: float


def share(successes: int, trials: int) -> Share:
    """Compute a share with its exact interval, whose ends are quantiles of beta distributions."""
    from scipy.special import betaincinv  # slow to import, and most commands need none of it

    failures, tail_mass = trials - successes, (1 - CONFIDENCE) / 2
    return Share(
        successes=successes,
        trials=trials,
        low=float(betaincinv(successes, failures + 1, tail_mass)) if successes else 0.0,
        high=float(betaincinv(successes + 1, failures, 1 - tail_mass)) if failures else 1.0,
    )


def tail(successes: int, trials: int) -> float:
    """Probability of at least `successes` successes in `trials` trials of success probability one half."""
    return sum(comb(trials, count) for count in range(successes, trials + 1)) / 2.0**trials


@dataclass(frozen=True)
class Evidence:
    """E-values against "the share is at most the threshold" (`above`) and against "at least" (`below`)."""

    above: float
    below: float

    def that(self, yes: bool) -> float:
        """E-value for "the share is above the threshold", or for the opposite."""
        return self.above if yes else self.below


class Estimand(Enum):
    """Questions about the share of fitting runs that generalize; the value is the threshold of the share."""

    POSSIBLE = 0.05
    MAJORITY = 0.5
    NEARLY_ALL = 0.9

    def evidence(self, successes: int, trials: int) -> Evidence:
        """Compute the e-values at the threshold of this question."""
        return e_process(successes, trials, threshold=self.value)


def e_process(successes: int, trials: int, *, threshold: float = 0.5) -> Evidence:
    """Compute e-values for and against a share above a threshold, from the runs that fit.

    `above` is a mixture over shares p > t of the likelihood ratio (p/t)^successes ((1-p)/(1-t))^failures, with weights
    PRIOR. It is valid for the composite null: at any true share q <= t each run's factor has expectation
    q p/t + (1-q)(1-p)/(1-t), which grows with q and is 1 at q = t; so the product is a supermartingale, whatever the
    order of the runs. `below` is the same with failures for successes and 1-t for t.

    Raises:
        EvidenceError: if not 0 <= successes <= trials, or the threshold is not strictly between 0 and 1.
    """
    _check_counts(successes, trials)
    if not 0 < threshold < 1:
        raise EvidenceError(f"threshold {threshold} must lie strictly between 0 and 1")
    failures = trials - successes
    return Evidence(
        above=_mixture(successes, failures, threshold),
        below=_mixture(failures, successes, 1 - threshold),
    )


def near_half(successes: int, trials: int) -> Evidence:
    """Compute e-values for and against a share above one half that grow also if the share is near one half.

    PRIOR has 95% of its weight on shares of .8 or more, so that 67 of 108 runs are no evidence in `e_process`. Here the
    likelihood ratio is averaged over p ~ Beta(5, 5) given p > 1/2, in closed form: with s successes and f failures,
    above = 2^(s+f+1) B(5+s, 5+f) / B(5, 5) I_1/2(5+f, 5+s), where I is the regularized incomplete beta function. It is
    a one-sided beta-binomial mixture (Howard et al. 2021, arXiv 1810.08240), valid at any stopping time for the same
    reason as `e_process`; so is the mean of both. It was chosen after the recorded runs, so it decides nothing there.

    Raises:
        EvidenceError: if not 0 <= successes <= trials.
    """
    from scipy.special import betainc, betaln  # slow to import, and most commands need none of it

    _check_counts(successes, trials)

    def side(agree: int, differ: int) -> float:
        tail_mass = float(betainc(NEAR_HALF + differ, NEAR_HALF + agree, 0.5))
        log_ratio = float(betaln(NEAR_HALF + agree, NEAR_HALF + differ) - betaln(NEAR_HALF, NEAR_HALF))
        return 2 * tail_mass * exp(min(trials * log(2) + log_ratio, LARGEST_LOG))

    return Evidence(above=side(successes, trials - successes), below=side(trials - successes, successes))


def _check_counts(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials:
        raise EvidenceError(f"{successes} successes in {trials} runs: successes must lie between 0 and the runs")


def _mixture(successes: int, failures: int, threshold: float) -> float:
    terms: list[float] = []
    for position, weight in PRIOR:
        share = 1 - (1 - threshold) * position
        if position == 0 and failures:
            continue  # a share of 1 rules failures out
        log_ratio = successes * log(share / threshold) + (failures * log(position) if failures else 0.0)
        terms.append(log(weight) + log_ratio)
    largest = max(terms)
    return exp(min(largest + log(sum(exp(term - largest) for term in terms)), LARGEST_LOG))


def decides(evidence: Evidence, alpha: float = ALPHA) -> bool | None:
    """Return True if the share is above the threshold, False if it is below, None if undecided.

    Each answer is wrong with probability at most alpha; both can be only where the share equals the threshold.
    """
    _check_alpha(alpha)
    if evidence.above >= 1 / alpha:
        return True
    return False if evidence.below >= 1 / alpha else None


def e_bh(e_values: Sequence[float], alpha: float = ALPHA) -> list[bool]:
    """Return which hypotheses e-BH rejects: the k largest e-values, for the largest k with e_(k) >= m / (alpha k).

    The false discovery rate is at most alpha under any dependence [P] (Wang and Ramdas 2022, arXiv 2009.02824).

    Raises:
        EvidenceError: if an e-value is negative or not a number, or alpha is not strictly between 0 and 1.
    """
    _check_alpha(alpha)
    for value in e_values:
        if not value >= 0:
            raise EvidenceError(f"{value} is no e-value: e-values are at least 0")
    count = len(e_values)
    ranked = sorted(e_values, reverse=True)
    rejected = max((k for k, value in enumerate(ranked, start=1) if alpha * k * value >= count), default=0)
    return [rejected > 0 and value >= ranked[rejected - 1] for value in e_values]


def least_rejected(others: Sequence[float], alpha: float = ALPHA) -> float:
    """Return the smallest e-value that e-BH rejects beside the e-values of other hypotheses."""
    _check_alpha(alpha)
    count, ranked = len(others) + 1, sorted(others, reverse=True)
    levels = (count / (alpha * k) for k in range(1, count + 1))
    return min(level for k, level in enumerate(levels, start=1) if k == 1 or ranked[k - 2] >= level)


def _check_alpha(alpha: float) -> None:
    if not (isfinite(alpha) and 0 < alpha < 1):
        raise EvidenceError(f"alpha {alpha} must lie strictly between 0 and 1")


def says(probability: float | None) -> bool | None:
    """Answer that a probability of success gives; None for an abstention or one half."""
    return None if probability in (None, ABSTAINED) else probability > ABSTAINED


def loss(probability: float, share: float, power: int = 2) -> float:
    """Mean over the runs of a cell of |p - outcome|^power: the Brier score with power 2, half a wrong answer with 1."""
    return share * (1 - probability) ** power + (1 - share) * probability**power


def confusion(answers: Iterable[tuple[bool | None, bool | None]]) -> dict[str, int]:
    """Count (predicted, observed) pairs in which both are known, as right_yes, wrong_yes, right_no and wrong_no."""
    counts = {"right_yes": 0, "wrong_yes": 0, "right_no": 0, "wrong_no": 0}
    for predicted, observed in answers:
        if predicted is not None and observed is not None:
            counts[f"{'right' if predicted == observed else 'wrong'}_{'yes' if predicted else 'no'}"] += 1
    return counts
