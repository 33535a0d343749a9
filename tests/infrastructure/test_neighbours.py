"""Modules beside a user's file: it may import them, and what depends on the file depends on them."""

import importlib
import shutil
import sys

import pytest

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.neighbours import own_files, own_text
from lengthgen.infrastructure.userfile import load_object


def write(folder, texts=None, **more):
    """Write modules: name or path without ".py" -> text."""
    for name, text in {**(texts or {}), **more}.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def value(folder, name="value"):
    return load_object(f"{folder / 'own.py'}:{name}", what="test", error=LengthgenError)


IMPORTS = {
    "import": "import helper\nvalue = helper.number",
    "from": "from helper import number as value",
    "star": "from helper import *\nvalue = number",
    "inside": "def ask():\n    import helper\n    return helper.number\nvalue = ask()",
    "as text": "import importlib\nvalue = importlib.import_module('helper').number",
    "run": "import os, runpy\nvalue = runpy.run_path(os.path.dirname(__file__) + '/' + 'helper.py')['number']",
}


@pytest.mark.parametrize("text", IMPORTS.values(), ids=IMPORTS)
def test_a_neighbour_is_found_and_counts_whichever_way_it_is_imported(tmp_path, text):
    write(tmp_path, own=text, helper="number = 1", other="")
    assert value(tmp_path) == 1
    before = own_text(tmp_path / "own.py")
    write(tmp_path, other="number = 7")
    assert own_text(tmp_path / "own.py") == before, "it is not imported"
    write(tmp_path, helper="number = 2")  # in the same second, with the same number of bytes
    assert own_text(tmp_path / "own.py") != before
    assert value(tmp_path) == 2, "the text as it is now, in the same process"


IN_FOLDERS = {
    "on the path": (
        "import sys\nfrom pathlib import Path\nsys.path.insert(0, str(Path(__file__).parent / 'code'))\nimport near\n"
        "value = near.number",
        "code/near",
    ),
    "run": (
        "import runpy\nfrom pathlib import Path\n"
        "value = runpy.run_path(str(Path(__file__).parent / 'code' / 'near.py'))['number']",
        "code/near",
    ),
    "format": ("import os, runpy\nvalue = runpy.run_path(f'{os.path.dirname(__file__)}/near.py')['number']", "near"),
    "all": ("from package import *\nvalue = near.number", "package/near"),
    "relative": ("from package.lazy import near\nvalue = near.number", "package/near"),
    "from above": ("from here.near import number as value", "near"),
}


@pytest.mark.parametrize(("text", "module"), IN_FOLDERS.values(), ids=IN_FOLDERS)
def test_a_module_in_the_folder_counts_whatever_python_needs_to_find_it(tmp_path, monkeypatch, text, module):
    folder = tmp_path / "here"
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    lazy = "import importlib\nnear = importlib.import_module('.near', 'package')"
    write(folder, {"own": text, "package/__init__": "__all__ = ['near']", "package/lazy": lazy, module: "number = 1"})
    assert value(folder) == 1
    before = own_text(folder / "own.py")
    write(folder, {module: "number = 2"})  # in the same second, with the same number of bytes
    assert own_text(folder / "own.py") != before and value(folder) == 2


