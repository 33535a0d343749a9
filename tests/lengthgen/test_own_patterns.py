"""Patterns of a user's own, in arrays and in code, however they fail: one line and status 2."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest

from tests.lengthgen.refusal import refused

SCALES = ("--scales", "2,4")
HEAD = """
import sys
from fractions import Fraction
import numpy as np
import sympy as sp
from lengthgen.theory.pattern import Pattern, from_relation
from lengthgen.theory.relation import Relation, from_function, from_labels


def raising(error):
    def fails(*_):
        raise error
    return fails


def of(value):
    return lambda i, j: value


class Nasty:
    def tolist(self):
        raise RuntimeError("no list")
    is_real = free_symbols = property(tolist)


class Matrix:
    def tolist(self):
        return self


def deep(i, j):
    return deep(i, j)


def relation(law):
    return Relation(name="mine", law=law)


def pattern(entries):
    return Pattern(name="mine", entries=entries)
"""

MADE = {
    "exits": ("lambda i, j: sys.exit(0)", "'mine.py:mine' at i=1, j=1 fails: SystemExit: 0"),
    "exits later": ("lambda i, j: sys.exit(0) if j == 3 else 1", "'mine.py:mine' at i=1, j=3 fails: SystemExit: 0"),
    "reads a closed input": ("lambda i, j: raising(EOFError())()", "at i=1, j=1 fails: EOFError"),
    "recurs": ("deep", "at i=1, j=1 fails: RecursionError"),
    "divides by zero": ("lambda i, j: 1 // (j - 3)", "at i=1, j=3 fails: ZeroDivisionError"),
    "gives nothing": ("of(None)", "must hold real numbers, not NoneType"),
    "gives text": ("of('1')", "must hold real numbers, not str"),
    "gives a NaN": ("of(float('nan'))", "is a NaN"),
    "gives complex numbers": ("of(1j)", "must hold real numbers, not complex"),
    "gives sympy's I": ("of(sp.I)", "which is not real"),
    "gives sympy's zoo": ("of(sp.zoo)", "which is not real"),
    "gives an odd object": ("of(Nasty())", "fails: RuntimeError: no list"),
    "gives an odd matrix": ("of(Matrix())", "must hold real numbers, not Matrix"),
    "gives ragged rows": ("of([[1], [1, 2]])", "is not a matrix: write its rows as lists of equal length"),
    "gives empty rows": ("of([[]])", "is not a matrix"),
    "gives other shapes": ("lambda i, j: [[j]] if j > 2 else j", "has entries of shape () at the first pair"),
    "gives arrays of objects": ("of(np.array([[None]], dtype=object))", "must hold real numbers, not NoneType"),
    "takes one": ("lambda i: 1", "is no pattern"),
    "takes what is not known": ("type('Odd', (), {'__call__': 3})()", "does not show its parameters"),
    "hides what it takes": ("max", "does not show its parameters; wrap it in a function: ValueError"),
    "is nothing": ("None", "is no pattern"),
    "is text": ("'i + j'", "is no pattern"),
    "is a ragged list": ("[[1, 2], [3]]", "a pattern must be a square matrix, not of shape (2,)"),
    "is a list of lists of lists": ("[[[1]]]", "a pattern must be a square matrix"),
    "is an array of text": ("np.array([['1']])", "a pattern must hold real numbers, not <U1"),
    "is a structured array": ("np.zeros((2, 2), dtype='i4,i4')", "a pattern must hold real numbers"),
    "is an array of times": ("np.zeros((2, 2), dtype='M8[s]')", "a pattern must hold real numbers"),
    "is an array of infinite size": ("np.broadcast_to(np.int8(0), (10**6, 10**6))", "at most 65,536 positions"),
    "is an array without entries": ("np.zeros((0, 0))", "a pattern must be a square matrix"),
    "relation exits": ("relation(lambda k, q, n: sys.exit(0))", "the law of relation 'mine' fails for "),
    "relation raises": ("relation(raising(IndexError(3)))", "pairs: IndexError: 3"),
    "relation is None": ("relation(lambda k, q, n: None)", "its law must return one integer per pair"),
    "relation is ragged": ("relation(lambda k, q, n: [[1], [1, 2]])", "fails for 10 pairs: ValueError"),
    "relation of floats": ("relation(lambda k, q, n: k * 1.0)", "its law must return one integer per pair"),
    "relation of NaN": ("relation(lambda k, q, n: k * np.nan)", "its law must return one integer per pair"),
    "relation of another shape": ("relation(lambda k, q, n: k[:, None])", "its law must return one integer per pair"),
    "relation of negative labels": ("relation(lambda k, q, n: -k)", "has no label for key 1, query 1"),
    "relation of large labels": (
        "relation(lambda k, q, n: k.astype(np.uint64))",
        "its law must return one integer per pair",
    ),
    "relation without a law": ("relation(None)", "the law of relation 'mine' must be a function, not None"),
    "relation without a name": ("Relation(name=None, law=of(1))", "the name of a relation is a text"),
    "relation with an ugly name": (r"Relation(name='\x1b[2J', law=of(1))", "the name of a relation is a text"),
    "labels exit": ("from_function(lambda i, j: sys.exit(0), name='mine')", "the law of relation 'mine' fails"),
    "labels are huge": ("from_function(lambda i, j: 10**5000, name='mine')", "not an integer below 2**63"),
    "labels are very negative": (
        "from_function(lambda i, j: -10**30, name='mine')",
        "fails for 10 pairs: OverflowError",
    ),
    "entries exit": ("pattern(lambda *_: sys.exit(0))", "the entries of 'mine.py:mine' fail: SystemExit: 0"),
    "entries are None": ("pattern(lambda *_: None)", "the entries of 'mine.py:mine' fail: TypeError"),
    "entries out of range": ("pattern(lambda k, *_: ([1], k))", "must be values and, for each pair, the index"),
    "exits at import": ("sys.exit(0)", "pattern file 'mine.py' fails: SystemExit: 0"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_hostile_pattern_is_one_line(run, name, mine):
    code, says = MADE[name]
    mine(HEAD, f"mine = {code}")
    refused(run("lrc", "mine.py:mine", *SCALES), says)


@pytest.mark.parametrize(("exponent", "most"), [(1200, True), (5000, False)])
def test_numbers_may_have_as_many_bits_as_those_of_formulas(run, mine, exponent, most):
    mine(HEAD, f"mine = lambda i, j: 10**{exponent} + i")
    for options in ((), ("--json",), ("--explain",)):
        status, _, err = run("lrc", "mine.py:mine", *SCALES, *options)
        says = "" if most else "error: 'mine.py:mine' at i=1, j=1 holds a number of more than 4096 bits\n"
        assert (status, err) == (0 if most else 2, says)


def saved(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def claiming(shape, dtype="<f8"):
    """Header of an array of this shape, without its entries."""
    buffer = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue()


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("a.npy", saved(np.eye(3)))
    return buffer.getvalue()


ARRAYS = {
    "empty": (b"", "cannot be read: EOFError"),
    "one byte": (b"\x93", "cannot be read: "),
    "no header": (b"\x93NUMPY\x01\x00", "cannot be read: "),
    "half a header": (saved(np.eye(3))[:40], "cannot be read: "),
    "a header that is no Python": (b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16, "cannot be read: "),
    "a header that calls": (b"\x93NUMPY\x01\x00\x10\x00" + b"exit(0)".ljust(16), "cannot be read: "),
    "a header of 4 GB": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", "cannot be read: "),
    "version 9": (b"\x93NUMPY\x09\x00" + bytes(100), "cannot be read: "),
    "half the entries": (saved(np.eye(30))[:-100], "cannot be read: "),
    "10^12 entries that are not there": (claiming((10**6, 10**6)), "cannot be read: "),
    "10^40 entries that are not there": (claiming((10**20, 10**20)), "cannot be read: "),
    "a negative shape": (claiming((-1, -1)) + bytes(100), ""),
    "objects": (saved(np.array([[None]], dtype=object), allow_pickle=True), "cannot be read: "),
    "a pickle": (pickle.dumps([1, 2]), "cannot be read: "),
    "an archive": (zipped(), "holds several arrays"),
    "text": (b"1 2 3", "cannot be read: "),
    "structured": (saved(np.zeros((3, 3), dtype="i4,i4")), "must hold real numbers"),
    "complex": (saved(np.eye(3) * 1j), "must hold real numbers, not complex128"),
    "strings": (saved(np.full((3, 3), "x")), "must hold real numbers, not <U1"),
    "times": (saved(np.zeros((3, 3), dtype="m8[s]")), "must hold real numbers"),
    "without dimensions": (saved(np.array(3.0)), "must be a square matrix, not of shape ()"),
    "of one dimension": (saved(np.ones(3)), "must be a square matrix, not of shape (3,)"),
    "of three dimensions": (saved(np.ones((3, 3, 3))), "must be a square matrix, not of shape (3, 3, 3)"),
    "without entries": (saved(np.ones((0, 0))), "must be a square matrix"),
    "of two rows of three": (saved(np.ones((2, 3))), "must be a square matrix, not of shape (2, 3)"),
    "a NaN": (saved(np.array([[1, np.nan], [0, 1]])), "holds a NaN at i=1, j=2"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_hostile_array_is_one_line(run, name, tmp_path):
    content, says = ARRAYS[name]
    (tmp_path / "a.npy").write_bytes(content)
    refused(run("lrc", str(tmp_path / "a.npy"), *SCALES), says)


def test_an_array_that_is_too_large_is_not_read(run, tmp_path):
    with (tmp_path / "a.npy").open("wb") as file:
        file.write(claiming((10**6, 10**6)))
        file.truncate(10**12 * 8 + 128)
    refused(run("lrc", str(tmp_path / "a.npy"), *SCALES), "at most 65,536 positions")


def test_a_path_that_is_no_array_file_is_not_opened(run, tmp_path):
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "device.npy").symlink_to("/dev/zero")
    (tmp_path / "folder.npy").mkdir()
    for name in ("pipe.npy", "device.npy", "folder.npy"):
        refused(run("lrc", str(tmp_path / name), *SCALES), f"{name}' is no regular file: name another array file")
