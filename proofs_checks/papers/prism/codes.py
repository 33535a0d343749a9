"""The superposition of PRISM is the characteristic function of the histogram."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.papers.prism import SOURCE
from lengthgen.proofs_checks.signs import is_zero
from lengthgen.theory.encodings import absolute, prism

_POSITIONS = 3
_FARTHEST = 20


def characteristic(
    *,
    superposition: Callable[..., sp.Matrix],
    gap: Callable[[sp.Expr], sp.Expr],
    first: sp.Expr,
    shift: Callable[..., sp.Matrix],
) -> Evidence:
    """Decide that a plane holds (Im, Re) of phi = sum of h_k e^(i k theta), its norm, and the effect of an increment.

    Args:
        superposition: plane of a histogram, see `prism.superposition`.
        gap: 1 - |phi|^2 is the sum of h_k h_l gap((k - l) theta).
        first: frequency theta of the first plane.
        shift: matrix of a shift of sinusoidal codes.
    """
    for distance in range(1, _FARTHEST + 1):
        if is_zero(gap(distance * first)):
            raise Refuted(f"positions {distance} apart: half the mass at each has |phi| = 1 at the first frequency")
    if not (first / (2 * sp.pi)).is_irrational:
        raise Refuted(f"the frequency {first} has the same code again after a number of positions")
    angle = sp.Symbol("theta", real=True)
    masses = sp.IndexedBase("h", real=True)
    symbols = sp.symbols(f"h:{_POSITIONS}", real=True)

    def plane(values: list[sp.Expr]) -> sp.Matrix:
        sums = superposition(lambda place: masses[place], positions=sp.Integer(len(values)), frequency=angle).doit()
        return sums.xreplace({masses[place]: value for place, value in enumerate(values)})

    wave = sp.Add(*(mass * sp.exp(sp.I * place * angle) for place, mass in enumerate(symbols)))
    mirrored = sp.Add(*(mass * sp.exp(-sp.I * place * angle) for place, mass in enumerate(symbols)))
    code = plane(list(symbols))
    pairs = [(k, m) for k in range(_POSITIONS) for m in range(_POSITIONS)]
    within = [*symbols[:-1], sp.S.Zero]
    place, other = sp.symbols("k l", real=True)
    apart = [absolute.sinusoidal_code(at, frequency=angle) for at in (place, other)]
    facts = (
        require_equal("the plane, P = 3", code, sp.Matrix([(wave - mirrored) / (2 * sp.I), (wave + mirrored) / 2])),
        require_equal(
            "(sum of h)^2 - |phi|^2, P = 3",
            sp.Add(*symbols) ** 2 - code.dot(code),
            sp.Add(*(symbols[k] * symbols[m] * gap((k - m) * angle) for k, m in pairs)),
        ),
        require_equal(
            "for every P, by pairs of positions k, l: 1 - the scalar product of their codes",
            1 - apart[0].dot(apart[1]),
            gap((place - other) * angle),
        ),
        require_equal(
            "increment with no mass at P - 1: the code of every position is shifted by one",
            plane(prism.moved(within, prism.MOVES["increment"])),
            shift(sp.S.One, frequency=angle) * plane(within),
        ),
        require_equal(
            "for every P, by positions k",
            absolute.sinusoidal_code(place + 1, frequency=angle),
            shift(sp.S.One, frequency=angle) * apart[0],
        ),
        f"no term is negative, so |phi| <= 1; with equality only if all mass is at positions with gap 0; at the first "
        f"frequency {first} these are one position, because pi is irrational",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("masses are nonnegative and add up to 1",))


def _superposition(mass: Callable[[sp.Expr], sp.Expr], *, positions: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """Superposition of the encoding."""
    return prism.superposition(mass, positions=positions, frequency=frequency)


CLAIMS = (
    Claim(
        id="prism-5",
        source=SOURCE,
        statement="Plane i of the superposition holds imaginary and real part of the characteristic function phi of "
        "the histogram at theta_i: |phi| <= 1, and |phi| = 1 at theta_0 = 1 only for a point mass; an increment that "
        "does not meet the end turns it by theta_i (our reconstruction).",
        latex=r"e^{(i)}=(\operatorname{Im},\operatorname{Re})\,\mathbb E_{k\sim h}e^{\mathrm ik\theta_i},\ "
        r"1-|\varphi|^2=\sum_{k,l}h_kh_l(1-\cos((k-l)\theta_i))",
        label="F",
        check=characteristic,
        holds={
            "superposition": _superposition,
            "gap": lambda angle: 1 - sp.cos(angle),
            "first": sp.S.One,
            "shift": absolute.sinusoidal_shift,
        },
        falsifiers={
            "the norm of a spread histogram is 1": {"gap": lambda angle: 0 * angle},
            "a frequency of 2 pi/3": {"first": 2 * sp.pi / 3},
            "turned the other way": {
                "shift": lambda offset, frequency: absolute.sinusoidal_shift(-offset, frequency=frequency),
            },
            "codes of squared masses": {
                "superposition": lambda mass, **sizes: prism.superposition(lambda place: mass(place) ** 2, **sizes),
            },
        },
    ),
)
