"""How many numbers a cached key needs beside its content: the width of the bias as a product of per-token vectors.

A bias is cacheable at width r if b(j, i) = u_j . v_i for all keys i up to the query j, with vectors of r numbers that
do not change when the sequence grows: u_j of the query, v_i of the key, each of its position, its gate and the tokens
before it.  So r is the largest rank of the matrices of the bias.  Actions on queries and keys take no room: a key is
cached as it is after them.  [F; GRAPE, arXiv 2512.07805, says of its additive forms that they stream]

Three ways decide.  A polynomial in what belongs to the query and what belongs to the key has the rank of its matrix of
coefficients.  A bias of the distance alone has finite rank if and only if it follows a linear recurrence (Kronecker):
sums of D^k c^D do.  A table that is constant from some distance on does, and its rank is counted.  A course D^p with p
not a whole number, or log D, does not: where a recurrence has no exponential growth, b / D^k stays bounded and does not
fall to 0, for one whole k.
"""

from dataclasses import dataclass

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from theory import laws
from theory.encodings.encoding import LENGTH, Encoding, Law
from theory.rational import rank

_KEY = sp.Symbol("i", integer=True, nonnegative=True)
_DISTANCE = sp.Symbol("D", integer=True, positive=True)
_QUERY, _AT_KEY = sp.symbols("j i_", real=True)
_BEYOND = sp.Symbol("k_", integer=True, nonnegative=True)
_LONGEST_TABLE = 512


@dataclass(frozen=True, kw_only=True)
class Width:
    """The least width in a range of the parameters, all of it where `where` is empty; None where no finite one does."""

    width: int | None
    where: str = ""

    def __str__(self) -> str:
        """range: width."""
        width = "none" if self.width is None else str(self.width)
        return f"{self.where}: {width}" if self.where else width


@dataclass(frozen=True, kw_only=True)
class Caching:
    """The widths, one for each range of the parameters, and why; `cases` is None where they are not decided."""

    cases: tuple[Width, ...] | None
    reason: str

    def __str__(self) -> str:
        """The widths in one line."""
        return "not decided" if self.cases is None else "; ".join(map(str, self.cases))


def caching(encoding: Encoding) -> Caching:
    """The width at which the encoding's bias can be cached, for generic values of what is free in it."""
    streaming = laws.rule(encoding, Law.STREAMING).holds
    if streaming is None:
        return _undecided("whether scores change with the length is not decided")
    if not streaming:
        return _decided(None, "scores change when the sequence grows")
    if encoding.bias is None:
        return _decided(0, "no bias: keys are cached as they are after the actions on them")
    at = encoding.positions or (lambda index, length: index)
    bias = encoding.bias(at(_KEY + _DISTANCE, LENGTH), at(_KEY, LENGTH), LENGTH)
    bias = sp.expand(bias, log=False, power_base=False, power_exp=False)  # positions that cancel, inside functions too
    note = ""
    functions = {one.func for one in bias.atoms(AppliedUndef)}
    for function in functions:
        # A width must do for every function, so one function without a width decides.
        bias, note = bias.replace(function, lambda part: part), f"at {function}(u) = u "
    if _seen_by_query(bias):
        return _decided(None, "each query sees the tokens on the way in its own way: every matrix is a bias")
    separated = _separated(bias)
    if separated is not None:
        return _decided(separated.rank(simplify=True), "the rank of the coefficients of query and key")
    found = _of_distance(_without_query_factor(bias), encoding)
    if functions and not (found.cases and found.cases[0].width is None):
        return _undecided(f"{note}the width is {found}; of other functions nothing is known")
    return Caching(cases=found.cases, reason=note + found.reason)


def _decided(width: int | None, reason: str) -> Caching:
    return Caching(cases=(Width(width=width),), reason=reason)


def _undecided(reason: str) -> Caching:
    return Caching(cases=None, reason=reason)


def _seen_by_query(bias: sp.Expr) -> bool:
    """Whether a sum over the tokens on the way has members named by the query as well: free numbers for each pair."""
    return any(
        step in member.free_symbols and _DISTANCE in member.free_symbols
        for path in bias.atoms(sp.Sum)
        for step in path.variables
        for member in path.function.atoms(sp.Indexed)
    )


