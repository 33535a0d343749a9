"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import interpolation

EXPECTED = {
    "pi-1": (Verdict.VERIFIED, Strength.GENERAL),
    "pi-2": (Verdict.CORRECTED, Strength.GENERAL),
    "pi-3": (Verdict.VERIFIED, Strength.GENERAL),
    "pi-4": (Verdict.VERIFIED, Strength.GENERAL),
    "pi-5": (Verdict.VERIFIED, Strength.INTERVAL),
    "pi-6": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "pi-1": {
        "base times s": r"d = 2: .* entry 1: 1.00000 != 0.250000 at s = 4",
        "frequencies times s": r"d = 2: .* entry 1: 4.00000 != 0.250000 at s = 4",
    },
    "pi-2": {
        "half of it": r"d = 128: error 0.4939 > 0.2499; d = 2: error 0.1224 > 0.0625",
        "every plane as fast as the fastest": r"2 planes: .* 1.00000 != 5.00000 at theta1 = 1, theta2 = 3",
    },
    "pi-3": {
        "the printed constant": r"d = 128, c = 10000: 1.737 is less than the least constant 1.999",
        "planes without end": r"d = 128, c = 10000: the sum is 3.998308025, not 3.998308065",
        "half the exponent": r"d = 128, c = 10000: the sum is 3.998308025, not 7.4607",
    },
    "pi-4": {
        "limit 1": r"limit .* 1.00000 != 1.00034",
        "d / (4 ln c) for the printed constant": r"d = 1842068062: the ratio is 2, not below 1",
        "(d - 2) / (8 ln c) for the printed constant": r"d = 1842068064: the ratio is 0\.9999999989, not above 1",
    },
    "pi-5": {
        "a head of 64": r"d = 64, s = 3901: the bounds are 281\.574 times apart, not 571",
        "the printed constant": r"d = 128, s = 3643: the bounds are 657\.785 times apart, not 571",
    },
    "pi-6": {
        "whatever s": r"0.408082 != 0.283662 at i = 3, theta = 5, u = 4",
        "s^2 times less": r"0.408082 != -0.110387 at i = 3, theta = 5, u = 4",
    },
}


FIGURES = {
    "pi-2": (
        r"as printed: .*d = 128: error 0\.4939 > 0\.4343; d = 2: error 0\.1224 > 0\.00679?",
        r"d = 128: error 0\.4939 <= 0\.4998; d = 2: error 0\.1224 <= 0\.125",
    ),
    "pi-4": (r"0\.869 at d = 128, 0\.965 at d = 512; below 1 up to d = 1842068062, above from d = 1842068064",),
    "pi-5": (
        r"the least B\(s\)/d is 1\.116, at s = 3643",
        r"571\.6 times apart, by the printed constant 657\.8",
    ),
}


RIGHT_CONSTANT, RIGHT_SUM = interpolation.error_constant, interpolation.square_sum


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.interpolation.position", lambda index, *, scale: index / scale**2, "pi-1", r"\d"),
    ("theory.encodings.interpolation.position", lambda index, *, scale: index, "pi-6", r"\d"),
    (
        "theory.encodings.interpolation.frequencies",
        lambda head_dim, base, *, scale: [scale] * (head_dim // 2),
        "pi-1",
        r"\d",
    ),
    ("theory.encodings.interpolation.linear", lambda at, *, ends, values: (values[0] + values[1]) / 2, "pi-2", r"\d"),
    ("theory.encodings.interpolation.linear", lambda at, *, ends, values: values[0], "pi-2", r"\d"),
    (
        "theory.encodings.interpolation.error_constant",
        lambda frequencies: 2 * RIGHT_CONSTANT(frequencies),
        "pi-2",
        r"\d",
    ),
    ("theory.encodings.interpolation.error_constant", lambda frequencies: sp.Add(*frequencies) / 2, "pi-2", r"\d"),
    (
        "theory.encodings.interpolation.error_constant",
        lambda frequencies: 2 * RIGHT_CONSTANT(frequencies),
        "pi-5",
        r"\d",
    ),
    (
        "theory.encodings.interpolation.printed_error_constant",
        lambda *, head_dim, base: head_dim / (4 * sp.log(base)),
        "pi-4",
        r"\d",
    ),
    (
        "theory.encodings.interpolation.closed_error_constant",
        lambda *, head_dim, base: 1 / (2 * (1 - sp.sympify(base) ** (sp.Integer(-2) / head_dim))),
        "pi-3",
        r"\d",
    ),
    (
        "theory.encodings.interpolation.square_sum",
        lambda *, head_dim, base: 1 / (1 - sp.sympify(base) ** (sp.Integer(-4) / head_dim)),
        "pi-3",
        r"\d",
    ),
    (
        "theory.encodings.interpolation.square_sum",
        lambda *, head_dim, base: 2 * RIGHT_SUM(head_dim=head_dim, base=base),
        "pi-4",
        r"\d",
    ),
]
