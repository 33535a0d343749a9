"""Where the claims on trained models are made."""

from proofs_checks.claim import Source


def figure(number: int) -> Source:
    """A figure whose caption we know, and whose plot we do not."""
    return Source(
        paper="On the Limitations and Capabilities of Position Embeddings for Length Generalization",
        arxiv="2510.04130",
        place=f"Figure {number}, whose plot could not be read; sizes, digits and formats are ours",
    )


CONJECTURE = Source(
    paper="On the Limitations and Capabilities of Position Embeddings for Length Generalization",
    arxiv="2510.04130",
    place="abstract: length generalization is possible iff SRC stays the same at all scales",
)
RANDOMIZED = Source(
    paper="Randomized Positional Encodings Boost Length Generalization of Transformers",
    arxiv="2305.16843",
    place="abstract; of its tasks duplicating and reversing a string, by decoders",
)
SURVEY = Source(
    paper="Length Extrapolation of Transformers: A Survey from the Perspective of Positional Encoding",
    arxiv="2312.17044",
    place="on absolute encodings; the tasks are ours",
)
