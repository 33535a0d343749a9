"""Modules beside a user's file: the file may import them, as a script may, and what it computes depends on them."""

import ast
import hashlib
import importlib
import os
import sys
from collections.abc import Container, Iterator, Sequence
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from theory.system.files import read_bytes
from theory.system.imports import imported_names

LARGEST = 16 << 20
"""Largest number of bytes of a Python file that is run."""
SUFFIXES = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)
PROJECT = Path(__file__).parents[2]
PACKAGES = ("theory", "circuits", "empirical", "proofs_checks", "paper_figs", "lengthgen")
"""Packages of the project: they are no neighbours of a file that lies beside them."""


def own_text(path: Path) -> str:
    """Text of the user's file, then name and hash of every module of `own_files`: what a result depends on.

    Raises:
        LengthgenError: a file is no regular file, or has more than LARGEST bytes.
        OSError: a file cannot be read.
    """
    start, *modules = own_files(path)
    folder = path.resolve().parent
    hashes = [
        f"\n# {module.relative_to(folder).as_posix()} {hashlib.sha256(_read(module)).hexdigest()}" for module in modules
    ]
    return _read(start).decode("utf-8", "surrogateescape") + "".join(hashes)


def own_files(path: Path) -> tuple[Path, ...]:
    """User's file, then every module in its folder or below that it imports or names, directly or not, by path.

    Imports count wherever they stand.  Whatever reaches `importlib.import_module` or `runpy.run_path` is mostly a text
    in the code, so every module counts whose name or path is such a text.

    Raises:
        LengthgenError, OSError: as for `own_text`.
    """
    start = path.resolve()
    folder, seen, waiting = start.parent, set[Path](), [start]
    while waiting:
        file = waiting.pop()
        if file not in seen:
            seen.add(file)
            if file.suffix in SOURCE_SUFFIXES and file.is_file():
                # A link beside the file is a module beside it, wherever it leads.
                modules = (Path(os.path.normpath(named)) for named in _named(file, folder) if named.is_file())
                waiting += [each for each in modules if each.is_relative_to(folder) and not _is_of_project(each)]
    return (path, *sorted(seen - {start}))


def _read(file: Path) -> bytes:
    """Content of a file; line endings do not count."""
    return read_bytes(file, largest=LARGEST).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _named(file: Path, folder: Path) -> Iterator[Path]:
    """Places where the modules would be that a file imports or names."""
    content = _read(file)
    texts = _texts(content)
    yield from (place / text for text in texts if text.endswith(SUFFIXES) for place in (file.parent, folder))
    for name in {*texts, *imported_names(content, ".".join(file.parent.relative_to(folder).parts))}:
        parts = name.split(".")
        if all(part.isidentifier() for part in parts):
            for end in range(1, len(parts) + 1):
                module = str(folder.joinpath(*parts[:end]))
                yield from (Path(module + tail) for suffix in SUFFIXES for tail in (suffix, f"/__init__{suffix}"))


def _texts(content: bytes) -> set[str]:
    """Texts in a Python file that may be the name or the path of a module."""
    try:
        nodes = [*ast.walk(ast.parse(content))]
    except (SyntaxError, ValueError, RecursionError):  # it cannot be run either
        return set()
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text for text in texts if text.endswith(SUFFIXES) or text.replace(".", "").isidentifier()}


def _is_of_project(file: Path) -> bool:
    return file.is_relative_to(PROJECT) and file.relative_to(PROJECT).parts[0] in PACKAGES


def let_import_beside(path: Path) -> None:
    """Let a user's file, and the modules beside it, import the modules beside it, each as its text is now.

    As for a script, they come before installed packages of the same name.  If two folders have modules of one name,
    each file gets its own; only a function that imports one when it is called gets that of the file that was run last.
    """
    folder = path.resolve().parent
    finders = [finder for finder in sys.meta_path if isinstance(finder, _Beside)]
    here = next((finder for finder in finders if finder.folder == folder), _Beside(folder))
    others = [finder for finder in finders if finder is not here]
    for finder in finders:
        sys.meta_path.remove(finder)
    at = sys.meta_path.index(PathFinder)
    sys.meta_path[at:at] = [here, *others]
    importlib.invalidate_caches()
    _forget(here, others, {str(file) for file in own_files(path)})


class _Fresh(SourceFileLoader):
    """Loader that compiles the text: byte code on disk would pass for that of every text of the same second."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text, and remember it."""
        self.text = self.get_data(self.path)
        code: CodeType = self.source_to_code(self.text, self.path)
        return code


class _Beside:
    """Finder of the modules in one folder, for `sys.meta_path`.

    Attributes:
        found: full names of the modules that it has found.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: dict[str, ModuleSpec] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module in the folder, or in a package that was found there."""
        if path is not None and name.partition(".")[0] not in self.found:
            return None
        for place in [str(self.folder)] if path is None else path:
            finder = FileFinder(place, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_Fresh, SOURCE_SUFFIXES))
            spec = finder.find_spec(name)
            if spec and not self._gives_way(name, spec):
                self.found[name] = spec
                return spec
        return None

    def _gives_way(self, name: str, spec: ModuleSpec) -> bool:
        """True for a package of the project, and for a folder without __init__.py if there is a package of its name."""
        if "." in name:
            return False
        return _is_of_project(self.folder / name) or (spec.loader is None and PathFinder.find_spec(name) is not None)


def _forget(here: _Beside, others: Sequence[_Beside], read: Container[str]) -> None:
    """Take away loaded modules that a file in the folder may import, and that are not as they would be found now.

    Args:
        here: the finder of the folder.
        others: the finders of other folders: their modules give way to those of the same name.
        read: paths of the modules that the file imports; one that other code has loaded may be of an older text.
    """
    loaded = {name: module.__spec__ for name, module in [*sys.modules.items()] if hasattr(module, "__spec__")}
    mine = {name for name, spec in here.found.items() if loaded.get(name) is spec}
    changed = any(not _is_as_read(here.found[name].loader) for name in mine)
    of_others = {name for finder in others for name, spec in finder.found.items() if loaded.get(name) is spec}
    for top in {name.partition(".")[0] for name in loaded}:
        if top in mine:
            gone = changed
        elif top in of_others:
            gone = here.find_spec(top) is not None
        else:
            gone = getattr(loaded.get(top), "origin", None) in read
        if gone:
            for name in [name for name in loaded if name == top or name.startswith(f"{top}.")]:
                del sys.modules[name]


def _is_as_read(loader: Any) -> bool:
    """False if the file of a module has another text than the one that was loaded."""
    if not isinstance(loader, _Fresh):
        return True
    try:
        return loader.get_data(loader.path) == loader.text
    except (OSError, AttributeError):  # it is gone, or could not be compiled
        return False
