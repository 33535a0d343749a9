"""Runner: calls of a model by names of arguments, whatever it calls them, and readings of its first attention layer."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from empirical.audit.adapter import RefusedPosition
from empirical.audit.models.tap import Enough, Reading, Tap
from empirical.audit.subject import AuditError
from theory.system.userfile import user_code

TOKENS = ("input_ids", "ids", "idx", "tokens", "x", "inputs", "input")
"""Names of the argument for token ids."""
POSITIONS = ("position_ids", "input_pos", "positions", "pos", "position")
MASKS = ("attention_mask", "mask", "padding_mask")


def is_model(module: Any) -> bool:
    """True if an object is a module that takes token ids: by the name of its first argument, or because it does."""
    if not issubclass(type(module), nn.Module):
        return False
    try:
        parameters = list(inspect.signature(module.forward).parameters)
        required = _required(module)
    except Exception:  # whatever its code raises, it has no signature
        return False
    if "input_ids" in parameters or (parameters and parameters[0] in TOKENS[:4]):
        return True
    if len(required) != 1 or not any(isinstance(part, nn.Embedding) for part in module.modules()):
        return False
    try:
        with torch.no_grad():
            answer = module(torch.tensor([[0, 1, 0]]))
    except Exception:  # whatever its code raises, it takes no token ids
        return False
    return isinstance(answer, Tensor) and answer.ndim == 3 and answer.shape[:2] == (1, 3)


def _required(module: nn.Module) -> list[str]:
    parameters = inspect.signature(module.forward).parameters.values()
    return [parameter.name for parameter in parameters if parameter.default is parameter.empty
            and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Whole model to audit.

    Attributes:
        name: name in reports.
        build: factory of a fresh instance with the same weights.
        recipe: Python lines that make the instance as `model`, without this package.
        config: configuration, if it has one, else None.
        sizes: sizes that were filled in, by field.
        rebuild: function from changed fields of the configuration to a fresh instance; None if it has none.
    """

    name: str
    build: Callable[[], nn.Module]
    recipe: tuple[str, ...] = ()
    config: Any = None
    sizes: dict[str, Any] | None = None
    rebuild: Callable[[dict[str, Any]], nn.Module] | None = None


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Use float64 as default dtype for a model in float64: old masks have the default dtype and overflow else."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if dtype == torch.float64 else before)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class Runner:
    """Fresh instance of a model in one dtype.

    Attributes:
        positions_name, mask_name: names of these arguments; None if the model takes none.
        has_cache: True if it takes and gives `past_key_values`.
        vocabulary: number of token ids that may be used.
    """

    def __init__(self, subject: Subject, dtype: torch.dtype = torch.float64) -> None:
        self.subject, self.dtype = subject, dtype
        with user_code(f"'{subject.name}' cannot be made", error=AuditError):
            self.model = subject.build().to(dtype).eval()
        names = list(inspect.signature(self.model.forward).parameters)
        self.is_seq2seq = "decoder_input_ids" in names
        self.positions_name = next((name for name in POSITIONS if name in names), None)
        self.mask_name = None if self.is_seq2seq else next((name for name in MASKS if name in names), None)
        self.has_cache = "past_key_values" in names and "use_cache" in names
        get = getattr(self.model, "get_input_embeddings", None)
        first = next((part for part in self.model.modules() if isinstance(part, nn.Embedding)), None)
        embedding = first if get is None else get()
        if embedding is None:
            raise AuditError(f"'{subject.name}' has no embedding of token ids")
        self.embedding = embedding
        self.vocabulary = int(self.embedding.weight.shape[0])

    def fresh(self, dtype: torch.dtype = torch.float64) -> "Runner":
        """Return a runner of another instance with the same weights."""
        return Runner(self.subject, dtype)

    def ids(self, batch: int, length: int, seed: int = 1) -> Tensor:
        """Random token ids: int64 [B, L]; id 0 is left out, as it may be padding."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(2, self.vocabulary, (batch, length), generator=generator)

    def call(
        self, ids: Tensor, *, positions: Tensor | None = None, mask: Tensor | None = None, past: Any = None
    ) -> tuple[Tensor, Any]:
        """Logits [B, L, V] in float64 and the cache; RefusedPosition if the model raises."""
        keywords: dict[str, Any] = {}
        if positions is not None:
            keywords[self.positions_name or "position_ids"] = positions
        if mask is not None:
            keywords[self.mask_name or "attention_mask"] = mask
        if self.has_cache:
            keywords |= {"past_key_values": past, "use_cache": True}
        failing = user_code(f"'{self.subject.name}' fails", error=RefusedPosition, expected=(Enough,))
        with torch.no_grad(), failing, default_dtype(self.dtype):
            if self.is_seq2seq:
                source = torch.arange(2, 9).expand(len(ids), -1)
                answer = self.model(input_ids=source, decoder_input_ids=ids, **keywords)
            else:
                answer = self.model(ids, **keywords)
        logits = answer
        if not isinstance(answer, Tensor):
            logits = getattr(answer, "logits", None)
            logits = getattr(answer, "last_hidden_state", None) if logits is None else logits
            logits = answer[0] if logits is None else logits
        if not isinstance(logits, Tensor) or logits.ndim != 3 or logits.shape[1] != ids.shape[1]:
            shape = list(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
            raise AuditError(f"'{self.subject.name}' must return logits [B, L, V] for token ids [B, L], not {shape}")
        return logits.double(), getattr(answer, "past_key_values", None)

    def reading(
        self, ids: Tensor, *, positions: Tensor | None = None, past: Any = None, layer: int = 0, **options: Any
    ) -> Reading:
        """Reading of an attention layer; in an encoder-decoder model, layer 0 is the first one of the decoder."""
        if self.is_seq2seq:
            layer += len(getattr(self.model.encoder, "block", ()))
        tap = Tap(len(ids), first=layer + 1)
        try:
            with tap:
                self.call(ids, positions=positions, past=past, **options)
        except Enough:
            pass
        if len(tap.readings) <= layer:
            raise AuditError(
                f"'{self.subject.name}' has no attention that can be read: let it call scaled_dot_product_attention, "
                "nn.MultiheadAttention or softmax(q @ k.T) without a compiler, or audit its rotation or bias alone"
            )
        return tap.readings[layer]

    def silence(self) -> None:
        """Set the token embeddings to 0, so that logits hold nothing but positions."""
        with torch.no_grad():
            self.embedding.weight.zero_()
