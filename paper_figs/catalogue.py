"""Catalogue of all figures and tables by name, collected from the FIGURES of each module (declaration.py)."""

import pkgutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from types import ModuleType

from lengthgen import paper_figs
from lengthgen.empirical.experiment.protocol import names as protocol_names
from lengthgen.infrastructure.errors import LengthgenError, in_any_case, nearest
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.paper_figs.declaration import Entry, Family
from lengthgen.paper_figs.names import file_name
from lengthgen.paper_figs.sources import Sources


class UnknownFigure(LengthgenError):
    """Error for a name that no figure or table has."""


def catalogue(sources: Sources, protocols: Sequence[str] = ()) -> dict[str, Entry]:
    """Return all figures and tables by name: first the general ones, then those of each protocol, ordered by place.

    Args:
        sources: the sources that load the protocols.
        protocols: the user's own protocol files, path/to/file.toml. They get the figures that every protocol has.

    Raises:
        ProfileError: a file is not a protocol, or its figures have names that are taken.
    """
    entries, families = declared(_modules())
    by_name = dict(entries)
    for protocol_name in [*protocol_names(), *dict.fromkeys(protocols)]:
        protocol = sources.protocol(protocol_name)
        for entry in sorted((entry for family in families for entry in family(protocol_name, protocol)), key=_place):
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
    for entry, module_name in sorted(entries, key=lambda pair: _place(pair[0])):
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
    """Modules of this package, sorted by name, without subpackages: those of the report declare no figures."""
    names = sorted(module.name for module in pkgutil.iter_modules(paper_figs.__path__) if not module.ispkg)
    return tuple(import_module(f"{paper_figs.__name__}.{name}") for name in names)


def _place(entry: Entry) -> int:
    return entry.place
