"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import hope

EXPECTED = {
    "hope-1": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-2": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-3": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-4": (Verdict.CORRECTED, Strength.GENERAL),
    "hope-4-gaussian": (Verdict.VERIFIED, Strength.INTERVAL),
    "hope-5": (Verdict.VERIFIED, Strength.INTERVAL),
    "hope-5-uniform": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-6-complex": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-6-real": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-7": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-8": (Verdict.CORRECTED, Strength.GENERAL),
    "hope-9": (Verdict.VERIFIED, Strength.NUMERIC),
    "hope-10": (Verdict.VERIFIED, Strength.INTERVAL),
}

COUNTEREXAMPLES = {
    "hope-1": {
        "key boosted forwards": r"actions at j = i \+ D and i = H\(D\), entry 1: .* at D = 4, i = 4",
        "key not damped": r"actions at j = i \+ D and i = H\(D\), entry 1: 1.03092e-9 != 0.000167788",
        "offset reversed": r"entry 1: 0.000167788 != 4.44455e\+6 at D = 4",
    },
    "hope-2": {
        "norm preserved": r"B\^T G B = G, entry 1: 1490.48 != 1.00000 at t = 4",
        "bounded by cosh t": r"not negative for t >= 0, entry 1: -160.255 != 0 at q1 = 4, q2 = 4",
        "attained at q2 = 0": r"attained at q = \(1, 0\).*: 27.3082 != 54.5982 at t = 4",
        "attained at q1 = -q2": r"attained at q = \(1, -1\).*: 0.0183156 != 54.5982 at t = 4",
    },
    "hope-3": {
        "theta' = theta": r"slow channel: the score of q = k = \(1, 1\) is 2.00000 at D = 10, 2 at D = 0",
        "theta' below theta": r"slow channel: the score of q = k = \(1, 1\) is 5.43656 at D = 10, 2 at D = 0",
        "as fast as the fast channel": r"is 0.735759 at D = 10, 2 at D = 0, and the bound is 1.51651E-9",
        "as fast as the damping": r"is 0.735759 at D = 10, 2 at D = 0, and the bound is 0.0000334034",
    },
    "hope-4": {
        "P >= 0 alone": r"q = \(1, 0\), k = \(0, 1\), theta = 1, theta' = 11/10: the score rises, it i",
        "the second margin alone": r"q = \(1, 0\), k = \(0, -1\), theta = 1, theta' = 11/10: the score rises, it ",
        "P >= 0 and N >= 0": r"q = \(1, 0\), k = \(1, 2\), theta = 1, theta' = 2: the score never rises",
    },
    "hope-4-gaussian": {
        "theta' = 2": r"share at theta = 1, theta' = 2, r = 1/3: \[0\.322786 \+/- 4\.22e-7\] is not b",
        "theta' = 1.11": r"share at theta = 1, theta' = 111/100, r = 11/211: \[0\.270901 \+/- 1\.69e-7\]",
        "theta = 1/2": r"share at theta = 1/2, theta' = 11/10, r = 3/8: \[0\.327800 \+/- 4\.98e-7\] is",
    },
    "hope-5": {
        "ALiBi for HoPE": r"share of the mass beyond D = 50, of 4096 keys: 0\.078082 is not between 0",
        "of 64 keys": r"share of the mass beyond D = 50, of 64 keys: 0\.025271 is not between 0\.8",
        "half the rate": r"share of the mass beyond D = 50, of 4096 keys: 0\.82183 is not between 0\.",
        "no content": r"share of the mass beyond D = 50, of 4096 keys: 0\.98755 is not between 0\.",
        "ALiBi at slope 0.1": r"the same share under 5 - D/10: 0\.0060967 is not between 0\.075 and 0\.085",
    },
    "hope-5-uniform": {
        "theta' below theta": r"slow channel: its factor at D = 10 is 2.71828 > 1",
        "at least e^-C/T": r"C = 2, T = 100: the least weight is 0.00018497, below 0.0013534",
        "at least 1/T": r"C = 2, T = 100: the least weight is 0.00018497, below 0.010000",
    },
    "hope-6-complex": {
        "real rate": r"C\^-1 H\(m\) C = R2\(m theta\), entry 1: 4.44306e\+6 != -0.957659",
        "with damping": r"entry 1: -0.0175401 != -0.957659",
        "without the change of basis": r"entry 2: -0.287903\*I != 0.287903",
    },
    "hope-6-real": {
        "complex parameters and bases": r"theta = i w, theta' = 0 in the basis diag\(1, i\) is RoPE at every frequency",
        "RoPE at half the angle": r"RoPE's step has the eigenvalues exp\(iw\), exp\(-iw\), entry 1: 20\.3292 != 2",
        "RoPE at twice the angle": r"RoPE's step has the eigenvalues exp\(iw\), exp\(-iw\), entry 1: 18\.1640 != 2",
        "boosts for rotations": r"RoPE's step has the eigenvalues exp\(iw\), exp\(-iw\), entry 1: -201\.466 != ",
    },
    "hope-7": {
        "channels that turn, as RoPE's": r"is diagonal, entry 1: 162755. != 0.843854 at D = 4",
        "channels that grow": r"is diagonal, entry 1: 162755. != 6.14421e-6 at D = 4",
        "rates 1, 2, 3, 4": r"rates \(1, 2, 3, 4\) over two planes of one theta': 1 \+ 4 and 2 \+ 3",
    },
    "hope-8": {
        "query on the light cone": r"q = \(1, 1\) is on the light cone: P = .*, N = 0 .* scores 3.6642, 3.3155",
        "query on its other line": r"q = \(1, -1\) is on the light cone: P = 0, N = .* scores 66.686, 8.1662, 1.0000",
        "boosted backwards": r"k for r = 3: the score is 669.99 at D = -2 and 0.18442 at D = 3",
        "peak one step later": r"k for r = 3: the score is 0.67032 at D = 4 and 0.50416 at D = 3",
        "key reversed": r"k for r = 3: the score is 1343.9 at D = -2 and -0.74082 at D = 3",
    },
    "hope-9": {
        "factors, position 15": r"key at 15, D = 0: 0 in float32, where the score is 0.28125",
        "factors, position 43": r"key at 43, D = 0: nan in float32, where the score is 0.28125",
        "factors, position 1024": r"key at 1024, D = 0: nan in float32, where the score is 0.28125",
        "factors at half the position": r"factorised in float32: 0 from position 18, not finite from position 86; ",
        "factors in float64, position 19": r"key at 19, D = 0: 0 in float64, where the score is 0.28125",
        "factors in float64, position 339": r"key at 339, D = 0: nan in float64, where the score is 0.28125",
    },
    "hope-10": {
        "at distance 8": r"7 of 32 planes keep more than 0\.001 at D = 8, not 1: plane 0: 1\.000, pla",
        "of a head of 256": r"2 of 128 planes keep more than 0\.001 at D = 64, not 1: plane 0: 1\.000, p",
        "at most a part in 10^9": r"2 of 32 planes keep more than 1e-09 at D = 64, not 1: plane 0: 1\.000, pl",
    },
}


