"""`lengthgen reproduce`: claims, circuits, runs, figures and the report in one folder, and a screen that sums them up.

Finished parts are not computed again, and interrupted parts continue.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Group
from rich.text import Text

from lengthgen.circuits.search.sat import SolverFailed
from lengthgen.circuits.tasks import TASKS, TaskSpec, load
from lengthgen.empirical.experiment.environment import environment
from lengthgen.empirical.experiment.protocol import load_profile
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure import shapes
from lengthgen.infrastructure.cache import Cached, UserCached
from lengthgen.infrastructure.digests import file_digest, source_digest
from lengthgen.infrastructure.discovery import parts_of_studies
from lengthgen.infrastructure.files import locked, sweep_partial, user_cache, write_sealed_json
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.shapes import COUNT, FLAG, LIMIT, TEXT, Shape, list_of, one_for_each, or_none, record, row
from lengthgen.paper_figs.stored import CLAIM
from lengthgen.proofs_checks.claim import TIME_LIMIT
from lengthgen.questions.complexity import Question, compute
from lengthgen.questions.figures import draw_catalogue
from lengthgen.questions.lrc import lrc_answer
from lengthgen.questions.report import write_report
from lengthgen.questions.trial_tables import trial_screen
from lengthgen.questions.verify import claim_results, claims_failing
from lengthgen.terminal.answers import show
from lengthgen.terminal.options import Device, Json, Out, ProfileName
from lengthgen.terminal.preconditions import require_ready

if TYPE_CHECKING:
    from lengthgen.empirical.experiment.protocol import Protocol


def reproduce(
    profile: ProfileName = "quick", out: Out = Path("out"), device: Device = "cpu", as_json: Json = False
) -> None:
    """Run everything into one folder: claims, circuits, predictions, runs, verdicts, figures and the report."""
    backend = Backend(device)
    load_profile(profile)
    require_ready(out, backend)
    answers = reproduced(profile, out, backend)
    show(answers, summary(answers, out), as_json)
    broken = answers["figures"]["broken"] | answers["report"]["broken"]
    for name, why in broken.items():
        tell(f"error: {name}: {why}")
    if broken or not answers["claims"]["holds"]:
        raise typer.Exit(1)


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
_CLAIMS = record(claims=list_of(shapes.both(CLAIM, record(holds=FLAG, on_runs=FLAG))), holds=FLAG)
_LRC = one_for_each(
    WORKED_PATTERNS,
    itemgetter("name"),
    record(
        **dict.fromkeys(("name", "expression", "label"), TEXT),
        structure=or_none(TEXT),
        scale_hint=FLAG,
        generalizes=or_none(FLAG),
        lrc=record(**dict.fromkeys(("4", "8"), or_none(COUNT))),
        bounds=shapes.mapping_to(row(COUNT, COUNT)),
        constant_from=or_none(COUNT),
        **dict.fromkeys(("from_scale", "to_scale"), COUNT),
        growth=or_none(record(kind=TEXT)),
        ideal=list_of(record(label=COUNT, value=TEXT)),
        relations=list_of(record(relation=TEXT, generalizes=FLAG, why=TEXT)),
    ),
)


def reproduced(profile_name: str, out: Path, backend: Backend) -> dict[str, Any]:
    """Run all parts in order; return the answers that the summary shows.

    Waits while another `reproduce` works on the same folder. At the end `out` holds lrc.json, claims.json, src.json,
    runs/, court/published.json (not under the profile smoke), fig1/ with predictions.json and conjecture.json,
    figures/, report.html, and manifest.json, which lists every file with its SHA-256. Figures of experiments that are
    not run here are drawn from their records; those without a record are left out and counted.
    """
    from lengthgen.empirical.experiment.protocol import load_protocol
    from lengthgen.questions.experiment import Experiment
    from lengthgen.questions.rounds import UntilDecided, run_conjecture

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
            for part in parts_of_studies("REPRODUCED").values():
                answers |= part.reproduced(out)
        answers["figures"] = _drawn_figures(out, profile_name)
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
    from lengthgen.theory.pattern import from_formula

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
    from lengthgen.proofs_checks.registry import selection
    from lengthgen.proofs_checks.report import as_json
    from lengthgen.proofs_checks.trained import Runs

    claims = selection(runs=Runs(out=out, profile=profile_name))
    results = claim_results(claims, time_limit=TIME_LIMIT)
    return as_json(results) | {"holds": not claims_failing(results, of_runs=False)}


def _drawn_figures(out: Path, profile_name: str) -> dict[str, Any]:
    """Draw all figures, those of experiments that were not run here from the records of this project, if there are any.

    Returns the drawn names, the record of each figure that has one, and the reasons for the figures not drawn.
    """
    from lengthgen.paper_figs.sources import RECORDS, Sources
    from lengthgen.paper_figs.style import PAGE_WIDTH

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


def _manifest(protocol: "Protocol", out: Path, backend: Backend) -> dict[str, Any]:
    """Return the environment of the pipeline, and the hash of every file except hidden ones."""
    all_files = (path for path in out.rglob("*") if path.is_file() and path.name != "manifest.json")
    files = sorted(path for path in all_files if not any(part.startswith(".") for part in path.relative_to(out).parts))
    return {
        "protocol": protocol.name,
        "profile": protocol.profile_name,
        "environment": environment(backend.device),
        "files": {str(path.relative_to(out)): file_digest(path) for path in files},
    }


def summary(answers: Mapping[str, Any], out: Path) -> Group:
    """Return the summary screen of `reproduce`."""
    patterns = [f"{row['name']} {' -> '.join(map(str, row['lrc'].values()))}" for row in answers["lrc"]]
    tasks: dict[str, list[str]] = {}
    for of_task in answers["src"]:
        tasks.setdefault(", ".join(map(str, of_task["src"].values())), []).append(of_task["task"])
    complexities = [f"{values} ({', '.join(names)})" for values, names in tasks.items()]
    return Group(
        Text(f"LRC from scale 4 to 8:  {'; '.join(patterns)}"),
        Text(f"SRC at scales 1-6:      {'; '.join(complexities)}"),
        trial_screen(answers["conjecture"], out / "fig1"),
        *_figures(answers["figures"]),
        Text("Found", style="bold"),
        *(Text(f"  {line}") for line in found_lines(answers)),
        Text(
            f"To explore it all: {answers['report']['page']}; {len(answers['figures']['drawn'])} figures and tables in "
            f"{out / 'figures'}; {out / 'manifest.json'} names every file"
        ),
    )


def found_lines(answers: Mapping[str, Any]) -> list[str]:
    """Return what was found: of papers, patterns, tasks, and theories if they were judged; a line each."""
    claims = answers["claims"]["claims"]
    verdicts = Counter(claim["verdict"] for claim in claims)
    rejected = [falsifier["rejected"] for claim in claims for falsifier in claim["falsifiers"]]
    yes, no = ([row["name"] for row in answers["lrc"] if row["generalizes"] is answer] for answer in (True, False))
    values = [list(row["src"].values()) for row in answers["src"]]
    flat = sum(of_task[-1] == 1 for of_task in values)
    last = [*answers["src"][0]["src"]][-1]
    lines = [
        f"Papers: {sum(claim['holds'] for claim in claims)} of {len(claims)} claims hold ({verdicts['corrected']} as "
        f"corrected here), {verdicts['refuted']} refuted, {verdicts['unsettled']} unsettled; {sum(rejected)} of "
        f"{len(rejected)} falsifiers rejected",
        f"Patterns: some position encoding makes {_listed(yes)} generalize from scale 4 to 8, and none {_listed(no)}",
        f"Tasks: one operator serves every scale up to {last} for {flat} of {len(values)} tasks; the others need more",
    ]
    if "theories" in answers:
        judged = answers["theories"]
        kinds = ("supported", "refuted")
        named = {kind: [name for name, verdict in judged.items() if verdict == kind] for kind in kinds}
        words = "; ".join(f"{kind} {_listed(names)}" for kind, names in named.items() if names) or "none is decided"
        lines.append(f"Theories, by published results: {words}; {len(judged)} were judged")
    return lines


def _listed(names: Sequence[str]) -> str:
    """Return names as an enumeration."""
    return ", ".join(names) or "nothing"


def _figures(answer: Mapping[str, Any]) -> list[Text]:
    """Return a line on figures that come from records, and one on those not drawn, with the command that lists why."""
    lines = []
    if count := len(answer["recorded"]):
        show, say = ("figure shows", "its caption says") if count == 1 else ("figures show", "their captions say")
        lines.append(f"{count} {show} recorded runs, not trained here, as {say}")
    if answer["missing"]:
        lines.append(f"Not drawn: {len(answer['missing'])} (why, and how to make them: {answer['made_by']})")
    return [Text(line) for line in lines]
