"""Formulas have the value that arithmetic gives them; anything else is one clear line, at once, and runs nothing."""

import ast
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, gcd
from pathlib import Path
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthgen.theory.formula import FormulaError, blocks, exact, parse, syntax
from lengthgen.theory.formula.syntax import Node
from lengthgen.theory.lrc import profile
from lengthgen.theory.pattern import from_formula
from tests.oracles import formulas as oracle
from tests.oracles.texts import any_text
from tests.timing import at_once

Law = Callable[[Fraction, Fraction], Fraction | int]
SIZE = 5

VALID: list[tuple[str, Law]] = [
    ("1", lambda i, j: 1),
    ("i", lambda i, j: i),
    ("  j - i ", lambda i, j: j - i),
    ("0.5**(j-i)", lambda i, j: Fraction(1, 2) ** int(j - i)),
    ("0.1 + 0.2 == 0.3", lambda i, j: 1),
    ("1/3 + 1/3 + 1/3", lambda i, j: 1),
    ("i/j", lambda i, j: i / j),
    ("-i**2", lambda i, j: -(i**2)),
    ("2**-1", lambda i, j: Fraction(1, 2)),
    ("2**3**2", lambda i, j: 512),
    ("2 - 3 - 4", lambda i, j: -5),
    ("1 + 2 * 3", lambda i, j: 7),
    ("8 / 4 / 2", lambda i, j: 1),
    ("0**0", lambda i, j: 1),
    ("(-1)**i", lambda i, j: -1 if i % 2 else 1),
    ("(-1)**(10**9 + 1)", lambda i, j: -1),
    ("-7 // 2", lambda i, j: -4),
    ("-7 % 3", lambda i, j: 2),
    ("i % 0.3", lambda i, j: i % Fraction(3, 10)),
    ("j - i < 2", lambda i, j: int(j - i < 2)),
    ("1 < i <= 3", lambda i, j: int(1 < i <= 3)),
    ("3 > j > i >= 1", lambda i, j: int(3 > j > i)),
    ("i != j", lambda i, j: int(i != j)),
    ("2 < 1 < 1/0", lambda i, j: 0),
    ("i and 5", lambda i, j: 1),
    ("0 or i - j", lambda i, j: int(i != j)),
    ("i == j or 1 / (i - j)", lambda i, j: 1),
    ("i != j and 1 / (i - j)", lambda i, j: int(i != j)),
    ("not i == j", lambda i, j: int(i != j)),
    ("1 if j - i < 3 else 0", lambda i, j: int(j - i < 3)),
    ("1 if i == j else 1/(i-j)", lambda i, j: 1 if i == j else 1 / (i - j)),
    ("1 if i == 1 else 2 if i == 2 else 3", lambda i, j: min(i, 3)),
    ("min(j - i, 2)", lambda i, j: min(j - i, 2)),
    ("max(i, j, 3)", lambda i, j: max(j, 3)),
    ("abs(i - j)", lambda i, j: j - i),
    ("floor(j / 2) + floor(-i / 2)", lambda i, j: floor(j / 2) + floor(-i / 2)),
    ("gcd(i, j)", lambda i, j: gcd(int(i), int(j))),
    ("gcd(6/2, 9)", lambda i, j: 3),
    ("1e3 + 1_000 + .5 + 2. + 0x10 + 1e-2", lambda i, j: Fraction("2018.51")),
    ("1e400 / 1e399", lambda i, j: 10),
    ("(i\n + 0.25)", lambda i, j: i + Fraction(1, 4)),
    ("(1\r\n+ i\r+ 0.5)", lambda i, j: i + Fraction(3, 2)),
    ("i +\x0c0.5", lambda i, j: i + Fraction(1, 2)),
    ("i # the key", lambda i, j: i),
    ("+".join(["i"] * 90), lambda i, j: 90 * i),
    ("ceil(i / 2) - ceil(-j / 2)", lambda i, j: ceil(i / 2) - ceil(-j / 2)),
    ("sqrt(4) + sqrt(i**2) + sqrt(9/4)", lambda i, j: i + Fraction(7, 2)),
    ("8**(1/3) + (i**4)**0.25 + 4**-0.5", lambda i, j: i + Fraction(5, 2)),
    ("sqrt(2)**2 + sqrt(3) * sqrt(12)", lambda i, j: 8),
    ("sqrt(0) + 0**0.5", lambda i, j: 0),
    ("exp(0) + log(1) + sin(0) + cos(0)", lambda i, j: 2),
    ("sin(pi * i) + cos(pi * j) + sin(pi / 6)", lambda i, j: Fraction(1, 2) + (-1 if j % 2 else 1)),
    ("log(exp(i)) + exp(log(j))", lambda i, j: i + j),
    ("floor(pi) + ceil(pi) + floor(-pi)", lambda i, j: 3),
    ("floor(exp(100)) % 1000", lambda i, j: 118),
    ("floor(sqrt(10**80 + 1)) - 10**40", lambda i, j: 0),
    ("floor((sqrt(2) + 1) * (sqrt(2) - 1))", lambda i, j: 1),
    ("ceil(sqrt(5 + 2*sqrt(6)) - sqrt(2) - sqrt(3))", lambda i, j: 0),
    ("7 // pi + (i * pi) // pi", lambda i, j: 2 + i),
    ("(i * pi) % pi", lambda i, j: 0),
    ("abs(2 - pi) < 2", lambda i, j: 1),
    ("3 < pi < 22/7 and not pi == 3.14159", lambda i, j: 1),
    ("sqrt(2) + sqrt(3) == sqrt(5 + 2*sqrt(6))", lambda i, j: 1),
    ("max(sqrt(2), 1.5) + min(pi, exp(1), 3) - exp(1)", lambda i, j: Fraction(3, 2)),
    ("1 if sqrt(i) else 0", lambda i, j: 1),
    ("not sqrt(i)", lambda i, j: 0),
    ("gcd(sqrt(36), 4)", lambda i, j: 2),
    ("pi - pi", lambda i, j: 0),
    ("+i", lambda i, j: i),
]


