"""Positions that trained runs of PRISM give to the tokens of test samples, for the figures of its diagnostics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.samples import TEST
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.paper_figs.sources import Sources
from lengthgen.theory.encodings.prism import EXPONENTS

Numbers = NDArray[np.float64]

PROTOCOL = "prism"
KINDS = ("operand", "fixed", "output")
"""Kinds of tokens: those of an operand, those that every prompt of the scale has, and outputs."""
SAMPLES = 50
"""Number of test samples over which entropies are averaged."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenPositions:
    """Positions of the tokens that one run reads at one scale.

    Attributes:
        run: the run.
        scale: scale of the samples.
        symbols: symbols of the first sample.
        kinds: kind of each token, one of KINDS, the same in all samples.
        histograms: histograms of the first sample, [tokens, P].
        gate_entropy: entropy of the gates in bits, mean over the samples, [tokens].
        histogram_entropy: entropy of the histograms in bits, mean over the samples, [tokens].
    """

    run: Run
    scale: int
    symbols: tuple[str, ...]
    kinds: tuple[str, ...]
    histograms: Numbers
    gate_entropy: Numbers
    histogram_entropy: Numbers

    def entropy_of(self, kind: str) -> float:
        """Mean entropy of the gates over the tokens of a kind, in bits."""
        return float(self.gate_entropy[[own == kind for own in self.kinds]].mean())


def runs_by_sharpening(sources: Sources, protocol: str) -> dict[str, dict[str, list[Run]]]:
    """Runs of PRISM in a protocol: title of the task -> option `sharpening` -> runs."""
    chosen: dict[str, dict[str, list[Run]]] = {}
    for condition, runs in sources.runs_of_size(protocol).items():
        spec = parse_encoding(condition.encoding)
        if spec.name == "prism":
            chosen.setdefault(condition.task.title, {})[str(dict(spec.options)["sharpening"])] = runs
    return chosen


def read_positions(run: Run, store: RunStore, scale: int) -> TokenPositions:
    """Read the positions of a finished run of PRISM, on a task whose outputs do not end early.

    Raises:
        StoreError: the run is not finished, or broken.
    """
    import torch

    from lengthgen.empirical.encodings.prism import PRISM
    from lengthgen.empirical.experiment.evaluation import load_trained

    setup, model = load_trained(run, store, [scale], "cpu")
    [encoding] = model.encoding.each()
    assert isinstance(encoding, PRISM)
    read = setup.examples([scale], SAMPLES, split=TEST, seed=0).tokens[:, :-1]
    with torch.inference_mode():
        x_BLD = model.tokens(torch.from_numpy(read.astype(np.int64))[None])[0]
        gates, histograms = encoding.states(x_BLD, torch.arange(read.shape[1]))
    layout = setup.task.layout(scale)
    prompt = [KINDS[2] if allowed is None else KINDS[0] if len(allowed) > 1 else KINDS[1] for allowed in layout]
    return TokenPositions(
        run=run,
        scale=scale,
        symbols=tuple(setup.task.alphabet[token] for token in read[0]),
        kinds=(*prompt, *[KINDS[2]] * (read.shape[1] - len(prompt))),
        histograms=histograms[0].numpy(),
        gate_entropy=entropies(gates.numpy()).mean(axis=0),
        histogram_entropy=entropies(histograms.numpy()).mean(axis=0),
    )


def read_all(
    sources: Sources, protocol: str, scale: int, arms: Sequence[str] = tuple(EXPONENTS)
) -> dict[str, dict[str, list[TokenPositions]]]:
    """Positions of the runs of PRISM in a protocol at one scale, arranged as by `runs_by_sharpening`; some arms or all.

    Raises:
        StoreError: a run is not finished, or broken.
    """
    return {
        task: {arm: [read_positions(run, sources.store, scale) for run in runs[arm]] for arm in arms}
        for task, runs in runs_by_sharpening(sources, protocol).items()
    }


def entropies(masses: Numbers) -> Numbers:
    """Entropy in bits of the distributions on the last axis."""
    logarithms = np.log2(masses, where=masses > 0, out=np.zeros_like(masses))
    result: Numbers = -(masses * logarithms).sum(axis=-1)
    return result


def trained_tokens(sources: Sources, protocol: str) -> Mapping[str, int]:
    """Number of tokens that a model reads at the largest training scale, by title of the task."""
    from lengthgen.empirical.experiment.ensemble import Setup

    largest = sources.protocol(protocol).train[-1]
    return {
        task: Setup.of(next(iter(arms.values()))[0], "cpu").analysis.traces[largest - 1].length - 1
        for task, arms in runs_by_sharpening(sources, protocol).items()
    }


def over_runs(read: Sequence[TokenPositions], measure: str) -> Numbers:
    """Measure of each token, mean over the runs: [tokens]."""
    values: list[Any] = [getattr(positions, measure) for positions in read]
    result: Numbers = np.mean(values, axis=0)
    return result
