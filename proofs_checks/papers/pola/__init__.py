"""On the Limitations and Capabilities of Position Embeddings for Length Generalization (arXiv 2510.04130)."""

from proofs_checks.papers.pola import readings, theorem1, theorem2

CLAIMS = (*theorem1.CLAIMS, *theorem2.CLAIMS, *readings.CLAIMS)