@pytest.mark.parametrize(("text", "law"), VALID, ids=[text[:30] for text, _ in VALID])
def test_a_formula_has_the_value_of_its_law_exactly(text: str, law: Law) -> None:
    matrix = from_formula(text).matrix(SIZE)
    for j in range(1, SIZE + 1):
        for i in range(1, SIZE + 1):
            expected = law(Fraction(i), Fraction(j)) if i <= j else 0
            entry = matrix[i - 1, j - 1]
            assert entry == expected
            assert type(entry) is (int if Fraction(expected).denominator == 1 else Fraction)


HOSTILE = {
    "attribute": ("i.__class__", "attribute access"),
    "attribute of a call": ("min(i, j).real", "attribute access"),
    "call of an attribute": ("i.bit_length()", "its own functions"),
    "import": ("__import__('os').system('true')", "its own functions"),
    "builtin": ("open('x')", "unknown function 'open'"),
    "eval": ("eval('i')", "unknown function 'eval'"),
    "call of a name": ("i(j)", "unknown function 'i'"),
    "function as a value": ("min", "unknown name 'min'"),
    "subscript": ("i[0]", "an index"),
    "unknown name": ("k - i", "unknown name 'k': a formula knows i .key., j .query., n .scale., pi"),
    "greek": ("α * i", "unknown name 'α'"),
    "superscript": ("i²", "invalid character"),
    "minus sign": ("i − j", "invalid character"),
    "zero width": ("i\u200b+ j", "invalid non-printable"),
    "byte order mark": ("\ufeffi", "invalid non-printable"),
    "surrogate": ("\ud800", "not a formula"),
    "null byte": ("i\x00", "not a formula"),
    "walrus": ("(k := 3)", "NamedExpr"),
    "f-string": ("f'{i}'", "JoinedStr"),
    "string": ("'i'", "constant 'i'"),
    "bytes": ("b'i'", "constant b'i'"),
    "bad escape": (r"'\d'", "formula"),
    "boolean": ("True", "constant True"),
    "none": ("None", "constant None"),
    "ellipsis": ("...", "constant Ellipsis"),
    "complex": ("1j", "constant 1j"),
    "lambda": ("lambda: 1", "a lambda"),
    "comprehension": ("[i for i in j]", "ListComp"),
    "generator": ("max(k for k in i)", "max takes"),
    "generators": ("max((k for k in i), 1)", "GeneratorExp"),
    "tuple": ("i, j", "Tuple"),
    "set": ("{i}", "Set"),
    "star": ("min(*i, j)", "Starred"),
    "yield": ("(yield)", "Yield"),
    "await": ("await i", "Await"),
    "bits": ("i << 3", "BinOp"),
    "inversion": ("~i", "UnaryOp"),
    "matrix product": ("i @ j", "BinOp"),
    "caret": ("i ^ 2", r"write a power as \*\*"),
    "membership": ("i in j", "Compare"),
    "identity": ("i is j", "Compare"),
    "statement": ("import os", "not a formula"),
    "assignment": ("i = 1", "not a formula"),
    "two": ("i; j", "not a formula"),
    "two lines": ("i\nj", "not a formula"),
    "empty": ("", "not a formula"),
    "blank": (" \n\t", "not a formula"),
    "comment": ("# i", "not a formula"),
    "open": ("(i", "not a formula"),
    "no else": ("i if j", "not a formula"),
    "leading zero": ("01", "not a formula"),
    "too few arguments": ("min(i)", "min takes 2 to 20 arguments, not 1"),
    "too many arguments": ("abs(i, j)", "abs takes 1"),
    "21 arguments": (f"max({','.join('i' * 21)})", "not 21"),
    "10 MB": ("i" * 10_000_000, "10,000,000 characters"),
    "long name": ("k" * 1_999, "unknown name"),
    "nested parentheses": ("(" * 900 + "i" + ")" * 900, "not a formula"),
    "nested minus": ("-" * 1_900 + "i", "formula"),
    "nested not": ("not " * 400 + "i", "nested more than"),
    "nested powers": ("i**" * 400 + "i", "nested more than"),
    "nested choices": ("i if i else " * 150 + "i", "nested more than"),
    "nested calls": ("abs(" * 150 + "i" + ")" * 150, "nested more than"),
    "huge decimal": ("9" * 1_999, "4096 bits"),
    "huge hexadecimal": ("0x" + "f" * 1_900, "4096 bits"),
    "huge exponent": ("1e999999999", "4096 bits"),
    "tiny exponent": ("1e-999999999", "4096 bits"),
    "exponent of 1,900 digits": ("1e" + "9" * 1_900, "4096 bits"),
    "tower": ("10**10**9", "exponent 1000000000 .* at i=1, j=1"),
    "tower of nines": ("10**9**9", "exponent 387420489 .* at i=1, j=1"),
    "negative tower": ("10**-(10**9)", "exponent -1000000000 .* at i=1, j=1"),
    "fraction tower": ("(1/3)**10**9", "at i=1, j=1"),
    "products": ("*".join(["1e400"] * 20), "4096 bits comes up at i=1, j=1"),
    "root of a negative number": ("sqrt(i - 3)", r"\(-2\)\*\*\(1/2\) is not real at i=1, j=1"),
    "root of a negative number later": ("sqrt(2 - j)", r"\(-1\)\*\*\(1/2\) is not real at i=1, j=3"),
    "power of a negative number": ("(-2)**0.5", r"\(-2\)\*\*\(1/2\) is not real at i=1, j=1"),
    "cube root of a negative number": ("(-8)**(1/3)", r"is not real at i=1, j=1"),
    "irrational power of a negative number": ("(-2)**pi", r"\(-2\)\*\*\(pi\) is not real"),
    "root of a negative irrational": ("sqrt(1 - sqrt(j))", "is not real at i=1, j=2"),
    "log of zero": ("log(i - 1)", r"log\(0\) comes up, which is not a number at i=1, j=1"),
    "log of nothing in disguise": ("log(sqrt(2) + sqrt(3) - sqrt(5 + 2*sqrt(6)))", r"log\(0\) comes up"),
    "log of a negative number": ("log(3 - 2*j)", r"log\(-1\) is not real at i=1, j=2"),
    "zero to a negative irrational power": ("0**-pi", "division by zero at i=1, j=1"),
    "zero to a negative half": ("0**-0.5", "division by zero at i=1, j=1"),
    "division by an irrational zero": ("1 / (sqrt(2)*sqrt(8) - 4)", "division by zero at i=1, j=1"),
    "division by zero behind an identity": ("1 / (sqrt(pi**2 + 2*pi + 1) - pi - 1)", "division by zero at i=1, j=1"),
    "division by a hidden zero": ("1 / (sqrt(5 + 2*sqrt(6)) - sqrt(2) - sqrt(3))", "division by zero at i=1, j=1"),
    "remainder of an irrational zero": ("1 % sin(pi * i)", "division by zero at i=1, j=1"),
    "undecided floor": (
        "floor(log(3 + 2*sqrt(2)) - 2*log(1 + sqrt(2)))",
        "floor of .* cannot be decided at i=1, j=1",
    ),
    "undecided sign": ("log(3 + 2*sqrt(2)) < 2*log(1 + sqrt(2))", "sign of .* cannot be decided at i=1, j=1"),
    "undecided zero": ("1 / (log(3 + 2*sqrt(2)) - 2*log(1 + sqrt(2)))", "is zero cannot be decided at i=1, j=1"),
    "tower of exponentials": ("exp(exp(exp(exp(i))))", "4096 bits comes up at i=1, j=1"),
    "negative tower of exponentials": ("exp(-exp(exp(exp(i))))", "4096 bits comes up at i=1, j=1"),
    "tower of irrationals": ("pi**pi**pi**pi**pi", "4096 bits comes up at i=1, j=1"),
    "tower with a root on top": ("2**2**2**2**2**2**0.5", "4096 bits comes up at i=1, j=1"),
    "powers of powers": ("((i + pi)**4000)**4000", "4096 bits comes up at i=1, j=1"),
    "tiny powers of powers": ("((pi - 3)**4000)**4000", "4096 bits comes up at i=1, j=1"),
    "tower under a root": ("sqrt(10**10**9)", "exponent 1000000000 .* at i=1, j=1"),
    "tower of roots": ("sqrt(2)**10**9", "exponent 1000000000 is too large at i=1, j=1"),
    "root of a large number": (
        "sqrt(10**1000 + 1)",
        "root of a number of 3322 bits comes up; at most 512 bits are allowed at i=1",
    ),
    "root of a large product": ("sqrt(2**500 + i) * sqrt(2**500 + j + 5)", "root of a number of [0-9]+ bits"),
    "product of roots": ("*".join(["sqrt(1e100 + 1)", "sqrt(1e100 + 3)", "sqrt(1e100 + 7)"] * 30), "bits comes up"),
    "nested functions": ("sin(" * 50 + "i" + ")" * 50, "are nested more than 20 deep"),
    "nested roots": ("sqrt(" * 21 + "i" + ")" * 21, "are nested more than 20 deep"),
    "gcd of irrationals": ("gcd(pi, 2)", "gcd takes whole numbers, not pi and 2"),
    "infinity by name": ("inf", "unknown name 'inf'"),
    "decimal beyond floats": ("1e999999", "4096 bits"),
    "sympy by name": ("Symbol", "unknown name 'Symbol'"),
    "sympy's imaginary unit": ("I * i", "unknown name 'I'"),
    "not a number": ("nan", "unknown name 'nan'"),
    "a row": ("[1, 2]", r"a matrix is written \[\[a, b\], \[c, d\]\]"),
    "no rows": ("[]", "a matrix is written"),
    "an empty row": ("[[]]", "a matrix is written"),
    "ragged rows": ("[[1, 2], [3]]", "its rows equally long"),
    "a row and a number": ("[[1], 2]", "a matrix is written"),
    "a matrix within": ("1 + [[1, 2], [3, 4]]", "can only be the whole formula"),
    "a matrix of matrices": ("[[ [[1]] ]]", "can only be the whole formula"),
    "17 rows": (f"[{','.join(['[1]'] * 17)}]", "of at most 16 each"),
    "17 columns": (f"[[{','.join('1' * 17)}]]", "of at most 16 each"),
    "a starred row": ("[*[[1]]]", "a matrix is written"),
    "an error within": ("[[1, 1/(j - 2)]]", "division by zero at i=1, j=2"),
    "division by zero at a scale": ("1 / (n - 3)", "division by zero at i=1, j=1, n=3"),
    "gcd of a fraction": ("gcd(i/2, 3)", "gcd takes whole numbers, not 1/2 and 3 at i=1, j=1"),
    "division by zero": ("1 / (j - i - 1)", "division by zero at i=1, j=2"),
    "floor division by zero": ("1 // (i - 2)", "division by zero at i=2, j=2"),
    "remainder of zero": ("1 % (j - 3)", "division by zero at i=1, j=3"),
    "zero to a negative power": ("0**-i", "division by zero at i=1, j=1"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_text_that_is_no_formula_is_refused_in_one_line_and_at_once(name: str) -> None:
    text, says = HOSTILE[name]
    with at_once(), pytest.raises(FormulaError, match=says) as caught:
        from_formula(text).matrix(3)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 2_500


def test_nothing_of_the_text_is_executed(tmp_path: Path) -> None:
    sentinel = tmp_path / "executed"
    action = f"__import__('pathlib').Path({str(sentinel)!r}).touch()"
    for text in (action, f"i + ({action} or 1)", f"f'{{{action}}}'", f"(lambda: {action})()", f"[{action}][0]"):
        with pytest.raises(FormulaError):
            from_formula(text).matrix(2)
    assert not sentinel.exists()
    # The same text, were it evaluated, does leave its mark: the test above can fail.
    eval(action)
    assert sentinel.exists()


@pytest.mark.parametrize("name", ["abs", "floor", "ceil", "sqrt", "exp", "log", "sin", "cos"])
def test_a_function_of_one_number_is_read_with_one_argument_and_refused_with_two(name: str) -> None:
    assert parse(f"{name}(i)").nodes
    with pytest.raises(FormulaError, match=f"{name} takes 1 arguments, not 2"):
        parse(f"{name}(i, j)")


@pytest.mark.parametrize("text", ["min(i, key=j)", "max(i, j, default=1)"])
def test_a_known_function_with_a_keyword_is_not_called_unknown(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert "unknown function" not in str(caught.value)


@pytest.mark.parametrize(
    "wrap",
    ["0 < ({}) < 9", "0 <= ({}) <= 9 <= 10", "min(({}), 3)", "({}) and 1", "({}) if 1 else 2", "1 if ({}) else 2"],
)
def test_a_part_of_a_formula_is_computed_once_for_one_pair(wrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(value: int) -> int:
        calls.append(value)
        return value

    monkeypatch.setitem(exact.RATIONAL, "abs", counted)
    text = "abs(1)"
    for _ in range(12):  # computing a part twice at each depth gives 4,096: the test fails instead of hanging
        text = wrap.format(text)
    assert parse(text).value(1, 1) == 1
    assert len(calls) == 1


@given(text=any_text(longest=60))
@settings(max_examples=150)
def test_any_text_is_a_formula_or_a_formula_error(text: str) -> None:
    _read(text)


TOKENS = st.sampled_from(
    [
        *("i", "j", "0", "1", "2", "9", "0.5", "1e3", "1e999", "0x1F", "1_0", "½", "é", "True", "None", "__import__"),
        *("+", "-", "*", "/", "//", "%", "**", "**", "^", "~", "<<", "@", "<", "<=", "==", "!=", "is", "in"),
        *("and", "or", "not", "if", "else", "lambda", "=", ":=", ":", ";", ",", ".", "'x'", "f'{i}'"),
        *("(", ")", "(", ")", "[", "]", "[[", "]]", "{", "}", "min(", "max(", "gcd(", "floor(", "abs("),
        *("n", "pi", "ceil(", "sqrt(", "exp(", "log(", "sin(", "cos("),
        *("\\", "\n", "\t", "\r", "\x0c", "#"),
    ]
)


@given(tokens=st.lists(TOKENS, max_size=14), glue=st.sampled_from(["", " "]))
@settings(max_examples=250)
def test_any_tokens_are_a_formula_or_a_formula_error(tokens: list[str], glue: str) -> None:
    _read(glue.join(tokens))


def _read(text: str) -> None:
    with at_once():
        try:
            matrix = from_formula(text).matrix(2)
        except FormulaError as error:
            assert len(str(error).splitlines()) == 1
        else:
            assert all(type(entry) in (int, Fraction) or entry.is_real for entry in matrix.flat)


def _trees(numbers: list[str], names: str) -> st.SearchStrategy[oracle.Tree]:
    leaves = st.sampled_from(
        [*((name,) for name in names), *(("number", written, Fraction(written)) for written in numbers)]
    )

    def grow(children: st.SearchStrategy[oracle.Tree]) -> st.SearchStrategy[oracle.Tree]:
        by_count = {count: [name for name in oracle.CALLS if oracle.CALLS[name] == count] for count in (1, 2)}
        return st.one_of(
            st.tuples(st.sampled_from([name for name in oracle.INFIX if name != "**"]), children, children),
            st.tuples(st.just("**"), children, st.sampled_from([("number", str(n), n) for n in range(4)])),
            st.tuples(st.just("**"), children, st.just(("neg", ("j",)))),
            st.tuples(st.sampled_from(oracle.PREFIX), children),
            st.tuples(st.sampled_from(by_count[2]), children, children),
            st.tuples(st.sampled_from(by_count[1]), children),
            st.tuples(st.just("if"), children, children, children),
        )

    return st.recursive(leaves, grow, max_leaves=8)


TREES = _trees(["0", "1", "2", "3", "0.5", "2.25", "1e1", "1e-2"], "ij")
TREES_AT_SCALES = _trees(["0", "1", "3", "0.5"], "ijn")
EDGE = [2**62, 2**63 - 2, 2**63 - 1, 2**63, 2**31, 3037000499, 3037000500, 1, 3]
TREES_AT_THE_EDGE = _trees([*map(str, EDGE), "1e-18", "0.5"], "ij")


def _expected(tree: oracle.Tree, cells: list[tuple[int, ...]]) -> list[Fraction | None]:
    values: list[Fraction | None] = []
    for cell in cells:
        try:
            values.append(oracle.value(tree, *cell))
        except oracle.NoValue:
            values.append(None)
    return values


PAIRS = [(i, j) for j in range(1, 4) for i in range(1, j + 1)]
TRIPLES = [(i, j, n) for n in range(1, 4) for j in range(1, n + 1) for i in range(1, j + 1)]


@given(tree=TREES)
@settings(max_examples=250)
def test_random_formulas_agree_with_the_oracle(tree: oracle.Tree) -> None:
    expected = _expected(tree, list(PAIRS))
    if None in expected:
        i, j = PAIRS[expected.index(None)]
        with pytest.raises(FormulaError, match=f"at i={i}, j={j}$"):
            from_formula(oracle.text(tree)).matrix(3)
        return
    matrix = from_formula(oracle.text(tree)).matrix(3)
    assert [Fraction(matrix[i - 1, j - 1]) for i, j in PAIRS] == expected


@given(tree=TREES_AT_SCALES)
@settings(max_examples=200)
def test_random_families_agree_with_the_oracle_and_name_the_first_cell_without_a_value(tree: oracle.Tree) -> None:
    pattern = from_formula(oracle.text(tree))
    keys, queries, scales = (np.array(axis) for axis in zip(*TRIPLES, strict=True))
    expected = _expected(tree, list(TRIPLES))
    if None in expected:
        i, j, n = TRIPLES[expected.index(None)]
        place = f"at i={i}, j={j}, n={n}" if pattern.scale_hint else f"at i={i}, j={j}"
        with pytest.raises(FormulaError, match=f"{place}$"):
            pattern.entries(keys, queries, scales)
        return
    values, codes = pattern.entries(keys, queries, scales)
    assert [Fraction(values[code]) for code in codes] == expected


def _at_pairs(node: Node, size: int) -> tuple[list[Any], list[Any] | None]:
    """The values pair by pair, None where there is none, and all at once, None where that is refused."""
    pairs = [(i, j) for j in range(1, size + 1) for i in range(1, j + 1)]
    one_by_one = []
    for i, j in pairs:
        try:
            one_by_one.append(exact.evaluate(node, {"i": i, "j": j}))
        except FormulaError:
            one_by_one.append(None)
    keys, queries = (np.array(axis) for axis in zip(*pairs, strict=True))
    try:
        with np.errstate(all="raise"):
            values, codes = blocks.evaluate(node, {"i": keys, "j": queries}).distinct()
    except blocks.NotVectorised:
        return one_by_one, None
    assert len(set(values)) == len(values)
    return one_by_one, [values[code] for code in codes]


@given(tree=st.one_of(TREES, TREES_AT_THE_EDGE))
@settings(max_examples=300)
def test_evaluating_all_pairs_at_once_agrees_with_pair_by_pair_or_is_refused(tree: oracle.Tree) -> None:
    one_by_one, at_once = _at_pairs(parse(oracle.text(tree)).nodes[0], 4)
    assert at_once is None or at_once == one_by_one


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        (f"{2**63 - 1} + i - i", False),
        (f"{2**63 - 2} + (i == j)", True),
        (f"{2**63 - 1} + (i == j)", False),
        (f"-{2**63 - 1} - (i < j)", False),
        ("3037000499 * (3037000499 - i)", True),
        ("3037000500 * (3037000500 + j)", False),
        (f"{2**61} * (i - j)", True),
        (f"{2**62} * (i - j)", False),
        (f"{2**61} * (i - j) * 2 * 2", False),
        ("2**(58 + i)", True),
        ("2**(59 + i)", False),
        ("(-2)**(58 + i)", True),
        ("1**(10**18)", True),
        ("(-1)**(10**18 + i)", True),
        ("1/3037000499 + 1/(3037000499 - i)", True),
        (f"1/{2**62} + 1/{2**62 - 1}", False),
        (f"{2**63} - {2**63}", False),
        (f"i if j < 9 else {2**70}", True),
        (f"abs(-{2**63 - 1})", True),
        (f"gcd({2**62}, {2**61} * (j - i))", True),
        (f"{2**62 - 1} % {2**61}", True),
        (f"{2**63 - 1} % {2**62}", False),
        ("i / j < 3037000501 / 3037000500", True),
        (f"{2**62}/3 < {2**62 + 1}/3", False),
    ],
)
def test_numbers_near_64_bits_never_wrap(text: str, fits: bool) -> None:
    one_by_one, at_once = _at_pairs(parse(text).nodes[0], 4)
    assert (at_once is not None) == fits
    assert at_once is None or at_once == one_by_one
    values, codes = from_formula(text).entries(np.array([1, 2]), np.array([4, 4]))
    assert [values[code] for code in codes] == [one_by_one[6], one_by_one[7]]


def _random_real(draw: Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.1:
        return draw.choice(["i", "j", "n", "pi", "2", "3", "0.5", "(1/3)", "(j-i)"])
    inner = [_random_real(draw, depth - 1) for _ in range(2)]
    kind = draw.random()
    if kind < 0.4:
        return f"{draw.choice(oracle.IRRATIONAL)}({inner[0]})"
    if kind < 0.75:
        return f"({inner[0]}) {draw.choice(['+', '-', '*', '/', '//', '%', '<', '>=', '=='])} ({inner[1]})"
    if kind < 0.85:
        return f"{draw.choice(['min', 'max'])}({inner[0]}, {inner[1]})"
    if kind < 0.95:
        return f"{draw.choice(['abs', 'floor', 'ceil'])}({inner[0]})"
    return f"({inner[0]})**{draw.choice(['2', '0.5', '(-1)', '(-0.5)', '(1/3)'])}"


def test_random_irrational_formulas_agree_with_60_digits() -> None:
    draw = Random(1)
    seen: Counter[str] = Counter()
    for _ in range(600):
        text = _random_real(draw, draw.randint(1, 3))
        i, j, n = 1, draw.randint(1, 3), 4
        try:
            with mpmath.workdps(oracle.DIGITS):
                expected = oracle.by_python(text, {"i": i, "j": j, "n": n}, real=True)
        except oracle.NoValue:
            expected = None
        except (oracle.Unsure, OverflowError):
            seen["unsure"] += 1
            continue
        try:
            result = parse(text).value(i, j, n)
        except FormulaError as error:
            assert expected is None or "cannot be decided" in str(error) or "bits" in str(error), (text, str(error))
            seen["no value" if expected is None else "refused"] += 1
            continue
        assert expected is not None, (text, result)
        with mpmath.workdps(oracle.DIGITS):
            gap = abs(sp.N(result, oracle.DIGITS)._to_mpmath(220) - expected)
            assert gap <= mpmath.mpf(10) ** -40 * max(1, abs(expected)), (text, result)
        seen["value"] += 1
    assert seen["value"] > 300
    assert seen["no value"] > 25
    assert seen["refused"] + seen["unsure"] < 50


A, B = sp.symbols("a b", real=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a", A),
        ("a * i + b", 2 * A + B),
        ("a - a", 0),
        ("a / a", 1),
        ("a**i", A**2),
        ("exp(a) * exp(b)", sp.exp(A + B)),
        ("abs(a)", sp.Abs(A)),
        ("sqrt(a**2)", sp.Abs(A)),
        ("a if i == j else b", B),
        ("1 if a**2 + 1 else 0", 1),
        ("1 if a**2 + 1 > 0 else 0", 1),
        ("a == a", 1),
        ("a if 1 < 2 else 1/0", A),
        ("min(a, a)", A),
        ("log(exp(a))", A),
        ("0 * a", 0),
    ],
)
def test_parameters_stand_for_real_numbers_left_open(text: str, value: Any) -> None:
    assert sp.expand(parse(text, ["a", "b"]).value(2, 3) - value) == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 if a else 2", "whether a is zero depends on a parameter at i=1, j=1"),
        ("not a", "whether a is zero depends on a parameter at i=1, j=1"),
        ("a and 1", "whether a is zero depends on a parameter at i=1, j=1"),
        ("i == j or a", "whether a is zero depends on a parameter at i=1, j=2"),
        ("a == 0", "sign of a depends on a parameter or cannot be decided at i=1, j=1"),
        ("a < b", "sign of a - b depends"),
        ("min(a, b)", "depends on a parameter"),
        ("floor(a)", "floor of a depends on a parameter"),
        ("a // 2", "floor of a/2 depends on a parameter"),
        ("a % 2", "floor of a/2 depends on a parameter"),
        ("sqrt(a)", "sign of a depends on a parameter"),
        ("log(a)", "sign of a depends on a parameter"),
        ("a**0.5", "sign of a depends on a parameter"),
        ("a**b", "sign of a depends on a parameter"),
        ("gcd(a, 2)", "gcd takes whole numbers, not a and 2"),
        ("1 / (a - a)", "division by zero at i=1, j=1"),
        ("1 / (2*a - a*2)", "division by zero at i=1, j=1"),
        ("a**10**9", "exponent 1000000000 is too large"),
        ("c", r"unknown name 'c': a formula knows .*, a, b \(parameters\); declare"),
        ("a(i)", "unknown function 'a'"),
        ("a.b", "attribute access"),
    ],
)
def test_a_choice_that_depends_on_a_parameter_is_refused(text: str, says: str) -> None:
    with pytest.raises(FormulaError, match=says) as caught:
        from_formula(text, parameters=["a", "b"]).matrix(2)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "name", ["i", "j", "n", "pi", "min", "sqrt", "log", "a b", "1a", "", "a-b", "a.b", "k" * 99 + "!"]
)
def test_words_of_the_grammar_and_texts_that_are_no_word_cannot_name_a_parameter(name: str) -> None:
    with pytest.raises(FormulaError, match="cannot name a parameter") as caught:
        parse("i", [name])
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("name", ["open", "eval", "__import__", "print", "Symbol", "I", "E", "d", "s", "x", "größe"])
def test_parameters_named_like_builtins_or_internal_names_are_just_names(name: str) -> None:
    pattern = from_formula(f"{name} * (j - i) + {name}**2", parameters=[name])
    symbol = sp.Symbol(name, real=True)
    assert pattern.matrix(2).tolist() == [[symbol**2, symbol**2 + symbol], [0, symbol**2]]
    with pytest.raises(FormulaError, match="unknown function"):
        parse(f"{name}('x')", [name])


