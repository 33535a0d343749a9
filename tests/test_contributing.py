"""The recipes of CONTRIBUTING.md work as they stand: followed in a copy of the project, each from nothing."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("theory", "circuits", "empirical", "proofs_checks", "paper_figs", "lengthgen")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## To add (.*?)\n(.*?)(?=^## |\Z)", TEXT, flags=re.MULTILINE | re.DOTALL))
CATALOGUE, TABLE = "circuits/tasks/catalogue.py", "tests/empirical/encodings/table.py"
TWO_LINES = {
    CATALOGUE: ("a task: a module and its line in the catalogue", "from lengthgen.circuits.tasks.", "for make in (\n"),
    TABLE: (
        "a position encoding: two modules and a row of a test",
        "from lengthgen.theory.encodings import",
        "FORMULAS: Mapping[str, Formula] = {\n",
    ),
}
"""File that gets an import and an entry -> recipe, import before which the first stands, and the start of a list."""
TESTS = (TABLE, "tests/empirical/encodings/test_laws.py", "tests/empirical/twins.py", "tests/conftest.py")


def files(recipe: str) -> dict[str, str]:
    """Files that a recipe writes: path -> text."""
    return dict(re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)```", recipe, flags=re.MULTILINE | re.DOTALL))


def with_two_lines(text: str, recipe: str, before: str, start: str) -> str:
    """The text of a file with the import and the entry of the recipe."""
    [lines] = re.findall(r"```diff\n(.*?)```", recipe, flags=re.DOTALL)
    imported, entry = (line.removeprefix("+") for line in lines.splitlines())
    place = text.index(before)
    return (text[:place] + f"{imported}\n" + text[place:]).replace(start, f"{start}{entry}\n")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages in which every recipe was followed."""
    root = tmp_path_factory.mktemp("copy")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, root / package, symlinks=True)
    for name in TESTS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, root / name)
    for recipe in RECIPES.values():
        for name, text in files(recipe).items():
            path = root / name
            assert not path.exists(), "a recipe adds files and replaces none"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name, (title, before, start) in TWO_LINES.items():
        path = root / name
        path.write_text(with_two_lines(path.read_text(encoding="utf-8"), RECIPES[title], before, start))
    return root


def test_each_recipe_touches_as_many_files_as_it_says() -> None:
    counts = {title: len(files(recipe)) + ("```diff" in recipe) for title, recipe in RECIPES.items()}
    assert counts == {
        "a position encoding: two modules and a row of a test": 3,
        "a claim: one module": 1,
        "a task: a module and its line in the catalogue": 2,
        "a figure: a module and a test": 2,
        "a protocol: one file": 1,
    }


COMMANDS = {
    "the properties of the encoding are computed": ["encodings", "root"],
    "the encoding is predicted": ["predict", "parity", "--encoding", "root", "--train", "1-2", "--test", "1-4"],
    "the encoding is audited": [
        *("audit", "ROOT", "--to", "40", "--dtype", "float64", "--heads", "2", "--head-dim", "8")
    ],
    "what the encoding's record states is checked": ["verify", "root"],
    "the claim is checked": ["verify", "squares-1"],
    "the task has an SRC": ["src", "alternate", "--scales", "1-4"],
    "the figure is drawn": ["figures", "triangle", "--out", "drawn"],
}
RUN = """
import json, sys
import pytest
from lengthgen.cli import main
from lengthgen.empirical.experiment.protocol import load_protocol

_, commands, *tests = sys.argv
statuses = {}
for name, arguments in json.loads(commands).items():
    sys.argv = ["lengthgen", *arguments]
    try:
        statuses[name] = main()
    except SystemExit as ended:
        statuses[name] = ended.code
print(json.dumps([statuses, load_protocol("shifts", "quick").title]), flush=True)
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]))
"""


def test_what_was_added_is_there_and_its_tests_hold(copy: Path) -> None:
    tests = [name for recipe in RECIPES.values() for name in files(recipe) if name.startswith("tests/")]
    tests += [TESTS[1], "-k", "root or triangle"]
    command = [sys.executable, "-c", RUN, json.dumps(COMMANDS), *tests]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    statuses, title = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("[{")))
    assert statuses == dict.fromkeys(COMMANDS, 0), done.stdout + done.stderr
    assert title == "Shift: relative against learned absolute"
    [passed] = re.findall(r"(\d+) passed", done.stdout)
    assert int(passed) > 15, "the figure's test, and the laws of the encoding"
