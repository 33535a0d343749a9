"""Cable (arXiv 2503.08067): its bias and special cases, and the distances between tokens that it sums up."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="Cable", arxiv="2503.08067")
