"""Where the claims on PLAA and RPE-Square are made: a paper of which only title and abstract could be read."""

from proofs_checks.claim import Source


def source(place: str) -> Source:
    """A place in the paper, or what of it is ours."""
    return Source(
        paper="Low-Dimension-to-High-Dimension Generalization And Its Implications for Length Generalization",
        arxiv="2410.08898",
        place=place,
    )
