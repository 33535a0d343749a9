"""Where the claims on HoPE are made."""

from proofs_checks.claim import Source


def source(place: str) -> Source:
    """A place in the paper."""
    return Source(paper="HoPE (hyperbolic rotary encoding)", arxiv="2509.05218", place=place)
