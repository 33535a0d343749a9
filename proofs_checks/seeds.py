"""Decision of a claim on trained models by one difference for each seed: a one-sided t-test of their mean at 0.05.

The test takes the differences for independent and normal ([F]).  Equal differences have no spread to test by, so they
decide nothing: coarse measurements such as accuracies coincide by chance.
"""

from collections.abc import Sequence
from typing import Literal

from lengthgen.empirical.experiment.judge import ALPHA
from lengthgen.proofs_checks.claim import Evidence, Refuted, Strength, Unsettled

Side = Literal["below", "above"]


def decide_mean(
    differences: Sequence[float], side: Side, bound: float, *, seen: str, assumptions: tuple[str, ...]
) -> Evidence:
    """Decide if the mean of the differences lies on this side of the bound.

    Args:
        differences: one for each seed.
        side: side of the bound that the claim states.
        bound: number that the mean is compared with.
        seen: what was measured, for people.
        assumptions: how the models were trained.

    Raises:
        Refuted: it lies on the other side, significantly.
        Unsettled: neither is significant.
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
        assumptions=(*assumptions, "differences of seeds are independent and normal"),
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
