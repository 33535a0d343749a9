"""`lengthgen published`, `court` and `strata`: results on length generalization, and theories judged by them."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Group
from rich.text import Text

from lengthgen.infrastructure.cache import UserCached
from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.errors import in_any_case, nearest
from lengthgen.infrastructure.files import require_writable, user_cache
from lengthgen.infrastructure.shapes import record
from lengthgen.questions.runs import store_in
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import Screen, columns, cut_to_screen, filled, more, share_text, texts, titled, yes_no
from lengthgen.terminal.options import Details, Json, Names, Out
from lengthgen.terminal.progress import Progress, as_they_end


def _theories() -> Iterable[str]:
    from lengthgen.empirical.studies.theories.theories import THEORIES

    return THEORIES


THEORY_NAMES = Names(_theories)
if TYPE_CHECKING:
    from lengthgen.empirical.studies.court.cells import Cell
    from lengthgen.empirical.studies.court.trial import Frozen


def published(
    evidence: Annotated[
        str | None,
        typer.Option(
            help="List only this data set: huang2025, decompiling2026, kazemnejad2023_lengths or kazemnejad2023_math."
        ),
    ] = None,
    task: Annotated[str | None, typer.Option(help="List only results on this task.")] = None,
    encoding: Annotated[str | None, typer.Option(help="List only results of this encoding.")] = None,
    as_json: Json = False,
) -> None:
    """List published results on length generalization: accuracy at trained and at longer lengths, with sources."""
    answer = published_answer(evidence=evidence, task=task, encoding=encoding)
    show(answer, published_table(answer), as_json)


def published_answer(*, evidence: str | None, task: str | None, encoding: str | None) -> dict[str, Any]:
    """Return the published cells that match the filters, the runs that are no evidence, and the sources of both.

    Runs that are no evidence are filtered by table and task.
    """
    from lengthgen.empirical.studies.court.published.load import published_cells, sources, unusable_runs

    cells = published_cells()
    evidence = _as_listed("evidence", evidence, sources())
    task = _as_listed("task", task, [cell.question.subject.name for cell in cells])
    encoding = _as_listed("encoding", encoding, [cell.question.encoding for cell in cells])
    rows = [
        _published_row(cell)
        for cell in cells
        if evidence in (None, cell.evidence)
        and task in (None, cell.question.subject.name)
        and encoding in (None, cell.question.encoding)
    ]
    unused = [asdict(run) for run in unusable_runs() if evidence in (None, run.evidence) and task in (None, run.task)]
    listed = {row["evidence"] for row in [*rows, *unused]}
    described = {
        name: {key: value for key, value in asdict(source).items() if not isinstance(value, dict)}
        for name, source in sources().items()
        if name in listed
    }
    return {"sources": described, "cells": rows, "unusable": unused}


def _as_listed(kind: str, name: str | None, names: Iterable[str]) -> str | None:
    """Return a filter's value as it is listed. Raise PublishedError if no published result has it."""
    from lengthgen.empirical.studies.court.published.load import PublishedError

    names = dict.fromkeys(names)
    name = None if name is None else in_any_case(name, names)
    if name is not None and name not in names:
        hint = nearest(name, names, listed="`lengthgen published` lists all")
        raise PublishedError(f"no published result has the {kind} '{name}': {hint}")
    return name


def _published_row(cell: "Cell") -> dict[str, Any]:
    """Return a cell as plain data; lengths are texts, as in JSON."""
    question = cell.question
    return {
        "evidence": cell.evidence,
        "task": question.subject.name,
        "encoding": question.encoding,
        "train": question.train,
        "test": question.test,
        "runs": [
            {"name": run, "accuracy": {str(length): share for length, share in sorted(accuracy.items())}}
            for run, accuracy in cell.runs.items()
        ],
        "remark": cell.remark,
        "expressible": question.subject.task is not None,
        "why_not": question.subject.why_not,
    }


