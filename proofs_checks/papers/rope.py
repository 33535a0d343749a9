"""RoPE (RoFormer, arXiv 2104.09864): its score is relative, norms are kept, and the score has a bound but no limit."""

from collections.abc import Sequence
from itertools import product

import sympy as sp

from lengthgen.proofs_checks.claim import Source
from lengthgen.proofs_checks.facts import Formula, derivative, empty_value, is_zero, last_term, sign
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import rotary

SOURCE = Source(paper="RoFormer (RoPE)", arxiv="2104.09864")
CLAIMS = PaperClaims(SOURCE)
PLANES = "the head is a direct sum of planes, each with its own frequency, so every even d follows"


def turned(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """RoPE's rotation at a position."""
    return rotary.rotation(position * frequency)


def _stretched_after_turning(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    return sp.diag(1, 2) * turned(position, frequency)


@CLAIMS.claim(
    "rope-1",
    "the relative property of the rotary form",
    r"(R(j)q)\cdot(R(i)k) = k^\top R(j-i)\,q",
    label="P",
    assumptions=(PLANES,),
    falsifiers={
        "key turned backwards": {"key_action": lambda position, frequency: turned(-position, frequency)},
        "offset reversed": {"law": lambda offset, frequency: turned(-offset, frequency)},
        "unequal gains after rotation": {"key_action": _stretched_after_turning},
    },
)
def relative_law(query_action: Formula = turned, key_action: Formula = turned, law: Formula = turned) -> Facts:
    """After RoPE the score of a query at j and a key at i depends on their positions through j - i alone."""
    i, offset, w = sp.symbols("i D omega", real=True)
    query, key, at = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2")), {"key_position": i}
    j = at["query_position"] = i + offset
    scored = rotary.score(query, key, **at, frequency=w)
    turn, quarter = rotary.rotation(w), sp.Matrix([[0, -1], [1, 0]])
    yield "R(0) = I", lambda: turn.subs(w, 0), sp.eye(2)
    yield "R' = J2 R, so R(t) = exp(t J2)", lambda: derivative(turn, w), lambda: quarter * turn
    yield "R(i)^T R(i + D) = R(D)", lambda: key_action(i, w).T * query_action(j, w), lambda: law(offset, w)
    yield "score of the encoding", lambda: rotary.ROPE.score(query, key, **at).xreplace({rotary.FREQUENCY: w}), scored
    yield "score = k^T R(D) q", scored, lambda: (key.T * law(offset, w) * query)[0]


@CLAIMS.claim(
    "rope-2",
    "the rotary matrix is orthogonal",
    r"R(n)^\top R(n)=I,\quad \lVert R(n)q\rVert=\lVert q\rVert",
    label="P",
    assumptions=(PLANES,),
    falsifiers={
        "with the scaling of xPos": {
            "action": lambda position, w: rotary.xpos_actions(position, frequency=w, rate=sp.Rational(1, 512))[0]
        },
        "with unequal gains": {"action": _stretched_after_turning},
    },
)
def keeps_norms(action: Formula = turned) -> Facts:
    """RoPE is orthogonal at every position: queries and keys keep their norms."""
    acting = action(*sp.symbols("n omega", real=True))
    content = sp.Matrix(sp.symbols("q1 q2", real=True))
    moved = acting * content
    yield "|R q|^2 = |q|^2", lambda: moved.dot(moved), lambda: content.dot(content)
    yield "R^T R = I", lambda: acting.T * acting, sp.eye(2)
    yield "det R = 1", acting.det, sp.Integer(1)


_HEAD_DIM = 16
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


@CLAIMS.claim(
    "rope-3",
    "Section 3.4.3, long-term decay: summation by parts",
    r"\Big|\sum_{l<d/2} h_l e^{iD\theta_l}\Big|\le\max_l|h_{l+1}-h_l|\sum_{l<d/2}|S_{l+1}(D)|,\quad h_{d/2}=0",
    label="P",
    assumptions=(
        "induction on the number of planes, content free",
        "signs of numbers by ball arithmetic",
        "nothing is decided about how the bound itself falls",
    ),
    answers=("first_rise",),
    falsifiers={
        "a tenth of the frequencies": {"frequencies": lambda width: [w / 10 for w in rotary.frequencies(width)]},
        "planes that do not turn": {"frequencies": lambda width: [sp.S.Zero] * (width // 2)},
        "the last difference left out": {
            "bound": lambda content, angles: rotary.decay_bound([weight - content[-1] for weight in content], angles)
        },
        "the last partial sum left out": {"bound": lambda content, angles: rotary.decay_bound(content, angles[:-1])},
        "half the bound": {"bound": lambda content, angles: rotary.decay_bound(content, angles) / 2},
    },
)
def decay_is_a_bound(
    bound: Formula = rotary.decay_bound, frequencies: Formula = rotary.frequencies, first_rise: int = 4
) -> Facts:
    """RoPE's long-term decay is argued for an upper bound, which holds: the score itself need not fall with distance
    (for all ones, d = 16, it rises at D = 4), and its largest value need not be at D = 0.
    """
    scores = [sp.Add(*_planes(distance, frequencies(_HEAD_DIM))) for distance in range(6)]
    rise = next((distance for distance in range(1, 6) if sign(scores[distance] - scores[distance - 1]) == 1), None)
    by_distance = ", ".join(map(short, scores))
    refute(rise != first_rise, f"d = {_HEAD_DIM}, all ones: the scores at D = 0, 1, .. are {by_distance}")
    here, there = (sp.Add(*_planes(distance, frequencies(_HEAD_DIM), turned=_BEST)) for distance in (0, _BEST))
    both = f"the score is {short(here)} at D = 0 and {short(there)} at D = {_BEST}"
    refute(sign(there - here) != 1, f"k = R({_BEST}) q: {both}")
    yield from _by_parts()
    distances, thetas = (0, 1, 4), rotary.frequencies(_HEAD_DIM)
    for distance, (name, content) in product(distances, _CONTENTS.items()):
        largest = bound([*map(sp.Integer, content)], [distance * theta for theta in thetas])
        score = sp.Add(*(weight * plane for weight, plane in zip(content, _planes(distance, thetas), strict=True)))
        beyond = f"the score {short(score)} is beyond the bound {short(largest)}"
        refute(-1 in (sign(largest - score), sign(largest + score)), f"{name}, D = {distance}: {beyond}")
    yield f"d = {_HEAD_DIM}, {', '.join(_CONTENTS)}: scores within the bound at D in {distances}"
    for content, turns, value in _WORKED:
        computed = bound([*map(sp.Integer, content)], [sp.pi * turn for turn in turns])
        numbers = f"max |step| sum |S| is {value}, the bound {short(computed)}"
        refute(not is_zero(computed - value), f"h = {content}, angles {turns} pi: {numbers}")
    yield f"the bound worked out by hand for {len(_WORKED)} contents of 1 to 3 planes; for one plane it is |h| itself"
    before = short(scores[first_rise - 1])
    yield f"no decay: all ones score {before} at D = {first_rise - 1} and more at D = {first_rise}"
    yield f"nor is D = 0 the best: k = R({_BEST}) q scores {short(here)} there and {short(there)} at D = {_BEST}"


def _by_parts() -> Facts:
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

    later = so_far + last_term("partial sum", summed(n), summed(n + 1))
    step = last_term("by parts", parts(n), parts(n + 1)).subs(sp.Symbol(str(sums[n + 1]), real=True), later)
    zero = sp.Integer(0)
    score, by_parts, base = (
        empty_value(name, path(zero))
        for name, path in (("score", directly), ("by parts", parts), ("partial sum", summed))
    )
    without = "base: without planes, sum of h z = by parts + h_0 S_0"
    yield without, lambda: score, lambda: by_parts + content_here * base
    yield (
        "step: one plane more adds h_n z_n = (h_n - h_(n+1)) S_(n+1) + h_(n+1) S_(n+1) - h_n S_n",
        lambda: partial_score + last_term("score", directly(n), directly(n + 1)),
        lambda: partial_score - content_here * so_far + step + content_after * later,
    )
    yield "h_(d/2) = 0 ends it; the triangle inequality gives |sum h z| <= max |h_l - h_(l+1)| sum |S_(l+1)|"


def _planes(distance: int, frequencies: Sequence[sp.Expr], *, turned: int = 0) -> list[sp.Expr]:
    """Scores of the planes for q = (1, 0) and k = R(turned) q."""
    at = {"query_position": sp.Integer(distance), "key_position": sp.S.Zero}
    query = (sp.S.One, sp.S.Zero)
    return [
        rotary.score(query, rotary.rotation(turned * frequency)[:, 0], **at, frequency=frequency)
        for frequency in frequencies
    ]


def short(value: sp.Expr) -> str:
    """Text of a number with 6 digits."""
    return str(sp.N(value, 6))
