"""One row of metrics: what one run does at one checkpoint and scale."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One row of metrics: what one run does at one checkpoint and scale. NaN where there is nothing to speak of.

    Attributes:
        epoch: of the checkpoint.
        exact_match: share of samples whose generated tokens are all right.
        token_accuracy: share of generated tokens that are right, each after the right tokens before it.
        first_wrong: median number of the first wrong step, from 1, among samples that are not all right.
        seen_steps: share of steps whose operator entry occurs in the run's training set.
        seen_samples: share of samples all of whose steps' entries do.
        exact_match_seen: exact match among these.
        token_accuracy_seen: share of the seen steps that are right.
        training_loss: mean cross-entropy of the epoch that ended.
    """

    epoch: int
    scale: int
    exact_match: float
    token_accuracy: float
    first_wrong: float
    seen_steps: float
    seen_samples: float
    exact_match_seen: float
    token_accuracy_seen: float
    training_loss: float


def measurement(
    right_BJ: NDArray[np.bool_], seen_BJ: NDArray[np.bool_], *, epoch: int, scale: int, training_loss: float
) -> Measurement:
    """One row from which steps are right, and which have an operator entry that training showed."""
    exact, seen = np.asarray(right_BJ.all(axis=1)), np.asarray(seen_BJ.all(axis=1))
    wrong = right_BJ[~exact].argmin(axis=1) + 1
    return Measurement(
        epoch=epoch,
        scale=scale,
        exact_match=float(exact.mean()),
        token_accuracy=float(right_BJ.mean()),
        first_wrong=float(np.median(wrong)) if len(wrong) else float("nan"),
        seen_steps=float(seen_BJ.mean()),
        seen_samples=float(seen.mean()),
        exact_match_seen=float(exact[seen].mean()) if seen.any() else float("nan"),
        token_accuracy_seen=float(right_BJ[seen_BJ].mean()) if seen_BJ.any() else float("nan"),
        training_loss=training_loss,
    )
