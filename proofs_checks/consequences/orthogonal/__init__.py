"""Position codes from orthogonal functions (arXiv 2506.06398): Legendre polynomials, Haar wavelets, the DCT.

Only the abstract and the list of contributions were at hand: every statement here is our reading of them [F].
"""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(
    paper="Theoretical Analysis of Positional Encodings in Transformer Models",
    arxiv="2506.06398",
    place="abstract and list of contributions; the statement is our reading",
)
