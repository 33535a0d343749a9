"""GRAPE (arXiv 2512.07805): rotations of one plane (M) and unipotent actions on two extra coordinates (A)."""

from collections.abc import Callable, Sequence

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Source, Strength
from proofs_checks.identity import require_equal
from proofs_checks.induction import combine, empty_value, last_term
from theory.encodings import alibi, fox, grape, lift, rotary


def _source(place: str) -> Source:
    return Source(paper="GRAPE", arxiv="2512.07805", place=place)


def rank2_closed_form(*, exponential: Callable[[grape.Gram, sp.Symbol, sp.Symbol], grape.PlaneOperator]) -> Evidence:
    """Decide that the operator solves E(0) = I, E' = L E, and the square of L, in terms of scalar products."""
    alpha, beta, gamma, s, t = sp.symbols("alpha beta gamma s t", real=True)
    gram = grape.Gram(alpha=alpha, beta=beta, gamma=gamma)
    squares = {s: grape.squared_speed(gram)}
    generator, projector = grape.rank2_generator(gram), grape.plane_projector(gram)
    candidate = exponential(gram, t, s)
    start, one = candidate.coordinates().subs(t, 0), grape.identity(gram)
    images_of_a_and_b = sp.Matrix([[gamma, beta], [-alpha, -gamma]])
    tests = (
        ("L a = (b.a) a - (a.a) b, L b = (b.b) a - (a.b) b", generator.coefficients * gram.matrix, images_of_a_and_b),
        ("E(0) = I", start, one.coordinates()),
        ("E' = L E", candidate.derivative(t).coordinates(), (generator @ candidate).coordinates()),
        ("P P = P", (projector @ projector).coordinates(), projector.coordinates()),
        ("P U = U", projector.coefficients * gram.matrix, sp.eye(2)),
        ("L^2 = -s^2 P", (generator @ generator).coordinates(), projector.scaled(-(s**2)).coordinates()),
    )
    facts = [require_equal(what, left, right, squares=squares) for what, left, right in tests]
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "a linear differential equation has one solution with E(0) = I, so E(t) = exp(tL)"),
        assumptions=("a, b real and independent, of any dimension (if parallel, s = 0, L = 0 and exp(tL) = I)",),
    )


def _cosine_over_speed(gram: grape.Gram, time: sp.Symbol, speed: sp.Symbol) -> grape.PlaneOperator:
    generator = grape.rank2_generator(gram)
    turn = generator.scaled(sp.sin(time * speed) / speed)
    return grape.identity(gram) + turn + (generator @ generator).scaled((1 - sp.cos(time * speed)) / speed)


def rope_planes(*, a: Sequence[int], b: Sequence[int]) -> Evidence:
    """Decide exp(n theta L(a, b)) = R2(n theta) in a plane whose axes (e_{2l-1}, e_{2l}) are (1, 0) and (0, 1)."""
    n, theta = sp.symbols("n theta", real=True)
    gram = grape.Gram.of(a, b)
    operator = grape.rank2_exponential(gram, time=n * theta, speed=sp.sqrt(grape.squared_speed(gram)))
    facts = (
        require_equal("exp(n theta L) = R2(n theta) on its plane", operator.matrix(a, b), rotary.rotation(n * theta)),
        require_equal("exp(n theta L) = I on the orthogonal complement", operator.identity, sp.Integer(1)),
        "each factor keeps its own plane and fixes the others, so the product over planes is block diagonal: RoPE",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("d even; planes spanned by axis pairs",))


def alibi_unipotent(
    *, generator: Callable[[sp.Expr], sp.Matrix], key_action: Callable[[sp.Matrix], sp.Matrix]
) -> Evidence:
    """Decide that the unipotent group of the generator scores q.k plus the ALiBi bias."""
    i, offset, t, slope, content = sp.symbols("i D t m c", real=True)
    j = i + offset
    nilpotent = generator(slope)
    group = lift.unipotent(nilpotent, t)
    key_matrix = key_action(lift.unipotent(nilpotent, i))
    scored = lift.score(content, query_action=lift.unipotent(nilpotent, j), key_action=key_matrix)
    expected = content + alibi.bias(slope, query_position=j, key_position=i)
    tests = (
        ("A^2 = 0", nilpotent**2, sp.zeros(2, 2)),
        ("G(0) = I", group.subs(t, 0), sp.eye(2)),
        ("G' = A G, so G(t) = exp(tA)", group.diff(t), nilpotent * group),
        ("score = q.k - m D at j = i + D", scored, expected),
    )
    facts = tuple(require_equal(*test) for test in tests)
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("the group fixes the d content coordinates, which enter by q.k alone, so every d follows",),
    )


