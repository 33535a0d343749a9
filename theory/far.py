"""Far keys: how does an encoding treat a key whose distance from the query goes to infinity?

The answers come from limits and signs over the whole range of the parameters. Content is held constant, so they
describe the effect of the distance, not of the words. For a structure on pairs of tokens the distance is the one in it.
The distance D goes to infinity, so no finite set of distances decides. If the answer depends on parameters, each range
of the parameters has its own case. If all scores of a query share a factor, such as log n for n visible keys, and
depend on the distance alone without it, then the answers describe the scores without this factor: it changes the rates
at which the keys of one query fall, not how they fall.

A bias that falls without bound sends the weight to 0 at its own rate under both normalisers, as 1 / (1 + e^-b) is e^b
up to a factor that goes to 1. A bias that grows without bound differs: softmax gives the far keys all the weight, the
sigmoid gives each of them the weight 1. A window ends all of this: within it the answers are those of distances that
grow with the window, and beyond it a key has no weight.

The parts of a score are examined one by one: the bias, by the power of the distance with which it grows; the actions on
query and key, by the exponential rates of their kernel; vectors added to the key, by their limits.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

import sympy as sp
from sympy.core.function import AppliedUndef

from lengthgen.theory import laws
from lengthgen.theory.domains import assumed
from lengthgen.theory.encodings.absolute import Haar
from lengthgen.theory.encodings.encoding import LENGTH, Actions, Encoding, Family, Law, Normaliser
from lengthgen.theory.formula import asymptotics
from lengthgen.theory.formula.asymptotics import leading_term
from lengthgen.theory.zero import two_engines

DISTANCE = sp.Symbol("D", integer=True, positive=True)
"""Distance of the key."""
_POSITION = sp.Symbol("i", integer=True, nonnegative=True)
QUERY_POSITION = sp.Symbol("j", integer=True, nonnegative=True)
"""Position of the key, and the position of a query whose distance does not matter."""

_FAR = 10**6
"""Distance beyond which a table with a last row is read at that row."""

_UNIT = sp.Interval(0, 1)


class FarField(StrEnum):
    """Effect of position on a key far from the query (or on its weight), with constant content.

    UNIFORM means that the logits of all far keys go to 0, so that these keys have equal weight. SATURATED is for the
    sigmoid only, under which the weight of every far key goes to 1. HIDDEN is for keys beyond a window. UNDEFINED means
    that the score depends on the positions themselves, or on arguments never seen in training, not on the distance
    alone. The other values describe exp(bias), a factor of the weight, or the kernel of the actions, by distance.
    """

    NONE = "no effect"
    FASTER = "falls faster than exponentially"
    EXPONENTIAL = "falls exponentially"
    STRETCHED = "falls slower than exponentially, faster than any power"
    POLYNOMIAL = "falls like a power"
    SLOWER = "falls slower than any power"
    UNIFORM = "logit to 0, all alike"
    CONSTANT = "constant"
    OSCILLATING = "oscillates"
    GROWING = "grows"
    SATURATED = "weight to 1, whatever the content"
    HIDDEN = "no weight"
    UNDEFINED = "the position enters"
    UNDECIDED = "not decided"


_FALLING = {FarField.FASTER, FarField.EXPONENTIAL, FarField.STRETCHED, FarField.POLYNOMIAL, FarField.SLOWER}
UNBOUNDED = {*_FALLING, FarField.GROWING, FarField.SATURATED}
"""Effects of a bias that is not bounded."""


@dataclass(frozen=True, kw_only=True)
class FarCase:
    """Effect on far keys in one range of the parameters.

    Attributes:
        behaviour: the effect.
        where: the range, in words; empty for the whole range.
    """

    behaviour: FarField
    where: str = ""

    def __str__(self) -> str:
        """Text "range: effect"."""
        return f"{self.where}: {self.behaviour}" if self.where else str(self.behaviour)


Cases = tuple[FarCase, ...]


def cases_text(cases: Cases) -> str:
    """Cases of all ranges in one line."""
    return "; ".join(map(str, cases))


def far_field(encoding: Encoding) -> str:
    """Effect of position on far keys, for each range of the parameters with its own answer."""
    return cases_text(far_cases(encoding))


@two_engines.remembered
def far_cases(encoding: Encoding) -> Cases:
    """Effect of position on keys far before the query, one case per range of the parameters; decided once a process."""
    cases = _cases_without_window(encoding)
    if encoding.window is sp.oo:
        return cases
    within = [
        FarCase(where=_join_ranges(case.where, f"D < {encoding.window}"), behaviour=case.behaviour) for case in cases
    ]
    return (*within, FarCase(where=f"D >= {encoding.window}", behaviour=FarField.HIDDEN))


def bounded(encoding: Encoding) -> bool | None:
    """True if the effect of positions on a score is bounded over all distances, for each value of the parameters.

    None if that is not decided. A window leaves finitely many distances, so it bounds all scores that depend on the
    distance alone. Codes that are added to the content must be bounded themselves.
    """
    if encoding.embed:
        codes = encoding.embed(positions_of(encoding, _POSITION + DISTANCE, _POSITION)[0])
        if not (bounded_codes := _are_bounded(codes, encoding)):
            return bounded_codes
    if encoding.window is not sp.oo and laws.decide_law(encoding, Law.RELATIVE).holds:
        return True
    _, factor = without_query_factor(encoding)
    limit = _limit_of(factor.xreplace({QUERY_POSITION: positions_of(encoding, DISTANCE, _POSITION)[0]}))
    if limit is None or limit.is_infinite:
        return None if limit is None else False
    cases = _cases_without_window(encoding)
    if encoding.positions and not encoding.relation:
        if encoding.bias and not isinstance(encoding.positions(_POSITION, LENGTH), sp.Indexed):
            return None  # only positions that are drawn are bounded
    else:
        rest, _ = without_query_factor(encoding)
        cases += _bias_cases(rest, _POSITION + DISTANCE, DISTANCE)
        if not causal_only(encoding):
            cases += _bias_cases(rest, _POSITION, _POSITION + DISTANCE)
    unbounded = _any_case(cases, UNBOUNDED)
    return None if unbounded is None else not unbounded


def _are_bounded(codes: sp.Matrix, encoding: Encoding) -> bool | None:
    """True if all entries of codes are bounded over all positions; False if one goes to infinity; None if undecided.

    Bounded are sines of real arguments, entries of tables, Haar functions, and Legendre polynomials at points of
    [-1, 1]; at points without bound they have none. No position may be left beside them. A drawn position, an integer,
    is at least its index.
    """
    families, places = {parameter.symbol for parameter in encoding.parameters}, {DISTANCE, _POSITION}

    def without(part: sp.Basic) -> sp.Basic:
        if not part.free_symbols & places:
            return part
        sine = isinstance(part, sp.sin | sp.cos) and part.args[0].is_real
        member = isinstance(part, sp.Indexed) and part.base in families
        if member and part.is_integer:
            return part.indices[0]
        if isinstance(part, sp.legendre) and not _in_unit_interval(part.args[1]):
            return part.args[1]
        bounded_part = sine or member or isinstance(part, sp.legendre | Haar)
        return sp.Symbol("bounded", real=True) if bounded_part else part

    rest = codes.applyfunc(lambda entry: entry.replace(lambda part: without(part) != part, without))
    left = [entry for entry in rest if entry.free_symbols & places]
    limits = [_limit_of(entry) for entry in left]
    return False if any(end is not None and end.is_infinite for end in limits) else None if left else True


def _in_unit_interval(point: sp.Expr) -> bool:
    """True if a point is seen to lie in [-1, 1] at every length beyond the query's position."""
    more, larger = sp.symbols("more larger", integer=True, nonnegative=True, cls=sp.Dummy)
    point = point.xreplace({LENGTH: _POSITION + DISTANCE + 1 + more})
    point = point.replace(lambda part: isinstance(part, sp.Max), lambda part: _argument_with(DISTANCE, part) + larger)
    return all(bool(sp.cancel(1 + side * point).is_nonnegative) for side in (1, -1))


