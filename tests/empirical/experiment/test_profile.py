"""Profiles and protocols are read strictly."""

import pytest

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.empirical.experiment import protocol
from lengthgen.empirical.experiment.protocol import load_profile, load_protocol, names
from lengthgen.infrastructure.settings import ProfileError, read_toml

PROFILES = ("smoke", "quick", "paper")


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


def test_a_byte_order_mark_changes_nothing(tmp_path):
    (tmp_path / "plain.toml").write_text("title = 'ä'", encoding="utf-8")
    (tmp_path / "marked.toml").write_text("title = 'ä'", encoding="utf-8-sig")
    assert read_toml(tmp_path / "marked.toml") == read_toml(tmp_path / "plain.toml") == {"title": "ä"}


@pytest.mark.parametrize(
    "before, after, says",
    [
        ("samples = 200", "", "missing key 'samples'"),
        ("samples = 200", "samples = 200\nsampels = 16", "unknown key 'sampels'"),
        ("samples = 200", 'samples = "many"', "samples = 'many' is not int"),
        ("samples = 200", "samples = 210", "210 samples are not whole batches of 50"),
        ("samples = 200", "samples = true", "samples = True is not int"),
        ("width = 16", 'width = "wide"', "width = 'wide' is not int"),
        ("[training]", "[trainning]", "unknown key 'trainning': did you mean training"),
        ("seeds = 2", "seeds = 0", "seeds = 0 is out of range: 1 to 1,000"),
        ("seeds = 2", "seeds = ", "is not TOML"),
    ],
)
def test_a_profile_that_does_not_fit_says_where(tmp_path, monkeypatch, before, after, says):
    text = (protocol.PROFILES / "smoke.toml").read_text()
    assert before in text
    (tmp_path / "smoke.toml").write_text(text.replace(before, after))
    monkeypatch.setattr(protocol, "PROFILES", tmp_path)
    with pytest.raises(ProfileError, match=says):
        load_profile("smoke")


@pytest.mark.parametrize(
    "before, after, says",
    [
        ("train = [1, 5]", "train = [5]", r"scales are given as \[first, last\]"),
        ("train = [1, 5]", "train = [1, 20]", r"the largest test scale \(20\) must exceed"),
        ("test = [1, 20]", "test = [3, 20]", "must include the training scales"),
        ('formats = ["aligned"]', 'format = ["aligned"]', "unknown key 'format': did you mean formats"),
        ("[quick.base]", "[quik.base]", "unknown profile 'quik'"),
        ("addition = 4", "adition = 4", "'adition' is not one of its tasks"),
        ("seeds = 6", "sedes = 6", "unknown key 'sedes'"),
        ('"copy", ', '"copy", "copy", ', "the same cell occurs twice"),
        ("[quick.base]", "[paper]\ntest = [5]\n[quick.base]", "paper, test: scales are given as"),
        ("seeds = 6", "test = 9", "quick, test = 9 is not a list"),
        ("seeds = 6", "test = [1, 5]", r"the largest test scale \(5\) must exceed"),
    ],
)
def test_a_protocol_that_does_not_fit_says_where(tmp_path, before, after, says):
    text = (protocol.PROTOCOLS / "fig2.toml").read_text()
    assert before in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(before, after, 1))
    with pytest.raises(ProfileError, match=says):
        load_protocol(str(path), "quick")


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


def test_the_published_scales_of_prism_are_in_the_paper_profile():
    assert (load_protocol("prism", "paper").train[-1], load_protocol("prism", "paper").test[-1]) == (10, 100)
    assert (load_protocol("algorithmic", "paper").train[-1], load_protocol("algorithmic", "paper").test[-1]) == (10, 20)


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
