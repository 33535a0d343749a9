"""How a score falls with the distance: always to zero, not always on the way (errata F4)."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.hope.source import source
from theory import exact
from theory.encodings import hope

Formula = Callable[[sp.Expr, sp.Expr], sp.Expr]
Margins = Callable[[Sequence[sp.Expr], Sequence[sp.Expr], sp.Expr, sp.Expr], tuple[sp.Expr, ...]]

THETA, GAP = sp.symbols("theta g", positive=True)
"""A plane with theta > 0; its theta' is theta + g."""
_NUMBERS = {THETA: sp.Integer(1), GAP: sp.Rational(1, 10)}
_SMALL, _DAMPINGS = (0, 1, -1, 2, -2), (sp.Rational(11, 10), sp.Integer(2))
_BITS = 100


def vanishing(*, damping: Formula, bound_rate: Formula) -> Evidence:
    """Decide |score| <= (|P| + |N|)/2 e^(-D r) at the stated rate r > 0, channel by channel."""
    damped = damping(THETA, GAP)
    offset = sp.Symbol("D", nonnegative=True)
    query, key = sp.symbols("q1 q2", real=True), sp.symbols("k1 k2", real=True)
    law: dict[str, Any] = {"rate": THETA, "damping": damped}
    slow, fast = hope.decay_rates(**law)
    in_slow, in_fast = hope.channels(query, key)
    channels = (in_slow * sp.exp(-offset * slow) + in_fast * sp.exp(-offset * fast)) / 2
    facts = [
        require_equal(
            "score = (P e^(-D slow) + N e^(-D fast))/2", hope.score(query, key, offset=offset, **law), channels
        )
    ]
    stated = bound_rate(THETA, damped)
    for name, content, rate in (("slow", (1, 1), slow), ("fast", (1, -1), fast)):
        excess = sp.expand(rate - stated)
        if not (stated.is_positive and excess.is_nonnegative):
            raise Refuted(_of_one_channel(name, content, law, stated))
        facts.append(f"{name} channel: its rate less {stated} is {excess} >= 0")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, f"{stated} > 0, so the score tends to 0 exponentially"),
        assumptions=("theta, g > 0 and D >= 0 real; a head is a finite sum of planes",),
    )


def _of_one_channel(name: str, content: Sequence[int], law: dict[str, Any], stated: sp.Expr) -> str:
    """What the score of q = k = content, which this channel alone carries, is at D = 10."""
    numbers = {key: value.subs(_NUMBERS) for key, value in law.items()}
    offset = sp.Integer(10)
    value = sp.N(hope.score(content, content, offset=offset, **numbers), 6)
    bound = sp.N(2 * sp.exp(-offset * stated.subs(_NUMBERS)), 6)
    return (
        f"{name} channel: the score of q = k = {content} is {value} at D = {offset}, 2 at D = 0, and "
        f"the bound is {bound}, for theta = {numbers['rate']}, theta' = {numbers['damping']}"
    )


def falling(*, margins: Margins) -> Evidence:
    """Decide for which content the score never rises with D >= 0: where none of the stated margins is negative.

    Its derivative is -e^(-D slow)/2 times P slow + N fast w, w = e^(-2 D theta), which is linear in w.  As D runs over
    [0, oo), w runs over (0, 1], so the derivative is never positive iff the line is not negative at w = 0 and at w = 1.
    """
    _compare_with_scores(margins)
    offset, w = sp.Symbol("D", nonnegative=True), sp.Symbol("w", positive=True)
    query, key = sp.symbols("q1 q2", real=True), sp.symbols("k1 k2", real=True)
    law: dict[str, Any] = {"rate": THETA, "damping": THETA + GAP}
    slow, fast = hope.decay_rates(**law)
    in_slow, in_fast = hope.channels(query, key)
    line = in_slow * slow + in_fast * fast * w
    at_distance = line.subs(w, sp.exp(-2 * offset * THETA))
    slope = hope.light_cone_score(query, key, offset=offset, **law).diff(offset)
    stated = margins(query, key, THETA, THETA + GAP)
    if len(stated) != 2:
        raise exact.Undecided(f"{len(stated)} margins, and no small content that they misjudge")
    straight, crossed = query[0] * key[0] + query[1] * key[1], query[0] * key[1] + query[1] * key[0]
    facts = (
        require_equal(
            "d score/dD = -e^(-D slow)/2 (P slow + N fast e^(-2 D theta))",
            slope,
            -sp.exp(-offset * slow) / 2 * at_distance,
        ),
        require_equal(
            "the line at w = 0 is the first margin times theta' - theta > 0", line.subs(w, 0), stated[0] * slow
        ),
        require_equal("the line at w = 1 is the second margin", line.subs(w, 1), stated[1]),
        require_equal(
            "second margin = 2 (S theta' - A theta)", stated[1], 2 * (straight * (THETA + GAP) - crossed * THETA)
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "a line is not negative on (0, 1] iff it is not negative at both ends"),
        assumptions=("one plane, theta' > theta > 0, D over the reals from 0 on",),
    )


