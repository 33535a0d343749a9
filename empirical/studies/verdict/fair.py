"""Fair comparisons: rules against baselines that know no theory, for encodings in use, for ideal ones, and for all.

The baselines (`lengthgen.circuits.forecast.rates`) were asked after the runs, so nothing here is registered.  Their
rates are those of the half of the tasks for amendments; all is judged on the other half.  SRC's bit is that of the
task as it was drawn: does its SRC stay the same up to the largest scale?
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lengthgen.circuits.forecast.rates import BASELINES, KINDS, RATE_WITH_SRC, Counts, Rates, is_of_kind
from lengthgen.empirical.experiment.judge import e_bh
from lengthgen.empirical.studies.verdict.frozen import FrozenCells
from lengthgen.empirical.studies.verdict.pairs import UNDECIDED, Pair, PairEvidence, compare, reached
from lengthgen.empirical.studies.verdict.population import HALVES
from lengthgen.empirical.studies.verdict.runs import CellRun, SeenCell

CONTENDERS = ("literal", "coverage", "distractors", "own-token", "distractors-with-token")
"""Rules that are compared with the baselines, where a preregistration has them."""


@dataclass(frozen=True, kw_only=True)
class Fair:
    """Comparisons of rules with baselines on the half that judges.

    Attributes:
        alpha: level of e-BH over all comparisons.
        registered: pairs that the preregistration asks, on all encodings together.
        fitted: runs of the other half that the rates count.
        cells: cells that count, each with the answers of the baselines too.
        evidence: (kind of encoding, pair) -> evidence.
    """

    alpha: float
    registered: Sequence[Pair]
    fitted: int
    cells: Sequence[SeenCell]
    evidence: Mapping[tuple[str, Pair], PairEvidence]

    @cached_property
    def better(self) -> dict[tuple[str, Pair], str]:
        """Comparison -> the rule that is shown to be the better one by e-BH over all of these, or UNDECIDED."""
        rejected = e_bh([value for evidence in self.evidence.values() for value in evidence.against], self.alpha)
        sides = zip(self.evidence, rejected[::2], rejected[1::2], strict=True)
        return {key: UNDECIDED if worse_a == worse_b else key[1][worse_a] for key, worse_a, worse_b in sides}

    def as_json(self) -> list[dict[str, Any]]:
        """Return every comparison."""
        return [
            {
                "kind": kind,
                "first": pair[0],
                "second": pair[1],
                "registered": kind == "all" and pair in self.registered,
                **counts_of(evidence),
                "better": self.better[kind, pair],
            }
            for (kind, pair), evidence in self.evidence.items()
        ]


def counts_of(evidence: PairEvidence) -> dict[str, Any]:
    """Return the numbers of tasks, cells and wins of a comparison, and its e-values."""
    return {
        "tasks": len(evidence.tasks),
        "cells": evidence.cells,
        "wins_first": evidence.wins_a,
        "wins_second": evidence.wins_b,
        "against_first": evidence.against[0],
        "against_second": evidence.against[1],
    }


def of_kind(cells: Sequence[SeenCell], kind: str) -> list[SeenCell]:
    """Return the cells whose encoding is of a kind."""
    return [each for each in cells if is_of_kind(each.cell.encoding, kind)]


def fair(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]], seen: Sequence[SeenCell]) -> Fair:
    """Compare every contender with every baseline, where they differ on some task.

    The rate with SRC's bit is left out where all tasks have the same.

    Args:
        frozen: frozen answers.
        runs: finished runs by cell.
        seen: outcomes of the cells.
    """
    preregistration = frozen.preregistration
    amendment = [each for each in seen if each.cell.half == HALVES[0]]
    rates = Rates.of(
        Counts(
            encoding=each.cell.encoding,
            operands=each.cell.format,
            invariant=each.cell.rises_at is None,
            generalize=each.generalize,
            fit=each.fit,
        )
        for each in amendment
    )
    names = {cell.name for cell in reached(frozen.judging, runs, first=preregistration.stopping.first)}
    cells = [
        with_baselines(each, rates)
        for each in seen
        if each.cell.name in names and each.fit >= preregistration.stopping.fitting
    ]
    one_bit_more = len({each.cell.rises_at is None for each in cells}) > 1
    baselines = [name for name in BASELINES if one_bit_more or name != RATE_WITH_SRC]
    compared = {
        (kind, (rule, baseline)): compare(of_kind(cells, kind), (rule, baseline))
        for rule in CONTENDERS
        if rule in preregistration.rules
        for baseline in baselines
        for kind in KINDS
    }
    return Fair(
        alpha=preregistration.stopping.alpha,
        registered=preregistration.rule_pairs,
        fitted=sum(each.fit for each in amendment),
        cells=cells,
        evidence={key: evidence for key, evidence in compared.items() if evidence.tasks},
    )


def with_baselines(seen: SeenCell, rates: Rates) -> SeenCell:
    """Return a cell with the answers of the baselines beside the frozen ones."""
    cell = seen.cell
    answers = rates.probabilities(cell.encoding, cell.format, cell.rises_at is None)
    later = {name: (probability, None) for name, probability in answers.items()}
    return replace(seen, cell=replace(cell, answers={**later, **cell.answers}))
