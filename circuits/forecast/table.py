"""Table of counted runs: the share of fitting runs that generalized, by features, smoothed from coarse to fine."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from statistics import median

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.forecast.features import Features
from lengthgen.circuits.forecast.record import RecordedCell, recorded_cells
from lengthgen.circuits.prediction_record import Counted

PRIOR = 10
"""Number of runs that a coarser row counts for in a finer one."""
CONFIDENCE = 0.95
"""Probability of the interval of a share."""
CONCENTRATIONS = tuple(2 ** (power / 2) for power in range(-8, 9))
"""Candidates for the concentration of cells, from 1/16 to 16."""
OUTSIDE = 10
"""One in so many failing runs lies beyond each end of the range of breaking scales."""

Numbers = NDArray[np.float64]
Key = tuple[str, ...]
"""Values of the first features, from none to all, in the order of FEATURES."""
FEATURES = ("shown", "labels", "start", "operands", "bits")
"""Features from coarse to fine."""


def keys_of(features: Features) -> tuple[Key, ...]:
    """Return the keys of the rows that a cell belongs to, from coarse to fine."""
    values = (features.shown.name, features.labels.value, *(getattr(features, name) for name in FEATURES[2:]))
    return tuple(values[:count] for count in range(len(values) + 1))


@dataclass(frozen=True, kw_only=True)
class Row:
    """Counts of one row.

    Attributes:
        tasks: number of tasks.
        counted: fitting runs, and those that generalize.
        late: scales from the expected first failure to the first failure of a run -> number of such failing runs; only
            cells for which a rule expects a failure are counted.
    """

    tasks: int
    counted: Counted
    late: Counter[int]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows by key, and how much the cells of one row differ.

    Attributes:
        rows: key -> counts.
        concentrations: number of features that a key holds -> concentration: the share of a cell is taken to follow a
            beta distribution about the share of such a row, as if it had been seen in this number of runs before.
    """

    rows: dict[Key, Row]
    concentrations: tuple[float, ...]

    def share(self, features: Features) -> float:
        """Return the smoothed share of fitting runs that generalize in cells with these features."""
        return self.share_of(keys_of(features)[-1])

    def share_of(self, key: Key) -> float:
        """Return the smoothed share of a row, or of the finest row above it that exists."""
        above = [self.rows[key[:count]].counted for count in range(len(key) + 1) if key[:count] in self.rows]
        return _smoothed(dict.fromkeys(above))  # a row with the runs of the one above it says no more

    def finest(self, features: Features) -> Row:
        """Return the finest row that has these features; the whole table where no part does."""
        return self.rows[self._finest_key(features)]

    def _finest_key(self, features: Features) -> Key:
        return [key for key in keys_of(features) if key in self.rows][-1]

    def concentration(self, features: Features) -> float:
        """Return the concentration of cells about the finest row that has these features."""
        return self.concentrations[len(self._finest_key(features))]

    def spread(self, features: Features) -> tuple[float, float]:
        """Return mean and concentration of the share of a cell where the share of its row is uncertain as well ([F]).

        Each task of the row is one look at the row's share, which follows a beta distribution after Jeffreys' prior:
        runs of one task say little about another. The result has the mean and the variance of both together.
        """
        tasks, weight = self.finest(features).tasks, self.concentration(features)
        mean = (tasks * self.share(features) + 0.5) / (tasks + 1)
        return mean, (tasks + 1) * (weight + 1) / (tasks + weight + 1) - 1

    def distance(self, features: Features) -> int:
        """Return how many of the features no counted cell shares, from fine to coarse ([F]): 0 to 5."""
        return len(keys_of(features)) - 1 - len(self._finest_key(features))

    def breaks_of(self, features: Features, expected: int | None) -> tuple[int, float, int] | None:
        """Return where failing runs of such cells fail first: lower end, median, upper end (`middle`).

        Args:
            features: features of the cells.
            expected: scale at which a rule expects a failure; without one there is no answer.
        """
        if expected is None:
            return None
        late = middle(self.finest(features).late)
        return late and (expected + late[0], expected + late[1], expected + late[2])


def _smoothed(counts: Iterable[Counted]) -> float:
    """Return the share of the last counts, in each of which those before stand for PRIOR runs; 1/2 without any."""
    share = 0.5
    for counted in counts:
        share = (counted.generalize + PRIOR * share) / (counted.runs + PRIOR)
    return share


def table_of(cells: Iterable[RecordedCell]) -> Table:
    """Return the table that counts these cells; the concentrations are the most likely candidates."""
    counted_cells = [cell for cell in cells if cell.fit]
    by_key: dict[Key, list[RecordedCell]] = defaultdict(list)
    for cell in counted_cells:
        for key in keys_of(cell.features):
            by_key[key].append(cell)
    table = Table(rows={key: _row(of_key) for key, of_key in by_key.items()}, concentrations=())
    successes = np.array([cell.generalize for cell in counted_cells])
    trials = np.array([cell.fit for cell in counted_cells])
    keys = [keys_of(cell.features) for cell in counted_cells]
    levels = range(len(keys[0]) if keys else 0)
    shares = [np.array([table.share_of(of_cell[level]) for of_cell in keys]) for level in levels]
    return replace(table, concentrations=tuple(_concentration(each, successes, trials) for each in shares))


def _concentration(shares: Numbers, successes: Numbers, trials: Numbers) -> float:
    """Return the candidate under which the counts of cells are most likely if each share varies about its own."""
    from scipy.special import betaln  # slow to import, and most commands need none of it

    def log_likelihood(concentration: float) -> float:
        """Log-likelihood of the counts, which are beta-binomial."""
        first, second = concentration * shares, concentration * (1 - shares)
        return float(np.sum(betaln(first + successes, second + trials - successes) - betaln(first, second)))

    return max(CONCENTRATIONS, key=log_likelihood)


def _row(cells: list[RecordedCell]) -> Row:
    late: Counter[int] = Counter()
    for cell in cells:
        if cell.first_break is not None:
            late.update({scale - cell.first_break: count for scale, count in cell.first_failures.items()})
    return Row(
        tasks=len({(cell.task, cell.base) for cell in cells}),
        counted=Counted(runs=sum(cell.fit for cell in cells), generalize=sum(cell.generalize for cell in cells)),
        late=late,
    )


def middle(late: Counter[int]) -> tuple[int, float, int] | None:
    """Return how late runs fail: lower end, median, upper end, one run in OUTSIDE beyond each. None without runs."""
    values = sorted(late.elements())
    if not values:
        return None
    cut = len(values) // OUTSIDE
    return values[cut], median(values), values[len(values) - 1 - cut]


@cache
def fitted_table() -> Table:
    """Return the table that forecasts use: it counts the cells of the half FITTED of the registered random tasks."""
    return table_of(cell for cell in recorded_cells() if cell.counts)