def _argument_with(symbol: sp.Symbol, greatest: sp.Max) -> sp.Expr:
    """Return the first argument in which the symbol occurs."""
    return next((argument for argument in greatest.args if symbol in argument.free_symbols), greatest)


def causal_only(encoding: Encoding) -> bool | None:
    """True if a key after its query would have no score, one that grows without bound, or one of arguments never seen.

    None if that is not decided. A window ends at the query, so keys after it have no score.
    """
    if encoding.window is not sp.oo:
        return True
    if encoding.positions and not encoding.relation:
        return False
    encoding, _ = without_query_factor(encoding)
    behind = _POSITION, _POSITION + DISTANCE
    parts = (_kernel_cases, _vector_cases, _bias_cases)
    cases = tuple(case for part in parts for case in part(encoding, *behind))
    return _any_case(cases, {FarField.GROWING, FarField.UNDEFINED})


def _any_case(cases: Cases, behaviours: set[FarField]) -> bool | None:
    """True if some range has one of the wanted effects; None if none is known to have one and some are undecided."""
    if any(case.behaviour in behaviours for case in cases):
        return True
    return None if any(case.behaviour is FarField.UNDECIDED for case in cases) else False


def _cases_without_window(encoding: Encoding) -> Cases:
    """Effect of position on far keys if a query saw all keys before it."""
    if not encoding.hooks:
        return _one_case(FarField.NONE)
    if encoding.embed or (encoding.positions and not encoding.relation):
        return _one_case(FarField.UNDEFINED)
    encoding, _ = without_query_factor(encoding)
    pair = _POSITION + DISTANCE, _POSITION
    # A key vector that goes to a constant leaves the answer to the kernel of the actions.
    of_kernel = _combined(_vector_cases(encoding, *pair), _kernel_cases(encoding, *pair))
    if not encoding.bias:
        return of_kernel
    of_bias = _weight_cases(_bias_cases(encoding, *pair), encoding.normaliser)
    if _entries_by_position(_far_bias(encoding, *pair)):
        of_bias = tuple(
            replace(case, behaviour=FarField.UNDEFINED) if case.behaviour is FarField.CONSTANT else case
            for case in of_bias
        )
    if not (encoding.rotate or encoding.relative_key):
        return of_bias
    return tuple(case for bias_case in of_bias for case in _with_kernel(bias_case, of_kernel))


