"""GRAPE (arXiv 2512.07805): rotations of planes (M) and unipotent actions on two extra coordinates (A)."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="GRAPE", arxiv="2512.07805")
