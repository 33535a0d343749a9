"""Claims and tests that should notice an error in a module: claims that read it, and tests that belong to it.

Each of them runs in a process forked from one that has imported only libraries; there, the mutated module replaces the
original.  Results that were computed under another mutation, or under none, are not used there.
"""

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

from bench.mutants import ROOT, Mutant, module_name

TIME_LIMIT, LONGEST_WAIT = 100, 1200
"""Time limits in seconds, of CPU time and of wall time, for one claim or one test file.

A claim or test that exceeds them, and does not without the mutation, notices it.
"""
MEMORY = 16 << 30
"""Largest address space of a mutated process, in bytes."""
LIBRARIES = ("sympy", "numpy", "scipy.linalg", "networkx", "flint", "pytest")
FARTHEST = 2
"""Largest number of imports from a test of formulas to a module that it belongs to; other tests have no such limit."""
_FORMULA_TESTS = (
    "tests/theory/test_*.py",
    "tests/empirical/encodings/test_*.py",
    "tests/empirical/audit/test_report.py",
    "tests/empirical/experiment/test_buildable.py",
)
TESTS = {
    "encodings": _FORMULA_TESTS,
    "theory": _FORMULA_TESTS,
    "torch": _FORMULA_TESTS,
    "audit": (
        "tests/empirical/audit/test_*.py",
        "tests/empirical/encodings/test_*.py",
        "tests/lengthgen/test_audit*.py",
    ),
    "circuits": ("tests/circuits/test_*.py", "tests/circuits/*/test_*.py"),
    "checker": ("tests/circuits/test_*.py",),
    "training": (
        "tests/empirical/model/test_*.py",
        "tests/empirical/experiment/test_*.py",
        "tests/empirical/trial/test_*.py",
    ),
    "ledger": (
        "tests/proofs_checks/test_*.py",
        "tests/lengthgen/test_verify.py",
        "tests/lengthgen/test_own_claims.py",
    ),
    "figures": (
        "tests/paper_figs/test_*.py",
        "tests/paper_figs/report/test_*.py",
        "tests/lengthgen/test_figures_command.py",
    ),
    "infrastructure": ("tests/infrastructure/test_*.py", "tests/proofs_checks/test_*.py"),
    "commands": ("tests/lengthgen/test_*.py",),
}
"""Test files that may notice a mutant, for each of PLACES: tests that are fast for what they check."""
SLOW = (
    "tests/theory/test_distinct.py",
    "tests/empirical/model/test_backend.py",
    "tests/empirical/experiment/test_training.py",
    "tests/empirical/experiment/test_cluster.py",
    "tests/lengthgen/test_reproduce.py",
)
"""Test files that run last."""


@dataclass(frozen=True, kw_only=True)
class Index:
    """Index of the current code.

    Attributes:
        claims: file -> ids of the claims that read it.
        imports: module or test file -> names that it imports.
    """

    claims: dict[str, tuple[str, ...]]
    imports: dict[str, frozenset[str]]

    def noticers(self, mutant: Mutant, place: str, credit: Counter[str]) -> list[str]:
        """Names of claims and test files, those most likely to notice the mutant first.

        Those named like the module or the changed definition come first, then those with fewer imports between, then
        the most successful.
        """
        families = {name.partition("_")[0] for name in (mutant.module.rpartition(".")[2], mutant.definition)} - {""}
        claims = [f"claim {name}" for name in self.claims.get(mutant.path, ())]
        claims.sort(
            key=lambda name: (
                not name.startswith(tuple(f"claim {family}" for family in families)),
                not any(family in name for family in families),
                -credit[name],
            )
        )
        distance = self._distances(mutant.module, FARTHEST if TESTS[place] is _FORMULA_TESTS else len(self.imports))
        files = [name for name in distance if any(Path(name).match(pattern) for pattern in TESTS[place])]
        tests = sorted(
            files, key=lambda name: (name in SLOW, _name_distance(name, mutant), distance[name], -credit[name])
        )
        if place == "encodings":
            return [*claims, *tests]
        return [*tests, *claims] if place in {"theory", "circuits", "ledger"} else tests

    def _distances(self, module: str, farthest: int) -> dict[str, int]:
        """Number of imports from each test file to the module, at most `farthest`."""
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


