"""Table of the paper's figures 2 to 5 (arXiv 2510.04130) on its data: every cell, its runs, and if they agree.

The curves of the paper could not be read. What it says of a cell is known from its abstract and from the caption of its
Fig. 1 [P], or not known; that a cell was trained with the published data [P] and with our sizes and optimiser [F] is
read off each recorded run. Cells, scales and trainings are those of the protocols fig2, fig3 and fig4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean

from lengthgen.circuits.roles import IRRELEVANT
from lengthgen.empirical.experiment.judge import Estimand, Evidence, e_bh
from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.outcome import History, RunOutcome, outcome
from lengthgen.empirical.experiment.protocol import Cell, Protocol, Training, load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.trial.conjecture import FEWEST
from lengthgen.empirical.trial.record import TABLE, read_record, table_start
from lengthgen.paper_figs.declaration import Entry
from lengthgen.paper_figs.figures.learned_labels import AGREEMENT, Agreement, read_agreement
from lengthgen.paper_figs.names import distinct_names
from lengthgen.paper_figs.saving import Drawing, Printed
from lengthgen.paper_figs.sources import Needs, Sources, from_records
from lengthgen.paper_figs.style import look

RECORDED_IN = ("paper-figures", "published-budget", "padding-sink")
"""Records of docs/results with runs of the published training: all that there are."""
EARLY = {"fig2": 30, "fig3": 30, "fig4": 500}
"""Epochs of the checkpoint at which the cells of a protocol are compared: the first published one, or our budget."""
ENCODINGS = ("ipe", "ipe-sh", "rpe", "ape")
"""Encodings of figure 2 that are compared; the protocol fig2 has others beside them."""
SCALES = (10, 15, 20)
"""Scales whose exact match is shown; Fig. 3 shows these and 5 [P]."""
OPERANDS = {"aligned": "padded", "unaligned": "as they are"}
UNREADABLE, NO_RUNS = "not readable", "no runs yet"
WORDS = ("yes", "possible", "possible, not most", "not most", "no", "open", "not learnt", UNREADABLE, NO_RUNS)
"""Answers to the question whether runs agree with the paper."""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """Statement of the paper on a cell: do models of it generalize, None if that is not known; and in words."""

    generalizes: bool | None
    words: str


@dataclass(frozen=True, kw_only=True)
class PublishedCell:
    """Cell of a figure of the paper, with the runs of it that were trained on the published data.

    Attributes:
        figure: number of the figure: 2, 3 or 4; figure 5 shows the models of figure 4.
        protocol: protocol of the figure under the profile `paper`.
        cell: its task, format and encoding.
        runs: runs with their measurements.
        agreements: agreement of each run's learned relation with the ideal one; empty if none is learned or recorded.
    """

    figure: int
    protocol: Protocol
    cell: Cell
    runs: Sequence[History]
    agreements: Sequence[Agreement] = ()

    @property
    def epochs(self) -> int:
        """Epochs of the published training."""
        return self.protocol.profile.training.epochs

    @property
    def early_epochs(self) -> int:
        """Epochs after which the cell is compared."""
        return EARLY[self.protocol.name]

    @cached_property
    def early(self) -> list[RunOutcome]:
        """Outcomes of the runs that were measured there."""
        return self._at(self.early_epochs)

    @cached_property
    def late(self) -> list[RunOutcome]:
        """Outcomes of the runs that were measured after all epochs."""
        return self._at(self.epochs)

    @property
    def compared(self) -> Sequence[RunOutcome]:
        """Outcomes that are compared with the paper: after all epochs where fewer than FEWEST runs fit before."""
        return self.late if counts(self.early)[0] < FEWEST <= counts(self.late)[0] else self.early

    def _at(self, epoch: int) -> list[RunOutcome]:
        threshold = self.protocol.profile.evaluation.threshold
        measured: list[tuple[Run, list[Measurement]]] = [
            (run, [row for row in rows if row.epoch == epoch]) for run, rows in self.runs
        ]
        return [outcome(history, threshold=threshold) for history in measured if history[1]]

    @property
    def paper(self) -> Paper:
        """Statement of the paper on it."""
        if self.cell.encoding == "ipe":
            return Paper(generalizes=True, words="possible, as SRC stays the same (abstract)")
        if self.cell.encoding == "ipe-sh":
            return Paper(generalizes=True, words="possible, by the scale hint (abstract)")
        if self.cell.encoding == "lbpe-sh":
            return Paper(generalizes=True, words="the relation is learned (abstract)")
        if self.cell.encoding == "ape" and self.cell.task.name == "parity":
            return Paper(generalizes=False, words="needs operators that training lacks (Fig. 1)")
        return Paper(generalizes=None, words=UNREADABLE)

    def evidence(self, estimand: Estimand) -> Evidence:
        """E-values on the share of fitting runs that generalize, of those that are compared."""
        fit, generalize = counts(self.compared)
        return estimand.evidence(generalize, fit)


def counts(outcomes: Sequence[RunOutcome]) -> tuple[int, int]:
    """Return how many runs fit, and how many of these generalize."""
    return sum(each.fits for each in outcomes), sum(bool(each.generalizes) for each in outcomes)


def published_cells(records: Path) -> list[PublishedCell]:
    """Return every cell of figures 2, 3 and 4 with its runs in the records; `records` is docs/results.

    Raises:
        RecordError, TableError: a record has changed since it was written.
    """
    folders = [path.parent for name in RECORDED_IN for path in sorted((records / name).glob(f"*/{TABLE}"))]
    histories = [(each.run, each.rows) for folder in folders for each in read_record(folder).runs]
    agreements: dict[str, Agreement] = {}
    for folder in folders:
        if (folder / AGREEMENT).is_file():
            agreements |= read_agreement(folder / AGREEMENT)
    cells = []
    for number, name in enumerate(EARLY, start=2):
        protocol = load_protocol(name, "paper")
        for cell in paper_cells(protocol):
            runs = [history for history in histories if is_published(history[0], cell, protocol)]
            learned = [agreements[run.id] for run, _ in runs if run.id in agreements]
            cells.append(PublishedCell(figure=number, protocol=protocol, cell=cell, runs=runs, agreements=learned))
    return cells


def paper_cells(protocol: Protocol) -> list[Cell]:
    """Return the cells of a protocol that a figure of the paper shows; fig2 has more formats and encodings."""
    if protocol.name != "fig2":
        return [*protocol.cells]
    return [cell for cell in protocol.cells if cell.task.format == "aligned" and cell.encoding in ENCODINGS]


def is_published(run: Run, cell: Cell, protocol: Protocol) -> bool:
    """True if a run is of a cell of a protocol, in its smallest size, and trained as published or so far as it went."""
    return (
        (run.task, run.encoding, run.model) == (cell.task, cell.encoding, protocol.profile.models[0])
        and (run.train, run.test, run.evaluation) == (protocol.train, protocol.test, protocol.profile.evaluation)
        and _whole(run.training) == _whole(protocol.profile.training)
    )


def _whole(training: Training) -> Training:
    """Training to the end of its schedule, whatever its checkpoints."""
    epochs = training.schedule_epochs or training.epochs
    return replace(training, epochs=epochs, schedule_epochs=None, evaluate_every=epochs)


def table(cells: Sequence[PublishedCell]) -> Drawing:
    """Table of the paper's figures: a line for each cell, and for each relation that figure 5 shows."""
    agreeing = _agreeing(cells)
    names = distinct_names({each.cell.task.key: each.cell.task.title for each in cells})
    shown = [(each, names[each.cell.task.key], agrees) for each, agrees in zip(cells, agreeing, strict=True)]
    rows = [_row(*each) for each in shown] + [_learned_row(each, name) for each, name, _ in shown if each.figure == 4]
    headings = (
        "figure",
        "task",
        "operands",
        "encoding",
        "budget",
        "the paper [P]",
        "we see",
        "after all epochs",
        "agrees",
    )
    lines = [_line(*each) for each in shown] + [
        _learned_line(each, name) for each, name, _ in shown if each.figure == 4
    ]
    return Drawing(
        shown=Printed(headings=headings, lines=lines, columns="rlllllllr"), rows=rows, caption=_caption(cells, agreeing)
    )


