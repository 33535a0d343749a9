"""Commands on tasks: their circuits, their complexity, and what is predicted of encodings."""

from pathlib import Path
from typing import Annotated

import typer

from circuits.encodings import parse_encodings
from circuits.modes import Mode
from circuits.prediction import analyse
from circuits.src import Interrupted
from circuits.tasks import TaskSpec
from empirical.runs.limits import SCALE
from lengthgen.commands.options import (
    INTERRUPTED,
    NOT_PROVED,
    Base,
    Encodings,
    Format,
    Json,
    TaskArgument,
    TestScales,
    TrainScales,
    show,
    some_path,
    usual_encodings,
)
from lengthgen.results import prediction_answer, tasks_answer
from lengthgen.scales import parse_scales
from lengthgen.tables.circuits import certificate_table, prediction_table, src_table, tasks_table
from theory.system.files import parse_json, read_bytes, require_folder, require_writable


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
    certificate: Annotated[
        Path | None,
        typer.Option(parser=some_path, metavar="PATH", help="File for a proof of the bounds at the last scale."),
    ] = None,
    draw: Annotated[
        Path | None, typer.Option(parser=some_path, metavar="PATH", help="Folder for a drawing of the circuit.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Sequential Representation Complexity of a task, with the circuit that attains it."""
    from lengthgen import complexity

    wanted = parse_scales(scales)
    if certificate:
        require_writable(certificate)
    if draw:
        require_folder(draw)
    question = complexity.Question(
        spec=TaskSpec(name=task, base=base, format=format),
        scales=wanted,
        arity=arity,
        mode=mode.value,
        seconds=time_limit,
    )
    try:
        found = complexity.compute(question)
    except Interrupted as stop:
        show(stop.result.answer(), src_table(stop.result.answer()), as_json)
        raise typer.Exit(INTERRUPTED) from None
    answer = found.answer()
    if curve:
        answer["curve"] = complexity.curve(found)
    if certificate:
        complexity.write_certificate(certificate, found)
        answer["certificate"] = str(certificate)
    if draw:
        from paper_figs import circuit_diagram

        answer["figure"] = circuit_diagram.write(found.circuit(), draw, wanted)
    show(answer, src_table(answer), as_json)


def check_certificate(
    file: Annotated[Path, typer.Argument(help="Written by `lengthgen src --certificate`.")],
    task: Annotated[str | None, typer.Option(help="path/to/file.py:name, if it is of a task of your own.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the random prompts, to repeat a check; a new one each time if left out."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a certificate by a program that shares nothing with what wrote it.

    A circuit is tried on all prompts of scales that have at most 20,000, and on 300 random prompts of each other scale.
    Exit code: 0 if all of it is proved; 3 if the lower bound is proved and the circuit was right, but tried on random
    prompts at some scale, so that the upper bound is not proved; 2 if it proves nothing.
    """
    from lengthgen import complexity

    content = parse_json(read_bytes(file, largest=complexity.LARGEST_CERTIFICATE), file)
    answer = complexity.checked(content, task, file, seed)
    show(answer, certificate_table(answer), as_json)
    if not answer["proved"]:
        raise typer.Exit(NOT_PROVED)


def tasks(as_json: Json = False) -> None:
    """The tasks that come with the project: their layout and their digits."""
    answer = tasks_answer()
    show(answer, tasks_table(answer), as_json)


def predict(
    task: TaskArgument,
    encoding: Encodings = None,
    train: TrainScales = "1-5",
    test: TestScales = "1-20",
    format: Format = "aligned",
    base: Base = None,
    as_json: Json = False,
) -> None:
    """Which encodings should generalize on a task, where the others break, and why."""
    training, testing = (parse_scales(scales, largest=SCALE.most) for scales in (train, test))
    wanted = parse_encodings(usual_encodings(format) if encoding is None else encoding)
    spec = TaskSpec(name=task, base=base, format=format)
    analysis = analyse(spec.plain(), spec.format, max(training[-1], testing[-1]))
    answer = prediction_answer(analysis, wanted, training, testing)
    show(answer, prediction_table(answer), as_json)
