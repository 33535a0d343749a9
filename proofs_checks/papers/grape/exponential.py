"""GRAPE-M on one plane: the closed form of its exponential, the group of rotations, its gauge and its periods."""

from collections.abc import Callable
from math import gcd

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.theory import algebraic, exact
from lengthgen.theory.encodings import grape, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY

ALPHA, GAMMA, SPEED, TIME = sp.symbols("alpha gamma s t", real=True)
BETA = (SPEED**2 + GAMMA**2) / ALPHA
GRAM = grape.Gram(alpha=ALPHA, beta=BETA, gamma=GAMMA)
"""General scalar products of independent a and b; b.b is written in terms of s."""
INDEPENDENT = "a, b real and independent, of any dimension (if parallel, s = 0, L = 0 and exp(tL) = I)"

Group = Callable[[sp.Expr], grape.PlaneOperator]
LARGEST_PERIOD = 8
TILTED = grape.Frame.of(*grape.spanning([(1, 0, 0, 0), (0, 1, 1, 0)]))
"""The planes of a_1 = e_1 and a_2 = e_2 + e_3: they do not commute."""


def rank2_closed_form(*, exponential: Callable[[grape.Gram, sp.Symbol, sp.Symbol], grape.PlaneOperator]) -> Evidence:
    """Decide that the operator solves E(0) = I, E' = L E, and the square of L, in terms of scalar products."""
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
    facts = [require_equal(*test) for test in tests]
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            "a linear differential equation has one solution with E(0) = I, so E(t) = exp(tL)",
            _as_matrices(),
        ),
        assumptions=(INDEPENDENT,),
    )


def fast_application(*, displacement: Callable[..., sp.Matrix]) -> Evidence:
    """Decide that x + p a + q b, computed from the two products a.x and b.x, is the exponential applied to x."""
    products = sp.Matrix(sp.symbols("u v", real=True))
    operator = grape.rank2_exponential(GRAM, time=TIME, speed=SPEED)

    def multiplier_of_x() -> sp.Expr:
        return grape.rank2_exponential(GRAM, time=TIME, speed=SPEED).identity

    moved = displacement(GRAM, along_a=products[0], along_b=products[1], time=TIME, speed=SPEED)
    fact = require_equal("coefficients of a and b", moved, lambda: operator.coefficients * products)
    multiplier = require_equal("coefficient of x", multiplier_of_x, sp.Integer(1))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(multiplier, fact, "exp(tL) x = x + U M U^T x needs U^T x = (a.x, b.x) only: O(d) for a vector"),
        assumptions=(INDEPENDENT,),
    )


def form_by_angle(*, exponential: Callable[..., grape.PlaneOperator]) -> Evidence:
    """Decide that the operator of n steps at the rate omega solves E' = omega L E, and so is exp(n omega L)."""
    steps, rate = sp.symbols("n omega", positive=True)
    candidate = exponential(GRAM, steps=steps, rate=rate, speed=SPEED)
    generator = grape.rank2_generator(GRAM)
    axes = grape.Gram(alpha=sp.S.One, beta=sp.S.One, gamma=sp.S.Zero)
    facts = (
        require_equal(
            "E' = omega L E",
            lambda: candidate.derivative(steps).coordinates(),
            lambda: (generator @ candidate).scaled(rate).coordinates(),
        ),
        require_equal(
            "E = exp(n omega L) of claim grape-1",
            lambda: exponential(GRAM, steps=steps, rate=rate, speed=SPEED).coordinates(),
            lambda: grape.rank2_exponential(GRAM, time=steps * rate, speed=SPEED).coordinates(),
        ),
        f"a, b orthonormal, omega = 1, n = 3: without n omega E differs by {_printed_form_error(axes, 3)} in norm",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=(INDEPENDENT, "omega > 0, n > 0"))


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


