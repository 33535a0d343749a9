"""The second engine decides zero exactly, both ways, agrees with the first and with values, and shares nothing."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import mpmath
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.core.cache import clear_cache

from lengthgen.theory.zero import flint_engine, sympy_engine
from lengthgen.theory.zero.flint_engine import FlintUndecided, is_zero

ROOT = Path(__file__).parents[2]
a, b, c, n, r, s, t, x, y = sp.symbols("a b c n r s t x y")
D = sp.Symbol("D", integer=True)
GRAM = {s: a * b - c**2}
SPEED = a * b - c**2

# (expression, squares): what is easily got wrong by one way of rewriting or another.
ZERO: list[tuple[sp.Expr, flint_engine.Squares]] = [
    (sp.Integer(0), {}),
    (sp.sin(x + y) - sp.sin(x) * sp.cos(y) - sp.cos(x) * sp.sin(y), {}),
    (sp.sin(x - y) - sp.sin(x) * sp.cos(y) + sp.cos(x) * sp.sin(y), {}),
    (sp.cos(5 * x) - 16 * sp.cos(x) ** 5 + 20 * sp.cos(x) ** 3 - 5 * sp.cos(x), {}),
    (sp.sin(x / 2) * sp.cos(x / 2) - sp.sin(x) / 2, {}),
    (sp.sin(x) - 3 * sp.sin(x / 3) + 4 * sp.sin(x / 3) ** 3, {}),
    (sp.cos(x / 2 - x / 3) - sp.cos(x / 6), {}),
    (sp.exp(x / 2) ** 2 - sp.exp(x / 3) ** 3, {}),
    (sp.exp(-x) - sp.cosh(x) + sp.sinh(x), {}),
    (sp.cosh(2 * x) - 2 * sp.sinh(x) ** 2 - 1, {}),
    (sp.exp(3 * x) - (sp.cosh(x) + sp.sinh(x)) ** 3, {}),
    (sp.exp(sp.I * x) - sp.cos(x) - sp.I * sp.sin(x), {}),
    (sp.exp(-2 * sp.I * x) - (sp.cos(x) - sp.I * sp.sin(x)) ** 2, {}),
    (sp.exp((1 + 2 * sp.I) * x) - sp.exp(x) * (sp.cos(2 * x) + sp.I * sp.sin(2 * x)), {}),
    (sp.cos(x + sp.I * y) - sp.cos(x) * sp.cosh(y) + sp.I * sp.sin(x) * sp.sinh(y), {}),
    (sp.sinh(x + sp.I * y) - sp.sinh(x) * sp.cos(y) - sp.I * sp.cosh(x) * sp.sin(y), {}),
    (sp.sin((1 + sp.I) * x) - sp.sin(x) * sp.cosh(x) - sp.I * sp.cos(x) * sp.sinh(x), {}),
    (sp.cosh((2 + sp.I) * x / 2) - sp.cosh(x) * sp.cos(x / 2) - sp.I * sp.sinh(x) * sp.sin(x / 2), {}),
    (sp.tan(x) + sp.cot(x) - sp.sec(x) * sp.csc(x), {}),
    (sp.tanh(x) ** 2 + sp.sech(x) ** 2 - 1, {}),
    (sp.coth(x) ** 2 - sp.csch(x) ** 2 - 1, {}),
    (sp.tan(x + y) * (1 - sp.tan(x) * sp.tan(y)) - sp.tan(x) - sp.tan(y), {}),
    (1 / (1 + sp.exp(-x)) - (1 + sp.tanh(x / 2)) / 2, {}),
    (sp.exp((x + y) ** 2 - (x - y) ** 2) - sp.exp(x * y) ** 4, {}),
    ((x**3 - y**3) / (x - y) - x**2 - x * y - y**2, {}),
    (1 / (x - sp.I) + 1 / (x + sp.I) - 2 * x / (x**2 + 1), {}),
    (s**4 - SPEED**2, GRAM),
    (1 / (1 + s) - (1 - s) / (1 - SPEED), GRAM),
    (sp.cos(s * t) ** 2 + sp.sin(s * t) ** 2 * s**2 / SPEED - 1, GRAM),
    ((s + r) * (s - r) - a + b, {s: a, r: b}),
    (r**2 * t - s**2 * b * t, {s: a, r: a * b}),
    (sp.sin(s * r * t) ** 2 - (1 - sp.cos(2 * s * r * t)) / 2, {s: a, r: b}),
]
NONZERO: list[tuple[sp.Expr, flint_engine.Squares]] = [
    (sp.Integer(1), {}),
    (sp.I, {}),
    (x + sp.I * y, {}),
    (sp.sin(x) ** 2 - sp.cos(x) ** 2 + 1, {}),
    (sp.sin(x + y) - sp.sin(x) * sp.cos(y) + sp.cos(x) * sp.sin(y), {}),
    (sp.cosh(x) ** 2 + sp.sinh(x) ** 2 - 1, {}),
    (sp.cosh(x) - sp.cos(x), {}),
    (sp.exp(x) - sp.exp(sp.I * x), {}),
    (sp.exp(x) * sp.exp(y) - sp.exp(x * y), {}),
    (sp.exp(x / 2) - sp.exp(x / 3), {}),
    (sp.exp(x) - 1 - x - x**2 / 2, {}),
    (sp.sin(x) - x + x**3 / 6, {}),
    (sp.exp(x**2) - sp.exp(x) ** 2, {}),
    (sp.sin(2 * x) - 2 * sp.sin(x), {}),
    (s, GRAM),
    (s - a, GRAM),
    (s + s**3, GRAM),
    (sp.sin(s * t) - s * sp.sin(t), GRAM),
    (sp.exp(s * t) - sp.exp(-s * t), GRAM),
    (s * r - a * b, {s: a, r: b}),
    (s + r, {s: a, r: b}),
]
OUTSIDE = [
    sp.sqrt(x),
    sp.log(x),
    sp.Abs(x),
    sp.conjugate(x),
    x**y,
    sp.exp(D * x) - sp.exp(x) ** sp.Symbol("z"),
    sp.sqrt(2) * x,
    x / sp.Integer(2) + 0.5,
    sp.exp(sp.exp(x)),
    sp.sin(sp.cos(x)),
    sp.exp(1 / x),
    sp.exp(1) - 2,
    sp.sin(x + 1),
    sp.cosh(x + sp.I),
    sp.sin(sp.pi * x),
    sp.Symbol("A", commutative=False) * x,
    sp.Piecewise((x, x > 0), (0, True)),
    sp.zoo,
    sp.nan,
]


UNDECIDED: dict[Any, type[Exception]] = {sympy_engine: sympy_engine.Undecided, flint_engine: FlintUndecided}
ENGINES = pytest.mark.parametrize("engine", [sympy_engine, flint_engine], ids=["first", "second"])


def _name(part: object) -> str:
    return str(part)[:60]


@pytest.mark.parametrize(("expression", "squares"), ZERO, ids=_name)
def test_identities_are_zero_for_both_engines(expression: sp.Expr, squares: flint_engine.Squares) -> None:
    assert is_zero(expression, squares=squares)
    assert sympy_engine.is_zero(expression, squares=squares)


@pytest.mark.parametrize(("expression", "squares"), NONZERO, ids=_name)
def test_non_identities_are_zero_for_neither(expression: sp.Expr, squares: flint_engine.Squares) -> None:
    assert not is_zero(expression, squares=squares)
    assert not sympy_engine.is_zero(expression, squares=squares)
    point = sympy_engine.witness(expression, squares=squares)
    assert abs(sp.N(expression.subs(point))) > 0
    assert all(point[root].is_real for root in squares if root in point)


def test_text_is_never_parsed() -> None:
    with pytest.raises(sp.SympifyError):
        sympy_engine.is_zero("a - a")


@ENGINES
@pytest.mark.parametrize("expression", OUTSIDE, ids=_name)
def test_outside_the_fragment_is_undecided(engine: Any, expression: sp.Expr) -> None:
    with pytest.raises(UNDECIDED[engine]):
        engine.is_zero(expression)


@ENGINES
@pytest.mark.parametrize(
    ("squares", "says"),
    [
        *(({s: square}, "is a square") for square in (x**2, sp.Integer(2), -(x**2) * y**4, 2 * (x + y) ** 2)),
        ({s: a, r: a * b**2}, "is a square"),
        ({s: r * a, r: b}, "may not contain a root"),
    ],
    ids=_name,
)
def test_a_root_that_is_no_new_element_is_refused(engine: Any, squares: flint_engine.Squares, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        engine.is_zero(s**2 - 1, squares=squares)


def test_an_argument_is_what_its_polynomial_is_modulo_the_roots() -> None:
    assert is_zero(sp.cos((x + y) ** 2 - x**2 - 2 * x * y - y**2) - 1)
    assert is_zero(sp.exp(s**2 * t) - sp.exp(a * b * t) * sp.exp(-(c**2) * t), squares=GRAM)
    with pytest.raises(sympy_engine.Undecided, match="power above one"):
        sympy_engine.is_zero(sp.exp(s**2 * t) - 1, squares={s: a})


@pytest.mark.parametrize("square", [sp.Integer(0), sp.I * a, sp.exp(a), 1 / a], ids=str)
def test_a_square_that_is_no_polynomial_over_the_rationals_is_undecided_or_refused(square: sp.Expr) -> None:
    with pytest.raises((FlintUndecided, ValueError)):
        is_zero(s, squares={s: square})


NOTHING = sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1


@pytest.mark.parametrize(
    "expression",
    [1 / NOTHING, 1 / (1 + 1 / NOTHING), sp.csc(x - x * y + x * (y - 1)), x / (s**2 - SPEED)],
    ids=_name,
)
def test_a_vanishing_denominator_is_an_error(expression: sp.Expr) -> None:
    with pytest.raises(ZeroDivisionError, match="identically zero"):
        is_zero(expression, squares=GRAM)
    with pytest.raises(ZeroDivisionError, match="identically zero"):
        sympy_engine.is_zero(1 / NOTHING)


def test_the_generators_are_the_functions_of_the_common_divisor() -> None:
    assert flint_engine.decide(sp.cos(x / 2) ** 2, sp.cos(x / 3)).generators == ("cos(x/6), sin(x/6)",)
    assert sympy_engine.decide(sp.cos(x / 2) ** 2, sp.cos(x) / 2).generators == ("exp(I*x/2)",)
    assert flint_engine.decide(sp.exp(4 * x * y**2), sp.sinh(6 * x * y**2)).generators == ("(exp(2*x*y**2))^±1",)


# Random identities: each takes a random source and returns expressions that are zero, of which a test takes one.


def _argument(random: Random) -> sp.Expr:
    """A polynomial without constant term, with fractions and now and then an imaginary part."""
    monomials = random.sample([x, y, x * y, t * x, y**2], 2)
    weights = [sp.Rational(random.choice([-3, -2, -1, 1, 2, 3]), random.choice([1, 1, 2, 3])) for _ in monomials]
    if random.random() < 0.3:
        weights[0] *= sp.I
    return sp.Add(*(weight * monomial for weight, monomial in zip(weights, monomials, strict=True)))


def _addition(random: Random) -> list[sp.Expr]:
    p, q = _argument(random), _argument(random)
    return [
        sp.sin(p + q) - sp.sin(p) * sp.cos(q) - sp.cos(p) * sp.sin(q),
        sp.cos(p - q) - sp.cos(p) * sp.cos(q) - sp.sin(p) * sp.sin(q),
        sp.sinh(p - q) - sp.sinh(p) * sp.cosh(q) + sp.cosh(p) * sp.sinh(q),
        sp.cosh(p + q) - sp.cosh(p) * sp.cosh(q) - sp.sinh(p) * sp.sinh(q),
        sp.tan(p) + sp.tan(q) - sp.sin(p + q) / (sp.cos(p) * sp.cos(q)),
        sp.tanh(p) - sp.tanh(q) - sp.sinh(p - q) * sp.sech(p) * sp.sech(q),
    ]


def _multiple(random: Random) -> list[sp.Expr]:
    p, times = _argument(random), random.randint(2, 5)
    return [
        sp.expand((cosine(p) + unit * sine(p)) ** times) - cosine(times * p) - unit * sine(times * p)
        for cosine, sine, unit in ((sp.cos, sp.sin, sp.I), (sp.cosh, sp.sinh, sp.Integer(1)))
    ]


def _mixture(random: Random) -> list[sp.Expr]:
    p, q = _argument(random), _argument(random)
    return [
        sp.exp(p + sp.I * q) - sp.exp(p) * (sp.cos(q) + sp.I * sp.sin(q)),
        sp.exp(p) * sp.cosh(q) - (sp.exp(p + q) + sp.exp(p - q)) / 2,
        sp.cos(p) * sp.exp(q) - (sp.exp(q + sp.I * p) + sp.exp(q - sp.I * p)) / 2,
        sp.sinh(2 * p) - sp.exp(2 * p) * (1 - sp.exp(-4 * p)) / 2,
        1 / (1 + sp.exp(p - q)) - sp.exp(q) / (sp.exp(p) + sp.exp(q)),
        sp.coth(p) - (sp.exp(p) + sp.exp(-p)) / (sp.exp(p) - sp.exp(-p)),
    ]


def _gram(random: Random) -> list[sp.Expr]:
    p, q = (sp.Integer(random.choice([-3, -2, -1, 1, 2, 3])) for _ in range(2))
    return [
        1 / (p + q * s) - (p - q * s) / (p**2 - q**2 * SPEED),
        sp.sin(p * t * s) ** 2 / s**2 - (1 - sp.cos(2 * p * t * s)) / (2 * SPEED),
        (p + q * s) ** 3 - p**3 - 3 * p * q**2 * SPEED - s * (3 * p**2 * q + q**3 * SPEED),
        sp.cos(p * t * s) * (1 / s - s / SPEED),
        sp.cosh(t * s + p * t) * s**3 - s * SPEED * (sp.exp(t * s + p * t) + sp.exp(-t * s - p * t)) / 2,
    ]


def _rational(random: Random) -> list[sp.Expr]:
    p, q, power = _argument(random), t**2, random.randint(2, 3)
    return [
        (p**power - q**power) / (p - q) - sp.Add(*(p**k * q ** (power - 1 - k) for k in range(power))),
        1 / (p - q) / (p - x * y * t) + 1 / (q - p) / (q - x * y * t) + 1 / (x * y * t - p) / (x * y * t - q),
        1 / (p + sp.I * q) - (p - sp.I * q) / (p**2 + q**2),
    ]


FAMILIES: dict[Callable[[Random], list[sp.Expr]], int] = {
    _addition: 6, _multiple: 4, _mixture: 6, _gram: 5, _rational: 3,
}  # fmt: skip
"""Families, and how often identities are drawn of each: every one once, multiples twice."""
DIGITS = 30
VISIBLE = 1e-12  # far above 30 digits' rounding of values up to 1e8, far below a thousandth of a change's value


def _value(expression: sp.Expr, random: Random) -> float:
    """The expression's largest size at two random points, with a root of either sign."""
    symbols = (x, y, t, a, b, c)
    function = sp.lambdify((*symbols, s), expression, "mpmath", cse=True)
    with mpmath.workdps(DIGITS):
        sizes = []
        for sign in (1, -1):
            point = [mpmath.mpc(random.uniform(0.3, 1.2), random.uniform(-0.5, 0.5)) for _ in symbols]
            sizes.append(abs(function(*point, sign * mpmath.sqrt(point[3] * point[4] - point[5] ** 2))))
        return float(max(sizes))


