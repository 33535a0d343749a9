"""Errors found in two papers whose encodings are not implemented here: graph ALiBi and wavelets."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise, product

import flint
import numpy as np
import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from theory.encodings import rotary

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


def haar_as_rotation(*, swapped: bool, frequency: sp.Expr) -> Evidence:
    """Decide that the Haar matrix is R2(pi/4) up to a swap of rows, and that no integer position reaches this rotation.

    `frequency` is the frequency of the plane that rotates; `swapped` is True if the rows are swapped.
    """
    haar = sp.Matrix([[1, 1], [1, -1]]) / sp.sqrt(2)
    if haar.det() != -1:
        raise Refuted(f"the determinant is {haar.det()}")
    matrix = sp.Matrix([haar.row(1), haar.row(0)]) if swapped else haar
    quarter = rotary.rotation(sp.pi / 4)
    if matrix != quarter:
        raise Refuted(f"it is a reflection of determinant {matrix.det()}, not R2(pi/4) of determinant {quarter.det()}")
    if not frequency.is_rational:
        position = next((m for m in range(1, 9) if rotary.rotation(m * frequency) == quarter), None)
        raise Refuted(f"at the frequency {frequency} position {position} is turned by pi/4")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            "det = -1; with its rows swapped the Haar matrix is R2(pi/4)",
            f"m {frequency} = pi/4 + 2 pi k for whole m and k would make pi rational",
        ),
        assumptions=("pi is irrational (Lambert 1761)",),
    )


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
    Claim(
        id="wav-3",
        source=Source(paper="Wavelet-based positions", arxiv="2502.02004", place="RoPE and the Haar matrix"),
        statement="The 2 x 2 Haar matrix is a reflection; with rows swapped it is R2(pi/4), which no integer position "
        "reaches in the plane of frequency 1 (errata F18).",
        latex=r"m\theta_0\ne\tfrac{\pi}{4}\pmod{2\pi}\quad\forall m\in\mathbb{Z},\ \theta_0=1",
        label="F",
        check=haar_as_rotation,
        holds={"swapped": True, "frequency": sp.Integer(1)},
        printed={"swapped": False},
        falsifiers={"as it stands": {"swapped": False}, "a frequency that divides pi": {"frequency": sp.pi / 4}},
    ),
)
