"""Who should notice that a module of the project is wrong: claims that read it, and tests that belong to it.

Each of them runs in a process forked from one that has imported libraries only, in which the mutated module takes the
place of the true one. Nothing that was computed under another mutation, or under none, is believed there.
"""

import ast
import contextlib
import importlib.util
import multiprocessing
import os
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from bench.mutants import ROOT, Mutant

TIME_LIMIT, LONGEST_WAIT = 100, 1200
"""Seconds of computing, and of the clock, for one claim or one file of tests.

One that takes longer, and does not without the mutation, notices it.
"""
MEMORY = 16 << 30
"""Bytes of addresses that a mutated process may take."""
LIBRARIES = ("sympy", "numpy", "scipy.linalg", "networkx", "flint", "pytest")
FARTHEST = 2
"""Tests of formulas belong to a module if they import it, or a module that does; other tests at any distance."""
_OF_FORMULAS = (
    "tests/theory/test_*.py",
    "tests/empirical/encodings/test_*.py",
    "tests/empirical/test_audit.py",
    "tests/empirical/runs/test_buildable.py",
)
TESTS = {
    "encodings": _OF_FORMULAS,
    "theory": _OF_FORMULAS,
    "torch": _OF_FORMULAS,
    "audit": ("tests/empirical/test_audit.py", "tests/empirical/encodings/test_*.py", "tests/lengthgen/test_audit*.py"),
    "circuits": ("tests/circuits/test_*.py",),
    "checker": ("tests/circuits/test_*.py",),
    "training": (
        "tests/empirical/model/test_*.py",
        "tests/empirical/runs/test_*.py",
        "tests/empirical/training/test_*.py",
        "tests/empirical/trial/test_*.py",
    ),
    "ledger": ("tests/proofs_checks/test_*.py",),
    "figures": ("tests/paper_figs/test_*.py", "tests/paper_figs/report/test_*.py"),
    "system": ("tests/theory/system/test_*.py", "tests/proofs_checks/test_*.py"),
    "commands": ("tests/lengthgen/test_*.py",),
}
"""Files of tests that may notice a mutant of each of PLACES: those that are quick for what they see."""
SLOW = (
    "tests/theory/test_distinct.py",
    "tests/empirical/model/test_backend.py",
    "tests/empirical/training/test_training.py",
    "tests/empirical/training/test_cluster.py",
    "tests/lengthgen/test_reproduce.py",
)
"""Files of tests that come last."""


@dataclass(frozen=True, kw_only=True)
class Index:
    """Of the code as it is: which claims read a module, by file, and how far each file of tests is from a module."""

    claims: dict[str, tuple[str, ...]]
    imports: dict[str, frozenset[str]]

    def noticers(self, mutant: Mutant, place: str, credit: Counter[str]) -> list[str]:
        """The names of claims and files of tests, the likeliest to notice first.

        Those of the module's own name come first, then the nearer ones, then those that noticed most so far.
        """
        family = mutant.module.rpartition(".")[2].partition("_")[0]
        claims = [f"claim {name}" for name in self.claims.get(mutant.path, ())]
        claims.sort(key=lambda name: (family not in name, -credit[name]))
        distance = self._distances(mutant.module, FARTHEST if TESTS[place] is _OF_FORMULAS else len(self.imports))
        files = [name for name in distance if any(Path(name).match(pattern) for pattern in TESTS[place])]
        tests = sorted(files, key=lambda name: (name in SLOW, _own(name, mutant), distance[name], -credit[name]))
        if place == "encodings":
            return [*claims, *tests]
        return [*tests, *claims] if place in {"theory", "circuits"} else tests

    def _distances(self, module: str, farthest: int) -> dict[str, int]:
        """Files of tests -> the number of imports from them to the module, at most `farthest`."""
        near, level = {module}, {module}
        distance: dict[str, int] = {}
        for step in range(1, farthest + 1):
            level = {name for name, imported in self.imports.items() if imported & level} - near
            near |= level
            distance |= {name: step for name in level if name.endswith(".py")}
            level = {name for name in level if not name.endswith(".py")}
            if not level:
                break
        return distance


