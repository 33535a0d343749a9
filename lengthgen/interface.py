"""Functions that train and judge, for `from lengthgen import train, conjecture`.

They do what the commands of the same names do, with the same defaults, and return the same answers.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from lengthgen.answer import Answer
from lengthgen.circuits.encodings import parse_encoding
from lengthgen.defaults import ideal_encoding
from lengthgen.empirical.experiment.protocol import SEED
from lengthgen.empirical.model.backend import Backend
from lengthgen.experiment import chosen, task_experiment
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.preconditions import require_ready
from lengthgen.training import ENGINES, MOST, UntilDecided, run_conjecture, train_one


def train(
    task: str,
    encoding: str | None = None,
    *,
    train: Iterable[int] = range(1, 6),
    test: Iterable[int] = range(1, 21),
    format: str = "aligned",
    base: int | None = None,
    seed: int = 0,
    profile: str = "quick",
    out: str | Path = "out",
    device: str = "cpu",
    compile: bool = False,
    log: bool = False,
) -> Answer:
    """Train one model and test it at every scale; a finished run is not trained again.

        train("parity", "rope", train=range(1, 6), test=range(1, 21))["accuracy"]

    Args:
        task: name of a task, or path/to/file.py:name, which is run.
        encoding: name of an encoding, or path/to/file.py:name; the ideal one of the format if None.
        train: scales of training.
        test: scales of the test, which include those of training.
        format: aligned, filled or unaligned.
        base: number of digits of a task that has them.
        seed: random seed of the run.
        profile: size of the model and of the training: smoke, quick or paper.
        out: folder of all stored results.
        device: cpu or cuda.
        compile: compile the training step.
        log: also write training curves for TensorBoard.

    Returns:
        run (name), folder, accuracy (scale as text -> exact match), fits, generalizes (None if it does not fit), and
        threshold, from which on a scale counts as solved.

    Raises:
        LengthgenError: a name, a scale or a folder is wrong, or an extra or a device is missing; one line says which.
    """
    if refusal := SEED.refusal(seed):
        raise ProfileError(f"seed = {seed} {refusal}")
    backend, out = Backend(device, compile), Path(out)
    pair = format, parse_encoding(ideal_encoding(format) if encoding is None else encoding)
    experiment = task_experiment(task, [pair], base=base, train=train, test=test, profile=profile, out=out)
    require_ready(out, backend, log=log)
    answer = train_one(experiment, seed, backend, log=log)
    outcome = {True: "generalizes", False: "does not generalize", None: "does not fit its training scales"}
    last, accuracy = [*answer["accuracy"].items()][-1]
    says = f"{answer['run']} {outcome[answer['generalizes']]}; exact match at scale {last}: {accuracy:.3f}"
    return Answer(answer, says)


def conjecture(
    name: str,
    encodings: str | None = None,
    *,
    format: str | None = None,
    base: int | None = None,
    train: Iterable[int] | None = None,
    test: Iterable[int] | None = None,
    seeds: int | None = None,
    profile: str = "quick",
    out: str | Path = "out",
    budget: float | None = None,
    max_seeds: int = MOST,
    device: str = "cpu",
    compile: bool = False,
    engine: str = "local",
) -> Answer:
    """Store predictions, train every cell over several seeds, and judge each prediction.

        conjecture("my_task.py:running_or", "rpe,alibi", seeds=5)["cells"]

    Args:
        name: a protocol (fig1, path/to/file.toml), which sets its own cells and scales; or a task, as in `train`.
        encodings: for a task: encodings, comma-separated; the usual four if None.
        format: for a task: formats, comma-separated; aligned if None.
        base: for a task: number of its digits.
        train: for a task: scales of training; 1 to 5 if None.
        test: for a task: scales of the test; 1 to 20 if None.
        seeds: for a task: runs of each cell; as many as the profile says if None.
        profile: size of the models and of the training: smoke, quick or paper.
        out: folder of all stored results.
        budget: time in all, in seconds, in which undecided cells get more runs; no more runs if None.
        max_seeds: largest number of runs of a cell that gets more.
        device: cpu or cuda.
        compile: compile the training step.
        engine: local (processes of this machine), or ray.

    Returns:
        The content of OUT/NAME/conjecture.json: cells, each with its prediction, runs and verdict, and what follows
        from all of them.

    Raises:
        LengthgenError: a name, a scale or a folder is wrong, or an extra or a device is missing; one line says which.
        SweepError: a run cannot be trained.
    """
    if engine not in ENGINES:
        raise ProfileError(f"unknown engine '{engine:.60}': choose one of {', '.join(ENGINES)}")
    backend, out = Backend(device, compile), Path(out)
    options = {"encodings": encodings, "formats": format, "base": base, "train": train, "test": test, "seeds": seeds}
    experiment = chosen(name, profile=profile, out=out, **options)
    require_ready(out, backend, engine=engine)
    until = None if budget is None else UntilDecided(seconds=budget, most=max_seeds)
    trial = run_conjecture(experiment, backend, engine, until_decided=until)
    verdicts = Counter(cell["verdict"] for cell in trial["cells"])
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    return Answer(trial, f"{len(trial['cells'])} cells: {counts}; stored in {experiment.folder}")
