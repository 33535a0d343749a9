"""SeqPE in torch: the formula from codes, the encoder against PyTorch's layers, digits, losses, and training."""

from itertools import product

import numpy as np
import pytest
import sympy as sp
import torch
import torch.nn.functional as F
from torch import nn

from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.modules import HookError, guard
from lengthgen.empirical.encodings.seqpe import (
    CANDIDATES,
    LOCAL_RANGE,
    PIVOTS,
    SAMPLES,
    WARM_UP,
    DigitEncoder,
    SeqPEBias,
    SeqPEInput,
    contrastive_positions,
    distillation_loss,
    window_positions,
)
from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.model.backend import CPU
from lengthgen.theory.encodings import seqpe
from tests.empirical.model.steps import step_on
from tests.empirical.twins import HOSTILE, exact

WIDTH, HEADS = 12, 3


def make(kind=SeqPEBias, *, digits=7, seed=0):
    """SeqPE with numbers of ordinary size, so that no part of it is nearly 0."""
    torch.manual_seed(seed)
    encoding = kind(width=WIDTH, heads=HEADS, digits=digits).double()
    for parameter in encoding.parameters():
        nn.init.normal_(parameter, std=0.5)
    return encoding


def uniform(count, seed=0):
    return torch.rand(count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_the_bias_is_that_of_the_formula_from_its_codes_up_to_a_million():
    encoding, positions = make(), torch.tensor(HOSTILE)
    computed = encoding.bias(positions, positions, dtype=torch.float64)
    codes = F.linear(encoding.codes(positions, torch.float64), encoding.query_key.weight, encoding.query_key.bias)
    u, w = codes.detach().unflatten(-1, (2, HEADS, -1)).unbind(1)
    head_dim = WIDTH // HEADS
    for head, row, column in product(range(HEADS), (0, 4, len(HOSTILE) - 1), range(len(HOSTILE))):
        law = seqpe.SEQPE.bias(sp.Integer(HOSTILE[row]), sp.Integer(HOSTILE[column]), sp.S.One)
        law = law.subs(seqpe.HEAD_DIM, head_dim).doit()
        values = {
            family[position, coordinate]: sp.Rational(table[at, head, coordinate].item())
            for family, table, position, at in (
                (seqpe.QUERY_CODES, u, HOSTILE[row], row),
                (seqpe.KEY_CODES, w, HOSTILE[column], column),
            )
            for coordinate in range(head_dim)
        }
        assert computed[head, row, column].item() == pytest.approx(exact(law.xreplace(values)), rel=1e-12, abs=1e-12)


def reference_code(encoder, tokens):
    """Code of one position by PyTorch's own layers, from the digits as text."""
    slots = encoder.slots.flatten(0, 1)
    x = torch.stack([encoder.tokens[digit] + slots[at] for at, digit in enumerate(tokens)])
    x = torch.cat([x, encoder.last[None]])[None]
    mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
    for block in encoder.blocks:
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, 0.0, lambda z: F.gelu(z, approximate="tanh"), norm_first=True, batch_first=True
        ).double()
        parts = {
            "self_attn.in_proj_weight": block.qkv.weight,
            "self_attn.in_proj_bias": block.qkv.bias,
            "self_attn.out_proj.weight": block.merged.weight,
            "self_attn.out_proj.bias": block.merged.bias,
            "linear1.weight": block.up.weight,
            "linear1.bias": block.up.bias,
            "linear2.weight": block.down.weight,
            "linear2.bias": block.down.bias,
            "norm1.weight": block.attention_norm.weight,
            "norm1.bias": block.attention_norm.bias,
            "norm2.weight": block.mlp_norm.weight,
            "norm2.bias": block.mlp_norm.bias,
        }
        layer.load_state_dict(parts)
        x = layer(x, src_mask=mask)
    return encoder.out(encoder.norm(x[0, -1]))


