"""Formulas of Presburger arithmetic: their values at all pairs of all scales, as a set of integer points.

Sums, products with constants, `//` and `%` by constants, min, max, abs, comparisons and choices make a quasi-affine
function of i, j and n on each of finitely many pieces.  isl (Verdoolaege, ICMS 2010) holds such functions exactly, with
their image, and says whether it is bounded, how many points it has, and where each is first attained: Presburger
arithmetic is decidable.  A product, power or division of which one part takes at most MOST_SPLIT values is split by
these values, a quotient that is rounded down by its own values, and remainders of integers by theirs, as remainders of
powers and products repeat.  What takes isl more than MOST_OPERATIONS is left open.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise, product
from math import gcd, lcm

import islpy as isl

from lengthgen.theory.formula import Formula, exact
from lengthgen.theory.formula.syntax import ComparisonChain, FormulaError, Name, Node, NoValue, Number, Operation, names

MOST_SPLIT = 200
"""Largest number of values by which a part of a formula is split."""
MOST_QUOTIENTS = 30
"""Largest quotient by a divisor that takes many values; one that takes few is divided by each of them."""
MOST_LISTED = 2_000
"""Largest distance of two values of a component up to which each between them is tried; beyond, isl counts them all."""
MOST_OPERATIONS = 200_000
"""Largest number of elementary operations of isl for one formula, a second or two; isl cannot be interrupted."""
Cell = tuple[int, ...]
_TESTS = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """Pairs start + s step, s = 0, 1, ..., at which the entry is base + s slope.

    Attributes:
        start: (i, j, n) at s = 0; n is j unless it occurs in the formula.
        step: what s adds to them.
        base: components of the entry at s = 0.
        slope: what s adds to them; not all are 0.
    """

    start: Cell
    step: Cell
    base: tuple[Fraction, ...]
    slope: tuple[Fraction, ...]


@dataclass(frozen=True, kw_only=True)
class Image:
    """Values of a formula at all pairs of all scales.

    Attributes:
        undefined: first pair without a value, (i, j) or (i, j, n); if there is one, nothing else is known.
        nonzero: number of values that are not 0; None if there are infinitely many.
        from_scale: first scale at which all of these have occurred.
        line: pairs on which the entry takes infinitely many values, if there are infinitely many.
    """

    undefined: Cell | None = None
    nonzero: int | None = None
    from_scale: int = 1
    line: Line | None = None


class NotPresburger(Exception):
    """Raised for a part of a formula that is not recognised as quasi-affine on finitely many pieces."""


@lru_cache(maxsize=64)
def image(formula: Formula) -> Image | None:
    """Values of a formula; None if it is not recognised as Presburger, or takes too long."""
    if formula.parameters:
        return None
    family = "n" in formula.variables
    try:
        pairs = _pairs(family=family)
        return _image(pairs, [_Reader(pairs).value(node) for node in formula.nodes], family=family)
    except (NotPresburger, isl.Error, RecursionError):
        return None


def first_pair(condition: Node, *, family: bool) -> list[Cell] | None:
    """First pair at which a condition holds or has no value, (i, j) or (i, j, n), as a list; empty if there is none.

    None if the condition is not recognised as Presburger, or takes too long.
    """
    if names(condition) - {"i", "j", "n"}:
        return None
    try:
        pairs = _pairs(family=family)
        holds = pairs.subtract(_Reader(pairs).truth(condition).fails)
        return [] if holds.is_empty() else [_first(holds, family=family)]
    except (NotPresburger, isl.Error, RecursionError):
        return None


def first_scales(formula: Formula) -> isl.PwAff | None:
    """First scale that shows a value, as a function of the value times a common denominator, 0 left out.

    The formula is one of numbers, not of matrices. None if it is not recognised as Presburger, takes too long, or has
    no value at some pair.
    """
    if formula.parameters:
        return None
    try:
        pairs = _pairs(family="n" in formula.variables)
        context = pairs.get_ctx()
        function = _Reader(pairs).value(formula.nodes[0]).function
        if not pairs.is_subset(function.domain()):
            return None
        entries = isl.Map.from_pw_aff(function).subtract_range(isl.Set("{[0]}", context=context))
        scales = entries.reverse().apply_range(isl.Map("{[i,j,n] -> [n]}", context=context)).lexmin()
        return isl.PwMultiAff.from_map(scales).get_pw_aff(0)
    except (NotPresburger, isl.Error, RecursionError):
        return None


def _pairs(*, family: bool) -> isl.Set:
    """All pairs of all scales, in a context of their own that ends what takes too many operations."""
    context = isl.Context()
    context.set_max_operations(MOST_OPERATIONS)
    return isl.Set(f"{{[i,j,n]: 1 <= i <= j and {'j <= n' if family else 'j = n'}}}", context=context)


def _first(places: isl.Set, *, family: bool) -> Cell:
    """First pair of a set by scale, query and key."""
    by_scale = isl.Map("{[i,j,n] -> [n,j,i]}", context=places.get_ctx())
    scale, query, key = _coordinates(places.apply(by_scale).lexmin().sample_point())
    return (key, query, scale) if family else (key, query)


@dataclass(frozen=True)
class _Value:
    """Quotient of a quasi-affine function, defined where the part of the formula is, and a positive integer."""

    function: isl.PwAff
    denominator: int = 1

    def over(self, denominator: int) -> isl.PwAff:
        """Numerator over a multiple of the denominator."""
        return self.function.scale_val(to_isl(self.function, denominator // self.denominator))

    def floor(self) -> isl.PwAff:
        """Largest integer that is not above."""
        return self.function.scale_down_val(to_isl(self.function, self.denominator)).floor()


@dataclass(frozen=True)
class _Truth:
    """Pairs at which a condition holds, and those at which it does not; it has no value at others."""

    holds: isl.Set
    fails: isl.Set


@dataclass(frozen=True)
class _Reader:
    """Converter from syntax trees to quasi-affine functions on the given pairs."""

    pairs: isl.Set

    def value(self, node: Node) -> _Value:
        """Function of a tree."""
        if not names(node) and not isinstance(node, Number):
            return self._of_constant(node)
        match node:
            case Number(value=value):
                exact = Fraction(value)
                return _Value(self._constant(exact.numerator), exact.denominator)
            case Name(name="i" | "j" | "n" as name):
                space = isl.LocalSpace.from_space(self.pairs.get_space())
                place = isl.Aff.var_on_domain(space, isl.dim_type.set, "ijn".index(name))
                return _Value(isl.PwAff.from_aff(place).intersect_domain(self.pairs))
            case ComparisonChain() | Operation(name="and" | "or" | "not"):
                truth = self.truth(node)
                return _Value(truth.holds.indicator_function().intersect_domain(truth.holds.union(truth.fails)))
            case Operation(name="if", operands=(condition, *branches)):
                truth = self.truth(condition)
                reached = zip((truth.holds, truth.fails), branches, strict=True)
                values = [_Reader(where).value(part) for where, part in reached if not where.is_empty()]
                return _joined([*values, _Value(self._nowhere())])
            case Operation(name="%", operands=(dividend, Number(value=int(modulus)))) if modulus > 0:
                try:
                    return self._apply("%", [self.value(part) for part in node.operands])
                except NotPresburger:
                    return _Value(self._residue(dividend, modulus))
            case Operation(name="gcd", operands=parts):
                return self._gcd(*parts)
            case Operation(name="floor", operands=(Operation(name="/", operands=parts),)):
                return self.value(Operation("//", parts))
            case Operation(name="//", operands=(Operation(name="/", operands=(dividend, divisor)), last)):
                return self.value(Operation("//", (dividend, Operation("*", (divisor, last)))))
            case Operation(name=name, operands=parts):
                return self._apply(name, [self.value(part) for part in parts])
        raise NotPresburger

    def _of_constant(self, node: Node) -> _Value:
        """Function of a tree without variables, if its value is rational."""
        try:
            value = exact.evaluate(node, {})
        except NoValue:
            return _Value(self._nowhere())
        except FormulaError:
            raise NotPresburger from None
        if not isinstance(value, int | Fraction):
            raise NotPresburger
        return self.value(Number(value))

    def truth(self, node: Node) -> _Truth:
        """Pairs at which a condition holds and fails; what is not reached needs no value."""
        nowhere = self.pairs.subtract(self.pairs)
        match node:
            case ComparisonChain(tests=tests, sides=sides):
                reached, fails = self.pairs, nowhere
                for test, two in zip(tests, pairwise(sides), strict=True):
                    if not reached.is_empty():
                        left, right = _over_one([_Reader(reached).value(side) for side in two])[0]
                        reached = _TESTS[test](left, right)
                        fails = fails.union(left.domain().intersect(right.domain()).subtract(reached))
                return _Truth(reached, fails)
            case Operation(name="not", operands=(operand,)):
                truth = self.truth(operand)
                return _Truth(truth.fails, truth.holds)
            case Operation(name="and" | "or" as name, operands=parts):
                reached, ended = self.pairs, nowhere
                for part in parts:
                    if not reached.is_empty():
                        truth = _Reader(reached).truth(part)
                        reached, out = (truth.holds, truth.fails) if name == "and" else (truth.fails, truth.holds)
                        ended = ended.union(out)
                return _Truth(reached, ended) if name == "and" else _Truth(ended, reached)
        function = self.value(node).function
        return _Truth(function.non_zero_set(), function.zero_set())

    def _residue(self, node: Node, modulus: int) -> isl.PwAff:
        """Remainder of an integer modulo a positive integer; products and powers are taken by their residues."""
        try:
            value = self.value(node)
        except NotPresburger:
            return self._residue_of_parts(node, modulus)
        return _integral(value).mod_val(to_isl(value.function, modulus))

    def _residue_of_parts(self, node: Node, modulus: int) -> isl.PwAff:
        match node:
            case Operation(name="neg", operands=(operand,)):
                return self._residue_of_parts(Operation("-", (Number(0), operand)), modulus)
            case Operation(name="+" | "-" | "*" as name, operands=parts):
                left, right = (_cases(_Value(self._residue(part, modulus))) for part in parts)
                results = {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__}
                return self._by_cases(
                    (first.intersect(second), self._constant(int(results[name](a, b)) % modulus))
                    for (a, first), (b, second) in product(left, right)
                )
            case Operation(name="**", operands=(base, exponent)):
                power = _integral(self.value(exponent))
                if not power.neg().pos_set().is_empty():
                    raise NotPresburger
                bases = _cases(_Value(self._residue(base, modulus)))
                return self._by_cases((where, self._powers(int(value), modulus, power)) for value, where in bases)
        raise NotPresburger

    def _powers(self, base: int, modulus: int, exponent: isl.PwAff) -> isl.PwAff:
        """Residue of base ** exponent, which repeats from some exponent on."""
        seen: list[int] = []
        residue = 1 % modulus
        while residue not in seen:
            if len(seen) == MOST_SPLIT:
                raise NotPresburger
            seen.append(residue)
            residue = residue * base % modulus
        before, period = seen.index(residue), len(seen) - seen.index(residue)
        late = exponent.ge_set(self._constant(before))
        repeating = exponent.sub(self._constant(before)).mod_val(to_isl(exponent, period))
        places = [exponent.eq_set(self._constant(at)) for at in range(before)]
        places += [late.intersect(repeating.eq_set(self._constant(at))) for at in range(period)]
        return self._by_cases((where, self._constant(value)) for where, value in zip(places, seen, strict=True))

    def _apply(self, name: str, parts: list[_Value]) -> _Value:
        """Function of an operation on functions."""
        first, last = parts[0], parts[-1]
        match name:
            case "pos":
                return first
            case "neg":
                return _Value(first.function.neg(), first.denominator)
            case "abs":
                return _Value(first.function.max(first.function.neg()), first.denominator)
            case "floor":
                return _Value(first.floor())
            case "ceil":
                return _Value(_Value(first.function.neg(), first.denominator).floor().neg())
            case "+" | "-" | "min" | "max":
                functions, common = _over_one(parts)
                combine = {"+": isl.PwAff.add, "-": isl.PwAff.sub, "min": isl.PwAff.min, "max": isl.PwAff.max}[name]
                return _Value(reduce(combine, functions), common)
            case "*":
                few, other = (last, first) if _split(first) is None else (first, last)
                return _scaled(other, _cases(few))
            case "/" | "//" | "%":
                quotient = self._quotient(first, last, rounded=name != "/")
                return quotient if name != "%" else self._apply("-", [first, self._apply("*", [last, quotient])])
            case "**":
                powers = _split(last)
                return self._power_of_unit(first, last) if powers is None else self._power(first, powers)
        raise NotPresburger

    def _quotient(self, dividend: _Value, divisor: _Value, *, rounded: bool) -> _Value:
        """Quotient, or its floor, if the divisor takes few values or the result does."""
        divisors = _split(divisor)
        if divisors is not None:
            quotient = _scaled(dividend, [(1 / value, where) for value, where in divisors if value])
            return _Value(quotient.floor()) if rounded else quotient
        (above, below), _ = _over_one([dividend, divisor])
        remaining, cases = above.domain().intersect(below.non_zero_set()), []
        for number in sorted(range(-MOST_QUOTIENTS, MOST_QUOTIENTS + 1), key=abs):
            rest = above.sub(below.scale_val(to_isl(below, number)))
            if rounded:
                upwards = rest.ge_set(self._constant(0)).intersect(rest.lt_set(below))
                where = upwards.union(rest.le_set(self._constant(0)).intersect(rest.gt_set(below)))
            else:
                where = rest.zero_set().intersect(below.non_zero_set())
            cases.append((where, self._constant(number)))
            remaining = remaining.subtract(where)
            if remaining.is_empty():
                return _Value(self._by_cases(cases))
        raise NotPresburger

    def _power(self, base: _Value, powers: list[tuple[Fraction, isl.Set]]) -> _Value:
        """Power with few exponents, which are integers; the base takes few values, unless the exponent is 0 or 1."""
        parts = []
        for power, where in powers:
            here = _Value(base.function.intersect_domain(where), base.denominator)
            if power.denominator != 1:
                raise NotPresburger
            if power == 1:
                parts.append(here)
            elif power == 0:
                parts.append(_Value(self._constant(1).intersect_domain(here.function.domain())))
            else:
                values = [(_power(value, power), place) for value, place in _cases(here) if value or power > 0]
                parts.append(_scaled(_Value(self._constant(1)), values))
        return _joined([*parts, _Value(self._nowhere())])

    def _power_of_unit(self, base: _Value, exponent: _Value) -> _Value:
        """Power of 0, 1 and -1 with any integer exponent."""
        power = _integral(exponent)
        even = power.mod_val(to_isl(power, 2)).zero_set()
        cases = []
        for value, where in _cases(base):
            if value not in (-1, 0, 1):
                raise NotPresburger
            held, other = (even, 1), (power.domain().subtract(even), int(value))
            if value == 0:
                held, other = (power.zero_set(), 1), (power.pos_set(), 0)
            cases += [(where.intersect(place), self._constant(result)) for place, result in (held, other)]
        return _Value(self._by_cases(cases))

    def _gcd(self, first: Node, second: Node) -> _Value:
        """Greatest common divisor with an integer that takes few values: a function of the other's residue."""
        for few, other in ((second, first), (first, second)):
            try:
                values = _cases(self.value(few))
            except NotPresburger:
                continue
            cases = []
            for value, where in values:
                here = _Reader(where)
                if not value:
                    cases.append((where, _integral(here._apply("abs", [here.value(other)]))))
                    continue
                if value.denominator != 1:
                    raise NotPresburger
                residues = _cases(_Value(here._residue(other, abs(int(value)))))
                cases += [(place, self._constant(gcd(int(rest), int(value)))) for rest, place in residues]
            return _Value(self._by_cases(cases))
        raise NotPresburger

    def _by_cases(self, cases: Iterable[tuple[isl.Set, isl.PwAff]]) -> isl.PwAff:
        """Function that is the given one on each of some disjoint sets of pairs."""
        functions = (function.intersect_domain(where) for where, function in cases)
        return reduce(isl.PwAff.union_add, functions, self._nowhere())

    def _nowhere(self) -> isl.PwAff:
        """Function that has no value at any pair."""
        return self._constant(0).subtract_domain(self.pairs)

    def _constant(self, value: int) -> isl.PwAff:
        return isl.PwAff.val_on_domain(self.pairs, to_isl(self.pairs, value))


