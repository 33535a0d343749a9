"""Declarations of figures and tables.

Each module of paper_figs lists the figures and tables that it draws in FIGURES, as `Entry` objects or as functions
that make the entries of one protocol. To add a figure, add a module with FIGURES and a test; `paper_figs.catalogue`
finds it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from empirical.runs.protocol import Protocol
from paper_figs.saving import Drawing
from paper_figs.sources import Needs, Sources
from theory.system.errors import LengthgenError


class Undrawable(LengthgenError):
    """Error for a figure that could not be read in print, or whose search was stopped; the message says why."""


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
        """Draw it from the sources, at least as wide as it needs. Raises LengthgenError."""
        return self.make(replace(sources, width=max(sources.width, self.least_width)))

    @property
    def make_arguments(self) -> dict[str, Any]:
        """Keyword arguments that `make` takes beside the sources."""
        return self.make.keywords if isinstance(self.make, partial) else {}


Family = Callable[[str, Protocol], Iterable[Entry]]
"""Function that makes the figures of one protocol: (name or file of the protocol, the protocol) -> entries."""


def each_protocol(
    kind: str, title: str, make: Callable[..., Drawing], *, place: int, trial: bool = False, least_width: float = 0.0
) -> Family:
    """Declare one figure for every protocol, named KIND-PROTOCOL and drawn by `make(sources, protocol=...)`.

    Args:
        kind: first part of the name of the figure.
        title: title in a few words; the name of the protocol stands before it.
        make: as `Entry.make`.
        place: as `Entry.place`.
        trial: True if the figure also reads the verdicts.
        least_width: as `Entry.least_width`.
    """

    def entries(protocol_name: str, protocol: Protocol) -> list[Entry]:
        return [
            Entry(
                place=place,
                name=f"{kind}-{protocol.name}",
                title=f"{protocol.name}: {title}",
                make=partial(make, protocol=protocol_name),
                needs=Needs(protocols=(protocol_name,), trial=trial),
                least_width=least_width,
            )
        ]

    return entries
