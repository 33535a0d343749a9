"""Evaluation of models, teacher forced in one pass or free running, and the test of a stored run at any scales.

The first wrong token is wrong in free running as well, so one teacher-forced pass decides exact match.
Shapes: M models, B samples, L length, J steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from lengthgen.circuits.roles import ideal_relation
from lengthgen.empirical.encodings.learned_relation import (
    Comparison,
    LearnedRelationError,
    Weights,
    compare,
    open_queries,
)
from lengthgen.empirical.encodings.relations import LBPE
from lengthgen.empirical.experiment.ensemble import Setup
from lengthgen.empirical.experiment.run import Run, require_unchanged
from lengthgen.empirical.experiment.samples import TEST, Examples
from lengthgen.empirical.experiment.store import CHECKPOINT, METRICS, RunStore, StoreError, redo
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.model.decoder import Decoder, current_names
from lengthgen.empirical.model.geometry import Geometry
from lengthgen.infrastructure.errors import LengthgenError

TOKENS = 1 << 16
"""Largest number of tokens computed at once, over all models."""
AT_ONE_DRAW = 50
"""Samples that share drawn positions, whatever the number of models."""


ROUNDED = 0.01
"""Largest change of a share of right samples by rounding, when weights are tested again on another machine ([F])."""


class ScaleError(LengthgenError):
    """The model has no table row for a scale; the message says which position or label, and which table."""


@torch.no_grad()
def teacher_forced(
    decoder: Decoder, geometry: Geometry, data: Examples | Sequence[Examples], *, seed: int = 0
) -> NDArray[np.bool_]:
    """Test which steps each model gets right, given all earlier right tokens.

    Arguments as for `predicted`.

    Returns:
        True where the step is right, and after the end of a sample: bool [M, B, J].
    """
    tokens_MBL, is_step_MBL = _side_by_side(data)
    steps = is_step_MBL.any(axis=(0, 1))
    right = tokens_MBL[..., steps]
    return (predicted(decoder, geometry, data, seed=seed) == right) | ~is_step_MBL[..., steps]


@torch.no_grad()
def predicted(
    decoder: Decoder, geometry: Geometry, data: Examples | Sequence[Examples], *, seed: int = 0
) -> NDArray[np.int64]:
    """Return the token that each model gives at each step of some sample, given all earlier right tokens.

    Args:
        decoder: decoder of M models.
        geometry: geometry of the run.
        data: examples of one scale, for all models or for each.
        seed: determines the drawn positions, if positions are drawn; all models share them.

    Returns:
        int64 [M, B, J].
    """
    tokens_MBL, is_step_MBL = _side_by_side(data)
    tokens = torch.from_numpy(tokens_MBL).to(geometry.device)
    first_data = data if isinstance(data, Examples) else data[0]
    steps = np.flatnonzero(is_step_MBL.any(axis=(0, 1)))
    first = int(steps[0])
    parts = []
    for rows in _blocks(decoder, geometry, tokens[0]):
        logits = _logits(decoder, geometry, tokens[:, rows, :-1], first_data, rows, first - 1, seed, tokens.shape[-1])
        parts.append(logits.argmax(-1).cpu().numpy()[..., steps - first])
    return np.concatenate(parts, axis=1)


def _side_by_side(data: Examples | Sequence[Examples]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return tokens and steps of examples, [M or 1, B, L]; sequences that end early are padded behind their end."""
    all_data = [data] if isinstance(data, Examples) else data
    length = max(each.tokens.shape[1] for each in all_data)
    tokens, is_step = (
        np.stack([np.pad(array, ((0, 0), (0, length - array.shape[1]))) for array in arrays])
        for arrays in ([each.tokens for each in all_data], [each.is_step for each in all_data])
    )
    return tokens.astype(np.int64), is_step.astype(np.bool_)


