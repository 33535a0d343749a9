"""Biases in torch that are sums along the sequence, from the token after the key up to the query: FoX and Cable.

A float32 difference of two running sums loses the digits of near pairs, because the sums grow with the length.  Here
all sums are relative to a chunk of tokens, and nothing is subtracted: a pair is the sum from the key to the start of
the query's chunk, plus that from there to the query.  Sums of parts are float64, one number per token and chunk of
queries; the pass over all pairs is of the wanted dtype.

Formulas: theory/encodings/paths.py.  Shapes as in encodings/base.py; R tokens are in a chunk.
"""

import math
from collections.abc import Iterator
from typing import Any

import sympy as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import (
    Content,
    PositionEncoding,
    pair_distances,
    require_integers,
    require_sizes,
)
from lengthgen.theory.encodings import paths

_ROWS = 32
"""Number R of tokens in a chunk."""


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

        Given log gates, its error is at most (2.01 u + 2.01 L 2^-53) |D| on a CPU, with u the unit roundoff of `dtype`
        and L the number of tokens, whatever the gates off the path.  It is never below the least number of `dtype`.

        Raises:
            ValueError: positions are not integers or decrease along the sequence, x is missing or does not have a token
                for each key, or the queries are not its last tokens.
        """
        require_integers(query_positions, key_positions)
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


def running_sums(steps: Tensor) -> Tensor:
    """Sum of the steps up to each one, relative to chunks of R steps: [..., L] of their dtype, for steps of one sign.

    Only sums of chunks are float64.  Each result is off by two units in the last place, and more on devices that add a
    chunk in several parts.
    """
    length = steps.shape[-1]
    within = torch.unflatten(F.pad(steps, (0, -length % _ROWS)), -1, (-1, _ROWS)).cumsum(-1)
    starts = F.pad(within[..., :-1, -1].double().cumsum(-1), (1, 0)).to(steps.dtype)
    return (within + starts[..., None]).flatten(-2)[..., :length]


def path_sums(steps: Tensor, queries: int, dtype: torch.dtype) -> Tensor:
    """Sum of the steps after each key, up to each of the last queries: [..., J, I], 0 for a key after the query.

    Args:
        steps: [..., I], none of them positive.
        queries: J, at most I.
        dtype: dtype of the sums; none is below its least number.
    """
    return _PathSums.apply(steps, queries, dtype)  # type: ignore[no-untyped-call]


class _PathSums(torch.autograd.Function):
    """Sums of `path_sums`, from chunks of R tokens that begin at the first query.

    For a key in an earlier chunk the result is the sum of the steps from the key to the start of the query's chunk, and
    of those from there to the query.  Neither part is positive, so both may be rounded to `dtype`.
    """

    @staticmethod
    def forward(ctx: Any, steps: Tensor, queries: int, dtype: torch.dtype) -> Tensor:
        """Compute the sums, [..., J, I] of `dtype`."""
        keys, least = steps.shape[-1], torch.finfo(dtype).min
        ctx.keys, ctx.dtype = keys, steps.dtype
        paths = steps.new_empty(*steps.shape[:-1], queries, keys, dtype=dtype)
        if not paths.numel():
            return paths
        # Shapes from here on: [..., N, R] for N chunks of tokens, the last n of them of queries.
        fill = -(keys - queries) % _ROWS
        chunks = torch.unflatten(F.pad(steps.double(), (fill, -queries % _ROWS)), -1, (-1, _ROWS))
        count, first = -(-queries // _ROWS), -(-(keys - queries) // _ROWS)
        tokens = slice(fill, fill + keys)
        earlier = torch.ones(count, first + count, dtype=torch.bool, device=steps.device).tril(first - 1)  # [n, N]
        to_query = chunks[..., first:, :].cumsum(-1).to(dtype).clamp_(min=least / 2)  # [..., n, R]
        between = _after(chunks.sum(-1)[..., None, :] * earlier).masked_fill_(~earlier, torch.inf)  # [..., n, N]
        of_keys = (_after(chunks)[..., None, :, :] + between[..., None]).flatten(-2)[..., tokens]  # [..., n, I]
        of_keys = of_keys.to(dtype).clamp_(min=least / 2, max=0)
        seen = earlier.to(dtype).repeat_interleave(_ROWS, -1)[..., tokens]  # [n, I]
        near = _within(chunks[..., first:, :].to(torch.promote_types(dtype, torch.float32))).clamp_(min=least)
        full_chunks, rest = divmod(queries, _ROWS)
        for start, stop, rows in ((0, full_chunks, _ROWS), (full_chunks, count, rest)):
            if start == stop:
                continue
            of_block, own = slice(start, stop), slice(start * _ROWS, start * _ROWS + (stop - start) * rows)
            out = torch.unflatten(paths[..., own, :], -2, (-1, rows))  # [..., n, R, I]
            # The one pass over all pairs, which takes most of the time.
            torch.addcmul(
                of_keys[..., of_block, None, :], to_query[..., of_block, :rows, None], seen[of_block, None], out=out
            )
            diagonal = torch.unflatten(out[..., keys - queries :][..., own], -1, (-1, rows)).diagonal(dim1=-4, dim2=-2)
            diagonal.movedim(-1, -3).copy_(near[..., of_block, :rows, :rows])
        return paths

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """Gradient of the steps, [..., I]: sums of those of c_j - c_i with c the running sum, in float64."""
        queries, wide = gradient.shape[-2], torch.promote_types(gradient.dtype, torch.float32)
        of_sums = gradient.new_zeros(*gradient.shape[:-2], ctx.keys, dtype=torch.float64)
        for rows, before, within in _blocks(queries, ctx.keys):
            far, near = gradient[..., rows, before], gradient[..., rows, within].tril()
            of_sums[..., within] += far.sum(-1, dtype=wide) + near.sum(-1, dtype=wide) - near.sum(-2, dtype=wide)
            of_sums[..., before] -= far.sum(-2, dtype=wide)
        return of_sums.flip(-1).cumsum(-1).flip(-1).to(ctx.dtype), None, None


def _after(steps: Tensor) -> Tensor:
    """Sum of the steps after each one: [..., L]."""
    return F.pad(steps.flip(-1).cumsum(-1).flip(-1)[..., 1:], (0, 1))


def _within(chunks: Tensor) -> Tensor:
    """Sum of the steps after the column's token, up to the row's, each summed on its own: [..., R, R]."""
    size = chunks.shape[-1]
    after = torch.ones(size, size, dtype=chunks.dtype, device=chunks.device).triu(1)
    return (chunks.clamp(min=torch.finfo(chunks.dtype).min)[..., None, :] * after).cumsum(-1).mT


def _blocks(queries: int, keys: int) -> Iterator[tuple[slice, slice, slice]]:
    """Yield for each block of queries (the last tokens): its rows, the keys before it, and its own keys."""
    for start in range(0, queries, _ROWS):
        first, stop = keys - queries + start, min(start + _ROWS, queries)
        yield slice(start, stop), slice(first), slice(first, keys - queries + stop)


class FoX(PathBias):
    """D_ij = sum of log sigma(w . x_l + b) over the tokens i < l <= j, with w and b of the layer and head.  [P]

    Source: Lin et al., Forgetting Transformer, arXiv 2503.02130, and its released code, whose gate types "full",
    "bias_only" and "fixed" are three classes here; "none" is NoPE.  Parameters: w, float32 [layers, H, D], and b,
    float32 [layers, H].
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameters; `width` is D.  Initial values as in the released code: w from N(0, 0.02^2), b = 0.

        Raises:
            ValueError: a size is below 1.
        """
        super().__init__()
        require_sizes(width=width, heads=heads, layers=layers)
        self.weight = nn.Parameter(torch.empty(layers, heads, width).normal_(std=0.02))
        self.offset = nn.Parameter(torch.zeros(layers, heads))

    def log_gates(self, content: Content) -> Tensor:
        """Logarithms of the forget gates f, at least float32 even under autocast: [B, H, L].

        Raises:
            ValueError: the content has no x.
        """
        return F.logsigmoid(project(content, self.weight[content.layer], self.offset[content.layer]))


class ConstantGates(PositionEncoding):
    """D_ij = (p_j - p_i) log f_h, 0 for a key after the query: gates that read no data are one slope per head."""

    def __init__(self, *, heads: int) -> None:
        """Set the number of heads; `heads` is H, at least 1."""
        super().__init__()
        require_sizes(heads=heads)
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
        distance = pair_distances(query_positions, key_positions)
        wide = torch.promote_types(dtype, torch.float32)
        gates = self.log_gates((content or Content()).layer).to(distance.device, wide)
        bias = gates[:, None, None] * distance.clamp(min=0)
        return bias if dtype == wide else bias.clamp(min=torch.finfo(dtype).min).to(dtype)


class BiasOnlyFoX(ConstantGates):
    """Constant gates f = sigma(b).  Parameter: b, float32 [layers, H], initially 0.  [P, code: bias_only]"""

    def __init__(self, *, heads: int, layers: int) -> None:
        """Allocate b; `layers` is the number of layers, at least 1."""
        super().__init__(heads=heads)
        require_sizes(layers=layers)
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
        self.timescales = tuple(float(timescale) for timescale in paths.fox_timescales(heads, **ends))

    def log_gates(self, layer: int) -> Tensor:
        """-1/T: float64 [H]."""
        return -1 / torch.tensor(self.timescales, dtype=torch.float64)


def _drawn_weight(*, layers: int, heads: int, width: int) -> nn.Parameter:
    """Weights [layers, H, D] from N(0, 0.02^2)."""
    require_sizes(width=width, heads=heads, layers=layers)
    return nn.Parameter(torch.empty(layers, heads, width).normal_(std=0.02))


class Cable(PathBias):
    """Minus the sum of softplus(w . x_l + b) over the tokens i < l <= j, with w and b of the layer and head.

    Source: Cable, arXiv 2503.08067: its released code, and for the other classes the text of its third version.  The
    text gives no initial values; those of the released code are used for all.
    Parameters: w, float32 [layers, H, D], initially from N(0, 0.02^2), and b, float32 [layers, H], initially 0.
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameters; `width` is D.  Raises ValueError for a size below 1."""
        super().__init__()
        self.weight = _drawn_weight(layers=layers, heads=heads, width=width)
        self.offset = nn.Parameter(torch.zeros(layers, heads))

    def log_gates(self, content: Content) -> Tensor:
        """Steps with a minus, -softplus(w . x + b), at least float32: [B, H, L].  ValueError without x."""
        return F.logsigmoid(-project(content, self.weight[content.layer], self.offset[content.layer]))


class UngatedCable(PathBias):
    """Minus the sum of ReLU(w . x_l) over the tokens i < l <= j, with w of the layer and head.

    Parameter: w, float32 [layers, H, D], initially from N(0, 0.02^2).
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameter; `width` is D.  Raises ValueError for a size below 1."""
        super().__init__()
        self.weight = _drawn_weight(layers=layers, heads=heads, width=width)

    def log_gates(self, content: Content) -> Tensor:
        """Steps with a minus, -ReLU(w . x), at least float32: [B, H, L].  ValueError without x."""
        return -F.relu(project(content, self.weight[content.layer]))


class GatedCable(UngatedCable):
    """The sums of `UngatedCable` times softplus(v . x_j) of the query, with v of the layer and head.

    Parameters: w and v, float32 [layers, H, D], initially from N(0, 0.02^2).
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameters; `width` is D.  Raises ValueError for a size below 1."""
        super().__init__(width=width, heads=heads, layers=layers)
        self.gate_weight = _drawn_weight(layers=layers, heads=heads, width=width)

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [B, H, J, I], computed at least in float32 and rounded once more; for the queries see `PathBias.bias`.

        It is never below the least number of `dtype`.
        """
        content, wide = content or Content(), torch.promote_types(dtype, torch.float32)
        paths = super().bias(query_positions, key_positions, content, dtype=wide)
        gates_BHL = F.softplus(project(content, self.gate_weight[content.layer]))
        gates_BHJ = gates_BHL[..., paths.shape[-1] - paths.shape[-2] :].to(wide)
        return self.law(gates_BHJ[..., None], paths).clamp(min=torch.finfo(dtype).min).to(dtype)

    def law(self, gates: Tensor, paths: Tensor) -> Tensor:
        """Bias from the gates [B, H, J, 1] and the path sums [B, H, J, I], which are not positive."""
        return gates * paths


class LogarithmicCable(GatedCable):
    """-log(1 + D^2), D the sums of `GatedCable`; the law is that of keys after the query as well.

    Parameters: those of `GatedCable`.
    """

    def law(self, gates: Tensor, paths: Tensor) -> Tensor:
        """Bias from the gates [B, H, J, 1] and the path sums [B, H, J, I]; a large D^2 does not overflow."""
        queries, keys = paths.shape[-2:]
        both_sides = paths + F.pad(paths[..., keys - queries :].mT, (keys - queries, 0))
        distance = gates * both_sides
        return -2 * torch.hypot(torch.ones_like(distance), distance).log()


MODULES = {
    "fox": FoX,
    "fox-bias-only": BiasOnlyFoX,
    "fox-fixed": FixedFoX,
    "cable": Cable,
    "cable-gated": GatedCable,
    "cable-nw": UngatedCable,
    "cable-log": LogarithmicCable,
}
