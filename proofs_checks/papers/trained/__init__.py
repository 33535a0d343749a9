"""Claims on what trained models do, decided by stored runs: each names the protocol whose runs it reads.

Of arXiv 2510.04130 the plots could not be read: what a claim says of a figure is our reading [F].
"""

from proofs_checks.papers.trained import comparing, conjecture, generalizing

CLAIMS = (*generalizing.CLAIMS, *comparing.CLAIMS, *conjecture.CLAIMS)
