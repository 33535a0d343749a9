"""The package as its users get it: a wheel with all files, public names, a version, and a citation that fits."""

import ast
import importlib.util
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import lengthgen
from tools.environment import lowest_versions

ROOT = Path(__file__).parents[1]
FOLDERS = ("theory", "circuits", "empirical", "proofs_checks", "paper_figs", "lengthgen")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[2])(sys.argv[1]))"
NEED_TORCH = (
    "lengthgen.empirical.audit.lawful",
    "lengthgen.empirical.encodings.base",
    "lengthgen.empirical.experiment.store",
    "lengthgen.questions.auditing",
)
USE = """
import sys
from importlib.metadata import version

import lengthgen
from lengthgen import Task, load_task, predict, analyse, parse_encoding

place, *torch_names = sys.argv[1:]
assert lengthgen.__file__.startswith(place), lengthgen.__file__
for name in set(dir(lengthgen)) - set(torch_names):
    assert getattr(lengthgen, name) is not None
parity = analyse(load_task("parity"), "aligned", 4)
prediction = predict(parity, parse_encoding("ipe"), train=range(1, 4), test=range(1, 5))
from lengthgen.empirical.studies.court.published.load import published_cells
from lengthgen.empirical.experiment.protocol import load_profile, load_protocol, names
from lengthgen.empirical.studies.verdict.preregistration import load_preregistration
assert load_profile("quick") and load_protocol(names()[0], "paper") and load_preregistration("random-tasks")
assert len(published_cells()) == 187
from importlib import import_module
assert [import_module(name).name for name in ("circuits", "theory")] == ["the other circuits", "the other theory"]
print(prediction.generalizes, version("lengthgen"))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Wheel of the project, built without network from a copy, as building writes into the folder."""
    return built(tmp_path_factory.mktemp("wheel"), "build_wheel")


def built(folder: Path, how: str) -> Path:
    """Wheel that setuptools builds, a usual one or one for an editable installation, from a copy in FOLDER/source."""
    source = folder / "source"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-c", BUILD, str(folder), how]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[-1]


def test_the_wheel_holds_every_file_of_the_packages_in_one_package_and_nothing_else(wheel) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = {
        str(Path("" if folder == "lengthgen" else "lengthgen") / path.relative_to(ROOT))
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".md"
    }
    assert names == files
    assert {name.partition("/")[0] for name in names} == {"lengthgen"}


def test_the_installed_wheel_works_elsewhere(wheel, tmp_path) -> None:
    """pip installs it without network; its data files are read, and every public name that needs no torch is there.

    It is imported beside other packages that have the names of its rooms.
    """
    place = tmp_path / "installed"
    for foreign in ("circuits", "theory"):
        (tmp_path / foreign).mkdir()
        (tmp_path / foreign / "__init__.py").write_text(f"name = 'the other {foreign}'\n")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*pip, "--target", str(place), str(wheel)], check=True, cwd=tmp_path)
    torch_names = [name for name, (module, _) in lengthgen._public().items() if module in NEED_TORCH]
    command = [sys.executable, "-c", USE, str(place), *torch_names]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(place)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"True {PROJECT['version']}\n"), done.stderr


def test_an_editable_installation_is_a_path_that_tools_can_read(tmp_path) -> None:
    """jedi and pyright read the lines of a .pth file that are paths; a hook of imports is nothing to them."""
    with zipfile.ZipFile(built(tmp_path, "build_editable")) as archive:
        [path] = [name for name in archive.namelist() if name.endswith(".pth")]
        assert archive.read(path).decode().split() == [str(tmp_path / "source")]


