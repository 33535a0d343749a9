"""Commands killed at any moment, and called again: the same bytes as if they never were, and nothing left behind."""

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.attack import tally
from tests.attack.folders import contents, difference
from tests.attack.material import SMOKE, TRAIN, copied
from tests.attack.tally import Try
from tests.attack.watchdog import COUNTED, NEVER, Ending, Kill, call

SECONDS = 900.0


def _without(*patterns: str, share: float = 1.0) -> Callable[[Path, random.Random], None]:
    """Return a function that removes a share of what the patterns name, at least one file."""
    return partial(take_away, patterns, share)


def take_away(patterns: tuple[str, ...], share: float, folder: Path, pick: random.Random) -> None:
    for pattern in patterns:
        paths = sorted(folder.glob(pattern))
        for path in pick.sample(paths, max(1, round(share * len(paths)))) if paths else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A command, and the files that are removed first so that it has work to do."""

    kind: str
    arguments: tuple[str, ...]
    prepare: Callable[[Path, random.Random], None]
    needs_complete: bool = True


_REPRODUCE = ("reproduce", *SMOKE)
VICTIMS = (
    Victim(kind="train", arguments=TRAIN, prepare=_without("out/runs/.unfinished"), needs_complete=False),
    Victim(kind="train, begun", arguments=TRAIN, prepare=_without(), needs_complete=False),
    Victim(
        kind="reproduce: claims",
        arguments=_REPRODUCE,
        prepare=_without("out/claims.json", "cache/lengthgen/claims/rpe-*"),
    ),
    Victim(
        kind="reproduce: circuits",
        arguments=_REPRODUCE,
        prepare=_without("out/lrc.json", "out/src.json", "cache/lengthgen/answers"),
    ),
    Victim(kind="reproduce: predictions", arguments=_REPRODUCE, prepare=_without("out/fig1")),
    Victim(
        kind="reproduce: training", arguments=_REPRODUCE, prepare=_without("out/runs/parity-*-w16l2h2-*", share=0.5)
    ),
    Victim(
        kind="reproduce: figures",
        arguments=_REPRODUCE,
        prepare=_without("out/figures", "cache/lengthgen/figures/table-*"),
    ),
    Victim(
        kind="reproduce: report",
        arguments=_REPRODUCE,
        prepare=_without("out/report*", "cache/lengthgen/explorations/parity-*"),
    ),
    Victim(kind="reproduce: manifest", arguments=_REPRODUCE, prepare=_without("out/manifest.json")),
)


@dataclass(frozen=True, kw_only=True)
class Murder:
    """A victim, killed once or more, and then left to its end."""

    victim: Victim
    seed: str


@dataclass(frozen=True, kw_only=True)
class Life:
    """An undisturbed call: what it leaves, how often it touches a file, and how long it takes."""

    contents: Mapping[str, str]
    touches: int
    seconds: float


def murders(material: Path, count: int, seed: int, only: str = "") -> Iterator[Murder]:
    """Yield `count` murders, each kind of victim in turn."""
    complete = (material / "whole").exists()
    pool = [victim for victim in VICTIMS if victim.kind.startswith(only) and (complete or not victim.needs_complete)]
    for number in range(count):
        yield Murder(victim=pool[number % len(pool)], seed=f"{seed} {number}")


def lives(material: Path, victims: set[Victim]) -> dict[str, Life]:
    """Return how each victim lives undisturbed, by its kind."""
    undisturbed = {}
    for victim in victims:
        with tempfile.TemporaryDirectory() as place:
            folder = copied(material, Path(place) / "copy")
            victim.prepare(folder, random.Random(0))
            ending = call(victim.arguments, folder=folder, cache=folder / "cache", seconds=SECONDS, kill=NEVER)
            if ending.status != 0:
                raise AssertionError(f"{victim.kind}: {ending}")
            touches = int(ending.err.rpartition(COUNTED)[2])
            undisturbed[victim.kind] = Life(contents=contents(folder / "out"), touches=touches, seconds=ending.seconds)
    return undisturbed


def run_attack(material: Path, murder: Murder, undisturbed: Mapping[str, Life]) -> Try:
    """Kill the victim once or twice, by the count of what it touched or by the clock; then let it run to its end."""
    pick, life = random.Random(murder.seed), undisturbed[murder.victim.kind]
    kills = [_kill(life, pick) for _ in range(pick.choice((1, 1, 2)))]
    with tempfile.TemporaryDirectory() as place:
        folder = copied(material, Path(place) / "copy")
        murder.victim.prepare(folder, random.Random(0))
        go = partial(call, murder.victim.arguments, folder=folder, cache=folder / "cache", seconds=SECONDS)
        endings = [go(kill=kill) for kill in kills] + [go()]
        end, detail = _judged(endings, life, folder)
    return Try(
        kind=murder.victim.kind,
        again=f"seed '{murder.seed}': {kills}",
        end=end,
        seconds=max(ending.seconds for ending in endings),
        peak_mib=max(ending.peak_mib for ending in endings),
        detail=detail,
    )


def _kill(life: Life, pick: random.Random) -> Kill:
    if pick.random() < 0.5:
        return Kill(event=pick.randrange(1, life.touches + 1))
    return Kill(seconds=pick.uniform(0.02, life.seconds))


def _judged(endings: list[Ending], life: Life, folder: Path) -> tuple[str, str]:
    last = endings[-1]
    outcome = f"exit {last.status}: {last.err[-1500:]}"
    if any(ending.orphans for ending in endings):
        return tally.ORPHANS, f"{[ending.orphans for ending in endings]} processes"
    if last.status is None:
        return tally.LATE, outcome
    if any("Traceback" in ending.err for ending in endings):
        return tally.TRACEBACK, "\n".join(ending.err[-1500:] for ending in endings)
    if last.status != 0:
        return tally.LINES, outcome
    wrong = difference(life.contents, contents(folder / "out"))
    return (tally.WRONG, wrong) if wrong else (tally.DONE, "")