def _separated(bias: sp.Expr) -> sp.Matrix | None:
    """The coefficients of products of what belongs to the query and to the key; None where it is no such polynomial."""
    of_query: list[sp.Symbol] = [_QUERY]
    of_key: list[sp.Symbol] = [_AT_KEY]
    named: dict[sp.Basic, sp.Expr] = {}
    for path in bias.atoms(sp.Sum):
        (step, first, last), *others = path.limits
        indices = {index for member in path.function.atoms(sp.Indexed) for index in member.indices}
        if others or indices != {step} or path.function.free_symbols & {_KEY, _DISTANCE}:
            return None
        # The sum from the key on, up to the query, is what has run up at the query less what had at the key.
        of_query.append(sp.Dummy(f"up to {last}"))
        of_key.append(sp.Dummy(f"up to {first - 1}"))
        named[path] = of_query[-1] - of_key[-1]
    plain = bias.xreplace(named)
    for member in plain.atoms(sp.Indexed):
        if member.indices == (_KEY,):
            of_key.append(sp.Dummy(str(member)))
            plain = plain.xreplace({member: of_key[-1]})
        elif member.indices == (_KEY + _DISTANCE,):
            of_query.append(sp.Dummy(str(member)))
            plain = plain.xreplace({member: of_query[-1]})
    plain = sp.expand(plain.subs(_DISTANCE, _QUERY - _KEY).subs(_KEY, _AT_KEY))
    if not plain.is_polynomial(*of_query, *of_key):
        return None
    terms = sp.Poly(plain, *of_query, *of_key).as_dict()
    rows = sorted({powers[: len(of_query)] for powers in terms})
    columns = sorted({powers[len(of_query) :] for powers in terms})
    return sp.Matrix(len(rows), len(columns), lambda row, column: terms.get(rows[row] + columns[column], sp.S.Zero))


def _without_query_factor(bias: sp.Expr) -> sp.Expr:
    """The bias without factors of the query alone, which scale rows and leave every rank as it is."""
    at_query = sp.Dummy("j", integer=True, positive=True)
    factors = sp.Mul.make_args(bias.xreplace({_KEY: at_query - _DISTANCE}).doit())
    rest = sp.Mul(*(factor for factor in factors if _DISTANCE in factor.free_symbols))
    return rest.xreplace({at_query: _KEY + _DISTANCE})


def _of_distance(course: sp.Expr, encoding: Encoding) -> Caching:
    """The width of a bias of the distance alone."""
    if _KEY in course.free_symbols:
        return _undecided("the bias is no polynomial in query and key, nor one of their distance")
    tables = [one for one in course.atoms(sp.Indexed) if _DISTANCE in one.free_symbols]
    return _of_table(course, tables) if tables else _of_growth(course, encoding)


def _of_table(course: sp.Expr, tables: list[sp.Indexed]) -> Caching:
    """The width of one table's entry, which is the same from some distance on."""
    if len(tables) > 1 or course != tables[0]:
        return _undecided("the bias is not one entry of a table")
    (index,) = tables[0].indices
    last = index.subs(_DISTANCE, _LONGEST_TABLE + _BEYOND)
    if not last.is_Integer:
        return _undecided("the table is not constant far out")
    entries = [int(index.subs(_DISTANCE, distance)) for distance in range(_LONGEST_TABLE)]
    constant_from = next(at for at in range(len(entries), 0, -1) if entries[at - 1] != last)
    # Primes for the entries: an example's rank is a lower bound, and constant_from + 1 is the upper one.
    row = [sp.prime(1 + entry) for entry in entries]
    size = constant_from + 2
    hankel = np.array([[row[min(a + b, constant_from)] for b in range(size)] for a in range(size)], dtype=object)
    if rank(hankel) != constant_from + 1:
        return _undecided(f"an example has rank {rank(hankel)}, the recurrence has {constant_from + 1} terms")
    return _decided(constant_from + 1, f"one entry from distance {constant_from} on, and all before it free")


def _of_growth(course: sp.Expr, encoding: Encoding) -> Caching:
    """The width by the power of the distance that the course goes with: none where no recurrence goes so."""
    power = _limit(sp.simplify(_DISTANCE * sp.diff(course, _DISTANCE) / course))
    if power is None:
        return _undecided("the growth of the bias is not decided")
    if power.is_Symbol:
        return _by_exponent(course, power, encoding)
    if not power.is_Rational:
        return _undecided(f"the bias grows like the power {power} of the distance")
    if power.is_Integer and power >= 0:
        share = _limit(course / _DISTANCE**power)
        if share is None or (share.is_finite and share != 0):
            return _undecided(f"what is left of the bias after D^{power} is not decided")
    return _decided(None, f"it grows with the power {power} of the distance, and no recurrence does so in this way")


def _by_exponent(course: sp.Expr, exponent: sp.Symbol, encoding: Encoding) -> Caching:
    """The width for each whole exponent in the parameter's domain, and none for the others."""
    domain = next((one.domain for one in encoding.parameters if one.symbol == exponent), None)
    whole = None if domain is None else domain & sp.S.Integers
    if not isinstance(whole, sp.FiniteSet | sp.Range):
        return _undecided(f"the whole values of {exponent} are not known")
    cases = []
    for value in whole:
        coefficients = _separated(course.subs(exponent, value))
        if coefficients is None:
            return _undecided(f"the bias at {exponent} = {value} is no polynomial")
        cases.append(Width(where=f"{exponent} = {value}", width=coefficients.rank(simplify=True)))
    cases.append(Width(where=f"other {exponent}", width=None))
    return Caching(cases=tuple(cases), reason=f"D^{exponent} follows a recurrence only for whole {exponent}")


def _limit(expression: sp.Expr) -> sp.Expr | None:
    try:
        found = sp.limit(expression, _DISTANCE, sp.oo)
    except (NotImplementedError, ValueError, TypeError, RecursionError):
        return None
    return None if found.has(sp.Limit, sp.AccumBounds, sp.nan) or _DISTANCE in found.free_symbols else found
