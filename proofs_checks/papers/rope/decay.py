"""RoPE's score as the distance grows: it has a bound and no limit, and any distance can have the largest score."""

from collections.abc import Callable, Sequence

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.induction import empty_value, last_term
from lengthgen.proofs_checks.papers.rope import PLANES, SOURCE
from lengthgen.proofs_checks.signs import is_zero, sign
from lengthgen.theory.encodings import rotary
from lengthgen.theory.zero import sympy_engine

Bound = Callable[[Sequence[sp.Expr], Sequence[sp.Expr]], sp.Expr]
KeyFor = Callable[[sp.Matrix, sp.Expr, sp.Expr], sp.Matrix]

_HEAD_DIM = 16
_DISTANCES = range(6)
_BOUNDED_AT = (0, 1, 4)
_BEST = 5
_THIRD = sp.Rational(2, 3)
_WORKED: tuple[tuple[tuple[int, ...], tuple[sp.Expr | int, ...], int], ...] = (
    ((5,), (_THIRD,), 5),
    ((1, 1), (0, 0), 3),
    ((3, 1), (0, _THIRD), 4),
    ((1, 3), (0, _THIRD), 6),
    ((1, -1), (0, _THIRD), 4),
    ((1, 1, 1), (0, 0, 1), 4),
)
"""Examples by hand: contents h, angles over pi, and max |h_l - h_(l+1)| sum |S_(l+1)|; |1 + e^(2 pi i/3)| = 1."""
_CONTENTS = {
    "all ones": (1,) * 8,
    "alternating": (1, -1) * 4,
    "rising": tuple(range(1, 9)),
    "one plane": (0, 0, 0, 1, 0, 0, 0, 0),
}


def decay_is_a_bound(*, bound: Bound, frequencies: Callable[[int], Sequence[sp.Expr]], first_rise: int) -> Evidence:
    """Decide the bound by summation by parts, the distance of the first rise, and that D = 0 need not be best."""
    no_bound = (_where_ones_rise(frequencies(_HEAD_DIM), first_rise), _where_the_largest_is(frequencies(_HEAD_DIM)))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*_by_parts(), *_bounds_scores(bound), _small_bounds(bound), *no_bound),
        assumptions=("induction on the number of planes, content free", "signs of numbers by ball arithmetic"),
    )


def _by_parts() -> list[str]:
    """Facts for every n: the sum of h_l z_l is the sum over l < n of (h_l - h_(l+1)) S_(l+1), plus h_n S_n."""
    n = sp.Symbol("n", integer=True, nonnegative=True)
    turns, sums, content = (sp.IndexedBase(name) for name in ("z", "S", "h"))
    content_here, content_after, so_far, partial_score = (
        sp.Symbol(name, real=True) for name in (f"h[{n}]", f"h[{n + 1}]", "S_n", "A")
    )

    def directly(planes: sp.Expr) -> sp.Sum:
        return rotary.partial_sum(lambda plane: content[plane] * turns[plane], planes)

    def parts(planes: sp.Expr) -> sp.Sum:
        return rotary.by_parts(lambda plane: content[plane], lambda count: sums[count], planes)

    def summed(planes: sp.Expr) -> sp.Sum:
        return rotary.partial_sum(lambda plane: turns[plane], planes)

    turn = last_term("partial sum", summed(n), summed(n + 1))
    later = so_far + turn
    step = last_term("by parts", parts(n), parts(n + 1)).subs(sp.Symbol(str(sums[n + 1]), real=True), later)
    empty = [empty_value(name, path(sp.Integer(0))) for name, path in (("score", directly), ("by parts", parts))]
    base = empty_value("partial sum", summed(sp.Integer(0)))
    return [
        require_equal(
            "base: without planes, sum of h z = by parts + h_0 S_0",
            lambda: empty[0],
            lambda: empty[1] + content_here * base,
        ),
        require_equal(
            "step: one plane more adds h_n z_n = (h_n - h_(n+1)) S_(n+1) + h_(n+1) S_(n+1) - h_n S_n",
            lambda: partial_score + last_term("score", directly(n), directly(n + 1)),
            lambda: partial_score - content_here * so_far + step + content_after * later,
        ),
        "h_(d/2) = 0 ends it; the triangle inequality gives |sum h z| <= max |h_l - h_(l+1)| sum |S_(l+1)|",
    ]


