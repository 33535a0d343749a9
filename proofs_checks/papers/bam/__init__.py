"""Bayesian attention mechanism (BAM, arXiv 2505.22842): its prior, the tail of the prior, and the scores it can give.

The bodies of the paper's theorems were not at hand: their subjects are known, and the released code decides formulas.
"""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="Bayesian attention mechanism (BAM)", arxiv="2505.22842")
