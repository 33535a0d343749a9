"""Claims on what most runs do, cell by cell: shown, refuted, or neither, by exact tests ([F]).

A cell counts as one that does something iff more than half of all its runs that fit would
(`empirical.trial.conjecture`): given how many fit, those that do are binomial, and an exact one-sided test against one
half is made each way. A claim says that at least m of k cells do.

- Shown: Fisher's combination of the k - m + 1 largest p-values of the cells is at most 0.05 (Benjamini and Heller,
  Biometrics, 2008). Where all k cells are claimed, this is the largest p-value itself: each cell is tested at 0.05
  alone, and no correction is needed, for a false claim has a false cell, and that cell's test errs in 5% at most.
- Refuted: the opposite is shown in the same way, that at least k - m + 1 cells do not. Where all k are claimed, this
  combines all cells: a test corrected over them. Holm's, as the trial has it, could refute nothing with 5 runs in each
  of 6 cells (6/32 > 0.05), however wrong the claim.
- Neither: unsettled.

A cell without a run that fits says nothing either way: the others alone must show it, or the opposite. p-values of
counts are larger than uniform ones, so that the combination errs on the safe side. Runs are taken for independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from scipy.special import chdtrc

from empirical.trial.statistics import ALPHA, tail
from proofs_checks.claim import Evidence, Refuted, Strength, Unsettled
from proofs_checks.trained import Reading


@dataclass(frozen=True, kw_only=True)
class Count:
    """Count of a cell's trials that do what is claimed; a trial is a run, or a pair of runs, that fits.

    Attributes:
        note: what else is to be said.
    """

    cell: str
    did: int
    trials: int
    of: int
    note: str = ""

    @property
    def p_for(self) -> float:
        """Probability of so many or more that do, if half of all would."""
        return tail(self.did, self.trials)

    @property
    def p_against(self) -> float:
        """Probability of so many or more that do not, if half of all would not."""
        return tail(self.trials - self.did, self.trials)


def settle(counts: Sequence[Count], *, least: int, trial: str, does: str, reading: Reading) -> Evidence:
    """The evidence that at least `least` of the cells do it.

    Args:
        counts: one for each cell.
        least: from 1 to all of them.
        trial: what is counted, as "runs".
        does: what they do, as "generalize".
        reading: where the counts come from.

    Raises:
        Refuted: too many cells do the opposite.
        Unsettled: neither is shown.
    """
    said = {count: _said(count, trial, does) for count in counts}
    observed = [count for count in counts if count.trials]
    p_against = at_least([count.p_against for count in observed], len(counts) - least + 1)
    if p_against <= ALPHA:
        opposite = [said[count] for count in counts if 2 * count.did < count.trials]
        raise Refuted(f"{'; '.join(opposite)}; that {least} of {len(counts)} cells do has p = {p_against:.2g}")
    p_for = at_least([count.p_for for count in observed], least)
    if p_for > ALPHA:
        open_ones = [f"{said[count]}, p = {count.p_for:.2g}" for count in counts if count.p_for > ALPHA]
        raise Unsettled(
            f"not decided for {least} of {len(counts)} cells, p = {p_for:.2g}: {'; '.join(open_ones or said.values())}"
        )
    combined = len(observed) - least + 1
    how = "the largest of the cells'" if combined == 1 else f"the {combined} largest of the cells', combined"
    return Evidence(
        strength=Strength.STATISTICAL,
        facts=(
            f"p = {p_for:.2g}, {how}",
            *(f"{said[count]}, p = {count.p_for:.2g}{count.note}" for count in counts),
            reading.fact,
        ),
        assumptions=(
            *reading.conditions,
            f"each cell: more than half of all fitting {trial} would; runs are independent",
        ),
    )


def at_least(p_values: Sequence[float], least: int) -> float:
    """p of "fewer than `least` of these hypotheses are false": Fisher's combination of all but the smallest ones."""
    largest = sorted(p_values)[least - 1 :]
    if len(largest) < 2:
        return largest[0] if largest else 1.0
    return float(chdtrc(2 * len(largest), -2 * sum(map(log, largest))))


def _said(count: Count, trial: str, does: str) -> str:
    if not count.trials:
        return f"{count.cell}: none of {count.of} {trial} fits the training scales"
    return f"{count.cell}: {count.did} of {count.trials} fitting {trial} {does}"