def _small_bounds(bound: Bound) -> str:
    """Fact that the bound has the values worked out by hand. Raises `Refuted` if not."""
    for content, turns, value in _WORKED:
        computed = bound([*map(sp.Integer, content)], [sp.pi * turn for turn in turns])
        if not is_zero(computed - value):
            raise Refuted(
                f"h = {content}, angles {turns} pi: max |step| sum |S| is {value}, the bound {_short(computed)}"
            )
    return f"the bound worked out by hand for {len(_WORKED)} contents of 1 to 3 planes; for one plane it is |h| itself"


def _bounds_scores(bound: Bound) -> list[str]:
    """Fact that the scores of some contents are within the bound. Raises `Refuted` if not."""
    for distance in _BOUNDED_AT:
        angles = [distance * frequency for frequency in rotary.frequencies(_HEAD_DIM)]
        planes = _planes(distance, rotary.frequencies(_HEAD_DIM))
        for name, content in _CONTENTS.items():
            largest = bound([*map(sp.Integer, content)], angles)
            score = sp.Add(*(weight * plane for weight, plane in zip(content, planes, strict=True)))
            if -1 in (sign(largest - score), sign(largest + score)):
                raise Refuted(
                    f"{name}, D = {distance}: the score {_short(score)} is beyond the bound {_short(largest)}"
                )
    return [f"d = {_HEAD_DIM}, {', '.join(_CONTENTS)}: scores within the bound at D in {_BOUNDED_AT}"]


def _where_ones_rise(frequencies: Sequence[sp.Expr], first: int) -> str:
    """Fact on the first distance at which the score of the all-ones content rises."""
    scores = [sp.Add(*_planes(distance, frequencies)) for distance in _DISTANCES]
    rises = [D for D in _DISTANCES[1:] if sign(scores[D] - scores[D - 1]) == 1]
    if not rises or rises[0] != first:
        by_distance = ", ".join(map(_short, scores))
        raise Refuted(f"d = {_HEAD_DIM}, all ones: the scores at D = 0, 1, .. are {by_distance}")
    return f"no decay: all ones score {_short(scores[rises[0] - 1])} at D = {rises[0] - 1} and more at D = {rises[0]}"


def _where_the_largest_is(frequencies: Sequence[sp.Expr]) -> str:
    """Fact that a larger distance than D = 0 can have a larger score."""
    here, there = (sp.Add(*_planes(distance, frequencies, turned=_BEST)) for distance in (0, _BEST))
    if sign(there - here) != 1:
        raise Refuted(f"k = R({_BEST}) q: the score is {_short(here)} at D = 0 and {_short(there)} at D = {_BEST}")
    return f"nor is D = 0 the best: k = R({_BEST}) q scores {_short(here)} there and {_short(there)} at D = {_BEST}"


def _planes(distance: int, frequencies: Sequence[sp.Expr], *, turned: int = 0) -> list[sp.Expr]:
    """Scores of the planes for q = (1, 0) and k = R(turned) q."""
    return [
        rotary.score(
            (sp.S.One, sp.S.Zero),
            rotary.rotation(turned * frequency)[:, 0],
            query_position=sp.Integer(distance),
            key_position=sp.S.Zero,
            frequency=frequency,
        )
        for frequency in frequencies
    ]


def _short(value: sp.Expr) -> str:
    """Text of a number with 6 digits."""
    return str(sp.N(value, 6))


