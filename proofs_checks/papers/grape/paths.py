"""Biases summed along a path: GRAPE-AP, FoX as GRAPE-A, and gated GRAPE-A with bounds on its link functions."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import flint
import sympy as sp
from sympy.polys.matrices import DomainMatrix

from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.facts import (
    combine,
    derivative,
    empty_value,
    last_term,
    product,
    require_equal,
    same_by_sympy,
)
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.proofs_checks.papers.grape.unipotent import inverse_transpose
from lengthgen.theory.domains import in_domain
from lengthgen.theory.encodings import biases, grape, paths, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.zero.enclosure import enclose
from lengthgen.theory.zero.sympy_engine import Undecided

Path = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Sum]
RowBias = Callable[[sp.Expr, sp.Expr], sp.Expr]
Features = Callable[[sp.Expr, sp.Expr], sp.Matrix]
"""(position, gate) -> features of a query or of a key, whose scalar product is the bias."""

GATES = (sp.Rational(1, 10), sp.Integer(5), sp.Integer(1))
"""Gates of tokens 0, 1 and 2 in the examples."""
LAMBDA = sp.IndexedBase("lambda", positive=True)
FIXED = sp.Symbol("lambda_q", positive=True)
_ROWS = len(GATES) - 1
VARIANTS = {"query and key": (1, 1), "query": (1, 0), "key": (0, 1)}
"""Variant -> (1 if it has a gate of the query, 1 if it has a gate of the key)."""
EXAMPLE_SIZE = 6
_BITS = 200


def _rising_edge(row: RowBias) -> str:
    """Text on the first edge above 0 if the tokens have the gates `GATES`; empty if there is none."""
    tokens = {LAMBDA[place]: gate for place, gate in enumerate(GATES)} | {FIXED: GATES[0]}
    for query in range(1, _ROWS + 1):
        values = [sp.sympify(row(sp.Integer(query), sp.Integer(key))).subs(tokens) for key in range(query + 1)]
        for token in range(1, query + 1):
            edge = grape.edge_potential(values.__getitem__, token)
            if edge > 0:
                row_values = [float(value) for value in values[: token + 1]]
                gates = tuple(map(float, GATES[: query + 1]))
                return f"gates {gates}: b({query}, .) = {row_values}, so psi({query}, {token}) = {float(edge)}"
    return ""


def _ends(path: sp.Sum, other: sp.Sum) -> tuple[tuple[str, sp.Expr, sp.Expr], ...]:
    """Lower and upper limits of two paths, side by side."""
    (_, first, last), (_, other_first, other_last) = path.limits[0], other.limits[0]
    return ("begin", first, other_first), ("end", last, other_last)


def _gated(query: sp.Expr, key: sp.Expr, *, by_query: sp.Expr, by_key: sp.Expr) -> sp.Expr:
    """Bias of gated GRAPE-A with slope 1."""
    at = {"query_position": query, "key_position": key}
    return grape.gated_bias(sp.Integer(1), query_gate=by_query, key_gate=by_key, **at)


def _by_query(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias gated by the query; the query's gate is one number for its row."""
    return _gated(query, key, by_query=FIXED, by_key=sp.Integer(0))


