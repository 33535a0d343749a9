"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import rotary

RIGHT_KERNEL, RIGHT_ACTIONS, RIGHT_FIRST = rotary.xpos_kernel, rotary.xpos_actions, rotary.xpos_first_infinite_key


def _plain_actions(position: sp.Expr, *, frequency: sp.Expr, rate: sp.Expr) -> tuple[sp.Matrix, sp.Matrix]:
    return rotary.rotation(position * frequency), rotary.rotation(position * frequency)


WRONG: list[tuple[Any, ...]] = [
    ("rotary.xpos_actions", lambda position, **law: RIGHT_ACTIONS(position, **law)[::-1], "xpos-1"),
    ("rotary.xpos_actions", _plain_actions, "xpos-1"),
    ("rotary.xpos_kernel", lambda offset, **law: RIGHT_KERNEL(-offset, **law), "xpos-1"),
    ("rotary.xpos_kernel", lambda offset, **law: RIGHT_KERNEL(2 * offset, **law), "xpos-2 xpos-4"),
    ("rotary.xpos_zeta", lambda plane, *, head_dim: 2 * plane / head_dim + sp.Rational(2, 5), "xpos-2"),
    ("rotary.xpos_zeta", lambda plane, *, head_dim: (sp.sympify(plane) / head_dim + 1) / 2, "xpos-2"),
    (
        "rotary.xpos_rate",
        lambda plane, *, head_dim: -sp.log(rotary.xpos_zeta(plane, head_dim=head_dim)) / 256,
        "xpos-2",
    ),
    ("rotary.xpos_first_infinite_key", lambda plane, **format: RIGHT_FIRST(plane, **format) + 1, "xpos-3"),
    ("hope.kernel", lambda offset, *, rate, damping: sp.exp(-offset * damping) * sp.eye(2), "xpos-4"),
]
