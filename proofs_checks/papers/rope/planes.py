"""Planes: which of them turn once within a context, and which coordinates they are."""

from collections.abc import Callable, Sequence

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal, same_by_sympy
from proofs_checks.papers.rope.source import source
from theory import equality
from theory.encodings import rotary

LastFullTurn = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]

_BASE = 10000
_WIDEST = 12


def incomplete_planes(*, last: LastFullTurn, head_dim: int, length: int, incomplete: int) -> Evidence:
    """Decide that planes beyond last(L, d, base) have a period above L, and count them at one d and L."""
    plane, d, log_base, log_turns = sp.symbols("l d b m", positive=True)
    base, context = sp.exp(log_base), 2 * sp.pi * sp.exp(log_turns)
    at_last = rotary.period(last(context, d, base), head_dim=d, base=base)
    growth = sp.diff(sp.log(rotary.period(plane, head_dim=d, base=base)), plane)
    found = []
    for number, theta in enumerate(rotary.frequencies(head_dim)):
        excess = rotary.period(number, head_dim=head_dim, base=_BASE) - length
        if equality.equal(excess + length, 2 * sp.pi / theta) is not equality.Answer.YES:
            raise Refuted(f"d = {head_dim}: plane {number} has the period {sp.N(2 * sp.pi / theta, 6)}")
        beyond = number - last(sp.Integer(length), sp.Integer(head_dim), sp.Integer(_BASE))
        if equality.sign(excess) != equality.sign(beyond):
            period = sp.N(excess + length, 6)
            raise Refuted(f"d = {head_dim}, L = {length}: plane {number} has the period {period}")
        found.append(equality.sign(excess) == 1)
    if sum(found) != incomplete:
        raise Refuted(
            f"d = {head_dim}, L = {length}: {sum(found)} of {len(found)} planes turn less than once, from plane "
            f"{found.index(True)} on, not {incomplete}"
        )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            same_by_sympy(
                "theta at l = d/2, which no plane has",
                rotary.frequency(d / 2, head_dim=d),
                sp.Rational(1, _BASE),
            ),
            require_equal("the period at l* over L", lambda: at_last / context, sp.Integer(1)),
            require_equal(
                "d log(period)/dl = 2 log(base)/d, above 0: periods grow with l", growth, lambda: 2 * log_base / d
            ),
            f"d = {head_dim}, L = {length}: {sum(found)} of {len(found)} planes turn less than once (ball arithmetic)",
        ),
        assumptions=("base > 1", "L > 2 pi"),
    )


def layouts(*, chosen: Callable[[Sequence[int]], Sequence[int]]) -> Evidence:
    """Decide that what is chosen, given `rotary.to_halves`, takes one layout's rotation to the other's, at every d."""
    plane, half = sp.symbols("l n", integer=True, nonnegative=True)
    apart = rotary.coordinates(plane, head_dim=2 * half, layout="interleaved")
    for head_dim in range(2, _WIDEST + 1, 2):
        moved = chosen(rotary.to_halves(head_dim))
        matrix = sp.zeros(head_dim, head_dim)
        for coordinate, place in enumerate(moved):
            matrix[place, coordinate] = 1
        left, right = _rotation(head_dim, "halves") * matrix, matrix * _rotation(head_dim, "interleaved")
        for entry in range(head_dim**2):
            if left[entry] != right[entry]:
                require_equal(f"d = {head_dim}: R_halves P = P R_interleaved", left[entry], right[entry])
        if sorted(moved) != list(range(head_dim)):
            raise Refuted(f"d = {head_dim}: {list(moved)} is no permutation")
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
    """The whole rotation with an angle of its own in each plane."""
    whole = sp.zeros(head_dim, head_dim)
    for plane in range(head_dim // 2):
        turn = rotary.rotation(sp.Symbol(f"a{plane}", real=True))
        places = rotary.coordinates(plane, head_dim=head_dim, layout=layout)
        for row in (0, 1):
            for column in (0, 1):
                whole[places[row], places[column]] = turn[row, column]
    return whole


def _inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    return tuple(permutation.index(place) for place in range(len(permutation)))


CLAIMS = (
    Claim(
        id="rope-5",
        source=source("the frequencies 10000^(-2l/d)"),
        statement="Within L positions the planes beyond d log(L/2 pi) / (2 log base) do not turn once, and no others: "
        "18 of 64 for d = 128 and L = 4096. Longer contexts show them angles that were never seen.",
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
        source=source("pairs of coordinates (2l, 2l+1); released model code pairs l with l + d/2"),
        statement="The two layouts of planes differ by one permutation of the coordinates, which W_q and W_k absorb.",
        latex=r"R_{\mathrm{halves}}P=P\,R_{\mathrm{interleaved}},\quad P:\ 2l+a\mapsto l+a\,d/2",
        label="F",
        check=layouts,
        holds={"chosen": lambda permutation: permutation},
        falsifiers={
            "equal without permuting": {"chosen": sorted},
            "the inverse permutation": {"chosen": _inverse},
        },
    ),
)