def _by_key(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias gated by the key."""
    return _gated(query, key, by_query=sp.Integer(0), by_key=LAMBDA[key])


def _without_endpoint(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias of GRAPE-A with edges that do not depend on the query: -theta (A_j - A_i), here for constant edges."""
    return _gated(query, key, by_query=sp.Rational(1, 2), by_key=sp.Rational(1, 2))


def _one_sided(query_probe: sp.Matrix, token_probe: sp.Matrix, **at: sp.Expr) -> sp.Expr:
    """Affinity with only the token's probe rotated."""
    return grape.affinity(query_probe, token_probe, **at | {"query_position": sp.Integer(0)})


def _change(affinity: Callable[..., sp.Expr]) -> float:
    """Change of b(8, 0) when all positions are shifted by 3, for one constant probe."""
    probe = sp.Matrix([4, 0])

    def bias(shift: int) -> sp.Expr:
        edges = (
            affinity(probe, probe, query_position=sp.Integer(8 + shift), token_position=sp.Integer(token + shift))
            for token in range(1, 9)
        )
        return sp.Add(*(grape.affinity_potential(edge, slope=sp.Integer(1), probe_dim=sp.Integer(2)) for edge in edges))

    return abs(float((bias(3) - bias(0)).evalf(20)))


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "grape-10",
    "FoX as GRAPE-A: Section 5, and Appendix C for the printed sign",
    r"\prod_{l=i+1}^{j}(I-\psi_lE) = I-\Big(\sum_l\psi_l\Big)E,\quad"
    r"\hat q^\top P^{-\top}\hat k = q\cdot k+\sum_l\psi_l",
    label="P",
    assumptions=("induction on the number of links, so any path length; any d, as the content enters by q.k",),
    printed={"link": lambda log_gate: grape.fox_link(log_gate=-log_gate)},
    falsifiers={
        "link transposed": {"link": lambda log_gate: grape.fox_link(log_gate=log_gate).T},
        "key moved by the path itself": {"key_action": lambda matrix: matrix.T},
        "key moved by the inverse": {"key_action": lambda matrix: matrix.inv()},
    },
)
def fox_unipotent(
    link: Callable[[sp.Expr], sp.Matrix] = lambda log_gate: grape.fox_link(log_gate=log_gate),
    key_action: Callable[[sp.Matrix], sp.Matrix] = inverse_transpose,
) -> Facts:
    """The product of the links I - psi_l E along a path is I - (sum psi_l) E, and with the key multiplied by the
    inverse transpose the score is q.k + sum log f_l: the Forgetting Transformer (errata F10: Appendix C prints I +
    psi_l E, which gives the bias the opposite sign).
    """
    i, j = sp.symbols("i j", integer=True)
    total, gate, slope, content = sp.symbols("D psi m c", real=True)
    path, extended = paths.fox_bias(key=i, query=j), paths.fox_bias(key=i, query=j + 1)
    empty = empty_value("sum of log gates", paths.fox_bias(key=i, query=i))
    last = last_term("sum of log gates", path, extended)
    longer = combine(path, total, last).subs(last, gate)
    scored = grape.extended_score(content, query_action=sp.eye(2), key_action=key_action(link(total)))
    constant_gates = -slope * (j - i)
    alibi_action = grape.unipotent(grape.alibi_generator(slope=slope), i - j)
    tests = (
        ("step: one more link adds its log gate", lambda: link(gate) * link(total), lambda: link(longer)),
        ("score of the path = q.k + sum of log gates", scored, lambda: content + total),
        ("link = I - psi E", lambda: link(gate), lambda: sp.eye(2) - gate * grape.nilpotent()),
        ("all gates exp(-m): the ALiBi action", lambda: link(constant_gates), alibi_action),
    )
    yield same_by_sympy("base: the empty path gives I", link(empty), sp.eye(2))
    yield from tests


