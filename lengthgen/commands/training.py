"""Commands that train models, and that show or test trained runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group

from lengthgen.commands.options import (
    CONDITION_NAMES,
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
    show,
)
from lengthgen.empirical.experiment.protocol import SCALE, SEED, SEEDS, TEST_SAMPLES
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.messages import tell
from lengthgen.preconditions import require_ready, require_training
from lengthgen.scales import parse_scales
from lengthgen.tables.runs import accuracy_table, evaluation_table, protocols_table, relation_table, runs_table

ProtocolArgument = Annotated[
    str,
    typer.Argument(
        help="Protocol: fig1, fig2, ... (`lengthgen protocols` lists all), or path/to/file.toml.",
        autocompletion=PROTOCOL_NAMES.complete,
    ),
]


class EngineName(StrEnum):
    """Engine that trains the runs of a sweep."""

    LOCAL = "local"
    RAY = "ray"


class LogName(StrEnum):
    """Additional log of every checkpoint."""

    TENSORBOARD = "tensorboard"


EngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine", help="Where to train: processes of this machine (local), or an existing Ray cluster (ray)."
    ),
]

LogOption = Annotated[
    LogName | None, typer.Option("--log", help="Also write training curves for TensorBoard, into OUT/tensorboard.")
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
    from lengthgen import interface

    answer = interface.train(
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
    protocol: ProtocolArgument,
    profile: ProfileName = "quick",
    out: Out = Path("out"),
    device: Device = "cpu",
    compile: Compile = False,
    engine: EngineOption = EngineName.LOCAL,
    log: LogOption = None,
    as_json: Json = False,
) -> None:
    """Store the predictions of a protocol, then train every unfinished run.

    The exit code is 0 only if no run is broken.
    """
    from lengthgen.curves import write_curves
    from lengthgen.empirical.experiment.protocol import load_protocol
    from lengthgen.experiment import Experiment
    from lengthgen.stored import runs_answer
    from lengthgen.training import sweep_all

    backend = Backend(device, compile)
    experiment = Experiment(protocol=load_protocol(protocol, profile), out=out)
    require_ready(out, backend, engine=engine.value, log=log is not None)
    runs = sweep_all(experiment, backend, engine.value)
    if log:
        write_curves(runs, experiment.store, out / "tensorboard")
    answer = runs_answer(out, names={run.id for run in runs})
    show(answer, runs_table(answer), as_json)
    if answer["broken"]:
        raise typer.Exit(1)


def protocols(profile: ProfileName = "quick", as_json: Json = False) -> None:
    """List the protocols that come with the project: their cells, scales and runs under a profile."""
    from lengthgen.experiment import protocols_answer

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
    engine: EngineOption = EngineName.LOCAL,
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Store predictions, train every cell over several seeds, and judge each prediction.

    Printed are a line for each cell, what was found, and the command that draws it; --details prints all tables.
    """
    from lengthgen.budget import BudgetError, parse_budget
    from lengthgen.experiment import chosen
    from lengthgen.tables.trial_screen import trial_screen
    from lengthgen.tables.trials import conjecture_table, sensitivity_table
    from lengthgen.training import MOST, UntilDecided, run_conjecture

    if not until_decided and (budget is not None or max_seeds is not None):
        raise BudgetError("--budget and --max-seeds limit the rounds of --until-decided: add that option")
    until = UntilDecided(seconds=parse_budget(budget or "1h"), most=max_seeds or MOST) if until_decided else None
    backend = Backend(device, compile)
    experiment = chosen(
        name,
        encodings=encoding,
        formats=format,
        base=base,
        train=None if train is None else parse_scales(train, largest=SCALE.most),
        test=None if test is None else parse_scales(test, largest=SCALE.most),
        seeds=seeds,
        profile=profile,
        out=out,
    )
    require_ready(out, backend, engine=engine.value)
    trial = run_conjecture(experiment, backend, engine.value, until_decided=until)
    screen = trial_screen(trial, experiment.folder)
    show(trial, Group(screen, conjecture_table(trial), sensitivity_table(trial)) if details else screen, as_json)


