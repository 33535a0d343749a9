"""Gated GRAPE-A: the features that its bias needs, forms that it does not have, and bounds on its link functions."""

from collections.abc import Callable, Mapping
from typing import Any

import flint
import sympy as sp
from sympy.polys.matrices import DomainMatrix

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import derivative, product, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.theory.domain import in_domain
from lengthgen.theory.enclosure import enclose
from lengthgen.theory.encodings import grape, paths
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.exact import Undecided

Features = Callable[[sp.Expr, sp.Expr], sp.Matrix]
"""(position, gate) -> features of a query or of a key, whose scalar product is the bias."""

VARIANTS = {"query and key": (1, 1), "query": (1, 0), "key": (0, 1)}
"""Variant -> (1 if it has a gate of the query, 1 if it has a gate of the key)."""
EXAMPLE_SIZE = 6
_BITS = 200


def streaming_features(*, query: Features, key: Features, ranks: Mapping[str, int]) -> Evidence:
    """Decide that the features' scalar product is the bias, and that fewer features do not suffice.

    `ranks` has the number of features of each variant.
    """
    j, i, query_gate, key_gate = sp.symbols("j i lambda_q lambda_k", positive=True)
    at = {"query_position": j, "key_position": i}
    bias = grape.gated_bias(sp.Integer(1), query_gate=query_gate, key_gate=key_gate, **at)
    of_query, of_key = query(j, query_gate), key(i, key_gate)
    facts = [require_equal("bias = (query features).(key features)", lambda: of_query.dot(of_key), bias), _encoded()]
    for variant, (by_query, by_key) in VARIANTS.items():
        pairs = zip(query(j, by_query * query_gate), key(i, by_key * key_gate), strict=True)
        features = sum(1 for query_feature, key_feature in pairs if query_feature * key_feature != 0)
        rank = _rank_of_example(by_query, by_key)
        if not features == rank == ranks[variant]:
            stated = f"{ranks[variant]} are stated"
            raise Refuted(f"gated by {variant}: {features} features, where an example has rank {rank} and {stated}")
        facts.append(
            f"gated by {variant}: {features} features, and a {EXAMPLE_SIZE} x {EXAMPLE_SIZE} example of that rank"
        )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, _beside_content()),
        assumptions=(
            "all queries come after all keys in the example with content, so the causal mask hides none of its pairs",
            "a lift scores by a product of what the query makes of itself and what the key does, as a cache needs it",
        ),
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


def rising_gates(*, gate: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide that a gate rises with the content along w, |w| = 1, so that the slope is not constant.

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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            same_by_sympy("gate'(z) at z = log x, which is positive", rate, x / (1 + x)),
            f"two queries q and 2q with w.q > 0 have different slopes: omega ({gate(z)} + gate of the key)",
            f"content across w has the gate {gate(sp.Integer(0))}, and the slope {2 * slope * gate(sp.Integer(0))}",
        ),
        assumptions=("|w| = 1, as in the released code; queries and keys take all values",),
    )


def homogeneous_slope(*, slope: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide what the group of [[0, u], [0, 0]] on (q, 1) and (k, 1) adds to q.k + 1, as a function of u.k."""
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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal("A^2 = 0", product(generator, generator), sp.zeros(3, 3)),
            require_equal("added to q.k + 1: (j - i) omega u.k", added, lambda: (j - i) * rate * slope(u.dot(key))),
            require_equal(
                "any generator, lifts affine in the content: the slope's second difference in k",
                lambda: at_key[0] - 2 * at_key[1] + at_key[2],
                sp.Integer(0),
            ),
            require_equal(
                "that of softplus at 0 is log(cosh(z/2)^2), not 0", bend, lambda: (2 + sp.exp(z) + sp.exp(-z)) / 4
            ),
            "so a slope that is softplus of the content, positive for all of it, comes from no such generator, in any "
            "number of further coordinates",
        ),
        assumptions=("d = 2 for the group's score, plane by plane; the generator does not depend on content",),
    )


def lipschitz_links(*, link: Callable[[sp.Expr], sp.Expr], constant: sp.Rational) -> Evidence:
    """Decide 0 < (log sigma)' <= constant and log sigma < 0, with x = e^-z > 0, and softplus(z) = -log sigma(-z)."""
    z, slope = sp.symbols("z alpha", real=True)
    x = sp.Symbol("x", positive=True)
    value, steepness = (expression.subs(z, -sp.log(x)) for expression in (sp.exp(link(z)), link(z).diff(z)))
    steepest = sp.limit(steepness, x, sp.oo)
    if steepest < constant:
        raise Refuted(f"the slope tends to {steepest} as z falls, not to {constant}")
    excess = _numerator(constant - steepness, x)
    facts = [
        _positive("(log sigma)' > 0, so it increases", _numerator(steepness, x), x),
        _positive("exp(log sigma) < 1, so log sigma < 0", _numerator(1 - value, x), x),
        _positive(f"(log sigma)' < {constant}", excess, x),
        require_equal("(log sigma)' = 1/(1 + e^z)", lambda: derivative(link(z), z), lambda: 1 / (1 + sp.exp(z))),
        require_equal(
            "softplus' = 1 - (log sigma)'", lambda: derivative(paths.softplus(z), z), lambda: 1 - derivative(link(z), z)
        ),
        same_by_sympy("exp(softplus) = 1 + e^z > 1", sp.exp(paths.softplus(z)), 1 + sp.exp(z)),
    ]
    potential = grape.affinity_potential(z, slope=slope, probe_dim=sp.Integer(2))
    facts.append(
        require_equal(
            "an edge's derivative", lambda: derivative(potential, z), lambda: slope * derivative(link(z / 2), z)
        )
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "the derivative tends to 1 as z falls, so no smaller constant does"),
        assumptions=("every real z is -log x for one x > 0",),
    )


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


