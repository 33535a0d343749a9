"""Key-cache width of a position bias: how many numbers must a cached key carry beside its content?

A bias is cacheable at width r if b(j, i) = u_j . v_i for all keys i up to the query j, with vectors of r numbers that
do not change when the sequence grows. u_j may use the query, v_i the key; each may use its position, its gate and the
tokens before it. So r is the least rank of matrices with these entries, at any length; entries of keys after the query
are free. Actions on queries and keys (rotations) need no
width: a key is cached after its action. [F; GRAPE, arXiv 2512.07805, says of its additive forms that they stream]

A term of the query alone counts like any other: softmax would ignore it, the sigmoid does not. With a window of W keys
only the last W need be kept, and W numbers for each would do for any bias: the width is the number that suffices for
all W.

The width is decided in three ways. (1) If the bias is a polynomial in quantities of the query and quantities of the
key, its width is the rank of the coefficient matrix. (2) If the bias depends on the distance D only, it has finite rank
if and only if it follows a linear recurrence (Kronecker), that is, if it is a sum of terms D^k c^D. So D^p with p not
an integer has no finite width, and log D has none: in a recurrence without exponential growth, b / D^k stays bounded
and does not fall to 0 for one integer k. (3) A table that is constant from some distance on has no width: its
recurrence cannot be run backwards.
"""

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp
from sympy.core.function import AppliedUndef

from lengthgen.theory import laws
from lengthgen.theory.domains import assumed
from lengthgen.theory.encodings.encoding import LENGTH, Encoding, Family, Law
from lengthgen.theory.far import positions_of
from lengthgen.theory.formula.asymptotics import searched_limit

_KEY = sp.Symbol("i", integer=True, nonnegative=True)
_DISTANCE = sp.Symbol("D", integer=True, positive=True)
_QUERY, _AT_KEY = sp.symbols("j i_", real=True)
_BEYOND = sp.Symbol("k_", integer=True, nonnegative=True)
_LONGEST_TABLE = 512


@dataclass(frozen=True, kw_only=True)
class Width:
    """Smallest cache width in one range of the parameters.

    Attributes:
        width: the number of values per key, perhaps in terms of a parameter; None if no finite width exists.
        where: the range of the parameters, in words; empty for all parameters.
    """

    width: int | sp.Expr | None
    where: str = ""

    def __str__(self) -> str:
        """Text "range: width"."""
        width = "none" if self.width is None else str(self.width)
        return f"{self.where}: {width}" if self.where else width


@dataclass(frozen=True, kw_only=True)
class Caching:
    """Cache widths of a bias, one per range of the parameters.

    Attributes:
        cases: the widths; None if they are not decided.
        reason: why, in words.
    """

    cases: tuple[Width, ...] | None
    reason: str

    def __str__(self) -> str:
        """Widths in one line."""
        return "not decided" if self.cases is None else "; ".join(map(str, self.cases))


def caching(encoding: Encoding) -> Caching:
    """Width at which bias and key vectors can be cached, for generic values of the free parameters."""
    answer = _caching_of_all(encoding)
    if encoding.window is sp.oo:
        return answer
    return Caching(cases=answer.cases, reason=f"{answer.reason}; the last {encoding.window} keys are kept")


def _caching_of_all(encoding: Encoding) -> Caching:
    """Width for a query that sees all keys before it."""
    streaming = laws.decide_law(encoding, Law.STREAMING).holds
    if streaming is None:
        return _undecided("whether scores change with the length is not decided")
    if not streaming:
        return _decided(None, "scores change when the sequence grows")
    if not encoding.causal:
        return _decided(None, "later tokens change queries and keys: a query attends to all keys")
    for law in (encoding.relative_key, encoding.bias):
        if law and not _same_at_own_key(law, encoding):
            return _undecided("the key of the query itself follows another formula than those before it")
    vectors = _caching_of_vectors(encoding)
    if vectors:
        return vectors
    if encoding.bias is None:
        return _decided(0, "no bias: keys are cached as they are after the actions on them")
    return _caching_of_bias(encoding.bias(*positions_of(encoding, _KEY + _DISTANCE, _KEY), LENGTH), encoding)


