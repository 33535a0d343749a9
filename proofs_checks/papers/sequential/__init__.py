"""Sequential tasks, circuits and SRC (arXiv 2510.04130, Definition 4 and Figure 1), in our formalisation."""

from proofs_checks.papers.sequential import (
    arity,
    bounded,
    coverage,
    hidden,
    induced,
    merging,
    monotone,
    parity,
    roles,
)

CLAIMS = (
    *parity.CLAIMS,
    *roles.CLAIMS,
    *induced.CLAIMS,
    *monotone.CLAIMS,
    *bounded.CLAIMS,
    *arity.CLAIMS,
    *hidden.CLAIMS,
    *coverage.CLAIMS,
    *merging.CLAIMS,
)