@pytest.mark.parametrize(
    ("family", "seed"), [(family, seed) for family in FAMILIES for seed in range(FAMILIES[family])]
)
def test_random_identities_are_zero_and_their_neighbours_are_not(
    family: Callable[[Random], list[sp.Expr]], seed: int
) -> None:
    """Both engines and the values at random points say zero, and not zero after a small change."""
    random = Random(f"{family.__name__} {seed}")
    identities = family(random)
    expression = identities[seed % len(identities)]
    assert is_zero(expression, squares=GRAM)
    assert sympy_engine.is_zero(expression, squares=GRAM)
    assert _value(expression, random) < VISIBLE
    change = random.choice([sp.Integer(1), x, sp.I * y * t, sp.sin(x / 2), sp.exp(-y), s, 1 / (1 + x)])
    near = expression + sp.Rational(random.choice([-1, 1]), 1000) * change
    assert not is_zero(near, squares=GRAM)
    assert not sympy_engine.is_zero(near, squares=GRAM)
    assert _value(near, random) > VISIBLE


# Trees that sympy has evaluated nothing of, and the value of each beside it.
_POINT = {x: sp.Rational(3, 7), y: sp.Rational(5, 11)}
_PLAIN = st.sampled_from([x, y, sp.I, sp.Integer(2), sp.Integer(0), sp.Rational(1, 2)])
_ARGUMENTS = st.recursive(
    st.sampled_from([x, y, 2 * x, x * y]),
    lambda trees: st.builds(lambda p, q: sp.Add(p, sp.Mul(-1, q, evaluate=False), evaluate=False), trees, trees),
    max_leaves=3,
)
_WAVES = st.builds(
    lambda function, argument: function(argument, evaluate=False), st.sampled_from([sp.sin, sp.cos, sp.exp]), _ARGUMENTS
)
_UNEVALUATED = st.recursive(
    _PLAIN | _WAVES,
    lambda trees: (
        st.builds(lambda p, q: sp.Add(p, q, evaluate=False), trees, trees)
        | st.builds(lambda p, q: sp.Mul(p, q, evaluate=False), trees, trees)
        | st.builds(lambda p: sp.Pow(p, 2, evaluate=False), trees)
        | st.builds(lambda p: sp.Derivative(p, x), trees)
    ),
    max_leaves=5,
)


