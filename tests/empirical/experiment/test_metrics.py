"""A row of metrics says what its columns are defined to be."""

from dataclasses import asdict
from statistics import fmean, median

import numpy as np
import pytest

from lengthgen.empirical.experiment.metrics import measurement

Steps = list[list[bool]]
"""Truth value of each step of each sample."""


def _defined(right: Steps, seen: Steps) -> dict[str, float]:
    """Compute the columns by their definitions, sample by sample."""
    nothing = float("nan")
    samples = list(zip(right, seen, strict=True))
    wrong = [1 + steps.index(False) for steps in right if not all(steps)]
    wholly_seen = [all(steps) for steps, were_seen in samples if all(were_seen)]
    single = [(step, was_seen) for steps, were_seen in samples for step, was_seen in zip(steps, were_seen, strict=True)]
    seen_single = [step for step, was_seen in single if was_seen]
    return {
        "exact_match": fmean(all(steps) for steps in right),
        "token_accuracy": fmean(step for step, _ in single),
        "first_wrong": median(wrong) if wrong else nothing,
        "seen_steps": fmean(was_seen for _, was_seen in single),
        "seen_samples": fmean(all(were_seen) for were_seen in seen),
        "exact_match_seen": fmean(wholly_seen) if wholly_seen else nothing,
        "token_accuracy_seen": fmean(seen_single) if seen_single else nothing,
    }


@pytest.mark.parametrize("seed", range(60))
def test_every_column_is_as_defined(seed: int) -> None:
    draw = np.random.default_rng(seed)
    shape = draw.integers(1, 8), draw.integers(1, 6)
    right, seen = (draw.random(shape) < draw.choice([0.0, 0.3, 0.7, 0.9, 1.0]) for _ in range(2))
    # Samples end early: at least the first step of each exists, and after its end all counts as right and seen.
    ends = draw.integers(1, shape[1] + 1, size=shape[0]) if seed % 2 else np.full(shape[0], shape[1])
    exists = np.arange(shape[1]) < ends[:, None]
    row = asdict(measurement(right | ~exists, seen | ~exists, exists, epoch=3, scale=7, training_loss=0.25))
    right_steps, seen_steps = (
        [steps[:end] for steps, end in zip(each.tolist(), ends, strict=True)] for each in (right, seen)
    )
    expected = _defined(right_steps, seen_steps) | {"epoch": 3, "scale": 7, "training_loss": 0.25}
    assert row.keys() == expected.keys()
    assert row == pytest.approx(expected, nan_ok=True)
