"""Views of the report page that studies add."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lengthgen.infrastructure.discovery import parts_of_studies
from lengthgen.paper_figs.sources import Sources


@dataclass(frozen=True, kw_only=True)
class ViewData:
    """Page data of a view.

    Attributes:
        content: what the view shows; of the verdict empty if nothing is stored.
        missing: pairs of a missing thing and the command that makes it.
        broken: map from a file that cannot be used to the reason.
        hashes: map from file to SHA-256 of its content.
    """

    content: Mapping[str, Any] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def study_views(sources: Sources) -> dict[str, ViewData]:
    """Return study -> data of its view, for each study that has one."""
    return {name: part.view(sources) for name, part in parts_of_studies("VIEW").items()}
