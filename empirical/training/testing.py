"""A trained model tested at scales of one's choice."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from empirical.model.backend import Backend
from empirical.model.decoder import Decoder, current_names
from empirical.model.geometry import Geometry
from empirical.model.setup import Setup
from empirical.runs.data import TEST, examples
from empirical.runs.run import Run
from empirical.runs.store import CHECKPOINT, RunStore, StoreError, redo
from empirical.training.evaluation import free_running, teacher_forced
from theory.system.errors import LengthgenError


class ScaleError(LengthgenError):
    """A scale for which the model has no table row; one line says which position or label, and which table."""


def trained(run: Run, store: RunStore, scales: Sequence[int], device: str) -> tuple[Setup, Decoder]:
    """A finished run's model, and the setup of its task and encoding at other scales.

    Raises:
        StoreError: the run is not finished, or broken, or its checkpoint is that of another model.
        BackendError: the device is not there.
        ScaleError: the encoding has no table row for what these scales need.
    """
    Backend(device).require()
    known = max(*run.train, *run.test)
    if run.task.format == "aligned" and max(scales) > known:
        raise ScaleError(f"the operands of {run.id} are padded to scale {known}: train with --test up to {max(scales)}")
    setup = Setup.of(replace(run, test=tuple(sorted({*run.train, *run.test, *scales}))), device)
    if not same_labels(Setup.of(run, device).geometry, setup.geometry, run.train):
        raise ScaleError(
            f"up to scale {max(scales)} the circuit of '{run.task.words}' is another than that of the training"
        )
    model = Decoder(symbols=len(setup.task.alphabet), encoding=setup.encoding(), **asdict(run.model)).to(device)
    model.load_state_dict(_weights(run, store, model.state_dict(), max(scales)))
    return setup, model.eval()


def _weights(run: Run, store: RunStore, wanted: Mapping[str, Tensor], scale: int) -> dict[str, Tensor]:
    """The weights of a finished run for a model whose tables reach as far as a scale needs. Raises as `trained`."""
    path = store.folder(run) / CHECKPOINT
    try:
        weights = {name: tensor[None] for name, tensor in current_names(load(store.checkpoint(run))).items()}
        if weights.keys() != wanted.keys():
            raise ValueError(f"{sorted(weights.keys() ^ wanted.keys())[0]} is lacking, or too many")
        for name, tensor in weights.items():
            shape = wanted[name].shape
            other = [(had, needed) for had, needed in zip(tensor.shape, shape, strict=True) if had != needed]
            if tensor.dtype != wanted[name].dtype or (other and not name.startswith("encoding.")):
                raise ValueError(f"{name} is of another kind")
            if other:
                had, needed = other[0]
                raise ScaleError(
                    f"'{run.encoding}' has {had} rows in its table {name.removeprefix('encoding.')}, and scale {scale} "
                    f"needs {needed}: train with --test up to that scale"
                )
    except LengthgenError:
        raise
    except (SafetensorError, ValueError, KeyError) as error:
        raise StoreError(f"{path} holds no weights of this model ({error}): {redo(path.parent)}") from error
    return weights


def same_labels(one: Geometry, other: Geometry, scales: Sequence[int]) -> bool:
    """Whether both have the same labels at these scales."""
    if one.labels_SJI is None or other.labels_SJI is None:
        return one.labels_SJI is other.labels_SJI
    positions = torch.arange(min(one.length, other.length), device=one.device)
    return all(
        bool((one.labels_of_scale(scale, positions) == other.labels_of_scale(scale, positions)).all())
        for scale in scales
    )


def test(
    run: Run, store: RunStore, scales: Sequence[int], *, samples: int, running: bool, device: str
) -> dict[int, dict[str, Any]]:
    """Scale -> exact match and token accuracy; with `running` also the exact match of free running.

    `disagreements` counts samples that one of the two gets right and the other does not: there should be none.
    Raises as `trained`.
    """
    setup, model = trained(run, store, scales, device)
    found: dict[int, dict[str, Any]] = {}
    with torch.inference_mode():
        for scale in scales:
            data = examples(setup.task, [scale], samples, split=TEST, seed=0)
            [right] = teacher_forced(model, setup.geometry, data)
            found[scale] = {"exact_match": float(right.all(1).mean()), "token_accuracy": float(right.mean())}
            if running:
                [generated] = free_running(model, setup.geometry, data)
                found[scale] |= {
                    "free_running": float(generated.mean()),
                    "disagreements": int((generated != right.all(1)).sum()),
                }
    return found
