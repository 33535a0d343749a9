"""Biases that are sums along the sequence, from the token after the key up to the query: FoX, Cable, GRAPE-AP.

A float32 difference of two running sums loses the digits of near pairs, because the sums grow with the length.  Here
all float32 sums are relative to a chunk of tokens.  Running sums over the whole sequence are float64, one number per
token or per chunk.  For a pair two parts of one sign are added, both relative to the first query of a block of queries,
so that no digits cancel.

Shapes as in encodings/base.py; R is the number of rows of a block.
"""

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from empirical.encodings.base import Content, PositionEncoding, require_integers

_ROWS = 32
"""Queries whose sums are relative to one of them."""


class PathBias(PositionEncoding):
    """D_ij = sum over the tokens i < l <= j of a log gate, which is not positive.

    The path runs along the sequence, over tokens and not over positions without a token.  So tokens before the key,
    such as left padding, and tokens after the query change nothing, whatever their content; all tokens between them are
    on the path.  A key after the query gets 0, which the causal mask hides.
    """

    def log_gates(self, content: Content) -> Tensor:
        """Logarithms of the gates, not positive, at least float32 even under autocast: [B, H, L].

        Raises:
            ValueError: the content has no x.
        """
        raise NotImplementedError

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [B, H, J, I]; the queries are the last J of the I tokens of x.

        Given log gates, its error is at most 2.01 u |D| + 2.01 L 2^-53 |c|, with u the unit roundoff of `dtype` and c
        the sum of all log gates of the L tokens.  It is never below the least number of `dtype`.

        Raises:
            ValueError: positions are not integers or decrease along the sequence, x is missing or does not have a token
                for each key, or the queries are not its last tokens.
        """
        require_integers(query_positions)
        require_integers(key_positions)
        if (key_positions.diff(dim=-1) < 0).any():
            raise ValueError("positions must not decrease along the sequence, because log gates are summed along it")
        gates_BHI = self.log_gates(content or Content())
        tokens, queries, keys = gates_BHI.shape[-1], query_positions.shape[-1], key_positions.shape[-1]
        if tokens != keys:
            raise ValueError(f"x has {tokens} tokens, but there are {keys} key positions")
        if queries > keys or not (query_positions == key_positions[..., keys - queries :]).all():
            raise ValueError(
                f"the {queries} queries are not the last {queries} of the {keys} tokens, by their positions"
            )
        return path_sums(gates_BHI, queries, dtype)


def project(content: Content, weight_HD: Tensor, offset_H: Tensor | None = None) -> Tensor:
    """Linear map w . x + b of the layer's input, at least float32 even under autocast: [B, H, L].

    Raises:
        ValueError: the content has no x.
    """
    if content.x_BLD is None:
        raise ValueError("the log gates are computed from the layer's input: the content has no x_BLD")
    wide = torch.promote_types(torch.promote_types(content.x_BLD.dtype, weight_HD.dtype), torch.float32)
    with torch.autocast(content.x_BLD.device.type, enabled=False):
        offset = None if offset_H is None else offset_H.to(wide)
        return F.linear(content.x_BLD.to(wide), weight_HD.to(wide), offset).transpose(1, 2)


def require_sizes(**sizes: int) -> None:
    """Raise ValueError for a size below 1; the message names it."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, not {size}")


def running_sums(steps: Tensor) -> Tensor:
    """Sum of the steps up to each one, relative to chunks of R steps: [..., L] of their dtype, for steps of one sign.

    Only sums of chunks are float64.  Each result is off by two units in the last place, and more on devices that add a
    chunk in several parts.
    """
    length = steps.shape[-1]
    within = torch.unflatten(F.pad(steps, (0, -length % _ROWS)), -1, (-1, _ROWS)).cumsum(-1)
    totals = within[..., -1].double()
    starts = (totals.cumsum(-1) - totals).to(steps.dtype)
    return (within + starts[..., None]).flatten(-2)[..., :length]


