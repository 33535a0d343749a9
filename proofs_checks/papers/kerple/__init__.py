"""KERPLE (arXiv 2205.09921): conditionally positive definite kernels, constants added to them, and their weights."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="KERPLE", arxiv="2205.09921")
