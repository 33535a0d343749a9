"""Exact statistics for few runs: shares with confidence intervals, binomial tails, and Holm's correction."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, log2

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


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (Scandinavian Journal of Statistics, 1979) of p-values, in the order given."""
    adjusted = [0.0] * len(p_values)
    running_max = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        running_max = max(running_max, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running_max
    return adjusted


def runs_needed(cells: int) -> int:
    """Number of unanimous runs that decide a cell whatever the other cells do: cells / 2^runs <= ALPHA."""
    return ceil(log2(cells / ALPHA)) if cells else 0
