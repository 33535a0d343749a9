"""GRAPE-A: biases as unipotent actions on two extra coordinates, their norms, dictionaries and offsets in space."""

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, derivative, product, require_equal
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.theory.encodings import biases, grape, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY

CLAIMS = PaperClaims(SOURCE)
WEIGHTS = sp.Matrix(sp.symbols("alpha_x alpha_y", real=True))


def inverse_transpose(matrix: sp.Matrix) -> sp.Matrix:
    """Action on keys for which scores depend on the relative position."""
    return matrix.inv().T


def square(matrix: sp.Matrix) -> sp.Matrix:
    """Square with every sum of products unevaluated."""
    return product(matrix, matrix)


def _alibi(slope: sp.Expr) -> sp.Matrix:
    return grape.alibi_generator(slope=slope)


@CLAIMS.claim(
    "grape-8",
    "ALiBi as GRAPE-A",
    r"A=-mE,\ A^2=0:\quad (G(j)\hat q)\cdot(G(i)^{-\top}\hat k) = q\cdot k - m(j-i)",
    label="P",
    assumptions=("the group fixes the d content coordinates, which enter by q.k alone, so every d follows",),
    falsifiers={
        "generator transposed": {"generator": lambda slope: _alibi(slope).T},
        "key moved by G": {"key_action": lambda matrix: matrix},
        "growing with distance": {"generator": lambda slope: _alibi(-slope)},
    },
)
def alibi_unipotent(generator: Formula = _alibi, key_action: Formula = inverse_transpose) -> Facts:
    """A unipotent one-parameter group on two extra coordinates, with keys multiplied by the inverse transpose, gives
    exactly the score q.k - m (j - i): ALiBi.
    """
    i, D, t, m, c = sp.symbols("i D t m c", real=True)
    j, A = i + D, generator(m)
    group, key_matrix = grape.unipotent(A, t), key_action(grape.unipotent(A, i))
    expected = c + biases.alibi_bias(m, query_position=j, key_position=i)
    yield "A^2 = 0", square(A), sp.zeros(2, 2)
    yield "G(0) = I", lambda: group.xreplace({t: sp.Integer(0)}), sp.eye(2)
    yield "G' = A G, so G(t) = exp(tA)", lambda: derivative(group, t), lambda: A * group
    yield (
        "score = q.k - m D at j = i + D",
        lambda: grape.extended_score(c, query_action=grape.unipotent(A, j), key_action=key_matrix),
        expected,
    )
    yield (
        "the encoding scores the same",
        lambda: grape.ADDITIVE.score(query_position=j, key_position=i).xreplace({grape.GRAPE_SLOPE: m}),
        lambda: QUERY.dot(KEY) + expected - c,
    )


def _least_extra(slope: sp.Expr) -> tuple[int, sp.Expr]:
    """Least number of extra coordinates for a score of this slope, and the entry A_(d+1,d+1) that one extra forces.

    The entry is forced by (x e_a, p)^T A^T (y e_b, r) = slope for all x, y; all others are then 0.
    """
    x, y = sp.symbols("x y", real=True)
    p, r = sp.symbols("p r", real=True, nonzero=True)
    block, column, row, corner = entries = sp.symbols("B_ab u_a w_b z", real=True)
    requirement = sp.Poly(block * x * y + column * x * r + row * p * y + corner * p * r - slope, x, y)
    (solution,) = sp.linsolve(requirement.coeffs(), entries)
    refute(any(solution[:3]), f"the content may enter: {solution}")
    without = sp.linsolve(sp.Poly(block * x * y - slope, x, y).coeffs(), [block])
    for lifts in ({p: 0}, {r: 0}, {p: 0, r: 0}):  # then A_(d+1,d+1) enters no score
        left = sp.Poly(requirement.as_expr().subs(lifts), x, y).coeffs()
        refute(
            without is sp.S.EmptySet and sp.linsolve(left, entries) is not sp.S.EmptySet, f"lifts {lifts} are enough"
        )
    return (0 if without is not sp.S.EmptySet else 1 if solution[3] == 0 else 2), solution[3]


