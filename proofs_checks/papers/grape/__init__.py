"""GRAPE (arXiv 2512.07805): rotations of planes (M) and unipotent actions on two extra coordinates (A)."""

from proofs_checks.papers.grape import (
    contextual,
    exponential,
    gains,
    gated,
    group,
    lifts,
    links,
    offsets,
    orientation,
    path_integral,
    paths,
    planes,
    reflections,
    unipotent,
)

CLAIMS = tuple(
    sorted(
        (
            *exponential.CLAIMS,
            *group.CLAIMS,
            *planes.CLAIMS,
            *contextual.CLAIMS,
            *gains.CLAIMS,
            *lifts.CLAIMS,
            *unipotent.CLAIMS,
            *paths.CLAIMS,
            *path_integral.CLAIMS,
            *gated.CLAIMS,
            *links.CLAIMS,
            *offsets.CLAIMS,
            *orientation.CLAIMS,
            *reflections.CLAIMS,
        ),
        key=lambda claim: claim.id,
    )
)
