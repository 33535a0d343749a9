"""The command line: `lengthgen COMMAND`, each with --json.

What only some commands need (matplotlib, scipy's statistics, sympy) is imported by them, so that the others start fast.
"""

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType

from circuits.modes import Mode
from circuits.prediction import analyse
from circuits.src import Interrupted
from circuits.tasks import load
from empirical.files import read_json, write_json
from empirical.profile import load_profile
from lengthgen.results import prediction_answer, tasks_answer
from lengthgen.scales import parse_scales
from lengthgen.tables import (
    accuracy_table,
    audit_table,
    certificate_table,
    conjecture_table,
    encodings_table,
    lattice_table,
    lrc_table,
    own_table,
    prediction_table,
    src_table,
    summary,
    tasks_table,
)
from proofs_checks.runner import TIME_LIMIT
from theory.errors import LengthgenError

app = typer.Typer(
    help="Check claims about position encodings and length generalization.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# typer brings its own copy of click in some versions and uses the package in others; this is the right one's.
ClickException: type[Any] = typer.BadParameter.__mro__[2]

INTERRUPTED = 130
"""Exit code, as shells have it."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
TaskArgument = Annotated[
    str, typer.Argument(help="parity, copy, addition, ... (`lengthgen tasks` lists all), or path/to/file.py:name")
]
Base = Annotated[int | None, typer.Option(min=2, help="Digits of a named task: 0 to BASE - 1.")]
Format = Annotated[str, typer.Option("--format", help="aligned or unaligned")]
Encodings = Annotated[str, typer.Option("--encoding", help="Comma-separated: ipe,rpe,ape,nope.")]
Profile = Annotated[str, typer.Option(help="smoke, quick or paper")]
Out = Annotated[Path, typer.Option(help="Folder for everything that is stored.")]
Device = Annotated[str, typer.Option(help="cpu or cuda")]
TrainScales = Annotated[str, typer.Option("--train", help="Training scales, like 1-5.")]
TestScales = Annotated[str, typer.Option("--test", help="Test scales, like 1-20.")]


@app.command()
def lrc(
    pattern: Annotated[
        str,
        typer.Argument(
            help="A(i, j) as a formula, i the key and j the query, 1 <= i <= j, n the scale; a matrix of formulas "
            "[[a, b], [c, d]]; path/to/array.npy; or path/to/file.py:name."
        ),
    ],
    scales: Annotated[str, typer.Option(help="Scales, like 4,8 or 1-20: from the first to the last.")] = "4,8",
    parameters: Annotated[str, typer.Option(help="Names left open in the formula, comma-separated.")] = "",
    explain: Annotated[bool, typer.Option("--explain", help="Judge the relation of every standard encoding.")] = False,
    draw: Annotated[Path | None, typer.Option(help="Folder for a figure of the pattern and what is learned.")] = None,
    as_json: Json = False,
) -> None:
    """Linear Representation Complexity of an attention pattern: can any position encoding make it generalize?"""
    from lengthgen.explanation import MAX_SCALE, lrc_answer
    from lengthgen.patterns import load_pattern

    wanted = parse_scales(scales, largest=MAX_SCALE)
    loaded = load_pattern(pattern, [name.strip() for name in parameters.split(",") if name.strip()])
    answer = lrc_answer(loaded, wanted, explain=explain)
    if draw:
        from paper_figs import pattern_panels

        answer["figure"] = pattern_panels.write(loaded, draw, train=wanted[0], test=wanted[-1])
    _show(answer, lrc_table(answer), as_json)


@app.command()
def src(
    task: TaskArgument,
    arity: Annotated[int | None, typer.Option(min=1, max=8, help="Slots of an operator; the fewest possible.")] = None,
    scales: Annotated[str, typer.Option(help="Scales, like 1-6.")] = "1-6",
    format: Format = "unaligned",
    base: Base = None,
    mode: Annotated[
        Mode, typer.Option(help="Any wiring; that of the reference circuit; or operators of an exact number of slots.")
    ] = Mode.FREE,
    curve: Annotated[bool, typer.Option("--curve", help="Also at the fewest slots possible and at one more.")] = False,
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds; then the bounds so far are given.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="File for a proof of the bounds at the last scale.")] = None,
    draw: Annotated[Path | None, typer.Option(help="Folder for a drawing of the circuit.")] = None,
    as_json: Json = False,
) -> None:
    """Sequential Representation Complexity of a task, with the circuit that attains it."""
    from lengthgen import complexity

    wanted = parse_scales(scales)
    question = complexity.Question(
        spec=task, base=base, format=format, scales=wanted, arity=arity, mode=mode.value, seconds=time_limit
    )
    try:
        found = complexity.compute(question)
    except Interrupted as stop:
        _show(stop.result.answer(), src_table(stop.result.answer()), as_json)
        raise typer.Exit(INTERRUPTED) from None
    answer = found.answer()
    if curve:
        answer["curve"] = complexity.curve(found)
    if certificate:
        write_json(certificate, found.certificate())
        answer["certificate"] = str(certificate)
    if draw:
        from paper_figs import circuit_diagram

        answer["figure"] = circuit_diagram.write(found.circuit(), draw, wanted)
    _show(answer, src_table(answer), as_json)


@app.command()
def check_certificate(
    file: Annotated[Path, typer.Argument(help="Written by `lengthgen src --certificate`.")],
    task: Annotated[str | None, typer.Option(help="path/to/file.py:name, if it is of a task of your own.")] = None,
    as_json: Json = False,
) -> None:
    """Check a certificate by a program that shares nothing with what wrote it. Ends with 0 only if it holds."""
    from lengthgen import complexity

    answer = complexity.checked(read_json(file), task, file)
    _show(answer, certificate_table(answer), as_json)


@app.command()
def tasks(as_json: Json = False) -> None:
    """The tasks that come with the project: their layout and their digits."""
    answer = tasks_answer()
    _show(answer, tasks_table(answer), as_json)


@app.command()
def encodings(
    names: Annotated[
        list[str] | None, typer.Argument(help="As listed, or path/to/file.py[:name]; all if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The property matrix of position encodings, computed from their formulas."""
    from lengthgen.encodings import matrix_answer, selected, whole_matrix

    answer = matrix_answer(selected(names)) if names else whole_matrix()
    _show(answer, encodings_table(answer), as_json)


@app.command()
def predict(
    task: TaskArgument,
    encoding: Encodings = "ipe,rpe,ape,nope",
    train: TrainScales = "1-5",
    test: TestScales = "1-20",
    format: Format = "aligned",
    base: Base = None,
    as_json: Json = False,
) -> None:
    """Which encodings should generalize on a task, where the others break, and why."""
    training, testing = parse_scales(train), parse_scales(test)
    analysis = analyse(load(task, base=base), format, max(training[-1], testing[-1]))
    answer = prediction_answer(analysis, encoding.split(","), training, testing)
    _show(answer, prediction_table(answer), as_json)


class Layout(StrEnum):
    """How `verify` prints its ledger."""

    TABLE = "table"
    MARKDOWN = "markdown"
    LATEX = "latex"


@app.command()
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Claim ids or families; all where left out. Or path/to/file.py with encodings of your own."
        ),
    ] = None,
    paper: Annotated[str | None, typer.Option(help="Only of this paper: its arXiv id, or a part of its name.")] = None,
    strength: Annotated[
        str | None, typer.Option(help="Show only what reaches one of these, comma-separated: general,bounded,...")
    ] = None,
    lattice: Annotated[bool, typer.Option("--lattice", help="What contains what; drawn into --out.")] = False,
    out: Out = Path("out"),
    time_limit: Annotated[float, typer.Option(help="Seconds for each claim.")] = TIME_LIMIT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run unchanged claims again as well.")] = False,
    layout: Annotated[Layout, typer.Option("--format", help="What is printed.")] = Layout.TABLE,
    as_json: Json = False,
) -> None:
    """Check claims of the field's papers. Ends with 0 only if all that were asked for hold."""
    from lengthgen import verification
    from proofs_checks import latex, markdown, own, registry, report

    if as_json and layout is not Layout.TABLE:
        raise typer.BadParameter(f"--json and --format {layout.value} exclude each other")
    files = [name for name in names or [] if own.is_file(name)]
    if files:
        _verify_own(files, names or [], as_json)
        return
    wanted = registry.strengths(strength) if strength is not None else None
    run = verification.Run(time_limit=time_limit, fresh=fresh)
    results = run.of(verification.selection(names or [], paper=paper, of_lattice=lattice))
    shown = [result for result in results if wanted is None or result.strength in wanted]
    failing = [result.claim.id for result in results if not result.holds]
    if layout is Layout.MARKDOWN:
        print(markdown.document(shown), end="")
    elif layout is Layout.LATEX:
        print(latex.longtable(shown), end="")
    elif lattice:
        answer = verification.lattice_answer(results, out)
        _show(answer, lattice_table(answer), as_json)
    else:
        _show(report.as_json(shown) | {"holds": not failing}, report.table(shown), as_json)
    if failing:
        print(f"{len(failing)} of {len(results)} claims do not hold: {', '.join(failing)}", file=sys.stderr)
        raise typer.Exit(1)


