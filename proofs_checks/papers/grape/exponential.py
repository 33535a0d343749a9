"""GRAPE-M on one plane: its closed form, the group of rotations, its gauge and periods; steps that are no rotations."""

from collections.abc import Callable
from math import gcd

import sympy as sp

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.facts import Formula, is_zero, product, require_equal
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.grape import SOURCE, equal_operators
from lengthgen.theory.encodings import grape, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.zero import algebraic, sympy_engine

CLAIMS = PaperClaims(SOURCE)
ALPHA, GAMMA, SPEED, TIME = sp.symbols("alpha gamma s t", real=True)
BETA = (SPEED**2 + GAMMA**2) / ALPHA
GRAM = grape.Gram(alpha=ALPHA, beta=BETA, gamma=GAMMA)
"""General scalar products of independent a and b; b.b is written in terms of s."""
L = grape.rank2_generator(GRAM)
INDEPENDENT = "a, b real and independent, of any dimension (if parallel, s = 0, L = 0 and exp(tL) = I)"
LARGEST_PERIOD = 8
_AXES = grape.spanning([(1, 0, 0, 0), (0, 1, 1, 0)])
TILTED = grape.Frame.of(*_AXES)
"""The planes of a_1 = e_1 and a_2 = e_2 + e_3: they do not commute."""


def _exponential(gram: grape.Gram, time: sp.Expr, speed: sp.Expr) -> grape.PlaneOperator:
    return grape.rank2_exponential(gram, time=time, speed=speed)


def _group(time: sp.Expr) -> grape.PlaneOperator:
    return _exponential(GRAM, time, SPEED)


def _series(gram: grape.Gram, first: sp.Expr, second: sp.Expr) -> grape.PlaneOperator:
    """I + first L + second L^2."""
    generator = grape.rank2_generator(gram)
    return grape.identity(gram) + generator.scaled(first) + (generator @ generator).scaled(second)


def _as_matrices() -> str:
    """Fact that operators in coefficients add, multiply and transpose as their 4 x 4 matrices do."""
    vectors = (sp.Matrix([1, 2, 0, 1]), sp.Matrix([0, 1, 3, -1]))
    gram = grape.Gram.of(*vectors)
    first = grape.PlaneOperator(gram=gram, identity=sp.Integer(3), coefficients=sp.Matrix([[1, 2], [3, 5]]))
    second = grape.PlaneOperator(gram=gram, identity=sp.Integer(-1), coefficients=sp.Matrix([[5, 0], [1, 2]]))
    unit = grape.identity(gram) + grape.rank2_generator(gram)
    first_matrix, second_matrix = first.matrix(*vectors), second.matrix(*vectors)
    sides = {
        "sum": ((first + second).matrix(*vectors), first_matrix + second_matrix),
        "product": ((first @ second).matrix(*vectors), first_matrix * second_matrix),
        "multiple": (first.scaled(sp.Integer(7)).matrix(*vectors), 7 * first_matrix),
        "transpose": (first.transpose().matrix(*vectors), first_matrix.T),
        "determinant of I + L": (unit.determinant(), unit.matrix(*vectors).det()),
    }
    for what, (left, right) in sides.items():
        refute(left != right, f"d = 4, {what}: {left} by coefficients, {right} by matrices")
    return f"d = 4, whole numbers: {', '.join(sides)} by coefficients and by matrices agree"


