"""Forgetting Transformer (arXiv 2503.02130)."""

from proofs_checks.papers.fox import (
    equivalents,
    gauge,
    hard_gates,
    path,
    prefix_sums,
    pruning,
    special_cases,
)

CLAIMS = tuple(
    sorted(
        (
            *path.CLAIMS,
            *special_cases.CLAIMS,
            *equivalents.CLAIMS,
            *gauge.CLAIMS,
            *pruning.CLAIMS,
            *prefix_sums.CLAIMS,
            *hard_gates.CLAIMS,
        ),
        key=lambda claim: int(claim.id.removeprefix("fox-")),
    )
)
