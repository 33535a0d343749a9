"""Stale answers: a user's file whose modules change, and caches of other versions; none may be shown."""

import json
import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from textwrap import indent
from time import monotonic
from typing import Any, NamedTuple
from unittest import mock

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import SEAL, write_sealed_json
from lengthgen.infrastructure.userfile import load_object
from tests.attack import tally
from tests.attack.material import CLAIMS
from tests.attack.tally import Try
from tests.attack.watchdog import call
from tests.empirical.conftest import smoke_run

SYMBOLS = "0123456"
OTHER_VERSIONS: Sequence[dict[str, str]] = ({"python": "3.0.0"}, {"python": "3.11.0", "sympy": "0.1"}, {})
CACHING = (
    ("verify", CLAIMS[0], "--json"),
    ("claims", CLAIMS[0], "--json"),
    ("predict", "copy", "--encoding", "rope", "--train", "1-2", "--test", "1-3", "--json"),
)
"""Commands with answers that are kept for the user."""
NAMES = ("helper", "utils", "tables.digits", "tables.more", "lib.deep.inner", "lib.deep.other")
"""Modules of a user's file; the same in every folder, so that those of another folder may be taken for them."""
IMPORTS = (
    "from {module} import value as {name}",
    "import {module}\n{name} = {module}.value",
    "import {module} as module_of_{name}\n{name} = module_of_{name}.value",
    "import importlib\n{name} = importlib.import_module('{module}').value",
    "try:\n    from {module} import value as {name}\nexcept ImportError:\n    raise",
)
OWN = """
from lengthgen.circuits.task import Task
{outside}

def generate(prompt):
{inside}
    return [{symbols!r}[(v0 + v1) % {count}] for symbol in prompt]

task = Task(name="own", alphabet=tuple({symbols!r}), prompt=lambda n: [tuple({symbols!r})] * n, generate=generate)
"""


class Stale(NamedTuple):
    """An attack: its kind, and the seed of what is drawn."""

    kind: str
    seed: str


def attacks(count: int, seed: int, only: str = "") -> Iterator[Stale]:
    """Yield `count` attacks; of ten, one is on a cache."""
    kinds = [kind for kind in (*["module"] * 9, "cache") if kind.startswith(only)]
    for number in range(count):
        yield Stale(kind=kinds[number % len(kinds)], seed=f"{seed} {number}")


def run_attack(planned: Stale) -> Try:
    """Change something, ask again, and compare with what is right now."""
    began, pick = monotonic(), random.Random(planned.seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        try:
            wrong = _cache(folder, pick) if planned.kind == "cache" else _module(folder, pick)
        except LengthgenError as error:
            wrong = str(error)
    end = tally.WRONG if wrong else tally.UNCHANGED
    return Try(f"stale {planned.kind}", f"seed '{planned.seed}'", end, monotonic() - began, detail=wrong)


class _Tree:
    """A user's file that reads two modules, which may read others, and one module that nobody reads."""

    def __init__(self, folder: Path, pick: random.Random) -> None:
        self.folder, self.own = folder, folder / "own.py"
        names = pick.sample(NAMES, pick.randint(3, len(NAMES)))
        self.unread, self.read = names[0], names[1:]
        self.values = {name: pick.randrange(10, 99) for name in names}
        self.imports: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
        reader = [*self.read[:2], *(pick.choice(self.read[:place]) for place in range(2, len(self.read)))]
        for name, by in list(zip(self.read, reader, strict=True))[2:]:
            self.imports[by].append((name, pick.choice(IMPORTS)))
        has_init = pick.random() < 0.5
        for name in names:
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            for above in path.relative_to(folder).parents:
                if has_init and above != Path("."):
                    (folder / above / "__init__.py").touch()
            self.write(name)
        outside, inside = [], []
        for number, name in enumerate(self.read[:2]):
            text = pick.choice(IMPORTS).format(module=name, name=f"v{number}")
            if pick.random() < 0.4:
                inside.append(indent(text, "    "))
            else:
                outside.append(text)
        self.own.write_text(
            OWN.format(outside="\n".join(outside), inside="\n".join(inside), symbols=SYMBOLS, count=len(SYMBOLS))
        )

    def path(self, name: str) -> Path:
        return self.folder / f"{name.replace('.', '/')}.py"

    def write(self, name: str) -> None:
        """Write a module; it is as large and as old as before, where it was there."""
        path = self.path(name)
        before = path.stat() if path.exists() else None
        lines = [
            form.format(module=module, name=f"v{number}") for number, (module, form) in enumerate(self.imports[name])
        ]
        total = " + ".join([str(self.values[name]), *(f"v{number}" for number in range(len(lines)))])
        path.write_text("\n".join([*lines, f"value = {total}"]) + "\n")
        if before:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def value(self, name: str) -> int:
        return self.values[name] + sum(self.value(module) for module, _ in self.imports[name])

    def ask(self) -> tuple[str, str]:
        """Return the output of the task, and the name of its run."""
        task = f"{self.own}:task"
        [symbol] = load_object(task, what="task", error=LengthgenError).generate(("0",))
        return symbol, smoke_run("rpe", "unaligned", task=task).id


def _module(folder: Path, pick: random.Random) -> str:
    """Change modules of a user's file one after another; return what was stale."""
    tree = _Tree(folder, pick)
    named: dict[tuple[int, ...], str] = {}
    for _ in range(4):
        symbol, run = tree.ask()
        right = SYMBOLS[sum(map(tree.value, tree.read[:2])) % len(SYMBOLS)]
        if symbol != right:
            return f"{symbol} for {right}: {tree.own.read_text()} {tree.values} {tree.imports}"
        state = tuple(tree.values[name] for name in tree.read)
        if named.setdefault(state, run) != run or len({*named.values()}) < len(named):
            return f"{run} for {state}, where others are {named}"
        changed = pick.choice(list(tree.values))
        tree.values[changed] = pick.randrange(10, 99)
        tree.write(changed)
    return ""


def _cache(folder: Path, pick: random.Random) -> str:
    """Fill a cache with wrong answers of other versions; return what a command shows of them."""
    arguments = pick.choice(CACHING)
    kept = folder / "cache"
    with mock.patch("lengthgen.infrastructure.cache.versions", return_value=pick.choice(OTHER_VERSIONS)):
        call(arguments, folder=folder, cache=kept)
    for path in kept.rglob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        del content[SEAL]
        write_sealed_json(path, content | {"answer": _other(content["answer"])})
    shown, right = call(arguments, folder=folder, cache=kept).out, _undisturbed(arguments)
    return "" if _without_times(shown) == _without_times(right) else f"{arguments}: {shown[-1000:]}"


@cache
def _undisturbed(arguments: Sequence[str]) -> str:
    with tempfile.TemporaryDirectory() as place:
        return call(arguments, folder=Path(place), cache=Path(place) / "cache").out


def _without_times(answer: str) -> list[str]:
    return [line for line in answer.splitlines() if '"seconds"' not in line]


def _other(answer: Any) -> Any:
    """Answer of the same types with other values."""
    if isinstance(answer, dict):
        return {key: _other(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [*map(_other, answer)]
    if isinstance(answer, bool) or answer is None:
        return answer
    return answer + 1 if isinstance(answer, int | float) else f"{answer} (stale)"
