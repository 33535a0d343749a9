"""YaRN (arXiv 2309.00071): its blend of frequencies, two ramps and temperature; NTK-aware and dynamic NTK scaling."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.facts import Formula, ball, same_by_sympy, short
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.interpolation import BASE
from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="YaRN", arxiv="2309.00071")
NTK_SOURCE = Source(paper="NTK-aware scaling, in YaRN", arxiv="2309.00071")
SCALED_BASE = NTK_SOURCE.at("the scaled base")
DYNAMIC_SOURCE = Source(paper="Dynamic NTK scaling, in transformers and YaRN", arxiv="2309.00071")
CLAIMS = PaperClaims(SOURCE)
LOG_SCALE, SCALE = sp.symbols("S s", positive=True)
_LOG_BASE, _BASE, _HEAD_DIM_LESS_2 = sp.symbols("B b m", positive=True)
HEAD_DIM = _HEAD_DIM_LESS_2 + 2  # d, so that d - 2, a denominator, is positive
PLANE, LAST = sp.Symbol("l", nonnegative=True), HEAD_DIM / 2 - 1


def logarithm(power_product: sp.Expr) -> sp.Expr:
    """Logarithm of a product of powers of b and s, in the symbols B = ln b and S = ln s."""
    return sp.expand_log(sp.log(power_product)).xreplace({sp.log(_BASE): _LOG_BASE, sp.log(SCALE): LOG_SCALE})


@CLAIMS.claim(
    "ntk-1",
    SCALED_BASE,
    r"b' = b\,s^{d/(d-2)} \;\Rightarrow\; \theta'_l = \theta_l\,s^{-2l/(d-2)},\quad"
    r"\theta'_0=\theta_0,\ \theta'_{d/2-1}=\theta_{d/2-1}/s",
    label="P",
    assumptions=(
        "d > 2 and l real; theta_l = b^(-2l/d); b > 1, so plane 0 is the fastest",
        "s > 0, so that logarithms tell powers apart",
    ),
    falsifiers={
        "base times s": {"base": lambda base, head_dim, scale: base * scale},
        "exponent (d-2)/d": {"base": lambda base, head_dim, scale: base * scale ** ((head_dim - 2) / head_dim)},
    },
)
def scaled_frequencies(base: Formula = rotary.ntk_base) -> Facts:
    """The base b s^(d/(d-2)) leaves the fastest plane unchanged, slows the slowest by the factor s, and plane l by
    s^(2l/(d-2)).
    """
    plain, scaled = (
        logarithm(rotary.frequency(PLANE, head_dim=HEAD_DIM, base=value))
        for value in (_BASE, base(_BASE, head_dim=HEAD_DIM, scale=SCALE))
    )
    slowed = scaled - plain
    factor = logarithm(rotary.ntk_factor(rotary.ntk_share(PLANE, head_dim=HEAD_DIM), scale=SCALE))
    i, j = sp.symbols("i j", real=True)
    at = {"query_position": j, "key_position": i}
    slow = rotary.score(QUERY, KEY, **at, frequency=rotary.FREQUENCY * rotary.NTK_FACTOR)
    yield "ln theta'_l - ln theta_l = -2l/(d-2) ln s", slowed, lambda: -2 * PLANE / (HEAD_DIM - 2) * LOG_SCALE
    yield "ln of the plane's factor is the same", factor, slowed
    yield "the score is RoPE's at theta times the factor", lambda: rotary.NTK.score(**at), slow
    yield "theta'_0 = theta_0", lambda: slowed.subs(PLANE, 0), sp.Integer(0)
    yield "theta'_l = theta_l / s at l = d/2 - 1", lambda: slowed.subs(PLANE, LAST), -LOG_SCALE
    for head_dim in (4, 8):
        thetas = rotary.frequencies(head_dim, BASE)
        pairs = zip(rotary.ntk_frequencies(head_dim, BASE, scale=SCALE), thetas, strict=True)
        listed = sp.Matrix([logarithm(value / theta) for value, theta in pairs])
        due = [slowed.subs({_HEAD_DIM_LESS_2: head_dim - 2, PLANE: plane}) for plane in range(len(thetas))]
        yield same_by_sympy(f"d = {head_dim}: the listed frequencies", listed, sp.Matrix(due))


@CLAIMS.claim(
    "dntk-1",
    DYNAMIC_SOURCE.at("the scale at each length"),
    r"s_T = \max\big(1,\ \alpha\tfrac TL-(\alpha-1)\big) = 1 \iff T\le L",
    label="P",
    assumptions=(
        "alpha > 0, d > 2",
        "the factor of every plane is a power of s, and powers of 1 are 1",
        "in words: for s > 1 every frequency but the first is another",
    ),
    falsifiers={
        "alpha T / L": {"scale": lambda length, trained_length, growth: sp.Max(1, growth * length / trained_length)},
        "without the maximum": {
            "scale": lambda length, trained_length, growth: growth * length / trained_length - (growth - 1)
        },
    },
)
def identity_within(scale: Formula = rotary.dynamic_ntk_scale) -> Facts:
    """Dynamic NTK scaling is RoPE for sequences up to the trained length, and only for these."""
    for alpha in (4, 2, 1):
        for length in (4, 1, 2, 3, 5, 8):
            value = scale(sp.Integer(length), trained_length=sp.Integer(4), growth=sp.Integer(alpha))
            refute((value == 1) != (length <= 4), f"alpha = {alpha}, L = 4, T = {length}: the scale is {value}")
    length, trained, alpha = sp.symbols("T L alpha", positive=True)
    scaled = scale(length, trained_length=trained, growth=alpha)
    larger = isinstance(scaled, sp.Max) and sp.S.One in scaled.args and len(scaled.args) == 2
    refute(not larger, f"the scale {scaled} is not the larger of 1 and something")
    grown = next(part for part in scaled.args if part != 1)
    i, j = sp.symbols("i j")
    at = {"query_position": j, "key_position": i}
    within = rotary.DYNAMIC_NTK.score(**at, length=rotary.NTK_TRAINED_LENGTH).replace(
        rotary.NTK_FACTOR_AT, lambda scale: rotary.ntk_factor(rotary.NTK_SHARE, scale=scale)
    )
    yield "s = max(1, e) with e - 1 = alpha (T - L)/L", lambda: grown - 1, lambda: alpha * (length - trained) / trained
    yield "alpha, L > 0, so e > 1 exactly where T > L"
    yield "at T = L the score is RoPE's", within, lambda: rotary.ROPE.score(**at)


_PART, _WIDTH = sp.Symbol("t", real=True), sp.Symbol("w", positive=True)


def _require_clamp(place: str, ramp: sp.Expr, clamp: sp.Expr) -> str:
    """Return the fact that the ramp is written as this clamp of t.

    Raises `Refuted` if they differ at some t, and `Undecided` if they only are written differently.
    """
    for part in (-1, 0, sp.Rational(1, 4), 1, 2):
        here, there = (formula.subs({_PART: part, _WIDTH: 1}) for formula in (ramp, clamp))
        refute(here != there, f"{place}, t = {part}: gamma is {here}, not {there}")
    if ramp != clamp:
        raise Undecided(f"{place}: the ramp {ramp} is not written as {clamp}")
    return f"{place}: gamma = {clamp}"


@CLAIMS.claim(
    "yarn-1",
    "the blend of frequencies and its ramp",
    r"\theta'=(1-\gamma)\tfrac{\theta}{s}+\gamma\theta,\quad"
    r"\gamma(r)=\min\big(1,\max\big(0,\tfrac{r-\alpha}{\beta-\alpha}\big)\big)",
    label="P",
    assumptions=("u stands for 1/s", "alpha < beta; the first plane of the code's ramp is before its last"),
    falsifiers={
        "gamma = 0 planes unchanged": {"at_zero": lambda frequency, shrink: frequency},
        "few turns kept": {"ramp": lambda turns, **ends: 1 - rotary.yarn_ramp(turns, **ends)},
        "late planes kept": {"index_ramp": lambda plane, **ends: 1 - rotary.yarn_index_ramp(plane, **ends)},
    },
)
def endpoints(
    ramp: Formula = rotary.yarn_ramp,
    index_ramp: Formula = rotary.yarn_index_ramp,
    at_zero: Formula = lambda frequency, shrink: frequency * shrink,
) -> Facts:
    """A plane with gamma = 1 keeps its frequency, one with gamma = 0 is interpolated; between its two ends each ramp is
    linear: the paper's in the number of turns, the code's in the index of the plane.
    """
    start = sp.Symbol("a", positive=True)
    where, end, kept = start + _PART * _WIDTH, start + _WIDTH, sp.Max(0, sp.Min(1, _PART))
    theta, shrink = rotary.FREQUENCY, rotary.SHRINK
    blended = rotary.yarn_frequency(theta, kept=rotary.YARN_KEPT, scale=1 / shrink)
    yield _require_clamp("r = alpha + t (beta - alpha)", ramp(where, alpha=start, beta=end), kept)
    yield _require_clamp("l = first + t (last - first)", index_ramp(where, first=start, last=end), 1 - kept)
    yield "gamma = 1: theta", lambda: blended.subs(rotary.YARN_KEPT, 1), theta
    yield "gamma = 0", lambda: blended.subs(rotary.YARN_KEPT, 0), lambda: at_zero(theta, shrink)


_HEAD_DIM, _TRAINED = 128, sp.Integer(4096)
_SETTINGS = (
    (_HEAD_DIM, BASE, _TRAINED, 32, (20, 46)),
    (8, BASE, sp.Integer(64), 32, (0, 2)),
    (4, 2, _TRAINED, 512, (0, 3)),
)
"""Head width, base, trained length, beta, and the ends of the ramp: nothing is clamped, the lower, the upper end."""


def _index_range(head_dim: int, base: int, trained: sp.Integer, beta: int) -> tuple[int, int]:
    """Indices between which the code's ramp falls, for alpha = 1."""
    turns = {"alpha": sp.S.One, "beta": sp.Integer(beta)}
    return rotary.yarn_index_range(head_dim, base, trained_length=trained, **turns)


