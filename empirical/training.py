"""Training one run, resumable at any moment, and evaluating it at every scale."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import lru_cache
from time import monotonic

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from circuits.prediction import Analysis, analyse
from circuits.tasks import load
from empirical.data import TEST, TRAIN, Examples, examples
from empirical.decoder import Decoder
from empirical.encodings import LearnedAbsolute, PositionEncoding, Relational
from empirical.files import write_bytes
from empirical.run import Run
from empirical.store import Measurement, RunStore, environment
from theory.errors import LengthgenError
from theory.relation import NO_LABEL, Relation


class TrainingError(LengthgenError):
    """Training cannot begin or go on; one line says why."""


Progress = Callable[[int, int], None]
"""Called with (epochs done, epochs in all)."""


def train(
    run: Run,
    store: RunStore,
    *,
    device: str = "cpu",
    provenance: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> None:
    """Trains the run to its end and stores it; goes on where it stopped, and does nothing when it is done.

    On one machine and device an interrupted and resumed run ends with the same bits as an uninterrupted one. On a
    CPU it computes on one thread: sums of several threads come out in an order that depends on their number.

    Args:
        run: what to train.
        store: where it goes.
        device: "cpu" or "cuda".
        provenance: added to environment.json when the run is finished.
        progress: called after every epoch.

    Raises:
        TrainingError: the loss is not finite, the device is not there, or the checkpoint is damaged.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise TrainingError("no CUDA device is available: leave out --device, or say --device cpu")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    with store.lock(run):
        if not store.finished(run):
            _Training(run, store, device).to_end(progress or (lambda done, total: None), provenance or {})


@lru_cache(maxsize=4)
def _analysis(task: str, format: str, largest_scale: int) -> Analysis:
    """Runs of one cell share it."""
    return analyse(load(task), format, largest_scale)


class Geometry:
    """The labels of a relation for any batch."""

    def __init__(self, relation: Relation, lengths: Mapping[int, int], device: str) -> None:
        """Label matrices at all scales, filled to the longest sequence; `lengths` is scale -> sequence length."""
        self.length = max(lengths.values())
        if relation.scale_hint:
            self._row = {scale: row for row, scale in enumerate(lengths)}
            stack = np.zeros((len(lengths), self.length, self.length), dtype=np.int64)
            for scale, row in self._row.items():
                stack[row, : lengths[scale], : lengths[scale]] = relation.labels(lengths[scale], scale)
        else:
            self._row = dict.fromkeys(lengths, 0)
            stack = relation.labels(self.length)[None]
        stack[stack == NO_LABEL] = 0
        self.count = int(stack.max()) + 1
        self._labels_SJI = torch.from_numpy(stack.transpose(0, 2, 1).copy()).to(device)

    def labels(self, scales: NDArray[np.int64], length: int) -> Tensor:
        """int64 [1 or B, J, I] for sequences of these scales, J = I = length; rows are queries, columns keys."""
        if len(self._labels_SJI) == 1:
            return self._labels_SJI[:, :length, :length]
        rows = torch.tensor([self._row[int(scale)] for scale in scales], device=self._labels_SJI.device)
        return self._labels_SJI[rows, :length, :length]


def build_encoding(name: str, geometry: Geometry, run: Run) -> PositionEncoding:
    """The module of an encoding, with tables for everything that occurs up to the run's largest scale."""
    if name == "ape":
        return LearnedAbsolute(length=geometry.length, width=run.model.width)
    if name == "nope":
        return PositionEncoding()
    head_width = run.model.width // run.model.heads
    return Relational(labels=geometry.count, layers=run.model.layers, head_width=head_width)


