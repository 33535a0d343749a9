"""On the Limitations and Capabilities of Position Embeddings for Length Generalization (arXiv 2510.04130)."""

from proofs_checks.papers.pola import theorem2

CLAIMS = theorem2.CLAIMS