def _combined(first: Cases, second: Cases) -> Cases:
    """Effect of two terms of a score: that of the one if the other is constant, else not decided."""
    for constant, other in ((first, second), (second, first)):
        if all(case.behaviour is FarField.CONSTANT for case in constant):
            return other
    return _one_case(FarField.UNDECIDED)


def _with_kernel(bias_case: FarCase, of_kernel: Cases) -> Cases:
    """Effect of kernel and bias together, in the range of one case of the bias.

    An unbounded bias outweighs a bounded kernel; if the bias is constant, the kernel decides.  If positions enter the
    bias, they enter the score.
    """
    if bias_case.behaviour is FarField.UNDEFINED:
        return (bias_case,)
    if bias_case.behaviour in UNBOUNDED and _excludes(of_kernel, FarField.GROWING):
        return (bias_case,)
    if bias_case.behaviour is FarField.CONSTANT:
        return tuple(replace(case, where=_join_ranges(bias_case.where, case.where)) for case in of_kernel)
    return (replace(bias_case, behaviour=FarField.UNDECIDED),)


def _excludes(cases: Cases, behaviour: FarField) -> bool:
    """True if all cases are decided and none has this effect."""
    return all(case.behaviour not in (behaviour, FarField.UNDECIDED) for case in cases)


def _weight_cases(cases: Cases, normaliser: Normaliser) -> Cases:
    """Cases of a bias as those of the weight: under the sigmoid a bias that grows makes the weight 1."""
    if normaliser == Normaliser.SOFTMAX:
        return cases
    return tuple(
        replace(case, behaviour=FarField.SATURATED) if case.behaviour is FarField.GROWING else case for case in cases
    )


