"""GRAPE-M on several planes: RoPE as a case, commuting planes, the learned basis, and phases that depend on content."""

from collections.abc import Callable, Sequence

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.proofs_checks.facts import Formula, combine, empty_value, last_term, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.grape import SOURCE, equal_operators
from lengthgen.theory.encodings import grape, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY

CLAIMS = PaperClaims(SOURCE)
Spectrum = Callable[[Sequence[sp.Expr]], Sequence[sp.Expr]]
FIRST, SECOND = sp.symbols("theta_1 theta_2", real=True)
STEPS = 3
AXES = (sp.Integer(1), sp.Integer(0), sp.Integer(0), sp.Integer(0))
"""The vector a_1 = e_1 of the counterexamples."""
_EPS = float(np.finfo(np.float64).eps)


def _frame(matrix: sp.Matrix = sp.eye(4)) -> grape.Frame:
    return grape.Frame(matrix=sp.ImmutableMatrix(matrix))


def _orthogonal_only() -> grape.Frame:
    """Frame of orthogonal vectors a_1, a_2 whose planes do not commute."""
    tilted = (sp.Integer(0), 1 / sp.sqrt(2), 1 / sp.sqrt(2), sp.Integer(0))
    return grape.Frame.of(*grape.spanning([AXES, tilted]))


def _two_rotations(angles: Sequence[sp.Expr]) -> sp.Matrix:
    return sp.diag(*map(rotary.rotation, angles))


@CLAIMS.claim(
    "grape-5",
    "recovery of RoPE by GRAPE-M",
    r"\prod_l e^{n\theta_l L(e_{2l},\,e_{2l-1})} = \mathrm{RoPE}(n)",
    assumptions=("d even; planes spanned by axis pairs",),
    printed={"a": (1, 0), "b": (0, 1)},
    falsifiers={"printed orientation": {"a": (1, 0), "b": (0, 1)}, "axes of length two": {"a": (0, 2)}},
)
def rope_planes(a: Sequence[int] = (0, 1), b: Sequence[int] = (1, 0)) -> Facts:
    """The product over planes of exp(n theta_l L(e_{2l}, e_{2l-1})) is RoPE exactly (errata F8: the paper prints
    L(e_{2l-1}, e_{2l}), which rotates the other way; U J U^T, to which the same line equates it, is right).
    """
    n, theta = sp.symbols("n theta", real=True)
    gram = grape.Gram.of(a, b)
    speed = sp.sqrt(grape.squared_speed(gram))

    def operator() -> grape.PlaneOperator:
        return grape.rank2_exponential(gram, time=n * theta, speed=speed)

    first, second = sp.Matrix([1, 0]), sp.Matrix([0, 1])
    U = sp.Matrix.hstack(first, second)
    on_plane = "exp(n theta L) = R2(n theta) on its plane"
    yield on_plane, lambda: operator().matrix(a, b), lambda: rotary.rotation(n * theta)
    same_line = "U J U^T, U = (e_{2l-1}, e_{2l}), which the same line prints, is L(e_{2l}, e_{2l-1}) and so right"
    yield same_line, lambda: U * rotary.rotation(sp.pi / 2) * U.T, lambda: second * first.T - first * second.T
    yield "exp(n theta L) = I on the orthogonal complement", lambda: operator().identity, sp.Integer(1)
    yield "each factor keeps its own plane and fixes the others, so the product over planes is block diagonal: RoPE"


def _commutator(frame: grape.Frame) -> grape.PlaneOperator:
    """Commutator of the generators of the two planes."""
    first, second = (grape.plane_generator(frame, plane) for plane in (0, 1))
    return first @ second + (second @ first).scaled(sp.Integer(-1))


def _norm(operator: grape.PlaneOperator) -> sp.Expr:
    """Largest singular value of U M U^T: its square is the largest eigenvalue of M^T G M G."""
    square = operator.coefficients.T * operator.gram.matrix * operator.coefficients * operator.gram.matrix
    return sp.sqrt(max(square.eigenvals()))


def _frame_facts() -> Facts:
    """Facts: J rotates pairs by a quarter; a generator in scalar products is the matrix a (J a)^T - (J a) a^T."""
    vector, angle = sp.symbols("x1:5", real=True), sp.Symbol("t", real=True)
    column, turned, quarter = sp.Matrix(vector), sp.Matrix(grape.quarter_turn(vector)), rotary.rotation(sp.pi / 2)
    spanning = grape.spanning([(1, 2, 3, 5), vector])
    generator = grape.plane_generator(grape.Frame.of(*spanning), 1).matrix(*spanning)
    lengths = grape.Frame.of(*grape.spanning([(1, 2, 0, 2), (2, 0, 0, 0)]))
    planes = [(grape.plane_generator(lengths, k), grape.plane_exponential(lengths, k, angle=angle)) for k in (0, 1)]
    yield (
        "E' = L E for |a_1| = 3, |a_2| = 2",
        lambda: sp.Matrix([E.derivative(angle).coordinates() for _, E in planes]),
        lambda: sp.Matrix([(L @ E).coordinates() for L, E in planes]),
    )
    yield "J turns each pair by R2(pi/2)", turned, lambda: sp.diag(quarter, quarter) * column
    yield same_by_sympy("J J a = -a", sp.Matrix(grape.quarter_turn(list(turned))), -column)
    yield (
        "a.(J a) = 0, |J a| = |a|",
        lambda: sp.Matrix([column.dot(turned), turned.dot(turned)]),
        lambda: sp.Matrix([0, column.dot(column)]),
    )
    yield "L(a, J a), d = 4", generator, lambda: column * turned.T - turned * column.T


