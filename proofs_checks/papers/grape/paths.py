"""GRAPE-AP and FoX as GRAPE-A: biases summed along a path, with edges that depend on the query or do not."""

from collections.abc import Callable, Mapping
from functools import partial

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.induction import combine, empty_value, last_term
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.proofs_checks.papers.grape.unipotent import inverse_transpose
from lengthgen.theory.encodings import biases, grape, paths, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.exact import Undecided

Path = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Sum]
RowBias = Callable[[sp.Expr, sp.Expr], sp.Expr]
GATES = (sp.Rational(1, 10), sp.Integer(5), sp.Integer(1))
"""Gates of tokens 0, 1 and 2 in the examples."""
LAMBDA = sp.IndexedBase("lambda", positive=True)
FIXED = sp.Symbol("lambda_q", positive=True)
_ROWS = len(GATES) - 1


def fox_unipotent(*, link: Callable[[sp.Expr], sp.Matrix], key_action: Callable[[sp.Matrix], sp.Matrix]) -> Evidence:
    """Decide by induction that a path of links is the link of the summed log gates, and gives FoX's bias as score."""
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
    facts = (
        same_by_sympy("base: the empty path gives I", link(empty), sp.eye(2)),
        *(require_equal(*test) for test in tests),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("induction on the number of links, so any path length; any d, as the content enters by q.k",),
    )


def prefix_identity(*, prefix: Callable[[sp.Expr], sp.Sum]) -> Evidence:
    """Decide by induction that the sum over i < l <= j is A_j - A_i."""
    i, j = sp.symbols("i j", integer=True)
    summed, before = sp.symbols("S A_i", real=True)
    path, extended = grape.increments(key=i, query=j), grape.increments(key=i, query=j + 1)
    added = last_term("path", path, extended)
    grown = last_term("prefix", prefix(j), prefix(j + 1))
    # Induction hypothesis: A_j = S + A_i.
    facts = (
        same_by_sympy("base: the empty path", empty_value("path", grape.increments(key=i, query=i)), sp.Integer(0)),
        require_equal(
            "step: A_(j+1) - A_i",
            lambda: combine(prefix(j), summed + before, grown) - before,
            lambda: combine(path, summed, added),
        ),
        same_by_sympy(
            "A_0 = a_0", empty_value("A_0", prefix(sp.Integer(0))), sp.Symbol(str(grape.INCREMENTS[0]), real=True)
        ),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("induction on j - i, so any path length",))


def row_semigroup(*, path: Path, rest: Path) -> Evidence:
    """Decide by induction path(i -> u) = path(m -> u) + rest(i -> m), for the edges as one query sees them."""
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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *(same_by_sympy(*test) for test in plain_tests),
            *(require_equal(*test) for test in tests),
            "u = j: b(j, i) = b(j, m) + the path from i to m",
        ),
        assumptions=("i <= m <= j", "induction on m - i and on u - m, so any length"),
    )


def monotone_rows(*, inside: Mapping[str, RowBias], outside: Mapping[str, RowBias]) -> Evidence:
    """Decide which biases are path integrals with edges <= 0; the edges of a bias are b(j, l - 1) - b(j, l).

    `inside` names rows of biases that are, `outside` rows of biases that are not.
    """
    query, key = sp.symbols("j i", integer=True, nonnegative=True)
    facts = []
    for name, row in inside.items():
        above = _rising_edge(row)
        if above:
            raise Refuted(f"{name}: {above}")
        edge, own = sp.expand(grape.edge_potential(partial(row, query), key)), sp.expand(row(query, query))
        if not (edge.is_nonpositive and own == 0):
            raise Undecided(f"{name}: the edge {edge}, b(j, j) = {own}")
        facts.append(f"{name}: b(j, j) = {own}, every edge is {edge}")
    for name, row in outside.items():
        above = _rising_edge(row)
        if not above:
            raise Refuted(f"{name}: no edge of the rows up to {_ROWS} is above 0")
        facts.append(f"{name}: {above}")
    edge = sp.expand(grape.edge_sum(query=query, key=key, until=key + 1).doit())
    if not edge.is_nonpositive:
        raise Refuted(f"the encoding's edge {edge} may be above 0")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            f"b(j, i) - b(j, i + 1) = {edge} <= 0: a path integral with edges <= 0 does not fall with the key",
            "conversely a row with b(j, j) = 0 that does not fall is the path integral of its edges b(j, l - 1) - "
            "b(j, l) <= 0, since these add up to b(j, i) - b(j, j)",
        ),
        assumptions=("psi = alpha log sigma(.) <= 0, as in the paper",),
    )


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