@settings(max_examples=25)
@given(_UNEVALUATED, _UNEVALUATED)
def test_unevaluated_sides_get_the_same_answer_from_both_engines_and_from_numbers(
    left: sp.Expr, right: sp.Expr
) -> None:
    equal = flint_engine.decide(left, right).zero
    assert equal == sympy_engine.decide(left, right).zero
    value = abs(sp.N((left.doit() - right.doit()).subs(_POINT), DIGITS))
    assert equal == bool(value < VISIBLE)
    assert flint_engine.decide(left, sp.expand(left.doit(), trig=True)).zero
    assert flint_engine.decide(sp.Add(left, left, evaluate=False), sp.Mul(2, left, evaluate=False)).zero


@ENGINES
def test_each_engine_does_what_a_tree_leaves_open(engine: Any) -> None:
    with sp.evaluate(False):
        sides = [
            (sp.cos(0 * x), sp.Integer(1)),
            (x ** (sp.Integer(1) + 1), x * x),
            (sp.exp(x) * sp.exp(y), sp.exp(x + y)),
            (sp.Integer(2) * 3 - 6, sp.Integer(0)),
            (sp.sin(x * (y * (c / y)) - x * c), sp.Integer(0)),
            (sp.Derivative(sp.exp(x**2) / sp.cosh(x), x), sp.exp(x**2) / sp.cosh(x) * (2 * x - sp.tanh(x))),
            (sp.Derivative(s * t**3, t), 3 * s * t**2),
        ]
    sides.append((sp.Derivative(sp.sin(t * x) ** 2, t, t), 2 * x**2 * sp.cos(2 * t * x)))
    for left, right in sides:
        assert engine.decide(left, right, squares=GRAM).zero, left
        assert not engine.decide(left, right + x, squares=GRAM).zero, left


