"""Is a number built of radicals, and of sines and cosines of rational multiples of pi, zero?  By a separation bound.

Every such value is U/L with algebraic integers U and L of one number field of degree at most D, all conjugates of U
at most u and of L at most l in modulus, where u and l follow from the expression (Burnikel, Funke, Mehlhorn, Schirra,
Schmitt, "A separation bound for real algebraic expressions", 2001; for 2 cos(pi p/q) they are 2 and 1).  The norm of
U, if it is not zero, is an integer, so |U| >= u^(1 - D): a value below u^(1 - D) / l is zero.
"""

from math import gcd, lcm
from typing import Any

import flint
import sympy as sp

from theory.enclosure import enclose

MOST_BITS = 2**17
"""Precision beyond which a number is not looked at."""
_FIRST_BITS = 256


def is_zero(value: sp.Expr) -> bool | None:
    """Whether the number is zero; None where it is not built as said, not defined, or too complicated."""
    weights = bounds(value)
    if weights is None:
        return None
    above, below = weights
    separation = (degree(value) - 1) * above + below
    bits = _FIRST_BITS
    while separation <= MOST_BITS and bits <= 4 * (separation + _FIRST_BITS):
        ball = enclose(value, bits=bits)
        if ball is not None and not ball.contains(0):
            return False
        if ball is not None and abs(ball) < _power_of_two(-separation):
            return True
        bits *= 2
    return None


def bounds(value: sp.Expr) -> tuple[int, int] | None:
    """Whole numbers at least log2 u and log2 l, both not negative; None outside the fragment."""
    if value.is_Rational:
        return abs(int(value.p)).bit_length(), int(value.q).bit_length() - (value.q == 1)
    if is_root_of_unity_part(value):
        return 1, 1
    if not (value.is_Add or value.is_Mul or value.is_Pow):
        return None
    if value.is_Pow:
        return _of_power(value)
    parts = [bounds(part) for part in value.args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    below = sum(part[1] for part in known)
    if value.is_Mul:
        return sum(part[0] for part in known), below
    return max(max(part[0] - part[1] for part in known) + below, 0) + (len(known) - 1).bit_length(), below


def _of_power(value: sp.Expr) -> tuple[int, int] | None:
    base, exponent = value.args
    inside = bounds(base)
    if inside is None or not exponent.is_Rational:
        return None
    (above, below), root = inside, int(exponent.q)
    # The root of U/L is that of U L^(k-1) over L, and also U over that of U^(k-1) L.
    if above >= below:
        above = -(-(above + (root - 1) * below) // root)
    else:
        below = -(-((root - 1) * above + below) // root)
    times = abs(int(exponent.p))
    return (above * times, below * times) if exponent > 0 else (below * times, above * times)


def is_root_of_unity_part(value: sp.Expr) -> bool:
    """Whether it is the sine or cosine of a rational multiple of pi."""
    return isinstance(value, sp.sin | sp.cos) and bool((value.args[0] / sp.pi).is_Rational)


def degree(value: sp.Expr) -> int:
    """At least the degree of a field that holds the number and all its parts."""
    roots = {atom for atom in value.atoms(sp.Pow) if atom.exp.is_Rational and atom.exp.q > 1}
    whole = [(int(atom.base), int(atom.exp.q)) for atom in roots if atom.base.is_Integer]
    found = 1
    for atom in roots:
        if not atom.base.is_Integer:
            found *= int(atom.exp.q)
    # The roots of products of b_1, b_2, ... lie in the field of the roots of b_1, b_2, ...
    for factor in coprime_base(base for base, _ in whole):
        found *= lcm(*(root for base, root in whole if base % factor == 0))
    turns = [int((atom.args[0] / sp.pi).q) for atom in value.atoms(sp.sin, sp.cos) if is_root_of_unity_part(atom)]
    # All e^(i pi p/q) and i lie in the field of one root of unity.
    return found * int(sp.totient(lcm(4, 2 * lcm(*turns)))) if turns else found


def coprime_base(numbers: Any) -> list[int]:
    """Pairwise coprime whole numbers above 1 of which all of the given ones, 1 or above, are products."""
    waiting = [number for number in numbers if number > 1]
    found: list[int] = []
    while waiting:
        number = waiting.pop()
        other = next((one for one in found if gcd(one, number) > 1), None)
        if other is None:
            found.append(number)
        else:
            common = gcd(other, number)
            found.remove(other)
            waiting += [part for part in (common, other // common, number // common) if part > 1]
    return sorted(found)


def _power_of_two(exponent: int) -> Any:
    return flint.arb(2) ** exponent
