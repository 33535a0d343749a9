"""Training of runs, resumable at any moment, with measurements at every scale."""

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

from lengthgen.empirical.experiment import loop
from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.environment import environment, forget_peak, peak, revision
from lengthgen.empirical.experiment.evaluation import teacher_forced
from lengthgen.empirical.experiment.loop import TrainingError
from lengthgen.empirical.experiment.metrics import Measurement, measurement
from lengthgen.empirical.experiment.run import Run, require_unchanged
from lengthgen.empirical.experiment.samples import TEST, VALIDATION
from lengthgen.empirical.experiment.stopping import EarlyStopping
from lengthgen.empirical.experiment.store import RunStore, damaged_state, state_metadata
from lengthgen.empirical.model.backend import CPU, Backend, BackendError
from lengthgen.infrastructure.memory import keep_freed_memory

SECONDS_BETWEEN_STATES = 300
"""A state is saved at each checkpoint, and at the end of an epoch where the last one is older than this."""
Progress = Callable[[int, int], None]
"""Callback with (finished epochs, epochs in all)."""


def train(
    runs: Sequence[Run],
    store: RunStore,
    *,
    backend: Backend = CPU,
    provenance: Mapping[str, Mapping[str, str]] | None = None,
    progress: Progress | None = None,
) -> None:
    """Train runs that differ in their seed to the end and store them; finished runs are skipped.

    They are trained together, as an ensemble; those of which one was begun alone are trained one after the other. On
    one machine and backend an interrupted and resumed training ends with the same bits as an uninterrupted one. On a
    CPU one thread computes, because the order of a sum depends on the number of threads, and the process keeps the
    memory that it frees.

    Args:
        runs: runs of one group.
        store: store for the results.
        backend: device and compilation.
        provenance: run id -> entries added to its environment.json.
        progress: called after every epoch.

    Raises:
        TrainingError: the loss is not finite.
        DamagedFile: the state to resume from differs from what was written.
        ProfileError: the runs have no checkpoint to measure, or the user's files have changed since they were planned.
        BackendError: the backend is missing, or compiles and the runs leave out filler.
    """
    backend.require()
    revision()  # of the code that trains; it may be another one when training ends
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(1)
    keep_freed_memory()
    # The same as `use_deterministic_algorithms`, which imports the compiler, for a second.
    torch.set_deterministic_debug_mode("error")
    # Nothing reads memory before it is written.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    if backend.compiled:
        torch.use_deterministic_algorithms(True)  # in compiled code as well
        torch.compiler.reset()  # code compiled for another group has other shapes

    def report(before: int, total: int, done: int) -> None:
        if progress:
            progress(before + done, total)

    with store.locks(runs):
        if all(store.finished(run) for run in runs):
            store.remove_state(runs)  # left over if training was killed at its very end
            return
        if backend.compiled and runs[0].training.leave_out:
            raise BackendError(
                "a training step that leaves out filler (training.leave_out) has another length each time, and is not "
                "compiled: leave out --compile"
            )
        require_unchanged(runs[0])
        setup = Setup.of(runs[0], backend.device)
        begun_alone = any(store.finished(run) or store.has_state([run]) for run in runs)
        alone: list[tuple[Run, ...]] = [(run,) for run in runs]
        remaining = alone if begun_alone and not store.has_state(runs) else [tuple(runs)]
        total, failures = len(remaining) * runs[0].training.epochs, []
        while remaining:
            members = remaining.pop(0)
            if all(store.finished(run) for run in members):
                continue
            before = total - (1 + len(remaining)) * members[0].training.epochs
            try:
                training = _Training(members, store, setup, backend)
                training.to_end(partial(report, before, total), provenance or {})
            except _Diverged as error:
                if len(members) == 1:
                    failures.append(str(error))
                else:
                    remaining = [(run,) for run in members]
                    total = len(remaining) * members[0].training.epochs
        if failures:
            raise TrainingError("; ".join(failures))


class _Diverged(TrainingError):
    """The loss of some run is not finite; states of the single runs are stored."""


def early_stopping(run: Run, setup: Setup, models: int) -> EarlyStopping:
    """Early stopping of the models of runs like this one, by samples that all of them share."""
    return EarlyStopping(
        [
            setup.examples([scale], run.evaluation.samples, split=VALIDATION, seed=0)
            for scale in sorted(run.train, reverse=True)
        ],
        models,
        times=run.training.stop_when_solved,
        threshold=run.evaluation.threshold,
        last=run.training.epochs,
        seed=VALIDATION,  # another than that of the tests, so that drawn positions differ from theirs too
    )