ABSENT = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "safetensors", "pyarrow"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
"""


@pytest.mark.parametrize("extra", [True, False])
def test_a_star_import_brings_what_is_installed(extra: bool) -> None:
    """Without the extra `train` it leaves out what needs torch, and asking for that says what to install."""
    star = "from lengthgen import *\nimport lengthgen\nprint(*{*dir(lengthgen)} - {*globals()})\n"
    code = ("" if extra else ABSENT) + star + "from lengthgen import audit"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    needs_torch = {"PairBias", "PositionEncoding", "assert_lawful", "audit"}
    assert {*done.stdout.split()} == (set() if extra else needs_torch)
    assert done.returncode == (0 if extra else 1), done.stderr
    assert extra or "ModuleNotFoundError: this needs torch: pip install torch --index-url" in done.stderr


def test_public_names_exist_and_hide_no_module() -> None:
    public = lengthgen._public()
    assert len(public) == len(dir(lengthgen)) > 70
    stub = ast.parse((ROOT / "lengthgen" / "__init__.pyi").read_text(encoding="utf-8"))
    assert sorted(ast.literal_eval(stub.body[-1].value)) == sorted(public), "`__all__`"
    imported = [alias for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert [alias.name for alias in imported if not alias.asname] == [], "jedi takes `X as X` for a public name"
    assert not {module.name for module in pkgutil.iter_modules(lengthgen.__path__)} & {*public}
    for name, (module, attribute) in public.items():
        file = importlib.util.find_spec(module).origin
        assert re.search(rf"\b{attribute}\b", Path(file).read_text(encoding="utf-8")), name
        assert getattr(lengthgen, name) is getattr(lengthgen, name)
    with pytest.raises(AttributeError, match="no public name 'nothing'"):
        _ = lengthgen.nothing


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import re, sys, lengthgen; print([*filter(re.compile('lengthgen[.]|numpy|typer').match, sys.modules)])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_version_and_citation_are_those_of_the_project() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
    assert f"\n  - name: {PROJECT['authors'][0]['name']}\n" in citation
    assert PROJECT["description"] in " ".join(citation.split())
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*?)(?:,.*)?$", changelog, re.MULTILINE)[0] == PROJECT["version"]


def test_each_lowest_version_is_one_with_which_all_tests_passed() -> None:
    """`make lowest` installs exactly these versions, runs the tests and then writes lowest.txt."""
    bounds = [Requirement(text) for text in chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())]
    assert [*map(str, bounds)] == [f"{name}>={version}" for name, version in lowest_versions().items()]
    proved = (ROOT / "lowest.txt").read_text(encoding="utf-8").splitlines()
    assert proved == [f"{name}=={version}" for name, version in lowest_versions().items()], "run `make lowest`"


PERMISSIVE = re.compile("MIT|(3-Clause )?BSD|0BSD|Apache|ISC|PSF|Python Software|CNRI|Zlib|CC0|BSL|LLVM-exception")
"""Beginnings of the names of permissive licences."""


def permissive(licence: str) -> bool:
    """True if all parts of a licence, an SPDX expression or the words of a package, are permissive."""
    return all(PERMISSIVE.match(part.strip("() ")) for part in re.split(r"\b(?:AND|OR|WITH)\b|,", licence))


def licence_of(package: str) -> str:
    """Licence of an installed package by its metadata: SPDX expression, classifiers, or free text."""
    metadata = distribution(package).metadata
    classifiers = [text for text in metadata.get_all("Classifier", []) if text.startswith("License :: ")]
    named = ", ".join(text.rpartition(" :: ")[2] for text in classifiers)
    return str(metadata.get("License-Expression") or named or metadata.get("License", ""))


def installed_with(requirements: Iterable[str]) -> set[str]:
    """Names of all installed packages that requirements need, directly or through others."""
    names: set[str] = set()
    waiting = [*map(Requirement, requirements)]
    while waiting:
        needed = waiting.pop()
        name = canonicalize_name(needed.name)
        if name not in names and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
            with suppress(PackageNotFoundError):
                waiting += map(Requirement, distribution(name).requires or [])
                names.add(name)
    return names


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("MIT", True),
        ("(MIT OR Apache-2.0) AND BSD-3-Clause", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT AND LGPL-3.0-or-later", False),
        ("GNU Library or Lesser General Public License (LGPL)", False),
        ("NVIDIA Proprietary Software", False),
        ("", False),
    ],
)
def test_a_licence_is_permissive_if_all_its_parts_are(licence: str, expected: bool) -> None:
    assert permissive(licence) == expected


def test_each_dependency_has_a_permissive_licence_or_is_named_on_the_page() -> None:
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8").partition("## Licences")[2]
    named = re.findall(r"`([\w*-]+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)))
    groups = chain(PROJECT["optional-dependencies"].values(), SETTINGS["dependency-groups"].values())
    wanted = [text for text in chain(PROJECT["dependencies"], *groups) if isinstance(text, str)]
    licences = {name: licence_of(name) for name in installed_with(wanted)}
    others = {name: licence for name, licence in licences.items() if not permissive(licence)}
    assert {"numpy", "torch", "mpmath"} <= licences.keys() and {"pebble", "frozendict"} <= others.keys()
    assert {name: licence for name, licence in others.items() if not any(fnmatch(name, each) for each in named)} == {}
