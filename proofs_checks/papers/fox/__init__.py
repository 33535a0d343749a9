"""Forgetting Transformer (FoX, arXiv 2503.02130): the law of its bias, its properties, and its use in practice."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="Forgetting Transformer (FoX)", arxiv="2503.02130")
