"""Modules are their formulas at hostile positions, and keep within the budget of narrow types: a table for each kind.

Encodings whose formulas need more than parameters (tokens, networks, codes) are compared with them in their families.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.biases import T5, ALiBi, KerpleLog, KerplePower
from lengthgen.empirical.encodings.grape import GrapeAdditive
from lengthgen.empirical.encodings.paths import BiasOnlyFoX, FixedFoX
from lengthgen.empirical.encodings.rotary import SWAT, DynamicNTK, NTKAware, PositionInterpolation, Rotary, XPos, YaRN
from lengthgen.theory.encodings import biases, grape, paths, rotary
from lengthgen.theory.encodings.encoding import Encoding
from tests.empirical.encodings.test_rotary import FEW, LAYOUTS, exact_gammas
from tests.empirical.twins import HOSTILE, normal, symbolic_bias, symbolic_scores

Values = Mapping[sp.Basic, sp.Expr]
HEADS, HEAD_DIM, TRAINED = 3, 6, 256


def with_numbers(encoding: PositionEncoding, **values: list) -> PositionEncoding:
    """The module in float64 with these values of its parameters."""
    encoding = encoding.double()
    with torch.no_grad():
        for name, value in values.items():
            getattr(encoding, name).copy_(torch.tensor(value, dtype=torch.float64))
    return encoding


def number(tensor: torch.Tensor) -> sp.Rational:
    return sp.Rational(tensor.item())


@dataclass(frozen=True, kw_only=True)
class Bias:
    """A module with a bias, its record, the values of the formula's parameters in a head, and the accepted error."""

    encoding: PositionEncoding
    record: Encoding
    values: Callable[[int], Values]
    error: float
    layer: int = 0


def _biases() -> Iterator[tuple[str, Bias]]:
    for heads in (1, 2, 3, 8, 12):
        # Rounded are slope, product and the formula's own value, each by half a unit in the last place.
        slopes = biases.alibi_slopes(heads)
        alibi = Bias(
            encoding=ALiBi(heads=heads),
            record=biases.ALIBI,
            values=lambda head, slopes=slopes: {biases.ALIBI_SLOPE: slopes[head]},
            error=3.4e-16,
        )
        yield f"alibi, {heads} heads", alibi
    for heads in (1, 2, 5, 12):
        for kind in rotary.SWAT_SLOPES:
            slopes = rotary.swat_slopes(heads, kind)
            swat = Bias(
                encoding=SWAT(heads=heads, head_dim=4, slopes=kind),
                record=rotary.SWAT,
                values=lambda head, slopes=slopes: {rotary.SWAT_SLOPE: slopes[head]},
                error=3.4e-16,
            )
            yield f"swat, {kind}, {heads} heads", swat
    # A power or logarithm within a unit in the last place, two products and the formula's value within half of one.
    # Sympy takes a root of the order of an exponent's denominator.
    torch.manual_seed(0)
    power = with_numbers(KerplePower(heads=HEADS), exponent=[0.375, 1.0, 1.625])
    logarithm = with_numbers(KerpleLog(heads=HEADS), rate=[0.375, 1.0, 1.625])
    yield (
        "kerple-power",
        Bias(
            encoding=power,
            record=biases.KERPLE_POWER,
            values=lambda head: {
                biases.KERPLE_SCALE: number(power.scale[head]),
                biases.KERPLE_EXPONENT: number(power.exponent[head]),
            },
            error=2.5 * 2.3e-16,
        ),
    )
    yield (
        "kerple-log",
        Bias(
            encoding=logarithm,
            record=biases.KERPLE_LOG,
            values=lambda head: {
                biases.KERPLE_SCALE: number(logarithm.scale[head]),
                biases.KERPLE_RATE: number(logarithm.rate[head]),
            },
            error=2.5 * 2.3e-16,
        ),
    )
    for record, sided in ((biases.T5, False), (biases.T5_BIDIRECTIONAL, True)):
        table = T5(heads=2, bidirectional=sided).double()
        yield (
            record.name,
            Bias(
                encoding=table,
                record=record,
                values=lambda head, table=table: {
                    biases.T5_WEIGHTS[bucket]: number(weight) for bucket, weight in enumerate(table.weights[head])
                },
                error=0,
            ),
        )
    logits = with_numbers(BiasOnlyFoX(heads=HEADS, layers=2), logits=[[0.0, 3.0, 9.0], [-2.0, 1.0, 20.0]])
    for layer in range(2):
        bias_only = Bias(
            encoding=logits,
            record=paths.FOX_BIAS_ONLY,
            values=lambda head, layer=layer: {paths.FOX_LOGIT: number(logits.logits[layer, head])},
            error=1e-15,
            layer=layer,
        )
        yield f"fox-bias-only, layer {layer}", bias_only
    for heads in (1, 3, 8):
        scales = paths.fox_timescales(heads, shortest=sp.Integer(3), longest=sp.Integer(1000))
        fixed = Bias(
            encoding=FixedFoX(heads=heads, shortest=3, longest=1000),
            record=paths.FOX_FIXED,
            values=lambda head, scales=scales: {paths.FOX_TIMESCALE: scales[head]},
            error=1e-15,
        )
        yield f"fox-fixed, {heads} heads", fixed
    additive = with_numbers(GrapeAdditive(heads=HEADS), log_factors=[1.5, -0.3, -2.2])
    factors = ((additive.log_factors.detach().exp() * (torch.e - 1)).log1p()).tolist()
    yield (
        "grape-additive",
        Bias(
            encoding=additive,
            record=grape.ADDITIVE,
            values=lambda head: {
                grape.GRAPE_SLOPE: sp.Rational(float(biases.alibi_slopes(HEADS)[head]) * factors[head])
            },
            error=2e-15,
        ),
    )


