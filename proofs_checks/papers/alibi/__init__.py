"""ALiBi (arXiv 2108.12409): its slopes, its bias and its effect on attention; and the bias as a group action."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="ALiBi", arxiv="2108.12409")