SUMMARY = {
    "ipe": "ideal",
    "ipe-sh": "ideal, scale hint",
    "rpe": "relative",
    "ape": "absolute",
    "lbpe": "learned",
    "lbpe-sh": "learned, scale hint",
}
"""Columns of the summary: encoding -> its words."""


def summary(cells: Sequence[PublishedCell]) -> Printed:
    """Table of how many runs generalize, of those that fit; bold where most fail though the paper says "possible".

    A line for each task, a column for each encoding. Ideal encodings with a scale hint have padded operands on Shift
    alone, those without one and relative and absolute ones everywhere.
    """
    names = distinct_names({each.cell.task.key: each.cell.task.title for each in cells})
    texts = {}
    for each, agrees in zip(cells, _agreeing(cells), strict=True):
        fit, generalize = counts(each.compared)
        text = f"{generalize}/{fit}" if fit else "no fit" if each.early else "-"
        texts[names[each.cell.task.key], each.cell.encoding] = f"**{text}**" if agrees.endswith("not most") else text
    tasks = dict.fromkeys(task for task, _ in texts)
    lines = [[task, *(texts.get((task, encoding), "") for encoding in SUMMARY)] for task in tasks]
    return Printed(headings=("", *SUMMARY.values()), lines=lines, columns="l" + "r" * len(SUMMARY))


