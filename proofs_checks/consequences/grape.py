"""GRAPE as released: gains after the rotation, probes that are turned alone, and gates that rise with the content."""

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.theory.domains import in_domain
from lengthgen.theory.encodings import grape, rotary
from lengthgen.theory.zero.sympy_engine import Undecided

CLAIMS = PaperClaims(SOURCE)
FIRST, SECOND = sp.symbols("c_1 c_2", real=True)
"""Products of the query's and the key's gain on the two coordinates of a rotated pair."""


def _kernel(query: sp.Expr, key: sp.Expr, frequency: sp.Expr, first: sp.Expr, second: sp.Expr) -> sp.Matrix:
    """The matrix R(j)^T C R(i)."""
    on_query, on_key = rotary.rotation(query * frequency), rotary.rotation(key * frequency)
    return on_query.T * sp.diag(first, second) * on_key


@CLAIMS.claim(
    "grape-14",
    "the released code: RMSNorm of queries and keys with a learned gain, after the rotation",
    r"R(j)^\top\mathrm{diag}(c_1,c_2)R(i)=f(j-i)\iff c_1=c_2,\quad c=\gamma_q\gamma_k",
    assumptions=(
        "omega not a multiple of pi, where R(i + j) is constant up to its sign",
        "plane by plane",
        "in words: a multiple of R(i + j)^T S depends on j - i alone only if it is 0",
    ),
    falsifiers={"any gains": {"second": SECOND}, "gains of opposite sign": {"second": -FIRST}},
)
def gains_after_rotation(first: sp.Expr = FIRST, second: sp.Expr = FIRST) -> Facts:
    """With gains after the rotation scores depend on j - i alone if and only if the product of the query's and the
    key's gain is the same on both coordinates of every rotated pair (errata F12).
    """
    i, D, s, w = sp.symbols("i D s omega", real=True)

    def expected() -> sp.Matrix:
        turn, reflected = rotary.rotation(D * w).T, rotary.rotation((2 * i + D) * w).T * sp.diag(1, -1)
        return (FIRST + SECOND) / 2 * turn + (FIRST - SECOND) / 2 * reflected

    yield (
        "the kernel at i + s, j + s is that at i, j",
        lambda: _kernel(i + D + s, i + s, w, first, second),
        lambda: _kernel(i + D, i, w, first, second),
    )
    split = "R(j)^T C R(i) = (c_1 + c_2)/2 R(j - i)^T + (c_1 - c_2)/2 R(i + j)^T S"
    yield split, lambda: _kernel(i + D, i, w, FIRST, SECOND), expected
    yield "S = diag(1, -1): the second part goes with i + j, and vanishes only for c_1 = c_2"
    near, far = (float(_kernel(sp.Integer(key + 1), sp.Integer(key), sp.S.One, 1, 4)[0, 0].evalf(20)) for key in (0, 1))
    yield f"gains (1, 2), omega = 1, q = k = (1, 0): scores {near:.4f} at (0, 1) and {far:.4f} at (1, 2)"


def _affinity(query: sp.Matrix, token: sp.Matrix, at_query: sp.Expr, at_token: sp.Expr) -> sp.Expr:
    return grape.affinity(query, token, query_position=at_query, token_position=at_token)


def _one_sided(query: sp.Matrix, token: sp.Matrix, at_query: sp.Expr, at_token: sp.Expr) -> sp.Expr:
    return _affinity(query, token, sp.S.Zero, at_token)


def _change(affinity: Formula) -> float:
    """Change of b(8, 0) when all positions are shifted by 3, for one constant probe, normalised by RMS."""
    probe = sp.Matrix([sp.sqrt(2), 0])

    def bias(shift: int) -> sp.Expr:
        edges = (affinity(probe, probe, sp.Integer(8 + shift), sp.Integer(token + shift)) for token in range(1, 9))
        return sp.Add(*(grape.affinity_potential(edge, slope=sp.S.One, probe_dim=sp.Integer(2)) for edge in edges))

    return abs(float((bias(3) - bias(0)).evalf(20)))


@CLAIMS.claim(
    "grape-16",
    "edge potentials of GRAPE-AP, which turn the token's probe alone; the released code does too",
    r"\langle R_{j+s}p_j,R_{l+s}p_l\rangle=\langle R_jp_j,R_lp_l\rangle",
    assumptions=("plane by plane, so every even d_p follows",),
    falsifiers={
        "the token's probe alone is turned": {"affinity": _one_sided},
        "the query's probe is turned back": {"affinity": lambda query, token, j, at: _affinity(query, token, -j, at)},
    },
)
def origin(affinity: Formula = _affinity) -> Facts:
    """With both probes rotated, <R_j p_j, R_l p_l>, GRAPE-AP does not depend on where positions begin; with only the
    token's probe rotated it can (errata F12).
    """
    j, token, s = sp.symbols("j l s", real=True)
    p, r = sp.symbols("p1 p2", real=True), sp.symbols("r1 r2", real=True)
    here, turn = affinity(p, r, j, token), rotary.rotation(token - j)
    yield "affinity at j + s, l + s = affinity at j, l", lambda: affinity(p, r, j + s, token + s), here
    yield "affinity = p.R2(l - j) r", here, lambda: sp.Matrix(p).dot(turn * sp.Matrix(r))
    one_sided = _change(_one_sided)
    example = f"one-sided, all probes (sqrt 2, 0), d_p = 2, slope 1: b(8, 0) changes by {one_sided:.2f}"
    refute(one_sided < sp.Rational(1, 10), example)
    yield f"{example} under a shift of 3"


@CLAIMS.claim(
    "grape-gated",
    "the released code: gates along vectors of length 1; ALiBi as a special case",
    r"\lambda(x)=\log(1+e^{w\cdot x/\sqrt d}),\ |w|=1:\quad\lambda\ \text{is not constant}",
    assumptions=("|w| = 1, as in the released code; queries and keys take all values",),
    falsifiers={
        "w = 0": {"gate": lambda along: grape.content_gate(0 * along)},
        "a gate of the length of w": {"gate": lambda along: grape.content_gate(sp.Integer(1))},
    },
)
def rising_gates(gate: Formula = grape.content_gate) -> Facts:
    """Gated GRAPE-A is ALiBi for no values of its parameters: a gate is softplus of the content along a vector of
    length 1 and rises with it, so no slope is the same for all content.
    """
    z, x, slope = sp.Symbol("z", real=True), sp.Symbol("x", positive=True), sp.Symbol("omega", positive=True)
    rate, at_zero = sp.simplify(gate(z).diff(z).subs(z, sp.log(x))), gate(sp.S.Zero)
    refute(rate == 0, f"the slope is omega times {2 * gate(z)} for all content: ALiBi of that slope")
    if not rate.is_positive:
        raise Undecided(f"the sign of {rate}")
    for constant in (sp.Rational(1, 2), sp.log(2)):
        inside = in_domain(grape.GATED.parameters[1], constant)
        refute(inside, f"the encoding's domain has the gate {constant} for all content")
    yield same_by_sympy("gate'(z) at z = log x, which is positive", rate, x / (1 + x))
    yield f"two queries q and 2q with w.q > 0 have different slopes: omega ({gate(z)} + gate of the key)"
    yield same_by_sympy("gate of content across w", at_zero, sp.log(2))
    yield f"content across w has the slope {2 * slope * at_zero}"
