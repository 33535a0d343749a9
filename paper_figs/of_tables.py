"""The tables of a paper: what was trained on, how, and what came out."""

from functools import partial

from empirical.runs.protocol import names as protocol_names
from paper_figs import run_tables, src_by_scale, task_tables
from paper_figs.entry import Entry
from paper_figs.saving import Drawing
from paper_figs.sources import Needs, Sources
from paper_figs.src_study import complexities


def hyperparameters(sources: Sources) -> Drawing:
    """Of all protocols that come with the project, under one profile."""
    return run_tables.hyperparameters([sources.protocol(name) for name in protocol_names()])


def coverage(sources: Sources, *, protocol: str) -> Drawing:
    """Of the runs of one protocol."""
    return run_tables.coverage(sources, protocol)


def results(sources: Sources, *, protocol: str) -> Drawing:
    """Of the runs of one protocol."""
    return run_tables.results(sources, protocol)


ENTRIES = (
    Entry(name="table-tasks", title="Tasks, with an instance of each (table)", make=lambda _: task_tables.tasks()),
    Entry(name="table-formats", title="Formats of the six tasks (table)", make=lambda _: task_tables.formats()),
    Entry(
        name="table-relations", title="Encodings and their relations (table)", make=lambda _: task_tables.relations()
    ),
    Entry(
        name="table-src",
        title="SRC of all tasks by scale (table)",
        make=lambda _: src_by_scale.table(complexities()),
    ),
    Entry(name="table-hyperparameters", title="How models are trained (table)", make=hyperparameters),
)


def entries(protocol: str, name: str) -> list[Entry]:
    """Those of one protocol, called `name` in files."""
    needs = Needs(protocols=(protocol,))
    return [
        Entry(
            name=f"results-{name}",
            title=f"{name}: fit, generalization, exact match of every cell (table)",
            make=partial(results, protocol=protocol),
            needs=needs,
        ),
        Entry(
            name=f"coverage-{name}",
            title=f"{name}: share of test steps that training shows (table)",
            make=partial(coverage, protocol=protocol),
            needs=needs,
        ),
    ]
