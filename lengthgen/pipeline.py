"""`reproduce`: from claims to figures and the report under one folder.

What is done is not redone; what was interrupted goes on.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from circuits.sat import SolverFailed
from circuits.tasks import TASKS, TaskSpec, load
from empirical.model.backend import Backend
from empirical.runs.environment import environment
from empirical.runs.protocol import Protocol, load_protocol
from lengthgen.complexity import Question, compute
from lengthgen.experiment import Experiment, run_conjecture
from lengthgen.explanation import lrc_answer
from lengthgen.gallery import draw_catalogue
from lengthgen.progress import Progress
from lengthgen.reporting import write_report
from paper_figs.sources import Sources
from paper_figs.style import PAGE_WIDTH
from theory.pattern import from_formula
from theory.system.cache import cached, keep
from theory.system.digests import file_digest, source_digest
from theory.system.files import locked, sweep_partial, user_cache, write_sealed_json
from theory.system.messages import tell

WORKED_PATTERNS = {"prefix sum": "1", "window filter": "2 if i == j else 1 if j - i == 1 else 0", "decay": "0.5**(j-i)"}
"""The three worked cases of docs/theory.md, from scale 4 to 8."""
SRC_SCALES = range(1, 7)
PROTOCOL = "fig1"
"""The experiment that is small enough to be part of the main job; the others have commands of their own."""


def reproduce(profile_name: str, out: Path, backend: Backend) -> dict[str, Any]:
    """Everything, in order; returns what the summary shows.

    Waits while another `reproduce` works on the same folder. At the end `out` holds lrc.json, claims.json, src.json,
    runs/, fig1/ with predictions.json and conjecture.json, figures/, report.html, and manifest.json, which names every
    file and its SHA-256. Figures that cannot be drawn, as those of protocols whose runs are not there, are left out
    and named on stderr with the reason.
    """
    protocol = load_protocol(PROTOCOL, profile_name)
    experiment = Experiment(protocol=protocol, out=out)
    out.mkdir(parents=True, exist_ok=True)
    with locked(out / ".lock", on_wait=lambda who: tell(f"waiting for {who}, which reproduces into {out}")):
        sweep_partial(out)
        answers = {
            "lrc": _computed(out / "lrc.json", [source_digest("theory"), WORKED_PATTERNS], _lrc),
            "claims": _claims(out, profile_name),
            "src": _computed(out / "src.json", [source_digest("theory", "circuits"), [*SRC_SCALES]], _src),
            "conjecture": run_conjecture(experiment, backend),
        }
        answers["claims"] = _claims(out, profile_name)  # once more, for those that the new runs decide
        answers["figures"] = _figures(out, profile_name)
        report = write_report(out, profile_name)
        answers["report"] = {"page": report["page"], "broken": report["broken"]}
        write_sealed_json(out / "manifest.json", _manifest(protocol, out, backend))
    return answers


def _computed(path: Path, key: Any, compute: Callable[[], Any]) -> Any:
    """What rests on the code alone: kept in the folder, and for the user's machine."""
    return cached(path, key, lambda: cached(user_cache("answers") / path.name, key, compute))


def _lrc() -> list[dict[str, Any]]:
    return [
        {"name": name, **lrc_answer(from_formula(text), [4, 8], explain=True)} for name, text in WORKED_PATTERNS.items()
    ]


def _claims(out: Path, profile_name: str) -> dict[str, Any]:
    """The ledger, with what the runs in the folder decide.

    What is unsettled for another reason than its runs, as a claim that passed its time limit, is run again the next
    time.
    """
    path = out / "claims.json"
    code = source_digest("theory", "circuits", "empirical", "proofs_checks")
    trained = [*out.glob("runs/[!.]*/files.json"), *out.glob("*/predictions.json")]
    read = {str(one.relative_to(out)): file_digest(one) for one in sorted(trained)}
    answer: dict[str, Any] = cached(path, [code, profile_name, read], partial(_run_claims, out, profile_name))
    if any(claim["verdict"] == "unsettled" and not claim["on_runs"] for claim in answer["claims"]):
        keep(path, None, answer)  # under no key that is asked for
    return answer


def _run_claims(out: Path, profile_name: str) -> dict[str, Any]:
    """`holds` is about what is proved: what runs say is a finding, whichever way it turns out, as in the conjecture."""
    from lengthgen.verification import failing
    from proofs_checks.ledger import run
    from proofs_checks.registry import selection
    from proofs_checks.report import as_json
    from proofs_checks.trained import Runs

    claims = selection(runs=Runs(out=out, profile=profile_name))
    results = run(claims, cache=user_cache("claims"), progress=partial(Progress, "claims"))
    return as_json(results) | {"holds": not failing(results, of_runs=False)}


def _figures(out: Path, profile_name: str) -> dict[str, Any]:
    """Names of the figures and tables there are, and of the others by the reason why they are not."""
    drawn = draw_catalogue(Sources(out=out, profile=profile_name, width=PAGE_WIDTH), out / "figures")
    for reason, names in drawn.skipped.items():
        tell(f"not drawn: {', '.join(names)}: {reason}")
    return {"drawn": [*drawn.files], "missing": drawn.missing, "broken": drawn.broken}


def _src() -> list[dict[str, Any]]:
    found = []
    for name in TASKS:
        if load(name).reference:
            computed = compute(Question(spec=TaskSpec(name=name), scales=SRC_SCALES))
            if computed.result.failed:
                raise SolverFailed(f"task '{name}': {computed.result.stopped}")
            answer = computed.answer()
            del answer["seconds"]  # so that the file is the same each time
            found.append(answer)
    return found


def _manifest(protocol: Protocol, out: Path, backend: Backend) -> dict[str, Any]:
    hidden = (path for path in out.rglob("*") if path.is_file() and path.name != "manifest.json")
    files = sorted(path for path in hidden if not any(part.startswith(".") for part in path.relative_to(out).parts))
    return {
        "protocol": protocol.name,
        "profile": protocol.profile_name,
        "environment": environment(backend.device),
        "files": {str(path.relative_to(out)): file_digest(path) for path in files},
    }
