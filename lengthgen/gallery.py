"""The figures and tables of the catalogue: drawn side by side, and again only when something changed.

FOLDER/NAME.*              figures and tables
FOLDER/.drawn/NAME.json    what each was drawn from, and the hashes of its files
"""

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

import matplotlib

from empirical.digests import file_digest, source_digest
from empirical.files import write_json
from lengthgen.progress import Progress
from paper_figs.catalogue import catalogue, chosen
from paper_figs.entry import Entry
from paper_figs.saving import write
from paper_figs.sources import Sources
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
        missing: why one was not drawn: what it needs is not there.
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
        key = json.dumps([*code, entry.name, width, read])
        files = _drawn_before(stamps / f"{entry.name}.json", key, folder)
        if files is None:
            waiting[entry.name] = key
        else:
            found.files[entry.name] = files
            found.unchanged.append(entry.name)
    if waiting:
        stamps.mkdir(parents=True, exist_ok=True)
        if not os.access(stamps, os.W_OK):
            raise PermissionError(f"{folder} cannot be written: name another with --into")
    progress = Progress("figures", len(waiting))
    for name, files in _all(sources, folder, list(waiting), own):
        if isinstance(files, str):
            found.broken[name] = files
            progress.step(f"{name} could not be drawn")
        else:
            hashes = {file: file_digest(folder / file) for file in files}
            write_json(stamps / f"{name}.json", {"key": waiting[name], "files": hashes})
            found.files[name] = files
            progress.step(name)
    return replace(found, files={entry.name: found.files[entry.name] for entry in wanted if entry.name in found.files})


def _drawn_before(stamp: Path, key: str, folder: Path) -> list[str] | None:
    """The files, where they were drawn from the same and are as they were written."""
    try:
        told = json.loads(stamp.read_text())
        whole = told["key"] == key and all(file_digest(folder / name) == its for name, its in told["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return list(told["files"]) if whole else None


def _all(
    sources: Sources, folder: Path, names: Sequence[str], own: Sequence[str]
) -> Iterator[tuple[str, list[str] | str]]:
    """Each with its files, or why it could not be drawn, as they end; a few are drawn in this process."""
    if len(names) < WORTH_PROCESSES:
        yield from (_one(sources, folder, name, own) for name in names)
        return
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_one, sources, folder, name, own) for name in names]):
            yield done.result()


def _one(sources: Sources, folder: Path, name: str, own: Sequence[str]) -> tuple[str, list[str] | str]:
    entry: Entry = catalogue(sources, own)[name]
    try:
        drawing = entry.make(replace(sources, width=max(sources.width, entry.least_width)))
        return name, [path.name for path in write(drawing, folder, name)]
    except ModuleNotFoundError as reason:
        if reason.name not in ("torch", "safetensors", "pyarrow"):
            raise
        return name, f"it needs {reason.name}: install the extra with  pip install 'lengthgen[train]'"
    except (LengthgenError, OSError) as reason:
        return name, str(reason)