@torch.no_grad()
def free_running(decoder: Decoder, geometry: Geometry, data: Examples, *, seed: int = 0) -> NDArray[np.bool_]:
    """Test which samples each model generates without an error from the prompt alone: bool [M, B].

    Arguments as for `teacher_forced`.
    """
    tokens = torch.from_numpy(data.tokens.astype(np.int64)).to(geometry.device)
    is_step = torch.from_numpy(data.is_step).to(geometry.device)
    first = int(data.is_step.any(axis=0).argmax())
    parts = []
    for rows in _blocks(decoder, geometry, tokens):
        generated = tokens[rows, :first].expand(decoder.models, -1, -1)
        for length in range(first, tokens.shape[1]):
            logits = _logits(decoder, geometry, generated, data, rows, length - 1, seed, tokens.shape[1])
            # Tokens of the prompt that come after outputs are given.
            token = torch.where(is_step[rows, length, None], logits.argmax(-1), tokens[rows, length, None])
            generated = torch.cat([generated, token], dim=-1)
        parts.append((generated == tokens[rows]).all(-1).cpu().numpy())
    return np.concatenate(parts, axis=1)


def _logits(
    decoder: Decoder,
    geometry: Geometry,
    tokens: Tensor,
    data: Examples,
    rows: slice,
    first_query: int,
    seed: int,
    total: int,
) -> Tensor:
    """Logits [M, B, J, V] for tokens [B, L] or [M, B, L] of these rows of the data, whose sequences have `total`."""
    models = decoder.models
    counters = [(seed, TEST, rows.start)] * models
    positions = geometry.positions(tokens.shape[-1], counters, total=total - 1)
    scales = torch.from_numpy(data.scales[rows]).to(geometry.device)
    return decoder(
        tokens.expand(models, -1, -1),
        first_query=first_query,
        positions=positions,
        labels=geometry.labels_of_scale(int(data.scales[0]), positions),
        scales_MB=scales.expand(models, -1),
    )


