"""Parts that the engines do not know stand under names, equal ones under one; the rest stays as it is written."""

import pytest
import sympy as sp

from lengthgen.theory.zero import flint_engine, sympy_engine
from lengthgen.theory.zero.two_engines import engine_trees

x, y, c = sp.symbols("x y c", positive=True)
f, w = sp.Function("f"), sp.IndexedBase("w")


def _trees(*build):
    with sp.evaluate(False):
        trees = [tree() for tree in build]
    return engine_trees(trees).trees


KEPT = {
    "sum": lambda: x + (y - x),
    "product": lambda: sp.Integer(2) * 3 * x,
    "whole power": lambda: x ** (sp.Integer(1) + 1),
    "reciprocal": lambda: 1 / (x + 0),
    "wave": lambda: sp.cos(0 * x) * sp.exp(x + y * x),
    "derivative": lambda: sp.Derivative(sp.sin(x * y), x),
}


@pytest.mark.parametrize("build", KEPT.values(), ids=KEPT)
def test_parts_that_the_engines_know_stay_as_they_are_written(build):
    with sp.evaluate(False):
        tree = build()
    assert _trees(build) == (tree,)
    sympy_engine.decide(tree, x)
    flint_engine.decide(tree, x)


EVALUATED = {
    "logarithm of a power": (lambda: sp.exp(2 * sp.log(c * x + 1) + y), lambda: (c * x + 1) ** 2 * sp.exp(y)),
    "size": (lambda: abs(x - (x + y)), lambda: y),
    "square of a root": (lambda: sp.sqrt(x) ** 2, lambda: x),
    "angle of a number": (lambda: sp.cos(sp.pi / 2 - sp.pi / 2), lambda: sp.Integer(1)),
    "derivative of a logarithm": (lambda: sp.Derivative(sp.log(x), x), lambda: 1 / x),
}


@pytest.mark.parametrize(("build", "value"), EVALUATED.values(), ids=EVALUATED)
def test_parts_that_the_engines_do_not_know_are_evaluated(build, value):
    (tree,) = _trees(build)
    assert not tree.atoms(sp.Dummy)
    assert sympy_engine.decide(tree, value()).zero


ALIKE = {
    "function": (lambda: f(x - (x + y)), lambda: f(-y)),
    "member": (lambda: w[x + y - x], lambda: w[y]),
    "power": (lambda: 3 ** (x + x), lambda: 3 ** (2 * x)),
    "in an angle": (lambda: sp.sin(x * w[y + 1 - 1]), lambda: sp.sin(x * w[y])),
    "constant": (lambda: sp.pi + 0, lambda: sp.pi),
}


@pytest.mark.parametrize(("first", "second"), ALIKE.values(), ids=ALIKE)
def test_equal_parts_have_one_name_and_different_ones_two(first, second):
    left, right = (tree.doit() for tree in _trees(first, second))
    assert left == right
    assert left.atoms(sp.Dummy)
    here, there = _trees(first, lambda: second().subs(y, 2 * y).subs(x, 3 * x) + f(c) + sp.E * w[c])
    assert here != there


def test_a_name_says_what_it_stands_for():
    read = engine_trees([sp.log(x) * y])
    assert read.evaluated == {sp.log(x): sp.log(x)}
    assert str(read.trees[0]) == "_log(x)*y"


def test_a_name_that_the_caller_made_is_no_unknown_part():
    own = sp.Dummy("own")
    tree = sp.Derivative(sp.sin(own * x), x)
    read = engine_trees([tree])
    assert read.trees == (tree,)
    assert not read.evaluated
