"""Guard around a user's own encoding: its hooks fail with a one-line message, and their results are checked.

Shapes as in encodings/base.py.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content, PositionEncoding, overrides
from lengthgen.infrastructure.userfile import shown, user_code
from lengthgen.theory.encodings.encoding import EncodingError


class HookError(EncodingError, RuntimeError):
    """A hook of the user's own encoding fails.

    Also a RuntimeError, for which `MappedEncoding` tries once more without `torch.func.vmap`.
    """


def guard(encoding: PositionEncoding, name: str) -> PositionEncoding:
    """Return the same module with hooks that raise HookError for any error and for a result of the wrong form.

    Args:
        encoding: made by the user's own code.
        name: name of the user's object in messages.

    Raises:
        EncodingError: a parameter does not hold floating-point numbers in CPU memory.
    """
    for parameter, numbers in encoding.named_parameters():
        if torch.nn.parameter.is_lazy(numbers) or not numbers.is_floating_point() or numbers.device.type != "cpu":
            raise EncodingError(f"'{name}': its parameter '{parameter}' must hold floating-point numbers on the CPU")
    # A subclass, not attributes of the module, because copies of the module keep their class.
    cls = type(encoding)
    hooks = {hook: _guard_hook(getattr(cls, hook), check, f"'{name}': {hook} fails") for hook, check in CHECKS.items()
             if overrides(encoding, hook)}  # fmt: skip
    encoding.__class__ = type(cls.__name__, (cls,), hooks)
    return encoding


def _guard_hook(hook: Callable[..., Any], check: Callable[..., Any], description: str) -> Callable[..., Any]:
    """Wrap a hook so that its result is checked; `description` begins the error message."""

    @wraps(hook)
    def guarded_hook(encoding: PositionEncoding, *arguments: Any, **options: Any) -> Any:
        with user_code(description, error=HookError):
            return check(hook(encoding, *arguments, **options), *arguments)

    return guarded_hook


def _check_embed(answer: Any, x_BLD: Tensor, *_: Any) -> Tensor:
    return _check_tensor(answer, x_BLD.shape, x_BLD.dtype)


def _check_rotate(answer: Any, q_BHLC: Tensor, k_BHLC: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    q, k = answer
    return _check_tensor(q, q_BHLC.shape, q_BHLC.dtype), _check_tensor(k, k_BHLC.shape, k_BHLC.dtype)


def _check_scores(answer: Any, q_BHJC: Tensor, k_BHIC: Tensor, *_: Any) -> Tensor:
    return _check_tensor(answer, (*q_BHJC.shape[:-1], k_BHIC.shape[-2]), q_BHJC.dtype)


def _check_bias(answer: Any, query_positions: Tensor, key_positions: Tensor, content: Content | None = None) -> Any:
    """Return the bias if its shape is [H, J, I] or [B, H, J, I] of real numbers, or None; else raise ValueError."""
    if answer is None:
        return None
    pairs = (query_positions.shape[-1], key_positions.shape[-1])
    heads, rows = (0, 0) if content is None or content.q_BHJC is None else content.q_BHJC.shape[1::-1]
    shape = tuple(answer.shape)
    fits = shape[-2:] == pairs and len(shape) in (3, 4) and answer.is_floating_point()
    # The axes of heads and of batch rows may have size 1.
    if not fits or (heads and (shape[-3] not in (1, heads) or (len(shape) == 4 and shape[0] not in (1, rows)))):
        raise ValueError(f"it must return a bias [H, {pairs[0]}, {pairs[1]}] of real numbers, not {_described(answer)}")
    return answer


def _check_normalise(answer: Any, logits_BHJI: Tensor, *_: Any) -> Tensor:
    return _check_tensor(answer, logits_BHJI.shape, logits_BHJI.dtype)


def _check_values(answer: Any, weights_BHJI: Tensor, _: Tensor, __: Tensor, content: Content) -> Tensor:
    assert content.q_BHJC is not None
    return _check_tensor(answer, content.q_BHJC.shape, weights_BHJI.dtype)


def _check_auxiliary_loss(answer: Any, *_: Any) -> Any:
    """Return the loss if it is one real number, or None; else raise ValueError."""
    if answer is None or (isinstance(answer, Tensor) and answer.dim() == 0 and answer.is_floating_point()):
        return answer
    raise ValueError(f"it must return a scalar loss or None, not {_described(answer)}")


CHECKS: dict[str, Callable[..., Any]] = {
    "embed": _check_embed,
    "rotate": _check_rotate,
    "scores": _check_scores,
    "bias": _check_bias,
    "normalise": _check_normalise,
    "values": _check_values,
    "auxiliary_loss": _check_auxiliary_loss,
}
"""Hook -> function that checks its result, given the hook's arguments."""


def _check_tensor(answer: Any, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Return the answer if it is a tensor of this shape and dtype, else raise ValueError."""
    if not isinstance(answer, Tensor) or tuple(answer.shape) != tuple(shape) or answer.dtype != dtype:
        raise ValueError(f"it must return {dtype} {list(shape)}, not {_described(answer)}")
    return answer


def _described(answer: Any) -> str:
    """Dtype and shape of a tensor, or the type of anything else."""
    return f"{answer.dtype} {list(answer.shape)}" if isinstance(answer, Tensor) else shown(answer)