def _agreeing(cells: Sequence[PublishedCell]) -> list[str]:
    """For each cell: do its runs agree with the paper? One of WORDS.

    What the paper calls possible is asked twice: do more than 5% of such runs generalize, and do most? Each question is
    decided for all cells together, by e-BH. Figures 2 and 3 share cells, each of which counts once.
    """
    compared = {
        each.cell: each for each in cells if counts(each.compared)[0] >= FEWEST and each.paper.generalizes is not None
    }
    possible, most, few = (
        {cell for cell, is_decided in zip(compared, decided, strict=True) if is_decided}
        for decided in (
            e_bh([each.evidence(estimand).that(above) for each in compared.values()])
            for estimand, above in (
                (Estimand.POSSIBLE, True),
                (Estimand.MAJORITY, True),
                (Estimand.MAJORITY, False),
            )
        )
    )

    def word(each: PublishedCell) -> str:
        if not each.early:
            return NO_RUNS
        if each.paper.generalizes is None:
            return UNREADABLE
        if not counts(each.compared)[0]:
            return "not learnt"
        if not each.paper.generalizes:
            return "yes" if each.cell in few else "no" if each.cell in possible else "open"
        if each.cell in few:
            return "possible, not most" if each.cell in possible else "not most"
        return "yes" if each.cell in most else "possible" if each.cell in possible else "open"

    return [word(each) for each in cells]


def _names(each: PublishedCell, name: str, figure: int) -> dict[str, object]:
    training = each.protocol.profile.training
    return {
        "figure": figure,
        "task": name,
        "operands": OPERANDS[each.cell.task.format],
        "encoding": each.cell.encoding,
        "table_start": table_start(each.cell.encoding),
        "samples": training.samples,
        "epochs": each.early_epochs,
        "published_epochs": each.epochs,
        "runs": len(each.early),
    }


def _row(each: PublishedCell, name: str, agrees: str) -> dict[str, object]:
    """Numbers of a cell."""
    (fit, generalize), (fit_late, generalize_late) = counts(each.early), counts(each.late)
    possible, most = (each.evidence(estimand) for estimand in (Estimand.POSSIBLE, Estimand.MAJORITY))
    scores = {scale: [run.exact_match[scale] for run in each.early] for scale in SCALES}
    return {
        **_names(each, name, each.figure),
        "fit": fit,
        "generalize": generalize,
        **{
            f"{kind} at {scale}": of(values) if values else ""
            for scale, values in scores.items()
            for kind, of in (("mean", fmean), ("least", min), ("greatest", max))
        },
        "runs_late": len(each.late),
        "fit_late": fit_late,
        "generalize_late": generalize_late,
        "paper": each.paper.words,
        "e_possible": possible.above,
        "e_most": most.above,
        "e_not_most": most.below,
        "agrees": agrees,
        **dict.fromkeys(_LEARNED, ""),
    }


_LEARNED = ("read keys", "least of read keys", "greatest of read keys", "other keys")


def _learned_row(each: PublishedCell, name: str) -> dict[str, object]:
    """Numbers of a learned relation of figure 5, in the columns of a cell."""
    read, others = _shares(each)
    empty = dict.fromkeys(_row(each, name, ""), "")
    learned = (fmean(read), min(read), max(read), fmean(others)) if read else ("",) * len(_LEARNED)
    own = {"runs": len(read), "paper": UNREADABLE, "agrees": UNREADABLE if read else NO_RUNS}
    return empty | _names(each, name, 5) | own | dict(zip(_LEARNED, learned, strict=True))


