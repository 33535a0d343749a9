"""Declarations of figures and tables, and the catalogue of all.

Each module of `paper_figs/figures/`, and those that a study names, list the figures and tables that they draw in
FIGURES, as `Entry` objects or as functions that make the entries of one protocol. To add a figure, add a module with
FIGURES and a test: `catalogue` finds it.
"""

import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from lengthgen.empirical.experiment.protocol import Protocol
from lengthgen.empirical.experiment.protocol import names as protocol_names
from lengthgen.infrastructure.discovery import studies
from lengthgen.infrastructure.errors import LengthgenError, in_any_case, nearest
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.paper_figs.names import file_name
from lengthgen.paper_figs.saving import Drawing, at_width
from lengthgen.paper_figs.sources import Needs, Sources


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Figure or table of the catalogue.

    Attributes:
        place: sort key in lists: 100 figures of the paper, 200 tables, 300 theory, 500 figures of any protocol.
        name: name of its files, and on the command line.
        title: title in a few words.
        make: function that draws it; raises Undrawable if nobody could read the result.
        needs: stored things that it reads; empty for a figure that is computed.
        least_width: smallest legible width in inches, used when a smaller one is asked for; 0 if any width is legible.
    """

    place: int
    name: str
    title: str
    make: Callable[[Sources], Drawing]
    needs: Needs = field(default_factory=Needs)
    least_width: float = 0.0

    def drawing(self, sources: Sources) -> Drawing:
        """Draw it from the sources, at least as wide as it needs; the caption says if runs come from a record.

        Raises:
            LengthgenError: something is not stored, or it would not be legible.
        """

        def make(width: float) -> Drawing:
            return self.make(replace(sources, width=max(width, self.least_width)))

        drawing = at_width(make, sources.width)
        if origin := sources.origin(self.needs):
            runs = "" if self.needs.trial or not self.needs.protocols else "the planned runs of "
            drawing = replace(drawing, caption=f"{drawing.caption} From {runs}the record {origin}: not trained here.")
        return drawing

    @property
    def make_arguments(self) -> dict[str, Any]:
        """Keyword arguments that `make` takes beside the sources."""
        return self.make.keywords if isinstance(self.make, partial) else {}


_RUNS = Needs()
"""Needs of a figure of any protocol that reads no more than its runs."""

Family = Callable[[str, Protocol], Iterable[Entry]]
"""Function that makes the figures of one protocol: (name or file of the protocol, the protocol) -> entries."""


def each_protocol(
    kind: str, title: str, make: Callable[..., Drawing], *, place: int, needs: Needs = _RUNS, least_width: float = 0.0
) -> Family:
    """Declare one figure for every protocol, named KIND-PROTOCOL and drawn by `make(sources, protocol=...)`.

    `needs` is what it reads beside the runs of the protocol, whose name stands before the title; the others are as in
    `Entry`.
    """

    def entries(protocol_name: str, protocol: Protocol) -> list[Entry]:
        return [
            Entry(
                place=place,
                name=f"{kind}-{protocol.name}",
                title=f"{protocol.name}: {title}",
                make=partial(make, protocol=protocol_name),
                needs=replace(needs, protocols=(protocol_name,)),
                least_width=least_width,
            )
        ]

    return entries


class UnknownFigure(LengthgenError):
    """Error for a name that no figure or table has."""


def catalogue(sources: Sources, protocols: Sequence[str] = ()) -> dict[str, Entry]:
    """Return all figures and tables by name: first the general ones, then those of each protocol, ordered by place.

    The user's own protocol files, path/to/file.toml, get the figures that every protocol has.

    Raises:
        ProfileError: a file is not a protocol, or its figures have names that are taken.
    """
    entries, families = declared(_modules())
    by_name = dict(entries)
    for protocol_name in [*protocol_names(), *dict.fromkeys(protocols)]:
        protocol = sources.protocol(protocol_name)
        of_protocol = (entry for family in families for entry in family(protocol_name, protocol))
        for entry in sorted(of_protocol, key=attrgetter("place")):
            name = file_name(entry.name)
            if name in by_name:
                raise ProfileError(
                    f"protocol '{protocol_name}': two figures would be '{name}': rename it, or its tasks"
                )
            by_name[name] = replace(entry, name=name)
    return by_name


def declared(modules: Iterable[ModuleType]) -> tuple[dict[str, Entry], list[Family]]:
    """Collect the FIGURES of modules: entries by name, ordered by place, and the families.

    Entries with equal places keep the order of the modules and of the lists in them.

    Raises:
        ValueError: two entries have the same name.
    """
    entries: list[tuple[Entry, str]] = []
    families: list[Family] = []
    for module in modules:
        for declaration in getattr(module, "FIGURES", ()):
            if isinstance(declaration, Entry):
                entries.append((declaration, module.__name__))
            else:
                families.append(declaration)
    by_name: dict[str, Entry] = {}
    module_of: dict[str, str] = {}
    for entry, module_name in sorted(entries, key=lambda pair: pair[0].place):
        if entry.name in by_name:
            raise ValueError(f"two figures are named '{entry.name}': in {module_of[entry.name]} and in {module_name}")
        by_name[entry.name], module_of[entry.name] = entry, module_name
    return by_name, families


def select_entries(entries: dict[str, Entry], names: Sequence[str]) -> list[Entry]:
    """Return the entries with the given names, in any case, or all entries if no name is given.

    Raises:
        UnknownFigure: a name is unknown; the message gives the closest names.
    """
    chosen = [in_any_case(name, entries) for name in names]
    for name in chosen:
        if name not in entries:
            hint = nearest(name, entries, listed="`lengthgen figures --list` names all")
            raise UnknownFigure(f"no figure or table is named '{name}': {hint}")
    return [entries[name] for name in dict.fromkeys(chosen or entries)]


@lru_cache(maxsize=1)
def _modules() -> tuple[ModuleType, ...]:
    """Modules of `paper_figs/figures/`, sorted by name, and those of the studies."""
    folder = Path(__file__).with_name("figures")
    names = [f"{__package__}.figures.{module.name}" for module in pkgutil.iter_modules([str(folder)])]
    of_studies = [f"{study.__name__}.{name}" for study in studies() for name in getattr(study, "FIGURES", ())]
    return tuple(map(import_module, [*sorted(names), *of_studies]))
