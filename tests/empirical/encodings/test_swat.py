"""SWAT in torch: its symbolic twin, attention by its definition, its window through layers, many models at once."""

from dataclasses import replace

import pytest
import sympy as sp
import torch
from torch import Tensor

from lengthgen.empirical.audit import audit
from lengthgen.empirical.audit.loading import load, subjects
from lengthgen.empirical.encodings.agreement import SIZES, TOLERANCE, largest_difference
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.rotary import SWAT, Rotary
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.mapped import stack_models
from lengthgen.theory.encodings import biases, rotary
from lengthgen.theory.encodings.encoding import Encoding, Normaliser
from tests.empirical.twins import HOSTILE, symbolic_bias

HEADS, HEAD_DIM, LENGTH = 2, 4, 9
WIDTH = HEADS * HEAD_DIM


@pytest.mark.parametrize("kind", rotary.SWAT_SLOPES)
@pytest.mark.parametrize("heads", [1, 2, 5, 12])
def test_the_bias_is_its_symbolic_twin_at_hostile_positions(heads, kind):
    positions = torch.tensor(HOSTILE)
    bias = SWAT(heads=heads, head_dim=HEAD_DIM, slopes=kind).bias(positions, positions, dtype=torch.float64)
    for head, slope in enumerate(rotary.swat_slopes(heads, kind)):
        expected = symbolic_bias(rotary.SWAT, {rotary.SWAT_SLOPE: slope}, HOSTILE)
        seen = ~expected.isnan()
        torch.testing.assert_close(bias[head][seen], expected[seen], rtol=3.4e-16, atol=0)


def test_balanced_slopes_are_powers_of_two_of_both_signs():
    half, quarter, eighth = (sp.Rational(1, size) for size in (2, 4, 8))
    assert rotary.swat_slopes(6) == (-half, -quarter, -eighth, half, quarter, eighth)
    assert rotary.swat_slopes(3) == (-half, -quarter, half)
    assert rotary.swat_slopes(12, "negative") == tuple(-slope for slope in biases.alibi_slopes(12))
    assert rotary.swat_slopes(12, "positive") == biases.alibi_slopes(12)


def record(window: int, **changes: object) -> Encoding:
    """The twin with the values of a module of the given window."""

    def values(module, head, plane):
        frequency = 10_000 ** (-2 * plane / SIZES["head_dim"])
        return {rotary.FREQUENCY: frequency, rotary.SWAT_SLOPE: module.slopes[head], rotary.SWAT_WINDOW: window}

    return replace(rotary.SWAT, values=values, **changes)


def test_logits_and_weights_are_those_of_the_formulas():
    module = SWAT(heads=SIZES["heads"], head_dim=SIZES["head_dim"], window=31)
    assert largest_difference(record(31), module) < TOLERANCE
    assert largest_difference(record(32), module) > 0.1
    assert largest_difference(record(31, normaliser=Normaliser.SOFTMAX), module) > 0.1
    assert largest_difference(replace(record(31), window=sp.oo), module) > 0.1


def decoder(encoding: PositionEncoding, *, layers: int = 2, seed: int = 0) -> Decoder:
    torch.manual_seed(seed)
    return Decoder(symbols=5, width=WIDTH, layers=layers, heads=HEADS, encoding=encoding).double()


def module(**options: object) -> SWAT:
    return SWAT(heads=HEADS, head_dim=HEAD_DIM, **options)


def test_attention_of_a_decoder_is_its_definition_pair_by_pair():
    model, positions = decoder(module(window=4), layers=1), torch.arange(LENGTH) + 100
    tokens = torch.randint(5, (1, 2, LENGTH), generator=torch.Generator().manual_seed(1))
    block, attended = model.blocks[0], []
    block.out.register_forward_hook(lambda _, inputs, __: attended.append(inputs[0]))
    model(tokens, positions=positions)
    normed = block.attention_norm(model.tokens(tokens))
    q, k, v = block.qkv(normed).unflatten(-1, (3, HEADS, -1)).permute(3, 0, 1, 4, 2, 5)[:, 0]
    q, k = Rotary(head_dim=HEAD_DIM).rotate(q, k, positions)
    for head, slope in enumerate((-0.5, 0.5)):
        for j in range(LENGTH):
            keys = range(max(0, j - 3), j + 1)
            logits = [q[:, head, j].mul(k[:, head, i]).sum(-1) / HEAD_DIM**0.5 + slope * (j - i) for i in keys]
            expected = sum(v[:, head, i] / (1 + (-x).exp())[:, None] for i, x in zip(keys, logits, strict=True))
            computed = attended[0][0, :, j].unflatten(-1, (HEADS, HEAD_DIM))[:, head]
            torch.testing.assert_close(computed, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("window", "layers"), [(1, 3), (3, 2), (2, 5), (4, 3)])
