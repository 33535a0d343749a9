"""Code that a claim reads: the module that lists it and all project modules that this imports, found without running.

What a module takes from others it names in its import statements, wherever they stand.  Not seen are modules that are
imported by a computed name, and what a package's `__init__` does to others where no name is taken from it.
"""

import ast
import hashlib
import inspect
import os
import platform
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from proofs_checks.claim import Claim

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("theory", "circuits", "empirical", "proofs_checks")
"""The project's packages that a claim may read."""
LIBRARIES = ("sympy", "mpmath", "python-flint", "numpy", "scipy", "networkx", "python-sat", "torch")
"""Libraries that these packages compute with."""


def code_read(start: Path, root: Path = ROOT) -> tuple[Path, ...]:
    """The file and every project file that it imports, directly or not, in order of their paths.

    A file outside the project's packages may import its neighbours as well.
    """
    return _follow(start, root, cache(_imported_files))


def digests(starts: Iterable[Path], root: Path = ROOT) -> dict[Path, str]:
    """For each file the hash of the names and the text of all that it reads, wherever the project lies."""
    imported_files, hashed = cache(_imported_files), cache(_named_hash)
    found = {}
    for start in starts:
        lines = sorted(hashed(path, root) for path in _follow(start, root, imported_files))
        found[start] = hashlib.sha256("".join(lines).encode()).hexdigest()
    return found


def versions() -> dict[str, str]:
    """Python's version and those of the libraries that are installed."""
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found


def decided_at(claim: Claim, root: Path = ROOT) -> str:
    """The place of the claim's check, as `proofs_checks/papers/grape.py#L33`; empty if it is no plain function."""
    code = getattr(inspect.unwrap(claim.check), "__code__", None)
    if code is None:
        return ""
    path = Path(code.co_filename).resolve()
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    return f"{name}#L{code.co_firstlineno}"


def _follow(
    start: Path, root: Path, imported_files: Callable[[Path, Path, Path | None], list[Path]]
) -> tuple[Path, ...]:
    start = start.resolve()
    neighbours = None if _within(start, root) else start.parent
    found: set[Path] = set()
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported_files(path, root, neighbours)
    return tuple(sorted(found))


def _imported_files(path: Path, root: Path, neighbours: Path | None) -> list[Path]:
    """The files of the modules and packages that a file imports, where they are the project's or neighbours."""
    package = ".".join(path.parent.relative_to(root).parts) if _within(path, root) else ""
    files = []
    for name in _imported(path.read_bytes(), package):
        top, *inner = name.split(".")
        folder = root if top in PACKAGES else neighbours
        if folder:
            module = os.path.join(folder, top, *inner)
            files += [file for file in (os.path.join(module, "__init__.py"), f"{module}.py") if os.path.isfile(file)]
    return [Path(file) for file in files]


def _named_hash(path: Path, root: Path) -> str:
    name = path.relative_to(root).as_posix() if _within(path, root) else path.name
    return f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def _within(path: Path, root: Path) -> bool:
    return path.is_relative_to(root) and path.relative_to(root).parts[0] in PACKAGES


@cache
def _imported(text: bytes, package: str) -> tuple[str, ...]:
    """The full names of all that may be a module in the import statements of a module of the package."""
    try:
        waiting: list[ast.AST] = [ast.parse(text)]
    except (SyntaxError, ValueError):  # what is half written cannot be imported, and so imports nothing
        return ()
    names = []
    while waiting:
        node = waiting.pop()
        for inner in ("body", "orelse", "finalbody", "handlers", "cases"):  # all that may hold statements
            held = getattr(node, inner, None)
            waiting += held if isinstance(held, list) else []
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                names += [".".join(parts[: end + 1]) for end in range(len(parts))]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            names += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return tuple(names)
