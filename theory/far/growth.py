"""Effect of a bias by the power of the distance with which it grows."""

from functools import cache

import sympy as sp

from lengthgen.theory.domain import assumed
from lengthgen.theory.far.effects import Cases, FarCase, FarField, join_ranges
from lengthgen.theory.far.limits import DISTANCE, limit_of, limit_of_simplified
from lengthgen.theory.formula.leading_terms import leading_term


@cache
def cases_by_growth(bias: sp.Expr, domains: sp.Dict, where: str = "") -> Cases:
    """Behaviour of exp(bias), from the elasticity D b'/b of the bias: the power of D with which the bias grows."""
    slope = sp.diff(bias, DISTANCE)
    if leading_term(slope, DISTANCE) is None:
        slope = sp.simplify(slope)  # it may be 0
    if any(DISTANCE in member.free_symbols for member in bias.atoms(sp.Indexed)):
        return (FarCase(behaviour=FarField.UNDECIDED, where=where),)
    if slope == 0:
        return (FarCase(behaviour=FarField.CONSTANT, where=where),)
    power = limit_of_simplified(DISTANCE * slope / bias)
    if power is None:
        return (FarCase(behaviour=FarField.UNDECIDED, where=where),)
    if power.is_infinite:
        behaviour = (
            _falling_or_growing(bias, power, FarField.FASTER) if power.is_extended_positive else FarField.CONSTANT
        )
        return (FarCase(behaviour=behaviour, where=where),)
    cases = []
    for low, high, behaviour_inside in ((-sp.oo, 0, _vanishing), (0, 1, _stretched), (1, sp.oo, _faster)):
        name = _range_with_power_in(power, sp.Interval.open(low, high), domains)
        if name is not None:
            cases.append((join_ranges(where, name), behaviour_inside(bias, power)))
        at_end = _range_with_power_in(power, sp.FiniteSet(high), domains) if high is not sp.oo else None
        if at_end == "":
            exact = _constant_power if high == 0 else _linear
            cases.append((where, exact(bias)))
        elif at_end is not None:
            special, name = _bias_with_power(bias, power, high), join_ranges(where, at_end)
            at_end_cases = (
                cases_by_growth(special, sp.Dict(), name)
                if special is not None
                else (FarCase(behaviour=FarField.UNDECIDED, where=name),)
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


def _vanishing(bias: sp.Expr, power: sp.Expr) -> FarField:
    """Effect of a bias that goes to 0."""
    return FarField.CONSTANT


def _stretched(bias: sp.Expr, power: sp.Expr) -> FarField:
    """Effect of a bias that grows slower than D."""
    return _falling_or_growing(bias, power, FarField.STRETCHED)


def _faster(bias: sp.Expr, power: sp.Expr) -> FarField:
    """Effect of a bias that grows faster than D."""
    return _falling_or_growing(bias, power, FarField.FASTER)


def _falling_or_growing(bias: sp.Expr, power: sp.Expr, falling: FarField) -> FarField:
    """Effect `falling` for a bias that ends below 0, growth for one that ends above 0."""
    scale = DISTANCE**power if power.is_finite else sp.S.One
    leading = bias if bias.is_negative or bias.is_positive else limit_of_simplified(bias / scale)
    if leading is None or not (leading.is_extended_negative or leading.is_extended_positive):
        return FarField.UNDECIDED
    return falling if leading.is_extended_negative else FarField.GROWING


def _compared(bias: sp.Expr, scale: sp.Expr, *, slower: FarField, alike: FarField, faster: FarField) -> FarField:
    """Effect of a bias, from the limit of its ratio to a negative scale."""
    ratio = limit_of(sp.expand(bias / scale))
    if ratio is None:
        return FarField.UNDECIDED
    if ratio.is_zero:
        return slower
    if ratio.is_extended_positive:
        return faster if ratio.is_infinite else alike
    return FarField.GROWING if ratio.is_extended_negative else FarField.UNDECIDED


def _linear(bias: sp.Expr) -> FarField:
    """Effect of a bias that grows like the power 1 of the distance."""
    effects = {"slower": FarField.STRETCHED, "alike": FarField.EXPONENTIAL, "faster": FarField.FASTER}
    return _compared(bias, -DISTANCE, **effects)


def _constant_power(bias: sp.Expr) -> FarField:
    """Effect of a bias that grows like the power 0 of the distance: constant, or for example a logarithm."""
    limit = limit_of(bias)
    if limit is not None and limit.is_finite:
        return FarField.CONSTANT
    effects = {"slower": FarField.SLOWER, "alike": FarField.POLYNOMIAL, "faster": FarField.STRETCHED}
    return _compared(bias, -sp.log(DISTANCE), **effects)
