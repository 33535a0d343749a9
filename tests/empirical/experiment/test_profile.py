"""Profiles and protocols are read strictly."""

import pytest

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.empirical.experiment import protocol
from lengthgen.empirical.experiment.protocol import load_profile, load_protocol, names
from lengthgen.infrastructure.settings import ProfileError, read_toml

PROFILES = ("smoke", "quick", "paper")


def test_a_byte_order_mark_changes_nothing(tmp_path):
    (tmp_path / "plain.toml").write_text("title = 'ä'", encoding="utf-8")
    (tmp_path / "marked.toml").write_text("title = 'ä'", encoding="utf-8-sig")
    assert read_toml(tmp_path / "marked.toml") == read_toml(tmp_path / "plain.toml") == {"title": "ä"}


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_that_comes_along_is_whole(name):
    loaded = load_profile(name)
    assert loaded.training.epochs % loaded.training.evaluate_every == 0
    assert all(model.width % model.heads == 0 for model in loaded.models)


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("profile_name", PROFILES)
def test_every_protocol_that_comes_along_can_be_run_under_every_profile(name, profile_name):
    loaded = load_protocol(name, profile_name)
    assert loaded.train[-1] < loaded.test[-1]
    assert loaded.profile.training.epochs % loaded.profile.training.evaluate_every == 0
    for cell in loaded.cells:
        cell.task.plain()
        parse_encoding(cell.encoding)


def test_the_published_protocol_is_in_the_paper_profile():
    for name in ("fig2", "fig3"):
        paper = load_protocol(name, "paper")
        training = paper.profile.training
        assert (training.samples, training.epochs, training.evaluate_every) == (10_000, 300, 30)
        assert (paper.profile.evaluation.samples, paper.train, paper.test) == (
            1_000, tuple(range(1, 6)), tuple(range(1, 21)),
        )  # fmt: skip
        assert paper.profile.seeds == 20
        assert {cell.task.base for cell in paper.cells} == {None}
    ends = {name: (paper.train[-1], paper.test[-1]) for name in ("prism", "algorithmic")
            for paper in [load_protocol(name, "paper")]}  # fmt: skip
    assert ends == {"prism": (10, 100), "algorithmic": (10, 20)}
    select = load_protocol("fig4", "paper")
    training = select.profile.training
    assert (training.samples, training.epochs, training.evaluate_every) == (1_000, 2_000, 20)
    assert (select.train, select.test) == (tuple(range(1, 11)), tuple(range(1, 21)))


def test_fig_2_is_six_tasks_and_fig_3_two_ways_of_one_relation():
    assert {cell.task.name for cell in load_protocol("fig2", "paper").cells} == {
        "copy", "shift", "parity", "addition", "multiplication", "division",
    }  # fmt: skip
    assert {(cell.task.format, cell.encoding) for cell in load_protocol("fig3", "paper").cells} == {
        ("aligned", "ipe"), ("unaligned", "ipe-sh"),
    }  # fmt: skip


def test_a_profile_changes_what_a_protocol_says_and_nothing_else(tmp_path):
    text = (protocol.PROTOCOLS / "fig2.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("seeds = 6", "seeds = 3\ntraining.epochs = 7"))
    mine, plain = load_protocol(str(path), "quick").profile, load_profile("quick")
    assert (mine.seeds, mine.training.epochs) == (3, 7)
    assert (mine.training.samples, mine.models) == (plain.training.samples, plain.models)
    assert load_protocol(str(path), "smoke").profile == load_profile("smoke")


def test_a_profile_may_have_its_own_scales(tmp_path):
    text = (protocol.PROTOCOLS / "fig2.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("seeds = 6", "train = [2, 3]\ntest = [1, 7]"))
    quick, paper = (load_protocol(str(path), name) for name in ("quick", "paper"))
    assert (quick.train, quick.test) == ((2, 3), tuple(range(1, 8)))
    assert (paper.train, paper.test) == (tuple(range(1, 6)), tuple(range(1, 21)))


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ProfileError, match="choose paper, quick or smoke"):
        load_profile("huge")
    with pytest.raises(ProfileError, match=r"there are 9, such as .*; your own: path/to/file.toml"):
        load_protocol("nothing", "quick")
    with pytest.raises(ProfileError, match="did you mean quick"):
        load_profile("qick")
    with pytest.raises(ProfileError, match="did you mean fig"):
        load_protocol("fig9", "quick")
    with pytest.raises(ProfileError, match="cannot be read: No such file"):
        load_protocol("nowhere.toml", "quick")
