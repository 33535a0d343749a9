"""Where the claims on position-only linear attention are made: a paper of whose numbered items little can be read."""

from proofs_checks.claim import Source


def source(item: str, place: str) -> Source:
    """A place in our formalisation of an item of the paper, such as 2b of Theorem 2."""
    return Source(
        paper="On the Limitations and Capabilities of Position Embeddings for Length Generalization",
        arxiv="2510.04130",
        place=f"{item}, in our formalisation ({place}); the printed text could not be read in full",
    )