@CLAIMS.claim(
    "grape-1",
    "rank-2 generator and the closed form of its exponential",
    r"e^{tL} = I + \tfrac{\sin ts}{s}L + \tfrac{1-\cos ts}{s^2}L^2,\quad L^2=-s^2P_{\langle a,b\rangle}",
    label="P",
    assumptions=(INDEPENDENT,),
    falsifiers={
        "(1 - cos) over s": {
            "exponential": lambda gram, t, s: _series(gram, sp.sin(t * s) / s, (1 - sp.cos(t * s)) / s)
        },
        "s without its root": {"exponential": lambda gram, t, s: _exponential(gram, t, grape.squared_speed(gram))},
        "time reversed": {"exponential": lambda gram, t, s: _exponential(gram, -t, s)},
    },
)
def rank2_closed_form(exponential: Callable[..., grape.PlaneOperator] = _exponential) -> Facts:
    """The exponential of L = a b^T - b a^T is I + sin(ts)/s L + (1 - cos(ts))/s^2 L^2, s^2 = |a|^2 |b|^2 - (a.b)^2, and
    L^2 is -s^2 times the projector on span(a, b), in every dimension.
    """
    P, E = grape.plane_projector(GRAM), exponential(GRAM, TIME, SPEED)
    images_of_a_and_b = sp.Matrix([[GAMMA, BETA], [-ALPHA, -GAMMA]])
    yield "s^2 = |a|^2 |b|^2 - (a.b)^2", SPEED**2, lambda: grape.squared_speed(GRAM)
    yield "L a = (b.a) a - (a.a) b, L b = (b.b) a - (a.b) b", lambda: L.coefficients * GRAM.matrix, images_of_a_and_b
    yield equal_operators("E(0) = I", lambda: exponential(GRAM, sp.S.Zero, SPEED), lambda: grape.identity(GRAM))
    yield equal_operators("E' = L E", lambda: E.derivative(TIME), lambda: L @ E)
    yield "P U = U", lambda: P.coefficients * GRAM.matrix, sp.eye(2)
    yield equal_operators("P P = P", lambda: P @ P, lambda: P)
    yield equal_operators("L^2 = -s^2 P", lambda: L @ L, lambda: P.scaled(-(SPEED**2)))
    yield "a linear differential equation has one solution with E(0) = I, so E(t) = exp(tL)"
    yield _as_matrices()


def _displacement(gram: grape.Gram, along_a: sp.Expr, along_b: sp.Expr, time: sp.Expr) -> sp.Matrix:
    return grape.displacement(gram, along_a=along_a, along_b=along_b, time=time, speed=SPEED)


@CLAIMS.claim(
    "grape-2",
    "fast application of the exponential to a vector",
    r"e^{tL}x = x+f_1(av-bu)+f_2\big[\gamma(av+bu)-\beta\,au-\alpha\,bv\big]",
    label="P",
    assumptions=(INDEPENDENT,),
    falsifiers={
        "lengths of a and b swapped": {
            "displacement": lambda gram, u, v, t: _displacement(
                grape.Gram(alpha=BETA, beta=ALPHA, gamma=GAMMA), u, v, t
            )
        },
        "a.x and b.x swapped": {"displacement": lambda gram, u, v, t: _displacement(gram, v, u, t)},
        "turned the other way": {"displacement": lambda gram, u, v, t: _displacement(gram, u, v, -t)},
    },
)
def fast_application(displacement: Formula = _displacement) -> Facts:
    """exp(tL) x is x + f1 (a v - b u) + f2 (g (a v + b u) - |b|^2 a u - |a|^2 b v), with u = a.x, v = b.x, g = a.b, f1
    = sin(ts)/s, f2 = (1 - cos ts)/s^2, in every dimension.
    """
    u, v = sp.symbols("u v", real=True)
    coefficients = _group(TIME).coefficients
    moved = displacement(GRAM, u, v, TIME)
    fact = require_equal("coefficients of a and b", moved, lambda: coefficients * sp.Matrix([u, v]))
    yield "coefficient of x", lambda: _group(TIME).identity, sp.Integer(1)
    yield fact
    yield "exp(tL) x = x + U M U^T x needs U^T x = (a.x, b.x) only: O(d) for a vector"


