"""FoX: the bias of a key is the sum of the log forget gates of the tokens after it, up to the query.

Source: Lin et al., Forgetting Transformer, arXiv 2503.02130, and its released code.  Symbolic twin:
theory/encodings/fox.py.  The code's gate types "full", "bias_only" and "fixed" are three classes here; "none" is NoPE.
"""

import math
from collections.abc import Iterator
from typing import Any

import sympy as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from empirical.encodings.base import Content, PositionEncoding, require_integers
from theory.encodings import fox

_ROWS = 32
"""Queries whose path sums share a reference position."""


class FoX(PositionEncoding):
    """D_ij = sum of log sigma(w . x_l + b) over the tokens i < l <= j, with w and b of the layer and head.  [P]

    Parameters: w, float32 [layers, H, D], and b, float32 [layers, H].  The path runs along the sequence, over tokens
    and not over positions without a token.  So tokens before the key, such as left padding, and tokens after the query
    change nothing, whatever their content; all tokens between them are on the path.  A key after the query gets 0,
    which the causal mask hides.
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameters; `width` is D.  Initial values as in the released code: w from N(0, 0.02^2), b = 0.

        Raises:
            ValueError: a size is below 1.
        """
        super().__init__()
        _require_sizes(width=width, heads=heads, layers=layers)
        self.weight = nn.Parameter(torch.empty(layers, heads, width).normal_(std=0.02))
        self.offset = nn.Parameter(torch.zeros(layers, heads))

    def log_gates(self, content: Content) -> Tensor:
        """Logarithms of the forget gates f, at least float32 even under autocast: [B, H, L].

        Raises:
            ValueError: the content has no x.
        """
        if content.x_BLD is None:
            raise ValueError("FoX reads its gates from the layer's input: the content has no x_BLD")
        weight, offset = self.weight[content.layer], self.offset[content.layer]
        wide = torch.promote_types(torch.promote_types(content.x_BLD.dtype, weight.dtype), torch.float32)
        with torch.autocast(content.x_BLD.device.type, enabled=False):
            logits_BLH = F.linear(content.x_BLD.to(wide), weight.to(wide), offset.to(wide))
        return F.logsigmoid(logits_BLH).transpose(1, 2)

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
        sums_BHI = self._running_sums(query_positions, key_positions, content)
        paths: Tensor = _PathSums.apply(sums_BHI, query_positions.shape[-1], dtype)  # type: ignore[no-untyped-call]
        return paths

    def _running_sums(self, query_positions: Tensor, key_positions: Tensor, content: Content | None) -> Tensor:
        """Running sum c of the log gates: float64 [B, H, I]."""
        require_integers(query_positions)
        require_integers(key_positions)
        if (key_positions.diff(dim=-1) < 0).any():
            raise ValueError("positions must not decrease along the sequence, because log gates are summed along it")
        sums_BHI = self.log_gates(content or Content()).double().cumsum(-1)
        tokens, queries, keys = sums_BHI.shape[-1], query_positions.shape[-1], key_positions.shape[-1]
        if tokens != keys:
            raise ValueError(f"x has {tokens} tokens, but there are {keys} key positions")
        if queries > keys or not (query_positions == key_positions[..., keys - queries :]).all():
            raise ValueError(
                f"the {queries} queries are not the last {queries} of the {keys} tokens, by their positions"
            )
        return sums_BHI


