"""Commands on tasks: their circuits, their complexity, and predictions for encodings."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lengthgen.circuits.modes import Mode
from lengthgen.circuits.src import Interrupted
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TaskSpec, load_machine, load_two_scales
from lengthgen.commands.options import (
    NOT_PROVED,
    Base,
    Details,
    Encodings,
    Format,
    Json,
    PageLayout,
    TaskArgument,
    TestScales,
    TrainScales,
    error_bound,
    nonempty_path,
    show,
)
from lengthgen.defaults import usual_encodings
from lengthgen.empirical.runs.limits import SCALE
from lengthgen.infrastructure.files import parse_json, read_bytes, require_folder, require_writable
from lengthgen.infrastructure.messages import tell
from lengthgen.interrupts import INTERRUPTED
from lengthgen.results import tasks_answer
from lengthgen.scales import parse_scales
from lengthgen.tables.circuits import (
    all_scales_screen,
    certificate_table,
    grid_table,
    src_screen,
    src_table,
    tasks_table,
)

NOTHING_YET = (
    "no answer is known yet: ask for fewer scales, or set --time-limit, after which the known bounds are printed"
)
"""Message at an interrupt before there is anything to print."""


def src(
    task: TaskArgument,
    arity: Annotated[
        int | None,
        typer.Option(min=1, max=8, help="Argument slots of every operator.", show_default="the fewest possible"),
    ] = None,
    scales: Annotated[str, typer.Option(help="Scales, for example 1-6.")] = "1-6",
    second_scales: Annotated[
        str | None,
        typer.Option(help="Second scales of a task of two scales, such as addition-mixed; a table is printed."),
    ] = None,
    all_scales: Annotated[
        bool, typer.Option("--all-scales", help="Prove SRC for all scales; the task is a finite-state transducer.")
    ] = False,
    format: Format = "unaligned",
    base: Base = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="Allowed wirings: any (free), the reference circuit's (declared), or without unneeded slots (typed)."
        ),
    ] = Mode.FREE,
    after: Annotated[
        str | None, typer.Option(help="Task whose outputs are the prompts of this one: SRC of both together.")
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Also compute SRC at the minimal arity and above, until it is 1.")
    ] = False,
    bases: Annotated[
        str | None, typer.Option(help="Bases, for example 2-4: also the fewest operators by alphabet and arity.")
    ] = None,
    minima: Annotated[
        bool, typer.Option("--minima", help="Also count the minimum circuits, and list what all of them have.")
    ] = False,
    within: Annotated[
        Fraction | None,
        typer.Option(
            parser=error_bound, metavar="EPS", help="Also compute SRC if this share of the prompts may come out wrong."
        ),
    ] = None,
    scratchpad: Annotated[
        int | None, typer.Option(min=1, help="Also compute the fewest scratchpad tokens for this number of operators.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Time limit in seconds; then the bounds known so far are printed.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            parser=nonempty_path, metavar="PATH", help="File to write with a proof of the bounds at the last scale."
        ),
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option(parser=nonempty_path, metavar="PATH", help="Folder to write with a drawing of the circuit."),
    ] = None,
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Compute the Sequential Representation Complexity (SRC) of a task, with a circuit that attains it."""
    from lengthgen import complexity, questions

    table = src_table if details else src_screen
    scale_list = parse_scales(scales)
    more = (
        any((after, curve, bases, minima, within is not None, scratchpad, certificate, draw)) or format != "unaligned"
    )
    if second_scales is not None:
        if more or all_scales:
            raise TaskError("--second-scales goes with --scales, --base, --arity, --mode and --time-limit only")
        last = scale_list[-1], parse_scales(second_scales)[-1]
        family = load_two_scales(task, base=base)
        with _narrower_if_interrupted():
            pairs = questions.grid(family, *last, arity=arity, mode=mode.value, seconds=time_limit)
        show(pairs, grid_table(pairs), as_json)
        return
    if all_scales:
        if more or mode != Mode.FREE:
            raise TaskError("--all-scales goes with --scales, --base, --arity and --time-limit only")
        machine = load_machine(task, base=base)
        with _narrower_if_interrupted():
            proof = questions.all_scales(machine, scale_list[-1], arity=arity, seconds=time_limit)
        show(proof, all_scales_screen(proof), as_json)
        return
    if certificate:
        require_writable(certificate)
    if draw:
        require_folder(draw)
    question = complexity.Question(
        spec=TaskSpec(name=task, base=base, format=format),
        scales=scale_list,
        arity=arity,
        mode=mode.value,
        seconds=time_limit,
        after=None if after is None else TaskSpec(name=after),
    )
    try:
        with _narrower_if_interrupted():
            computed = complexity.compute(question)
    except Interrupted as stop:
        answer = stop.result.as_json()
        show(answer, table(answer), as_json)
        raise typer.Exit(INTERRUPTED) from None
    answer = computed.as_json()
    try:
        if curve:
            answer["curve"] = questions.curve(computed)
        if bases is not None:
            answer["front"] = questions.front(question, parse_scales(bases))
        if minima:
            answer["minima"] = questions.minima(computed)
        if within is not None:
            answer["within"] = questions.within(computed, within)
        if scratchpad is not None:
            answer["scratchpad"] = questions.scratchpad(computed, scratchpad)
        if certificate:
            complexity.write_certificate(certificate, computed)
            answer["certificate"] = str(certificate)
        if draw:
            from lengthgen.paper_figs.figures import circuit_diagram

            answer["figure"] = circuit_diagram.write(computed.circuit(), draw, scale_list)
    except KeyboardInterrupt:
        show(answer, table(answer), as_json)
        raise typer.Exit(INTERRUPTED) from None
    show(answer, table(answer), as_json)


