"""A fuzzed call: files of the user's own, arguments, and how the command ended on them."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from lengthgen.infrastructure.errors import LengthgenError
from tests.attack import tally
from tests.attack.material import copied
from tests.attack.tally import Try
from tests.attack.watchdog import Ending, call

LARGEST_MIB = 2048
SECONDS = 180.0
"""All figures, where none is kept yet, take a minute on two idle cores; what takes longer than this hangs."""
LONGEST_LINE = 10_000
"""Most bytes of a line on stderr."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call to try; `files` has texts by name, and without `trains` a sweep ends where training would begin."""

    kind: str
    arguments: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    trains: bool = True
    seed: str = ""


class WouldTrain(LengthgenError):
    """The training was about to begin: everything before went well."""


def run_attack(material: Path, planned: Call) -> Try:
    """Run the command in a copy of the material, and judge how it ended."""
    with tempfile.TemporaryDirectory() as place:
        folder = copied(material, Path(place) / "a" / "b" / "c")
        _strange_files(folder)
        for name, text in planned.files.items():
            (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        with _training(planned.trains):
            ending = call(planned.arguments, folder=folder, cache=folder / "cache", seconds=SECONDS, mib=LARGEST_MIB)
        unread = _unreadable(folder / "written")
    end = (tally.SILENT, f"no file of its kind: {unread}") if unread else _judged(planned, ending)
    shown = " ".join(f"{argument:.300}" for argument in planned.arguments)
    return tally.tried(planned.kind, f"seed '{planned.seed}': lengthgen {shown!a}", end, ending)


def _strange_files(folder: Path) -> None:
    """Make what arguments may name: a device, a pipe, a loop, an empty file, one that is no text."""
    (folder / "device").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "empty").touch()
    (folder / "noise").write_bytes(bytes(range(256)))


@contextmanager
def _training(wanted: bool) -> Iterator[None]:
    def refuse(*_: object) -> object:
        raise WouldTrain("here training would begin")

    with ExitStack() as patches:
        if not wanted:
            patches.enter_context(mock.patch.dict("lengthgen.questions.rounds.ENGINES", {"local": refuse}))
        yield


def _unreadable(folder: Path) -> list[str]:
    """Return the errors of the files that are not what their names say."""
    errors = []
    for path in folder.glob("*"):
        try:
            if path.suffix in (".xml", ".svg"):
                ElementTree.parse(path)
            elif path.suffix == ".sarif":
                json.loads(path.read_bytes())
            elif path.suffix in (".csv", ".txt", ".tex", ".pgf"):
                path.read_text(encoding="utf-8")
        except (ValueError, ElementTree.ParseError) as error:
            errors.append(f"{path.name}: {error}")
    return errors


def _judged(planned: Call, ending: Ending) -> tuple[str, str]:
    outcome = tally.outcome(ending)
    if disaster := tally.disaster(ending, mib=LARGEST_MIB):
        return disaster, outcome
    if ending.status == 0:
        return (tally.DONE, "") if _answers(planned, ending) else (tally.SILENT, outcome)
    lines = ending.err.splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    has_message = len(errors) == 1 or (ending.status == 1 and (lines or ending.out))
    if not has_message or any(len(line) > LONGEST_LINE for line in lines) or not _printable(ending.err):
        return tally.LINES, outcome
    return tally.REFUSED, ""


def _answers(planned: Call, ending: Ending) -> bool:
    """True if the output is there and, with --json, is JSON."""
    if "--json" in planned.arguments and "--help" not in planned.arguments:
        try:
            json.loads(ending.out[ending.out.find("\n{") + 1 :])  # a user's own code may print before
        except ValueError:
            return False
    return bool(ending.out.strip())


def _printable(text: str) -> bool:
    return all(character.isprintable() or character in "\n " for character in text)
