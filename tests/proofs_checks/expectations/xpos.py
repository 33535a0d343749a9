"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import rotary, xpos

EXPECTED = {
    "xpos-1": (Verdict.VERIFIED, Strength.GENERAL),
    "xpos-2": (Verdict.VERIFIED, Strength.GENERAL),
    "xpos-3": (Verdict.VERIFIED, Strength.GENERAL),
    "xpos-4": (Verdict.VERIFIED, Strength.GENERAL),
}

COUNTEREXAMPLES = {
    "xpos-1": {
        "the key scaled like the query": r"entry 1: 5.18\d*e-6 != 0.0154\d* at D = 4, i = 4, lambda = 1",
        "the key not scaled": r"entry 1: 0.00028\d* != 0.0154\d* at D = 4, i = 4, lambda = 1",
    },
    "xpos-2": {
        "bounded in both directions": r"plane 0: the size is 3.500 at D = -512, 1.834E\+106 at D = -100000",
        "zeta inverted": r"plane 0: the size is 3.500 at D = 512, 1.834E\+106 at D = 100000",
        "one plane more": r"plane 31: the size is 1.000 at D = 512",
    },
    "xpos-3": {
        "scale base 513": r"the key factor of plane 0 at position 36261 is 2\.864E\+38; float32 ends a",
        "scale base 256": r"the key factor of plane 0 at position 36260 is 1\.154E\+77; float32 ends a",
        "gamma = 0.5": r"the key factor of plane 0 at position 36261 is 6\.177E\+33; float32 ends a",
    },
    "xpos-4": {
        "with a rotation": r"diag of xPos at the rates .*, entry 1: 0.00033\d* != -0.00032\d* at D = 4, omega = 4",
    },
}


FIGURES = {
    "xpos-2": (r"zeta is in \[2/7, 1\) = \[0.2857, 1\)",),
    "xpos-3": (
        r"\(7/2\)\^36260 < .* <= \(7/2\)\^36261",
        r"in float16 from 4533; positions centred at 0 reach 72521 in all",
    ),
    "xpos-4": (r"any rates a, b",),
}


RIGHT_KERNEL, RIGHT_ACTIONS, RIGHT_FIRST = xpos.kernel, xpos.actions, xpos.first_infinite_key


def _plain_actions(position: sp.Expr, *, frequency: sp.Expr, rate: sp.Expr) -> tuple[sp.Matrix, sp.Matrix]:
    return rotary.rotation(position * frequency), rotary.rotation(position * frequency)


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.xpos.actions", lambda position, **law: RIGHT_ACTIONS(position, **law)[::-1], "xpos-1", r"\d"),
    ("theory.encodings.xpos.actions", _plain_actions, "xpos-1", r"\d"),
    ("theory.encodings.xpos.kernel", lambda offset, **law: RIGHT_KERNEL(-offset, **law), "xpos-1", r"\d"),
    ("theory.encodings.xpos.kernel", lambda offset, **law: RIGHT_KERNEL(2 * offset, **law), "xpos-2", r"\d"),
    ("theory.encodings.xpos.kernel", lambda offset, **law: RIGHT_KERNEL(2 * offset, **law), "xpos-4", r"\d"),
    (
        "theory.encodings.xpos.zeta",
        lambda plane, *, head_dim: 2 * plane / head_dim + sp.Rational(2, 5),
        "xpos-2",
        r"\d",
    ),
    ("theory.encodings.xpos.zeta", lambda plane, *, head_dim: (sp.sympify(plane) / head_dim + 1) / 2, "xpos-2", r"\d"),
    (
        "theory.encodings.xpos.rate",
        lambda plane, *, head_dim: -sp.log(xpos.zeta(plane, head_dim=head_dim)) / 256,
        "xpos-2",
        r"\d",
    ),
    (
        "theory.encodings.xpos.first_infinite_key",
        lambda plane, **format: RIGHT_FIRST(plane, **format) + 1,
        "xpos-3",
        r"\d",
    ),
    (
        "theory.encodings.hope.kernel",
        lambda offset, *, rate, damping: sp.exp(-offset * damping) * sp.eye(2),
        "xpos-4",
        r"\d",
    ),
]
