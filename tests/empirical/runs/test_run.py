"""A run's identity changes with its training and test data: by what a task generates, not by its name."""

from pathlib import Path

import pytest

from tests.empirical.conftest import smoke_run

TASK = """
from circuits.task import Task

def generate(prompt):
    return [prompt[0]] * (2 if len(prompt) == {changed} else 1)

task = Task(name="first", alphabet=("0", "1"), prompt=lambda n: [("0", "1")] * n, generate=generate)
"""
ENCODING = """
from empirical.encodings.base import PositionEncoding

class Own(PositionEncoding):
    \"\"\"{words}\"\"\"

    def __init__(self, heads, head_dim):
        super().__init__()
"""


@pytest.mark.parametrize("scale", [1, 2, 3, 4])
def test_a_task_that_changes_at_any_scale_in_use_makes_another_run(tmp_path: Path, scale: int) -> None:
    """Trained on scales 1 and 2, tested on 1 to 4; the file is changed where it lies."""
    path = tmp_path / "own.py"

    def digest(changed: int) -> str:
        path.write_text(TASK.format(changed=changed))
        return smoke_run("rpe", "unaligned", task=f"{path}:task").digest

    before = digest(5)
    assert digest(6) == before, "a change at no scale in use is none"
    assert digest(scale) != before
    assert digest(5) == before


def test_a_changed_text_of_a_users_encoding_makes_another_run(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    digests = []
    for words in ("First.", "Second.", "First."):
        path.write_text(ENCODING.format(words=words))
        digests.append(smoke_run(f"{path}:Own").digest)
    assert digests[0] == digests[2] != digests[1] != smoke_run("rpe").digest