def _outwards(fast: Any, slow: Any, _: int) -> tuple[int, int]:
    return int(fast.floor().unique_fmpz()), int(slow.ceil().unique_fmpz())


def _inwards(fast: Any, slow: Any, head_dim: int) -> tuple[int, int]:
    return max(int(fast.ceil().unique_fmpz()), 0), min(int(slow.floor().unique_fmpz()), head_dim - 1)


def _clamped(fast: Any, slow: Any, head_dim: int) -> tuple[int, int]:
    """Ends of the ramp by the code: rounded outwards, and clamped to 0 and d - 1."""
    first, last = _outwards(fast, slow, head_dim)
    return max(first, 0), min(last, head_dim - 1)


@CLAIMS.claim(
    "yarn-2",
    "released code: the range of planes over which the ramp falls",
    r"r_{c(n)} = \frac{L}{2\pi}\,b^{-2c(n)/d} = n,\quad c(n)=\frac{d\ln\frac{L}{2\pi n}}{2\ln b}",
    label="P",
    strength=Strength.INTERVAL,
    assumptions=("theta = b^(-2l/d) at real l; b > 1", "c(n) at n = 1, 32 and 512 by balls, and by sympy for all n"),
    falsifiers={
        "without 2 pi": {
            "plane_with": lambda turns, trained_length, **of: rotary.yarn_plane_with(
                turns, trained_length=2 * sp.pi * trained_length, **of
            )
        },
        "counting every coordinate": {
            "plane_with": lambda turns, head_dim, **of: rotary.yarn_plane_with(turns, head_dim=2 * head_dim, **of)
        },
        "rounded inwards": {"rounding": _inwards},
        "without clamps": {"rounding": _outwards},
    },
)
def inverse(
    plane_with: Formula = rotary.yarn_plane_with, rounding: Callable[[Any, Any, int], tuple[int, int]] = _clamped
) -> Facts:
    """The plane of index c(n) = d ln(L / (2 pi n)) / (2 ln b) turns n times within the trained length L; the code's
    ramp falls between c(beta) and c(alpha), rounded outwards to integers and clamped to 0 and d - 1, at 3 settings.
    """

    def turned(number: sp.Expr, head_dim: sp.Expr, base: sp.Expr, trained: sp.Expr) -> sp.Expr:
        plane = plane_with(number, head_dim=head_dim, base=base, trained_length=trained)
        return rotary.yarn_turns(rotary.frequency(plane, head_dim=head_dim, base=base), trained_length=trained)

    for number in (1, 32):
        turns = ball(turned(*map(sp.Integer, (number, _HEAD_DIM, BASE, _TRAINED))))
        right = turns.overlaps(ball(sp.Integer(number)))
        refute(not right, f"d = {_HEAD_DIM}, L = {_TRAINED}: plane c({number}) turns {short(turns)} times")
    number, *sizes = sp.symbols("n d b L", positive=True)
    yield same_by_sympy("r of the plane c(n) = n", turned(number, *sizes), number)
    for head_dim, base, trained, beta, ends in _SETTINGS:
        fast, slow = (
            ball(rotary.yarn_plane_with(sp.Integer(turns), head_dim=head_dim, base=base, trained_length=trained))
            for turns in (beta, 1)
        )
        where, falls = f"d = {head_dim}, b = {base}, L = {trained}", f"the code ramp falls from {ends[0]} to {ends[1]}"
        rounded = rounding(fast, slow, head_dim)
        refute(rounded != ends, f"{where}: {falls}, not from {rounded[0]} to {rounded[1]}")
        refute(_index_range(head_dim, base, trained, beta) != ends, f"{where}: the formula has another ramp")
        yield f"{where}: c({beta}) = {short(fast)}, c(1) = {short(slow)}, {falls}"
    where = f"d = 8, b = {BASE}, L = 4"
    try:
        first, last = _index_range(8, BASE, sp.Integer(4), 32)
    except ValueError as refusal:
        yield f"{where}: {refusal}; the released code adds 0.001 to an end that equals the other"
    else:
        raise Refuted(f"{where}: a ramp from {first} to {last} falls nowhere")


