"""Pipeline `reproduce`: claims, circuits, runs, figures and the report in one folder.

Finished parts are not computed again, and interrupted parts continue.
"""

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Any

from lengthgen.circuits.sat import SolverFailed
from lengthgen.circuits.tasks import TASKS, TaskSpec, load
from lengthgen.complexity import Question, compute
from lengthgen.court import court_answer
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.runs.environment import environment
from lengthgen.empirical.runs.protocol import Protocol, load_protocol
from lengthgen.experiment import Experiment
from lengthgen.explanation import lrc_answer
from lengthgen.gallery import draw_catalogue
from lengthgen.infrastructure.cache import Cached, UserCached
from lengthgen.infrastructure.digests import file_digest, source_digest
from lengthgen.infrastructure.files import locked, sweep_partial, user_cache, write_sealed_json
from lengthgen.infrastructure.shapes import (
    COUNT,
    FLAG,
    LIMIT,
    TEXT,
    Shape,
    both,
    list_of,
    mapping_to,
    one_for_each,
    or_none,
    record,
    row,
)
from lengthgen.paper_figs.sources import RECORDS, Sources
from lengthgen.paper_figs.stored import CLAIM
from lengthgen.paper_figs.style import PAGE_WIDTH
from lengthgen.progress import Progress
from lengthgen.reporting import write_report
from lengthgen.theory.pattern import from_formula
from lengthgen.training import UntilDecided, run_conjecture

WORKED_PATTERNS = {"prefix sum": "1", "window filter": "2 if i == j else 1 if j - i == 1 else 0", "decay": "0.5**(j-i)"}
"""The three worked cases of docs/theory/theorems.md, from scale 4 to 8."""
SRC_SCALES = range(1, 7)
"""Scales of SRC."""
PROTOCOL = "fig1"
"""Experiment that is small enough for the pipeline; the others have commands of their own."""
QUICKEST = "smoke"
"""Profile that leaves out the judgement of theories, which takes minutes the first time, and adds no runs."""
MOST_RUNS = 30
"""Largest number of runs of a cell; not a time, so that every machine decides by the same runs."""
_CLAIMS = record(claims=list_of(both(CLAIM, record(holds=FLAG, on_runs=FLAG))), holds=FLAG)
_LRC = one_for_each(
    WORKED_PATTERNS,
    itemgetter("name"),
    record(
        **dict.fromkeys(("name", "expression", "label"), TEXT),
        structure=or_none(TEXT),
        scale_hint=FLAG,
        generalizes=or_none(FLAG),
        lrc=record(**dict.fromkeys(("4", "8"), or_none(COUNT))),
        bounds=mapping_to(row(COUNT, COUNT)),
        constant_from=or_none(COUNT),
        **dict.fromkeys(("from_scale", "to_scale"), COUNT),
        growth=or_none(record(kind=TEXT)),
        ideal=list_of(record(label=COUNT, value=TEXT)),
        relations=list_of(record(relation=TEXT, generalizes=FLAG, why=TEXT)),
    ),
)


def reproduce(profile_name: str, out: Path, backend: Backend) -> dict[str, Any]:
    """Run all parts in order; return the answers that the summary shows.

    Waits while another `reproduce` works on the same folder. At the end `out` holds lrc.json, claims.json, src.json,
    runs/, court/published.json (not under the profile smoke), fig1/ with predictions.json and conjecture.json,
    figures/, report.html, and manifest.json, which lists every file with its SHA-256. Figures of experiments that are
    not run here are drawn from their records; those without a record are left out and counted.
    """
    protocol = load_protocol(PROTOCOL, profile_name)
    experiment = Experiment(protocol=protocol, out=out)
    out.mkdir(parents=True, exist_ok=True)
    with locked(out / ".lock", f"reproduces into {out}"):
        sweep_partial(out)
        answers = {
            "lrc": _computed(out / "lrc.json", source_digest("theory"), WORKED_PATTERNS, _lrc, _LRC),
            "claims": _claims(out, profile_name),
            "src": _computed(out / "src.json", source_digest("theory", "circuits"), [*SRC_SCALES], _src, _src_shape()),
            "conjecture": run_conjecture(
                experiment,
                backend,
                until_decided=None if profile_name == QUICKEST else UntilDecided(seconds=inf, most=MOST_RUNS),
            ),
        }
        answers["claims"] = _claims(out, profile_name)  # once more, for the claims that the new runs decide
        if profile_name != QUICKEST:
            judged = court_answer("published", [], out)["theories"]
            answers["theories"] = {name: row["verdict"] for name, row in judged.items()}
        answers["figures"] = _figures(out, profile_name)
        report = write_report(out, profile_name, complete=False)
        answers["report"] = {"page": report["page"], "broken": report["broken"]}
        write_sealed_json(out / "manifest.json", _manifest(protocol, out, backend))
    return answers


