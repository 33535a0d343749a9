"""All figures and tables by name, as the modules of paper_figs declare them (`paper_figs.declaration`)."""

import pkgutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from types import ModuleType

import paper_figs
from empirical.runs.profile import ProfileError
from empirical.runs.protocol import names as protocol_names
from paper_figs.declaration import Entry, Family
from paper_figs.names import file_name
from paper_figs.sources import Sources
from theory.system.errors import LengthgenError, nearest


class UnknownFigure(LengthgenError):
    """No figure or table has this name."""


def catalogue(sources: Sources, protocols: Sequence[str] = ()) -> dict[str, Entry]:
    """Every figure and table, by name: those of no one protocol, then those of each, both by place.

    Args:
        sources: where protocols are looked up.
        protocols: files of the user's own, path/to/file.toml, which get the figures that every protocol has.

    Raises:
        ProfileError: a file that is no protocol, or whose figures have names that are taken.
    """
    entries, families = declared(_modules())
    found = dict(entries)
    for named in [*protocol_names(), *dict.fromkeys(protocols)]:
        protocol = sources.protocol(named)
        for entry in sorted((one for family in families for one in family(named, protocol)), key=_place):
            name = file_name(entry.name)
            if name in found:
                raise ProfileError(f"protocol '{named}': two figures would be '{name}': rename it, or its tasks")
            found[name] = replace(entry, name=name)
    return found


def declared(modules: Iterable[ModuleType]) -> tuple[dict[str, Entry], list[Family]]:
    """The FIGURES of modules: entries by name and in order of their places, and families.

    Entries of one place stand in the order of modules and within a module.

    Raises:
        ValueError: two entries have one name.
    """
    entries: list[tuple[Entry, str]] = []
    families: list[Family] = []
    for module in modules:
        for one in getattr(module, "FIGURES", ()):
            if isinstance(one, Entry):
                entries.append((one, module.__name__))
            else:
                families.append(one)
    found: dict[str, Entry] = {}
    declaring: dict[str, str] = {}
    for entry, module_name in sorted(entries, key=lambda pair: _place(pair[0])):
        if entry.name in found:
            raise ValueError(f"two figures are named '{entry.name}': in {declaring[entry.name]} and in {module_name}")
        found[entry.name], declaring[entry.name] = entry, module_name
    return found, families


def chosen(entries: dict[str, Entry], names: Sequence[str]) -> list[Entry]:
    """The entries of these names; all where none is named.

    Raises:
        UnknownFigure: with the closest names.
    """
    for name in names:
        if name not in entries:
            hint = nearest(name, entries, otherwise="`lengthgen figures --list` names all")
            raise UnknownFigure(f"no figure or table is named '{name}': {hint}")
    return [entries[name] for name in dict.fromkeys(names or entries)]


@lru_cache(maxsize=1)
def _modules() -> tuple[ModuleType, ...]:
    """The modules of this package, by name; the report's, one package below, draw no figures."""
    names = sorted(one.name for one in pkgutil.iter_modules(paper_figs.__path__) if not one.ispkg)
    return tuple(import_module(f"paper_figs.{name}") for name in names)


def _place(entry: Entry) -> int:
    return entry.place