@ENGINES
@pytest.mark.parametrize("by", [a, s])
def test_a_derivative_by_what_a_root_depends_on_is_undecided(engine: Any, by: sp.Symbol) -> None:
    with pytest.raises(UNDECIDED[engine], match="root depends"):
        engine.decide(sp.Derivative(s * a, by), s, squares=GRAM)


_LEAVES = st.sampled_from([x, y, sp.I, sp.Rational(1, 2), sp.sin(x), sp.cos(2 * x), sp.exp(x + y), sp.tanh(y / 2)])
_TREES = st.recursive(
    _LEAVES,
    lambda trees: st.builds(sp.Add, trees, trees) | st.builds(sp.Mul, trees, trees) | st.builds(lambda p: p**2, trees),
    max_leaves=6,
)


@settings(max_examples=20)
@given(_TREES, _TREES)
def test_any_two_trees_get_the_same_answer_from_both_engines(left: sp.Expr, right: sp.Expr) -> None:
    assert is_zero(left - right) == sympy_engine.is_zero(left - right)
    assert is_zero((left + right) ** 2 - sp.expand((left - right) ** 2) - 4 * left * right)
    assert is_zero(left.rewrite((sp.sin, sp.cos, sp.tanh), sp.exp) - left)
    assert is_zero(sp.expand(left, trig=True) - left)


