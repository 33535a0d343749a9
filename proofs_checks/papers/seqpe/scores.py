"""SeqPE's bias: matrices that products of codes can represent, ALiBi among them, and laws that they do not keep."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.papers.seqpe import SOURCE
from lengthgen.proofs_checks.signs import is_zero
from lengthgen.theory import laws
from lengthgen.theory.encodings import biases, seqpe
from lengthgen.theory.encodings.encoding import Law
from lengthgen.theory.exact import Undecided

Bias = Callable[..., sp.Expr]
CodeAt = Callable[[sp.Expr, int], sp.Expr]
"""Coordinate of the code of a position: (position, coordinate) -> number."""

_ROOT = sp.Symbol("r", positive=True)
"""Square root of the head width, which is then r^2."""
_QUERY, _KEY, _SHIFT = sp.symbols("j i s", integer=True, nonnegative=True)
_WIDTHS = (1, 2, 3)


def ranks(*, bias: Bias, positions: Callable[[int], int]) -> Evidence:
    """Decide that codes of width d represent a matrix iff its rank is at most d.

    `positions` gives, for each d, a number of positions whose identity matrix should be represented.
    """
    for width in _WIDTHS:
        size = positions(width)
        codes = [[sp.Integer((row + 2) ** column) for column in range(width)] for row in range(size)]
        most = _matrix(bias, codes, codes, width).rank()
        if size > most:
            raise Refuted(f"d = {width}: the identity of {size} positions has the rank {size}, these codes {most}")
        unit = [[sp.Integer(row == column) for column in range(width)] for row in range(size)]
        scaled = [[sp.sqrt(width) * entry for entry in row] for row in unit]
        if _matrix(bias, scaled, unit, width) != sp.eye(size):
            raise Refuted(f"d = {width}: codes sqrt(d) e_j and e_i give {_matrix(bias, scaled, unit, width).tolist()}")
    x, y, a, b, u, v, w = sp.symbols("x y a b u v w", real=True)

    def summand(query: sp.Expr, key: sp.Expr) -> sp.Expr:
        return bias(lambda _: query, lambda _: key, head_dim=_ROOT**2).replace(sp.Sum, lambda part, _: part)

    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "each coordinate of the bias is linear in the query's code",
                lambda: summand(a * u + b * v, w),
                lambda: a * summand(u, w) + b * summand(v, w),
            ),
            "any d + 1 codes in R^d have a combination that is 0, and with the same numbers the rows of the matrix "
            "have one: its rank is at most d, for every d and number of positions",
            require_equal(
                "a matrix of rank r <= d is a sum of r products x_c(j) y_c(i): codes sqrt(d) x and y, 0 from r on",
                lambda: summand(_ROOT * x, y),
                lambda: x * y,
            ),
            f"the identity of d positions is represented, for d in {_WIDTHS}; the identity of d + 1 has rank d + 1",
        ),
        assumptions=("codes are free; whether a network of the digits reaches them is not said",),
    )


def _matrix(bias: Bias, queries: list[list[sp.Expr]], keys: list[list[sp.Expr]], width: int) -> sp.Matrix:
    """Matrix of the bias of all pairs, queries by keys."""

    def entry(row: int, column: int) -> sp.Expr:
        total = bias(
            lambda coordinate: sp.IndexedBase("u")[coordinate],
            lambda coordinate: sp.IndexedBase("w")[coordinate],
            head_dim=sp.Integer(width),
        ).doit()
        values = {sp.IndexedBase("u")[c]: queries[row][c] for c in range(width)}
        return total.xreplace(values | {sp.IndexedBase("w")[c]: keys[column][c] for c in range(width)})

    return sp.Matrix(len(queries), len(keys), entry)


def as_alibi(*, bias: Bias, query_code: CodeAt, key_code: CodeAt) -> Evidence:
    """Decide that codes with two coordinates that are not 0 give ALiBi's bias, at every width d >= 2."""
    query, key = sp.IndexedBase("u"), sp.IndexedBase("w")
    two = bias(lambda c: query[c], lambda c: key[c], head_dim=sp.Integer(2)).doit() * sp.sqrt(2) / _ROOT
    values = {query[c]: query_code(_QUERY, c) for c in (0, 1)} | {key[c]: key_code(_KEY, c) for c in (0, 1)}
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "(u_0 w_0 + u_1 w_1)/sqrt(d), r = sqrt(d)",
                sp.expand(two).xreplace(values),
                lambda: biases.alibi_bias(biases.ALIBI_SLOPE, query_position=_QUERY, key_position=_KEY),
            ),
            "the coordinates from 2 on are 0 and add nothing",
            "for every slope, position and d >= 2; a factor of m in the query's code is a factor of the bias",
        ),
        assumptions=(
            "codes are free; those of the released encoder are bounded by its last normalisation, so it can follow "
            "ALiBi on its 10^k positions at most",
        ),
    )