@CLAIMS.claim(
    "yarn-3",
    "ramp over turns; released code: ramp over indices",
    r"\max_l\big|\gamma(r_l)-\gamma^{\mathrm{code}}_l\big| = 0.367\ \text{ at } l=30",
    strength=Strength.INTERVAL,
    answers=("plane", "gap"),
    falsifiers={
        "beta = 16": {"turns_kept": 16},
        "the code's ramp one plane late": {"index_ramp": lambda plane, **of: rotary.yarn_index_ramp(plane - 1, **of)},
        "the square of the code's ramp": {"index_ramp": lambda plane, **of: rotary.yarn_index_ramp(plane, **of) ** 2},
    },
)
def ramps_apart(
    index_ramp: Formula = rotary.yarn_index_ramp,
    turns_kept: int = 32,
    plane: int = 30,
    gap: sp.Rational = sp.Rational(367, 1000),
) -> Facts:
    """The paper's ramp and the code's are not the same: for d = 128, L = 4096 they are furthest apart at plane 30,
    where gamma differs by 0.367 (errata F17).
    """
    first, last = _index_range(_HEAD_DIM, BASE, _TRAINED, turns_kept)

    def gammas(index: int, theta: sp.Expr) -> list[Any]:
        turns = rotary.yarn_turns(theta, trained_length=_TRAINED)
        by_turns = rotary.yarn_ramp(turns, alpha=sp.S.One, beta=sp.Integer(turns_kept))
        return [ball(by_turns), ball(index_ramp(sp.Integer(index), first=first, last=last))]

    pairs = [gammas(index, theta) for index, theta in enumerate(rotary.frequencies(_HEAD_DIM, BASE))]
    gaps = [abs(value - other) for value, other in pairs]
    largest = max(range(len(gaps)), key=lambda index: float(gaps[index].mid()))
    by_turns, by_index, apart = (short(value, 3) for value in (*pairs[largest], gaps[largest]))
    place = f"l = {largest}: gamma is {by_turns} by turns, {by_index} by index, {apart} apart"
    refute(gaps[plane] < gaps[largest], place)
    refute(not abs(gaps[largest] - ball(gap)) < ball(sp.Rational(1, 2000)), f"{place}, not {float(gap)}")
    if not all(value < gaps[largest] for index, value in enumerate(gaps) if index != largest):
        raise Undecided(f"planes as far apart as {largest}, within rounding")
    yield f"{place}; all other planes are closer"
    yield Assumption(f"d = {_HEAD_DIM}, b = {BASE}, L = {_TRAINED}, alpha = 1, beta = {turns_kept}")


