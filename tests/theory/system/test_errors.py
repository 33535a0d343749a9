"""Hints for unknown names: the closest that are known, or what to look at instead."""

import time

import pytest

from theory.system.errors import nearest


@pytest.mark.parametrize(
    ("name", "names", "hint"),
    [
        ("partiy", ["copy", "parity"], "did you mean parity?"),
        ("cop", ["copy", "cope", "parity"], "did you mean copy or cope?"),
        ("xyz", ["copy", "parity"], "known are copy, parity"),
        ("", {"copy": 1}, "known are copy"),
    ],
)
def test_the_closest_names_or_all(name, names, hint):
    assert nearest(name, names) == hint
    assert nearest(name, iter(names)) == nearest(name, names)


def test_another_hint_stands_where_no_name_is_close():
    assert nearest("xyz", ["copy"], otherwise="see the list") == "see the list"
    assert nearest("cpy", ["copy"], otherwise="see the list") == "did you mean copy?"


def test_a_long_name_takes_no_time():
    start = time.process_time()
    nearest("ab" * 10**6, ["abab" * 20] * 100)
    assert time.process_time() - start < 5
