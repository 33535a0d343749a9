"""Two ways to train the same task, run against run of the same seed."""

from collections.abc import Callable, Sequence
from statistics import fmean

from empirical.trial.outcomes import History, by_checkpoint, outcome
from proofs_checks.claim import Claim, Evidence
from proofs_checks.majority import Count, settle
from proofs_checks.papers.trained.sources import RANDOMIZED, figure
from proofs_checks.trained import NONE, Arm, Runs, TrainedCell

MARGIN = 0.1
"""Of mean exact match: what is as close counts as a match ([F], fixed before its runs were looked at)."""


def most_pairs(
    *, runs: Runs, arm: Arm, other: Arm, measure: str, scales: Sequence[int], wins: Callable[[float], bool], does: str
) -> Evidence:
    """Decide whether in every cell most pairs of runs of one seed, both fitting, differ as `wins` says.

    The difference is that of the means, over the scales, of a measure (a column of the metrics) at the last
    checkpoint, first arm minus other.  Cells of the arms are paired in their order.
    """
    reading = runs.read(arm, other)
    counts = [_count(first, second, measure, scales, wins) for first, second in zip(*reading.arms, strict=True)]
    return settle(counts, least=len(counts), trial="pairs", does=does, reading=reading)


def _count(
    first: TrainedCell, second: TrainedCell, measure: str, scales: Sequence[int], wins: Callable[[float], bool]
) -> Count:
    if (first.cell.task, first.cell.base) != (second.cell.task, second.cell.base):
        raise ValueError(f"{first.cell} and {second.cell} are different tasks")
    pairs = list(zip(first.histories, second.histories, strict=True))
    differences = [
        _mean(one, measure, scales) - _mean(two, measure, scales) for one, two in pairs if _fits(one) and _fits(two)
    ]
    reach = f"; differences {min(differences):.3f} to {max(differences):.3f}" if differences else ""
    return Count(
        cell=f"{first.cell} against {second.cell.format}, {second.cell.encoding}",
        did=sum(map(wins, differences)),
        trials=len(differences),
        of=len(pairs),
        note=f"{reach}; {len(pairs)} pairs in all",
    )


def _fits(history: History) -> bool:
    return outcome(history, threshold=history[0].evaluation.threshold).fits


def _mean(history: History, measure: str, scales: Sequence[int]) -> float:
    _, rows = history
    *_, last = by_checkpoint(rows).values()
    return fmean(getattr(last[scale], measure) for scale in scales)


_ARITHMETIC = ("addition", "multiplication", "division")
_PLAIN = Arm(protocol="randomized", encodings=("ape", "rpe"))
_RANDOM = Arm(protocol="randomized", encodings=("random-ape[longest=128]", "random-rpe[longest=128]"))

CLAIMS = (
    Claim(
        id="fig3-hint",
        source=figure(3),
        statement="The ideal encoding with scale hint, on data that are not aligned, matches the ideal encoding on "
        f"aligned data: in Addition, Multiplication and Division most runs of one seed are at most {MARGIN:g} apart "
        "in mean exact match at scales 16-20.",
        latex=rf"\Pr(\lvert a_{{16..20}}-b_{{16..20}}\rvert\le{MARGIN:g})>\tfrac12\ \text{{on each of 3 tasks}}",
        label="F",
        check=most_pairs,
        holds={
            "runs": NONE,
            "arm": Arm(protocol="fig3", encodings=("ipe-sh",), tasks=_ARITHMETIC),
            "other": Arm(protocol="fig3", encodings=("ipe",), tasks=_ARITHMETIC),
            "measure": "exact_match",
            "scales": range(16, 21),
            "wins": lambda difference: abs(difference) <= MARGIN,
            "does": f"are at most {MARGIN:g} apart",
        },
        falsifiers={
            "learned absolute codes match it": {
                "arm": Arm(protocol="fig2", encodings=("ape",), tasks=_ARITHMETIC),
            },
            "the hint is better by more than the margin": {
                "wins": lambda difference: difference > MARGIN,
                "does": f"are more than {MARGIN:g} better",
            },
        },
    ),
    Claim(
        id="rpe-7",
        source=RANDOMIZED,
        statement="Positions drawn at random beat plain ones at lengths not seen: trained to copy and to reverse 1 to "
        "5 symbols, with learned absolute and with relative codes, most runs have the higher mean token accuracy at "
        "scales 6-20 than the plain run of the same seed.",
        latex=r"\Pr(a^{\text{drawn}}_{6..20}>a^{\text{plain}}_{6..20})>\tfrac12\ \text{on each of 4 pairs}",
        label="P",
        check=most_pairs,
        holds={
            "runs": NONE,
            "arm": _RANDOM,
            "other": _PLAIN,
            "measure": "token_accuracy",
            "scales": range(6, 21),
            "wins": lambda difference: difference > 0,
            "does": "are better",
        },
        falsifiers={"plain positions beat those drawn": {"arm": _PLAIN, "other": _RANDOM}},
    ),
)