def _alibi_query(position: sp.Expr, coordinate: int) -> sp.Expr:
    """Query code sqrt(d) (-m j, 1) of ALiBi."""
    return _ROOT * (-biases.ALIBI_SLOPE * position, sp.S.One)[coordinate]


def _alibi_key(position: sp.Expr, coordinate: int) -> sp.Expr:
    """Key code (1, m i) of ALiBi."""
    return (sp.S.One, biases.ALIBI_SLOPE * position)[coordinate]


_FAMILIES: Mapping[str, tuple[CodeAt, CodeAt]] = {
    "equal at all positions": (lambda p, c: sp.Integer(c + 1), lambda p, c: sp.Integer(c + 2)),
    "on a circle": (lambda p, c: (sp.cos(p), sp.sin(p))[c], lambda p, c: (sp.cos(p), sp.sin(p))[c]),
    "of ALiBi": (_alibi_query, _alibi_key),
    "on a line": (lambda p, c: (p, sp.S.One)[c], lambda p, c: (p, sp.S.One)[c]),
    "growing": (lambda p, c: p ** (c + 1), lambda p, c: sp.Integer(c)),
}
"""Codes of two coordinates for queries and keys."""
_RELATIVE = frozenset({"equal at all positions", "on a circle", "of ALiBi"})


def relative_codes(*, formulas: Bias, relative: Callable[[str], bool]) -> Evidence:
    """Decide that the relative law fails for free codes, and for which families of codes it holds nevertheless."""
    encoding = replace(seqpe.SEQPE, bias=lambda j, i, _: _of_tables(formulas, j, i))
    ruling = laws.decide_law(encoding, Law.RELATIVE)
    if ruling.holds is None:
        raise Undecided(ruling.reason)
    if ruling.holds:
        raise Refuted(f"the relative law holds for all codes: {ruling.reason}")
    facts = [f"free codes: {ruling.reason}"]
    for name, (query_code, key_code) in _FAMILIES.items():

        def product(shift: sp.Expr, query_code: CodeAt = query_code, key_code: CodeAt = key_code) -> sp.Expr:
            return sp.Add(*(query_code(_QUERY + shift, c) * key_code(_KEY + shift, c) for c in (0, 1)))

        if relative(name):
            if name == "equal at all positions":
                facts.append(f"codes {name}: no position enters")
                continue
            facts.append(require_equal(f"codes {name}, shifted by s", product(_SHIFT), product(sp.S.Zero)))
        else:
            change = sp.expand(product(sp.S.One) - product(sp.S.Zero))
            value = change.subs({_QUERY: 3, _KEY: 1})
            if is_zero(value):
                raise Refuted(f"codes {name}: a shift of query 3 and key 1 by 1 changes nothing")
            facts.append(f"codes {name}: a shift of query 3 and key 1 by 1 adds {value}")
    return Evidence(strength=Strength.GENERAL, facts=tuple(facts), assumptions=("codes are free",))


def _of_tables(bias: Bias, query_position: sp.Expr, key_position: sp.Expr) -> sp.Expr:
    """Bias of the two positions from the tables of codes."""
    return bias(
        lambda coordinate: seqpe.QUERY_CODES[query_position, coordinate],
        lambda coordinate: seqpe.KEY_CODES[key_position, coordinate],
    )


