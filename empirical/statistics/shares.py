"""Exact statistics for few runs: shares with confidence intervals, and binomial tails."""

from dataclasses import dataclass
from math import comb

CONFIDENCE = 0.95
ALPHA = 0.05


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