@CLAIMS.claim(
    "grape-15",
    "path integral additive bias: collapse of the path, the row semigroup",
    r"b(j,i)=b(j,m)+\sum_{l=i+1}^{m}\psi(j,l),\quad b(j,j)=0",
    label="P",
    assumptions=("i <= m <= j", "induction on m - i and on u - m, so any length"),
    falsifiers={
        "the rest as the key m sees it": {
            "rest": lambda query, key, until: grape.edge_sum(query=until, key=key, until=until)
        },
        "the key's own edge counts": {
            "path": lambda query, key, until: grape.edge_sum(query=query, key=key - 1, until=until)
        },
    },
)
def row_semigroup(
    path: Path = lambda query, key, until: grape.edge_sum(query=query, key=key, until=until),
    rest: Path = lambda query, key, until: grape.edge_sum(query=query, key=key, until=until),
) -> Facts:
    """For one query the biases of GRAPE-AP compose along the row, b(j, i) = b(j, m) + the path from i to m as the query
    j sees it, and b(j, j) = 0.
    """
    query, key, middle, until = sp.symbols("j i m u", integer=True)
    near, far = sp.symbols("b_near b_far", real=True)
    short, long, part = path(query, middle, until), path(query, key, until), rest(query, key, middle)
    added = last_term("from m", short, path(query, middle, until + 1))
    gained = last_term("from i", long, path(query, key, until + 1))
    step = last_term("rest", part, rest(query, key, middle + 1))
    own = last_term("i to m", path(query, key, middle), path(query, key, middle + 1))
    encoding_bias = grape.PATH.score(query_position=query, key_position=key) - QUERY.dot(KEY)
    plain_tests = (
        ("u = m = i: no rest", empty_value("rest", rest(query, key, key)), empty_value("i", path(query, key, key))),
        ("m -> m + 1: the rest grows by the path's edge", step, own),
        ("b(j, j) = 0", empty_value("own", grape.path_bias(query=query, key=query)), sp.Integer(0)),
        (
            "the encoding sums up to the query's own edge",
            last_term("bias", path(query, key, query - 1), encoding_bias),
            sp.Symbol(str(grape.EDGES[query, query]), real=True),
        ),
    )
    tests = (
        ("u = m: the path from m is empty", lambda: far + empty_value("from m", path(query, middle, middle)), far),
        ("u -> u + 1", lambda: combine(long, far + near, gained), lambda: far + combine(short, near, added)),
    )
    yield from (same_by_sympy(*test) for test in plain_tests)
    yield from tests
    yield "u = j: b(j, i) = b(j, m) + the path from i to m"


@CLAIMS.claim(
    "grape-15-last-edge",
    "equations 5.1 and 5.2: b sums the edges up to the query's own, potentials are defined for l < t (our "
    "reading: the converted copy of version 1 at hand drops what stands after the inequality's sign)",
    r"b(j,i)=\sum_{l=i+1}^{j}\psi(j,l):\ \psi\equiv-m\Rightarrow b=-m(j-i)",
    printed={"path": lambda query, key: grape.edge_sum(query=query, key=key, until=query - 1)},
    falsifiers={
        "the key's own edge too": {"path": lambda query, key: grape.edge_sum(query=query, key=key - 1, until=query)},
        "one step early": {"path": lambda query, key: grape.edge_sum(query=query, key=key - 1, until=query - 1)},
    },
)
def last_edge(
    path: Callable[[sp.Expr, sp.Expr], sp.Sum] = lambda query, key: grape.edge_sum(query=query, key=key, until=query),
) -> Facts:
    """The edge into the query itself is part of the path: with the sum over i < l <= j constant edges give ALiBi and
    shared edges FoX; with potentials for l < j alone (our reading) the nearest key has no bias.
    """
    j, i = sp.symbols("j i", integer=True, nonnegative=True)
    slope = biases.ALIBI_SLOPE
    constant = path(j, i).replace(grape.EDGES[j, path(j, i).limits[0][0]], -slope).doit()
    for distance in (1, 2, 0):
        bias = constant.subs(j, i + distance)
        if sp.expand(bias + slope * distance) != 0:
            raise Refuted(f"constant edges -m: b(i + {distance}, i) = {sp.expand(bias)}, ALiBi has {-slope * distance}")
    shared = paths.fox_bias(key=i, query=j)
    limits = [
        same_by_sympy(f"{end} of the path as in FoX", bound, bound_of_fox)
        for end, bound, bound_of_fox in _ends(path(j, i), shared)
    ]
    yield "constant edges -m", constant, lambda: biases.alibi_bias(slope, query_position=j, key_position=i)
    yield from limits
    yield "b(i + 1, i) is the one edge psi(i + 1, i + 1), into the query: without it the nearest key has no bias"


