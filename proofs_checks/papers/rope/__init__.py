"""RoFormer (arXiv 2104.09864)."""

from proofs_checks.papers.rope import decay, gains, planes, relative

CLAIMS = (*relative.CLAIMS, *decay.CLAIMS, *planes.CLAIMS, *gains.CLAIMS)
