"""YaRN: slow planes of RoPE are interpolated, fast ones stay unchanged; queries and keys are scaled by a constant.

Slow planes turn seldom within the trained length.  Source: Peng, Quesnelle, Fan, Shippole, arXiv 2309.00071.  The paper
blends by the number of turns of a plane (`ramp`), the released code by the index of the plane (`index_ramp`).  Planes
are l = 0 .. d/2 - 1.
"""

import sympy as sp

from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import ONE_LAW, Encoding, Law, Option, Parameter, Recovery
from lengthgen.theory.relation import relative

SHRINK = sp.Symbol("u", positive=True)
KEPT = sp.Symbol("gamma", nonnegative=True)
"""Share of its frequency that a plane keeps."""


def turns(frequency: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Number of turns r = L theta / (2 pi) of a plane within the trained length.  [P]"""
    return trained_length * frequency / (2 * sp.pi)


def ramp(turns: sp.Expr, *, alpha: sp.Expr, beta: sp.Expr) -> sp.Expr:
    """Ramp gamma(r) = (r - alpha) / (beta - alpha), clipped to 0 .. 1.  [P]"""
    return sp.Max(0, sp.Min(1, (turns - alpha) / (beta - alpha)))


def plane_with(turns: sp.Expr, *, head_dim: sp.Expr, base: sp.Expr, trained_length: sp.Expr) -> sp.Expr:
    """Plane index c(n) = d ln(L / (2 pi n)) / (2 ln b), not an integer, of a plane that turns n times.  [P, code]"""
    return rotary.last_full_turn(trained_length / turns, head_dim=head_dim, base=base)


def index_range(
    head_dim: int, base: int, *, trained_length: int, alpha: sp.Expr, beta: sp.Expr
) -> tuple[sp.Expr, sp.Expr]:
    """Planes (max(floor c(beta), 0), min(ceil c(alpha), d - 1)) between which the index ramp decreases.  [P, code]

    Raises:
        ValueError: no plane is left between the two, so that the ramp of the code is not defined.
    """
    fast, slow = (
        plane_with(turns, head_dim=sp.Integer(head_dim), base=sp.Integer(base), trained_length=trained_length)
        for turns in (beta, alpha)
    )
    first, last = sp.Max(sp.floor(fast), 0), sp.Min(sp.ceiling(slow), head_dim - 1)
    if first >= last:
        raise ValueError(f"no ramp: it would fall from plane {first} to plane {last}")
    return first, last


def index_ramp(plane: sp.Expr, *, first: sp.Expr, last: sp.Expr) -> sp.Expr:
    """Ramp gamma_l = 1 - (l - first) / (last - first), clipped to 0 .. 1.  [P, code]"""
    return 1 - sp.Max(0, sp.Min(1, (plane - first) / (last - first)))


def frequency(frequency: sp.Expr, *, kept: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """Blended frequency (1 - gamma) theta / s + gamma theta.  [P]"""
    return (1 - kept) * frequency / scale + kept * frequency


def magnitude(scale: sp.Expr) -> sp.Expr:
    """Factor sqrt(1/t) = 0.1 ln s + 1 by which queries and keys are multiplied, for s >= 1.  [P]"""
    return sp.log(scale) / 10 + 1


def _action(position: sp.Expr) -> sp.Matrix:
    """Matrix that acts on a query and on a key at a position, 2 x 2."""
    turned = rotary.rotation(position * frequency(rotary.FREQUENCY, kept=KEPT, scale=1 / SHRINK))
    return magnitude(1 / SHRINK) * turned


ENCODING = Encoding(
    name="yarn",
    title="YaRN",
    arxiv="2309.00071",
    summary="rotary, slow planes stretched (YaRN)",
    options={
        **rotary.ROTATION_OPTIONS,
        "scale": rotary.STRETCH,
        "ramp": Option(default="paper", words=("paper", "code")),
        "alpha": Option(default=1.0, least=0, most=1e6),
        "beta": Option(default=32.0, least=0, most=1e6),
    },
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        *rotary.ENCODING.parameters,
        Parameter(symbol=SHRINK, meaning="1/s, trained length over new length"),
        Parameter(
            symbol=KEPT,
            meaning="share of the frequency that the plane keeps, from `ramp` or `index_ramp`",
            domain=sp.Interval(0, 1),
        ),
    ),
    rotate=lambda position, _: (_action(position), _action(position)),
    relation=relative(),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.STREAMING),
    recovers=(Recovery(of="rope", assignment={SHRINK: sp.Integer(1)}),),
)
ENCODINGS = (ENCODING,)
