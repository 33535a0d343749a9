"""Dividing positions is dividing frequencies, and brings neighbours closer."""

from collections.abc import Callable, Sequence

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import require_equal, same_by_sympy
from proofs_checks.papers.interpolation.source import BASE, source
from theory.encodings import interpolation, rotary
from theory.encodings.encoding import KEY, QUERY

_WIDTHS = (2, 4, 8)  # where the frequencies of base 10^4 are rational


def frequency_scaling(*, frequencies: Callable[[int, sp.Expr], Sequence[sp.Expr]]) -> Evidence:
    """Decide that RoPE with these frequencies is interpolated RoPE: plane by plane, and the list at a few widths."""
    i, j, scale = sp.symbols("i j s", positive=True)
    facts = []
    for head_dim in _WIDTHS:
        slowed = sp.Matrix(rotary.frequencies(head_dim, BASE)) / scale
        what = f"d = {head_dim}: frequencies = theta_l / s"
        facts.append(same_by_sympy(what, sp.Matrix(frequencies(head_dim, scale)), slowed))
    shrunk = rotary.FREQUENCY * interpolation.SHRINK
    slow = rotary.score(QUERY, KEY, query_position=j, key_position=i, frequency=shrunk)
    facts.append(
        require_equal(
            "score at j/s, i/s and theta = score at j, i and theta/s",
            lambda: interpolation.ENCODING.score(query_position=j, key_position=i),
            slow,
        )
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("u stands for 1/s", "plane by plane, so every even d follows"),
    )


def neighbours(*, step: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Evidence:
    """Decide by which angle a plane turns from one index to the next, given its frequency and u = 1/s."""
    index, theta, shrink = sp.Symbol("i", real=True), rotary.FREQUENCY, interpolation.SHRINK
    here, there = (rotary.rotation(interpolation.position(at, scale=1 / shrink) * theta) for at in (index, index + 1))
    turn = rotary.rotation(step(theta, shrink))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(require_equal("R(p(i + 1)) R(p(i))^T = R(step)", lambda: there * here.T, turn),),
        assumptions=("u stands for 1/s",),
    )


CLAIMS = (
    Claim(
        id="pi-1",
        source=source("definition of position interpolation"),
        statement="Dividing positions by s is dividing every frequency of RoPE by s.",
        latex=r"R\big(\tfrac{n}{s}\,\theta_l\big) = R\big(n\,\tfrac{\theta_l}{s}\big)",
        label="P",
        check=frequency_scaling,
        holds={
            "frequencies": lambda head_dim, scale: interpolation.frequencies(head_dim, BASE, scale=scale),
        },
        falsifiers={
            "base times s": {
                "frequencies": lambda head_dim, scale: [
                    theta * scale ** sp.Rational(-2 * plane, head_dim)
                    for plane, theta in enumerate(rotary.frequencies(head_dim, BASE))
                ],
            },
            "frequencies times s": {
                "frequencies": lambda head_dim, scale: interpolation.frequencies(head_dim, BASE, scale=1 / scale),
            },
        },
    ),
    Claim(
        id="pi-6",
        source=source("definition of position interpolation"),
        statement="Interpolated neighbours differ by the angle theta/s in each plane: s times less than in training.",
        latex=r"R\big(\tfrac{n+1}{s}\theta\big)R\big(\tfrac{n}{s}\theta\big)^\top = R(\theta/s)",
        label="F",
        check=neighbours,
        holds={"step": lambda frequency, shrink: frequency * shrink},
        falsifiers={
            "whatever s": {"step": lambda frequency, shrink: frequency},
            "s^2 times less": {"step": lambda frequency, shrink: frequency * shrink**2},
        },
    ),
)
