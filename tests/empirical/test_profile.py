"""Profiles are read strictly."""

import pytest

from empirical import profile
from empirical.profile import ProfileError, load_profile


@pytest.mark.parametrize("name", ["smoke", "quick", "paper"])
def test_every_profile_that_comes_along_is_whole(name):
    loaded = load_profile(name)
    assert loaded.name == name
    assert loaded.training.epochs % loaded.training.evaluate_every == 0
    assert loaded.conjecture.train[1] < loaded.conjecture.test[1]


def test_the_published_protocol_is_in_the_paper_profile():
    paper = load_profile("paper")
    assert (paper.training.samples, paper.training.epochs, paper.training.evaluate_every) == (10_000, 300, 30)
    assert (paper.evaluation.samples, paper.conjecture.train, paper.conjecture.test) == (1_000, [1, 5], [1, 20])
    assert paper.conjecture.seeds == 20


@pytest.mark.parametrize(
    "before, after, says",
    [
        ("width = 16", "", "missing or unknown: width"),
        ("width = 16", "width = 16\nwidht = 16", "missing or unknown: widht"),
        ("width = 16", 'width = "wide"', "width = 'wide' is not of type"),
        ("train = [1, 2]", 'train = ["1"]', "train = .* is not of type"),
        ("[model]", "[modle]", "exactly the sections"),
    ],
)
def test_a_profile_that_does_not_fit_says_where(tmp_path, monkeypatch, before, after, says):
    text = (profile.FOLDER / "smoke.toml").read_text()
    assert before in text
    (tmp_path / "smoke.toml").write_text(text.replace(before, after))
    monkeypatch.setattr(profile, "FOLDER", tmp_path)
    with pytest.raises(ProfileError, match=says):
        load_profile("smoke")


def test_an_unknown_profile_lists_the_known():
    with pytest.raises(ProfileError, match="choose one of paper, quick, smoke"):
        load_profile("huge")
