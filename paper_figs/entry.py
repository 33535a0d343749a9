"""What a named figure or table is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from paper_figs.saving import Drawing
from paper_figs.sources import Needs, Sources
from theory.system.errors import LengthgenError


class Undrawable(LengthgenError):
    """What a figure would show cannot be read in print, or was not found in time; one line says why."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One figure or table of the catalogue.

    Attributes:
        name: of its files, and on the command line.
        title: a few words.
        make: draws it; raises Undrawable where nobody could read it.
        needs: the stored runs that it reads; nothing for one that is computed.
        least_width: inches; where less is asked for it is drawn so wide all the same, since its text would not be
            legible. 0 for one that fits every width.
    """

    name: str
    title: str
    make: Callable[[Sources], Drawing]
    needs: Needs = field(default_factory=Needs)
    least_width: float = 0.0

    @property
    def given(self) -> dict[str, Any]:
        """What `make` is told beside the sources."""
        return self.make.keywords if isinstance(self.make, partial) else {}
