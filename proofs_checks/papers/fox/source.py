"""Where the claims on FoX are made."""

from proofs_checks.claim import Source


def source(place: str) -> Source:
    """A place in the paper or in the released code."""
    return Source(paper="Forgetting Transformer (FoX)", arxiv="2503.02130", place=place)
