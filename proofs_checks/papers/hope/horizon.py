"""How far a plane sees: with RoPE's frequencies and one theta' nearly all planes are local."""

from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.hope.source import source
from theory.enclosure import enclose
from theory.encodings import hope, rotary

_BITS = 64


def alive(*, head_dim: int, distance: int, kept: Fraction, planes: int) -> Evidence:
    """Enclose what the slow channel of each plane keeps, for every theta' > max theta, and count those above `kept`.

    A channel keeps e^(-D (theta' - theta)), less the larger theta' is; so theta' = max theta bounds all of them.
    """
    frequencies = rotary.frequencies(head_dim)
    bound = max(frequencies, key=float)
    limit = flint.arb(flint.fmpq(*kept.as_integer_ratio()))
    left = [_kept(frequency, bound, distance) for frequency in frequencies]
    undecided = [plane for plane, ball in enumerate(left) if not (ball > limit or ball < limit)]
    if undecided:
        raise RuntimeError(f"planes {undecided} are too near {kept}")
    above = [plane for plane, ball in enumerate(left) if ball > limit]
    if len(above) != planes:
        shown = ", ".join(f"plane {plane}: {left[plane].str(4, radius=False)}" for plane in range(min(3, len(left))))
        raise Refuted(
            f"{len(above)} of {len(left)} planes keep more than {float(kept)} at D = {distance}, not {planes}: {shown}"
        )
    return Evidence(
        strength=Strength.INTERVAL,
        facts=(
            f"theta' -> {bound}: planes {above} of {len(left)} keep more than {float(kept)} at D = {distance}",
            f"plane 1 keeps {left[1].str(4)}, plane {len(left) // 2} {left[len(left) // 2].str(4)}",
        ),
        assumptions=("any theta' > max theta = 1, base 10000", "the slow channel, which bounds the plane's signal"),
    )


def _kept(rate: sp.Expr, damping: sp.Expr, distance: int) -> Any:
    slow, _ = hope.decay_rates(rate=rate, damping=damping)
    return enclose(sp.exp(-distance * slow), bits=_BITS)


CLAIMS = (
    Claim(
        id="hope-10",
        source=source("one damping theta' for all planes, with RoPE's frequencies"),
        statement="With RoPE's frequencies and any theta' > 1, at most 1 of the 32 planes of a head of 64 keeps more "
        "than a thousandth of its signal at distance 64.",
        latex=r"\#\{l: e^{-64(\theta'-\theta_l)}>10^{-3}\}\le 1",
        label="F",
        check=alive,
        holds={"head_dim": 64, "distance": 64, "kept": Fraction(1, 1000), "planes": 1},
        answers=("planes",),
        falsifiers={
            "at distance 8": {"distance": 8},
            "of a head of 256": {"head_dim": 256},
            "at most a part in 10^9": {"kept": Fraction(1, 10**9)},
        },
    ),
)
