"""RoPE's relative law and norms, its planes, and trained gains before or after the rotation."""

from collections.abc import Callable, Sequence

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.rope import PLANES, SOURCE
from lengthgen.proofs_checks.signs import is_zero, sign
from lengthgen.theory.encodings import rotary

TurnedBy = Callable[[sp.Expr, sp.Expr], sp.Matrix]

LastFullTurn = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]

_BASE = 10000
_WIDEST = 12

Gains = tuple[sp.Expr, sp.Expr]

_G1, _G2, _SHARED = sp.symbols("g1 g2 c", positive=True)


def relative_law(*, query_action: TurnedBy, key_action: TurnedBy, law: TurnedBy) -> Evidence:
    """Decide key_action(i)^T query_action(j) = law(j - i) on one plane, and that `rotary.score` is this kernel."""
    i, offset, w = sp.symbols("i D omega", real=True)
    j = i + offset
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    scored = rotary.score(query, key, query_position=j, key_position=i, frequency=w)
    turn, quarter = rotary.rotation(w), sp.Matrix([[0, -1], [1, 0]])
    facts = (
        require_equal("R(0) = I", lambda: turn.subs(w, 0), sp.eye(2)),
        require_equal("R' = J2 R, so R(t) = exp(t J2)", lambda: derivative(turn, w), lambda: quarter * turn),
        require_equal(
            "R(i)^T R(i + D) = R(D)", lambda: key_action(i, w).T * query_action(j, w), lambda: law(offset, w)
        ),
        require_equal(
            "score of the encoding",
            lambda: rotary.ROPE.score(query, key, query_position=j, key_position=i).xreplace({rotary.FREQUENCY: w}),
            scored,
        ),
        require_equal("score = k^T R(D) q", scored, lambda: (key.T * law(offset, w) * query)[0]),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=(PLANES,))


def keeps_norms(*, action: TurnedBy) -> Evidence:
    """Decide that the action is orthogonal, so that it keeps norms and scalar products."""
    position, w = sp.symbols("n omega", real=True)
    content = sp.Matrix(sp.symbols("q1 q2", real=True))
    acting = action(position, w)
    moved = acting * content
    facts = (
        require_equal("|R q|^2 = |q|^2", lambda: moved.dot(moved), lambda: content.dot(content)),
        require_equal("R^T R = I", lambda: acting.T * acting, sp.eye(2)),
        require_equal("det R = 1", acting.det, sp.Integer(1)),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=(PLANES,))


