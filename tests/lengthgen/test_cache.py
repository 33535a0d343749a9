"""An answer is computed once for a key, and again when the key, or the file, is not what it was."""

import pytest

from lengthgen.cache import cached


@pytest.fixture
def ask(tmp_path):
    calls = []

    def call(key):
        cached(tmp_path / "answer.json", key, lambda: calls.append(key) or {"of": key})
        return len(calls), cached(tmp_path / "answer.json", key, lambda: pytest.fail("asked twice"))

    return call


def test_an_answer_is_computed_once_for_a_key(ask):
    assert ask([1, "a"]) == (1, {"of": [1, "a"]})
    assert ask([1, "a"])[0] == 1
    assert ask([1, "b"]) == (2, {"of": [1, "b"]})


@pytest.mark.parametrize("content", ["", '{"key": "abc', "[]", '{"answer": 1}'])
def test_a_damaged_file_is_made_again_and_it_is_said(ask, tmp_path, capsys, content):
    ask("key")
    (tmp_path / "answer.json").write_text(content)
    assert ask("key") == (2, {"of": "key"})
    assert "answer.json was damaged and is made again" in capsys.readouterr().err
