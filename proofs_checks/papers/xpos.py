"""xPos (arXiv 2212.10554): its relative law, its one-sided decay, overflow of its factors, and its relation to HoPE."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.proofs_checks.facts import derivative
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.rope import PLANES
from lengthgen.theory.encodings import hope, rotary

SOURCE = Source(paper="A Length-Extrapolatable Transformer (xPos)", arxiv="2212.10554")

KeyAction = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Matrix]

_HEAD_DIM = 64
_FLOAT32_ENDS = 2**128 - 2**103  # half a unit above the largest float32: larger numbers round to infinity
_FLOAT16_ENDS = 65520
_FAR = 10**5


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "xpos-1",
    "definition of the query and key maps",
    r"(X_q(j)q)\cdot(X_k(i)k)=\sum_l\zeta_l^{D/512}\,k_l^\top R_2(D\theta_l)\,q_l",
    label="P",
    assumptions=(PLANES, "exact arithmetic"),
    falsifiers={
        "the key scaled like the query": {
            "key_action": lambda position, frequency, rate: rotary.xpos_actions(
                position, frequency=frequency, rate=rate
            )[0]
        },
        "the key not scaled": {"key_action": lambda position, frequency, rate: rotary.rotation(position * frequency)},
    },
)
def relative_law(
    key_action: KeyAction = lambda position, frequency, rate: rotary.xpos_actions(
        position, frequency=frequency, rate=rate
    )[1],
) -> Facts:
    """After xPos the score depends on positions through D = j - i alone: RoPE's kernel times zeta^(D/512) in each
    plane.
    """
    i, offset, w, rate = sp.symbols("i D omega lambda", real=True)
    j = i + offset
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    kernel = rotary.xpos_kernel(offset, frequency=w, rate=rate)
    on_query = rotary.xpos_actions(j, frequency=w, rate=rate)[0]
    law = {rotary.FREQUENCY: w, rotary.XPOS_RATE: rate}
    scored = rotary.XPOS.score(query, key, query_position=j, key_position=i).subs(law)
    zeta = sp.exp(-512 * rate)
    yield "actions at j = i + D and i = X(D)", lambda: key_action(i, w, rate).T * on_query, kernel
    yield "score = k^T X(D) q", scored, lambda: (key.T * kernel * query)[0]
    yield "X(512) = zeta R(512)", lambda: kernel.subs(offset, 512), lambda: zeta * rotary.rotation(512 * w)


@CLAIMS.claim(
    "xpos-2",
    "zeta_l = (2l/d + gamma)/(1 + gamma), gamma = 0.4",
    r"\zeta_l\in[\tfrac27,1):\quad\lVert X(D)\rVert=\zeta_l^{D/512}\le 1\iff D\ge 0",
    assumptions=(PLANES,),
    falsifiers={
        "bounded in both directions": {"directions": (1, -1)},
        "zeta inverted": {"zeta": lambda plane, head_dim: 1 / rotary.xpos_zeta(plane, head_dim=head_dim)},
        "one plane more": {"zeta": lambda plane, head_dim: rotary.xpos_zeta(plane + 1, head_dim=head_dim)},
    },
)
def one_sided(
    zeta: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda plane, head_dim: rotary.xpos_zeta(plane, head_dim=head_dim),
    directions: tuple[int, ...] = (1,),
) -> Facts:
    """Every zeta is in [2/7, 1): a plane decays exponentially with the distance if the query is after the key, and
    grows without bound if the key is after the query, so xPos is only for causal attention.
    """
    plane, head_dim = sp.symbols("l d", positive=True)
    offset, w, rate = sp.symbols("D omega lambda", real=True)
    kernel = rotary.xpos_kernel(offset, frequency=w, rate=rate)
    yield "X(D)^T X(D) = exp(-2 D rate) I", lambda: kernel.T * kernel, lambda: sp.exp(-2 * offset * rate) * sp.eye(2)
    for number in range(_HEAD_DIM // 2):
        for direction in directions:
            step = zeta(sp.Integer(number), sp.Integer(_HEAD_DIM)) ** direction
            if not step < 1:
                far = sp.N(step ** sp.Rational(_FAR, 512), 4)
                raise Refuted(
                    f"d = {_HEAD_DIM}, plane {number}: the size is {sp.N(step, 4)} at D = {512 * direction}, {far} at "
                    f"D = {_FAR * direction}"
                )
    first, number = zeta(sp.S.Zero, head_dim), sp.Integer(_HEAD_DIM // 4)
    in_512 = sp.exp(-512 * rotary.xpos_rate(number, head_dim=_HEAD_DIM))
    yield f"exp(-512 rate) = zeta, plane {number}", in_512, lambda: zeta(number, sp.Integer(_HEAD_DIM))
    yield "zeta of plane 0", lambda: zeta(sp.S.Zero, head_dim), sp.Rational(2, 7)
    yield "zeta at l = d/2, which no plane has", lambda: zeta(head_dim / 2, head_dim), sp.S.One
    yield (
        "dzeta/dl = 10/(7d), > 0",
        lambda: derivative(zeta(plane, head_dim), plane),
        lambda: sp.Rational(10, 7) / head_dim,
    )
    yield (
        f"so zeta is in [2/7, 1) = [{sp.N(first, 4)}, 1) and the rate above 0: the size exp(-D rate) is at most 1 "
        "for D >= 0, and above every bound for some D < 0"
    )


@CLAIMS.claim(
    "xpos-3",
    "the factorised form of the released code, scale base 512",
    r"\zeta_0^{-n/512}\ge 2^{128}-2^{103}\iff n\ge 36261",
    assumptions=("scale base 512", "rounding to nearest"),
    answers=("first_infinite",),
    falsifiers={
        "scale base 513": {"scale_base": 513},
        "scale base 256": {"scale_base": 256},
        "gamma = 0.5": {"zeta": lambda plane, head_dim: (2 * plane / head_dim + sp.Rational(1, 2)) / sp.Rational(3, 2)},
    },
)
def overflow(
    zeta: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda plane, head_dim: rotary.xpos_zeta(plane, head_dim=head_dim),
    scale_base: int = 512,
    first_infinite: int = 36261,
) -> Facts:
    """Computed with factors of absolute positions, xPos overflows: in float32 the key factor of plane 0 is infinite
    from position 36261 on, at every head width.
    """
    head_dim = sp.Symbol("d", positive=True)
    step, last = 1 / zeta(sp.S.Zero, head_dim), sp.Integer(_FLOAT32_ENDS) ** scale_base
    for position, infinite in ((first_infinite - 1, False), (first_infinite, True)):
        if (step**position >= last) != infinite:
            power = sp.N(step ** sp.Rational(position, scale_base), 4)
            raise Refuted(
                f"the key factor of plane 0 at position {position} is {power}; float32 ends at "
                f"{sp.N(_FLOAT32_ENDS, 4)}, so it is {'finite' if infinite else 'infinite'} there"
            )
    first = rotary.xpos_first_infinite_key(0, head_dim=head_dim, ends=_FLOAT32_ENDS)
    if first != first_infinite:
        raise Refuted(f"the logarithm has the first infinite factor at {first}, not at {first_infinite}")
    half = rotary.xpos_first_infinite_key(0, head_dim=head_dim, ends=_FLOAT16_ENDS)
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
    assumptions=(PLANES, "C/sqrt(2), C = [[1, 1], [1, -1]], is orthogonal and absorbed in W_q, W_k"),
    falsifiers={"with a rotation": {"frequency": sp.Symbol("omega", positive=True)}},
)
def real_hope(frequency: sp.Expr = sp.S.Zero) -> Facts:
    """xPos without rotation, with a free rate for each channel, is real HoPE in another basis; with a rotation it is
    not.
    """
    offset, theta, damping = sp.symbols("D theta theta'", real=True)
    cone = sp.Matrix([[1, 1], [1, -1]])
    boosted = cone * hope.kernel(offset, rate=theta, damping=damping) * cone / 2
    channels = [
        rotary.xpos_kernel(offset, frequency=frequency, rate=rate) for rate in (damping - theta, damping + theta)
    ]
    paired = sp.diag(channels[0][0, 0], channels[1][0, 0])
    slow, fast = sp.symbols("a b", real=True)
    rates = {theta: (fast - slow) / 2, damping: (fast + slow) / 2}
    step, boost = (
        matrix.trace() ** 2 - 4 * matrix.det()
        for matrix in (
            rotary.xpos_kernel(sp.S.One, frequency=theta, rate=damping),
            hope.kernel(sp.S.One, rate=theta, damping=damping),
        )
    )
    yield "C H(D) C^-1 = diag of xPos at the rates theta' -+ theta", boosted, paired
    yield (
        "any rates a, b: theta = (b - a)/2, theta' = (a + b)/2",
        lambda: sp.Matrix([damping - theta, damping + theta]).subs(rates),
        lambda: sp.Matrix([slow, fast]),
    )
    yield "both channels of xPos alike: theta = 0", lambda: channels[0].subs(theta, 0), lambda: paired.subs(theta, 0)
    yield (
        "discriminant of X(1): -(2 e^-rate sin(omega))^2",
        step,
        lambda: -((2 * sp.exp(-damping) * sp.sin(theta)) ** 2),
    )
    yield (
        "discriminant of H(1): (2 e^-theta' sinh(theta))^2",
        boost,
        lambda: (2 * sp.exp(-damping) * sp.sinh(theta)) ** 2,
    )
    yield (
        "P^T H(D) Q = X(D) at D = 0 and 1 makes X(1) similar to H(1), whose discriminant is not negative: so with "
        "sin(omega) not 0 no real basis makes them equal"
    )