def last_edge(*, path: Callable[[sp.Expr, sp.Expr], sp.Sum]) -> Evidence:
    """Decide that a path of constant edges is ALiBi's bias, and one of edges that all queries share is FoX's."""
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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "constant edges -m", constant, lambda: biases.alibi_bias(slope, query_position=j, key_position=i)
            ),
            *limits,
            "b(i + 1, i) is the one edge psi(i + 1, i + 1), into the query: without it the nearest key has no bias",
        ),
    )


def _ends(path: sp.Sum, other: sp.Sum) -> tuple[tuple[str, sp.Expr, sp.Expr], ...]:
    """Lower and upper limits of two paths, side by side."""
    (_, first, last), (_, other_first, other_last) = path.limits[0], other.limits[0]
    return ("begin", first, other_first), ("end", last, other_last)


def origin(*, affinity: Callable[..., sp.Expr]) -> Evidence:
    """Decide that the affinity of an edge does not change when all positions are shifted."""
    j, token, shift = sp.symbols("j l s", real=True)
    probes = sp.symbols("p1 p2", real=True), sp.symbols("r1 r2", real=True)

    def moved_by(offset: sp.Expr) -> sp.Expr:
        return affinity(*probes, query_position=j + offset, token_position=token + offset)

    here = moved_by(sp.Integer(0))
    turn = rotary.rotation(token - j)
    facts = (
        require_equal("affinity = p.R2(l - j) r", here, lambda: sp.Matrix(probes[0]).dot(turn * sp.Matrix(probes[1]))),
        require_equal("affinity at j + s, l + s = affinity at j, l", lambda: moved_by(shift), here),
        f"one-sided, all probes (4, 0), d_p = 2, slope 1: b(8, 0) changes by {_change(_one_sided):.2f} under a shift "
        f"of 3; turned on both sides by {_change(grape.affinity):.2f}",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("plane by plane, so every even d_p follows",))


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