@CLAIMS.claim(
    "grape-3",
    "the group law of GRAPE-M: orthogonal, relative, compositional",
    r"G(n)=e^{nL}:\ G^\top G=I,\ \det G=1,\ G(i)G(j)=G(i+j),\ G(i)^\top G(j)=G(j-i)",
    label="P",
    assumptions=(INDEPENDENT,),
    falsifiers={
        "a product of exponentials that do not commute": {"group": lambda t: grape.commuting_action(TILTED, (t, t))},
        "I + tL in place of the exponential": {"group": lambda t: grape.identity(GRAM) + L.scaled(t)},
        "a clock that does not add": {"group": lambda t: _group(t**2)},
    },
)
def rotations(group: Callable[[sp.Expr], grape.PlaneOperator] = _group) -> Facts:
    """The operators exp(nL) are rotations (orthogonal, determinant 1) that compose by adding positions, so scores
    depend on j - i alone, in every dimension.
    """
    i, j = sp.symbols("i j", real=True)
    at_i, at_j = group(i), group(j)
    inverse, identity = at_i.transpose(), grape.identity(at_i.gram)
    at = {"query_position": j, "key_position": i}
    rope = rotary.score(QUERY, KEY, **at, frequency=grape.SPEED)
    yield equal_operators("G(0) = I", lambda: group(sp.S.Zero), lambda: identity)
    yield equal_operators("G(i) G(j) = G(i + j)", lambda: at_i @ at_j, lambda: group(i + j))
    yield equal_operators("G^T G = I", lambda: inverse @ at_i, lambda: identity)
    yield equal_operators("G(i)^T G(j) = G(j - i)", lambda: inverse @ at_j, lambda: group(j - i))
    yield "det G = 1", at_i.determinant, sp.Integer(1)
    yield "on its plane, from b to a, it scores as RoPE at s", lambda: grape.GRAPE.score(**at), rope

    def tilted(position: int) -> sp.Matrix:  # a_2 has length sqrt 2, so s = 2
        half = sp.Rational(position, 2)
        return grape.commuting_action(TILTED, (half, half / 2)).matrix(*_AXES)

    off = float(max(abs(entry) for entry in sp.N(tilted(3).T * tilted(5) - tilted(2), 20)))
    example = "a_1 = e_1, a_2 = (e_2 + e_3)/sqrt 2, theta = 1/2 each"
    yield f"planes that do not commute: {example}: an entry of G(3)^T G(5) - G(2) is {off:.2f}"


@CLAIMS.claim(
    "grape-4",
    "gauge freedom of the generator; A J A^T",
    r"L([a\ b]M)=\det(M)\,L(a,b),\qquad A J_2 A^\top=-L(a,b)",
    label="P",
    assumptions=(INDEPENDENT, "M real, 2 x 2; A = [a b]"),
    printed={"orientation": 1},
    falsifiers={
        "A J2 A^T = +L": {"orientation": 1},
        "GL(2) changes nothing": {"factor": lambda change: sp.Integer(1)},
        "rescaled by the trace": {"factor": lambda change: change.trace()},
    },
)
def gauge(factor: Formula = lambda change: change.det(), orientation: int = -1) -> Facts:
    """[a b] M has the generator det(M) L(a, b): SL(2) changes nothing, GL(2) rescales the speed; and A J2 A^T = -L(a,
    b) for A = [a b] (errata F8: the paper prints +L).
    """
    M = sp.Matrix(2, 2, sp.symbols("m1:5", real=True))
    regauged, scale = grape.regauged(GRAM, M), factor(M)
    shear = sp.Matrix([[1, M[0, 1]], [0, 1]])
    yield equal_operators(
        "L of [a b] M = factor L", lambda: grape.rank2_generator(regauged).expressed(GRAM, M), lambda: L.scaled(scale)
    )
    yield "s^2 of [a b] M = (factor s)^2", lambda: grape.squared_speed(regauged), lambda: (scale * SPEED) ** 2
    yield equal_operators(
        "a shear of [a b] leaves exp(tL) as it is",
        lambda: _exponential(grape.regauged(GRAM, shear), TIME, SPEED).expressed(GRAM, shear),
        lambda: _group(TIME),
    )
    yield "A J2 A^T", lambda: rotary.rotation(sp.pi / 2), lambda: orientation * L.coefficients
    yield "factor 1, the group SL(2), leaves L and with it the encoding as it is"