CLAIMS = (
    Claim(
        id="grape-17",
        source=SOURCE.at(
            "equations 4.5 and 4.6: softplus gates of query and key on the one generator of GL(d+2), with keys cached "
            "(our reading: of the later versions only quotations were at hand)"
        ),
        statement="The bias of GRAPE-A gated by query and key is a scalar product of 4 features, and of 2 features if "
        "gated by one of them; fewer do not suffice: with softplus gates the scores have rank d + 4.  The two further "
        "coordinates of GL(d+2), where each token acts with its own gate (our reading), give i lambda_k - j lambda_q.",
        latex=r"-(j-i)(\lambda^q_j+\lambda^k_i)=[-j\lambda^q_j,\lambda^q_j,-j,1]\cdot[1,i,\lambda^k_i,i\lambda^k_i]",
        label="F",
        check=streaming_features,
        holds={
            "query": lambda position, gate: grape.query_features(position=position, gate=gate),
            "key": lambda position, gate: grape.key_features(position=position, gate=gate),
            "ranks": {"query and key": 4, "query": 2, "key": 2},
        },
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
    ),
    Claim(
        id="grape-17-lift",
        source=SOURCE.at(
            "Section 4.1: one homogeneous coordinate, GL(d+1), and Remark 4.1, which has softplus gates come from it "
            "(our reading: of the remark only a report was at hand; version 1, in a converted copy, has the slope u.k)"
        ),
        statement="The unipotent group of [[0, u], [0, 0]] on (q, 1) and (k, 1) adds a bias whose slope is u.k: linear "
        "in the key, of either sign.  Softplus of it (our reading of the remark) is the slope of no generator that "
        "content does not change.",
        latex=r"(G(j)\hat q)\cdot(G(i)^{-\top}\hat k)=q\cdot k+1+(j-i)\,\omega\,u\cdot k",
        label="F",
        check=homogeneous_slope,
        holds={"slope": lambda along: along},
        printed={"slope": paths.softplus},
        falsifiers={
            "the slope is |u.k|": {"slope": sp.Abs},
            "the slope is twice u.k": {"slope": lambda along: 2 * along},
            "the slope is u.k + 1": {"slope": lambda along: along + 1},
        },
    ),
    Claim(
        id="grape-21",
        source=SOURCE.at("the link g = log sigmoid of the edge potentials"),
        statement="log sigma is negative, increasing, and Lipschitz with constant 1, and with no constant below 1.  "
        "softplus(z) = -log sigma(-z) is positive, increasing and Lipschitz with the same constant.",
        latex=r"g=\log\sigma:\ g<0,\ 0<g'(z)=\frac{1}{1+e^{z}}<1",
        label="P",
        check=lipschitz_links,
        holds={"link": paths.log_sigmoid, "constant": sp.Integer(1)},
        answers=("constant",),
        falsifiers={
            "twice the logarithm": {"link": lambda z: 2 * paths.log_sigmoid(z)},
            "half the logarithm": {"link": lambda z: paths.log_sigmoid(z) / 2},
            "softplus, which is positive": {"link": paths.softplus},
            "log sigma(-z), which falls": {"link": lambda z: paths.log_sigmoid(-z)},
        },
    ),
    Claim(
        id="grape-gated",
        source=SOURCE.at("the released code: gates along vectors of length 1; ALiBi as a special case"),
        statement="Gated GRAPE-A is ALiBi for no values of its parameters: a gate is softplus of the content along a "
        "vector of length 1 and rises with it, so no slope is the same for all content.",
        latex=r"\lambda(x)=\log(1+e^{w\cdot x/\sqrt d}),\ |w|=1:\quad\lambda\ \text{is not constant}",
        label="F",
        check=rising_gates,
        holds={"gate": lambda along: grape.content_gate(along=along)},
        falsifiers={
            "w = 0": {"gate": lambda along: grape.content_gate(0 * along)},
            "a gate of the length of w": {"gate": lambda along: grape.content_gate(sp.Integer(1))},
        },
    ),
)
