"""`lengthgen modular-addition`: classifiers of written additions, trained and tested."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group

from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.errors import in_any_case
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import columns, percent, titled, yes_no
from lengthgen.terminal.options import ENCODING_NAMES, Device, Json, Names, Out, ProfileName
from lengthgen.terminal.preconditions import require_ready
from lengthgen.terminal.progress import Progress

if TYPE_CHECKING:
    from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun


def _conditions() -> Iterable[str]:
    from lengthgen.empirical.studies.modular_addition.conditions import CONDITIONS

    return CONDITIONS


CONDITION_NAMES = Names(_conditions)


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
    answer = modular_answer(condition, encoding, profile, out, backend)
    show(answer, modular_table(answer), as_json, fails=answer["failures"])


def modular_answer(
    names: str | None, encodings: str | None, profile_name: str, out: Path, backend: Backend
) -> dict[str, Any]:
    """Store predictions, train the models that are not stored yet, and compare.

    Conditions are comma-separated, None for all; so are encodings, None for those of the conditions.
    """
    from lengthgen.circuits.encoding_spec import parse_encodings
    from lengthgen.empirical.experiment.sweep import train_sealed
    from lengthgen.empirical.studies.modular_addition import conditions as modular_profiles
    from lengthgen.empirical.studies.modular_addition.conditions import CONDITIONS
    from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun

    profile = modular_profiles.load_profile(profile_name)
    listed = CONDITIONS if names is None else [name.strip() for name in names.split(",")]
    chosen = [in_any_case(name, CONDITIONS) for name in listed]
    replaced: Sequence[str | None] = [None] if encodings is None else [str(spec) for spec in parse_encodings(encodings)]
    runs = [
        ModularRun(condition_name=name, profile_name=profile_name, profile=profile, encoding=encoding)
        for name in dict.fromkeys(chosen)
        for encoding in replaced
    ]
    for run in runs:
        run.predictions(out)
    progress = Progress("modular addition", sum(run.result(out) is None for run in runs), "conditions")
    failures = train_sealed(runs, out, backend, lambda run: progress.step(run.name))
    results = {run: result for run in runs if (result := run.result(out))}
    return {
        "profile": profile_name,
        "modulus": profile.modulus,
        "seeds": list(profile.seeds),
        "conditions": {run.name: _modular_row(run, result) for run, result in results.items()},
        "failures": failures,
        "folder": str(out / run.protocol / profile_name),
    }


def _modular_row(run: "ModularRun", result: dict[str, Any]) -> dict[str, Any]:
    """Return what was predicted and measured of one condition."""
    from lengthgen.empirical.studies.modular_addition.modular_run import is_fitted, outcomes

    rows = outcomes(run, result)
    decided = [row for row in rows if row.agree is not None]
    by_position = zip(*(row.accuracy for row in rows if row.evaluation[0] == "B"), strict=True)
    return {
        "title": run.condition.title,
        "encoding": run.condition.encoding,
        "fitted": is_fitted(run, result),
        **{key: result["predictions"][key] for key in ("shift_invariant", "shift_invariant_why")},
        **{key: result[key] for key in ("predictions_sha256", "losses_sha256")},
        **{key: result["measured"][key] for key in ("trained", "reference", "agreeing")},
        "mean_over_positions": [fmean(shares) for shares in by_position],
        "agree": sum(bool(row.agree) for row in decided),
        "agree_in_expression": sum(bool(row.agree_in_expression) for row in decided),
        "decided": len(decided),
        "evaluations": [asdict(row) for row in rows],
        "seconds": result["seconds"],
    }


def modular_table(answer: Mapping[str, Any]) -> Group:
    """Return a table of the conditions, and one of all evaluations with prediction and observation."""
    summary = columns("condition", "training pairs", "A", "CC", "B, mean", "C0", "C1", "agree", "expression alone")
    detail = columns("condition", "evaluation", "accuracy", "predicted", "observed", "agree", "expression alone")
    detail.columns[0].overflow = "fold"
    for name, row in answer["conditions"].items():
        accuracy = {each["evaluation"]: each["accuracy"] for each in row["evaluations"]}
        shares = row["trained"], accuracy["A"], row["agreeing"], row["mean_over_positions"], accuracy["C0"]
        agree = (f"{row[key]}/{row['decided']}" for key in ("agree", "agree_in_expression"))
        summary.add_row(name, *map(_mean, (*shares, accuracy.get("C1"))), *agree)
        for each in row["evaluations"]:
            agree = (yes_no(each[key]) for key in ("agree", "agree_in_expression"))
            right = " ".join(map(percent, each["accuracy"]))
            detail.add_row(name, each["evaluation"], right, each["predicted"], each["observed"], *agree)
    return Group(
        titled(f"modular addition mod {answer['modulus']}, mean over seeds {answer['seeds']}", summary),
        titled(
            "predicted from labels and tokens of training, and observed, by seed",
            detail,
            "A: the inputs of training; B at n: n characters of filler; C0, C1: new words without and with markers; "
            "S at n: n hidden tokens",
            f"stored in {answer['folder']}",
            *answer["failures"],
        ),
    )


def _mean(shares: list[float] | None) -> str:
    return percent(fmean(shares) if shares else None)
