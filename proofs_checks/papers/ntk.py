"""NTK-aware scaling (as arXiv 2309.00071 states it) and dynamic NTK scaling (as transformers computes it)."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.proofs_checks.facts import ball, same_by_sympy, short
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.interpolation import BASE
from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import KEY, LENGTH, QUERY, Actions

SOURCE = Source(paper="NTK-aware scaling, in YaRN", arxiv="2309.00071")
DYNAMIC_SOURCE = Source(paper="Dynamic NTK scaling, in transformers and YaRN", arxiv="2309.00071")

Lengths = Callable[[sp.Expr, sp.Expr], sp.Expr]
"""(sequence length when the key arrived, length now) -> length whose frequencies rotate the key."""

_LOG_BASE, _LOG_SCALE = sp.symbols("B S", positive=True)
_BASE, _SCALE = sp.symbols("b s", positive=True)
_HEAD_DIM_LESS_2 = sp.Symbol("m", positive=True)  # d - 2, the denominator
_HEAD_DIM = _HEAD_DIM_LESS_2 + 2
_PLANE = sp.Symbol("l", nonnegative=True)


def _logarithm(power_product: sp.Expr) -> sp.Expr:
    """Logarithm of a product of powers of b and s, in the symbols B = ln b and S = ln s."""
    return sp.expand_log(sp.log(power_product)).xreplace({sp.log(_BASE): _LOG_BASE, sp.log(_SCALE): _LOG_SCALE})


def _listed(head_dim: int) -> list[sp.Expr]:
    """Logarithms of the listed frequencies divided by those of RoPE."""
    pairs = zip(rotary.ntk_frequencies(head_dim, BASE, scale=_SCALE), rotary.frequencies(head_dim, BASE), strict=True)
    return [_logarithm(scaled / plain) for scaled, plain in pairs]


def _growing_part(scale: sp.Expr) -> sp.Expr:
    """The other argument of max(1, e). Raises `Refuted` if the scale is not of this form."""
    if not (isinstance(scale, sp.Max) and sp.S.One in scale.args and len(scale.args) == 2):
        raise Refuted(f"the scale {scale} is not the larger of 1 and something")
    return next(part for part in scale.args if part != 1)


def _score(key: sp.Expr, query: sp.Expr, key_length: Lengths, factors: dict[sp.Expr, sp.Symbol]) -> sp.Expr:
    """Score on one plane, with the plane's factor at each scale replaced by a symbol."""
    on_query, on_key = _actions(query, LENGTH)[0], _actions(key, key_length(key + 1, LENGTH))[1]
    score = (on_key * KEY).dot(on_query * QUERY)
    return score.replace(
        rotary.NTK_FACTOR_AT, lambda scale: factors.setdefault(scale, sp.Symbol(f"g{len(factors)}", positive=True))
    )


def _actions(position: sp.Expr, length: sp.Expr) -> Actions:
    """Actions of dynamic NTK on queries and on keys at a position."""
    assert rotary.DYNAMIC_NTK.rotate is not None
    return rotary.DYNAMIC_NTK.rotate(position, length)


def _example(key: int, query: int, key_length: Lengths) -> Any:
    """Enclosure of the score of two equal vectors of length 1 in each plane: d = 8, L = 16, alpha = 2, n = 64."""
    length = sp.Integer(64)
    law = {rotary.NTK_TRAINED_LENGTH: sp.Integer(16), rotary.NTK_GROWTH: sp.Integer(2)}
    on_query = _actions(sp.Integer(query), length)[0]
    on_key = _actions(sp.Integer(key), key_length(sp.Integer(key + 1), length))[1]
    plane = (on_key.T * on_query)[0, 0].subs(law)
    total = sp.Integer(0)
    for index, theta in enumerate(rotary.frequencies(8, BASE)):
        share = rotary.ntk_share(sp.Integer(index), head_dim=sp.Integer(8))
        slowed = plane.replace(rotary.NTK_FACTOR_AT, lambda scale, share=share: rotary.ntk_factor(share, scale=scale))
        total += slowed.xreplace({rotary.FREQUENCY: theta})
    return ball(total)


