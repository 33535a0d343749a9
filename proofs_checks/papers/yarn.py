"""YaRN (arXiv 2309.00071): its blend of frequencies, the two forms of its ramp, and its attention temperature."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.facts import ball, same_by_sympy, short
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims
from lengthgen.proofs_checks.papers.interpolation import BASE
from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="YaRN", arxiv="2309.00071")

Ramp = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
"""(number of turns or plane index, one end of the ramp, other end) -> gamma."""

_ALPHA = sp.Integer(1)
_HEAD_DIM, _TRAINED = 128, 4096
_PART, _WIDTH = sp.Symbol("t", real=True), sp.Symbol("w", positive=True)
_SETTINGS = ((_HEAD_DIM, BASE, _TRAINED, 32), (8, BASE, 64, 32), (4, 2, 4096, 512))
"""Head width, base, trained length, beta: settings that clamp nothing, the lower end, and the upper end."""


def _require_clamp(place: str, ramp: sp.Expr, clamp: sp.Expr) -> str:
    """Return the fact that the ramp is written as this clamp of t.

    Raises `Refuted` if they differ at some t, and `Undecided` if they only are written differently.
    """
    for part in (-1, 0, sp.Rational(1, 4), 1, 2):
        here, there = (formula.subs({_PART: part, _WIDTH: 1}) for formula in (ramp, clamp))
        if here != there:
            raise Refuted(f"{place}, t = {part}: gamma is {here}, not {there}")
    if ramp != clamp:
        raise Undecided(f"{place}: the ramp {ramp} is not written as {clamp}")
    return f"{place}: gamma = {clamp}"


def _turns(plane: sp.Expr, head_dim: sp.Expr, base: sp.Expr, trained: sp.Expr) -> sp.Expr:
    """Number of turns of a plane within the trained length."""
    return rotary.yarn_turns(rotary.frequency(plane, head_dim=head_dim, base=base), trained_length=trained)


def _require_range(head_dim: int, base: int, trained: int, beta: int) -> str:
    """Fact on the indices between which the code's ramp falls. Raises `Refuted` if they are not the rounded c(n)."""
    fast, slow = (
        ball(rotary.yarn_plane_with(turns, head_dim=head_dim, base=base, trained_length=sp.Integer(trained)))
        for turns in (sp.Integer(beta), _ALPHA)
    )
    listed = rotary.yarn_index_range(
        head_dim, base, trained_length=sp.Integer(trained), alpha=_ALPHA, beta=sp.Integer(beta)
    )
    due = (max(int(fast.floor().unique_fmpz()), 0), min(int(slow.ceil().unique_fmpz()), head_dim - 1))
    where = f"d = {head_dim}, b = {base}, L = {trained}"
    if listed != due:
        raise Refuted(f"{where}: the code ramp falls from {due[0]} to {due[1]}, not from {listed[0]} to {listed[1]}")
    return f"{where}: c({beta}) = {short(fast)}, c(1) = {short(slow)}, the code ramp falls from {due[0]} to {due[1]}"


def _require_refusal(head_dim: int, base: int, trained: int, beta: int) -> str:
    """Fact that the code refuses a setting whose ramp would be empty. Raises `Refuted` if it does not."""
    law = {"trained_length": sp.Integer(trained), "alpha": _ALPHA, "beta": sp.Integer(beta)}
    try:
        first, last = rotary.yarn_index_range(head_dim, base, **law)
    except ValueError as refusal:
        return f"d = {head_dim}, b = {base}, L = {trained}: {refusal}"
    raise Refuted(f"d = {head_dim}, b = {base}, L = {trained}: a ramp from {first} to {last} falls nowhere")


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "yarn-1",
    "the blend of frequencies and its ramp",
    r"\theta'=(1-\gamma)\tfrac{\theta}{s}+\gamma\theta,\quad"
    r"\gamma(r)=\min\big(1,\max\big(0,\tfrac{r-\alpha}{\beta-\alpha}\big)\big)",
    label="P",
    assumptions=("u stands for 1/s",),
    falsifiers={
        "gamma = 0 planes unchanged": {"at_zero": lambda frequency, shrink: frequency},
        "few turns kept": {"ramp": lambda turns, alpha, beta: 1 - rotary.yarn_ramp(turns, alpha=alpha, beta=beta)},
        "late planes kept": {
            "index_ramp": lambda plane, first, last: 1 - rotary.yarn_index_ramp(plane, first=first, last=last)
        },
    },
)
def endpoints(
    ramp: Ramp = lambda turns, alpha, beta: rotary.yarn_ramp(turns, alpha=alpha, beta=beta),
    index_ramp: Ramp = lambda plane, first, last: rotary.yarn_index_ramp(plane, first=first, last=last),
    at_zero: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda frequency, shrink: frequency * shrink,
) -> Facts:
    """A plane with gamma = 1 keeps its frequency, one with gamma = 0 is interpolated; between its two ends each ramp is
    linear: the paper's in the number of turns, the code's in the index of the plane.
    """
    start = sp.Symbol("a", positive=True)
    where, end = start + _PART * _WIDTH, start + _WIDTH
    kept = sp.Max(0, sp.Min(1, _PART))
    theta, shrink = rotary.FREQUENCY, rotary.SHRINK
    blended = rotary.yarn_frequency(theta, kept=rotary.YARN_KEPT, scale=1 / shrink)
    yield _require_clamp("r = alpha + t (beta - alpha)", ramp(where, start, end), kept)
    yield _require_clamp("l = first + t (last - first)", index_ramp(where, start, end), 1 - kept)
    yield "gamma = 1: theta", lambda: blended.subs(rotary.YARN_KEPT, 1), theta
    yield "gamma = 0", lambda: blended.subs(rotary.YARN_KEPT, 0), lambda: at_zero(theta, shrink)


