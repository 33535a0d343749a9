"""HoPE, hyperbolic rotary encoding (arXiv 2509.05218): its decay, comparison with other encodings, and its reach."""

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(paper="HoPE (hyperbolic rotary encoding)", arxiv="2509.05218")
