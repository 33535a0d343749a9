"""Biases in torch: ALiBi, KERPLE, BAM, T5, FIRE and graph ALiBi.  Formulas and sources: theory/encodings/biases.py."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import (
    Bias,
    Content,
    PairBias,
    QueryAndKey,
    kept_finite,
    require_integers,
    require_positive,
    require_sizes,
)
from lengthgen.empirical.encodings.tensors import block_by_block, drawn_table
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.biases import FIRE_HIDDEN, T5_BUCKETS, T5_LONGEST
from lengthgen.theory.graph_distances import shortest_distances
from lengthgen.theory.relation import t5_buckets

if TYPE_CHECKING:
    import networkx as nx


class ALiBi(PairBias):
    """-m_h |j - i| with the published slopes m_h; in causal attention the paper's -m_h (j - i).  No parameters."""

    def __init__(self, *, heads: int) -> None:
        """Compute the slopes."""
        super().__init__(heads=heads)
        self.slopes = alibi_slopes(heads)

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        slopes = torch.tensor(self.slopes, dtype=torch.float64, device=query_position.device)
        return linear_bias(slopes[head], (query_position - key_position).abs(), dtype)


def alibi_slopes(heads: int) -> tuple[float, ...]:
    """ALiBi's slopes as Python numbers, each rounded once: a module moved to half precision must not round them."""
    return tuple(float(slope) for slope in biases.alibi_slopes(heads))


def linear_bias(slope: Tensor, distance: Tensor, dtype: torch.dtype) -> Tensor:
    """-slope D, at least in float32, where distances up to 2^24 are exact: only slope and product are rounded."""
    wide = torch.promote_types(dtype, torch.float32)
    return (-slope.to(wide) * distance.to(wide)).to(dtype)


KERPLE_SMALLEST, KERPLE_LARGEST_EXPONENT = 1e-2, 2.0
"""Bounds of KERPLE's trained numbers; the smallest is that of each of them."""


class _Kerple(PairBias):
    """Base class of both kernels of KERPLE: parameters float32 [H], shared by all layers, kept within their bounds.

    Initial values and bounds are those of the released classes.  As there, each call first moves a parameter that a
    training step left outside back to its bound.  (A clamp in the formula would leave it there, because its gradient
    would be zero.)
    """

    def __init__(self, *, heads: int) -> None:
        """Allocate the scale; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.scale = nn.Parameter(torch.empty(heads))

    def keep_within_bounds(self) -> None:
        """Clamp the parameters in place, invisibly to autograd."""
        for parameter in self.parameters():
            parameter.data.clamp_(min=KERPLE_SMALLEST)

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        self.keep_within_bounds()
        return super().pair_bias(query_positions, key_positions, content, dtype)

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        wide = torch.promote_types(dtype, torch.float32)  # distances up to 2^24 are exact
        distance = (query_position - key_position).abs().to(wide)
        return (-self.scale.to(wide)[head] * self.growth(head, distance)).to(dtype)

    def growth(self, head: Tensor, distance: Tensor) -> Tensor:
        """Kernel for the scale -1, in the dtype of the distance."""
        raise NotImplementedError


class KerplePower(_Kerple):
    """-r1 |j - i|^p.  Parameters: r1 from U(0, 1) and p from U(0, 2), kept at r1 >= 0.01 and 0.01 <= p <= 2."""

    def __init__(self, *, heads: int) -> None:
        """Draw both parameters; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.exponent = nn.Parameter(2 * torch.rand(heads))
        nn.init.uniform_(self.scale, 0, 1)
        self.keep_within_bounds()

    def keep_within_bounds(self) -> None:
        super().keep_within_bounds()
        self.exponent.data.clamp_(max=KERPLE_LARGEST_EXPONENT)

    def growth(self, head: Tensor, distance: Tensor) -> Tensor:
        return distance ** self.exponent.to(distance.dtype)[head]


