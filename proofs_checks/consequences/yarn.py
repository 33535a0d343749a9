"""NTK-aware scaling slows each plane by some amount, dynamic scaling forbids a cache of keys, YaRN at s = 1 is RoPE."""

from itertools import combinations_with_replacement
from typing import Any

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, ball, short
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers import yarn
from lengthgen.proofs_checks.papers.interpolation import BASE
from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import KEY, LENGTH, QUERY

CLAIMS = PaperClaims(yarn.SOURCE)


def _slowed(plane: sp.Expr, head_dim: sp.Expr, scale: sp.Expr) -> sp.Expr:
    return rotary.ntk_factor(rotary.ntk_share(plane, head_dim=head_dim), scale=scale)


@CLAIMS.claim(
    "ntk-2",
    yarn.SCALED_BASE,
    r"1 = g_0 \ge g_1 \ge \dots \ge g_{d/2-1} = \tfrac1s,\quad g_l = s^{-2l/(d-2)}",
    assumptions=("d > 2, s >= 1",),
    falsifiers={
        "as in position interpolation": {"factor": lambda plane, head_dim, scale: 1 / scale},
        "fast planes slowed most": {
            "factor": lambda plane, head_dim, scale: rotary.ntk_factor(
                1 - rotary.ntk_share(plane, head_dim=head_dim), scale=scale
            )
        },
    },
)
def between_none_and_all(factor: Formula = _slowed) -> Facts:
    """Every plane is slowed by a factor between 1, for the fastest plane, and s, for the slowest; a slower plane by no
    less than a faster one.
    """
    plane, head_dim = yarn.PLANE, yarn.HEAD_DIM
    logarithm = yarn.logarithm(factor(plane, head_dim, yarn.SCALE))
    step = logarithm.subs(plane, plane + 1) - logarithm
    yield "ln of the first factor", lambda: logarithm.subs(plane, 0), sp.Integer(0)
    yield "ln of the last factor", lambda: logarithm.subs(plane, yarn.LAST), -yarn.LOG_SCALE
    yield "from one plane to the next", step, lambda: -2 * yarn.LOG_SCALE / (head_dim - 2)
    yield "-2 S/(d-2) <= 0 for s >= 1, so every factor is in [1/s, 1] and none is above the one before"


@CLAIMS.claim(
    "dntk-2",
    yarn.DYNAMIC_SOURCE.at("the base recomputed as the sequence grows"),
    r"(R(j\theta g_n)q)\cdot(R(i\theta g_n)k) = k^\top R\big((j-i)\theta g_n\big)q,\quad"
    r"\text{not so with } R(i\theta g_{i+1})k",
    assumptions=("the plane's factor at length n is one number, whatever the positions",),
    falsifiers={
        "keys cached as they arrived": {"key_length": lambda arrival, length: arrival},
        "keys turned for half the length": {"key_length": lambda arrival, length: (arrival + length) / 2},
    },
)
def recomputed(key_length: Formula = lambda arrival, length: length) -> Facts:
    """Dynamic NTK scaling keeps the relative law if all keys are rotated for the length of the sequence now. A cache of
    keys rotated for the length at which they arrived breaks it beyond the trained length: for d = 8, L = 16, alpha = 2,
    64 tokens, two equal keys at one distance score differently.

    `key_length` is the length whose frequencies rotate a key, by the length when it arrived and the length now.
    """
    pairs, where = ((3, 43), (23, 63)), "d = 8, L = 16, alpha = 2, n = 64, distance 40"
    first, second = (_example(*pair, key_length) for pair in pairs)
    right = short(_example(*pairs[0], lambda _, length: length))
    both = f"key 3 scores {short(first)}, key 23 {short(second)}; turned for n = 64 both score {right}"
    refute(not first.overlaps(second), f"{where}: {both}")
    i, j, shift = sp.symbols("i j t", integer=True, nonnegative=True)
    factors: dict[sp.Expr, sp.Symbol] = {}

    def factor(scale: sp.Expr) -> sp.Symbol:
        """The plane's factor at a scale, as a symbol."""
        return factors.setdefault(scale, sp.Symbol(f"g{len(factors)}", positive=True))

    here, there = (
        _score(i + by, j + by, LENGTH, key_length).replace(rotary.NTK_FACTOR_AT, factor) for by in (0, shift)
    )
    cached = [_example(*pair, lambda arrival, _: arrival) for pair in pairs]
    refute(cached[0].overlaps(cached[1]), f"{where}: as turned on arrival keys 3 and 23 both score {short(cached[0])}")
    yield "score at i + t, j + t = score at i, j", there, here
    arrived = " and ".join(map(short, cached))
    yield f"{where}: keys 3 and 23 score {short(first)}, and as turned on arrival {arrived}"
    relation, most = rotary.DYNAMIC_NTK.relation, 12
    assert relation is not None
    seen: dict[tuple[int, int], int] = {}
    for length in range(1, most + 1):
        labels = relation.labels(length, length)
        for key, query in combinations_with_replacement(range(length), 2):
            tokens, label = (query - key, length), int(labels[key, query])
            earlier = seen.setdefault(tokens, label)
            refute(earlier != label, f"distance and length {tokens} have the labels {earlier} and {label}")
    count = len(set(seen.values()))
    refute(count < len(seen), f"{len(seen)} pairs of distance and length have {count} labels")
    yield f"{len(seen)} pairs of distance and length up to n = {most} have a label each"


def _score(key: sp.Expr, query: sp.Expr, length: sp.Expr, key_length: Formula) -> sp.Expr:
    """Score on one plane."""
    actions = rotary.DYNAMIC_NTK.rotate
    assert actions is not None
    on_query, on_key = actions(query, length)[0], actions(key, key_length(key + 1, length))[1]
    return (on_key * KEY).dot(on_query * QUERY)


def _example(key: int, query: int, key_length: Formula) -> Any:
    """Enclosure of the score of two equal vectors of length 1 in each plane: d = 8, L = 16, alpha = 2, n = 64."""
    law = {rotary.NTK_TRAINED_LENGTH: sp.Integer(16), rotary.NTK_GROWTH: sp.Integer(2)}
    law |= dict(zip((*QUERY, *KEY), (1, 0, 1, 0), strict=True))
    plane = _score(sp.Integer(key), sp.Integer(query), sp.Integer(64), key_length).subs(law)
    total = sp.Integer(0)
    for index, theta in enumerate(rotary.frequencies(8, BASE)):
        slowed = plane.replace(rotary.NTK_FACTOR_AT, lambda scale, index=index: _slowed(index, sp.Integer(8), scale))
        total += slowed.xreplace({rotary.FREQUENCY: theta})
    return ball(total)


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
def identity(magnitude: Formula = rotary.yarn_magnitude, factor: sp.Expr = sp.Integer(1)) -> Facts:
    """At s = 1 YaRN is RoPE, whatever the ramp: no frequency changes and the temperature is 1."""
    theta, unit = rotary.FREQUENCY, sp.Integer(1)
    i, j = sp.symbols("i j", real=True)
    at = {"query_position": j, "key_position": i}
    yield "the factor at s = 1", lambda: magnitude(unit), factor
    yield "the frequency at s = 1", lambda: rotary.yarn_frequency(theta, kept=rotary.YARN_KEPT, scale=unit), theta
    scored = rotary.YARN.score
    yield "the score at s = 1", lambda: scored(**at).subs(rotary.SHRINK, 1), lambda: rotary.ROPE.score(**at)
