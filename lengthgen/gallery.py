"""The figures and tables of the catalogue: drawn side by side, and again only when something changed.

What is computed from the code alone is kept for the user's machine as well, and copied from there into other folders.

FOLDER/NAME.*              figures and tables
FOLDER/.drawn/NAME.json    what each was drawn from, and the hashes of its files
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import matplotlib

from lengthgen.preconditions import TRAINING, missing_training
from lengthgen.progress import Progress
from paper_figs.catalogue import catalogue, select_entries
from paper_figs.declaration import Entry, Undrawable
from paper_figs.saving import write
from paper_figs.sources import Needs, Sources
from theory.system.cache import keep, recalled
from theory.system.digests import source_digest
from theory.system.errors import LengthgenError
from theory.system.files import locked, read_bytes, user_cache, write_bytes
from theory.system.messages import tell
from theory.system.processes import interrupts_left, pool

PROCESSES = 2
"""Processes that draw at once."""
WORTH_PROCESSES = 4
"""Figures: to start processes takes as long as to draw fewer."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Outcome for the figures asked for, each by its name.

    Attributes:
        files: of those that are there now.
        unchanged: those of them that were there before.
        missing: why one was not drawn: what it needs is not there, or nobody could read it.
        broken: why one could not be drawn.
    """

    files: dict[str, list[str]] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def skipped(self) -> dict[str, list[str]]:
        """Reason -> the figures that are missing for it."""
        found: dict[str, list[str]] = {}
        for name, reason in self.missing.items():
            found.setdefault(reason, []).append(name)
        return found


def draw_catalogue(sources: Sources, folder: Path, names: Sequence[str] = (), own: Sequence[str] = ()) -> Drawn:
    """Draws the figures and tables of the catalogue that are not drawn yet, two at a time.

    Args:
        sources: what they are drawn from.
        folder: where they are written.
        names: those wanted; all where none is named.
        own: protocols of the user's own, path/to/file.toml.

    Raises:
        UnknownFigure, ProfileError: as `catalogue` and `select_entries`.
        OSError: the folder cannot be written.
    """
    wanted = select_entries(catalogue(sources, own), names)
    stamps = folder / ".drawn"
    found = Drawn()
    code = [source_digest("theory", "circuits", "empirical", "proofs_checks", "paper_figs"), matplotlib.__version__]
    waiting: dict[str, str] = {}
    ends: dict[str, _End] = {}
    for entry in wanted:
        try:
            sources.require(entry.needs)
        except LengthgenError as reason:
            found.missing[entry.name] = str(reason)
            continue
        try:
            read = sources.digest(entry.needs)
        except (LengthgenError, OSError) as reason:
            found.broken[entry.name] = str(reason)
            continue
        width = max(sources.width, entry.least_width)
        key = json.dumps([*code, sources.profile, entry.name, entry.make_arguments, width, read], default=str)
        before = _drawn_before(stamps / f"{entry.name}.json", key, folder)
        if before is None:
            waiting[entry.name] = key
        else:
            ends[entry.name], _ = before
            found.unchanged.append(entry.name)
    if waiting:
        stamps.mkdir(parents=True, exist_ok=True)
        if not os.access(stamps, os.W_OK):
            raise PermissionError(f"{folder} cannot be written: name another with --into")
    progress = Progress("figures", len(waiting))
    for name, end in _draw_all(sources, folder, waiting, own):
        ends[name] = end
        progress.step(f"{name} could not be drawn" if end.broken else name)
    for name, end in ((entry.name, ends[entry.name]) for entry in wanted if entry.name in ends):
        if end.broken:
            found.broken[name] = end.broken
        elif end.undrawable:
            found.missing[name] = end.undrawable
        else:
            found.files[name] = end.files
    return found


@dataclass(frozen=True, kw_only=True)
class _End:
    """Outcome for one figure: its files, or why it has none."""

    files: list[str] = field(default_factory=list)
    undrawable: str = ""
    broken: str = ""


_Contents = dict[str, bytes]
"""File name -> content."""


def _drawn_before(stamp: Path, key: str, folder: Path) -> tuple[_End, _Contents] | None:
    """Outcome for a figure that was drawn from the same sources, if its files are as they were written."""
    try:
        known = recalled(stamp, key)
        if known is None:
            return None
        contents = {name: read_bytes(folder / name) for name in known["files"]}
        if _hashes(contents) != known["files"]:
            return None
        return _End(files=list(known["files"]), undrawable=known["undrawable"]), contents
    except (OSError, LengthgenError):  # not there, or not as it was written: the figure is drawn
        return None


def _draw_all(
    sources: Sources, folder: Path, keys: Mapping[str, str], own: Sequence[str]
) -> Iterator[tuple[str, _End]]:
    """Name and outcome of each figure, as they end; a few are drawn in this process."""
    draw = partial(_draw_one, sources, folder, own)
    if len(keys) < WORTH_PROCESSES:
        yield from ((name, draw(name, key)) for name, key in keys.items())
        return
    with pool(PROCESSES) as processes:
        with interrupts_left():
            futures = {processes.submit(draw, name, key): name for name, key in keys.items()}
        try:
            for done in as_completed(futures):
                yield futures[done], done.result()
        except BrokenProcessPool:
            raise LengthgenError(
                "a process that drew figures was ended, out of memory perhaps: run the command again to go on"
            ) from None


def _draw_one(sources: Sources, folder: Path, own: Sequence[str], name: str, key: str) -> _End:
    entry = catalogue(sources, own)[name]
    stamp = folder / ".drawn" / f"{name}.json"
    try:
        if entry.needs != Needs():
            return _drawn(entry, sources, folder, stamp, key)[0]
        # What is computed is the same for every OUT, and takes longest.
        kept = user_cache("figures") / name
        with locked(kept / ".lock", on_wait=lambda who: tell(f"waiting for {who}, which draws {name}")):
            its_stamp = kept / ".drawn.json"
            end, contents = _drawn_before(its_stamp, key, kept) or _drawn(entry, sources, kept, its_stamp, key)
        for file, content in contents.items():
            write_bytes(folder / file, content)
        _note(stamp, key, end, contents)
        return end
    except ModuleNotFoundError as reason:
        if reason.name not in TRAINING:
            raise
        return _End(broken=missing_training(reason.name))
    except (LengthgenError, OSError) as reason:
        return _End(broken=str(reason))


def _drawn(entry: Entry, sources: Sources, folder: Path, stamp: Path, key: str) -> tuple[_End, _Contents]:
    """Draws a figure, and stores what it was drawn from."""
    try:
        paths = write(entry.make(replace(sources, width=max(sources.width, entry.least_width))), folder, entry.name)
        end, contents = _End(files=[path.name for path in paths]), {path.name: read_bytes(path) for path in paths}
    except Undrawable as reason:
        end, contents = _End(undrawable=str(reason)), {}
    _note(stamp, key, end, contents)
    return end, contents


def _note(stamp: Path, key: str, end: _End, contents: _Contents) -> None:
    keep(stamp, key, {"files": _hashes(contents), "undrawable": end.undrawable})


def _hashes(contents: _Contents) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