def test_the_encoder_is_two_layers_of_pytorch_on_the_digits_as_text():
    torch.manual_seed(1)
    encoder = DigitEncoder(width=WIDTH, heads=HEADS, digits=7).double()
    for parameter in encoder.parameters():
        nn.init.normal_(parameter, std=0.5)
    positions = (0, 7, 90, 4095, 10**6)
    for position, code in zip(positions, encoder(torch.tensor(positions), torch.float64), strict=True):
        tokens = [int(digit) for digit in str(position).zfill(7)]
        assert tuple(tokens) == seqpe.tokens([position], digits=7)
        torch.testing.assert_close(code, reference_code(encoder, tokens), rtol=1e-10, atol=1e-10)


def test_input_add_adds_the_code_at_the_token():
    encoding, positions = make(SeqPEInput), torch.tensor([3, 10**6])
    x = torch.randn(2, 2, WIDTH, dtype=torch.float64)
    torch.testing.assert_close(encoding.embed(x, positions) - x, encoding.codes(positions, x.dtype).expand(2, -1, -1))
    assert type(encoding).bias is PositionEncoding.bias


def test_the_contrastive_loss_is_that_of_the_products_of_whole_codes(monkeypatch):
    monkeypatch.setattr("lengthgen.empirical.encodings.seqpe.distillation_loss", lambda near, far: 0)
    encoding = make(digits=3)
    numbers = uniform(encoding.auxiliary_numbers)
    pivots, candidates = contrastive_positions(numbers[: PIVOTS * 171].view(PIVOTS, -1), 1000)
    expected = 0
    for pivot, others in zip(pivots.tolist(), candidates.tolist(), strict=True):
        code, *codes = encoding.codes(torch.tensor([pivot, *others]), torch.float64).detach()
        scores = [sp.Float((code * other).sum().item()) for other in codes]
        expected += float(seqpe.contrastive(scores, seqpe.nearest(pivot, others))) / PIVOTS
    loss = encoding.auxiliary_loss(torch.arange(20), numbers, 1.0)
    assert loss.item() == pytest.approx(0.1 * expected)


def test_the_distillation_loss_is_that_of_the_released_divergences_and_of_the_formula():
    near, far = torch.randn(2, 2, HEADS, 5, 4, dtype=torch.float64)
    a, b = ((codes @ codes.mT).log_softmax(-1) for codes in (near, far))
    both = [F.kl_div(*pair, reduction="none", log_target=True) for pair in ((b, a), (a, b))]
    expected = (both[0] + both[1]).mean()  # over all entries, as released
    torch.testing.assert_close(distillation_loss(near, far), expected)
    summand = seqpe.distillation(sp.Float(a[0, 0, 0, 1].item()), sp.Float(b[0, 0, 0, 1].item()))
    assert ((a.exp() - b.exp()) * (a - b))[0, 0, 0, 1].item() == pytest.approx(float(summand))
    turn = torch.linalg.qr(torch.randn(4, 4, dtype=torch.float64))[0]
    assert distillation_loss(near, near @ turn).item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("digits", [1, 3, 5, 17])
def test_candidates_are_positions_other_than_their_pivot(digits):
    reach = 10**digits
    pivots, candidates = contrastive_positions(uniform(400 * 171).view(400, -1), reach)
    assert candidates.shape == (400, CANDIDATES)
    assert ((pivots >= 0) & (pivots < reach)).all() and ((candidates >= 0) & (candidates < reach)).all()
    assert (candidates != pivots[:, None]).all()
    if digits == 5:
        local = (candidates.amax(1) - candidates.amin(1)) <= LOCAL_RANGE
        assert 0.5 < local.double().mean() < 0.7
        shared = (candidates[~local][:, ::4] % 100 == pivots[~local][:, None] % 100).double().mean()
        assert shared > 0.03, "some share the last two digits, 3 times as many as by chance"