def _is_identity(turns: sp.Rational, n: int) -> bool:
    """True if exp(nL) = I at s = 2 pi turns."""
    turned = grape.plane_action(sp.Integer(n), speed=grape.SPEED).subs(grape.SPEED, 2 * sp.pi * turns)
    zeros = [algebraic.is_zero(entry) for entry in turned - sp.eye(2)]
    if None in zeros:
        raise sympy_engine.Undecided(f"exp({n}L) at s = {2 * sp.pi * turns}")
    return all(zeros)


@CLAIMS.claim(
    "grape-18",
    "Appendix J.1: the period where s / pi is rational (version 1, and ICLR 2026)",
    r"\tfrac{s}{2\pi}=\tfrac pq,\ \gcd(p,q)=1:\quad e^{nL}=I\iff q\mid n",
    strength=Strength.BOUNDED,
    reach=f"denominators up to {LARGEST_PERIOD}",
    assumptions=("positions are whole numbers",),
    printed={"period": lambda turns: 1 / turns},
    falsifiers={
        "period 2 pi / s": {"period": lambda turns: 1 / turns},
        "2 pi / s rounded up": {"period": lambda turns: sp.ceiling(1 / turns)},
        "the denominator of s / pi": {"period": lambda turns: sp.Integer((2 * turns).q)},
    },
)
def integer_periods(period: Formula = grape.integer_period) -> Facts:
    """On integer positions exp(nL) is periodic if and only if s / pi is rational, and its least period is the
    denominator of s / (2 pi) (the paper prints 2 pi / s, which need not be an integer). Checked for denominators up to
    8; a general argument covers the rest.
    """
    speeds = [sp.Rational(p, q) for q in range(1, LARGEST_PERIOD + 1) for p in range(1, 2 * q) if gcd(p, q) == 1]
    for turns in speeds:
        least = next(n for n in range(1, LARGEST_PERIOD + 1) if _is_identity(turns, n))
        claimed = period(turns)
        refute(claimed != least, f"s = {2 * sp.pi * turns}: exp(nL) = I first at n = {least}, not {claimed}")
    example = sp.Rational(2, 5)
    yield f"{len(speeds)} values of s / (2 pi) = p/q, q <= {LARGEST_PERIOD}: the least period is q in each"
    yield f"s = {2 * sp.pi * example}: period {period(example)}, while 2 pi / s = {float(1 / example)}"
    yield (
        "for any s: exp(nL) = I <=> cos(ns) = 1 <=> n s / (2 pi) is whole, which some n >= 1 makes it only if "
        "s / pi is rational; for p/q in lowest terms it is whole <=> q divides n"
    )


def _by_angle(gram: grape.Gram, steps: sp.Expr, rate: sp.Expr, speed: sp.Expr) -> grape.PlaneOperator:
    return grape.exponential_by_angle(gram, steps=steps, rate=rate, speed=speed)


def _shares(gram: grape.Gram, angle: sp.Expr, factor: sp.Expr = sp.S.One) -> grape.PlaneOperator:
    """I + factor (f1(z) L + f2(z) L^2), as the paper prints it with the factor 1."""
    return _series(gram, factor * grape.sine_share(angle), factor * grape.cosine_share(angle))