@two_engines.remembered
def without_query_factor(encoding: Encoding) -> tuple[Encoding, sp.Expr]:
    """Encoding without the factor that all scores of a query share, and this factor, in terms of `QUERY_POSITION`.

    The factor is 1, and the encoding unchanged, if there is none, or if scores depend on the distance alone with it, or
    do not without it. xPos has lambda^j as a factor of its queries, but not as a factor of its scores: lambda^(j - i).
    """
    unchanged = encoding, sp.S.One
    if not encoding.rotate or encoding.embed or encoding.relative_key:
        return unchanged
    rotate = encoding.rotate
    on_query = rotate(QUERY_POSITION, LENGTH)[0].applyfunc(sp.factor)
    bias = sp.factor(encoding.bias(QUERY_POSITION, _POSITION, LENGTH)) if encoding.bias else sp.S.Zero
    parts = [set(sp.Mul.make_args(entry)) for entry in (*on_query, bias) if entry != 0]
    common = set.intersection(*parts) if parts else set()
    factor = sp.Mul(*(part for part in common if QUERY_POSITION in part.free_symbols))
    if factor == 1 or laws.decide_law(encoding, Law.RELATIVE).holds:
        return unchanged
    on_query, bias = on_query / factor, bias / factor

    def rotate_only(position: sp.Expr, length: sp.Expr) -> Actions:
        return on_query.xreplace({QUERY_POSITION: position, LENGTH: length}), rotate(position, length)[1]

    def bias_only(query: sp.Expr, key: sp.Expr, length: sp.Expr) -> sp.Expr:
        return bias.xreplace({QUERY_POSITION: query, _POSITION: key, LENGTH: length})

    rest = replace(encoding, rotate=rotate_only, bias=bias_only if encoding.bias else None)
    return (rest, factor) if laws.decide_law(rest, Law.RELATIVE).holds else unchanged