def _same_at_own_key(law: Callable[..., sp.Expr | sp.Matrix], encoding: Encoding) -> bool:
    """Return whether the formula of keys before the query, in which D is positive, is right at D = 0 as well."""
    before, own = (sp.Matrix([law(*positions_of(encoding, query, _KEY), LENGTH)]) for query in (_KEY + _DISTANCE, _KEY))
    return bool((before.subs(_DISTANCE, 0) - own).applyfunc(lambda entry: sp.simplify(entry.doit())).is_zero_matrix)


def _caching_of_vectors(encoding: Encoding) -> Caching | None:
    """Caching of the vectors added to keys; None if there are none, so that the bias decides.

    A query that is a unit vector has one component of them as its bias: no width for a component, none for the score.
    """
    if encoding.relative_key is None:
        return None
    for component in encoding.relative_key(*positions_of(encoding, _KEY + _DISTANCE, _KEY), LENGTH):
        caching = _caching_of_bias(component, encoding)
        if caching.cases and all(case.width is None for case in caching.cases):
            return _decided(None, f"a component of the vectors added to keys: {caching.reason}")
    return _undecided("the joint rank of the components of the vectors added to keys is not decided")


def _caching_of_bias(bias: sp.Expr, encoding: Encoding) -> Caching:
    """Width of a bias given as a formula in the position of the key and the distance."""
    bias = sp.expand(bias, log=False, power_base=False, power_exp=False)  # cancels positions, also inside functions
    note = ""
    functions = {application.func for application in bias.atoms(AppliedUndef)}
    for function in functions:
        # A width must hold for every function, so one example without finite width decides; so with gates below.
        bias, note = bias.replace(function, lambda part: part), f"at {function}(u) = u "
    products = _number_of_products(bias)
    if products is not None:
        return Caching(
            cases=(Width(width=products),), reason=f"{products} products of a number of the query and the key"
        )
    if _sum_depends_on_query(bias):
        return _decided(None, "the sum from key to query depends on the query, so rows of the bias share no numbers")
    separated = _coefficient_matrix(bias)
    if separated is not None:
        return _decided(separated.rank(simplify=True), "the rank of the coefficients of query and key")
    gates = _gates_of_size_one(bias, encoding)
    if gates:
        bias = sp.expand(bias.xreplace(gates).doit(), log=False, power_base=False, power_exp=False)
        note += "at gates and steps of size 1 "
    by_distance = _width_of_distance_bias(_without_query_factor(bias), encoding)
    if note and not (by_distance.cases and by_distance.cases[0].width is None):
        return _undecided(f"{note}the width is {by_distance}; other values are not decided")
    return Caching(cases=by_distance.cases, reason=note + by_distance.reason)


def _decided(width: int | None, reason: str) -> Caching:
    """Caching with one width for all parameters."""
    return Caching(cases=(Width(width=width),), reason=reason)


def _undecided(reason: str) -> Caching:
    """Caching without an answer."""
    return Caching(cases=None, reason=reason)


def _gates_of_size_one(bias: sp.Expr, encoding: Encoding) -> dict[sp.Indexed, sp.Expr]:
    """Value 1 or -1, by its sign, for each entry of a family of tokens or content."""
    families = {parameter.symbol for parameter in encoding.parameters if parameter.family is not Family.TABLE}
    return {
        entry: sp.Integer(-1 if entry.is_negative else 1) for entry in bias.atoms(sp.Indexed) if entry.base in families
    }


def _number_of_products(bias: sp.Expr) -> sp.Expr | None:
    """Number of terms of a sum over coordinates c of u[j, c] w[i, c], times a constant; None for any other bias.

    The matrix with these entries is a product of a matrix of the queries and one of the keys.  With free entries, and
    2r - 1 positions or more for r terms, so that r queries come after r keys, its rank is the number of terms.
    """
    constant, total = bias.as_independent(_KEY, _DISTANCE, as_Add=False)
    if not isinstance(total, sp.Sum) or constant == 0 or len(total.limits) > 1:
        return None
    coordinate, first, last = total.limits[0]
    indices = {
        member.indices
        for member in sp.Mul.make_args(total.function)
        if isinstance(member, sp.Indexed) and not (first - last).free_symbols & {_KEY, _DISTANCE}
    }
    wanted = {(_KEY, coordinate), (_KEY + _DISTANCE, coordinate)}
    both = len(sp.Mul.make_args(total.function)) == len(wanted)
    return last - first + 1 if both and indices == wanted else None


