"""SeqPE: a small Transformer reads the decimal digits of a position; its output is the code of the position.

Source: arXiv 2506.13277 and its released code (ghrua/seqpe).  Symbolic twin: theory/encodings/seqpe.py.
Shapes as in encodings/base.py; K digits of a position, N positions, W windows, D width, F tokens of one position.

As released for text: 2 causal pre-norm layers with tanh-GELU and an MLP of 4D, a last normalisation, an output map, and
one map to the codes of queries and keys that all layers share.  Not as released: no dropout in the encoder, its heads
are those of the model (released: 64 wide each), and no random shift of the training window.
"""

import math
from typing import get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import (
    Bias,
    Content,
    PositionEncoding,
    require_integers,
    require_sizes,
    require_width,
)
from lengthgen.theory.encodings.seqpe import BASE, MOST_DIGITS, Injection

LAYERS = 2
DEVIATION = 0.02
"""Standard deviation of the initial weights and embeddings; offsets begin at 0."""
WEIGHT = 0.1
"""Weight of each of the two auxiliary losses after the warm-up."""
WARM_UP = 0.1
"""Share of the training steps in which the weights rise linearly from 0.  Our choice: the length is not published."""
PIVOTS, WINDOWS = 4, 4
"""Pivots of the contrastive loss and windows of the distillation loss at each step; released: 32 each."""
CANDIDATES, SAMPLES = 32, 32
"""Candidates of each pivot, and positions of each window."""
HARD, EDITS = 8, 3
"""Candidates made by editing the pivot's digits, and most edits of each."""
LOCAL_SHARE, LOCAL_RANGE = 0.6, 256
"""Share of the pivots whose candidates all come from one short range of positions, and its length."""
_PER_PIVOT = 3 + 2 * CANDIDATES + HARD * (1 + 4 * EDITS)


