"""Figure of the interpolation bound of Position Interpolation (arXiv 2306.15595, Theorem 2.1).

It shows a score that violates the bound as printed, and the corrected bound that holds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.small_panels import finish, grid
from lengthgen.paper_figs.style import context
from lengthgen.theory.encodings import rotary

BASE = 10_000
WIDTHS = (128, 2)
"""Head dimensions: that of the paper, and the one where its bound fails by most."""
POINTS = 41
_STYLES: dict[str, dict[str, Any]] = {
    "error": {"color": "#004488", "linestyle": "-", "linewidth": 1.4},
    "printed": {"color": "#C04000", "linestyle": (0, (3, 1.3)), "linewidth": 1.0},
    "corrected": {"color": "#000000", "linestyle": (0, (1, 1.2)), "linewidth": 1.0},
}


@dataclass(frozen=True, kw_only=True)
class BoundCurve:
    """Error and bounds of one head between the trained distances 0 and 1; all arrays are float64 [POINTS].

    Attributes:
        head_dim: dimension of the head.
        distance: x.
        error: |a(x) - a_linear(x)| with all planes aligned at x = 1/2 and content of size 1.
        printed, corrected: values of the two bounds, K x (1 - x).
    """

    head_dim: int
    distance: NDArray[np.float64]
    error: NDArray[np.float64]
    printed: NDArray[np.float64]
    corrected: NDArray[np.float64]

    def numbers(self) -> NDArray[np.float64]:
        """Stack distance, error and both bounds: float64 [4, POINTS]."""
        return np.array([self.distance, self.error, self.printed, self.corrected])


def bound_curve(head_dim: int) -> BoundCurve:
    """Compute the score a(x) = sum over planes of cos(theta (x - 1/2)), equal at both ends, and both bounds."""
    exact = rotary.frequencies(head_dim, BASE)
    theta = np.array([float(frequency) for frequency in exact])
    x = np.linspace(0, 1, POINTS)
    score = np.cos(np.outer(x - 0.5, theta)).sum(axis=1)
    constants = (
        rotary.printed_error_constant(head_dim=head_dim, base=sp.Integer(BASE)),
        rotary.error_constant(exact),
    )
    printed, corrected = (float(constant) * x * (1 - x) for constant in constants)
    error = np.abs(score - score[0])
    return BoundCurve(head_dim=head_dim, distance=x, error=error, printed=printed, corrected=corrected)


def drawing(*, width: float) -> Drawing:
    """Draw a panel for each head dimension, `width` inches wide in all."""
    curves = [bound_curve(head_dim) for head_dim in WIDTHS]
    rows: list[dict[str, object]] = [
        dict(zip(("head_dim", "distance", "error", "printed_bound", "corrected_bound"), values, strict=True))
        for curve in curves
        for values in ([curve.head_dim, *line] for line in curve.numbers().T.tolist())
    ]
    middle = POINTS // 2
    values_at_middle = "; ".join(
        f"d = {curve.head_dim}: error {curve.error[middle]:.4f}, printed bound {curve.printed[middle]:.4f}, corrected "
        f"bound {curve.corrected[middle]:.4f}"
        for curve in curves
    )
    caption = (
        "Theorem 2.1 of Position Interpolation (2306.15595) [P] is false as printed: between two trained distances, 0 "
        "and 1, a rotary score may differ from its linear interpolation by more than the printed bound "
        f"d/(8 ln c) x (1 - x), c = {BASE}. Contents of size 1, all planes aligned at x = 1/2. With half the sum of "
        f"theta^2 in place of d/(8 ln c) the bound holds (claim pi-2). At x = 1/2: {values_at_middle}."
    )
    return Drawing(shown=_draw(curves, width), rows=rows, caption=caption)


def _draw(curves: list[BoundCurve], width: float) -> Figure:
    with context():
        figure, panels = grid(len(curves), width=width, narrowest=1.5, height=1.6)
        for axes, curve in zip(panels, curves, strict=True):
            axes.set_title(f"head of width {curve.head_dim}", fontweight="bold", pad=3)
            for name, values in (("error", curve.error), ("printed", curve.printed), ("corrected", curve.corrected)):
                axes.plot(curve.distance, values, **_STYLES[name], gid=f"{name}:{curve.head_dim}")
            axes.set(xlim=(0, 1), ylim=(0, None), xlabel="distance x")
        panels[0].set_ylabel("difference")
        labels = {"error": "error of the line", "printed": "bound as printed", "corrected": "bound corrected"}
        finish(figure, [Line2D([], [], **_STYLES[name], label=label) for name, label in labels.items()])
    return figure


FIGURES = (
    Entry(
        place=370,
        name="interpolation-bound",
        title="The interpolation bound of 2306.15595, broken and corrected",
        make=lambda sources: drawing(width=sources.width),
    ),
)
