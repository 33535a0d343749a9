"""Biases summed along a path: GRAPE-AP, FoX as GRAPE-A, and gated GRAPE-A with bounds on its link functions."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import flint
import sympy as sp
from sympy.polys.matrices import DomainMatrix

from lengthgen.proofs_checks.facts import Formula, combine, derivative, empty_value, last_term, next_term, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.fox import along_path
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.proofs_checks.papers.grape.unipotent import inverse_transpose, square
from lengthgen.theory.encodings import biases, grape, paths
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.zero.enclosure import enclose
from lengthgen.theory.zero.sympy_engine import Undecided

CLAIMS = PaperClaims(SOURCE)
GATES = (sp.Rational(1, 10), sp.Integer(5), sp.Integer(1))
"""Gates of tokens 0, 1 and 2 in the examples."""
LAMBDA = sp.IndexedBase("lambda", positive=True)
FIXED = sp.Symbol("lambda_q", positive=True)
_ROWS = len(GATES) - 1
VARIANTS = {"query and key": (1, 1), "query": (1, 0), "key": (0, 1)}
"""Variant -> (1 if it has a gate of the query, 1 if it has a gate of the key)."""
EXAMPLE_SIZE = 6


def _link(log_gate: sp.Expr) -> sp.Matrix:
    return grape.fox_link(log_gate=log_gate)


@CLAIMS.claim(
    "grape-10",
    "FoX as GRAPE-A: Section 5, and Appendix C for the printed sign",
    r"\prod_{l=i+1}^{j}(I-\psi_lE) = I-\Big(\sum_l\psi_l\Big)E,\quad"
    r"\hat q^\top P^{-\top}\hat k = q\cdot k+\sum_l\psi_l",
    label="P",
    assumptions=("induction on the number of links, so any path length; any d, as the content enters by q.k",),
    printed={"link": lambda log_gate: _link(-log_gate)},
    falsifiers={
        "link transposed": {"link": lambda log_gate: _link(log_gate).T},
        "key moved by the path itself": {"key_action": lambda matrix: matrix.T},
        "key moved by the inverse": {"key_action": lambda matrix: matrix.inv()},
    },
)
def fox_unipotent(link: Formula = _link, key_action: Formula = inverse_transpose) -> Facts:
    """The product of the links I - psi_l E along a path is I - (sum psi_l) E, and with the key multiplied by the
    inverse transpose the score is q.k + sum log f_l: the Forgetting Transformer (errata F10: Appendix C prints I +
    psi_l E, which gives the bias the opposite sign).
    """
    i, j = sp.symbols("i j", integer=True)
    D, psi, m, c = sp.symbols("D psi m c", real=True)
    empty, last = empty_value("sum of log gates", along_path(i, i)), next_term("sum of log gates", along_path, i, j)
    longer = combine(along_path(i, j), D, last).subs(last, psi)
    scored = grape.extended_score(c, query_action=sp.eye(2), key_action=key_action(link(D)))
    constant_gates, alibi = -m * (j - i), grape.unipotent(grape.alibi_generator(slope=m), i - j)
    yield same_by_sympy("base: the empty path gives I", link(empty), sp.eye(2))
    yield "step: one more link adds its log gate", lambda: link(psi) * link(D), lambda: link(longer)
    yield "score of the path = q.k + sum of log gates", scored, lambda: c + D
    yield "link = I - psi E", lambda: link(psi), lambda: sp.eye(2) - psi * grape.nilpotent()
    yield "all gates exp(-m): the ALiBi action", lambda: link(constant_gates), alibi


def _edges(query: sp.Expr, key: sp.Expr, until: sp.Expr) -> sp.Sum:
    """Path integral from the key as the query sees it, up to a token."""
    return grape.edge_sum(query=query, key=key, until=until)


@CLAIMS.claim(
    "grape-15",
    "path integral additive bias: collapse of the path, the row semigroup",
    r"b(j,i)=b(j,m)+\sum_{l=i+1}^{m}\psi(j,l),\quad b(j,j)=0",
    label="P",
    assumptions=("i <= m <= j", "induction on m - i and on u - m, so any length"),
    falsifiers={
        "the rest as the key m sees it": {"rest": lambda query, key, until: _edges(until, key, until)},
        "the key's own edge counts": {"path": lambda query, key, until: _edges(query, key - 1, until)},
    },
)
def row_semigroup(path: Formula = _edges, rest: Formula = _edges) -> Facts:
    """For one query the biases of GRAPE-AP compose along the row, b(j, i) = b(j, m) + the path from i to m as the query
    j sees it, and b(j, j) = 0.
    """
    j, i, m, u = sp.symbols("j i m u", integer=True)
    near, far = sp.symbols("b_near b_far", real=True)
    of_query, rest_of_query = partial(path, j), partial(rest, j)
    added, gained = next_term("from m", of_query, m, u), next_term("from i", of_query, i, u)
    step, own = next_term("rest", rest_of_query, i, m), next_term("i to m", of_query, i, m)
    bias = grape.PATH.score(query_position=j, key_position=i) - QUERY.dot(KEY)
    own_edge = sp.Symbol(str(grape.EDGES[j, j]), real=True)
    empty = empty_value("from m", path(j, m, m))
    for what, left, right in (
        ("u = m = i: no rest", empty_value("rest", rest(j, i, i)), empty_value("i", path(j, i, i))),
        ("m -> m + 1: the rest grows by the path's edge", step, own),
        ("b(j, j) = 0", empty_value("own", grape.path_bias(query=j, key=j)), sp.S.Zero),
        ("the encoding sums up to the query's own edge", last_term("bias", path(j, i, j - 1), bias), own_edge),
    ):
        yield same_by_sympy(what, left, right)
    yield "u = m: the path from m is empty", lambda: far + empty, far
    long, short = of_query(i, u), of_query(m, u)
    yield "u -> u + 1", lambda: combine(long, far + near, gained), lambda: far + combine(short, near, added)
    yield "u = j: b(j, i) = b(j, m) + the path from i to m"


@CLAIMS.claim(
    "grape-15-last-edge",
    "equations 5.1 and 5.2: b sums the edges up to the query's own, potentials are defined for l < t alone (ICLR 2026)",
    r"b(j,i)=\sum_{l=i+1}^{j}\psi(j,l):\ \psi\equiv-m\Rightarrow b=-m(j-i)",
    printed={"path": lambda query, key: _edges(query, key, query - 1)},
    falsifiers={
        "the key's own edge too": {"path": lambda query, key: _edges(query, key - 1, query)},
        "one step early": {"path": lambda query, key: _edges(query, key - 1, query - 1)},
    },
)
def last_edge(path: Formula = lambda query, key: _edges(query, key, query)) -> Facts:
    """The edge into the query itself is part of the path: with the sum over i < l <= j constant edges give ALiBi and
    shared edges FoX; with potentials for l < j alone, as they are defined, the nearest key has no bias.
    """
    j, i = sp.symbols("j i", integer=True, nonnegative=True)
    slope, summed, shared = biases.ALIBI_SLOPE, path(j, i), along_path(i, j)
    constant = summed.replace(grape.EDGES[j, summed.limits[0][0]], -slope).doit()
    for distance in (1, 2, 0):
        bias = sp.expand(constant.subs(j, i + distance))
        alibi = f"ALiBi has {-slope * distance}"
        wrong = sp.expand(bias + slope * distance) != 0
        refute(wrong, f"constant edges -m: b(i + {distance}, i) = {bias}, {alibi}")
    yield "constant edges -m", constant, lambda: biases.alibi_bias(slope, query_position=j, key_position=i)
    for at, end in ((1, "begin"), (2, "end")):
        yield same_by_sympy(f"{end} of the path as in FoX", summed.limits[0][at], shared.limits[0][at])
    yield "b(i + 1, i) is the one edge psi(i + 1, i + 1), into the query: without it the nearest key has no bias"


def _gated(query: sp.Expr, key: sp.Expr, by_query: sp.Expr, by_key: sp.Expr) -> sp.Expr:
    """Bias of gated GRAPE-A with slope 1."""
    at = {"query_position": query, "key_position": key}
    return grape.gated_bias(sp.Integer(1), query_gate=by_query, key_gate=by_key, **at)


def _by_query(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias gated by the query; the query's gate is one number for its row."""
    return _gated(query, key, FIXED, sp.S.Zero)


