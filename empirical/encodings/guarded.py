"""A user's own encoding: its hooks fail in one line, and what they return is looked at before anything reads it.

Shapes as in encodings/base.py.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from empirical.encodings.base import Content, PositionEncoding
from theory.encodings.encoding import EncodingError
from theory.system.userfile import user_code


class HookError(EncodingError, RuntimeError):
    """A hook of the user's own that fails.

    Also a RuntimeError, for which `MappedEncoding` tries once more without `torch.func.vmap`.
    """


def guarded(encoding: PositionEncoding, name: str) -> PositionEncoding:
    """The same module, whose hooks raise HookError for whatever they may raise, and for an answer that is none.

    Args:
        encoding: made by the user's own code.
        name: of the user's object, for messages.

    Raises:
        EncodingError: a parameter is not of real numbers in the memory of the CPU.
    """
    for parameter, numbers in encoding.named_parameters():
        if torch.nn.parameter.is_lazy(numbers) or not numbers.is_floating_point() or numbers.device.type != "cpu":
            raise EncodingError(f"'{name}': its parameter '{parameter}' must hold floating-point numbers on the CPU")
    # A subclass and not attributes of the module: copies of the module keep it.
    kind = type(encoding)
    hooks = {hook: _guarded(getattr(kind, hook), read, f"'{name}': {hook} fails") for hook, read in READERS.items()
             if getattr(kind, hook) is not getattr(PositionEncoding, hook)}  # fmt: skip
    encoding.__class__ = type(kind.__name__, (kind,), hooks)
    return encoding


def _guarded(hook: Callable[..., Any], read: Callable[..., Any], what: str) -> Callable[..., Any]:
    @wraps(hook)
    def called(encoding: PositionEncoding, *arguments: Any, **options: Any) -> Any:
        with user_code(what, error=HookError):
            return read(hook(encoding, *arguments, **options), *arguments)

    return called


def _embedded(answer: Any, x_BLD: Tensor, *_: Any) -> Tensor:
    return _tensor(answer, x_BLD.shape, x_BLD.dtype)


def _rotated(answer: Any, q_BHLC: Tensor, k_BHLC: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    q, k = answer
    return _tensor(q, q_BHLC.shape, q_BHLC.dtype), _tensor(k, k_BHLC.shape, k_BHLC.dtype)


def _scored(answer: Any, q_BHJC: Tensor, k_BHIC: Tensor, *_: Any) -> Tensor:
    return _tensor(answer, (*q_BHJC.shape[:-1], k_BHIC.shape[-2]), q_BHJC.dtype)


def _biased(answer: Any, query_positions: Tensor, key_positions: Tensor, content: Content | None = None) -> Any:
    if answer is None:
        return None
    pairs = (query_positions.shape[-1], key_positions.shape[-1])
    heads, rows = (0, 0) if content is None or content.q_BHJC is None else content.q_BHJC.shape[1::-1]
    shape = tuple(answer.shape)
    fits = shape[-2:] == pairs and len(shape) in (3, 4) and answer.is_floating_point()
    # Heads and rows of the batch may be one for all.
    if not fits or (heads and (shape[-3] not in (1, heads) or (len(shape) == 4 and shape[0] not in (1, rows)))):
        raise ValueError(f"it must return a bias [H, {pairs[0]}, {pairs[1]}] of real numbers, not {_described(answer)}")
    return answer


def _valued(answer: Any, weights_BHJI: Tensor, _: Tensor, __: Tensor, content: Content) -> Tensor:
    assert content.q_BHJC is not None
    return _tensor(answer, content.q_BHJC.shape, weights_BHJI.dtype)


READERS: dict[str, Callable[..., Any]] = {
    "embed": _embedded,
    "rotate": _rotated,
    "scores": _scored,
    "bias": _biased,
    "values": _valued,
}


def _tensor(answer: Any, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    if not isinstance(answer, Tensor) or tuple(answer.shape) != tuple(shape) or answer.dtype != dtype:
        raise ValueError(f"it must return {dtype} {list(shape)}, not {_described(answer)}")
    return answer


def _described(answer: Any) -> str:
    return f"{answer.dtype} {list(answer.shape)}" if isinstance(answer, Tensor) else f"a {type(answer).__name__}"
