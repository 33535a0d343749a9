"""Figures 2 and 3 with label tables that start at N(0, 0.02^2), as many transformers do.  [F]

The protocols fig2 and fig3 have the start 1. These figures are drawn from the record docs/results/table-start, whose
runs differ from those of the protocols in the start of their tables, in their seeds, and in how many a cell has.
"""

from functools import partial
from pathlib import Path

from lengthgen.empirical.experiment.outcome import Checkpoint, outcome
from lengthgen.empirical.experiment.protocol import Protocol, load_protocol
from lengthgen.empirical.trial.record import read_record
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.figures.accuracy import CHECKPOINTS, accuracy_drawing
from lengthgen.paper_figs.figures.alignment import SCALES, drawing
from lengthgen.paper_figs.figures.published_cells import paper_cells
from lengthgen.paper_figs.names import distinct_names
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.seed_scores import CellScores
from lengthgen.paper_figs.sources import Needs, Sources, from_records, model_sizes

START = 0.02
"""`initializer_range` of BERT and GPT-2 in transformers: standard deviation of their embeddings before training."""
RECORDED_IN = ("table-start/grid", "table-start/figures-2-3")
"""Records of docs/results with these runs."""


def cells_at_start(records: Path, protocol: Protocol) -> dict[str, list[CellScores]]:
    """Return title of the task -> scores of its cells: those of the paper's figure, with tables that start at START.

    Raises:
        RecordError: a record has changed since it was written.
        KeyError: the records lack a cell.
    """
    runs = {
        (key.task, key.format, key.encoding): own
        for name in RECORDED_IN
        for key, own in read_record(records / name).cells.items()
    }
    cells = paper_cells(protocol)
    titles = distinct_names({cell.task.key: cell.task.title for cell in cells})
    scores: dict[str, list[CellScores]] = {}
    for cell in cells:
        encoding = f"{cell.encoding}[start={START}]"
        outcomes = [
            outcome((each.run, list(each.rows)), threshold=protocol.profile.evaluation.threshold)
            for each in runs[cell.task.key, cell.task.format, encoding]
        ]
        exact_match = {scale: tuple(each.exact_match[scale] for each in outcomes) for scale in protocol.test}
        scores.setdefault(titles[cell.task.key], []).append(
            CellScores(format=cell.task.format, encoding=encoding, exact_match=exact_match)
        )
    return scores


def _figure(sources: Sources, *, protocol: str) -> Drawing:
    assert sources.records is not None
    loaded = load_protocol(protocol, "quick")  # the profile of the recorded runs
    cells, model = cells_at_start(sources.records, loaded), model_sizes(loaded.profile.models[0])
    if protocol == "fig3":
        return drawing(cells, scales=SCALES, train=loaded.train, width=sources.width, model=model)
    return accuracy_drawing(
        cells,
        train=loaded.train,
        threshold=loaded.profile.evaluation.threshold,
        width=sources.width,
        checkpoint=CHECKPOINTS[Checkpoint.LAST],
        model=model,
    )


_NEEDS = Needs(study=from_records("recorded runs with the start 0.02", RECORDED_IN, "table-start"))

FIGURES = tuple(
    Entry(
        place=105,  # before those with the start 1
        name=f"figure{number}-small-start",
        title=f"{title}, label tables from N(0, {START}^2)",
        make=partial(_figure, protocol=f"fig{number}"),
        needs=_NEEDS,
    )
    for number, title in ((2, "Accuracy of six tasks by scale"), (3, "Alignment against a scale hint"))
)