class _Training:
    """The state of one run while it is trained."""

    def __init__(self, run: Run, store: RunStore, device: str) -> None:
        self.run, self.store, self.device = run, store, device
        self.started = monotonic()
        self.task = run.load_task()
        analysis = _analysis(run.task, run.format, max(*run.train, *run.test))
        lengths = {one.scale: one.length for one in analysis.traces if one.scale in {*run.train, *run.test}}
        self.geometry = Geometry(analysis.relation(run.encoding), lengths, device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(run.seed)
            encoding = build_encoding(run.encoding, self.geometry, run)
            model = Decoder(symbols=len(self.task.alphabet), encoding=encoding, **asdict(run.model))
        self.model = model.to(device)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=run.training.learning_rate, weight_decay=run.training.weight_decay
        )
        self.train_set = examples(self.task, run.train, run.training.samples, split=TRAIN, seed=run.seed)
        self.test_sets = {n: examples(self.task, [n], run.evaluation.samples, split=TEST, seed=0) for n in run.test}
        self.epoch, self.seconds = 0, 0.0
        self.metrics: list[Measurement] = []

    def to_end(self, progress: Progress, provenance: Mapping[str, str]) -> None:
        """Epoch after epoch; a checkpoint every `evaluate_every`, and at the end."""
        self._restore()
        total = self.run.training.epochs
        while self.epoch < total:
            loss = self._epoch()
            self.epoch += 1
            if self.epoch % self.run.training.evaluate_every == 0 or self.epoch == total:
                self._measure(loss)
                self._save()
            progress(self.epoch, total)
        seconds = self.seconds + monotonic() - self.started
        self.store.finish(
            self.run,
            metrics=self.metrics,
            checkpoint=save(self.model.state_dict()),
            environment=environment(self.device) | {"seconds": round(seconds, 3)} | dict(provenance),
        )

    def _epoch(self) -> float:
        """One pass over the training set in an order drawn from (seed, epoch); the mean loss."""
        order = np.random.default_rng([self.run.seed, self.epoch]).permutation(len(self.train_set.tokens))
        self.model.train()
        total = torch.zeros((), device=self.device)
        batches = np.split(order, range(self.run.training.batch, len(order), self.run.training.batch))
        for rows in batches:
            logits_BLV, targets_BL, steps_BL = self._forward(self.train_set, rows)
            loss = F.cross_entropy(logits_BLV[steps_BL], targets_BL[steps_BL])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            total += loss.detach()
        mean = float(total) / len(batches)
        if not np.isfinite(mean):
            raise TrainingError(f"the loss of {self.run.id} is {mean} in epoch {self.epoch}; its last checkpoint stays")
        return mean

    def _forward(self, data: Examples, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor]:
        """Logits [B, L, V], the tokens they should give [B, L], and where these are generated ones [B, L]."""
        length = int(np.flatnonzero(data.is_step[rows].any(axis=0))[-1]) + 1
        tokens = torch.from_numpy(data.tokens[rows, :length].astype(np.int64)).to(self.device)
        steps = torch.from_numpy(data.is_step[rows, 1:length]).to(self.device)
        encoding = self.model.encoding
        labels = self.geometry.labels(data.scales[rows], length - 1) if encoding.needs_labels else None
        return self.model(tokens[:, :-1], labels), tokens[:, 1:], steps

    @torch.no_grad()
    def _measure(self, training_loss: float) -> None:
        """Every scale in one teacher-forced pass: the first wrong token is wrong in free running as well."""
        self.model.eval()
        for scale, data in self.test_sets.items():
            logits_BLV, targets_BL, steps_BL = self._forward(data, np.arange(len(data.tokens)))
            right_BL = (logits_BLV.argmax(-1) == targets_BL) | ~steps_BL
            self.metrics.append(
                Measurement(
                    epoch=self.epoch,
                    scale=scale,
                    exact_match=right_BL.all(1).double().mean().item(),
                    token_accuracy=(right_BL & steps_BL).sum().item() / steps_BL.sum().item(),
                    training_loss=training_loss,
                )
            )

    def _save(self) -> None:
        """Weights, optimiser, epoch and metrics as one file, replaced whole."""
        tensors = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for index, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": tensor for name, tensor in state.items()}
        progress = {
            "epoch": self.epoch,
            "seconds": self.seconds + monotonic() - self.started,
            "metrics": [asdict(row) for row in self.metrics],
        }
        write_bytes(self.store.state_path(self.run), save(tensors, metadata={"progress": json.dumps(progress)}))

    def _restore(self) -> None:
        """Back to the last checkpoint, if there is one."""
        path = self.store.state_path(self.run)
        if not path.exists():
            return
        try:
            with safe_open(path, framework="pt", device=self.device) as file:
                progress = json.loads(file.metadata()["progress"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        except SafetensorError as error:
            raise TrainingError(f"the checkpoint {path} is damaged ({error}): remove it to begin again") from error
        model = {name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")}
        self.model.load_state_dict(model)
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            if name.startswith("optimizer."):
                _, index, key = name.split(".")
                # AdamW keeps its step counters on the CPU, whatever the device of the weights.
                state.setdefault(int(index), {})[key] = tensor.cpu() if key == "step" else tensor
        self.optimizer.load_state_dict(self.optimizer.state_dict() | {"state": state})
        self.epoch, self.seconds = progress["epoch"], progress["seconds"]
        self.metrics = [Measurement(**row) for row in progress["metrics"]]
