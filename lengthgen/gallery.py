"""The figures and tables of the catalogue: drawn side by side, and again only when something changed.

What is computed from the code alone is kept for the user's machine as well, and copied from there into other folders.

FOLDER/NAME.*              figures and tables
FOLDER/.drawn/NAME.json    what each was drawn from, and the hashes of its files
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import matplotlib

from empirical.digests import file_digest, source_digest
from empirical.files import locked, user_cache, write_bytes, write_json
from empirical.processes import interrupts_left, pool
from lengthgen.progress import Progress
from paper_figs.catalogue import catalogue, chosen
from paper_figs.entry import Entry, Undrawable
from paper_figs.saving import write
from paper_figs.sources import Needs, Sources
from theory.errors import LengthgenError

PROCESSES = 2
"""That draw at once."""
WORTH_PROCESSES = 4
"""Figures: to start processes takes as long as to draw fewer."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What became of the figures asked for, each by its name.

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


def draw_catalogue(sources: Sources, folder: Path, names: Sequence[str] = (), own: Sequence[str] = ()) -> Drawn:
    """Draws the figures and tables of the catalogue that are not drawn yet, two at a time.

    Args:
        sources: what they are drawn from.
        folder: where they are written.
        names: those wanted; all where none is named.
        own: protocols of the user's own, path/to/file.toml.

    Raises:
        UnknownFigure, ProfileError: as `catalogue` and `chosen`.
        OSError: the folder cannot be written.
    """
    wanted = chosen(catalogue(sources, own), names)
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
        key = json.dumps([*code, sources.profile, entry.name, entry.given, width, read], default=str)
        end = _drawn_before(stamps / f"{entry.name}.json", key, folder, again=entry.name in names)
        if end is None:
            waiting[entry.name] = key
        else:
            ends[entry.name] = end
            found.unchanged.append(entry.name)
    if waiting:
        stamps.mkdir(parents=True, exist_ok=True)
        if not os.access(stamps, os.W_OK):
            raise PermissionError(f"{folder} cannot be written: name another with --into")
    progress = Progress("figures", len(waiting))
    for name, end in _all(sources, folder, waiting, names, own):
        ends[name] = end
        progress.step(f"{name} could not be drawn" if end.broken else name)
    for entry in wanted:
        if entry.name in ends:
            end = ends[entry.name]
            if end.broken:
                found.broken[entry.name] = end.broken
            elif end.undrawable:
                found.missing[entry.name] = end.undrawable
            else:
                found.files[entry.name] = end.files
    return found


@dataclass(frozen=True, kw_only=True)
class _End:
    """What became of one figure: its files, or why it has none."""

    files: list[str] = field(default_factory=list)
    undrawable: str = ""
    broken: str = ""


def _drawn_before(stamp: Path, key: str, folder: Path, *, again: bool) -> _End | None:
    """What became of it, where it was drawn from the same and its files are as they were written.

    `again`: what could not be drawn is to be tried once more; it may have been short of time.
    """
    try:
        told = json.loads(stamp.read_text())
        whole = told["key"] == key and all(file_digest(folder / name) == its for name, its in told["files"].items())
        whole = whole and not (again and told["undrawable"])
        return _End(files=list(told["files"]), undrawable=told["undrawable"]) if whole else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _all(
    sources: Sources, folder: Path, keys: Mapping[str, str], names: Sequence[str], own: Sequence[str]
) -> Iterator[tuple[str, _End]]:
    """Each with what became of it, as they end; a few are drawn in this process."""
    draw = partial(_one, sources, folder, names, own)
    if len(keys) < WORTH_PROCESSES:
        yield from ((name, draw(name, key)) for name, key in keys.items())
        return
    with pool(PROCESSES) as processes:
        with interrupts_left():
            futures = {processes.submit(draw, name, key): name for name, key in keys.items()}
        for done in as_completed(futures):
            yield futures[done], done.result()


def _one(sources: Sources, folder: Path, names: Sequence[str], own: Sequence[str], name: str, key: str) -> _End:
    entry = catalogue(sources, own)[name]
    stamp = folder / ".drawn" / f"{name}.json"
    try:
        if entry.needs != Needs():
            return _drawn(entry, sources, folder, stamp, key)
        # What is computed is the same for every OUT, and takes longest.
        kept = user_cache("figures") / name
        with locked(kept / ".lock"):
            its_stamp = kept / ".drawn.json"
            before = _drawn_before(its_stamp, key, kept, again=name in names)
            end = before or _drawn(entry, sources, kept, its_stamp, key)
            for file in end.files:
                write_bytes(folder / file, (kept / file).read_bytes())
            write_bytes(stamp, its_stamp.read_bytes())
        return end
    except ModuleNotFoundError as reason:
        if reason.name not in ("torch", "safetensors", "pyarrow"):
            raise
        return _End(broken=f"it needs {reason.name}: install the extra with  pip install 'lengthgen[train]'")
    except (LengthgenError, OSError) as reason:
        return _End(broken=str(reason))


def _drawn(entry: Entry, sources: Sources, folder: Path, stamp: Path, key: str) -> _End:
    """Draws it, and notes of what."""
    try:
        drawing = entry.make(replace(sources, width=max(sources.width, entry.least_width)))
        end = _End(files=[path.name for path in write(drawing, folder, entry.name)])
    except Undrawable as reason:
        end = _End(undrawable=str(reason))
    hashes = {name: file_digest(folder / name) for name in end.files}
    write_json(stamp, {"key": key, "files": hashes, "undrawable": end.undrawable})
    return end