def fox_unipotent(*, link: Callable[[sp.Expr], sp.Matrix], key_action: Callable[[sp.Matrix], sp.Matrix]) -> Evidence:
    """Decide by induction that a path of links is the link of the summed log gates, and that it scores FoX's bias."""
    i, j = sp.symbols("i j", integer=True)
    total, gate, slope, content = sp.symbols("D psi m c", real=True)
    path, extended = fox.path_bias(key=i, query=j), fox.path_bias(key=i, query=j + 1)
    empty = empty_value("sum of log gates", fox.path_bias(key=i, query=i))
    last = last_term("sum of log gates", path, extended)
    longer = combine(path, total, last).subs(last, gate)
    scored = lift.score(content, query_action=sp.eye(2), key_action=key_action(link(total)))
    constant_gates = -slope * (j - i)
    alibi_action = lift.unipotent(alibi.generator(slope=slope), i - j)
    tests = (
        ("base: the empty path gives I", link(empty), sp.eye(2)),
        ("step: one more link adds its log gate", link(gate) * link(total), link(longer)),
        ("score of the path = q.k + sum of log gates", scored, content + total),
        ("link = I - psi E", link(gate), sp.eye(2) - gate * lift.nilpotent()),
        ("all gates exp(-m): the ALiBi action", link(constant_gates), alibi_action),
    )
    facts = tuple(require_equal(*test) for test in tests)
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("induction on the number of links, so any path length; any d, as the content enters by q.k",),
    )


def _inverse_transpose(matrix: sp.Matrix) -> sp.Matrix:
    return matrix.inv().T


CLAIMS = (
    Claim(
        id="grape-1",
        source=_source("rank-2 generator and the closed form of its exponential"),
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
        id="grape-5",
        source=_source("recovery of RoPE by GRAPE-M"),
        statement="The product over planes of exp(n theta_l L(e_{2l}, e_{2l-1})) is RoPE exactly (errata F8: the paper "
        "prints L(e_{2l-1}, e_{2l}), which turns the other way).",
        latex=r"\prod_l e^{n\theta_l L(e_{2l},\,e_{2l-1})} = \mathrm{RoPE}(n)",
        label="F",
        check=rope_planes,
        holds={"a": (0, 1), "b": (1, 0)},
        printed={"a": (1, 0), "b": (0, 1)},
        falsifiers={
            "printed orientation": {"a": (1, 0), "b": (0, 1)},
            "axes of length two": {"a": (0, 2)},
        },
    ),
    Claim(
        id="grape-8",
        source=_source("ALiBi as GRAPE-A"),
        statement="A unipotent one-parameter group on two extra coordinates, with keys moved by the inverse transpose, "
        "scores exactly q.k - m (j - i): ALiBi.",
        latex=r"A=-mE,\ A^2=0:\quad (G(j)\hat q)\cdot(G(i)^{-\top}\hat k) = q\cdot k - m(j-i)",
        label="P",
        check=alibi_unipotent,
        holds={"generator": lambda slope: alibi.generator(slope=slope), "key_action": _inverse_transpose},
        falsifiers={
            "generator transposed": {"generator": lambda slope: alibi.generator(slope=slope).T},
            "key moved by G": {"key_action": lambda matrix: matrix},
            "growing with distance": {"generator": lambda slope: alibi.generator(slope=-slope)},
        },
    ),
    Claim(
        id="grape-10",
        source=_source("FoX as GRAPE-A: Section 5, and Appendix C for the printed sign"),
        statement="The links I - psi_l E multiply to I - (sum psi_l) E along a path, and with the key moved by the "
        "inverse transpose the score is q.k + sum log f_l: the Forgetting Transformer (errata F10: Appendix C prints "
        "I + psi_l E, which gives the bias the opposite sign).",
        latex=r"\prod_{l=i+1}^{j}(I-\psi_lE) = I-\Big(\sum_l\psi_l\Big)E,\quad"
        r"\hat q^\top P^{-\top}\hat k = q\cdot k+\sum_l\psi_l",
        label="P",
        check=fox_unipotent,
        holds={"link": lambda log_gate: fox.link(log_gate=log_gate), "key_action": _inverse_transpose},
        printed={"link": lambda log_gate: fox.link(log_gate=-log_gate)},
        falsifiers={
            "link transposed": {"link": lambda log_gate: fox.link(log_gate=log_gate).T},
            "key moved by the path itself": {"key_action": lambda matrix: matrix.T},
            "key moved by the inverse": {"key_action": lambda matrix: matrix.inv()},
        },
    ),
)
