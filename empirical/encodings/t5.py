"""T5's bias: a learned number for each bucket of distances.

Source: Raffel et al., arXiv 1910.10683, section 2.1.  Symbolic twin: theory/encodings/t5.py.
"""

import numpy as np
import torch
from torch import Tensor, nn

from empirical.encodings.base import Content, PairBias, require_integers
from theory.encodings.t5 import BUCKETS, LONGEST
from theory.relation import t5_buckets


class T5(PairBias):
    """w_h[bucket(j - i)], one table [H, buckets] for all layers, N(0, 0.02^2) at first.

    The buckets' edges are integers: no logarithm of a distance is rounded.  (T5 also leaves out the division of the
    scores by sqrt(C); the encoding does not.)
    """

    bucket_of_offset: Tensor

    def __init__(
        self, *, heads: int, buckets: int = BUCKETS, longest: int = LONGEST, bidirectional: bool = False
    ) -> None:
        """`longest` is the distance from which on all share the last bucket.

        A bidirectional table has a half for keys up to the query and a half for keys after it, whose first row nothing
        uses; a causal one takes a key after the query for the query itself.

        Raises:
            RelationError: fewer than two buckets (four, if bidirectional), or `longest` not beyond those of one
                distance.
        """
        super().__init__(heads=heads)
        self.longest = longest
        self.weights = nn.Parameter(0.02 * torch.randn(heads, buckets))
        half = buckets // 2 if bidirectional else buckets
        ones = np.ones(longest + 1, dtype=np.int64)
        past = torch.from_numpy(t5_buckets(half, longest).label(ones, ones + np.arange(longest + 1)))
        future = past[1:].flip(0) + half if bidirectional else past[:1].expand(longest)
        self.register_buffer("bucket_of_offset", torch.cat((future, past)), persistent=False)

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """[H, J, I], or [B, H, J, I] where positions have a batch: each head's row of offsets, read at every pair."""
        require_integers(query_positions)
        require_integers(key_positions)
        reached = self._reached(query_positions[..., :, None], key_positions[..., None, :])
        by_offset = self.weights[:, self.bucket_of_offset].to(dtype)
        return by_offset.index_select(1, reached.flatten()).view(self.heads, *reached.shape).movedim(0, -3)

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """The bias of each triple."""
        bucket = self.bucket_of_offset[self._reached(query_position, key_position)]
        return self.weights[head, bucket].to(dtype)

    def _reached(self, query_position: Tensor, key_position: Tensor) -> Tensor:
        """Where `bucket_of_offset` holds the offset j - i; beyond `longest` nothing changes any more."""
        return (query_position - key_position).clamp(-self.longest, self.longest) + self.longest
