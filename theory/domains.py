"""Domains of an encoding's parameters: which values they take, and whether a given value is one of them.

A special case assigns values to parameters. A value may contain other parameters; then the answer holds for all values
of those.
"""

from collections.abc import Mapping

import sympy as sp

from lengthgen.theory.encodings.encoding import Encoding, Parameter
from lengthgen.theory.laws import Ruling

Assignment = Mapping[sp.Basic | type[sp.Function], sp.Expr]


def domain_texts(encoding: Encoding) -> tuple[str, ...]:
    """Each parameter with its values: "m positive", "L positive whole", "p in (0, 2]", "w function"."""
    return tuple(f"{_name(parameter.symbol)} {_domain(parameter)}" for parameter in encoding.parameters)


def assignment_allowed(encoding: Encoding, assignment: Assignment) -> Ruling:
    """Decide whether every assigned value lies in the domain of its parameter; the reason names one that does not."""
    declared = {parameter.symbol: parameter for parameter in encoding.parameters}
    undecided = None
    for symbol, value in assignment.items():
        inside = in_domain(declared.get(symbol, Parameter(symbol=symbol, meaning="")), value)
        if inside is False and isinstance(value, sp.Lambda) and not isinstance(symbol, sp.IndexedBase):
            return Ruling(
                holds=False,
                reason=f"{symbol} = {value.expr} is not continuous and piecewise linear, as ReLU networks are",
            )
        if inside is False:
            return Ruling(holds=False, reason=f"{symbol} = {value} is not in the domain of {symbol}")
        if inside is None:
            undecided = Ruling(holds=None, reason=f"{symbol} = {value} is not known to be in the domain of {symbol}")
    return undecided or Ruling(holds=True, reason="every value lies in the domain of its parameter")


def parameters_outside(encoding: Encoding, assignment: Assignment) -> list[Parameter]:
    """Parameters that cannot have, or are not known to have, the assigned value."""
    return [
        parameter
        for parameter in encoding.parameters
        if parameter.symbol in assignment and not in_domain(parameter, assignment[parameter.symbol])
    ]


def in_domain(parameter: Parameter, value: sp.Expr) -> bool | None:
    """True if the parameter can have this value for all values of the symbols in it; None if undecided."""
    symbol = parameter.symbol
    if isinstance(value, sp.Lambda) and not isinstance(symbol, sp.IndexedBase):
        return _function_in_domain(parameter, value)
    if isinstance(value, sp.Lambda):  # a value for each member, so the domain of equal members says nothing
        value = value.expr
    elif parameter.domain is not None:
        return _within(value, parameter.domain)
    entry = symbol[sp.Symbol("l", integer=True)] if isinstance(symbol, sp.IndexedBase) else symbol
    assumptions = [
        name for name in ("positive", "negative", "nonnegative", "integer", "real") if getattr(entry, f"is_{name}")
    ]
    answers = [_has_property(value, name) for name in assumptions]
    return False if False in answers else None if None in answers else True


def assumed(symbol: sp.Symbol) -> sp.Set:
    """Set of real numbers that a symbol may be, by its sympy assumptions."""
    if symbol.is_positive or symbol.is_nonnegative:
        return sp.Interval(0, sp.oo, left_open=bool(symbol.is_positive))
    if symbol.is_negative or symbol.is_nonpositive:
        return sp.Interval(-sp.oo, 0, right_open=bool(symbol.is_negative))
    return sp.S.Reals


def _name(symbol: sp.Basic | type[sp.Function]) -> str:
    return str(symbol.label if isinstance(symbol, sp.IndexedBase) else symbol)


def _domain(parameter: Parameter) -> str:
    symbol, domain = parameter.symbol, parameter.domain
    if isinstance(symbol, sp.Symbol) and isinstance(domain, sp.Interval):
        ends = f"{domain.start}, {domain.end}"
        return f"in {'(' if domain.left_open else '['}{ends}{')' if domain.right_open else ']'}"
    if not isinstance(symbol, sp.Symbol | sp.IndexedBase):
        return "function"
    value = symbol[sp.Symbol("l", integer=True)] if isinstance(symbol, sp.IndexedBase) else symbol
    signs = {"positive": value.is_positive, "negative": value.is_negative, "nonnegative": value.is_nonnegative}
    real = ("nonzero real" if value.is_nonzero else "real") if value.is_real else "any"
    sign = next((name for name, holds in signs.items() if holds), real)
    return f"{sign} whole" if value.is_integer else sign


def _within(value: sp.Expr, domain: sp.Set) -> bool | None:
    """True if the value lies in the set; None if sympy does not decide."""
    if isinstance(domain, sp.FiniteSet):
        return any(sp.simplify(value - element) == 0 for element in domain)
    contained = domain.contains(value)
    return bool(contained) if contained in (sp.true, sp.false) else None


def _has_property(value: sp.Expr, property_name: str) -> bool | None:
    """True if the value is known to have the property ("positive", ...); a symbol that may lack it has not."""
    answer: bool | None = getattr(value, f"is_{property_name}")
    if answer is None and value.is_Symbol and property_name in ("positive", "negative", "nonnegative"):
        sign = sp.Symbol("x", **{property_name: True})
        return bool(assumed(value).is_subset(assumed(sign)))
    if answer is None and property_name == "real":
        real = {part: sp.Dummy(real=True) for part in value.atoms(sp.log) if _positive(part.args[0])}
        return value.xreplace(real).is_real or None
    return answer


def _positive(expression: sp.Expr) -> bool:
    """True if the expression is positive by its form, or increases from a limit >= 0 in its one positive symbol."""
    if expression.is_positive:
        return True
    if len(expression.free_symbols) != 1:
        return False
    (symbol,) = expression.free_symbols
    rises = symbol.is_positive and sp.diff(expression, symbol).is_positive
    return bool(rises and sp.limit(expression, symbol, 0, "+").is_nonnegative)


def _function_in_domain(parameter: Parameter, value: sp.Lambda) -> bool | None:
    """True if the parameter, a function, can be this function; ReLU networks give only piecewise linear functions.

    Among smooth functions these are the linear ones.
    """
    (argument,) = value.signature
    if not parameter.network:
        positive = bool(getattr(parameter.symbol(argument), "is_positive", False))
        return value.expr.is_positive if positive else True
    bent = sp.simplify(sp.diff(value.expr, argument, 2))
    return bool(bent == 0) and not value.expr.atoms(sp.Indexed)
