"""Tasks are loaded by name or from a user's own file, and a failure to load is reported in one line."""

import textwrap
from pathlib import Path

import pytest

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.encoding_spec import parse_encodings
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import load

RUNNING_OR = """
    import itertools

    from lengthgen.circuits import Task

    END = "="


    def running(bits):
        return itertools.accumulate(bits, max)


    def generate(prompt):
        return list(running(prompt[:-1]))


    running_or = Task(
        name="running-or",
        alphabet=("0", "1", "="),
        prompt=lambda n: [("0", "1")] * n + [(END,)],
        generate=generate,
    )
    number = 3
"""


@pytest.fixture(scope="module")
def user_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("user") / "my task.py"
    path.write_text(textwrap.dedent(RUNNING_OR))
    return path


def test_a_users_task_goes_all_the_way_to_a_prediction(user_file: Path) -> None:
    task = load(f"{user_file}:running_or")
    result = src(task, traces_up_to(task, 5), 2)
    # y_1 = x_1 or '=' with '=' counted as 0: one operator at every scale; no one argument decides y_2.
    assert result.values == dict.fromkeys(range(1, 6), 1)
    assert result.status == "exact"
    assert src(task, traces_up_to(task, 2), 1).values[2] == float("inf")
    aligned = analyse(task, "aligned", 6)
    specs = parse_encodings("ipe,rpe,ape")
    verdicts = {str(spec): predict(aligned, spec, train=[1, 2, 3], test=range(1, 7)) for spec in specs}
    assert {name: verdict.generalizes for name, verdict in verdicts.items()} == {
        "ipe": True,
        "rpe": True,
        "ape": False,
    }


def test_the_base_of_a_task_is_chosen_by_number(user_file: Path) -> None:
    assert load("counter", base=3).alphabet == ("0", "1", "2", "=", "$")
    assert load("counter", base=3).name == "counter-base3"
    for spec in ("parity", f"{user_file}:running_or", "no such task"):
        with pytest.raises(TaskError, match="has no base to choose; these have: copy, reverse"):
            load(spec, base=3)
    for base in (1, 0, -2, 253, 255):
        with pytest.raises(TaskError, match=f"task 'counter': the base must be 2 to 252, not {base}"):
            load("counter", base=base)
    with pytest.raises(TaskError, match="base 4 counts to 3; for scale 4 take 5"):
        load("majority-count", base=4).choices(4)


FAILING = {
    "raises": "raise RuntimeError('no luck')",
    "syntax": "def",
    "missing import": "import no_such_module_of_mine",
    "broken task": "from lengthgen import Task\ntask = Task(name='t', alphabet=(), prompt=None, generate=None)",
    "two lines": "raise RuntimeError('first\\nsecond')",
    "exits": "raise SystemExit(3)",
}


@pytest.mark.parametrize("name", FAILING)
def test_a_file_that_fails_is_named_in_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FAILING[name])
    with pytest.raises(TaskError, match=r"mine\.py") as caught:
        load(f"{path}:task")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("partiy", "did you mean parity"),
        (
            "nothing like it",
            "there are [0-9]+, such as .*; `lengthgen tasks` lists all; your own: path/to/file.py:name",
        ),
        ("", "there are"),
        ("file.txt:task", "unknown task"),
        ("task.py", "your own: path/to/file.py:name"),
        ("no/such/file.py:task", "'no/such/file.py' does not exist"),
    ],
)
def test_an_unknown_task_gets_a_suggestion(spec: str, says: str) -> None:
    with pytest.raises(TaskError, match=says) as caught:
        load(spec)
    assert len(str(caught.value).splitlines()) == 1


def test_a_wrong_name_in_a_file_lists_its_tasks(user_file: Path) -> None:
    for wrong, hint in {
        "runing_or": "did you mean",
        "number": "choose",
        "generate": "choose",
        "": "choose",
    }.items():
        with pytest.raises(TaskError, match=f"defines no Task '{wrong}': {hint}.* running_or"):
            load(f"{user_file}:{wrong}")