@CLAIMS.claim(
    "grape-15-monotone",
    "GRAPE-AP as containing GRAPE-A, as the case of edges that do not depend on the endpoint",
    r"b(j,i)=\sum_{l=i+1}^{j}\psi(j,l),\ \psi\le0\iff b(j,\cdot)\ \text{non-decreasing},\ b(j,j)=0",
    assumptions=("psi = alpha log sigma(.) <= 0, as in the paper",),
    falsifiers={
        "key-gated biases too": {"inside": {"gated by the key": _by_key}},
        "query-gated biases are none": {"outside": {"gated by the query": _by_query}},
        "biases that rise with the distance": {"inside": {"the other sign": lambda query, key: -_by_query(query, key)}},
    },
)
def monotone_rows(
    inside: Mapping[str, RowBias] = {"constant slope": _without_endpoint, "gated by the query": _by_query},
    outside: Mapping[str, RowBias] = {"gated by the key": _by_key},
) -> Facts:
    """A bias with b(j, j) = 0 is a path integral with edges <= 0 if and only if it does not fall as the key moves
    towards the query: GRAPE-A with edges that no query changes is one, as the paper says, and so is query-gated
    GRAPE-A; key-gated GRAPE-A is not (errata F12 assumes that the paper claims it; its words do not).

    `inside` names rows of biases that are, `outside` rows of biases that are not.
    """
    query, key = sp.symbols("j i", integer=True, nonnegative=True)
    for name, row in inside.items():
        above = _rising_edge(row)
        if above:
            raise Refuted(f"{name}: {above}")
        edge, own = sp.expand(grape.edge_potential(partial(row, query), key)), sp.expand(row(query, query))
        if not (edge.is_nonpositive and own == 0):
            raise Undecided(f"{name}: the edge {edge}, b(j, j) = {own}")
        yield f"{name}: b(j, j) = {own}, every edge is {edge}"
    for name, row in outside.items():
        above = _rising_edge(row)
        if not above:
            raise Refuted(f"{name}: no edge of the rows up to {_ROWS} is above 0")
        yield f"{name}: {above}"
    edge = sp.expand(grape.edge_sum(query=query, key=key, until=key + 1).doit())
    if not edge.is_nonpositive:
        raise Refuted(f"the encoding's edge {edge} may be above 0")
    yield f"b(j, i) - b(j, i + 1) = {edge} <= 0: a path integral with edges <= 0 does not fall with the key"
    yield (
        "conversely a row with b(j, j) = 0 that does not fall is the path integral of its edges b(j, l - 1) - "
        "b(j, l) <= 0, since these add up to b(j, i) - b(j, j)"
    )


@CLAIMS.claim(
    "grape-16",
    "edge potentials of GRAPE-AP, which turn the token's probe alone; the released code does too",
    r"\langle R_{j+s}p_j,R_{l+s}p_l\rangle=\langle R_jp_j,R_lp_l\rangle",
    assumptions=("plane by plane, so every even d_p follows",),
    falsifiers={
        "the token's probe alone is turned": {"affinity": _one_sided},
        "the query's probe is turned back": {
            "affinity": lambda query, token, query_position, token_position: grape.affinity(
                query, token, query_position=-query_position, token_position=token_position
            )
        },
    },
)
def origin(
    affinity: Callable[..., sp.Expr] = lambda query, token, **at: grape.affinity(
        query_probe=query, token_probe=token, **at
    ),
) -> Facts:
    """With both probes rotated, <R_j p_j, R_l p_l>, GRAPE-AP does not depend on where positions begin; with only the
    token's probe rotated it does (errata F12).
    """
    j, token, shift = sp.symbols("j l s", real=True)
    probes = sp.symbols("p1 p2", real=True), sp.symbols("r1 r2", real=True)

    def moved_by(offset: sp.Expr) -> sp.Expr:
        return affinity(*probes, query_position=j + offset, token_position=token + offset)

    here = moved_by(sp.Integer(0))
    turn = rotary.rotation(token - j)
    yield "affinity = p.R2(l - j) r", here, lambda: sp.Matrix(probes[0]).dot(turn * sp.Matrix(probes[1]))
    yield "affinity at j + s, l + s = affinity at j, l", lambda: moved_by(shift), here
    yield (
        f"one-sided, all probes (4, 0), d_p = 2, slope 1: b(8, 0) changes by {_change(_one_sided):.2f} under a shift "
        f"of 3; turned on both sides by {_change(grape.affinity):.2f}"
    )