class _PathSums(torch.autograd.Function):
    """c_j - c_i, 0 for a key after the query: [..., J, I] from running sums c, float64 [..., I].

    Queries are the last J tokens.  For the keys before a block of queries the result is (c_j - c_r) + (c_r - c_i), r
    the block's first query.  Neither part is positive, so both may be rounded to `dtype`.  Within the block, where the
    parts would cancel, the difference is float64.
    """

    @staticmethod
    def forward(ctx: Any, sums: Tensor, queries: int, dtype: torch.dtype) -> Tensor:
        """Compute the path sums, [..., J, I] of `dtype`."""
        ctx.keys, least = sums.shape[-1], torch.finfo(dtype).min
        paths = sums.new_zeros(*sums.shape[:-1], queries, ctx.keys, dtype=dtype)
        for rows, before, within in _blocks(queries, ctx.keys):
            block, reference = sums[..., within], sums[..., within][..., :1]
            near = (block[..., :, None] - block[..., None, :]).tril()
            paths[..., rows, within] = near.clamp(min=least)
            of_queries = (block - reference).clamp(min=least / 2).to(dtype)
            of_keys = (reference - sums[..., before]).clamp(min=least / 2).to(dtype)
            torch.add(of_queries[..., :, None], of_keys[..., None, :], out=paths[..., rows, before])
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


def _blocks(queries: int, keys: int) -> Iterator[tuple[slice, slice, slice]]:
    """Yield for each block of queries (the last tokens): its rows, the keys before it, and its own keys."""
    for start in range(0, queries, _ROWS):
        first, stop = keys - queries + start, min(start + _ROWS, queries)
        yield slice(start, stop), slice(first), slice(first, keys - queries + stop)


class ConstantGates(PositionEncoding):
    """D_ij = (p_j - p_i) log f_h, 0 for a key after the query: gates that read no data are one slope per head."""

    def __init__(self, *, heads: int) -> None:
        """Set the number of heads; `heads` is H, at least 1."""
        super().__init__()
        _require_sizes(heads=heads)
        self.heads = heads

    def log_gates(self, layer: int) -> Tensor:
        """Logarithms of the gates: float64 [H]."""
        raise NotImplementedError

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [H, J, I], or [B, H, J, I] if positions have a batch axis.

        It is rounded three times and never below the least number.
        """
        require_integers(query_positions)
        require_integers(key_positions)
        distance = query_positions[..., None, :, None] - key_positions[..., None, None, :]
        wide = torch.promote_types(dtype, torch.float32)
        gates = self.log_gates((content or Content()).layer).to(distance.device, wide)
        bias = gates[:, None, None] * distance.clamp(min=0)
        return bias if dtype == wide else bias.clamp(min=torch.finfo(dtype).min).to(dtype)


class BiasOnlyFoX(ConstantGates):
    """Constant gates f = sigma(b).  Parameter: b, float32 [layers, H], initially 0.  [P, code: bias_only]"""

    def __init__(self, *, heads: int, layers: int) -> None:
        """Allocate b; `layers` is the number of layers, at least 1."""
        super().__init__(heads=heads)
        _require_sizes(layers=layers)
        self.logits = nn.Parameter(torch.zeros(layers, heads))

    def log_gates(self, layer: int) -> Tensor:
        """log sigma(b): float64 [H]."""
        return F.logsigmoid(self.logits[layer].double())


class FixedFoX(ConstantGates):
    """Constant gates f = e^(-1/T), T of the heads in equal steps of log T; no parameters.  [P, code: fixed]"""

    def __init__(self, *, heads: int, shortest: float = 2.0, longest: float = 2048.0) -> None:
        """Set the timescales T, from `shortest` to `longest` tokens; the code prints no defaults, these are ours.

        Raises:
            ValueError: heads is below 1, or not 0 < shortest <= longest < infinity.
        """
        super().__init__(heads=heads)
        if not (0 < shortest <= longest < math.inf):
            raise ValueError(f"timescales must be 0 < shortest <= longest < inf, not {shortest} and {longest}")
        ends = {"shortest": sp.Rational(shortest), "longest": sp.Rational(longest)}
        self.timescales = tuple(float(timescale) for timescale in fox.timescales(heads, **ends))

    def log_gates(self, layer: int) -> Tensor:
        """-1/T: float64 [H]."""
        return -1 / torch.tensor(self.timescales, dtype=torch.float64)


def _require_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, not {size}")


MODULES = {"fox": FoX, "fox-bias-only": BiasOnlyFoX, "fox-fixed": FixedFoX}
