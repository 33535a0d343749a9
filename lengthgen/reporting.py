"""Report of `lengthgen report`: stored results, decided claims and computed theory on one page."""

import hashlib
import os
import shlex
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from circuits.encodings import ENCODINGS
from circuits.formats import FORMATS
from circuits.sat import SolverFailed
from circuits.tasks import TASKS, TaskSpec
from empirical.runs.environment import revision
from empirical.runs.store import RunStore
from lengthgen.progress import Progress
from lengthgen.results import tasks_answer
from paper_figs import instance
from paper_figs.report import claims, court, looks, mathematics, page, relations, runs, trials, verdict
from paper_figs.report.plain import text
from paper_figs.sources import Sources
from paper_figs.style import PAGE_WIDTH
from proofs_checks.reading import versions
from proofs_checks.registry import selection
from proofs_checks.trained import Runs
from theory.system.cache import cached, keep, recalled
from theory.system.digests import file_digest, source_digest
from theory.system.errors import LengthgenError, in_words
from theory.system.files import user_cache, write_bytes
from theory.system.processes import interrupts_left, pool

PAGE = "report.html"
"""File name of the page."""
BOUNDS = {"smoke": relations.Bounds(largest=(2,), steps=4_000_000_000, train=range(1, 2))}
"""Profile -> limits of the exploration of tasks, for profiles that must be quick."""
FIRST_STEPS = 30_000_000
"""Budget of counted steps for each task and format of a page that is not complete: about a second."""
FIRST_FORMATS = ("unaligned", "aligned")
"""Formats that such a page explores; exploring filled operands takes as long as both."""
LATER = "not explored yet: lengthgen report --complete does it, which takes minutes"
"""Reason that such a page gives for the other tasks and formats."""
MEMORY = "report"
"""Folder in OUT with intermediate data of the page that need not be computed again."""


def write_report(out: Path, profile: str, *, complete: bool) -> dict[str, Any]:
    """Write OUT/report.html from the results in `out`; return the answer of the command.

    Nothing is trained, and only claims on trained runs are run. Circuits and predictions of the tasks are computed if
    they are not stored yet: all of them, which takes minutes and is done once, or only those that take a second each.

    Args:
        out: folder of results.
        profile: profile of the runs.
        complete: True to compute all circuits and predictions.
    """
    out.mkdir(parents=True, exist_ok=True)
    bounds = BOUNDS.get(profile, relations.Bounds())
    explorations = _explorations(bounds) if complete else _first_explorations(bounds)
    relation_data, label_pool = relations.pool_labels(explorations)
    stored, broken = _stored_claims(out, profile)
    ledger = claims.claims_data(selection(runs=Runs(out=out, profile=profile)), user_cache("claims"), stored)
    of_runs = _runs_data(out)
    of_trials = trials.trials_data(out, profile)
    of_court = court.court_data(out)
    of_verdict = verdict.verdict_data(Sources(out=out, profile=profile, width=PAGE_WIDTH))
    verdicts = Counter(claim["verdict"] for claim in ledger)
    summary = page.Summary(
        counts=[
            (str(len(ledger)), "claims", "claims"),
            *(
                (str(count), f"claims {verdict}", f"claims?verdict={quote_plus(verdict)}")
                for verdict, count in verdicts.most_common()
            ),
            (str(len(TASKS)), "tasks", "tasks"),
            (str(len(of_runs.content["runs"])), "runs", "runs"),
            (str(len(of_trials.trials)), "protocols with verdicts", "verdicts"),
        ],
        broken=broken | of_runs.broken | of_trials.broken | of_court.broken | of_verdict.broken,
        missing=[
            *_missing_claims(verdicts, claims.NOT_RUN, out),
            *_missing_formulas(),
            *_missing_explorations(explorations, out, profile),
            *of_trials.missing,
            *of_court.missing,
            *of_verdict.missing,
        ],
    )
    trial_encodings = {cell["encoding"] for trial in of_trials.trials for cell in trial["cells"]}
    encoding_looks = looks.encoding_looks(
        sorted({group["encoding"] for group in of_runs.content["groups"]} | trial_encodings)
    )
    content = page.page(
        summary,
        {
            "claims": ledger,
            "tasks": {"tasks": tasks_answer()["tasks"], "slots": looks.slot_looks()},
            "relations": {
                "found": relation_data,
                "pool": label_pool,
                "encodings": looks.encoding_looks(ENCODINGS),
                "train": [bounds.train[0], bounds.train[-1]],
            },
            "runs": of_runs.content | {"looks": encoding_looks},
            "trials": {"trials": of_trials.trials, "looks": encoding_looks},
            "court": of_court.content,
            "verdict": of_verdict.content,
            "provenance": {
                "out": text(str(out)),
                "profile": profile,
                "revision": revision(),
                "versions": versions(),
                "files": _files(out, of_trials.hashes | of_court.hashes),
            },
        },
    )
    write_bytes(out / PAGE, content)
    return {
        "page": str(out / PAGE),
        "bytes": len(content),
        "counts": [{"count": int(count), "of": subject} for count, subject, _ in summary.counts],
        "missing": [{"what": what, "made_by": command} for what, command in summary.missing],
        "broken": dict(summary.broken),
    }


