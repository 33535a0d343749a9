"""`lengthgen figures`, `figure` in Python: figures and tables, drawn in parallel and only if something changed.

Figures computed from the code alone are also cached for the user, and copied from there into other folders.

FOLDER/NAME.*              figures and tables
FOLDER/.drawn/NAME.json    sources of each figure, and the hashes of its files
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lengthgen.infrastructure.cache import Cached, can_keep
from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.errors import LengthgenError, in_any_case, in_words, nearest, one_line
from lengthgen.infrastructure.files import (
    DamagedFile,
    FullDisk,
    locked,
    read_bytes,
    require_folder,
    user_cache,
    write_bytes,
)
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.shapes import NUMBER, TEXT, mapping_to, record
from lengthgen.paper_figs.names import file_name
from lengthgen.terminal.answers import show
from lengthgen.terminal.options import FIGURE_NAMES, Json, Out, ProfileName, path_option
from lengthgen.terminal.preconditions import TRAINING, missing_training
from lengthgen.terminal.progress import Progress, as_they_end

if TYPE_CHECKING:
    from lengthgen.paper_figs.declaration import Entry
    from lengthgen.paper_figs.saving import Drawing
    from lengthgen.paper_figs.sources import Sources
    from lengthgen.paper_figs.stored_trial import StoredTrial

WidthName = Literal["page", "column", "neurips", "icml", "icml-column", "acl", "acl-column"]
"""Names of printed widths of figures; `lengthgen.paper_figs.style.WIDTHS` has them in inches."""


def figures(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Names of figures, as listed by --list. Without names: all that can be drawn.",
            autocompletion=FIGURE_NAMES.complete,
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List all figures and tables without drawing any.")] = False,
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="Also draw the figures of your own protocol, path/to/file.toml; may be given several times."),
    ] = None,
    trial: Annotated[
        Path | None,
        path_option("Draw the figures of this stored conjecture alone: a conjecture.json, or its folder."),
    ] = None,
    task: Annotated[str | None, typer.Option(help="With --trial: only these tasks, comma-separated.")] = None,
    encoding: Annotated[
        str | None, typer.Option(help="With --trial: only these encodings, comma-separated, in this order.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", help="With --trial: only these formats, comma-separated.", show_default="all"),
    ] = None,
    profile: ProfileName = "quick",
    width: Annotated[
        WidthName,
        typer.Option(help="Printed width: a page or a column. A figure that would be illegible or too tall is wider."),
    ] = "page",
    out: Out = Path("out"),
    into: Annotated[Path | None, path_option("Folder for the figures. Without it: OUT/figures.")] = None,
    as_json: Json = False,
) -> None:
    """Draw figures and tables from stored runs and computed theory.

    Figures whose sources did not change are not redrawn. In a checkout, those of an experiment without runs in OUT are
    drawn from its record in docs/results, and their captions say so. With --trial, the figures of one stored
    conjecture: accuracy, predicted, success, breaking, disagreements.

    The exit code is 0 only if every named figure was drawn, and no run that a figure reads is broken.
    """
    from lengthgen.paper_figs.declaration import catalogue
    from lengthgen.paper_figs.sources import RECORDS, Sources
    from lengthgen.paper_figs.stored_trial import load_trial
    from lengthgen.paper_figs.style import WIDTHS

    choice = {"task": task, "encoding": encoding, "format": format}
    if trial is None and any(choice.values()):
        raise LengthgenError("--task, --encoding and --format choose from a stored conjecture: name it with --trial")
    if listed and trial is not None:
        raise LengthgenError("--list is about the catalogue; what --trial draws is in --help: leave out one of the two")
    sources = Sources(out=out, profile=profile, width=WIDTHS[width], records=RECORDS)
    if listed:
        rows = [
            {"name": entry.name, "title": entry.title, "reads": entry.needs.in_words()}
            for entry in catalogue(sources, protocol or []).values()
        ]
        lines = [one_line(f"{row['name'] + '  ':<28}{row['title']}; {row['reads']}") for row in rows]
        show({"figures": rows}, "\n".join(lines), as_json)
        return
    folder = into or out / "figures"
    require_folder(folder)
    if trial is None:
        drawn = draw_catalogue(sources, folder, names or [], protocol or [])
    else:
        drawn = draw_trial(load_trial(trial).chosen(**choice), folder, names or [], width=WIDTHS[width])
    _show_drawn(drawn, folder, named=bool(names), of_trial=trial is not None, as_json=as_json)


def _show_drawn(drawn: "Drawn", folder: Path, *, named: bool, of_trial: bool, as_json: bool) -> None:
    """Print the answer, then one list of what is missing; end with exit code 1 if a figure failed.

    Of a trial, which has five figures, each missing one has its reason.
    """
    failing = drawn.broken | (drawn.missing if named else {})
    reasons = [f"{name}: {reason}" for name, reason in failing.items()]
    if failing and not drawn.files:
        raise LengthgenError("; ".join(reasons))
    parts = ("unchanged", "recorded", "widened", "missing", "broken")
    answer = {"folder": str(folder), "figures": drawn.files, **{part: getattr(drawn, part) for part in parts}}
    lines = [
        f"{name}{' (unchanged)' if name in drawn.unchanged else ''}: {', '.join(Path(p).suffix[1:] for p in files)}"
        + (f"; from {drawn.recorded[name]}" if name in drawn.recorded else "")
        for name, files in drawn.files.items()
    ]
    lines.append(f"in {folder}")
    if drawn.widened:
        lines.append(f"wider than asked for, since they need it (figure* in LaTeX): {few(drawn.widened)}")
    show(answer, "\n".join(lines), as_json)
    if not named:
        reasons_of_trial = [f"not drawn: {name}: {reason}" for name, reason in drawn.missing.items()]
        for line in reasons_of_trial if of_trial else drawn.missing_lines():
            tell(line)
    if failing:
        for reason in reasons:
            tell(f"error: {reason}")
        raise typer.Exit(1)


PROCESSES = 2
"""Number of processes that draw in parallel."""
ROUNDING = 0.01
"""Largest difference of two equal widths, in inches."""
WORTH_PROCESSES = 4
"""Smallest number of figures for which processes are started; starting them takes as long as drawing fewer."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Outcome for the requested figures, by name.

    Attributes:
        files: file names of the figures that exist now.
        unchanged: names of figures that existed before.
        recorded: figure -> the record that it is drawn from, because the folder of results has no runs of its protocol.
        widened: figure -> its width in inches, if that is larger than the one asked for.
        missing: reason why a figure was not drawn: its sources do not exist, or it would be illegible.
        made_by: command that makes missing sources -> names of the figures that lack them.
        broken: reason why a figure could not be drawn.
    """

    files: dict[str, list[str]] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)
    recorded: dict[str, str] = field(default_factory=dict)
    widened: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    made_by: dict[str, list[str]] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    def missing_lines(self) -> list[str]:
        """Short list of what was not drawn: a line for each command that makes sources, and one for all other figures.

        The others have their sources, and could not be read in print, or their search was stopped.
        """
        lines = [f"  {len(names):2} of {few(names)}: {command}" for command, names in self.made_by.items()]
        others = [name for name in self.missing if not any(name in names for names in self.made_by.values())]
        if others:
            why = "cannot be read in print (why: lengthgen figures NAME)"
            lines.append(f"  {len(others):2} {why}: {', '.join(others)}")
        if lines:
            lines.insert(0, f"not drawn: {len(self.missing)}; each line has the command that makes what they read")
        return lines


def draw_catalogue(sources: "Sources", folder: Path, names: Sequence[str] = (), own: Sequence[str] = ()) -> Drawn:
    """Draw the figures and tables of the catalogue that are not drawn yet, two at a time.

    All are requested if there are no names; `own` are the user's protocols, path/to/file.toml.

    Raises:
        UnknownFigure, ProfileError: as for `catalogue` and `select_entries`.
        FullDisk: no space is left in the folder or the user's cache, which ends the drawing.
        OSError: the folder cannot be written.
    """
    from lengthgen.paper_figs.declaration import catalogue, select_entries
    from lengthgen.paper_figs.sources import Missing

    requested = select_entries(catalogue(sources, own), names)
    stamps = folder / ".drawn"
    drawn = Drawn()
    code = source_digest("theory", "circuits", "empirical", "proofs_checks", "paper_figs")
    waiting: dict[str, Cached] = {}
    outcomes: dict[str, _Outcome] = {}
    for entry in requested:
        try:
            sources.require(entry.needs)
        except DamagedFile as reason:
            drawn.broken[entry.name] = str(reason)
            continue
        except LengthgenError as reason:
            drawn.missing[entry.name] = str(reason)
            if isinstance(reason, Missing):
                drawn.made_by.setdefault(reason.command, []).append(entry.name)
            continue
        try:
            sources_digest = sources.digest(entry.needs)
        except (LengthgenError, OSError) as reason:
            drawn.broken[entry.name] = in_words(reason)
            continue
        width = max(sources.width, entry.least_width)
        inputs = json.dumps([sources.profile, entry.name, entry.make_arguments, width, sources_digest], default=str)
        stamp = Cached(path=stamps / f"{entry.name}.json", code=code, inputs=inputs)
        if before := _drawn_before(stamp, folder):
            outcomes[entry.name], _ = before
            drawn.unchanged.append(entry.name)
        else:
            waiting[entry.name] = stamp
    if waiting:
        stamps.mkdir(parents=True, exist_ok=True)
        if not os.access(stamps, os.W_OK):
            raise PermissionError(f"{folder} cannot be written: name another folder with --into")
    progress = Progress("drawing", len(waiting), "figures")
    for name, outcome in _draw_all(sources, folder, waiting, own):
        outcomes[name] = outcome
        progress.step(f"{name} could not be drawn" if outcome.broken else name)
    for entry in requested:
        name = entry.name
        if name not in outcomes:
            continue
        outcome = outcomes[name]
        if outcome.broken:
            drawn.broken[name] = outcome.broken
        elif outcome.undrawable:
            drawn.missing[name] = outcome.undrawable
        else:
            drawn.files[name] = outcome.files
            if outcome.width > sources.width + ROUNDING:
                drawn.widened[name] = outcome.width
            if origin := sources.origin(entry.needs):
                drawn.recorded[name] = origin
    return drawn


def draw_trial(trial: "StoredTrial", folder: Path, names: Sequence[str] = (), *, width: float) -> Drawn:
    """Draw the figures of one stored conjecture, anew each time: they take seconds.

    The trial may be the chosen part of one. Names may be the words before the name of the trial; all are requested if
    there are none. `width` is in inches.

    Raises:
        UnknownFigure: a name is unknown.
        OSError: the folder cannot be written.
    """
    from lengthgen.paper_figs.saving import Undrawable, at_width, write
    from lengthgen.paper_figs.style import StyleError

    figures, drawn = trial.figures(), Drawn()
    for name in dict.fromkeys(_figure_of(trial, name) for name in names) or figures:
        safe = file_name(name)
        try:
            drawing = at_width(figures[name], width)
            drawn.files[safe] = [path.name for path in write(drawing, folder, safe)]
            if drawing.width > width + ROUNDING:
                drawn.widened[safe] = drawing.width
        except (Undrawable, StyleError) as reason:
            drawn.missing[safe] = str(reason)
    return drawn


def figure(
    name: str, *, trial: str | Path | None = None, out: str | Path = "out", profile: str = "quick", width: str = "page"
) -> "Drawing":
    """Draw one figure or table, of the catalogue or of a stored conjecture, without writing it.

        figure("lrc-growth").shown.savefig("growth.pdf")

    Args:
        name: name of the figure, as `lengthgen figures --list` has them; of a conjecture: accuracy, predicted, success,
            breaking or disagreements.
        trial: stored conjecture, a conjecture.json or its folder; None for the catalogue.
        out: folder of the stored runs and answers that a figure of the catalogue reads; in a checkout, an experiment
            without runs there is drawn from its record.
        profile: profile of these runs: smoke, quick or paper.
        width: printed width, a name of `lengthgen.paper_figs.style.WIDTHS`.

    Returns:
        shown (a figure of matplotlib, or a table), rows (its numbers) and caption.

    Raises:
        LengthgenError: there is no such figure or width, what it reads is not stored, or it would not be legible.
    """
    from lengthgen.paper_figs.declaration import catalogue, select_entries
    from lengthgen.paper_figs.saving import at_width
    from lengthgen.paper_figs.sources import RECORDS, Sources
    from lengthgen.paper_figs.stored_trial import load_trial
    from lengthgen.paper_figs.style import WIDTHS

    if width not in WIDTHS:
        raise LengthgenError(f"unknown width '{width:.60}': {nearest(width, WIDTHS)}")
    if trial is not None:
        stored = load_trial(Path(trial))
        return at_width(stored.figures()[_figure_of(stored, name)], WIDTHS[width])
    sources = Sources(out=Path(out), profile=profile, width=WIDTHS[width], records=RECORDS)
    [entry] = select_entries(catalogue(sources), [name])
    sources.require(entry.needs)
    return entry.drawing(sources)


def _figure_of(trial: "StoredTrial", name: str) -> str:
    """Return the full name of a figure of a stored conjecture, which may be given without the trial's."""
    from lengthgen.paper_figs.declaration import UnknownFigure

    figures = trial.figures()
    full = {name.removesuffix(f"-{trial.name}"): name for name in figures}
    name = in_any_case(name, [*figures, *full])
    if name not in figures and name not in full:
        raise UnknownFigure(f"no figure of a stored conjecture is named '{name}': {nearest(name, full)}")
    return full.get(name, name)


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """Outcome for one figure: its files and its width in inches, 0 for a table, or the reason why it has none."""

    files: list[str] = field(default_factory=list)
    width: float = 0.0
    undrawable: str = ""
    broken: str = ""