def to_isl(like: isl.PwAff | isl.Set, value: int) -> isl.Val:
    """Integer in the context of a function or a set."""
    return isl.Val(str(value), context=like.get_ctx())


def from_isl(value: isl.Val) -> int:
    """Integer of isl; it has none, and no error, where its operations were used up."""
    text = value.to_str()
    if text is None:
        raise NotPresburger
    return int(text)


def _integral(value: _Value) -> isl.PwAff:
    """Function of a value that is written as an integer. Raises `NotPresburger` if it is not."""
    if value.denominator != 1:
        raise NotPresburger
    return value.function


def _split(value: _Value) -> list[tuple[Fraction, isl.Set]] | None:
    """Values of a function, each with the pairs at which it is taken; None if there are more than MOST_SPLIT."""
    cases = values_taken(value.function)
    if cases is None or len(cases) > MOST_SPLIT:
        return None
    return [(Fraction(number, value.denominator), where) for number, where in cases]


def values_taken(function: isl.PwAff) -> list[tuple[int, isl.Set]] | None:
    """Numbers that a function takes, each with its pairs; None if those of a piece are not within MOST_LISTED."""
    pairs_of: dict[int, isl.Set] = {}
    for where, form in function.get_pieces():
        if where.is_empty():
            continue
        if form.is_cst():
            candidates = [(from_isl(form.get_constant_val()), where)]
        else:
            piece = isl.PwAff.alloc(where, form)
            if not _is_bounded(piece):
                return None
            low, high = from_isl(piece.min_val()), from_isl(piece.max_val())
            if high - low > MOST_LISTED:
                return None
            numbers = range(low, high + 1)
            candidates = [
                (number, piece.eq_set(isl.PwAff.val_on_domain(where, to_isl(where, number)))) for number in numbers
            ]
        for number, there in candidates:
            if not there.is_empty():
                pairs_of[number] = pairs_of[number].union(there) if number in pairs_of else there
    return sorted(pairs_of.items(), key=lambda taken: taken[0])


