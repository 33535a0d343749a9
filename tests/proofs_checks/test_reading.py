"""The modules that a claim reads are found in the text of its module, and no others are."""

import subprocess
import sys
from pathlib import Path

import pytest

from lengthgen.proofs_checks import reading, registry
from tests.proofs_checks import toys

ROOT = Path(__file__).parents[2]
HOME = ROOT / "lengthgen"

TREE = {
    "theory/__init__.py": "from lengthgen.theory.relation import relative\n",
    "theory/relation.py": "relative = 1\n",
    "theory/exact.py": "from . import errors\n",
    "theory/errors.py": "",
    "theory/lonely.py": "",
    "theory/encodings/__init__.py": "",
    "theory/encodings/rope.py": "from ..exact import decide\n",
    "theory/encodings/late.py": "",
    "theory/encodings/alibi.py": "",
    "circuits/__init__.py": "",
    "circuits/task.py": "import lengthgen.theory.lonely as lonely\n",
    "proofs_checks/__init__.py": "",
    "proofs_checks/claim.py": "import math, sympy\nfrom sympy import theory\n",
    "proofs_checks/registry.py": "from lengthgen.proofs_checks.papers import rope, alibi\n",
    "proofs_checks/papers/__init__.py": "",
    "proofs_checks/papers/rope.py": (
        "from lengthgen.theory.encodings import rope\n"
        "from lengthgen.proofs_checks.claim import Claim\n"
        "def check():\n"
        "    if True:\n"
        "        from lengthgen.theory.encodings.late import slow\n"
    ),
    "proofs_checks/papers/alibi.py": (
        "from lengthgen.theory.encodings import alibi\nfrom lengthgen.proofs_checks.papers.big.part import one\n"
    ),
    "proofs_checks/papers/big/__init__.py": "from lengthgen.proofs_checks.papers.big import part, rest\n",
    "proofs_checks/papers/big/part.py": "from lengthgen.theory import relative\n",
    "proofs_checks/papers/big/rest.py": "from lengthgen.circuits import task\n",
    "sympy/__init__.py": "",
    "elsewhere/mine.py": "import mate, sympy\nfrom lengthgen.theory.encodings import alibi\n",
    "elsewhere/mate.py": "from box import lid\n",
    "elsewhere/box/__init__.py": "",
    "elsewhere/box/lid.py": "",
    "elsewhere/stranger.py": "",
}
READS = {
    "proofs_checks/papers/rope.py": {
        *("proofs_checks/papers/rope.py", "proofs_checks/claim.py", "theory/encodings/__init__.py"),
        *("theory/encodings/rope.py", "theory/exact.py", "theory/errors.py", "theory/encodings/late.py"),
        *("theory/__init__.py", "theory/relation.py"),  # as `from . import errors` takes a name from theory
    },
    "proofs_checks/papers/alibi.py": {
        *("proofs_checks/papers/alibi.py", "theory/encodings/__init__.py", "theory/encodings/alibi.py"),
        *("proofs_checks/papers/big/part.py", "theory/__init__.py", "theory/relation.py"),
    },
    "proofs_checks/papers/big/__init__.py": {
        *("proofs_checks/papers/big/__init__.py", "proofs_checks/papers/big/part.py"),
        *("proofs_checks/papers/big/rest.py", "theory/__init__.py", "theory/relation.py"),
        *("circuits/__init__.py", "circuits/task.py", "theory/lonely.py"),
    },
    "elsewhere/mine.py": {
        *("elsewhere/mine.py", "elsewhere/mate.py", "elsewhere/box/__init__.py", "elsewhere/box/lid.py"),
        *("theory/encodings/__init__.py", "theory/encodings/alibi.py"),
    },
}


@pytest.fixture
def tree(tmp_path) -> Path:
    for name, text in TREE.items():
        path = tmp_path / "lengthgen" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "lengthgen"


def digest(start: Path, root: Path) -> str:
    return reading.digests([start], root)[start]


@pytest.mark.parametrize("start", READS)
def test_the_files_that_a_module_reads_are_found_and_the_digest_changes_with_them_alone(tree, start):
    paths = {path.relative_to(tree).as_posix() for path in reading.code_read(tree / start, tree)}
    assert paths == READS[start]
    before = digest(tree / start, tree)
    for name, text in TREE.items():
        (tree / name).write_text(f"{text}# changed\n")
        changed = digest(tree / start, tree) != before
        assert changed == (name in READS[start]), name
        (tree / name).write_text(text)
    assert digest(tree / start, tree) == before
    starts = [tree / name for name in READS]
    assert reading.digests(starts, tree) == {start: digest(start, tree) for start in starts}


