"""HoPE's boost: the relative law of its scores, and how they fall with the distance (errata F4)."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import flint
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.facts import derivative
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.hope import SOURCE
from lengthgen.theory.encodings import hope
from lengthgen.theory.zero import sympy_engine
from lengthgen.theory.zero.enclosure import enclose

Action = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Matrix]
Formula = Callable[[sp.Expr, sp.Expr], sp.Expr]
Margins = Callable[[Sequence[sp.Expr], Sequence[sp.Expr], sp.Expr, sp.Expr], tuple[sp.Expr, ...]]

THETA, GAP = sp.symbols("theta g", positive=True)
"""Parameters of a plane: theta > 0 and g > 0, where theta' = theta + g."""
_NUMBERS = {THETA: sp.Integer(1), GAP: sp.Rational(1, 10)}
_SMALL_CONTENT, _DAMPINGS = (0, 1, -1, 2, -2), (sp.Rational(11, 10), sp.Integer(2))
_BITS = 100
_DISTANCES = (sp.S.Zero, sp.Rational(1, 1000), sp.S.One, sp.Integer(10), sp.Integer(50), sp.Integer(100))
"""Distances that show if a score rises: it does so at once, or far out where only the slow channel is left."""
_ROUNDING = 1e-20
_FALLING: Margins = lambda query, key, rate, damping: hope.falling_margins(query, key, rate=rate, damping=damping)  # noqa: E731


def _channel_counterexample(name: str, content: Sequence[int], law: dict[str, Any], stated: sp.Expr) -> str:
    """Counterexample: the score of q = k = content at D = 10, to which only this channel contributes."""
    numbers = {key: value.subs(_NUMBERS) for key, value in law.items()}
    offset = sp.Integer(10)
    value = sp.N(hope.score(content, content, offset=offset, **numbers), 6)
    bound = sp.N(2 * sp.exp(-offset * stated.subs(_NUMBERS)), 6)
    return (
        f"{name} channel: the score of q = k = {content} is {value} at D = {offset}, 2 at D = 0, and "
        f"the bound is {bound}, for theta = {numbers['rate']}, theta' = {numbers['damping']}"
    )


def _compare_with_scores(margins: Margins) -> None:
    """Raise `Refuted` for small content whose scores rise although the margins say that they do not, or the reverse.

    A score that rises does so from D = 0 on or from far D on.
    """
    theta = _NUMBERS[THETA]
    for damping in _DAMPINGS:
        kernels = [_kernel_at(offset, rate=theta, damping=damping) for offset in _DISTANCES]
        for q2, q1, k2, k1 in product(*[_SMALL_CONTENT] * 4):
            scores = [k1 * (a * q1 + b * q2) + k2 * (c * q1 + d * q2) for a, b, c, d in kernels]
            rises = any(after - before > _ROUNDING for before, after in pairwise(scores))
            stated = all(margin >= 0 for margin in margins((q1, q2), (k1, k2), theta, damping))
            if rises == stated:
                course = ", ".join(score.str(4, radius=False) for score in scores)
                does = "rises" if rises else "never rises"
                raise Refuted(
                    f"q = {(q1, q2)}, k = {(k1, k2)}, theta = {theta}, theta' = {damping}: the score {does}, "
                    f"it is {course} at D = {', '.join(map(str, _DISTANCES))}"
                )


def _kernel_at(offset: sp.Rational, *, rate: sp.Expr, damping: sp.Expr) -> list[Any]:
    """Enclosures of the kernel's entries at a distance."""
    return [enclose(entry.rewrite(sp.exp), bits=_BITS) for entry in hope.kernel(offset, rate=rate, damping=damping)]


