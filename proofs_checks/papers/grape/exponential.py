"""GRAPE-M (arXiv 2512.07805): the closed form of a plane's exponential, and its fast application to a vector."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.grape.source import source
from theory.encodings import grape

ALPHA, GAMMA, SPEED, TIME = sp.symbols("alpha gamma s t", real=True)
BETA = (SPEED**2 + GAMMA**2) / ALPHA
GRAM = grape.Gram(alpha=ALPHA, beta=BETA, gamma=GAMMA)
"""Any scalar products of independent a and b, with s in place of b.b."""
INDEPENDENT = "a, b real and independent, of any dimension (if parallel, s = 0, L = 0 and exp(tL) = I)"


def rank2_closed_form(*, exponential: Callable[[grape.Gram, sp.Symbol, sp.Symbol], grape.PlaneOperator]) -> Evidence:
    """Decide that the operator solves E(0) = I, E' = L E, and the square of L, in terms of scalar products."""
    generator, projector = grape.rank2_generator(GRAM), grape.plane_projector(GRAM)
    candidate = exponential(GRAM, TIME, SPEED)
    one = grape.identity(GRAM)
    images_of_a_and_b = sp.Matrix([[GAMMA, BETA], [-ALPHA, -GAMMA]])
    tests = (
        ("s^2 = |a|^2 |b|^2 - (a.b)^2", sp.Integer(0) + SPEED**2, lambda: grape.squared_speed(GRAM)),
        (
            "L a = (b.a) a - (a.a) b, L b = (b.b) a - (a.b) b",
            lambda: generator.coefficients * GRAM.matrix,
            images_of_a_and_b,
        ),
        ("E(0) = I", lambda: exponential(GRAM, sp.Integer(0), SPEED).coordinates(), one.coordinates()),
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
    """Decide that x + p a + q b, from the two products a.x and b.x, is the exponential applied to x."""
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
        f"a, b orthonormal, omega = 1, n = 3: without n omega E differs by {_off(axes, 3)} in norm",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=(INDEPENDENT, "omega > 0, n > 0"))


def _without_steps(gram: grape.Gram, *, steps: sp.Expr, rate: sp.Expr, speed: sp.Expr) -> grape.PlaneOperator:
    """I + f1(z) L + f2(z) L^2, z = n omega s, as it is printed."""
    generator, angle = grape.rank2_generator(gram), steps * rate * speed
    turn = generator.scaled(grape.sine_share(angle))
    return grape.identity(gram) + turn + (generator @ generator).scaled(grape.cosine_share(angle))


def _steps_once(gram: grape.Gram, *, steps: sp.Expr, rate: sp.Expr, speed: sp.Expr) -> grape.PlaneOperator:
    """The factor n omega of L^2 not squared."""
    generator, angle, time = grape.rank2_generator(gram), steps * rate * speed, steps * rate
    turn = generator.scaled(time * grape.sine_share(angle))
    return grape.identity(gram) + turn + (generator @ generator).scaled(time * grape.cosine_share(angle))


def _off(gram: grape.Gram, steps: int) -> str:
    """The norm of the difference between the printed form and exp(nL)."""
    at = {"steps": sp.Integer(steps), "rate": sp.S.One, "speed": sp.S.One}
    apart = grape.exponential_by_angle(gram, **at) + _without_steps(gram, **at).scaled(sp.Integer(-1))
    return f"{float(sp.Matrix(sp.N(apart.coefficients, 20)).norm(2)):.4f}"


def _as_matrices() -> str:
    """That operators held by their coefficients add, multiply and transpose as 4 x 4 matrices do, on whole numbers."""
    vectors = (sp.Matrix([1, 2, 0, 1]), sp.Matrix([0, 1, 3, -1]))
    gram = grape.Gram.of(*vectors)
    first = grape.PlaneOperator(gram=gram, identity=sp.Integer(3), coefficients=sp.Matrix([[1, 2], [3, 5]]))
    second = grape.PlaneOperator(gram=gram, identity=sp.Integer(-1), coefficients=sp.Matrix([[5, 0], [1, 2]]))
    unit = grape.identity(gram) + grape.rank2_generator(gram)
    one, other = first.matrix(*vectors), second.matrix(*vectors)
    sides = {
        "sum": ((first + second).matrix(*vectors), one + other),
        "product": ((first @ second).matrix(*vectors), one * other),
        "multiple": (first.scaled(sp.Integer(7)).matrix(*vectors), 7 * one),
        "transpose": (first.transpose().matrix(*vectors), one.T),
        "determinant of I + L": (unit.determinant(), unit.matrix(*vectors).det()),
    }
    for what, (left, right) in sides.items():
        if left != right:
            raise Refuted(f"d = 4, {what}: {left} by coefficients, {right} by matrices")
    return f"d = 4, whole numbers: {', '.join(sides)} by coefficients and by matrices agree"


def _cosine_over_speed(gram: grape.Gram, time: sp.Symbol, speed: sp.Symbol) -> grape.PlaneOperator:
    generator = grape.rank2_generator(gram)
    turn = generator.scaled(sp.sin(time * speed) / speed)
    return grape.identity(gram) + turn + (generator @ generator).scaled((1 - sp.cos(time * speed)) / speed)


def _lengths_swapped(gram: grape.Gram, **rest: sp.Expr) -> sp.Matrix:
    return grape.displacement(grape.Gram(alpha=gram.beta, beta=gram.alpha, gamma=gram.gamma), **rest)


CLAIMS = (
    Claim(
        id="grape-1",
        source=source("rank-2 generator and the closed form of its exponential"),
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
        id="grape-angle",
        source=source("Appendix I, the exponential in terms of z = n omega s (read in a converted copy of version 1)"),
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
    Claim(
        id="grape-2",
        source=source("fast application of the exponential to a vector"),
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
)