def test_an_output_depends_on_exactly_as_many_tokens_as_the_claim_says(window, layers):
    length = 1 + (window - 1) * layers + 3
    model = decoder(module(window=window), layers=layers)
    embedded: list[Tensor] = []
    model.tokens.register_forward_hook(lambda _, __, output: embedded.append(output.requires_grad_()) or output)
    model(torch.zeros(1, 1, length, dtype=torch.int64))[0, 0, -1].sum().backward(inputs=(embedded[0],))
    reached = (embedded[0].grad.abs().sum(-1) > 0).flatten()
    count = int(rotary.swat_receptive_field(window=sp.Integer(window), layers=sp.Integer(layers)))
    assert reached.tolist() == [False] * (length - count) + [True] * count


class Learned(SWAT):
    """SWAT with a trained factor of the logits, so that models must be mapped."""

    def __init__(self) -> None:
        super().__init__(heads=HEADS, head_dim=HEAD_DIM, window=3)
        self.factor = torch.nn.Parameter(torch.rand(1))

    def normalise(self, logits_BHJI, query_positions, key_positions):
        return super().normalise(logits_BHJI * self.factor, query_positions, key_positions)


@pytest.mark.parametrize("make", [lambda: module(window=3), Learned])
@pytest.mark.parametrize("own_positions", [False, True])
def test_stacked_models_compute_what_each_computes_alone(make, own_positions):
    torch.manual_seed(3)
    members = [decoder(make(), seed=seed) for seed in range(2)]
    tokens = torch.randint(5, (2, 3, LENGTH))
    positions = torch.arange(0, 2 * LENGTH, 2)
    at = torch.stack((positions, positions // 2)) if own_positions else positions
    together = stack_models(members)(tokens, positions=at, first_query=LENGTH - 2)
    for row, member in enumerate(members):
        alone = member(tokens[row : row + 1], positions=at[row] if own_positions else at)[0, :, LENGTH - 2 :]
        torch.testing.assert_close(together[row], alone, rtol=1e-10, atol=1e-10)


def test_training_reaches_all_weights_and_keys_beyond_the_window_give_no_gradient():
    model = decoder(module(window=2))
    model(torch.randint(5, (1, 2, LENGTH))).square().sum().backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    assert all(gradient is not None and gradient.isfinite().all() for gradient in gradients)
    logits = torch.zeros(1, HEADS, 3, 3, requires_grad=True)
    module(window=2).normalise(logits, torch.arange(3), torch.arange(3))[..., 2, :].sum().backward()
    assert torch.equal(logits.grad[0, 0, 2], torch.tensor([0.0, 0.25, 0.25]))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_logits_have_the_weights_of_wide_ones(dtype):
    positions = torch.arange(200)
    logits = (4 * torch.randn(1, HEADS, 200, 200, generator=torch.Generator().manual_seed(0))).to(dtype)
    narrow = module().normalise(logits, positions, positions)
    wide = module().normalise(logits.double(), positions, positions)
    assert narrow.dtype == dtype
    assert ((narrow.double() - wide).abs() <= 2 * torch.finfo(dtype).eps * wide + torch.finfo(dtype).tiny).all()


class ByKey(SWAT):
    """The bias -s i of the key alone, in place of s (j - i)."""

    def __init__(self, heads: int = HEADS, head_dim: int = HEAD_DIM) -> None:
        super().__init__(heads=heads, head_dim=head_dim)

    def bias(self, query_positions, key_positions, content=None, *, dtype=torch.float32):
        return super().bias(torch.zeros_like(query_positions), key_positions, content, dtype=dtype)


class ByKeyUnderSoftmax(ByKey):
    """The same bias under softmax, which takes it for s (j - i)."""

    normalise = PositionEncoding.normalise


@pytest.mark.parametrize(("make", "broken"), [(ByKey, True), (ByKeyUnderSoftmax, False)])
def test_the_audit_compares_a_bias_up_to_a_row_under_softmax_only(make, broken):
    (subject,) = (part for part in subjects(make, name="mine", heads=2, head_dim=4) if part.kind == "bias")
    findings = audit(subject, to=300, dtypes=("float64",))["findings"]
    assert bool(findings) == broken, findings


def test_the_audit_varies_the_base_where_it_acts():
    others = {subject.kind: subject.other for subject in load("swat", heads=2, head_dim=4)}
    assert others == {"rotate": {"base": 500.0}, "bias": None}
