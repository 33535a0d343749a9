"""Stored answers are accepted only if they are unchanged and every value that is read has the expected type."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.paper_figs.stored import read_claims, read_trial
from lengthgen.proofs_checks.report import as_json
from lengthgen.proofs_checks.runner import run_claim
from tests.paper_figs.made_up import sources
from tests.proofs_checks import toys

WRONG = {"null": None, "text": "1", "list": [[1]], "mapping": {"one": 1}, "true": True, "large": 10**400}
CELL = "cells.0"
OF_TRIAL = (
    "main", "main.size", "main.checkpoint", "main.threshold", "alpha", "confidence", "unanimous_runs", "rules",
    "rules.coverage.table", "rules.coverage.table.yes_no", "rules.literal.fisher_p", "rules.literal.misclassified",
    "rules.selection.fisher_p",
    "rules.coverage.permutation", "rules.coverage.permutation.task.p", "breaking", "breaking.cells", "cells", CELL,
    *(f"{CELL}.{key}" for key in ("task", "format", "encoding", "size", "verdict", "fit", "generalizes", "outcomes")),
    *(f"{CELL}.fit.{key}" for key in ("successes", "trials", "low", "high")), f"{CELL}.prediction.why",
    f"{CELL}.breaking.exact.successes", f"{CELL}.disagrees_with", f"{CELL}.diagnosis", f"{CELL}.outcomes.0.seed",
    f"{CELL}.outcomes.0.exact_match", f"{CELL}.outcomes.0.exact_match.1",
)  # fmt: skip
OF_CLAIMS = (
    "answer", "answer.claims", "answer.claims.0",
    *(f"answer.claims.0.{key}" for key in ("id", "verdict", "statement", "latex", "reason", "source", "facts")),
    "answer.claims.0.source.arxiv", "answer.claims.0.falsifiers", "answer.claims.0.falsifiers.0.name",
)  # fmt: skip


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    given, _ = sources(tmp_path_factory.mktemp("made-up"))
    return read_trial(given.out / "made-up" / "conjecture.json", "again")


@pytest.fixture(scope="module")
def ledger() -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(json.dumps(as_json([run_claim(toys.CLAIMS["toy-accept"])])))
    return {"key": "whatever", "answer": claims}


def changed(content: Any, place: Sequence[str], value: Any) -> Any:
    """Return a copy of the content with another value at one place."""
    if not place:
        return value
    copy = list(content) if isinstance(content, list) else dict(content)
    key: Any = int(place[0]) if isinstance(content, list) else place[0]
    copy[key] = changed(copy[key], place[1:], value)
    return copy


def test_written_files_are_read_back(tmp_path: Path, trial: dict[str, Any], ledger: dict[str, Any]) -> None:
    write_sealed_json(tmp_path / "conjecture.json", trial)
    assert read_trial(tmp_path / "conjecture.json", "again") == trial
    write_sealed_json(tmp_path / "claims.json", ledger)
    assert read_claims(tmp_path / "claims.json", "again") == ledger["answer"]["claims"]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_value_of_another_type_is_named_with_its_place(
    tmp_path: Path, trial: dict[str, Any], ledger: dict[str, Any], wrong: str
) -> None:
    path = tmp_path / "stored.json"
    for content, read, places in ((trial, read_trial, OF_TRIAL), (ledger, read_claims, OF_CLAIMS)):
        for place in places:
            right: Any = content
            for key in place.split("."):
                right = right[int(key) if isinstance(right, list) else key]
            value = WRONG[wrong]
            if isinstance(value, type(right)) and value not in ([[1]], {"one": 1}):
                value = None
            write_sealed_json(path, changed(content, place.split("."), value))
            with pytest.raises(LengthgenError) as error:
                read(path, "again")
            last = [part for part in place.split(".") if not part.isdecimal()][-1]
            assert str(error.value).startswith(f"{path} holds no ") and last in str(error.value)
            assert str(error.value).endswith("make it again with  again")


@pytest.mark.parametrize("edited", ["{", "[]", "null", "[" * 200_000, '{"cells": NaN}'])
def test_a_file_that_is_not_as_it_was_written_is_named(tmp_path: Path, edited: str) -> None:
    path = tmp_path / "stored.json"
    path.write_text(edited)
    for read in (read_trial, read_claims):
        with pytest.raises(
            LengthgenError, match=r"stored\.json is not as it was written .*: make it again with  again"
        ):
            read(path, "again")


def test_an_edited_value_is_not_believed(tmp_path: Path, trial: dict[str, Any]) -> None:
    path = tmp_path / "conjecture.json"
    write_sealed_json(path, trial)
    path.write_text(path.read_text().replace('"verdict":"', '"verdict":"not ', 1))
    with pytest.raises(LengthgenError, match="its seal is broken"):
        read_trial(path, "again")
