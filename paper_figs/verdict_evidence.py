"""Helpers of the figures of the verdict: how each is declared, and which evidence its caption names."""

from collections.abc import Callable, Mapping
from typing import Any

from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.names import count_text
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.sources import Needs, Sources

Judgement = Mapping[str, Any]
"""Judgement of a preregistration, as `lengthgen.empirical.verdict.judgement.judge` returns it."""
Draw = Callable[[Judgement, Preregistration, float], Drawing]
"""Function (judgement, its preregistration, width in inches) -> drawing."""
RANDOM_TASKS, RANDOM_LANGUAGES, SWAPPED_ARGUMENTS = "random-tasks", "random-languages", "swapped-arguments"
"""Preregistrations whose verdicts are drawn."""
NARROWEST = 5.5
"""Least width in inches at which a figure of the verdict is legible."""


def verdict_entry(name: str, title: str, draw: Draw, *, place: int, verdict: str = RANDOM_TASKS) -> Entry:
    """Declare a figure that shows the judgement of a preregistration; other arguments as in `Entry`."""

    def make(sources: Sources) -> Drawing:
        preregistration, judgement = sources.verdict(verdict)
        return draw(judgement, preregistration, sources.width)

    return Entry(place=place, name=name, title=title, make=make, needs=Needs(verdict=verdict), least_width=NARROWEST)


def evidence(judgement: Judgement, preregistration: Preregistration) -> str:
    """Return the end of a caption: cells and runs, when a cell counts, the hash of the frozen answers, the label."""
    return (
        f"Evidence: {count_text(judgement['runs'], 'run')} of {judgement['seen']:,} of "
        f"{count_text(judgement['cells'], 'cell')} (a random "
        f"task, a format and an encoding), of which {judgement['fitting_runs']:,} fit; cells with "
        f"the {count_text(preregistration.stopping.fitting, 'fitting run')} with which a cell counts: "
        f"{judgement['counting']:,}. {_sample(judgement)} The "
        f"answers of the rules were frozen before the first run: SHA-256 {judgement['frozen'][:12]}. Rules and tasks "
        "are our own [F]."
    )


def _sample(judgement: Judgement) -> str:
    """Return which cells are shown: those of a random sample of tasks, or for two rules those on which they differ."""
    return (
        f"All shares are over a random sample of {judgement['sample']['tasks']:,} tasks, whose cells all have their "
        "first runs; two rules are compared on the tasks whose cells on which they differ have them."
    )