@CLAIMS.claim(
    "grape-angle",
    "Appendix I, the exponential in terms of z = n omega s (version 1, and ICLR 2026)",
    r"e^{n\omega L}=I+n\omega f_1(z)L+(n\omega)^2f_2(z)L^2,\quad z=n\omega s",
    assumptions=(INDEPENDENT, "omega > 0, n > 0"),
    printed={"exponential": lambda gram, n, omega, s: _shares(gram, n * omega * s)},
    falsifiers={
        "the factor once": {"exponential": lambda gram, n, omega, s: _shares(gram, n * omega * s, n * omega)},
        "turned the other way": {"exponential": lambda gram, n, omega, s: _by_angle(gram, -n, omega, s)},
    },
)
def form_by_angle(exponential: Callable[..., grape.PlaneOperator] = _by_angle) -> Facts:
    """With z = n omega s, exp(n omega L) is I + n omega f1(z) L + (n omega)^2 f2(z) L^2, f1 = sin z / z and f2 = (1 -
    cos z) / z^2 (the paper prints f1 L and f2 L^2 without the factors, and differentiates that).
    """
    n, omega = sp.symbols("n omega", positive=True)
    E = exponential(GRAM, n, omega, SPEED)
    axes = grape.Gram(alpha=sp.S.One, beta=sp.S.One, gamma=sp.S.Zero)
    three = sp.Integer(3)
    error = _by_angle(axes, three, sp.S.One, sp.S.One) + _shares(axes, three).scaled(sp.Integer(-1))
    off = float(sp.Matrix(sp.N(error.coefficients, 20)).norm(2))
    yield equal_operators("E' = omega L E", lambda: E.derivative(n), lambda: (L @ E).scaled(omega))
    yield equal_operators(
        "E = exp(n omega L) of claim grape-1", lambda: exponential(GRAM, n, omega, SPEED), lambda: _group(n * omega)
    )
    yield f"a, b orthonormal, omega = 1, n = 3: without n omega E differs by {off:.4f} in norm"


@CLAIMS.claim(
    "grape-19",
    "comparison with PaTH: products of partial reflections",
    r"H=I-\beta ww^\top:\ H^\top H=I\iff\beta\in\{0,2\},\ \det H=1-\beta,\ "
    r"0\le\beta_l\le2:\ \sigma_{\min}\Big(\prod_lH_l\Big)\ge\prod_l|1-\beta_l|",
    label="P",
    assumptions=(
        "|w| = 1, dimension at least 2",
        "in words: sigma_min(A B) >= sigma_min(A) sigma_min(B) (textbook)",
    ),
    answers=("orthogonal",),
    falsifiers={
        "2 beta for beta": {"factor": lambda beta: 2 * beta},
        "beta^2 for beta": {"factor": lambda beta: beta**2},
        "-beta for beta": {"factor": lambda beta: -beta},
        "determinant 1 - 2 beta": {"determinant": lambda beta: 1 - 2 * beta},
    },
)
def partial_reflections(
    factor: Formula = lambda beta: beta,
    orthogonal: frozenset[int] = frozenset({0, 2}),
    determinant: Formula = lambda beta: 1 - beta,
) -> Facts:
    """I - beta w w^T with |w| = 1 is orthogonal only for beta = 0 and 2, has determinant 1 - beta, and norm 1 for 0 <=
    beta <= 2; a product of them, all with 0 <= beta_l <= 2, shrinks a vector at most by prod |1 - beta_l|.
    """
    beta = sp.Symbol("beta", real=True)
    step = grape.partial_reflection(factor(beta))
    gram = step.transpose() @ step
    defect = sp.Poly(gram.coefficients[0] - grape.identity(step.gram).coefficients[0], beta)
    roots = frozenset(defect.real_roots())
    for value in sorted(roots ^ orthogonal):
        where = f"H^T H - I = {defect.eval(value)} w w^T, and it is orthogonal at {sorted(roots)}"
        refute(True, f"beta = {value}: {where}")
    across, along = grape.reflection_singular_values(beta)
    yield "H^T H - I has w w^T times", defect.as_expr, lambda: beta**2 - 2 * beta
    yield "det H", step.determinant, lambda: determinant(beta)
    yield "H^T H w = sigma^2 w", lambda: gram.identity + gram.coefficients[0], lambda: along.args[0] ** 2
    yield "H^T H v = sigma^2 v for v across w", lambda: gram.identity, lambda: across**2
    yield "1 - (1 - beta)^2 = beta (2 - beta)", lambda: 1 - along.args[0] ** 2, lambda: beta * (2 - beta)
    yield (
        f"orthogonal at beta in {sorted(roots)} only; {along} <= 1 <=> 0 <= beta <= 2, and then the norm is 1 and "
        "the least singular value |1 - beta|"
    )
    yield "the least singular value of a product is at least the product of the factors': prod |1 - beta_l|"


