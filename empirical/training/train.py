"""Training runs to their end, resumable at any moment, and measuring them at every scale."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from time import monotonic

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save

from empirical.model.backend import CPU, Backend
from empirical.model.ensemble import Ensemble
from empirical.model.setup import Setup
from empirical.runs import unfinished
from empirical.runs.data import TEST, examples
from empirical.runs.environment import environment
from empirical.runs.measurement import Measurement, measurement
from empirical.runs.run import Run
from empirical.runs.store import RunStore
from empirical.training import memory
from empirical.training.evaluation import teacher_forced
from empirical.training.probe import seconds_of_step
from theory.system.errors import LengthgenError


class TrainingError(LengthgenError):
    """Training cannot begin or go on; one line says why."""


Progress = Callable[[int, int], None]
"""Called with (epochs done, epochs in all)."""


def train(
    runs: Sequence[Run],
    store: RunStore,
    *,
    backend: Backend = CPU,
    provenance: Mapping[str, Mapping[str, str]] | None = None,
    progress: Progress | None = None,
) -> None:
    """Trains runs that differ in their seed to their end and stores them; what is done is not done again.

    They are trained together, as an ensemble, or one after the other, whichever a short probe finds faster; what was
    begun goes on as it was begun. On one machine and backend an interrupted and resumed training ends with the same
    bits as an uninterrupted one. On a CPU it computes on one thread: sums of several threads come out in an order that
    depends on their number.

    Args:
        runs: of one group.
        store: where they go.
        backend: on what.
        provenance: run id -> what is added to its environment.json.
        progress: called after every epoch.

    Raises:
        TrainingError: the loss is not finite.
        DamagedFile: the state to go on from is not as it was written.
        ProfileError: the runs are measured nowhere.
        BackendError: the backend is not there.
    """
    backend.require()
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    torch.compiler.reset()  # what was compiled for another group is of other shapes
    with store.locks(runs):
        if all(store.finished(run) for run in runs):
            store.remove_state(runs)  # what is left where its training was killed at its very end
            return
        setup = Setup.of(runs[0], backend.device)
        parts, probe = _parts(runs, store, setup, backend)
        total = len(parts) * runs[0].training.epochs
        left, failures = list(parts), []
        while left:
            part = left.pop(0)
            if all(store.finished(run) for run in part):
                continue
            before = total - (1 + len(left)) * part[0].training.epochs
            told = partial(_tell, progress, before, total)
            try:
                _Training(part, store, setup, backend, probe).to_end(told, provenance or {})
            except _Diverged as error:
                if len(part) == 1:
                    failures.append(str(error))
                else:
                    left = [(run,) for run in part]
                    total = len(left) * part[0].training.epochs
        if failures:
            raise TrainingError("; ".join(failures))


def _tell(progress: Progress | None, before: int, total: int, done: int, _: int) -> None:
    """Tells the epochs done of one part as those of all."""
    if progress:
        progress(before + done, total)


class _Diverged(TrainingError):
    """The loss of some run is not finite; checkpoints of the runs alone are stored."""


def _parts(
    runs: Sequence[Run], store: RunStore, setup: Setup, backend: Backend
) -> tuple[list[tuple[Run, ...]], dict[str, float]]:
    """The runs as they are trained, together or each alone, and what the probe found, if there was one."""
    together, alone = [tuple(runs)], [(run,) for run in runs]
    begun_alone = any(store.finished(run) or store.has_state([run]) for run in runs)
    if len(runs) == 1:
        return alone, {}
    if store.has_state(runs):
        return together, {}
    if begun_alone:
        return alone, {}
    probe = seconds_of_step(runs, setup, backend)
    return (together if probe["together"] < len(runs) * probe["alone"] else alone), probe


class _Training:
    """The state of runs while they are trained together."""

    def __init__(
        self, runs: tuple[Run, ...], store: RunStore, setup: Setup, backend: Backend, probe: Mapping[str, float]
    ) -> None:
        self.runs, self.store, self.setup, self.backend = runs, store, setup, backend
        self.probe = dict(probe)
        self.started = monotonic()
        memory.forget_peak(backend.device)
        self.ensemble = Ensemble(runs, setup, backend)
        run = runs[0]
        self.test_sets = {
            scale: examples(setup.task, [scale], run.evaluation.samples, split=TEST, seed=0) for scale in run.test
        }
        self.seen = [setup.seen(data, self.test_sets) for data in self.ensemble.train_sets]
        self.checkpoints = {epoch for epoch, _ in run.metric_keys()}
        self.epoch, self.seconds = 0, 0.0
        self.metrics: list[list[Measurement]] = [[] for _ in runs]

    def to_end(self, progress: Progress, provenance: Mapping[str, Mapping[str, str]]) -> None:
        """Epoch after epoch; a checkpoint every `evaluate_every`, and at the end."""
        self._restore()
        self.store.note_progress(self.runs, self.epoch)
        total = self.runs[0].training.epochs
        while self.epoch < total:
            losses = self.ensemble.epoch(self.epoch)
            self._require_finite(losses)
            self.epoch += 1
            if self.epoch in self.checkpoints:
                self._measure(losses.mean(axis=0))
                self._save()
            self.store.note_progress(self.runs, self.epoch)
            progress(self.epoch, total)
        seconds = self.seconds + monotonic() - self.started
        for model, run in enumerate(self.runs):
            self.store.finish(
                run,
                metrics=self.metrics[model],
                checkpoint=save(self.ensemble.weights(model)),
                environment=environment(self.backend.device)
                | {
                    "seconds": round(seconds / len(self.runs), 3),
                    "trained_together": len(self.runs),
                    "peak_memory_mib": memory.peak(self.backend.device),
                    "probe": self.probe,
                    "compiled": self.backend.compiled,
                    "encoding_maps_in_turn": self.ensemble.decoder.encoding.looped,
                }
                | dict(provenance.get(run.id, {})),
            )
        self.store.remove_state(self.runs)

    def _require_finite(self, losses_TM: NDArray[np.float64]) -> None:
        """Stops at a loss that is not finite; models trained together go on alone, each from the last checkpoint."""
        bad = np.argwhere(~np.isfinite(losses_TM))
        if not len(bad):
            return
        step, model = (int(number) for number in bad[0])
        if len(self.runs) > 1:
            self._split()
        raise _Diverged(
            f"the loss of {self.runs[model].id} is {losses_TM[step, model]} at step {step + 1} of epoch "
            f"{self.epoch + 1}; its last checkpoint stays: take a lower learning rate"
        )

    def _measure(self, losses_M: NDArray[np.float64]) -> None:
        self.ensemble.decoder.eval()
        for scale, data in self.test_sets.items():
            right_MBJ = teacher_forced(self.ensemble.decoder, self.setup.geometry, data)
            for model, rows in enumerate(self.metrics):
                rows.append(
                    measurement(
                        right_MBJ[model], self.seen[model][scale], epoch=self.epoch, scale=scale,
                        training_loss=float(losses_M[model]),
                    )
                )  # fmt: skip

    def _save(self) -> None:
        """Weights, optimiser, epoch and metrics as one file, replaced whole."""
        self.store.save_state(self.runs, self._state(slice(None)))

    def _state(self, models: slice) -> bytes:
        progress = {
            "seconds": self.seconds + monotonic() - self.started,
            "metrics": [[asdict(row) for row in rows] for rows in self.metrics[models]],
        }
        tensors = {name: tensor[models] if tensor.dim() else tensor for name, tensor in self.ensemble.state().items()}
        return save(tensors, metadata=unfinished.metadata(self.runs[models], epoch=self.epoch, progress=progress))

    def _split(self) -> None:
        """A state for each model alone: that of the last checkpoint of all, or of the beginning."""
        if self.store.has_state(self.runs):
            self._restore()
        else:
            self.ensemble = Ensemble(self.runs, self.setup, self.backend)
            self.epoch = 0
        for model, run in enumerate(self.runs):
            self.store.save_state([run], self._state(slice(model, model + 1)))
        self.store.remove_state(self.runs)

    def _restore(self) -> None:
        """Back to the last checkpoint, if there is one."""
        state = self.store.state(self.runs)
        if state is None:
            return
        try:
            self.ensemble.load(load(state.content))
            metrics = [[Measurement(**row) for row in rows] for rows in state.progress["metrics"]]
            seconds = float(state.progress["seconds"])
        except (SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
            raise unfinished.damaged_state(self.store.state_path(self.runs), error) from error
        self.epoch, self.seconds, self.metrics = state.epoch, seconds, metrics
