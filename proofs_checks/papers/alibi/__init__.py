"""ALiBi (arXiv 2108.12409): its slopes, what its bias does to attention, how far a query sees, and as a group."""

from proofs_checks.papers.alibi import laws, representation, slopes, window

CLAIMS = (*slopes.CLAIMS[:1], *laws.CLAIMS, *window.CLAIMS, *slopes.CLAIMS[1:], *representation.CLAIMS)
