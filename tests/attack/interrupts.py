"""Commands interrupted at any moment of their lives: each ends as interrupted or as done, without a traceback."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.attack import tally
from tests.attack.material import CLAIMS, TRAIN, copied
from tests.attack.tally import Try

ROOT = Path(__file__).parents[2]
SECONDS = 300.0
COMMANDS = (
    ("--version",),
    ("tasks",),
    ("lrc", "1 if j - i < 2 else 0", "--scales", "2,4"),
    ("strata", "--questions", "2"),
    ("verify", CLAIMS[0], "--fresh"),
    (*TRAIN, "--out", "new"),
)


class Interrupt(NamedTuple):
    """A command and the share of its life after which it is interrupted; 1 is its end."""

    arguments: tuple[str, ...]
    share: float
    seed: str


def interrupts(count: int, seed: int, only: str = "") -> Iterator[Interrupt]:
    """Yield `count` interrupts, of each command in turn; a third of them near the beginning, a third near the end."""
    pool = [arguments for arguments in COMMANDS if arguments[0].startswith(only)]
    for number, (drawn, pick) in enumerate(tally.draws(count, seed)):
        share = pick.choice((pick.uniform(0, 0.1), pick.random(), pick.uniform(0.95, 1.02)))
        yield Interrupt(arguments=pool[number % len(pool)], share=share, seed=drawn)


def lives(material: Path, commands: set[tuple[str, ...]]) -> dict[tuple[str, ...], float]:
    """Return the seconds that each command takes undisturbed."""
    seconds = {}
    for arguments in commands:
        status, err, seconds[arguments] = _call(material, arguments, None)
        if status != 0:
            raise AssertionError(f"{arguments}: {status}: {err}")
    return seconds


def run_attack(material: Path, planned: Interrupt, undisturbed: Mapping[tuple[str, ...], float]) -> Try:
    """Interrupt the command as planned, and judge how it ended."""
    moment = planned.share * undisturbed[planned.arguments]
    status, err, seconds = _call(material, planned.arguments, moment)
    end = tally.LATE if status is None else tally.LINES
    if status in (0, 130):
        end = tally.TRACEBACK if "Traceback" in err or "Exception ignored" in err else tally.DONE
    again = f"seed '{planned.seed}': after {moment:.3f} s: lengthgen {' '.join(planned.arguments)}"
    detail = "" if end == tally.DONE else f"exit {status}: {err[-1500:]}"
    return Try(f"interrupted {planned.arguments[0]}", again, end, seconds, detail=detail)


def _call(material: Path, arguments: tuple[str, ...], moment: float | None) -> tuple[int | None, str, float]:
    """Start the command as a user does, and interrupt it so long after its first line; return status, stderr, seconds.

    Before that line, while Python itself starts, an interrupt ends Python as it likes.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = copied(material, Path(place) / "copy")
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what a background job ignores, its processes do too
        began = time.monotonic()
        with subprocess.Popen(
            [sys.executable, "-m", "lengthgen", *arguments], cwd=folder, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            while moment is not None and process.poll() is None and not _heeds_interrupts(process.pid):
                time.sleep(0)
            time.sleep(moment or 0)
            if moment is not None:
                process.send_signal(signal.SIGINT)
            try:
                _, err = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                _, err = process.communicate()
                return None, err, time.monotonic() - began
        return process.returncode, err, time.monotonic() - began


def _heeds_interrupts(pid: int) -> bool:
    """True if the handlers of the command are set: of SIGTERM, which Python leaves alone, last."""
    [caught] = re.findall(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"), re.M)
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)