@CLAIMS.claim(
    "grape-20",
    "Section 5: a path sum as a difference of prefix sums",
    r"\sum_{l=i+1}^{j}a_l=A_j-A_i,\quad A_u=\sum_{l\le u}a_l",
    assumptions=("induction on j - i, so any path length",),
    printed={"prefix": lambda position: grape.prefix(position - 1)},
    falsifiers={
        "without the last": {"prefix": lambda position: grape.prefix(position - 1)},
        "with the next": {"prefix": lambda position: grape.prefix(position + 1)},
    },
)
def prefix_identity(
    prefix: Callable[[sp.Expr], sp.Sum] = lambda position: grape.prefix(position=position),
) -> Facts:
    """The sum of a_l over i < l <= j is A_j - A_i with A_u the sum up to and including a_u (errata F10: the paper
    prints A_u without a_u).
    """
    i, j = sp.symbols("i j", integer=True)
    summed, before = sp.symbols("S A_i", real=True)
    path, extended = grape.increments(key=i, query=j), grape.increments(key=i, query=j + 1)
    added = last_term("path", path, extended)
    grown = last_term("prefix", prefix(j), prefix(j + 1))
    # Induction hypothesis: A_j = S + A_i.
    yield same_by_sympy("base: the empty path", empty_value("path", grape.increments(key=i, query=i)), sp.Integer(0))
    yield (
        "step: A_(j+1) - A_i",
        lambda: combine(prefix(j), summed + before, grown) - before,
        lambda: combine(path, summed, added),
    )
    yield same_by_sympy(
        "A_0 = a_0", empty_value("A_0", prefix(sp.Integer(0))), sp.Symbol(str(grape.INCREMENTS[0]), real=True)
    )


def _encoded() -> str:
    """Fact that the encoding in `theory` adds this bias."""
    position, key = sp.symbols("j i", integer=True)
    gates = grape.QUERY_GATES[position], grape.KEY_GATES[key]
    names = sp.symbols("lambda_q lambda_k", positive=True)
    score = grape.GATED.score(query_position=position, key_position=key)
    stated = -grape.GRAPE_SLOPE * (position - key) * (names[0] + names[1])
    return require_equal(
        "the encoding adds this bias",
        score.xreplace(dict(zip(gates, names, strict=True))),
        lambda: QUERY.dot(KEY) + stated,
    )


def _rank_of_example(by_query: int, by_key: int) -> int:
    """Rank of the bias at positions 0, 1, .. with gates 1, 4, 9, ... of queries and 1, 8, 27, ... of keys."""
    matrix = sp.Matrix(
        EXAMPLE_SIZE,
        EXAMPLE_SIZE,
        lambda j, i: grape.gated_bias(
            sp.Integer(1),
            query_gate=sp.Integer(by_query * (j + 1) ** 2),
            key_gate=sp.Integer(by_key * (i + 1) ** 3),
            query_position=sp.Integer(j),
            key_position=sp.Integer(i),
        ),
    )
    return int(DomainMatrix.from_Matrix(matrix).to_field().rank())


def _beside_content() -> str:
    """Fact that with softplus gates, d = 1, the scores have rank d + 4, so no lift to d + 2 or d + 3 gives them."""
    places = range(5)

    def score(row: int, column: int) -> sp.Expr:
        query, key = sp.Integer((-1) ** row * (row + 1)), sp.Integer(column**2 - 3)
        gates = {"query_gate": paths.softplus(query), "key_gate": paths.softplus(key)}
        at = {"query_position": sp.Integer(5 + row**2), "key_position": sp.Integer(column)}
        return query * key + grape.gated_bias(sp.Integer(1), **gates, **at)

    balls: list[list[Any]] = [[enclose(score(row, column), bits=_BITS) for column in places] for row in places]
    determinant = flint.arb_mat(balls).det()
    if determinant.contains(0):
        raise Undecided("the determinant of the example with content is not told from 0")
    return (
        f"d = 1, softplus gates of {len(places)} queries and keys: the determinant of q k + bias is "
        f"{determinant.str(5, radius=False)}, so the scores have rank 5 = d + 4"
    )


def _own_gates_in_two(position: sp.Expr, gate: sp.Expr, *, of_query: bool) -> sp.Matrix:
    """The two extra coordinates of GL(d+2) after the group of -E, with the token's own gate as slope."""
    moved = grape.unipotent(-gate * grape.nilpotent(), position)
    return moved * sp.Matrix([1, 0]) if of_query else moved.inv().T * sp.Matrix([0, 1])


