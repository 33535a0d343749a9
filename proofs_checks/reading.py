"""Find the code that a claim reads, without running it: the module that lists the claim and all that this imports.

Imports are found by reading the import statements of each file, wherever they stand; a file that imports
`sibling_modules` reads all modules beside it. Two things are not seen: modules imported under another computed name,
and what a package's `__init__` does to other modules if no name is taken from it.
"""

import hashlib
import inspect
import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from lengthgen.infrastructure.digests import HOME
from lengthgen.infrastructure.imports import imported_names
from lengthgen.proofs_checks.claim import Claim

PACKAGES = ("infrastructure", "theory", "circuits", "empirical", "proofs_checks")
"""Packages in `lengthgen` that a claim may read."""
FINDS_SIBLINGS = "lengthgen.infrastructure.discovery.sibling_modules"
"""A module that imports this function imports every module beside it."""


def code_read(start: Path, root: Path = HOME) -> tuple[Path, ...]:
    """Return the file and every project file that it imports, directly or not, in order of their paths.

    Files of the project are below `root`, the folder of the package `lengthgen`, and are named as Python finds them
    there.  A file outside the project's packages may import its neighbours as well.
    """
    return all_code_read([start], root)[start]


def all_code_read(starts: Iterable[Path], root: Path = HOME) -> dict[Path, tuple[Path, ...]]:
    """Return start file -> the files of `code_read`; each file is read once for all of them."""
    imported_files = cache(_imported_files)
    return {start: _follow(start, root, imported_files) for start in starts}


def digests(starts: Iterable[Path], root: Path = HOME) -> dict[Path, str]:
    """Return start file -> hash of the names and texts of all files that it reads, wherever the project is stored."""
    file_hash = cache(_named_hash)
    hashes = {}
    for start, paths in all_code_read(starts, root).items():
        lines = sorted(file_hash(path, root) for path in paths)
        hashes[start] = hashlib.sha256("".join(lines).encode()).hexdigest()
    return hashes


def decided_at(claim: Claim, root: Path = HOME) -> str:
    """Return the place of the claim's check, such as `proofs_checks/papers/yarn.py#ramp`; empty if it has no code."""
    code = getattr(inspect.unwrap(claim.check), "__code__", None)
    if code is None:
        return ""
    path = Path(code.co_filename)
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    return f"{name}#{code.co_name}"


def _follow(
    start: Path, root: Path, imported_files: Callable[[Path, Path, Path | None], list[Path]]
) -> tuple[Path, ...]:
    """The file and all files that it imports, directly or not, in order of their paths."""
    start = start if _within(start, root) else start.resolve()
    neighbours = None if _within(start, root) else start.parent
    seen: set[Path] = set()
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += imported_files(path, root, neighbours)
    return tuple(sorted(seen))


def _imported_files(path: Path, root: Path, neighbours: Path | None) -> list[Path]:
    """Files of the modules and packages that a file imports, if they belong to the project or are neighbours."""
    package = ".".join(("lengthgen", *path.parent.relative_to(root).parts)) if _within(path, root) else ""
    files = []
    imported = imported_names(path.read_bytes(), package)
    for name in imported:
        parts = name.split(".")
        of_project = parts[0] == "lengthgen" and parts[1:2] != [] and parts[1] in PACKAGES
        folder = root.parent if of_project else neighbours
        if folder:
            module = os.path.join(folder, *parts)
            files += [file for file in (os.path.join(module, "__init__.py"), f"{module}.py") if os.path.isfile(file)]
    if FINDS_SIBLINGS in imported:
        files += map(str, sorted(path.parent.glob("*.py")))
    return [Path(file) for file in files]


def _named_hash(path: Path, root: Path) -> str:
    """Line with the name of a file and the hash of its text."""
    name = path.relative_to(root).as_posix() if _within(path, root) else path.name
    return f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def _within(path: Path, root: Path) -> bool:
    """True if the path is in one of the project's packages."""
    return path.is_relative_to(root) and path.relative_to(root).parts[0] in PACKAGES
