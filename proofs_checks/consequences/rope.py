"""RoPE: any distance can have the largest score, some planes never turn, and layouts and gains that change nothing."""

from collections.abc import Sequence

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, is_zero, require_equal, same_by_sympy, sign
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.rope import PLANES, SOURCE, short, turned
from lengthgen.theory.encodings import rotary
from lengthgen.theory.zero import sympy_engine

CLAIMS = PaperClaims(SOURCE)
_WIDEST = 12
Gains = tuple[sp.Expr, sp.Expr]
_G1, _G2, _SHARED = sp.symbols("g1 g2 c", positive=True)


@CLAIMS.claim(
    "rope-4",
    "the form of the score",
    r"k=R(r)q:\quad q^\top R(D-r)\,q<\lVert q\rVert^2\quad(D\in\mathbb{Z},\ D\ne r)",
    assumptions=(PLANES, "q is not zero in the first plane, of frequency 1", "pi is irrational (Lambert)"),
    falsifiers={
        "the key is the query": {"key": lambda query, best, frequency: query},
        "turned the other way": {"key": lambda query, best, frequency: turned(-best, frequency) * query},
    },
)
def any_distance_wins(key: Formula = lambda query, best, frequency: turned(best, frequency) * query) -> Facts:
    """For every whole distance r and every query that is not zero in the first plane, the key R(r) q makes the score
    largest at r and at no other whole distance.
    """
    distance, best, w = sp.symbols("D r omega", real=True)
    query, simple = sp.Matrix(sp.symbols("q1 q2", real=True)), sp.Matrix([1, 0])

    def score(at: sp.Expr, r: sp.Expr, frequency: sp.Expr, content: sp.Matrix) -> sp.Expr:
        places = {"query_position": at, "key_position": sp.S.Zero}
        return rotary.score(content, key(content, r, frequency), **places, frequency=frequency)

    for r in (1, 3):
        at_r, *others = (score(sp.Integer(at), sp.Integer(r), sp.S.One, simple) for at in (r, *range(5)))
        for other, there in enumerate(others):
            numbers = f"the score is {short(at_r)} at D = r, {short(there)} at {other}"
            refute(other != r and sign(there - at_r) != -1, f"q = (1, 0), theta = 1, r = {r}: {numbers}")
    lost = score(best, best, w, query) - score(distance, best, w, query)
    first = rotary.frequency(sp.S.Zero, head_dim=sp.Symbol("d", positive=True))
    if first != 1:
        raise sympy_engine.Undecided(f"the first plane has the frequency {first}")
    lost_score = "score(r) - score(D) = 2 |q|^2 sin^2((D - r) omega/2) in each plane"
    yield lost_score, lost, lambda: 2 * query.dot(query) * sp.sin((distance - best) * w / 2) ** 2
    yield "a sum of squares: no D scores more than r"
    yield f"theta_0 = {first}: a whole D other than r scores less if q is not 0 in plane 0, since pi is irrational"


@CLAIMS.claim(
    "rope-5",
    "the frequencies 10000^(-2l/d)",
    r"2\pi/\theta_l>L\iff l>\frac{d\,\ln(L/2\pi)}{2\ln\mathrm{base}}",
    assumptions=("base > 1", "L > 2 pi"),
    answers=("incomplete",),
    falsifiers={
        "eight times the length": {"length": 8 * 4096},
        "a head of half the width": {"head_dim": 64},
        "without 2 pi": {"last": lambda length, **of: rotary.last_full_turn(2 * sp.pi * length, **of)},
        "one head twice as wide": {
            "last": lambda length, head_dim, base: rotary.last_full_turn(length, head_dim=2 * head_dim, base=base)
        },
    },
)
def incomplete_planes(
    last: Formula = rotary.last_full_turn, head_dim: int = 128, length: int = 4096, incomplete: int = 18
) -> Facts:
    """Within L positions exactly the planes beyond d log(L/2 pi) / (2 log base) do not make a full turn: 18 of 64 for d
    = 128 and L = 4096. In longer contexts they take angles never seen in training.
    """
    base, end = 10000, last(sp.Integer(length), head_dim=sp.Integer(head_dim), base=sp.Integer(10000))
    case, above = f"d = {head_dim}, L = {length}", []
    for index, theta in enumerate(rotary.frequencies(head_dim)):
        period, turn = rotary.period(index, head_dim=head_dim, base=base), 2 * sp.pi / theta
        refute(not is_zero(period - turn), f"d = {head_dim}: plane {index} has the period {short(turn)}")
        side = sign(period - length)
        refute(side != sign(index - end), f"{case}: plane {index} has the period {short(period)}")
        above.append(side == 1)
    less = f"{case}: {sum(above)} of {len(above)} planes turn less than once"
    refute(sum(above) != incomplete, f"{less}, from plane {[*above, True].index(True)} on, not {incomplete}")
    plane, d, log_base, log_turns = sp.symbols("l d b m", positive=True)
    context, sizes = 2 * sp.pi * sp.exp(log_turns), {"head_dim": d, "base": sp.exp(log_base)}
    at_last = rotary.period(last(context, **sizes), **sizes)
    growth = sp.diff(sp.log(rotary.period(plane, **sizes)), plane)
    slowest = rotary.frequency(d / 2, head_dim=d)
    yield same_by_sympy("theta at l = d/2, which no plane has", slowest, sp.Rational(1, base))
    yield "the period at l* over L", lambda: at_last / context, sp.Integer(1)
    yield "d log(period)/dl = 2 log(base)/d, above 0: periods grow with l", growth, lambda: 2 * log_base / d
    yield f"{less} (ball arithmetic)"