def _compare_with_scores(margins: Margins) -> None:
    """Raise `Refuted` for small content that the margins misjudge: two distances tell, or the line's two ends."""
    theta = _NUMBERS[THETA]
    for damping, q2, q1, k2, k1 in product(_DAMPINGS, *[_SMALL] * 4):
        query, key = (q1, q2), (k1, k2)
        slow, fast = hope.decay_rates(rate=theta, damping=damping)
        in_slow, in_fast = hope.channels(query, key)
        falls = in_slow >= 0 and in_slow * slow + in_fast * fast >= 0
        said = all(margin >= 0 for margin in margins(query, key, theta, damping))
        if falls != said:
            course = [
                f"{sp.N(hope.score(query, key, offset=sp.Integer(offset), rate=theta, damping=damping), 4)}"
                for offset in (0, 1, 10, 100)
            ]
            does = "never rises" if falls else "rises"
            raise Refuted(
                f"q = {query}, k = {key}, theta = {theta}, theta' = {damping}: the score {does}, "
                f"it is {', '.join(course)} at D = 0, 1, 10, 100"
            )


def gaussian_share(*, theta: Fraction, damping: Fraction, share: tuple[Fraction, Fraction]) -> Evidence:
    """Enclose how often independent standard normal q and k have a score that never rises.

    P/2 and N/2 are independent, each a product of two independent standard normals.  With r = slow/fast the margins are
    not negative for P >= 0 and N >= -r P, which has probability (1 + c)/4, c = Pr(|N| <= r |P|).  |N/P| is a product of
    two independent |Cauchy| variables: its density is the integral over s of (2/pi)^2 s / ((1 + s^2)(s^2 + t^2)).
    """
    s, t, x, y, r = sp.symbols("s t x y r", positive=True)
    log_r, artanh_r = sp.symbols("log(r) artanh(r)")
    slow, fast = hope.decay_rates(rate=sp.Rational(theta), damping=sp.Rational(damping))
    ratio = sp.Rational(slow, fast)
    plain = hope.falling_margins((x, y), (1, 0), rate=sp.Rational(theta), damping=sp.Rational(damping))
    primitive = sp.log((1 + s**2) / (s**2 + t**2)) / (2 * (t**2 - 1))
    facts = (
        require_equal("margins of k = (1, 0): P", plain[0], x + y),
        require_equal("margins of k = (1, 0): slow P + fast N", plain[1], slow * (x + y) + fast * (x - y)),
        require_equal(
            "d/ds log((1 + s^2)/(s^2 + t^2)) / (2 (t^2 - 1)) = s/((1 + s^2)(s^2 + t^2))",
            primitive.diff(s),
            s / ((1 + s**2) * (s**2 + t**2)),
        ),
        "so the density of |N/P| is 4/pi^2 log t/(t^2 - 1), and c = 4/pi^2 (chi_2(r) - log r artanh r):",
        require_equal(
            "its derivative, as d chi_2/dr = artanh(r)/r and d artanh/dr = 1/(1 - r^2); both vanish at r = 0",
            artanh_r / r - (artanh_r / r + log_r / (1 - r**2)),
            log_r / (r**2 - 1),
        ),
    )
    enclosed = _share(ratio)
    lower, upper = (flint.arb(flint.fmpq(*bound.as_integer_ratio())) for bound in share)
    what = f"share at theta = {theta}, theta' = {damping}, r = {ratio}"
    if not lower < enclosed < upper:
        raise Refuted(f"{what}: {enclosed.str(6)} is not between {share[0]} and {share[1]}")
    return Evidence(strength=Strength.INTERVAL, facts=(*facts, f"{what}: {enclosed.str(10)}"))