@CLAIMS.claim(
    "yarn-2",
    "released code: the range of planes over which the ramp falls",
    r"r_{c(n)} = \frac{L}{2\pi}\,b^{-2c(n)/d} = n,\quad c(n)=\frac{d\ln\frac{L}{2\pi n}}{2\ln b}",
    label="P",
    assumptions=("theta = b^(-2l/d) at real l; b > 1",),
    falsifiers={
        "without 2 pi": {
            "plane_with": lambda turns, head_dim, base, trained: rotary.yarn_plane_with(
                turns, head_dim=head_dim, base=base, trained_length=2 * sp.pi * trained
            )
        },
        "counting every coordinate": {
            "plane_with": lambda turns, head_dim, base, trained: rotary.yarn_plane_with(
                turns, head_dim=2 * head_dim, base=base, trained_length=trained
            )
        },
    },
)
def inverse(
    plane_with: Callable[[sp.Expr, sp.Expr, sp.Expr, sp.Expr], sp.Expr] = lambda turns, head_dim, base, trained: (
        rotary.yarn_plane_with(turns, head_dim=head_dim, base=base, trained_length=trained)
    ),
) -> Facts:
    """The plane of index c(n) = d ln(L / (2 pi n)) / (2 ln b) turns n times within the trained length L; the code's
    ramp falls between c(beta) and c(alpha), rounded to integers and clamped to 0 and d - 1.
    """
    for number in (1, 32):
        plane = plane_with(*map(sp.Integer, (number, _HEAD_DIM, BASE, _TRAINED)))
        number_of_turns = ball(_turns(plane, sp.Integer(_HEAD_DIM), sp.Integer(BASE), sp.Integer(_TRAINED)))
        if not number_of_turns.overlaps(ball(sp.Integer(number))):
            raise Refuted(f"d = {_HEAD_DIM}, L = {_TRAINED}: plane c({number}) turns {short(number_of_turns)} times")
    number, head_dim, base, trained = sp.symbols("n d b L", positive=True)
    turned = _turns(plane_with(number, head_dim, base, trained), head_dim, base, trained)
    yield same_by_sympy("r of the plane c(n) = n", turned, number)
    for setting in _SETTINGS:
        yield _require_range(*setting)
    yield _require_refusal(8, BASE, 4, 32)


