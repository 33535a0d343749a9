"""GRAPE (arXiv 2512.07805): rotations of planes (M) and unipotent actions on two extra coordinates (A)."""

from collections.abc import Callable

from lengthgen.proofs_checks.claim import Source
from lengthgen.proofs_checks.facts import Side
from lengthgen.theory.encodings.grape import PlaneOperator

SOURCE = Source(paper="GRAPE", arxiv="2512.07805")


def equal_operators(
    what: str, left: Callable[[], PlaneOperator], right: Callable[[], PlaneOperator]
) -> tuple[str, Side, Side]:
    """Identity of two operators, in coordinates."""
    return what, lambda: left().coordinates(), lambda: right().coordinates()
