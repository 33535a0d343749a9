"""A trained model tested at scales of one's choice."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import torch
from safetensors.torch import load

from empirical.backend import Backend
from empirical.building import Setting
from empirical.data import TEST, examples
from empirical.decoder import Decoder
from empirical.evaluation import free_running, teacher_forced
from empirical.geometry import Geometry
from empirical.run import Run
from empirical.store import RunStore
from theory.errors import LengthgenError


class ScaleError(LengthgenError):
    """A scale for which the model has no table row; one line says which position or label, and which table."""


def trained(run: Run, store: RunStore, scales: Sequence[int], device: str) -> tuple[Setting, Decoder]:
    """A finished run's model, and the setting of its task and encoding at other scales.

    Raises:
        StoreError: the run is not finished, or broken.
        BackendError: the device is not there.
        ScaleError: the encoding has no table row for what these scales need.
    """
    Backend(device).require()
    known = max(*run.train, *run.test)
    if run.format == "aligned" and max(scales) > known:
        raise ScaleError(f"the operands of {run.id} are padded to scale {known}: train with --test up to {max(scales)}")
    setting = Setting.of(replace(run, test=tuple(sorted({*run.train, *run.test, *scales}))), device)
    if not same_labels(Setting.of(run, device).geometry, setting.geometry, run.train):
        raise ScaleError(f"up to scale {max(scales)} the circuit of '{run.task}' is another than that of the training")
    model = Decoder(symbols=len(setting.task.alphabet), encoding=setting.encoding(), **asdict(run.model)).to(device)
    weights = {name: tensor[None] for name, tensor in load(store.checkpoint(run)).items()}
    for name, parameter in model.named_parameters():
        if parameter.shape != weights[name].shape:
            needed, had = (max(shape) for shape in (parameter.shape, weights[name].shape))
            raise ScaleError(
                f"'{run.encoding}' has {had} rows in its table {name.removeprefix('encoding.')}, and scale "
                f"{max(scales)} needs {needed}: train with --test up to that scale"
            )
    model.load_state_dict(weights)
    return setting, model.eval()


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
    setting, model = trained(run, store, scales, device)
    found: dict[int, dict[str, Any]] = {}
    with torch.inference_mode():
        for scale in scales:
            data = examples(setting.task, [scale], samples, split=TEST, seed=0)
            [right] = teacher_forced(model, setting.geometry, data)
            found[scale] = {"exact_match": float(right.all(1).mean()), "token_accuracy": float(right.mean())}
            if running:
                [generated] = free_running(model, setting.geometry, data)
                found[scale] |= {
                    "free_running": float(generated.mean()),
                    "disagreements": int((generated != right.all(1)).sum()),
                }
    return found
