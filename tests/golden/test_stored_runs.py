"""Ids and seeds of all stored runs follow from what was frozen, and their cells are judged, as was recorded."""

import json

import pytest

from tests.golden import stored_runs
from tests.golden.answers import differences

RECORDED = json.loads(stored_runs.FILE.read_text(encoding="utf-8"))


def test_every_record_is_compared() -> None:
    assert sorted(RECORDED) == sorted(stored_runs.RECORDS)
    assert sum(RECORDED[name]["runs"] for name in stored_runs.REGISTERED) == 31_242


@pytest.mark.parametrize("name", stored_runs.RECORDS)
def test_runs_and_judgements_are_as_recorded(name: str) -> None:
    assert [*differences(RECORDED[name], json.loads(json.dumps(stored_runs.judged(name))))] == []
