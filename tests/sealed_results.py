"""Results of language models and of modular addition, made up around the numbers that a test is about."""

from collections.abc import Mapping, Sequence
from typing import Any

from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun
from lengthgen.empirical.studies.text.text_run import TextRun


def text_result(run: TextRun, last: Mapping[str, Sequence[Sequence[float]]]) -> dict[str, Any]:
    """Return a result, given the losses of the last bytes by encoding of the test, for each length and model."""
    profile = run.profile
    others = dict.fromkeys(("loss", "keys"), [0.5] * profile.seeds) | {"by_position": [0.5]}
    tests = {
        name: [
            others | {"length": length, "last": list(losses)}
            for length, losses in zip(profile.lengths, of_name, strict=True)
        ]
        for name, of_name in last.items()
    }
    return run.config | {"tests": tests, "seconds": 1.0}


def modular_result(
    run: ModularRun, accuracy: Mapping[str, Sequence[float]], otherwise: Sequence[float], **measured: Sequence[float]
) -> dict[str, Any]:
    """Return a result, given the accuracy by evaluation, that of all others and measurements beside it, by model."""
    others = {name: list(otherwise) for name in ("trained", "reference", "agreeing")}
    by_evaluation = {name: list(accuracy.get(name, otherwise)) for name in run.evaluations}
    predictions = [
        {"evaluation": name, "why": ""}
        | dict.fromkeys(("holds", "holds_in_expression"), True)
        | dict.fromkeys(("unseen", "unseen_in_expression"), 0)
        for name in by_evaluation
    ]
    return run.config | {
        "predictions": {"shift_invariant": True, "shift_invariant_why": "", "evaluations": predictions},
        **dict.fromkeys(("predictions_sha256", "losses_sha256"), ""),
        "measured": others | measured | {"accuracy": by_evaluation},
        "seconds": 1.0,
    }
