"""Two commands at once in one folder: both end well, and at the end everything is as one after the other leaves it."""

import itertools
import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import NamedTuple

from tests.attack import tally
from tests.attack.kills import contents, difference, take_away
from tests.attack.material import SMOKE, TRAIN, copied, trained_here
from tests.attack.tally import Try
from tests.attack.watchdog import Ending, call

SECONDS = 900.0
REMOVED = "parity-aligned-rpe-w16l2h2-seed7-*"
"""Run of no protocol, which `runs --remove` removes."""


class Pair(NamedTuple):
    """Two commands and how long the second waits."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    pause: float
    seed: str


def commands(material: Path) -> dict[str, tuple[str, ...]]:
    """Return the commands by name."""
    [gone] = [path.name for path in (material / "out" / "runs" / ".unfinished").glob(REMOVED)]
    small = {
        "train": ("train", "parity", "--encoding", "nope", *TRAIN[4:]),
        "sweep": ("sweep", "small.toml", *SMOKE),
        "conjecture": ("conjecture", "small.toml", *SMOKE),
        "runs": ("runs",),
        "runs --remove": ("runs", "--remove", gone),
        "figures": ("figures", "accuracy-small", "predicted-small", "--protocol", "small.toml", *SMOKE),
    }
    slow = {
        "report": ("report", *SMOKE),
        "verify --runs": ("verify", "control-growing", "alibi-1", "--runs", "out", *SMOKE),
        "reproduce": ("reproduce", *SMOKE),
    }
    return small | slow if (material / "whole").exists() else small


def pairs(material: Path, count: int, seed: int, only: str = "") -> Iterator[Pair]:
    """Yield pairs in turn; the name of one of the two commands begins with `only`."""
    by_name = commands(material)
    both = itertools.combinations_with_replacement(by_name, 2)
    every = [two for two in both if any(name.startswith(only) for name in two)]
    for number, (drawn, pick) in enumerate(tally.draws(count, seed)):
        first, second = every[number % len(every)]
        pause = pick.choice((0.0, 0.0, pick.uniform(0, 3)))
        yield Pair(first=by_name[first], second=by_name[second], pause=pause, seed=drawn)


def run_attack(material: Path, pair: Pair) -> Try:
    """Run both at once in one copy, and in order in another; then the rest, so that both copies are complete."""
    with tempfile.TemporaryDirectory() as place:
        together, apart = (_prepared(material, Path(place) / name) for name in ("together", "apart"))
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(_call, together, pair.first)
            sleep(pair.pause)
            second = threads.submit(_call, together, pair.second)
            endings = [first.result(), second.result()]
        with trained_here():
            in_order = [_call(apart, command) for command in _in_order(pair, from_the_start=True)]
        after = in_order + [_call(together, command) for command in _in_order(pair, from_the_start=False)]
        end = _judged(endings, after, apart, together)
    kind = " + ".join(sorted(_name(command) for command in (pair.first, pair.second)))
    return tally.tried(kind, f"seed '{pair.seed}', the second after {pair.pause:.2f} s", end, *endings)


def _in_order(pair: Pair, *, from_the_start: bool) -> list[tuple[str, ...]]:
    """Return the commands in order, removal first; where both ran already, removal is left out: its run is gone."""
    two = sorted((pair.first, pair.second), key=lambda command: "--remove" not in command)
    left = [command for command in dict.fromkeys(two) if from_the_start or "--remove" not in command]
    return [*left, ("sweep", "small.toml", *SMOKE)]


def _prepared(material: Path, folder: Path) -> Path:
    copied(material, folder)
    take_away(
        ("out/runs/*-ipe-w8l1h1-*", "out/figures/accuracy-small*", "out/small/conjecture.json"),
        0.5,
        folder,
        random.Random(0),
    )
    return folder


def _call(folder: Path, arguments: tuple[str, ...]) -> Ending:
    return call(arguments, folder=folder, cache=folder / "cache", seconds=SECONDS)


def _name(arguments: tuple[str, ...]) -> str:
    return "runs --remove" if "--remove" in arguments else arguments[0]


def _judged(endings: list[Ending], after: list[Ending], apart: Path, together: Path) -> tuple[str, str]:
    outcome = tally.outcome(*endings, *after)
    if disaster := tally.disaster(*endings, *after):
        return disaster, outcome
    if not all(_is_well(ending, endings) for ending in [*endings, *after]):
        return tally.LINES, outcome
    wrong = difference(contents(apart / "out"), contents(together / "out"))
    return (tally.WRONG, f"{wrong}\n{outcome}") if wrong else (tally.DONE, "")


def _is_well(ending: Ending, both: list[Ending]) -> bool:
    """True if it did its work; or named in one line what it lacks: runs or a trial not made yet, or removed before."""
    if ending.status == 0:
        return True
    name, lines = _name(ending.arguments), ending.err.splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    if name == "verify":  # the claim on runs needs more of them than there are
        return ending.status == 1 and lines[-1:] == ["1 of 2 claims are not shown to hold: control-growing"]
    if name == "figures":
        return all(" missing" in line for line in errors or lines[-1:])
    return len(errors) == 1 and all(_name(other.arguments) == "runs --remove" for other in both)