class KerpleLog(_Kerple):
    """-r1 log(1 + r2 |j - i|).  Parameters: r1 from U(0, 2) and r2 from U(0, 1), both kept at 0.01 or more."""

    def __init__(self, *, heads: int) -> None:
        """Draw both parameters; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.rate = nn.Parameter(torch.rand(heads))
        nn.init.uniform_(self.scale, 0, 2)
        self.keep_within_bounds()

    def growth(self, head: Tensor, distance: Tensor) -> Tensor:
        return torch.log1p(self.rate.to(distance.dtype)[head] * distance)


class BAM(PairBias):
    """Bias -e^a (|i - j - mu| + eps)^b of key i and query j, eps = 1e-5; keys may be on both sides of the query.

    Parameters, float32 [H], shared by all layers: `log_scale` a, which starts at the logarithm of ALiBi's slopes, and
    `exponent` b, which starts at 1 and has any sign.  With the option `location` also `shift` t, mu = e^t - e^-t, which
    starts at 0; without it mu = 0.

    A bias below the least number of its dtype is that number: the first query has one key, and -inf would make it NaN.
    In float32 gradients are finite for b >= -7 and a <= 0; below, those at distance 0 overflow.
    """

    def __init__(self, *, heads: int, location: bool = False) -> None:
        """Allocate the parameters; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.log_scale = nn.Parameter(torch.tensor(alibi_slopes(heads)).log())
        self.exponent = nn.Parameter(torch.ones(heads))
        self.shift = nn.Parameter(torch.zeros(heads)) if location else None

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        wide = torch.promote_types(dtype, torch.float32)  # offsets up to 2^24 are exact
        offset = (key_position - query_position).to(wide)
        if self.shift is not None:
            offset = offset - 2 * self.shift.to(wide).sinh()[head]
        distance = offset.abs() + float(biases.BAM_RELEASED_SMALLEST)
        power = distance ** self.exponent.to(wide)[head]
        return kept_finite(-self.log_scale.to(wide).exp()[head] * power, dtype).to(dtype)


