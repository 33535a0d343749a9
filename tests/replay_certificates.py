"""Replay certificates of identities with rational arithmetic: no package, no algebra system, no trust in the writer.

    python tests/replay_certificates.py FOLDER      (the FOLDER of `lengthgen verify --certificates FOLDER`)
A fraction is a polynomial over a Counter of polynomials; theory/zero/identity_certificate.py has the rules of reading.
"""

import json
import sys
from collections import Counter
from fractions import Fraction
from functools import cache, reduce
from itertools import product as pairs
from pathlib import Path

UNIT = "imaginary unit"
ANGLE, EXPONENT = ("cos", "sin", "tan", "cot", "sec", "csc"), ("cosh", "sinh", "tanh", "coth", "sech", "csch", "exp")


class Poly(dict):
    """Powers of generators, frozenset({(generator, power), ...}) -> coefficient, which is not 0."""

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __add__(self, other):
        terms = {key: self.get(key, 0) + other.get(key, 0) for key in self.keys() | other.keys()}
        return Poly({key: value for key, value in terms.items() if value})

    def __mul__(self, other):
        result = {}
        for (a, x), (b, y) in pairs(self.items(), other.items()):
            powers = frozenset((Counter(dict(a)) + Counter(dict(b))).items()) if a and b else a or b
            result[powers] = result.get(powers, 0) + x * y
        return Poly({key: value for key, value in result.items() if value})

    def slope(self, x, units):
        result = Poly()
        for key, (name, n) in ((powers, power) for powers in self for power in powers):
            kind, _, index = name.partition(" ")
            if name == x:
                result += Poly({key - {(name, n)}: self[key] * n}) * term(1, *[name] * (n - 1))
            elif kind in ("up", "down"):
                result += Poly({key: self[key] * (n if kind == "up" else -n)}) * units[int(index)].slope(x, [])
        return result

    def at(self, point):
        """Value at a point of complex numbers, as real and imaginary part."""
        parts = [Fraction(0), Fraction(0)]
        for key, coefficient in self.items():
            x, y = coefficient, Fraction(0)
            for a, b in (point[name] for name in Counter(dict(key)).elements()):
                x, y = x * a - y * b, x * b + y * a
            parts = [parts[0] + x, parts[1] + y]
        return parts


@cache
def term(value, *names):
    return Poly({frozenset(Counter(names).items()): Fraction(value)} if Fraction(value) else {})


def plain(terms):
    return sum((term(value, *Counter(powers).elements()) for value, powers in terms), start=Poly())


def expand(denominator):
    return reduce(Poly.__mul__, denominator.elements(), term(1))


def add(first, second):
    common = first[1] | second[1]
    return first[0] * expand(common - first[1]) + second[0] * expand(common - second[1]), common


def multiply(first, second):
    return first[0] * second[0], first[1] + second[1]


def inverse(above, below):
    assert above, "a denominator is 0"
    constant = above.get(frozenset()) if len(above) == 1 else None
    return expand(below) * term(1 / (constant or 1)), Counter([] if constant else [above])


def exponential(argument, units):
    up = down = term(1)
    for n, unit in enumerate(units):
        ((monomial, weight),) = unit.items()
        count = argument.pop(monomial, Fraction(0)) / weight
        assert count.denominator == 1, "no whole multiple of a unit"
        a, b = (f"up {n}", f"down {n}") if count > 0 else (f"down {n}", f"up {n}")
        up, down = up * term(1, *[a] * abs(int(count))), down * term(1, *[b] * abs(int(count)))
    assert not argument, "a part of an argument is no multiple of a unit"
    return up, down


def value(tree, units, roots):
    if isinstance(tree, str):
        assert not tree.startswith(("up ", "down ")) and tree != UNIT, "a symbol has the name of a generator"
        return term(1, tree), Counter()
    head, *parts = tree
    if head in ("q", "i"):
        return term(*("1", UNIT) if head == "i" else parts), Counter()
    if head in ("+", "*"):
        return reduce(add if head == "+" else multiply, (value(part, units, roots) for part in parts))
    above, below = value(parts[0], units, roots)
    if head == "^":
        base = (above, below) if parts[1] > 0 else inverse(above, below)
        return reduce(multiply, [base] * abs(parts[1]), (term(1), Counter()))
    if head == "d":
        assert not roots, "a derivative beside roots"
        under, to = expand(below), (parts[1], units)
        return above.slope(*to) * under + term(-1) * above * under.slope(*to), below + below
    assert not below, "not an argument"
    up, down = exponential(above * term(1, *[UNIT] * (head in ANGLE)), units)
    even, odd = (up + down) * term("1/2"), (up + down * term(-1)) * term("1/2")
    odd *= term(-1, UNIT) if head in ANGLE else term(1)
    forms = [(even, term(1)), (odd, term(1)), (odd, even), (even, odd), (term(1), even), (term(1), odd), (up, term(1))]
    above, below = forms[(ANGLE if head in ANGLE else EXPONENT).index(head)]
    return multiply((above, Counter()), inverse(below, Counter()))


def replay(cert):
    units, roots = [plain(unit) for unit in cert["units"]], cert["roots"]
    point = {name: [*map(Fraction, parts)] for name, parts in cert["point"].items()} | {UNIT: [0, 1]}
    trees = [["+", ["^", root, 2], ["*", ["q", "-1"], square]] for root, square in roots.items()]
    read = [value(tree, units, roots) for tree in trees] + [(term(1, UNIT, UNIT) + term(1), Counter())]
    read += [(term(1, f"up {n}", f"down {n}") + term(-1), Counter()) for n, _ in enumerate(units)]
    laws = [law for law, below in read if not below]
    assert laws == [plain(relation) for relation in cert["relations"]], "other relations"
    difference, below = add(value(cert["left"], units, roots), value(["*", ["q", "-1"], cert["right"]], units, roots))
    assert not any(any(law.at(point)) for law in laws), "the point violates a relation"
    assert all(any(p.at(point)) for p in below), "a denominator is 0 at the point"
    if cert["holds"]:
        terms = [plain(cofactor) * law for cofactor, law in zip(cert["cofactors"], laws, strict=True)]
        assert difference == sum(terms, start=Poly()), "the cofactors do not give the difference"
    else:
        assert any(difference.at(point)), "both sides have one value at the point"


if __name__ == "__main__":
    paths, proved = sorted(Path(sys.argv[1]).glob("*.json")), []
    for path, cert in [(file, cert) for file in paths for cert in json.loads(file.read_bytes())["identities"]]:
        try:
            replay(cert)
        except (AssertionError, KeyError, ValueError) as error:
            sys.exit(f"{path}: {cert['left']} against {cert['right']}: {error!r}")
        proved.append(cert["holds"])
    print(f"{sum(proved)} identities proved, {len(proved) - sum(proved)} false ones refuted")
    sys.exit(not proved)