def rotations(*, group: Group) -> Evidence:
    """Decide that the operators are rotations, compose by adding times, and so give scores of the offset alone."""
    i, j = sp.symbols("i j", real=True)
    at_i, at_j = group(i), group(j)
    inverse, identity = at_i.transpose(), grape.identity(at_i.gram).coordinates()
    at = {"query_position": j, "key_position": i}
    rope = rotary.score(QUERY, KEY, **at, frequency=grape.SPEED)
    facts = (
        require_equal("G(0) = I", lambda: group(sp.Integer(0)).coordinates(), identity),
        require_equal(
            "G(i) G(j) = G(i + j)",
            lambda: grape.PlaneOperator.coordinates(at_i @ at_j),
            lambda: group(i + j).coordinates(),
        ),
        require_equal("G^T G = I", lambda: grape.PlaneOperator.coordinates(inverse @ at_i), identity),
        require_equal(
            "G(i)^T G(j) = G(j - i)",
            lambda: grape.PlaneOperator.coordinates(inverse @ at_j),
            lambda: group(j - i).coordinates(),
        ),
        require_equal("det G = 1", at_i.determinant, sp.Integer(1)),
        require_equal("on its plane, from b to a, it scores as RoPE at s", lambda: grape.GRAPE.score(**at), rope),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, f"planes that do not commute: {_violation_text()}"),
        assumptions=(INDEPENDENT,),
    )


def gauge(*, factor: Callable[[sp.Matrix], sp.Expr], orientation: int) -> Evidence:
    """Decide how the generator and its exponential change when [a b] becomes [a b] M, and compare L with A J2 A^T."""
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
    facts = tuple(require_equal(*test) for test in tests)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "factor 1, the group SL(2), leaves L and with it the encoding as it is"),
        assumptions=(INDEPENDENT, "M real, 2 x 2; A = [a b]"),
    )


def integer_periods(*, period: Callable[[sp.Rational], sp.Expr]) -> Evidence:
    """Decide the least integer n >= 1 with exp(nL) = I for every s = 2 pi p/q with p < 2q and q up to 8."""
    speeds = [sp.Rational(p, q) for q in range(1, LARGEST_PERIOD + 1) for p in range(1, 2 * q) if gcd(p, q) == 1]
    for turns in speeds:
        least = next(n for n in range(1, LARGEST_PERIOD + 1) if _is_identity(turns, n))
        claimed = period(turns)
        if claimed != least:
            raise Refuted(f"s = {2 * sp.pi * turns}: exp(nL) = I first at n = {least}, not {claimed}")
    example = sp.Rational(2, 5)
    return Evidence(
        strength=Strength.BOUNDED,
        reach=f"denominators up to {LARGEST_PERIOD}",
        facts=(
            f"{len(speeds)} values of s / (2 pi) = p/q, q <= {LARGEST_PERIOD}: the least period is q in each",
            f"s = {2 * sp.pi * example}: period {period(example)}, while 2 pi / s = {float(1 / example)}",
            "for any s: exp(nL) = I <=> cos(ns) = 1 <=> n s / (2 pi) is whole, which some n >= 1 makes it only if "
            "s / pi is rational; for p/q in lowest terms it is whole <=> q divides n",
        ),
        assumptions=("positions are whole numbers",),
    )


def _is_identity(turns: sp.Rational, n: int) -> bool:
    """True if exp(nL) = I at s = 2 pi turns."""
    turned = grape.plane_action(sp.Integer(n), speed=grape.SPEED).subs(grape.SPEED, 2 * sp.pi * turns)
    for entry in turned - sp.eye(2):
        zero = algebraic.is_zero(entry)
        if zero is None:
            raise exact.Undecided(f"exp({n}L) at s = {2 * sp.pi * turns}")
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