BIASES = dict(_biases())


@pytest.mark.parametrize("name", BIASES)
def test_a_bias_is_its_formula_at_hostile_positions(name):
    case, positions = BIASES[name], torch.tensor(HOSTILE)
    bias = case.encoding.bias(positions, positions, Content(layer=case.layer), dtype=torch.float64).detach()
    for head in range(len(bias)):
        expected = symbolic_bias(case.record, case.values(head), HOSTILE)
        seen = ~expected.isnan()
        torch.testing.assert_close(bias[head][seen], expected[seen], rtol=case.error, atol=0)


NARROW = {
    # Roundings in float32, of half a unit in the last place each, before the one to the type; and the positions at
    # which float16 is compared: it ends at 65504, and the bias of FoX never leaves it.
    **{
        f"alibi, {heads} heads": (lambda heads=heads: ALiBi(heads=heads), 2, HOSTILE[:-2]) for heads in (1, 2, 3, 8, 12)
    },
    "fox-fixed": (lambda: FixedFoX(heads=4), 2, HOSTILE),
    "kerple-power": (lambda: KerplePower(heads=HEADS), 4, ()),
    "kerple-log": (lambda: KerpleLog(heads=HEADS), 4, ()),
    "grape-additive": (lambda: with_numbers(GrapeAdditive(heads=HEADS), log_factors=[1.5, -0.3, -2.2]), 2, ()),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", NARROW)
def test_a_bias_of_narrow_type_stays_within_its_budget(name, dtype):
    """The module's parameters are rounded to the type before; positions never are."""
    make, roundings, of_float16 = NARROW[name]
    torch.manual_seed(0)
    positions, encoding = torch.tensor(of_float16 if dtype is torch.float16 else HOSTILE, dtype=torch.int64), make()
    narrow = encoding.to(dtype).bias(positions, positions, dtype=dtype)
    wide = encoding.double().bias(positions, positions, dtype=torch.float64).clamp(min=torch.finfo(dtype).min)
    assert narrow.dtype == dtype and narrow.isfinite().all()
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    budget = 1.01 * (roundings * single + last) * wide.abs()
    assert ((narrow.double() - wide).abs() <= budget + torch.finfo(dtype).tiny).all()


def test_a_bias_that_is_linear_distinguishes_neighbours_far_away():
    """Distances are not rounded to 8 bits before the slope: from 256 on that would merge pairs of them."""
    positions, query = torch.arange(255, 400), torch.tensor([255])
    wide, narrow = (ALiBi(heads=1).bias(query, positions, dtype=dtype) for dtype in (torch.float32, torch.bfloat16))
    assert torch.equal(narrow, wide.bfloat16())


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """A rotary module, its record, the values of each plane besides the frequency, and positions."""

    encoding: Rotary
    record: Encoding
    planes: tuple[Values, ...] = ({}, {}, {})
    positions: tuple[int, ...] = FEW


def _rotations() -> Iterator[tuple[str, Rotation]]:
    rates = tuple({rotary.XPOS_RATE: rotary.xpos_rate(plane, head_dim=HEAD_DIM)} for plane in range(HEAD_DIM // 2))
    shares = [rotary.ntk_share(sp.Integer(plane), head_dim=sp.Integer(HEAD_DIM)) for plane in range(HEAD_DIM // 2)]
    for layout in LAYOUTS:
        rope = Rotary(head_dim=HEAD_DIM, layout=layout)
        yield f"rope, {layout}", Rotation(encoding=rope, record=rotary.ROPE, positions=HOSTILE)
        xpos = XPos(head_dim=HEAD_DIM, layout=layout)
        yield f"xpos, {layout}", Rotation(encoding=xpos, record=rotary.XPOS, planes=rates, positions=HOSTILE)
    for scale in (1, 32):
        divided = PositionInterpolation(head_dim=HEAD_DIM, scale=scale)
        shrunk = ({rotary.SHRINK: sp.Rational(1, scale)},) * 3
        yield f"interpolation, {scale}", Rotation(encoding=divided, record=rotary.INTERPOLATION, planes=shrunk)
        factors = tuple({rotary.NTK_FACTOR: rotary.ntk_factor(share, scale=sp.Integer(scale))} for share in shares)
        aware = NTKAware(head_dim=HEAD_DIM, scale=scale)
        yield f"ntk, {scale}", Rotation(encoding=aware, record=rotary.NTK, planes=factors)
    symbol = sp.Symbol("s")
    for positions, factor in ((FEW, 1), (FEW, 4), ((0, 100, TRAINED - 1), 4), ((0, 100, TRAINED), 4)):
        growing = tuple(
            {
                rotary.NTK_FACTOR_AT: sp.Lambda(symbol, rotary.ntk_factor(share, scale=symbol)),
                rotary.NTK_TRAINED_LENGTH: sp.Integer(TRAINED),
                rotary.NTK_GROWTH: sp.Integer(factor),
            }
            for share in shares
        )
        dynamic = DynamicNTK(head_dim=HEAD_DIM, trained_length=TRAINED, factor=factor)
        case = Rotation(encoding=dynamic, record=rotary.DYNAMIC_NTK, planes=growing, positions=positions)
        yield f"dynamic-ntk, {factor}, to {positions[-1]}", case
    for scale, ramp in ((1, "paper"), (16, "paper"), (16, "code")):
        kept = tuple(
            {rotary.SHRINK: sp.Rational(1, scale), rotary.YARN_KEPT: gamma} for gamma in exact_gammas(ramp, 8, 4096)
        )
        yarn = YaRN(head_dim=8, scale=scale, trained_length=4096, ramp=ramp)
        yield f"yarn, {scale}, {ramp}", Rotation(encoding=yarn, record=rotary.YARN, planes=kept)


ROTATIONS = dict(_rotations())


@pytest.mark.parametrize("name", ROTATIONS)
def test_scores_of_rotated_queries_and_keys_are_the_formula_at_hostile_positions(name):
    case, head_dim = ROTATIONS[name], ROTATIONS[name].encoding.head_dim
    positions = torch.tensor(case.positions)
    q, k = normal(0, 2, 1, 1, len(positions), head_dim)
    frequencies = rotary.frequencies(head_dim)
    planes = [{rotary.FREQUENCY: theta, **more} for theta, more in zip(frequencies, case.planes, strict=True)]
    expected = symbolic_scores(case.record, planes, q[0, 0], k[0, 0], case.positions)
    seen = ~expected.isnan()
    order = LAYOUTS[case.encoding.layout] if head_dim == HEAD_DIM else slice(None)
    turned = case.encoding.rotate(q[..., order], k[..., order], positions)
    scores = case.encoding.scores(*turned, positions, positions)[0, 0]
    # An angle of 10^6 in float64 is off by a few times 10^6 eps, and so is its cosine; a score by that times |q| |k|,
    # and by the square of the factor on both.
    size = (head_dim * case.encoding.magnitude()) ** 2
    torch.testing.assert_close(scores[seen], expected[seen], rtol=0, atol=4e6 * 2.2e-16 * size)
    assert not case.encoding.scores_pairwise or (scores[~seen] == 0).all()


TURNED = {
    **{f"rope, {layout}": Rotary(head_dim=HEAD_DIM, layout=layout) for layout in LAYOUTS},
    "interpolation": PositionInterpolation(head_dim=HEAD_DIM, scale=4),
    "ntk": NTKAware(head_dim=HEAD_DIM),
    "dynamic-ntk": DynamicNTK(head_dim=HEAD_DIM, trained_length=64),
    "yarn": YaRN(head_dim=8, scale=16, trained_length=4096),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", TURNED)
def test_a_rotation_of_narrow_type_stays_within_its_budget(name, dtype):
    """Rounded are the cosine, each product and the sum in float32, and the result: the budget at any position."""
    encoding, positions = TURNED[name], torch.tensor(HOSTILE)
    q, k = normal(3, 2, 1, 1, len(HOSTILE), encoding.head_dim).to(dtype)
    narrow, wide = encoding.rotate(q, k, positions), encoding.rotate(q.double(), k.double(), positions)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    for turned, right, vectors in zip(narrow, wide, (q, k), strict=True):
        if encoding.layout == "interleaved":
            size = vectors.double().unflatten(-1, (-1, 2)).norm(dim=-1).repeat_interleave(2, -1)
        else:
            size = vectors.double().unflatten(-1, (2, -1)).norm(dim=-2).repeat(1, 1, 1, 2)
        # |x cos| + |y sin| <= sqrt(2) |(x, y)|, each part with three roundings in float32, then one in dtype.
        budget = 1.01 * encoding.magnitude() * size * (3 * 2**0.5 * single + last)
        assert ((turned.double() - right).abs() <= budget).all()
