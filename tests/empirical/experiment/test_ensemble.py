"""Samples that an ensemble trains on, and the losses that it reports."""

import numpy as np
import pytest
import torch

from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.samples import TRAIN, examples
from lengthgen.empirical.model import layers
from lengthgen.empirical.model.backend import CPU
from tests.empirical.conftest import smoke_run
from tests.empirical.model.steps import epoch_of, gradients, same_but_for_rounding

BATCH = 10


@pytest.fixture
def ensemble() -> Ensemble:
    """Unaligned, so that prompts and sequences have several lengths."""
    runs = [smoke_run("rpe", "unaligned", seed, samples=40, batch=BATCH) for seed in (3, 8)]
    return Ensemble(runs, Setup.of(runs[0], "cpu"), CPU)


def test_the_loss_is_the_mean_over_generated_tokens_and_over_no_others(ensemble: Ensemble) -> None:
    task, draw = ensemble.setups[0].task, np.random.default_rng(0)
    first_queries: list[int] = []
    tables = []

    def forward(tokens: torch.Tensor, *, first_query: int, **_: object) -> torch.Tensor:
        first_queries.append(first_query)
        shape = *tokens.shape[:2], tokens.shape[2] - first_query, len(task.alphabet)
        tables.append(draw.standard_normal(shape))
        return torch.from_numpy(tables[-1])

    ensemble.forward = forward
    chosen = np.stack([draw.permutation(40)[:BATCH] for _ in ensemble.runs])
    losses = ensemble.losses(torch.from_numpy(chosen + np.array([[0], [40]])), 0)
    for model, run in enumerate(ensemble.runs):
        data = examples(task, run.train, 40, split=TRAIN, seed=run.seed)
        assert len(set(data.is_step[chosen[model]].sum(1))) == 2, "some sequences are filled"
        expected = []
        for place, sample in enumerate(chosen[model]):
            for position in np.flatnonzero(data.is_step[sample]):
                logits = tables[0][model, place, position - 1 - first_queries[0]]
                expected.append(np.log(np.exp(logits).sum()) - logits[data.tokens[sample, position]])
        assert float(losses[model]) == pytest.approx(np.mean(expected))


def test_every_epoch_is_each_sample_once_in_an_order_of_its_own(ensemble: Ensemble) -> None:
    orders = []
    for epoch in range(3):
        batches: list[torch.Tensor] = []
        ensemble.losses = lambda samples, step, batches=batches: batches.append(samples) or torch.zeros(2)
        ensemble.optimizer.step = lambda losses: None
        epoch_of(ensemble, epoch)
        assert {batch.shape for batch in batches} == {(2, BATCH)}
        orders += [tuple(order) for order in (torch.cat(batches, 1) - torch.tensor([[0], [40]])).tolist()]
    assert all(sorted(order) == list(range(40)) for order in orders)
    assert len(set(orders)) == 6


@pytest.mark.parametrize("encoding", ["ape", "ipe", "rpe"])
@pytest.mark.parametrize(("count", "batch"), [(1, 8), (3, 9), (layers.PRODUCTS + 1, 1)])
def test_a_step_computed_as_on_a_gpu_is_the_plain_one(
    encoding: str, count: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [smoke_run(encoding, seed=seed, samples=batch, batch=batch) for seed in range(count)]
    plain = gradients(runs, CPU)
    parts, split = [], layers._parts
    monkeypatch.setattr(layers, "_splits", lambda x: torch.is_grad_enabled())
    monkeypatch.setattr(layers, "_parts", lambda x: parts.append(split(x)) or parts[-1])
    monkeypatch.setattr(layers, "takes_products", lambda *_: True)
    assert same_but_for_rounding(gradients(runs, CPU), plain)
    assert set(parts) == {batch}, "one sample is a part where there are few models"