def released_baseline(*, slope: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Evidence:
    """Decide that the released ALiBi baseline is ALiBi, up to a number of each query, with this slope.

    `slope` takes the slope m of the head and the root r of its width.
    """
    first, second = sp.symbols("a b", integer=True, nonnegative=True)

    def released(key: sp.Expr) -> sp.Expr:
        return seqpe.released_alibi(biases.ALIBI_SLOPE, key_position=key, head_dim=_ROOT**2)

    def press(key: sp.Expr) -> sp.Expr:
        return biases.alibi_bias(slope(biases.ALIBI_SLOPE, _ROOT), query_position=_QUERY, key_position=key)

    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "difference of the biases of two keys a and b, r = sqrt(d)",
                lambda: released(first) - released(second),
                lambda: press(first) - press(second),
            ),
            "softmax sees such differences alone; d = 64 makes the decay 8 times weaker",
        ),
    )


CLAIMS = (
    Claim(
        id="seqpe-5",
        source=SOURCE.at("injection attn_scalar"),
        statement="Biases from codes of width d are exactly the matrices of rank at most d, for every d and every "
        "number of positions: the identity of more than d positions is not among them.",
        latex=r"\{(\langle u_j,w_i\rangle/\sqrt d)_{ji}\}=\{B:\operatorname{rank}B\le d\}",
        label="F",
        check=ranks,
        holds={"bias": seqpe.bias, "positions": lambda width: width},
        falsifiers={
            "the identity of d + 1 positions": {"positions": lambda width: width + 1},
            "without the division": {
                "bias": lambda query, key, *, head_dim: sp.sqrt(head_dim) * seqpe.bias(query, key, head_dim=head_dim)
            },
        },
    ),
    Claim(
        id="seqpe-5-alibi",
        source=SOURCE.at("injection attn_scalar"),
        statement="Codes sqrt(d) (-m j, 1) of queries and (1, m i) of keys give ALiBi's bias exactly: two coordinates "
        "suffice.",
        latex=r"\tfrac1{\sqrt d}\langle\sqrt d\,(-mj,1),(1,mi)\rangle=-m(j-i)",
        label="F",
        check=as_alibi,
        holds={"bias": seqpe.bias, "query_code": _alibi_query, "key_code": _alibi_key},
        falsifiers={
            "keys with the other sign": {"key_code": lambda p, c: (sp.S.One, -biases.ALIBI_SLOPE * p)[c]},
            "queries without sqrt(d)": {"query_code": lambda p, c: _alibi_query(p, c) / _ROOT},
            "one coordinate": {"query_code": lambda p, c: _ROOT * (-biases.ALIBI_SLOPE * p, sp.S.Zero)[c]},
        },
    ),
    Claim(
        id="seqpe-6",
        source=SOURCE.at("injection attn_scalar"),
        statement="SeqPE keeps no relative law: for free codes a common shift changes scores. For some codes it does "
        "not, such as equal codes, codes on a circle, and those of ALiBi.",
        latex=r"\exists u,w:\ \langle u_{j+s},w_{i+s}\rangle\ne\langle u_j,w_i\rangle",
        label="F",
        check=relative_codes,
        holds={"formulas": seqpe.bias, "relative": lambda name: name in _RELATIVE},
        falsifiers={
            "for every family of codes": {"relative": lambda name: True},
            "for no family of codes": {"relative": lambda name: False},
            "codes that no position changes": {
                "formulas": lambda query, key: seqpe.bias(lambda c: sp.Symbol("u"), lambda c: sp.Symbol("w"))
            },
        },
    ),
    Claim(
        id="seqpe-7",
        source=SOURCE.at("ALiBi baseline"),
        statement="The released ALiBi baseline has the slopes m/sqrt(d) (errata F21): it adds ALiBi's bias before the "
        "division by sqrt(d), so its decay is 8 times weaker at d = 64 than that of Press et al.",
        latex=r"b_{ji}=\tfrac{m\,i}{\sqrt d}\ \equiv\ -\tfrac{m}{\sqrt d}(j-i)",
        label="P",
        check=released_baseline,
        holds={"slope": lambda slope, root: slope / root},
        printed={"slope": lambda slope, root: slope},
        falsifiers={
            "the slopes of Press et al.": {"slope": lambda slope, root: slope},
            "slopes m/d": {"slope": lambda slope, root: slope / root**2},
        },
    ),
)
