"""Sources of figures: the stored runs of protocols, and what was predicted and judged of them."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from empirical.runs.measurement import Measurement
from empirical.runs.profile import Model
from empirical.runs.protocol import Cell as Condition
from empirical.runs.protocol import Protocol, load_protocol
from empirical.runs.run import Run, plan
from empirical.runs.store import RunStore
from empirical.trial.outcomes import Checkpoint, outcome
from paper_figs.cells import Cell
from paper_figs.stored import read_claims, read_trial
from theory.system.digests import file_digest
from theory.system.errors import LengthgenError

TRIAL = "conjecture.json"
"""File of a protocol's predictions, outcomes and verdicts, in its folder."""
LEDGER = "claims.json"


class Missing(LengthgenError):
    """A source that is not there; the message says which, and the command that makes it."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Stored things that a figure reads: runs of protocols, their trials, the ledger of claims, files of the user's.

    A figure that needs none of these is the same wherever it is computed.
    """

    protocols: tuple[str, ...] = ()
    trial: bool = False
    ledger: bool = False
    files: tuple[Path, ...] = ()

    def said(self) -> str:
        """The needs in words."""
        of_them = " and their trials" if len(self.protocols) > 1 else " and its trial"
        parts = ["runs of " + ", ".join(self.protocols) + (of_them if self.trial else "")] if self.protocols else []
        ledger = ["the ledger of claims"] if self.ledger else []
        return ", ".join([*parts, *ledger, *map(str, self.files)]) or "computed"


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The folder of stored runs, the profile, and the width asked for.

    Attributes:
        out: the folder of `lengthgen sweep` and `lengthgen conjecture`.
        profile: of the runs.
        width: inches that a figure may take.
        known: what was looked up already: one such object sees a store as it was when it first looked.
    """

    out: Path
    profile: str
    width: float
    known: dict[tuple[str, str], Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def store(self) -> RunStore:
        """The runs."""
        return RunStore(self.out / "runs")

    def protocol(self, name: str) -> Protocol:
        """A protocol under the profile. Raises as `load_protocol`."""
        found: Protocol = self._once("protocol", name, partial(load_protocol, name, self.profile))
        return found

    def runs(self, name: str) -> dict[tuple[Condition, Model], list[Run]]:
        """The runs of a protocol. Raises as `empirical.runs.run.plan`."""
        found: dict[tuple[Condition, Model], list[Run]] = self._once("runs", name, partial(plan, self.protocol(name)))
        return found

    def require(self, needs: Needs) -> None:
        """Looks whether everything is there.

        Raises:
            Missing: the first that is not, and how to make it.
        """
        for name in needs.protocols:
            lacking = self._once("lacking", name, partial(self._lacking, name))
            if lacking:
                shown = lacking[0] + (f" and {len(lacking) - 1} more" if lacking[1:] else "")
                every = sum(map(len, self.runs(name).values()))
                raise Missing(
                    f"{len(lacking)} of the {every} runs of {name} are missing from {self.store.root} ({shown}): "
                    f"make them with  {self._command('sweep', name)}"
                )
            if needs.trial and not self._trial(name).is_file():
                raise Missing(f"{self._trial(name)} is missing: make it with  {self._command('conjecture', name)}")
        if needs.ledger and not (self.out / LEDGER).is_file():
            raise Missing(f"{self.out / LEDGER} is missing: make it with  {self._command('reproduce')}")

    def digest(self, needs: Needs) -> list[Any]:
        """A hash of everything that is read, as JSON holds it.

        Raises:
            StoreError: a run is broken.
            OSError: a file cannot be read.
        """
        found: list[Any] = []
        for name in needs.protocols:
            found.append(self._once("digest", name, partial(self._digest, name)))
            if needs.trial:
                found.append(file_digest(self._trial(name)))
        found += map(file_digest, needs.files)
        return found + ([file_digest(self.out / LEDGER)] if needs.ledger else [])

    def models(self, name: str) -> tuple[Model, ...]:
        """The sizes of a protocol's models; the first is the one that is judged, and of which figures are."""
        return self.protocol(name).profile.models

    def of_size(self, name: str, model: Model | None = None) -> dict[Condition, list[Run]]:
        """The runs of one size; of the first, if left out."""
        wanted = model or self.models(name)[0]
        return {cell: same for (cell, size), same in self.runs(name).items() if size == wanted}

    def metrics(self, runs: Sequence[Run]) -> list[list[Measurement]]:
        """All rows of each run. Raises StoreError: a run is broken."""
        return [self.store.metrics(run) for run in runs]

    def cells(self, name: str, checkpoint: str = Checkpoint.LAST, model: Model | None = None) -> dict[str, list[Cell]]:
        """Task, with its digits if they are not the usual ones -> exact match by scale of its runs of one size.

        Raises:
            StoreError: a run is broken.
        """
        protocol = self.protocol(name)
        threshold = protocol.profile.evaluation.threshold
        found: dict[str, list[Cell]] = {}
        for condition, runs in self.of_size(name, model).items():
            pairs = zip(runs, self.metrics(runs), strict=True)
            scores = [outcome(one, threshold=threshold, checkpoint=checkpoint).exact_match for one in pairs]
            exact_match = {scale: tuple(one[scale] for one in scores) for scale in protocol.test}
            cell = Cell(format=condition.task.format, encoding=condition.encoding, exact_match=exact_match)
            found.setdefault(condition.task.title, []).append(cell)
        return found

    def trial(self, name: str) -> dict[str, Any]:
        """The stored trial of a protocol (`lengthgen conjecture`), after a check that it judged the stored runs.

        Raises:
            Missing: it is of other runs.
            StoreError: a run is broken.
            LengthgenError: it is not as it was written.
        """
        stored = read_trial(self._trial(name), self._command("conjecture", name))
        for (condition, model), runs in self.runs(name).items():
            judged = [
                one for one in stored["cells"] if (*_cell_key(one), one["size"]) == (*_trial_key(condition), str(model))
            ]
            scores = [self.store.final_exact_match(run) for run in runs]
            told = [{int(scale): value for scale, value in one["exact_match"].items()} for one in _outcomes(judged)]
            if told != scores:
                raise Missing(
                    f"{self._trial(name)} was not made of these runs ({condition}): make it again with  "
                    f"{self._command('conjecture', name)}"
                )
        return stored

    def ledger(self) -> list[dict[str, Any]]:
        """The claims, with their verdicts. Raises LengthgenError: it is not as it was written."""
        return read_claims(self.out / LEDGER, self._command("reproduce"))

    def _lacking(self, name: str) -> list[str]:
        return [run.id for same in self.runs(name).values() for run in same if not self.store.finished(run)]

    def _digest(self, name: str) -> list[Any]:
        """Hashes of the runs of one protocol."""
        protocol = self.protocol(name)
        return [protocol.name, protocol.profile_name] + [
            [str(cell), str(model), [self.store.digest(run) for run in same]]
            for (cell, model), same in self.runs(name).items()
        ]

    def _once(self, what: str, name: str, look: Callable[[], Any]) -> Any:
        if (what, name) not in self.known:
            self.known[what, name] = look()
        return self.known[what, name]

    def _trial(self, name: str) -> Path:
        return self.out / self.protocol(name).name / TRIAL

    def _command(self, *what: str) -> str:
        return shlex.join(["lengthgen", *what, "--profile", self.profile, "--out", str(self.out)])


def model_sizes(model: Model) -> str:
    """How large a model is, in words."""
    return f"width {model.width}, layers {model.layers}, heads {model.heads}"


def _trial_key(condition: Condition) -> tuple[str, str, str]:
    """As a trial names a cell."""
    return condition.task.words, condition.task.format, condition.encoding


def _cell_key(cell: Mapping[str, Any]) -> tuple[str, str, str]:
    return cell["task"], cell["format"], cell["encoding"]


def _outcomes(judged: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [one for cell in judged for one in sorted(cell["outcomes"], key=lambda one: one["seed"])]