class DigitEncoder(nn.Module):
    """Network from the digits of a position to its code.

    The tokens of a position are its K digits, the highest first, and last a learned one without a slot.  The output at
    that last token is the code.
    """

    def __init__(self, *, width: int, heads: int, digits: int) -> None:
        """Draw the parameters; `width` is a multiple of `heads`."""
        super().__init__()
        require_sizes(width=width, heads=heads, digits=digits)
        if digits > MOST_DIGITS:
            raise ValueError(f"digits must be at most {MOST_DIGITS}, not {digits}: positions are 64-bit integers")
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads")
        self.digits = digits
        self.tokens = nn.Parameter(DEVIATION * torch.randn(BASE, width))
        self.slots = nn.Parameter(DEVIATION * torch.randn(1, digits, width))
        self.last = nn.Parameter(DEVIATION * torch.randn(width))
        self.blocks = nn.ModuleList(_Block(width=width, heads=heads) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(width)
        self.out = _linear(width, width)

    @property
    def reach(self) -> int:
        """Number of positions with a code: 10^K."""
        return int(BASE**self.digits)

    def forward(self, positions: Tensor, dtype: torch.dtype) -> Tensor:
        """Codes [..., D] of positions, int64 [...] with at most K digits, computed in this dtype."""
        require_integers(positions)
        if not torch.compiler.is_compiling():
            outside = positions[(positions < 0) | (positions >= self.reach)]
            if outside.numel():
                raise ValueError(
                    f"SeqPE with digits={self.digits} has codes for the positions 0 to {self.reach - 1}, and "
                    f"{int(outside[0])} is not among them: use more digits for larger positions"
                )
        return self.encode(positions, dtype)

    def encode(self, positions: Tensor, dtype: torch.dtype) -> Tensor:
        """Same as `forward` for positions that are known to have codes; a check would read them one model at a time."""
        powers = BASE ** torch.arange(self.digits - 1, -1, -1, device=positions.device)
        read = torch.div(positions[..., None], powers, rounding_mode="floor") % BASE
        x = self.tokens.to(dtype)[read] + self.slots[0].to(dtype)
        x = torch.cat([x, self.last.to(dtype).expand(*x.shape[:-2], 1, -1)], -2)
        for block in self.blocks:
            x = block(x, queries=1 if block is self.blocks[-1] else x.shape[-2])
        return _mapped(self.out, _normalised(self.norm, x[..., 0, :]))


class _Block(nn.Module):
    """Causal pre-norm Transformer layer on the tokens of one position."""

    def __init__(self, *, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.merged = _linear(width, 3 * width), _linear(width, width)
        self.up, self.down = _linear(width, 4 * width), _linear(4 * width, width)

    def forward(self, x: Tensor, *, queries: int) -> Tensor:
        """x [..., F, D] -> the last `queries` tokens, [..., queries, D]."""
        q, k, v = (
            torch.unflatten(part, -1, (self.heads, -1)).transpose(-2, -3)
            for part in _mapped(self.qkv, _normalised(self.attention_norm, x)).chunk(3, -1)
        )
        logits = q[..., -queries:, :] @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        later = torch.full(logits.shape[-2:], -torch.inf, dtype=x.dtype, device=x.device)
        attended = (logits + later.triu(1 + k.shape[-2] - queries)).softmax(-1) @ v
        x = x[..., -queries:, :] + _mapped(self.merged, attended.transpose(-2, -3).flatten(-2))
        hidden = F.gelu(_mapped(self.up, _normalised(self.mlp_norm, x)), approximate="tanh")
        return x + _mapped(self.down, hidden)


class SeqPE(PositionEncoding):
    """Codes of positions by a network of their digits, trained by two losses of their own.

    Contrastive loss: cross-entropy of softmax(<PE(p), PE(c)>) over candidates c of a pivot p, with the candidate
    nearest to p as the label; the products are of whole codes.  Distillation loss: symmetric divergence between the row
    softmax of <PE(a), PE(b)> at positions of the training window, which is not trained by it, and at the same places of
    a window that begins elsewhere; the products are of the parts of codes of each head, and all entries of all heads
    are averaged.  Both as released, for text and for images.
    """

    auxiliary_numbers = PIVOTS * _PER_PIVOT + WINDOWS * (1 + SAMPLES)

    def __init__(self, *, width: int, heads: int, digits: int = 5) -> None:
        """Draw the parameters of the encoder."""
        super().__init__()
        self.encoder = DigitEncoder(width=width, heads=heads, digits=digits)
        self.width, self.heads = width, heads

    def codes(self, positions: Tensor, dtype: torch.dtype) -> Tensor:
        """Codes [..., D] of positions, int64 [...], at least in float32; raises ValueError as `DigitEncoder`."""
        codes: Tensor = self.encoder(positions, torch.promote_types(dtype, torch.float32))
        return codes

    def auxiliary_loss(self, positions: Tensor, uniform_N: Tensor, progress: float) -> Tensor:
        """Both losses times their weight, which rises during the warm-up."""
        numbers, window_numbers = torch.split(uniform_N, [PIVOTS * _PER_PIVOT, WINDOWS * (1 + SAMPLES)])
        pivots, candidates = contrastive_positions(numbers.view(PIVOTS, -1), self.encoder.reach)
        near, far = window_positions(window_numbers.view(WINDOWS, -1), positions, self.encoder.reach)
        drawn = (pivots, candidates, near, far)
        codes = self.encoder.encode(torch.cat([part.flatten() for part in drawn]), self.encoder.tokens.dtype)
        pivot_codes, candidate_codes, *windows = (
            torch.unflatten(part, 0, tuple(places.shape))
            for part, places in zip(torch.split(codes, [part.numel() for part in drawn]), drawn, strict=True)
        )
        scores = (candidate_codes @ pivot_codes[..., None])[..., 0]
        labels = (candidates - pivots[:, None]).abs().argmin(-1)
        near_codes, far_codes = (torch.unflatten(part, -1, (self.heads, -1)).transpose(1, 2) for part in windows)
        weight = WEIGHT * min(1.0, progress / WARM_UP)
        contrastive = F.cross_entropy(scores, labels)
        return weight * (contrastive + distillation_loss(near_codes.detach(), far_codes))


class SeqPEBias(SeqPE, Bias):
    """Injection `attn_scalar`: bias <u_h(j), w_h(i)> / sqrt(C), u and w linear maps of the code PE."""

    def __init__(self, *, width: int, heads: int, digits: int = 5) -> None:
        super().__init__(width=width, heads=heads, digits=digits)
        self.query_key = _linear(width, 2 * width)

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        both = (query_positions, key_positions)
        # Queries are among the keys in most calls: each position is encoded once.
        places, index = torch.unique(torch.cat([positions.flatten() for positions in both]), return_inverse=True)
        codes = _mapped(self.query_key, self.codes(places, dtype)).chunk(2, -1)
        indices = torch.split(index, [positions.numel() for positions in both])
        u, w = (
            of_side[chosen].view(*positions.shape, self.heads, self.width // self.heads).transpose(-2, -3)
            for of_side, chosen, positions in zip(codes, indices, both, strict=True)
        )
        bias: Tensor = u @ w.transpose(-1, -2) / math.sqrt(self.width // self.heads)
        return bias


class SeqPEInput(SeqPE):
    """Injection `input_add`: x_p + PE(p)."""

    def embed(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Add the codes at least in float32 and round once: [B, L, D]."""
        require_width(x_BLD, self.width, what="embeddings", name="width")
        codes = self.codes(positions, x_BLD.dtype)
        return (x_BLD.to(codes.dtype) + codes).to(x_BLD.dtype)


def seqpe(*, width: int, heads: int, length: int = 1, digits: int = 5, injection: Injection = "attn_scalar") -> SeqPE:
    """Make SeqPE for a model; `length` is the largest number of positions that it will get, at most 10^digits."""
    if injection not in get_args(Injection):
        raise ValueError(f"injection must be {' or '.join(get_args(Injection))}, not {injection!r}")
    encoding = (SeqPEBias if injection == "attn_scalar" else SeqPEInput)(width=width, heads=heads, digits=digits)
    if length > encoding.encoder.reach:
        raise ValueError(f"digits={digits} give codes to {encoding.encoder.reach} positions, and there are {length}")
    return encoding


def distillation_loss(near_WHNC: Tensor, far_WHNC: Tensor) -> Tensor:
    """Mean over all entries of (e^a - e^b)(a - b), a and b the row-wise log softmax of the two Gram matrices.

    The released code takes this mean too; the sum of a row would be KL(near|far) + KL(far|near).
    """
    near, far = ((codes @ codes.transpose(-1, -2)).log_softmax(-1) for codes in (near_WHNC, far_WHNC))
    return ((near.exp() - far.exp()) * (near - far)).mean()


def contrastive_positions(uniform: Tensor, reach: int) -> tuple[Tensor, Tensor]:
    """Pivots, int64 [P], and their candidates, int64 [P, N], drawn from 0 .. reach - 1.

    The candidates of some pivots lie in one short range.  Those of the others are spread over all positions, except
    some whose digits are the pivot's after 1 to 3 edits, if they are farther than the nearest of the spread ones.  A
    candidate that is the pivot moves to the next position.  `uniform` are random numbers in [0, 1), [P, numbers of a
    pivot], and `reach` is a power of 10.
    """
    head, spread, local, edits = torch.split(uniform, [3, CANDIDATES, CANDIDATES, HARD * (1 + 4 * EDITS)], -1)
    pivots = (head[:, 0] * reach).long()
    everywhere = _spread(spread, reach)
    span = min(LOCAL_RANGE, reach)
    nearby = (head[:, 1:2] * (reach - span + 1)).long() + _spread(local, span)
    hard = _edited(pivots[:, None], edits.view(len(pivots), HARD, -1), reach)
    nearest = (everywhere - pivots[:, None]).abs().amin(-1, keepdim=True)
    # The spread candidates that give way are evenly spaced, so that no region is left out.
    regions = torch.unflatten(everywhere, -1, (HARD, -1))
    kept = torch.where((hard - pivots[:, None]).abs() > nearest, hard, regions[..., 0])
    mixed = torch.cat([kept[..., None], regions[..., 1:]], -1).flatten(-2)
    candidates = torch.where(head[:, 2:3] < LOCAL_SHARE, nearby, mixed)
    return pivots, torch.where(candidates == pivots[:, None], (candidates + 1) % reach, candidates)


def _spread(uniform: Tensor, size: int) -> Tensor:
    """Numbers of 0 .. size - 1, one drawn from each of N equal parts, int64 [..., N]; distinct if N <= size."""
    count = uniform.shape[-1]
    ends = torch.arange(count + 1, device=uniform.device) * size // count
    return ends[:-1] + (uniform * ends.diff()).long()


def _edited(position: Tensor, uniform: Tensor, reach: int) -> Tensor:
    """Positions after 1 to 3 edits of their digits: insert, delete, exchange or replace, each at a random slot."""
    digits = len(str(reach)) - 1
    count, steps = 1 + (uniform[..., 0] * EDITS).long(), torch.unflatten(uniform[..., 1:], -1, (EDITS, 4))
    position = position.expand(count.shape)
    for step in range(EDITS):
        kind, slot, other, digit = (steps[..., step, at] for at in range(4))
        low = BASE ** (slot * digits).long()
        high = BASE ** (other * digits).long()
        new = (digit * BASE).long()
        above, below = torch.div(position, low, rounding_mode="floor"), position % low
        here, there = above % BASE, torch.div(position, high, rounding_mode="floor") % BASE
        options = (
            ((above * BASE + new) * low + below) % reach,
            torch.div(above, BASE, rounding_mode="floor") * low + below,
            position + (here - there) * (high - low),
            position + (new - here) * low,
        )
        choice = (kind * len(options)).long()
        edited = sum(torch.where(choice == at, option, 0) for at, option in enumerate(options))
        position = torch.where(step < count, edited, position)
    return position


def window_positions(uniform: Tensor, positions: Tensor, reach: int) -> tuple[Tensor, Tensor]:
    """Positions of the training window and of a window that begins elsewhere, each int64 [W, n].

    As released, the other window begins at L/4 or later, L the number of positions of a training batch, int64 [L], and
    ends before `reach`.  `uniform` are random numbers in [0, 1), [W, 1 + SAMPLES].
    """
    length = positions.shape[-1]
    count = min(SAMPLES, length)
    chosen = _spread(uniform[:, 1 : 1 + count], length)
    latest = reach - length
    earliest = min(length // 4, latest)
    start = earliest + (uniform[:, :1] * (latest - earliest + 1)).long()
    return positions[chosen], start + chosen


def _linear(inputs: int, outputs: int) -> nn.Linear:
    """Linear map with weights N(0, 0.02^2) and offsets 0."""
    linear = nn.Linear(inputs, outputs)
    nn.init.normal_(linear.weight, std=DEVIATION)
    nn.init.zeros_(linear.bias)
    return linear


def _mapped(linear: nn.Module, x: Tensor) -> Tensor:
    """Linear map of x in the dtype of x."""
    assert isinstance(linear, nn.Linear)
    return F.linear(x, linear.weight.to(x), linear.bias.to(x))


def _normalised(norm: nn.Module, x: Tensor) -> Tensor:
    """Layer normalisation of x in the dtype of x."""
    assert isinstance(norm, nn.LayerNorm)
    return F.layer_norm(x, norm.normalized_shape, norm.weight.to(x), norm.bias.to(x), norm.eps)


MODULES = {"seqpe": seqpe}
