"""Conversion of real sympy expressions to elements of lengthgen.theory.ring."""

from fractions import Fraction
from typing import Any

import sympy as sp

from lengthgen.theory import ring_functions as functions
from lengthgen.theory.enclosure import enclose
from lengthgen.theory.ring import PI, Element, Ring, TooLong, constant, of_base, plus
from lengthgen.theory.ring import E as EULER
from lengthgen.theory.ring_signs import is_positive

MOST_STEPS = 400
"""Largest number of products of two terms for one value; a pattern may have many hundreds of values."""
_BITS = 64


def element_of_value(value: Any) -> Element | None:
    """Element that a real expression equals; None if that takes too many steps."""
    try:
        return _read(Ring(left=MOST_STEPS), value)
    except TooLong:
        return None


def _read(ring: Ring, value: Any) -> Element:
    """Element of an expression; a part that the ring does not know becomes a symbol."""
    if value.is_Rational:
        return constant(Fraction(int(value.p), int(value.q)))
    if value.is_Float:
        return _float(value)
    if value is sp.pi:
        return of_base(PI)
    if value is sp.E:
        return of_base(EULER)
    if value.is_Add:
        total: Element = constant(0)
        for part in value.args:
            total = plus(total, _read(ring, part))
        return total
    if value.is_Mul:
        return ring.product(_read(ring, part) for part in value.args)
    if value.is_Pow:
        base = _read(ring, value.base)
        if value.exp.is_Integer or _is_positive(value.base, base):
            return functions.power(ring, base, _read(ring, value.exp))
    if isinstance(value, sp.exp):
        return functions.exponential(ring, _read(ring, value.args[0]))
    if isinstance(value, sp.log):
        argument = _read(ring, value.args[0])
        if _is_positive(value.args[0], argument):
            return functions.logarithm(ring, argument)
    if isinstance(value, sp.sin | sp.cos):
        return ring.wave("sin" if isinstance(value, sp.sin) else "cos", _read(ring, value.args[0]))
    if isinstance(value, sp.Abs):
        return functions.absolute(ring, _read(ring, value.args[0]))
    return of_base(("symbol", value))


def _float(value: sp.Float) -> Element:
    """Element of a floating-point number: a symbol about which only the sign is known.

    The symbol has the number's text as its name, since Python cannot compare a sympy Float with the Fraction of the
    same hash.
    """
    if value.is_zero:
        return constant(0)
    sign = {"positive": True} if value.is_positive else {"negative": True}
    return of_base(("symbol", sp.Symbol(sp.srepr(value), **sign)))


def _is_positive(value: Any, element: Element) -> bool:
    """True if the expression, or its element, is known to be positive."""
    if value.free_symbols:
        return is_positive(element) or bool(value.is_positive)
    ball = enclose(value, bits=_BITS)
    return ball is not None and bool(ball > 0)
