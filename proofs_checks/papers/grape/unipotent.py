"""GRAPE-A: biases as unipotent actions on two extra coordinates, their norms, dictionaries and offsets in space."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.facts import derivative, product, require_equal
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.theory.encodings import biases, grape, rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY

Condition = Callable[[sp.Expr, sp.Expr], sp.Expr]
Offset = Callable[[sp.Matrix, sp.Matrix], sp.Expr]
"""(place of the query, place of the key) -> offset m."""

WEIGHTS = sp.Matrix(sp.symbols("alpha_x alpha_y", real=True))
_TRIANGLE = tuple(sp.Matrix(place) for place in ((0, 0), (3, 0), (3, 4)))


def _possible_without_extra(slope: Callable[[sp.Expr], sp.Expr]) -> bool:
    """True if (x e_a)^T A^T (y e_b) = beta for all x, y has a solution."""
    x, y, entry = sp.symbols("x y B_ab", real=True)
    beta = sp.Symbol("beta", real=True, nonzero=True)
    return sp.linsolve(sp.Poly(entry * x * y - slope(beta), x, y).coeffs(), [entry]) is not sp.S.EmptySet


def _entry_with_one_extra(slope: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
    """The entry A_(d+1,d+1) forced by (x e_a, p)^T A^T (y e_b, r) = beta for all x, y; all others are then 0."""
    x, y = sp.symbols("x y", real=True)
    p, r, beta = sp.symbols("p r beta", real=True, nonzero=True)
    entries = sp.symbols("B_ab u_a w_b z", real=True)
    block, column, row, corner = entries
    requirement = sp.Poly(block * x * y + column * x * r + row * p * y + corner * p * r - slope(beta), x, y)
    (solution,) = sp.linsolve(requirement.coeffs(), entries)
    if any(solution[:3]):
        raise Refuted(f"the content may enter: {solution}")
    return solution[3]


def _facts_with_two_extra(
    slope: Callable[[sp.Expr], sp.Expr], generator_of: Callable[[sp.Expr], sp.Matrix]
) -> tuple[str, ...]:
    """Facts that two extra coordinates suffice with this generator."""
    beta, position, key = sp.symbols("beta j i", real=True)
    generator = generator_of(slope(beta))
    scored = grape.extended_score(
        sp.Integer(0),
        query_action=grape.unipotent(generator, position),
        key_action=inverse_transpose(grape.unipotent(generator, key)),
    )
    return (
        require_equal("A^2 = 0", product(generator, generator), sp.zeros(2, 2)),
        require_equal("score of (0, 1, 0) and (0, 0, 1)", scored, lambda: slope(beta) * (position - key)),
    )


def inverse_transpose(matrix: sp.Matrix) -> sp.Matrix:
    """Return the action on keys for which scores depend on the relative position."""
    return matrix.inv().T


def _city_block(there: sp.Matrix, here: sp.Matrix) -> sp.Expr:
    """Difference of the two coordinate distances, in absolute values."""
    return sp.Abs(there[0] - here[0]) - sp.Abs(there[1] - here[1])


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "grape-8",
    "ALiBi as GRAPE-A",
    r"A=-mE,\ A^2=0:\quad (G(j)\hat q)\cdot(G(i)^{-\top}\hat k) = q\cdot k - m(j-i)",
    label="P",
    assumptions=("the group fixes the d content coordinates, which enter by q.k alone, so every d follows",),
    falsifiers={
        "generator transposed": {"generator": lambda slope: grape.alibi_generator(slope=slope).T},
        "key moved by G": {"key_action": lambda matrix: matrix},
        "growing with distance": {"generator": lambda slope: grape.alibi_generator(slope=-slope)},
    },
)
def alibi_unipotent(
    generator: Callable[[sp.Expr], sp.Matrix] = lambda slope: grape.alibi_generator(slope=slope),
    key_action: Callable[[sp.Matrix], sp.Matrix] = inverse_transpose,
) -> Facts:
    """A unipotent one-parameter group on two extra coordinates, with keys multiplied by the inverse transpose, gives
    exactly the score q.k - m (j - i): ALiBi.
    """
    i, offset, t, slope, content = sp.symbols("i D t m c", real=True)
    j = i + offset
    nilpotent = generator(slope)
    group = grape.unipotent(nilpotent, t)
    key_matrix = key_action(grape.unipotent(nilpotent, i))
    expected = content + biases.alibi_bias(slope, query_position=j, key_position=i)

    def scored() -> sp.Expr:
        on_query = grape.unipotent(nilpotent, j)
        return grape.extended_score(content, query_action=on_query, key_action=key_matrix)

    def score_of_encoding() -> sp.Expr:
        return grape.ADDITIVE.score(query_position=j, key_position=i).xreplace({grape.GRAPE_SLOPE: slope})

    tests = (
        ("A^2 = 0", product(nilpotent, nilpotent), sp.zeros(2, 2)),
        ("G(0) = I", lambda: group.xreplace({t: sp.Integer(0)}), sp.eye(2)),
        ("G' = A G, so G(t) = exp(tA)", lambda: derivative(group, t), lambda: nilpotent * group),
        ("score = q.k - m D at j = i + D", scored, expected),
        ("the encoding scores the same", score_of_encoding, lambda: QUERY.dot(KEY) + expected - content),
    )
    yield from tests


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
        "the generator transposed": {"generator": lambda slope: grape.alibi_generator(slope=-slope).T},
        "the generator of ALiBi's sign": {"generator": lambda slope: grape.alibi_generator(slope=slope)},
    },
)
def extra_coordinates(
    slope: Callable[[sp.Expr], sp.Expr] = lambda beta: beta,
    generator: Callable[[sp.Expr], sp.Matrix] = lambda slope: grape.alibi_generator(slope=-slope),
    enough: int = 2,
) -> Facts:
    """Two coordinates beside the content are enough for a unipotent group to give the score q.k + beta (j - i) for all
    q and k, beta != 0, and one is not.

    `slope` is the score of one step as a function of beta, `generator` that of the group on two coordinates.
    """
    corner, facts = _entry_with_one_extra(slope), _facts_with_two_extra(slope, generator)
    least = 0 if _possible_without_extra(slope) else 1 if corner == 0 else 2
    reasons = (
        "no extra coordinate: the score at q = k = 0 is 0, not beta",
        f"1 extra coordinate, lifts (q, p) and (k, r): every entry of A is 0 but A_(d+1,d+1) = {corner}, so A^2 has "
        f"the entry {corner**2}, which is "
        f"{(corner**2).subs(dict.fromkeys(corner.free_symbols, 1))} at beta = p = r = 1",
        "2 extra coordinates: A = beta E has A^2 = 0 and scores q.k + beta (j - i)",
    )
    if enough != least:
        raise Refuted(reasons[min(enough, least)])
    yield from reasons
    yield from facts


@CLAIMS.claim(
    "grape-11",
    "Appendix E: rotation and bias in one group",
    r"\mathrm{diag}\Big(e^{mL},\begin{pmatrix}1&0\\-m\omega&1\end{pmatrix}\Big):\ q^\top e^{(i-j)L}k-\omega(j-i)",
    assumptions=(
        "the content's other planes add their own scores, so every even d follows",
        "omega > 0 takes in Lambda",
    ),
    printed={"shear": lambda slope: slope * grape.nilpotent().T},
    falsifiers={
        "the printed entry, in the upper right": {"shear": lambda slope: slope * grape.nilpotent().T},
        "growing with distance": {"shear": lambda slope: slope * grape.nilpotent()},
        "the key turned back": {"rotated": False},
    },
)
def joint_lift(
    shear: Callable[[sp.Expr], sp.Matrix] = lambda slope: -slope * grape.nilpotent(), rotated: bool = True
) -> Facts:
    """The block matrices of exp(mL) and [[1, 0], [-m omega, 1]] give the score of the rotated content plus -omega (j -
    i) (errata F10: the paper prints the entry +m omega in the upper right, which gives no bias).
    """
    i, offset, theta, slope = sp.symbols("i D theta omega", real=True)
    j = i + offset
    query, key = sp.symbols("q1 q2", real=True), sp.symbols("k1 k2", real=True)
    turns = [rotary.rotation(position * theta) for position in (j, i)]
    shears = [grape.unipotent(shear(slope), position) for position in (j, i)]
    scored = grape.joint_score(
        query,
        key,
        query_action=sp.diag(turns[0], shears[0]),
        key_action=sp.diag(turns[1] if rotated else turns[1].T, shears[1].inv().T),
    )
    content = rotary.score(query, key, query_position=j, key_position=i, frequency=theta)
    bias = scored - content
    yield "R is its own inverse transpose", lambda: turns[1].T * turns[1], sp.eye(2)
    yield "score = rotated content - omega D", scored, lambda: content - slope * offset
    yield "at one position the bias is 0", lambda: bias.subs(offset, 0), sp.Integer(0)


@CLAIMS.claim(
    "grape-12",
    "spectrum and singular values of the unipotent lift",
    r"\sigma_\pm^2=1+\tfrac{s^2}{2}\pm s\sqrt{1+\tfrac{s^2}{4}},\ \sigma_+\sigma_-=1,\ \kappa=\sigma_+^2,\ "
    r"1-|s|\|A\|\le\sigma_-\le\sigma_+\le1+|s|\|A\|",
    label="P",
    assumptions=(
        "s > 0; -s has the same singular values",
        "any A with A^2 = 0 is in orthonormal coordinates [[0, 0], [C, 0]], and with the singular value "
        "decomposition of C a direct sum of c_k E and zeros (textbook): s becomes s c_k, the largest is s |A|",
    ),
    falsifiers={
        "condition number 1 + s": {"condition": lambda shear, root: 1 + shear},
        "singular values 1 + s and 1 - s": {"values": lambda shear, root: (1 + shear, 1 - shear)},
    },
)
def stretches(
    values: Callable[..., tuple[sp.Expr, sp.Expr]] = lambda shear, root: grape.shear_singular_values(shear, root=root),
    condition: Condition = lambda shear, root: grape.shear_condition_number(shear, root=root),
) -> Facts:
    """I + sE has the one eigenvalue 1, the singular values sqrt(1 + s^2/2 +- s sqrt(1 + s^2/4)) with product 1, the
    condition number sigma_+^2, all within 1 - s and 1 + s; for any A with A^2 = 0 the same holds with s |A|.
    """
    s, root, x = sp.symbols("s rho x", positive=True)
    squares = {root: 1 + s**2 / 4}
    matrix = grape.unipotent(grape.nilpotent(), s)
    largest, smallest = values(s, root=root)
    gram = matrix.T * matrix
    tests = (
        ("spectrum {1}", (matrix - x * sp.eye(2)).det, lambda: (1 - x) ** 2),
        ("N^T N has the eigenvalues sigma^2", (gram - x * sp.eye(2)).det, lambda: (largest**2 - x) * (smallest**2 - x)),
        ("sigma_+ sigma_- = 1", lambda: largest * smallest, sp.Integer(1)),
        ("sigma_+^2 = 1 + s^2/2 + s sqrt(1 + s^2/4)", lambda: largest**2, lambda: 1 + s**2 / 2 + s * root),
        ("condition number = sigma_+ / sigma_-", lambda: condition(s, root), lambda: largest / smallest),
        ("sigma_+ <= 1 + s: (1 + s/2)^2 - rho^2", lambda: (1 + s - (largest - root)) ** 2 - root**2, s),
        ("sigma_- >= 1 - s if s < 2: rho^2 - (1 - s/2)^2", lambda: root**2 - (1 - s + (root - smallest)) ** 2, s),
    )
    for what, left, right in tests:
        yield require_equal(what, left, right, squares=squares)
    yield "N - I = sE has rank 1 and square 0: one Jordan block of size 2 for each unit of rank"


@CLAIMS.claim(
    "grape-13",
    "closure of a dictionary of generators",
    r"A_r^2=0,\ A_rA_s=0\ (r\ne s)\ \Rightarrow\ \Big(\sum_r\theta_rA_r\Big)^2=0",
    label="P",
    assumptions=("matrices of any dimension; of more generators every two enter in this way",),
    falsifiers={
        "only the squares are 0": {"vanishing": lambda first, second: (first**2, second**2)},
        "products are 0 in one order": {"vanishing": lambda first, second: (first**2, second**2, first * second)},
    },
)
def dictionary(
    vanishing: Callable[[sp.Expr, sp.Expr], tuple[sp.Expr, ...]] = lambda first, second: (
        first**2,
        second**2,
        first * second,
        second * first,
    ),
) -> Facts:
    """If every A_r^2 and every product A_r A_s of two different generators is 0, every combination of them has square
    0, so it is unipotent again.
    """
    weights = sp.symbols("theta_1 theta_2", real=True)
    generators = sp.symbols("A_1 A_2", commutative=False)
    square = sp.expand((weights[0] * generators[0] + weights[1] * generators[1]) ** 2)
    zero = vanishing(*generators)
    remaining = sp.expand(square.subs(dict.fromkeys(zero, 0)))
    lower = grape.nilpotent()
    if remaining != 0:
        raise Refuted(
            f"{remaining} is left: A_1 = E and A_2 = E^T have the squares {(lower**2).tolist()} and "
            f"{(lower.T**2).tolist()}, and (A_1 + A_2)^2 = {((lower + lower.T) ** 2).tolist()}"
        )
    time, later = sp.symbols("t u", real=True)
    steps = [grape.unipotent(lower, when) for when in (time, later)]
    yield f"(theta_1 A_1 + theta_2 A_2)^2 = {square} is 0 where {', '.join(map(str, zero))} are"
    yield "A^2 = 0: (I + tA)(I + uA) = I + (t + u)A", lambda: steps[0] * steps[1], lambda: steps[0] + later * lower


@CLAIMS.claim(
    "grape-distance",
    "Appendix G: offsets of pixels and points in space (read in a converted copy of version 1)",
    r"m=\alpha\cdot(r_t-r_j):\ G(m_{tl})G(m_{lj})=G(m_{tj});\qquad |r_t-r_l|+|r_l-r_j|\ne|r_t-r_j|",
    assumptions=("two coordinates stand for three",),
    printed={"offset": lambda there, here: grape.length_offset(there=there, here=here)},
    falsifiers={
        "the squared length": {"offset": lambda there, here: grape.length_offset(there, here) ** 2},
        "the difference of the city-block lengths": {"offset": lambda there, here: _city_block(here, -there)},
        "the product of the coordinates": {"offset": lambda there, here: (there[0] - here[0]) * (there[1] - here[1])},
    },
)
def composition(
    offset: Offset = lambda there, here: grape.linear_offset(there, here, weights=WEIGHTS),
) -> Facts:
    """The composition law of the unipotent actions holds for offsets linear in the coordinates, alpha . (r_t - r_j); it
    fails for m = |r_t - r_j|, of which the paper says that it still holds: lengths do not add.
    """
    key, between, query = _TRIANGLE
    parts, direct = offset(query, between) + offset(between, key), offset(query, key)
    if sp.expand(parts - direct) != 0:
        steps = f"{offset(between, key)} and {offset(query, between)}"
        raise Refuted(f"from (0, 0) by (3, 0) to (3, 4): m = {steps}, together {parts}, not {direct}")
    rate = sp.Symbol("omega", real=True)
    places = [sp.Matrix(sp.symbols(f"x_{name} y_{name}", real=True)) for name in "tlj"]
    far, middle, near = places

    def action(there: sp.Matrix, here: sp.Matrix) -> sp.Matrix:
        return grape.unipotent(rate * grape.nilpotent(), offset(there, here))

    shift = sp.Matrix(sp.symbols("s_x s_y", real=True))
    yield (
        "G(m(t, l)) G(m(l, j)) = G(m(t, j))",
        lambda: action(far, middle) * action(middle, near),
        lambda: action(far, near),
    )
    yield "the offset of moved places", lambda: offset(far + shift, near + shift), lambda: offset(far, near)
    yield "offsets that add up are m(t, j) = f(t) - f(j), f(t) = m(t, origin): so a key is moved once and cached"
    yield (
        "a length depends on r_t - r_j alone as well, but no action of one place each gives it: its matrix over T "
        "places on a line has rank T (claim alibi-7)"
    )