@CLAIMS.claim(
    "grape-9",
    "minimality of the lift to d + 2 coordinates",
    r"A\in\mathfrak{gl}(d{+}1),\ A^2=0,\ \hat q^\top(I+nA)^\top\hat k=q\cdot k+c+n\beta\ \Rightarrow\ \beta=0",
    label="P",
    assumptions=(
        "scores (G(j) q^).(G(i)^-T k^) = q^^T G(j - i)^T k^, G(n) = I + nA, A^2 = 0, for all q and k of any d",
        "beta != 0; contents x e_a and y e_b with any a and b, so that every entry of A is met",
    ),
    answers=("enough",),
    falsifiers={
        "beta = 0": {"slope": lambda beta: sp.S.Zero},
        "the generator transposed": {"generator": lambda slope: _alibi(-slope).T},
        "the generator of ALiBi's sign": {"generator": _alibi},
    },
)
def extra_coordinates(
    slope: Formula = lambda beta: beta, generator: Formula = lambda slope: _alibi(-slope), enough: int = 2
) -> Facts:
    """Two coordinates beside the content are enough for a group I + nA, A^2 = 0, to give the score q.k + beta (j - i)
    for all q and k, beta != 0, and one with constant lifts is not, even up to a constant.

    `slope` is the score of one step as a function of beta, `generator` that of the group on two coordinates.
    """
    least, corner = _least_extra(slope(sp.Symbol("beta", real=True, nonzero=True)))
    beta, j, i = sp.symbols("beta j i", real=True)
    A = generator(slope(beta))
    on_query, on_key = grape.unipotent(A, j), inverse_transpose(grape.unipotent(A, i))
    scored = grape.extended_score(sp.Integer(0), query_action=on_query, key_action=on_key)
    identities = (
        require_equal("A^2 = 0", square(A), sp.zeros(2, 2)),
        require_equal("score of (0, 1, 0) and (0, 0, 1)", scored, lambda: slope(beta) * (j - i)),
    )
    at_one = (corner**2).subs(dict.fromkeys(corner.free_symbols, 1))
    reasons = (
        "no extra coordinate: the score at q = k = 0 is 0, not beta",
        f"1 extra coordinate, lifts (q, p) and (k, r): every entry of A is 0 but A_(d+1,d+1) = {corner}, so A^2 has "
        f"the entry {corner**2}, which is {at_one} at beta = p = r = 1",
        "2 extra coordinates: A = beta E has A^2 = 0 and scores q.k + beta (j - i)",
    )
    refute(enough != least, f"{least} coordinates beside the content are enough, not {enough}")
    yield from reasons
    yield from identities


@CLAIMS.claim(
    "grape-11",
    "Appendix E: rotation and bias in one group",
    r"\mathrm{diag}\Big(e^{mL},\begin{pmatrix}1&0\\-m\omega&1\end{pmatrix}\Big):\ q^\top e^{(i-j)L}k-\omega(j-i)",
    assumptions=(
        "the content's other planes add their own scores, so every even d follows",
        "omega > 0 takes in Lambda, one number for a pair of tokens (claim grape-17-features)",
    ),
    printed={"shear": lambda slope: slope * grape.nilpotent().T},
    falsifiers={
        "the printed entry, in the upper right": {"shear": lambda slope: slope * grape.nilpotent().T},
        "growing with distance": {"shear": lambda slope: slope * grape.nilpotent()},
        "the key turned back": {"rotated": False},
    },
)
def joint_lift(shear: Formula = lambda slope: -slope * grape.nilpotent(), rotated: bool = True) -> Facts:
    """The block matrices of exp(mL) and [[1, 0], [-m omega, 1]] give the score of the rotated content plus -omega (j -
    i) (errata F10: the paper prints the entry +m omega in the upper right, which gives no bias).
    """
    i, D, theta, omega = sp.symbols("i D theta omega", real=True)
    query, key = sp.symbols("q1 q2", real=True), sp.symbols("k1 k2", real=True)
    turn_query, turn_key = (rotary.rotation(position * theta) for position in (i + D, i))
    shear_query, shear_key = (grape.unipotent(shear(omega), position) for position in (i + D, i))
    on_key = sp.diag(turn_key if rotated else turn_key.T, inverse_transpose(shear_key))
    scored = grape.joint_score(query, key, query_action=sp.diag(turn_query, shear_query), key_action=on_key)
    content = rotary.score(query, key, query_position=i + D, key_position=i, frequency=theta)
    bias = scored - content
    yield "R is its own inverse transpose", lambda: turn_key.T * turn_key, sp.eye(2)
    yield "score = rotated content - omega D", scored, lambda: content - omega * D
    yield "at one position the bias is 0", lambda: bias.subs(D, 0), sp.Integer(0)


