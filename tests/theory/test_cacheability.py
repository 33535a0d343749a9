"""The width of a cached bias is held against exact ranks of its matrices."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

import flint
import pytest
import sympy as sp

from lengthgen.theory import rational
from lengthgen.theory.cacheability import caching
from lengthgen.theory.encodings import biases, grape
from lengthgen.theory.encodings.catalogue import named
from lengthgen.theory.encodings.encoding import LENGTH, Encoding, Family, Parameter

STATED = {
    "nope": "0",
    "rope": "0",
    "sinusoidal": "0",
    "alibi": "2",
    "grape-additive": "2",
    "grape-gated": "4",
    "fox": "2",
    "fox-fixed": "2",
    "cable-gated": "2",
    "cable-log": "none",
    "grape-path": "none",
    "kerple-log": "none",
    "kerple-power": "p = 1: 2; p = 2: 3; other p: none",
    "bam": "th_beta = 0, 1, 2, ...: th_beta + 1; other th_beta: none",
    "bam-ssmax": "th_beta = 0, 1, 2, ...: th_beta + 1; other th_beta: none",
    "fire": "none",
    "t5": "none",
    "t5-bidirectional": "none",
    "dynamic-ntk": "none",
    "random-rope": "none",
    "legendre": "none",
    "haar": "0",
    "seqpe": "d",
    "dct": "0",
    "swat": "2",
    "wavelet": "none",
    "prism": "0",
    "graph-alibi": "none",
}


@pytest.mark.parametrize(("name", "width"), STATED.items())
def test_widths_of_the_catalogue(name: str, width: str) -> None:
    assert str(caching(named(name))) == width


def biased(law: Callable[[sp.Expr, sp.Expr], sp.Expr], *parameters: Parameter) -> Encoding:
    return Encoding(name="toy", title="", arxiv="", bias=lambda j, i, n: law(j, i), parameters=parameters)


CODES, STEP, WIDTH = sp.IndexedBase("u"), sp.Symbol("l", integer=True), sp.Symbol("c", integer=True, positive=True)
a = sp.Symbol("a", positive=True)
x = sp.Symbol("x", real=True)


@pytest.mark.parametrize(
    ("law", "width"),
    [
        (lambda j, i: -a * (j - i) ** 2, "3"),
        (lambda j, i: -a * (j - i) ** 3, "4"),
        (lambda j, i: i, "1"),
        (lambda j, i: -j * i, "1"),
        (lambda j, i: -a * (j + i) * (j - i), "2"),
        (lambda j, i: -sp.sqrt(j - i), "none"),
        (lambda j, i: -(j - i) * sp.log(1 + j - i), "none"),
        (lambda j, i: -(j - i) / sp.log(2 + j - i), "none"),
        (lambda j, i: 1 / (1 + j - i), "none"),
        (lambda j, i: -sp.log(1 + a * (j - i)) / sp.log(2 + j), "none"),
        (lambda j, i: -a * (2 * (j - i) + 3) ** x, "x = 0, 1, 2, ...: x + 1; other x: none"),
        (lambda j, i: -a * ((j - i) ** 2 + 3) ** (x / 2), "not decided"),
        (lambda j, i: sp.exp(-((j - i) ** 2)), "none"),
        (lambda j, i: sp.exp(-2 * (j - i)), "not decided"),
        (lambda j, i: sp.sin(j - i), "not decided"),
        (lambda j, i: 1 + 1 / (1 + j - i), "not decided"),
        (lambda j, i: -grape.increments(query=j, key=i), "2"),
        (lambda j, i: -(j - i) * grape.increments(query=j, key=i), "4"),
        (lambda j, i: sp.Sum(CODES[j, STEP] * CODES[i, STEP], (STEP, 0, 4)) / 3, "5"),
        (lambda j, i: sp.Sum(CODES[j, STEP] * CODES[i, STEP], (STEP, 2, WIDTH)), "c - 1"),
        (lambda j, i: sp.Sum(CODES[i, STEP], (STEP, 0, 4)), "not decided"),
    ],
)
def test_widths_of_other_biases(law: Callable[[sp.Expr, sp.Expr], sp.Expr], width: str) -> None:
    assert str(caching(biased(law))) == width


@pytest.mark.parametrize("name", ["alibi", "grape-additive", "grape-gated", "fox", "cable-gated"])
def test_a_finite_width_is_the_rank_of_a_large_example(name: str) -> None:
    """The example has queries 6 .. 11 after keys 0 .. 5, and random numbers for those that are free in the bias."""
    draw, drawn = Random(name), {}

    def number(symbol: sp.Expr) -> sp.Rational:
        return drawn.setdefault(symbol, sp.Rational(draw.randint(1, 999), draw.randint(1, 99)))

    law = named(name).bias
    assert law is not None
    matrix = []
    for query in range(6, 12):
        row = []
        for key in range(6):
            bias = law(sp.Integer(query), sp.Integer(key), LENGTH).doit()
            values = {symbol: number(symbol) for symbol in bias.atoms(sp.Indexed) | bias.free_symbols}
            row.append(Fraction(str(bias.xreplace(values))))
        matrix.append(row)
    assert str(rational.rank(matrix)) == str(caching(named(name)))


def test_gates_of_one_size_decide_against_a_width_and_never_for_one() -> None:
    gates = sp.IndexedBase("g", positive=True)
    step = sp.Symbol("l", integer=True)
    parameter = Parameter(symbol=gates, meaning="", family=Family.TOKENS)

    def path(j: sp.Expr, i: sp.Expr) -> sp.Expr:
        return sp.Sum(gates[step], (step, i + 1, j))

    assert str(caching(biased(lambda j, i: -sp.log(1 + path(j, i)), parameter))) == "none"
    assert str(caching(biased(lambda j, i: -sp.sqrt(path(j, i) * (j - i)), parameter))) == "not decided"
    assert str(caching(biased(lambda j, i: -gates[j] * path(j, i), parameter))) == "2"


@pytest.mark.parametrize("law", [lambda d: (1 + d).log(), lambda d: d.sqrt(), lambda d: d**1.5])
def test_examples_of_biases_without_a_width_have_full_rank(law: Callable[[flint.arb], flint.arb]) -> None:
    with flint.ctx.workprec(400):
        for size in range(1, 9):
            matrix = [[law(flint.arb(1 + row + column)) for column in range(size)] for row in range(size)]
            assert not flint.arb_mat(matrix).det().contains(0)


def test_the_potentials_of_path_integrals_have_full_rank_at_any_probe_width() -> None:
    """psi = alpha log sigma(p_j . p_l / d_p) at probes x_j e_1 and y_l e_1, turned back: a function of x_j y_l."""
    with flint.ctx.workprec(400):
        for size in range(1, 9):
            products = [[flint.arb((1 + query) * (2 + key)) / 8 for key in range(size)] for query in range(size)]
            potentials = [[-(1 + (-product).exp()).log() for product in row] for row in products]
            assert not flint.arb_mat(potentials).det().contains(0)


def test_a_table_that_is_constant_from_some_distance_on_has_no_width() -> None:
    weights = sp.IndexedBase("w")
    clipped = biased(lambda j, i: weights[sp.Min(j - i, 5)])
    assert str(caching(clipped)) == "none"
    assert str(caching(biased(lambda j, i: weights[j - i]))) == "not decided"


def test_whatever_stands_at_later_keys_the_rank_of_such_a_table_grows_with_the_length() -> None:
    draw = Random(0)
    table = [Fraction(draw.randint(1, 99)) for _ in range(6)]
    for size in (10, 20, 30):
        matrix = [
            [table[min(query - key, 5)] if key <= query else Fraction(draw.randint(-9, 9)) for key in range(size)]
            for query in range(size)
        ]
        assert size - 5 <= rational.rank(matrix) <= size


@pytest.mark.parametrize(
    ("law", "width"),
    [
        (lambda d: (a * d, sp.exp(-(d**2))), "none"),
        (lambda d: (sp.log(1 + d), sp.S.Zero), "none"),
        (lambda d: (a * d, sp.S.One), "not decided"),
    ],
)
def test_vectors_added_to_keys_have_no_width_if_a_component_has_none(
    law: Callable[[sp.Expr], tuple[sp.Expr, sp.Expr]], width: str
) -> None:
    toy = Encoding(name="toy", title="", relative_key=lambda j, i, n: sp.Matrix(law(j - i)))
    assert str(caching(toy)) == width


def test_no_key_is_cached_where_later_tokens_change_it() -> None:
    linear = biased(lambda j, i: -a * (j - i))
    assert str(caching(linear)) == "2"
    both_sides = caching(replace(linear, causal=False))
    assert str(both_sides) == "none"
    assert both_sides.reason == "later tokens change queries and keys: a query attends to all keys"


def test_the_slope_alone_makes_no_width() -> None:
    assert str(caching(biased(lambda j, i: biases.alibi_bias(a, query_position=j, key_position=i)))) == "2"


def test_a_window_limits_the_keys_that_are_kept() -> None:
    assert caching(named("swat")).reason.endswith("the last W keys are kept")
    assert "kept" not in caching(named("alibi")).reason
