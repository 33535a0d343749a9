"""What HoPE has to do with RoPE: its analytic continuation, and nothing else (errata F5)."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal, same_by_sympy
from proofs_checks.papers.hope.source import source
from theory import exact
from theory.encodings import hope, rotary


def rope_by_continuation(*, rate_unit: sp.Expr, damping: sp.Expr, basis: sp.Matrix) -> Evidence:
    """Decide that HoPE at the rate rate_unit * theta, in the given basis, is RoPE's rotation and RoPE's score."""
    i, offset, m, theta = sp.symbols("i D m theta", real=True)
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    inverse = basis.inv()
    pair_kernel = hope.kernel(offset, rate=rate_unit * theta, damping=damping)
    scored = ((basis * query).T * pair_kernel * inverse * key)[0]
    roped = rotary.score(query, key, query_position=i + offset, key_position=i, frequency=theta)
    facts = (
        require_equal(
            "C^-1 H(m) C = R2(m theta)",
            lambda: inverse * hope.kernel(m, rate=rate_unit * theta, damping=damping) * basis,
            lambda: rotary.rotation(m * theta),
        ),
        require_equal("HoPE's score of C q and C^-1 k = RoPE's score of q and k", scored, roped),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("plane by plane, so every even d follows",))


def no_real_rope(
    *, parameters: sp.Set, rotation: Callable[[sp.Expr], sp.Matrix], reproduced_period: sp.Expr
) -> Evidence:
    """Decide which RoPE frequencies HoPE reproduces with parameters and bases in the set: the period's multiples.

    Suppose real matrices P, Q (absorbed in W_q, W_k; of any shape) give P^T H(D) Q = R(-D) for every offset D >= 0,
    with H and R direct sums of planes.  As H(D) = H(1)^D, a polynomial p with p(H(1)) = 0 has p(R(-1)) =
    P^T p(H(1)) Q = 0; for p the product of the planes' characteristic polynomials, each eigenvalue exp(iw) of R(-1) is
    one of H(1).
    """
    m, n, x, w = sp.symbols("m n x omega", real=True)
    if sp.I in parameters:
        basis = sp.diag(1, sp.I)
        inverse = basis.inv()
        require_equal(
            "analytic continuation",
            lambda: inverse * hope.kernel(m, rate=sp.I * w, damping=sp.Integer(0)) * basis,
            lambda: rotary.rotation(m * w),
        )
        raise Refuted("theta = i w, theta' = 0 in the basis diag(1, i) is RoPE at every frequency w")
    theta, damping = sp.symbols("theta theta'", real=parameters.is_subset(sp.S.Reals))
    law = {"rate": theta, "damping": damping}
    one_step, two_steps = hope.kernel(m, **law), hope.kernel(m, **law) * hope.kernel(n, **law)
    step_polynomial = _characteristic(one_step.subs(m, 1), x)
    rope_polynomial = _characteristic(rotation(w), x)
    slow, fast = hope.decay_factors(**law)
    if not (slow.is_positive and fast.is_positive):
        raise exact.Undecided(f"the eigenvalues {slow} and {fast} of HoPE's step are not known to be positive")
    turn = sp.exp(sp.I * w)
    tests = (
        ("H(0) = I", lambda: one_step.subs(m, 0), sp.eye(2)),
        ("H(m) H(n) = H(m + n)", two_steps, lambda: hope.kernel(m + n, **law)),
        ("HoPE's step has positive eigenvalues", step_polynomial, lambda: (x - slow) * (x - fast)),
        ("RoPE's step has the eigenvalues exp(iw), exp(-iw)", rope_polynomial, lambda: (x - turn) * (x - 1 / turn)),
        (
            "RoPE's discriminant is -(2 sin w)^2",
            sp.discriminant(rope_polynomial, x),
            lambda: -((2 * sp.sin(w)) ** 2),
        ),
    )
    facts = tuple(require_equal(*test) for test in tests)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "exp(iw) > 0 only for w in 2 pi Z", *_reproduced_exactly(rotation, reproduced_period)),
        assumptions=("offsets D = 0, 1, 2, ...", "any even widths of both heads, any real W_q and W_k"),
    )


def _reproduced_exactly(rotation: Callable[[sp.Expr], sp.Matrix], period: sp.Expr) -> list[str]:
    """That the frequencies with exp(iw) = 1, those of 2 pi Z, are exactly the multiples of the period."""
    offset, nothing = sp.Symbol("D", integer=True), sp.Integer(0)
    trivial = hope.kernel(offset, rate=nothing, damping=nothing)
    facts = []
    for frequency in (nothing, 2 * sp.pi):
        facts.append(same_by_sympy(f"RoPE at w = {frequency} = trivial HoPE", rotation(offset * frequency), trivial))
        if not (frequency / period).is_integer:
            raise Refuted(f"w = {frequency} is reproduced by theta = theta' = 0")
    return [*facts, same_by_sympy(f"RoPE's step at w = {period} = trivial HoPE", rotation(period), trivial)]


def _characteristic(matrix: sp.Matrix, variable: sp.Symbol) -> sp.Expr:
    return (variable * sp.eye(2) - matrix).det()


_HOPE_TO_ROPE = "recovery of RoPE as a special case"

CLAIMS = (
    Claim(
        id="hope-6-complex",
        source=source(_HOPE_TO_ROPE),
        statement="With an imaginary rate, no damping and the basis diag(1, i), HoPE is RoPE (errata F5: as a 'special "
        "case' RoPE needs all three).",
        latex=r"C^{-1}B(i\theta, m)\,C = R_2(m\theta),\quad C=\mathrm{diag}(1,i),\ \theta'=0",
        label="F",
        check=rope_by_continuation,
        holds={"rate_unit": sp.I, "damping": sp.Integer(0), "basis": sp.ImmutableMatrix(sp.diag(1, sp.I))},
        falsifiers={
            "real rate": {"rate_unit": sp.Integer(1)},
            "with damping": {"damping": sp.Integer(1)},
            "without the change of basis": {"basis": sp.ImmutableMatrix(sp.eye(2))},
        },
    ),
    Claim(
        id="hope-6-real",
        source=source(_HOPE_TO_ROPE),
        statement="No real parameters of HoPE, with any real W_q and W_k, give RoPE's score at every offset, unless "
        "every frequency of RoPE is a multiple of 2 pi, where RoPE is constant and trivial HoPE gives it.",
        latex=r"P^\top H^D Q = R^{-D}\ \forall D\ge 0\ \Rightarrow\ \omega\in 2\pi\mathbb{Z}",
        label="F",
        check=no_real_rope,
        holds={"parameters": sp.S.Reals, "rotation": rotary.rotation, "reproduced_period": 2 * sp.pi},
        answers=("reproduced_period",),
        falsifiers={
            "complex parameters and bases": {"parameters": sp.S.Complexes},
            "RoPE at half the angle": {"rotation": lambda angle: rotary.rotation(angle / 2)},
            "RoPE at twice the angle": {"rotation": lambda angle: rotary.rotation(2 * angle)},
            "boosts for rotations": {"rotation": hope.boost},
        },
    ),
)