def _blocks(decoder: Decoder, geometry: Geometry, tokens_BL: Tensor) -> list[slice]:
    """Split the samples into blocks of at most TOKENS tokens over all models, or of AT_ONE_DRAW samples."""
    size = AT_ONE_DRAW if geometry.longest else max(1, TOKENS // (decoder.models * tokens_BL.shape[1]))
    return [slice(start, start + size) for start in range(0, len(tokens_BL), size)]


def load_trained(run: Run, store: RunStore, scales: Sequence[int], device: str) -> tuple[Setup, Decoder]:
    """Load a finished run's model, and the setup of its task and encoding at other scales.

    Raises:
        StoreError: the run is not finished, or broken, or its checkpoint belongs to another model.
        BackendError: the device is missing.
        ProfileError: the user's files have changed since the run was trained.
        ScaleError: the encoding has no table row for what these scales need.
    """
    Backend(device).require()
    require_unchanged(run)
    largest_scale = max(*run.train, *run.test)
    if run.task.format != "unaligned" and max(scales) > largest_scale:
        raise ScaleError(
            f"the operands of {run.id} have the width of scale {largest_scale}: train with --test up to {max(scales)}"
        )
    setup = Setup.of(replace(run, test=tuple(sorted({*run.train, *run.test, *scales}))), device)
    if not same_labels(Setup.of(run, device).geometry, setup.geometry, run.train):
        raise ScaleError(
            f"up to scale {max(scales)} the circuit of '{run.task.words}' differs from that of the training"
        )
    model = Decoder(symbols=len(setup.task.alphabet), encoding=setup.encoding(), **asdict(run.model)).to(device)
    model.load_state_dict(_weights(run, store, model.state_dict(), max(scales)))
    return setup, model.eval()


def learned_relation(run: Run, store: RunStore, scales: Sequence[int]) -> tuple[Setup, dict[int, Weights], Comparison]:
    """Compare the relation that a finished run learned with the ideal one, at the queries of `open_queries`.

    Returns:
        The setup of the run; scale -> weights of the labels, float [queries, keys, labels]; the comparison, with one
        meaning of each label at all these scales.

    Raises:
        LearnedRelationError: the run's encoding learns no relation.
        StoreError, ScaleError, ProfileError: as for `load_trained`.
    """
    setup, model = load_trained(run, store, scales, "cpu")
    [encoding] = model.encoding.each()
    if not isinstance(encoding, LBPE):
        raise LearnedRelationError(f"'{run.encoding}' of {run.id} learns no relation: name a run of lbpe or lbpe-sh")
    weights = {}
    for scale in scales:
        positions = torch.arange(setup.analysis.traces[scale - 1].length - 1)
        with torch.inference_mode():
            weights[scale] = encoding.label_weights(positions, positions, torch.tensor(scale)).numpy()
    queries, ideal = open_queries(setup.analysis), ideal_relation(setup.analysis.circuit, scale_hint=True)
    return setup, weights, compare(weights, ideal, queries={scale: queries[scale] for scale in scales})


def _weights(run: Run, store: RunStore, expected: Mapping[str, Tensor], scale: int) -> dict[str, Tensor]:
    """Load the weights of a finished run for a model with tables of the shapes `expected`. Raises as `load_trained`."""
    path = store.folder(run) / CHECKPOINT
    try:
        weights = {name: tensor[None] for name, tensor in current_names(load(store.checkpoint(run))).items()}
        if weights.keys() != expected.keys():
            raise ValueError(f"{sorted(weights.keys() ^ expected.keys())[0]} is missing or unexpected")
        for name, tensor in weights.items():
            shape = expected[name].shape
            different_sizes = [
                (stored, needed) for stored, needed in zip(tensor.shape, shape, strict=True) if stored != needed
            ]
            if tensor.dtype != expected[name].dtype or (different_sizes and not name.startswith("encoding.")):
                raise ValueError(f"{name} has another shape or dtype")
            if different_sizes:
                stored, needed = different_sizes[0]
                raise ScaleError(
                    f"'{run.encoding}' has {stored} rows in its table {name.removeprefix('encoding.')}, and scale "
                    f"{scale} needs {needed}: train with --test up to that scale"
                )
    except LengthgenError:
        raise
    except (SafetensorError, ValueError, KeyError) as error:
        raise StoreError(f"{path} holds no weights of this model ({error}): {redo(path.parent)}") from error
    return weights


def same_labels(first: Geometry, second: Geometry, scales: Sequence[int]) -> bool:
    """True if both geometries have the same labels at these scales."""
    if first.labels_MSJI is None or second.labels_MSJI is None:
        return first.labels_MSJI is second.labels_MSJI
    positions = torch.arange(min(first.length, second.length), device=first.device)
    labels = [[each.labels_of_scale(scale, positions) for scale in scales] for each in (first, second)]
    return all(
        torch.equal(of_first, of_second)
        for of_first, of_second in zip(*labels, strict=True)
        if of_first is not None and of_second is not None
    )


def test(
    run: Run, store: RunStore, scales: Sequence[int], *, samples: int, running: bool, device: str
) -> dict[int, dict[str, Any]]:
    """Test a finished run: scale -> exact match and token accuracy, with `running` also exact match of free running.

    `disagreements` counts samples that only one of the two passes gets right: there should be none. Raises as
    `load_trained`.
    """
    setup, model = load_trained(run, store, scales, device)
    scores: dict[int, dict[str, Any]] = {}
    with torch.inference_mode():
        for scale in scales:
            data = setup.examples([scale], samples, split=TEST, seed=0)
            [right] = teacher_forced(model, setup.geometry, data)
            exact_match, token_accuracy = right.all(1).mean(), right[data.exists].mean()
            scores[scale] = {"exact_match": float(exact_match), "token_accuracy": float(token_accuracy)}
            if running:
                [generated] = free_running(model, setup.geometry, data)
                scores[scale] |= {
                    "free_running": float(generated.mean()),
                    "disagreements": int((generated != right.all(1)).sum()),
                }
    return scores


def disagreement(run: Run, store: RunStore, *, device: str) -> str | None:
    """Test the weights of a finished run on its own test data: what they do otherwise than its metrics say, in words.

    None if no share of right samples differs by more than ROUNDED. Raises as `load_trained`.
    """
    stored = store.final_exact_match(run)
    tested = test(run, store, run.test, samples=run.evaluation.samples, running=False, device=device)
    scale = max(run.test, key=lambda scale: abs(stored[scale] - tested[scale]["exact_match"]))
    again = tested[scale]["exact_match"]
    if abs(stored[scale] - again) <= ROUNDED:
        return None
    path = store.folder(run) / METRICS
    return (
        f"{path} says that {stored[scale]:.1%} of the samples of scale {scale} are right, and the weights beside it "
        f"get {again:.1%} right: {redo(path.parent)}"
    )
