"""A run's identity changes with what decides its numbers: what a task generates, the text of the user's files."""

from pathlib import Path

import pytest

from lengthgen.empirical.experiment.run import Run, require_unchanged
from lengthgen.infrastructure.settings import ProfileError
from tests.empirical.conftest import smoke_run

TASK = """
from lengthgen.circuits.task import Task

def generate(prompt):
    return [prompt[0]] * (2 if len(prompt) == {changed} else 1)

task = Task(name="first", alphabet=("0", "1"), prompt=lambda n: [("0", "1")] * n, generate=generate)
"""
ENCODING = """
from lengthgen.empirical.encodings.base import PositionEncoding

class Own(PositionEncoding):
    \"\"\"{words}\"\"\"

    def __init__(self, heads, head_dim):
        super().__init__()
"""


RARE = """
from lengthgen.circuits.task import Task

def generate(prompt):
    return [prompt[0] if prompt[:12] != ("0",) * 12 else "{rare}"]

task = Task(name="first", alphabet=("0", "1"), prompt=lambda n: [("0", "1")] * n, generate=generate)
"""


def test_a_task_that_changes_where_no_sample_shows_it_makes_another_run(tmp_path: Path) -> None:
    """Eight prompts are drawn, and of 4,096 a single one begins with twelve zeros."""
    path = tmp_path / "own.py"
    digests = []
    for rare in "010":
        path.write_text(RARE.format(rare=rare))
        digests.append(smoke_run("rpe", "unaligned", task=f"{path}:task").digest)
    assert digests[0] == digests[2] != digests[1]


@pytest.mark.parametrize("kind", ["task", "encoding"])
def test_a_changed_module_beside_the_file_makes_another_run(tmp_path: Path, kind: str) -> None:
    """The old run is not evaluated or trained on with the new text."""
    path, helper = tmp_path / "own.py", tmp_path / "beside_a_run.py"
    text = ENCODING.format(words="Own.") if kind == "encoding" else TASK.format(changed=99)
    path.write_text(f"import beside_a_run\n{text}")

    def run(number: int) -> Run:
        helper.write_text(f"number = {number}")
        return smoke_run(f"{path}:Own") if kind == "encoding" else smoke_run("rpe", "unaligned", task=f"{path}:task")

    first, second, again = run(1), run(2), run(1)
    assert first == again and first.id != second.id
    require_unchanged(first)
    with pytest.raises(ProfileError, match=r"own\.py.*, or a module beside it, is another text than that of run"):
        require_unchanged(second)


def test_a_changed_text_of_a_users_encoding_makes_another_run(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    digests = []
    for words in ("First.", "Second.", "First."):
        path.write_text(ENCODING.format(words=words))
        digests.append(smoke_run(f"{path}:Own").digest)
    assert digests[0] == digests[2] != digests[1] != smoke_run("rpe").digest