def _last_twice(features: Features, share: sp.Rational) -> Features:
    """Features with the last one split into two copies, each times the share: one feature more than needed."""

    def split(position: sp.Expr, gate: sp.Expr) -> sp.Matrix:
        *others, last = features(position, gate)
        return sp.Matrix([*others, share * last, share * last])

    return split


def _numerator(expression: sp.Expr, variable: sp.Symbol) -> sp.Poly:
    """Numerator of a rational function of x > 0, made so that the denominator has only positive coefficients."""
    numerator, denominator = sp.together(expression).as_numer_denom()
    if any(coefficient < 0 for coefficient in sp.Poly(denominator, variable).coeffs()):
        numerator, denominator = -numerator, -denominator
    if any(coefficient < 0 for coefficient in sp.Poly(denominator, variable).coeffs()):
        raise Refuted(f"the denominator {denominator} changes its sign")
    return sp.Poly(numerator, variable)


def _positive(what: str, polynomial: sp.Poly, variable: sp.Symbol) -> str:
    """Fact that no coefficient is negative and some are positive. Raises `Refuted` with a point x = 2^k otherwise."""
    if all(coefficient >= 0 for coefficient in polynomial.coeffs()) and not polynomial.is_zero:
        return f"{what}: the numerator {polynomial.as_expr()} has no negative coefficient, x = e^-z > 0"
    point = next((sp.Integer(2) ** power for power in range(-20, 21) if polynomial.eval(2**power) <= 0), None)
    raise Refuted(f"{what}: the numerator {polynomial.as_expr()} is {polynomial.eval(point)} at x = {point}")


@CLAIMS.claim(
    "grape-17",
    "equations 4.5 and 4.6: softplus gates of query and key on the one generator of GL(d+2), with keys cached "
    "(our reading: of the later versions only quotations were at hand)",
    r"-(j-i)(\lambda^q_j+\lambda^k_i)=[-j\lambda^q_j,\lambda^q_j,-j,1]\cdot[1,i,\lambda^k_i,i\lambda^k_i]",
    assumptions=(
        "all queries come after all keys in the example with content, so the causal mask hides none of its pairs",
        "a lift scores by a product of what the query makes of itself and what the key does, as a cache needs it",
    ),
    answers=("ranks",),
    printed={
        "query": lambda position, gate: _own_gates_in_two(position, gate, of_query=True),
        "key": lambda position, gate: _own_gates_in_two(position, gate, of_query=False),
    },
    falsifiers={
        "five features": {
            "query": _last_twice(grape.query_features, sp.Integer(1)),
            "key": _last_twice(grape.key_features, sp.Rational(1, 2)),
        },
        "three features, without the key's gate at its position": {
            "query": lambda position, gate: sp.Matrix(grape.query_features(position, gate)[:3]),
            "key": lambda position, gate: sp.Matrix(grape.key_features(position, gate)[:3]),
        },
        "the gates exchanged": {"query": grape.key_features},
    },
)
def streaming_features(
    query: Features = lambda position, gate: grape.query_features(position=position, gate=gate),
    key: Features = lambda position, gate: grape.key_features(position=position, gate=gate),
    ranks: Mapping[str, int] = {"query and key": 4, "query": 2, "key": 2},
) -> Facts:
    """The bias of GRAPE-A gated by query and key is a scalar product of 4 features, and of 2 features if gated by one
    of them; fewer do not suffice: with softplus gates the scores have rank d + 4.  The two further coordinates of
    GL(d+2), where each token acts with its own gate (our reading), give i lambda_k - j lambda_q.

    `ranks` has the number of features of each variant.
    """
    j, i, query_gate, key_gate = sp.symbols("j i lambda_q lambda_k", positive=True)
    at = {"query_position": j, "key_position": i}
    bias = grape.gated_bias(sp.Integer(1), query_gate=query_gate, key_gate=key_gate, **at)
    of_query, of_key = query(j, query_gate), key(i, key_gate)
    yield "bias = (query features).(key features)", lambda: of_query.dot(of_key), bias
    yield _encoded()
    for variant, (by_query, by_key) in VARIANTS.items():
        pairs = zip(query(j, by_query * query_gate), key(i, by_key * key_gate), strict=True)
        features = sum(1 for query_feature, key_feature in pairs if query_feature * key_feature != 0)
        rank = _rank_of_example(by_query, by_key)
        if not features == rank == ranks[variant]:
            stated = f"{ranks[variant]} are stated"
            raise Refuted(f"gated by {variant}: {features} features, where an example has rank {rank} and {stated}")
        yield f"gated by {variant}: {features} features, and a {EXAMPLE_SIZE} x {EXAMPLE_SIZE} example of that rank"
    yield _beside_content()


