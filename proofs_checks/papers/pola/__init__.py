"""Position-only linear attention (POLA, arXiv 2510.04130); few of the paper's numbered items could be read."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(
    paper="On the Limitations and Capabilities of Position Embeddings for Length Generalization", arxiv="2510.04130"
)

CONJECTURE = SOURCE.at(
    "abstract, a conjecture: length generalization is possible iff SRC remains invariant across scales; that an "
    "encoding generalizes iff SRC under it stays the same is our reading"
)


def formalised(item: str, place: str) -> Source:
    """Return the source of our formalisation of an item of the paper, such as item "Theorem 2", place "2b"."""
    return SOURCE.at(f"{item}, in our formalisation ({place}); the printed text could not be read in full")
