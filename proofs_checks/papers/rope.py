"""RoPE (RoFormer, arXiv 2104.09864): its laws, and the score as the distance grows.

The laws: the score is relative, norms are kept, planes turn on their own, trained gains stand before or after the
rotation. The score has a bound and no limit, and any distance can have the largest one.
"""

from collections.abc import Callable, Sequence

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.proofs_checks.facts import (
    derivative,
    empty_value,
    is_zero,
    last_term,
    require_equal,
    same_by_sympy,
    sign,
)
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory.encodings import rotary
from lengthgen.theory.zero import sympy_engine

SOURCE = Source(paper="RoFormer (RoPE)", arxiv="2104.09864")

TurnedBy = Callable[[sp.Expr, sp.Expr], sp.Matrix]
LastFullTurn = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
Gains = tuple[sp.Expr, sp.Expr]
Bound = Callable[[Sequence[sp.Expr], Sequence[sp.Expr]], sp.Expr]
KeyFor = Callable[[sp.Matrix, sp.Expr, sp.Expr], sp.Matrix]

PLANES = "the head is a direct sum of planes, each with its own frequency, so every even d follows"
_BASE = 10000
_WIDEST = 12
_G1, _G2, _SHARED = sp.symbols("g1 g2 c", positive=True)
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


