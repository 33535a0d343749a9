"""Where RoPE's claims come from, and what they all assume."""

from proofs_checks.claim import Source

PLANES = "the head is a direct sum of planes, each with its own frequency, so every even d follows"


def source(place: str) -> Source:
    """A place in RoFormer."""
    return Source(paper="RoFormer (RoPE)", arxiv="2104.09864", place=place)