def _name_distance(name: str, mutant: Mutant) -> int:
    """Distance between the names of a test file and the module: 0 same name, 1 same family, 2 different."""
    tested, module = Path(name).stem.removeprefix("test_"), mutant.module.rpartition(".")[2]
    return 0 if tested == module else 1 if tested.partition("_")[0] == module.partition("_")[0] else 2


def index() -> Index:
    """Index, computed in a separate process, so that the caller imports nothing of the project."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_index)


def _index() -> Index:
    """Index, computed in this process."""
    from lengthgen.infrastructure.imports import imported_names
    from lengthgen.proofs_checks import reading, registry

    without_runs = [claim for claim in registry.CLAIMS if not claim.on_runs]  # the others need trained runs
    code_read = reading.all_code_read({registry.home(claim) for claim in without_runs})
    claims: dict[str, list[str]] = {}
    for claim in without_runs:
        for path in code_read[registry.home(claim)]:
            claims.setdefault(path.resolve().relative_to(ROOT).as_posix(), []).append(claim.id)
    imports: dict[str, frozenset[str]] = {}
    for folder in ("theory", "circuits", "empirical", "proofs_checks", "paper_figs", "lengthgen"):
        for path in (ROOT / folder).rglob("*.py"):
            name = module_name(path.relative_to(ROOT).as_posix())
            package = name if path.stem == "__init__" else name.rpartition(".")[0]
            imports[name] = frozenset(imported_names(path.read_bytes(), package))
    for pattern in set(chain.from_iterable(TESTS.values())):
        for path in ROOT.glob(pattern):
            imports[path.relative_to(ROOT).as_posix()] = frozenset(imported_names(path.read_bytes(), ""))
    return Index(claims={path: tuple(names) for path, names in claims.items()}, imports=imports)


def preload(place: str) -> None:
    """Import the libraries, so that no fork has to."""
    for library in (*LIBRARIES, *(() if place in {"encodings", "theory", "circuits", "checker"} else ("torch",))):
        importlib.import_module(library)


def noticed_by(mutant: Mutant | None, noticers: Sequence[str]) -> str | None:
    """First claim or test that fails, under the mutation or without one; None if all pass.

    The result is `import` if nothing can be imported.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run_noticers, args=(mutant, noticers, sender))
    process.start()
    sender.close()
    current = "import"
    try:
        while True:
            if not receiver.poll(LONGEST_WAIT):
                return f"{current} (time limit)"
            started, name = receiver.recv()
            if not started:
                return name if name is None else str(name)
            current = name
    except EOFError:
        return f"{current} (its process ended)"
    finally:
        with contextlib.suppress(ProcessLookupError):  # with all processes that the tests started
            os.killpg(cast(int, process.pid), signal.SIGKILL)
        process.kill()
        process.join()


def _run_noticers(mutant: Mutant | None, noticers: Iterable[str], sender: Connection) -> None:
    """Send (True, name) before each one runs, and at the end (False, name of the one that failed or None)."""
    os.setpgrp()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, 1)
    os.dup2(null_device, 2)
    if mutant is not None:
        _install_mutant(mutant)
    for name in noticers:
        sender.send((True, name))
        usage = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(usage.ru_utime + usage.ru_stime) + TIME_LIMIT
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        if not _holds(name):
            sender.send((False, name))
            break
    else:
        sender.send((False, None))
    os._exit(0)


def _holds(name: str) -> bool:
    """True if the claim holds or the tests pass."""
    kind, _, claim = name.partition(" ")
    if kind != "claim":
        import pytest

        return pytest.main(["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", str(ROOT / name)]) in (0, 5)
    try:
        from lengthgen.proofs_checks import registry, runner

        return bool(runner.run_claim(registry.find(claim)).holds)
    except Exception:
        return False


def _install_mutant(mutant: Mutant) -> None:
    """Load the mutated text wherever the module is imported."""
    place, text = ROOT.joinpath(*mutant.module.split(".")), mutant.source()
    path = place / "__init__.py" if mutant.path.endswith("/__init__.py") else place.with_suffix(".py")

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
            package_path = [str(path.parent)] if path.stem == "__init__" else None
            loader: Any = Loader
            return importlib.util.spec_from_file_location(
                name, path, loader=loader, submodule_search_locations=package_path
            )

    sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]


@cache
def passes_unmutated(noticer: str) -> bool:
    """True if the claim or test passes without any mutation, so that a failure under one means something."""
    return noticed_by(None, [noticer]) is None