def _turned(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """RoPE's rotation at a position."""
    return rotary.rotation(position * frequency)


def _stretched_after_turning(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """RoPE's rotation followed by doubling the second coordinate."""
    return sp.diag(1, 2) * rotary.rotation(position * frequency)


def _faded(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """xPos's action on queries."""
    return rotary.xpos_actions(position, frequency=frequency, rate=sp.Rational(1, 512))[0]


def _rotation(head_dim: int, layout: rotary.Layout) -> sp.Matrix:
    """Rotation of all planes, with a separate symbol for the angle of each plane."""
    rotation = sp.zeros(head_dim, head_dim)
    for plane in range(head_dim // 2):
        turn = rotary.rotation(sp.Symbol(f"a{plane}", real=True))
        places = rotary.coordinates(plane, head_dim=head_dim, layout=layout)
        for row in (0, 1):
            for column in (0, 1):
                rotation[places[row], places[column]] = turn[row, column]
    return rotation


def _inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """Inverse permutation."""
    return tuple(permutation.index(place) for place in range(len(permutation)))


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "rope-1",
    "the relative property of the rotary form",
    r"(R(j)q)\cdot(R(i)k) = k^\top R(j-i)\,q",
    label="P",
    assumptions=(PLANES,),
    falsifiers={
        "key turned backwards": {"key_action": lambda position, frequency: rotary.rotation(-position * frequency)},
        "offset reversed": {"law": lambda offset, frequency: rotary.rotation(-offset * frequency)},
        "unequal gains after rotation": {"key_action": _stretched_after_turning},
    },
)
def relative_law(
    query_action: TurnedBy = _turned,
    key_action: TurnedBy = _turned,
    law: TurnedBy = lambda offset, frequency: rotary.rotation(offset * frequency),
) -> Facts:
    """After RoPE the score of a query at j and a key at i depends on their positions through j - i alone.

    Decide key_action(i)^T query_action(j) = law(j - i) on one plane, and that `rotary.score` is this kernel.
    """
    i, offset, w = sp.symbols("i D omega", real=True)
    j = i + offset
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    scored = rotary.score(query, key, query_position=j, key_position=i, frequency=w)
    turn, quarter = rotary.rotation(w), sp.Matrix([[0, -1], [1, 0]])
    yield "R(0) = I", lambda: turn.subs(w, 0), sp.eye(2)
    yield "R' = J2 R, so R(t) = exp(t J2)", lambda: derivative(turn, w), lambda: quarter * turn
    yield "R(i)^T R(i + D) = R(D)", lambda: key_action(i, w).T * query_action(j, w), lambda: law(offset, w)
    yield (
        "score of the encoding",
        lambda: rotary.ROPE.score(query, key, query_position=j, key_position=i).xreplace({rotary.FREQUENCY: w}),
        scored,
    )
    yield "score = k^T R(D) q", scored, lambda: (key.T * law(offset, w) * query)[0]


@CLAIMS.claim(
    "rope-2",
    "the rotary matrix is orthogonal",
    r"R(n)^\top R(n)=I,\quad \lVert R(n)q\rVert=\lVert q\rVert",
    label="P",
    assumptions=(PLANES,),
    falsifiers={
        "with the scaling of xPos": {"action": _faded},
        "with unequal gains": {"action": _stretched_after_turning},
    },
)
def keeps_norms(action: TurnedBy = _turned) -> Facts:
    """RoPE is orthogonal at every position: queries and keys keep their norms."""
    position, w = sp.symbols("n omega", real=True)
    content = sp.Matrix(sp.symbols("q1 q2", real=True))
    acting = action(position, w)
    moved = acting * content
    yield "|R q|^2 = |q|^2", lambda: moved.dot(moved), lambda: content.dot(content)
    yield "R^T R = I", lambda: acting.T * acting, sp.eye(2)
    yield "det R = 1", acting.det, sp.Integer(1)


@CLAIMS.claim(
    "rope-5",
    "the frequencies 10000^(-2l/d)",
    r"2\pi/\theta_l>L\iff l>\frac{d\,\ln(L/2\pi)}{2\ln\mathrm{base}}",
    assumptions=("base > 1", "L > 2 pi"),
    answers=("incomplete",),
    falsifiers={
        "eight times the length": {"length": 8 * 4096},
        "a head of half the width": {"head_dim": 64},
        "without 2 pi": {
            "last": lambda length, head_dim, base: rotary.last_full_turn(
                2 * sp.pi * length, head_dim=head_dim, base=base
            )
        },
        "one head twice as wide": {
            "last": lambda length, head_dim, base: rotary.last_full_turn(length, head_dim=2 * head_dim, base=base)
        },
    },
)
def incomplete_planes(
    last: LastFullTurn = lambda length, head_dim, base: rotary.last_full_turn(length, head_dim=head_dim, base=base),
    head_dim: int = 128,
    length: int = 4096,
    incomplete: int = 18,
) -> Facts:
    """Within L positions exactly the planes beyond d log(L/2 pi) / (2 log base) do not make a full turn: 18 of 64 for d
    = 128 and L = 4096. In longer contexts they take angles never seen in training.
    """
    plane, d, log_base, log_turns = sp.symbols("l d b m", positive=True)
    base, context = sp.exp(log_base), 2 * sp.pi * sp.exp(log_turns)
    at_last = rotary.period(last(context, d, base), head_dim=d, base=base)
    growth = sp.diff(sp.log(rotary.period(plane, head_dim=d, base=base)), plane)
    above = []
    for index, theta in enumerate(rotary.frequencies(head_dim)):
        excess = rotary.period(index, head_dim=head_dim, base=_BASE) - length
        if not is_zero(excess + length - 2 * sp.pi / theta):
            raise Refuted(f"d = {head_dim}: plane {index} has the period {sp.N(2 * sp.pi / theta, 6)}")
        beyond = index - last(sp.Integer(length), sp.Integer(head_dim), sp.Integer(_BASE))
        if sign(excess) != sign(beyond):
            period = sp.N(excess + length, 6)
            raise Refuted(f"d = {head_dim}, L = {length}: plane {index} has the period {period}")
        above.append(sign(excess) == 1)
    if sum(above) != incomplete:
        raise Refuted(
            f"d = {head_dim}, L = {length}: {sum(above)} of {len(above)} planes turn less than once, from plane "
            f"{above.index(True)} on, not {incomplete}"
        )
    yield same_by_sympy(
        "theta at l = d/2, which no plane has", rotary.frequency(d / 2, head_dim=d), sp.Rational(1, _BASE)
    )
    yield "the period at l* over L", lambda: at_last / context, sp.Integer(1)
    yield "d log(period)/dl = 2 log(base)/d, above 0: periods grow with l", growth, lambda: 2 * log_base / d
    yield f"d = {head_dim}, L = {length}: {sum(above)} of {len(above)} planes turn less than once (ball arithmetic)"


@CLAIMS.claim(
    "rope-6",
    "pairs of coordinates (2l, 2l+1); released model code pairs l with l + d/2",
    r"R_{\mathrm{halves}}P=P\,R_{\mathrm{interleaved}},\quad P:\ 2l+a\mapsto l+a\,d/2",
    falsifiers={"equal without permuting": {"chosen": sorted}, "the inverse permutation": {"chosen": _inverse}},
)
def layouts(chosen: Callable[[Sequence[int]], Sequence[int]] = lambda permutation: permutation) -> Facts:
    """The two layouts of planes differ by one permutation of the coordinates, which W_q and W_k absorb.

    `chosen` takes the permutation `rotary.to_halves` and returns the one to check.
    """
    plane, half = sp.symbols("l n", integer=True, nonnegative=True)
    apart = rotary.coordinates(plane, head_dim=2 * half, layout="interleaved")
    for head_dim in range(2, _WIDEST + 1, 2):
        permutation = chosen(rotary.to_halves(head_dim))
        matrix = sp.zeros(head_dim, head_dim)
        for coordinate, place in enumerate(permutation):
            matrix[place, coordinate] = 1
        left, right = _rotation(head_dim, "halves") * matrix, matrix * _rotation(head_dim, "interleaved")
        for entry in range(head_dim**2):
            if left[entry] != right[entry]:
                require_equal(f"d = {head_dim}: R_halves P = P R_interleaved", left[entry], right[entry])
        if sorted(permutation) != list(range(head_dim)):
            raise Refuted(f"d = {head_dim}: {list(permutation)} is no permutation")
    yield "interleaved: 2l, 2l + 1", lambda: sp.Matrix(apart), lambda: sp.Matrix([2 * plane, 2 * plane + 1])
    yield (
        "halves, d = 2n: l, l + n",
        lambda: sp.Matrix(rotary.coordinates(plane, head_dim=2 * half, layout="halves")),
        sp.Matrix([plane, plane + half]),
    )
    yield (
        "2l + a with a in {0, 1}, and l + a d/2 with l < d/2, each name every coordinate once: P: 2l + a -> "
        "l + a d/2 is a permutation, and both rotations turn (l, 0), (l, 1) by the angle of plane l"
    )
    yield f"R_halves P = P R_interleaved entry by entry for d = 2, 4, .. {_WIDEST}, angles free"
    yield "P keeps scalar products, so logits are equal if W_q and W_k are multiplied by P"


@CLAIMS.claim(
    "rope-7",
    "the relative property, under the QK normalisation of later models",
    r"R(i)^\top\mathrm{diag}(v)\,\mathrm{diag}(u)\,R(i+D)\ \text{free of } i\iff u_1v_1=u_2v_2",
    assumptions=(PLANES, "the norm by which RMSNorm divides is the same before and after (rope-2)"),
    falsifiers={
        "unequal gains on the query": {
            "query_gains": (sp.Integer(2), sp.Integer(1)),
            "key_gains": (sp.Integer(1), sp.Integer(1)),
        },
        "the same unequal gains on both": {
            "query_gains": (sp.Integer(2), sp.Integer(1)),
            "key_gains": (sp.Integer(2), sp.Integer(1)),
        },
        "gains drawn at random": {
            "query_gains": (sp.Rational(3, 2), sp.Rational(5, 7)),
            "key_gains": (sp.Rational(2, 9), sp.Rational(8, 3)),
        },
    },
)
def gains_after_rotation(query_gains: Gains = (_G1, _G2), key_gains: Gains = (_SHARED / _G1, _SHARED / _G2)) -> Facts:
    """With a gain on every coordinate after the rotation the relative law holds iff in each plane the products of the
    query's and the key's gains are equal; gains before the rotation never break it.
    """
    i, offset, w = sp.symbols("i D omega", real=True)
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    any_query, any_key = (sp.diag(*sp.symbols(f"{name}1 {name}2", positive=True)) for name in ("u", "v"))
    flip = sp.diag(1, -1)

    def kernel(position: sp.Expr, on_query: sp.Matrix, on_key: sp.Matrix) -> sp.Matrix:
        turned_key, turned_query = (
            on * rotary.rotation(where * w) for on, where in ((on_key, position), (on_query, j))
        )
        return turned_key.T * turned_query

    j = i + offset
    total = any_key * any_query
    even, odd = (total[0, 0] + total[1, 1]) / 2, (total[0, 0] - total[1, 1]) / 2
    yield (
        "stated gains after rotation: the kernel at (i + D, i) is that at (D, 0)",
        lambda: kernel(i, sp.diag(*query_gains), sp.diag(*key_gains)),
        lambda: sp.diag(*key_gains).T * sp.diag(*query_gains) * rotary.rotation(offset * w),
    )
    yield (
        "any gains u, v after rotation: (u1 v1 + u2 v2)/2 R(D) + (u1 v1 - u2 v2)/2 F R(2i + D), F = diag(1, -1)",
        lambda: kernel(i, any_query, any_key),
        lambda: even * rotary.rotation(offset * w) + odd * flip * rotary.rotation((2 * i + offset) * w),
    )
    yield "so the law is relative iff u1 v1 = u2 v2 in every plane"
    yield (
        "any gains before rotation: (v k)^T R(D) (u q)",
        lambda: rotary.score(any_query * query, any_key * key, query_position=j, key_position=i, frequency=w),
        lambda: ((any_key * key).T * rotary.rotation(offset * w) * any_query * query)[0],
    )


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

    turn = last_term("partial sum", summed(n), summed(n + 1))
    later = so_far + turn
    step = last_term("by parts", parts(n), parts(n + 1)).subs(sp.Symbol(str(sums[n + 1]), real=True), later)
    empty = [empty_value(name, path(sp.Integer(0))) for name, path in (("score", directly), ("by parts", parts))]
    base = empty_value("partial sum", summed(sp.Integer(0)))
    yield (
        "base: without planes, sum of h z = by parts + h_0 S_0",
        lambda: empty[0],
        lambda: empty[1] + content_here * base,
    )
    yield (
        "step: one plane more adds h_n z_n = (h_n - h_(n+1)) S_(n+1) + h_(n+1) S_(n+1) - h_n S_n",
        lambda: partial_score + last_term("score", directly(n), directly(n + 1)),
        lambda: partial_score - content_here * so_far + step + content_after * later,
    )
    yield "h_(d/2) = 0 ends it; the triangle inequality gives |sum h z| <= max |h_l - h_(l+1)| sum |S_(l+1)|"


def _small_bounds(bound: Bound) -> str:
    """Fact that the bound has the values worked out by hand. Raises `Refuted` if not."""
    for content, turns, value in _WORKED:
        computed = bound([*map(sp.Integer, content)], [sp.pi * turn for turn in turns])
        if not is_zero(computed - value):
            raise Refuted(
                f"h = {content}, angles {turns} pi: max |step| sum |S| is {value}, the bound {_short(computed)}"
            )
    return f"the bound worked out by hand for {len(_WORKED)} contents of 1 to 3 planes; for one plane it is |h| itself"


def _bounds_scores(bound: Bound) -> Facts:
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
    yield f"d = {_HEAD_DIM}, {', '.join(_CONTENTS)}: scores within the bound at D in {_BOUNDED_AT}"


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


@CLAIMS.claim(
    "rope-3",
    "Section 3.4.3, long-term decay: summation by parts",
    r"\Big|\sum_{l<d/2} h_l e^{iD\theta_l}\Big|\le\max_l|h_{l+1}-h_l|\sum_{l<d/2}|S_{l+1}(D)|,\quad h_{d/2}=0",
    label="P",
    assumptions=("induction on the number of planes, content free", "signs of numbers by ball arithmetic"),
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
)
def decay_is_a_bound(
    bound: Bound = lambda content, angles: rotary.decay_bound(content=content, angles=angles),
    frequencies: Callable[[int], Sequence[sp.Expr]] = rotary.frequencies,
    first_rise: int = 4,
) -> Facts:
    """RoPE's long-term decay is that of an upper bound: the score itself need not fall with distance (for all ones, d =
    16, it rises at D = 4), and its largest value need not be at D = 0.
    """
    no_bound = (_where_ones_rise(frequencies(_HEAD_DIM), first_rise), _where_the_largest_is(frequencies(_HEAD_DIM)))
    yield from _by_parts()
    yield from _bounds_scores(bound)
    yield _small_bounds(bound)
    yield from no_bound


@CLAIMS.claim(
    "rope-4",
    "the form of the score",
    r"k=R(r)q:\quad q^\top R(D-r)\,q<\lVert q\rVert^2\quad(D\in\mathbb{Z},\ D\ne r)",
    assumptions=(PLANES, "q is not zero in the first plane", "pi is irrational (Lambert)"),
    falsifiers={
        "the key is the query": {"key": lambda query, best, frequency: query},
        "turned the other way": {"key": lambda query, best, frequency: rotary.rotation(-best * frequency) * query},
    },
)
def any_distance_wins(key: KeyFor = lambda query, best, frequency: rotary.rotation(best * frequency) * query) -> Facts:
    """For every distance r and every query that is not zero in the first plane, the key R(r) q makes the score largest
    at distance r and nowhere else.
    """
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
    yield (
        "score(r) - score(D) = 2 |q|^2 sin^2((D - r) omega/2) in each plane",
        lost,
        lambda: 2 * query.dot(query) * sp.sin((distance - best) * w / 2) ** 2,
    )
    yield "a sum of squares: no D scores more than r"
    yield f"theta_0 = {first}: a whole D other than r scores less if q is not 0 in plane 0, since pi is irrational"
