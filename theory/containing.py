"""Encodings of the catalogue whose bias is a given function of the positions, for some values of their parameters.

LRC is about encodings that learn one value for each label. An encoding whose scores follow one law, such as ALiBi, has
no free labels: its law gives the scores of all distances at once. A function that it contains is found by comparing
the two formulas, and then both engines prove that they are one (`lengthgen.theory.laws.decide_recovery`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy as sp

from lengthgen.theory.encodings.catalogue import with_formulas
from lengthgen.theory.encodings.encoding import Encoding, Family, Recovery
from lengthgen.theory.formula import Formula, FormulaError
from lengthgen.theory.formula.exact import evaluate
from lengthgen.theory.formula.linear import simplify_choices
from lengthgen.theory.laws import DISTANCE, assigned, decide_recovery

QUERY = sp.Symbol("j", integer=True, positive=True)
MOST_OPERATIONS = 60
"""Largest number of operations of a function that is compared: simplifying a long one takes minutes."""
Values = Mapping[sp.Basic | type[sp.Function], sp.Expr]


@dataclass(frozen=True, kw_only=True)
class Containing:
    """Encoding with a given function as its bias.

    Attributes:
        encoding: the encoding.
        values: values of its parameters with which it has the function.
        weights_only: True if both differ by a number of each query, which softmax cancels.
    """

    encoding: Encoding
    values: Values
    weights_only: bool


def containing(formula: Formula) -> tuple[Containing, ...]:
    """Encodings that have the function exactly or up to a number of each query, in the order of the catalogue.

    These are the biases that follow from a few numbers, and the encodings that have one of those as a special case.
    """
    function = _function(formula) if _may_be_law(formula) else None
    if function is None:
        return ()

    def bias(query_position: sp.Expr, key_position: sp.Expr, _: sp.Expr) -> sp.Expr:
        places = {QUERY: query_position + 1, DISTANCE: query_position - key_position}
        return function.subs(places, simultaneous=True)

    pattern = Encoding(name="pattern", title="", bias=bias)
    encodings = with_formulas()
    by_name: dict[str, Containing] = {}
    for encoding in encodings:
        if match := next((match for match in _matches(encoding, function) if _proved(match, pattern)), None):
            by_name[encoding.name] = match
    for encoding in encodings:
        for recovery in encoding.recovers:
            special = by_name.get(recovery.of)
            if encoding.name in by_name or special is None or not _usable(encoding, recovery):
                continue
            case = Recovery(of=recovery.of, assignment=special.values)
            values = {symbol: assigned(value, case) for symbol, value in recovery.assignment.items()}
            weights_only = special.weights_only or recovery.weights_only
            candidate = Containing(encoding=encoding, values=values, weights_only=weights_only)
            if _proved(candidate, pattern):
                by_name[encoding.name] = candidate
    return tuple(by_name[encoding.name] for encoding in encodings if encoding.name in by_name)


def _may_be_law(formula: Formula) -> bool:
    """False if the entries of some pairs show that they are no sum of functions of the query and of the distance."""
    if formula.shape or formula.parameters or "n" in formula.variables:
        return False
    try:
        rows = [[float(formula.value(query - far, query)) for far in (0, 1, 3)] for query in (4, 7, 12)]
    except (FormulaError, OverflowError):
        return False
    differences = [[entry - row[0] for entry in row] for row in rows]
    largest = max(abs(entry) for row in rows for entry in row)
    pairs = (pair for row in differences for pair in zip(row, differences[0], strict=True))
    return all(abs(entry - expected) <= 1e-9 * largest for entry, expected in pairs)


def _function(formula: Formula) -> sp.Expr | None:
    """Function of the query (from 1) and the distance; None if it has choices between cases, or many operations."""
    try:
        value = sp.sympify(evaluate(simplify_choices(formula.nodes[0]), {"i": QUERY - DISTANCE, "j": QUERY}))
    except FormulaError:
        return None
    return value if value.count_ops() <= MOST_OPERATIONS else None


def _matches(encoding: Encoding, function: sp.Expr) -> Iterator[Containing]:
    """Values of the parameters of a bias for which it may be the function, exactly or by its weights."""
    symbols = [parameter.symbol for parameter in encoding.parameters]
    if encoding.hooks not in ((), ("bias",)) or not all(isinstance(symbol, sp.Symbol) for symbol in symbols):
        return
    bias = encoding.bias(DISTANCE, sp.Integer(0), DISTANCE + 1) if encoding.bias else sp.Integer(0)
    wild = {symbol: sp.Wild(f"{symbol}_", exclude=[DISTANCE]) for symbol in symbols}
    of_first_key = function.subs(QUERY, DISTANCE + 1)
    itself = function.subs(DISTANCE, 0).subs(QUERY, DISTANCE + 1)
    for weights_only in (False, True):
        wanted = of_first_key - itself if weights_only else of_first_key
        law = bias - bias.subs(DISTANCE, 0) if weights_only else bias
        values = sp.simplify(wanted).match(law.xreplace(wild))
        if values is not None and values.keys() >= {*wild.values()}:
            numbers = {symbol: values[its] for symbol, its in wild.items()}
            if all(_admits(encoding, symbol, number) for symbol, number in numbers.items()):
                yield Containing(encoding=encoding, values=numbers, weights_only=weights_only)


def _admits(encoding: Encoding, symbol: sp.Symbol, number: sp.Expr) -> bool:
    """True if a parameter can have this value, by the assumptions of its symbol and by its domain."""
    domain = next(parameter.domain for parameter in encoding.parameters if parameter.symbol == symbol)
    assumed = all(getattr(number, f"is_{name}") is holds for name, holds in symbol.assumptions0.items() if holds)
    return assumed and (domain is None or domain.contains(number) == True)  # noqa: E712, sympy's own truth value


def _usable(encoding: Encoding, recovery: Recovery) -> bool:
    """True for a special case that is had at every length, by an encoding without free labels or a given structure."""
    families = {parameter.family for parameter in encoding.parameters if isinstance(parameter.symbol, sp.IndexedBase)}
    limited = recovery.within or recovery.function or not recovery.attained or recovery.at
    return not limited and not families & {Family.TABLE, Family.STRUCTURE}


def _proved(candidate: Containing, pattern: Encoding) -> bool:
    case = Recovery(of=pattern.name, assignment=candidate.values, weights_only=candidate.weights_only)
    return decide_recovery(candidate.encoding, pattern, case).holds is True