def _turned(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """RoPE's rotation at a position."""
    return rotary.rotation(position * frequency)


def _stretched_after_turning(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """RoPE's rotation followed by doubling the second coordinate."""
    return sp.diag(1, 2) * rotary.rotation(position * frequency)


def _faded(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """xPos's action on queries."""
    return rotary.xpos_actions(position, frequency=frequency, rate=sp.Rational(1, 512))[0]


def incomplete_planes(*, last: LastFullTurn, head_dim: int, length: int, incomplete: int) -> Evidence:
    """Decide that exactly the planes beyond last(L, d, base) have a period above L, and count them at one d and L."""
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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            same_by_sympy(
                "theta at l = d/2, which no plane has", rotary.frequency(d / 2, head_dim=d), sp.Rational(1, _BASE)
            ),
            require_equal("the period at l* over L", lambda: at_last / context, sp.Integer(1)),
            require_equal(
                "d log(period)/dl = 2 log(base)/d, above 0: periods grow with l", growth, lambda: 2 * log_base / d
            ),
            f"d = {head_dim}, L = {length}: {sum(above)} of {len(above)} planes turn less than once (ball arithmetic)",
        ),
        assumptions=("base > 1", "L > 2 pi"),
    )


def layouts(*, chosen: Callable[[Sequence[int]], Sequence[int]]) -> Evidence:
    """Decide that a permutation takes the rotation of one layout to that of the other, at every d.

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
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "interleaved: 2l, 2l + 1", lambda: sp.Matrix(apart), lambda: sp.Matrix([2 * plane, 2 * plane + 1])
            ),
            require_equal(
                "halves, d = 2n: l, l + n",
                lambda: sp.Matrix(rotary.coordinates(plane, head_dim=2 * half, layout="halves")),
                sp.Matrix([plane, plane + half]),
            ),
            "2l + a with a in {0, 1}, and l + a d/2 with l < d/2, each name every coordinate once: P: 2l + a -> "
            "l + a d/2 is a permutation, and both rotations turn (l, 0), (l, 1) by the angle of plane l",
            f"R_halves P = P R_interleaved entry by entry for d = 2, 4, .. {_WIDEST}, angles free",
            "P keeps scalar products, so logits are equal if W_q and W_k are multiplied by P",
        ),
    )


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


def gains_after_rotation(*, query_gains: Gains, key_gains: Gains) -> Evidence:
    """Decide if the score keeps the relative law with these gains after the rotation, and with any gains before it."""
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
    facts = (
        require_equal(
            "stated gains after rotation: the kernel at (i + D, i) is that at (D, 0)",
            lambda: kernel(i, sp.diag(*query_gains), sp.diag(*key_gains)),
            lambda: sp.diag(*key_gains).T * sp.diag(*query_gains) * rotary.rotation(offset * w),
        ),
        require_equal(
            "any gains u, v after rotation: (u1 v1 + u2 v2)/2 R(D) + (u1 v1 - u2 v2)/2 F R(2i + D), F = diag(1, -1)",
            lambda: kernel(i, any_query, any_key),
            lambda: even * rotary.rotation(offset * w) + odd * flip * rotary.rotation((2 * i + offset) * w),
        ),
        "so the law is relative iff u1 v1 = u2 v2 in every plane",
        require_equal(
            "any gains before rotation: (v k)^T R(D) (u q)",
            lambda: rotary.score(any_query * query, any_key * key, query_position=j, key_position=i, frequency=w),
            lambda: ((any_key * key).T * rotary.rotation(offset * w) * any_query * query)[0],
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=(PLANES, "the norm by which RMSNorm divides is the same before and after (rope-2)"),
    )


CLAIMS = (
    Claim(
        id="rope-1",
        source=SOURCE.at("the relative property of the rotary form"),
        statement="After RoPE the score of a query at j and a key at i depends on their positions through j - i alone.",
        latex=r"(R(j)q)\cdot(R(i)k) = k^\top R(j-i)\,q",
        label="P",
        check=relative_law,
        holds={
            "query_action": _turned,
            "key_action": _turned,
            "law": lambda offset, frequency: rotary.rotation(offset * frequency),
        },
        falsifiers={
            "key turned backwards": {"key_action": lambda position, frequency: rotary.rotation(-position * frequency)},
            "offset reversed": {"law": lambda offset, frequency: rotary.rotation(-offset * frequency)},
            "unequal gains after rotation": {"key_action": _stretched_after_turning},
        },
    ),
    Claim(
        id="rope-2",
        source=SOURCE.at("the rotary matrix is orthogonal"),
        statement="RoPE is orthogonal at every position: queries and keys keep their norms.",
        latex=r"R(n)^\top R(n)=I,\quad \lVert R(n)q\rVert=\lVert q\rVert",
        label="P",
        check=keeps_norms,
        holds={"action": _turned},
        falsifiers={
            "with the scaling of xPos": {"action": _faded},
            "with unequal gains": {"action": _stretched_after_turning},
        },
    ),
    Claim(
        id="rope-5",
        source=SOURCE.at("the frequencies 10000^(-2l/d)"),
        statement="Within L positions exactly the planes beyond d log(L/2 pi) / (2 log base) do not make a full turn: "
        "18 of 64 for d = 128 and L = 4096. In longer contexts they take angles never seen in training.",
        latex=r"2\pi/\theta_l>L\iff l>\frac{d\,\ln(L/2\pi)}{2\ln\mathrm{base}}",
        label="F",
        check=incomplete_planes,
        holds={
            "last": lambda length, head_dim, base: rotary.last_full_turn(length, head_dim=head_dim, base=base),
            "head_dim": 128,
            "length": 4096,
            "incomplete": 18,
        },
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
    ),
    Claim(
        id="rope-6",
        source=SOURCE.at("pairs of coordinates (2l, 2l+1); released model code pairs l with l + d/2"),
        statement="The two layouts of planes differ by one permutation of the coordinates, which W_q and W_k absorb.",
        latex=r"R_{\mathrm{halves}}P=P\,R_{\mathrm{interleaved}},\quad P:\ 2l+a\mapsto l+a\,d/2",
        label="F",
        check=layouts,
        holds={"chosen": lambda permutation: permutation},
        falsifiers={"equal without permuting": {"chosen": sorted}, "the inverse permutation": {"chosen": _inverse}},
    ),
    Claim(
        id="rope-7",
        source=SOURCE.at("the relative property, under the QK normalisation of later models"),
        statement="With a gain on every coordinate after the rotation the relative law holds iff in each plane the "
        "products of the query's and the key's gains are equal; gains before the rotation never break it.",
        latex=r"R(i)^\top\mathrm{diag}(v)\,\mathrm{diag}(u)\,R(i+D)\ \text{free of } i\iff u_1v_1=u_2v_2",
        label="F",
        check=gains_after_rotation,
        holds={"query_gains": (_G1, _G2), "key_gains": (_SHARED / _G1, _SHARED / _G2)},
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
    ),
)
