"""Encodings of a user's own that are given by formulas, however these fail: one line and status 2."""

import pytest

from tests.lengthgen.refusal import refused

HEAD = """
import sys
import sympy as sp
from lengthgen.theory.encodings.encoding import Encoding, Law, Recovery

c = sp.Symbol("c", positive=True)


def raising(error):
    def fails(*_):
        raise error
    return fails


def of(value):
    return lambda *_: value


def encoding(**changes):
    return Encoding(**{"name": "mine", "title": "mine", "arxiv": "", "laws": (Law.RELATIVE,)} | changes)


class Sub(Encoding):
    @property
    def hooks(self):
        raise RuntimeError("no hooks")


class Recursive:
    @property
    def __class__(self):
        raise RuntimeError("no class")


def late(j, i, n, calls=[]):
    calls.append(j)
    return sys.exit(0) if len(calls) > 2 else -c * (j - i)
"""

MADE = {
    "exits at import": ("sys.exit(0)", "Python file 'mine.py' fails: SystemExit: 0"),
    "no Encoding": ("Recursive()", "'mine.py:mine' has no formulas: write them as an Encoding"),
    "subclass": ("Sub(name='mine', title='mine', arxiv='')", "'mine.py:mine' has no formulas: write them"),
    "name is a number": ("encoding(name=3)", "the name of an encoding is a text of 1 to 100 printable characters"),
    "name of control characters": (r"encoding(name='\x1b[2J')", "the name of an encoding is a text"),
    "title of 10^7 characters": ("encoding(title='x' * 10**7)", "the title of an encoding is a text"),
    "bias is a number": ("encoding(bias=3)", "'mine': its bias must be a function, not 3"),
    "bias exits": ("encoding(bias=raising(SystemExit(0)))", "'mine': its bias fails: SystemExit: 0"),
    "bias raises": ("encoding(bias=raising(IndexError(3)))", "'mine': its bias fails: IndexError: 3"),
    "bias reads a closed input": ("encoding(bias=raising(EOFError()))", "'mine': its bias fails: EOFError"),
    "bias exits later": ("encoding(bias=late)", "'mine': its bias fails: SystemExit: 0"),
    "bias of nothing": ("encoding(bias=of(None))", "'mine': its bias fails: "),
    "bias of text": ("encoding(bias=of('j - i'))", "'mine': its bias fails: "),
    "bias is a matrix": ("encoding(bias=of(sp.eye(2)))", "it must give a number or a formula, not a value of type"),
    "bias is no number": ("encoding(bias=of(sp.nan))", "it must give a number or a formula, not a value of type NaN"),
    "bias is a relation": ("encoding(bias=lambda j, i, n: j > i)", "it must give a number or a formula"),
    "positions exit": (
        "encoding(positions=raising(SystemExit()), bias=late)",
        "its positions fails: SystemExit",
    ),
    "embed exits": ("encoding(embed=raising(SystemExit(0)))", "'mine': its embed fails: SystemExit: 0"),
    "embed of another shape": ("encoding(embed=of(sp.eye(2)))", "it must give a sympy Matrix of 2 x 1"),
    "rotate exits": ("encoding(rotate=raising(SystemExit(0)))", "'mine': its rotate fails: SystemExit: 0"),
    "rotate of one": ("encoding(rotate=of(sp.eye(2)))", "'mine': its rotate fails: "),
    "rotate of another shape": ("encoding(rotate=of((sp.eye(3), sp.eye(3))))", "it must give a sympy Matrix of 2 x 2"),
    "vector exits": ("encoding(relative_key=raising(SystemExit(0)))", "'mine': its relative_key fails: SystemExit: 0"),
    "vector of another shape": ("encoding(relative_key=of(sp.eye(2)))", "it must give a sympy Matrix of 2 x 1"),
    "vector is a number": ("encoding(relative_key=3)", "'mine': its relative_key must be a function, not 3"),
    "laws of nothing known": ("encoding(bias=of(c), laws=('best',))", "the formulas of 'mine' fail: "),
    "laws are a number": ("encoding(bias=of(c), laws=3)", "the formulas of 'mine' fail: TypeError"),
    "special cases are a number": ("encoding(bias=of(c), recovers=3)", "the formulas of 'mine' fail: TypeError"),
    "special case of nothing": (
        "encoding(bias=of(c), recovers=(Recovery(of=None, assignment={}),))",
        "the formulas of 'mine' fail: ",
    ),
    "assignment is a number": (
        "encoding(bias=of(c), recovers=(Recovery(of='alibi', assignment=3),))",
        "the formulas of 'mine' fail: ",
    ),
    "normaliser of nothing known": (
        "encoding(bias=of(c), normaliser='hardmax')",
        "'mine': its normaliser must be softmax or sigmoid, not ",
    ),
    "normaliser is a number": ("encoding(bias=of(c), normaliser=3)", "its normaliser must be softmax or sigmoid"),
    "window of nothing": (
        "encoding(bias=of(c), window=0)",
        "'mine': its window fails: ValueError: it must be infinite",
    ),
    "window is a half": ("encoding(bias=of(c), window=sp.Rational(7, 2))", "its window fails: ValueError: it must be"),
    "window is text": ("encoding(bias=of(c), window='7')", "'mine': its window fails: "),
    "window has no class": ("encoding(bias=of(c), window=Recursive())", "'mine': its window fails: "),
    "parameters are a number": ("encoding(bias=of(c), parameters=3)", "the formulas of 'mine' fail: TypeError"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_hostile_formula_is_one_line(run, name, mine):
    code, says = MADE[name]
    mine(HEAD, f"mine = {code}")
    refused(run("verify", "mine.py:mine"), says)


def test_normaliser_and_window_of_a_file_are_shown_and_decide_its_laws(answer, mine):
    mine(HEAD, "mine = encoding(bias=lambda j, i, n: -c * i, normaliser='sigmoid', window=7, laws=())")
    (row,) = answer("encodings", "mine.py")["encodings"]
    assert (row["weights"], row["window"], row["translation"]) == ("sigmoid", "7 keys", False)
    mine(HEAD, "mine = encoding(bias=lambda j, i, n: -c * i, laws=())")
    (row,) = answer("encodings", "mine.py")["encodings"]
    assert (row["weights"], row["window"], row["translation"]) == ("softmax", "every key", True)


def test_a_row_of_the_matrix_that_cannot_be_computed_is_one_line(run, mine):
    mine(HEAD, "mine = encoding(bias=raising(SystemExit(0)))")
    assert refused(run("encodings", "mine.py")) == "error: 'mine': its bias fails: SystemExit: 0\n"
