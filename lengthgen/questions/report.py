"""`lengthgen report`: stored results, decided claims and computed theory on one page."""

import hashlib
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import quote_plus

import typer

from lengthgen.circuits.formats import FORMATS
from lengthgen.circuits.search.sat import SolverFailed
from lengthgen.circuits.tasks import TASKS, TaskSpec
from lengthgen.empirical.experiment.environment import revision
from lengthgen.empirical.experiment.protocol import load_profile
from lengthgen.infrastructure.cache import Cached, UserCached
from lengthgen.infrastructure.digests import file_digest, source_digest, versions
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.infrastructure.files import require_folder, user_cache, write_bytes
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.shapes import mapping_to
from lengthgen.paper_figs.report import mathematics, page
from lengthgen.paper_figs.report.plain import task_name, text
from lengthgen.paper_figs.stored import SHOWN_RUN, exploration
from lengthgen.questions.src import tasks_answer
from lengthgen.terminal.answers import show
from lengthgen.terminal.options import Json, Out, ProfileName
from lengthgen.terminal.progress import Progress, as_they_end

if TYPE_CHECKING:
    from lengthgen.paper_figs.report import relations, runs


def report(
    complete: Annotated[
        bool,
        typer.Option(
            "--complete", help="Also compute larger scales and the predictions of all encodings: minutes, once."
        ),
    ] = False,
    out: Out = Path("out"),
    profile: ProfileName = "quick",
    as_json: Json = False,
) -> None:
    """Write OUT/report.html: one page, usable offline, with your tasks, forecasts and runs first.

    The page shows stored results, decided claims, and the circuits of all tasks at small scales. The exit code is 0
    only if nothing stored is broken.
    """
    load_profile(profile)
    require_folder(out)
    began = perf_counter()
    answer = write_report(out, profile, complete=complete)
    answer["seconds"] = round(perf_counter() - began, 2)
    lines = [
        f"written: {answer['page']}, {answer['bytes'] / 1e6:.1f} MB",
        *(f"{count['count']} {count['of']}" for count in answer["counts"]),
        *(f"predicted and not judged yet: {part['what']}: {part['made_by']}" for part in answer["unjudged"]),
    ]
    if answer["missing"]:
        lines.append(f"{len(answer['missing'])} results of the project are not in {out}; --json lists them")
    show(answer, "\n".join(lines), as_json)
    for name, why in answer["broken"].items():
        tell(f"error: {name}: {why}")
    if answer["broken"]:
        raise typer.Exit(1)


PAGE = "report.html"
"""File name of the page."""
BOUNDS: dict[str, dict[str, Any]] = {"smoke": {"largest": (2,), "steps": 4_000_000_000, "train": range(1, 2)}}
"""Profile -> limits of the exploration of tasks on a complete page, for profiles that must be quick."""
FIRST_TASKS = ("parity", "addition")
"""Tasks that come first after those of the runs and trials."""
MEMORY = "report"
"""Folder in OUT with intermediate data of the page that need not be computed again."""


