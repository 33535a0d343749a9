"""HoPE: the share of content that decays, far keys under softmax, diagonal form, and planes that reach far."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import flint
import sympy as sp

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.facts import Formula, ball, derivative, product
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.hope import GAP, KEY, OFFSET, QUERY, SOURCE, THETA, decaying
from lengthgen.theory.encodings import hope, rotary

CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "hope-4-gaussian",
    "monotone decay of attention",
    r"\Pr=\tfrac14\Big(1+\tfrac4{\pi^2}\big(\chi_2(r)-\ln r\,\mathrm{artanh}\,r\big)\Big),\quad "
    r"r=\tfrac{\theta'-\theta}{\theta'+\theta}",
    strength=Strength.INTERVAL,
    assumptions=(
        "one plane, D over the reals from 0 on",
        "in words: P/2 and N/2 are independent, each a product of two independent standard normals",
    ),
    answers=("share",),
    falsifiers={
        "theta' = 2": {"damping": sp.Integer(2)},
        "theta' = 1.11": {"damping": sp.Rational(111, 100)},
        "theta = 1/2": {"theta": sp.Rational(1, 2)},
    },
)
def gaussian_share(
    theta: sp.Rational = sp.S.One,
    damping: sp.Rational = sp.Rational(11, 10),
    share: Sequence[sp.Rational] = (sp.Rational(2695, 10000), sp.Rational(2696, 10000)),
) -> Facts:
    """26.95 % of independent standard normal q and k, at theta = 1 and theta' = 1.1, have a score that never rises with
    the real distance D >= 0.

    P/2 and N/2 are independent, each a product of two independent standard normals. With r = slow/fast the margins are
    not negative for P >= 0 and N >= -r P, which has probability (1 + c)/4 with c = Pr(|N| <= r |P|). |N/P| is a product
    of two independent |Cauchy| variables: its density is the integral over s of (2/pi)^2 s / ((1 + s^2)(s^2 + t^2)).
    """
    s, t, x, y, r = sp.symbols("s t x y r", positive=True)
    log_r, artanh_r = sp.symbols("log(r) artanh(r)")
    law = {"rate": theta, "damping": damping}
    slow, fast = hope.decay_rates(**law)
    ratio, plain = sp.Rational(slow, fast), hope.falling_margins((x, y), (1, 0), **law)
    primitive = sp.log((1 + s**2) / (s**2 + t**2)) / (2 * (t**2 - 1))
    yield "margins of k = (1, 0): P", lambda: hope.falling_margins((x, y), (1, 0), **law)[0], x + y
    yield "margins of k = (1, 0): slow P + fast N", lambda: plain[1], lambda: slow * (x + y) + fast * (x - y)
    integrand = "d/ds log((1 + s^2)/(s^2 + t^2)) / (2 (t^2 - 1)) = s/((1 + s^2)(s^2 + t^2))"
    yield integrand, lambda: derivative(primitive, s), lambda: s / ((1 + s**2) * (s**2 + t**2))
    yield "so the density of |N/P| is 4/pi^2 log t/(t^2 - 1), and c = 4/pi^2 (chi_2(r) - log r artanh r):"
    slope_of_share = "its derivative, as d chi_2/dr = artanh(r)/r and d artanh/dr = 1/(1 - r^2); both vanish at r = 0"
    yield slope_of_share, lambda: artanh_r / r - (artanh_r / r + log_r / (1 - r**2)), lambda: log_r / (r**2 - 1)
    with flint.ctx.workprec(100):  # chi_2(r) is the sum of r^n / n^2 over odd n
        at = ball(ratio)
        chi = (at.polylog(2) - (-at).polylog(2)) / 2
        enclosed = (1 + 4 / flint.arb.pi() ** 2 * (chi - at.log() * at.atanh())) / 4
    what = f"share at theta = {theta}, theta' = {damping}, r = {ratio}"
    within = ball(share[0]) < enclosed < ball(share[1])
    refute(not within, f"{what}: {enclosed.str(6)} is not between {share[0]} and {share[1]}")
    yield f"{what}: {enclosed.str(10)}"


@CLAIMS.claim(
    "hope-5-uniform",
    "decay of attention weights with distance",
    r"e^{-2C}/T\le a_{ij}\le e^{2C}/T,\quad C=\max_j\tfrac12(|P_j|+|N_j|)",
    assumptions=(
        "one plane; in a head each key has the sum of its planes, over sqrt(d)",
        "finite content, any T and distances",
        "in words: logits are in [-C, C]; a weight is least if its logit is -C and all others C, largest if reversed",
    ),
    falsifiers={
        "theta' below theta": {"damping": lambda theta, gap: theta - gap},
        "at least e^-C/T": {"spread": 1},
        "at least 1/T": {"spread": 0},
    },
)
def uniform(damping: Formula = lambda theta, gap: theta + gap, spread: int = 2) -> Facts:
    """A key at any distance has at least the weight e^(-2C)/T among T keys, C the largest (|P| + |N|)/2 of a key: no
    key is forgotten, and the nearest n have at most the weight n e^(2C)/T together.

    If both channels decay, all logits lie in [-C, C], so a weight is least if its own logit is -C and all others are C.
    """
    C, T = sp.Symbol("C", positive=True), sp.Symbol("T", integer=True, positive=True)
    law: dict[str, Any] = {"rate": THETA, "damping": damping(THETA, GAP)}
    channels = decaying(QUERY, KEY, OFFSET, law)
    yield "score", lambda: hope.score(QUERY, KEY, offset=OFFSET, **law), channels
    for name, rate in zip(("slow", "fast"), hope.decay_rates(**law), strict=True):
        factor = sp.N(sp.exp(-10 * rate.subs({THETA: 1, GAP: sp.Rational(1, 10)})), 6)
        grows = f"its factor at D = 10 is {factor} > 1 for theta = 1, g = 1/10, so C is no bound"
        refute(not rate.is_positive, f"{name} channel: {grows}")
        yield f"{name} channel: the rate {rate} > 0, so its factor is at most 1"
    own, others = sp.exp(-C), (T - 1) * sp.exp(C)
    least, bound = own / (own + others), sp.exp(-spread * C) / T
    example = {C: 2, T: 100}
    at_least, stated = (sp.N(value.subs(example), 5) for value in (least, bound))
    refute(at_least < stated, f"C = 2, T = 100: the least weight is {at_least}, below {stated}")
    most = sp.exp(C) / (sp.exp(C) + (T - 1) * sp.exp(-C))
    room = (least - bound) * (own + others) * T
    rest = (sp.exp(2 * C) / T - most) * (sp.exp(C) + (T - 1) * sp.exp(-C)) * T
    yield "(least - e^(-2C)/T) T (sum) = e^-C - e^-3C > 0", room, lambda: sp.exp(-C) - sp.exp(-3 * C)
    yield "(e^(2C)/T - most) T (sum) = e^3C - e^C > 0", rest, lambda: sp.exp(3 * C) - sp.exp(C)


@CLAIMS.claim(
    "hope-7",
    "definition of the query and key maps",
    r"\tfrac12L^\top H(D)L=\mathrm{diag}\big(e^{-D(\theta'-\theta)},e^{-D(\theta'+\theta)}\big),\quad "
    r"L=\begin{pmatrix}1&1\\1&-1\end{pmatrix}",
    assumptions=(
        "plane by plane, so every even d follows",
        "the basis is absorbed by W_q and W_k",
        "in words: two planes give four channels no other rates than their own (hope-6-real)",
    ),
    answers=("in_reach",),
    falsifiers={
        "channels that turn, as RoPE's": {"channel": lambda rate, offset: sp.cos(rate * offset)},
        "channels that grow": {"channel": lambda rate, offset: sp.exp(rate * offset)},
        "rates 1, 2, 3, 4": {"rates": (1, 2, 3, 4)},
    },
)
def diagonal(
    channel: Formula = lambda rate, offset: sp.exp(-rate * offset),
    rates: Sequence[int] = (1, 2, 3, 5),
    in_reach: bool = False,
) -> Facts:
    """In the light-cone basis, which W_q and W_k absorb, a plane of HoPE is two channels that decay at theta' - theta
    and theta' + theta: xPos without rotation.  Any two rates above 0 are those of some plane; in planes with the same
    theta' the two rates have the same sum, so 1, 2, 3, 5 are not the rates of two planes.

    A head of two planes has four rates. To give four channels of other rates it must have exactly these rates, because
    each eigenvalue of the wanted step is one of HoPE's (the argument of hope-6-real).
    """
    D, theta, damping = sp.symbols("D theta theta'", real=True)
    first, second = sp.symbols("lambda1 lambda2", positive=True)
    law = {"rate": theta, "damping": damping}
    slow, fast = hope.decay_rates(**law)
    L = hope.light_cone()

    def plane() -> dict[str, sp.Expr]:
        return dict(zip(("rate", "damping"), hope.plane_with(slow=first, fast=second), strict=True))

    rate, damped = plane().values()
    yield "L^T L = 2 I: orthogonal but for the scale", product(L.T, L), 2 * sp.eye(2)
    channels = "L^T H(D) L / 2 is diagonal"
    yield channels, lambda: L.T * hope.kernel(D, **law) * L / 2, lambda: sp.diag(channel(slow, D), channel(fast, D))
    stated = sp.Matrix([first, second])
    yield "any rates lambda1 < lambda2 are a plane's", lambda: sp.Matrix(hope.decay_rates(**plane())), stated
    yield "its theta' - theta = lambda1 > 0", lambda: damped - rate, first
    yield "slow + fast = 2 theta' in every plane", lambda: slow + fast, lambda: 2 * damping
    paired = next((f"{a} + {b} and {c} + {d}" for a, b, c, d in permutations(rates) if a + b == c + d), "")
    sums, where = paired or "no two pairs have one sum", f"rates {tuple(rates)}"
    refute(bool(paired) != in_reach, f"{where} over two planes of one theta': {sums}")
    yield f"{where} {'are' if in_reach else 'are not'} those of two planes of one theta'"


@CLAIMS.claim(
    "hope-10",
    "one damping theta' for all planes, with RoPE's frequencies",
    r"\#\{l: e^{-64(\theta'-\theta_l)}>10^{-3}\}\le 1",
    strength=Strength.INTERVAL,
    assumptions=(
        "any theta' > max theta = 1; the larger it is, the less is kept; base 10000",
        "the slow channel, which bounds the plane's signal",
    ),
    answers=("planes",),
    falsifiers={
        "at distance 8": {"distance": 8},
        "of a head of 256": {"head_dim": 256},
        "at most a part in 10^9": {"kept": sp.Rational(1, 10**9)},
    },
)
def alive(head_dim: int = 64, distance: int = 64, kept: sp.Rational = sp.Rational(1, 1000), planes: int = 1) -> Facts:
    """With RoPE's frequencies and any theta' > 1, at most 1 of the 32 planes of a head of 64 keeps more than a
    thousandth of its signal at distance 64.

    A channel keeps e^(-D (theta' - theta)), which falls with theta'; so theta' = max theta bounds all of them.
    """
    frequencies = rotary.frequencies(head_dim)
    bound, limit = max(frequencies, key=float), ball(kept)
    slow = [hope.decay_rates(rate=frequency, damping=bound)[0] for frequency in frequencies]
    shares = [ball(sp.exp(-distance * rate)) for rate in slow]
    near = [plane for plane, share in enumerate(shares) if not (share > limit or share < limit)]
    if near:
        raise RuntimeError(f"planes {near} are too near {kept}")
    above = [plane for plane, share in enumerate(shares) if share > limit]
    few = ", ".join(f"plane {plane}: {shares[plane].str(4, radius=False)}" for plane in range(min(3, len(shares))))
    keep = f"keep more than {float(kept)} at D = {distance}"
    refute(len(above) != planes, f"{len(above)} of {len(shares)} planes {keep}, not {planes}: {few}")
    middle = len(shares) // 2
    yield f"theta' -> {bound}: planes {above} of {len(shares)} {keep}"
    yield f"plane 1 keeps {shares[1].str(4)}, plane {middle} {shares[middle].str(4)}"