def _runs_data(out: Path) -> runs.RunsData:
    """Return the data of all runs; only runs that the last report did not have are read."""
    memory, code = out / MEMORY / "runs.json", source_digest("empirical", "paper_figs")
    cached_runs = recalled(memory, code)
    cached_runs = cached_runs if isinstance(cached_runs, dict) else {}
    data = runs.runs_data(RunStore(out / "runs"), cached_runs)
    if data.read != cached_runs:
        keep(memory, code, data.read)
    return data


def _stored_claims(out: Path, profile: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the claims of claims.json, or the error in it by file name."""
    command = shlex.join(["lengthgen", "reproduce", "--profile", profile, "--out", str(out)])
    try:
        return claims.stored_claims(out / "claims.json", command), {}
    except (LengthgenError, OSError) as error:
        return {}, {"claims.json": in_words(error)}


def _missing_claims(verdicts: Counter[str], not_run: str, out: Path) -> list[tuple[str, str]]:
    """Return the claims without a verdict, with the command that decides them."""
    count = verdicts[not_run]
    if not count:
        return []
    runs = ["--runs", str(out)] if (out / "runs").is_dir() else []
    return [(f"verdicts of {count} claims, not run on this machine", shlex.join(["lengthgen", "verify", *runs]))]


def _missing_formulas() -> list[tuple[str, str]]:
    """Return a note if formulas cannot be converted, with the command that helps."""
    return [] if mathematics.available() else [("formulas: they are shown as LaTeX", "pip install latex2mathml")]


def _missing_explorations(explorations: Sequence[dict[str, Any]], out: Path, profile: str) -> list[tuple[str, str]]:
    """Return the number of tasks and formats that are not explored yet, with the command that explores them."""
    count = sum(exploration.get("why") == LATER for exploration in explorations)
    command = shlex.join(["lengthgen", "report", "--complete", "--profile", profile, "--out", str(out)])
    what = f"circuits and predictions of {count} of {len(explorations)} tasks and formats"
    return [(what, command)] if count else []


def _files(out: Path, hashes: dict[str, str]) -> list[tuple[str, str]]:
    """Return the names and hashes of the files that the page was made from."""
    ledger = out / "claims.json"
    read = {ledger.name: file_digest(ledger)} if ledger.is_file() else {}
    return [(text(name), digest) for name, digest in sorted((read | hashes).items())]


def _explorations(bounds: relations.Bounds) -> list[dict[str, Any]]:
    """Return the exploration of every task in every format, computed in parallel once.

    An interrupt keeps finished ones.
    """
    explorations = _every_exploration(bounds)
    answers: dict[_Exploration, Any] = {
        exploration: recalled(exploration.path, exploration.key) for exploration in explorations
    }
    absent = [exploration for exploration, answer in answers.items() if answer is None]
    if absent:
        answers |= _explore(absent)
    return [answers[exploration] for exploration in explorations]


def _first_explorations(bounds: relations.Bounds) -> list[dict[str, Any]]:
    """Return the explorations that are stored or take few steps, and for the others the reason LATER.

    An exploration that ends at its first scale within few steps is that of a complete page, and is stored as such.
    """
    quick = relations.Bounds(largest=bounds.largest[:1], steps=FIRST_STEPS, train=bounds.train)
    explorations = _every_exploration(bounds)
    stored = {exploration: recalled(exploration.path, exploration.key) for exploration in explorations}
    attempts = {
        exploration: exploration._replace(bounds=quick)
        for exploration, answer in stored.items()
        if answer is None and exploration.task.format in FIRST_FORMATS
    }
    tried: dict[_Exploration, Any] = {attempt: recalled(attempt.path, attempt.key) for attempt in attempts.values()}
    absent = [attempt for attempt, answer in tried.items() if answer is None]
    if absent:
        tried |= _explore(absent)
    for exploration, attempt in attempts.items():
        if "encodings" in tried[attempt]:
            stored[exploration] = tried[attempt]
            keep(exploration.path, exploration.key, tried[attempt])
    return [
        answer or {"task": exploration.task.name, "format": exploration.task.format, "why": LATER}
        for exploration, answer in stored.items()
    ]


def _every_exploration(bounds: relations.Bounds) -> list["_Exploration"]:
    """Return the explorations of all tasks in all formats, in the order of the page."""
    code = _exploring_code()
    tasks = (TaskSpec(name=name, format=form) for name in TASKS for form in reversed(FORMATS))
    return [_Exploration(task, bounds, code) for task in tasks]


class _Exploration(NamedTuple):
    """Exploration of one task in one format for the page, and its place in the cache."""

    task: TaskSpec
    bounds: relations.Bounds
    code: str

    @property
    def path(self) -> Path:
        """File of the cache."""
        name = f"{self.task.identifier()}-{self.task.format}-{self.bounds.largest[0]}"  # profiles share the folder
        if self.bounds.steps == FIRST_STEPS:
            name += "-first"
        return user_cache("explorations") / f"{name}.json"

    @property
    def key(self) -> list[Any]:
        """Key under which the cached answer is valid."""
        return [self.code, self.bounds.largest, self.bounds.steps, [*self.bounds.train]]

    def computed(self) -> dict[str, Any]:
        """Return the answer, computed and cached if necessary."""
        try:
            answer: dict[str, Any] = cached(self.path, self.key, partial(relations.explore, self.task, self.bounds))
        except SolverFailed as reason:  # not cached: the next report tries it again
            return {"task": self.task.name, "format": self.task.format, "why": str(reason)}
        return answer


def _explore(absent: Sequence[_Exploration]) -> dict[_Exploration, dict[str, Any]]:
    """Compute explorations in parallel processes."""
    progress = Progress("circuits and predictions", len(absent), "tasks")
    answers = {}
    with pool(min(os.cpu_count() or 1, len(absent))) as processes:
        with interrupts_left():
            futures = {processes.submit(exploration.computed): exploration for exploration in absent}
        try:
            for future in as_completed(futures):
                exploration = futures[future]
                answers[exploration] = future.result()
                progress.step(f"{exploration.task.words}, {exploration.task.format}")
        except BrokenProcessPool:
            raise LengthgenError(
                "a process that explored tasks was ended, perhaps out of memory: run the command again to go on"
            ) from None
    return answers


def _exploring_code() -> str:
    """Return the hash of the code that an exploration depends on."""
    own = [file_digest(Path(str(module.__file__))) for module in (instance, relations)]
    return hashlib.sha256("".join([source_digest("theory", "circuits"), *own]).encode()).hexdigest()