def _share(ratio: sp.Rational) -> Any:
    """Ball for (1 + 4/pi^2 (chi_2(r) - log r artanh r))/4, where chi_2(r) is the sum of r^n / n^2 over odd n."""
    with flint.ctx.workprec(_BITS):
        r = flint.arb(flint.fmpq(int(ratio.p), int(ratio.q)))
        chi = (r.polylog(2) - (-r).polylog(2)) / 2
        return (1 + 4 / flint.arb.pi() ** 2 * (chi - r.log() * r.atanh())) / 4


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "hope-1",
    "definition of the query and key maps, and the score that follows",
    r"e^{-D\theta'}(S\cosh D\theta + A\sinh D\theta)"
    r"=\tfrac12\big(Pe^{-D(\theta'-\theta)}+Ne^{-D(\theta'+\theta)}\big)",
    label="P",
    assumptions=("the head is a direct sum of planes, so every even d follows", "exact arithmetic"),
    falsifiers={
        "key boosted forwards": {
            "key_action": lambda position, rate, damping: hope.key_action(position, rate=-rate, damping=damping)
        },
        "key not damped": {
            "key_action": lambda position, rate, damping: hope.key_action(position, rate=rate, damping=sp.Integer(0))
        },
        "offset reversed": {"direction": -1},
    },
)
def relative_law(
    key_action: Action = lambda position, rate, damping: hope.key_action(position, rate=rate, damping=damping),
    direction: int = 1,
) -> Facts:
    """HoPE's score depends on positions through D = j - i alone: two channels per plane that decay at the rates theta'
    - theta and theta' + theta.
    """
    i, distance, theta, damping = sp.symbols("i D theta theta'", real=True)
    j = i + distance
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    shared = {"rate": theta, "damping": damping}
    offset = direction * distance

    def kernel() -> sp.Matrix:
        return hope.query_action(j, **shared).T * key_action(i, theta, damping)

    def stated() -> sp.Expr:
        return hope.score(query, key, offset=offset, **shared)

    boost, flip = hope.boost(theta), sp.Matrix([[0, 1], [1, 0]])
    own = {"rate": hope.RATE, "damping": hope.RATE + hope.MARGIN}
    yield "B(0) = I", lambda: boost.subs(theta, 0), sp.eye(2)
    yield "B' = X B, so B(t) = exp(tX)", lambda: derivative(boost, theta), lambda: flip * boost
    yield "actions at j = i + D and i = H(D)", kernel, lambda: hope.kernel(offset, **shared)
    yield "score = e^(-D theta') (S cosh D theta + A sinh D theta)", lambda: (query.T * kernel() * key)[0], stated
    yield (
        "the encoding scores so, with theta' = theta + g above theta",
        lambda: hope.HOPE.score(query, key, query_position=j, key_position=i),
        lambda: hope.score(query, key, offset=distance, **own),
    )
    yield (
        "score = (P e^(-D (theta' - theta)) + N e^(-D (theta' + theta)))/2",
        stated,
        lambda: hope.light_cone_score(query, key, offset=offset, **shared),
    )


@CLAIMS.claim(
    "hope-2",
    "the boost as a Lorentz transformation",
    r"B^\top\mathrm{diag}(1,-1)B=\mathrm{diag}(1,-1),\quad \|B(t)q\|\le e^{|t|}\|q\|",
    label="P",
    assumptions=("one plane; over a head the largest factor of its planes bounds the growth",),
    falsifiers={
        "norm preserved": {"form": sp.ImmutableMatrix(sp.eye(2))},
        "bounded by cosh t": {"bound": sp.cosh},
        "attained at q2 = 0": {"attained": (1, 0)},
        "attained at q1 = -q2": {"attained": (1, -1)},
    },
)
def lorentz(
    form: sp.Matrix = sp.ImmutableMatrix(sp.diag(1, -1)),
    bound: Callable[[sp.Expr], sp.Expr] = sp.exp,
    attained: Sequence[int] = (1, 1),
) -> Facts:
    """The boost keeps q1^2 - q2^2 and not the norm: |B(t) q| <= e^|t| |q|, with equality at q1 = q2 for t > 0 and at q1
    = -q2 for t < 0.

    With u = q1 + q2 and v = q1 - q2 the boost multiplies u by e^t and v by e^-t, and |q|^2 = (u^2 + v^2)/2.
    """
    t = sp.Symbol("t", real=True)
    query = sp.Matrix(sp.symbols("q1 q2", real=True))
    boost = hope.boost(t)
    boosted = boost * query
    u, v = hope.light_cone() * query
    room = bound(t) ** 2 * query.dot(query) - boosted.dot(boosted)
    extreme = sp.Matrix(attained)
    yield "B^T G B = G", lambda: boost.T * form * boost, form
    yield "B^T B = B(2t), which is I at t = 0 only: not orthogonal", lambda: boost.T * boost, lambda: hope.boost(2 * t)
    yield "e^(2t) |q|^2 - |B q|^2 = v^2 sinh 2t, not negative for t >= 0", room, lambda: v**2 * sp.sinh(2 * t)
    yield f"attained at q = {tuple(attained)}: B q = e^t q", lambda: boost * extreme, lambda: bound(t) * extreme
    yield (
        "B(-t) is B(t) with v and u exchanged: e^|t| for t < 0",
        lambda: boost * sp.diag(1, -1),
        lambda: sp.diag(1, -1) * boost.subs(t, -t),
    )
    yield "u^2 + v^2 = 2 |q|^2", lambda: u**2 + v**2, lambda: 2 * query.dot(query)


