"""Wavelet-based positional representation (arXiv 2502.02004): its reading of RoPE, its vectors, and their reach."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="Wavelet-based positional representation", arxiv="2502.02004")
