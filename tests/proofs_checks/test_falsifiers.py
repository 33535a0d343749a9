"""Falsifiers change what an answer is computed from, never the answer alone; statements name the reach of checks."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
import sympy as sp

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.paper import Facts


def _is_plain(value: object) -> bool:
    """True if a value is data: a number, a text, a yes or no, a set of such; formulas and functions are not."""
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, tuple | list | frozenset | set):
        return all(map(_is_plain, value))
    if isinstance(value, sp.Basic):
        return not value.free_symbols
    return value is None or isinstance(value, bool | int | float | str | Fraction)


def _only_compared(check: Callable[..., Any]) -> set[str]:
    """Find the parameters of a check that it does nothing with but compare and print them."""
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(check))).body
    assert isinstance(function, ast.FunctionDef)
    passive = {id(part) for node in ast.walk(function) for part in _passive(node)}
    names = [node for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return {
        argument.arg
        for argument in (*function.args.args, *function.args.kwonlyargs)
        if all(id(name) in passive for name in names if name.id == argument.arg)
    }


def _passive(node: ast.AST) -> Iterable[ast.AST]:
    """List the names that a node only compares or prints."""
    if isinstance(node, ast.Compare):
        return (node.left, *node.comparators)
    if isinstance(node, ast.FormattedValue):
        return ast.walk(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "require_equal":
        return node.args
    if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):  # an identity
        return node.value.elts
    return ()


def _check_that_only_compares(*, formula: Callable[[int], int], stated: int, size: int) -> str:
    computed = formula(size)
    if computed != stated:
        raise ValueError(f"found {computed}, stated {stated}")
    return f"{stated}"


def _facts_that_only_compare(formula: Callable[[int], int], stated: int, size: int = 3) -> Facts:
    yield "the formula", formula(size), stated


@pytest.mark.parametrize("check", [_check_that_only_compares, _facts_that_only_compare])
def test_parameters_that_are_only_compared_are_found(check: Callable[..., Any]) -> None:
    assert _only_compared(check) == {"stated"}


def test_parameters_that_a_check_only_compares_are_declared_answers() -> None:
    only_compared = cache(_only_compared)  # many claims share a check
    for claim in registry.CLAIMS:
        compared = {name for name in only_compared(claim.check) & set(claim.holds) if _is_plain(claim.holds[name])}
        assert compared <= set(claim.answers), claim.id
