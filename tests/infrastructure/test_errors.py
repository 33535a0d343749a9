"""Hints for unknown names: the closest that are known, or what to look at instead."""

import time

import pytest

from lengthgen.infrastructure.errors import in_any_case, nearest, writable


@pytest.mark.parametrize(
    ("name", "names", "hint"),
    [
        ("partiy", ["copy", "parity"], "did you mean parity?"),
        ("cop", ["copy", "cope", "parity"], "did you mean copy or cope?"),
        ("PARITY-2", ["copy", "Parity"], "did you mean Parity?"),
        ("cop", ["cope", "copy", "cops", "coop", "cup"], "did you mean copy, cops or cope?"),
        ("xyz", ["copy", "parity", "Copy"], "choose copy, parity or Copy"),
        ("", {"copy": 1}, "choose copy"),
        ("zzz", [f"name-{number}" for number in range(50)], "there are 50, such as name-9, name-8, name-7"),
    ],
)
def test_at_most_three_names_unless_there_are_few(name, names, hint):
    assert nearest(name, names) == hint
    assert nearest(name, iter(names)) == nearest(name, names)


def test_the_place_of_the_list_is_named_where_no_name_is_close():
    assert nearest("xyz", ["copy"], listed="`tasks` lists all") == "choose copy; `tasks` lists all"
    assert nearest("cpy", ["copy"], listed="`tasks` lists all") == "did you mean copy?"


def test_a_name_in_another_case_is_the_registered_one():
    assert in_any_case("PARITY", ["copy", "parity"]) == "parity"
    assert in_any_case("Copy", ["copy", "Copy"]) == "Copy"
    assert in_any_case("cpy", ["copy"]) == "cpy"


def test_text_for_files_has_no_control_character_and_no_lone_surrogate():
    kept = "a\tb\r\nc\u200b \xa0\x85 é \ud7ff\ue000\ufffd \U0001f4a5"
    assert writable(kept) == kept
    assert writable("\x00\x1b[2J\x7f\x9f\ud800\udcff\uffff") == r"\x00\x1b[2J\x7f\x9f\ud800\udcff\uffff"


def test_a_long_name_takes_no_time():
    start = time.process_time()
    nearest("ab" * 10**6, ["abab" * 20] * 100)
    assert time.process_time() - start < 5
