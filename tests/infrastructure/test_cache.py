"""An answer is computed once for a key, and again when the key, or the file, is not what it was."""

import errno
import os
from pathlib import Path

import pytest

from lengthgen.infrastructure import cache
from lengthgen.infrastructure.cache import Cached, UserCached, can_keep
from lengthgen.infrastructure.files import FullDisk, user_cache
from lengthgen.infrastructure.processes import pool
from lengthgen.infrastructure.shapes import TEXT, record

OF = record(of=lambda value, where: None)


def entry(folder, inputs=None, *, code="code", name="answer", kind=Cached):
    return kind(path=folder / f"{name}.json", code=code, inputs=inputs)


@pytest.fixture
def ask(tmp_path):
    calls = []

    def call(inputs, code="code"):
        entry(tmp_path, inputs, code=code).computed(lambda: calls.append(inputs) or {"of": inputs}, OF)
        return len(calls), entry(tmp_path, inputs, code=code).computed(lambda: pytest.fail("asked twice"), OF)

    return call


def test_an_answer_is_computed_once_for_a_key(ask):
    assert ask([1, "a"]) == (1, {"of": [1, "a"]})
    assert ask([1, "a"])[0] == 1
    assert ask([1, "b"]) == (2, {"of": [1, "b"]})
    assert ask([1, "b"], code="other") == (3, {"of": [1, "b"]})


def test_an_answer_of_another_python_or_library_does_not_count(ask, monkeypatch):
    """Every answer depends on them, whoever keeps it."""
    assert ask("key")[0] == 1
    for versions in ({"python": "3.99"}, {"python": "3.11", "sympy": "9"}):
        before = ask("key")[0]
        monkeypatch.setattr(cache, "versions", lambda versions=versions: versions)
        assert ask("key")[0] == before + 1


@pytest.mark.parametrize("content", ["", '{"key": "abc', "[]", '{"answer": 1}', "edited"])
def test_a_damaged_file_is_reported_and_made_again(ask, tmp_path, capsys, content):
    ask("key")
    path = tmp_path / "answer.json"
    path.write_text(path.read_text().replace('"of":"key"', '"of":"other"') if content == "edited" else content)
    assert ask("key") == (2, {"of": "key"})
    assert "answer.json was damaged and is made again" in capsys.readouterr().err


@pytest.mark.parametrize("answer", [None, [], "key", {}, {"Of": "key"}])
def test_an_answer_of_another_shape_is_made_again_though_it_is_sealed(ask, tmp_path, capsys, answer):
    ask("key")
    entry(tmp_path, "key").keep(answer)
    assert ask("key") == (2, {"of": "key"})
    assert "answer.json was damaged and is made again" in capsys.readouterr().err


def test_an_answer_is_returned_even_if_another_process_replaces_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "write_sealed_json", lambda path, content: path.write_text("{}"))
    assert entry(tmp_path).computed(lambda: {1: (2,)}, record()) == {"1": [2]}


def test_the_answer_of_another_file_is_not_believed_in_its_place(tmp_path):
    parity, copy = (entry(tmp_path, name=name) for name in ("parity", "copy"))
    assert [parity.computed(lambda: "parity", TEXT), copy.computed(lambda: "copy", TEXT)] == ["parity", "copy"]
    copy.path.write_bytes(parity.path.read_bytes())
    assert copy.computed(lambda: "copy", TEXT) == "copy"


def fail_with(error):
    def fail(*_):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (FullDisk("no space is left to write it"), "no space is left"),
        (OSError(errno.EROFS, "Read-only file system", "answer.json"), "Read-only file system"),
    ],
)
def test_a_cache_that_cannot_be_written_costs_no_answer_and_one_line(tmp_path, monkeypatch, capsys, error, why):
    monkeypatch.setattr(cache, "_tell_once", cache._tell_once.__wrapped__)
    monkeypatch.setattr(cache, "write_sealed_json", fail_with(error))
    assert entry(tmp_path, kind=UserCached).computed(lambda: "answer", TEXT) == "answer"
    message = capsys.readouterr().err
    assert f"for the next time ({why}): set XDG_CACHE_HOME" in message and message.count("\n") == 1
    with pytest.raises(type(error)):  # a result that the user asked for
        entry(tmp_path).computed(lambda: "answer", TEXT)


@pytest.fixture
def untold():
    """A process that has said nothing yet, and of which nothing counts as said afterwards."""
    cache._tell_once.cache_clear()
    yield
    cache._tell_once.cache_clear()


def test_a_cache_that_cannot_be_read_or_made_costs_no_answer_and_one_line(tmp_path, capsys, untold):
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "cache"
    assert not can_keep(below) and can_keep(tmp_path / "new")
    for name in ("one", "two"):
        assert entry(below, name=name, kind=UserCached).computed(lambda: "answer", TEXT) == "answer"
    assert capsys.readouterr().err.count("\n") == 1


def test_of_several_processes_the_first_alone_says_that_nothing_is_kept(monkeypatch, capsys, untold):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    with pool(1):
        assert capsys.readouterr().err.count("set XDG_CACHE_HOME") == 1
    cache._tell_once.cache_clear()
    monkeypatch.setattr(cache, "parent_process", object)  # as in a worker
    assert not can_keep(user_cache("kind")) and capsys.readouterr().err == ""


def test_a_user_without_a_home_gets_answers(monkeypatch, capsys, untold):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", fail_with(RuntimeError("Could not determine home directory.")))
    assert entry(user_cache("kind"), kind=UserCached).computed(lambda: "answer", TEXT) == "answer"
    assert "set XDG_CACHE_HOME" in capsys.readouterr().err
