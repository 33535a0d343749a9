"""Modules beside a user's file: the file may import them, as a script may, and what it computes depends on them."""

import ast
import hashlib
import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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

from lengthgen.infrastructure.digests import HOME
from lengthgen.infrastructure.files import read_bytes
from lengthgen.infrastructure.imports import imported_names

LARGEST = 16 << 20
"""Largest number of bytes of a Python file that is run."""
SUFFIXES = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)


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

    A module counts if its name, and those of the folders on the way to it, are parts of what the file or a module that
    counts imports or has as a text without spaces: a module may be found by a text in `importlib.import_module`,
    `runpy.run_path`, `sys.path` or `__all__`.  Rather one too many counts than one too few.

    Raises:
        LengthgenError, OSError: as for `own_text`.
    """
    start = path.resolve()
    files, named = set[Path](), {start} if start.is_file() else set[Path]()
    while not named <= files:
        files |= named
        sources = [_read(file) for file in files if file.suffix in SOURCE_SUFFIXES and file.is_file()]
        named = {*_modules(start.parent, frozenset().union(*map(_words, sources)), set())}
    return (path, *sorted(files - {start}))


def _read(file: Path) -> bytes:
    """Content of a file; line endings do not count."""
    return read_bytes(file, largest=LARGEST).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _modules(folder: Path, words: frozenset[str], entered: set[str]) -> Iterator[Path]:
    """Yield the modules in a folder, and in those below it, whose names are among the words."""
    entered.add(os.path.realpath(folder))  # links may lead in a circle
    with os.scandir(folder) as entries:
        for entry in entries:
            stem, path = entry.name.partition(".")[0], Path(entry.path)
            if (stem not in words and stem != "__init__") or _is_of_project(path):
                continue
            if entry.name.endswith(SUFFIXES) and entry.is_file():
                yield path
            elif entry.is_dir() and os.path.realpath(path) not in entered:
                yield from _modules(path, words, entered)


@lru_cache(maxsize=256)
def _words(content: bytes) -> frozenset[str]:
    """Identifiers in what a Python file imports, and in its texts without spaces."""
    try:
        nodes = [*ast.walk(ast.parse(content))]
    except (SyntaxError, ValueError, RecursionError):  # it cannot be run either
        return frozenset()
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = [*imported_names(content, ""), *(text for text in texts if len(text.split()) == 1)]
    return frozenset(word for name in names for word in re.split(r"\W", name))


def _is_of_project(file: Path) -> bool:
    """True for a file or folder of the project: it is no neighbour of a user's file that lies beside it."""
    return any(file.resolve().is_relative_to(folder) for folder in _project(HOME))


@lru_cache(maxsize=1)
def _project(home: Path) -> tuple[Path, ...]:
    """Folder of the package, and the folders of a clone that it has links to."""
    return tuple(path.resolve() for path in (home, *(path for path in home.iterdir() if path.is_symlink())))


@contextmanager
def importing_beside(path: Path) -> Iterator[None]:
    """Context manager in which a user's file and the modules beside it can import these, each as its text is now.

    As for a script, those that it imports come before installed packages of the same name that are not loaded yet.
    Later, a function of the file that imports one when it is called gets it too, but then installed packages come
    first, since other code may import them.  If two folders have modules of one name, each file gets its own; only such
    a function gets that of the file that was run last.
    """
    folder = path.resolve().parent
    finders = [finder for finder in sys.meta_path if isinstance(finder, _Beside)]
    here = next((finder for finder in finders if finder.folder == folder), _Beside(folder))
    others = [finder for finder in finders if finder is not here]
    for finder in finders:
        sys.meta_path.remove(finder)
        if finder in others and not finder.folder.is_dir():
            others.remove(finder)
            for name in _packages(finder.loaded()):
                _unload(name)
    place = sys.meta_path.index(PathFinder)
    sys.meta_path[place:place] = [here, *others]
    importlib.invalidate_caches()
    here.files |= {*own_files(path)}
    _forget(here, others)
    here.before_libraries = True
    try:
        yield
    finally:
        here.before_libraries = False
        for name in _packages(here.loaded()):
            library = PathFinder.find_spec(name)
            if library and not here.counts(library):
                _unload(name)


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
        before_libraries: whether its modules come before installed packages of the same name.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before_libraries = False
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

    def loaded(self) -> list[str]:
        """Full names of the modules that it has found and that are loaded."""
        return [name for name, spec in self.found.items() if getattr(sys.modules.get(name), "__spec__", None) is spec]

    def counts(self, spec: ModuleSpec | None) -> bool:
        """True if the file of a module is one of `files`."""
        origin = getattr(spec, "origin", None) or ""
        return any(
            origin.endswith(file.name) and os.path.realpath(origin) == os.path.realpath(file) for file in self.files
        )

    def _gives_way(self, name: str, spec: ModuleSpec) -> bool:
        """True for a package of the project, and if an installed package of the name comes first.

        It does before a folder without __init__.py, and before a module that the user's files do not import: libraries
        would get that in place of their own.
        """
        if "." in name:
            return False
        if _is_of_project(self.folder / name):
            return True
        if self.before_libraries and spec.loader is not None and self.counts(spec):
            return False
        library = PathFinder.find_spec(name)
        return library is not None and not self.counts(library)


def _forget(here: _Beside, others: Sequence[_Beside]) -> None:
    """Take away loaded modules that a file in the folder may import, and that are not as they would be found now.

    One of `here.files` that other code has loaded may be of an older text. Modules of other folders give way to those
    of the same name.
    """
    loaded = here.loaded()
    changed = any(not _is_as_read(here.found[name].loader) for name in loaded)
    mine, of_others = _packages(loaded), _packages(name for finder in others for name in finder.loaded())
    specs = {name: getattr(module, "__spec__", None) for name, module in [*sys.modules.items()]}
    of_file = _packages(name for name, spec in specs.items() if here.counts(spec)) - {"__main__", "__mp_main__"}
    for top in _packages(specs):
        if top in mine:
            gone = changed
        elif top in of_others:
            gone = here.find_spec(top) is not None
        else:
            gone = top in of_file
        if gone:
            _unload(top)


def _unload(package: str) -> None:
    """Take away a loaded module and all below it."""
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
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