def few(names: Iterable[str]) -> str:
    """Return the first two names, and the number of the others."""
    listed = list(names)
    return ", ".join(listed[:2]) + (f" and {len(listed) - 2} more" if listed[2:] else "")


_Contents = dict[str, bytes]
"""File name -> content."""
_STAMP = record(files=mapping_to(TEXT), width=NUMBER, undrawable=TEXT)


def _drawn_before(stamp: Cached, folder: Path) -> tuple[_Outcome, _Contents] | None:
    """Return the outcome for a figure drawn from the same sources, if its files are unchanged; else None."""
    try:
        recorded = stamp.recalled(_STAMP)
        if recorded is None:
            return None
        contents = {name: read_bytes(folder / name) for name in recorded["files"]}
        if _hashes(contents) != recorded["files"]:
            return None
        outcome = {key: recorded[key] for key in ("width", "undrawable")}
        return _Outcome(files=list(recorded["files"]), **outcome), contents
    except (OSError, ValueError):  # missing, changed, or no name of a file: the figure is drawn again
        return None


def _draw_all(
    sources: "Sources", folder: Path, stamps: Mapping[str, Cached], own: Sequence[str]
) -> Iterator[tuple[str, _Outcome]]:
    """Return name and outcome of each figure as it ends; few figures are drawn in this process."""
    jobs = {name: partial(_draw_one, sources, folder, own, name, stamp) for name, stamp in stamps.items()}
    if len(jobs) >= WORTH_PROCESSES:
        return as_they_end(jobs, PROCESSES, work="drew figures")
    return ((name, draw()) for name, draw in jobs.items())