@CLAIMS.claim(
    "hope-3",
    "exponential decay with the damping theta' > theta",
    r"\theta'>\theta\ \Rightarrow\ |s(D)|\le\tfrac12(|P|+|N|)\,e^{-D(\theta'-\theta)}\to 0",
    label="P",
    assumptions=("theta, g > 0 and D >= 0 real; a head is a finite sum of planes",),
    falsifiers={
        "theta' = theta": {"damping": lambda rate, gap: rate},
        "theta' below theta": {"damping": lambda rate, gap: rate - gap},
        "as fast as the fast channel": {"bound_rate": lambda rate, damping: damping + rate},
        "as fast as the damping": {"bound_rate": lambda rate, damping: damping},
    },
)
def vanishing(
    damping: Formula = lambda rate, gap: rate + gap, bound_rate: Formula = lambda rate, damping: damping - rate
) -> Facts:
    """With theta' above every theta the score tends to 0 as D grows: each plane's is at most (|P| + |N|)/2 e^(-D
    (theta' - theta)) in absolute value.
    """
    damped = damping(THETA, GAP)
    offset = sp.Symbol("D", nonnegative=True)
    query, key = sp.symbols("q1 q2", real=True), sp.symbols("k1 k2", real=True)
    law: dict[str, Any] = {"rate": THETA, "damping": damped}
    slow, fast = hope.decay_rates(**law)
    in_slow, in_fast = hope.channels(query, key)
    channels = (in_slow * sp.exp(-offset * slow) + in_fast * sp.exp(-offset * fast)) / 2
    yield "score = (P e^(-D slow) + N e^(-D fast))/2", lambda: hope.score(query, key, offset=offset, **law), channels
    stated = bound_rate(THETA, damped)
    for name, content, rate in (("slow", (1, 1), slow), ("fast", (1, -1), fast)):
        excess = sp.expand(rate - stated)
        if not (stated.is_positive and excess.is_nonnegative):
            raise Refuted(_channel_counterexample(name, content, law, stated))
        yield f"{name} channel: its rate less {stated} is {excess} >= 0"
    yield f"{stated} > 0, so the score tends to 0 exponentially"


@CLAIMS.claim(
    "hope-4",
    "monotone decay of attention",
    r"s\ \text{non-increasing on}\ [0,\infty)\iff P\ge0\ \wedge\ P(\theta'-\theta)+N(\theta'+\theta)\ge0",
    assumptions=("one plane, theta' > theta > 0, D over the reals from 0 on",),
    printed={"margins": lambda query, key, rate, damping: ()},
    falsifiers={
        "P >= 0 alone": {"margins": lambda *content_and_law: _FALLING(*content_and_law)[:1]},
        "the second margin alone": {"margins": lambda *content_and_law: _FALLING(*content_and_law)[1:]},
        "P >= 0 and N >= 0": {"margins": lambda query, key, rate, damping: hope.channels(query, key)},
    },
)
def falling(margins: Margins = _FALLING) -> Facts:
    """The score of one plane never rises with the distance if and only if P >= 0 and P (theta' - theta) + N (theta' +
    theta) >= 0, that is S theta' >= A theta (errata F4: the paper says that it falls for all content).

    The derivative is -e^(-D slow)/2 times P slow + N fast w, with w = e^(-2 D theta), which is linear in w. As D runs
    over [0, oo), w runs over (0, 1]. So the derivative is never positive iff the line is not negative at w = 0 and at w
    = 1.
    """
    _compare_with_scores(margins)
    offset, w = sp.Symbol("D", nonnegative=True), sp.Symbol("w", positive=True)
    query, key = sp.symbols("q1 q2", real=True), sp.symbols("k1 k2", real=True)
    law: dict[str, Any] = {"rate": THETA, "damping": THETA + GAP}
    slow, fast = hope.decay_rates(**law)
    in_slow, in_fast = hope.channels(query, key)
    line = in_slow * slow + in_fast * fast * w
    at_distance = line.subs(w, sp.exp(-2 * offset * THETA))
    slope = hope.score(query, key, offset=offset, **law).diff(offset)
    stated = margins(query, key, THETA, THETA + GAP)
    if len(stated) != 2:
        raise sympy_engine.Undecided(f"{len(stated)} margins, and no small content that they misjudge")
    straight, crossed = query[0] * key[0] + query[1] * key[1], query[0] * key[1] + query[1] * key[0]
    yield (
        "d score/dD = -e^(-D slow)/2 (P slow + N fast e^(-2 D theta))",
        slope,
        lambda: -sp.exp(-offset * slow) / 2 * at_distance,
    )
    yield (
        "the line at w = 0 is the first margin times theta' - theta > 0",
        lambda: line.subs(w, 0),
        lambda: stated[0] * slow,
    )
    yield "the line at w = 1 is the second margin", lambda: line.subs(w, 1), lambda: stated[1]
    yield (
        "second margin = 2 (S theta' - A theta)",
        lambda: stated[1],
        lambda: 2 * (straight * (THETA + GAP) - crossed * THETA),
    )
    yield "a line is not negative on (0, 1] iff it is not negative at both ends"