def evaluate(
    run: Annotated[str, typer.Argument(help="Name of a finished run, as listed by `lengthgen runs`.")],
    test: TestScales = "1-20",
    samples: Annotated[
        int, typer.Option(min=TEST_SAMPLES.least, max=TEST_SAMPLES.most, help="Test samples at each scale.")
    ] = 1000,
    free_running: Annotated[
        bool, typer.Option("--free-running", help="Also generate freely, from the prompts alone.")
    ] = False,
    out: Out = Path("out"),
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Test a finished run at any scales, also far beyond those at which it was tested during training."""
    scales, backend = parse_scales(test, largest=SCALE.most), Backend(device)
    require_training()
    backend.require()
    from lengthgen.evaluation import evaluation_answer

    answer = evaluation_answer(run, scales, samples=samples, free_running=free_running, out=out, device=device)
    show(answer, evaluation_table(answer), as_json)
    if answer["disagreements"]:
        raise typer.Exit(1)


def relation(
    run: Annotated[
        str, typer.Argument(help="Name of a finished run of lbpe or lbpe-sh, as listed by `lengthgen runs`.")
    ],
    test: TestScales = "1-20",
    out: Out = Path("out"),
    as_json: Json = False,
) -> None:
    """Compare the relation that a run learned with the ideal one, pair by pair."""
    scales = parse_scales(test, largest=SCALE.most)
    require_training()
    from lengthgen.learned import relation_answer

    answer = relation_answer(run, scales, out=out)
    show(answer, relation_table(answer), as_json)


def runs(
    task: Annotated[str | None, typer.Option(help="List only runs of this task.")] = None,
    encoding: Annotated[str | None, typer.Option(help="List only runs of this encoding.")] = None,
    state: Annotated[
        str | None, typer.Option(help="List only runs in this state: finished, unfinished or broken.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(help="Remove this run, finished or not; may be given several times.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Test the weights of the listed runs again, and compare with their metrics.")
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="With --check: test only so many, drawn anew each time.", show_default="all"),
    ] = None,
    out: Out = Path("out"),
    as_json: Json = False,
) -> None:
    """List, filter, remove and check stored runs.

    The exit code is 0 only if no listed run is broken, and with --check if all tested weights do as stored.
    """
    from lengthgen.stored import remove_runs, runs_answer, store_in

    if sample is not None and not check:
        raise typer.BadParameter("--sample goes with --check")
    if check:
        require_training()
    if remove:
        remove_runs(out, remove)
    answer = runs_answer(out, task=task, encoding=encoding, state=state)
    if check:
        from lengthgen.evaluation import check_answer

        finished = [row["name"] for row in answer["runs"] if row["state"] == "finished"]
        answer["check"] = check_answer(store_in(out), finished, sample=sample, device="cpu")
    show(answer, runs_table(answer), as_json)
    if answer["broken"] or (check and answer["check"]["differ"]):
        raise typer.Exit(1)


def text(
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            help="Encodings, comma-separated: rope,alibi,fox,path/to/file.py:name,...",
            show_default="all that need no task",
            autocompletion=ENCODING_NAMES.complete,
        ),
    ] = None,
    profile: ProfileName = "quick",
    out: Out = Path("out"),
    device: Device = "cpu",
    compile: Compile = False,
    as_json: Json = False,
) -> None:
    """Train language models of text at one length, and test them at longer ones: loss, and recall of a key.

    The exit code is 0 only if every encoding was trained.
    """
    backend = Backend(device, compile)
    require_ready(out, backend)
    from lengthgen.tables.text import text_table
    from lengthgen.text import text_answer

    answer = text_answer(encoding, profile, out, backend)
    show(answer, text_table(answer), as_json)
    if answer["failures"]:
        raise typer.Exit(1)


def modular_addition(
    condition: Annotated[
        str | None,
        typer.Option(
            "--condition",
            help="Conditions, comma-separated: released-baseline,described-shift,rope,...",
            show_default="all",
            autocompletion=CONDITION_NAMES.complete,
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            help="Encodings, comma-separated, in place of the conditions' own: alibi,rope,ape,...",
            autocompletion=ENCODING_NAMES.complete,
        ),
    ] = None,
    profile: ProfileName = "quick",
    out: Out = Path("out"),
    device: Device = "cpu",
    as_json: Json = False,
) -> None:
    """Train classifiers of a + b written as text, after predicting at which positions they still add.

    The exit code is 0 only if every condition was trained.
    """
    backend = Backend(device)
    require_ready(out, backend)
    from lengthgen.modular_addition import modular_answer
    from lengthgen.tables.modular_addition import modular_table

    answer = modular_answer(condition, encoding, profile, out, backend)
    show(answer, modular_table(answer), as_json)
    if answer["failures"]:
        raise typer.Exit(1)


def reproduce(
    profile: ProfileName = "quick", out: Out = Path("out"), device: Device = "cpu", as_json: Json = False
) -> None:
    """Run everything into one folder: claims, circuits, predictions, runs, verdicts, figures and the report."""
    from lengthgen.empirical.experiment.protocol import load_profile

    backend = Backend(device)
    load_profile(profile)
    require_ready(out, backend)
    from lengthgen import pipeline
    from lengthgen.tables.summary import summary

    answers = pipeline.reproduce(profile, out, backend)
    show(answers, summary(answers, out), as_json)
    broken = answers["figures"]["broken"] | answers["report"]["broken"]
    for name, why in broken.items():
        tell(f"error: {name}: {why}")
    if broken or not answers["claims"]["holds"]:
        raise typer.Exit(1)