def _draw_one(sources: "Sources", folder: Path, own: Sequence[str], name: str, stamp: Cached) -> _Outcome:
    """Draw one figure of the catalogue, or copy it from the user's cache."""
    from lengthgen.paper_figs.declaration import catalogue
    from lengthgen.paper_figs.sources import Needs

    entry = catalogue(sources, own)[name]
    try:
        cache_folder = user_cache("figures") / name
        if entry.needs != Needs() or not can_keep(cache_folder):
            return _drawn(entry, sources, folder, stamp)[0]
        # Computed figures are the same for every OUT, and take longest.
        with locked(cache_folder / ".lock", f"draws {name}"):
            cache_stamp = replace(stamp, path=cache_folder / ".drawn.json")
            outcome, contents = _drawn_before(cache_stamp, cache_folder) or _drawn(
                entry, sources, cache_folder, cache_stamp
            )
        for file, content in contents.items():
            write_bytes(folder / file, content)
        _keep_stamp(stamp, outcome, contents)
        return outcome
    except ModuleNotFoundError as reason:
        if reason.name not in TRAINING:
            raise
        return _Outcome(broken=missing_training(reason.name))
    except FullDisk:  # the other figures would say the same
        raise
    except (LengthgenError, OSError) as reason:
        return _Outcome(broken=in_words(reason))


def _drawn(entry: "Entry", sources: "Sources", folder: Path, stamp: Cached) -> tuple[_Outcome, _Contents]:
    """Draw a figure, and store the digest of its sources."""
    from lengthgen.paper_figs.saving import Undrawable, write

    try:
        drawing = entry.drawing(sources)
        paths = write(drawing, folder, entry.name)
        outcome = _Outcome(files=[path.name for path in paths], width=drawing.width)
        contents = {path.name: read_bytes(path) for path in paths}
    except Undrawable as reason:
        outcome, contents = _Outcome(undrawable=str(reason)), {}
    _keep_stamp(stamp, outcome, contents)
    return outcome, contents


def _keep_stamp(stamp: Cached, outcome: _Outcome, contents: _Contents) -> None:
    """Store the hashes of a figure's files under the key of its sources."""
    stamp.keep({"files": _hashes(contents), "width": outcome.width, "undrawable": outcome.undrawable})


def _hashes(contents: _Contents) -> dict[str, str]:
    """Return the SHA-256 of each file."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
