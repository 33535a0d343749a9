"""Effect of the actions on query and key, and of a vector added to the key, on far keys."""

from functools import cache

import sympy as sp

from lengthgen.theory.encodings.encoding import LENGTH, Encoding
from lengthgen.theory.far.content import constant_content, domains_of, positions_of
from lengthgen.theory.far.effects import Cases, FarCase, FarField
from lengthgen.theory.far.limits import DISTANCE, far_piece, limit_of

_UNIT = sp.Interval(0, 1)


def kernel_cases(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> Cases:
    """Effect of the kernel A_K^T A_Q of the two actions: a sum of c e^(rate D); the signs of the rates decide."""
    if not encoding.rotate:
        return (FarCase(behaviour=FarField.CONSTANT),)
    at_query, at_key = positions_of(encoding, query, key)
    kernel = encoding.rotate(at_key, LENGTH)[1].T * encoding.rotate(at_query, LENGTH)[0]
    all_rates: set[sp.Expr] = set()
    for entry in kernel:
        rates = _rates(constant_content(entry, encoding))
        if rates is None:
            return (FarCase(behaviour=FarField.UNDECIDED),)
        all_rates |= rates
    domains = domains_of(encoding)
    growths = [_sign(sp.re(rate), domains) for rate in all_rates]
    if any(growth is None for growth in growths):
        return (FarCase(behaviour=FarField.UNDECIDED),)
    if 1 in growths:
        return (FarCase(behaviour=FarField.GROWING),)
    turns = {sp.im(rate) for rate, growth in zip(all_rates, growths, strict=True) if growth == 0} - {sp.S.Zero}
    if 0 not in growths:
        return (FarCase(behaviour=FarField.UNIFORM),)
    if not turns:
        return (FarCase(behaviour=FarField.CONSTANT),)
    if any(_sign(turn, domains) in (1, -1) for turn in turns):
        return (FarCase(behaviour=FarField.OSCILLATING),)
    name = " and ".join(sorted({str(turn if turn.could_extract_minus_sign() is False else -turn) for turn in turns}))
    return (
        FarCase(behaviour=FarField.OSCILLATING, where=f"{name} > 0"),
        FarCase(behaviour=FarField.CONSTANT, where=f"{name} = 0"),
    )


def vector_cases(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> Cases:
    """Effect of the vector p added to the key: its product with a constant query is constant if p has a limit."""
    if not encoding.relative_key:
        return (FarCase(behaviour=FarField.CONSTANT),)
    vector = encoding.relative_key(*positions_of(encoding, query, key), LENGTH)
    entries = [constant_content(entry, encoding) for entry in vector]
    limits = [limit_of(entry.replace(lambda part: isinstance(part, sp.Piecewise), far_piece)) for entry in entries]
    ends = [limit for limit in limits if limit is not None]
    if len(ends) < len(limits):
        return (FarCase(behaviour=FarField.UNDECIDED),)
    # A component that goes to infinity has either sign, by the sign of the query.
    finite = all(end.is_finite for end in ends)
    return (FarCase(behaviour=FarField.CONSTANT if finite else FarField.GROWING),)


@cache
def _rates(entry: sp.Expr) -> frozenset[sp.Expr] | None:
    """Rates r of an expression that is a sum of c e^(r D) with c != 0; None if it is not such a sum."""
    coefficients: dict[tuple[sp.Expr, sp.Expr], sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(entry.rewrite(sp.exp))):
        exponent, factor = sp.S.Zero, sp.S.One
        for part in sp.Mul.make_args(term):
            if isinstance(part, sp.exp):
                exponent += part.args[0]
            else:
                factor *= part
        exponent = sp.expand(exponent)
        rate = exponent.coeff(DISTANCE)
        rest = sp.expand(exponent - rate * DISTANCE)
        if DISTANCE in rest.free_symbols | rate.free_symbols | factor.free_symbols:
            return None
        exponent_key = _factored(rate), rest
        coefficients[exponent_key] = coefficients.get(exponent_key, sp.S.Zero) + factor
    return frozenset(rate for (rate, _), coefficient in coefficients.items() if sp.expand(coefficient) != 0)


@cache
def _factored(rate: sp.Expr) -> sp.Expr:
    """Factors of a rate, found once for the many terms that share it."""
    return sp.factor(rate)


def _sign(expression: sp.Expr, domains: sp.Dict) -> int | None:
    """Sign for all parameters: -1, 0 or 1; None if it varies or is not found."""
    for symbol in sorted(expression.free_symbols & set(domains), key=str):
        if domains[symbol] != _UNIT:
            continue
        # Write 0 <= x < 1 as x = t / (1 + t) with t >= 0; x = 1 is a case of its own.
        ratio = sp.Symbol(f"{symbol}/(1 - {symbol})", nonnegative=True)
        sign_inside = _sign(sp.factor(sp.together(expression.subs(symbol, ratio / (1 + ratio)))), sp.Dict())
        sign_at_end = _sign(expression.subs(symbol, 1), domains)
        return sign_inside if sign_inside == sign_at_end else None
    if expression.is_zero:
        return 0
    if expression.is_positive:
        return 1
    return -1 if expression.is_negative else None
