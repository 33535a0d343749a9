"""GRAPE-M on one plane: its closed form, the group of rotations, its gauge and periods; steps that are no rotations."""

from collections.abc import Callable
from math import gcd

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.facts import is_zero, product, require_equal
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.theory.encodings import grape, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.zero import algebraic, sympy_engine

Group = Callable[[sp.Expr], grape.PlaneOperator]
Basis = Callable[[int], sp.Matrix]
"""Dimension -> an orthogonal B whose first two columns span the plane of e_1 and e_2."""

ALPHA, GAMMA, SPEED, TIME = sp.symbols("alpha gamma s t", real=True)
BETA = (SPEED**2 + GAMMA**2) / ALPHA
GRAM = grape.Gram(alpha=ALPHA, beta=BETA, gamma=GAMMA)
"""General scalar products of independent a and b; b.b is written in terms of s."""
INDEPENDENT = "a, b real and independent, of any dimension (if parallel, s = 0, L = 0 and exp(tL) = I)"
LARGEST_PERIOD = 8
TILTED = grape.Frame.of(*grape.spanning([(1, 0, 0, 0), (0, 1, 1, 0)]))
"""The planes of a_1 = e_1 and a_2 = e_2 + e_3: they do not commute."""
DIMENSIONS = (2, 3, 4)
FIRST, SECOND = sp.symbols("c_1 c_2", real=True)
"""Products of the query's and the key's gain on the two coordinates of a rotated pair."""


def _without_steps(gram: grape.Gram, *, steps: sp.Expr, rate: sp.Expr, speed: sp.Expr) -> grape.PlaneOperator:
    """The form I + f1(z) L + f2(z) L^2, z = n omega s, as the paper prints it."""
    generator, angle = grape.rank2_generator(gram), steps * rate * speed
    turn = generator.scaled(grape.sine_share(angle))
    return grape.identity(gram) + turn + (generator @ generator).scaled(grape.cosine_share(angle))


def _steps_once(gram: grape.Gram, *, steps: sp.Expr, rate: sp.Expr, speed: sp.Expr) -> grape.PlaneOperator:
    """The form with the factor n omega of L^2 not squared."""
    generator, angle, time = grape.rank2_generator(gram), steps * rate * speed, steps * rate
    turn = generator.scaled(time * grape.sine_share(angle))
    return grape.identity(gram) + turn + (generator @ generator).scaled(time * grape.cosine_share(angle))


def _printed_form_error(gram: grape.Gram, steps: int) -> str:
    """Norm of the difference between the printed form and exp(nL), as text."""
    at = {"steps": sp.Integer(steps), "rate": sp.S.One, "speed": sp.S.One}
    difference = grape.exponential_by_angle(gram, **at) + _without_steps(gram, **at).scaled(sp.Integer(-1))
    return f"{float(sp.Matrix(sp.N(difference.coefficients, 20)).norm(2)):.4f}"


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
        if left != right:
            raise Refuted(f"d = 4, {what}: {left} by coefficients, {right} by matrices")
    return f"d = 4, whole numbers: {', '.join(sides)} by coefficients and by matrices agree"


def _cosine_over_speed(gram: grape.Gram, time: sp.Symbol, speed: sp.Symbol) -> grape.PlaneOperator:
    """Wrong exponential, with (1 - cos ts)/s in place of (1 - cos ts)/s^2."""
    generator = grape.rank2_generator(gram)
    turn = generator.scaled(sp.sin(time * speed) / speed)
    return grape.identity(gram) + turn + (generator @ generator).scaled((1 - sp.cos(time * speed)) / speed)


def _lengths_swapped(gram: grape.Gram, **rest: sp.Expr) -> sp.Matrix:
    """Wrong displacement, with the lengths of a and b swapped."""
    return grape.displacement(grape.Gram(alpha=gram.beta, beta=gram.alpha, gamma=gram.gamma), **rest)


def _is_identity(turns: sp.Rational, n: int) -> bool:
    """True if exp(nL) = I at s = 2 pi turns."""
    turned = grape.plane_action(sp.Integer(n), speed=grape.SPEED).subs(grape.SPEED, 2 * sp.pi * turns)
    for entry in turned - sp.eye(2):
        zero = algebraic.is_zero(entry)
        if zero is None:
            raise sympy_engine.Undecided(f"exp({n}L) at s = {2 * sp.pi * turns}")
        if not zero:
            return False
    return True


