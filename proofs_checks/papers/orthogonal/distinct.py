"""Attention without distinct codes cannot tell the order of its keys; which codes are distinct."""

from collections.abc import Callable, Mapping
from itertools import combinations

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.papers.orthogonal import SOURCE
from lengthgen.proofs_checks.signs import is_zero
from lengthgen.theory.encodings import absolute, encoding

Coordinate = Callable[[sp.Expr, sp.Expr], sp.Expr]

_LONGEST = 6


def order_is_seen(*, coordinates: Mapping[str, Coordinate], steps: Mapping[str, Coordinate], gap: sp.Expr) -> Evidence:
    """Decide that keys with one code can be swapped, and that these codes are distinct.

    Args:
        coordinates: name of a code -> a coordinate that differs for all positions p of N, a function of p and N.
        steps: name of a code -> coordinate of p + 1 minus that of p.
        gap: code of the second of two swapped keys minus that of the first, for which the output is unchanged.
    """
    for name, coordinate in coordinates.items():
        for count in range(2, _LONGEST + 1):
            for first, second in combinations(range(count), 2):
                change = coordinate(sp.Integer(first), sp.Integer(count)) - coordinate(
                    sp.Integer(second), sp.Integer(count)
                )
                if is_zero(change):
                    raise Refuted(
                        f"{name}, {count} positions: {first} and {second} have one code, so tokens swapped there "
                        "leave the output as it is"
                    )
    query, code, value, x, y, rest, rest_value = sp.symbols("q e v x y Z R", positive=True)
    position, count = sp.symbols("p N", integer=True, positive=True)

    def output(first: sp.Expr, second: sp.Expr) -> sp.Expr:
        """Output of a query for two keys with these contents, the codes e and e + gap, and other keys of weight Z."""
        keys = (first + code, second + code + gap)
        weights = [sp.exp(query * key) for key in keys]
        weighted = [weight * value * key for weight, key in zip(weights, keys, strict=True)]
        return (rest_value + sp.Add(*weighted)) / (rest + sp.Add(*weights))

    positions = {"query_position": sp.Symbol("j"), "key_position": sp.Symbol("i")}
    if encoding.NOPE.score(**positions).free_symbols & set(positions.values()):
        raise Refuted("the score without encoding has a position in it: 1 position at least")
    facts = [
        "without encoding no score has a position in it, so a permutation of the keys permutes the terms of each sum",
        require_equal(
            "two keys with one code e, contents x and y, any other keys: the output for y, x is that for x, y",
            lambda: output(y, x),
            lambda: output(x, y),
        ),
    ]
    turn = sp.Symbol("phi", positive=True)
    for name, step in steps.items():
        sides = (
            coordinates[name](position + 1, count) - coordinates[name](position, count),
            step(position, count),
        )
        angles = {count: sp.pi / turn} if sides[0].has(sp.cos) else {}
        facts.append(require_equal(f"{name}: step from p to p + 1, phi = pi/N", *(side.subs(angles) for side in sides)))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            "for p + 1 < N every step has one sign and is not 0, so these codes are distinct on 0 .. N - 1",
            "the next layer gets equal rows at swapped places and works on each row alike, so any depth follows",
        ),
        assumptions=(
            "attention over keys on both sides; a causal mask tells more",
            "that distinct codes suffice for universal approximation is Yun et al.'s theorem (arXiv 1912.10077), not "
            "decided here",
        ),
    )


def _rescaled(position: sp.Expr, count: sp.Expr) -> sp.Expr:
    """Legendre coordinate 1 of a sequence of N tokens, in units of sqrt(3)."""
    return absolute.legendre_coordinate(position, length=count, trained_length=sp.Integer(2), beyond="rescale")


def _clamped(position: sp.Expr, count: sp.Expr) -> sp.Expr:
    return absolute.legendre_coordinate(position, length=count, trained_length=sp.Integer(2), beyond="clamp")


def _cosine(position: sp.Expr, count: sp.Expr) -> sp.Expr:
    return absolute.dct_cosine(sp.S.One, position, trained_length=count)


CLAIMS = (
    Claim(
        id="orthogonal-9",
        source=SOURCE,
        statement="Without encoding attention is equivariant under permutations of its tokens, and keys whose codes "
        "are equal can be swapped unseen, so a code must differ between positions; rescaled Legendre and DCT codes do "
        "within the trained length, and constant, clamped or few Haar codes do not (our reading).",
        latex=r"PE(p)=PE(p')\Rightarrow f(\dots,x_p,\dots,x_{p'},\dots)=f(\dots,x_{p'},\dots,x_p,\dots)",
        label="F",
        check=order_is_seen,
        holds={
            "coordinates": {"Legendre, rescaled": _rescaled, "DCT": _cosine},
            "steps": {
                "Legendre, rescaled": lambda p, count: 2 / (sp.Max(count, 2) - 1),
                "DCT": lambda p, count: -2 * sp.sin(sp.pi * (p + 1) / count) * sp.sin(sp.pi / (2 * count)),
            },
            "gap": sp.S.Zero,
        },
        falsifiers={
            "a constant code suffices": {"coordinates": {"constant": lambda p, count: sp.S.One}, "steps": {}},
            "two Haar functions suffice": {
                "coordinates": {"Haar": lambda p, count: absolute.Haar(sp.S.One, p / count)},
                "steps": {},
            },
            "clamped codes suffice": {"coordinates": {"clamped": _clamped}, "steps": {}},
            "keys with different codes can be swapped": {"gap": sp.S.One},
        },
    ),
)