@CLAIMS.claim(
    "grape-12",
    "spectrum and singular values of the unipotent lift",
    r"s>0:\ \sigma_\pm(I+sE)=\sqrt{1+\tfrac{s^2}{2}\pm s\sqrt{1+\tfrac{s^2}{4}}},\ \sigma_+\sigma_-=1,\ "
    r"\kappa=\sigma_+^2,\ "
    r"1-s\|A\|\le\sigma_{\min}(I+sA)\le\sigma_{\max}(I+sA)\le1+s\|A\|",
    label="P",
    assumptions=(
        "s > 0; -s has the same singular values",
        "in words: any A with A^2 = 0 is in orthonormal coordinates [[0, 0], [C, 0]], and with the singular value "
        "decomposition of C a direct sum of c_k E and zeros (textbook): s becomes s c_k, the largest is s |A|",
    ),
    falsifiers={
        "condition number 1 + s": {"condition": lambda s, root: 1 + s},
        "singular values 1 + s and 1 - s": {"values": lambda s, root: (1 + s, 1 - s)},
    },
)
def stretches(
    values: Formula = grape.shear_singular_values, condition: Formula = grape.shear_condition_number
) -> Facts:
    """I + sE has the one eigenvalue 1, the singular values sqrt(1 + s^2/2 +- s sqrt(1 + s^2/4)) with product 1 on its
    two coordinates and 1 on all others, and the condition number sigma_+^2; all are within 1 - s and 1 + s, s > 0, and
    those of I + sA within 1 - s |A| and 1 + s |A| for any A with A^2 = 0.
    """
    s, rho, x = sp.symbols("s rho x", positive=True)
    N = grape.unipotent(grape.nilpotent(), s)
    high, low = values(s, root=rho)
    gram = N.T * N
    for what, left, right in (
        ("spectrum {1}", (N - x * sp.eye(2)).det, lambda: (1 - x) ** 2),
        ("N^T N has the eigenvalues sigma^2", (gram - x * sp.eye(2)).det, lambda: (high**2 - x) * (low**2 - x)),
        ("sigma_+ sigma_- = 1", lambda: high * low, sp.Integer(1)),
        ("sigma_+^2 = 1 + s^2/2 + s sqrt(1 + s^2/4)", lambda: high**2, lambda: 1 + s**2 / 2 + s * rho),
        ("condition number = sigma_+ / sigma_-", lambda: condition(s, root=rho), lambda: high / low),
        ("sigma_+ <= 1 + s: (1 + s/2)^2 - rho^2", lambda: (1 + s - (high - rho)) ** 2 - rho**2, s),
        ("sigma_- >= 1 - s if s < 2: rho^2 - (1 - s/2)^2", lambda: rho**2 - (1 - s + (rho - low)) ** 2, s),
    ):
        yield require_equal(what, left, right, squares={rho: 1 + s**2 / 4})
    yield "N - I = sE has rank 1 and square 0: one Jordan block of size 2 for each unit of rank"


