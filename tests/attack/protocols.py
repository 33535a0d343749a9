"""Protocols of the user's own: those of the project and a small one, damaged line by line and value by value."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

from lengthgen.empirical.experiment.protocol import PROTOCOLS
from tests.attack.fuzzing import Call
from tests.attack.material import PROTOCOL, SMOKE
from tests.attack.tally import draws

VALUES = (
    "0", "-1", "1", "2", "1.5", "nan", "inf", "-inf", "true", "1979-05-27", "07:32:00", '""', '"x"', '"\\u001b[31m"',
    "[]", "[[]]", "{}", "[1]", "[1, 2]", "[2, 1]", "[0, 3]", "[1, 1000000000]", "[1, 2, 3]", "[-1, 3]", "[1.0, 2.0]",
    '["1", "2"]', "9223372036854775807", "100000000000000000000", "1e308", "1e-308", "{ a = 1 }", '["parity"]',
    '["ipe"]', '["parity", "parity"]', '[""]', '["\\u0000"]', "'''\n\n'''", "[[[[1]]]]", "0x10", "1_000_000_000",
    '["missing.py:x"]', '["clipped[limit=-1]"]', '["aligned"]', '["unaligned"]', '["pariti"]',
    '["ipe", "nope", "rpe"]', "1000000", '"' + "x" * 100_000 + '"',
)  # fmt: skip
LINES = (
    "[smoke]", "[quick]", "[paper]", "[none]", "[smoke.training]", "[[cells]]", "[cells]", "seeds = 0",
    "seeds = 1000000000", "x = 1", "training.epochs = 0", "training.epochs = -1", "training.batch = 0",
    "training.samples = 0", "training.samples = 1000000000000", "training.learning_rate = nan",
    "training.learning_rate = inf", "training.clip = -1.0", "training.evaluate_every = 0",
    "training.weight_decay = nan", "evaluation.samples = 0", "evaluation.samples = 1000000000000",
    "evaluation.threshold = nan", "evaluation.threshold = 2.0", "evaluation.threshold = -1.0", "models = []",
    "models = [{ width = 0, layers = 1, heads = 1 }]", "models = [{ width = 8, layers = 0, heads = 1 }]",
    "models = [{ width = 8, layers = 1, heads = 0 }]", "models = [{ width = 8, layers = 1, heads = 3 }]",
    "models = [{ width = 1000000000, layers = 1, heads = 1 }]",
    "models = [{ width = 8, layers = 1000000000, heads = 1 }]", "models = [{ width = 8, layers = 1, heads = 8 }]",
    "models = [{ width = 8, layers = 1, heads = 1 }, { width = 8, layers = 1, heads = 1 }]", "base.parity = 1",
    "base.parity = 1000000", "base.parity = 3", "base.x = 2", "base = 1", "base.parity = 0.5", "title = 1",
    "a" * 100_000 + " = 1", "a" + ".b" * 2000 + " = 1", "x = " + "[" * 3000 + "]" * 3000, "# comment", "", "\x01",
    "= 1", "train", "\udcff = 1", "\ufeff",
)  # fmt: skip
COMMANDS = (
    ("sweep", "own.toml", *SMOKE),
    ("conjecture", "own.toml", *SMOKE),
    ("figures", "--list", "--protocol", "own.toml", *SMOKE),
    ("figures", "accuracy-own", "--protocol", "own.toml", *SMOKE),
)


def calls(material: Path, count: int, seed: int, only: str = "") -> Iterator[Call]:
    """Yield `count` protocols, drawn by the seed."""
    shipped = [path.read_text() for path in sorted(PROTOCOLS.glob("*.toml"))]
    ways = {way.__name__.strip("_"): way for way in (_value_changed, _line_added, _lines_moved, _text_damaged)}
    names = [name for name in ways if name.startswith(only)]
    for drawn, pick in draws(count, seed):
        small = pick.random() < 0.7
        way = pick.choice(names)
        text = PROTOCOL if small else pick.choice(shipped)
        for _ in range(pick.choice((1, 1, 2))):
            text = ways[way](text, pick)
        words = (*pick.choice(COMMANDS if small else COMMANDS[2:]), "--json")
        yield Call(kind=way.replace("_", " "), arguments=words, files={"own.toml": text}, trains=False, seed=drawn)


def _value_changed(text: str, pick: random.Random) -> str:
    places = [match.span(1) for match in re.finditer(r"(?m)=\s*(\"[^\"]*\"|\[[^\n]*\]|[\w.e-]+)", text)]
    if not places:
        return text
    first, last = pick.choice(places)
    return text[:first] + pick.choice(VALUES) + text[last:]


def _line_added(text: str, pick: random.Random) -> str:
    lines = text.split("\n")
    at = pick.choice((pick.randrange(len(lines) + 1), len(lines)))
    return "\n".join([*lines[:at], pick.choice(LINES), *lines[at:]])


def _lines_moved(text: str, pick: random.Random) -> str:
    lines = text.split("\n")
    first, second = pick.randrange(len(lines)), pick.randrange(len(lines))
    way = pick.randrange(3)
    if way == 0:
        del lines[first]
    elif way == 1:
        lines.insert(second, lines[first])
    else:
        lines[first], lines[second] = lines[second], lines[first]
    return "\n".join(lines)


def _text_damaged(text: str, pick: random.Random) -> str:
    at = pick.randrange(len(text))
    debris = pick.choice(("", "\x00", "\udcff", '"', "[", "]", "=", "{", "\n", "９", "é", "'''", "\x7f"))
    return text[:at] + debris + text[at + pick.choice((0, 1, 5)) :]