@CLAIMS.claim(
    "hope-4-gaussian",
    "monotone decay of attention",
    r"\Pr=\tfrac14\Big(1+\tfrac4{\pi^2}\big(\chi_2(r)-\ln r\,\mathrm{artanh}\,r\big)\Big),\quad "
    r"r=\tfrac{\theta'-\theta}{\theta'+\theta}",
    strength=Strength.INTERVAL,
    answers=("share",),
    falsifiers={
        "theta' = 2": {"damping": Fraction(2)},
        "theta' = 1.11": {"damping": Fraction(111, 100)},
        "theta = 1/2": {"theta": Fraction(1, 2)},
    },
)
def gaussian_share(
    theta: Fraction = Fraction(1),
    damping: Fraction = Fraction(11, 10),
    share: tuple[Fraction, Fraction] = (Fraction(2695, 10000), Fraction(2696, 10000)),
) -> Facts:
    """Of independent standard normal q and k, at theta = 1 and theta' = 1.1, 27 % have a score that never rises with
    the distance.

    P/2 and N/2 are independent, each a product of two independent standard normals. With r = slow/fast the margins are
    not negative for P >= 0 and N >= -r P, which has probability (1 + c)/4 with c = Pr(|N| <= r |P|). |N/P| is a product
    of two independent |Cauchy| variables: its density is the integral over s of (2/pi)^2 s / ((1 + s^2)(s^2 + t^2)).
    """
    s, t, x, y, r = sp.symbols("s t x y r", positive=True)
    log_r, artanh_r = sp.symbols("log(r) artanh(r)")
    slow, fast = hope.decay_rates(rate=sp.Rational(theta), damping=sp.Rational(damping))
    ratio = sp.Rational(slow, fast)
    plain = hope.falling_margins((x, y), (1, 0), rate=sp.Rational(theta), damping=sp.Rational(damping))
    primitive = sp.log((1 + s**2) / (s**2 + t**2)) / (2 * (t**2 - 1))
    yield (
        "margins of k = (1, 0): P",
        lambda: hope.falling_margins((x, y), (1, 0), rate=sp.Rational(theta), damping=sp.Rational(damping))[0],
        x + y,
    )
    yield "margins of k = (1, 0): slow P + fast N", lambda: plain[1], lambda: slow * (x + y) + fast * (x - y)
    yield (
        "d/ds log((1 + s^2)/(s^2 + t^2)) / (2 (t^2 - 1)) = s/((1 + s^2)(s^2 + t^2))",
        lambda: derivative(primitive, s),
        lambda: s / ((1 + s**2) * (s**2 + t**2)),
    )
    yield "so the density of |N/P| is 4/pi^2 log t/(t^2 - 1), and c = 4/pi^2 (chi_2(r) - log r artanh r):"
    yield (
        "its derivative, as d chi_2/dr = artanh(r)/r and d artanh/dr = 1/(1 - r^2); both vanish at r = 0",
        lambda: artanh_r / r - (artanh_r / r + log_r / (1 - r**2)),
        lambda: log_r / (r**2 - 1),
    )
    enclosed = _share(ratio)
    lower, upper = (flint.arb(flint.fmpq(*bound.as_integer_ratio())) for bound in share)
    what = f"share at theta = {theta}, theta' = {damping}, r = {ratio}"
    if not lower < enclosed < upper:
        raise Refuted(f"{what}: {enclosed.str(6)} is not between {share[0]} and {share[1]}")
    yield f"{what}: {enclosed.str(10)}"
