"""Initial parameters of modules: the distributions that their docstrings name, at the smallest sizes too."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import nn

from lengthgen.empirical.encodings.absolute import LearnedAbsolute
from lengthgen.empirical.encodings.biases import BAM, FIRE, BAMWithSSMax, KerpleLog, KerplePower
from lengthgen.empirical.encodings.grape import (
    Grape,
    GrapeAdditive,
    GrapeCommuting,
    GrapeContextual,
    GrapeGated,
    GrapePath,
    GrapeThin,
)
from lengthgen.empirical.encodings.paths import BiasOnlyFoX, Cable, FoX, GatedCable, LogarithmicCable, UngatedCable
from lengthgen.empirical.encodings.prism import PRISM
from lengthgen.empirical.encodings.relations import Relational

Maker = Callable[[], nn.Module]

NORMAL: list[tuple[Maker, str, float]] = [
    # module, parameter, standard deviation
    (lambda: GrapeThin(heads=50, head_dim=64, rank=4), "tilts", 1 / 8),
    (lambda: GrapeGated(heads=20, head_dim=64, layers=10), "query_vectors", 1 / 8),
    (lambda: GrapeGated(heads=20, head_dim=64, layers=10), "key_vectors", 1 / 8),
    (lambda: GrapePath(heads=20, width=64, layers=2), "probes", 1 / 16),
    (lambda: LearnedAbsolute(length=100, width=100), "table", 1),
    (lambda: Cable(width=64, heads=20, layers=8), "weight", 0.02),
    (lambda: GatedCable(width=64, heads=20, layers=8), "weight", 0.02),
    (lambda: GatedCable(width=64, heads=20, layers=8), "gate_weight", 0.02),
    (lambda: Relational(labels=50, layers=4, head_dim=50), "keys", 1),
    (lambda: Relational(labels=50, layers=4, head_dim=50), "vectors", 1),
]


@pytest.mark.parametrize(("make", "name", "deviation"), NORMAL)
def test_normal_parameters_have_the_deviation_that_is_named(make: Maker, name: str, deviation: float) -> None:
    torch.manual_seed(0)
    values = getattr(make(), name).detach()
    assert values.numel() > 5_000
    assert values.std().item() == pytest.approx(deviation, rel=0.05)
    assert abs(values.mean().item()) < 0.05 * deviation


UNIFORM: list[tuple[Maker, str, float, float]] = [
    # module, parameter, least and greatest value
    (lambda: KerplePower(heads=10_000), "scale", 0.01, 1),
    (lambda: KerplePower(heads=10_000), "exponent", 0.01, 2),
    (lambda: KerpleLog(heads=10_000), "scale", 0.01, 2),
    (lambda: KerpleLog(heads=10_000), "rate", 0.01, 1),
]


@pytest.mark.parametrize(("make", "name", "least", "greatest"), UNIFORM)
def test_uniform_parameters_fill_their_interval(make: Maker, name: str, least: float, greatest: float) -> None:
    torch.manual_seed(0)
    values = getattr(make(), name).detach().double()
    assert values.min().item() == pytest.approx(least)
    assert greatest * 0.995 < values.max().item() <= greatest
    for share in (0.25, 0.5, 0.75):
        assert values.quantile(share).item() == pytest.approx(share * greatest, abs=0.03 * greatest)


CONSTANT: list[tuple[Maker, str, float]] = [
    (lambda: BAM(heads=3), "exponent", 1),
    (lambda: BAM(heads=3, location=True), "shift", 0),
    (lambda: BAMWithSSMax(heads=3, layers=2), "factors", 1),
    (lambda: BiasOnlyFoX(heads=3, layers=2), "logits", 0),
    (lambda: FoX(width=4, heads=3, layers=2), "offset", 0),
    (lambda: Cable(width=4, heads=3, layers=2), "offset", 0),
    (lambda: GrapeAdditive(heads=3), "log_factors", 0),
    (lambda: GrapeGated(heads=3, head_dim=4, layers=2), "log_factors", 0),
    (lambda: GrapeCommuting(heads=3, head_dim=4), "turns", 0),
    (lambda: GrapeCommuting(heads=3, head_dim=4), "log_ratios", 0),
    (lambda: GrapeContextual(width=4, head_dim=4, layers=2), "weights", 0),
    (lambda: GrapeContextual(width=4, head_dim=4, layers=2), "offsets", 0),
    (lambda: GrapeContextual(width=4, head_dim=4, layers=2), "log_ratios", 0),
    (lambda: PRISM(width=4), "gate_weights", 0),
    (lambda: PRISM(width=4), "input_offsets", 0),
    (lambda: PRISM(width=4), "recurrent_offsets", 0),
    (lambda: PRISM(width=4), "sharpness", math.log(math.expm1(0.5))),
    (lambda: FIRE(heads=3, layers=1).laws[0], "rate", 0.1),
    (lambda: FIRE(heads=3, layers=1, rate=0.3).laws[0], "rate", 0.3),
    (lambda: FIRE(heads=3, layers=1).laws[0], "factor", 1),
]


@pytest.mark.parametrize(("make", "name", "value"), CONSTANT)
def test_parameters_that_begin_at_one_value(make: Maker, name: str, value: float) -> None:
    parameter = getattr(make(), name)
    assert parameter.requires_grad
    torch.testing.assert_close(parameter.detach(), torch.full_like(parameter, value), rtol=0, atol=1e-7)


def test_the_plane_of_grape_is_orthonormal_and_differs_between_heads() -> None:
    module = Grape(heads=5, head_dim=7)
    planes = torch.stack((module.a, module.b), dim=-1).detach()
    torch.testing.assert_close(planes.mT @ planes, torch.eye(2).expand(5, 2, 2), rtol=0, atol=1e-5)
    assert len({tuple(head.flatten().tolist()) for head in planes}) == 5


def test_the_network_of_prism_starts_within_its_bounds_with_orthogonal_blocks() -> None:
    module = PRISM(width=100)
    bound = module.input_weights.detach().abs().max().item()
    assert 0.99 < bound * 32**0.5 <= 1
    for block in module.recurrent_weights.detach().chunk(3):
        torch.testing.assert_close(block @ block.T, torch.eye(32), rtol=0, atol=1e-5)
    assert module.gate_offsets.tolist() == [0, 2, 0, 0]


@pytest.mark.parametrize("rank", [2, 6])
def test_a_thin_grape_begins_as_rope_in_its_subspace(rank: int) -> None:
    """S holds RoPE's frequencies of width r below its diagonal, plane by plane, and nothing else."""
    module = GrapeThin(heads=2, head_dim=8, rank=rank)
    rows, columns = torch.tril_indices(rank, rank, -1)
    generator = torch.zeros(rank, rank)
    generator[rows, columns] = module.generator[1].detach()
    expected = torch.zeros(rank, rank)
    for plane in range(rank // 2):
        expected[2 * plane + 1, 2 * plane] = 10_000 ** (-2 * plane / rank)
    torch.testing.assert_close(generator, expected)
    assert torch.equal(module.generator[0], module.generator[1])


SMALLEST: list[Maker] = [
    lambda: BAMWithSSMax(heads=1, layers=1, location=True),
    lambda: FIRE(heads=1, layers=1),
    lambda: FoX(width=1, heads=1, layers=1),
    lambda: BiasOnlyFoX(heads=1, layers=1),
    *(lambda make=make: make(width=1, heads=1, layers=1) for make in (Cable, UngatedCable, LogarithmicCable)),
    lambda: Grape(heads=1, head_dim=2),
    lambda: GrapeAdditive(heads=1),
    lambda: GrapeCommuting(heads=1, head_dim=2),
    lambda: GrapeContextual(width=1, head_dim=2, layers=1),
    lambda: GrapeGated(heads=1, head_dim=1, layers=1),
    lambda: GrapePath(heads=1, width=1, layers=1),
    lambda: GrapeThin(heads=1, head_dim=2, rank=2),
    lambda: KerplePower(heads=1),
    lambda: KerpleLog(heads=1),
    lambda: LearnedAbsolute(length=1, width=1),
    lambda: PRISM(width=2, positions=2),
]


@pytest.mark.parametrize("make", SMALLEST)
def test_the_smallest_sizes_are_allowed(make: Maker) -> None:
    parameters = list(make().parameters())
    assert parameters and all(
        math.isfinite(value) for parameter in parameters for value in parameter.detach().flatten().tolist()
    )