def any_distance_wins(*, key: KeyFor) -> Evidence:
    """Decide that with the key key(q, r, frequency) the score has its only maximum over integers D at r, for all r."""
    distance, best, w = sp.symbols("D r omega", real=True)
    query = sp.Matrix(sp.symbols("q1 q2", real=True))

    def score(at: sp.Expr, r: sp.Expr, frequency: sp.Expr, content: sp.Matrix) -> sp.Expr:
        chosen = key(content, r, frequency)
        return rotary.score(content, chosen, query_position=at, key_position=sp.S.Zero, frequency=frequency)

    simple = sp.Matrix([1, 0])
    for r in (1, 3):
        at_r = score(sp.Integer(r), sp.Integer(r), sp.S.One, simple)
        for other in range(5):
            there = score(sp.Integer(other), sp.Integer(r), sp.S.One, simple)
            if other != r and sign(there - at_r) != -1:
                raise Refuted(
                    f"q = (1, 0), theta = 1, r = {r}: the score is {_short(at_r)} at D = r, {_short(there)} at {other}"
                )
    lost = score(best, best, w, query) - score(distance, best, w, query)
    first = rotary.frequency(sp.S.Zero, head_dim=sp.Symbol("d", positive=True))
    if first != 1:
        raise sympy_engine.Undecided(f"the first plane has the frequency {first}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "score(r) - score(D) = 2 |q|^2 sin^2((D - r) omega/2) in each plane",
                lost,
                lambda: 2 * query.dot(query) * sp.sin((distance - best) * w / 2) ** 2,
            ),
            "a sum of squares: no D scores more than r",
            f"theta_0 = {first}: a whole D other than r scores less if q is not 0 in plane 0, since pi is irrational",
        ),
        assumptions=(PLANES, "q is not zero in the first plane", "pi is irrational (Lambert)"),
    )


CLAIMS = (
    Claim(
        id="rope-3",
        source=SOURCE.at("Section 3.4.3, long-term decay: summation by parts"),
        statement="RoPE's long-term decay is that of an upper bound: the score itself need not fall with distance (for "
        "all ones, d = 16, it rises at D = 4), and its largest value need not be at D = 0.",
        latex=r"\Big|\sum_{l<d/2} h_l e^{iD\theta_l}\Big|"
        r"\le\max_l|h_{l+1}-h_l|\sum_{l<d/2}|S_{l+1}(D)|,\quad h_{d/2}=0",
        label="P",
        check=decay_is_a_bound,
        holds={
            "bound": lambda content, angles: rotary.decay_bound(content=content, angles=angles),
            "frequencies": rotary.frequencies,
            "first_rise": 4,
        },
        answers=("first_rise",),
        falsifiers={
            "a tenth of the frequencies": {
                "frequencies": lambda width: [theta / 10 for theta in rotary.frequencies(width)]
            },
            "planes that do not turn": {"frequencies": lambda width: [sp.S.Zero] * (width // 2)},
            "the last difference left out": {
                "bound": lambda content, angles: rotary.decay_bound(
                    content=[weight - content[-1] for weight in content], angles=angles
                )
            },
            "the last partial sum left out": {
                "bound": lambda content, angles: rotary.decay_bound(content=content, angles=angles[:-1])
            },
            "twice the bound is attained": {
                "bound": lambda content, angles: 2 * rotary.decay_bound(content=content, angles=angles)
            },
        },
    ),
    Claim(
        id="rope-4",
        source=SOURCE.at("the form of the score"),
        statement="For every distance r and every query that is not zero in the first plane, the key R(r) q makes the "
        "score largest at distance r and nowhere else.",
        latex=r"k=R(r)q:\quad q^\top R(D-r)\,q<\lVert q\rVert^2\quad(D\in\mathbb{Z},\ D\ne r)",
        label="F",
        check=any_distance_wins,
        holds={"key": lambda query, best, frequency: rotary.rotation(best * frequency) * query},
        falsifiers={
            "the key is the query": {"key": lambda query, best, frequency: query},
            "turned the other way": {"key": lambda query, best, frequency: rotary.rotation(-best * frequency) * query},
        },
    ),
)
