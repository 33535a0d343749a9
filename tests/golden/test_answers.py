"""Every command of commands.txt answers as it did when its answer was recorded."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.golden.answers import answer, commands, differences, file_of, make_template

COMMANDS = [(part, command) for part, of_part in commands().items() for command in of_part]
RECORD = "where an issue says that this answer changes, run: python -m tests.golden.record, and review the difference"


@cache
def recorded(part: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file_of(part).read_text(encoding="utf-8"))
    return content


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder that every command finds."""
    folder = tmp_path_factory.mktemp("golden") / "template"
    make_template(folder)
    return folder


def test_every_recorded_answer_is_that_of_a_command() -> None:
    for part, of_part in commands().items():
        assert list(recorded(part)) == of_part, RECORD


@pytest.mark.parametrize(("part", "command"), COMMANDS, ids=[command for _, command in COMMANDS])
def test_a_command_answers_as_recorded(part: str, command: str, template: Path, tmp_path: Path) -> None:
    answered = json.loads(json.dumps(answer(command, template, tmp_path / "here")))
    assert [*differences(recorded(part)[command], answered)] == [], RECORD
