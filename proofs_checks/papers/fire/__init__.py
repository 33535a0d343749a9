"""FIRE (arXiv 2310.04418): the input of its network, and the biases that it can represent."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="FIRE", arxiv="2310.04418")