def test_the_other_window_has_the_same_places_and_begins_at_a_quarter_or_later():
    for length in (4, 40, 200):
        near, far = window_positions(uniform(50 * (1 + SAMPLES)).view(50, -1), torch.arange(length), 1000)
        assert near.shape == (50, min(SAMPLES, length))
        assert (near.diff() > 0).all() and near.amax() < length
        starts = far - near
        assert (starts == starts[:, :1]).all()
        assert starts.amin() >= length // 4 and starts.amax() <= 1000 - length and far.amax() < 1000
    near, far = window_positions(uniform(1 + SAMPLES)[None], torch.arange(10), 10)
    assert torch.equal(near, far), "all codes are in use"


def test_the_auxiliary_loss_rises_from_zero_and_does_not_train_the_training_window(monkeypatch):
    encoding = make(digits=3)
    numbers, positions = uniform(encoding.auxiliary_numbers), torch.arange(20)
    losses = [encoding.auxiliary_loss(positions, numbers, at).item() for at in (0, WARM_UP / 2, WARM_UP, 1)]
    assert losses[0] == 0 and losses[2] > 0
    assert losses[1] == pytest.approx(losses[2] / 2) and losses[3] == losses[2]
    seen = []
    monkeypatch.setattr(
        "lengthgen.empirical.encodings.seqpe.distillation_loss", lambda *codes: seen.extend(codes) or codes[1].sum()
    )
    encoding.auxiliary_loss(positions, numbers, 1.0)
    assert [codes.requires_grad for codes in seen] == [False, True]
    assert seen[0].shape == (PIVOTS, HEADS, 20, WIDTH // HEADS)


def test_training_adds_the_auxiliary_loss_and_reports_that_of_the_task(small_run, monkeypatch):
    runs = [small_run("seqpe", seed=seed, samples=100) for seed in range(2)]
    ensemble = Ensemble(runs, Setup.of(runs[0], "cpu"), CPU)
    samples = torch.arange(20).view(2, 10) + torch.tensor([[0], [100]])
    given, step = [], 3
    monkeypatch.setattr(type(ensemble.optimizer), "step", lambda _, losses: given.append(losses.detach()))
    reported = step_on(ensemble, samples, step)
    own, auxiliary = ensemble.losses(samples, step).detach(), ensemble.auxiliary_losses(step).detach()
    assert torch.equal(reported, own) and (auxiliary > 0).all() and auxiliary[0] != auxiliary[1]
    torch.testing.assert_close(given[0], own + auxiliary)
    assert not ensemble.decoder.encoding.looped, "all models at once"
    assert torch.equal(auxiliary, ensemble.auxiliary_losses(step).detach()), "the step decides what is drawn"
    assert not torch.equal(auxiliary, ensemble.auxiliary_losses(step + 1).detach())


def test_a_loss_of_a_user_is_a_number_or_none():
    class Mine(PositionEncoding):
        def auxiliary_loss(self, positions, uniform_N, progress):
            return self.answer

    module = guard(Mine(), "mine")
    for answer in (None, torch.tensor(0.5)):
        module.answer = answer
        assert module.auxiliary_loss(torch.arange(3), torch.zeros(0), 0.0) is answer
    module.answer = torch.ones(2)
    with pytest.raises(HookError, match=r"'mine': auxiliary_loss fails.*it must return a scalar loss or None"):
        module.auxiliary_loss(torch.arange(3), torch.zeros(0), 0.0)


def test_encodings_have_no_auxiliary_loss_by_default(small_run):
    run = small_run("rope", samples=100)
    ensemble = Ensemble([run], Setup.of(run, "cpu"), CPU)
    assert not ensemble.decoder.encoding.has_auxiliary_loss
    samples = torch.from_numpy(np.arange(10))[None]
    assert torch.equal(ensemble.losses(samples, 0).detach(), step_on(ensemble, samples, 0))
    assert PositionEncoding().auxiliary_loss(torch.arange(3), torch.zeros(0), 0.0) is None
