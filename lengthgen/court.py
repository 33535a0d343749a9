"""The court as plain data: theories scored by published results or by stored runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from circuits.theories.catalogue import THEORIES, theory_named
from circuits.theories.theory import Theory
from empirical.court.cell import Cell
from empirical.court.published.load import published_cells
from empirical.court.stored import stored_cells
from empirical.court.trial import judge
from empirical.runs.store import RunStore

EVIDENCE = ("published", "runs")
"""Kinds of evidence."""


def court_answer(evidence: str, theories: Sequence[str], out: Path) -> dict[str, Any]:
    """Return the judgement of all theories of the catalogue and of the user's own ones.

    Args:
        evidence: one of EVIDENCE.
        theories: names of theories to judge, or the user's own as path/to/file.py:function; without any, all of the
            catalogue. `src` is always judged, because a control says its opposite.
        out: folder of the stored runs, if these are the evidence.

    Raises:
        TheoryError: a theory is unknown, or the user's own fails.
        StoreError: there are no stored runs, or one is broken.
        PublishedError: a published table is damaged.
    """
    cells: tuple[Cell, ...] = published_cells() if evidence == "published" else stored_cells(RunStore(out / "runs"))
    chosen: list[Theory] = list(dict.fromkeys(map(theory_named, theories)))
    of_catalogue = [theory for theory in chosen if theory.name in THEORIES]
    own = [theory for theory in chosen if theory.name not in THEORIES]
    if not of_catalogue:
        of_catalogue = [*THEORIES.values()]
    elif THEORIES["src"] not in of_catalogue:
        of_catalogue = [THEORIES["src"], *of_catalogue]
    return {"evidence": evidence} | judge(cells, of_catalogue, post_hoc=own)