FIGURES = {
    "hope-4": (r"q = \(1, 0\), k = \(-1, 0\), .*it is -1.000, -0.9989, -0.5136, .* at D = 0, 1/1000, 1, 10, 50, 100",),
    "hope-4-gaussian": (r"share at theta = 1, theta' = 11/10, r = 1/21: \[0.26952642",),
    "hope-5": (r"beyond D = 50, of 4096 keys: \[0.887943",),
    "hope-8": (r"as printed: q = \(2, 1\), k for r = 3: the score is 112.06 at D = -2 and 66.959 at D = 3",),
    "hope-9": (
        r"products of 2.338e\+12 .* last place is 2.621e\+05, must add to 0.2812; .* they add to 0",
        r"factorised in float32: 0 from position 9, not finite from position 43",
        r"factorised in float64: 0 from position 19, not finite from position 339",
    ),
    "hope-10": (r"planes \[0\] of 32 keep more than 0.001 at D = 64",),
}


def _without_n(query: Any, key: Any) -> tuple[Any, Any]:
    return (query[0] + query[1]) * (key[0] + key[1]), sp.Integer(0)


RIGHT_KEY, RIGHT_MARGINS = hope.peaked_key, hope.falling_margins


WRONG: list[tuple[str, Any, str, str]] = [
    (
        "theory.encodings.hope.boost",
        lambda t: sp.Matrix([[sp.cosh(t), -sp.sinh(t)], [-sp.sinh(t), sp.cosh(t)]]),
        "hope-2",
        r"\d",
    ),
    ("theory.encodings.hope.boost", lambda t: sp.cosh(t) * sp.eye(2), "hope-2", r"\d"),
    (
        "theory.encodings.hope.query_action",
        lambda position, *, rate, damping: hope.boost(position * rate),
        "hope-1",
        r"\d",
    ),
    (
        "theory.encodings.hope.key_action",
        lambda position, *, rate, damping: hope.boost(position * rate),
        "hope-1",
        r"\d",
    ),
    ("theory.encodings.hope.kernel", lambda offset, *, rate, damping: hope.boost(offset * rate), "hope-7", r"\d"),
    ("theory.encodings.hope.score", lambda query, key, **law: query[0] * key[0] + query[1] * key[1], "hope-3", r"\d"),
    ("theory.encodings.hope.channels", _without_n, "hope-1", r"\d"),
    ("theory.encodings.hope.channels", lambda query, key: _without_n(query, key)[::-1], "hope-3", r"\d"),
    ("theory.encodings.hope.channels", lambda query, key: _without_n(query, key)[::-1], "hope-5-uniform", r"\d"),
    ("theory.encodings.hope.decay_rates", lambda *, rate, damping: (damping, damping + rate), "hope-1", r"\d"),
    ("theory.encodings.hope.decay_rates", lambda *, rate, damping: (damping, damping + rate), "hope-7", r"\d"),
    ("theory.encodings.hope.decay_rates", lambda *, rate, damping: (damping + rate, damping - rate), "hope-10", r"\d"),
    ("theory.encodings.hope.plane_with", lambda *, slow, fast: (fast - slow, fast + slow), "hope-7", r"\d"),
    ("theory.encodings.hope.light_cone", lambda: sp.Matrix([[1, 1], [1, 1]]), "hope-7", r"\d"),
    ("theory.encodings.hope.light_cone", lambda: sp.Matrix([[1, 1], [1, 1]]), "hope-2", r"\d"),
    ("theory.encodings.hope.light_cone_score", lambda query, key, **law: RIGHT_KEY(query, **law)[0], "hope-8", r"\d"),
    (
        "theory.encodings.hope.light_cone_score",
        lambda query, key, *, offset, **law: 5 * sp.exp(-offset),
        "hope-5",
        r"\d",
    ),
    (
        "theory.encodings.hope.decay_factors",
        lambda *, rate, damping: (sp.exp(-damping), sp.exp(-damping)),
        "hope-6-real",
        r"\d",
    ),
    (
        "theory.encodings.hope.falling_margins",
        lambda *content, **law: RIGHT_MARGINS(*content, **law)[::-1],
        "hope-4",
        r"\d",
    ),
    ("theory.encodings.hope.falling_margins", lambda query, key, **law: _without_n(query, key), "hope-4", r"\d"),
    (
        "theory.encodings.hope.falling_margins",
        lambda query, key, **law: _without_n(query, key),
        "hope-4-gaussian",
        r"\d",
    ),
    (
        "theory.encodings.hope.peaked_key",
        lambda query, *, offset, **law: RIGHT_KEY(query, offset=2 * offset, **law),
        "hope-8",
        r"\d",
    ),
    ("theory.encodings.hope.peaked_key", lambda query, **law: query, "hope-8", r"\d"),
]
