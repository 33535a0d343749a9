"""Python files of the user's own that fail, exit, or give something else than they should, wherever they are asked."""

import random
from collections.abc import Iterator
from pathlib import Path

from tests.attack.fuzzing import Call
from tests.attack.material import SMOKE
from tests.attack.tally import draws

GARBAGE = (
    "None", "True", "0", "-1", "2**200", "1.5", "float('nan')", "float('inf')", "''", "'x'", "'x' * 100_000",
    "'\\x1b[31m\\n'", "'\\udcff'", "b'x'", "()", "[]", "[None]", "[[]]", "(('0', '1'),) * 3", "['0', 1]", "{}",
    "{'a': 1}", "set()", "object()", "type", "int", "print", "...", "lambda: 0", "lambda *a, **k: None", "range(3)",
    "range(10**12)", "iter(())", "(x for x in 'ab')", "itertools.count()", "itertools.repeat('0')", "np.zeros(0)",
    "np.zeros((3, 3))", "np.array(None)", "np.full(4, np.nan)", "np.array(['0', '1'])", "np.array([object()])",
    "np.zeros((4, 4), dtype=complex)", "np.ma.masked", "Fraction(1, 3)", "decimal.Decimal('NaN')", "1j",
    "torch.zeros(2)", "torch.zeros(0, 3)", "sp.Symbol('x')", "sp.nan", "sp.zoo", "sp.Matrix([[1]])", "Hostile()",
    "HostileText('parity')", "Exception('x')", "pathlib.Path('x')", "'9' * 5000", "10**5000", "'０'",
)  # fmt: skip
"""Python values that replace another."""
FAILURES = (
    "raise ValueError('a\\nb\\x1b[31m')", "raise KeyError()", "raise Exception", "raise BaseException('b')",
    "raise MemoryError", "raise RecursionError", "raise StopIteration", "raise GeneratorExit", "raise SystemExit",
    "sys.exit(0)", "sys.exit('text')", "sys.exit(3)", "raise OSError(28, 'No space')",
    "raise UnicodeDecodeError('utf-8', b'x', 0, 1, 'r')", "raise Unshowable()", "raise ValueError('x' * 10**6)",
    "assert False", "1 / 0", "undefined", "import missing_module", "f()", "raise ExceptionGroup('g', [ValueError(1)])",
    "raise asyncio.CancelledError", "raise TaskError('their own')", "raise ModuleNotFoundError('torch', name='torch')",
    "raise warnings.warn('w') or TypeError", "os._exit(0)", "os._exit(5)", "quit()",
)  # fmt: skip
"""Statements that end whatever runs them."""
HEAD = """\
import asyncio, decimal, itertools, os, pathlib, sys, warnings
from fractions import Fraction
import numpy as np
import sympy as sp
import torch
from lengthgen.circuits import Task
from lengthgen.circuits.task import Reference, TaskError
from lengthgen.empirical.encodings import PositionEncoding
from lengthgen.theory import from_function
from lengthgen.theory.encodings.encoding import Encoding, Law, Parameter, Recovery
from lengthgen.theory.relation import Relation

def f():
    return f()

class Unshowable(Exception):
    def __str__(self):
        raise ValueError("no text")
    __repr__ = __str__

class Hostile:
    def __getattr__(self, name):
        raise RuntimeError(name)
    def __iter__(self):
        raise RuntimeError("iter")
    __len__ = __eq__ = __bool__ = __repr__ = __str__ = __call__ = __getitem__ = __iter__
    __hash__ = None

class HostileText(str):
    def __eq__(self, other):
        raise RuntimeError("eq")
    __hash__ = str.__hash__
"""
Fields = dict[str, str]
TASK: Fields = {
    "name": "'own'",
    "alphabet": "('0', '1', '=')",
    "prompt": "lambda n: [('0', '1')] * n + [('=',)]",
    "generate": "lambda prompt: list(prompt[:-1])",
    "vectorised": "lambda tokens: tokens[:, :-1]",
    "reference": "None",
}
REFERENCE: Fields = {
    "arity": "1",
    "steps": "lambda n: [('copy', (t,)) for t in range(1, n + 1)]",
    "apply": "lambda operator, symbols: symbols[0]",
}
RELATION: Fields = {"name": "'own'", "law": "lambda keys, queries, scale: (queries - keys) % 2", "scale_hint": "False"}
ENCODING: Fields = {
    "name": "'own'",
    "title": "'Own'",
    "arxiv": "''",
    "parameters": "()",
    "positions": "None",
    "embed": "None",
    "rotate": "None",
    "bias": "lambda j, i, n: i - j",
    "relation": "None",
    "limit": "sp.oo",
    "laws": "(Law.RELATIVE,)",
    "recovers": "()",
}
HOOKS: Fields = {
    "embed": "lambda self, x_BLD, positions: x_BLD",
    "rotate": "lambda self, q_BHLC, k_BHLC, positions, content=None: (q_BHLC, k_BHLC)",
    "bias": "lambda self, query_positions, key_positions, content=None, *, dtype=torch.float32: "
    "-(query_positions[:, None] - key_positions).abs().to(dtype)[None]",
    "relation": "Relation(name='r', law=lambda keys, queries, scale: queries - keys)",
    "needs_labels": "False",
    "__init__": "lambda self, heads=1: PositionEncoding.__init__(self)",
}
SMALL = ("--train", "1-2", "--test", "1-3")
OF_TASK = (
    ("src", "own.py:own", "--scales", "1-3", "--time-limit", "10"),
    ("predict", "own.py:own", *SMALL),
    ("train", "own.py:own", *SMALL, *SMOKE),
    ("conjecture", "own.py:own", "--encoding", "rpe", *SMALL, *SMOKE),
)
OF_RELATION = (
    ("predict", "parity", "--encoding", "own.py:own", *SMALL),
    ("train", "parity", "--encoding", "own.py:own", *SMALL, *SMOKE),
    ("lrc", "own.py:own", "--scales", "2,4"),
)
OF_HOOKS = (
    ("predict", "parity", "--encoding", "own.py:own", *SMALL),
    ("train", "parity", "--encoding", "own.py:own", *SMALL, *SMOKE),
    ("audit", "own.py:own", "--to", "100", "--dtype", "float32"),
    ("audit", "own.py:own", "--to", "100", "--dtype", "float32", "--report", "written/report.xml"),
    ("audit", "own.py:own", "--to", "100", "--dtype", "float32", "--report", "written/report.sarif"),
)
OF_ENCODING = (("verify", "own.py"), ("encodings", "own.py"), ("encodings", "own.py:own"))
OF_PATTERN = (
    ("lrc", "own.py:own", "--scales", "2,4"),
    ("lrc", "own.py:own", "--scales", "2,4", "--explain"),
    ("lrc", "own.py:own", "--scales", "2,4", "--draw", "written"),
)
COMMANDS = {
    "task": OF_TASK,
    "reference": OF_TASK,
    "relation": OF_RELATION,
    "hooks": OF_HOOKS,
    "encoding": OF_ENCODING,
    "pattern": OF_PATTERN,
    "audited": OF_HOOKS[2:],
}
NO_SOURCE = ("", "own", "own = ", "\x00", "\udcff = 1", "def", "own = own", "x" * 100_000, "(" * 10_000,
             "# coding: x\nown = 1")  # fmt: skip
