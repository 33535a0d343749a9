"""The figures of arXiv 2510.04130, drawn from our runs and circuits."""

from collections.abc import Callable
from functools import partial
from typing import Any

from empirical.runs.profile import Model
from empirical.trial.outcomes import Checkpoint
from paper_figs import accuracy_by_scale, accuracy_grid, alignment, learned_labels, of_labels
from paper_figs.entry import Entry
from paper_figs.saving import Drawing
from paper_figs.sources import Needs, Sources, task_name
from paper_figs.style import PAGE_WIDTH

FIGURE3_SCALES = (5, 10, 15, 20)
LEARNED_SCALE = 11
"""The first scale beyond the training of fig4."""
CHECKPOINTS = {
    Checkpoint.LAST: "at the last checkpoint",
    Checkpoint.BEST_ON_TEST: "at the checkpoint with the best average over all scales, which selects on the test "
    "scales [P]",
}


def accuracy(sources: Sources, *, protocol: str, checkpoint: Checkpoint = Checkpoint.LAST, size: int = 0) -> Drawing:
    """Every task of a protocol by scale, all encodings; `size` counts the protocol's models."""
    known, model = sources.protocol(protocol), sources.models(protocol)[size]
    return accuracy_grid.drawing(
        sources.cells(protocol, checkpoint, model),
        train=known.train,
        threshold=known.profile.evaluation.threshold,
        width=sources.width,
        checkpoint=CHECKPOINTS[checkpoint],
        model=_sizes(model),
    )


def every_seed(sources: Sources, *, protocol: str) -> Drawing:
    """The only task of a protocol, every run and the share of those that solve a scale."""
    known = sources.protocol(protocol)
    [(task, cells)] = sources.cells(protocol).items()
    shown: dict[str, Any] = {"train": known.train, "threshold": known.profile.evaluation.threshold}
    return Drawing(
        shown=accuracy_by_scale.draw(cells, task=task, **shown),
        rows=accuracy_by_scale.rows(cells, **shown),
        caption=accuracy_by_scale.caption(cells, task=task, model=_sizes(sources.models(protocol)[0]), **shown),
    )


def hint_or_alignment(sources: Sources) -> Drawing:
    """Figure 3."""
    known = sources.protocol("fig3")
    return alignment.drawing(
        sources.cells("fig3"),
        scales=FIGURE3_SCALES,
        train=known.train,
        width=sources.width,
        model=_sizes(sources.models("fig3")[0]),
    )


def learned(sources: Sources, *, encoding: str) -> Drawing:
    """Figure 5: the first run of each task."""
    return learned_labels.drawing(
        [
            learned_labels.learned(runs[0], sources.store, LEARNED_SCALE, task_name(condition))
            for condition, runs in sources.of_size("fig4").items()
            if condition.encoding == encoding
        ]
    )


def _sizes(model: Model) -> str:
    return f"width {model.width}, layers {model.layers}, heads {model.heads}"


def _of(protocol: str, name: str, title: str, make: Callable[[Sources], Drawing], **more: float) -> Entry:
    return Entry(name=name, title=title, make=make, needs=Needs(protocols=(protocol,)), **more)


ENTRIES = (
    *(
        Entry(
            name=name,
            title=f"Parity: circuit, and labels of each encoding at scale {scale}, step {step} marked",
            make=partial(of_labels.parity, scale=scale, step=step),
            least_width=PAGE_WIDTH,
        )
        for name, scale, step in (
            ("figure1", 3, 2),
            ("figure1-next-step", 3, 3),
            ("figure1-smaller-scale", 2, 2),
        )
    ),
    _of("fig2", "figure2", "Six tasks by scale, last checkpoint", partial(accuracy, protocol="fig2")),
    _of(
        "fig2",
        "figure2-best-on-test",
        "Six tasks by scale, checkpoint selected on the test scales",
        partial(accuracy, protocol="fig2", checkpoint=Checkpoint.BEST_ON_TEST),
    ),
    _of("fig3", "figure3", "Alignment against a scale hint, at scales 5, 10, 15, 20", hint_or_alignment),
    _of("fig4", "figure4", "A learned relation on three Select tasks", partial(accuracy, protocol="fig4")),
    *(
        _of(
            "fig4",
            name,
            f"Relations learned by {encoding} beside the ideal ones",
            partial(learned, encoding=encoding),
            least_width=PAGE_WIDTH,
        )
        for name, encoding in (("figure5", "lbpe"), ("figure5-scale-hint", "lbpe-sh"))
    ),
    _of(
        "fig1",
        "parity-seeds",
        "Parity by scale, every run",
        partial(every_seed, protocol="fig1"),
        least_width=PAGE_WIDTH,
    ),
)
