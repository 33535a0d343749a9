"""Figure of the forecast's reliability: the share of runs that generalized against the share that was forecast."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from lengthgen.circuits.forecast.scores import scores
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Sources
from lengthgen.paper_figs.style import context

HEIGHT = 2.6
"""Height in inches."""


def drawing(answer: Mapping[str, Any], *, width: float) -> Drawing:
    """Draw the tenths of the forecast, with the number of runs of each.

    Args:
        answer: `lengthgen.circuits.forecast.scores.scores()`.
        width: width of the figure, in inches.
    """
    tenths = answer["calibration"]
    name, part = next(iter(answer["parts"].items()))
    caption = (
        f"Reliability of the forecast on {name} ({part['runs']:,} fitting runs of {part['cells']:,} cells, none of "
        "which it counts): share of runs that generalized against the mean forecast, in tenths of the forecast. On the "
        "diagonal what is said is seen. Numbers are runs. Brier score a run: "
        + ", ".join(f"{rival} {part['brier'][rival]:.3f}" for rival in ("forecast", "coverage", "distractors", "noise"))
        + f". Recorded cells {answer['version']} [F]."
    )
    return Drawing(shown=_draw(tenths, width), rows=[dict(tenth) for tenth in tenths], caption=caption)


def _draw(tenths: list[Mapping[str, Any]], width: float) -> Figure:
    with context():
        figure = Figure(figsize=(width, HEIGHT), layout="constrained")
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, zorder=1)
        forecast, observed = ([tenth[key] for tenth in tenths] for key in ("forecast", "observed"))
        axes.plot(
            forecast, observed, color="#004488", marker="o", markersize=4, linewidth=1.2, zorder=3, gid="reliability"
        )
        for tenth in tenths:
            axes.annotate(
                f"{tenth['runs']:,}",
                (tenth["forecast"], tenth["observed"]),
                xytext=(4, -9),
                textcoords="offset points",
                fontsize=6.5,
            )
        axes.set(xlim=(-0.03, 1.06), ylim=(-0.1, 1.06), xlabel="forecast share", ylabel="seen share")
    return figure


def _make(sources: Sources) -> Drawing:
    return drawing(scores(), width=sources.width)


FIGURES = (
    Entry(place=330, name="forecast-reliability", title="Reliability of the forecast on random tasks", make=_make),
)
