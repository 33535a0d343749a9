"""Scores of the runs (seeds) of one format and encoding, for the figures of trained models."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lengthgen.empirical.experiment.judge import share


@dataclass(frozen=True, kw_only=True)
class CellScores:
    """Exact match of the runs of one format and encoding, at one checkpoint.

    Attributes:
        format: format of the data, which names the panel.
        encoding: position encoding, which names the curve.
        exact_match: map from scale to one value for each seed, with the seeds in the same order at every scale.

    Raises:
        ValueError: no scales, no seeds, unequal numbers of seeds, or a value outside [0, 1].
    """

    format: str
    encoding: str
    exact_match: Mapping[int, tuple[float, ...]]

    def __post_init__(self) -> None:
        counts = {scale: len(values) for scale, values in self.exact_match.items()}
        if not counts or 0 in counts.values():
            raise ValueError(f"{self.name}: needs at least one scale, and at least one seed at every scale")
        if len(set(counts.values())) > 1:
            raise ValueError(f"{self.name}: unequal numbers of seeds at its scales: {counts}")
        for scale, values in self.exact_match.items():
            if not all(0 <= value <= 1 for value in values):
                raise ValueError(f"{self.name}: exact match at scale {scale} must lie in [0, 1], not {values}")

    @property
    def name(self) -> str:
        """Name of the cell in messages and captions."""
        return f"{self.encoding}, {self.format}"

    @property
    def scales(self) -> tuple[int, ...]:
        """Scales with values, ascending."""
        return tuple(sorted(self.exact_match))

    @property
    def seeds(self) -> int:
        """Number of runs."""
        return len(self.exact_match[self.scales[0]])

    def solved(self, scales: Sequence[int], threshold: float) -> int:
        """Number of seeds whose exact match is at least `threshold` at each of the scales."""
        runs = zip(*(self.exact_match[scale] for scale in scales), strict=True)
        return sum(all(value >= threshold for value in run) for run in runs)


def seed_columns(cell: CellScores, scale: int, cells: Iterable[CellScores]) -> dict[str, object]:
    """Table columns seed_1, seed_2, ... with the value of each run; as many as the table of all `cells` needs."""
    most = max(each.seeds for each in cells)
    values = cell.exact_match[scale]
    return {f"seed_{at + 1}": values[at] if at < cell.seeds else "" for at in range(most)}


def interval(successes: int, trials: int) -> tuple[float, float]:
    """Exact (Clopper-Pearson) 95% interval of a binomial probability, as (low, high)."""
    estimate = share(successes, trials)
    return estimate.low, estimate.high


def common_scales(
    cells: Sequence[CellScores], *, train: Sequence[int], threshold: float, equal_seeds: bool = True
) -> tuple[int, ...]:
    """Return the scales of all cells, after checking that the cells can be compared in one figure.

    Raises:
        ValueError: no cells, two cells of one format and encoding, a scale that some cell lacks, unequal numbers of
            seeds where these must be equal, no training scales or one without values, or a threshold outside (0, 1].
    """
    if not cells:
        raise ValueError("nothing to draw: no cells given")
    if not 0 < threshold <= 1:
        raise ValueError(f"the threshold must lie in (0, 1], not {threshold}")
    names = [cell.name for cell in cells]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name}: given twice")
    scales = sorted({scale for cell in cells for scale in cell.scales})
    for cell in cells:
        missing = [scale for scale in scales if scale not in cell.exact_match]
        if missing:
            raise ValueError(f"{cell.name}: no values at scales {missing}, which other cells have")
    if equal_seeds and len({cell.seeds for cell in cells}) > 1:
        counts = {cell.name: cell.seeds for cell in cells}
        raise ValueError(f"unequal numbers of seeds: {counts}; draw the seeds that all cells have")
    unmeasured = sorted(set(train) - set(scales))
    if not train or unmeasured:
        raise ValueError(
            f"training scales must be given and have values; these have none: {unmeasured or 'none given'}"
        )
    return tuple(scales)
