"""What the claims on position interpolation share: their source, and RoPE's base."""

from proofs_checks.claim import Source

BASE = 10000


def source(place: str) -> Source:
    """A place in the paper."""
    return Source(paper="Position interpolation", arxiv="2306.15595", place=place)
