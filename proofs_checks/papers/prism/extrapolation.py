"""Copy and reverse far beyond the trained scales, by PRISM and by sinusoidal codes, decided by stored runs."""

from lengthgen.empirical.experiment.outcome import outcome
from lengthgen.proofs_checks.claim import Claim, Evidence, Source
from lengthgen.proofs_checks.majority import Count, settle
from lengthgen.proofs_checks.trained import NONE, Arm, Runs, TrainedCell

SOURCE = Source(
    paper="Position as Probability (PRISM)",
    arxiv="2506.00920",
    place="a summary: copy and reverse at ten times the trained length; the bounds and the factor are ours",
)
FACTOR = 5
"""The exact match is that at this times the largest training scale."""
REACHED, MISSED = 0.95, 0.2
"""Exact match from which on a run reaches, and below which it misses, the larger scale ([F], fixed before any run)."""

_PRISM, _SINUSOIDAL = (
    Arm(protocol="prism", encodings=(name,), tasks=("copy", "reverse"))
    for name in ("prism[positions=256]", "sinusoidal")
)


def extrapolates(*, runs: Runs, arm: Arm, baseline: Arm) -> Evidence:
    """Decide if on each task, in most pairs of runs with the same seed, both fitting, one reaches and the other misses.

    The run of `arm` has to reach the larger scale, that of `baseline` to miss it.
    """
    reading = runs.read(arm, baseline)
    counts = [_pairs_that_do(first, second) for first, second in zip(*reading.arms, strict=True)]
    does = f"have at {FACTOR} times the trained scale the exact match that is stated"
    return settle(counts, least=len(counts), trial="pairs", does=does, reading=reading)


def _pairs_that_do(first: TrainedCell, second: TrainedCell) -> Count:
    """Count of the pairs of runs of which the first reaches the larger scale and the second misses it."""
    scale = FACTOR * max(first.histories[0][0].train)
    pairs = [
        [outcome(history, threshold=history[0].evaluation.threshold) for history in pair]
        for pair in zip(first.histories, second.histories, strict=True)
    ]
    matches = [[run.exact_match[scale] for run in pair] for pair in pairs if all(run.fits for run in pair)]
    ranges = [f"{min(values):.2f} to {max(values):.2f}" for values in zip(*matches, strict=True)]
    return Count(
        cell=f"{first.cell} against {second.cell.encoding}",
        did=sum(reached >= REACHED and missed < MISSED for reached, missed in matches),
        trials=len(matches),
        of=len(pairs),
        note=f"; exact match at scale {scale} {' against '.join(ranges)}" if matches else "",
    )


CLAIMS = (
    Claim(
        id="prism-9",
        source=SOURCE,
        statement=f"Trained to copy and to reverse up to n symbols, models with PRISM (our reconstruction) have an "
        f"exact match of at least {REACHED:g} at {FACTOR}n symbols and models with sinusoidal codes less than "
        f"{MISSED:g}, in most pairs of the same seed; n is 10 in the profile paper and 5 in quick.",
        latex=rf"\Pr(a^{{\text{{PRISM}}}}_{{{FACTOR}n}}\ge{REACHED:g},\ a^{{\text{{sin}}}}_{{{FACTOR}n}}<{MISSED:g})"
        r">\tfrac12\ \text{on each of 2 tasks}",
        label="F",
        check=extrapolates,
        holds={"runs": NONE, "arm": _PRISM, "baseline": _SINUSOIDAL},
        falsifiers={
            "sinusoidal codes in PRISM's place": {"arm": _SINUSOIDAL},
            "PRISM in the place of sinusoidal codes": {"baseline": _PRISM},
        },
    ),
)