@CLAIMS.claim(
    "rope-6",
    "pairs of coordinates (2l, 2l+1); released model code pairs l with l + d/2",
    r"R_{\mathrm{halves}}P=P\,R_{\mathrm{interleaved}},\quad P:\ 2l+a\mapsto l+a\,d/2",
    assumptions=(f"in words: d above {_WIDEST}, from the coordinates of plane l in both layouts",),
    falsifiers={
        "equal without permuting": {"chosen": sorted},
        "the inverse permutation": {"chosen": lambda places: tuple(map(places.index, range(len(places))))},
    },
)
def layouts(chosen: Formula = lambda permutation: permutation) -> Facts:
    """The two layouts of planes differ by one permutation of the coordinates, which W_q and W_k absorb.

    `chosen` takes the permutation `rotary.to_halves` and returns the one to check.
    """
    for head_dim in range(2, _WIDEST + 1, 2):
        permutation = chosen(rotary.to_halves(head_dim))
        matrix = sp.zeros(head_dim, head_dim)
        for coordinate, place in enumerate(permutation):
            matrix[place, coordinate] = 1
        left, right = _rotation(head_dim, "halves") * matrix, matrix * _rotation(head_dim, "interleaved")
        for entry in range(head_dim**2):
            if left[entry] != right[entry]:
                require_equal(f"d = {head_dim}: R_halves P = P R_interleaved", left[entry], right[entry])
        complete = sorted(permutation) == list(range(head_dim))
        refute(not complete, f"d = {head_dim}: {list(permutation)} is no permutation")
    plane, half = sp.symbols("l n", integer=True, nonnegative=True)
    apart = rotary.coordinates(plane, head_dim=2 * half, layout="interleaved")
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


def _rotation(head_dim: int, layout: rotary.Layout) -> sp.Matrix:
    """Rotation of all planes, with a separate symbol for the angle of each plane."""
    rotation = sp.zeros(head_dim, head_dim)
    for plane in range(head_dim // 2):
        places: Sequence[int] = rotary.coordinates(plane, head_dim=head_dim, layout=layout)
        for row, values in zip(places, rotary.rotation(sp.Symbol(f"a{plane}", real=True)).tolist(), strict=True):
            for column, value in zip(places, values, strict=True):
                rotation[row, column] = value
    return rotation


@CLAIMS.claim(
    "rope-7",
    "the relative property, under the QK normalisation of later models",
    r"R(i)^\top\mathrm{diag}(v)\,\mathrm{diag}(u)\,R(i+D)\ \text{free of } i\iff u_1v_1=u_2v_2",
    assumptions=(
        PLANES,
        "no frequency is a multiple of pi: planes that do not turn, or turn by half, keep the law with any gains",
        "the norm by which RMSNorm divides is the same before and after (rope-2)",
    ),
    falsifiers={
        "gains before the rotation taken as after it": {"before": False},
        "unequal gains on the query": {"query_gains": (2, 1), "key_gains": (1, 1)},
        "the same unequal gains on both": {"query_gains": (2, 1), "key_gains": (2, 1)},
        "gains drawn at random": {
            "query_gains": (sp.Rational(3, 2), sp.Rational(5, 7)),
            "key_gains": (sp.Rational(2, 9), sp.Rational(8, 3)),
        },
    },
)
def gains_after_rotation(
    query_gains: Gains = (_G1, _G2), key_gains: Gains = (_SHARED / _G1, _SHARED / _G2), before: bool = True
) -> Facts:
    """With a gain on every coordinate after the rotation the relative law holds iff in each plane the products of the
    query's and the key's gains are equal; gains before the rotation never break it.
    """
    i, offset, w = sp.symbols("i D omega", real=True)
    j, query, key = i + offset, sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    any_query, any_key = (sp.diag(*sp.symbols(f"{name}1 {name}2", positive=True)) for name in ("u", "v"))
    stated_query, stated_key, flip = sp.diag(*query_gains), sp.diag(*key_gains), sp.diag(1, -1)

    def kernel(on_query: sp.Matrix, on_key: sp.Matrix) -> sp.Matrix:
        return (on_key * turned(i, w)).T * (on_query * turned(j, w))

    total = any_key * any_query
    even, odd = (total[0, 0] + total[1, 1]) / 2, (total[0, 0] - total[1, 1]) / 2
    stated = "stated gains after rotation: the kernel at (i + D, i) is that at (D, 0)"
    yield stated, lambda: kernel(stated_query, stated_key), lambda: stated_key.T * stated_query * turned(offset, w)
    yield (
        "any gains u, v after rotation: (u1 v1 + u2 v2)/2 R(D) + (u1 v1 - u2 v2)/2 F R(2i + D), F = diag(1, -1)",
        lambda: kernel(any_query, any_key),
        lambda: even * turned(offset, w) + odd * flip * turned(2 * i + offset, w),
    )
    yield "so the law is relative iff u1 v1 = u2 v2 in every plane"

    def score(on_query: sp.Matrix, on_key: sp.Matrix) -> sp.Expr:
        if not before:
            return (key.T * kernel(on_query, on_key) * query)[0]
        return rotary.score(on_query * query, on_key * key, query_position=j, key_position=i, frequency=w)

    yield (
        "any gains before rotation: (v k)^T R(D) (u q)",
        lambda: score(any_query, any_key),
        lambda: ((any_key * key).T * turned(offset, w) * any_query * query)[0],
    )