def _violation_text() -> str:
    """Text on how far the relative law fails, at one pair of positions, for exponentials that do not commute."""

    def product(position: int) -> sp.Matrix:
        half = sp.Rational(position, 2)
        operator = grape.commuting_action(TILTED, (half, half / 2))  # a_2 has length sqrt 2, so s = 2
        return operator.matrix(*grape.spanning([(1, 0, 0, 0), (0, 1, 1, 0)]))

    off = max(abs(entry) for entry in sp.N(product(3).T * product(5) - product(2), 20))
    return f"a_1 = e_1, a_2 = (e_2 + e_3)/sqrt 2, theta = 1/2 each: an entry of G(3)^T G(5) - G(2) is {float(off):.2f}"


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "grape-1",
    "rank-2 generator and the closed form of its exponential",
    r"e^{tL} = I + \tfrac{\sin ts}{s}L + \tfrac{1-\cos ts}{s^2}L^2,\quad L^2=-s^2P_{\langle a,b\rangle}",
    label="P",
    assumptions=(INDEPENDENT,),
    falsifiers={
        "(1 - cos) over s": {"exponential": _cosine_over_speed},
        "s without its root": {
            "exponential": lambda gram, time, speed: grape.rank2_exponential(
                gram, time=time, speed=grape.squared_speed(gram)
            )
        },
        "time reversed": {
            "exponential": lambda gram, time, speed: grape.rank2_exponential(gram, time=-time, speed=speed)
        },
    },
)
def rank2_closed_form(
    exponential: Callable[[grape.Gram, sp.Symbol, sp.Symbol], grape.PlaneOperator] = lambda gram, time, speed: (
        grape.rank2_exponential(gram, time=time, speed=speed)
    ),
) -> Facts:
    """The exponential of L = a b^T - b a^T is I + sin(ts)/s L + (1 - cos(ts))/s^2 L^2, s^2 = |a|^2 |b|^2 - (a.b)^2, and
    L^2 is -s^2 times the projector on span(a, b), in every dimension.
    """
    generator, projector = grape.rank2_generator(GRAM), grape.plane_projector(GRAM)
    candidate = exponential(GRAM, TIME, SPEED)
    identity = grape.identity(GRAM)
    images_of_a_and_b = sp.Matrix([[GAMMA, BETA], [-ALPHA, -GAMMA]])
    tests = (
        ("s^2 = |a|^2 |b|^2 - (a.b)^2", sp.Integer(0) + SPEED**2, lambda: grape.squared_speed(GRAM)),
        (
            "L a = (b.a) a - (a.a) b, L b = (b.b) a - (a.b) b",
            lambda: generator.coefficients * GRAM.matrix,
            images_of_a_and_b,
        ),
        ("E(0) = I", lambda: exponential(GRAM, sp.Integer(0), SPEED).coordinates(), identity.coordinates()),
        (
            "E' = L E",
            lambda: candidate.derivative(TIME).coordinates(),
            lambda: grape.PlaneOperator.coordinates(generator @ candidate),
        ),
        ("P U = U", lambda: projector.coefficients * GRAM.matrix, sp.eye(2)),
        ("P P = P", lambda: grape.PlaneOperator.coordinates(projector @ projector), projector.coordinates()),
        (
            "L^2 = -s^2 P",
            lambda: grape.PlaneOperator.coordinates(generator @ generator),
            lambda: projector.scaled(-(SPEED**2)).coordinates(),
        ),
    )
    yield from tests
    yield "a linear differential equation has one solution with E(0) = I, so E(t) = exp(tL)"
    yield _as_matrices()