@CLAIMS.claim(
    "grape-6",
    "Proposition 3.1: commuting subspaces",
    r"\{a_l,Ja_l\}\ \text{orthonormal}\Rightarrow[L_l,L_m]=0,\ "
    r"\prod_l e^{n\theta_lL_l}=B\,\mathrm{RoPE}(n)\,B^\top",
    assumptions=("any even d and any number of planes, since planes commute pair by pair",),
    printed={"frame": _orthogonal_only},
    falsifiers={
        "a_1 = e_1, a_2 = e_2": {"frame": lambda: grape.Frame.of(*grape.spanning([AXES, (0, 1, 0, 0)]))},
        "a_1 = e_1, a_2 = (e_2 + e_3) / sqrt 2": {"frame": _orthogonal_only},
        "orthogonal but not of length 1": {"frame": lambda: _frame(sp.diag(4, 4, 1, 1))},
    },
)
def commuting_planes(frame: Callable[[], grape.Frame] = _frame) -> Facts:
    """If the vectors a_l and J a_l are jointly orthonormal, the planes' generators commute and the product of their
    exponentials is RoPE in the basis of these vectors (errata F9: the paper asks only that the a_l are orthogonal to
    each other, which does not suffice).
    """
    n, vectors = sp.Symbol("n", real=True), frame()
    rank, commutator = vectors.matrix.rank(), _commutator(vectors)
    refute(rank < vectors.matrix.rows, f"J a_1, a_1, J a_2, a_2 span {rank} dimensions, not 4: the two are one plane")
    if not commutator.coefficients.is_zero_matrix:
        refute(True, f"L_1 and L_2 do not commute: the norm of [L_1, L_2] is {_norm(commutator)}")
    angles = (n * FIRST, n * SECOND)
    at = {"query_position": FIRST, "key_position": SECOND}
    rope = rotary.score(QUERY, KEY, **at, frequency=rotary.FREQUENCY)
    yield "[L_1, L_2] = 0", lambda: _commutator(vectors).coordinates(), sp.zeros(17, 1)
    yield (
        "product of the exponentials in coordinates B = (J a_1, a_1, J a_2, a_2)",
        lambda: sp.eye(4) + grape.commuting_action(vectors, angles).coefficients,
        lambda: _two_rotations(angles),
    )
    yield "the encoding scores as RoPE in coordinates", lambda: grape.COMMUTING.score(**at), rope
    yield from _frame_facts()
    g, h = sp.symbols("g h", real=True)  # a_1.a_2 and a_1.J a_2 of unit vectors
    products = sp.Matrix([[1, 0, g, -h], [0, 1, h, g], [g, h, 1, 0], [-h, g, 0, 1]])
    left = sorted(_commutator(_frame(products)).coefficients.atoms(sp.Symbol), key=str)
    yield (
        "orthogonal planes are needed as well, if independent: the coefficients of [L_1, L_2] are "
        f"{left} = a_1.a_2, a_1.J a_2"
    )


def _schur_fact(dimension: int, spectrum: Spectrum) -> str:
    """Fact that exp(tL) = B R(t) B^T for a random skew L, with B from its real Schur form, up to rounding."""
    from scipy.linalg import expm, schur  # slow to import, and only this claim needs it

    random_matrix = np.random.default_rng(dimension).normal(size=(dimension, dimension))
    skew = random_matrix - random_matrix.T
    form, basis = schur(skew, output="real")
    rounding = dimension * _EPS * np.linalg.norm(skew)
    blocks = [row for row in range(dimension - 1) if abs(form[row + 1, row]) > rounding]
    rotation: NDArray[np.float64] = np.eye(dimension)
    for row, frequency in zip(blocks, spectrum([form[row + 1, row] for row in blocks]), strict=True):
        turn = rotary.rotation(STEPS * sp.Float(float(frequency), 30)).evalf(20)
        rotation[row : row + 2, row : row + 2] = turn.tolist()
    error = float(np.linalg.norm(expm(STEPS * skew) - basis @ rotation @ basis.T))
    # Schur form and expm are backward stable: each changes L by a modest multiple of d eps |L|, and tL by t times it.
    off = f"exp({STEPS}L) - B R({STEPS}) B^T has norm {error:.4f}"
    refute(error > 20 * STEPS * rounding, f"random skew L, d = {dimension}: {off}")
    equal = f"exp({STEPS}L) = B R({STEPS}) B^T up to rounding"
    return f"random skew L, d = {dimension}, real Schur form in float64: {equal}"


