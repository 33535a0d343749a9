"""Modules beside a user's file: the file may import them, as a script may, and what it computes depends on them."""

import ast
import hashlib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
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

    Imports count wherever they stand.  Whatever reaches `importlib.import_module`, `runpy.run_path` or `sys.path` is
    mostly a text in the code, so every module counts whose name or path is such a text, and every folder is searched.

    Raises:
        LengthgenError, OSError: as for `own_text`.
    """
    start = path.resolve()
    files: set[Path] = set()
    modules = {start}
    while not modules <= files:
        files |= modules
        contents = {file: _read(file) for file in files if file.suffix in SOURCE_SUFFIXES and file.is_file()}
        # A link beside the file is a module beside it, wherever it leads.  `isfile` takes texts of any length.
        named = {Path(os.path.normpath(place)) for place in _named(contents, start.parent) if os.path.isfile(place)}
        modules = {file for file in named if file.is_relative_to(start.parent) and not _is_of_project(file)}
    return (path, *sorted(files - {start}))


def _read(file: Path) -> bytes:
    """Content of a file; line endings do not count."""
    return read_bytes(file, largest=LARGEST).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _named(contents: Mapping[Path, bytes], folder: Path) -> Iterator[str]:
    """Places where the modules would be that some files, each with its content, import or name."""
    above = {
        file: [str(place) for place in (file.parent, *file.parent.parents) if place.is_relative_to(folder)]
        for file in contents
    }
    texts = {file: _texts(content) for file, content in contents.items()}
    inner = {os.path.join(place, text) for file in contents for place in above[file] for text in texts[file]}
    on_path = {place for place in inner if os.path.isdir(place)}  # for all files, as `sys.path` is
    for file, content in contents.items():
        places = {*above[file], *on_path}
        yield from (os.path.join(place, text) for place in places for text in texts[file] if text.endswith(SUFFIXES))
        package = ".".join(file.parent.relative_to(folder).parts)
        for name in {*(text.lstrip(".") for text in texts[file]), *imported_names(content, package)}:
            parts = name.split(".")
            if all(part.isidentifier() for part in parts):
                # Imported from a folder above, a module beside the file has its folder's name before its own.
                own = [end for end in range(1, len(parts)) if folder.parts[-end:] == (*parts[:end],)]
                for module in [*((place, *parts) for place in places), *((str(folder), *parts[end:]) for end in own)]:
                    for end in range(2, len(module) + 1):
                        stem = os.path.join(*module[:end])
                        yield from (stem + tail for suffix in SUFFIXES for tail in (suffix, f"/__init__{suffix}"))


@lru_cache(maxsize=256)
def _texts(content: bytes) -> frozenset[str]:
    """Texts in a Python file that may be the name or the path of a module or of a folder, or the end of one."""
    try:
        nodes = [*ast.walk(ast.parse(content))]
    except (SyntaxError, ValueError, RecursionError):  # it cannot be run either
        return frozenset()
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    ends = {text.lstrip("/") for text in texts}  # f"{folder}/name.py"
    return frozenset(text for text in texts | ends if text.strip("./") and text.isprintable())


def _is_of_project(file: Path) -> bool:
    return file.is_relative_to(PROJECT) and file.relative_to(PROJECT).parts[0] in PACKAGES


def let_import_beside(path: Path) -> None:
    """Let a user's file, and the modules beside it, import the modules beside it, each as its text is now.

    As for a script, those that it imports come before installed packages of the same name that are not loaded yet.  If
    two folders have modules of one name, each file gets its own; only a function that imports one when it is called
    gets that of the file that was run last.
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
    here.files |= {*own_files(path)}
    _forget(here, others)


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
        files: the files in the folder that were run, and the modules that count for them (`own_files`).
        found: full names of the modules that it has found.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: set[Path] = set()
        self.found: dict[str, ModuleSpec] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module in the folder or in a package that was found there, or one of `files` as Python finds it."""
        spec = None
        if path is None or name.partition(".")[0] in self.found:
            spec = self._beside(name, [str(self.folder)] if path is None else path)
        if spec is None and any(name.rpartition(".")[2] in (file.stem, file.parent.name) for file in self.files):
            spec = PathFinder.find_spec(name, path)
            if not self.counts(spec):
                return None
            if spec and spec.origin and isinstance(spec.loader, SourceFileLoader):
                spec.loader = _Fresh(name, spec.origin)
        if spec:
            self.found[name] = spec
        return spec

    def _beside(self, name: str, places: Sequence[str]) -> ModuleSpec | None:
        """Find a module in one of some folders."""
        for place in places:
            finder = FileFinder(place, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_Fresh, SOURCE_SUFFIXES))
            spec = finder.find_spec(name)
            if spec and not self._gives_way(name, spec):
                return spec
        return None

    def counts(self, spec: ModuleSpec | None) -> bool:
        """True if the file of a module is one of `files`."""
        origin = getattr(spec, "origin", None) or ""
        return any(
            origin.endswith(file.name) and os.path.realpath(origin) == os.path.realpath(file) for file in self.files
        )

    def _gives_way(self, name: str, spec: ModuleSpec) -> bool:
        """True for a package of the project, and for what others may import of a name that an installed package has.

        Of such a name, a folder without __init__.py gives way, and a module that the user's files neither import nor
        name: the libraries would import it in place of their own.
        """
        if "." in name:
            return False
        if _is_of_project(self.folder / name):
            return True
        return (spec.loader is None or not self.counts(spec)) and PathFinder.find_spec(name) is not None


def _forget(here: _Beside, others: Sequence[_Beside]) -> None:
    """Take away loaded modules that a file in the folder may import, and that are not as they would be found now.

    One of `here.files` that other code has loaded may be of an older text.

    Args:
        here: the finder of the folder.
        others: the finders of other folders: their modules give way to those of the same name.
    """
    loaded = {name: module.__spec__ for name, module in [*sys.modules.items()] if hasattr(module, "__spec__")}
    own_modules = [name for name, spec in here.found.items() if loaded.get(name) is spec]
    changed = any(not _is_as_read(here.found[name].loader) for name in own_modules)
    mine = _packages(own_modules)
    of_others = _packages(name for finder in others for name, spec in finder.found.items() if loaded.get(name) is spec)
    of_file = _packages(name for name, spec in loaded.items() if here.counts(spec)) - {"__main__", "__mp_main__"}
    for top in _packages(loaded):
        if top in mine:
            gone = changed
        elif top in of_others:
            gone = here.find_spec(top) is not None
        else:
            gone = top in of_file
        if gone:
            for name in [name for name in loaded if name == top or name.startswith(f"{top}.")]:
                del sys.modules[name]


def _packages(names: Iterable[str]) -> set[str]:
    """Names of modules without what follows the first dot."""
    return {name.partition(".")[0] for name in names}


def _is_as_read(loader: Any) -> bool:
    """False if the file of a module has another text than the one that was loaded."""
    if not isinstance(loader, _Fresh):
        return True
    try:
        return loader.get_data(loader.path) == loader.text
    except (OSError, AttributeError):  # it is gone, or could not be compiled
        return False
