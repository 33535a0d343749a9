"""Tap: queries, keys and logits of the attention layers of any model, read from the torch functions that it calls.

A softmax over logits [..., J, I] is attention if a matrix product with a result of this shape came before it; the
operands of that product, which may be an einsum, are the queries and the keys.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from math import prod
from string import ascii_letters
from types import FunctionType
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

PRODUCTS = {
    torch.matmul: (0, 1), torch.Tensor.matmul: (0, 1), torch.Tensor.__matmul__: (0, 1), torch.bmm: (0, 1),
    torch.Tensor.bmm: (0, 1), torch.baddbmm: (1, 2), torch.Tensor.baddbmm: (1, 2),
}  # fmt: skip
"""Matrix products, with the places of their two factors among the arguments."""
FACTORS = {"batch1": 0, "batch2": 1, "input": 0, "other": 1, "mat2": 1}
SOFTMAXES = (torch.nn.functional.softmax, torch.softmax, torch.Tensor.softmax)
ATTENTION = torch.nn.functional.scaled_dot_product_attention
MULTI_HEAD = torch.nn.functional.multi_head_attention_forward
MASKED = -1e4
"""Logits below this are masked: fully in float16, and far below any logit of a model with random weights."""


class Enough(Exception):
    """Raised within a model to leave it, once the tap has what it wants."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Attention call: queries [B, H, J, C], keys [B, H, I, C], and logits before softmax [B, H, J, I]."""

    q_BHJC: Tensor
    k_BHIC: Tensor
    logits_BHJI: Tensor

    @property
    def scale(self) -> float:
        """Factor of q.k in the logits, by least squares over all visible pairs; a bias common to all rows drops out."""
        product = self.q_BHJC.double() @ self.k_BHIC.double().transpose(-1, -2)
        logits = self.logits_BHJI.double()
        seen = (logits > MASKED).all(0)
        product, logits = product[:, seen], logits[:, seen]
        if len(logits) > 1:
            product, logits = product - product.mean(0), logits - logits.mean(0)
        return float((product * logits).sum() / (product**2).sum())


