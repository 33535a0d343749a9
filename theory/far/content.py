"""Formulas of an encoding at a key at distance D, with constant content."""

import sympy as sp

from lengthgen.theory.encodings.encoding import LENGTH, Encoding, Family
from lengthgen.theory.far.limits import DISTANCE

_FAR = 10**6
"""Distance beyond which a table with a last row is read at that row."""


def positions_of(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Positions of query and key after the encoding's own change of positions, if it has one."""
    position_of = encoding.positions or (lambda index, length: index)
    return position_of(query, LENGTH), position_of(key, LENGTH)


def constant_content(expression: sp.Expr, encoding: Encoding) -> sp.Expr:
    """Expression without families: tokens and content are one number, a structure gives D, tables their last row."""
    tables = {parameter.symbol for parameter in encoding.parameters if parameter.family is Family.TABLE}
    structures = {parameter.symbol for parameter in encoding.parameters if parameter.family is Family.STRUCTURE}
    members: dict[sp.Expr, sp.Expr] = {}
    for entry in expression.atoms(sp.Indexed):
        if entry.base in structures and entry.indices[0] != entry.indices[1]:
            members[entry] = DISTANCE
        elif entry.base in tables:
            members[entry] = entry.base[tuple(index.subs(DISTANCE, DISTANCE + _FAR) for index in entry.indices)]
        elif entry.base in {parameter.symbol for parameter in encoding.parameters}:
            members[entry] = sp.Symbol(str(entry.base.label), **entry.base.label.assumptions0)
    return expression.xreplace(members).doit()


def domains_of(encoding: Encoding) -> sp.Dict:
    """Range of each scalar parameter that has a declared domain."""
    return sp.Dict(
        {
            parameter.symbol: parameter.domain
            for parameter in encoding.parameters
            if parameter.domain and isinstance(parameter.symbol, sp.Symbol)
        }
    )
