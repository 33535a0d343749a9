"""What a learner makes of a pattern under a relation: learned from scales 1..train, looked at up to test.

The learner is gradient descent from zero, or min-norm least squares, on noise-free data that spans, all cells of the
training scales weighing alike: each label met in training ends at the mean of its class, every other stays at zero
(docs/theory.md, "What a learner learns") [F].  Here cells may be triples, so that families A(i, j, n) and relations with scale hint
are learned as well; `theory.pola.learned_matrix` is the same for pairs, `theory.learners` has other learners.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from theory.generalization import ScalesError
from theory.lattice import Cell, Cells, cells_for
from theory.lrc import level_sets
from theory.pattern import Pattern
from theory.relation import Relation

TOLERANCE = 1e-9
"""Share of the pattern's largest entry that rounding may cost."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The learned and the true entries of all cells up to test.

    Attributes:
        cells: by scale, then query, then key.
        target: the pattern's entries, float64 [cells, *shape].
        learned: what is learned, float64 [cells, *shape].
    """

    cells: Cells
    target: NDArray[np.float64]
    learned: NDArray[np.float64]

    @property
    def error(self) -> NDArray[np.float64]:
        """Of each cell the largest |learned - target|, float64 [cells]."""
        gap = np.abs(self.learned - self.target).reshape(len(self.target), -1)
        return np.asarray(gap.max(axis=1))

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """The cells that are not learned, up to rounding; bool [cells]."""
        return np.asarray(self.error > TOLERANCE * max(1.0, float(np.abs(self.target).max())))

    @property
    def first_wrong(self) -> Cell | None:
        """The first cell that is not learned."""
        wrong = self.wrong
        return self.cells[int(np.argmax(wrong))] if wrong.any() else None


def learn(pattern: Pattern, relation: Relation, *, train: int, test: int) -> Outcome:
    """What is learned of the pattern under the relation.

    Raises:
        ScalesError: not 1 <= train <= test.
        PatternError: the pattern is not given up to test, or its entries have free parameters.
    """
    if not 1 <= train <= test:
        raise ScalesError(f"scales must be 1 <= train <= test, not train={train}, test={test}")
    pattern.require(test)
    cells = cells_for(relation, *([level_sets(pattern, test)] if pattern.scale_hint else []), scale=test)
    target = pattern.floats(cells.keys, cells.queries, cells.scales)
    _, label_of = np.unique(cells.labels(relation), return_inverse=True)
    within = cells.count_within(train)
    entries = target.reshape(len(target), -1)
    met = np.bincount(label_of[:within], minlength=label_of.max() + 1)
    sums = [np.bincount(label_of[:within], weights=entry[:within], minlength=met.size) for entry in entries.T]
    theta = np.stack(sums, axis=1) / np.maximum(met, 1)[:, None]
    return Outcome(cells=cells, target=target, learned=theta[label_of].reshape(target.shape))
