"""`lengthgen train`, `sweep`, `protocols` and `conjecture`: their options, and what is shown; `rounds` trains."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Group

from lengthgen.empirical.experiment.protocol import SCALE, SEED, SEEDS
from lengthgen.empirical.model.backend import Backend
from lengthgen.questions.runs import OUTCOMES, runs_answer, runs_table
from lengthgen.questions.trial_tables import conjecture_table, sensitivity_table, trial_screen
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import filled, texts, titled
from lengthgen.terminal.options import (
    ENCODING_NAMES,
    FORMAT_NAMES,
    PROTOCOL_NAMES,
    TRIAL_NAMES,
    Base,
    Compile,
    Details,
    Device,
    Encodings,
    Format,
    Json,
    Out,
    ProfileName,
    TaskArgument,
    TestScales,
    TrainScales,
)
from lengthgen.terminal.preconditions import require_ready
from lengthgen.terminal.typed import BudgetError, parse_budget, parse_scales

EngineOption = Annotated[
    Literal["local", "ray"],
    typer.Option(
        "--engine", help="Where to train: processes of this machine (local), or an existing Ray cluster (ray)."
    ),
]
LogOption = Annotated[
    Literal["tensorboard"] | None,
    typer.Option("--log", help="Also write training curves for TensorBoard, into OUT/tensorboard."),
]


def train(
    task: TaskArgument,
    encoding: Annotated[
        str | None,
        typer.Option(
            help="One encoding: ipe, rpe, clipped[limit=8], path/to/file.py:name, ...",
            show_default="ipe; ipe-sh in the formats unaligned and filled",
            autocompletion=ENCODING_NAMES.complete,
        ),
    ] = None,
    train: TrainScales = "1-5",
    test: TestScales = "1-20",
    format: Format = "aligned",
    base: Base = None,
    seed: Annotated[int, typer.Option(min=SEED.least, max=SEED.most, help="Random seed of the run.")] = 0,
    profile: ProfileName = "quick",
    out: Out = Path("out"),
    device: Device = "cpu",
    compile: Compile = False,
    log: LogOption = None,
    as_json: Json = False,
) -> None:
    """Train one model and test it at every scale. An interrupted run continues; a finished run is not trained again."""
    from lengthgen.questions import rounds

    answer = rounds.train(
        task,
        encoding,
        train=parse_scales(train, largest=SCALE.most),
        test=parse_scales(test, largest=SCALE.most),
        format=format,
        base=base,
        seed=seed,
        profile=profile,
        out=out,
        device=device,
        compile=compile,
        log=log is not None,
    )
    show(answer, accuracy_table(answer), as_json)


def sweep(
    protocol: Annotated[
        str,
        typer.Argument(
            help="Protocol: fig1, fig2, ... (`lengthgen protocols` lists all), or path/to/file.toml.",
            autocompletion=PROTOCOL_NAMES.complete,
        ),
    ],
    profile: ProfileName = "quick",
    out: Out = Path("out"),
    device: Device = "cpu",
    compile: Compile = False,
    engine: EngineOption = "local",
    log: LogOption = None,
    as_json: Json = False,
) -> None:
    """Store the predictions of a protocol, then train every unfinished run.

    The exit code is 0 only if no run is broken.
    """
    from lengthgen.empirical.experiment.protocol import load_protocol
    from lengthgen.questions.experiment import Experiment
    from lengthgen.questions.rounds import sweep_all, write_curves

    backend = Backend(device, compile)
    experiment = Experiment(protocol=load_protocol(protocol, profile), out=out)
    require_ready(out, backend, engine=engine, log=log is not None)
    runs = sweep_all(experiment, backend, engine)
    if log:
        write_curves(runs, experiment.store, out / "tensorboard")
    answer = runs_answer(out, names={run.id for run in runs})
    show(answer, runs_table(answer), as_json, fails=answer["broken"])


def protocols(profile: ProfileName = "quick", as_json: Json = False) -> None:
    """List the protocols that come with the project: their cells, scales and runs under a profile."""
    from lengthgen.questions.experiment import protocols_answer

    answer = protocols_answer(profile)
    show(answer, protocols_table(answer), as_json)


def conjecture(
    name: Annotated[
        str,
        typer.Argument(
            help="A protocol (`lengthgen protocols` lists all, or path/to/file.toml), or a task.",
            autocompletion=TRIAL_NAMES.complete,
        ),
    ] = "fig1",
    encoding: Encodings = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="For a task: formats, comma-separated (aligned,unaligned,filled).",
            show_default="aligned",
            autocompletion=FORMAT_NAMES.complete,
        ),
    ] = None,
    base: Base = None,
    train: Annotated[
        str | None, typer.Option("--train", help="For a task: training scales.", show_default="1-5")
    ] = None,
    test: Annotated[str | None, typer.Option("--test", help="For a task: test scales.", show_default="1-20")] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=SEEDS.least,
            max=SEEDS.most,
            help="For a task: runs of each cell.",
            show_default="as the profile says: 5 in quick",
        ),
    ] = None,
    profile: ProfileName = "quick",
    out: Out = Path("out"),
    until_decided: Annotated[
        bool, typer.Option("--until-decided", help="Add runs to undecided cells, in rounds, within the budget.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(help="With --until-decided: time in all, such as 90s, 30m or 2h.", show_default="1h")
    ] = None,
    max_seeds: Annotated[
        int | None,
        typer.Option(
            min=SEEDS.least, max=SEEDS.most, help="With --until-decided: most runs of a cell.", show_default="30"
        ),
    ] = None,
    device: Device = "cpu",
    compile: Compile = False,
    engine: EngineOption = "local",
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Store predictions, train every cell over several seeds, and judge each prediction.

    Printed are a line for each cell, what was found, and the command that draws it; --details prints all tables.
    """
    from lengthgen.questions.experiment import TaskOptions, chosen
    from lengthgen.questions.rounds import MOST, UntilDecided, run_conjecture

    if not until_decided and (budget is not None or max_seeds is not None):
        raise BudgetError("--budget and --max-seeds limit the rounds of --until-decided: add that option")
    until = UntilDecided(seconds=parse_budget(budget or "1h"), most=max_seeds or MOST) if until_decided else None
    backend = Backend(device, compile)
    training, testing = (None if text is None else parse_scales(text, largest=SCALE.most) for text in (train, test))
    options = TaskOptions(encodings=encoding, formats=format, base=base, train=training, test=testing, seeds=seeds)
    experiment = chosen(name, options, profile=profile, out=out)
    require_ready(out, backend, engine=engine)
    trial = run_conjecture(experiment, backend, engine, until_decided=until)
    screen = trial_screen(trial, experiment.folder)
    show(trial, Group(screen, conjecture_table(trial), sensitivity_table(trial)) if details else screen, as_json)


def accuracy_table(answer: Mapping[str, Any]) -> Group:
    """Return the exact match of one run by scale."""
    table = filled(("scale", "exact match"), ((scale, f"{value:.3f}") for scale, value in answer["accuracy"].items()))
    ending = f"(threshold {answer['threshold']}); stored in {answer['folder']}"
    return titled(answer["run"], table, f"{OUTCOMES[answer['generalizes']]} {ending}")


def protocols_table(answer: Mapping[str, Any]) -> Group:
    """Return a row for each protocol: cells, scales, runs, title."""
    rows = []
    for each in answer["protocols"]:
        scales = ("-".join(map(str, each[part])) for part in ("train", "test"))
        rows.append([*texts(each, "protocol", "cells"), *scales, *texts(each, "runs", "title")])
    return titled(
        f"Protocols, profile {answer['profile']}",
        filled(("protocol", "cells", "train", "test", "runs", "title"), rows),
        "lengthgen conjecture PROTOCOL trains and judges one, lengthgen sweep PROTOCOL trains alone",
    )
