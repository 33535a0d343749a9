"""What becomes of a key far from its query, by limits and signs over the whole range of the parameters.

Content is held constant: what a law does with distance, not with words.  The distance D runs to infinity, so no finite
stretch of distances decides; where the answer depends on parameters, each range of them has its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import sympy as sp
from sympy.core.function import AppliedUndef

from theory.domain import assumed
from theory.encodings.encoding import LENGTH, Encoding, Family

_DISTANCE = sp.Symbol("D", integer=True, positive=True)
_POSITION = sp.Symbol("i", integer=True, nonnegative=True)
_FAR = 10**6
"""Distance beyond which a table with a last row is read there."""
_UNIT = sp.Interval(0, 1)


class FarField(StrEnum):
    """What positions do to a key far from the query, or to its weight, its content being what it was."""

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
    UNDEFINED = "the position enters"
    UNDECIDED = "not decided"


_FALLING = {FarField.FASTER, FarField.EXPONENTIAL, FarField.STRETCHED, FarField.POLYNOMIAL, FarField.SLOWER}


@dataclass(frozen=True, kw_only=True)
class FarCase:
    """What becomes of far keys in a range of the parameters; an empty `where` is the whole range."""

    what: FarField
    where: str = ""

    def __str__(self) -> str:
        """range: what happens there."""
        return f"{self.where}: {self.what}" if self.where else str(self.what)


Cases = tuple[FarCase, ...]


def text(cases: Cases) -> str:
    """All ranges in one line."""
    return "; ".join(map(str, cases))


def ahead(encoding: Encoding) -> Cases:
    """What becomes of keys far before the query."""
    if not encoding.hooks:
        return (FarCase(what=FarField.NONE),)
    if encoding.embed or (encoding.positions and not encoding.relation):
        return (FarCase(what=FarField.UNDEFINED),)
    turned = _of_kernel(encoding, _POSITION + _DISTANCE, _POSITION)
    added = _of_bias(encoding, _POSITION + _DISTANCE, _POSITION)
    if not encoding.bias:
        return turned
    # A bias without bound outweighs a kernel that is bounded; beside a constant one the kernel decides.
    if not encoding.rotate or (_none(turned, FarField.GROWING) and all(case.what in _FALLING for case in added)):
        return added
    constant = all(case.what is FarField.CONSTANT for case in added)
    return turned if constant else (FarCase(what=FarField.UNDECIDED),)


def bounded(encoding: Encoding) -> bool | None:
    """Whether what positions do to a score stays bounded, whatever distance and parameters; None if not decided."""
    unbounded = _any(ahead(encoding), {*_FALLING, FarField.GROWING})
    return None if unbounded is None else not unbounded


def causal_only(encoding: Encoding) -> bool | None:
    """Whether a key after its query would be scored without bound, or has no score; None if not decided."""
    if encoding.embed or (encoding.positions and not encoding.relation):
        return False
    behind = _POSITION, _POSITION + _DISTANCE
    return _any((*_of_kernel(encoding, *behind), *_of_bias(encoding, *behind)), {FarField.GROWING, FarField.UNDEFINED})


def _any(cases: Cases, wanted: set[FarField]) -> bool | None:
    """Whether some range comes out so; None where none is known to, and not all are known."""
    if any(case.what in wanted for case in cases):
        return True
    return None if any(case.what is FarField.UNDECIDED for case in cases) else False


def _none(cases: Cases, what: FarField) -> bool:
    return all(case.what not in (what, FarField.UNDECIDED) for case in cases)


def _of_bias(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> Cases:
    """How the bias goes on with the distance; no case without a bias."""
    if not encoding.bias:
        return ()
    bias = _constant_content(encoding.bias(*_at(encoding, query, key), LENGTH), encoding)
    bias = bias.replace(lambda part: isinstance(part, sp.Max), _largest)
    functions = [one for one in bias.atoms(AppliedUndef) if _DISTANCE in one.free_symbols]
    for one in functions:
        ends = [end for end in map(_limit, one.args) if end is not None]
        if len(ends) < len(one.args):
            return (FarCase(what=FarField.UNDECIDED),)
        if not all(end.is_finite for end in ends):
            return (FarCase(what=FarField.UNDEFINED),)  # beyond every argument that the function was trained on
        bias = bias.xreplace({one: one.func(*ends)})
    return _course(bias, _domains(encoding))


def _at(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    at = encoding.positions or (lambda index, length: index)
    return at(query, LENGTH), at(key, LENGTH)


def _constant_content(expression: sp.Expr, encoding: Encoding) -> sp.Expr:
    """Every family of tokens or content as one number; tables at the row that far distances read."""
    tables = {one.symbol for one in encoding.parameters if one.family is Family.TABLE}
    members: dict[sp.Expr, sp.Expr] = {}
    for one in expression.atoms(sp.Indexed):
        if one.base in tables:
            members[one] = one.base[tuple(index.subs(_DISTANCE, _DISTANCE + _FAR) for index in one.indices)]
        elif one.base in {parameter.symbol for parameter in encoding.parameters}:
            members[one] = sp.Symbol(str(one.base.label), **one.base.label.assumptions0)
    return expression.xreplace(members).doit()


def _largest(maximum: sp.Max) -> sp.Expr:
    """A maximum at large distances: what grows with the distance outdoes what does not."""
    growing = [one for one in maximum.args if _limit(one) is sp.oo]
    return sp.Max(*growing) if growing else maximum


def _limit(expression: sp.Expr) -> sp.Expr | None:
    """The limit at infinite distance; None where it is not found."""
    if _DISTANCE not in expression.free_symbols:
        return expression
    try:
        found = sp.limit(expression, _DISTANCE, sp.oo)
    except (NotImplementedError, ValueError, TypeError, RecursionError):
        return None
    return None if found.has(sp.Limit, sp.AccumBounds, sp.nan) or _DISTANCE in found.free_symbols else found


def _domains(encoding: Encoding) -> Mapping[sp.Symbol, sp.Set]:
    """The range of each parameter that is a number, and was given one."""
    return {one.symbol: one.domain for one in encoding.parameters if one.domain and isinstance(one.symbol, sp.Symbol)}


def _course(bias: sp.Expr, domains: Mapping[sp.Symbol, sp.Set], where: str = "") -> Cases:
    """How exp(bias) goes, by the bias's elasticity D b'/b, which is the power of the distance that it grows like."""
    slope = sp.simplify(sp.diff(bias, _DISTANCE))
    if any(_DISTANCE in member.free_symbols for member in bias.atoms(sp.Indexed)):
        return (FarCase(what=FarField.UNDECIDED, where=where),)
    if slope == 0:
        return (FarCase(what=FarField.CONSTANT, where=where),)
    power = _limit(sp.simplify(_DISTANCE * slope / bias))
    if power is None:
        return (FarCase(what=FarField.UNDECIDED, where=where),)
    if power.is_infinite:
        what = _signed(bias, power, FarField.FASTER) if power.is_extended_positive else FarField.CONSTANT
        return (FarCase(what=what, where=where),)
    cases = []
    for low, high, inside in ((-sp.oo, 0, _vanishing), (0, 1, _stretched), (1, sp.oo, _faster)):
        name = _within(power, sp.Interval.open(low, high), domains)
        if name is not None:
            cases.append((_joined(where, name), inside(bias, power)))
        at_end = _within(power, sp.FiniteSet(high), domains) if high is not sp.oo else None
        if at_end == "":
            exact = _constant_power if high == 0 else _linear
            cases.append((where, exact(bias)))
        elif at_end is not None:
            special, name = _solved(bias, power, high), _joined(where, at_end)
            found = (
                _course(special, {}, name) if special is not None else (FarCase(what=FarField.UNDECIDED, where=name),)
            )
            cases += [(one.where, one.what) for one in found]
    return tuple(FarCase(where=name, what=what) for name, what in cases)


def _joined(*names: str) -> str:
    return ", ".join(filter(None, names))


def _solved(bias: sp.Expr, power: sp.Expr, value: int) -> sp.Expr | None:
    """The bias with one parameter chosen so that the power is this value; None where that is not found."""
    chosen = sorted(power.free_symbols, key=str)[0]
    try:
        solutions = sp.solve(power - value, chosen)
    except NotImplementedError:
        return None
    return bias.subs(chosen, solutions[0]) if solutions else None


def _within(power: sp.Expr, region: sp.Set, domains: Mapping[sp.Symbol, sp.Set]) -> str | None:
    """The range of parameters whose power lies in the region, "" for all of them; None where none does."""
    if power.is_Symbol:
        domain = domains.get(power, assumed(power))
        common = domain & region
        if common is sp.S.EmptySet:
            return None
        return "" if common == domain else _described(power, common)
    inside = region.contains(power)
    if inside in (sp.true, sp.false):
        return "" if inside == sp.true else None
    (end,) = region if isinstance(region, sp.FiniteSet) else (None,)
    return f"{power} = {end}" if end is not None else _described(power, region)


def _described(power: sp.Expr, region: sp.Set) -> str:
    """0 < p < 1, and the like."""
    if isinstance(region, sp.FiniteSet):
        return f"{power} = {', '.join(map(str, region))}"
    if not isinstance(region, sp.Interval):
        return f"{power} in {region}"
    below, above = "<" if region.left_open else "<=", "<" if region.right_open else "<="
    if region.end is sp.oo:
        return f"{power} {'>' if region.left_open else '>='} {region.start}"
    if region.start is -sp.oo:
        return f"{power} {above} {region.end}"
    return f"{region.start} {below} {power} {above} {region.end}"


def _vanishing(bias: sp.Expr, power: sp.Expr) -> FarField:
    return FarField.CONSTANT


def _stretched(bias: sp.Expr, power: sp.Expr) -> FarField:
    return _signed(bias, power, FarField.STRETCHED)


def _faster(bias: sp.Expr, power: sp.Expr) -> FarField:
    return _signed(bias, power, FarField.FASTER)


def _signed(bias: sp.Expr, power: sp.Expr, falling: FarField) -> FarField:
    """The way of falling for a bias that ends below 0, growth for one that ends above."""
    scale = _DISTANCE**power if power.is_finite else sp.S.One
    leading = bias if bias.is_negative or bias.is_positive else _limit(sp.simplify(bias / scale))
    if leading is None or not (leading.is_extended_negative or leading.is_extended_positive):
        return FarField.UNDECIDED
    return falling if leading.is_extended_negative else FarField.GROWING


def _compared(bias: sp.Expr, scale: sp.Expr, *, slower: FarField, alike: FarField, faster: FarField) -> FarField:
    """How the bias falls, by the limit of its ratio to a negative scale."""
    ratio, opposite = _limit(sp.expand(bias / scale)), _limit(sp.expand(-bias / scale))
    if ratio is None or opposite is None:
        return FarField.UNDECIDED
    if ratio.is_zero:
        return slower
    if ratio.is_extended_positive:
        return faster if ratio.is_infinite else alike
    return FarField.GROWING if opposite.is_extended_positive else FarField.UNDECIDED


def _linear(bias: sp.Expr) -> FarField:
    ways = {"slower": FarField.STRETCHED, "alike": FarField.EXPONENTIAL, "faster": FarField.FASTER}
    return _compared(bias, -_DISTANCE, **ways)


def _constant_power(bias: sp.Expr) -> FarField:
    end = _limit(bias)
    if end is not None and end.is_finite:
        return FarField.CONSTANT
    ways = {"slower": FarField.SLOWER, "alike": FarField.POLYNOMIAL, "faster": FarField.STRETCHED}
    return _compared(bias, -sp.log(_DISTANCE), **ways)


def _of_kernel(encoding: Encoding, query: sp.Expr, key: sp.Expr) -> Cases:
    """How the kernel A_K^T A_Q of the two actions goes on: a sum of c e^(rate D), whose rates' signs decide."""
    if not encoding.rotate:
        return (FarCase(what=FarField.CONSTANT),)
    at_query, at_key = _at(encoding, query, key)
    kernel = encoding.rotate(at_key, LENGTH)[1].T * encoding.rotate(at_query, LENGTH)[0]
    found: set[sp.Expr] = set()
    for entry in kernel:
        rates = _rates(_constant_content(entry, encoding))
        if rates is None:
            return (FarCase(what=FarField.UNDECIDED),)
        found |= rates
    domains = _domains(encoding)
    growths = [_sign(sp.re(rate), domains) for rate in found]
    if any(growth is None for growth in growths):
        return (FarCase(what=FarField.UNDECIDED),)
    if 1 in growths:
        return (FarCase(what=FarField.GROWING),)
    turns = {sp.im(rate) for rate, growth in zip(found, growths, strict=True) if growth == 0} - {sp.S.Zero}
    if 0 not in growths:
        return (FarCase(what=FarField.UNIFORM),)
    if not turns:
        return (FarCase(what=FarField.CONSTANT),)
    if any(_sign(turn, domains) in (1, -1) for turn in turns):
        return (FarCase(what=FarField.OSCILLATING),)
    name = " and ".join(sorted({str(turn if turn.could_extract_minus_sign() is False else -turn) for turn in turns}))
    return (
        FarCase(what=FarField.OSCILLATING, where=f"{name} > 0"),
        FarCase(what=FarField.CONSTANT, where=f"{name} = 0"),
    )


