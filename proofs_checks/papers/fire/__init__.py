"""FIRE (arXiv 2310.04418): what its network is given, and which biases it can represent."""

from proofs_checks.papers.fire import inputs, representation, width

CLAIMS = (*inputs.CLAIMS[:2], *representation.CLAIMS, *width.CLAIMS, *inputs.CLAIMS[2:])
