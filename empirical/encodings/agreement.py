"""Agreement of an encoding's module with its formulas: logits and codes of both in float64, pair by pair."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from empirical.encodings.base import Content, PositionEncoding
from theory.encodings.encoding import KEY, QUERY, Encoding, EncodingError

HEADS, HEAD_DIM = 2, 4
POSITIONS = (0, 1, 2, 5, 31, 32, 1000)
"""Positions of the tokens that are compared; their length is the last one and 1 more."""
TOLERANCE = 1e-9
SIZES = {
    "heads": HEADS,
    "head_dim": HEAD_DIM,
    "width": HEADS * HEAD_DIM,
    "layers": 1,
    "length": POSITIONS[-1] + 1,
    "trained_length": POSITIONS[-1] + 1,
}
"""Sizes of the module that is compared."""


def largest_difference(encoding: Encoding, module: PositionEncoding) -> float:
    """The largest difference of a logit, or of an entry of a code, over all heads and pairs with i <= j.

    Planes are the coordinates (2l, 2l + 1) of a head, and of the model's width for what is added to the embedding.

    Args:
        encoding: its formulas; `values` gives the values of their parameters in the module.
        module: made for the sizes `SIZES`.

    Raises:
        EncodingError: a formula still holds a symbol when its parameters have their values.
    """
    module = module.double()
    generator = torch.Generator().manual_seed(0)
    at = torch.tensor(POSITIONS)
    q, k = torch.randn(2, 1, HEADS, len(at), HEAD_DIM, dtype=torch.float64, generator=generator)
    x = torch.randn(1, len(at), HEADS * HEAD_DIM, dtype=torch.float64, generator=generator)
    with torch.no_grad():
        content = Content(x_BLD=x, q_BHJC=q, k_BHIC=k)
        bias = module.bias(at, at, content, dtype=torch.float64)
        logits = module.scores(*module.rotate(q, k, at, content), at, at) / HEAD_DIM**0.5
        logits = logits if bias is None else logits + bias
        codes = module.embed(torch.zeros_like(x), at)[0]
    apart = [abs(float(logits[0, head, row, column]) - _logit(encoding, module, q, k, head, row, column))
             for head in range(HEADS) for row in range(len(at)) for column in range(row + 1)]  # fmt: skip
    return float(np.max(apart + _of_codes(encoding, module, codes)))  # NaN, and so refuted, if one of them is


def _logit(encoding: Encoding, module: Any, q: Tensor, k: Tensor, head: int, row: int, column: int) -> float:
    j, i, length = (sp.Integer(number) for number in (POSITIONS[row], POSITIONS[column], POSITIONS[-1] + 1))
    content_only = replace(encoding, embed=None, bias=None)  # codes are added to the token embedding, before q and k
    total = sp.Float(0)
    for plane in range(HEAD_DIM // 2):
        values = _values(encoding, module, head, plane)
        pair = slice(2 * plane, 2 * plane + 2)
        content = dict(zip([*QUERY, *KEY], [*q[0, head, row, pair].tolist(), *k[0, head, column, pair].tolist()],
                           strict=True))  # fmt: skip
        score = content_only.score(query_position=j, key_position=i, length=length)
        total += _number(encoding, score, values | content)
    total = total / sp.sqrt(HEAD_DIM)
    if encoding.bias:
        at = encoding.positions or (lambda index, length: index)
        law = encoding.bias(at(j, length), at(i, length), length)
        total += _number(encoding, law, _values(encoding, module, head, 0))
    return float(total)


def _of_codes(encoding: Encoding, module: Any, codes_LD: Tensor) -> list[float]:
    if not encoding.embed:
        return [float(codes_LD.abs().max())]
    apart = []
    for plane in range(codes_LD.shape[1] // 2):
        values = _values(encoding, module, 0, plane)
        for row, position in enumerate(POSITIONS):
            code = encoding.embed(sp.Integer(position))
            apart += [abs(float(codes_LD[row, 2 * plane + side]) - float(_number(encoding, code[side], values)))
                      for side in range(2)]  # fmt: skip
    return apart


def _values(encoding: Encoding, module: Any, head: int, plane: int) -> dict[Any, Any]:
    return dict(encoding.values(module, head, plane)) if encoding.values else {}


def _number(encoding: Encoding, formula: sp.Expr, values: Mapping[Any, Any]) -> sp.Expr:
    """The value of a formula; a family of numbers has a function of the indices for its value."""
    families = {symbol: value for symbol, value in values.items() if callable(value)}
    formula = formula.doit().replace(
        lambda part: isinstance(part, sp.Indexed) and part.base in families,
        lambda part: sp.Float(families[part.base](*map(int, part.indices)), 30),
    )
    numbers = {symbol: sp.Float(value, 30) for symbol, value in values.items() if symbol not in families}
    number = sp.N(formula.subs(numbers), 30)
    if number.free_symbols or not number.is_number:
        missing = ", ".join(sorted(map(str, number.free_symbols))) or str(number)
        raise EncodingError(f"'{encoding.name}': its `values` leave open {missing}")
    return number