@CLAIMS.claim(
    "grape-7",
    "GRAPE-M as a strict extension of RoPE: Section 3, and Appendix D that takes half of it back",
    r"(e^{jL}W_qx)\cdot(e^{iL}W_ky)=(R(j)B^\top W_qx)\cdot(R(i)B^\top W_ky)",
    assumptions=(
        "the spectral theorem for real skew matrices (textbook): L is a sum of theta_l L(a_l, b_l) over orthogonal "
        "planes with orthonormal a_l, b_l; two planes stand for all, as each exponential is I on the others",
        "no gain between the projections and the rotation, as of a normalised query or key",
    ),
    falsifiers={
        "at the fixed log-uniform frequencies": {"spectrum": lambda thetas: rotary.frequencies(2 * len(thetas))},
        "at half the frequencies": {"spectrum": lambda thetas: [theta / 2 for theta in thetas]},
    },
)
def absorption(spectrum: Spectrum = lambda thetas: thetas) -> Facts:
    """For every skew L, exp(nL) is RoPE at the frequencies of L in an orthogonal basis B, which W_q and W_k absorb,
    with one fixed coordinate more where the size is odd: learned planes, commuting or not, add learned frequencies to
    RoPE and nothing else (errata F11), as long as no gain of normalised queries and keys stands between.
    """
    t, frame = sp.Symbol("t", real=True), _frame()
    angles, at_zero = ([at * frequency for frequency in spectrum((FIRST, SECOND))] for at in (t, sp.S.Zero))
    first, second = (grape.plane_generator(frame, plane) for plane in (0, 1))
    L, E = first.scaled(FIRST) + second.scaled(SECOND), grape.commuting_action(frame, angles)
    numbers = [_schur_fact(dimension, spectrum) for dimension in (2, 3, 5, 8)]
    yield equal_operators("E(0) = I", lambda: grape.commuting_action(frame, at_zero), lambda: grape.identity(frame))
    yield equal_operators("E' = L E", lambda: E.derivative(t), lambda: L @ E)
    yield "B^T E(t) B = R(t)", lambda: sp.eye(4) + E.coefficients, lambda: _two_rotations((t * FIRST, t * SECOND))
    yield (
        "so (e^(jL) W_q x).(e^(iL) W_k y) = (R(j) B^T W_q x).(R(i) B^T W_k y), and B^T W_q, B^T W_k are projections "
        "that RoPE with these frequencies can learn"
    )
    gains, tilt = sp.symbols("g_1 g_2", positive=True), rotary.rotation(sp.pi / 4)
    mean, half_difference = (gains[0] + gains[1]) / 2, (gains[1] - gains[0]) / 2
    yield same_by_sympy(
        "normalised by its length a query passes B^T, but a gain does not: B^T diag(g_1, g_2) B at pi/4",
        tilt.T * sp.diag(*gains) * tilt,
        sp.Matrix([[mean, half_difference], [half_difference, mean]]),
    )
    yield from numbers


def _action(phase: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    return grape.contextual_action(phase, frequency=frequency)


@CLAIMS.claim(
    "grape-contextual",
    "contextual GRAPE-M: cumulative phases of the tokens before",
    r"R(\Phi_i\theta)^\top R(\Phi_j\theta)=R\Big(\theta\sum_{l=i}^{j-1}w_l\Big)",
    label="P",
    assumptions=("induction on j - i, so any distance", "plane by plane, so every even d follows"),
    falsifiers={
        "the query's own rate counts": {"phase": lambda position: grape.phase(position=position + 1)},
        "the key is turned back": {"key_action": lambda phase, theta: _action(-phase, theta)},
        "the key is turned by its position": {"key_action": lambda phase, theta: _action(sp.Symbol("i"), theta)},
    },
)
def contextual_phases(phase: Formula = grape.phase, key_action: Formula = _action) -> Facts:
    """With phases summed over the tokens before, a score depends on the rates of the tokens from the key on, up to the
    query and without it: their sum takes the place of RoPE's j - i.
    """
    j = sp.Symbol("j", integer=True)
    before, D, theta, rate = sp.symbols("Phi_i D theta w_j", real=True)
    longer = combine(phase(j), before + D, last_term("phase", phase(j), phase(j + 1)))
    own = sp.Symbol(str(grape.RATES[j]), real=True)
    at = {"query_position": sp.Integer(5), "key_position": sp.Integer(3)}
    score = grape.CONTEXTUAL.score(**at).doit()
    rope = rotary.score(QUERY, KEY, **at, frequency=rate * rotary.FREQUENCY)
    yield same_by_sympy("Phi_(j+1) = Phi_j + w_j", longer, before + D + own)
    yield same_by_sympy("Phi_0 = 0", empty_value("phase", phase(sp.S.Zero)), sp.S.Zero)
    yield (
        "A(Phi_i)^T A(Phi_i + D) = R2(D theta)",
        lambda: key_action(before, theta).T * _action(before + D, theta),
        lambda: rotary.rotation(D * theta),
    )
    constant = dict.fromkeys(score.atoms(sp.Indexed), rate)
    yield "constant rates: RoPE at w theta", lambda: score.subs(constant), rope