def _own(name: str, mutant: Mutant) -> int:
    """How little the name of a file of tests is the module's."""
    tested, module = Path(name).stem.removeprefix("test_"), mutant.module.rpartition(".")[2]
    return 0 if tested == module else 1 if tested.partition("_")[0] == module.partition("_")[0] else 2


def index() -> Index:
    """The index, computed in a process of its own, so that the caller imports nothing of the project."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_index)


def _index() -> Index:
    from proofs_checks import reading, registry

    claims: dict[str, list[str]] = {}
    for claim in registry.CLAIMS:
        if not claim.on_runs:  # these wait for trained runs
            for path in reading.code_read(registry.home(claim)):
                claims.setdefault(path.relative_to(ROOT).as_posix(), []).append(claim.id)
    imports: dict[str, frozenset[str]] = {}
    for folder in ("theory", "circuits", "empirical", "proofs_checks", "paper_figs", "lengthgen"):
        for path in (ROOT / folder).rglob("*.py"):
            name = path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__").replace("/", ".")
            imports[name] = _imported(path, name if path.stem == "__init__" else name.rpartition(".")[0])
    for pattern in set(chain.from_iterable(TESTS.values())):
        for path in ROOT.glob(pattern):
            imports[path.relative_to(ROOT).as_posix()] = _imported(path, "")
    return Index(claims={path: tuple(names) for path, names in claims.items()}, imports=imports)


def _imported(path: Path, package: str) -> frozenset[str]:
    """The full names of what a file imports, and of what it takes from there."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def preload(place: str) -> None:
    """Imports the libraries, so that no fork has to."""
    for library in (*LIBRARIES, *(() if place in {"encodings", "theory", "circuits", "checker"} else ("torch",))):
        importlib.import_module(library)


def noticed_by(mutant: Mutant | None, noticers: Sequence[str]) -> str | None:
    """The first that fails under the mutation, or without one; `import` if nothing can be imported; None if none."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_notice, args=(mutant, noticers, sender))
    process.start()
    sender.close()
    current = "import"
    try:
        while True:
            if not receiver.poll(LONGEST_WAIT):
                return f"{current} (time limit)"
            begun, name = receiver.recv()
            if not begun:
                return name if name is None else str(name)
            current = name
    except EOFError:
        return f"{current} (its process ended)"
    finally:
        with contextlib.suppress(ProcessLookupError):  # with all that tests have started there
            os.killpg(cast(int, process.pid), signal.SIGKILL)
        process.kill()
        process.join()


def _notice(mutant: Mutant | None, noticers: Iterable[str], sender: Connection) -> None:
    """Sends (True, name) before each one runs, and at the end (False, the one that failed or None)."""
    os.setpgrp()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    if mutant is not None:
        _install(mutant)
    for name in noticers:
        sender.send((True, name))
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + TIME_LIMIT
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        if not _holds(name):
            sender.send((False, name))
            break
    else:
        sender.send((False, None))
    os._exit(0)


def _holds(name: str) -> bool:
    kind, _, claim = name.partition(" ")
    if kind != "claim":
        import pytest

        return pytest.main(["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", str(ROOT / name)]) in (0, 5)
    try:
        from proofs_checks import registry, runner

        return bool(runner.run_claim(registry.find(claim)).holds)
    except Exception:
        return False


def _install(mutant: Mutant) -> None:
    """Has the mutated text loaded wherever the module is imported."""
    path = ROOT / mutant.path
    text = mutant.source()

    class Loader:
        @staticmethod
        def create_module(spec: object) -> None:
            return None

        @staticmethod
        def exec_module(module: ModuleType) -> None:
            exec(compile(text, str(path), "exec"), module.__dict__)

    class Finder:
        @staticmethod
        def find_spec(name: str, places: object = None, target: object = None) -> object:
            if name != mutant.module:
                return None
            inside = [str(path.parent)] if path.stem == "__init__" else None
            loader: Any = Loader
            return importlib.util.spec_from_file_location(name, path, loader=loader, submodule_search_locations=inside)

    sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]


@cache
def sound(noticer: str) -> bool:
    """Whether it holds without any mutation, so that its failure under one means something."""
    return noticed_by(None, [noticer]) is None