def published_table(answer: Mapping[str, Any]) -> Group:
    """Return a row for each cell: the accuracy of every run at the largest trained and at the largest tested length.

    Tasks that are not expressible as a task of ours are below with the reason.
    """
    table = columns("evidence", "task", "encoding", "train", "test", "runs", "trained", "tested", "expressible")
    for cell in answer["cells"]:
        shares = (_shares(cell, cell[part]) for part in ("train", "test"))
        setting = cell["encoding"], *texts(cell, "train", "test"), str(len(cell["runs"]))
        table.add_row(cell["evidence"], Text(cell["task"]), *setting, *shares, yes_no(cell["expressible"]))
    missing = {cell["task"]: cell["why_not"] for cell in answer["cells"] if not cell["expressible"]}
    return titled(
        f"{len(answer['cells'])} published cells",
        table,
        "trained, tested: accuracy of each run at the largest length that was measured up to train, and up to test",
        *(f"{name}: {source['title']}, arXiv {source['arxiv']}" for name, source in answer["sources"].items()),
        *_not_expressible(missing),
        f"{sum(bool(cell['remark']) for cell in answer['cells'])} cells have a remark on a trap; --json shows it",
        f"{len(answer['unusable'])} measured runs are not used; --json lists them with the reason",
    )


def _not_expressible(reasons: Mapping[str, str]) -> list[str]:
    """Return a line for each reason, with the tasks that are not expressible for it."""
    tasks: dict[str, list[str]] = {}
    for task, why in reasons.items():
        tasks.setdefault(why, []).append(task)
    return [f"not expressible: {', '.join(names)}: {why}" for why, names in tasks.items()]


def _shares(cell: Mapping[str, Any], longest: int) -> str:
    """Return the accuracy of every run of a cell at its largest length up to `longest`; a dash if it has none."""
    shares = []
    for run in cell["runs"]:
        lengths = [int(length) for length in run["accuracy"] if int(length) <= longest]
        shares.append(f"{run['accuracy'][str(max(lengths))]:.2f}" if lengths else "-")
    return " ".join(shares)