@CLAIMS.claim(
    "grape-17-lift",
    "Section 4.1: one homogeneous coordinate, GL(d+1), and Remark 4.1, which has softplus gates come from it "
    "(our reading: of the remark only a report was at hand; version 1, in a converted copy, has the slope u.k)",
    r"(G(j)\hat q)\cdot(G(i)^{-\top}\hat k)=q\cdot k+1+(j-i)\,\omega\,u\cdot k",
    assumptions=("d = 2 for the group's score, plane by plane; the generator does not depend on content",),
    printed={"slope": paths.softplus},
    falsifiers={
        "the slope is |u.k|": {"slope": sp.Abs},
        "the slope is twice u.k": {"slope": lambda along: 2 * along},
        "the slope is u.k + 1": {"slope": lambda along: along + 1},
    },
)
def homogeneous_slope(slope: Callable[[sp.Expr], sp.Expr] = lambda along: along) -> Facts:
    """The unipotent group of [[0, u], [0, 0]] on (q, 1) and (k, 1) adds a bias whose slope is u.k: linear in the key,
    of either sign.  Softplus of it (our reading of the remark) is the slope of no generator that content does not
    change.
    """
    j, i, rate, z = sp.symbols("j i omega z", real=True)
    query, key, u = (sp.Matrix(sp.symbols(f"{name}1 {name}2", real=True)) for name in "qku")
    generator = sp.zeros(3, 3)
    generator[:2, 2] = u
    query_lift = grape.unipotent(rate * generator, j) * sp.Matrix([*query, 1])
    key_lift = grape.unipotent(rate * generator, i).inv().T * sp.Matrix([*key, 1])
    added = sp.expand(query_lift.dot(key_lift) - query.dot(key) - 1)
    for number in (-1, 0, 2):
        value = slope(sp.Integer(number))
        if sp.N(value - number) != 0:
            raise Refuted(f"at u.k = {number} the slope is omega times {number}, not {sp.N(value, 6)}")
    bilinear = sp.Matrix(3, 3, sp.symbols("M1:10", real=True))
    step = sp.Matrix([*sp.symbols("h1 h2", real=True), 0])
    at_key = [(bilinear * (sp.Matrix([*key, 1]) + sign * step)).dot(sp.Matrix([*query, 1])) for sign in (-1, 0, 1)]
    bend = sp.exp(paths.softplus(z) + paths.softplus(-z)) / 4
    yield "A^2 = 0", product(generator, generator), sp.zeros(3, 3)
    yield "added to q.k + 1: (j - i) omega u.k", added, lambda: (j - i) * rate * slope(u.dot(key))
    yield (
        "any generator, lifts affine in the content: the slope's second difference in k",
        lambda: at_key[0] - 2 * at_key[1] + at_key[2],
        sp.Integer(0),
    )
    yield "that of softplus at 0 is log(cosh(z/2)^2), not 0", bend, lambda: (2 + sp.exp(z) + sp.exp(-z)) / 4
    yield (
        "so a slope that is softplus of the content, positive for all of it, comes from no such generator, in any "
        "number of further coordinates"
    )


