"""Shared parts of tests of torch encodings: the symbolic twin evaluated pair by pair, and hostile positions."""

from collections.abc import Mapping, Sequence

import sympy as sp
import torch
from torch import Tensor

from lengthgen.theory.encodings.encoding import KEY, QUERY, Encoding

HOSTILE = (0, 1, 2, 7, 255, 256, 257, 4095, 10**6 - 1, 10**6)
"""Positions, not contiguous: ends of what small floating-point types count exactly, and far ones."""
DIGITS = 40


def normal(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Numbers from N(0, 1) of this shape, the same for the same seed."""
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def exact(expression: sp.Expr) -> float:
    """The value of an expression without symbols, rounded once."""
    return float(sp.N(expression, DIGITS))


def symbolic_bias(encoding: Encoding, values: Mapping[sp.Basic, sp.Expr], positions: Sequence[int]) -> Tensor:
    """float64 [J, I]: the symbolic twin's bias of one head, nan where the key is after the query."""
    assert encoding.bias is not None
    table = torch.full((len(positions), len(positions)), torch.nan, dtype=torch.float64)
    length = sp.Integer(max(positions) + 1)
    for row, j in enumerate(positions):
        for column, i in enumerate(positions):
            if i <= j:
                law = encoding.bias(sp.Integer(j), sp.Integer(i), length)
                table[row, column] = exact(_with(law.doit(), values))
    return table


def symbolic_scores(
    encoding: Encoding,
    planes: Sequence[Mapping[sp.Basic, sp.Expr]],
    q_JC: Tensor,
    k_IC: Tensor,
    positions: Sequence[int],
) -> Tensor:
    """float64 [J, I]: the twin's score, summed over planes (2l, 2l + 1); nan where the key is after the query.

    `planes` gives each plane the values of the encoding's parameters.
    """
    table = torch.full((len(positions), len(positions)), torch.nan, dtype=torch.float64)
    length = sp.Integer(max(positions) + 1)
    for row, j in enumerate(positions):
        for column, i in enumerate(positions):
            if i <= j:
                score = encoding.score(query_position=sp.Integer(j), key_position=sp.Integer(i), length=length).doit()
                table[row, column] = sum(
                    exact(_with(score, {**values, **_content(q_JC[row], k_IC[column], plane)}))
                    for plane, values in enumerate(planes)
                )
    return table


def _with(expression: sp.Expr, values: Mapping[sp.Basic, sp.Expr]) -> sp.Expr:
    """The expression with values for its functions and symbols; `subs` is slow and only functions need it."""
    functions = {name: value for name, value in values.items() if isinstance(name, sp.core.function.UndefinedFunction)}
    return expression.subs(functions).xreplace({name: values[name] for name in values.keys() - functions.keys()})


def _content(q_C: Tensor, k_C: Tensor, plane: int) -> dict[sp.Symbol, sp.Rational]:
    pair = slice(2 * plane, 2 * plane + 2)
    symbols = [*QUERY, *KEY]
    numbers = [*q_C[pair].tolist(), *k_C[pair].tolist()]
    return {symbol: sp.Rational(number) for symbol, number in zip(symbols, numbers, strict=True)}
