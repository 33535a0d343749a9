"""`lengthgen text`: language models of text, trained at one length and tested at longer ones."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.console import Group

from lengthgen.empirical.model.backend import Backend
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import columns, filled, titled
from lengthgen.terminal.options import ENCODING_NAMES, Compile, Device, Json, Out, ProfileName
from lengthgen.terminal.preconditions import require_ready
from lengthgen.terminal.progress import Progress


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
    answer = text_answer(encoding, profile, out, backend)
    show(answer, text_table(answer), as_json, fails=answer["failures"])


def text_answer(encodings: str | None, profile_name: str, out: Path, backend: Backend) -> dict[str, Any]:
    """Train the language models that are not stored yet, and return what was measured of all.

    Encodings are comma-separated; None for all that need no task.
    """
    from lengthgen.circuits.encoding_spec import parse_encodings
    from lengthgen.empirical.experiment.sweep import train_sealed
    from lengthgen.empirical.studies.text.corpus import load_profile
    from lengthgen.empirical.studies.text.text_run import TextRun, tests_by_name, usual_encodings

    profile = load_profile(profile_name)
    names = usual_encodings(profile) if encodings is None else [str(spec) for spec in parse_encodings(encodings)]
    runs = [TextRun(encoding=name, profile_name=profile_name, profile=profile) for name in dict.fromkeys(names)]
    progress = Progress("text", sum(run.result(out) is None for run in runs), "encodings")
    failures = train_sealed(runs, out, backend, lambda run: progress.step(run.encoding))
    results = [result for run in runs if (result := run.result(out))]
    return {
        "profile": profile_name,
        "corpus": runs[0].config["corpus"],
        "trained_length": profile.length,
        "seeds": profile.seeds,
        "encodings": {
            name: {
                str(test["length"]): {key: test[key] for key in ("loss", "last", "by_position", "keys")}
                for test in tests
            }
            for result in results
            for name, tests in tests_by_name(result).items()
        },
        "failures": failures,
        "folder": str(out / "text" / profile_name),
    }


def text_table(answer: Mapping[str, Any]) -> Group:
    """Return, by encoding and length, the mean loss of the last bytes over seeds, and the recalled keys."""
    lengths = list(dict.fromkeys(length for tests in answer["encodings"].values() for length in tests))
    ends = lengths[:1] + lengths[-1:]
    rows = (
        [
            name,
            *(f"{fmean(tests[at]['last']):.2f}" for at in lengths),
            *(f"{fmean(tests[at]['keys']):.0%}" for at in ends),
        ]
        for name, tests in answer["encodings"].items()
    )
    table = filled(["encoding", *lengths, f"keys at {ends[0]}", f"at {ends[1]}"], rows) if lengths else columns()
    return titled(
        f"{answer['corpus']['text']}, trained at {answer['trained_length']} bytes, {answer['seeds']} models each",
        table,
        "loss of the last bytes in nats per byte, the same bytes after contexts of each length; lower is better",
        f"stored in {answer['folder']}",
        *answer["failures"],
    )
