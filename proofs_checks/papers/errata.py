"""Errors found in a paper whose encoding is not implemented here: graph ALiBi."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise, product

import flint
import numpy as np

from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength

_GRAPHS: Mapping[str, Iterable[tuple[int, int]]] = {
    "path of 6": tuple(pairwise(range(6))),
    "star of 6": tuple(product([0], range(1, 6))),
    "ring of 6 (benzene)": (*pairwise(range(6)), (5, 0)),
    "complete graph of 5": tuple(combinations(range(5), 2)),
    "two rings of 6 with a common bond (naphthalene)": (*pairwise(range(10)), (9, 0), (0, 5)),
    "norbornane": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 6), (6, 3)),
    "bicyclo[1.1.1]pentane (K_2,3)": tuple(product(range(2), range(2, 5))),
}
"""Edges of graphs: of the heavy atoms of molecules, without hydrogens, and of some standard graphs."""
_TWO_CENTRES = "bicyclo[1.1.1]pentane (K_2,3)"


def negative_type(*, graphs: Sequence[str]) -> Evidence:
    """Decide that -d is conditionally positive definite on these graphs, where d counts hops.

    This holds iff the Gram matrix g_ij = d_i0 + d_j0 - d_ij is positive semidefinite. An integer symmetric matrix is
    positive semidefinite iff no coefficient of det(tI + g) is negative.
    """
    import networkx as nx  # slow to import, and only this claim needs it

    facts = []
    for name in graphs:
        graph = nx.Graph(_GRAPHS[name])
        distances = np.asarray(nx.floyd_warshall_numpy(graph, sorted(graph)), dtype=np.int64)
        gram = distances[:, :1] + distances[:1] - distances
        characteristic = flint.fmpz_mat((-gram).tolist()).charpoly()
        if any(coefficient < 0 for coefficient in characteristic.coeffs()):
            raise Refuted(f"{name}: {_witness(distances)}")
        facts.append(f"{name}: no negative coefficient in {characteristic}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"{len(graphs)} graphs",
        facts=tuple(facts),
        assumptions=("the graphs named",),
    )


def _witness(distances: np.ndarray) -> str:
    """Witness against positive definiteness: the unit vector with sum 0 on which -d is least."""
    size = len(distances)
    centring = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(centring @ -distances @ centring)
    weights = np.round(vectors[:, 0] / np.abs(vectors[:, 0]).max(), 3).tolist()
    return f"-d is {values[0]:.1f} on the vector of sum 0 along {weights}"


_ALL_BUT_ONE = tuple(name for name in _GRAPHS if name != _TWO_CENTRES)

CLAIMS = (
    Claim(
        id="galibi-4",
        source=Source(paper="Graph ALiBi (S23D)", arxiv="2506.19834", place="bias by graph distance"),
        statement="-d_G is conditionally positive definite on paths, stars, rings, complete graphs, naphthalene and "
        "norbornane (errata F15: not on every molecule's graph, so Kerple's justification does not carry over). "
        "Decided on 6 graphs.",
        latex=r"\sum c_i=0\Rightarrow -c^\top d_G\,c\ge 0",
        label="F",
        check=negative_type,
        holds={"graphs": _ALL_BUT_ONE},
        printed={"graphs": tuple(_GRAPHS)},
        falsifiers={"bicyclo[1.1.1]pentane as well": {"graphs": (*_ALL_BUT_ONE, _TWO_CENTRES)}},
    ),
)