def _computed(path: Path, code: str, inputs: Any, compute: Callable[[], Any], shape: Shape) -> Any:
    """Return an answer that depends on the code alone, cached in the folder and for the user."""
    for_user = UserCached(path=user_cache("answers") / path.name, code=code, inputs=inputs)
    return Cached(path=path, code=code, inputs=inputs).computed(partial(for_user.computed, compute, shape), shape)


def _lrc() -> list[dict[str, Any]]:
    """Return LRC of the worked patterns."""
    return [
        {"name": name, **lrc_answer(from_formula(text), [4, 8], explain=True)} for name, text in WORKED_PATTERNS.items()
    ]


def _claims(out: Path, profile_name: str) -> dict[str, Any]:
    """Return the ledger of claims, including the claims that the runs in the folder decide.

    Claims that are unsettled for another reason than missing runs, such as the time limit, are run again the next time.
    """
    path = out / "claims.json"
    code = source_digest("theory", "circuits", "empirical", "proofs_checks")
    trained = [*out.glob("runs/[!.]*/files.json"), *out.glob("*/predictions.json")]
    hashes = {str(path.relative_to(out)): file_digest(path) for path in sorted(trained)}
    entry = Cached(path=path, code=code, inputs=[profile_name, hashes])
    answer: dict[str, Any] = entry.computed(partial(_run_claims, out, profile_name), _CLAIMS)
    if any(claim["verdict"] == "unsettled" and not claim["on_runs"] for claim in answer["claims"]):
        replace(entry, inputs=None).keep(answer)  # under a key that never matches
    return answer


def _run_claims(out: Path, profile_name: str) -> dict[str, Any]:
    """Run all claims. `holds` covers the proofs only: verdicts on runs are findings, like those of the conjecture."""
    from lengthgen.proofs_checks.ledger import run
    from lengthgen.proofs_checks.registry import selection
    from lengthgen.proofs_checks.report import as_json
    from lengthgen.proofs_checks.trained import Runs
    from lengthgen.verification import failing

    claims = selection(runs=Runs(out=out, profile=profile_name))
    results = run(claims, cache=user_cache("claims"), progress=partial(Progress, "verify", pieces="claims"))
    return as_json(results) | {"holds": not failing(results, of_runs=False)}


def _figures(out: Path, profile_name: str) -> dict[str, Any]:
    """Draw all figures, those of experiments that were not run here from the records of this project, if there are any.

    Returns the drawn names, the record of each figure that has one, and the reasons for the figures not drawn.
    """
    sources = Sources(out=out, profile=profile_name, width=PAGE_WIDTH, records=RECORDS)
    drawn = draw_catalogue(sources, out / "figures")
    return {
        "drawn": [*drawn.files],
        "recorded": drawn.recorded,
        "missing": drawn.missing,
        "made_by": shlex.join(["lengthgen", "figures", "--profile", profile_name, "--out", str(out)]),
        "broken": drawn.broken,
    }


def _src() -> list[dict[str, Any]]:
    """Return SRC of every task that has a reference circuit."""
    answers = []
    for name in _with_reference():
        computed = compute(Question(spec=TaskSpec(name=name), scales=SRC_SCALES))
        if computed.result.failed:
            raise SolverFailed(f"task '{name}': {computed.result.stopped}")
        answer = computed.as_json()
        del answer["seconds"]  # so that the file is the same each time
        answers.append(answer)
    return answers


def _with_reference() -> list[str]:
    """Return the names of the tasks that have a reference circuit."""
    return [name for name in TASKS if load(name).reference]


def _src_shape() -> Shape:
    """Return the shape of the answer of `_src`."""
    scales = [str(scale) for scale in SRC_SCALES]
    of_task = record(
        **dict.fromkeys(("task", "mode", "status", "statement", "label"), TEXT),
        **dict.fromkeys(("arity", "inputs", "kernel"), COUNT),
        **dict.fromkeys(("minimal_arity", "coverage_scale"), or_none(COUNT)),
        src=record(**dict.fromkeys(scales, or_none(LIMIT))),
        bounds=record(**dict.fromkeys(scales, row(LIMIT, LIMIT))),
        proved=FLAG,
        wiring=list_of(list_of(TEXT)),
        roles=or_none(record(changing_pairs=COUNT, labels=COUNT, scale_hint=FLAG)),
        unread=or_none(record(positions=list_of(COUNT), scale=COUNT)),
        stopped=or_none(TEXT),
    )
    return one_for_each(_with_reference(), itemgetter("task"), of_task)


def _manifest(protocol: Protocol, out: Path, backend: Backend) -> dict[str, Any]:
    """Return the environment of the pipeline, and the hash of every file except hidden ones."""
    all_files = (path for path in out.rglob("*") if path.is_file() and path.name != "manifest.json")
    files = sorted(path for path in all_files if not any(part.startswith(".") for part in path.relative_to(out).parts))
    return {
        "protocol": protocol.name,
        "profile": protocol.profile_name,
        "environment": environment(backend.device),
        "files": {str(path.relative_to(out)): file_digest(path) for path in files},
    }