def _sum_depends_on_query(bias: sp.Expr) -> bool:
    """True if a sum over the tokens between key and query has a summand that also depends on the query.

    Then the bias has free numbers for each pair.
    """
    return any(
        step in member.free_symbols and _DISTANCE in member.free_symbols
        for total in bias.atoms(sp.Sum)
        for step in total.variables
        for member in total.function.atoms(sp.Indexed)
    )


def _coefficient_matrix(bias: sp.Expr) -> sp.Matrix | None:
    """Matrix of coefficients: rows are monomials of the query, columns monomials of the key.

    Returns None if the bias is not a polynomial in quantities of the query and quantities of the key.
    """
    query_symbols: list[sp.Symbol] = [_QUERY]
    key_symbols: list[sp.Symbol] = [_AT_KEY]
    differences: dict[sp.Basic, sp.Expr] = {}
    for total in bias.atoms(sp.Sum):
        (step, first, last), *others = total.limits
        indices = {index for member in total.function.atoms(sp.Indexed) for index in member.indices}
        if others or indices != {step} or total.function.free_symbols & {_KEY, _DISTANCE}:
            return None
        # A sum from the key to the query is the running sum at the query minus the running sum at the key.
        query_symbols.append(sp.Dummy(f"up to {last}"))
        key_symbols.append(sp.Dummy(f"up to {first - 1}"))
        differences[total] = query_symbols[-1] - key_symbols[-1]
    plain = bias.xreplace(differences)
    for member in plain.atoms(sp.Indexed):
        if member.indices == (_KEY,):
            key_symbols.append(sp.Dummy(str(member)))
            plain = plain.xreplace({member: key_symbols[-1]})
        elif member.indices == (_KEY + _DISTANCE,):
            query_symbols.append(sp.Dummy(str(member)))
            plain = plain.xreplace({member: query_symbols[-1]})
    plain = sp.expand(plain.subs(_DISTANCE, _QUERY - _KEY).subs(_KEY, _AT_KEY))
    if not plain.is_polynomial(*query_symbols, *key_symbols):
        return None
    terms = sp.Poly(plain, *query_symbols, *key_symbols).as_dict()
    rows = sorted({powers[: len(query_symbols)] for powers in terms})
    columns = sorted({powers[len(query_symbols) :] for powers in terms})
    return sp.Matrix(len(rows), len(columns), lambda row, column: terms.get(rows[row] + columns[column], sp.S.Zero))


def _without_query_factor(bias: sp.Expr) -> sp.Expr:
    """Bias without the factors that depend on the query only: they scale rows and leave every rank unchanged."""
    at_query = sp.Dummy("j", integer=True, positive=True)
    factors = sp.Mul.make_args(bias.xreplace({_KEY: at_query - _DISTANCE}).doit())
    rest = sp.Mul(*(factor for factor in factors if _DISTANCE in factor.free_symbols))
    return rest.xreplace({at_query: _KEY + _DISTANCE})


def _width_of_distance_bias(bias: sp.Expr, encoding: Encoding) -> Caching:
    """Width of a bias that depends on the distance only."""
    if _KEY in bias.free_symbols:
        return _undecided("the bias is neither a polynomial in query and key nor a function of their distance")
    tables = [entry for entry in bias.atoms(sp.Indexed) if _DISTANCE in entry.free_symbols]
    return _width_of_table(bias, tables) if tables else _width_by_growth(bias, encoding)


