"""On the Limitations and Capabilities of Position Embeddings for Length Generalization (arXiv 2510.04130)."""

from proofs_checks.papers.pola import (
    definition3_rejected,
    definition3_taken,
    theorem1_boundary,
    theorem1_counting,
    theorem1_dimension,
    theorem1_volume,
    theorem2_flow,
    theorem2_generalization,
    theorem2_worked,
)

CLAIMS = (
    *theorem1_counting.CLAIMS,
    *theorem1_volume.CLAIMS,
    *theorem1_dimension.CLAIMS,
    *theorem1_boundary.CLAIMS,
    *theorem2_generalization.CLAIMS,
    *theorem2_flow.CLAIMS,
    *theorem2_worked.CLAIMS,
    *definition3_rejected.CLAIMS,
    *definition3_taken.CLAIMS,
)