def test_a_module_that_finds_its_siblings_reads_them_all():
    folder = HOME / "theory" / "encodings"
    assert {*folder.glob("*.py")} <= {*reading.code_read(folder / "catalogue.py")}


def test_the_digest_changes_when_a_module_becomes_a_package(tree):
    start, late = tree / "proofs_checks/papers/rope.py", tree / "theory/encodings/late"
    before = digest(start, tree)
    late.mkdir()
    late.with_suffix(".py").rename(late / "__init__.py")
    assert digest(start, tree) != before


def test_the_digest_is_the_same_wherever_the_project_lies(tree, tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "lengthgen"
    tree.rename(other)
    moved = digest(other / "proofs_checks/papers/rope.py", other)
    other.rename(tree)
    assert moved == digest(tree / "proofs_checks/papers/rope.py", tree)


def test_a_new_import_is_followed_and_texts_do_not_run_together(tree):
    start = tree / "proofs_checks/papers/rope.py"
    assert tree / "circuits/task.py" not in reading.code_read(start, tree)
    with (tree / "theory/exact.py").open("a") as file:
        file.write("def late():\n    import lengthgen.circuits.task\n")
    assert tree / "circuits/task.py" in reading.code_read(start, tree)
    before = digest(start, tree)
    (tree / "theory/errors.py").write_text("#")
    changed = digest(start, tree)
    (tree / "theory/errors.py").write_text("")
    (tree / "theory/exact.py").write_text("#" + (tree / "theory/exact.py").read_text())
    assert len({before, changed, digest(start, tree)}) == 3


def test_every_claim_reads_its_check_and_the_functions_of_its_parameters():
    read_by = {home: {*reading.code_read(home)} for home in {registry.home(claim) for claim in registry.CLAIMS}}
    for claim in registry.CLAIMS:
        parameters = [claim.holds, claim.printed, *claim.falsifiers.values()]
        values = [claim.check, *(value for changes in parameters for value in changes.values())]
        written = {Path(value.__code__.co_filename) for value in values if hasattr(value, "__code__")}
        assert {path for path in written if path.is_relative_to(HOME)} <= read_by[registry.home(claim)], claim.id


LOADED = """
import sys
import lengthgen.proofs_checks.{name}
for name, module in list(sys.modules.items()):
    if name.startswith("lengthgen."):
        print(module.__file__)
"""


@pytest.mark.parametrize("name", ["papers.fox", "consequences.plaa"])
def test_every_module_that_is_loaded_is_read(name):
    """Python itself is the oracle; it also loads the packages above a module, and what these import."""
    listed = subprocess.run(
        [sys.executable, "-c", LOADED.format(name=name)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {Path(line) for line in listed.stdout.splitlines()}
    home = HOME / f"proofs_checks/{name.replace('.', '/')}.py"
    read = set(reading.code_read(home))
    assert home in loaded
    packages = {path for path in loaded - read if path.name == "__init__.py"}
    assert all(any(path.is_relative_to(above.parent) for path in read) for above in packages)
    assert loaded - packages <= read.union(*map(reading.code_read, packages))


PLACES = (
    "if 1:\n    pass\nelse:\n    HERE",
    "for one in ():\n    HERE",
    "while 0:\n    pass\nelse:\n    HERE",
    "with one:\n    HERE",
    "try:\n    HERE\nfinally:\n    pass",
    "try:\n    pass\nexcept ValueError:\n    HERE",
    "try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    HERE",
    "try:\n    pass\nfinally:\n    HERE",
    "match 1:\n    case 1:\n        HERE",
    "class One:\n    def two(self):\n        HERE",
    "async def one():\n    async with two:\n        HERE",
    "one = 1; HERE",
)


@pytest.mark.parametrize("place", PLACES)
def test_an_import_is_seen_wherever_it_stands(tree, place):
    start = tree / "proofs_checks/papers/rope.py"
    start.write_text(place.replace("HERE", "import lengthgen.circuits.task"))
    assert tree / "circuits/task.py" in reading.code_read(start, tree)


def test_a_file_that_is_half_written_is_read_and_imports_nothing(tree):
    start = tree / "proofs_checks/papers/rope.py"
    before = digest(start, tree)
    start.write_text("from lengthgen.theory import (")
    assert reading.code_read(start, tree) == (start,)
    assert digest(start, tree) != before


def test_the_place_of_a_check_is_its_file_and_function():
    claim = registry.find("grape-5")
    path, _, function = reading.decided_at(claim).partition("#")
    assert path.startswith("proofs_checks/papers/grape")
    assert f"\ndef {function}(" in (ROOT / path).read_text()
    assert reading.decided_at(toys.CLAIMS["toy-0"]).startswith("toys.py#")
