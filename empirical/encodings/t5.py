"""T5 bias: a learned number for each bucket of distances.

Source: Raffel et al., arXiv 1910.10683, section 2.1.  Symbolic twin: theory/encodings/t5.py.
"""

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PairBias, require_integers
from lengthgen.theory.encodings.t5 import BUCKETS, LONGEST
from lengthgen.theory.relation import t5_buckets


class T5(PairBias):
    """w_h[bucket(j - i)].  Parameter: one table w, float32 [H, buckets], for all layers, initialised N(0, 0.02^2).

    The bucket edges are integers, so no logarithm of a distance is rounded.  (T5 also omits the division of the scores
    by sqrt(C); this encoding does not.)
    """

    bucket_of_offset: Tensor

    def __init__(
        self, *, heads: int, buckets: int = BUCKETS, longest: int = LONGEST, bidirectional: bool = False
    ) -> None:
        """Draw the table; from the distance `longest` on all distances share the last bucket.

        A bidirectional table has one half for keys up to the query and one half for keys after it; the first row of the
        latter is unused.  A causal table treats a key after the query as the query itself.

        Raises:
            RelationError: fewer than two buckets (four, if bidirectional), or `longest` is not beyond the
                buckets that hold a single distance.
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
        """Bias of all pairs: [H, J, I], or [B, H, J, I] if positions have a batch axis."""
        require_integers(query_positions)
        require_integers(key_positions)
        index = self._index_of_offset(query_positions[..., :, None], key_positions[..., None, :])
        by_offset = self.weights[:, self.bucket_of_offset].to(dtype)
        return by_offset.index_select(1, index.flatten()).view(self.heads, *index.shape).movedim(0, -3)

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """Bias of each triple."""
        bucket = self.bucket_of_offset[self._index_of_offset(query_position, key_position)]
        return self.weights[head, bucket].to(dtype)

    def _index_of_offset(self, query_position: Tensor, key_position: Tensor) -> Tensor:
        """Index in `bucket_of_offset` of the offset j - i; offsets beyond `longest` are clamped to it."""
        return (query_position - key_position).clamp(-self.longest, self.longest) + self.longest


MODULES = {"t5": T5, "t5-bidirectional": partial(T5, bidirectional=True)}
