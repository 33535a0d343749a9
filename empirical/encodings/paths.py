"""Biases in torch that are sums along the sequence, from the token after the key up to the query: FoX and Cable.

A float32 difference of two running sums loses the digits of near pairs, because the sums grow with the length.  Here
all sums are relative to a chunk of tokens, and nothing is subtracted: a pair is the sum from the key to the start of
the query's chunk, plus that from there to the query.  Sums of parts are float64, one number per token and chunk of
queries; the pass over all pairs is of the wanted dtype.

Formulas: theory/encodings/paths.py.  Shapes as in encodings/base.py; R tokens are in a chunk.
"""

import math
from typing import Any

import sympy as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Bias, Content, kept_finite, pair_distances, require_path, require_sizes
from lengthgen.theory.encodings import paths

_ROWS = 32
"""Number R of tokens in a chunk."""


class PathBias(Bias):
    """D_ij = sum over the tokens i < l <= j of a log gate, which is not positive: [B, H, J, I].

    The path runs along the sequence, over tokens and not over positions without a token.  So tokens before the key,
    such as left padding, and tokens after the query change nothing, whatever their content; all tokens between them are
    on the path.  A key after the query gets 0, which the causal mask hides.

    The queries are the last J of the I tokens of x, whose positions do not decrease.  Given log gates, the error is at
    most (2.01 u + 2.01 L 2^-53) |D| on a CPU, with u the unit roundoff of the dtype and L the number of tokens,
    whatever the gates off the path.  A bias is never below the least number of its dtype.
    """

    def log_gates(self, content: Content) -> Tensor:
        """Logarithms of the gates, not positive, at least float32 even under autocast: [B, H, L]."""
        raise NotImplementedError

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        gates_BHI = self.log_gates(content)
        require_path(query_positions, key_positions, gates_BHI.shape[-1], "log gates are summed along it")
        return path_sums(gates_BHI, query_positions.shape[-1], dtype)


def drawn_weight(*, layers: int, heads: int, width: int) -> nn.Parameter:
    """Weights [layers, H, D] from N(0, 0.02^2)."""
    require_sizes(width=width, heads=heads, layers=layers)
    return nn.Parameter(torch.empty(layers, heads, width).normal_(std=0.02))


