"""Position interpolation (arXiv 2306.15595): what dividing positions does, and the bounds that recommend it."""

from proofs_checks.papers.interpolation import bounds_apart, closed_forms, error_bound, scaling

CLAIMS = (*scaling.CLAIMS, *error_bound.CLAIMS, *closed_forms.CLAIMS, *bounds_apart.CLAIMS)