def is_finite_above(numbers: isl.Set) -> bool:
    """True if a set of integers has a largest one, or is empty."""
    return bool(numbers.is_empty() or not numbers.dim_max_val(0).is_infty())


def _is_bounded(function: isl.PwAff) -> bool:
    """True if a function takes finitely many values."""
    return not (function.min_val().is_neginfty() or function.max_val().is_infty())


def _cases(value: _Value) -> list[tuple[Fraction, isl.Set]]:
    """Values of a function as `_split` gives them. Raises `NotPresburger` if there are too many."""
    cases = _split(value)
    if cases is None:
        raise NotPresburger
    return cases


def _over_one(values: list[_Value]) -> tuple[list[isl.PwAff], int]:
    """Numerators over a common denominator, and this denominator."""
    common = lcm(*(value.denominator for value in values))
    return [value.over(common) for value in values], common


def _joined(values: Iterable[_Value]) -> _Value:
    """Value that is each of some values on its own pairs."""
    functions, common = _over_one(list(values))
    return _Value(reduce(isl.PwAff.union_add, functions), common)


def _scaled(value: _Value, factors: Iterable[tuple[Fraction, isl.Set]]) -> _Value:
    """Value times a factor on each of some disjoint sets of pairs, and without a value elsewhere."""
    listed = list(factors)
    common = lcm(*(factor.denominator for factor, _ in listed))
    multiples = (
        value.function.scale_val(to_isl(value.function, int(factor * common))).intersect_domain(where)
        for factor, where in listed
    )
    nowhere = value.function.subtract_domain(value.function.domain())
    return _Value(reduce(isl.PwAff.union_add, multiples, nowhere), value.denominator * common)


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    """Power, unless it is too large a number for formulas."""
    try:
        return Fraction(exact.apply("**", [exact.plain(base), exact.plain(exponent)]))
    except FormulaError:
        raise NotPresburger from None


