"""An answer is computed once for a key, and again when the key, or the file, is not what it was."""

import pytest

from theory.system.cache import cached, keep
from theory.system.shapes import TEXT, record

OF_KEY = record(of=lambda value, where: None)


@pytest.fixture
def ask(tmp_path):
    calls = []

    def call(key):
        cached(tmp_path / "answer.json", key, lambda: calls.append(key) or {"of": key}, shape=OF_KEY)
        return len(calls), cached(tmp_path / "answer.json", key, lambda: pytest.fail("asked twice"), shape=OF_KEY)

    return call


def test_an_answer_is_computed_once_for_a_key(ask):
    assert ask([1, "a"]) == (1, {"of": [1, "a"]})
    assert ask([1, "a"])[0] == 1
    assert ask([1, "b"]) == (2, {"of": [1, "b"]})


@pytest.mark.parametrize("content", ["", '{"key": "abc', "[]", '{"answer": 1}'])
def test_a_damaged_file_is_reported_and_made_again(ask, tmp_path, capsys, content):
    ask("key")
    (tmp_path / "answer.json").write_text(content)
    assert ask("key") == (2, {"of": "key"})
    assert "answer.json was damaged and is made again" in capsys.readouterr().err


def test_an_edited_answer_is_not_believed(ask, tmp_path, capsys):
    ask("key")
    path = tmp_path / "answer.json"
    path.write_text(path.read_text().replace('"of": "key"', '"of": "other"'))
    assert ask("key") == (2, {"of": "key"})
    assert "answer.json was damaged and is made again" in capsys.readouterr().err


@pytest.mark.parametrize("answer", [None, [], "key", {}, {"Of": "key"}])
def test_an_answer_of_another_shape_is_made_again_though_it_is_sealed(ask, tmp_path, capsys, answer):
    ask("key")
    keep(tmp_path / "answer.json", "key", answer)
    assert ask("key") == (2, {"of": "key"})
    assert "answer.json was damaged and is made again" in capsys.readouterr().err


def test_an_answer_is_returned_even_if_another_process_replaces_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("theory.system.cache.keep", lambda path, key, answer: keep(path, "another key", None))
    assert cached(tmp_path / "answer.json", "key", lambda: {1: (2,)}, shape=record()) == {"1": [2]}


def test_the_answer_of_another_file_is_not_believed_in_its_place(tmp_path):
    parity, copy = tmp_path / "parity.json", tmp_path / "copy.json"
    assert [cached(parity, 1, lambda: "parity", shape=TEXT), cached(copy, 1, lambda: "copy", shape=TEXT)] == [
        "parity",
        "copy",
    ]
    copy.write_bytes(parity.read_bytes())
    assert cached(copy, 1, lambda: "copy", shape=TEXT) == "copy"
