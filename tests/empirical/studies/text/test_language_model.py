"""Language models: seeds do not influence each other, and measurements count what they say."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from lengthgen.circuits.encoding_spec import EncodingError, parse_encoding
from lengthgen.empirical.experiment.loop import TrainingError
from lengthgen.empirical.model.backend import CPU
from lengthgen.empirical.studies.text.corpus import DIGITS, Corpus, ending_together, load_profile
from lengthgen.empirical.studies.text.language_model import LAST, LanguageModels

PROFILE = load_profile("smoke")
BYTES = np.random.default_rng(0).integers(0, 256, 5_000).astype(np.uint8)
CORPUS = Corpus(name="noise", sha256="", train=BYTES[:4_000], test=BYTES[4_000:])


def models(encoding="rope", **changes):
    torch.set_num_threads(1)
    return LanguageModels(parse_encoding(encoding), replace(PROFILE, **changes), CORPUS, CPU)


def test_a_seed_is_trained_as_if_it_were_alone():
    together = np.stack(models("fox").train())
    alone = np.stack(models("fox", seeds=1).train())
    assert together.shape == (PROFILE.steps, 2)
    assert together[:, :1] == pytest.approx(alone, rel=1e-5)
    assert (together[:, 0] != together[:, 1]).all()


def test_an_auxiliary_loss_is_trained_with_that_of_the_text(monkeypatch):
    with_it, without = models("seqpe"), models("seqpe")
    with monkeypatch.context() as patched:
        patched.setattr(type(without.decoder.encoding), "has_auxiliary_loss", False)
        alone = np.stack(without.train())
    together = np.stack(with_it.train())
    assert (together[0] == alone[0]).all()  # the loss of the text alone is reported
    pairs = zip(with_it.decoder.encoding.parameters(), without.decoder.encoding.parameters(), strict=True)
    assert any((first != second).any() for first, second in pairs)


def test_repeated_text_is_learnt_and_noise_is_not():
    repeated = replace(CORPUS, train=np.tile(BYTES[:4], 500), test=np.tile(BYTES[:4], 500))
    losses = []
    for text in (repeated, CORPUS):
        trained = LanguageModels(parse_encoding("nope"), replace(PROFILE, steps=60, seeds=1), text, CPU)
        for _ in trained.train():
            pass
        losses.append(trained.measure(32).loss[0])
    assert losses[0] < math.log(256) / 2 < math.log(256) - 0.5 < losses[1]


def test_the_measured_losses_are_those_of_the_same_last_bytes():
    trained = models()
    measured = trained.measure(64)
    tokens = torch.from_numpy(ending_together(CORPUS.test, PROFILE.windows, 65, 65).astype(np.int64))
    with torch.no_grad():
        logits = trained.decoder(tokens[None, :, :-1].expand(2, -1, -1))
    losses = torch.nn.functional.cross_entropy(
        logits.flatten(0, 2), tokens[None, :, 1:].expand(2, -1, -1).flatten(), reduction="none"
    ).view(2, PROFILE.windows, 64)
    assert measured.loss == pytest.approx(losses.mean((1, 2)).tolist(), rel=1e-5)
    assert measured.last == pytest.approx(losses[..., -LAST:].mean((1, 2)).tolist(), rel=1e-5)
    assert measured.by_position == pytest.approx(losses.mean((0, 1)).view(8, 8).mean(1).tolist(), rel=1e-5)
    assert measured.keys == [0, 0]


def test_a_key_counts_if_all_its_digits_are_predicted(monkeypatch):
    trained = models()

    def logits(tokens, counters, last=None):
        targets = tokens[..., 1:] if last is None else tokens[..., -last:]
        wrong = targets.clone()
        wrong[1, :, -1] += 1  # the second model errs in the last digit
        return torch.nn.functional.one_hot(wrong % 256, 256).float()

    monkeypatch.setattr(trained, "_logits", logits)
    assert trained.measure(64).keys == [1, 0]
    assert DIGITS == 5


def test_other_interpolations_of_a_trained_rope_need_no_training():
    trained = models("rope")
    plain = trained.measure(64)
    assert trained.measure(64, under=parse_encoding("interpolation[scale=1]")) == plain
    assert trained.measure(64, under=parse_encoding("interpolation[scale=4]")) != plain
    assert trained.measure(64) == plain


@pytest.mark.parametrize(("encoding", "under"), [("rope", "fox"), ("fox", "rope")])
def test_trained_numbers_are_not_replaced(encoding, under):
    with pytest.raises(TrainingError, match=f"'{encoding}' cannot become '{under}' without training"):
        models(encoding).measure(64, under=parse_encoding(under))


def test_a_loss_that_is_not_finite_ends_the_training():
    with pytest.raises(TrainingError, match="rope: the loss of seed 0 is not finite at step"):
        models("rope", learning_rate=1e30, clip=1e30).train()


def test_positions_are_drawn_from_a_range_that_holds_the_longest_text():
    assert models("random-rope").measure(64).length == 64
    with pytest.raises(Exception, match="set longest=64"):
        models("random-rope[longest=63]")
    with pytest.raises(EncodingError, match="no circuit"):
        models("ipe")
