"""Where the claims of this family are made."""

from proofs_checks.claim import Source


def source(place: str) -> Source:
    """A place in the paper."""
    return Source(paper="KERPLE", arxiv="2205.09921", place=place)