def test_the_path_counts_for_the_modules_beside_too(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    own = f"import sys\nsys.path.append({str(tmp_path.resolve() / 'code')!r})\nfrom helper import number as value"
    write(tmp_path, {"own": own, "helper": "from far_in import number", "code/far_in": "number = 1"})
    assert value(tmp_path) == 1
    write(tmp_path, {"code/far_in": "number = 2"})
    assert value(tmp_path) == 2 and len(own_files(tmp_path / "own.py")) == 3


@pytest.mark.parametrize("text", ["a" * 300, "a" * 300 + ".py", "a\\0b.py", "\\udc80.py", "...", "/", ""])
def test_a_text_that_can_name_no_file_is_no_module(tmp_path, text):
    write(tmp_path, own=f"value = '{text}'")
    assert isinstance(value(tmp_path), str) and own_files(tmp_path / "own.py") == (tmp_path / "own.py",)


def test_a_module_that_is_named_but_cannot_be_read_by_python_is_no_error(tmp_path):
    write(tmp_path, own="value = 'helper'", helper="+".join(["1"] * 20_000))
    assert value(tmp_path) == "helper" and len(own_files(tmp_path / "own.py")) == 2


def test_packages_with_and_without_init_and_neighbours_of_neighbours_count(tmp_path):
    write(
        tmp_path,
        {
            "own": "from package.deep.inner import number\nfrom loose.module import other\nvalue = number + other",
            "package/__init__": "",
            "package/deep/__init__": "",
            "package/deep/inner": "from ..near import number",
            "package/near": "from package import deep\nnumber = 1",
            "loose/module": "other = 10",
        },
    )
    assert value(tmp_path) == 11
    names = {path.relative_to(tmp_path.resolve()).as_posix() for path in own_files(tmp_path / "own.py")}
    assert names == {
        "own.py", "package/__init__.py", "package/deep/__init__.py", "package/deep/inner.py", "package/near.py",
        "loose/module.py",
    }  # fmt: skip
    write(tmp_path, {"package/near": "number = 2"})
    assert value(tmp_path) == 12


def test_a_function_may_import_a_neighbour_when_it_is_called(tmp_path):
    write(tmp_path, own="def value():\n    from helper import number\n    return number", helper="number = 5")
    assert value(tmp_path)() == 5


def test_modules_of_one_name_in_two_folders_are_each_their_own(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    write(first, own="import helper\nvalue = lambda: helper.number", helper="number = 1")
    write(second, own="import helper\nvalue = lambda: helper.number", helper="number = 2")
    values = [value(folder) for folder in (first, second, first)]
    assert [ask() for ask in values] == [1, 2, 1]


def test_a_folder_that_is_gone_is_searched_no_more_and_its_modules_are_forgotten(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    write(first, own="import helper\nvalue = helper.number", helper="number = 1")
    write(second, own="value = 2")
    assert value(first) == 1
    shutil.rmtree(first)
    assert value(second) == 2 and "helper" not in sys.modules
    assert first.resolve() not in [getattr(finder, "folder", None) for finder in sys.meta_path]


def test_a_neighbour_that_other_code_has_loaded_is_loaded_again(tmp_path, monkeypatch):
    """A notebook may import its helper itself, and the text may have changed since."""
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, own="from helper_of_a_notebook import number as value", helper_of_a_notebook="number = 1", test="")
    helper, test = (importlib.import_module(name) for name in ("helper_of_a_notebook", "test"))
    write(tmp_path, helper_of_a_notebook="number = 2")
    assert value(tmp_path) == 2 and helper.number == 1
    assert sys.modules["test"] is test, "the file does not import it"


def test_an_unchanged_neighbour_is_loaded_once(tmp_path):
    write(tmp_path, own="from helper import Number as value", helper="class Number:\n    pass")
    assert value(tmp_path) is value(tmp_path)


def test_a_library_that_is_loaded_is_no_neighbour_and_one_that_is_not_is(tmp_path, monkeypatch):
    """The page "What you can rely on" says so.  To take `random` away from the libraries that use it would end them."""
    own = "import random, colorsys\nvalue = random.Random, colorsys.number"
    write(tmp_path, own=own, random="", colorsys="number = 1")
    import random

    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert value(tmp_path) == (random.Random, 1)
    assert importlib.import_module("colorsys").hsv_to_rgb, "other code gets the library"


def test_a_library_that_the_file_does_not_import_stays_itself(tmp_path, monkeypatch):
    """The libraries of lengthgen are loaded when they are needed: `torch` after the user's file."""
    write(tmp_path, own="value = 1", colorsys="number = 1")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert value(tmp_path) == 1
    assert hasattr(importlib.import_module("colorsys"), "rgb_to_hls")


def test_installed_libraries_and_the_project_are_no_neighbours(tmp_path, monkeypatch):
    """Folders beside the file hide neither, as long as they are no packages."""
    own = "import sympy, lengthgen.theory.relation\nvalue = sympy.Integer"
    write(tmp_path, {"sympy/notes": "", "lengthgen/theory/relation": "1/0"}, own=own)
    assert value(tmp_path)(1) == 1
    from lengthgen.infrastructure import neighbours

    monkeypatch.setattr(neighbours, "HOME", tmp_path / "lengthgen")
    assert own_files(tmp_path / "own.py") == (tmp_path / "own.py",)
    (tmp_path / "lengthgen" / "theory").rename(tmp_path / "theory")
    neighbours._project.cache_clear()
    assert own_files(tmp_path / "own.py") != (tmp_path / "own.py",), "a folder that is not linked to"
    (tmp_path / "lengthgen" / "theory").symlink_to(tmp_path / "theory")
    neighbours._project.cache_clear()
    assert own_files(tmp_path / "own.py") == (tmp_path / "own.py",)


def test_text_outside_the_folder_and_line_endings_do_not_count(tmp_path):
    folder = tmp_path / "here"
    write(tmp_path, outside="number = 1")
    write(folder, own="'../outside.py'\nimport helper\n", helper="number = 1\n")
    assert [path.name for path in own_files(folder / "own.py")] == ["own.py", "helper.py"]
    before = own_text(folder / "own.py")
    for path in folder.glob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert own_text(folder / "own.py") == before


def test_a_link_to_a_module_elsewhere_is_a_module_beside_the_file(tmp_path):
    folder = tmp_path / "here"
    write(folder, own="from helper import number as value")
    write(tmp_path, shared="number = 1")
    (folder / "helper.py").symlink_to(tmp_path / "shared.py")
    assert value(folder) == 1
    before = own_text(folder / "own.py")
    write(tmp_path, shared="number = 2")
    assert own_text(folder / "own.py") != before and value(folder) == 2


def test_data_and_modules_of_computed_names_do_not_count(tmp_path):
    """The page "What you can rely on" says so."""
    write(tmp_path, own="import importlib\nopen('data.txt')\nimportlib.import_module('help' + 'er')", helper="")
    (tmp_path / "data.txt").touch()
    assert own_files(tmp_path / "own.py") == (tmp_path / "own.py",)


def test_a_neighbour_that_fails_is_named_with_the_file(tmp_path):
    write(tmp_path, own="import helper", helper="1/0")
    with pytest.raises(LengthgenError, match=r"own\.py' fails: ZeroDivisionError"):
        value(tmp_path)
    write(tmp_path, helper="value = 3", own="from helper import value")
    assert value(tmp_path) == 3
