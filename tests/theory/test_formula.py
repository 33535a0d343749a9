"""Formulas have the value that arithmetic gives them; anything else is one clear line, at once, and runs nothing."""

import ast
import time
from collections.abc import Callable
from fractions import Fraction
from math import floor, gcd
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import formulas as oracle
from theory import formula as module
from theory.formula import FormulaError, parse

Law = Callable[[Fraction, Fraction], Fraction | int]
SECOND = 1.0
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
]


@pytest.mark.parametrize(("text", "law"), VALID, ids=[text[:30] for text, _ in VALID])
def test_a_formula_has_the_value_of_its_law_exactly(text: str, law: Law) -> None:
    matrix = parse(text).matrix(SIZE)
    for j in range(1, SIZE + 1):
        for i in range(1, SIZE + 1):
            expected = law(Fraction(i), Fraction(j)) if i <= j else 0
            found = matrix[i - 1, j - 1]
            assert found == expected
            assert type(found) is (int if Fraction(expected).denominator == 1 else Fraction)


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
    "unknown name": ("n - i", "unknown name 'n'"),
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
    "fraction exponent": ("2**0.5", "exponent 1/2 is not a whole number"),
    "fraction exponent of one": ("1**0.5", "exponent 1/2 is not a whole number"),
    "gcd of a fraction": ("gcd(i/2, 3)", "gcd takes whole numbers, not 1/2 and 3 at i=1, j=1"),
    "division by zero": ("1 / (j - i - 1)", "division by zero at i=1, j=2"),
    "floor division by zero": ("1 // (i - 2)", "division by zero at i=2, j=2"),
    "remainder of zero": ("1 % (j - 3)", "division by zero at i=1, j=3"),
    "zero to a negative power": ("0**-i", "division by zero at i=1, j=1"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_formula_is_refused_in_one_line_and_at_once(name: str) -> None:
    text, says = HOSTILE[name]
    start = time.perf_counter()
    with pytest.raises(FormulaError, match=says) as caught:
        parse(text).matrix(3)
    assert time.perf_counter() - start < SECOND
    assert len(str(caught.value).splitlines()) == 1


def test_nothing_of_the_text_is_executed(tmp_path: Path) -> None:
    sentinel = tmp_path / "executed"
    action = f"__import__('pathlib').Path({str(sentinel)!r}).touch()"
    for text in (action, f"i + ({action} or 1)", f"f'{{{action}}}'", f"(lambda: {action})()", f"[{action}][0]"):
        with pytest.raises(FormulaError):
            parse(text).matrix(2)
    assert not sentinel.exists()
    # The same text, were it evaluated, does leave its mark: the test above can fail.
    eval(action)
    assert sentinel.exists()


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

    monkeypatch.setitem(module.FUNCTIONS, "abs", (counted, 1, 1))
    text = "abs(1)"
    for _ in range(12):  # computing a part twice at each depth gives 4,096: the test fails instead of hanging
        text = wrap.format(text)
    assert parse(text).matrix(1)[0, 0] == 1
    assert len(calls) == 1


@given(text=st.text(max_size=60))
@settings(max_examples=150)
def test_any_text_is_a_formula_or_a_formula_error(text: str) -> None:
    _read(text)


TOKENS = st.sampled_from(
    [
        *("i", "j", "0", "1", "2", "9", "0.5", "1e3", "1e999", "0x1F", "1_0", "½", "é", "True", "None", "__import__"),
        *("+", "-", "*", "/", "//", "%", "**", "**", "^", "~", "<<", "@", "<", "<=", "==", "!=", "is", "in"),
        *("and", "or", "not", "if", "else", "lambda", "=", ":=", ":", ";", ",", ".", "'x'", "f'{i}'"),
        *("(", ")", "(", ")", "[", "]", "{", "}", "min(", "max(", "gcd(", "floor(", "abs("),
        *("\\", "\n", "\t", "\r", "\x0c", "#"),
    ]
)


@given(tokens=st.lists(TOKENS, max_size=14), glue=st.sampled_from(["", " "]))
@settings(max_examples=400)
def test_any_tokens_are_a_formula_or_a_formula_error(tokens: list[str], glue: str) -> None:
    _read(glue.join(tokens))


def _read(text: str) -> None:
    start = time.perf_counter()
    try:
        matrix = parse(text).matrix(2)
    except FormulaError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert all(type(entry) in (int, Fraction) for entry in matrix.flat)
    assert time.perf_counter() - start < SECOND


NUMBERS = st.sampled_from(
    [("number", written, Fraction(written)) for written in ("0", "1", "2", "3", "0.5", "2.25", "1e1", "1e-2")]
)
LEAVES = st.one_of(st.just(("i",)), st.just(("j",)), NUMBERS)


def _grow(children: st.SearchStrategy[oracle.Tree]) -> st.SearchStrategy[oracle.Tree]:
    return st.one_of(
        st.tuples(st.sampled_from([name for name in oracle.INFIX if name != "**"]), children, children),
        st.tuples(st.just("**"), children, st.sampled_from([("number", str(n), n) for n in range(4)])),
        st.tuples(st.just("**"), children, st.just(("neg", ("j",)))),
        st.tuples(st.sampled_from(oracle.PREFIX), children),
        st.tuples(st.sampled_from([name for name, count in oracle.CALLS.items() if count == 2]), children, children),
        st.tuples(st.sampled_from([name for name, count in oracle.CALLS.items() if count == 1]), children),
        st.tuples(st.just("if"), children, children, children),
    )


@given(tree=st.recursive(LEAVES, _grow, max_leaves=8))
@settings(max_examples=400)
def test_random_formulas_agree_with_the_oracle(tree: oracle.Tree) -> None:
    text = oracle.text(tree)
    expected: dict[tuple[int, int], Fraction] = {}
    try:
        for j in range(1, 4):
            for i in range(1, j + 1):
                expected[i, j] = oracle.value(tree, i, j)
    except oracle.NoValue:
        with pytest.raises(FormulaError):
            parse(text).matrix(3)
        return
    matrix = parse(text).matrix(3)
    assert {(i, j): Fraction(matrix[i - 1, j - 1]) for i, j in expected} == expected


def test_every_node_of_the_grammar_is_tried() -> None:
    """The tables above hold each operator of the module's grammar, so a new one cannot go untested."""
    tried = {type(node) for text, _ in VALID for node in ast.walk(ast.parse(text.strip(), mode="eval"))}
    assert {*module.BINARY, *module.UNARY, *module.COMPARISONS} - {ast.UAdd} <= tried
    assert set(oracle.CALLS) == set(module.FUNCTIONS)