def _by_key(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias gated by the key."""
    return _gated(query, key, sp.S.Zero, LAMBDA[key])


def _without_endpoint(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Bias of GRAPE-A with one constant slope: all edges are -1."""
    return _gated(query, key, sp.Rational(1, 2), sp.Rational(1, 2))


def _rising_edge(row: Formula) -> str:
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


@CLAIMS.claim(
    "grape-15-monotone",
    "GRAPE-AP as containing GRAPE-A, as the case of edges that do not depend on the endpoint",
    r"b(j,i)=\sum_{l=i+1}^{j}\psi(j,l),\ \psi\le0\iff b(j,\cdot)\ \text{non-decreasing},\ b(j,j)=0",
    assumptions=("the edges are any numbers <= 0; alpha log sigma(.), as in the paper, is below 0",),
    falsifiers={
        "key-gated biases too": {"inside": {"gated by the key": _by_key}},
        "query-gated biases are none": {"outside": {"gated by the query": _by_query}},
        "biases that rise with the distance": {"inside": {"the other sign": lambda query, key: -_by_query(query, key)}},
    },
)
def monotone_rows(
    inside: Mapping[str, Formula] = {"constant slope": _without_endpoint, "gated by the query": _by_query},
    outside: Mapping[str, Formula] = {"gated by the key": _by_key},
) -> Facts:
    """A bias with b(j, j) = 0 is a path integral with edges <= 0 if and only if it does not fall as the key moves
    towards the query: GRAPE-A with a constant slope is one, as the paper says, and so is query-gated GRAPE-A;
    key-gated GRAPE-A is not for all gates (errata F12 assumes that the paper claims it; its words do not).
    """
    j, i = sp.symbols("j i", integer=True, nonnegative=True)
    for name, row in inside.items():
        above = _rising_edge(row)
        refute(above, f"{name}: {above}")
        edge, own = sp.expand(grape.edge_potential(partial(row, j), i)), sp.expand(row(j, j))
        if not (edge.is_nonpositive and own == 0):
            raise Undecided(f"{name}: the edge {edge}, b(j, j) = {own}")
        yield f"{name}: b(j, j) = {own}, every edge is {edge}"
    for name, row in outside.items():
        above = _rising_edge(row)
        refute(not above, f"{name}: no edge of the rows up to {_ROWS} is above 0")
        yield f"{name}: {above}"
    edge = sp.expand(_edges(j, i, i + 1).doit())
    refute(not edge.is_nonpositive, f"the encoding's edge {edge} may be above 0")
    yield f"b(j, i) - b(j, i + 1) = {edge} <= 0: a path integral with edges <= 0 does not fall with the key"
    yield (
        "conversely a row with b(j, j) = 0 that does not fall is the path integral of its edges b(j, l - 1) - "
        "b(j, l) <= 0, since these add up to b(j, i) - b(j, j)"
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
def prefix_identity(prefix: Formula = grape.prefix) -> Facts:
    """The sum of a_l over i < l <= j is A_j - A_i with A_u the sum up to and including a_u (errata F10: the paper
    prints A_u without a_u).
    """
    i, j = sp.symbols("i j", integer=True)
    S, A_i = sp.symbols("S A_i", real=True)
    path, extended = grape.increments(key=i, query=j), grape.increments(key=i, query=j + 1)
    added, grown = last_term("path", path, extended), last_term("prefix", prefix(j), prefix(j + 1))
    empty, first = empty_value("path", grape.increments(key=i, query=i)), empty_value("A_0", prefix(sp.S.Zero))
    # Induction hypothesis: A_j = S + A_i.
    yield same_by_sympy("base: the empty path", empty, sp.S.Zero)
    yield "step: A_(j+1) - A_i", lambda: combine(prefix(j), S + A_i, grown) - A_i, lambda: combine(path, S, added)
    yield same_by_sympy("A_0 = a_0", first, sp.Symbol(str(grape.INCREMENTS[0]), real=True))


def _own_gate(position: sp.Expr, gate: sp.Expr) -> sp.Matrix:
    """Group of -E on the two extra coordinates of GL(d+2), with the token's own gate as slope."""
    return grape.unipotent(-gate * grape.nilpotent(), position)


def _own_gates(j: sp.Expr, i: sp.Expr, of_query: sp.Expr, of_key: sp.Expr) -> sp.Expr:
    """Bias of a query and a key that are each moved by the group of its own gate."""
    query, key = _own_gate(j, of_query), inverse_transpose(_own_gate(i, of_key))
    return grape.extended_score(sp.Integer(0), query_action=query, key_action=key)


def _of_pair(c: sp.Expr, j: sp.Expr, i: sp.Expr, gate: sp.Expr, key_action: Formula = inverse_transpose) -> sp.Expr:
    """Score of a pair with content c whose generator is -gate E; the key is moved by the offset i - j."""
    moved = key_action(grape.unipotent(-gate * grape.nilpotent(), i - j))
    return grape.extended_score(c, query_action=sp.eye(2), key_action=moved)


def _last_twice(features: Formula, share: sp.Rational) -> Formula:
    """Features with the last one split into two copies, each times the share: one feature more than needed."""

    def split(position: sp.Expr, gate: sp.Expr) -> sp.Matrix:
        *others, last = features(position, gate)
        return sp.Matrix([*others, share * last, share * last])

    return split


def _rank_of_example(by_query: int, by_key: int) -> int:
    """Rank of the bias of keys 0, 1, .. and queries after them; gates 1, 4, 9, .. of queries, 1, 8, 27, .. of keys."""

    def bias(row: int, i: int) -> sp.Expr:
        return _gated(*map(sp.Integer, (row + EXAMPLE_SIZE, i, by_query * (row + 1) ** 2, by_key * (i + 1) ** 3)))

    return int(DomainMatrix.from_Matrix(sp.Matrix(EXAMPLE_SIZE, EXAMPLE_SIZE, bias)).to_field().rank())


def _beside_content() -> str:
    """Fact that with softplus gates, d = 1, the scores have rank d + 4, so no lift to d + 2 or d + 3 gives them."""
    places = range(5)

    def score(row: int, column: int) -> Any:
        query, key = sp.Integer((-1) ** row * (row + 1)), sp.Integer(column**2 - 3)
        bias = _gated(sp.Integer(5 + row**2), sp.Integer(column), paths.softplus(query), paths.softplus(key))
        return enclose(query * key + bias, bits=128)

    determinant = flint.arb_mat([[score(row, column) for column in places] for row in places]).det()
    if determinant.contains(0):
        raise Undecided("the determinant of the example with content is not told from 0")
    return (
        f"d = 1, softplus gates of {len(places)} queries and keys: the determinant of q k + bias is "
        f"{determinant.str(5, radius=False)}, so the scores have rank 5 = d + 4"
    )


@CLAIMS.claim(
    "grape-17",
    "equations 4.4 to 4.6: softplus gates of query and key on one generator of GL(d+2) (ICLR 2026)",
    r"\hat q^\top\exp\big((i-j)A_{ji}\big)^{-\top}\hat k=q\cdot k-(j-i)(\lambda^q_j+\lambda^k_i),\quad "
    r"A_{ji}=-(\lambda^q_j+\lambda^k_i)\,e_{d+2}e_{d+1}^\top",
    label="P",
    assumptions=(
        "any d, as the content enters by q.k; the generator is that of a pair of tokens, as printed",
        "omega = 1, since it multiplies both gates",
    ),
    falsifiers={
        "each token moved by its own gate": {
            "score": lambda c, j, i, of_query, of_key: c + _own_gates(j, i, of_query, of_key)
        },
        "the gate of the query alone": {"score": lambda c, j, i, of_query, of_key: _of_pair(c, j, i, of_query)},
        "the key moved by the action itself": {
            "score": lambda c, j, i, of_query, of_key: _of_pair(c, j, i, of_query + of_key, key_action=lambda A: A.T)
        },
    },
)
def gates_of_a_pair(
    score: Formula = lambda c, j, i, of_query, of_key: _of_pair(c, j, i, of_query + of_key),
) -> Facts:
    """With the generator -(lambda_q + lambda_k) E of a pair, the query (q, 1, 0) and the key (k, 0, 1) score
    q.k - (j - i) (lambda_q + lambda_k), exactly as printed.
    """
    j, i, c = sp.symbols("j i c", real=True)
    of_query, of_key = sp.symbols("lambda_q lambda_k", positive=True)
    yield "E^2 = 0", square(grape.nilpotent()), sp.zeros(2, 2)
    yield "score of a pair", score(c, j, i, of_query, of_key), lambda: c - (j - i) * (of_query + of_key)


@CLAIMS.claim(
    "grape-17-features",
    "Appendix E: caches for gates of query and key, whose generator is that of a pair",
    r"-(j-i)(\lambda^q_j+\lambda^k_i)=[-j\lambda^q_j,\lambda^q_j,-j,1]\cdot[1,i,\lambda^k_i,i\lambda^k_i]",
    assumptions=(
        "all queries come after all keys in the examples, so the causal mask hides none of their pairs",
        "a score is a product of what the query makes of itself and what the key does, as a cache of keys needs it",
        "in words: for d > 1, d - 1 more queries and keys have contents t e_2, .., t e_d, which no gate reads, and the "
        "determinant is a multiple, not 0, of t^(2 (d - 1)) times that at d = 1, plus lower powers",
    ),
    answers=("ranks",),
    falsifiers={
        "two features, each token moved by its own gate": {
            "query": lambda position, gate: _own_gate(position, gate) * sp.Matrix([1, 0]),
            "key": lambda position, gate: inverse_transpose(_own_gate(position, gate)) * sp.Matrix([0, 1]),
        },
        "five features": {
            "query": _last_twice(grape.query_features, sp.Integer(1)),
            "key": _last_twice(grape.key_features, sp.Rational(1, 2)),
        },
        "three features, without the key's gate at its position": {
            "query": lambda position, gate: sp.Matrix(grape.query_features(position, gate)[:3]),
            "key": lambda position, gate: sp.Matrix(grape.key_features(position, gate)[:3]),
        },
        "the key's features for the query too": {"query": grape.key_features},
    },
)
def streaming_features(
    query: Formula = grape.query_features,
    key: Formula = grape.key_features,
    ranks: Mapping[str, int] = {"query and key": 4, "query": 2, "key": 2},
) -> Facts:
    """The bias of GRAPE-A gated by query and key is a scalar product of 4 features, and of 2 features if gated by one
    of them; fewer do not suffice: with softplus gates the scores have rank d + 4.  So no token can be lifted by itself
    to the d + 2 coordinates in which the generator of a pair acts; each moved by its own gate, they score i lambda_k -
    j lambda_q.
    """
    j, i, query_gate, key_gate = sp.symbols("j i lambda_q lambda_k", positive=True)
    of_query, of_key = query(j, query_gate), key(i, key_gate)
    bias = _gated(j, i, query_gate, key_gate)
    at_query, at_key = sp.symbols("j i", integer=True)
    gates = {grape.QUERY_GATES[at_query]: query_gate, grape.KEY_GATES[at_key]: key_gate}
    score = grape.GATED.score(query_position=at_query, key_position=at_key).xreplace(gates)
    stated = -grape.GRAPE_SLOPE * (at_query - at_key) * (query_gate + key_gate)
    yield "bias = (query features).(key features)", lambda: of_query.dot(of_key), bias
    yield "the encoding adds this bias", score, lambda: QUERY.dot(KEY) + stated
    for variant, (by_query, by_key) in VARIANTS.items():
        pairs = zip(query(j, by_query * query_gate), key(i, by_key * key_gate), strict=True)
        features = sum(1 for query_feature, key_feature in pairs if query_feature * key_feature != 0)
        rank = _rank_of_example(by_query, by_key)
        stated = f"an example has rank {rank} and {ranks[variant]} are stated"
        right = features == rank == ranks[variant]
        refute(not right, f"gated by {variant}: {features} features, where {stated}")
        yield f"gated by {variant}: {features} features, and a {EXAMPLE_SIZE} x {EXAMPLE_SIZE} example of that rank"
    own_gates = sp.expand(_own_gates(j, i, query_gate, key_gate))
    yield same_by_sympy("score of tokens moved by their own gates", own_gates, i * key_gate - j * query_gate)
    yield _beside_content()


@CLAIMS.claim(
    "grape-17-lift",
    "equation 4.1: one homogeneous coordinate, GL(d+1), and Remark 4.1: key-gated slopes there, no constant ones "
    "(ICLR 2026)",
    r"(G(j)\hat q)\cdot(G(i)^{-\top}\hat k)=q\cdot k+1+(j-i)\,\omega\,u\cdot k",
    label="P",
    assumptions=(
        "d = 2 for the group's score, plane by plane; the generator does not depend on content",
        "lifts of query and key are affine in the content",
    ),
    falsifiers={
        "the slope is |u.k|": {"slope": sp.Abs},
        "the slope is twice u.k": {"slope": lambda along: 2 * along},
        "the slope is u.k + 1": {"slope": lambda along: along + 1},
        "the slope is softplus of u.k": {"slope": paths.softplus},
    },
)
def homogeneous_slope(slope: Formula = lambda along: along) -> Facts:
    """The unipotent group of [[0, u], [0, 0]] on (q, 1) and (k, 1) adds a bias whose slope is u.k: gated by the key, as
    the remark says, linear in it and of either sign.  A slope that no content changes needs a generator that is not
    nilpotent.  What we add [F]: softplus of content is the slope of no generator that content does not change,
    with such lifts.
    """
    j, i, rate, z = sp.symbols("j i omega z", real=True)
    q, k, u = (sp.Matrix(sp.symbols(f"{name}1 {name}2", real=True)) for name in "qku")
    query, key = sp.Matrix([*q, 1]), sp.Matrix([*k, 1])
    A = sp.zeros(3, 3)
    A[:2, 2] = u
    moved_query, moved_key = grape.unipotent(rate * A, j) * query, inverse_transpose(grape.unipotent(rate * A, i)) * key
    added = sp.expand(moved_query.dot(moved_key) - q.dot(k) - 1)
    for number in map(sp.Integer, (-1, 0, 2)):
        value = slope(number)
        wrong = sp.N(value - number) != 0
        refute(wrong, f"at u.k = {number} the slope is omega times {number}, not {sp.N(value, 6)}")
    bilinear = sp.Matrix(3, 3, sp.symbols("M1:10", real=True))
    step = sp.Matrix([*sp.symbols("h1 h2", real=True), 0])
    before, here, after = ((bilinear * (key + sign * step)).dot(query) for sign in (-1, 0, 1))
    bend = sp.exp(paths.softplus(z) + paths.softplus(-z)) / 4
    constant = sp.diag(0, 0, sp.Symbol("m", real=True))
    yield "A^2 = 0", square(A), sp.zeros(3, 3)
    yield (
        "a bias m that no content changes: the form of (q, 1) and (k, 1) is m at the last coordinate",
        lambda: query.dot(constant * key),
        constant[2, 2],
    )
    yield "whose square is m times it, so 0 for m = 0 alone", square(constant), constant[2, 2] * constant
    yield "added to q.k + 1: (j - i) omega u.k", added, lambda: (j - i) * rate * slope(u.dot(k))
    affine = "any generator, lifts affine in the content: the slope's second difference in k"
    yield affine, lambda: before - 2 * here + after, sp.Integer(0)
    yield "that of softplus at 0 is log(cosh(z/2)^2), not 0", bend, lambda: (2 + sp.exp(z) + sp.exp(-z)) / 4
    yield (
        "so a slope that is softplus of the content, positive for all of it, comes from no such generator, in any "
        "number of further coordinates"
    )


def _positive(what: str, expression: sp.Expr, x: sp.Symbol) -> str:
    """Fact that a rational function of x > 0 is positive: no coefficient of its numerator is negative, some are not 0.

    Raises `Refuted` with a point x = 2^k otherwise, or if the denominator has coefficients of both signs.
    """
    numerator, denominator = (sp.Poly(part, x) for part in sp.together(expression).as_numer_denom())
    if any(coefficient < 0 for coefficient in denominator.coeffs()):
        numerator, denominator = -numerator, -denominator
    changes = any(coefficient < 0 for coefficient in denominator.coeffs())
    refute(changes, f"the denominator {denominator.as_expr()} changes its sign")
    if all(coefficient >= 0 for coefficient in numerator.coeffs()) and not numerator.is_zero:
        return f"{what}: the numerator {numerator.as_expr()} has no negative coefficient, x = e^-z > 0"
    point = next((sp.Integer(2) ** power for power in range(-20, 21) if numerator.eval(2**power) <= 0), None)
    refute(True, f"{what}: the numerator {numerator.as_expr()} is {numerator.eval(point)} at x = {point}")
    return ""


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
def lipschitz_links(link: Formula = paths.log_sigmoid, constant: sp.Rational = sp.Integer(1)) -> Facts:
    """log sigma is negative, increasing, and Lipschitz with constant 1, and with no constant below 1.  softplus(z) =
    -log sigma(-z) is positive, increasing and Lipschitz with the same constant.
    """
    z, alpha = sp.symbols("z alpha", real=True)
    x = sp.Symbol("x", positive=True)
    squared, steepness = (expression.subs(z, -sp.log(x)) for expression in (sp.exp(2 * link(z)), link(z).diff(z)))
    yield _positive("(log sigma)' > 0, so it increases", steepness, x)
    yield _positive("exp(2 log sigma) < 1, so log sigma < 0", 1 - squared, x)
    yield _positive(f"(log sigma)' < {constant}", constant - steepness, x)
    steepest = sp.limit(steepness, x, sp.oo)
    refute(steepest < constant, f"the slope tends to {steepest} as z falls, not to {constant}")
    yield "(log sigma)' = 1/(1 + e^z)", lambda: derivative(link(z), z), lambda: 1 / (1 + sp.exp(z))
    yield "softplus' = 1 - (log sigma)'", lambda: derivative(paths.softplus(z), z), lambda: 1 - derivative(link(z), z)
    yield same_by_sympy("exp(softplus) = 1 + e^z > 1", sp.exp(paths.softplus(z)), 1 + sp.exp(z))
    potential = grape.affinity_potential(z, slope=alpha, probe_dim=sp.Integer(2))
    yield "an edge's derivative", lambda: derivative(potential, z), lambda: alpha * derivative(link(z / 2), z)
    yield "the derivative tends to 1 as z falls, so no smaller constant does"