@CLAIMS.claim(
    "grape-21",
    "the link g = log sigmoid of the edge potentials",
    r"g=\log\sigma:\ g<0,\ 0<g'(z)=\frac{1}{1+e^{z}}<1",
    label="P",
    assumptions=("every real z is -log x for one x > 0",),
    answers=("constant",),
    falsifiers={
        "twice the logarithm": {"link": lambda z: 2 * paths.log_sigmoid(z)},
        "half the logarithm": {"link": lambda z: paths.log_sigmoid(z) / 2},
        "softplus, which is positive": {"link": paths.softplus},
        "log sigma(-z), which falls": {"link": lambda z: paths.log_sigmoid(-z)},
    },
)
def lipschitz_links(
    link: Callable[[sp.Expr], sp.Expr] = paths.log_sigmoid, constant: sp.Rational = sp.Integer(1)
) -> Facts:
    """log sigma is negative, increasing, and Lipschitz with constant 1, and with no constant below 1.  softplus(z) =
    -log sigma(-z) is positive, increasing and Lipschitz with the same constant.
    """
    z, slope = sp.symbols("z alpha", real=True)
    x = sp.Symbol("x", positive=True)
    value, steepness = (expression.subs(z, -sp.log(x)) for expression in (sp.exp(link(z)), link(z).diff(z)))
    steepest = sp.limit(steepness, x, sp.oo)
    if steepest < constant:
        raise Refuted(f"the slope tends to {steepest} as z falls, not to {constant}")
    excess = _numerator(constant - steepness, x)
    yield _positive("(log sigma)' > 0, so it increases", _numerator(steepness, x), x)
    yield _positive("exp(log sigma) < 1, so log sigma < 0", _numerator(1 - value, x), x)
    yield _positive(f"(log sigma)' < {constant}", excess, x)
    yield "(log sigma)' = 1/(1 + e^z)", lambda: derivative(link(z), z), lambda: 1 / (1 + sp.exp(z))
    yield "softplus' = 1 - (log sigma)'", lambda: derivative(paths.softplus(z), z), lambda: 1 - derivative(link(z), z)
    yield same_by_sympy("exp(softplus) = 1 + e^z > 1", sp.exp(paths.softplus(z)), 1 + sp.exp(z))
    potential = grape.affinity_potential(z, slope=slope, probe_dim=sp.Integer(2))
    yield "an edge's derivative", lambda: derivative(potential, z), lambda: slope * derivative(link(z / 2), z)
    yield "the derivative tends to 1 as z falls, so no smaller constant does"


@CLAIMS.claim(
    "grape-gated",
    "the released code: gates along vectors of length 1; ALiBi as a special case",
    r"\lambda(x)=\log(1+e^{w\cdot x/\sqrt d}),\ |w|=1:\quad\lambda\ \text{is not constant}",
    assumptions=("|w| = 1, as in the released code; queries and keys take all values",),
    falsifiers={
        "w = 0": {"gate": lambda along: grape.content_gate(0 * along)},
        "a gate of the length of w": {"gate": lambda along: grape.content_gate(sp.Integer(1))},
    },
)
def rising_gates(gate: Callable[[sp.Expr], sp.Expr] = lambda along: grape.content_gate(along=along)) -> Facts:
    """Gated GRAPE-A is ALiBi for no values of its parameters: a gate is softplus of the content along a vector of
    length 1 and rises with it, so no slope is the same for all content.

    ALiBi has one slope for all queries and keys.
    """
    z, x, slope = sp.Symbol("z", real=True), sp.Symbol("x", positive=True), sp.Symbol("omega", positive=True)
    rate = sp.simplify(gate(z).diff(z).subs(z, sp.log(x)))
    if rate == 0:
        raise Refuted(f"the slope is omega times {2 * gate(z)} for all content: ALiBi of that slope")
    if not rate.is_positive:
        raise Undecided(f"the sign of {rate}")
    gate_parameter = grape.GATED.parameters[1]
    constants = [constant for constant in (sp.Rational(1, 2), sp.log(2)) if in_domain(gate_parameter, constant)]
    if constants:
        raise Refuted(f"the encoding's domain has the gate {constants[0]} for all content")
    yield same_by_sympy("gate'(z) at z = log x, which is positive", rate, x / (1 + x))
    yield f"two queries q and 2q with w.q > 0 have different slopes: omega ({gate(z)} + gate of the key)"
    yield f"content across w has the gate {gate(sp.Integer(0))}, and the slope {2 * slope * gate(sp.Integer(0))}"
