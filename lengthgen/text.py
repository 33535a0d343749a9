"""Language models of text by encoding: the answer of `lengthgen text --json`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lengthgen.circuits.encodings import parse_encodings
from lengthgen.empirical.experiment.sweep import train_sealed
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.text.corpus import load_profile
from lengthgen.empirical.text.text_run import TextRun, tests_by_name, usual_encodings
from lengthgen.progress import Progress


def text_answer(encodings: str | None, profile_name: str, out: Path, backend: Backend) -> dict[str, Any]:
    """Train the language models that are not stored yet, and return what was measured of all.

    Args:
        encodings: encodings, comma-separated; None for all that need no task.
        profile_name: name of a text profile.
        out: folder of the results.
        backend: device and compilation.

    Raises:
        EncodingError, ProfileError: an encoding or the profile does not exist.
        DamagedFile: a stored result has changed since it was written.
        BackendError: this machine lacks the backend.
    """
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
        "encodings": {name: _row(tests) for result in results for name, tests in tests_by_name(result).items()},
        "failures": failures,
        "folder": str(out / "text" / profile_name),
    }


def _row(tests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the measurements of one encoding at each length, for each seed."""
    return {str(test["length"]): {key: test[key] for key in ("loss", "last", "by_position", "keys")} for test in tests}
