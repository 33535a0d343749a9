"""Scale by which a formula has shown all its values, if its values repeat.

Each part of the formula must repeat in one of two ways.  Either it depends on the residues of the positions modulo P
alone; or it depends on one position or one difference alone and has period P past a threshold T.  A pair then keeps
its value if i, j and n move back by P while i > T + P; if j and n do while j - i > T + P; and if n does while
n - j > T + P.  So all values occur by scale 2 (T + P), or 3 (T + P) if n occurs in the formula.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import lcm
from typing import Any

import sympy as sp

from lengthgen.theory.formula.canonical import POSITIONS, expression_of
from lengthgen.theory.formula.linear import linear, simplify_choices
from lengthgen.theory.formula.progressions import PATHS, follow_path
from lengthgen.theory.formula.structure import Structure, dependence
from lengthgen.theory.formula.syntax import VARIABLES, ComparisonChain, Name, Node, Number, Operation, children, names

_TURN = Operation("*", (Number(2), Name("pi")))


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Periodicity of a formula all of whose parts repeat.

    Attributes:
        enough: a scale by which every value that occurs has occurred.
        period: common period of all parts.
        from_start: True if all parts repeat from the first position on.
        by_position: True if the formula depends on one position or on the distance alone.
    """

    enough: int
    period: int
    from_start: bool
    by_position: bool


PATH_OF = {
    "d": {**PATHS[Structure.TOEPLITZ], "n": (1, 1)},
    "i": {**PATHS[Structure.KEY], "n": (1, 1)},
    "j": {**PATHS[Structure.QUERY], "n": (1, 1)},
    "n": {"i": (1, 0), "j": (1, 0), "n": (1, 1)},
    "n - i": {"i": (1, 0), "j": (1, 0), "n": (1, 1)},
    "n - j": {"i": (1, 0), "j": (1, 0), "n": (1, 1)},
}
"""Position or difference -> a path of pairs that shows all values of a part that depends on it alone.

Each has n as well, since a part may depend on a position alone although n is written in it.
"""


def repeats(nodes: Iterable[Node], fixed: Mapping[str, Any]) -> Repeats | None:
    """Periodicity of the trees and the scale that shows all values; None if a part is not known to repeat.

    Args:
        nodes: the trees.
        fixed: symbols or values of the parameters.
    """
    trees = [simplify_choices(node) for node in nodes]
    threshold, period = 0, 1
    for node in {part for tree in trees for part in _dependent_parts(tree)}:
        residue_period = joint_period(node)
        if residue_period is not None:
            period = lcm(period, residue_period)
        else:
            variables = dependence(node)
            course = follow_path((node,), PATH_OF[next(iter(variables))], fixed) if len(variables) == 1 else None
            if course is None or not course.constant:
                return None
            threshold, period = max(threshold, course.threshold), lcm(period, course.period)
    all_variables: frozenset[str] = frozenset().union(*map(dependence, trees))
    one_variable = all_variables in ({"d"}, {"i"}, {"j"})
    family = any("n" in names(node) for node in trees)
    multiple = 1 if one_variable or not all_variables else 3 if family else 2
    return Repeats(
        enough=multiple * (threshold + period + 1) if all_variables else 1,
        period=period,
        from_start=not threshold,
        by_position=one_variable,
    )


def _dependent_parts(node: Node) -> Iterator[Node]:
    """Maximal parts that depend on one position or difference alone, or on residues alone."""
    variables = dependence(node)
    if not variables:
        return
    if len(variables) == 1 or joint_period(node) is not None or not children(node):
        yield node
    else:
        for child in _subparts(node):
            yield from _dependent_parts(child)


def _subparts(node: Node) -> tuple[Node, ...]:
    """Subtrees of a node; for a comparison, differences of its sides if these depend on less."""
    sides = children(node)
    if not isinstance(node, ComparisonChain):
        return sides
    parts: list[Node] = []
    for pair in pairwise(sides):
        difference = Operation("-", pair)
        parts += [difference] if len(dependence(difference)) == 1 and linear(difference) else pair
    return tuple(parts)


@lru_cache(maxsize=4096)
def joint_period(node: Node) -> int | None:
    """Period P > 0 such that the value depends on i, j and n modulo P alone; None if none is found."""
    if not names(node) & set(VARIABLES):
        return 1
    match node:
        case Name():
            return None
        case Operation(name="%", operands=(argument, modulus)) if _is_constant(modulus):
            return _shift_period(argument, modulus)
        case Operation(name="sin" | "cos", operands=(angle,)):
            return _shift_period(angle, _TURN)
        case Operation(name="gcd", operands=operands) if any(map(_is_constant, operands)):
            argument, modulus = sorted(operands, key=_is_constant)
            return _shift_period(argument, modulus)
        case Operation(name="**", operands=(Operation(name="neg", operands=(Number(value=1),)), exponent)):
            return _shift_period(exponent, Number(2))
    parts = [joint_period(part) for part in children(node)]
    return None if None in parts else lcm(*(part for part in parts if part is not None))


def _is_constant(node: Node) -> bool:
    """True if no position occurs in the tree."""
    return not names(node) & set(VARIABLES)


def _shift_period(node: Node, modulus: Node) -> int | None:
    """Period P > 0 such that moving positions by P changes the value by integer multiples of the modulus.

    The modulus is not zero.  None if no period is found.
    """
    denominator = _denominator(Operation("/", (node, modulus)))
    if denominator is not None:
        return denominator
    match node:
        case Operation(name="+" | "-" | "neg" | "pos", operands=parts):
            periods = [_shift_period(part, modulus) for part in parts]
            return None if None in periods else lcm(*(period for period in periods if period is not None))
        case Operation(name="*", operands=(Number(value=int()), operand) | (operand, Number(value=int()))):
            return _shift_period(operand, modulus)
        case Operation(name="//", operands=parts) if isinstance(modulus, Number):
            return _shift_period(Operation("/", parts), Number(modulus.value.numerator))
        case Operation(name="floor" | "ceil", operands=(operand,)) if isinstance(modulus, Number):
            return _shift_period(operand, Number(modulus.value.numerator))
    return joint_period(node)


def _denominator(node: Node) -> int | None:
    """Common denominator of the coefficients of a polynomial in positions, its constant term left out.

    None if the tree is not such a polynomial with rational coefficients.
    """
    expression = expression_of(node)
    if expression is None or not expression.is_polynomial(*POSITIONS):
        return None
    weights = [weight for powers, weight in sp.Poly(expression, *POSITIONS).terms() if any(powers)]
    return lcm(*(int(weight.q) for weight in weights)) if all(weight.is_Rational for weight in weights) else None