def _verify_own(files: list[str], names: list[str], as_json: bool) -> None:
    """What encodings of the user's own declare."""
    from lengthgen.encodings import own_answer, selected

    if files != names:
        raise typer.BadParameter(f"{files[0]} is a file of your own: verify claims by a command of their own")
    answer = own_answer(selected(files))
    _show(answer, own_table(answer), as_json)
    if not answer["holds"]:
        raise typer.Exit(1)


@app.command()
def audit(
    encoding: Annotated[str, typer.Argument(help="alibi, rotary, ... or path/to/file.py:object, which is run.")],
    dtype: Annotated[
        str, typer.Option(help="Of queries and keys, comma-separated.")
    ] = "float64,float32,bfloat16,float16",
    to: Annotated[int, typer.Option(help="The last position.")] = 1_000_000,
    budget: Annotated[
        float | None, typer.Option(min=0, help="Of the relative law; what rounding once gives, if left out.")
    ] = None,
    claims: Annotated[
        str | None, typer.Option(help="In place of its own: relative,distinct,streaming,decays,bidirectional.")
    ] = None,
    parameters: Annotated[str, typer.Option(help="Like base=500000,layout=halves.")] = "",
    other: Annotated[str, typer.Option(help="What a second instance has in their place, like base=500.")] = "",
    heads: Annotated[int, typer.Option(min=1)] = 4,
    head_dim: Annotated[int, typer.Option(min=1)] = 64,
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Precision of an encoding by dtype and position, and its ways of use. Ends with 0 only if nothing is found."""
    from lengthgen.auditing import audit_answer

    answer = audit_answer(
        encoding,
        dtypes=dtype.split(","),
        claims=None if claims is None else [claim for claim in claims.split(",") if claim],
        parameters=parameters,
        other=other,
        to=to,
        budget=budget,
        heads=heads,
        head_dim=head_dim,
        device=device,
    )
    _show(answer, audit_table(answer), as_json)
    if not answer["holds"]:
        raise typer.Exit(1)


@app.command()
def train(
    task: TaskArgument,
    encoding: Annotated[str, typer.Option(help="ipe, rpe, ape or nope")] = "ipe",
    train: TrainScales = "1-5",
    test: TestScales = "1-20",
    format: Format = "aligned",
    seed: Annotated[int, typer.Option(min=0)] = 0,
    profile: Profile = "quick",
    out: Out = Path("out"),
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Train one model and test it at every scale; goes on where it stopped, never trains a finished run twice."""
    from lengthgen.experiment import Experiment, train_one

    experiment = Experiment(
        profile=load_profile(profile),
        out=out,
        tasks=[task],
        formats=[format],
        encodings=[encoding],
        train=parse_scales(train),
        test=parse_scales(test),
        seeds=[seed],
    )
    answer = train_one(experiment, device)
    _show(answer, accuracy_table(answer), as_json)


@app.command()
def conjecture(
    task: TaskArgument = "parity",
    encoding: Encodings = "ipe,rpe,ape,nope",
    format: Annotated[str, typer.Option("--format", help="Comma-separated: aligned,unaligned.")] = "aligned,unaligned",
    train: TrainScales = "1-5",
    test: TestScales = "1-20",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each cell.")] = 5,
    profile: Profile = "quick",
    out: Out = Path("out"),
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Store predictions, train every cell over seeds, and judge each prediction."""
    from lengthgen.experiment import Experiment, run_conjecture

    experiment = Experiment(
        profile=load_profile(profile),
        out=out,
        tasks=[task],
        formats=format.split(","),
        encodings=encoding.split(","),
        train=parse_scales(train),
        test=parse_scales(test),
        seeds=range(seeds),
    )
    trial = run_conjecture(experiment, device)
    _show(trial, conjecture_table(trial), as_json)


@app.command()
def figures(profile: Profile = "quick", out: Out = Path("out"), as_json: Json = False) -> None:
    """Draw the figures of a profile's experiment from its stored runs."""
    from lengthgen.drawing import draw_figures
    from lengthgen.experiment import from_profile

    written = draw_figures(from_profile(load_profile(profile), out))
    _show({"figures": written}, "\n".join(written), as_json)


@app.command()
def reproduce(
    profile: Profile = "quick", out: Out = Path("out"), device: Device = "cpu", as_json: Json = False
) -> None:
    """The main job: claims, circuits, predictions, runs, verdicts and figures under one folder."""
    from lengthgen import pipeline

    answers = pipeline.reproduce(profile, out, device)
    _show(answers, summary(answers, out), as_json)
    if not answers["claims"]["holds"]:
        raise typer.Exit(1)


def main() -> None:
    """Entry point: every expected error is one line on stderr and a non-zero exit."""
    try:
        code = app(args=sys.argv[1:] or ["--help"], standalone_mode=False)
    except ClickException as error:
        _fail(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("torch", "safetensors", "pyarrow"):
            raise
        _fail(f"this needs {error.name}: install the extra with  pip install 'lengthgen[train]'")
    except (LengthgenError, OSError) as error:
        _fail(str(error))
    if code == INTERRUPTED:  # which some versions of typer return and others raise
        print("error: interrupted; run the same command again to go on", file=sys.stderr)
    sys.exit(code or 0)


def _show(answer: Mapping[str, Any], table: RenderableType, as_json: bool) -> None:
    if as_json:
        print(json.dumps(answer, indent=2))
    else:
        # Where the width is not known, as in a file, tables get what they need.
        Console(width=None if sys.stdout.isatty() else 140).print(table)


def _fail(message: str) -> None:
    line = " ".join(message.split())
    print(f"error: {line}", file=sys.stderr)
    sys.exit(2)
