"""GRAPE-A for places in the plane or in space (arXiv 2512.07805, Appendix G): which offsets compose."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.grape.source import source
from theory.encodings import grape_additive

Offset = Callable[[sp.Matrix, sp.Matrix], sp.Expr]
"""(place of the query, place of the key) -> m."""

WEIGHTS = sp.Matrix(sp.symbols("alpha_x alpha_y", real=True))
_TRIANGLE = tuple(sp.Matrix(place) for place in ((0, 0), (3, 0), (3, 4)))


def composition(*, offset: Offset) -> Evidence:
    """Decide G(m(t, l)) G(m(l, j)) = G(m(t, j)) for G(m) = I + m omega A with A^2 = 0, over all places."""
    key, between, query = _TRIANGLE
    parts, whole = offset(query, between) + offset(between, key), offset(query, key)
    if sp.expand(parts - whole) != 0:
        steps = f"{offset(between, key)} and {offset(query, between)}"
        raise Refuted(f"from (0, 0) by (3, 0) to (3, 4): m = {steps}, together {parts}, not {whole}")
    rate = sp.Symbol("omega", real=True)
    places = [sp.Matrix(sp.symbols(f"x_{name} y_{name}", real=True)) for name in "tlj"]
    far, middle, near = places

    def action(there: sp.Matrix, here: sp.Matrix) -> sp.Matrix:
        return grape_additive.unipotent(rate * grape_additive.nilpotent(), offset(there, here))

    shift = sp.Matrix(sp.symbols("s_x s_y", real=True))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "G(m(t, l)) G(m(l, j)) = G(m(t, j))",
                lambda: action(far, middle) * action(middle, near),
                lambda: action(far, near),
            ),
            require_equal(
                "the offset of moved places", lambda: offset(far + shift, near + shift), lambda: offset(far, near)
            ),
            "offsets that add up are m(t, j) = f(t) - f(j), f(t) = m(t, origin): so a key is moved once and cached",
            "a length depends on r_t - r_j alone as well, but no action of one place each gives it: its matrix over T "
            "places on a line has rank T (claim alibi-7)",
        ),
        assumptions=("two coordinates stand for three",),
    )


def _city_block(there: sp.Matrix, here: sp.Matrix) -> sp.Expr:
    return sp.Abs(there[0] - here[0]) - sp.Abs(there[1] - here[1])


CLAIMS = (
    Claim(
        id="grape-distance",
        source=source("Appendix G: offsets of pixels and points in space (read in a converted copy of version 1)"),
        statement="The composition law of the unipotent actions holds for offsets linear in the coordinates, alpha . "
        "(r_t - r_j); it fails for m = |r_t - r_j|, of which the paper says that it still holds: lengths do not add.",
        latex=r"m=\alpha\cdot(r_t-r_j):\ G(m_{tl})G(m_{lj})=G(m_{tj});\qquad |r_t-r_l|+|r_l-r_j|\ne|r_t-r_j|",
        label="F",
        check=composition,
        holds={"offset": lambda there, here: grape_additive.linear_offset(there, here, weights=WEIGHTS)},
        printed={"offset": lambda there, here: grape_additive.length_offset(there=there, here=here)},
        falsifiers={
            "the squared length": {"offset": lambda there, here: grape_additive.length_offset(there, here) ** 2},
            "the difference of the city-block lengths": {"offset": lambda there, here: _city_block(here, -there)},
            "the product of the coordinates": {
                "offset": lambda there, here: (there[0] - here[0]) * (there[1] - here[1])
            },
        },
    ),
)
