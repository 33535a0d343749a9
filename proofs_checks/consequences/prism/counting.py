"""Noisy counts in PRISM: without sharpening they fall behind, and from an exact threshold on none is lost.

The superposition of codes is the characteristic function of the histogram.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import sympy as sp

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.consequences.prism import SOURCE, noisy_gates
from lengthgen.proofs_checks.facts import Formula, is_zero, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import absolute, prism

CLAIMS = PaperClaims(SOURCE)
_START = [sp.S.One, sp.S.Zero]


def _binomial(tokens: sp.Expr, count: sp.Expr, share: sp.Expr) -> sp.Expr:
    """Binomial law of the number of increments."""
    return sp.binomial(tokens, count) * share**count * (1 - share) ** (tokens - count)


@CLAIMS.claim(
    "prism-6",
    "",
    r"h_t=\mathrm{Bin}(t,p),\ \operatorname{mode}=\lfloor (t+1)p\rfloor",
    assumptions=("0 < p < 1", "P > t"),
    falsifiers={
        "the mode is t": {"mode": lambda tokens, share: tokens},
        "increment and keep exchanged": {"law": lambda tokens, count, share: _binomial(tokens, count, 1 - share)},
    },
)
def noisy_count(
    law: Formula = _binomial, mode: Formula = lambda tokens, share: sp.floor((tokens + 1) * share)
) -> Facts:
    """Without sharpening, tokens that increment with probability p and keep otherwise give the binomial law: mean p t,
    variance t p (1 - p), and a mode floor((t + 1) p), which is behind the count t once t (1 - p) > p (our derivation).
    """
    for step, part in product(range(1, 13), range(1, 10)):
        rate = sp.Rational(part, 10)
        masses = [law(sp.Integer(step), sp.Integer(place), rate) for place in range(step + 1)]
        stated = masses[int(mode(sp.Integer(step), rate))]
        most = f"most mass at {masses.index(max(masses))}"
        refute(stated != max(masses), f"p = {rate}, {step} tokens: {most}")
    share, point = sp.symbols("p z", positive=True)
    tokens, count = sp.symbols("t k", integer=True, positive=True)
    histogram = [sp.Integer(place == 0) for place in range(7)]
    for step in range(1, 5):
        histogram = prism.step(histogram, noisy_gates(share), sp.S.One)
        expected = [law(sp.Integer(step), sp.Integer(place), share) for place in range(7)]
        if histogram != expected:  # else sympy made them one expression, and nothing is left to decide
            yield f"after {step} tokens", sp.Matrix(histogram), sp.Matrix(expected)

    def over(numerator: sp.Expr) -> sp.Expr:
        return sp.gammasimp(sp.expand_func(numerator / law(tokens, count, share)))

    kept = "the law keeps the step: mass at k after t + 1 tokens, over that after t"
    yield kept, share * over(law(tokens, count - 1, share)) + (1 - share), over(law(tokens + 1, count, share))
    generating = (1 - share + share * point) ** tokens
    mean, second = (sp.diff(generating, point, order).subs(point, 1) for order in (1, 2))
    yield same_by_sympy("mean, from the generating function (1 - p + p z)^t", mean, tokens * share)
    yield "variance", second + mean - mean**2, tokens * share * (1 - share)
    yield (
        "mass at k + 1 less that at k, in units of the latter and of (k + 1)(1 - p)",
        (over(law(tokens, count + 1, share)) - 1) * (count + 1) * (1 - share),
        (tokens + 1) * share - (count + 1),
    )
    part = point / (1 + point)  # any number of (0, 1)
    stated = mode(tokens, share).replace(sp.floor, lambda value: value - part)
    yield same_by_sympy("the mode is (t + 1) p, rounded down", stated, (tokens + 1) * share - part)
    yield "so masses rise up to floor((t + 1) p), the mode: it is t only while t (1 - p) <= p"


def _first_slip(share: sp.Expr, exponent: sp.Expr, tokens: int = 150) -> int | None:
    """First number t of tokens after which the largest mass is not at t; None if there is none up to `tokens`."""
    gates = {name: float(gate) for name, gate in noisy_gates(share).items()}
    histogram = [1.0] + [0.0] * tokens
    for step in range(1, tokens + 1):
        histogram = prism.step(histogram, gates, float(exponent))
        if histogram.index(max(histogram)) != step:
            return step
    return None


def _joined(expression: sp.Expr) -> sp.Expr:
    """Expression with powers of one base joined, and their exponents simplified."""
    joined = sp.powsimp(expression)
    return joined.replace(lambda part: part.is_Pow, lambda part: part.base ** sp.cancel(part.exp))


@CLAIMS.claim(
    "prism-7",
    "",
    r"\tfrac{1-p}{p}\le(\gamma-1)\,\gamma^{-\gamma/(\gamma-1)}",
    assumptions=("0 < p < 1", "gamma > 0", "P > t: the end is not reached", "the gates are the same at all tokens"),
    falsifiers={
        "gamma = 1.25 counts at p = 0.8": {"locked": (("4/5", "5/4"),)},
        "half the noise": {"threshold": lambda exponent: prism.least_odds(exponent) / 2},
        "without the power": {"threshold": lambda exponent: (exponent - 1) / exponent},
    },
)
def locking(
    threshold: Formula = prism.least_odds,
    locked: Sequence[tuple[str, str]] = (("4/5", "2"), ("9/10", "7/5"), ("3/5", "9")),
    lost: Sequence[tuple[str, str]] = (("4/5", "5/4"), ("9/10", "13/10"), ("1/2", "50")),
) -> Facts:
    """If every token increments with probability p and keeps otherwise, the mode of the sharpened histogram is t after
    every number t < P of tokens for every P if and only if gamma > 1 and (1 - p)/p <= (gamma - 1)
    gamma^(-gamma/(gamma - 1)) (our derivation).

    `locked` are pairs (p, gamma) for which the mode is t for all t, `lost` pairs for which it is not.
    """
    for expected, pairs in ((True, locked), (False, lost)):
        for p, gamma in pairs:
            case, rate, power = f"p = {p}, gamma = {gamma}", sp.Rational(p), sp.Rational(gamma)
            slip, within = _first_slip(rate, power), bool(1 / rate - 1 <= sp.N(threshold(power), 30))
            refute((slip is None) != expected, f"{case}: the first token whose mode is not its count is {slip}")
            refute(within != expected, f"{case}: the bound says {within}, the filter {expected}")
    share, ahead, behind, further, exponent, point = sp.symbols("p a b c gamma s", positive=True)
    excess = sp.Symbol("d", positive=True)  # gamma = 1 + d
    mixed = prism.mixed([further, behind, ahead, 0, 0], noisy_gates(share))
    odds, ratio = (1 - share) / share, behind / ahead
    at_least = (1 + excess) ** (-1 / excess)  # where the slope of s^gamma is 1
    slope = sp.diff(point**exponent, point).subs(exponent, 1 + excess).subs(point, at_least)
    yield same_by_sympy("mass at the mode, after mixing", mixed[3], share * ahead)
    yield "the place before it, over the mode's: b/a + r with r = (1 - p)/p", mixed[2] / mixed[3], ratio + odds
    yield "the place before that: c/a + r b/a", mixed[1] / mixed[3], further / ahead + odds * ratio
    yield (
        "so with u_m the mass m places before t, over that at t: u_m becomes (u_m + r u_(m-1))^gamma, with u_0 = 1; it "
        "starts with 0"
    )
    yield (
        "if u_(m-1) <= 1, then u_m <= u_1 for all times, by induction: the mode is t for all t if and only if u_1 <= 1 "
        "always, u_1 below 1 for a mode of its own"
    )
    steep = "s^gamma, s = u + r, has the slope 1 in u at s = gamma^(-1/(gamma - 1))"
    yield same_by_sympy(steep, _joined(slope), sp.S.One)
    yield same_by_sympy(
        "its curvature is positive there and everywhere, so s^gamma - u is least there: r - s (gamma - 1)/gamma",
        _joined(at_least ** (1 + excess)),
        _joined(at_least / (1 + excess)),
    )
    bound = _joined(at_least * excess / (1 + excess) / threshold(1 + excess))
    yield same_by_sympy("s (gamma - 1)/gamma is the bound", bound, sp.S.One)
    yield (
        "above the bound u_1 grows by at least a positive number at each token, and passes 1; up to it, it stays below "
        "a fixed point below s < 1"
    )
    yield "for gamma <= 1, u_1 <= 1 grows to at least min(1, u_1 + r) and passes 1 too: no noise is borne"


@CLAIMS.claim(
    "prism-7-first",
    "",
    r"h_1(1)>h_1(0)\iff p>\tfrac12",
    assumptions=("0 < p < 1", "gamma > 0", "P > t: the end is not reached"),
    falsifiers={"p > 2/5 is enough": {"least": sp.Rational(2, 5)}, "p > 3/5 is needed": {"least": sp.Rational(3, 5)}},
)
def first_step(least: sp.Expr = sp.Rational(1, 2)) -> Facts:
    """After one token that increments with probability p and keeps otherwise the mode is 1 if and only if p > 1/2, for
    every gamma > 0; and for every p > 1/2 some gamma counts all tokens of this kind (our derivation).
    """
    for share in (least - sp.Rational(1, 100), least + sp.Rational(1, 100)):
        at_zero, at_one = prism.step(_START, noisy_gates(share), sp.Integer(2))
        refute((at_one > at_zero) != (share > least), f"p = {share}: masses {at_zero} at 0 and {at_one} at 1")
    exponent, share, above, excess = sp.symbols("gamma p e d", positive=True)
    at_zero, at_one = prism.step(_START, noisy_gates(share), exponent)
    before, after = prism.mixed(_START, noisy_gates(share))
    difference = (after - before).subs(share, least + above)
    limit = sp.limit(prism.least_odds(1 + excess), excess, sp.oo)
    yield same_by_sympy("ratio of both masses", at_one / at_zero, share**exponent / (1 - share) ** exponent)
    yield same_by_sympy("difference before sharpening, p = 1/2 + e", difference, 2 * above)
    yield same_by_sympy("as gamma grows, the bound of prism-7 goes to", limit, sp.S.One)
    yield "powers keep the order of positive numbers"
    yield "(1 - p)/p < 1 is p > 1/2: then a gamma is enough"


_THRESHOLDS = {
    "0.55": "21.0",
    "0.6": "8.63",
    "0.7": "3.45",
    "0.8": "2.00",
    "0.9": "1.354",
    "0.95": "1.154",
    "0.99": "1.028",
}


@CLAIMS.claim(
    "prism-7-numbers",
    "",
    r"\gamma_c(0.8)=2",
    strength=Strength.NUMERIC,
    assumptions=("steps in float64, bounds with 30 digits",),
    falsifiers={
        "gamma = 1.25 at p = 0.8": {"values": {"0.8": "1.25"}},
        "one digit more": {"values": {"0.8": "2.01"}},
        "2 % more are off as well": {"below": "1.02"},
    },
)
def thresholds(values: Mapping[str, str] = _THRESHOLDS, below: str = "0.98") -> Facts:
    """The least exponents gamma that count are, rounded, 21.0, 8.63, 3.45, 2.00, 1.354, 1.154, 1.028 for p = 0.55, 0.6,
    0.7, 0.8, 0.9, 0.95, 0.99; with 2 % less the filter is off within 150 tokens (our derivation).
    """
    for share, value in values.items():
        rate, stated = sp.Rational(share), sp.Rational(value)
        half = sp.S.Half / 10 ** len(value.partition(".")[2])
        low, high = (sp.N(prism.least_odds(end), 30) for end in (stated - half, stated + half))
        refute(not low < 1 / rate - 1 <= high, f"p = {share}: {value} is not the threshold to its last digit")
        slip = _first_slip(rate, stated + half)
        refute(slip is not None, f"p = {share}, gamma = {value}: the mode is off at {slip}")
        slip = _first_slip(rate, stated * sp.Rational(below))
        refute(slip is None, f"p = {share}: gamma = {below} times {value} counts 150 tokens")
        yield f"p = {share}: {value}; at {below} times that the mode is off after {slip} tokens"


@CLAIMS.claim(
    "prism-5",
    "",
    r"e^{(i)}=(\operatorname{Im},\operatorname{Re})\,\mathbb E_{k\sim h}e^{\mathrm ik\theta_i},\ "
    r"1-|\varphi|^2=\sum_{k,l}h_kh_l(1-\cos((k-l)\theta_i))",
    assumptions=("masses are nonnegative and add up to 1",),
    falsifiers={
        "the norm of a spread histogram is 1": {"gap": lambda angle: 0 * angle},
        "a frequency of 2 pi/3": {"first": 2 * sp.pi / 3},
        "turned the other way": {"shift": lambda offset, **at: absolute.sinusoidal_shift(-offset, **at)},
        "codes of squared masses": {
            "superposition": lambda mass, **sizes: prism.superposition(lambda place: mass(place) ** 2, **sizes)
        },
    },
)
def characteristic(
    superposition: Formula = prism.superposition,
    gap: Formula = lambda angle: 1 - sp.cos(angle),
    first: sp.Expr = sp.S.One,
    shift: Formula = absolute.sinusoidal_shift,
) -> Facts:
    """Plane i of the superposition holds imaginary and real part of the characteristic function phi of the histogram at
    theta_i: |phi| <= 1, and |phi| = 1 at theta_0 = 1 only for a point mass; an increment that does not meet the end
    turns it by theta_i, before sharpening (our reconstruction).

    `gap`: 1 - |phi|^2 is the sum of h_k h_l gap((k - l) theta); `first` is the frequency theta of the first plane.
    """
    for distance in range(1, 21):
        half = "half the mass at each has |phi| = 1 at the first frequency"
        refute(is_zero(gap(distance * first)), f"positions {distance} apart: {half}")
    irrational = (first / (2 * sp.pi)).is_irrational
    refute(not irrational, f"the frequency {first} has the same code again after a number of positions")
    angle, place, other = sp.symbols("theta k l", real=True)
    masses, symbols = sp.IndexedBase("h", real=True), list(sp.symbols("h:3", real=True))

    def plane(values: list[sp.Expr]) -> sp.Matrix:
        sums = superposition(lambda place: masses[place], positions=sp.Integer(len(values)), frequency=angle).doit()
        return sums.xreplace({masses[place]: value for place, value in enumerate(values)})

    def code(position: sp.Expr) -> sp.Matrix:
        return absolute.sinusoidal_code(position, frequency=angle)

    wave, mirrored = (
        sp.Add(*(mass * sp.exp(sign * sp.I * place * angle) for place, mass in enumerate(symbols))) for sign in (1, -1)
    )
    superposed, within = plane(symbols), [*symbols[:-1], sp.S.Zero]
    pairs = product(enumerate(symbols), repeat=2)
    yield "the plane, P = 3", superposed, sp.Matrix([(wave - mirrored) / (2 * sp.I), (wave + mirrored) / 2])
    yield (
        "(sum of h)^2 - |phi|^2, P = 3",
        sp.Add(*symbols) ** 2 - superposed.dot(superposed),
        sp.Add(*(mass * mass_ * gap((k - m) * angle) for (k, mass), (m, mass_) in pairs)),
    )
    apart = "for every P, by pairs of positions k, l: 1 - the scalar product of their codes"
    yield apart, 1 - code(place).dot(code(other)), gap((place - other) * angle)
    turn = shift(sp.S.One, frequency=angle)
    incremented = "increment with no mass at P - 1: the code of every position is shifted by one"
    yield incremented, plane(prism.moved(within, prism.MOVES["increment"])), turn * plane(within)
    yield "for every P, by positions k", code(place + 1), turn * code(place)
    yield (
        f"no term is negative, so |phi| <= 1; with equality only if all mass is at positions with gap 0; at the first "
        f"frequency {first} these are one position, because pi is irrational"
    )