def exchanged(dimension: int) -> sp.Matrix:
    """Return the basis e_2, e_1, and the other axes, the third one reversed if it exists. d x d. [F]"""
    return sp.diag(sp.Matrix([[0, 1], [1, 0]]), *([-1] if dimension > 2 else []), sp.eye(max(dimension - 3, 0)))


def _rotated(dimension: int) -> sp.Matrix:
    """An arbitrary rotation at d = 2, `exchanged` in higher dimensions."""
    return rotary.rotation(sp.Symbol("t", real=True)) if dimension == 2 else exchanged(dimension)


@CLAIMS.claim(
    "grape-orientation",
    "Lemma J.1: B in SO(d) with B^T L B = s J on a plane (version 1, and ICLR 2026)",
    r"d=2:\ B^\top L(a,b)B=L(a,b)=-\det(a,b)\,J\quad\forall B\in SO(2)",
    assumptions=(
        "in words: d >= 3 is as d = 3 with further axes left alone; for other planes B times a rotation to the plane",
    ),
    printed={"basis": _rotated, "determinant": lambda dimension: 1},
    falsifiers={
        "the exchange is a rotation at d = 2": {"determinant": lambda dimension: 1},
        "the axes in their order": {"basis": sp.eye},
        "the third axis as it is": {"basis": lambda dimension: sp.diag(exchanged(2), sp.eye(dimension - 2))},
    },
)
def plane_form(
    basis: Formula = exchanged, determinant: Callable[[int], int] = lambda dimension: -1 if dimension == 2 else 1
) -> Facts:
    """Some orthogonal B brings L(a, b) to s J on its plane; B may be chosen as a rotation for d >= 3, but for d = 2
    only if det(a, b) <= 0 (the lemma has B in SO(d) for every d; e_1, e_2 in the plane need O(2)).

    `basis` gives for each dimension an orthogonal B whose first two columns span the plane of e_1 and e_2.
    """

    def generator(a: sp.Matrix, b: sp.Matrix) -> sp.Matrix:
        return a * b.T - b * a.T

    for d in (2, 3, 4):
        B, stated = basis(d), determinant(d)
        turned = product(B.T, product(generator(sp.eye(d).col(0), sp.eye(d).col(1)), B))
        form = sp.diag(rotary.rotation(sp.pi / 2), sp.zeros(d - 2, d - 2))
        yield f"d = {d}: B^T B = I", product(B.T, B), sp.eye(d)
        yield f"d = {d}: B^T L(e_1, e_2) B = J, s = 1", turned, form
        refute(not is_zero(B.det() - stated), f"d = {d}: det B = {sp.simplify(B.det())}, not {stated}")
    a, b = sp.Matrix(sp.symbols("a1 a2", real=True)), sp.Matrix(sp.symbols("b1 b2", real=True))
    general, turn = generator(a, b), rotary.rotation(sp.Symbol("t", real=True))
    yield "d = 2: L(a, b) = -det(a, b) J", general, lambda: -sp.Matrix.hstack(a, b).det() * rotary.rotation(sp.pi / 2)
    yield "every B in SO(2) leaves it as it is", lambda: turn.T * general * turn, general
    yield "so at d = 2 B^T L B = s J for a B in SO(2) if and only if det(a, b) < 0, or s = 0"
