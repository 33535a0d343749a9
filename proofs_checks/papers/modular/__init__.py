"""Text-based modular addition under position shift (arXiv 2601.04283): what its data allow, before any training."""

from proofs_checks.papers.modular import bags, data, reported

CLAIMS = (*bags.CLAIMS, *data.CLAIMS, *reported.CLAIMS)