def project(content: Content, weight_HD: Tensor, offset_H: Tensor | None = None) -> Tensor:
    """Linear map w . x + b of the layer's input, at least float32 even under autocast: [B, H, L]."""
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
    """Sum of the steps after each key, up to each of the last J queries: [..., J, I] of `dtype`, 0 for a later key.

    No step [..., I] is positive, and no sum is below the least number of `dtype`.
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
        for start in range(0, queries, _ROWS):
            first, stop = ctx.keys - queries + start, min(start + _ROWS, queries)
            rows, before, within = slice(start, stop), slice(first), slice(first, ctx.keys - queries + stop)
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


class FoX(PathBias):
    """D_ij = sum of log sigma(w . x_l + b) over the tokens i < l <= j, with w and b of the layer and head.  [P]

    The gate types "full", "bias_only" and "fixed" of the released code are three classes here; "none" is NoPE.
    Parameters as in the released code: w, float32 [layers, H, D], from N(0, 0.02^2), and b, float32 [layers, H], 0.
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameters; `width` is D."""
        super().__init__()
        self.weight = drawn_weight(layers=layers, heads=heads, width=width)
        self.offset = nn.Parameter(torch.zeros(layers, heads))

    def log_gates(self, content: Content) -> Tensor:
        return F.logsigmoid(project(content, self.weight[content.layer], self.offset[content.layer]))


class ConstantGates(Bias):
    """D_ij = (p_j - p_i) log f_h, 0 for a key after the query: gates that read no data are one slope per head.

    It is rounded three times and never below the least number of its dtype.
    """

    def log_gates(self, layer: int) -> Tensor:
        """Logarithms of the gates: float64 [H]."""
        raise NotImplementedError

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        distance = pair_distances(query_positions, key_positions)
        gates = self.log_gates(content.layer).to(distance.device, torch.promote_types(dtype, torch.float32))
        return kept_finite(gates[:, None, None] * distance.clamp(min=0), dtype)


class BiasOnlyFoX(ConstantGates):
    """Constant gates f = sigma(b).  Parameter: b, float32 [layers, H], initially 0.  [P, code: bias_only]"""

    def __init__(self, *, heads: int, layers: int) -> None:
        """Allocate b."""
        super().__init__()
        require_sizes(heads=heads, layers=layers)
        self.logits = nn.Parameter(torch.zeros(layers, heads))

    def log_gates(self, layer: int) -> Tensor:
        return F.logsigmoid(self.logits[layer].double())


class FixedFoX(ConstantGates):
    """Constant gates f = e^(-1/T), T of the heads in equal steps of log T; no parameters.  [P, code: fixed]"""

    def __init__(self, *, heads: int, shortest: float = 2.0, longest: float = 2048.0) -> None:
        """Set the timescales T, from `shortest` to `longest` tokens; the code prints no defaults, these are ours."""
        super().__init__()
        require_sizes(heads=heads)
        if not (0 < shortest <= longest < math.inf):
            raise ValueError(f"timescales must be 0 < shortest <= longest < inf, not {shortest} and {longest}")
        ends = {"shortest": sp.Rational(shortest), "longest": sp.Rational(longest)}
        self.timescales = tuple(float(timescale) for timescale in paths.fox_timescales(heads, **ends))

    def log_gates(self, layer: int) -> Tensor:
        return -1 / torch.tensor(self.timescales, dtype=torch.float64)


class Cable(FoX):
    """Minus the sum of softplus(w . x_l + b) over the tokens i < l <= j: FoX with the gates sigma(-(w . x_l + b)).

    This is the released code; the other classes are the text of the third version, which gives no initial values: those
    of the code are used for all, and they are those of FoX.
    """

    def log_gates(self, content: Content) -> Tensor:
        return F.logsigmoid(-project(content, self.weight[content.layer], self.offset[content.layer]))


class UngatedCable(PathBias):
    """Minus the sum of ReLU(w . x_l) over the tokens i < l <= j, with w of the layer and head.

    Parameter: w, float32 [layers, H, D], initially from N(0, 0.02^2).
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameter; `width` is D."""
        super().__init__()
        self.weight = drawn_weight(layers=layers, heads=heads, width=width)

    def log_gates(self, content: Content) -> Tensor:
        return -F.relu(project(content, self.weight[content.layer]))


class GatedCable(UngatedCable):
    """The sums of `UngatedCable` times softplus(v . x_j) of the query, with v of the layer and head.

    Parameters: w and v, float32 [layers, H, D], initially from N(0, 0.02^2).
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameters; `width` is D."""
        super().__init__(width=width, heads=heads, layers=layers)
        self.gate_weight = drawn_weight(layers=layers, heads=heads, width=width)

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        wide = torch.promote_types(dtype, torch.float32)
        paths = super().pair_bias(query_positions, key_positions, content, wide)
        gates_BHL = F.softplus(project(content, self.gate_weight[content.layer]))
        gates_BHJ = gates_BHL[..., paths.shape[-1] - paths.shape[-2] :].to(wide)
        return kept_finite(self.law(gates_BHJ[..., None], paths), dtype)

    def law(self, gates: Tensor, paths: Tensor) -> Tensor:
        """Bias from the gates [B, H, J, 1] and the path sums [B, H, J, I], which are not positive."""
        return gates * paths


class LogarithmicCable(GatedCable):
    """-log(1 + D^2), D the sums of `GatedCable`; the law is that of keys after the query as well.

    Parameters: those of `GatedCable`.
    """

    def law(self, gates: Tensor, paths: Tensor) -> Tensor:
        queries, keys = paths.shape[-2:]
        both_sides = paths + F.pad(paths[..., keys - queries :].mT, (keys - queries, 0))
        distance = gates * both_sides
        return -2 * torch.hypot(torch.ones_like(distance), distance).log()  # a large D^2 does not overflow


MODULES = {
    "fox": FoX,
    "fox-bias-only": BiasOnlyFoX,
    "fox-fixed": FixedFoX,
    "cable": Cable,
    "cable-gated": GatedCable,
    "cable-nw": UngatedCable,
    "cable-log": LogarithmicCable,
}
