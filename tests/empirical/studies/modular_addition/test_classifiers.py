"""Classifiers of modular addition: the consistency terms, the same numbers each time, and seeds that do not mix."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lengthgen.empirical.model.backend import CPU
from lengthgen.empirical.studies.modular_addition.classifiers import Classifiers, consistency
from lengthgen.empirical.studies.modular_addition.conditions import CONDITIONS, load_profile
from lengthgen.empirical.studies.modular_addition.draws import Kind

PROFILE = load_profile("smoke")


def classifiers(name="described-words", changes=None, **settings):
    torch.set_num_threads(1)
    return Classifiers(replace(CONDITIONS[name], **(changes or {})), replace(PROFILE, **settings), CPU)


def losses(models):
    return np.stack(models.train())


def test_disagreement_has_no_gradient_and_counts_pairs_whose_variants_differ():
    logits = torch.zeros(1, 4, 3, 5, requires_grad=True)
    answers = torch.tensor([[1, 1, 1], [2, 2, 3], [0, 4, 4], [3, 3, 3]])
    chosen = torch.nn.functional.one_hot(answers, 5)[None] + logits
    term = consistency("disagreement", chosen)
    assert term.tolist() == [0.5]
    assert not term.requires_grad


def test_the_difference_of_logits_is_that_of_all_pairs_of_variants():
    torch.manual_seed(0)
    logits = torch.randn(2, 4, 3, 5, dtype=torch.float64, requires_grad=True)
    term = consistency("logits", logits)
    expected = torch.zeros(2, dtype=torch.float64)
    for model in range(2):
        for pair in range(4):
            for first, second in ((0, 1), (0, 2), (1, 2)):
                expected[model] += (logits[model, pair, first] - logits[model, pair, second]).square().mean() / 12
    assert torch.allclose(term, expected)
    [gradient] = torch.autograd.grad(term.sum(), logits)
    assert gradient.abs().max() > 0
    assert consistency("none", logits).tolist() == [0, 0]


@pytest.mark.parametrize("name", ["released-baseline", "described-words", "t5", "attached-rope"])
def test_every_condition_trains_and_the_same_each_time(name):
    first, again = classifiers(name), classifiers(name)
    assert (losses(first) == losses(again)).all()
    assert first.measure() == again.measure()


def test_a_seed_is_trained_as_if_it_were_alone():
    together, alone = losses(classifiers()), losses(classifiers(seeds=(43,)))
    assert together[:, 1:] == pytest.approx(alone, rel=1e-5)
    assert (together[:, 0] != together[:, 1]).all()


def test_the_released_term_trains_the_same_models_and_the_described_one_others():
    def trained(consistency):
        models = classifiers("described-shift", {"consistency": consistency, "weight": 0.5}, learning_rate=0.05)
        losses(models)
        return models.encoder.head.weight

    plain = trained("none")
    assert (trained("disagreement") == plain).all()
    assert (trained("logits") != plain).any()


def test_padding_that_all_inputs_have_changes_nothing_where_it_is_hidden():
    short, long = (classifiers("rope", length=length, dropout=0.0) for length in (36, 50))
    assert losses(short) == pytest.approx(losses(long), rel=1e-5)
    seen, more = (classifiers("released-alibi", length=length, dropout=0.0) for length in (36, 50))
    assert abs(losses(seen) - losses(more)).max() > 1e-4


def test_hidden_padding_moves_nothing_that_is_read_from_the_expression():
    models = classifiers("attached-rope")
    losses(models)
    pairs = [data.tested(all_pairs=False) for data in models.data]
    plain, moved = (models.right(kind, pairs) for kind in (Kind(name="B"), Kind(name="S", at=9)))
    assert all((first == second).all() for first, second in zip(plain, moved, strict=True))


def test_a_sum_of_small_numbers_is_learnt_and_measured():
    settings = {
        "steps": 120,
        "batch": 9,
        "learning_rate": 5e-3,
        "dropout": 0.0,
        "modulus": 3,
        "tests": 3,
        "seeds": (0,),
    }
    models = classifiers("released-baseline", **settings)
    history = losses(models)
    measured = models.measure()
    assert history[-1] < 0.1 < history[0]
    assert measured["trained"] == [1.0]
    assert set(measured["accuracy"]) == {"A", "C0", *(f"B at {position}" for position in PROFILE.positions)}
    assert measured["agreeing"] == measured["accuracy"]["A"]
