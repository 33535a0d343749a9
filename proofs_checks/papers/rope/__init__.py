"""RoPE (RoFormer, arXiv 2104.09864): its laws, and the score as the distance grows."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="RoFormer (RoPE)", arxiv="2104.09864")
PLANES = "the head is a direct sum of planes, each with its own frequency, so every even d follows"
