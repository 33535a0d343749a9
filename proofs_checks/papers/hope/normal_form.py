"""What HoPE is without its basis: channels that decay."""

from collections.abc import Callable, Sequence
from itertools import permutations

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import product, require_equal
from proofs_checks.papers.hope.source import source
from theory.encodings import hope

Channel = Callable[[sp.Expr, sp.Expr], sp.Expr]


def diagonal(*, channel: Channel, rates: Sequence[int], in_reach: bool) -> Evidence:
    """Decide the kernel in the light-cone basis, and which rates one plane and planes of one theta' can have.

    A head of two planes has four rates.  To give four channels of other rates it must have just these, for each
    eigenvalue of the wanted step is one of HoPE's (the argument of hope-6-real).
    """
    offset, theta, damping = sp.symbols("D theta theta'", real=True)
    first, second = sp.symbols("lambda1 lambda2", positive=True)
    law = {"rate": theta, "damping": damping}
    slow, fast = hope.decay_rates(**law)
    basis = hope.light_cone()
    wanted = hope.plane_with(slow=first, fast=second)
    tests = (
        ("L^T L = 2 I: orthogonal but for the scale", product(basis.T, basis), 2 * sp.eye(2)),
        (
            "L^T H(D) L / 2 is diagonal",
            lambda: basis.T * hope.kernel(offset, **law) * basis / 2,
            lambda: sp.diag(channel(slow, offset), channel(fast, offset)),
        ),
        (
            "any rates lambda1 < lambda2 are a plane's",
            lambda: sp.Matrix(
                hope.decay_rates(
                    **dict(zip(("rate", "damping"), hope.plane_with(slow=first, fast=second), strict=True))
                )
            ),
            sp.Matrix([first, second]),
        ),
        ("its theta' - theta = lambda1 > 0", lambda: wanted[1] - wanted[0], first),
        ("slow + fast = 2 theta' in every plane", lambda: slow + fast, lambda: 2 * damping),
    )
    facts = [require_equal(*test) for test in tests]
    pairs = _pairs_of_one_sum(rates)
    if bool(pairs) != in_reach:
        sums = " and ".join(f"{a} + {b}" for a, b in pairs) if pairs else "no two pairs have one sum"
        raise Refuted(f"rates {tuple(rates)} over two planes of one theta': {sums}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, f"rates {tuple(rates)} {'are' if in_reach else 'are not'} those of two planes of one theta'"),
        assumptions=("plane by plane, so every even d follows", "the basis is absorbed by W_q and W_k"),
    )


def _pairs_of_one_sum(rates: Sequence[int]) -> list[tuple[int, int]]:
    """The four rates as two pairs with the same sum, if there are such."""
    for a, b, c, d in permutations(rates):
        if a + b == c + d:
            return [(a, b), (c, d)]
    return []


CLAIMS = (
    Claim(
        id="hope-7",
        source=source("definition of the query and key maps"),
        statement="In the light-cone basis, which W_q and W_k absorb, a plane of HoPE is two channels that decay at "
        "theta' - theta and theta' + theta: xPos without rotation.  Any two rates above 0 are those of a plane; "
        "planes of one theta' have rates of one sum, so that 1, 2, 3, 5 are not those of two.",
        latex=r"\tfrac12L^\top H(D)L=\mathrm{diag}\big(e^{-D(\theta'-\theta)},e^{-D(\theta'+\theta)}\big),\quad "
        r"L=\begin{pmatrix}1&1\\1&-1\end{pmatrix}",
        label="F",
        check=diagonal,
        holds={"channel": lambda rate, offset: sp.exp(-rate * offset), "rates": (1, 2, 3, 5), "in_reach": False},
        answers=("in_reach",),
        falsifiers={
            "channels that turn, as RoPE's": {"channel": lambda rate, offset: sp.cos(rate * offset)},
            "channels that grow": {"channel": lambda rate, offset: sp.exp(rate * offset)},
            "rates 1, 2, 3, 4": {"rates": (1, 2, 3, 4)},
        },
    ),
)
