"""Effect of a bias on far keys."""

import sympy as sp
from sympy.core.function import AppliedUndef

from lengthgen.theory.encodings.encoding import LENGTH, Encoding
from lengthgen.theory.far.content import constant_content, domains_of, positions_of
from lengthgen.theory.far.effects import Cases, FarCase, FarField, join_ranges
from lengthgen.theory.far.growth import cases_by_growth
from lengthgen.theory.far.limits import DISTANCE, POSITION, dominant_terms, far_piece, limit_of


def bias_cases(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> Cases:
    """Effect of the bias at large distance, with tables of bounded numbers; no cases if there is no bias."""
    if not encoding.bias:
        return ()
    bias = far_bias(encoding, query, key)
    bias = bias.replace(lambda part: isinstance(part, sp.Max | sp.Min), dominant_terms)
    bias = bias.replace(lambda part: isinstance(part, sp.Piecewise), far_piece)
    numbers = {entry: sp.Symbol(str(entry.base.label), real=True) for entry in entries_by_position(bias)}
    bias = bias.xreplace(numbers).doit()
    applications = [part for part in bias.atoms(AppliedUndef) if DISTANCE in part.free_symbols]
    for application in applications:
        ends = [end for end in map(limit_of, application.args) if end is not None]
        if len(ends) < len(application.args):
            return (FarCase(behaviour=FarField.UNDECIDED),)
        if not all(end.is_finite for end in ends):
            return (FarCase(behaviour=FarField.UNDEFINED),)  # beyond the arguments seen in training
        bias = bias.xreplace({application: application.func(*ends)})
    of_either_sign = [symbol for symbol in sorted(bias.free_symbols, key=str) if _has_either_sign(symbol, encoding)]
    return _cases_from_zero_on(bias, domains_of(encoding), of_either_sign)


def entries_by_position(bias: sp.Expr) -> list[sp.Indexed]:
    """Entries of tables without a last row, which are read at ever new rows as the distance grows."""
    ends = {member: [limit_of(index) for index in member.indices] for member in bias.atoms(sp.Indexed)}
    return [member for member, limits in ends.items() if any(end is not None and end.is_infinite for end in limits)]


def far_bias(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias with constant content; 0 if there is none."""
    law = encoding.bias
    return constant_content(law(*positions_of(encoding, query, key), LENGTH), encoding) if law else sp.S.Zero


def _has_either_sign(symbol: sp.Symbol, encoding: Encoding) -> bool:
    """True for a scalar parameter that may be negative and may be positive."""
    declared = any(parameter.symbol == symbol and parameter.domain is None for parameter in encoding.parameters)
    return bool(declared and symbol.is_real and symbol.is_positive is None and symbol.is_negative is None)


def _cases_from_zero_on(bias: sp.Expr, domains: sp.Dict, of_either_sign: list[sp.Symbol], where: str = "") -> Cases:
    """Behaviour of exp(bias), with separate cases for the values 0 and above 0 of each parameter that has both."""
    for symbol in sorted(bias.free_symbols - {POSITION} - set(domains), key=str):
        if not (symbol.is_nonnegative and symbol.is_zero is None):
            continue
        above = bias.subs(symbol, sp.Symbol(symbol.name, positive=True))
        positive = _cases_from_zero_on(above, domains, of_either_sign, join_ranges(where, f"{symbol} > 0"))
        zero = _cases_from_zero_on(bias.subs(symbol, 0), domains, of_either_sign, join_ranges(where, f"{symbol} = 0"))
        behaviours = {case.behaviour for case in (*positive, *zero)}
        return (FarCase(where=where, behaviour=behaviours.pop()),) if len(behaviours) == 1 else (*positive, *zero)
    return _cases_by_sign(bias, domains, of_either_sign, where)


def _cases_by_sign(bias: sp.Expr, domains: sp.Dict, of_either_sign: list[sp.Symbol], where: str) -> Cases:
    """Cases by the growth of the bias; if these are not decided, then for each sign of the symbols."""
    cases = cases_by_growth(bias, domains, where)
    if not of_either_sign or all(case.behaviour is not FarField.UNDECIDED for case in cases):
        return cases
    symbol, *others = of_either_sign
    size = sp.Symbol(f"|{symbol}|", positive=True)
    zero = [] if symbol.is_nonzero else [(f"{symbol} = 0", sp.S.Zero)]
    by_sign = tuple(
        case
        for name, value in [(f"{symbol} < 0", -size), *zero, (f"{symbol} > 0", size)]
        for case in _cases_by_sign(bias.subs(symbol, value), domains, others, join_ranges(where, name))
    )
    return by_sign if all(case.behaviour is not FarField.UNDECIDED for case in by_sign) else cases