def _rates(entry: sp.Expr) -> set[sp.Expr] | None:
    """The rates r of an expression that is a sum of c e^(r D), c not 0; None where it is no such sum."""
    coefficients: dict[tuple[sp.Expr, sp.Expr], sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(entry.rewrite(sp.exp))):
        exponent, factor = sp.S.Zero, sp.S.One
        for part in sp.Mul.make_args(term):
            if isinstance(part, sp.exp):
                exponent += part.args[0]
            else:
                factor *= part
        exponent = sp.expand(exponent)
        rate = exponent.coeff(_DISTANCE)
        rest = sp.expand(exponent - rate * _DISTANCE)
        if _DISTANCE in rest.free_symbols | rate.free_symbols | factor.free_symbols:
            return None
        place = sp.factor(rate), rest
        coefficients[place] = coefficients.get(place, sp.S.Zero) + factor
    return {rate for (rate, _), coefficient in coefficients.items() if sp.expand(coefficient) != 0}


def _sign(expression: sp.Expr, domains: Mapping[sp.Symbol, sp.Set]) -> int | None:
    """The sign for all parameters: -1, 0 or 1; None where it is not one, or not found."""
    for symbol in sorted(expression.free_symbols & set(domains), key=str):
        if domains[symbol] != _UNIT:
            continue
        # 0 <= x < 1 is x = t / (1 + t) with t >= 0; x = 1 is looked at by itself.
        part = sp.Symbol(f"{symbol}/(1 - {symbol})", nonnegative=True)
        inside = _sign(sp.factor(sp.together(expression.subs(symbol, part / (1 + part)))), {})
        at_end = _sign(expression.subs(symbol, 1), domains)
        return inside if inside == at_end else None
    if expression.is_zero:
        return 0
    if expression.is_positive:
        return 1
    return -1 if expression.is_negative else None
