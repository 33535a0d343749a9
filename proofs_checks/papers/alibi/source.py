"""Where the claims of this family are made."""

from proofs_checks.claim import Source


def source(place: str) -> Source:
    """A place in the paper."""
    return Source(paper="ALiBi", arxiv="2108.12409", place=place)