@CLAIMS.claim(
    "grape-2",
    "fast application of the exponential to a vector",
    r"e^{tL}x = x+f_1(av-bu)+f_2\big[\gamma(av+bu)-\beta\,au-\alpha\,bv\big]",
    label="P",
    assumptions=(INDEPENDENT,),
    falsifiers={
        "lengths of a and b swapped": {"displacement": _lengths_swapped},
        "a.x and b.x swapped": {
            "displacement": lambda gram, along_a, along_b, **rest: grape.displacement(
                gram, along_a=along_b, along_b=along_a, **rest
            )
        },
        "turned the other way": {
            "displacement": lambda gram, time, **rest: grape.displacement(gram, time=-time, **rest)
        },
    },
)
def fast_application(
    displacement: Callable[..., sp.Matrix] = lambda gram, **rest: grape.displacement(gram=gram, **rest),
) -> Facts:
    """exp(tL) x is x + f1 (a v - b u) + f2 (g (a v + b u) - |b|^2 a u - |a|^2 b v), with u = a.x, v = b.x, g = a.b, f1
    = sin(ts)/s, f2 = (1 - cos ts)/s^2, in every dimension.
    """
    products = sp.Matrix(sp.symbols("u v", real=True))
    operator = grape.rank2_exponential(GRAM, time=TIME, speed=SPEED)

    def multiplier_of_x() -> sp.Expr:
        return grape.rank2_exponential(GRAM, time=TIME, speed=SPEED).identity

    moved = displacement(GRAM, along_a=products[0], along_b=products[1], time=TIME, speed=SPEED)
    fact = require_equal("coefficients of a and b", moved, lambda: operator.coefficients * products)
    yield "coefficient of x", multiplier_of_x, sp.Integer(1)
    yield fact
    yield "exp(tL) x = x + U M U^T x needs U^T x = (a.x, b.x) only: O(d) for a vector"


@CLAIMS.claim(
    "grape-3",
    "the group law of GRAPE-M: orthogonal, relative, compositional",
    r"G(n)=e^{nL}:\ G^\top G=I,\ \det G=1,\ G(i)G(j)=G(i+j),\ G(i)^\top G(j)=G(j-i)",
    label="P",
    assumptions=(INDEPENDENT,),
    falsifiers={
        "a product of exponentials that do not commute": {
            "group": lambda time: grape.commuting_action(TILTED, (time, time))
        },
        "I + tL in place of the exponential": {
            "group": lambda time: grape.identity(GRAM) + grape.rank2_generator(GRAM).scaled(time)
        },
        "a clock that does not add": {"group": lambda time: grape.rank2_exponential(GRAM, time=time**2, speed=SPEED)},
    },
)
def rotations(group: Group = lambda time: grape.rank2_exponential(GRAM, time=time, speed=SPEED)) -> Facts:
    """The operators exp(nL) are rotations (orthogonal, determinant 1) that compose by adding positions, so scores
    depend on j - i alone, in every dimension.
    """
    i, j = sp.symbols("i j", real=True)
    at_i, at_j = group(i), group(j)
    inverse, identity = at_i.transpose(), grape.identity(at_i.gram).coordinates()
    at = {"query_position": j, "key_position": i}
    rope = rotary.score(QUERY, KEY, **at, frequency=grape.SPEED)
    yield "G(0) = I", lambda: group(sp.Integer(0)).coordinates(), identity
    yield (
        "G(i) G(j) = G(i + j)",
        lambda: grape.PlaneOperator.coordinates(at_i @ at_j),
        lambda: group(i + j).coordinates(),
    )
    yield "G^T G = I", lambda: grape.PlaneOperator.coordinates(inverse @ at_i), identity
    yield (
        "G(i)^T G(j) = G(j - i)",
        lambda: grape.PlaneOperator.coordinates(inverse @ at_j),
        lambda: group(j - i).coordinates(),
    )
    yield "det G = 1", at_i.determinant, sp.Integer(1)
    yield "on its plane, from b to a, it scores as RoPE at s", lambda: grape.GRAPE.score(**at), rope
    yield f"planes that do not commute: {_violation_text()}"


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
def gauge(factor: Callable[[sp.Matrix], sp.Expr] = lambda change: change.det(), orientation: int = -1) -> Facts:
    """[a b] M has the generator det(M) L(a, b): SL(2) changes nothing, GL(2) rescales the speed; and A J2 A^T = -L(a,
    b) for A = [a b] (errata F8: the paper prints +L).
    """
    change = sp.Matrix(2, 2, sp.symbols("m1:5", real=True))
    regauged, scale = grape.regauged(GRAM, change), factor(change)
    generator = grape.rank2_generator(GRAM)
    sheared = sp.Matrix([[1, change[0, 1]], [0, 1]])

    def after_shear() -> sp.Matrix:
        regauged_by_shear = grape.regauged(GRAM, sheared)
        exponential = grape.rank2_exponential(regauged_by_shear, time=TIME, speed=SPEED)
        return exponential.expressed(GRAM, sheared).coordinates()

    tests = (
        (
            "L of [a b] M = factor L",
            lambda: grape.PlaneOperator.coordinates(grape.rank2_generator(regauged).expressed(GRAM, change)),
            lambda: generator.scaled(scale).coordinates(),
        ),
        ("s^2 of [a b] M = (factor s)^2", lambda: grape.squared_speed(regauged), lambda: (scale * SPEED) ** 2),
        (
            "a shear of [a b] leaves exp(tL) as it is",
            after_shear,
            lambda: grape.rank2_exponential(GRAM, time=TIME, speed=SPEED).coordinates(),
        ),
        ("A J2 A^T", lambda: rotary.rotation(sp.pi / 2), lambda: orientation * generator.coefficients),
    )
    yield from tests
    yield "factor 1, the group SL(2), leaves L and with it the encoding as it is"