class _Training:
    """Training of runs on one ensemble, with its current state."""

    def __init__(self, runs: tuple[Run, ...], store: RunStore, setup: Setup, backend: Backend) -> None:
        self.runs, self.store, self.setup, self.backend = runs, store, setup, backend
        self.started = monotonic()
        forget_peak(backend.device)
        self.ensemble = Ensemble(runs, setup, backend)
        run = runs[0]
        self.test_sets = {
            scale: setup.examples([scale], run.evaluation.samples, split=TEST, seed=0) for scale in run.test
        }
        self.seen = [setup.seen(data, self.test_sets) for data in self.ensemble.train_sets]
        run.metric_keys()  # raises if there is no checkpoint to measure
        self.checkpoints = {*run.checkpoints, run.training.epochs}
        self.stopping = early_stopping(run, setup, len(runs)) if run.training.stop_when_solved else None
        self.epoch, self.seconds = 0, 0.0
        self.saved = self.started
        self.metrics: list[list[Measurement]] = [[] for _ in runs]

    def to_end(self, progress: Callable[[int], None], provenance: Mapping[str, Mapping[str, str]]) -> None:
        """Train until the last epoch, or until every run has ended; measure the runs at their checkpoints."""
        self._restore()
        self.store.note_progress(self.runs, self.epoch)
        training = self.runs[0].training
        steps = training.samples // training.batch
        while self.epoch < training.epochs and (self.stopping is None or self.stopping.running.any()):
            span = range(self.epoch * steps, (self.epoch + 1) * steps)
            losses_TM = torch.stack(list(loop.train(self.ensemble, span))).double().cpu().numpy()
            self._require_finite(losses_TM)
            self.epoch += 1
            if self.epoch in self.checkpoints:
                if self.stopping:
                    self.stopping.look(self.ensemble, self.epoch, losses_TM.mean(axis=0))
                else:
                    self._measure([self.epoch] * len(self.runs), losses_TM.mean(axis=0))
            if self.epoch in self.checkpoints or monotonic() - self.saved >= SECONDS_BETWEEN_STATES:
                self._save()
            self.store.note_progress(self.runs, self.epoch)
            progress(self.epoch)
        if self.stopping:
            self.stopping.restore_weights(self.ensemble)
            self._measure([epoch or training.epochs for epoch in self.stopping.ended], self.stopping.losses)
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
                    "peak_memory_mib": peak(self.backend.device),
                    "compiled": self.backend.compiled,
                    "encoding_maps_in_turn": self.ensemble.decoder.encoding.looped,
                }
                | dict(provenance.get(run.id, {})),
            )
        self.store.remove_state(self.runs)

    def _require_finite(self, losses_TM: NDArray[np.float64]) -> None:
        """Raise an error at a loss that is not finite; an ensemble is first split into its runs, to be trained alone.

        Each run continues from the last state. Losses of runs that have ended do not count.
        """
        running = self.stopping.running if self.stopping else True
        not_finite = np.argwhere(~np.isfinite(losses_TM) & running)
        if not len(not_finite):
            return
        step, model = (int(number) for number in not_finite[0])
        if len(self.runs) > 1:
            self._split()
        raise _Diverged(
            f"the loss of {self.runs[model].id} is {losses_TM[step, model]} at step {step + 1} of epoch "
            f"{self.epoch + 1}; its last state is kept: use a lower learning rate"
        )

    def _measure(self, epochs: Sequence[int], losses_M: Sequence[float] | NDArray[np.float64]) -> None:
        """Append the metrics of the present weights at every scale, with the epoch and training loss of each model."""
        self.ensemble.decoder.eval()
        for scale, data in self.test_sets.items():
            right_MBJ = teacher_forced(self.ensemble.decoder, self.setup.geometry, data)
            for model, rows in enumerate(self.metrics):
                rows.append(
                    measurement(
                        right_MBJ[model], self.seen[model][scale], data.exists, epoch=epochs[model], scale=scale,
                        training_loss=float(losses_M[model]),
                    )
                )  # fmt: skip

    def _save(self) -> None:
        """Save weights, optimiser, epoch and metrics as one file, replaced at once."""
        self.store.save_state(self.runs, self._state(slice(None)))
        self.saved = monotonic()

    def _state(self, models: slice) -> bytes:
        """State of some models as safetensors."""
        progress = {
            "seconds": self.seconds + monotonic() - self.started,
            "metrics": [[asdict(row) for row in rows] for rows in self.metrics[models]],
        }
        all_tensors = self.ensemble.state()
        if self.stopping:
            progress["stopping"] = self.stopping.progress(models)
            all_tensors |= self.stopping.tensors()
        tensors = {name: tensor[models] if tensor.dim() else tensor for name, tensor in all_tensors.items()}
        return save(tensors, metadata=state_metadata(self.runs[models], epoch=self.epoch, progress=progress))

    def _split(self) -> None:
        """Save a state for each model alone: the last common one, or that of the beginning."""
        if self.store.has_state(self.runs):
            self._restore()
        else:
            self.ensemble = Ensemble(self.runs, self.setup, self.backend)
            if self.stopping:
                self.stopping.begin(len(self.runs))
            self.epoch = 0
        for model, run in enumerate(self.runs):
            self.store.save_state([run], self._state(slice(model, model + 1)))
        self.store.remove_state(self.runs)

    def _restore(self) -> None:
        """Return to the last state, if there is one."""
        state = self.store.state(self.runs)
        if state is None:
            return
        try:
            tensors = load(state.content)
            if self.stopping:
                self.stopping.load(state.progress["stopping"], tensors, self.backend.device)
            self.ensemble.load(tensors)
            metrics = [[Measurement(**row) for row in rows] for rows in state.progress["metrics"]]
            seconds = float(state.progress["seconds"])
        except (SafetensorError, RuntimeError, ValueError, KeyError, TypeError) as error:
            raise damaged_state(self.store.state_path(self.runs), error) from error
        self.epoch, self.seconds, self.metrics = state.epoch, seconds, metrics
