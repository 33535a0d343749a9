"""xPos decays to one side alone, its factors overflow, and without its rotation it is real HoPE."""

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, derivative, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.rope import PLANES
from lengthgen.proofs_checks.papers.xpos import SOURCE
from lengthgen.theory.encodings import hope, rotary

CLAIMS = PaperClaims(SOURCE)
_HEAD_DIM = 64
_FLOAT32_ENDS = 2**128 - 2**103  # half a unit above the largest float32: larger numbers round to infinity
_FLOAT16_ENDS = 65520
_FAR = 10**5


def _zeta(plane: sp.Expr, head_dim: sp.Expr) -> sp.Expr:
    return rotary.xpos_zeta(plane, head_dim=head_dim)


@CLAIMS.claim(
    "xpos-2",
    "zeta_l = (2l/d + gamma)/(1 + gamma), gamma = 0.4",
    r"\zeta_l\in[\tfrac27,1):\quad\lVert X(D)\rVert=\zeta_l^{D/512}\le 1\iff D\ge 0",
    assumptions=(PLANES,),
    falsifiers={
        "bounded in both directions": {"directions": (1, -1)},
        "zeta inverted": {"zeta": lambda plane, head_dim: 1 / _zeta(plane, head_dim)},
        "one plane more": {"zeta": lambda plane, head_dim: _zeta(plane + 1, head_dim)},
    },
)
def one_sided(zeta: Formula = _zeta, directions: tuple[int, ...] = (1,)) -> Facts:
    """Every zeta is in [2/7, 1): a plane decays exponentially with the distance if the query is after the key, and
    grows without bound if the key is after the query, so xPos is only for causal attention.
    """
    plane, head_dim = sp.symbols("l d", positive=True)
    offset, w, rate = sp.symbols("D omega lambda", real=True)
    kernel, width = rotary.xpos_kernel(offset, frequency=w, rate=rate), sp.Integer(_HEAD_DIM)
    yield "X(D)^T X(D) = exp(-2 D rate) I", lambda: kernel.T * kernel, lambda: sp.exp(-2 * offset * rate) * sp.eye(2)
    for number in range(_HEAD_DIM // 2):
        for direction in directions:
            step = zeta(sp.Integer(number), width) ** direction
            near, far = (f"{sp.N(step ** sp.Rational(at, 512), 4)} at D = {at * direction}" for at in (512, _FAR))
            refute(not step < 1, f"d = {_HEAD_DIM}, plane {number}: the size is {near}, {far}")
    middle = width / 4
    in_512 = sp.exp(-512 * rotary.xpos_rate(middle, head_dim=_HEAD_DIM))
    apart = sp.simplify(sp.exp(-512 * rotary.xpos_rate(plane, head_dim=head_dim)) - zeta(plane, head_dim))
    yield f"exp(-512 rate) = zeta, plane {middle}", in_512, lambda: zeta(middle, width)
    yield same_by_sympy("exp(-512 rate) - zeta, plane l of any d", apart, sp.S.Zero)
    yield "zeta of plane 0", lambda: zeta(sp.S.Zero, head_dim), sp.Rational(2, 7)
    yield "zeta at l = d/2, which no plane has", lambda: zeta(head_dim / 2, head_dim), sp.S.One
    slope = "dzeta/dl = 10/(7d), > 0"
    yield slope, lambda: derivative(zeta(plane, head_dim), plane), lambda: sp.Rational(10, 7) / head_dim
    yield (
        f"so zeta is in [2/7, 1) = [{sp.N(zeta(sp.S.Zero, head_dim), 4)}, 1) and the rate above 0: the size "
        "exp(-D rate) is at most 1 for D >= 0, and above every bound for some D < 0"
    )


@CLAIMS.claim(
    "xpos-3",
    "the factorised form of the released code, scale base 512",
    r"\zeta_0^{-n/512}\ge 2^{128}-2^{103}\iff n\ge 36261",
    assumptions=("scale base 512", "the exact factor, rounded to nearest"),
    answers=("first_infinite",),
    falsifiers={
        "scale base 513": {"scale_base": 513},
        "scale base 256": {"scale_base": 256},
        "gamma = 0.5": {"zeta": lambda plane, head_dim: (2 * plane / head_dim + sp.Rational(1, 2)) / sp.Rational(3, 2)},
    },
)
def overflow(zeta: Formula = _zeta, scale_base: int = 512, first_infinite: int = 36261) -> Facts:
    """Computed with factors of absolute positions, xPos overflows: in float32 the key factor of plane 0 is infinite
    from position 36261 on, at every head width.
    """
    head_dim = sp.Symbol("d", positive=True)
    step, last = 1 / zeta(sp.S.Zero, head_dim), sp.Integer(_FLOAT32_ENDS) ** scale_base
    for position, infinite in ((first_infinite - 1, False), (first_infinite, True)):
        power, stated = sp.N(step ** sp.Rational(position, scale_base), 4), "finite" if infinite else "infinite"
        ends = f"float32 ends at {sp.N(_FLOAT32_ENDS, 4)}, so it is {stated} there"
        wrong = (step**position >= last) != infinite
        refute(wrong, f"the key factor of plane 0 at position {position} is {power}; {ends}")
    first, half = (
        rotary.xpos_first_infinite_key(0, head_dim=head_dim, ends=ends) for ends in (_FLOAT32_ENDS, _FLOAT16_ENDS)
    )
    refute(first != first_infinite, f"the logarithm has the first infinite factor at {first}, not at {first_infinite}")
    yield (
        f"({step})^{first - 1} < (2^128 - 2^103)^512 <= ({step})^{first}, compared as whole numbers: from position "
        f"{first} on, in either direction, a factor is infinite in float32"
    )
    yield f"in float16 from {half}; positions centred at 0 reach {2 * first - 1} in all"
    yield (
        f"zeta_0 = {1 / step} at every d, and the factor grows with the position; other planes overflow later, as "
        "zeta grows with l (xpos-2)"
    )


@CLAIMS.claim(
    "xpos-4",
    "xPos without its rotation",
    r"C\,H(D)\,C^{-1}=\mathrm{diag}\big(e^{-D(\theta'-\theta)},e^{-D(\theta'+\theta)}\big)",
    assumptions=(
        PLANES,
        "C/sqrt(2), C = [[1, 1], [1, -1]], is orthogonal and absorbed in W_q, W_k",
        "in words: a rotated plane is not HoPE in a head of several planes either (hope-6-real)",
    ),
    falsifiers={"with a rotation": {"frequency": sp.Symbol("omega", positive=True)}},
)
def real_hope(frequency: sp.Expr = sp.S.Zero) -> Facts:
    """xPos without rotation, with a free rate for each channel, is real HoPE in another basis, with a theta' of its own
    in each plane; with a rotation by no multiple of pi it is not.
    """
    offset, theta, damping, slow, fast = sp.symbols("D theta theta' a b", real=True)
    cone, rates = sp.Matrix([[1, 1], [1, -1]]), sp.Matrix([damping - theta, damping + theta])
    boosted = cone * hope.kernel(offset, rate=theta, damping=damping) * cone / 2
    lower, upper = (rotary.xpos_kernel(offset, frequency=frequency, rate=rate) for rate in rates)
    paired, chosen = sp.diag(lower[0, 0], upper[0, 0]), {theta: (fast - slow) / 2, damping: (fast + slow) / 2}
    yield "C H(D) C^-1 = diag of xPos at the rates theta' -+ theta", boosted, paired
    any_rates = "any rates a, b: theta = (b - a)/2, theta' = (a + b)/2"
    yield any_rates, lambda: rates.subs(chosen), lambda: sp.Matrix([slow, fast])
    yield "both channels of xPos alike: theta = 0", lambda: lower.subs(theta, 0), lambda: paired.subs(theta, 0)
    turn = rotary.xpos_kernel(sp.S.One, frequency=theta, rate=damping)
    turning = "discriminant of X(1): -(2 e^-rate sin(omega))^2"
    yield turning, turn.trace() ** 2 - 4 * turn.det(), lambda: -((2 * sp.exp(-damping) * sp.sin(theta)) ** 2)
    boost = hope.kernel(sp.S.One, rate=theta, damping=damping)
    growing = "discriminant of H(1): (2 e^-theta' sinh(theta))^2"
    yield growing, boost.trace() ** 2 - 4 * boost.det(), lambda: (2 * sp.exp(-damping) * sp.sinh(theta)) ** 2
    yield (
        "P^T H(D) Q = X(D) at D = 0 and 1 makes X(1) similar to H(1), whose discriminant is not negative: so with "
        "sin(omega) not 0 no real basis makes them equal"
    )