# What the second engine may use: nothing of the first, and of sympy what a tree is made of.
MODULES = {"collections.abc", "dataclasses", "functools", "itertools", "math", "typing", "flint", "sympy"}
FUNCTIONS = "exp cos sin tan cot sec csc cosh sinh tanh coth sech csch"
OF_A_NODE = "func args base exp p q is_Rational is_Symbol is_Add is_Mul is_Pow is_commutative"


def test_nothing_is_shared_with_the_first_engine_but_the_tree() -> None:
    tree = ast.parse(Path(flint_engine.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names if isinstance(node, ast.Import)}
    names |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom)}
    assert names == MODULES
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    taken = {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "sp"}
    assert taken == {"Expr", "Symbol", "I", "Integer", "Derivative", *FUNCTIONS.split()}
    read = {node.attr for node in attributes if "node" in ast.unparse(node.value).split(".")}
    assert read == set(OF_A_NODE.split())


def _ran(engine: Callable[..., Any], table: list[tuple[sp.Expr, flint_engine.Squares]]) -> set[tuple[str, str]]:
    """The (file, name) of all Python functions that run while the engine decides the table."""
    ran: set[tuple[str, str]] = set()
    clear_cache()  # what earlier tests computed would not run again
    for cached in (sympy_engine._fraction, sympy_engine._exponent_terms):
        cached.cache_clear()

    def record(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            ran.add((Path(frame.f_code.co_filename).as_posix(), frame.f_code.co_name))

    sys.setprofile(record)
    try:
        for expression, squares in table:
            engine(expression, squares=squares)
    finally:
        sys.setprofile(None)
    return ran


def test_no_algebra_of_sympy_and_nothing_of_the_first_engine_runs() -> None:
    first, second = _ran(sympy_engine.is_zero, ZERO[1:4]), _ran(is_zero, ZERO + NONZERO)
    for ran, own, other in ((first, "sympy", "flint"), (second, "flint", "sympy")):
        assert any(file.endswith(f"theory/zero/{own}_engine.py") for file, _ in ran)
        assert not any(file.endswith(f"theory/zero/{other}_engine.py") for file, _ in ran)
    packages = {file.rpartition("/sympy/")[2].partition("/")[0] for file, _ in second if "/sympy/" in file}
    assert packages <= {"core", "printing"}
    of_core = {"flatten", "expand", "xreplace", "rewrite", "__add__", "__mul__", "__pow__"}
    assert of_core <= {name for file, name in first if "/sympy/core/" in file}
    assert not of_core & {name for file, name in second if "/sympy/core/" in file}


IN_PYTHON_INTEGERS = """
from sympy.external.gmpy import GROUND_TYPES
from tests.theory.test_engines import NONZERO, ZERO
from lengthgen.theory.zero import flint_engine, sympy_engine

assert GROUND_TYPES == "python"
for expression, squares in ZERO + NONZERO:
    zero = sympy_engine.is_zero(expression, squares=squares)
    assert zero == flint_engine.is_zero(expression, squares=squares), expression
"""


def test_the_engines_agree_where_sympy_does_not_count_with_flint() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_PYTHON_INTEGERS],
        cwd=ROOT, env={**os.environ, "SYMPY_GROUND_TYPES": "python"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
