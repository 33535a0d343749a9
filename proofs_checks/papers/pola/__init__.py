"""Position-only linear attention (arXiv 2510.04130); little of the paper's numbered items can be read."""

from proofs_checks.claim import Source

SOURCE = Source(
    paper="On the Limitations and Capabilities of Position Embeddings for Length Generalization", arxiv="2510.04130"
)


def formalised(item: str, place: str) -> Source:
    """A place in our formalisation of an item of the paper, such as 2b of Theorem 2."""
    return SOURCE.at(f"{item}, in our formalisation ({place}); the printed text could not be read in full")
