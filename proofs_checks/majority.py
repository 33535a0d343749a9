"""Claims on trained models, decided by tests at 0.05: what most runs of each cell do, or the mean over seeds ([F]).

A cell counts as doing something if and only if more than half of all its fitting runs would
(`lengthgen.empirical.trial.conjecture`). Given the number of fitting runs, the number of those that do is binomial, so
an exact one-sided test against one half is made in each direction. A claim says that at least m of k cells do.

- Shown: Fisher's combination of the k - m + 1 largest p-values of the cells is at most 0.05 (Benjamini and Heller,
  Biometrics, 2008). If all k cells are claimed, this is the largest p-value itself. Each cell is then tested at 0.05,
  and no correction is needed: a false claim has a false cell, and the test of that cell errs in at most 5%.
- Refuted: the opposite is shown in the same way, namely that at least k - m + 1 cells do not. If all k are claimed,
  this combines all cells. Holm's correction could refute nothing with 5 runs in each of 6 cells (6/32 > 0.05), however
  wrong the claim.
- Undecided: the claim is unsettled.

A cell without fitting runs says nothing in either direction: the other cells alone must show the claim or its opposite.
p-values of counts are larger than uniform ones, so the combination errs on the safe side. Runs are taken to be
independent.

A mean of differences, one for each seed, is decided by one-sided t-tests, which take the differences for independent
and normal. Equal differences have no spread to test by, so they decide nothing: coarse measurements such as accuracies
coincide by chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lengthgen.empirical.experiment.judge import ALPHA, tail
from lengthgen.proofs_checks.claim import Evidence, Refuted, Strength, Unsettled
from lengthgen.proofs_checks.trained import Reading

Side = Literal["below", "above"]


@dataclass(frozen=True, kw_only=True)
class Count:
    """Numbers of trials of a cell, runs or pairs of runs: those that fit and do what is claimed, that fit, and all."""

    cell: str
    did: int
    trials: int
    of: int
    note: str = ""

    @property
    def p_for(self) -> float:
        """Probability that so many or more do it, if half of all fitting trials would."""
        return tail(self.did, self.trials)

    @property
    def p_against(self) -> float:
        """Probability that so many or more do not, if half of all fitting trials would not."""
        return tail(self.trials - self.did, self.trials)


def settle(counts: Sequence[Count], *, least: int, trial: str, does: str, reading: Reading) -> Evidence:
    """Return the evidence that at least `least` of the cells do it.

    There is a count for each cell, made from the runs of `reading`. `trial` and `does` are noun and verb of the report,
    such as "runs" and "generalize". Raises `Refuted` if too many cells do the opposite, and `Unsettled` if neither the
    claim nor its opposite is shown.
    """
    texts = {count: _describe(count, trial, does) for count in counts}
    observed = [count for count in counts if count.trials]
    p_against = at_least([count.p_against for count in observed], len(counts) - least + 1)
    if p_against <= ALPHA:
        opposite = [texts[count] for count in counts if 2 * count.did < count.trials]
        raise Refuted(f"{'; '.join(opposite)}; that {least} of {len(counts)} cells do has p = {p_against:.2g}")
    p_for = at_least([count.p_for for count in observed], least)
    if p_for > ALPHA:
        undecided = [f"{texts[count]}, p = {count.p_for:.2g}" for count in counts if count.p_for > ALPHA]
        raise Unsettled(
            f"not decided for {least} of {len(counts)} cells, p = {p_for:.2g}: {'; '.join(undecided or texts.values())}"
        )
    combined = len(observed) - least + 1
    how = "the largest of the cells'" if combined == 1 else f"the {combined} largest of the cells', combined"
    return Evidence(
        strength=Strength.STATISTICAL,
        facts=(
            f"p = {p_for:.2g}, {how}",
            *(f"{texts[count]}, p = {count.p_for:.2g}{count.note}" for count in counts),
            reading.fact,
        ),
        assumptions=(
            *reading.conditions,
            f"each cell: more than half of all fitting {trial} would; runs are independent",
        ),
    )


def at_least(p_values: Sequence[float], least: int) -> float:
    """Return the p-value of "fewer than `least` of these hypotheses are false".

    This is Fisher's combination of all p-values but the least - 1 smallest ones.
    """
    from scipy.stats import combine_pvalues  # slow to import, and only claims on runs need it

    largest = sorted(p_values)[least - 1 :]
    return float(combine_pvalues(largest, method="fisher").pvalue) if largest else 1.0


def _describe(count: Count, trial: str, does: str) -> str:
    """Text with the counts of a cell."""
    if not count.trials:
        return f"{count.cell}: none of {count.of} {trial} fits the training scales"
    return f"{count.cell}: {count.did} of {count.trials} fitting {trial} {does}"


def decide_mean(differences: Sequence[float], side: Side, bound: float, *, seen: str) -> Evidence:
    """Decide if the mean of the differences, one for each seed, lies on this side of the bound.

    `seen` says what was measured. Raises `Refuted` if the mean lies on the other side, significantly, and `Unsettled`
    if neither is significant.
    """
    other: Side = "above" if side == "below" else "below"
    p_of = p_values(differences, bound)
    if p_of[other] <= ALPHA:
        raise Refuted(f"{seen}; that the mean is not {other} {bound:g} has p = {p_of[other]:.2g}")
    if p_of[side] > ALPHA:
        raise Unsettled(f"not decided: {seen}; p = {p_of[side]:.2g} that the mean is {side} {bound:g}")
    return Evidence(
        strength=Strength.STATISTICAL,
        facts=(seen, f"p = {p_of[side]:.2g}, one-sided t-test over {len(differences)} seeds"),
        assumptions=("differences of seeds are independent and normal",),
    )


def p_values(differences: Sequence[float], bound: float) -> dict[Side, float]:
    """Return the p-value of the mean on each side of the bound; 1 for fewer than two seeds or equal differences."""
    if len(set(differences)) < 2:
        return {"below": 1.0, "above": 1.0}
    from scipy.stats import ttest_1samp  # slow to import, and only these claims need it

    below, above = (
        float(ttest_1samp(differences, bound, alternative=alternative).pvalue) for alternative in ("less", "greater")
    )
    return {"below": below, "above": above}


def signed(differences: Sequence[float]) -> str:
    """Differences by seed, for people."""
    return f"differences by seed {', '.join(f'{difference:+.3f}' for difference in differences)}"