def path_sums(steps: Tensor, queries: int, dtype: torch.dtype) -> Tensor:
    """Sum of the steps after each key, up to each of the last queries: [..., J, I], 0 for a key after the query.

    Args:
        steps: [..., I], none of them positive.
        queries: J, at most I.
        dtype: dtype of the sums; none is below its least number.
    """
    sums = steps.contiguous().double().cumsum(-1)
    return _Differences.apply(sums, queries, dtype)  # type: ignore[no-any-return, no-untyped-call]


class _Differences(torch.autograd.Function):
    """c_j - c_i, 0 for a key after the query: [..., J, I] from running sums c, float64 [..., I], which do not rise.

    Queries are the last J tokens.  For the keys before a block of R queries the result is (c_j - c_r) + (c_r - c_i), r
    the block's first query.  Neither part is positive, so both may be rounded to `dtype`.  Within the block, where the
    parts would cancel, the difference is float64.
    """

    @staticmethod
    def forward(ctx: Any, sums: Tensor, queries: int, dtype: torch.dtype) -> Tensor:
        """Compute the differences, [..., J, I] of `dtype`."""
        ctx.keys = sums.shape[-1]
        paths = sums.new_empty(*sums.shape[:-1], queries, ctx.keys, dtype=dtype)
        whole = queries - queries % _ROWS
        if whole:
            _write_blocks(paths[..., :whole, :], sums, ctx.keys - queries, _ROWS)
        if whole < queries:
            _write_blocks(paths[..., whole:, :], sums, ctx.keys - queries + whole, queries - whole)
        return paths

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """Gradient of the running sums, float64 [..., I]."""
        queries, wide = gradient.shape[-2], torch.promote_types(gradient.dtype, torch.float32)
        of_sums = gradient.new_zeros(*gradient.shape[:-2], ctx.keys, dtype=torch.float64)
        for rows, before, within in _blocks(queries, ctx.keys):
            far, near = gradient[..., rows, before], gradient[..., rows, within].tril()
            of_sums[..., within] += far.sum(-1, dtype=wide) + near.sum(-1, dtype=wide) - near.sum(-2, dtype=wide)
            of_sums[..., before] -= far.sum(-2, dtype=wide)
        return of_sums, None, None


def _write_blocks(paths: Tensor, sums: Tensor, first: int, rows: int) -> None:
    """Write the differences of the queries from `first` on, in blocks of R = `rows`: paths [..., n R, I]."""
    dtype, tokens = paths.dtype, slice(first, first + paths.shape[-2])
    blocks, block_sums = (torch.unflatten(paths, -2, (-1, rows)), torch.unflatten(sums[..., tokens], -1, (-1, rows)))
    starts = first + rows * torch.arange(blocks.shape[-3], device=sums.device)
    before = (torch.arange(sums.shape[-1], device=sums.device) < starts[:, None]).to(dtype)  # [n, I]
    of_keys = _rounded(block_sums[..., :1] - sums[..., None, :], torch.finfo(dtype).min / 2, dtype) * before
    of_queries = _rounded(block_sums - block_sums[..., :1], torch.finfo(dtype).min / 2, dtype)
    # The one pass over all pairs, which takes most of the time.  It writes 0 for keys that are not before the block.
    torch.addcmul(of_keys[..., None, :], of_queries[..., None], before[:, None, :], out=blocks)
    within = torch.unflatten(blocks[..., tokens], -1, (-1, rows)).diagonal(dim1=-4, dim2=-2).movedim(-1, -3)
    near = _rounded(block_sums[..., :, None] - block_sums[..., None, :], torch.finfo(dtype).min, dtype)
    torch.mul(near, torch.ones(rows, rows, dtype=dtype, device=sums.device).tril(), out=within)


def _rounded(differences: Tensor, least: float, dtype: torch.dtype) -> Tensor:
    """Differences in another dtype, between `least` and 0; only those of a key after the query are above 0."""
    return differences.clamp_(min=least, max=0).to(dtype)


def _blocks(queries: int, keys: int) -> Iterator[tuple[slice, slice, slice]]:
    """Yield for each block of queries (the last tokens): its rows, the keys before it, and its own keys."""
    for start in range(0, queries, _ROWS):
        first, stop = keys - queries + start, min(start + _ROWS, queries)
        yield slice(start, stop), slice(first), slice(first, keys - queries + stop)