def _width_of_table(bias: sp.Expr, tables: list[sp.Indexed]) -> Caching:
    """Decide that a bias has no width that is one table entry, the same from some distance on.

    Less the entry of all far distances, the entries of queries and keys that are one distance less apart stand on a
    diagonal with zeros below: the matrix has full rank whatever the entries of later keys are.
    """
    if len(tables) > 1 or bias != tables[0]:
        return _undecided("the bias is not one entry of a table")
    (index,) = tables[0].indices
    last = index.subs(_DISTANCE, _LONGEST_TABLE + _BEYOND)
    if not last.is_Integer:
        return _undecided("the table is not constant at large distances")
    entries = [int(index.subs(_DISTANCE, distance)) for distance in range(_LONGEST_TABLE)]
    before = next(distance for distance in reversed(range(len(entries))) if entries[distance] != last)
    return _decided(
        None, f"less the entry of all farther keys, that of distance {before} stands on a diagonal with zeros below"
    )


def _width_by_growth(bias: sp.Expr, encoding: Encoding) -> Caching:
    """Width from the power of the distance with which the bias grows: no width if no recurrence grows like that."""
    power = searched_limit(sp.simplify(_DISTANCE * sp.diff(bias, _DISTANCE) / bias), _DISTANCE)
    if power is not None and power.is_infinite and _outruns_exponentials(bias):
        return _decided(None, "it grows or falls faster than every exponential, and no linear recurrence does")
    if power is None:
        return _undecided("the growth of the bias is not decided")
    if power.is_Symbol:
        return _width_per_exponent(bias, power, encoding)
    if not power.is_Rational:
        return _undecided(f"the bias grows like the power {power} of the distance")
    if power.is_Integer and power >= 0:
        share = searched_limit(bias / _DISTANCE**power, _DISTANCE)
        if share is None or (share.is_finite and share != 0):
            return _undecided(f"the growth of the bias divided by D^{power} is not decided")
    return _decided(None, f"it grows with the power {power} of the distance, in a way that no linear recurrence does")


def _outruns_exponentials(bias: sp.Expr) -> bool:
    """True if the logarithmic derivative b'/b goes to infinity: |b| then passes every e^(c D) from some D on.

    A solution of a linear recurrence that is not 0 from some distance on lies between two exponentials.
    """
    rate = searched_limit(sp.simplify(sp.diff(bias, _DISTANCE) / bias), _DISTANCE)
    return rate is not None and bool(rate.is_infinite)


def _width_per_exponent(bias: sp.Expr, exponent: sp.Symbol, encoding: Encoding) -> Caching:
    """Width for each integer exponent in the parameter's domain; no finite width for the other exponents."""
    declared = next((parameter.domain for parameter in encoding.parameters if parameter.symbol == exponent), None)
    domain = declared or assumed(exponent)
    if domain == sp.S.Reals and _is_power_of_linear(bias):
        at_integers = Width(where=f"{exponent} = 0, 1, 2, ...", width=exponent + 1)
        return Caching(
            cases=(at_integers, Width(where=f"other {exponent}", width=None)),
            reason=f"a polynomial of degree k has the width k + 1; no recurrence has D^{exponent} for other {exponent}",
        )
    integers = domain & sp.S.Integers
    if not isinstance(integers, sp.FiniteSet | sp.Range):
        return _undecided(f"the integer values of {exponent} are not known")
    cases = []
    for value in integers:
        coefficients = _coefficient_matrix(bias.subs(exponent, value))
        if coefficients is None:
            return _undecided(f"the bias at {exponent} = {value} is not a polynomial")
        cases.append(Width(where=f"{exponent} = {value}", width=coefficients.rank(simplify=True)))
    cases.append(Width(where=f"other {exponent}", width=None))
    return Caching(cases=tuple(cases), reason=f"D^{exponent} follows a recurrence only for integer {exponent}")


def _is_power_of_linear(bias: sp.Expr) -> bool:
    """True if the bias, which grows like D^exponent, is c (a D + b)^exponent with a not 0, and a, b, c free of D."""
    (power, *others) = [factor for factor in sp.Mul.make_args(bias) if _DISTANCE in factor.free_symbols]
    if others or not isinstance(power, sp.Pow) or not power.base.is_polynomial(_DISTANCE):
        return False
    base = sp.Poly(power.base, _DISTANCE)
    return base.degree() == 1 and bool(base.LC().is_nonzero)
