"""Position interpolation (arXiv 2306.15595): the effect of dividing positions, and the bounds that recommend it."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="Position interpolation", arxiv="2306.15595")
BASE = 10000
