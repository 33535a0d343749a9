"""Graph ALiBi: a bias that falls linearly with the hops between two nodes of a graph; attention is bidirectional.

Source: Gurev and Rumbell, S23D, arXiv 2506.19834.  Symbolic twin: theory/encodings/graph_alibi.py.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.theory.encodings import alibi
from lengthgen.theory.graph_distances import shortest_distances

if TYPE_CHECKING:
    import networkx as nx


class GraphALiBi(PositionEncoding):
    """-m_h d_G(u, v) with ALiBi's slopes m_h and the distances `Content.distances_BJI`; positions are not read.

    Nodes of different components do not attend to each other: their bias is -inf.  [F]  No parameters.
    """

    needs_distances = True
    causal = False

    def __init__(self, *, heads: int) -> None:
        """Compute the slopes, kept as Python numbers: a module moved to half precision must not round them."""
        super().__init__()
        self.slopes = tuple(float(slope) for slope in alibi.slopes(heads))

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias of all pairs, [1 or B, H, J, I].

        Raises:
            ValueError: the content has no distances, or they are not int64 [1 or B, J, I].
        """
        require_integers(query_positions)
        require_integers(key_positions)
        distances = None if content is None else content.distances_BJI
        if distances is None:
            raise ValueError("graph ALiBi needs the distances of a graph: pass Content(distances_BJI=...)")
        pairs = (query_positions.shape[-1], key_positions.shape[-1])
        if distances.dtype != torch.int64 or distances.dim() != 3 or distances.shape[1:] != pairs:
            shape = f"{distances.dtype} {list(distances.shape)}"
            raise ValueError(f"distances must be int64 [1 or B, {pairs[0]}, {pairs[1]}], not {shape}")
        wide = torch.promote_types(dtype, torch.float32)
        slopes = torch.tensor(self.slopes, dtype=torch.float64, device=distances.device).to(wide)
        bias = -slopes[:, None, None] * distances[:, None].to(wide)
        return bias.masked_fill(distances[:, None] < 0, -torch.inf).to(dtype)


def graph_distances(graph: "nx.Graph") -> Tensor:
    """Return the hops between all pairs of nodes, int64 [1, I, I], nodes in the order of `graph.nodes`.

    -1 stands for nodes of different components. Raises LengthgenError for a directed graph and one without nodes.
    """
    return torch.from_numpy(shortest_distances(graph))[None]


def path_distances(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Return the distances |j - i| in a path through all positions, int64 [1 or B, J, I].

    Args:
        query_positions: int64 [J] or [B, J].
        key_positions: int64 [I] or [B, I].
    """
    distances = (query_positions[..., :, None] - key_positions[..., None, :]).abs()
    return distances if distances.dim() == 3 else distances[None]


MODULES = {"graph-alibi": GraphALiBi}
