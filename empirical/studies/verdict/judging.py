"""Answers of `lengthgen verdict`: freeze the answers of rules, train, judge, train a sample again."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.environment import environment
from lengthgen.empirical.experiment.judge import Estimand, decides
from lengthgen.empirical.studies.verdict.frozen import CELLS, FrozenCells, freeze, load_frozen
from lengthgen.empirical.studies.verdict.judgement import judge
from lengthgen.empirical.studies.verdict.power import gate
from lengthgen.empirical.studies.verdict.preregistration import (
    Preregistration,
    load_preregistration,
    names,
)
from lengthgen.empirical.studies.verdict.rerun import decided, judged, met, of_all, of_deciding, rerun
from lengthgen.empirical.studies.verdict.runs import (
    CellRun,
    Wanted,
    join_pieces,
    load_runs,
    missing_runs,
    seen_cells,
    train_wanted,
)
from lengthgen.empirical.studies.verdict.together import together
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import locked, require_folder, write_json
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.shapes import COUNT, NUMBER, TEXT, both, list_of, mapping_to, read_stored, record
from lengthgen.terminal.progress import Progress

GATE, ENVIRONMENT = "gate.json", "environment.json"
DEVIATIONS = "deviations.json"
"""Sentences on departures from the plan, written by hand; the file is missing if there are none."""
_GATE = record(
    frozen=TEXT,
    cells=COUNT,
    pairs=list_of(
        record(
            **dict.fromkeys(("true", "against", "verdict"), TEXT),
            cells=COUNT,
            **dict.fromkeys(("power", "alone"), NUMBER),
        )
    ),
)
_ENVIRONMENT = record(
    **dict.fromkeys(("machine", "revision"), TEXT), versions=both(mapping_to(TEXT), record(torch=TEXT))
)
MORE = 3
"""Runs that an undecided cell gets in each round."""
AT_ONCE = 96
"""Number of tasks, in the order of their hashes, that are trained before the next; the more, the more models share a
step, and the more of the work is lost to a budget that ends."""


class VerdictError(LengthgenError):
    """A verdict cannot be made; the message says why in one line."""


def freeze_answer(name: str, out: Path) -> dict[str, Any]:
    """Freeze the answers of all rules for every cell, and say which questions the cells can decide."""
    preregistration, folder = load_preregistration(name), out / name
    require_folder(folder)
    frozen = freeze(
        preregistration,
        folder,
        workers=os.cpu_count() or 1,
        on_drawn=_report("drawing of tasks", "tasks"),
        on_answered=_report("answers of the rules", "pairs of a task and a format"),
    )
    tell(f"simulation of what {len(frozen.cells):,} cells can decide")
    answer = gate(frozen)
    write_json(folder / GATE, answer)
    return answer


def train_answer(name: str, out: Path, *, seconds: float, until_decided: bool) -> dict[str, Any]:
    """Train runs for so many seconds, tasks in the order of the hashes of their names; return the judgement.

    Every cell first gets `stopping.first` runs. With `until_decided`, cells then get more, until their majority is
    decided or they have `stopping.most`.
    """
    _, folder, _ = _frozen(name, out)
    require_folder(folder)
    with locked(folder / ".lock", f"trains {name}"):
        _train(name, out, seconds=seconds, until_decided=until_decided)
    return verdict_answer(name, out)


def _train(name: str, out: Path, *, seconds: float, until_decided: bool) -> None:
    """Train as `train_answer` says, and join the pieces."""
    _, folder, frozen = _frozen(name, out)
    tell(f"frozen answers: {frozen.digest}; publish this hash before the first run")
    deadline = time.time() + seconds
    while time.time() < deadline:
        runs = load_runs(frozen, folder)
        wanted = _wanted(frozen, runs, until_decided=until_decided)
        if not wanted:
            break
        report, workers = _report("training", "runs"), os.cpu_count() or 1
        train_wanted(frozen, wanted, folder, workers=workers, deadline=deadline, progress=report)
    join_pieces(frozen, folder)
    write_json(folder / ENVIRONMENT, environment("cpu"))


def verdict_answer(name: str, out: Path) -> dict[str, Any]:
    """Return the judgement of the stored runs."""
    _, folder, frozen = _frozen(name, out)
    return {"name": name, "deviations": _deviations(folder)} | judge(frozen, load_runs(frozen, folder))


def together_answer(out: Path) -> dict[str, Any]:
    """Return the judgement of every complete preregistration in `out`, and of the trials stored beside it.

    One that is still in training is left out: its hypotheses join the family when each cell has its first runs.

    Raises:
        VerdictError: no preregistration in `out` is complete.
    """
    stored = {}
    for name in names():
        if (out / name / CELLS).is_file():
            _, folder, frozen = _frozen(name, out)
            runs = load_runs(frozen, folder)
            if not _first_missing(frozen, runs):
                stored[name] = (frozen, runs)
    if not stored:
        raise VerdictError(
            f"{out} has no complete runs: run lengthgen verdict NAME --freeze --out {out}, and then --train 2h until "
            "each cell has its first runs"
        )
    stored = dict(sorted(stored.items(), key=lambda item: -len(item[1][0].cells)))
    answer = together(stored, out.resolve().parent)
    for name, judgement in answer["experiments"].items():
        judgement["deviations"] = _deviations(out / name)
        judgement["without_power"] = _without_power(name, out) if (out / name / GATE).is_file() else []
    return answer


def _without_power(name: str, out: Path) -> list[str]:
    """Return the pairs of rules that runs were not expected to decide, whichever is true, by the stored power."""
    gate = stored_gate(name, out)["pairs"]
    weak = (sorted((each["true"], each["against"])) for each in gate if each["verdict"] != "can decide")
    return list(dict.fromkeys(" and ".join(pair) for pair in weak))


def _deviations(folder: Path) -> Any:
    """Return the departures from the plan of a verdict, a list of sentences."""
    path, mend = folder / DEVIATIONS, 'write a list of sentences, ["...", "..."], or remove it'
    return read_stored(path, list_of(TEXT), "deviations", mend, sealed=False) if path.is_file() else []


def stored_gate(name: str, out: Path) -> dict[str, Any]:
    """Return the power that was computed when the answers were frozen."""
    mend = f"make it again with  lengthgen verdict {name} --freeze --out {out}"
    gate: dict[str, Any] = read_stored(out / name / GATE, _GATE, "power", mend, sealed=False)
    return gate


def rerun_answer(name: str, out: Path, *, count: int, seed: int, deciding: bool) -> dict[str, Any]:
    """Train a sample of runs again and compare; return the answers of `rerun` and `judged`.

    The runs are drawn from all, or with `deciding` for the questions that they decide (`rerun.of_deciding`). "forged"
    has, for each question that is decided, the chance to meet somebody who changed runs to decide it.

    Raises:
        VerdictError: the answers are not frozen yet, there is no run, or with `deciding` no question is decided.
    """
    _, folder, frozen = _frozen(name, out)
    runs = load_runs(frozen, folder)
    if not runs:
        raise VerdictError(f"{folder} has no runs: run lengthgen verdict {name} --train 2h --out {out} first")
    trained_on, questions = _trained_on(folder), decided(frozen, runs)
    if deciding and not questions:
        raise VerdictError(f"the runs in {folder} decide no question: leave out --deciding")
    if deciding:
        draw = of_deciding(questions, count=count, seed=seed)
    else:
        draw = of_all(frozen, runs, questions, count=count, seed=seed)
    answer = rerun(frozen, runs, draw, workers=os.cpu_count() or 1, progress=_report("trained again", "runs"))
    return answer | {"forged": met(questions, draw)} | judged(answer, trained_on, environment("cpu"))


def _trained_on(folder: Path) -> Any:
    """Return the environment in which the runs of a verdict were trained; empty if it was not recorded."""
    path, mend = folder / ENVIRONMENT, "restore it from a copy, or remove it: then first failures must be the same"
    return read_stored(path, _ENVIRONMENT, "environment", mend, sealed=False) if path.is_file() else {}


def _frozen(name: str, out: Path) -> tuple[Preregistration, Path, FrozenCells]:
    """Return a preregistration, its folder, and its frozen answers."""
    preregistration, folder = load_preregistration(name), out / name
    if not (folder / CELLS).is_file():
        raise VerdictError(f"{folder} has no frozen answers: run lengthgen verdict {name} --freeze --out {out} first")
    return preregistration, folder, load_frozen(preregistration, folder)


def _wanted(frozen: FrozenCells, runs: dict[str, list[CellRun]], *, until_decided: bool) -> list[Wanted]:
    """Return the first runs that cells of the next tasks lack, or else those that undecided cells get next."""
    stopping = frozen.preregistration.stopping
    if first := _first_missing(frozen, runs):
        tasks = list(dict.fromkeys(cell.task for cell, _ in first))[:AT_ONCE]
        return [wanted for wanted in first if wanted[0].task in tasks]
    counts = {}
    for cell in seen_cells(frozen, runs) if until_decided else []:
        if decides(Estimand.MAJORITY.evidence(cell.generalize, cell.fit), stopping.alpha) is None:
            counts[cell.cell.name] = min(stopping.most, cell.runs + MORE)
    return missing_runs(frozen, runs, counts)


def _first_missing(frozen: FrozenCells, runs: dict[str, list[CellRun]]) -> list[Wanted]:
    """Return the first runs that planned cells lack."""
    first = frozen.preregistration.stopping.first
    return missing_runs(frozen, runs, {cell.name: first for cell in frozen.planned})


def _report(work: str, pieces: str) -> Callable[[int, int], None]:
    """Return a callback with (pieces done, pieces in all) that prints the progress, at 0 the number of pieces."""
    progress: list[Progress] = []

    def report(done: int, total: int) -> None:
        if not progress:  # the total is known only now
            progress.append(Progress(work, total, pieces))
        if done:
            progress[0].reach(done)

    return report
