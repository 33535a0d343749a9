"""SeqPE (arXiv 2506.13277): the digits that it reads, its losses, and what its scores can represent.

The abstract and the released code were at hand, not the paper's tables and theorems.
"""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="SeqPE", arxiv="2506.13277", place="released code")
