"""Where the claims of this package are made."""

from proofs_checks.claim import Source


def source(place: str) -> Source:
    """A place in the paper, or what of it is ours."""
    return Source(paper="GRAPE", arxiv="2512.07805", place=place)