def _image(pairs: isl.Set, values: list[_Value], *, family: bool) -> Image:
    """Values of the entries with these components."""
    missing = reduce(isl.Set.union, (pairs.subtract(value.function.domain()) for value in values))
    if not missing.is_empty():
        return Image(undefined=_first(missing, family=family))
    functions = [value.function for value in values]
    entries = reduce(isl.Map.flat_range_product, map(isl.Map.from_pw_aff, functions))
    if not all(map(_is_bounded, functions)):
        return Image(line=_line(entries, [value.denominator for value in values]))
    listed = _listed(pairs, functions)
    if listed is not None:
        places = [where for entry, where in listed if any(entry)]
        return Image(
            nonzero=len(places), from_scale=max((from_isl(where.dim_min_val(2)) for where in places), default=1)
        )
    zero = isl.Set(f"{{[{','.join('0' for _ in values)}]}}", context=pairs.get_ctx())
    nonzero = entries.subtract_range(zero)
    scales = nonzero.reverse().apply_range(isl.Map("{[i,j,n] -> [n]}", context=pairs.get_ctx()))
    since = from_isl(scales.lexmin().range().dim_max_val(0))
    return Image(nonzero=from_isl(nonzero.range().count_val()), from_scale=since)


def _listed(pairs: isl.Set, functions: list[isl.PwAff]) -> list[tuple[Cell, isl.Set]] | None:
    """Entries with these components, each with its pairs; None if there are more than MOST_LISTED."""
    entries: list[tuple[Cell, isl.Set]] = [((), pairs)]
    for function in functions:
        taken = values_taken(function)
        if taken is None:
            return None
        joined = (((*entry, number), place.intersect(where)) for entry, place in entries for number, where in taken)
        entries = [(entry, where) for entry, where in joined if not where.is_empty()]
        if len(entries) > MOST_LISTED:
            return None
    return entries


