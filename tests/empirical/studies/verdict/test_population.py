"""Population of random tasks: drawn from a seed alone, without repetition, in strata that its SRC decides."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.languages.random_languages import random_language
from lengthgen.circuits.languages.regular import definiteness, own_letter_decides
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import parse_task
from lengthgen.circuits.tasks.families import WITH_STATES
from lengthgen.empirical.experiment.tables import read_rows
from lengthgen.empirical.studies.verdict import population
from lengthgen.empirical.studies.verdict.frozen import CELLS
from lengthgen.empirical.studies.verdict.population import (
    DEFINITE,
    GROWS,
    INVARIANT,
    LANGUAGES,
    ONCE,
    OWN_LETTER,
    RISES,
    SOURCES,
    TRAIN,
    USUAL,
    DrawnTask,
    draw,
    is_constant,
    profile_of,
)
from lengthgen.empirical.studies.verdict.preregistration import load_preregistration

RECORD = Path(__file__).parents[4] / "docs" / "results" / "verdict"
COUNT = 13
UP_TO = 9
"""Largest scale of the test here: the analysis up to 20 takes ten times as long and shows nothing more."""


@pytest.fixture(scope="module", autouse=True)
def few_scales() -> Iterator[None]:
    """Draw tasks as for all scales, with fewer, and from fewer languages of a seed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(population, "TEST", UP_TO)
        patch.setattr(population, "RISES", (RISES[0], UP_TO - 1))
        patch.setattr(population, "LANGUAGES", 5)
        yield


@pytest.fixture(scope="module")
def tasks(few_scales: None) -> list[DrawnTask]:
    """A small population."""
    return draw(1, COUNT)


def test_seed_decides_the_population() -> None:
    again = draw(1, 2)
    assert again and again == draw(1, 2) and again != draw(2, 2)


def test_the_record_has_the_names_that_its_seed_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is analysed, so that no stratum is ever full: the first names are still those of a draw that analyses."""
    names: list[str] = []
    monkeypatch.setattr(population, "RISES", RISES)
    monkeypatch.setattr(population, "LANGUAGES", LANGUAGES)
    monkeypatch.setattr(population, "_analysis", lambda name, source: names.append(name))
    registered = load_preregistration("random-tasks").tasks
    draw(registered.seed, registered.count)
    recorded = {row["task"] for row in read_rows(RECORD / "random-tasks" / CELLS)}
    assert sum(name in recorded for name in names[:100]) == 92


def test_no_task_is_drawn_twice_and_no_more_than_asked_for(tasks: list[DrawnTask]) -> None:
    assert len({task.name for task in tasks}) == len(tasks)
    assert 1 < len(tasks) <= COUNT


def test_names_are_loaded_again_with_the_profile_that_is_recorded(tasks: list[DrawnTask]) -> None:
    for task in tasks[:: max(1, len(tasks) // 3)]:
        analysis = analyse(parse_task(task.name).plain(), task.formats[0], UP_TO)
        assert profile_of(analysis) == (task.profile, task.rises_at)
        assert not is_constant(analysis)


def test_strata_are_filled_evenly(tasks: list[DrawnTask]) -> None:
    counts = Counter(task.stratum for task in tasks)
    assert {*counts} <= {f"{source} {profile}" for source in USUAL for profile in SOURCES[source]}
    assert all(count <= -(-COUNT // sum(len(SOURCES[source]) for source in USUAL)) for count in counts.values())
    assert {task.profile for task in tasks} == {INVARIANT, ONCE, GROWS}
    assert all((task.rises_at is None) == (task.profile == INVARIANT) for task in tasks)
    assert all(TRAIN < task.rises_at <= UP_TO for task in tasks if task.rises_at is not None)


def test_sources_of_languages_are_what_they_say() -> None:
    drawn = draw(3, 4, (OWN_LETTER, DEFINITE), letters=3)
    assert {task.source for task in drawn} == {OWN_LETTER, DEFINITE}
    for task in drawn:
        automaton = random_language(task.name.removesuffix(WITH_STATES))
        assert automaton.symbols == ("a", "b", "c") and task.formats == ("unaligned",)
        assert own_letter_decides(automaton, TRAIN + 1, UP_TO) == (task.source == OWN_LETTER)
        assert task.source == OWN_LETTER or definiteness(automaton) is not None


def test_arguments_are_swapped_beyond_training_and_src_stays() -> None:
    drawn = draw(4, 4, ("local", "swapped local", "swapped rotated"), profiles=(INVARIANT,))
    assert {task.source for task in drawn} == {"local", "swapped local", "swapped rotated"}
    for task in drawn:
        assert task.profile == INVARIANT and task.formats == ("aligned", "filled")
        name = re.fullmatch(r"random-(local|rotated)-(?:invariant|swaps(\d+))-.*", task.name)
        assert name and task.source == ("swapped " if name[2] else "") + name[1]
        assert name[2] is None or TRAIN < int(name[2]) <= UP_TO


def test_tasks_of_other_kinds_and_tasks_by_hand_are_drawn_with_their_profiles() -> None:
    by_hand = ("parity", "docs/results/new-tasks/public_tasks.py:mode")
    drawn = draw(3, 4, ("tree", "interleaved"), named=by_hand)
    assert [task.stratum for task in drawn[-2:]] == ["by hand invariant", "by hand open"]
    assert {task.stratum for task in drawn[:-2]} == {
        "tree invariant",
        "tree rises",
        "interleaved invariant",
        "interleaved rises",
    }
    assert {task.source: task.formats for task in drawn}["interleaved"] == ("unaligned",)
    [risen] = [task for task in drawn if task.stratum == "tree rises"]
    assert risen.rises_at is not None and risen.rises_at > TRAIN


def test_a_task_that_a_record_has_under_another_name_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *_ = draw(3, 1, ("local",))
    cell = SimpleNamespace(record="verdict/random-tasks", name=first.name)
    monkeypatch.setattr(population, "recorded_cells", lambda: [cell])
    assert first in draw(3, 1, ("local",), unlike=["verdict/random-languages"])
    assert first not in draw(3, 1, ("local",), unlike=["verdict/random-tasks"])


def test_sources_without_one_of_the_profiles_are_named() -> None:
    with pytest.raises(TaskError, match="no source of swapped local has a profile of grows"):
        draw(1, 1, ("swapped local",), profiles=(GROWS,))


def test_a_source_without_a_language_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "NAMES", 3)
    monkeypatch.setattr(population, "_is_of_source", lambda name, source: False)
    with pytest.raises(TaskError, match="no definite language of 3 letters among 3"):
        draw(1, 1, (DEFINITE,), letters=3)


def test_outputs_that_no_prompt_changes_are_constant() -> None:
    assert is_constant(analyse(parse_task("random-local-invariant-1[base=2]").plain(), "aligned", TRAIN + 1))
    assert not is_constant(analyse(parse_task("random-local-invariant-2[base=2]").plain(), "aligned", TRAIN + 1))
