"""Where the claims of this family are made."""

from proofs_checks.claim import Source


def source(place: str) -> Source:
    """A place in the paper."""
    return Source(paper="FIRE", arxiv="2310.04418", place=place)