@CLAIMS.claim(
    "yarn-4",
    "attention temperature",
    r"(mR(j\theta')q)\cdot(mR(i\theta')k) = m^2\,k^\top R((j-i)\theta')q,\quad m=\sqrt{1/t}=0.1\ln s+1",
    label="P",
    assumptions=("S stands for ln s, u for 1/s",),
    falsifiers={
        "by the factor itself": {"power": 1},
        "by 1 / t squared": {"power": 4},
        "without the 1": {"root": lambda scale: sp.log(scale) / 10},
    },
)
def logits_scaled(power: int = 2, root: Formula = lambda scale: 1 + sp.log(scale) / 10) -> Facts:
    """Multiplying queries and keys, or cosines and sines, by 0.1 ln s + 1 = sqrt(1/t) multiplies every logit by its
    square, 1/t.
    """
    i, j, logarithm = sp.symbols("i j S", real=True)
    scale, at = 1 / rotary.SHRINK, {"query_position": j, "key_position": i}
    named = {sp.log(scale): logarithm}
    magnitude, stated = (of(scale).subs(named) for of in (rotary.yarn_magnitude, root))
    slowed = rotary.yarn_frequency(rotary.FREQUENCY, kept=rotary.YARN_KEPT, scale=scale)
    turned = rotary.score(QUERY, KEY, **at, frequency=slowed)
    scored = rotary.YARN.score(**at).subs(named)
    yield same_by_sympy("the factor = 0.1 ln s + 1", magnitude, stated)
    yield "score at i = j = 0", lambda: scored.subs({i: 0, j: 0}), lambda: stated**power * QUERY.dot(KEY)
    yield "score = factor^power times that of the blended frequency", scored, lambda: stated**power * turned
