"""A few attacks of each class on every run of the tests; `python -m tests.attack CLASS` makes as many as one likes."""

from dataclasses import replace
from functools import partial
from itertools import islice

import pytest

from tests.attack import (
    arguments,
    audits,
    fuzzing,
    interrupts,
    kills,
    pairs,
    protocols,
    readers,
    stale,
    tally,
    user_files,
)
from tests.attack.material import make_material
from tests.attack.watchdog import warm

SEED = 0


@pytest.fixture(scope="session")
def material(common):
    """The material to damage: small, and made once."""
    warm()
    return make_material(common / "attacked", complete=False)


def assert_all_end_well(tries):
    failed = tally.failures(tries)
    assert not failed, f"\n{tally.table(tries)}\n{tally.listed(failed)}"


@pytest.mark.parametrize(("kind", "count"), [("", 5), ("another_shape", 1)])
def test_a_damaged_file_changes_no_answer_or_is_named_in_one_line(material, kind, count):
    chosen = (replace(drawn, kind=kind or drawn.kind) for drawn in readers.attacks(material, 30, SEED))
    tries = (readers.run_attack(material, attack, readers.undisturbed(material, [attack])) for attack in chosen)
    assert_all_end_well(list(islice(filter(None, tries), count)))


@pytest.mark.parametrize(
    ("calls", "count"),
    [(arguments.calls, 8), (partial(audits.calls, only="own"), 2), (protocols.calls, 4), (user_files.calls, 3)],
)
def test_every_fuzzed_call_ends_with_an_answer_or_one_line(material, calls, count):
    assert_all_end_well([fuzzing.run_attack(material, planned) for planned in calls(material, count, SEED)])


def test_a_training_that_was_killed_ends_with_the_same_bytes(material):
    planned = list(kills.murders(material, 1, SEED, "train"))
    undisturbed = kills.lives(material, {murder.victim for murder in planned})
    assert_all_end_well([kills.run_attack(material, murder, undisturbed) for murder in planned])


def test_an_interrupted_command_ends_as_interrupted_or_as_done(material):
    planned = list(interrupts.interrupts(2, SEED, "--version"))
    seconds = interrupts.lives(material, {interrupt.arguments for interrupt in planned})
    assert_all_end_well([interrupts.run_attack(material, interrupt, seconds) for interrupt in planned])


def test_no_answer_of_another_text_or_other_versions_is_shown():
    assert_all_end_well([stale.run_attack(planned) for planned in stale.attacks(3, SEED, "module")])


def test_two_commands_at_once_leave_what_one_after_the_other_leaves(material):
    assert_all_end_well([pairs.run_attack(material, pair) for pair in pairs.pairs(material, 1, SEED, "sweep")])