CLAIMS = (
    Claim(
        id="grape-1",
        source=SOURCE.at("rank-2 generator and the closed form of its exponential"),
        statement="The exponential of L = a b^T - b a^T is I + sin(ts)/s L + (1 - cos(ts))/s^2 L^2, "
        "s^2 = |a|^2 |b|^2 - (a.b)^2, and L^2 is -s^2 times the projector on span(a, b), in every dimension.",
        latex=r"e^{tL} = I + \tfrac{\sin ts}{s}L + \tfrac{1-\cos ts}{s^2}L^2,\quad L^2=-s^2P_{\langle a,b\rangle}",
        label="P",
        check=rank2_closed_form,
        holds={"exponential": lambda gram, time, speed: grape.rank2_exponential(gram, time=time, speed=speed)},
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
    ),
    Claim(
        id="grape-2",
        source=SOURCE.at("fast application of the exponential to a vector"),
        statement="exp(tL) x is x + f1 (a v - b u) + f2 (g (a v + b u) - |b|^2 a u - |a|^2 b v), with u = a.x, "
        "v = b.x, g = a.b, f1 = sin(ts)/s, f2 = (1 - cos ts)/s^2, in every dimension.",
        latex=r"e^{tL}x = x+f_1(av-bu)+f_2\big[\gamma(av+bu)-\beta\,au-\alpha\,bv\big]",
        label="P",
        check=fast_application,
        holds={"displacement": lambda gram, **rest: grape.displacement(gram=gram, **rest)},
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
    ),
    Claim(
        id="grape-3",
        source=SOURCE.at("the group law of GRAPE-M: orthogonal, relative, compositional"),
        statement="The operators exp(nL) are rotations (orthogonal, determinant 1) that compose by adding positions, "
        "so scores depend on j - i alone, in every dimension.",
        latex=r"G(n)=e^{nL}:\ G^\top G=I,\ \det G=1,\ G(i)G(j)=G(i+j),\ G(i)^\top G(j)=G(j-i)",
        label="P",
        check=rotations,
        holds={"group": lambda time: grape.rank2_exponential(GRAM, time=time, speed=SPEED)},
        falsifiers={
            "a product of exponentials that do not commute": {
                "group": lambda time: grape.commuting_action(TILTED, (time, time))
            },
            "I + tL in place of the exponential": {
                "group": lambda time: grape.identity(GRAM) + grape.rank2_generator(GRAM).scaled(time)
            },
            "a clock that does not add": {
                "group": lambda time: grape.rank2_exponential(GRAM, time=time**2, speed=SPEED)
            },
        },
    ),
    Claim(
        id="grape-4",
        source=SOURCE.at("gauge freedom of the generator; A J A^T"),
        statement="[a b] M has the generator det(M) L(a, b): SL(2) changes nothing, GL(2) rescales the speed; and "
        "A J2 A^T = -L(a, b) for A = [a b] (errata F8: the paper prints +L).",
        latex=r"L([a\ b]M)=\det(M)\,L(a,b),\qquad A J_2 A^\top=-L(a,b)",
        label="P",
        check=gauge,
        holds={"factor": lambda change: change.det(), "orientation": -1},
        printed={"orientation": 1},
        falsifiers={
            "A J2 A^T = +L": {"orientation": 1},
            "GL(2) changes nothing": {"factor": lambda change: sp.Integer(1)},
            "rescaled by the trace": {"factor": lambda change: change.trace()},
        },
    ),
    Claim(
        id="grape-18",
        source=SOURCE.at("Appendix J.1: the period where s / pi is rational (read in a converted copy of version 1)"),
        statement="On integer positions exp(nL) is periodic if and only if s / pi is rational, and its least period is "
        "the denominator of s / (2 pi) (the paper prints 2 pi / s, which need not be an integer). "
        "Checked for denominators up to 8; a general argument covers the rest.",
        latex=r"\tfrac{s}{2\pi}=\tfrac pq,\ \gcd(p,q)=1:\quad e^{nL}=I\iff q\mid n",
        label="F",
        check=integer_periods,
        holds={"period": lambda turns: grape.integer_period(turns=turns)},
        printed={"period": lambda turns: 1 / turns},
        falsifiers={
            "period 2 pi / s": {"period": lambda turns: 1 / turns},
            "2 pi / s rounded up": {"period": lambda turns: sp.ceiling(1 / turns)},
            "the denominator of s / pi": {"period": lambda turns: sp.Integer((2 * turns).q)},
        },
    ),
    Claim(
        id="grape-angle",
        source=SOURCE.at(
            "Appendix I, the exponential in terms of z = n omega s (read in a converted copy of version 1)"
        ),
        statement="With z = n omega s, exp(n omega L) is I + n omega f1(z) L + (n omega)^2 f2(z) L^2, f1 = sin z / z "
        "and f2 = (1 - cos z) / z^2 (the paper prints f1 L and f2 L^2 without the factors, and differentiates that).",
        latex=r"e^{n\omega L}=I+n\omega f_1(z)L+(n\omega)^2f_2(z)L^2,\quad z=n\omega s",
        label="F",
        check=form_by_angle,
        holds={
            "exponential": lambda gram, steps, rate, speed: grape.exponential_by_angle(
                gram, steps=steps, rate=rate, speed=speed
            )
        },
        printed={"exponential": _without_steps},
        falsifiers={
            "the factor once": {"exponential": _steps_once},
            "turned the other way": {
                "exponential": lambda gram, steps, **at: grape.exponential_by_angle(gram, steps=-steps, **at)
            },
        },
    ),
)
