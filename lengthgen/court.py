"""The court as plain data: theories scored by published results or by stored runs."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from lengthgen.circuits.theories.catalogue import THEORIES, theory_named
from lengthgen.empirical.court.cell import Cell
from lengthgen.empirical.court.freeze import GUESS, Frozen, freeze, guess_from_json
from lengthgen.empirical.court.published.load import published_cells
from lengthgen.empirical.court.stored import stored_cells
from lengthgen.empirical.court.trial import LITERAL, judge
from lengthgen.empirical.experiment.environment import revision
from lengthgen.infrastructure.cache import UserCached
from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import require_writable, user_cache, write_sealed_json
from lengthgen.infrastructure.processes import interrupts_left, pool
from lengthgen.infrastructure.shapes import record
from lengthgen.progress import Progress
from lengthgen.stored import store_in

Answers = dict[str, dict[str, dict[str, Any]]]
"""Cell name -> theory name -> answer as JSON."""
_ANSWERS = record(**dict.fromkeys(THEORIES, GUESS))


def court_answer(evidence: str, theories: Sequence[str], out: Path) -> dict[str, Any]:
    """Judge theories of the catalogue and of the user's own; store the judgement in OUT/court/EVIDENCE.json.

    The judgement is stored only if all theories of the catalogue were judged and no other.

    Args:
        evidence: "published" or "runs".
        theories: names of theories to judge, or the user's own as path/to/file.py:function; without any of the
            catalogue, all of these. `src` is always judged, because a control says its opposite.
        out: folder of the stored runs and of the judgement.

    Raises:
        TheoryError: a theory is unknown, or the user's own fails.
        StoreError: there are no stored runs, or one is broken, or `out` is no folder.
        PublishedError: a published table is damaged.
        LengthgenError: the judgement cannot be stored in OUT.
    """
    chosen = list(dict.fromkeys(map(theory_named, theories)))
    own = [theory for theory in chosen if theory.name not in THEORIES]
    of_catalogue = [theory for theory in chosen if theory.name in THEORIES] or [*THEORIES.values()]
    if THEORIES[LITERAL] not in of_catalogue:
        of_catalogue = [THEORIES[LITERAL], *of_catalogue]
    judgement = None if own or len(of_catalogue) < len(THEORIES) else out / "court" / f"{evidence}.json"
    if judgement:
        require_writable(judgement)
    published = evidence == "published"
    cells: tuple[Cell, ...] = published_cells() if published else stored_cells(store_in(out))
    questions = {cell.name: cell.question for cell in cells}
    own_guesses = freeze(own, questions).guesses  # first, because these may fail
    answers = _published_answers(cells) if published else _as_answers(freeze(of_catalogue, questions))
    guesses = {
        theory.name: {name: guess_from_json(answers[name][theory.name]) for name in questions}
        for theory in of_catalogue
    }
    frozen = Frozen(guesses={**guesses, **own_guesses})
    answer = {"evidence": evidence} | judge(cells, [*of_catalogue, *own], frozen, post_hoc={t.name for t in own})
    if judgement:
        write_sealed_json(judgement, {"answer": answer, "revision": revision()})
    return answer


def _as_answers(frozen: Frozen) -> Answers:
    """Return frozen answers by cell."""
    content = frozen.as_json()
    names = next(iter(content.values()))
    return {cell: {theory: of_cells[cell] for theory, of_cells in content.items()} for cell in names}


def _published_answers(cells: Sequence[Cell]) -> Answers:
    """Return the answers of the whole catalogue to all published cells, computed once for each version of the code."""
    code = source_digest("theory", "circuits")
    of_task: dict[str, list[Cell]] = {}
    for cell in cells:
        of_task.setdefault(cell.question.subject.name, []).append(cell)
    names = {task: [cell.name for cell in cells] for task, cells in of_task.items()}
    entries = {
        task: UserCached(path=user_cache("court") / f"{number}.json", code=code, inputs=[task, names[task]])
        for number, task in enumerate(of_task)
    }
    shapes = {task: record(**dict.fromkeys(names[task], _ANSWERS)) for task in of_task}
    stored = {task: entry.recalled(shapes[task]) for task, entry in entries.items()}
    missing = [task for task, answers in stored.items() if answers is None]
    for task, answers in _computed(missing).items():
        entries[task].keep(answers)
        stored[task] = answers
    return {cell: answers for of_cells in stored.values() if of_cells for cell, answers in of_cells.items()}


def _computed(tasks: Sequence[str]) -> Mapping[str, Answers]:
    """Return the answers to the published cells of some tasks, computed by parallel processes."""
    answers: dict[str, Answers] = {}
    if not tasks:
        return answers
    progress = Progress("predictions of theories", len(tasks), "tasks")
    with pool(min(os.cpu_count() or 1, len(tasks))) as processes:
        with interrupts_left():
            futures = {processes.submit(answers_of_task, task): task for task in tasks}
        try:
            for future in as_completed(futures):
                answers[futures[future]] = future.result()
                progress.step(futures[future])
        except BrokenProcessPool:
            raise LengthgenError(
                "a process that asked theories was ended, perhaps out of memory: run the command again"
            ) from None
    return answers


def answers_of_task(task: str) -> Answers:
    """Return the answers of the whole catalogue to the published cells of one task."""
    questions = {cell.name: cell.question for cell in published_cells() if cell.question.subject.name == task}
    return _as_answers(freeze([*THEORIES.values()], questions))
