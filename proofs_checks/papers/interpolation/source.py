"""What the claims on position interpolation share: their source, RoPE's base, and enclosures of numbers."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Source
from theory.enclosure import enclose

BASE = 10000
_BITS = 128


def source(place: str) -> Source:
    """A place in the paper."""
    return Source(paper="Position interpolation", arxiv="2306.15595", place=place)


def ball(number: sp.Expr) -> Any:
    """A ball that holds the number; comparisons of balls are true only where they are certain."""
    found = enclose(number, bits=_BITS)
    if found is None:
        raise ArithmeticError(f"no enclosure of {number}")
    return found


def short(number: Any, digits: int = 4) -> str:
    """The middle of a ball."""
    return f"{float(number.mid()):.{digits}g}"