def _labels_tell_distance_and_length() -> str:
    """Fact that the labels of the relation tell every pair of distance and length apart. Raises `Refuted` if not."""
    relation, most = rotary.DYNAMIC_NTK.relation, 12
    assert relation is not None
    labels_of_pairs: dict[tuple[int, int], int] = {}
    for length in range(1, most + 1):
        labels = relation.labels(length, length)
        for key in range(length):
            for query in range(key, length):
                pair, label = (query - key, length), int(labels[key, query])
                if labels_of_pairs.setdefault(pair, label) != label:
                    raise Refuted(f"distance and length {pair} have the labels {labels_of_pairs[pair]} and {label}")
    if len(set(labels_of_pairs.values())) < len(labels_of_pairs):
        raise Refuted(
            f"{len(labels_of_pairs)} pairs of distance and length have {len(set(labels_of_pairs.values()))} labels"
        )
    return f"{len(labels_of_pairs)} pairs of distance and length up to n = {most} have a label each"


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "ntk-1",
    "the scaled base",
    r"b' = b\,s^{d/(d-2)} \;\Rightarrow\; \theta'_l = \theta_l\,s^{-2l/(d-2)},\quad"
    r"\theta'_0=\theta_0,\ \theta'_{d/2-1}=\theta_{d/2-1}/s",
    label="P",
    assumptions=("d > 2 and l real; b, s > 0, so that logarithms tell powers apart; theta_l = b^(-2l/d)",),
    falsifiers={
        "base times s": {"base": lambda base, head_dim, scale: base * scale},
        "exponent (d-2)/d": {"base": lambda base, head_dim, scale: base * scale ** ((head_dim - 2) / head_dim)},
    },
)
def scaled_frequencies(
    base: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr] = lambda base, head_dim, scale: rotary.ntk_base(
        base, head_dim=head_dim, scale=scale
    ),
) -> Facts:
    """The base b s^(d/(d-2)) leaves the fastest plane unchanged, slows the slowest by the factor s, and plane l by
    s^(2l/(d-2)).

    All is decided in logarithms. `base` takes base, head width d and scale s.
    """
    plain, scaled = (
        rotary.frequency(_PLANE, head_dim=_HEAD_DIM, base=base_value)
        for base_value in (_BASE, base(_BASE, _HEAD_DIM, _SCALE))
    )
    slowed = _logarithm(scaled) - _logarithm(plain)
    share = rotary.ntk_share(_PLANE, head_dim=_HEAD_DIM)
    factor = _logarithm(rotary.ntk_factor(share, scale=_SCALE))
    last = _HEAD_DIM / 2 - 1
    i, j = sp.symbols("i j", real=True)
    slow = rotary.score(QUERY, KEY, query_position=j, key_position=i, frequency=rotary.FREQUENCY * rotary.NTK_FACTOR)
    tests = [
        ("ln theta'_l - ln theta_l = -2l/(d-2) ln s", slowed, lambda: -2 * _PLANE / (_HEAD_DIM - 2) * _LOG_SCALE),
        ("ln of the plane's factor is the same", factor, slowed),
        (
            "the score is RoPE's at theta times the factor",
            lambda: rotary.NTK.score(query_position=j, key_position=i),
            slow,
        ),
        ("theta'_0 = theta_0", lambda: slowed.subs(_PLANE, 0), sp.Integer(0)),
        ("theta'_l = theta_l / s at l = d/2 - 1", lambda: slowed.subs(_PLANE, last), -_LOG_SCALE),
    ]
    listings = []
    for head_dim in (4, 8):
        plain = rotary.frequencies(head_dim, BASE)
        listed = [
            base_value / theta
            for base_value, theta in zip(rotary.ntk_frequencies(head_dim, BASE, scale=_SCALE), plain, strict=True)
        ]
        at = [slowed.subs({_HEAD_DIM_LESS_2: head_dim - 2, _PLANE: plane}) for plane in range(len(plain))]
        listings.append(
            same_by_sympy(
                f"d = {head_dim}: the listed frequencies", sp.Matrix(listed).applyfunc(_logarithm), sp.Matrix(at)
            )
        )
    yield from tests
    yield from listings


@CLAIMS.claim(
    "ntk-2",
    "the scaled base",
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
def between_none_and_all(
    factor: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr] = lambda plane, head_dim, scale: rotary.ntk_factor(
        rotary.ntk_share(plane, head_dim=head_dim), scale=scale
    ),
) -> Facts:
    """Every plane is slowed by a factor between 1 and s, a slower plane by no less than a faster one."""
    logarithm = _logarithm(factor(_PLANE, _HEAD_DIM, _SCALE))
    last = _HEAD_DIM / 2 - 1
    step = logarithm.subs(_PLANE, _PLANE + 1) - logarithm
    tests = (
        ("ln of the first factor", lambda: logarithm.subs(_PLANE, 0), sp.Integer(0)),
        ("ln of the last factor", lambda: logarithm.subs(_PLANE, last), -_LOG_SCALE),
        ("from one plane to the next", step, lambda: -2 * _LOG_SCALE / (_HEAD_DIM - 2)),
    )
    yield from tests
    yield "-2 S/(d-2) <= 0 for s >= 1, so every factor is in [1/s, 1] and none is above the one before"


