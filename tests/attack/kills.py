"""Commands killed at any moment, and called again: the same bytes as if they never were, and nothing left behind."""

import hashlib
import json
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.attack import tally
from tests.attack.material import SMOKE, TRAIN, copied
from tests.attack.tally import Try
from tests.attack.watchdog import COUNTED, NEVER, Ending, Kill, call
from tests.lengthgen.test_reproduce import TELL_TIME

SECONDS = 900.0
LOCKS = {".locks", ".lock"}


def contents(out: Path) -> dict[str, str]:
    """Map every file and folder, hidden ones too, to a hash of its content, without what tells time."""
    return {
        str(path.relative_to(out)): _digest(path)
        for path in sorted(out.rglob("*"))
        if not LOCKS & {*path.relative_to(out).parts}
    }


def difference(expected: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Name the first few files that are gone, changed or left behind; "" if there are none."""
    gone = sorted(expected.keys() - now.keys())
    more = sorted(now.keys() - expected.keys())
    changed = sorted(name for name in expected.keys() & now.keys() if expected[name] != now[name])
    parts = {"missing": gone, "left behind": more, "changed": changed}
    return "; ".join(f"{what}: {', '.join(names[:4])} ({len(names)})" for what, names in parts.items() if names)


def _digest(path: Path) -> str:
    if path.is_dir():
        return "folder"
    if path.name == "claims.json":
        claims = json.loads(path.read_text(encoding="utf-8"))["answer"]["claims"]
        content = json.dumps([{**claim, "seconds": None} for claim in claims], sort_keys=True).encode()
    elif path.name in TELL_TIME or path.parent.name == ".drawn":
        return "tells time"
    else:
        content = path.read_bytes()
    return hashlib.sha256(content).hexdigest()


def take_away(patterns: tuple[str, ...], share: float, folder: Path, pick: random.Random) -> None:
    """Remove a share of what the patterns name, at least one file of each."""
    for pattern in patterns:
        paths = sorted(folder.glob(pattern))
        for path in pick.sample(paths, max(1, round(share * len(paths)))) if paths else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


class Victim(NamedTuple):
    """A command, and the files of which a share is removed first, so that it has work to do."""

    kind: str
    arguments: tuple[str, ...] = ("reproduce", *SMOKE)
    away: tuple[str, ...] = ()
    share: float = 1.0


VICTIMS = (
    Victim("train", TRAIN, ("out/runs/.unfinished",)),
    Victim("train, begun", TRAIN),
    Victim("reproduce: claims", away=("out/claims.json", "cache/lengthgen/claims/rpe-*")),
    Victim("reproduce: circuits", away=("out/lrc.json", "out/src.json", "cache/lengthgen/answers")),
    Victim("reproduce: predictions", away=("out/fig1",)),
    Victim("reproduce: training", away=("out/runs/parity-*-w16l2h2-*",), share=0.5),
    Victim("reproduce: figures", away=("out/figures", "cache/lengthgen/figures/table-*")),
    Victim("reproduce: report", away=("out/report*", "cache/lengthgen/explorations/parity-*")),
    Victim("reproduce: manifest", away=("out/manifest.json",)),
)
"""Commands to kill; those of `reproduce` need the complete material."""


class Murder(NamedTuple):
    """A victim, killed once or more, and then left to its end."""

    victim: Victim
    seed: str


class Life(NamedTuple):
    """An undisturbed call: what it leaves, how often it touches a file, and how long it takes."""

    contents: Mapping[str, str]
    touches: int
    seconds: float


def murders(material: Path, count: int, seed: int, only: str = "") -> Iterator[Murder]:
    """Yield `count` murders, each kind of victim in turn."""
    complete = (material / "whole").exists()
    pool = [victim for victim in VICTIMS if victim.kind.startswith(only) and (complete or victim.arguments == TRAIN)]
    for number, (drawn, _) in enumerate(tally.draws(count, seed)):
        yield Murder(victim=pool[number % len(pool)], seed=drawn)


def lives(material: Path, victims: set[Victim]) -> dict[str, Life]:
    """Return how each victim lives undisturbed, by its kind."""
    undisturbed = {}
    for victim in victims:
        with tempfile.TemporaryDirectory() as place:
            folder = copied(material, Path(place) / "copy")
            take_away(victim.away, victim.share, folder, random.Random(0))
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
        take_away(murder.victim.away, murder.victim.share, folder, random.Random(0))
        go = partial(call, murder.victim.arguments, folder=folder, cache=folder / "cache", seconds=SECONDS)
        endings = [go(kill=kill) for kill in kills] + [go()]
        end = _judged(endings, life, folder)
    return tally.tried(murder.victim.kind, f"seed '{murder.seed}': {kills}", end, *endings)


def _kill(life: Life, pick: random.Random) -> Kill:
    if pick.random() < 0.5:
        return Kill(event=pick.randrange(1, life.touches + 1))
    return Kill(seconds=pick.uniform(0.02, life.seconds))


def _judged(endings: list[Ending], life: Life, folder: Path) -> tuple[str, str]:
    if disaster := tally.disaster(*endings):
        return disaster, tally.outcome(*endings)
    if endings[-1].status != 0:
        return tally.LINES, tally.outcome(endings[-1])
    wrong = difference(life.contents, contents(folder / "out"))
    return (tally.WRONG, wrong) if wrong else (tally.DONE, "")