@CLAIMS.claim(
    "grape-18",
    "Appendix J.1: the period where s / pi is rational (read in a converted copy of version 1)",
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
def integer_periods(
    period: Callable[[sp.Rational], sp.Expr] = lambda turns: grape.integer_period(turns=turns),
) -> Facts:
    """On integer positions exp(nL) is periodic if and only if s / pi is rational, and its least period is the
    denominator of s / (2 pi) (the paper prints 2 pi / s, which need not be an integer). Checked for denominators up to
    8; a general argument covers the rest.
    """
    speeds = [sp.Rational(p, q) for q in range(1, LARGEST_PERIOD + 1) for p in range(1, 2 * q) if gcd(p, q) == 1]
    for turns in speeds:
        least = next(n for n in range(1, LARGEST_PERIOD + 1) if _is_identity(turns, n))
        claimed = period(turns)
        if claimed != least:
            raise Refuted(f"s = {2 * sp.pi * turns}: exp(nL) = I first at n = {least}, not {claimed}")
    example = sp.Rational(2, 5)
    yield f"{len(speeds)} values of s / (2 pi) = p/q, q <= {LARGEST_PERIOD}: the least period is q in each"
    yield f"s = {2 * sp.pi * example}: period {period(example)}, while 2 pi / s = {float(1 / example)}"
    yield (
        "for any s: exp(nL) = I <=> cos(ns) = 1 <=> n s / (2 pi) is whole, which some n >= 1 makes it only if "
        "s / pi is rational; for p/q in lowest terms it is whole <=> q divides n"
    )


@CLAIMS.claim(
    "grape-angle",
    "Appendix I, the exponential in terms of z = n omega s (read in a converted copy of version 1)",
    r"e^{n\omega L}=I+n\omega f_1(z)L+(n\omega)^2f_2(z)L^2,\quad z=n\omega s",
    assumptions=(INDEPENDENT, "omega > 0, n > 0"),
    printed={"exponential": _without_steps},
    falsifiers={
        "the factor once": {"exponential": _steps_once},
        "turned the other way": {
            "exponential": lambda gram, steps, **at: grape.exponential_by_angle(gram, steps=-steps, **at)
        },
    },
)
def form_by_angle(
    exponential: Callable[..., grape.PlaneOperator] = lambda gram, steps, rate, speed: grape.exponential_by_angle(
        gram, steps=steps, rate=rate, speed=speed
    ),
) -> Facts:
    """With z = n omega s, exp(n omega L) is I + n omega f1(z) L + (n omega)^2 f2(z) L^2, f1 = sin z / z and f2 = (1 -
    cos z) / z^2 (the paper prints f1 L and f2 L^2 without the factors, and differentiates that).
    """
    steps, rate = sp.symbols("n omega", positive=True)
    candidate = exponential(GRAM, steps=steps, rate=rate, speed=SPEED)
    generator = grape.rank2_generator(GRAM)
    axes = grape.Gram(alpha=sp.S.One, beta=sp.S.One, gamma=sp.S.Zero)
    yield (
        "E' = omega L E",
        lambda: candidate.derivative(steps).coordinates(),
        lambda: (generator @ candidate).scaled(rate).coordinates(),
    )
    yield (
        "E = exp(n omega L) of claim grape-1",
        lambda: exponential(GRAM, steps=steps, rate=rate, speed=SPEED).coordinates(),
        lambda: grape.rank2_exponential(GRAM, time=steps * rate, speed=SPEED).coordinates(),
    )
    yield f"a, b orthonormal, omega = 1, n = 3: without n omega E differs by {_printed_form_error(axes, 3)} in norm"


def exchanged(dimension: int) -> sp.Matrix:
    """Return the basis e_2, e_1, and the other axes, the third one reversed if it exists. d x d. [F]"""
    basis = sp.eye(dimension)
    basis[:2, :2] = sp.Matrix([[0, 1], [1, 0]])
    if dimension > 2:
        basis[2, 2] = -1
    return basis


def in_order(dimension: int) -> sp.Matrix:
    """Return the axes in their order. d x d."""
    return sp.eye(dimension)


def _generator(a: sp.Matrix, b: sp.Matrix) -> sp.Matrix:
    """The generator L(a, b) = a b^T - b a^T."""
    return a * b.T - b * a.T


def _rotated(dimension: int) -> sp.Matrix:
    """An arbitrary rotation at d = 2, `exchanged` in higher dimensions."""
    return rotary.rotation(sp.Symbol("t", real=True)) if dimension == 2 else exchanged(dimension)


def _kernel(query: sp.Expr, key: sp.Expr, frequency: sp.Expr, first: sp.Expr, second: sp.Expr) -> sp.Matrix:
    """The matrix R(j)^T C R(i)."""
    on_query, on_key = rotary.rotation(query * frequency), rotary.rotation(key * frequency)
    return on_query.T * sp.diag(first, second) * on_key


def _example() -> str:
    """Text with scores of q = k = (1, 0) at offset 1 for the gains (1, 2) on both, so C = diag(1, 4), at omega = 1."""
    scores = [_kernel(sp.Integer(key + 1), sp.Integer(key), sp.Integer(1), 1, 4)[0, 0] for key in (0, 1)]
    near, far = (float(score.evalf(20)) for score in scores)
    return f"gains (1, 2), omega = 1, q = k = (1, 0): scores {near:.4f} at (0, 1) and {far:.4f} at (1, 2)"


@CLAIMS.claim(
    "grape-14",
    "the released code: RMSNorm of queries and keys with a learned gain, after the rotation",
    r"R(j)^\top\mathrm{diag}(c_1,c_2)R(i)=f(j-i)\iff c_1=c_2,\quad c=\gamma_q\gamma_k",
    assumptions=("omega not a multiple of pi, where R(i + j) is constant up to its sign", "plane by plane"),
    falsifiers={"any gains": {"second": SECOND}, "gains of opposite sign": {"second": -FIRST}},
)
def gains_after_rotation(first: sp.Expr = FIRST, second: sp.Expr = FIRST) -> Facts:
    """With gains after the rotation scores depend on j - i alone if and only if the product of the query's and the
    key's gain is the same on both coordinates of every rotated pair (errata F12).
    """
    i, distance, shift, w = sp.symbols("i D s omega", real=True)
    yield (
        "the kernel at i + s, j + s is that at i, j",
        lambda: _kernel(i + distance + shift, i + shift, w, first, second),
        lambda: _kernel(i + distance, i, w, first, second),
    )

    def expected() -> sp.Matrix:
        turn, mirror = rotary.rotation(distance * w).T, sp.diag(1, -1)
        reflected = rotary.rotation((2 * i + distance) * w).T * mirror
        return (FIRST + SECOND) / 2 * turn + (FIRST - SECOND) / 2 * reflected

    yield (
        "R(j)^T C R(i) = (c_1 + c_2)/2 R(j - i)^T + (c_1 - c_2)/2 R(i + j)^T S",
        lambda: _kernel(i + distance, i, w, FIRST, SECOND),
        expected,
    )
    yield "S = diag(1, -1): the second part goes with i + j, and vanishes only for c_1 = c_2"
    yield _example()


@CLAIMS.claim(
    "grape-19",
    "comparison with PaTH: products of partial reflections",
    r"H=I-\beta ww^\top:\ H^\top H=I\iff\beta\in\{0,2\},\ \det H=1-\beta,\ "
    r"\sigma_{\min}\Big(\prod_lH_l\Big)\ge\prod_l|1-\beta_l|",
    label="P",
    assumptions=("|w| = 1, dimension at least 2", "sigma_min(A B) >= sigma_min(A) sigma_min(B) (textbook)"),
    answers=("orthogonal",),
    falsifiers={
        "2 beta for beta": {"factor": lambda beta: 2 * beta},
        "beta^2 for beta": {"factor": lambda beta: beta**2},
        "-beta for beta": {"factor": lambda beta: -beta},
        "determinant 1 - 2 beta": {"determinant": 1 - 2 * sp.Symbol("beta")},
    },
)
def partial_reflections(
    factor: Callable[[sp.Expr], sp.Expr] = lambda beta: beta,
    orthogonal: frozenset[int] = frozenset({0, 2}),
    determinant: sp.Expr = 1 - sp.Symbol("beta"),
) -> Facts:
    """I - beta w w^T with |w| = 1 is orthogonal only for beta = 0 and 2, has determinant 1 - beta, norm 1 for 0 <= beta
    <= 2, and a product of them shrinks a vector at most by prod |1 - beta_l|.
    """
    beta = sp.Symbol("beta", real=True)
    step = grape.partial_reflection(factor(beta))
    identity = grape.identity(step.gram)
    defect = sp.Poly((step.transpose() @ step).coefficients[0] - identity.coefficients[0], beta)
    roots = frozenset(int(root) for root in defect.real_roots())
    if roots != orthogonal:
        value = sorted(roots ^ orthogonal)[0]
        raise Refuted(
            f"beta = {value}: H^T H - I = {defect.eval(value)} w w^T, and it is orthogonal at {sorted(roots)}"
        )
    across, along = grape.reflection_singular_values(beta)
    gram = step.transpose() @ step
    yield "H^T H - I has w w^T times", defect.as_expr, lambda: beta**2 - 2 * beta
    yield "det H", step.determinant, lambda: determinant.subs(sp.Symbol("beta"), beta)
    yield "H^T H w = sigma^2 w", lambda: gram.identity + gram.coefficients[0], lambda: along.args[0] ** 2
    yield "H^T H v = sigma^2 v for v across w", lambda: gram.identity, lambda: across**2
    yield "1 - (1 - beta)^2 = beta (2 - beta)", lambda: 1 - along.args[0] ** 2, lambda: beta * (2 - beta)
    yield (
        f"orthogonal at beta in {sorted(roots)} only; {along} <= 1 <=> 0 <= beta <= 2, and then the norm is 1 and "
        "the least singular value |1 - beta|"
    )
    yield "the least singular value of a product is at least the product of the factors': prod |1 - beta_l|"


@CLAIMS.claim(
    "grape-orientation",
    "Lemma J.1: B in SO(d) with B^T L B = s J on a plane (read in a converted copy of version 1)",
    r"d=2:\ B^\top L(a,b)B=L(a,b)=-\det(a,b)\,J\quad\forall B\in SO(2)",
    assumptions=("d >= 3: as at d = 3 with further axes left alone", "other planes: B times a rotation to the plane"),
    printed={"basis": _rotated, "determinant": lambda dimension: 1},
    falsifiers={
        "the exchange is a rotation at d = 2": {"determinant": lambda dimension: 1},
        "the axes in their order": {"basis": in_order},
        "the third axis as it is": {"basis": lambda dimension: sp.diag(exchanged(2), sp.eye(dimension - 2))},
    },
)
def plane_form(
    basis: Basis = exchanged, determinant: Callable[[int], int] = lambda dimension: -1 if dimension == 2 else 1
) -> Facts:
    """Some orthogonal B brings L(a, b) to s J on its plane; B may be chosen as a rotation for d >= 3, but for d = 2
    only if det(a, b) < 0 (the lemma has B in SO(d) for every d; e_1, e_2 in the plane need O(2)).
    """
    facts = []
    for dimension in DIMENSIONS:
        change = basis(dimension)
        generator = _generator(sp.eye(dimension).col(0), sp.eye(dimension).col(1))
        form = sp.zeros(dimension, dimension)
        form[:2, :2] = rotary.rotation(sp.pi / 2)
        facts += [
            require_equal(f"d = {dimension}: B^T B = I", product(change.T, change), sp.eye(dimension)),
            require_equal(
                f"d = {dimension}: B^T L(e_1, e_2) B = J, s = 1", product(change.T, product(generator, change)), form
            ),
        ]
        if not is_zero(change.det() - determinant(dimension)):
            raise Refuted(f"d = {dimension}: det B = {sp.simplify(change.det())}, not {determinant(dimension)}")
    angle = sp.Symbol("t", real=True)
    a, b = sp.Matrix(sp.symbols("a1 a2", real=True)), sp.Matrix(sp.symbols("b1 b2", real=True))
    generator, turn = _generator(a, b), rotary.rotation(angle)
    yield from facts
    yield "d = 2: L(a, b) = -det(a, b) J", generator, lambda: -sp.Matrix.hstack(a, b).det() * rotary.rotation(sp.pi / 2)
    yield "every B in SO(2) leaves it as it is", lambda: turn.T * generator * turn, generator
    yield "so at d = 2 B^T L B = s J for a B in SO(2) if and only if det(a, b) < 0, or s = 0"