def court(
    evidence: Annotated[
        Literal["published", "runs"],
        typer.Option(help="Results to judge by: published ones, or the stored runs in OUT."),
    ] = "published",
    theory: Annotated[
        list[str] | None,
        typer.Option(
            help="Judge this theory: a name such as src-coverage, or your own as path/to/file.py:function, which is "
            "run. May be given several times.",
            show_default="all of the catalogue",
            autocompletion=THEORY_NAMES.complete,
        ),
    ] = None,
    out: Out = Path("out"),
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Score theories of length generalization: which of them predicts which result?

    All predictions are made and hashed before any outcome is read. A theory of your own joins after the results were
    known, and is marked so. The scores of the whole catalogue are stored in OUT/court, for the figures and the report.
    --details also prints the controls, and the cells on which theories disagree, with their reasons.
    """
    answer = court_answer(evidence, theory or [], out)
    show(answer, court_table(answer) if details else court_screen(answer), as_json)


Answers = dict[str, dict[str, dict[str, Any]]]
"""Cell name -> theory name -> answer as JSON."""


def court_answer(evidence: str, theories: Sequence[str], out: Path) -> dict[str, Any]:
    """Judge theories of the catalogue and of the user's own; store the judgement in OUT/court/EVIDENCE.json.

    The judgement is stored only if all theories of the catalogue were judged and no other.
    """
    from lengthgen.empirical.studies.court.cells import stored_cells
    from lengthgen.empirical.studies.court.published.load import published_cells
    from lengthgen.empirical.studies.court.stored import write_scores
    from lengthgen.empirical.studies.court.trial import LITERAL, Frozen, freeze, judge
    from lengthgen.empirical.studies.theories.rival import Guess
    from lengthgen.empirical.studies.theories.theories import THEORIES, theory_named

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
        theory.name: {name: Guess(**answers[name][theory.name]) for name in questions} for theory in of_catalogue
    }
    frozen = Frozen(guesses={**guesses, **own_guesses})
    answer = {"evidence": evidence} | judge(cells, [*of_catalogue, *own], frozen, post_hoc={t.name for t in own})
    if judgement:
        write_scores(judgement, answer)
    return answer


def _as_answers(frozen: "Frozen") -> Answers:
    """Return frozen answers by cell."""
    content = frozen.as_json()
    names = next(iter(content.values()))
    return {cell: {theory: of_cells[cell] for theory, of_cells in content.items()} for cell in names}


def _published_answers(cells: "Sequence[Cell]") -> Answers:
    """Return the answers of the whole catalogue to all published cells, computed once for each version of the code."""
    from lengthgen.empirical.studies.court.trial import GUESS
    from lengthgen.empirical.studies.theories.theories import THEORIES

    code, of_theories = source_digest("theory", "circuits"), record(**dict.fromkeys(THEORIES, GUESS))
    names: dict[str, list[str]] = {}
    for cell in cells:
        names.setdefault(cell.question.subject.name, []).append(cell.name)
    entries = {
        task: UserCached(path=user_cache("court") / f"{number}.json", code=code, inputs=[task, names[task]])
        for number, task in enumerate(names)
    }
    stored = {
        task: entry.recalled(record(**dict.fromkeys(names[task], of_theories))) for task, entry in entries.items()
    }
    if missing := {task: partial(answers_of_task, task) for task, answers in stored.items() if answers is None}:
        progress = Progress("predictions of theories", len(missing), "tasks")
        ended = as_they_end(missing, os.cpu_count() or 1, work="asked theories", then="run the command again")
        for task, answers in ended:
            entries[task].keep(answers)
            stored[task] = answers
            progress.step(task)
    return {cell: answers for of_cells in stored.values() if of_cells for cell, answers in of_cells.items()}


def answers_of_task(task: str) -> Answers:
    """Return the answers of the whole catalogue to the published cells of one task."""
    from lengthgen.empirical.studies.court.published.load import published_cells
    from lengthgen.empirical.studies.court.trial import freeze
    from lengthgen.empirical.studies.theories.theories import THEORIES

    questions = {cell.name: cell.question for cell in published_cells() if cell.question.subject.name == task}
    return _as_answers(freeze([*THEORIES.values()], questions))


KINDS = {"theories": "", "references": "base rate", "controls": "control"}
"""Part of the answer -> mark of its rows."""


def court_screen(answer: Mapping[str, Any]) -> Screen:
    """Return the verdicts in a sentence, and the scores of each baseline, theory and base rate."""
    named: dict[str, list[str]] = {"supported": [], "refuted": []}
    for name, row in answer["theories"].items():
        named.setdefault(row["verdict"], []).append(name)
    verdicts = "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in named.items() if names)
    baselines = {name: row for name, row in answer["references"].items() if name in row.get("against", {})}
    own = {name: row for name, row in answer["theories"].items() if row["post_hoc"]}
    rows = list((baselines | own | answer["theories"] | answer["references"]).items())

    def form(shown: int) -> Group:
        named = ((Text(f"{name}{' (post hoc)' * bool(row.get('post_hoc'))}"), row) for name, row in rows[:shown])
        return titled(
            verdicts,
            filled(
                ("theory", "answers", "right", "wrong yes", "wrong no", "Brier", "beats", "verdict"),
                ((name, *_numbers(row)[:5], _beside_baselines(row), row["verdict"]) for name, row in named),
            ),
            *more(len(rows), shown),
            _kinds_line(answer),
            f"{len(answer['cells'])} {answer['evidence']} cells, {len(answer['did_not_fit'])} of them without fit; "
            f"solved from {answer['threshold']:.0%} on. Supported, refuted: Brier score below, above that of the base "
            "rate over the cells that it answers (95 % interval over tasks). Beats: "
            f"{BASELINES_LINE}. An abstention counts as probability 1/2",
        )

    return cut_to_screen(len(rows), form)


def court_table(answer: Mapping[str, Any]) -> Group:
    """Return a row for each theory, base rate and control, and below it the cells on which theories disagree."""
    table = columns(
        "theory",
        "",
        "answers",
        "right",
        "wrong yes",
        "wrong no",
        "Brier",
        "log",
        "to base rate",
        "beats",
        "verdict",
    )
    for part, kind in KINDS.items():
        for name, row in answer[part].items():
            mark = "post hoc" if row.get("post_hoc") else kind
            table.add_row(Text(name), mark, *_numbers(row), _beside_baselines(row), row["verdict"])
    cells = answer["cells"]
    not_measured = sum(not cell["fit_measured"] for cell in cells)
    notes = [
        f"{len(cells)} cells; {len(answer['did_not_fit'])} did not fit and are not scored; in {not_measured} no length "
        "of training was measured, and all their runs count as fitting",
        "right: answered cells that are as predicted. An abstention is scored as probability 1/2 (Brier 0.25).",
        "to base rate: difference of the Brier score to that of the base rate over answered cells, with a 95 % "
        "interval over tasks; supported if below 0, refuted if above",
        f"beats: {BASELINES_LINE}",
        _kinds_line(answer),
        "verdicts at thresholds " + ", ".join(f"{threshold:g}" for threshold in answer["thresholds"]) + ":",
        *(f"  {name}: {_at_all(row)}" for name, row in answer["theories"].items()),
        f"predictions frozen before any outcome was read: {answer['frozen']}",
        *_not_expressible(answer["not_expressible"]),
    ]
    title = f"Theories of length generalization judged by {answer['evidence']} results, solved from "
    return Group(titled(f"{title}{answer['threshold']:.0%} on", table, *notes), _disagreements(answer))


BASELINES_LINE = (
    "better +, worse -, open ? than always-no, than the rate by encoding and format, and than that rate among cells of "
    "which src says the same"
)


_SIGNS = {"supported": "+", "refuted": "-", "undecided": "?"}


def _beside_baselines(row: Mapping[str, Any]) -> str:
    """Return a sign for each baseline: is the theory better, worse, or neither?"""
    return "".join(_SIGNS[each["verdict"]] for each in row.get("against", {}).values())


def _kinds_line(answer: Mapping[str, Any]) -> str:
    """Return how many cells are of encodings in use and of ideal ones, and who is right in how many of these."""
    rows = {name: row["kinds"] for name, row in answer["theories"].items() if "kinds" in row}
    if not rows:
        return "no cell is scored"
    cells = {kind: its["cells"] for kind, its in next(iter(rows.values())).items()}
    if not cells["ideal"]:
        return f"all {cells['all']} scored cells are of encodings in use"
    right = "; ".join(f"{name} {its['in use']['right']}, {its['ideal']['right']}" for name, its in rows.items())
    return f"right of {cells['in use']} cells in use, of {cells['ideal']} ideal ones: {right}"


def _numbers(row: Mapping[str, Any]) -> list[str]:
    """Return the entries of one row between its name and its verdict."""
    if "brier" not in row:
        return ["-"] * 7
    against = row["against_base"]
    change = f"{against['value']:+.3f} [{against['low']:+.3f}, {against['high']:+.3f}]" if against else "-"
    return [
        f"{row['answered']} of {row['answered'] + row['abstained']}",
        str(row["right_yes"] + row["right_no"]),
        *texts(row, "wrong_yes", "wrong_no"),
        f"{row['brier']:.3f}",
        f"{row['log']:.3f}",
        change,
    ]


def _at_all(row: Mapping[str, Any]) -> str:
    """Return the verdicts over thresholds in words."""
    verdicts = [entry["verdict"] for entry in row.get("by_threshold", {}).values()]
    return f"{verdicts[0]} at all" if len({*verdicts}) == 1 else ", ".join(verdicts) or "-"


def _disagreements(answer: Mapping[str, Any]) -> Group:
    """Return the cells on which theories disagree, each with the answers and their reasons."""
    cells = {cell["name"]: cell for cell in answer["cells"]}
    lines = []
    for case in answer["disagreements"]:
        observed = {True: "generalizes", False: "fails", None: "tie"}[case["observed"]]
        lines.append(Text(f"{case['cell']}: {observed}", style="bold"))
        for verdict in ("yes", "no"):
            lines += [
                Text(f"  {verdict}: {name}: {cells[case['cell']]['guesses'][name]['reason']}") for name in case[verdict]
            ]
    return Group(Text(f"{len(answer['disagreements'])} cells on which theories disagree", style="bold"), *lines)


def reproduced(out: Path) -> dict[str, Any]:
    """Return the verdict on each theory by published results, whose judgement is stored in `out`."""
    judged = court_answer("published", [], out)["theories"]
    return {"theories": {name: row["verdict"] for name, row in judged.items()}}


def strata(
    first: Annotated[
        str, typer.Option(help="A theory: src-coverage, c-rasp, k-sparse, ...", autocompletion=THEORY_NAMES.complete)
    ] = "src-coverage",
    second: Annotated[str, typer.Option(help="Another theory.", autocompletion=THEORY_NAMES.complete)] = "k-sparse",
    questions: Annotated[int, typer.Option(min=1, max=100_000, help="Number of questions that are drawn.")] = 100,
    per_stratum: Annotated[
        int, typer.Option(min=1, max=10_000, help="Number of cells that are wanted in each stratum.")
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of the draw.")] = 0,
    as_json: Json = False,
) -> None:
    """Draw random circuits and languages, and sort them by the disagreement of two theories.

    A stratum says which theory says yes, which no, and where the latter expects the break. The tasks can be loaded by
    their names, so that runs on them decide between the theories.
    """
    answer = strata_answer(first, second, questions=questions, per_stratum=per_stratum, seed=seed)
    show(answer, strata_table(answer), as_json)


def strata_answer(first: str, second: str, *, questions: int, per_stratum: int, seed: int) -> dict[str, Any]:
    """Return the strata of two theories among some random questions.

    Raises:
        TheoryError: a theory is unknown, both are the same, or the user's own fails.
    """
    from lengthgen.empirical.studies.court.disagreement import questions as drawn_questions
    from lengthgen.empirical.studies.court.disagreement import stratified
    from lengthgen.empirical.studies.theories.rival import TheoryError
    from lengthgen.empirical.studies.theories.theories import theory_named

    theories = theory_named(first), theory_named(second)
    if theories[0].name == theories[1].name:
        raise TheoryError(f"a theory does not disagree with itself: name another one than '{first}'")
    drawn = islice(drawn_questions(seed), questions)
    return {"seed": seed} | stratified(*theories, drawn, per_stratum=per_stratum)


def strata_table(answer: Mapping[str, Any]) -> Group:
    """Return a row for each stratum, and below it the names of its cells."""
    table = columns("says yes", "says no", "breaks at", "questions  95 %", "full", "questions a cell", "seconds a cell")
    for stratum in answer["strata"]:
        cost = (f"{stratum[key]:g}" for key in ("questions_per_cell", "seconds_per_cell"))
        of_all = share_text(stratum["share"]), yes_no(stratum["full"])
        table.add_row(*texts(stratum, "yes", "no", "breaks_at"), *of_all, *cost)
    apart = ", ".join(f"{kind} {share['successes']}" for kind, share in answer["apart"].items())
    shown = titled(
        f"{answer['questions']} random questions, trained to {answer['train']} and tested to {answer['test']}, seed "
        f"{answer['seed']}",
        table,
        f"not in a stratum: {apart}",
        f"{answer['seconds_per_question']:g} CPU seconds a question; answers of the listed cells: {answer['frozen']}",
    )
    cells = [
        Text(f"{stratum['yes']} against {stratum['no']}: {cell['name']}")
        for stratum in answer["strata"]
        for cell in stratum["cells"]
    ]
    return Group(shown, *cells)
