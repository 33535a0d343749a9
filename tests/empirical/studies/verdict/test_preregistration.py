"""Preregistrations: what is fixed decides the digest, and a wrong file is refused in one line."""

from pathlib import Path
from typing import Any

import pytest

from lengthgen.empirical.studies.verdict import preregistration as module
from lengthgen.empirical.studies.verdict.population import DrawnTask
from lengthgen.empirical.studies.verdict.preregistration import Preregistration, load_preregistration, names
from lengthgen.infrastructure.settings import ProfileError

REGISTERED = load_preregistration("random-tasks")
TEXT = (module.FOLDER / "random-tasks.toml").read_text(encoding="utf-8")


def test_the_first_preregistration_is_there_and_reads() -> None:
    assert names() == ["new-tasks", "random-languages", "random-tasks", "swapped-arguments"]
    assert REGISTERED.train_scales == (1, 2, 3, 4, 5) and REGISTERED.test_scales == tuple(range(1, 21))
    assert REGISTERED.rule_pairs[1] == ("coverage", "name")
    assert REGISTERED.digest == "0f695bddde34929bbbf4b8fbabda478dc3693923fa5a0dfad70cfa77bfc2b529"


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Function that loads the preregistration with a part of its text replaced."""
    monkeypatch.setattr(module, "FOLDER", tmp_path)

    def load_changed(old: str, new: str) -> Preregistration:
        assert old in TEXT
        (tmp_path / "mine.toml").write_text(TEXT.replace(old, new, 1), encoding="utf-8")
        return load_preregistration("mine")

    return load_changed


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("coverage against always-no", "coverage against nobody", "pairs: 'nobody' is not one of its rules"),
        ("coverage against always-no", "coverage beats always-no", "write 'RULE against RULE'"),
        ('"always-no", "name"', '"always-no", "names"', "rules: 'names' is no rule"),
        ("seed = 2026\n", "", "seed"),
        ("seed = 2026", 'seed = "2026"', "seed"),
        ("seed = 2026", 'seed = 2026\nsources = ["circuits"]', "'circuits' is no source; choose among"),
        ("seed = 2026", 'seed = 2026\nprofiles = ["shrinks"]', "'shrinks' is no profile; choose among grows"),
        ("seed = 2026", "seed = 2026\nletters = 5", "letters"),
        ("seed = 2026", 'seed = 2026\nunlike = ["verdict/parity"]', "'verdict/parity' is no record; choose among"),
        ("width = 32", "width = 32\ndepth = 3", "depth"),
        ("alpha = 0.05", "alpha = 0", "alpha"),
        ("train = [1, 5]", "train = [5, 1]", "first <= last"),
        ("train = [1, 5]", "train = [1, 2, 5]", "takes 1 to 2"),
        ("test = [1, 20]", "test = [6, 20]", "must include those of training"),
        ("test = [1, 20]", "test = [1, 4]", "must include those of training"),
        ("first = 3", "first = 16", "stopping"),
        ("fitting = 3", "fitting = 16", "stopping"),
        ("[tasks]", "[tasks", "mine.toml"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(load: Any, old: str, new: str, says: str) -> None:
    with pytest.raises(ProfileError) as refused:
        load(old, new)
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_an_unknown_name_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ProfileError, match="did you mean random-tasks"):
        load_preregistration("random-task")
    with pytest.raises(ProfileError, match="unknown preregistration"):
        load_preregistration("../registered/random-tasks")


def test_a_task_has_every_format_or_one_that_its_name_decides(load: Any) -> None:
    tasks = [
        DrawnTask(name=f"task-{number}", source="local", profile="invariant", rises_at=None) for number in range(40)
    ]
    language = DrawnTask(name="words", source="language", profile="invariant", rises_at=None)
    assert {REGISTERED.formats_of(task) for task in tasks} == {("aligned", "filled")}
    assert REGISTERED.formats_of(language) == ("unaligned",)
    by_name = load('formats = ["aligned", "filled"]', 'one_format = true\nformats = ["aligned", "filled"]')
    assert {by_name.formats_of(task) for task in tasks} == {("aligned",), ("filled",)}
    assert {(task.half, *by_name.formats_of(task)) for task in tasks} == {
        (half, form) for half in ("amendment", "judgement") for form in ("aligned", "filled")
    }
    assert by_name.formats_of(language) == ("unaligned",) and by_name.digest != REGISTERED.digest