CLAIMS = (
    Claim(
        id="grape-10",
        source=SOURCE.at("FoX as GRAPE-A: Section 5, and Appendix C for the printed sign"),
        statement="The product of the links I - psi_l E along a path is I - (sum psi_l) E, and with the key multiplied "
        "by the inverse transpose the score is q.k + sum log f_l: the Forgetting Transformer (errata F10: Appendix C "
        "prints I + psi_l E, which gives the bias the opposite sign).",
        latex=r"\prod_{l=i+1}^{j}(I-\psi_lE) = I-\Big(\sum_l\psi_l\Big)E,\quad"
        r"\hat q^\top P^{-\top}\hat k = q\cdot k+\sum_l\psi_l",
        label="P",
        check=fox_unipotent,
        holds={"link": lambda log_gate: grape.fox_link(log_gate=log_gate), "key_action": inverse_transpose},
        printed={"link": lambda log_gate: grape.fox_link(log_gate=-log_gate)},
        falsifiers={
            "link transposed": {"link": lambda log_gate: grape.fox_link(log_gate=log_gate).T},
            "key moved by the path itself": {"key_action": lambda matrix: matrix.T},
            "key moved by the inverse": {"key_action": lambda matrix: matrix.inv()},
        },
    ),
    Claim(
        id="grape-15",
        source=SOURCE.at("path integral additive bias: collapse of the path, the row semigroup"),
        statement="For one query the biases of GRAPE-AP compose along the row, b(j, i) = b(j, m) + the path from i to "
        "m as the query j sees it, and b(j, j) = 0.",
        latex=r"b(j,i)=b(j,m)+\sum_{l=i+1}^{m}\psi(j,l),\quad b(j,j)=0",
        label="P",
        check=row_semigroup,
        holds={
            "path": lambda query, key, until: grape.edge_sum(query=query, key=key, until=until),
            "rest": lambda query, key, until: grape.edge_sum(query=query, key=key, until=until),
        },
        falsifiers={
            "the rest as the key m sees it": {
                "rest": lambda query, key, until: grape.edge_sum(query=until, key=key, until=until)
            },
            "the key's own edge counts": {
                "path": lambda query, key, until: grape.edge_sum(query=query, key=key - 1, until=until)
            },
        },
    ),
    Claim(
        id="grape-15-last-edge",
        source=SOURCE.at(
            "equations 5.1 and 5.2: b sums the edges up to the query's own, potentials are defined for l < t (our "
            "reading: the converted copy of version 1 at hand drops what stands after the inequality's sign)"
        ),
        statement="The edge into the query itself is part of the path: with the sum over i < l <= j constant edges "
        "give ALiBi and shared edges FoX; with potentials for l < j alone (our reading) the nearest key has no bias.",
        latex=r"b(j,i)=\sum_{l=i+1}^{j}\psi(j,l):\ \psi\equiv-m\Rightarrow b=-m(j-i)",
        label="F",
        check=last_edge,
        holds={"path": lambda query, key: grape.edge_sum(query=query, key=key, until=query)},
        printed={"path": lambda query, key: grape.edge_sum(query=query, key=key, until=query - 1)},
        falsifiers={
            "the key's own edge too": {
                "path": lambda query, key: grape.edge_sum(query=query, key=key - 1, until=query)
            },
            "one step early": {"path": lambda query, key: grape.edge_sum(query=query, key=key - 1, until=query - 1)},
        },
    ),
    Claim(
        id="grape-15-monotone",
        source=SOURCE.at("GRAPE-AP as containing GRAPE-A, as the case of edges that do not depend on the endpoint"),
        statement="A bias with b(j, j) = 0 is a path integral with edges <= 0 if and only if it does not fall as the "
        "key moves towards the query: GRAPE-A with edges that no query changes is one, as the paper says, and so is "
        "query-gated GRAPE-A; key-gated GRAPE-A is not (errata F12 assumes that the paper claims it; its words do "
        "not).",
        latex=r"b(j,i)=\sum_{l=i+1}^{j}\psi(j,l),\ \psi\le0\iff b(j,\cdot)\ \text{non-decreasing},\ b(j,j)=0",
        label="F",
        check=monotone_rows,
        holds={
            "inside": {"constant slope": _without_endpoint, "gated by the query": _by_query},
            "outside": {"gated by the key": _by_key},
        },
        falsifiers={
            "key-gated biases too": {"inside": {"gated by the key": _by_key}},
            "query-gated biases are none": {"outside": {"gated by the query": _by_query}},
            "biases that rise with the distance": {
                "inside": {"the other sign": lambda query, key: -_by_query(query, key)}
            },
        },
    ),
    Claim(
        id="grape-16",
        source=SOURCE.at("edge potentials of GRAPE-AP, which turn the token's probe alone; the released code does too"),
        statement="With both probes rotated, <R_j p_j, R_l p_l>, GRAPE-AP does not depend on where positions begin; "
        "with only the token's probe rotated it does (errata F12).",
        latex=r"\langle R_{j+s}p_j,R_{l+s}p_l\rangle=\langle R_jp_j,R_lp_l\rangle",
        label="F",
        check=origin,
        holds={"affinity": lambda query, token, **at: grape.affinity(query_probe=query, token_probe=token, **at)},
        falsifiers={
            "the token's probe alone is turned": {"affinity": _one_sided},
            "the query's probe is turned back": {
                "affinity": lambda query, token, query_position, token_position: grape.affinity(
                    query, token, query_position=-query_position, token_position=token_position
                )
            },
        },
    ),
    Claim(
        id="grape-20",
        source=SOURCE.at("Section 5: a path sum as a difference of prefix sums"),
        statement="The sum of a_l over i < l <= j is A_j - A_i with A_u the sum up to and including a_u (errata F10: "
        "the paper prints A_u without a_u).",
        latex=r"\sum_{l=i+1}^{j}a_l=A_j-A_i,\quad A_u=\sum_{l\le u}a_l",
        label="F",
        check=prefix_identity,
        holds={"prefix": lambda position: grape.prefix(position=position)},
        printed={"prefix": lambda position: grape.prefix(position - 1)},
        falsifiers={
            "without the last": {"prefix": lambda position: grape.prefix(position - 1)},
            "with the next": {"prefix": lambda position: grape.prefix(position + 1)},
        },
    ),
)