@CLAIMS.claim(
    "dntk-1",
    DYNAMIC_SOURCE.at("the scale at each length"),
    r"s_T = \max\big(1,\ \alpha\tfrac TL-(\alpha-1)\big) = 1 \iff T\le L",
    label="P",
    assumptions=("alpha > 0", "the factor of every plane is a power of s, and powers of 1 are 1"),
    falsifiers={
        "alpha T / L": {"scale": lambda length, trained, alpha: sp.Max(1, alpha * length / trained)},
        "without the maximum": {"scale": lambda length, trained, alpha: alpha * length / trained - (alpha - 1)},
    },
)
def identity_within(
    scale: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr] = lambda length, trained, alpha: rotary.dynamic_ntk_scale(
        length, trained_length=trained, growth=alpha
    ),
) -> Facts:
    """Dynamic NTK scaling is RoPE for sequences up to the trained length, and only for these.

    `scale` takes sequence length, trained length and alpha.
    """
    for alpha in (4, 2, 1):
        for length in (4, 1, 2, 3, 5, 8):
            value = scale(sp.Integer(length), sp.Integer(4), sp.Integer(alpha))
            if (value == 1) != (length <= 4):
                raise Refuted(f"alpha = {alpha}, L = 4, T = {length}: the scale is {value}")
    length, trained, alpha = sp.symbols("T L alpha", positive=True)
    grown = _growing_part(scale(length, trained, alpha))
    i, j = sp.symbols("i j")
    at_trained = rotary.DYNAMIC_NTK.score(query_position=j, key_position=i, length=rotary.NTK_TRAINED_LENGTH)
    within = at_trained.replace(rotary.NTK_FACTOR_AT, lambda scale: rotary.ntk_factor(rotary.NTK_SHARE, scale=scale))
    yield "s = max(1, e) with e - 1 = alpha (T - L)/L", lambda: grown - 1, lambda: alpha * (length - trained) / trained
    yield "alpha, L > 0, so e > 1 exactly where T > L"
    yield "at T = L the score is RoPE's", within, lambda: rotary.ROPE.score(query_position=j, key_position=i)


@CLAIMS.claim(
    "dntk-2",
    DYNAMIC_SOURCE.at("the base recomputed as the sequence grows"),
    r"(R(j\theta g_n)q)\cdot(R(i\theta g_n)k) = k^\top R\big((j-i)\theta g_n\big)q,\quad"
    r"\text{not so with } R(i\theta g_{i+1})k",
    assumptions=("the plane's factor at length n is one number, whatever the positions",),
    falsifiers={
        "keys cached as they arrived": {"key_length": lambda arrival, length: arrival},
        "keys turned for half the length": {"key_length": lambda arrival, length: (arrival + length) / 2},
    },
)
def recomputed(key_length: Lengths = lambda arrival, length: length) -> Facts:
    """Dynamic NTK scaling keeps the relative law if all keys are rotated for the length of the sequence now; a cache of
    keys rotated for the length at which they arrived gives other scores.

    Decide if scores are relative when the query is rotated for the length now and a key for `key_length`.
    """
    pairs = ((3, 43), (23, 63))
    first, second = (_example(*pair, key_length) for pair in pairs)
    where = "d = 8, L = 16, alpha = 2, n = 64, distance 40"
    if not first.overlaps(second):
        right = _example(*pairs[0], lambda _, length: length)
        raise Refuted(
            f"{where}: key 3 scores {short(first)}, key 23 {short(second)}; turned for n = 64 both score {short(right)}"
        )
    i, j, shift = sp.symbols("i j t", integer=True, nonnegative=True)
    factors: dict[sp.Expr, sp.Symbol] = {}
    here, there = (_score(i + by, j + by, key_length, factors) for by in (0, shift))
    arrived = [_example(*pair, lambda arrival, _: arrival) for pair in pairs]
    yield "score at i + t, j + t = score at i, j", there, here
    yield (
        f"{where}: keys 3 and 23 score {short(first)}, and as turned on arrival "
        f"{short(arrived[0])} and {short(arrived[1])}"
    )
    yield _labels_tell_distance_and_length()
