"""All figures and tables by name."""

from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial

from empirical.protocol import names as protocol_names
from paper_figs import of_conjecture, of_paper, of_tables, of_theory
from paper_figs.entry import Entry
from paper_figs.sources import Needs, Sources
from theory.errors import LengthgenError

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
        ProfileError: a file that is no protocol.
    """
    entries = [*of_paper.ENTRIES, *of_tables.ENTRIES, *of_theory.ENTRIES]
    for protocol in [*protocol_names(), *protocols]:
        entries += _of_protocol(protocol, sources.protocol(protocol).name)
    return {entry.name: entry for entry in entries}


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


def _of_protocol(protocol: str, name: str) -> list[Entry]:
    runs = Needs(protocols=(protocol,))
    found = []
    if protocol not in _DRAWN_ALREADY:
        found.append(
            Entry(
                name=f"accuracy-{name}",
                title=f"{name}: every task by scale",
                make=partial(of_paper.accuracy, protocol=protocol),
                needs=runs,
            )
        )
    return [*found, *of_tables.entries(protocol, name), *of_conjecture.entries(protocol, name)]