SETTINGS = ("", "torch.set_default_dtype(torch.float64)", "torch.manual_seed(0)", "np.seterr(all='raise')",
            "warnings.simplefilter('error')")  # fmt: skip
HOSTILE_NAME = "o\udcff\x01\x1b[31m\n|<&$%_{}\\'\".py"
"""Name of a file that whatever is written has to escape."""


def calls(material: Path, count: int, seed: int, only: str = "") -> Iterator[Call]:
    """Yield `count` files, drawn by the seed."""
    kinds = [kind for kind in COMMANDS if kind.startswith(only)]
    for drawn, pick in draws(count, seed):
        kind = pick.choice(kinds)
        name = pick.choice(("own.py", "own.py", HOSTILE_NAME))
        words = [part.replace("own.py", name) for part in pick.choice(COMMANDS[kind])]
        words += ["--json"] if pick.random() < 0.7 else []
        yield Call(kind=f"own {kind}", arguments=tuple(words), files={name: _source(kind, pick)}, seed=drawn)


def _source(kind: str, pick: random.Random) -> str:
    """Source of a file that defines `own`, with one thing wrong or more."""
    way = pick.random()
    if way < 0.08:
        return pick.choice(NO_SOURCE)
    definition = _definition(kind, pick)
    if way < 0.2:
        statement = pick.choice(FAILURES)
        return pick.choice((f"{HEAD}\n{statement}\n{definition}", f"{HEAD}\n{definition}\n{statement}\n"))
    if way < 0.25:
        return f"{HEAD}\nown = {pick.choice(GARBAGE)}\n"
    return f"{HEAD}\n{definition}\n"


def _definition(kind: str, pick: random.Random) -> str:
    if kind == "task":
        return f"own = Task({_arguments(_spoilt(TASK, pick))})"
    if kind == "reference":
        return f"own = Task({_arguments(TASK | {'reference': f'Reference({_arguments(_spoilt(REFERENCE, pick))})'})})"
    if kind == "relation":
        return f"own = Relation({_arguments(_spoilt(RELATION, pick))})"
    if kind == "encoding":
        return f"own = Encoding({_arguments(_spoilt(ENCODING, pick))})"
    if kind == "hooks":
        body = "\n".join(f"    {name} = {value}" for name, value in _spoilt(HOOKS, pick).items())
        return f"{pick.choice(SETTINGS)}\nclass own(PositionEncoding):\n{body}"
    law = {"pattern": "lambda i, j: int(i == j)", "audited": "lambda q, k, positions: (q, k)"}[kind]
    return "own = " + pick.choice((law, _callback(pick), _callback(pick), pick.choice(GARBAGE)))


def _arguments(fields: Fields) -> str:
    return ", ".join(f"{name}={value}" for name, value in fields.items())


def _spoilt(fields: Fields, pick: random.Random) -> Fields:
    """Spoil one field or two: wrong in type, missing, or functions that fail or give garbage."""
    spoilt = dict(fields)
    for name in pick.sample(list(fields), pick.choice((1, 1, 2))):
        if pick.random() < 0.1:
            del spoilt[name]
        else:
            spoilt[name] = pick.choice(GARBAGE) if pick.random() < 0.5 else _callback(pick)
    return spoilt


def _callback(pick: random.Random) -> str:
    """Return code of a function that takes anything, and fails or gives garbage, always or the second time."""
    what = pick.choice(GARBAGE) if pick.random() < 0.55 else f"exec({pick.choice(FAILURES)!r}, globals())"
    arguments = pick.choice(("*a, **k", "*a, **k", "*a, **k", "", "x", "i, j", "i, j, n", "q, k, positions"))
    return f"(lambda {arguments}: {what})"