def _share(ratio: sp.Rational) -> Any:
    """(1 + 4/pi^2 (chi_2(r) - log r artanh r))/4 as a ball; chi_2(r) is the sum of r^n / n^2 over odd n."""
    with flint.ctx.workprec(_BITS):
        r = flint.arb(flint.fmpq(int(ratio.p), int(ratio.q)))
        chi = (r.polylog(2) - (-r).polylog(2)) / 2
        return (1 + 4 / flint.arb.pi() ** 2 * (chi - r.log() * r.atanh())) / 4


_FALLING: Margins = lambda query, key, rate, damping: hope.falling_margins(query, key, rate=rate, damping=damping)  # noqa: E731

CLAIMS = (
    Claim(
        id="hope-3",
        source=source("exponential decay with the damping theta' > theta"),
        statement="With theta' above every theta the score tends to 0 as D grows: each plane's is at most "
        "(|P| + |N|)/2 e^(-D (theta' - theta)) in absolute value.",
        latex=r"\theta'>\theta\ \Rightarrow\ |s(D)|\le\tfrac12(|P|+|N|)\,e^{-D(\theta'-\theta)}\to 0",
        label="P",
        check=vanishing,
        holds={"damping": lambda rate, gap: rate + gap, "bound_rate": lambda rate, damping: damping - rate},
        falsifiers={
            "theta' = theta": {"damping": lambda rate, gap: rate},
            "theta' below theta": {"damping": lambda rate, gap: rate - gap},
            "as fast as the fast channel": {"bound_rate": lambda rate, damping: damping + rate},
            "as fast as the damping": {"bound_rate": lambda rate, damping: damping},
        },
    ),
    Claim(
        id="hope-4",
        source=source("monotone decay of attention"),
        statement="The score of one plane never rises with the distance if and only if P >= 0 and "
        "P (theta' - theta) + N (theta' + theta) >= 0, that is S theta' >= A theta (errata F4: the paper has it fall "
        "for all content).",
        latex=r"s\ \text{non-increasing on}\ [0,\infty)\iff P\ge0\ \wedge\ P(\theta'-\theta)+N(\theta'+\theta)\ge0",
        label="F",
        check=falling,
        holds={"margins": _FALLING},
        printed={"margins": lambda query, key, rate, damping: ()},
        falsifiers={
            "P >= 0 alone": {"margins": lambda *content_and_law: _FALLING(*content_and_law)[:1]},
            "the second margin alone": {"margins": lambda *content_and_law: _FALLING(*content_and_law)[1:]},
            "P >= 0 and N >= 0": {"margins": lambda query, key, rate, damping: hope.channels(query, key)},
        },
    ),
    Claim(
        id="hope-4-gaussian",
        source=source("monotone decay of attention"),
        statement="Of independent standard normal q and k, at theta = 1 and theta' = 1.1, 27 % have a score that never "
        "rises with the distance.",
        latex=r"\Pr=\tfrac14\Big(1+\tfrac4{\pi^2}\big(\chi_2(r)-\ln r\,\mathrm{artanh}\,r\big)\Big),\quad "
        r"r=\tfrac{\theta'-\theta}{\theta'+\theta}",
        label="F",
        check=gaussian_share,
        holds={
            "theta": Fraction(1),
            "damping": Fraction(11, 10),
            "share": (Fraction(2695, 10000), Fraction(2696, 10000)),
        },
        falsifiers={
            "all of them": {"share": (Fraction(99, 100), Fraction(101, 100))},
            "half, those with P >= 0": {"share": (Fraction(49, 100), Fraction(51, 100))},
            "26 %": {"share": (Fraction(255, 1000), Fraction(265, 1000))},
            "as many at theta' = 2": {"damping": Fraction(2)},
        },
    ),
)