def write_report(out: Path, profile: str, *, complete: bool) -> dict[str, Any]:
    """Write OUT/report.html from the results in `out`; return the answer of the command.

    Nothing is trained, only claims on trained runs are run, and no file of a user is run. Circuits of the named tasks
    are computed if they are not stored yet: at small scales, or with `complete` at larger ones.

    `complete` takes minutes, once.
    """
    from lengthgen.circuits.encoding_spec import ENCODINGS
    from lengthgen.paper_figs.report import claim_rows, looks, relations, trials
    from lengthgen.paper_figs.report.trial_circuits import trial_circuits
    from lengthgen.paper_figs.report.views import study_views
    from lengthgen.paper_figs.sources import Sources
    from lengthgen.paper_figs.style import PAGE_WIDTH
    from lengthgen.proofs_checks.registry import selection
    from lengthgen.proofs_checks.trained import Runs

    out.mkdir(parents=True, exist_ok=True)
    of_runs = _runs_data(out)
    of_trials = trials.trials_data(out, profile)
    of_circuits = trial_circuits(out, of_trials.commands)
    circuits = of_circuits.content["explorations"]
    bounds = relations.Bounds(**BOUNDS.get(profile, {}))
    explorations, incomplete = _explorations(_specs(of_runs.tasks), bounds, complete=complete)
    relation_data, label_pool = relations.pool_labels(relations.merged([*circuits, *explorations]))
    options = ["--profile", profile, "--out", str(out)]
    claims_file, broken = out / "claims.json", {}
    try:
        stored = claim_rows.stored_claims(claims_file, shlex.join(["lengthgen", "reproduce", *options]))
    except (LengthgenError, OSError) as error:
        stored, broken = {}, {"claims.json": in_words(error)}
    ledger = claim_rows.claims_data(selection(runs=Runs(out=out, profile=profile)), user_cache("claims"), stored)
    views = study_views(Sources(out=out, profile=profile, width=PAGE_WIDTH))
    verdicts = Counter(claim["verdict"] for claim in ledger)
    missing = []
    if not_run := verdicts[claim_rows.NOT_RUN]:
        decide = ["lengthgen", "verify", *(["--runs", str(out)] if (out / "runs").is_dir() else [])]
        missing.append((f"verdicts of {not_run} claims, not run on this machine", shlex.join(decide)))
    if not mathematics.available():
        missing.append(("formulas: they are shown as LaTeX", "pip install latex2mathml"))
    if incomplete:
        what = (
            f"larger scales and predictions of all encodings for {incomplete} of {len(explorations)} tasks and formats"
        )
        missing.append((what, shlex.join(["lengthgen", "report", "--complete", *options])))
    missing += [*of_trials.missing, *(pair for view in views.values() for pair in view.missing)]
    of_parts: list[Any] = [of_trials, of_circuits, *views.values()]
    for part in (of_runs, *of_parts):
        broken |= part.broken
    in_trials = [cell["task"] for trial in of_trials.trials for cell in trial["cells"]]
    tasks = _tasks([*in_trials, *(exploration["task"] for exploration in circuits)], of_runs.tasks)
    summary = page.Summary(
        counts=[
            (str(len(of_trials.trials)), "judged trials", "verdicts"),
            (str(len(of_runs.content["runs"])), "runs", "runs"),
            (str(len(tasks)), "tasks", "tasks"),
            (str(len(ledger)), "claims", "claims"),
            *(
                (str(count), f"claims {verdict}", f"claims?verdict={quote_plus(verdict)}")
                for verdict, count in verdicts.most_common()
            ),
        ],
        broken=broken,
        missing=len(missing),
        missing_listed_by=shlex.join(["lengthgen", "report", *options, "--json"]),
    )
    hashes = {claims_file.name: file_digest(claims_file)} if claims_file.is_file() else {}
    for part in of_parts:
        hashes |= part.hashes
    trial_encodings = {cell["encoding"] for trial in of_trials.trials for cell in trial["cells"]}
    encoding_looks = looks.encoding_looks(
        sorted({group["encoding"] for group in of_runs.content["groups"]} | trial_encodings)
    )
    related = [*ENCODINGS, *(name for exploration in relation_data for name in exploration.get("encodings", ()))]
    content = page.page(
        summary,
        {
            "claims": ledger,
            "tasks": {"tasks": tasks, "slots": looks.slot_looks()},
            "relations": {"found": relation_data, "pool": label_pool, "encodings": looks.encoding_looks(related)},
            "runs": of_runs.content | {"looks": encoding_looks},
            "trials": {
                "trials": of_trials.trials,
                "unjudged": [[text(part) for part in pair] for pair in of_trials.unjudged],
                "looks": encoding_looks,
            },
            **{name: view.content for name, view in views.items()},
            "provenance": {
                "out": text(str(out)),
                "profile": profile,
                "revision": revision(),
                "versions": versions(),
                "files": [(text(name), digest) for name, digest in sorted(hashes.items())],
            },
        },
    )
    write_bytes(out / PAGE, content)
    return {
        "page": str(out / PAGE),
        "bytes": len(content),
        "counts": [{"count": int(count), "of": subject} for count, subject, _ in summary.counts],
        "unjudged": [{"what": name, "made_by": command} for name, command in of_trials.unjudged],
        "missing": [{"what": what, "made_by": command} for what, command in missing],
        "broken": dict(summary.broken),
    }


def _runs_data(out: Path) -> "runs.RunsData":
    """Return the data of all runs; only runs that the last report did not have are read."""
    from lengthgen.empirical.experiment.store import RunStore
    from lengthgen.paper_figs.report import runs

    entry = Cached(path=out / MEMORY / "runs.json", code=source_digest("empirical", "paper_figs"))
    stored_runs = entry.recalled(mapping_to(SHOWN_RUN)) or {}
    data = runs.runs_data(RunStore(out / "runs"), stored_runs)
    if data.read != stored_runs:
        entry.keep(data.read)
    return data