def _line(entries: isl.Map, denominators: list[int]) -> Line:
    """Line of pairs along which some component of the entry grows or falls for ever.

    A polyhedron with an integer point and a direction of unbounded growth contains the ray of that direction from the
    point; the quotients of `//` are coordinates of it.
    """
    for piece in entries.wrap().flatten().get_basic_sets():
        lifted = piece.lift().flatten()
        if lifted.is_empty():
            continue
        cone = isl.BasicSet.universe(lifted.get_space())
        for constraint in lifted.get_constraints():
            cone = cone.add_constraint(constraint.set_constant_val(to_isl(entries.domain(), 0)))
        for place, _ in enumerate(denominators):
            for sign in (1, -1):
                growing = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(lifted.get_space()))
                growing = growing.set_coefficient_val(isl.dim_type.set, 3 + place, to_isl(entries.domain(), sign))
                ray = cone.add_constraint(growing.set_constant_val(to_isl(entries.domain(), -1)))
                if not ray.is_empty():
                    start, step = _coordinates(lifted.sample_point()), _coordinates(ray.sample_point())
                    over = [list(map(Fraction, part[3:], denominators)) for part in (start, step)]
                    return Line(start=start[:3], step=step[:3], base=tuple(over[0]), slope=tuple(over[1]))
    raise NotPresburger


def _coordinates(point: isl.Point) -> Cell:
    """Coordinates of a point."""
    return tuple(
        from_isl(point.get_coordinate_val(isl.dim_type.set, place))
        for place in range(point.get_space().dim(isl.dim_type.set))
    )
