"""Declarations of figures and tables.

Each module of paper_figs lists the figures and tables that it draws in FIGURES, as `Entry` objects or as functions
that make the entries of one protocol. To add a figure, add a module with FIGURES and a test;
`lengthgen.paper_figs.catalogue` finds it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from lengthgen.empirical.experiment.protocol import Protocol
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

    Args:
        kind: first part of the name of the figure.
        title: title in a few words; the name of the protocol stands before it.
        make: as `Entry.make`.
        place: as `Entry.place`.
        needs: what it reads beside the runs of the protocol.
        least_width: as `Entry.least_width`.
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
