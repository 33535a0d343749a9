"""`lengthgen report`: what is stored, settled and computed, gathered into one page."""

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

from circuits.encodings import ENCODINGS
from circuits.formats import FORMATS
from circuits.sat import SolverFailed
from circuits.tasks import TASKS, TaskSpec
from empirical.runs.environment import revision
from empirical.runs.store import RunStore
from lengthgen.progress import Progress
from lengthgen.results import tasks_answer
from paper_figs import instance
from paper_figs.report import claims, looks, mathematics, page, relations, runs, trials
from paper_figs.report.plain import text
from proofs_checks.reading import versions
from proofs_checks.registry import selection
from proofs_checks.trained import Runs
from theory.system.cache import cached, keep, recalled
from theory.system.digests import file_digest, source_digest
from theory.system.errors import LengthgenError
from theory.system.files import user_cache, write_bytes
from theory.system.processes import interrupts_left, pool

PAGE = "report.html"
BOUNDS = {"smoke": relations.Bounds(largest=(6,), steps=4_000_000_000)}
"""Profile -> how far tasks are explored, where that is to be quick."""
MEMORY = "report"
"""Folder, in the one of all that is stored, of what the page was made from and need not be made again."""


def write_report(out: Path, profile: str) -> dict[str, Any]:
    """Writes OUT/report.html from what `out` holds; returns what the command says of it.

    Nothing is trained, and no claim is run but those on trained runs. The circuits and predictions of the tasks are
    computed where they are not stored yet, which takes minutes, and is not done again.
    """
    out.mkdir(parents=True, exist_ok=True)
    found, label_pool = relations.pool_labels(_explored(BOUNDS.get(profile, relations.Bounds())))
    stored, broken = _stored_claims(out, profile)
    ledger = claims.claims_data(selection(runs=Runs(out=out, profile=profile)), user_cache("claims"), stored)
    of_runs = _runs(out)
    of_trials = trials.trials_data(out, profile)
    verdicts = Counter(claim["verdict"] for claim in ledger)
    summary = page.Summary(
        counts=[
            (str(len(ledger)), "claims"),
            *((str(count), f"claims {verdict}") for verdict, count in verdicts.most_common()),
            (str(len(TASKS)), "tasks"),
            (str(len(of_runs.content["runs"])), "runs"),
            (str(len(of_trials.trials)), "protocols with verdicts"),
        ],
        broken=broken | of_runs.broken | of_trials.broken,
        missing=[*_missing_claims(verdicts, claims.NOT_RUN, out), *_missing_formulas(), *of_trials.missing],
    )
    known = {cell["encoding"] for trial in of_trials.trials for cell in trial["cells"]}
    drawn = looks.encoding_looks(sorted({group["encoding"] for group in of_runs.content["groups"]} | known))
    content = page.page(
        summary,
        {
            "claims": ledger,
            "tasks": {"tasks": tasks_answer()["tasks"], "slots": looks.slot_looks()},
            "relations": {
                "found": found,
                "pool": label_pool,
                "encodings": looks.encoding_looks(ENCODINGS),
                "train": [relations.TRAIN[0], relations.TRAIN[-1]],
            },
            "runs": of_runs.content | {"looks": drawn},
            "trials": {"trials": of_trials.trials, "looks": drawn},
            "provenance": {
                "out": text(str(out)),
                "profile": profile,
                "revision": revision(),
                "versions": versions(),
                "files": _files(out, of_trials.hashes),
            },
        },
    )
    write_bytes(out / PAGE, content)
    return {
        "page": str(out / PAGE),
        "bytes": len(content),
        "counts": [{"count": int(count), "of": of} for count, of in summary.counts],
        "missing": [{"what": what, "made_by": made} for what, made in summary.missing],
        "broken": dict(summary.broken),
    }


def _runs(out: Path) -> runs.RunsData:
    """Of the runs, those are read that the last report did not have."""
    memory, code = out / MEMORY / "runs.json", source_digest("empirical", "paper_figs")
    known = recalled(memory, code)
    known = known if isinstance(known, dict) else {}
    found = runs.runs_data(RunStore(out / "runs"), known)
    if found.read != known:
        keep(memory, code, found.read)
    return found


def _stored_claims(out: Path, profile: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The claims of claims.json, or what is wrong with it."""
    again = shlex.join(["lengthgen", "reproduce", "--profile", profile, "--out", str(out)])
    try:
        return claims.stored_claims(out / "claims.json", again), {}
    except (LengthgenError, OSError) as error:
        return {}, {"claims.json": str(error)}


def _missing_claims(verdicts: Counter[str], not_run: str, out: Path) -> list[tuple[str, str]]:
    count = verdicts[not_run]
    if not count:
        return []
    runs = ["--runs", str(out)] if (out / "runs").is_dir() else []
    return [(f"verdicts of {count} claims, not run on this machine", shlex.join(["lengthgen", "verify", *runs]))]


def _missing_formulas() -> list[tuple[str, str]]:
    return [] if mathematics.available() else [("formulas: they stand as LaTeX", "pip install latex2mathml")]


def _files(out: Path, hashes: dict[str, str]) -> list[tuple[str, str]]:
    ledger = out / "claims.json"
    read = {ledger.name: file_digest(ledger)} if ledger.is_file() else {}
    return [(text(name), digest) for name, digest in sorted((read | hashes).items())]


def _explored(bounds: relations.Bounds) -> list[dict[str, Any]]:
    """Every task in every format, each computed once, beside each other; what is done is kept at an interrupt."""
    code = _exploring_code()
    tasks = (TaskSpec(name=name, format=form) for name in TASKS for form in reversed(FORMATS))
    wanted = [_Exploration(task, bounds, code) for task in tasks]
    found = {one: recalled(one.path, one.key) for one in wanted}
    absent = [one for one, answer in found.items() if answer is None]
    if absent:
        found |= _explore(absent)
    return [found[one] for one in wanted]


class _Exploration(NamedTuple):
    """What the page says of one task in one format, and where it is kept."""

    task: TaskSpec
    bounds: relations.Bounds
    code: str

    @property
    def path(self) -> Path:
        return user_cache("explorations") / f"{self.task.identifier()}-{self.task.format}.json"

    @property
    def key(self) -> list[Any]:
        return [self.code, self.bounds.largest, self.bounds.steps]

    def computed(self) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = cached(self.path, self.key, partial(relations.explore, self.task, self.bounds))
        except SolverFailed as reason:  # which is not kept: the next report tries it again
            return {"task": self.task.name, "format": self.task.format, "why": str(reason)}
        return answer


def _explore(absent: Sequence[_Exploration]) -> dict[_Exploration, dict[str, Any]]:
    progress = Progress("circuits and predictions", len(absent))
    found = {}
    with pool(min(os.cpu_count() or 1, len(absent))) as processes:
        with interrupts_left():
            futures = {processes.submit(one.computed): one for one in absent}
        try:
            for future in as_completed(futures):
                one = futures[future]
                found[one] = future.result()
                progress.step(f"{one.task.words}, {one.task.format}")
        except BrokenProcessPool:
            raise LengthgenError(
                "a process that explored tasks was ended, out of memory perhaps: run the command again to go on"
            ) from None
    return found


def _exploring_code() -> str:
    """Hash of the code that an exploration depends on."""
    own = [file_digest(Path(str(module.__file__))) for module in (instance, relations)]
    return hashlib.sha256("".join([source_digest("theory", "circuits"), *own]).encode()).hexdigest()