def _shares(each: PublishedCell) -> tuple[list[float], list[float]]:
    """Shares of right labels of each run beyond training: of the keys that a step reads, and of the others."""
    shares: tuple[list[float], list[float]] = ([], [])
    for agreement in each.agreements:
        beyond = [by_label for scale, by_label in agreement.items() if scale not in each.protocol.train]
        for of_runs, irrelevant in zip(shares, (False, True), strict=True):
            pairs = [
                pair for by_label in beyond for label, pair in by_label.items() if (label == IRRELEVANT) == irrelevant
            ]
            of_runs.append(sum(right for right, _ in pairs) / sum(count for _, count in pairs))
    return shares


def _line(each: PublishedCell, name: str, agrees: str) -> list[str]:
    """Texts of a cell."""
    means = ", ".join(f"{fmean(run.exact_match[scale] for run in each.early):.2f}" for scale in SCALES if each.early)
    seen = f"{_generalizing(each.early)}; {means}" if each.early else NO_RUNS
    late = _generalizing(each.late) if each.late else "-"
    return [*_first(each, name, each.figure, len(each.early)), each.paper.words, seen, late, agrees]


def _learned_line(each: PublishedCell, name: str) -> list[str]:
    """Texts of a learned relation of figure 5."""
    read, others = _shares(each)
    seen = (
        f"read keys {fmean(read):.2f} ({min(read):.2f}-{max(read):.2f}), others {fmean(others):.2f}"
        if read
        else NO_RUNS
    )
    return [*_first(each, name, 5, len(read)), UNREADABLE, seen, "-", UNREADABLE if read else NO_RUNS]


def _first(each: PublishedCell, name: str, figure: int, runs: int) -> list[str]:
    """First columns of a line."""
    samples, epochs = each.protocol.profile.training.samples, f"{each.early_epochs} of {each.epochs:,} epochs"
    budget = f"{samples:,} samples, {epochs}" + (f", {runs} runs" if runs else "")
    return [str(figure), name, OPERANDS[each.cell.task.format], look(each.cell.encoding).label, budget]


def _generalizing(outcomes: Sequence[RunOutcome]) -> str:
    """Text that counts the fitting runs that generalize, and all runs if some do not fit."""
    fit, generalize = counts(outcomes)
    return f"{generalize} of {fit} runs" + (f" that fit, of {len(outcomes)}" if fit < len(outcomes) else "")


def _caption(cells: Sequence[PublishedCell], agreeing: Sequence[str]) -> str:
    starts = sorted({start for each in cells if (start := table_start(each.cell.encoding)) is not None})
    tally = ", ".join(f"{word} {agreeing.count(word)}" for word in WORDS if word in agreeing)
    return (
        "The paper's figures 2 to 5 (arXiv 2510.04130) on its data [P]: digits 0-9, 1,000 test samples at each "
        "scale 1-20. Width 64, two layers, batches of 250, learning rate 0.001 [F]; label tables start at N(0, "
        f"s^2), s = {', '.join(f'{start:g}' for start in starts)}. Budget: epochs after which a cell is compared, "
        "of those published, with the learning rates of the published length. We see: runs that generalize, of "
        "those that fit, which means an exact match of 0.95 at all scales 1-20, or at those of training; and the "
        f"mean exact match at scales {', '.join(map(str, SCALES))}. Of figure 5, which shows the models of figure "
        "4: the share of keys whose learned label means the ideal one, beyond the training scales, mean and range "
        "over runs, of the keys that a step reads (0 for a model that calls all keys irrelevant), and of the "
        "others. After all epochs: the same cell after the published training, as far as it was recorded, with "
        f"further runs; a cell with fewer than {FEWEST} fitting runs before is compared there "
        "(a rule made when these runs were seen). The paper: "
        "what its abstract and the caption of Fig. 1 say; its curves could not be read. "
        "Agrees, decided by e-values for all cells together (e-BH at 5%): yes if most fitting runs do as the "
        "paper says; possible if more than 5% of them generalize; not most if most fail where the paper says that "
        f"it is possible; open if nothing is decided. Of {len(cells)} cells of figures 2 to 4, of which 2 and 3 "
        f"share three: {tally}."
    )


def _drawn(sources: Sources) -> Drawing:
    assert sources.records is not None
    return table(published_cells(sources.records))


FIGURES = (
    Entry(
        place=250,
        name="table-paper-figures",
        title="The paper's figures 2 to 5 on its data (table)",
        make=_drawn,
        needs=Needs(study=from_records("records of the published training", [f"{name}/*" for name in RECORDED_IN])),
    ),
)
