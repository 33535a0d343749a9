"""All figures and tables by name."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

from empirical.runs.profile import ProfileError
from empirical.runs.protocol import Protocol
from empirical.runs.protocol import names as protocol_names
from paper_figs import of_conjecture, of_labels, of_paper, of_tables, of_theory
from paper_figs.entry import Entry
from paper_figs.names import file_name
from paper_figs.sources import Needs, Sources
from theory.system.errors import LengthgenError

_DRAWN_ALREADY = ("fig2", "fig4")
"""Protocols whose accuracy by scale is a figure of the paper."""


class UnknownFigure(LengthgenError):
    """No figure or table has this name."""


def catalogue(sources: Sources, protocols: Sequence[str] = ()) -> dict[str, Entry]:
    """Every figure and table, by name.

    Args:
        sources: where protocols are looked up.
        protocols: files of the user's own, path/to/file.toml, which get the figures that every protocol has.

    Raises:
        ProfileError: a file that is no protocol, or whose figures have names that are taken.
    """
    found = {entry.name: entry for entry in [*of_paper.ENTRIES, *of_tables.ENTRIES, *of_theory.ENTRIES]}
    for protocol in [*protocol_names(), *dict.fromkeys(protocols)]:
        for entry in _of_protocol(protocol, sources.protocol(protocol)):
            name = file_name(entry.name)
            if name in found:
                raise ProfileError(f"protocol '{protocol}': two figures would be '{name}': rename it, or its tasks")
            found[name] = replace(entry, name=name)
    return found


def chosen(entries: dict[str, Entry], names: Sequence[str]) -> list[Entry]:
    """Those of these names; all where none is named.

    Raises:
        UnknownFigure: with the closest names.
    """
    for name in names:
        if name not in entries:
            close = get_close_matches(name, entries)
            hint = f"did you mean {' or '.join(close)}?" if close else "`lengthgen figures --list` names all"
            raise UnknownFigure(f"no figure or table is named '{name}': {hint}")
    return [entries[name] for name in dict.fromkeys(names or entries)]


def _of_protocol(named: str, protocol: Protocol) -> list[Entry]:
    """Those of a protocol, by the name or file under which it is looked up."""
    found = [
        Entry(
            name=f"accuracy-{protocol.name}" + (f"-{model}" if size else ""),
            title=f"{protocol.name}: every task by scale" + (f", models of {model}" if size else ""),
            make=partial(of_paper.accuracy, protocol=named, size=size),
            needs=Needs(protocols=(named,)),
        )
        for size, model in enumerate(protocol.profile.models)
        if size or named not in _DRAWN_ALREADY
    ]
    return [
        *found,
        *of_labels.entries(protocol),
        *of_tables.entries(named, protocol.name),
        *of_conjecture.entries(named, protocol.name),
    ]