def _tasks(of_trials: Iterable[str], of_runs: Iterable[TaskSpec]) -> list[dict[str, Any]]:
    """Return the tasks of the page: those of trials, those of runs, FIRST_TASKS, and all others with a name."""
    named = {task["task"]: task for task in tasks_answer()["tasks"]}
    trained = sorted(of_runs, key=lambda task: not task.is_own)
    files = {_shown_name(task): task.name for task in trained if task.is_own}
    described = {_shown_name(task): named[task.name] | {"base": task.base} for task in trained if task.name in named}
    mine = dict.fromkeys([*of_trials, *map(_shown_name, trained)])
    order = dict.fromkeys([*mine, *(name for name in FIRST_TASKS if name in TASKS), *TASKS])
    unknown = {"layout": "", "base": None, "reference_arity": None}
    return [
        {
            **unknown,
            **described.get(name, {}),
            **({} if name in files else named.get(name, {})),
            "task": name,
            "file": text(files.get(name, "")),
            "mine": name in mine,
        }
        for name in order
    ]


def _shown_name(task: TaskSpec) -> str:
    """Return the name of a task as the page shows it."""
    return task_name(task.words)


def _specs(of_runs: Sequence[TaskSpec]) -> list[TaskSpec]:
    """Return the tasks to explore: all named ones and those of the runs, in each format; never a user's file."""
    others = dict.fromkeys((task.name, task.base) for task in of_runs if not task.is_own)
    pairs = dict.fromkeys([*((name, None) for name in TASKS), *others])
    return [TaskSpec(name=name, base=base, format=form) for name, base in pairs for form in reversed(FORMATS)]


def _explorations(
    specs: Sequence[TaskSpec], bounds: "relations.Bounds", *, complete: bool
) -> tuple[list[dict[str, Any]], int]:
    """Return the exploration of every task within the bounds, and how many have no predictions of all encodings.

    Without `complete` only those that were computed before are within the bounds; the others are within
    `relations.QUICK`. All that is absent is computed in parallel once; an interrupt keeps what is finished.
    """
    from lengthgen.paper_figs.figures import instance
    from lengthgen.paper_figs.report import relations

    own = [file_digest(Path(str(module.__file__))) for module in (instance, relations)]
    code = hashlib.sha256("".join([source_digest("theory", "circuits"), *own]).encode()).hexdigest()
    chosen = [_Exploration(spec, bounds, code) for spec in specs]
    answers: dict[_Exploration, Any] = {each: each.entry.recalled(exploration) for each in chosen}
    if not complete:
        chosen = [each if answers[each] else each._replace(bounds=relations.QUICK) for each in chosen]
        answers |= {each: each.entry.recalled(exploration) for each in chosen if each not in answers}
    if absent := [each for each in chosen if answers[each] is None]:
        progress = Progress("circuits and predictions", len(absent), "tasks")
        jobs = {each: each.computed for each in absent}
        for each, answer in as_they_end(jobs, os.cpu_count() or 1, work="explored tasks"):
            answers[each] = answer
            progress.step(f"{each.task.words}, {each.task.format}")
    return [answers[each] for each in chosen], sum(each.bounds is relations.QUICK for each in chosen)


class _Exploration(NamedTuple):
    """Exploration of one task in one format for the page, and its place in the cache."""

    task: TaskSpec
    bounds: "relations.Bounds"
    code: str

    @property
    def entry(self) -> UserCached:
        """Place of the answer in the cache."""
        name = f"{self.task.identifier()}-{self.task.format}-{self.bounds.largest[0]}"  # profiles share the folder
        return UserCached(
            path=user_cache("explorations") / f"{name}.json",
            code=self.code,
            inputs=[self.bounds.largest, self.bounds.steps, [*self.bounds.train]],
        )

    def computed(self) -> dict[str, Any]:
        """Return the answer, computed and cached if necessary."""
        from lengthgen.paper_figs.report import relations

        try:
            explore = partial(relations.explore, self.task, self.bounds)
            answer: dict[str, Any] = self.entry.computed(explore, exploration)
        except SolverFailed as reason:  # not cached: the next report tries it again
            return {"task": _shown_name(self.task), "format": self.task.format, "why": text(str(reason))}
        return answer
