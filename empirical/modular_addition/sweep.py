"""Training of modular addition: the models of one condition, in one process, after their predictions are stored."""

from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.modular_addition.run import ModularRun
from lengthgen.empirical.runs.environment import environment
from lengthgen.empirical.training.sealed_sweep import steps_shown
from lengthgen.infrastructure.files import seal


@dataclass(frozen=True)
class Trained:
    """Function that trains and measures the models of a run whose predictions are stored in `out`."""

    out: Path

    def __call__(self, run: ModularRun, backend: Backend) -> dict[str, Any]:
        """Return the result as JSON, with the predictions.

        On one machine and backend the numbers are the same each time: on a CPU one thread computes.

        Raises:
            DivergedError: a loss is not finite.
            EncodingError: the encoding refuses a size.
            DamagedFile: the stored predictions have changed.
        """
        predictions = run.predictions(self.out)
        import torch

        from lengthgen.empirical.modular_addition.classifiers import Classifiers

        torch.set_num_threads(1)
        started = monotonic()
        models = Classifiers(run.condition, run.profile, backend)
        losses = [values.tolist() for values in models.train()]
        shown = steps_shown(len(losses))
        return {
            **run.config,
            "predictions": predictions,
            "predictions_sha256": seal(predictions),
            "losses": [losses[step] for step in shown],
            "losses_sha256": seal(losses),
            "steps_shown": shown,
            "measured": models.measure(),
            "seconds": round(monotonic() - started, 1),
            "environment": environment(backend.device),
        }
