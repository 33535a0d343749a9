"""KERPLE (arXiv 2205.09921): kernels that are conditionally positive definite, and the weights that they give."""

from proofs_checks.papers.kerple import constants, kernels, weights

CLAIMS = (*kernels.CLAIMS, *constants.CLAIMS, *weights.CLAIMS)
