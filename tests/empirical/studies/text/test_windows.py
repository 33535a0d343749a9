"""Corpus and windows: the same text everywhere, the same windows each time, and keys that can be recalled."""

import hashlib
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

from lengthgen.empirical.studies.text import corpus as corpus_module
from lengthgen.empirical.studies.text.corpus import (
    DIGITS,
    QUESTION,
    STATEMENT,
    CorpusError,
    corpus,
    ending_together,
    windows,
    with_keys,
)

TEXT = np.arange(200, dtype=np.uint8)


def test_the_corpus_is_the_installed_source_named_by_its_hash():
    text = corpus()
    assert text.name == f"sympy {sympy.__version__}"
    assert text.sha256 == hashlib.sha256(text.train.tobytes() + text.test.tobytes()).hexdigest()
    with open(sympy.__file__, "rb") as file:
        start = file.read()[:500]
    assert (start in text.train.tobytes()) != (start in text.test.tobytes())
    assert 8 < len(text.train) / len(text.test) < 40
    assert len(text.test) > 100_000


def test_without_sources_the_error_says_what_to_install(monkeypatch, tmp_path):
    corpus_module.corpus.cache_clear()
    package = SimpleNamespace(version="0", locate_file=lambda name: tmp_path / name)
    monkeypatch.setattr(corpus_module, "distribution", lambda name: package)
    with pytest.raises(CorpusError, match="pip install sympy"):
        corpus()


def test_windows_are_pieces_of_the_text_that_the_counter_determines():
    drawn = windows(TEXT, 50, 20, (3, 0, 7))
    assert drawn.shape == (50, 20)
    assert (np.diff(drawn.astype(int), axis=1) == 1).all()
    assert (drawn == windows(TEXT, 50, 20, (3, 0, 7))).all()
    assert (drawn != windows(TEXT, 50, 20, (3, 0, 8))).any()
    assert {0, 180} <= {int(row[0]) for row in windows(TEXT, 5_000, 20, (0,))}


def test_windows_of_all_lengths_end_together():
    long, short = ending_together(TEXT, 5, 100, 100), ending_together(TEXT, 5, 30, 100)
    assert (long[:, -30:] == short).all()
    assert [long[0, 0], long[-1, -1]] == [0, 199]


@pytest.mark.parametrize("length", [QUESTION + STATEMENT, QUESTION + STATEMENT + 1, 100])
def test_a_key_is_stated_once_and_asked_for_at_the_end(length):
    plain = np.full((300, length), ord("x"), dtype=np.uint8)
    before = plain.copy()
    keyed = with_keys(plain, (1, 2))
    assert (plain == before).all()
    starts = set()
    for row in keyed:
        text = row.tobytes()
        key = text[-DIGITS:]
        statement = b"\n# key " + key + b"\n"
        starts.add(text.index(statement))
        assert text.endswith(b"\n# key " + key) and key.isdigit()
        assert text.replace(statement, b"", 1).count(b"x") == length - QUESTION - STATEMENT
    assert starts == set(range(length - QUESTION - STATEMENT + 1))
    assert len({row.tobytes()[-DIGITS:] for row in keyed}) > 250


def test_a_window_too_short_for_a_key_stays_as_it_is():
    plain = np.zeros((2, QUESTION + STATEMENT - 1), dtype=np.uint8)
    assert with_keys(plain, (1,)) is plain