class BAMWithSSMax(BAM):
    """BAM with all logits of query j, content and log prior, multiplied by s ln(j + 1), for causal attention.

    A query at j sees j + 1 keys.  Parameters: those of BAM, and `factors` s, float32 [layers, H], which start at 1.
    """

    def __init__(self, *, heads: int, layers: int, location: bool = False) -> None:
        """Allocate the parameters; `layers` is the number of layers, at least 1."""
        super().__init__(heads=heads, location=location)
        require_sizes(layers=layers)
        self.factors = nn.Parameter(torch.ones(layers, heads))

    def rotate(self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None) -> QueryAndKey:
        """Queries times s ln(j + 1), and keys as they are; raises ValueError for a layer that there is not."""
        require_integers(positions)
        wide = torch.promote_types(q_BHLC.dtype, torch.float32)
        temperature = self._temperature(positions, content or Content(), wide)
        return (q_BHLC.to(wide) * temperature).to(q_BHLC.dtype), k_BHLC

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        wide = torch.promote_types(dtype, torch.float32)
        log_prior = super().pair_bias(query_positions, key_positions, content, wide)
        return kept_finite(log_prior * self._temperature(query_positions, content, wide), dtype)

    def _temperature(self, positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        """s ln(j + 1) of the content's layer: [H, J, 1], or [B, H, J, 1] if positions have a batch axis."""
        if content.layer >= len(self.factors):
            raise ValueError(
                f"there is no layer {content.layer}: BAM has factors of {len(self.factors)} layers, counted from 0"
            )
        return self.factors[content.layer].to(dtype)[:, None, None] * positions[..., None, :, None].to(dtype).log1p()


class T5(Bias):
    """w_h[bucket(j - i)].  Parameter: one table w, float32 [H, buckets], for all layers, initialised N(0, start^2).

    The bucket edges are integers, so no logarithm of a distance is rounded.  (T5 also omits the division of the scores
    by sqrt(C); this encoding does not.)
    """

    bucket_of_offset: Tensor

    def __init__(
        self,
        *,
        heads: int,
        buckets: int = T5_BUCKETS,
        longest: int = T5_LONGEST,
        bidirectional: bool = False,
        start: float = 0.02,
    ) -> None:
        """Draw the table; from the distance `longest` on all distances share the last bucket.

        A bidirectional table has one half for keys up to the query and one half for keys after it; the first row of the
        latter is unused.  A causal table treats a key after the query as the query itself.

        Raises:
            RelationError: fewer than two buckets (four, if bidirectional), or `longest` is not beyond the
                buckets that hold a single distance.
        """
        super().__init__()
        require_sizes(heads=heads)
        self.longest = longest
        self.weights = nn.Parameter(drawn_table(heads, buckets, start=start))
        half = buckets // 2 if bidirectional else buckets
        ones = np.ones(longest + 1, dtype=np.int64)
        past = torch.from_numpy(t5_buckets(half, longest).label(ones, ones + np.arange(longest + 1)))
        future = past[1:].flip(0) + half if bidirectional else past[:1].expand(longest)
        self.register_buffer("bucket_of_offset", torch.cat((future, past)), persistent=False)

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        offset = query_positions[..., :, None] - key_positions[..., None, :]
        index = offset.clamp(-self.longest, self.longest) + self.longest
        by_offset = self.weights[:, self.bucket_of_offset].to(dtype)
        return by_offset.index_select(1, index.flatten()).view(len(by_offset), *index.shape).movedim(0, -3)


class FIRE(Bias):
    """f_h(psi(|j - i|) / psi(max(j + 1, L))), psi(x) = log(|c| x + 1), with separate f, c and L in every layer.

    f is a ReLU network 1 -> 32 -> H; the paper counts positions from 1, hence j + 1.  The denominator is positive for
    every c but 0.  Parameters of each layer, float32: c [], a factor of L [], and weights and biases of f.
    """

    def __init__(self, *, heads: int, layers: int, rate: float = 0.1, threshold: float = 512.0) -> None:
        """Make one network per layer; `rate` and `threshold` are the initial c and L, positive."""
        super().__init__()
        require_sizes(heads=heads, layers=layers)
        require_positive(rate=rate, threshold=threshold)
        self.laws = nn.ModuleList(_LayerBias(heads=heads, rate=rate, threshold=threshold) for _ in range(layers))

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        if content.layer >= len(self.laws):
            raise ValueError(
                f"there is no layer {content.layer}: FIRE was made for {len(self.laws)} layers, counted from 0"
            )

        law, wide = self.laws[content.layer], torch.promote_types(dtype, torch.float32)

        def of_block(block: slice) -> Tensor:
            bias: Tensor = law(query_positions[..., block, None], key_positions[..., None, :], wide)
            return bias.movedim(-1, -3).to(dtype)

        return block_by_block(of_block, query_positions.shape[-1], key_positions.shape[-1])


class _LayerBias(nn.Module):
    """Bias network of one layer."""

    def __init__(self, *, heads: int, rate: float, threshold: float) -> None:
        super().__init__()
        self.threshold = threshold
        self.rate = nn.Parameter(torch.tensor(float(rate)))
        self.factor = nn.Parameter(torch.ones(()))
        self.inner = nn.Linear(1, FIRE_HIDDEN)
        self.outer = nn.Linear(FIRE_HIDDEN, heads)

    def forward(self, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """Bias of each pair, [..., H] for positions [...]; in float32 positions up to 2^24 are exact."""
        rate = self.rate.to(dtype).abs()
        reach = torch.maximum((query_position + 1).to(dtype), (self.factor.to(dtype) * self.threshold).abs())
        fraction = torch.log1p(rate * (query_position - key_position).abs().to(dtype)) / torch.log1p(rate * reach)
        hidden = F.linear(fraction[..., None], self.inner.weight.to(dtype), self.inner.bias.to(dtype)).relu()
        return F.linear(hidden, self.outer.weight.to(dtype), self.outer.bias.to(dtype))


class GraphALiBi(Bias):
    """-m_h d_G(u, v) with ALiBi's slopes m_h and the distances `Content.distances_BJI`; positions are not read.

    Nodes of different components do not attend to each other: their bias is -inf.  [F]  No parameters.
    """

    needs_distances = True
    causal = False

    def __init__(self, *, heads: int) -> None:
        """Compute the slopes."""
        super().__init__()
        self.slopes = alibi_slopes(heads)

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        distances = content.distances_BJI
        if distances is None:
            raise ValueError("graph ALiBi needs the distances of a graph: pass Content(distances_BJI=...)")
        pairs = (query_positions.shape[-1], key_positions.shape[-1])
        if distances.dtype != torch.int64 or distances.dim() != 3 or distances.shape[1:] != pairs:
            shape = f"{distances.dtype} {list(distances.shape)}"
            raise ValueError(f"distances must be int64 [1 or B, {pairs[0]}, {pairs[1]}], not {shape}")
        slopes = torch.tensor(self.slopes, dtype=torch.float64, device=distances.device)[:, None, None]
        bias = linear_bias(slopes, distances[:, None], torch.promote_types(dtype, torch.float32))
        return bias.masked_fill(distances[:, None] < 0, -torch.inf)


def graph_distances(graph: "nx.Graph") -> Tensor:
    """Return the hops between all pairs of nodes, int64 [1, I, I], nodes in the order of `graph.nodes`.

    -1 stands for nodes of different components. Raises LengthgenError for a directed graph and one without nodes.
    """
    return torch.from_numpy(shortest_distances(graph))[None]


def path_distances(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Return the distances |j - i| in a path through all positions: int64 [1 or B, J, I]."""
    distances = (query_positions[..., :, None] - key_positions[..., None, :]).abs()
    return distances if distances.dim() == 3 else distances[None]


MODULES = {
    "alibi": ALiBi,
    "kerple-power": KerplePower,
    "kerple-log": KerpleLog,
    "bam": BAM,
    "bam-ssmax": BAMWithSSMax,
    "t5": T5,
    "t5-bidirectional": partial(T5, bidirectional=True),
    "fire": FIRE,
    "graph-alibi": GraphALiBi,
}
