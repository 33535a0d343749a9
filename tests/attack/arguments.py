"""Argument lists: every command and option that there is, as typer knows them, with hostile values."""

import random
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, ParameterInfo

from lengthgen.terminal.menu import all_functions
from tests.attack.formulas import formula
from tests.attack.fuzzing import Call
from tests.attack.material import CLAIMS
from tests.attack.tally import draws

NUMBERS = (
    "0", "-1", "1", "2", "3", "9", "2147483648", "9223372036854775808", "1" + "0" * 30, "1" + "0" * 5000, "1e308",
    "1e999", "nan", "inf", "-inf", "-0.0", "0.5", "1e-320", "９", "٣", "1_000", "0x10", "+5", " 7 ", "²", "1,5", "true",
)  # fmt: skip
TEXTS = (
    "", " ", ",", ",,,", ":", "::", "-", "--", "---", "=", "[", "]", "[[", "\n", "\t", "\x1b[31mred", "\x07",
    "\u202egnp", "\udcff", "é", "💥", "x" * 1_000_000, "a,b,c", "None", "null", "{}", "{0}", "%s", "%(name)s", "$HOME",
    "$(id)", "`id`", "*", "../up", ".", "..", "~", "parity\n", "PARITY", "parity ", "pariti", "-1", "smoke", "quick",
    "ipe", "(" * 3000, "9" * 3000, "\\", "'", '"', ";",
)  # fmt: skip
PATHS = (
    "out", "missing", "missing/deep/below", "small.toml", "small.toml/below", "device", "pipe", "loop", "empty",
    "noise", "x" * 300, "x/" * 3000, "pattern.npy", "certificate.json", "device.toml", "own.py:x", "own.py", "empty:x",
    "missing.py:f", "missing.toml", "missing.npy", "out.npy", "/proc/nowhere/x", ".", "new folder", "ünïcode", "-",
    "\udcff",
)  # fmt: skip
SCALES = (
    "1-3", "1", "3-1", "1-", "-3", "0-3", "1-1", "1-2,2", "1,3,2", "1-999999999", "999999999", "1-10001", "9" * 400,
    "１-３", "1 - 3", "1--3", "1-3-5", "1;3", "1.5", "1e1", ",", "1,", ",1", "1-3,",
)  # fmt: skip
ENCODINGS = (
    "ipe", "rpe", "ape", "nope", "ipe-sh", "clipped[limit=2]", "clipped[limit=-1]", "clipped[limit=0]",
    "clipped[limit=x]", "clipped", "clipped[]", "clipped[limit=1", "clipped[limit=99999999999999999999]",
    "rope[base=nan]", "rope[base=0]", "rope[base=inf]", "rope[base=-1]", "rope[base=1e400]", "alibi[x=1]",
    "t5[buckets=1]", "t5[buckets=0]", "random-ape[longest=1]", "random-ape[longest=0]",
    "random-ape[longest=10000000000]", "lbpe[labels=0]", "lbpe[labels=1000000000]", "ipe,ipe", "ipe,,rpe", "Ipe", "rp",
    "sinusoidal", "fire", "rpe-square", "lbpe", "random-rope", "clipped[limit=2,limit=3]", "clipped[limit=1.5]",
    "clipped[limit=٣]", "yarn", "kerple",
)  # fmt: skip
TASKS = ("parity", "copy", "addition", "reverse", "sort", "pariti", "permutation", "parity:x", "parity.py",
         "missing.py:t", "select-first")  # fmt: skip
SLOW = {"--compile", "--help", "--fresh", "--lattice"}
"""Options that start long work; of them --help is tried alone."""
BASES: dict[str, tuple[str, ...]] = {
    "lrc": ("1 if j - i < 2 else 0", "--scales", "2,4"),
    "src": ("parity", "--scales", "1-3", "--time-limit", "5"),
    "check-certificate": ("certificate.json",),
    "tasks": (),
    "encodings": ("alibi",),
    "predict": ("parity", "--train", "1-2", "--test", "1-3"),
    "language": ("(ab)*",),
    "claims": ("rope",),
    "verify": (CLAIMS[0],),
    "audit": ("alibi", "--to", "100", "--dtype", "float32", "--heads", "1", "--head-dim", "4"),
    "train": ("parity", "--train", "1-2", "--test", "1-3", "--profile", "smoke"),
    "sweep": ("small.toml", "--profile", "smoke"),
    "conjecture": ("small.toml", "--profile", "smoke"),
    "evaluate": ("{run}", "--test", "1-3", "--samples", "5"),
    "relation": ("{run}", "--test", "1-3"),
    "runs": (),
    "text": ("--profile", "none"),
    "modular-addition": ("--profile", "none"),
    "published": ("--task", "count"),
    "court": ("--evidence", "runs"),
    "strata": ("--questions", "2"),
    "verdict": ("none",),
    "figures": ("accuracy-small", "--protocol", "small.toml", "--profile", "smoke"),
    "report": ("--profile", "none"),
    "reproduce": ("--profile", "none"),
}
"""Quick arguments of each command; a new command has none, and gets hostile values alone."""


