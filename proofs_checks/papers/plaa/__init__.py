"""Attention with advice (PLAA), its min-degree bias, and RPE-Square (arXiv 2410.08898).

Only the paper's title and abstract could be read.
"""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(
    paper="Low-Dimension-to-High-Dimension Generalization And Its Implications for Length Generalization",
    arxiv="2410.08898",
)
