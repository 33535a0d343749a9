"""GRAPE-A (arXiv 2512.07805): biases as unipotent actions on two extra coordinates, and why two."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import derivative, product, require_equal
from proofs_checks.papers.grape.source import source
from theory.encodings import alibi, grape_additive, rotary
from theory.encodings.encoding import KEY, QUERY


def alibi_unipotent(
    *, generator: Callable[[sp.Expr], sp.Matrix], key_action: Callable[[sp.Matrix], sp.Matrix]
) -> Evidence:
    """Decide that the unipotent group of the generator scores q.k plus the ALiBi bias."""
    i, offset, t, slope, content = sp.symbols("i D t m c", real=True)
    j = i + offset
    nilpotent = generator(slope)
    group = grape_additive.unipotent(nilpotent, t)
    key_matrix = key_action(grape_additive.unipotent(nilpotent, i))
    expected = content + alibi.bias(slope, query_position=j, key_position=i)

    def scored() -> sp.Expr:
        on_query = grape_additive.unipotent(nilpotent, j)
        return grape_additive.score(content, query_action=on_query, key_action=key_matrix)

    def encoded() -> sp.Expr:
        return grape_additive.ENCODING.score(query_position=j, key_position=i).xreplace({grape_additive.SLOPE: slope})

    tests = (
        ("A^2 = 0", product(nilpotent, nilpotent), sp.zeros(2, 2)),
        ("G(0) = I", lambda: group.xreplace({t: sp.Integer(0)}), sp.eye(2)),
        ("G' = A G, so G(t) = exp(tA)", lambda: derivative(group, t), lambda: nilpotent * group),
        ("score = q.k - m D at j = i + D", scored, expected),
        ("the encoding scores the same", encoded, lambda: QUERY.dot(KEY) + expected - content),
    )
    facts = tuple(require_equal(*test) for test in tests)
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("the group fixes the d content coordinates, which enter by q.k alone, so every d follows",),
    )


def extra_coordinates(
    *, slope: Callable[[sp.Expr], sp.Expr], generator: Callable[[sp.Expr], sp.Matrix], enough: int
) -> Evidence:
    """Decide the least number of coordinates beside the content with which a unipotent group scores beta (j - i).

    `slope` is the score of one step in beta, `generator` that of the group on two coordinates.
    """
    one, facts = _with_one(slope), _with_two(slope, generator)
    least = 0 if _does_without(slope) else 1 if one == 0 else 2
    reasons = (
        "no extra coordinate: the score at q = k = 0 is 0, not beta",
        f"1 extra coordinate, lifts (q, p) and (k, r): every entry of A is 0 but A_(d+1,d+1) = {one}, so A^2 has the "
        f"entry {one**2}, which is {(one**2).subs(dict.fromkeys(one.free_symbols, 1))} at beta = p = r = 1",
        "2 extra coordinates: A = beta E has A^2 = 0 and scores q.k + beta (j - i)",
    )
    if enough != least:
        raise Refuted(reasons[min(enough, least)])
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*reasons, *facts),
        assumptions=(
            "scores (G(j) q^).(G(i)^-T k^) = q^^T G(j - i)^T k^, G(n) = I + nA, A^2 = 0, for all q and k of any d",
            "beta != 0; contents x e_a and y e_b with any a and b, so that every entry of A is met",
        ),
    )


def joint_lift(*, shear: Callable[[sp.Expr], sp.Matrix], rotated: bool) -> Evidence:
    """Decide that one group of block matrices scores the rotated content plus the linear bias."""
    i, offset, theta, slope = sp.symbols("i D theta omega", real=True)
    j = i + offset
    query, key = sp.symbols("q1 q2", real=True), sp.symbols("k1 k2", real=True)
    turns = [rotary.rotation(position * theta) for position in (j, i)]
    shears = [grape_additive.unipotent(shear(slope), position) for position in (j, i)]
    scored = grape_additive.joint_score(
        query,
        key,
        query_action=sp.diag(turns[0], shears[0]),
        key_action=sp.diag(turns[1] if rotated else turns[1].T, shears[1].inv().T),
    )
    content = rotary.score(query, key, query_position=j, key_position=i, frequency=theta)
    bias = scored - content
    tests = (
        ("R is its own inverse transpose", lambda: turns[1].T * turns[1], sp.eye(2)),
        ("score = rotated content - omega D", scored, lambda: content - slope * offset),
        ("at one position the bias is 0", lambda: bias.subs(offset, 0), sp.Integer(0)),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=(
            "the content's other planes add their own scores, so every even d follows",
            "omega > 0 takes in Lambda",
        ),
    )


def _does_without(slope: Callable[[sp.Expr], sp.Expr]) -> bool:
    """Whether (x e_a)^T A^T (y e_b) = beta for all x, y has a solution."""
    x, y, entry = sp.symbols("x y B_ab", real=True)
    beta = sp.Symbol("beta", real=True, nonzero=True)
    return sp.linsolve(sp.Poly(entry * x * y - slope(beta), x, y).coeffs(), [entry]) is not sp.S.EmptySet


def _with_one(slope: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
    """A_(d+1,d+1), from (x e_a, p)^T A^T (y e_b, r) = beta for all x, y; all else is forced to be 0."""
    x, y = sp.symbols("x y", real=True)
    p, r, beta = sp.symbols("p r beta", real=True, nonzero=True)
    entries = sp.symbols("B_ab u_a w_b z", real=True)
    block, column, row, corner = entries
    requirement = sp.Poly(block * x * y + column * x * r + row * p * y + corner * p * r - slope(beta), x, y)
    (solution,) = sp.linsolve(requirement.coeffs(), entries)
    if any(solution[:3]):
        raise Refuted(f"the content may enter: {solution}")
    return solution[3]


def _with_two(slope: Callable[[sp.Expr], sp.Expr], generator_of: Callable[[sp.Expr], sp.Matrix]) -> tuple[str, ...]:
    """The facts that the generator does it."""
    beta, position, key = sp.symbols("beta j i", real=True)
    generator = generator_of(slope(beta))
    scored = grape_additive.score(
        sp.Integer(0),
        query_action=grape_additive.unipotent(generator, position),
        key_action=_inverse_transpose(grape_additive.unipotent(generator, key)),
    )
    return (
        require_equal("A^2 = 0", product(generator, generator), sp.zeros(2, 2)),
        require_equal("score of (0, 1, 0) and (0, 0, 1)", scored, lambda: slope(beta) * (position - key)),
    )


def _inverse_transpose(matrix: sp.Matrix) -> sp.Matrix:
    return matrix.inv().T


CLAIMS = (
    Claim(
        id="grape-8",
        source=source("ALiBi as GRAPE-A"),
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
        id="grape-9",
        source=source("minimality of the lift to d + 2 coordinates"),
        statement="Two coordinates beside the content are enough for a unipotent group to score q.k + beta (j - i) for "
        "all q and k, beta != 0, and one is not.",
        latex=r"A\in\mathfrak{gl}(d{+}1),\ A^2=0,\ \hat q^\top(I+nA)^\top\hat k=q\cdot k+c+n\beta"
        r"\ \Rightarrow\ \beta=0",
        label="P",
        check=extra_coordinates,
        holds={
            "slope": lambda beta: beta,
            "generator": lambda slope: alibi.generator(slope=-slope),
            "enough": 2,
        },
        answers=("enough",),
        falsifiers={
            "beta = 0": {"slope": lambda beta: sp.S.Zero},
            "the generator transposed": {"generator": lambda slope: alibi.generator(slope=-slope).T},
            "the generator of ALiBi's sign": {"generator": lambda slope: alibi.generator(slope=slope)},
        },
    ),
    Claim(
        id="grape-11",
        source=source("Appendix E: rotation and bias in one group"),
        statement="The block matrices of exp(mL) and [[1, 0], [-m omega, 1]] score the rotated content plus "
        "-omega (j - i) (errata F10: the paper prints the entry +m omega in the upper right, which gives no bias).",
        latex=r"\mathrm{diag}\Big(e^{mL},\begin{pmatrix}1&0\\-m\omega&1\end{pmatrix}\Big):\ "
        r"q^\top e^{(i-j)L}k-\omega(j-i)",
        label="F",
        check=joint_lift,
        holds={"shear": lambda slope: -slope * grape_additive.nilpotent(), "rotated": True},
        printed={"shear": lambda slope: slope * grape_additive.nilpotent().T},
        falsifiers={
            "the printed entry, in the upper right": {"shear": lambda slope: slope * grape_additive.nilpotent().T},
            "growing with distance": {"shear": lambda slope: slope * grape_additive.nilpotent()},
            "the key turned back": {"rotated": False},
        },
    ),
)