_UNITS = sp.Matrix([[0, 0, 0], [0, 0, 1], [0, 0, 0]]), sp.Matrix([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
"""Matrices A_1, A_2 with A_1^2 = A_2^2 = A_1 A_2 = 0 and A_2 A_1 not 0."""


@CLAIMS.claim(
    "grape-13",
    "closure of a dictionary of generators",
    r"A_r^2=0,\ A_rA_s=0\ (r\ne s)\ \Rightarrow\ \Big(\sum_r\theta_rA_r\Big)^2=0",
    label="P",
    assumptions=("matrices of any dimension; of more generators every two enter in this way",),
    falsifiers={
        "only the squares are 0": {"vanishing": lambda A, B: (A**2, B**2)},
        "products are 0 in one order": {"vanishing": lambda A, B: (A**2, B**2, A * B)},
    },
)
def dictionary(vanishing: Formula = lambda A, B: (A**2, B**2, A * B, B * A)) -> Facts:
    """If every A_r^2 and every product A_r A_s of two different generators is 0, every combination A of them has square
    0, so I + tA = exp(tA) is a unipotent group again.
    """
    weights = sp.symbols("theta_1 theta_2", real=True)
    generators = sp.symbols("A_1 A_2", commutative=False)
    square = sp.expand((weights[0] * generators[0] + weights[1] * generators[1]) ** 2)
    zero, E, (first, second) = vanishing(*generators), grape.nilpotent(), _UNITS
    remaining = sp.expand(square.subs(dict.fromkeys(zero, 0)))
    shown = not any(map(any, vanishing(first, second)))
    units = f"A_1 = {first.tolist()}, A_2 = {second.tolist()} have (A_1 + A_2)^2 = {((first + second) ** 2).tolist()}"
    refute(remaining != 0, f"{remaining} is left" + (f": {units}" if shown else ""))
    t, u = sp.symbols("t u", real=True)
    (A, _) = generators
    law = sp.expand((1 + t * A) * (1 + u * A) - 1 - (t + u) * A).subs(A**2, 0)
    refute(law != 0, f"(I + tA)(I + uA) - I - (t + u)A = {law}")
    yield f"(theta_1 A_1 + theta_2 A_2)^2 = {square} is 0 where {', '.join(map(str, zero))} are"
    yield "A^2 = 0: (I + tA)(I + uA) = I + (t + u)A, and the derivative of I + tA at t = 0 is A"
    at_t, at_u = (grape.unipotent(E, time) for time in (t, u))
    yield "(I + tE)(I + uE) = I + (t + u)E", lambda: at_t * at_u, lambda: at_t + u * E


def _linear(there: sp.Matrix, here: sp.Matrix) -> sp.Expr:
    return grape.linear_offset(there, here, weights=WEIGHTS)


@CLAIMS.claim(
    "grape-distance",
    "Appendix G: offsets of pixels and points in space (version 1, and ICLR 2026)",
    r"m=\alpha\cdot(r_t-r_j):\ G(m_{tl})G(m_{lj})=G(m_{tj});\qquad |r_t-r_l|+|r_l-r_j|\ne|r_t-r_j|",
    assumptions=("two coordinates stand for three",),
    printed={"offset": grape.length_offset},
    falsifiers={
        "the squared length": {"offset": lambda there, here: grape.length_offset(there, here) ** 2},
        "the difference |x + x'| - |y + y'|": {
            "offset": lambda there, here: sp.Abs(here[0] + there[0]) - sp.Abs(here[1] + there[1])
        },
        "the product of the coordinates": {"offset": lambda there, here: (there[0] - here[0]) * (there[1] - here[1])},
    },
)
def composition(offset: Formula = _linear) -> Facts:
    """The composition law of the unipotent actions holds for offsets linear in the coordinates, alpha . (r_t - r_j); it
    fails for m = |r_t - r_j|, of which the paper says that it still holds: lengths do not add.
    """
    key, between, query = map(sp.Matrix, ((0, 0), (3, 0), (3, 4)))
    steps, direct = (offset(between, key), offset(query, between)), offset(query, key)
    apart = f"m = {steps[0]} and {steps[1]}, together {sp.Add(*steps)}, not {direct}"
    refute(sp.expand(sp.Add(*steps) - direct) != 0, f"from (0, 0) by (3, 0) to (3, 4): {apart}")
    omega, shift = sp.Symbol("omega", real=True), sp.Matrix(sp.symbols("s_x s_y", real=True))
    t, via, j = (sp.Matrix(sp.symbols(f"x_{name} y_{name}", real=True)) for name in "tlj")

    def action(there: sp.Matrix, here: sp.Matrix) -> sp.Matrix:
        return grape.unipotent(omega * grape.nilpotent(), offset(there, here))

    yield "G(m(t, l)) G(m(l, j)) = G(m(t, j))", lambda: action(t, via) * action(via, j), lambda: action(t, j)
    yield "the offset of moved places", lambda: offset(t + shift, j + shift), lambda: offset(t, j)
    yield "offsets that add up are m(t, j) = f(t) - f(j), f(t) = m(t, origin): so a key is moved once and cached"
    yield (
        "a length depends on r_t - r_j alone as well, but no action of one place each gives it: its matrix over T "
        "places on a line has rank T (claim alibi-7)"
    )