class Tap(TorchFunctionMode):
    """Context manager that records the self-attention of all calls within it; cross attention has other lengths.

    Args:
        rows: number B of rows of token ids; all axes before the last two of queries and keys are rows, then heads.
        length: number L of tokens of each row.
        first: leave the model after so many readings.
        cached: True if keys of earlier tokens come from a cache, so that there are more keys than queries.
        source: number of tokens of an encoder, whose keys belong to cross attention; other than `length`.
    """

    def __init__(
        self, rows: int, length: int, *, first: int | None = None, cached: bool = False, source: int | None = None
    ) -> None:
        super().__init__()
        self.readings: list[Reading] = []
        self._rows, self._length, self._first = rows, length, first
        self._cached, self._source = cached, source
        self._products: list[tuple[Tensor, Tensor, torch.Size]] = []

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if function is ATTENTION:
            self._record_attention(*args, **kwargs)
        elif function is MULTI_HEAD:
            self._record_multi_head(*args, **kwargs)
        elif function in SOFTMAXES:
            self._record_softmax(args[0] if args else kwargs["input"])
        answer = function(*args, **kwargs)
        if function in PRODUCTS:
            places = PRODUCTS[function]
            factors: list[Any] = [args[place] if place < len(args) else None for place in places]
            for name, which in FACTORS.items():
                if name in kwargs and factors[which] is None:
                    factors[which] = kwargs[name]
            if all(isinstance(factor, Tensor) for factor in factors) and answer.ndim >= 3:
                self._products.append((factors[0], factors[1].transpose(-1, -2), answer.shape))
        elif function is torch.einsum and answer.ndim >= 3 and (factors_of_einsum := einsum_factors(*args)):
            self._products.append((*factors_of_einsum, answer.shape))
        return answer

    def _add(self, q: Tensor, k: Tensor, logits: Tensor, axes: tuple[int, ...]) -> None:
        """Add a reading of q [..., J, C] and k [..., I, C], whose axes before the last two broadcast to `axes`."""
        if prod(axes) % self._rows or logits.shape[:-2].numel() != prod(axes):
            return
        queries, keys = logits.shape[-2:]
        if self._cached and self._length == 1 and queries > 1:  # heads of a group, packed into the axis of queries
            q, k, logits = q[..., None, :], k[..., None, :, :], logits[..., None, :]
            axes, queries = (*axes, queries), 1
        if queries != self._length or keys == self._source:
            return
        if keys != queries and not self._cached:  # perhaps a table of fixed length whose other columns are masked
            seen = (logits > MASKED).flatten(0, -2).any(0)
            if int(seen.sum()) != queries:
                return
            k, logits = k[..., seen, :], logits[..., seen]
        q, k = (part.expand(*axes, *part.shape[-2:]) for part in (q, k))
        parts = [part.detach().reshape(self._rows, -1, *part.shape[-2:]) for part in (q, k, logits)]
        self.readings.append(Reading(q_BHJC=parts[0], k_BHIC=parts[1], logits_BHJI=parts[2]))
        if self._first is not None and len(self.readings) >= self._first:
            raise Enough

    def _record_attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> None:
        if enable_gqa:
            key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        logits = (query @ key.transpose(-1, -2)) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            logits = logits.masked_fill(torch.ones(logits.shape[-2:]).triu(1).bool(), -torch.inf)
        if attn_mask is not None:
            hidden = attn_mask.dtype == torch.bool
            logits = logits.masked_fill(~attn_mask, -torch.inf) if hidden else logits + attn_mask
        self._add(query, key, logits, logits.shape[:-2])

    def _record_multi_head(self, *args: Any, **kwargs: Any) -> None:
        """Record the attention within `multi_head_attention_forward`.

        PyTorch hands the whole function to the tap, and none of the functions that it calls. So its body runs once more
        under the tap, as a copy whose check "is there a tap?" says no. Without weights to return it always calls scaled
        dot-product attention; then the hint `is_causal` would replace a mask that counts where weights are returned.
        Keys that it adds itself are left out, because they have no position.
        """
        call = signature(MULTI_HEAD).bind(*args, **kwargs)
        call.apply_defaults()
        call.arguments["is_causal"] &= not call.arguments["need_weights"]
        call.arguments |= {"need_weights": False, "bias_k": None, "bias_v": None, "add_zero_attn": False}
        names = {**MULTI_HEAD.__globals__, "has_torch_function": lambda tensors: False}
        with self:
            FunctionType(MULTI_HEAD.__code__, names)(*call.args, **call.kwargs)

    def _record_softmax(self, logits: Tensor) -> None:
        """Record the last product since the softmax before whose result has the shape of the logits."""
        products, self._products = self._products, []
        for q, k, shape in reversed(products):
            # A sink adds one column, which has no key.
            if logits.shape[-2] == shape[-2] and 0 <= logits.shape[-1] - shape[-1] <= 1:
                return self._add(q, k, logits[..., : shape[-1]], shape[:-2])


def einsum_factors(equation: Any, *operands: Any) -> tuple[Tensor, Tensor] | None:
    """Queries [..., J, C] and keys [..., I, C] of an einsum with result [..., J, I]; None if it is no such product.

    The equation may have any layout: "bqhd,bkhd->bhqk", "... i d, ... j d -> ... i j"; operands may be one list.
    """
    operands = tuple(operands[0]) if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    if not isinstance(equation, str) or len(operands) != 2:
        return None
    inputs, _, result = equation.replace(" ", "").partition("->")
    unused = [letter for letter in ascii_letters if letter not in equation]  # names for the axes of an ellipsis
    terms, most = [], 0
    for term, operand in zip(inputs.split(","), operands, strict=True):
        count = operand.ndim - len(term.replace("...", ""))
        most = max(most, count)
        terms.append(term.replace("...", "".join(reversed(unused[:count]))))
    result = result.replace("...", "".join(reversed(unused[:most])))
    axes, ends = result[:-2], result[-2:]
    summed = set(terms[0]) & set(terms[1]) - set(result)
    pairs = list(zip(terms, operands, strict=True))
    if len(ends) == 2 and ends[0] not in terms[0]:
        pairs.reverse()
    if len(ends) < 2 or len(summed) != 1:
        return None
    factors = []
    for (term, operand), own, other in zip(pairs, ends, reversed(ends), strict=True):
        if own not in term or other in term or set(term) - {*axes, own, *summed}:
            return None
        kept = "".join(axis for axis in axes if axis in term)
        factor = torch.einsum(f"{term}->{kept}{own}{''.join(summed)}", operand)
        for place, axis in enumerate(axes):
            factor = factor if axis in term else factor.unsqueeze(place)
        factors.append(factor)
    return factors[0], factors[1]