@contextmanager
def _narrower_if_interrupted() -> Iterator[None]:
    """Context manager that says how to narrow a question at an interrupt that leaves nothing to print."""
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        tell(NOTHING_YET)
        raise


def check_certificate(
    file: Annotated[Path, typer.Argument(help="Certificate file, written by `lengthgen src --certificate`.")],
    task: Annotated[
        str | None, typer.Option(help="Your own task as path/to/file.py:name, if the certificate is about one.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the random prompts, to repeat a check.", show_default="a new one each time"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a certificate with a program that shares no code with the one that wrote it.

    A circuit is tried on all prompts of scales that have at most 20,000, and on 300 random prompts of each other scale.
    Exit code: 0 if everything is proved; 3 if the lower bound is proved and the circuit was right, but some scale was
    tried on random prompts only, so that the upper bound is not proved; 2 if nothing is proved.
    """
    from lengthgen import complexity

    content = parse_json(read_bytes(file, largest=complexity.LARGEST_CERTIFICATE), file)
    answer = complexity.check_content(content, task, file, seed)
    show(answer, certificate_table(answer), as_json)
    if not answer["proved"]:
        raise typer.Exit(NOT_PROVED)


def tasks(as_json: Json = False) -> None:
    """List the tasks that come with the project, with their token layout and default base."""
    answer = tasks_answer()
    show(answer, tasks_table(answer), as_json)


def predict(
    task: TaskArgument,
    encoding: Encodings = None,
    train: TrainScales = "1-5",
    test: TestScales = "1-20",
    format: Format = "aligned",
    base: Base = None,
    rules: Annotated[bool, typer.Option("--rules", help="Show also what each theory says.")] = False,
    draw: Annotated[
        Path | None,
        typer.Option(
            parser=nonempty_path, metavar="PATH", help="Folder to write with a picture: circuit, labels and forecast."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Forecast which share of the runs generalizes under each encoding, where the others break, and why."""
    from rich.console import Group
    from rich.text import Text

    from lengthgen.circuits.analysis import analyse
    from lengthgen.circuits.clock import Clock
    from lengthgen.circuits.encodings import HintNeeded, NoRelation, parse_encodings
    from lengthgen.circuits.forecast.ask import require_beyond
    from lengthgen.predicting import forecasts_of
    from lengthgen.progress import phases_told
    from lengthgen.tables.forecasts import forecast_table, rules_table

    training, testing = (parse_scales(scales, largest=SCALE.most) for scales in (train, test))
    require_beyond(training, testing)
    if draw:
        require_folder(draw)
    specs = parse_encodings(usual_encodings(format) if encoding is None else encoding)
    spec = TaskSpec(name=task, base=base, format=format)
    clock = Clock()
    with phases_told(f"analysis of {task}", clock):
        analysis = analyse(spec.plain(), spec.format, max(training[-1], testing[-1]), clock=clock)
        ask = partial(forecasts_of, analysis, train=training, test=testing, task=spec)
        with clock.phase("predictions"):
            try:
                answer = ask(specs)
            except (HintNeeded, NoRelation) as reason:
                if encoding is not None:
                    raise
                if isinstance(reason, HintNeeded):
                    tell(f"ipe is replaced by ipe-sh: {reason}")
                    specs = parse_encodings(usual_encodings("unaligned"))
                else:
                    tell(f"{specs[0]} is left out: {reason}")
                    specs = specs[1:]
                answer = ask(specs)
    tables = [forecast_table(answer), *([rules_table(answer)] if rules else [])]
    content = answer.as_json()
    if draw:
        from lengthgen.paper_figs.figures import forecast_panels

        content["figure"] = forecast_panels.write(analysis, answer.predictions, draw, train=training, test=testing)
    written = [Text(f"written: {path}") for path in content.get("figure", [])]
    show(content, Group(*tables, *written), as_json)


def forecast(
    details: Annotated[
        bool, typer.Option("--details", help="Show also all counts, the calibration, and where forecasts are wrong.")
    ] = False,
    layout: Annotated[
        PageLayout, typer.Option("--format", help="Print format; `markdown` is the page docs/forecast.md.")
    ] = PageLayout.TABLE,
    as_json: Json = False,
) -> None:
    """Fit the forecast from the recorded cells, and score it beside its rivals on tasks that it did not count."""
    from rich.console import Group

    from lengthgen.circuits.forecast.scores import scores
    from lengthgen.circuits.forecast.table import fitted_table
    from lengthgen.tables.forecasts import details_table, forecast_page, scores_table

    if layout is PageLayout.MARKDOWN and (as_json or details):
        raise typer.BadParameter("--format markdown has all details: leave out --json and --details")
    answer, table = scores(), fitted_table()
    if layout is PageLayout.MARKDOWN:
        print(forecast_page(answer, table), end="")
    else:
        show(answer, Group(scores_table(answer), *([details_table(answer, table)] if details else [])), as_json)
