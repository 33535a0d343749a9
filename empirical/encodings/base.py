"""Base classes of position encodings: the hooks through which an encoding acts on attention.

Shapes: B batch, L length, D model width, H heads, J queries, I keys, C head width. Positions are int64, 0-based,
[L] or [B, L], and always passed explicitly: padding, packing and caching are choices of positions.

A constructor raises ValueError for a size below 1 and for an option that has no meaning; its message says which.
Papers are named in theory/encodings; docs/results/released-code says where their code differs from these modules.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

QueryAndKey = tuple[Tensor, Tensor]


@dataclass(frozen=True, kw_only=True)
class Content:
    """Inputs of a hook besides positions; None for what the caller does not provide.

    Attributes:
        layer: index of the calling layer, from 0; an encoding may have separate parameters in each layer.
        x_BLD: normalised input of the layer.
        q_BHJC, k_BHIC: queries and keys, before `rotate`.
        labels_BJI: labels of the run's relation, int64 [1 or B, J, I]; 0 above the diagonal, which the causal mask
            hides.
        scales_B: scale of each instance, int64 [B].
        distances_BJI: distances of the tokens in a structure, such as a graph, int64 [1 or B, J, I]; -1 for two tokens
            that no path joins.
    """

    layer: int = 0
    x_BLD: Tensor | None = None
    q_BHJC: Tensor | None = None
    k_BHIC: Tensor | None = None
    labels_BJI: Tensor | None = None
    scales_B: Tensor | None = None
    distances_BJI: Tensor | None = None


class PositionEncoding(nn.Module):
    """NoPE, and the base class of all encodings: every hook is the identity by default.

    logit of query j and key i = scores(rotate(q), rotate(k)) / sqrt(C) + bias, shape [B, H, J, I];
    weights = normalise(logits), the softmax over keys unless an encoding replaces it.

    Positions of queries are int64 [J] or [B, J], those of keys [I] or [B, I]; `content` has further inputs, for
    encodings that read them.
    """

    needs_labels = False
    """True if the hooks read `Content.labels_BJI`."""
    needs_distances = False
    """True if the hooks read `Content.distances_BJI`."""
    causal = True
    """True if a query attends to the keys up to its own position, False if it attends to all keys."""
    changes_values = False
    """True if `values` adds something; then the attention weights must be computed explicitly."""
    scores_pairwise = False
    """True if `scores` replaces the scalar product q.k; then the logits must be computed explicitly."""
    auxiliary_numbers = 0
    """Number of random numbers that `auxiliary_loss` reads at each training step."""
    reads_earlier_tokens = False
    """True if `embed` of a token depends on the tokens before it; then it needs all of them in every call."""
    takes_last_queries = True
    """True if `bias`, `scores` and `values` accept the last J of the I tokens as queries; if False, J = I always."""

    def embed(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Return the input of the first layer, [B, L, D], for the token embeddings x."""
        return x_BLD

    def rotate(self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None) -> QueryAndKey:
        """Return transformed queries and keys, each [B, H, L, C] in the dtype of the input; both at `positions`."""
        return q_BHLC, k_BHLC

    def scores(
        self,
        q_BHJC: Tensor,
        k_BHIC: Tensor,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
    ) -> Tensor:
        """Return the scores of queries and keys after `rotate`, before the division by sqrt(C): [B, H, J, I]."""
        return q_BHJC @ k_BHIC.transpose(-1, -2)

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor | None:
        """Return the bias added to the scaled logits: [H, J, I] or [B, H, J, I] of `dtype`; None for no bias."""
        return None

    def normalise(self, logits_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Return the attention weights: [B, H, J, I] in the dtype of the logits.

        A logit is -inf for a key that the query must not see; its weight must be 0.
        """
        return logits_BHJI.softmax(-1)

    def values(self, weights_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """Return the term added to the attention output for these attention weights: [B, H, J, C]."""
        raise NotImplementedError(f"{type(self).__name__} does not change values")

    def auxiliary_loss(self, positions: Tensor, uniform_N: Tensor, progress: float) -> Tensor | None:
        """Return a loss of the encoding itself, a scalar that training adds to the loss of the task; None for none.

        Args:
            positions: int64 [L], positions of the tokens of a training batch.
            uniform_N: `auxiliary_numbers` random numbers, uniform in [0, 1), float64; they follow from the run's seed
                and the step, so that every training of the run draws the same.
            progress: share of the training steps that are done, in [0, 1).
        """
        return None


def overrides(encoding: PositionEncoding, hook: str) -> bool:
    """True if the encoding replaces the hook of the base class."""
    return getattr(type(encoding), hook) is not getattr(PositionEncoding, hook)


class Bias(PositionEncoding):
    """Base class of encodings by a bias: checks and defaults that all of them share."""

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Return the bias, [H, J, I] or [B, H, J, I], computed at least in float32 and rounded once to `dtype`.

        Raises:
            ValueError: positions are not integers, or the content lacks what the bias reads.
        """
        require_integers(query_positions, key_positions)
        return self.pair_bias(query_positions, key_positions, content or Content(), dtype).to(dtype)

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        """Bias of all pairs, before it is rounded to `dtype`; the arguments are those of `bias`."""
        raise NotImplementedError


class PairBias(Bias):
    """Base class of a bias that depends on head, query position and key position alone."""

    def __init__(self, *, heads: int) -> None:
        """Set the number of heads; `heads` is H, at least 1."""
        super().__init__()
        require_sizes(heads=heads)
        self.heads = heads

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """Bias of each triple, of `dtype`; the three int64 tensors broadcast against each other."""
        raise NotImplementedError

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        heads = torch.arange(self.heads, device=query_positions.device)[:, None, None]
        return self.law(heads, query_positions[..., None, :, None], key_positions[..., None, None, :], dtype)


class Rotation(PositionEncoding):
    """Base class of encodings that map queries and keys alike, linearly, by their positions."""

    def rotate(self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None) -> QueryAndKey:
        """Return mapped queries and keys, each [B, H, L, C] in its own dtype, rounded once.

        Angles are float64, vectors and products at least float32.

        Raises:
            ValueError: positions are not integers, heads or head width are others than those of the encoding, or the
                content lacks what the map reads.
        """
        require_integers(positions)
        move = self.map_at(q_BHLC, positions, content or Content())
        return move(q_BHLC), move(k_BHLC)

    def map_at(self, q_BHLC: Tensor, positions: Tensor, content: Content) -> Callable[[Tensor], Tensor]:
        """Map of queries and of keys at these positions, after a check of the queries' shape."""
        raise NotImplementedError


def require_integers(*positions: Tensor) -> None:
    """Raise ValueError unless all positions are integers: rounded positions are the commonest silent error here."""
    for given in positions:
        if given.is_floating_point() or given.is_complex() or given.dtype == torch.bool:
            raise ValueError(f"positions must be integers, not {given.dtype}: pass int64 positions")


def require_path(query_positions: Tensor, key_positions: Tensor, tokens: int, why: str) -> None:
    """Raise ValueError unless the keys are all tokens in order of position, and the queries the last of them."""
    queries, keys = query_positions.shape[-1], key_positions.shape[-1]
    if (key_positions.diff(dim=-1) < 0).any():
        raise ValueError(f"positions must not decrease along the sequence, because {why}")
    if tokens != keys:
        raise ValueError(f"x has {tokens} tokens, but there are {keys} key positions")
    if queries > keys or not (query_positions == key_positions[..., keys - queries :]).all():
        raise ValueError(f"the {queries} queries are not the last {queries} of the {keys} tokens, by their positions")


def require_sizes(**sizes: int) -> None:
    """Raise ValueError for a size below 1; the message names it."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1, not {size}")


def require_positive(**numbers: float) -> None:
    """Raise ValueError for a number that is not positive or not finite; the message names it."""
    for name, number in numbers.items():
        if not (math.isfinite(number) and number > 0):
            raise ValueError(f"{name} must be a positive finite number, not {number}")


def require_planes(**sizes: int) -> None:
    """Raise ValueError for a size that does not consist of planes of two coordinates; the message names it."""
    for name, size in sizes.items():
        if size <= 0 or size % 2:
            raise ValueError(f"{name} must be a positive even number, not {size}")


def require_width(x: Tensor, width: int, *, what: str = "queries", name: str = "head_dim") -> None:
    """Raise ValueError unless the last axis of `x` has this width; `what` and `name` are for the message."""
    if x.shape[-1] != width:
        raise ValueError(f"{what} are {x.shape[-1]} wide, not {name} = {width}")


def require_heads(q_BHLC: Tensor, heads: int, head_dim: int) -> None:
    """Raise ValueError unless queries have these heads and this head width."""
    if q_BHLC.shape[1::2] != (heads, head_dim):
        raise ValueError(f"queries have heads and width {tuple(q_BHLC.shape[1::2])}, not {(heads, head_dim)}")


def pair_distances(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Distance p_j - p_i of each pair: int64 [1, J, I] or [B, 1, J, I]; raises ValueError for other positions."""
    require_integers(query_positions, key_positions)
    return query_positions[..., None, :, None] - key_positions[..., None, None, :]


def kept_finite(bias: Tensor, dtype: torch.dtype) -> Tensor:
    """Bias with the least number of `dtype` in place of numbers below it."""
    return bias.clamp(min=torch.finfo(dtype).min)


MODULES = {"nope": PositionEncoding}
