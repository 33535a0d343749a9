"""Declarations: each module of paper_figs lists in FIGURES the figures and tables that it draws.

A new figure is a new module with FIGURES, and its test: `paper_figs.catalogue` finds it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from empirical.runs.protocol import Protocol
from paper_figs.saving import Drawing
from paper_figs.sources import Needs, Sources
from theory.system.errors import LengthgenError


class Undrawable(LengthgenError):
    """Error of a figure that cannot be read in print, or was not found in time; one line says why."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One figure or table of the catalogue.

    Attributes:
        place: its place in lists, ascending: 100 the paper's figures, 200 tables, 300 theory, 500 any protocol's.
        name: of its files, and on the command line.
        title: a few words.
        make: draws it; raises Undrawable where nobody could read it.
        needs: the stored runs that it reads; nothing for one that is computed.
        least_width: inches; a smaller figure would not be legible, so it is drawn at this width; 0 if any will do.
    """

    place: int
    name: str
    title: str
    make: Callable[[Sources], Drawing]
    needs: Needs = field(default_factory=Needs)
    least_width: float = 0.0

    @property
    def given(self) -> dict[str, Any]:
        """The keyword arguments of `make` beside the sources."""
        return self.make.keywords if isinstance(self.make, partial) else {}


Family = Callable[[str, Protocol], Iterable[Entry]]
"""Figures that every protocol has: (its name or file, the protocol) -> entries."""


def each_protocol(
    kind: str, title: str, make: Callable[..., Drawing], *, place: int, trial: bool = False, least_width: float = 0.0
) -> Family:
    """The figure KIND-PROTOCOL of every protocol, drawn by `make(sources, protocol=...)` from its runs.

    Args:
        kind: first part of the name.
        title: a few words, to follow the protocol's name.
        make: as `Entry.make`.
        place: as `Entry.place`.
        trial: whether it reads the verdicts as well.
        least_width: as `Entry.least_width`.
    """

    def entries(named: str, protocol: Protocol) -> list[Entry]:
        return [
            Entry(
                place=place,
                name=f"{kind}-{protocol.name}",
                title=f"{protocol.name}: {title}",
                make=partial(make, protocol=named),
                needs=Needs(protocols=(named,), trial=trial),
                least_width=least_width,
            )
        ]

    return entries