class Parameter(NamedTuple):
    """An argument of a command, whose flag is "", or an option; `kind` is the type of its value."""

    name: str
    flag: str
    kind: Any


SHARES = {"lrc": 8, "src": 3, "predict": 3} | dict.fromkeys(("train", "reproduce", "report", "tasks", "text"), 1)
"""How often commands are drawn; the others twice."""


def calls(material: Path, count: int, seed: int, only: str = "") -> Iterator[Call]:
    """Yield `count` argument lists, drawn by the seed, of commands whose name begins with `only`."""
    commands = {name: _parameters(command) for name, command in all_functions()}
    long_ones = () if (material / "whole").exists() else ("report",)
    names = [name for name in commands if name.startswith(only) and name not in long_ones]
    runs = sorted(path.name for path in (material / "out" / "runs").glob("[!.]*"))
    for drawn, pick in draws(count, seed):
        [name] = pick.choices(names, [SHARES.get(name, 2) for name in names])
        base = [part.format(run=pick.choice(runs)) for part in BASES.get(name, ())]
        yield Call(kind=name, arguments=(name, *_mutated(base, commands[name], pick)), trains=False, seed=drawn)


def _parameters(callback: Callable[..., Any]) -> list[Parameter]:
    return [
        _parameter(*named) for named in get_type_hints(callback, include_extras=True).items() if named[0] != "return"
    ]


def _parameter(name: str, hint: Any) -> Parameter:
    kind, *notes = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    [info] = [note for note in notes if isinstance(note, ParameterInfo)] or [None]
    if isinstance(kind, types.UnionType):
        kind = next(option for option in get_args(kind) if option is not type(None))
    flags = [*(getattr(info, "param_decls", None) or ()), f"--{name.replace('_', '-')}"]
    flag = "" if isinstance(info, ArgumentInfo) else next(text for text in flags if text.startswith("--"))
    return Parameter(name, flag, get_args(kind)[0] if get_origin(kind) is list else kind)


def _mutated(base: list[str], parameters: Sequence[Parameter], pick: random.Random) -> list[str]:
    options = [parameter for parameter in parameters if parameter.flag and parameter.flag not in SLOW]
    positional = [parameter for parameter in parameters if not parameter.flag]
    words = list(base)
    if positional and pick.random() < 0.45:
        value = _value(positional[0], pick)
        words = [value, *words[1:]] if words and not words[0].startswith("-") else [value, *words]
    for option in pick.choices(options, k=pick.choice((0, 1, 1, 2, 3))) if options else ():
        if option.kind is bool:
            words.append(option.flag)
        elif pick.random() < 0.3:
            words.append(f"{option.flag}={_value(option, pick)}")
        else:
            words += [option.flag, _value(option, pick)]
    if pick.random() < 0.15:
        words = _disordered(words, options, pick)
    if pick.random() < 0.5:
        words.append("--json")
    return words


def _disordered(words: list[str], options: Sequence[Parameter], pick: random.Random) -> list[str]:
    """Drop, add, repeat or misspell an argument."""
    at = pick.randrange(len(words) + 1)
    way = pick.randrange(6)
    if way == 0 and words:
        return words[: at - 1] + words[at:] if at else words[1:]
    if way == 1:
        return [*words[:at], pick.choice(TEXTS), *words[at:]]
    if way == 2 and options:
        return [*words, pick.choice(options).flag[:-1]]
    if way == 3:
        return ["--help"]
    if way == 4:
        return [*words[:at], "--", *words[at:]]
    return words + words[-2:]


def _value(parameter: Parameter, pick: random.Random) -> str:
    """Return a value, mostly of the kind that the parameter takes, by its type and its name."""
    pools: list[Sequence[str]] = [TEXTS, PATHS, NUMBERS]
    if parameter.name == "pattern":
        return formula(pick) if pick.random() < 0.8 else pick.choice(PATHS)
    if get_origin(parameter.kind) is Literal:
        pools = [get_args(parameter.kind)] * 3 + pools
    elif parameter.kind in (int, float):
        pools = [NUMBERS] * 8 + pools
    elif parameter.name in ("scales", "train", "test"):
        pools = [SCALES] * 8 + pools
    elif "encoding" in parameter.name:
        pools = [ENCODINGS] * 6 + pools
    elif parameter.name == "task":
        pools = [TASKS] * 3 + pools
    elif parameter.kind is Path or parameter.name in ("protocol", "names", "file", "name"):
        pools = [PATHS] * 4 + pools
    return pick.choice(pick.choice(pools))
