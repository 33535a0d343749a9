"""Evaluation of trained models at one scale: teacher forced in one pass, or free running.

The first wrong token is wrong in free running as well, so one teacher-forced pass decides exact match.
Shapes: M models, B samples, L length, J steps.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.geometry import Geometry
from lengthgen.empirical.runs.data import TEST, Examples

TOKENS = 1 << 16
"""Largest number of tokens computed at once, over all models."""
AT_ONE_DRAW = 50
"""Samples that share drawn positions, whatever the number of models."""


@torch.no_grad()
def teacher_forced(
    decoder: Decoder, geometry: Geometry, data: Examples | Sequence[Examples], *, seed: int = 0
) -> NDArray[np.bool_]:
    """Test which steps each model gets right, given all earlier right tokens.

    Arguments as for `predicted`.

    Returns:
        True where the step is right, and after the end of a sample: bool [M, B, J].
    """
    each_data = [data] if isinstance(data, Examples) else data
    is_step = each_data[0].is_step
    steps = is_step.any(axis=0)
    right = np.stack([each.tokens[:, steps] for each in each_data])
    return (predicted(decoder, geometry, data, seed=seed) == right) | ~is_step[:, steps]


@torch.no_grad()
def predicted(
    decoder: Decoder, geometry: Geometry, data: Examples | Sequence[Examples], *, seed: int = 0
) -> NDArray[np.int64]:
    """Return the token that each model gives at each step, given all earlier right tokens: int64 [M, B, J].

    Args:
        decoder: decoder of M models.
        geometry: geometry of the run.
        data: examples of one scale, for all models or for each; then they have the same steps.
        seed: determines the drawn positions, if positions are drawn; all models share them.
    """
    first_data, *others = [data] if isinstance(data, Examples) else data
    tokens = _tokens([first_data, *others], geometry)
    steps = np.flatnonzero(first_data.is_step.any(axis=0))
    first = int(steps[0])
    parts = []
    for rows in _blocks(decoder, geometry, tokens[0]):
        logits = _logits(decoder, geometry, tokens[:, rows, :-1], first_data, rows, first - 1, seed)
        parts.append(logits.argmax(-1).cpu().numpy()[..., steps - first])
    return np.concatenate(parts, axis=1)


def _tokens(data: Sequence[Examples], geometry: Geometry) -> Tensor:
    """Tokens of examples with the same steps: int64 [M or 1, B, L]."""
    if any(not np.array_equal(each.is_step, data[0].is_step) for each in data[1:]):
        raise ValueError("the examples of models that are tested together differ in their steps")
    return torch.from_numpy(np.stack([each.tokens for each in data]).astype(np.int64)).to(geometry.device)


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
            logits = _logits(decoder, geometry, generated, data, rows, length - 1, seed)
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
) -> Tensor:
    """Logits [M, B, J, V] for tokens [B, L] or [M, B, L] of these rows of the data."""
    models = decoder.models
    counters = [(seed, TEST, rows.start)] * models
    positions = geometry.positions(tokens.shape[-1], counters, total=data.tokens.shape[1] - 1)
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