@CLAIMS.claim(
    "yarn-3",
    "ramp over turns; released code: ramp over indices",
    r"\max_l\big|\gamma(r_l)-\gamma^{\mathrm{code}}_l\big| = 0.367\ \text{ at } l=30",
    strength=Strength.INTERVAL,
    answers=("plane", "gap"),
    falsifiers={
        "beta = 16": {"turns_kept": 16},
        "the code's ramp one plane late": {
            "index_ramp": lambda plane, first, last: rotary.yarn_index_ramp(plane - 1, first=first, last=last)
        },
        "the square of the code's ramp": {
            "index_ramp": lambda plane, first, last: rotary.yarn_index_ramp(plane, first=first, last=last) ** 2
        },
    },
)
def ramps_apart(
    index_ramp: Ramp = lambda plane, first, last: rotary.yarn_index_ramp(plane, first=first, last=last),
    turns_kept: int = 32,
    plane: int = 30,
    gap: sp.Rational = sp.Rational(367, 1000),
) -> Facts:
    """The paper's ramp and the code's are not the same: for d = 128, L = 4096 they are furthest apart at plane 30,
    where gamma differs by 0.367 (errata F17).

    Decide the plane at which the two ramps differ most, and the difference to three digits; `turns_kept` is beta.
    """
    theta = rotary.frequencies(_HEAD_DIM, BASE)
    beta = sp.Integer(turns_kept)
    first, last = rotary.yarn_index_range(_HEAD_DIM, BASE, trained_length=sp.Integer(_TRAINED), alpha=_ALPHA, beta=beta)
    turned = [rotary.yarn_turns(value, trained_length=sp.Integer(_TRAINED)) for value in theta]
    by_turns = [ball(rotary.yarn_ramp(value, alpha=_ALPHA, beta=beta)) for value in turned]
    by_index = [ball(index_ramp(sp.Integer(index), first, last)) for index in range(len(theta))]
    gaps = [abs(value - other) for value, other in zip(by_turns, by_index, strict=True)]
    largest = max(range(len(gaps)), key=lambda index: float(gaps[index].mid()))
    place = f"l = {largest}: gamma is {short(by_turns[largest], 3)} by turns, {short(by_index[largest], 3)} by index"
    if gaps[plane] < gaps[largest]:
        raise Refuted(f"{place}, {short(gaps[largest], 3)} apart")
    if not abs(gaps[largest] - ball(gap)) < ball(sp.Rational(1, 2000)):
        raise Refuted(f"{place}, {short(gaps[largest], 3)} apart, not {float(gap)}")
    if not all(value < gaps[largest] for index, value in enumerate(gaps) if index != largest):
        raise Undecided(f"planes as far apart as {largest}, within rounding")
    yield f"{place}, {short(gaps[largest], 3)} apart; all other planes are closer"
    yield Assumption(f"d = {_HEAD_DIM}, b = {BASE}, L = {_TRAINED}, alpha = 1, beta = {beta}")


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
def logits_scaled(power: int = 2, root: Callable[[sp.Expr], sp.Expr] = lambda scale: 1 + sp.log(scale) / 10) -> Facts:
    """Multiplying queries and keys, or cosines and sines, by 0.1 ln s + 1 = sqrt(1/t) multiplies every logit by its
    square, 1/t.
    """
    i, j, logarithm = sp.symbols("i j S", real=True)
    theta, shrink = rotary.FREQUENCY, rotary.SHRINK
    named = {sp.log(1 / shrink): logarithm}
    magnitude, stated = (of(1 / shrink).subs(named) for of in (rotary.yarn_magnitude, root))
    slowed = rotary.yarn_frequency(theta, kept=rotary.YARN_KEPT, scale=1 / shrink)
    turned = rotary.score(QUERY, KEY, query_position=j, key_position=i, frequency=slowed)
    scored = rotary.YARN.score(query_position=j, key_position=i).subs(named)
    yield same_by_sympy("the factor = 0.1 ln s + 1", magnitude, stated)
    yield "score at i = j = 0", lambda: scored.subs({i: 0, j: 0}), lambda: stated**power * QUERY.dot(KEY)
    yield "score = factor^power times that of the blended frequency", scored, lambda: stated**power * turned


@CLAIMS.claim(
    "yarn-5",
    "the scale s = 1",
    r"s=1 \Rightarrow \theta'=\theta,\ \sqrt{1/t}=1",
    answers=("factor",),
    falsifiers={
        "0.1 ln (e s) + 1": {"magnitude": lambda scale: rotary.yarn_magnitude(sp.E * scale)},
        "without the 1": {"magnitude": lambda scale: sp.log(scale) / 10},
    },
)
def identity(magnitude: Callable[[sp.Expr], sp.Expr] = rotary.yarn_magnitude, factor: sp.Expr = sp.Integer(1)) -> Facts:
    """At s = 1 YaRN is RoPE, whatever the ramp: no frequency changes and the temperature is 1.

    Decide that at s = 1 frequencies and scores are those of RoPE, and the factor on queries and keys is `factor`.
    """
    i, j = sp.symbols("i j", real=True)
    theta, unit = rotary.FREQUENCY, sp.Integer(1)
    yield "the factor at s = 1", lambda: magnitude(unit), factor
    yield "the frequency at s = 1", lambda: rotary.yarn_frequency(theta, kept=rotary.YARN_KEPT, scale=unit), theta
    yield (
        "the score at s = 1",
        lambda: rotary.YARN.score(query_position=j, key_position=i).subs(rotary.SHRINK, 1),
        lambda: rotary.ROPE.score(query_position=j, key_position=i),
    )
