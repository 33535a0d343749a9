"""Forgetting Transformer (arXiv 2503.02130)."""

from proofs_checks.claim import Source

SOURCE = Source(paper="Forgetting Transformer (FoX)", arxiv="2503.02130")
