"""Einsum as a matrix product: which operand holds queries, which keys, and both in one layout."""

from string import ascii_letters
from typing import Any

import torch
from torch import Tensor


def einsum_factors(equation: Any, *operands: Any) -> tuple[Tensor, Tensor] | None:
    """Queries [..., J, C] and keys [..., I, C] of an einsum with result [..., J, I]; None if it is no such product.

    Args:
        equation: equation of the einsum, in any layout: "bqhd,bkhd->bhqk", "... i d, ... j d -> ... i j".
        operands: the two operands, alone or in one sequence.
    """
    operands = tuple(operands[0]) if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    if not isinstance(equation, str) or len(operands) != 2:
        return None
    inputs, _, result = equation.replace(" ", "").partition("->")
    unused = [letter for letter in ascii_letters if letter not in equation]  # names for the axes of an ellipsis
    terms, most = [], 0
    for term, operand in zip(inputs.split(","), operands, strict=True):
        count = operand.ndim - len(term.replace("...", ""))
        most = max(most, count)
        terms.append(term.replace("...", "".join(reversed(unused[:count]))))
    result = result.replace("...", "".join(reversed(unused[:most])))
    axes, ends = result[:-2], result[-2:]
    summed = set(terms[0]) & set(terms[1]) - set(result)
    pairs = list(zip(terms, operands, strict=True))
    if len(ends) == 2 and ends[0] not in terms[0]:
        pairs.reverse()
    if len(ends) < 2 or len(summed) != 1:
        return None
    factors = []
    for (term, operand), own, other in zip(pairs, ends, reversed(ends), strict=True):
        if own not in term or other in term or set(term) - {*axes, own, *summed}:
            return None
        kept = "".join(axis for axis in axes if axis in term)
        factor = torch.einsum(f"{term}->{kept}{own}{''.join(summed)}", operand)
        for place, axis in enumerate(axes):
            factor = factor if axis in term else factor.unsqueeze(place)
        factors.append(factor)
    return factors[0], factors[1]