def test_a_matrix_of_formulas_has_matrices_for_entries() -> None:
    formula = parse("[[i, j - i, 1/2], [a, sqrt(2), n]]", ["a"])
    assert formula.shape == (2, 3)
    assert formula.value(2, 5, 7) == (2, 3, Fraction(1, 2), A, sp.sqrt(2), 7)
    assert formula.variables == {"i", "j", "n"}
    entries = from_formula("[[i, 0], [0, j]]").matrix(2)
    assert entries.shape == (2, 2, 2, 2)
    assert entries[0, 1].tolist() == [[1, 0], [0, 2]]
    assert entries[1, 0].tolist() == [[0, 0], [0, 0]]
    assert parse("[[i]]").shape == ()


def test_the_scale_of_a_family_is_that_of_the_instance() -> None:
    pattern = from_formula("n - j")
    assert pattern.scale_hint
    assert pattern.matrix(3).tolist() == [[2, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert pattern.matrix(2, scale=5).tolist() == [[4, 3], [0, 3]]


@pytest.mark.parametrize(
    "text", ["sqrt(10**100 + i*j)", "log(10**1000 + i)", "(sqrt(2)+sqrt(3)+sqrt(5)+sqrt(7)+i)**50"]
)
def test_large_irrational_entries_are_counted_at_once(text: str) -> None:
    with at_once():
        profile(from_formula(text), 3)


def test_every_node_of_the_grammar_is_tried() -> None:
    """The tables above hold each operator of the module's grammar, so a new one cannot go untested."""
    tried = {type(node) for text, _ in VALID for node in ast.walk(ast.parse(text.strip(), mode="eval"))}
    assert {*syntax.BINARY, *syntax.UNARY, *syntax.COMPARISONS} <= tried
    called = {
        node.func.id
        for text, _ in VALID
        for node in ast.walk(ast.parse(text.strip(), mode="eval"))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert called == set(syntax.FUNCTIONS) == {*oracle.CALLS, *oracle.IRRATIONAL}
