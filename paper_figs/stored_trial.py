"""Figures of one stored conjecture alone: accuracy, predictions, shares, breaking scales and disagreements.

They need conjecture.json or the record of an experiment, and no models, so that any choice of its tasks, formats and
encodings can be drawn, those of the user included.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.outcome import Checkpoint
from lengthgen.empirical.trial.record import is_record, read_record
from lengthgen.infrastructure.errors import LengthgenError, in_any_case, nearest
from lengthgen.paper_figs.figures import accuracy, trial_figures
from lengthgen.paper_figs.names import short_task_names
from lengthgen.paper_figs.saving import Drawing
from lengthgen.paper_figs.seed_scores import CellScores
from lengthgen.paper_figs.stored import read_trial
from lengthgen.paper_figs.trial_cells import StoredCell, Trial, main_cells, main_rule

FILE = "conjecture.json"
"""File of a trial in the folder of its protocol or task."""
_COUNTS = {True: "yes", False: "no"}


@dataclass(frozen=True, kw_only=True)
class StoredTrial:
    """Stored conjecture with what its figures need.

    Attributes:
        name: name of the folder of the trial: a protocol, or the user's task.
        train: training scales, ascending.
        test: test scales, ascending.
        content: the trial; only cells of the main model size.
    """

    name: str
    train: tuple[int, ...]
    test: tuple[int, ...]
    content: Trial

    def chosen(self, **texts: str | None) -> "StoredTrial":
        """Return the trial with the chosen cells alone, in the order of the choice, counted anew.

        Args:
            texts: task, format, encoding -> values, comma-separated; None for all. The name of something of the user's
                own may be given with its file or without.

        Raises:
            LengthgenError: a value is not in the trial, or no cell has all that was chosen.
        """
        if not any(texts.values()):
            return self
        cells = self.content["cells"]
        for key, text in texts.items():
            if text is not None:
                cells = [
                    cell for value in _values(key, text, self.content["cells"]) for cell in cells if cell[key] == value
                ]
        if not cells:
            raise LengthgenError(f"no cell of {self.name} has all that was chosen: choose less")
        return replace(self, content={**self.content, **_counted(cells, main_rule(self.content))})

    def figures(self) -> dict[str, Callable[[float], Drawing]]:
        """Map from the name of each figure or table to the function that draws it, given its width in inches.

        Each raises Undrawable or StyleError if the figure would not be legible.
        """
        kinds: dict[str, Callable[[float], Drawing]] = {
            "accuracy": self._accuracy,
            "predicted": lambda width: trial_figures.predicted_drawing(self.content, self, max(width, 5.5)),
            "success": lambda width: trial_figures.success_drawing(self.content, self, max(width, 5.5)),
            "breaking": partial(trial_figures.breaking_drawing, self.content, self),
            "disagreements": lambda _: trial_figures.disagreements_drawing(self.content, self.name),
        }
        return {f"{kind}-{self.name}": draw for kind, draw in kinds.items()}

    def _accuracy(self, width: float) -> Drawing:
        main = self.content["main"]
        names = short_task_names(cell["task"] for cell in self.content["cells"])
        tasks: dict[str, list[CellScores]] = {}
        for cell in self.content["cells"]:
            exact_match = {
                scale: tuple(outcome["exact_match"][str(scale)] for outcome in cell["outcomes"]) for scale in self.test
            }
            scores = CellScores(format=cell["format"], encoding=cell["encoding"], exact_match=exact_match)
            tasks.setdefault(names[cell["task"]], []).append(scores)
        return accuracy.accuracy_drawing(
            tasks,
            train=self.train,
            threshold=main["threshold"],
            width=width,
            checkpoint=accuracy.CHECKPOINTS[Checkpoint(main["checkpoint"])],
            model=main["size"],
        )


def load_trial(path: Path) -> StoredTrial:
    """Load a stored conjecture: conjecture.json, or the folder that holds it or a record.

    Raises:
        LengthgenError: there is none, or it was changed.
    """
    file = path / FILE if path.is_dir() else path
    if is_record(path):
        content = read_record(path).trial
    elif file.is_file():
        content = read_trial(file, "lengthgen conjecture")
    else:
        raise LengthgenError(
            f"{file} does not exist: name a conjecture.json, or its folder, as `lengthgen conjecture` makes it, or the "
            "folder of a record"
        )
    cells = main_cells(content)
    test = sorted({int(scale) for cell in cells for outcome in cell["outcomes"] for scale in outcome["exact_match"]})
    return StoredTrial(
        name=file.resolve().parent.name,
        train=tuple(content["train"]),
        test=tuple(test),
        content={**content, "cells": cells},
    )


def _values(key: str, text: str, cells: Sequence[StoredCell]) -> list[str]:
    """Return the values of the cells that a comma-separated text names; a short name stands for all that have it."""
    values = list(dict.fromkeys(cell[key] for cell in cells))
    values_of: dict[str, list[str]] = {}
    for value in values:
        values_of.setdefault(value.rpartition(":")[2].partition(" base ")[0], []).append(value)
    values_of |= {value: [value] for value in values}
    chosen = []
    for part in (in_any_case(part, values_of) for part in _parts(text)):
        if part not in values_of:
            raise LengthgenError(f"no cell has the {key} '{part}': {nearest(part, values_of)}")
        chosen += values_of[part]
    return list(dict.fromkeys(chosen))


def _parts(text: str) -> list[str]:
    """Split at commas outside brackets: clipped[limit=8,far=1] is one part."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _counted(cells: Sequence[StoredCell], main: str) -> dict[str, Any]:
    """Return the parts of a trial that count its cells, for these cells; tests over all cells are left out.

    Args:
        cells: the cells.
        main: rule by which they are predicted.
    """
    broken = [cell["breaking"] for cell in cells if cell["breaking"] and cell["breaking"]["predicted"] is not None]
    differences = [its["observed"] - its["predicted"] for its in broken if its["observed"] is not None]
    return {
        "cells": list(cells),
        "rules": {
            rule: {"table": _table(cells, key), "permutation": {}, "fisher_p": None}
            for rule, key in ((main, "predicted"), ("literal", "literal"))
        },
        "breaking": {
            "cells": len(broken),
            "as_predicted": differences.count(0),
            "earlier": sum(difference < 0 for difference in differences),
            "later": sum(difference > 0 for difference in differences),
            "never": len(broken) - len(differences),
        },
    }


def _table(cells: Sequence[StoredCell], key: str) -> Mapping[str, int]:
    """Count cells by prediction and observation, as `lengthgen.empirical.trial.association` does."""
    pairs = [(cell[key], cell["observed"]) for cell in cells]
    answers = (True, False)
    return {
        **{
            f"{_COUNTS[predicted]}_{_COUNTS[observed]}": pairs.count((predicted, observed))
            for predicted in answers
            for observed in answers
        },
        "not_observed": sum(predicted is not None and observed is None for predicted, observed in pairs),
        "no_prediction": sum(predicted is None for predicted, _ in pairs),
    }
