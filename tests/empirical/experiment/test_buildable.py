"""A model that cannot be built is refused before anything is computed, and no other."""

import re
from dataclasses import replace

import pytest
import torch

from lengthgen.circuits.encoding_spec import ENCODINGS, EncodingError, parse_encoding
from lengthgen.empirical.experiment import run as runs
from lengthgen.empirical.experiment.ensemble import Setup
from lengthgen.empirical.experiment.protocol import Model
from lengthgen.empirical.experiment.run import require_buildable, saturation
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.infrastructure.settings import ProfileError
from tests.empirical.conftest import smoke_run

SIZES = [Model(width=6, layers=1, heads=2), Model(width=5, layers=1, heads=5), Model(width=8, layers=1, heads=2)]


def can_be_built(run):
    """True if the model of a run can be built and reads a sequence of the largest scale."""
    try:
        setup = Setup.of(run, "cpu")
        length = setup.geometry.length
        decoder = Decoder(symbols=4, encoding=setup.encoding(), width=run.model.width, layers=1, heads=run.model.heads)
        positions = setup.geometry.positions(length, [(0, 0, 0)])
        labels = setup.geometry.labels(torch.zeros(1, 1, dtype=torch.int64), positions)
        scales = torch.full((1, 1), max(run.test))
        decoder(torch.zeros(1, 1, length, dtype=torch.int64), positions=positions, labels=labels, scales_MB=scales)
    except (EncodingError, ProfileError, ValueError):
        return False
    return True


@pytest.mark.parametrize("name", [*ENCODINGS, "random-ape[longest=11]", "random-rpe[longest=10]"])
def test_models_refused_early_are_those_that_cannot_be_built(name):
    buildable = name.replace("=10]", "=11]") if parse_encoding(name).record.causal else "nope"
    for model in SIZES:
        run = replace(smoke_run(buildable), encoding=name, model=model)
        tokens = Setup.of(replace(run, encoding="nope"), "cpu").geometry.length
        try:
            require_buildable(parse_encoding(name), model, tokens)
        except ProfileError as error:
            assert not can_be_built(run), (model, error)
        else:
            assert can_be_built(run), model


@pytest.mark.parametrize(
    ("encoding", "tokens", "says"),
    [
        ("prism", 127, ""),
        ("prism", 128, "'prism' counts to 127, and a sequence has 128 tokens: .* set positions=129$"),
        ("prism[positions=4,sharpening=none]", 3, ""),
        ("prism[positions=4,sharpening=none]", 4, r"'prism\[positions=4,.*' counts to 3, .* set positions=5$"),
        ("random-rpe[longest=9]", 200, ""),
    ],
)
def test_a_count_that_ends_before_the_tokens_is_warned_of(encoding, tokens, says):
    assert re.match(says, saturation(parse_encoding(encoding), tokens)) if says else True
    assert bool(saturation(parse_encoding(encoding), tokens)) == bool(says)


def test_a_protocol_warns_once_of_each_encoding_that_cannot_count_its_tokens():
    few, enough = ([replace(smoke_run(f"prism[positions={p}]"), seed=seed) for seed in (0, 1)] for p in (4, 99))
    [warning] = runs.saturations([*few, *enough])
    assert warning.startswith("'prism[positions=4]' counts to 3, and a sequence has ")


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        ("causal = False", "it attends to later tokens, and so to those that it should predict"),
        ("needs_distances = True", "it needs a graph of the tokens, and no task gives one"),
    ],
)
def test_an_own_encoding_that_a_task_cannot_train_is_refused(flag, reason, tmp_path):
    file = tmp_path / "mine.py"
    base = "from lengthgen.empirical.encodings.base import PositionEncoding\n\n\nclass Mine(PositionEncoding):\n"
    file.write_text(f"{base}    {flag}\n")
    run = replace(smoke_run("nope"), encoding=f"{file}:Mine")
    with pytest.raises(EncodingError) as refused:
        Setup.of(run, "cpu").encoding()
    assert str(refused.value) == f"'{file}:Mine' is not trained on the next token: {reason}"


def test_more_tokens_than_positions_to_draw_from_are_refused_before_any_prediction():
    with pytest.raises(ProfileError, match="has 11 tokens, whose positions are drawn from 3: set longest=11"):
        smoke_run("random-ape[longest=3]")
    with pytest.raises(ProfileError, match="a sequence has 11 tokens, whose positions are drawn from 3"):
        Setup.of(replace(smoke_run("random-ape[longest=11]"), encoding="random-ape[longest=3]"), "cpu")


def test_sequences_too_long_for_any_model_are_refused_before_they_are_drawn(monkeypatch):
    def draw(*arguments, **options):
        raise AssertionError("samples at all scales are drawn")

    monkeypatch.setattr(runs, "_task_digest", draw)
    monkeypatch.setattr("lengthgen.empirical.experiment.run.MOST_TOKENS", 8)
    with pytest.raises(ProfileError, match="a sequence has 11 tokens, and a model reads at most 8: lower the scales"):
        smoke_run("ipe")
