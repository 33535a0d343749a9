"""Comparison of an encoding's torch module with its symbolic formulas: logits, weights and codes, in float64."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.biases import path_distances
from lengthgen.theory.encodings.encoding import KEY, QUERY, Encoding, EncodingError, Normaliser

HEADS, HEAD_DIM = 2, 4
POSITIONS = (0, 1, 2, 5, 31, 32, 1000)
"""Positions of the compared tokens; the sequence length is the last one plus 1."""
TOLERANCE = 1e-9
"""Largest accepted difference of a logit or of an entry of a code."""
SIZES = {
    "heads": HEADS,
    "head_dim": HEAD_DIM,
    "width": HEADS * HEAD_DIM,
    "layers": 1,
    "length": POSITIONS[-1] + 1,
    "trained_length": POSITIONS[-1] + 1,
}
"""Sizes for which the compared module is made."""
_LENGTH = sp.Integer(POSITIONS[-1] + 1)


def largest_difference(encoding: Encoding, module: PositionEncoding) -> float:
    """Largest difference of a logit, a weight, or an entry of a code, over all heads and pairs with i <= j.

    It is NaN if a difference is NaN.

    Planes are the coordinates (2l, 2l + 1) of a head, or of the model's width for a code added to the embedding.

    Args:
        encoding: record with the formulas; its `values` gives the values of their parameters in the module.
        module: module made for the sizes `SIZES`.

    Raises:
        EncodingError: a formula still contains a symbol after its parameters are replaced by their values.
    """
    module = module.double()
    generator = torch.Generator().manual_seed(0)
    positions = torch.tensor(POSITIONS)
    q, k = torch.randn(2, 1, HEADS, len(positions), HEAD_DIM, dtype=torch.float64, generator=generator)
    x = torch.randn(1, len(positions), HEADS * HEAD_DIM, dtype=torch.float64, generator=generator)
    with torch.no_grad():
        logits = module_logits(module, x, q, k, positions)
        codes = module.embed(torch.zeros_like(x), positions)[0]
        weights = _weight_difference(encoding, module, logits, positions)
    differences = [abs(float(logits[0, head, row, column]) - right)
                   for row in range(len(positions)) for column in range(row + 1)
                   for head, right in enumerate(_formula_logits(encoding, module, q, k, row, column))]  # fmt: skip
    # The maximum is NaN if an entry is NaN.
    return float(np.max([*differences, *_code_differences(encoding, module, codes), weights]))


def module_logits(module: PositionEncoding, x_BLD: Tensor, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor) -> Tensor:
    """Logits [B, H, L, L] of a module, in float64: scores over sqrt(C), plus the bias; a path is the structure."""
    path = path_distances(positions, positions)
    content = Content(x_BLD=x_BLD, q_BHJC=q_BHLC, k_BHIC=k_BHLC, distances_BJI=path)
    bias = module.bias(positions, positions, content, dtype=torch.float64)
    rotated = module.rotate(q_BHLC, k_BHLC, positions, content)
    logits: Tensor = module.scores(*rotated, positions, positions, content) / q_BHLC.shape[-1] ** 0.5
    return logits if bias is None else logits + bias


def _formula_logits(encoding: Encoding, module: Any, q: Tensor, k: Tensor, row: int, column: int) -> list[float]:
    """Logit of query `row` and key `column` of POSITIONS in each head, evaluated from the formulas."""
    j, i = sp.Integer(POSITIONS[row]), sp.Integer(POSITIONS[column])
    content_only = replace(encoding, embed=None, bias=None)  # codes are added to the token embedding, before q and k
    score = content_only.score(query_position=j, key_position=i, length=_LENGTH)
    law = encoding.bias and encoding.bias(
        _moved(encoding, POSITIONS[row]), _moved(encoding, POSITIONS[column]), _LENGTH
    )
    logits = []
    for head in range(HEADS):
        total = sp.Float(0)
        for plane in range(HEAD_DIM // 2):
            values = _parameter_values(encoding, module, head, plane)
            pair = slice(2 * plane, 2 * plane + 2)
            content = dict(zip([*QUERY, *KEY], [*q[0, head, row, pair].tolist(), *k[0, head, column, pair].tolist()],
                               strict=True))  # fmt: skip
            total += _evaluate(encoding, score, values | content)
        total = total / sp.sqrt(HEAD_DIM)
        if law is not None:
            total += _evaluate(encoding, law, _parameter_values(encoding, module, head, 0))
        logits.append(float(total))
    return logits


def _weight_difference(encoding: Encoding, module: Any, logits_BHJI: Tensor, positions: Tensor) -> float:
    """Largest difference of a weight of the module from that of the record's normaliser within its window."""
    hidden = torch.ones(len(positions), len(positions), dtype=torch.bool).triu(1)
    masked = logits_BHJI.masked_fill(hidden, -torch.inf)
    if encoding.window is not sp.oo:
        window = int(_evaluate(encoding, encoding.window, _parameter_values(encoding, module, 0, 0)))
        hidden = hidden | (positions[:, None] - positions >= window)
    seen = logits_BHJI.masked_fill(hidden, -torch.inf)
    expected = seen.softmax(-1) if encoding.normaliser == Normaliser.SOFTMAX else 1 / (1 + (-seen).exp())
    return float((module.normalise(masked, positions, positions) - expected).abs().max())


def _code_differences(encoding: Encoding, module: Any, codes_LD: Tensor) -> list[float]:
    """Differences of the codes' entries; if the record has no code formula, the module's largest entry."""
    if not encoding.embed:
        return [float(codes_LD.abs().max())]
    differences = []
    for plane in range(codes_LD.shape[1] // 2):
        values = _parameter_values(encoding, module, 0, plane)
        for row, position in enumerate(POSITIONS):
            code = encoding.embed(_moved(encoding, position))
            differences += [abs(float(codes_LD[row, 2 * plane + side]) - float(_evaluate(encoding, code[side], values)))
                            for side in range(2)]  # fmt: skip
    return differences


def _moved(encoding: Encoding, index: int) -> sp.Expr:
    """Position of the token with this index, after the encoding's own change of positions."""
    return encoding.positions(sp.Integer(index), _LENGTH) if encoding.positions else sp.Integer(index)


def _parameter_values(encoding: Encoding, module: Any, head: int, plane: int) -> dict[Any, Any]:
    """Values of the formula's parameters in the module, for one head and plane."""
    return dict(encoding.values(module, head, plane)) if encoding.values else {}


def _evaluate(encoding: Encoding, formula: sp.Expr, values: Mapping[Any, Any]) -> sp.Expr:
    """Value of a formula with 30 digits; a family of numbers has a function of the indices as its value."""
    families = {symbol: value for symbol, value in values.items() if callable(value)}
    formula = formula.doit().replace(
        lambda part: isinstance(part, sp.Indexed) and part.base in families,
        lambda part: sp.Float(families[part.base](*map(int, part.indices)), 30),
    )
    numbers = {
        symbol: sp.Integer(value) if isinstance(value, int) else sp.Float(value, 30)
        for symbol, value in values.items()
        if symbol not in families
    }
    number = sp.N(formula.xreplace(numbers), 30)
    if number.free_symbols or not number.is_number:
        missing = ", ".join(sorted(map(str, number.free_symbols))) or str(number)
        raise EncodingError(f"'{encoding.name}': its `values` give no value for {missing}")
    return number