def _bias_cases(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> Cases:
    """Effect of the bias at large distance, with tables of bounded numbers; no cases if there is no bias."""
    if not encoding.bias:
        return ()
    bias = _far_bias(encoding, query, key)
    bias = bias.replace(lambda part: isinstance(part, sp.Max | sp.Min), _dominant_terms)
    bias = bias.replace(lambda part: isinstance(part, sp.Piecewise), _far_piece)
    numbers = {entry: sp.Symbol(str(entry.base.label), real=True) for entry in _entries_by_position(bias)}
    bias = bias.xreplace(numbers).doit()
    applications = [part for part in bias.atoms(AppliedUndef) if DISTANCE in part.free_symbols]
    for application in applications:
        ends = [end for end in map(_limit_of, application.args) if end is not None]
        if len(ends) < len(application.args):
            return _one_case(FarField.UNDECIDED)
        if not all(end.is_finite for end in ends):
            return _one_case(FarField.UNDEFINED)  # beyond the arguments seen in training
        bias = bias.xreplace({application: application.func(*ends)})
    of_either_sign = [symbol for symbol in sorted(bias.free_symbols, key=str) if _has_either_sign(symbol, encoding)]
    return _cases_from_zero_on(bias, _domains_of(encoding), of_either_sign)


def _entries_by_position(bias: sp.Expr) -> list[sp.Indexed]:
    """Entries of tables without a last row, which are read at ever new rows as the distance grows."""
    ends = {member: [_limit_of(index) for index in member.indices] for member in bias.atoms(sp.Indexed)}
    return [member for member, limits in ends.items() if any(end is not None and end.is_infinite for end in limits)]


def _far_bias(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias with constant content; 0 if there is none."""
    law = encoding.bias
    return _constant_content(law(*positions_of(encoding, query, key), LENGTH), encoding) if law else sp.S.Zero


def _has_either_sign(symbol: sp.Symbol, encoding: Encoding) -> bool:
    """True for a scalar parameter that may be negative and may be positive."""
    declared = any(parameter.symbol == symbol and parameter.domain is None for parameter in encoding.parameters)
    return bool(declared and symbol.is_real and symbol.is_positive is None and symbol.is_negative is None)


def _cases_from_zero_on(bias: sp.Expr, domains: sp.Dict, of_either_sign: list[sp.Symbol], where: str = "") -> Cases:
    """Behaviour of exp(bias), with separate cases for the values 0 and above 0 of each parameter that has both."""
    for symbol in sorted(bias.free_symbols - {_POSITION} - set(domains), key=str):
        if not (symbol.is_nonnegative and symbol.is_zero is None):
            continue
        above = bias.subs(symbol, sp.Symbol(symbol.name, positive=True))
        positive = _cases_from_zero_on(above, domains, of_either_sign, _join_ranges(where, f"{symbol} > 0"))
        zero = _cases_from_zero_on(bias.subs(symbol, 0), domains, of_either_sign, _join_ranges(where, f"{symbol} = 0"))
        behaviours = {case.behaviour for case in (*positive, *zero)}
        return _one_case(behaviours.pop(), where) if len(behaviours) == 1 else (*positive, *zero)
    return _cases_by_sign(bias, domains, of_either_sign, where)


def _cases_by_sign(bias: sp.Expr, domains: sp.Dict, of_either_sign: list[sp.Symbol], where: str) -> Cases:
    """Cases by the growth of the bias; if these are not decided, then for each sign of the symbols."""
    cases = _cases_by_growth(bias, domains, where)
    if not of_either_sign or all(case.behaviour is not FarField.UNDECIDED for case in cases):
        return cases
    symbol, *others = of_either_sign
    size = sp.Symbol(f"|{symbol}|", positive=True)
    zero = [] if symbol.is_nonzero else [(f"{symbol} = 0", sp.S.Zero)]
    by_sign = tuple(
        case
        for name, value in [(f"{symbol} < 0", -size), *zero, (f"{symbol} > 0", size)]
        for case in _cases_by_sign(bias.subs(symbol, value), domains, others, _join_ranges(where, name))
    )
    return by_sign if all(case.behaviour is not FarField.UNDECIDED for case in by_sign) else cases


@cache
def _cases_by_growth(bias: sp.Expr, domains: sp.Dict, where: str = "") -> Cases:
    """Behaviour of exp(bias), from the elasticity D b'/b of the bias: the power of D with which the bias grows."""
    slope = sp.diff(bias, DISTANCE)
    if leading_term(slope, DISTANCE) is None:
        slope = sp.simplify(slope)  # it may be 0
    if any(DISTANCE in member.free_symbols for member in bias.atoms(sp.Indexed)):
        return _one_case(FarField.UNDECIDED, where)
    if slope == 0:
        return _one_case(FarField.CONSTANT, where)
    power = _limit_of_simplified(DISTANCE * slope / bias)
    if power is None:
        return _one_case(FarField.UNDECIDED, where)
    if power.is_infinite:
        behaviour = (
            _falling_or_growing(bias, power, FarField.FASTER) if power.is_extended_positive else FarField.CONSTANT
        )
        return _one_case(behaviour, where)
    cases = []
    for low, high, falling in ((-sp.oo, 0, None), (0, 1, FarField.STRETCHED), (1, sp.oo, FarField.FASTER)):
        name = _range_with_power_in(power, sp.Interval.open(low, high), domains)
        if name is not None:
            behaviour = FarField.CONSTANT if falling is None else _falling_or_growing(bias, power, falling)
            cases.append((_join_ranges(where, name), behaviour))
        at_end = _range_with_power_in(power, sp.FiniteSet(high), domains) if high is not sp.oo else None
        if at_end == "":
            exact = _constant_power if high == 0 else _linear
            cases.append((where, exact(bias)))
        elif at_end is not None:
            special, name = _bias_with_power(bias, power, high), _join_ranges(where, at_end)
            at_end_cases = (
                _cases_by_growth(special, sp.Dict(), name)
                if special is not None
                else _one_case(FarField.UNDECIDED, name)
            )
            cases += [(case.where, case.behaviour) for case in at_end_cases]
    return tuple(FarCase(where=name, behaviour=behaviour) for name, behaviour in cases)


def _bias_with_power(bias: sp.Expr, power: sp.Expr, value: int) -> sp.Expr | None:
    """Bias with one parameter chosen so that the power has this value; None if no solution is found."""
    parameter = sorted(power.free_symbols, key=str)[0]
    try:
        solutions = sp.solve(power - value, parameter)
    except NotImplementedError:
        return None
    return bias.subs(parameter, solutions[0]) if solutions else None


def _range_with_power_in(power: sp.Expr, region: sp.Set, domains: sp.Dict) -> str | None:
    """Range of parameters whose power lies in the region: "" for all of them, None if there are none."""
    if power.is_Symbol:
        domain = domains.get(power, assumed(power))
        common = domain & region
        if common is sp.S.EmptySet:
            return None
        return "" if common == domain else _range_text(power, common)
    contained = region.contains(power)
    if contained in (sp.true, sp.false):
        return "" if contained == sp.true else None
    (end,) = region if isinstance(region, sp.FiniteSet) else (None,)
    return f"{power} = {end}" if end is not None else _range_text(power, region)


def _range_text(power: sp.Expr, region: sp.Set) -> str:
    """Text of a range, such as "0 < p < 1"."""
    if isinstance(region, sp.FiniteSet):
        return f"{power} = {', '.join(map(str, region))}"
    if not isinstance(region, sp.Interval):
        return f"{power} in {region}"
    lower, upper = "<" if region.left_open else "<=", "<" if region.right_open else "<="
    if region.end is sp.oo:
        return f"{power} {'>' if region.left_open else '>='} {region.start}"
    if region.start is -sp.oo:
        return f"{power} {upper} {region.end}"
    return f"{region.start} {lower} {power} {upper} {region.end}"


def _falling_or_growing(bias: sp.Expr, power: sp.Expr, falling: FarField) -> FarField:
    """Effect `falling` for a bias that ends below 0, growth for one that ends above 0."""
    scale = DISTANCE**power if power.is_finite else sp.S.One
    leading = bias if bias.is_negative or bias.is_positive else _limit_of_simplified(bias / scale)
    if leading is None or not (leading.is_extended_negative or leading.is_extended_positive):
        return FarField.UNDECIDED
    return falling if leading.is_extended_negative else FarField.GROWING


def _linear(bias: sp.Expr) -> FarField:
    """Effect of a bias that grows like the power 1 of the distance."""
    effects = {"slower": FarField.STRETCHED, "alike": FarField.EXPONENTIAL, "faster": FarField.FASTER}
    return _compared(bias, -DISTANCE, **effects)


def _constant_power(bias: sp.Expr) -> FarField:
    """Effect of a bias that grows like the power 0 of the distance: constant, or for example a logarithm."""
    limit = _limit_of(bias)
    if limit is not None and limit.is_finite:
        return FarField.CONSTANT
    effects = {"slower": FarField.SLOWER, "alike": FarField.POLYNOMIAL, "faster": FarField.STRETCHED}
    return _compared(bias, -sp.log(DISTANCE), **effects)


def _compared(bias: sp.Expr, scale: sp.Expr, *, slower: FarField, alike: FarField, faster: FarField) -> FarField:
    """Effect of a bias, from the limit of its ratio to a negative scale."""
    ratio = _limit_of(sp.expand(bias / scale))
    if ratio is None:
        return FarField.UNDECIDED
    if ratio.is_zero:
        return slower
    if ratio.is_extended_positive:
        return faster if ratio.is_infinite else alike
    return FarField.GROWING if ratio.is_extended_negative else FarField.UNDECIDED


def _kernel_cases(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> Cases:
    """Effect of the kernel A_K^T A_Q of the two actions: a sum of c e^(rate D); the signs of the rates decide."""
    if not encoding.rotate:
        return _one_case(FarField.CONSTANT)
    at_query, at_key = positions_of(encoding, query, key)
    kernel = encoding.rotate(at_key, LENGTH)[1].T * encoding.rotate(at_query, LENGTH)[0]
    all_rates: set[sp.Expr] = set()
    for entry in kernel:
        rates = _rates(_constant_content(entry, encoding))
        if rates is None:
            return _one_case(FarField.UNDECIDED)
        all_rates |= rates
    domains = _domains_of(encoding)
    growths = [_sign(sp.re(rate), domains) for rate in all_rates]
    if any(growth is None for growth in growths):
        return _one_case(FarField.UNDECIDED)
    if 1 in growths:
        return _one_case(FarField.GROWING)
    turns = {sp.im(rate) for rate, growth in zip(all_rates, growths, strict=True) if growth == 0} - {sp.S.Zero}
    if 0 not in growths:
        return _one_case(FarField.UNIFORM)
    if not turns:
        return _one_case(FarField.CONSTANT)
    if any(_sign(turn, domains) in (1, -1) for turn in turns):
        return _one_case(FarField.OSCILLATING)
    name = " and ".join(sorted({str(turn if turn.could_extract_minus_sign() is False else -turn) for turn in turns}))
    return (
        FarCase(behaviour=FarField.OSCILLATING, where=f"{name} > 0"),
        FarCase(behaviour=FarField.CONSTANT, where=f"{name} = 0"),
    )


def _vector_cases(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> Cases:
    """Effect of the vector p added to the key: its product with a constant query is constant if p has a limit."""
    if not encoding.relative_key:
        return _one_case(FarField.CONSTANT)
    vector = encoding.relative_key(*positions_of(encoding, query, key), LENGTH)
    entries = [_constant_content(entry, encoding) for entry in vector]
    limits = [_limit_of(entry.replace(lambda part: isinstance(part, sp.Piecewise), _far_piece)) for entry in entries]
    ends = [limit for limit in limits if limit is not None]
    if len(ends) < len(limits):
        return _one_case(FarField.UNDECIDED)
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


def positions_of(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Positions of query and key after the encoding's own change of positions, if it has one."""
    position_of = encoding.positions or (lambda index, length: index)
    return position_of(query, LENGTH), position_of(key, LENGTH)


def _constant_content(expression: sp.Expr, encoding: Encoding) -> sp.Expr:
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


def _domains_of(encoding: Encoding) -> sp.Dict:
    """Range of each scalar parameter that has a declared domain."""
    return sp.Dict(
        {
            parameter.symbol: parameter.domain
            for parameter in encoding.parameters
            if parameter.domain and isinstance(parameter.symbol, sp.Symbol)
        }
    )


def _one_case(behaviour: FarField, where: str = "") -> Cases:
    """The same effect in the whole range."""
    return (FarCase(behaviour=behaviour, where=where),)


def _join_ranges(*names: str) -> str:
    """Join non-empty ranges by commas."""
    return ", ".join(filter(None, names))


@cache
def _limit_of(expression: sp.Expr) -> sp.Expr | None:
    """Limit at infinite distance; None if neither its leading term nor sympy's search gives it."""
    if DISTANCE not in expression.free_symbols:
        return expression
    plain = asymptotics.limit(expression, DISTANCE)
    return asymptotics.searched_limit(expression, DISTANCE) if plain is None else plain


def _limit_of_simplified(expression: sp.Expr) -> sp.Expr | None:
    """Limit at infinite distance; what has no leading term, or is constant, is simplified first."""
    plain = asymptotics.limit(expression, DISTANCE) if DISTANCE in expression.free_symbols else None
    return _limit_of(sp.simplify(expression)) if plain is None else plain


def _dominant_terms(extreme: sp.Max | sp.Min) -> sp.Expr:
    """Maximum or minimum at large distances: infinite terms decide it on one side, and do not matter on the other."""
    side = sp.oo if isinstance(extreme, sp.Max) else -sp.oo
    deciding = [term for term in extreme.args if _limit_of(term) is side]
    left = deciding or [term for term in extreme.args if _limit_of(term) is not -side]
    return extreme.func(*left) if left else extreme


def _far_piece(pieces: sp.Piecewise) -> sp.Expr:
    """Piece that holds at all large distances; the pieces themselves if a condition before it is not decided."""
    for piece, condition in pieces.args:
        holds = condition.replace(lambda part: isinstance(part, sp.core.relational.Relational), _at_infinity)
        if holds == sp.true:
            return piece
        if holds != sp.false:
            return pieces
    return pieces


def _at_infinity(test: sp.core.relational.Relational) -> sp.Basic:
    """Truth of an inequality at large distances, if its two sides part for ever; else the inequality itself."""
    difference = _limit_of(test.lhs - test.rhs)
    if difference is None or not difference.is_infinite:
        return test
    return test.func(difference, 0)
