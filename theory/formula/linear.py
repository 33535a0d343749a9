"""Linear forms a i + b j + c n + e in a formula, with their minimum and maximum over pairs i <= j <= n."""

from fractions import Fraction
from functools import lru_cache
from math import inf

from lengthgen.theory.formula.syntax import Name, Node, Number, Operation

Form = tuple[Fraction, Fraction, Fraction, Fraction]
"""Coefficients of i, j, n and 1."""
NOTHING = (Fraction(0), Fraction(0), Fraction(0), Fraction(0))


@lru_cache(maxsize=4096)
def linear(node: Node) -> Form | None:
    """Coefficients of i, j, n and 1 if the tree is a rational linear form; None if it is not recognised as one."""
    match node:
        case Number(value=value):
            return Fraction(0), Fraction(0), Fraction(0), Fraction(value)
        case Name(name="i" | "j" | "n" as name):
            return Fraction(name == "i"), Fraction(name == "j"), Fraction(name == "n"), Fraction(0)
        case Operation(name="+" | "-" | "*" | "/" | "neg" | "pos" as name, operands=parts):
            forms = [linear(part) for part in parts]
            if None not in forms:
                return _combine(name, [form for form in forms if form is not None])
    return None


def _combine(name: str, forms: list[Form]) -> Form | None:
    """Form of an operation on forms; None if the result is not linear."""
    first, last = forms[0], forms[-1]
    match name:
        case "+" | "-":
            sign = 1 if name == "+" else -1
            return _weighted_sum(first, 1, last, sign)
        case "neg" | "pos":
            return _weighted_sum(first, 1 if name == "pos" else -1)
        case "*" if not any(first[:3]):
            return _weighted_sum(last, first[3])
        case "*" if not any(last[:3]):
            return _weighted_sum(first, last[3])
        case "/" if not any(last[:3]) and last[3]:
            return _weighted_sum(first, 1 / last[3])
    return None


def _weighted_sum(first: Form, factor: Fraction | int, last: Form = NOTHING, weight: int = 0) -> Form:
    """Form `factor * first + weight * last`."""
    a, b, c, d = (factor * first_part + weight * last_part for first_part, last_part in zip(first, last, strict=True))
    return a, b, c, d


def slopes(form: Form) -> Form:
    """Coefficients x, y, z, w of a i + b j + c n + e = x + y u + z v + w t, for i = 1 + u, j = i + v, n = j + t.

    The new variables u, v and t are >= 0.
    """
    a, b, c, constant = form
    return a + b + c + constant, a + b + c, b + c, c


def linear_bounds(node: Node) -> tuple[Fraction | float, Fraction | float]:
    """Minimum and maximum of a linear form over pairs i <= j <= n; infinite if the tree is not linear."""
    form = linear(node)
    if form is None:
        return -inf, inf
    start, *rates = slopes(form)
    return (
        start if all(slope >= 0 for slope in rates) else -inf,
        start if all(slope <= 0 for slope in rates) else inf,
    )


def decided(test: str, low: Fraction | float, high: Fraction | float) -> bool | None:
    """Truth value of `x test 0` if it is the same for all low <= x <= high; else None."""
    match test:
        case "<" | ">=" if high < 0 or low >= 0:
            return (high < 0) == (test == "<")
        case ">" | "<=" if low > 0 or high <= 0:
            return (low > 0) == (test == ">")
        case "==" | "!=" if high < 0 or low > 0:
            return test == "!="
        case "==" | "!=" if low == high == 0:
            return test == "=="
    return None
