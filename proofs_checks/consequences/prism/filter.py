"""The filter of PRISM: it keeps histograms, counts with hard gates, is linear without sharpening, and saturates.

Sharpening lowers the entropy of a histogram. Stored runs decide copy and reverse far beyond the trained scales.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import sympy as sp

from lengthgen.empirical.experiment.outcome import outcome
from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.consequences.prism import SOURCE, noisy_gates
from lengthgen.proofs_checks.facts import Formula, derivative, same_by_sympy
from lengthgen.proofs_checks.majority import Count, settle
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.trained import NONE, Arm, Runs, TrainedCell
from lengthgen.theory.encodings import prism
from lengthgen.theory.encodings.prism import Move

CLAIMS = PaperClaims(SOURCE)
_MOST_POSITIONS = 5
_GATES = {name: sp.Symbol(f"p_{name}", positive=True) for name in prism.MOVES}
_UNCLAMPED = {**prism.MOVES, "increment": lambda position, last: position + 1}


def _masses(count: int, letter: str = "h") -> list[sp.Symbol]:
    """Symbols for the masses of a histogram."""
    return list(sp.symbols(f"{letter}:{count}", positive=True))


def _require_moves_inside(moves: Mapping[str, Move]) -> str:
    """Fact that every move leads from 0 .. P - 1 to 0 .. P - 1, for every P. Raises `Refuted` if one leaves it."""
    before, after = sp.symbols("a b", integer=True, nonnegative=True)
    starts = (sp.S.Zero, before + 1)
    places = [(position, last) for position in starts for last in (position, position + 1 + after)]
    for name, move in moves.items():
        for position, last in places:
            place = sp.sympify(move(position, last))
            start, end, left = (part.subs({before: 1, after: 1}) for part in (position, last, place))
            inside = place.is_nonnegative and (last - place).is_nonnegative
            refute(not inside, f"{name} leads from position {start} of 0 .. {end} to {left}")
    return f"{', '.join(moves)} lead from 0 .. P - 1 to 0 .. P - 1: decided at 0 or beyond, at P - 1 or before"


@CLAIMS.claim(
    "prism-1",
    "",
    r"h\in\Delta^{P-1},\ p\in\Delta^3\Rightarrow n,\ n^\gamma/\textstyle\sum n^\gamma\in\Delta^{P-1}",
    strength=Strength.BOUNDED,
    reach=f"2 <= P <= {_MOST_POSITIONS}",
    assumptions=("gates are nonnegative and add up to 1", "gamma > 0"),
    falsifiers={
        "without the boundary": {"moves": _UNCLAMPED},
        "decrements below 0": {"moves": {**prism.MOVES, "decrement": lambda position, last: position - 1}},
        "powers without division": {"sharpen": lambda masses, exponent: [mass**exponent for mass in masses]},
    },
)
def simplex(moves: Mapping[str, Move] = prism.MOVES, sharpen: Formula = prism.sharpened) -> Facts:
    """With moves that are clamped at both ends, mixing by any gates and sharpening lead from a histogram to a
    histogram: masses are nonnegative and add up to 1; decided for 2 <= P <= 5, a general argument covers the rest (our
    reconstruction).
    """
    yield _require_moves_inside(moves)
    for count in range(2, _MOST_POSITIONS + 1):
        mixture = prism.mixed(_masses(count), _GATES, moves)
        total = sp.Add(*_GATES.values()) * sp.Add(*_masses(count))
        yield f"total after mixing, P = {count}", sp.Add(*mixture), total
        exponent, *logarithms = sp.symbols(f"gamma x:{count}", real=True)
        sharp = sharpen([sp.exp(value) for value in logarithms], exponent)
        yield f"total after sharpening, masses e^x, P = {count}", sp.Add(*sharp), sp.S.One
    yield (
        "for every P: each position's mass arrives at exactly one position of 0 .. P - 1, so every move keeps the "
        "total, and the gates add up to 1"
    )
    yield (
        "masses stay nonnegative: they are sums, products and powers of such; a total of 1 has a positive mass, so "
        "sharpening does not divide by 0"
    )


@CLAIMS.claim(
    "prism-2",
    "",
    r"p_t\in\{e_1,\dots,e_4\},\ h_0=e_{c_0}\Rightarrow h_t=e_{c_t},\ c_t=g_t(c_{t-1})",
    strength=Strength.EXHAUSTIVE,
    reach=f"2 <= P <= {_MOST_POSITIONS}",
    falsifiers={
        "gates of 0.9": {"softness": sp.Rational(1, 10)},
        "an exponent of 0": {"exponent": sp.S.Zero},
        "a counter that wraps around": {"automaton": {"increment": lambda count, last: (count + 1) % (last + 1)}},
    },
)
def counter(
    automaton: Mapping[str, Formula] = {
        "reset": lambda count, last: 0,
        "increment": lambda count, last: min(count + 1, last),
        "decrement": lambda count, last: max(count - 1, 0),
        "keep": lambda count, last: count,
    },
    softness: sp.Expr = sp.S.Zero,
    exponent: sp.Expr = sp.Symbol("gamma", positive=True),
) -> Facts:
    """With one gate 1 and the others 0 the filter is, from a point mass, exactly a counter with reset, increment,
    decrement and keep, clamped to 0 .. P - 1, for every exponent gamma > 0 and every word of gates; decided for 2 <= P
    <= 5 (our reconstruction).
    """
    steps = [
        (count, position, name)
        for count in range(2, _MOST_POSITIONS + 1)
        for position in range(count)
        for name in automaton
    ]
    for count, position, name in steps:
        gates = {other: 1 - softness if other == name else softness / 3 for other in prism.MOVES}
        start, expected = (
            [sp.Integer(place == at) for place in range(count)]
            for at in (position, automaton[name](position, count - 1))
        )
        after = prism.step(start, gates, exponent)
        masses = ", ".join(str(sp.N(mass.subs(exponent, 2), 3)) for mass in after)
        spread = f"masses {masses}, not all at one position"
        refute(after != expected, f"P = {count}, position {position}, {name}: {spread}")
    yield f"{len(steps)} steps: each position, each gate, exponent {exponent}"
    yield "a step leads from a point mass to a point mass, so by induction all words of gates are decided"


@CLAIMS.claim(
    "prism-4",
    "",
    r"(\forall p:\ h_t=A_t^\top h_{t-1},\ A_t\mathbf 1=\mathbf 1)\iff\gamma=1",
    assumptions=("gamma > 0, P >= 2", "gates p are given: they may depend on the tokens, not on the histogram"),
    falsifiers={
        "gamma = 2": {"exponent": sp.Integer(2)},
        "gamma = 3/2": {"exponent": sp.Rational(3, 2)},
        "without the boundary": {"moves": _UNCLAMPED},
    },
)
def linear(exponent: sp.Expr = sp.S.One, moves: Mapping[str, Move] = prism.MOVES) -> Facts:
    """Without sharpening, gamma = 1, a step is a linear map of the histogram by a stochastic matrix, so the histogram
    is the forward marginal of a Markov chain; with any other gamma a step is not affine for some gates, such as keep
    (our reconstruction; the paper reads the filter as a hidden Markov model).
    """

    def between(share: sp.Expr, left: Sequence[sp.Expr], right: Sequence[sp.Expr]) -> list[sp.Expr]:
        return [share * mass + (1 - share) * other for mass, other in zip(left, right, strict=True)]

    keep = {name: sp.Integer(name == "keep") for name in moves}
    first, second = ([sp.Rational(part, 5) for part in parts] for parts in ((1, 4, 0), (3, 0, 2)))
    middle = between(sp.S.Half, first, second)
    *ends, reached = (prism.step(histogram, keep, exponent) for histogram in (first, second, middle))
    gap = max(abs(mean - mass) for mean, mass in zip(between(sp.S.Half, *ends), reached, strict=True))
    off = f"the step of a mean of two histograms is off the mean of the steps by {sp.N(gap, 6)}"
    refute(gap != 0, f"gates keep: {off}")
    yield _require_moves_inside(moves)
    share = sp.Symbol("s", positive=True)
    left, right = ([*masses, 1 - sp.Add(*masses)] for masses in (_masses(2, "h"), _masses(2, "g")))
    gates = {**_GATES, "keep": 1 - sp.Add(*(gate for name, gate in _GATES.items() if name != "keep"))}

    def after(histogram: list[sp.Expr]) -> list[sp.Expr]:
        return prism.sharpened(prism.mixed(histogram, gates, moves), exponent)

    mixed, means = after(between(share, left, right)), between(share, after(left), after(right))
    yield "step of s h + (1 - s) g, P = 3", sp.Matrix(mixed), sp.Matrix(means)
    any_exponent, odds = sp.symbols("gamma r", positive=True)
    kept = prism.sharpened([odds, sp.S.One], any_exponent)
    ratio = "gates keep, masses r : 1 at two positions: their ratio after a step"
    yield same_by_sympy(ratio, kept[0] / kept[1], odds**any_exponent)
    fixed = sp.solveset(2 ** (any_exponent - 1) - 1, any_exponent, sp.Interval.open(0, sp.oo))
    refute(fixed != sp.FiniteSet(exponent), f"the ratio 2 stays 2 at an exponent other than {exponent}")
    yield (
        "for every P: the total of the mixture is 1 (prism-1), so without sharpening it is the step; entry l is "
        "the sum over moves of p_g times the masses that arrive at l, so it is linear; a row of its matrix, for "
        "a position, has the gates at the places of arrival: nonnegative, total 1"
    )
    yield (
        "an affine step that keeps the point masses at two positions keeps all between: r^gamma = r at r = 2 only "
        f"for gamma = {exponent}"
    )


@CLAIMS.claim(
    "prism-8",
    "",
    r"c_m=\min(m,P-1)",
    assumptions=("P >= 2",),
    falsifiers={
        "arbitrary length": {"count": lambda steps, last: steps},
        "the end one earlier": {"count": lambda steps, last: sp.Min(steps, last - 1)},
        "increments that wrap around": {"increment": lambda position, last: sp.Mod(position + 1, last + 1)},
    },
)
def saturation(count: Formula = sp.Min, increment: Formula = prism.MOVES["increment"]) -> Facts:
    """The count of m increments is min(m, P - 1): from P - 1 on all counts have one histogram and one code, so P bounds
    the lengths to which counting extrapolates (our reconstruction).
    """
    for last in map(sp.Integer, range(1, _MOST_POSITIONS)):
        place = sp.S.Zero
        for steps in range(3 * last):
            refute(count(sp.Integer(steps), last) != place, f"P = {last + 1}: {steps} increments lead to {place}")
            place = sp.sympify(increment(place, last))
    steps, more = sp.symbols("m b", integer=True, nonnegative=True)
    for case, done, last in (
        ("before the end, m < P - 1", steps, steps + 1 + more),
        ("at the end, m >= P - 1", steps + more, steps),
    ):
        yield same_by_sympy(f"{case}: one more increment", increment(count(done, last), last), count(done + 1, last))
    yield same_by_sympy("so P - 1 increments and more lead to P - 1", count(steps + more, steps), steps)
    yield (
        "a move changes a position by at most 1 or leads to 0, so with any gates, too, mass is beyond m only after "
        "more than m tokens"
    )
    yield "tokens whose counts are P - 1 or more have one histogram and one code: P must exceed the largest count"


@CLAIMS.claim(
    "prism-10",
    SOURCE.at("the author's notebook: reset and position copying"),
    r"n_{\mathrm{rel}}-n=r\,p_{\mathrm{inc}}(e_1-e_0)",
    assumptions=(
        "P >= 2",
        "masses add up to 1, and so do the gates other than the reset",
        f"in words: P above {_MOST_POSITIONS}, as moves are linear",
    ),
    falsifiers={
        "the same filter": {"carried": lambda reset, increment: sp.S.Zero},
        "all of the reset is moved": {"carried": lambda reset, increment: reset},
        "a reset after the move": {
            "released": lambda histogram, reset, gates: [
                (1 - reset) * mass + (reset if place == 0 else 0)
                for place, mass in enumerate(prism.mixed(histogram, gates))
            ]
        },
    },
)
def reset_first(
    released: Formula = prism.released_mixed, carried: Formula = lambda reset, increment: reset * increment
) -> Facts:
    """In the released filter a reset comes before the move and has a gate r of its own: its mixture is that of our
    reconstruction with gates r and (1 - r) p, except that mass r p_increment is at position 1, not 0. So a token can
    start a count and be counted; our reset is not counted.

    `carried` is the mass that the released mixture has at position 1 instead of 0.
    """
    reset, up, down = sp.symbols("r p_i p_d", nonnegative=True)
    gates = {"increment": up, "decrement": down, "keep": 1 - up - down}
    after_reset = {"reset": reset, **{name: (1 - reset) * gate for name, gate in gates.items()}}
    for count in range(2, _MOST_POSITIONS + 1):
        first = _masses(count)[:-1]
        masses = [*first, 1 - sp.Add(*first)]
        ours, extra = prism.mixed(masses, after_reset), carried(reset, up)
        yield (
            f"released mixture less ours, P = {count}",
            sp.Matrix(released(masses, reset=reset, gates=gates)) - sp.Matrix(ours),
            sp.Matrix([-extra, extra, *[sp.S.Zero] * (count - 2)]),
        )
    yield (
        "for every P: moves are linear, so the released mixture is (1 - r) times the moved histogram plus r times "
        "the moved e_0; ours has r e_0 there; of e_0 the increment alone leaves position 0, for position 1"
    )
    yield "so they are equal for r = 0 or without increments; gates r = p_i = 1 lead to 1 there, a reset to 0 here"


def _along_the_tokens(mixture: Sequence[sp.Expr], tokens: int) -> list[sp.Expr]:
    """Histogram after some tokens that increment or keep with equal probability."""
    histogram = list(mixture)
    for _ in range(tokens):
        histogram = prism.step(histogram, noisy_gates(sp.S.Half), sp.S.One)
    return histogram


@CLAIMS.claim(
    "prism-3",
    "",
    r"\tfrac{d}{d\gamma}H(h_\gamma)=-\gamma\operatorname{Var}_{h_\gamma}(\log n)\le 0",
    assumptions=("gamma > 0", "the sum is over positions with a positive mass"),
    falsifiers={
        "along the tokens": {"path": _along_the_tokens},
        "roots in place of powers": {"path": lambda mixture, exponent: prism.sharpened(mixture, 1 / exponent)},
    },
)
def entropy_falls(path: Formula = prism.sharpened) -> Facts:
    """The entropy of the sharpened histogram does not grow with gamma, and falls unless all positive masses are equal;
    its slope is -gamma times the variance of the log mass (our reconstruction).
    """
    for parts in ((1, 0, 0), (3, 2, 1), (2, 2, 1)):
        mixture = [sp.Rational(part, sum(parts)) for part in parts]
        entropies = [
            sp.N(-sp.Add(*(mass * sp.log(mass) for mass in path(mixture, sp.Integer(exponent)) if mass != 0)), 30)
            for exponent in (1, 2, 3)
        ]
        for exponent, (before, after) in enumerate(pairwise(entropies), 1):
            both = f"{sp.N(before, 6)} at {exponent} to {sp.N(after, 6)} at {exponent + 1}"
            refute(after > before, f"from {', '.join(map(str, mixture))} the entropy grows from {both}")
    exponent, *logs = sp.symbols("gamma x:3", real=True)
    masses = path([sp.exp(value) for value in logs], exponent)
    mean = sp.Add(*(mass * value for mass, value in zip(masses, logs, strict=True)))
    power, total, log, other, first, second, log_total = sp.symbols("w Z x y m s L", real=True)
    moments = {0: sp.S.One, 1: first, 2: second}

    def expected(polynomial: sp.Expr, variable: sp.Symbol) -> sp.Expr:
        """Mean of a polynomial in a random variable with these moments."""
        terms = sp.Poly(sp.expand(polynomial), variable).as_dict()
        return sp.Add(*(coefficient * moments[degree] for (degree,), coefficient in terms.items()))

    yield (
        "slope of the mass h_k, P = 3: h_k (x_k - m), with x = log n and its mean m under h",
        derivative(sp.Matrix(masses), exponent),
        sp.Matrix([mass * (value - mean) for mass, value in zip(masses, logs, strict=True)]),
    )
    rate = "for every P, by the slopes x w of a power w = n^gamma and m Z of the total Z: the same"
    yield rate, lambda: (log * power * total - power * first * total) / total**2, lambda: power / total * (log - first)
    slope = -(log - first) * (exponent * log - log_total + 1)  # of -h log h, divided by h; log h = gamma x - log Z
    summed = "summed over k, with the mean m and the mean s of x^2: the slope of the entropy"
    yield summed, expected(slope, log), -exponent * (second - first**2)
    yield same_by_sympy(
        "s - m^2 is half the mean of (x - y)^2 over independent x, y, so not negative",
        expected(expected((log - other) ** 2 / 2, log), other),
        second - first**2,
    )
    yield same_by_sympy(
        "power of the ratio 1/(1 + d) of a smaller mass to a larger, as gamma grows",
        sp.limit((1 + sp.Symbol("d", positive=True)) ** -exponent, exponent, sp.oo),
        sp.S.Zero,
    )
    yield "the slope is 0 only if all positive masses are equal; in the limit the largest masses are left, all equal"


FACTOR = 5
"""The exact match is that at this times the largest training scale."""
REACHED, MISSED = 0.95, 0.2
"""Exact match from which on a run reaches, and below which it misses, the larger scale ([F], fixed before any run)."""
_PRISM, _SINUSOIDAL = (
    Arm(protocol="prism", encodings=(name,), tasks=("copy", "reverse"))
    for name in ("prism[positions=256]", "sinusoidal")
)


@CLAIMS.claim(
    "prism-9",
    SOURCE.at("a summary: copy and reverse at ten times the trained length; the bounds and the factor are ours"),
    rf"\Pr(a^{{\text{{PRISM}}}}_{{{FACTOR}n}}\ge{REACHED:g},\ a^{{\text{{sin}}}}_{{{FACTOR}n}}<{MISSED:g})"
    r">\tfrac12\ \text{on each of 2 tasks}",
    strength=Strength.STATISTICAL,
    falsifiers={"the arms exchanged": {"arm": _SINUSOIDAL, "baseline": _PRISM}},
)
def extrapolates(runs: Runs = NONE, arm: Arm = _PRISM, baseline: Arm = _SINUSOIDAL) -> Facts:
    """Trained to copy and to reverse up to n symbols, models with PRISM (our reconstruction) have an exact match of at
    least 0.95 at 5n symbols and models with sinusoidal codes less than 0.2, in most pairs of the same seed of which
    both fit what they are trained on; n is 10 in the profile paper and 5 in quick.
    """
    reading = runs.read(arm, baseline)
    counts = [_pairs_that_do(first, second) for first, second in zip(*reading.arms, strict=True)]
    does = f"have at {FACTOR} times the trained scale the exact match that is stated"
    yield settle(counts, least=len(counts), trial="pairs", does=does, reading=reading)


def _pairs_that_do(first: TrainedCell, second: TrainedCell) -> Count:
    """Count of the pairs of runs of which the first reaches the larger scale and the second misses it."""
    scale = FACTOR * max(first.histories[0][0].train)
    pairs = [
        [outcome(history, threshold=history[0].evaluation.threshold) for history in pair]
        for pair in zip(first.histories, second.histories, strict=True)
    ]
    matches = [[run.exact_match[scale] for run in pair] for pair in pairs if all(run.fits for run in pair)]
    ranges = [f"{min(values):.2f} to {max(values):.2f}" for values in zip(*matches, strict=True)]
    return Count(
        cell=f"{first.cell} against {second.cell.encoding}",
        did=sum(reached >= REACHED and missed < MISSED for reached, missed in matches),
        trials=len(matches),
        of=len(pairs),
        note=f"; exact match at scale {scale} {' against '.join(ranges)}" if matches else "",
    )
