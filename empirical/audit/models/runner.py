"""Runner: calls of a model by names of arguments, whatever it calls them, and readings of its first attention layer."""

import inspect
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import Tensor, nn

from lengthgen.empirical.audit.adapter import RefusedPosition, has_real_values
from lengthgen.empirical.audit.models.tap import Enough, Reading, Tap
from lengthgen.empirical.audit.models.whole import POSITIONS, WholeModel
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.infrastructure.userfile import user_code

PROBE = (1, 0, 2)
"""Token ids that tell which embedding takes tokens: they are not positions in their order."""
SOURCE = 7
"""Tokens of the encoder's input; another count where the decoder has as many, to tell their attention apart."""
MASKS = ("attention_mask", "mask", "padding_mask", "key_padding_mask", "src_key_padding_mask")
CACHES = ("cache", "past_key_values", "past", "layer_past", "kv_cache", "kv_caches", "caches")
"""Names of a cache: in transformers from 5.24 on, before, and elsewhere."""


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
        positions_name, mask_name, cache_name: names of these arguments; None if the model takes none.
        cache_flag: text of the further argument that asks for a cache.
        vocabulary: number of token ids that may be used.
        pick, pick_cache: texts that take logits and cache out of the last answer, such as ".logits".
        ids_name, ids_by_name: name of the argument for token ids, and whether it must be given by name.
        causal: True if no token sees a later one, so that further tokens change nothing and keys can be cached.
        origin: position of the first token, where positions are given.
    """

    def __init__(
        self, subject: WholeModel, dtype: torch.dtype | None = None, *, causal: bool = True, origin: int = 0
    ) -> None:
        self.subject, self.causal, self.origin = subject, causal, origin
        self.dtype = dtype = dtype or subject.widest
        with user_code(f"'{subject.name}' cannot be made", error=AuditError):
            self.model = subject.build().to(dtype).eval()
        with user_code(f"'{subject.name}' does not say what it takes", error=AuditError):
            self._read_signature()

    def _read_signature(self) -> None:
        """Read the names of arguments and the embedding of token ids."""
        name = self.subject.name
        parameters = inspect.signature(self.model.forward).parameters
        names = list(parameters)
        self.pick = self.pick_cache = ""
        self._seen = 0
        self.ids_name = "input_ids" if "input_ids" in names else names[0]
        self.ids_by_name = parameters[self.ids_name].kind is inspect.Parameter.KEYWORD_ONLY
        self.is_seq2seq = "decoder_input_ids" in names
        places = POSITIONS if self.subject.takes_positions else ()
        self.positions_name = next((name for name in places if name in names), None)
        self.mask_name = None if self.is_seq2seq else next((name for name in MASKS if name in names), None)
        self.cache_name = next((name for name in CACHES if name in names), None)
        self.cache_flag = ", use_cache=True" if "use_cache" in names else ""
        self._needs_mask = bool(self.mask_name) and parameters[str(self.mask_name)].default is inspect.Parameter.empty
        needed = self.positions_name and parameters[self.positions_name].default is inspect.Parameter.empty
        self.needs_positions = bool(needed)
        get = getattr(self.model, "get_input_embeddings", None)
        embedding = self._embedding_of_tokens() if get is None else get()
        if embedding is None:
            raise AuditError(f"'{name}' has no embedding of token ids")
        self.embedding = embedding
        self.vocabulary = int(self.embedding.weight.shape[0])
        if self.vocabulary < 3:
            raise AuditError(f"'{name}' has {self.vocabulary} token ids: make a model of at least 3")

    def _embedding_of_tokens(self) -> nn.Embedding | None:
        """Embedding that is called with the token ids; the first one if a call does not tell."""
        embeddings = {name: part for name, part in self.model.named_modules() if isinstance(part, nn.Embedding)}
        if len(embeddings) < 2:
            return next(iter(embeddings.values()), None)
        ids, taken = torch.tensor([PROBE]), []
        untouched, self.model = self.model, self.subject.build().to(self.dtype).eval()
        for name in embeddings:

            def note(part: nn.Module, given: tuple[Any, ...], name: str = name) -> None:
                if given and isinstance(given[0], Tensor) and torch.equal(given[0].flatten(), ids[0]):
                    taken.append(name)

            self.model.get_submodule(name).register_forward_pre_hook(note)
        with suppress(AuditError):  # the calls that follow will say so
            self.call(ids)
        self.model = untouched
        return embeddings[next(iter([*taken, *embeddings]))]

    def fresh(self, dtype: torch.dtype | None = None) -> "Runner":
        """Return a runner of another instance with the same weights, in the widest dtype if none is given."""
        return Runner(self.subject, dtype, causal=self.causal, origin=self.origin)

    def as_mask(self, mask: Tensor) -> Tensor:
        """Mask of numbers 0 and 1, or of truth values where the argument is not called attention_mask."""
        if self.subject.mask_hides:
            return mask == 0
        return mask if self.mask_name == "attention_mask" else mask.bool()

    @property
    def mask_text(self) -> str:
        """Text of the mask of token ids `ids`, as `as_mask` makes it."""
        if self.subject.mask_hides:
            return "ids == 0"
        return f"(ids > 0).{'long' if self.mask_name == 'attention_mask' else 'bool'}()"

    def ids(self, batch: int, length: int, seed: int = 1) -> Tensor:
        """Random token ids: int64 [B, L]; id 0 is left out, as it may be padding."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(2, self.vocabulary, (batch, length), generator=generator)

    def call(
        self, ids: Tensor, *, positions: Tensor | None = None, mask: Tensor | None = None, past: Any = None
    ) -> tuple[Tensor, Any]:
        """Logits [B, L, V] in float64 and the cache; RefusedPosition if the model raises.

        The model gets copies, as it may write into its arguments.
        """
        ids = ids.clone()
        keywords: dict[str, Any] = {}
        if positions is None and self.needs_positions:
            positions = (self.origin + torch.arange(ids.shape[1])).expand(len(ids), -1)
        if positions is not None:
            keywords[self.positions_name or "position_ids"] = positions.clone()
        self._seen = ids.shape[1] + (0 if past is None else self._seen)
        if mask is None and self._needs_mask:
            mask = self.as_mask(ids.new_ones(len(ids), self._seen))
        if mask is not None:
            keywords[self.mask_name or "attention_mask"] = mask.clone()
        if self.cache_name:
            keywords |= {self.cache_name: past, **({"use_cache": True} if self.cache_flag else {})}
        given: tuple[Tensor, ...] = ()
        if self.is_seq2seq:
            source = torch.arange(2, 2 + SOURCE - (ids.shape[1] == SOURCE)).expand(len(ids), -1)
            keywords |= {"input_ids": source, "decoder_input_ids": ids}
        elif self.ids_by_name:
            keywords[self.ids_name] = ids
        else:
            given = (ids,)
        what = (
            f"'{self.subject.name}' fails in {f'{self.dtype}'.removeprefix('torch.')} for token ids {list(ids.shape)}"
        )
        failing = user_code(what, error=RefusedPosition, expected=(Enough, AuditError))
        with failing, torch.no_grad(), default_dtype(self.dtype):
            answer = self.model(*given, **keywords)
            for self.pick, logits in _candidates(answer):
                is_real = isinstance(logits, Tensor) and logits.is_floating_point() and has_real_values(logits)
                if is_real and logits.ndim == 3 and logits.shape[:2] == ids.shape:
                    past = self._cache_of(answer) if self.cache_name else None
                    return logits.detach().as_subclass(Tensor).double(), past
            raise AuditError(
                f"'{self.subject.name}' must return real logits [B, L, V] for token ids [B, L], alone, in a tuple or "
                f"named logits, not {_shown(answer)}"
            )

    def _cache_of(self, answer: Any) -> Any:
        """Cache in an answer: an attribute or an entry of such a name, or what follows the logits; else None."""
        parts = [(f".{name}", getattr(answer, name, None)) for name in CACHES]
        if isinstance(answer, Mapping):
            parts += [(f"[{name!r}]", answer[name]) for name in CACHES if name in answer]
        elif isinstance(answer, tuple | list) and self.pick.startswith("["):
            after = int(self.pick.strip("[]")) + 1
            parts += [(f"[{place}]", answer[place]) for place in range(after, len(answer))]
        self.pick_cache, cache = next((part for part in parts if part[1] is not None), ("", None))
        return cache

    def readings(
        self, ids: Tensor, *, positions: Tensor | None = None, past: Any = None, last: int | None = None
    ) -> list[Reading]:
        """Readings of the layers of self-attention, up to layer `last`; in an encoder-decoder those of the decoder.

        With `past`, a cache of earlier tokens, there are other numbers of keys than of queries. After layer `last` the
        model is left. AuditError if no such layer can be read.
        """
        source = SOURCE - (ids.shape[1] == SOURCE) if self.is_seq2seq else None
        tap = Tap(*ids.shape, first=None if last is None else last + 1, cached=past is not None, source=source)
        with suppress(Enough), tap:
            self.call(ids, positions=positions, past=past)
        if len(tap.readings) <= (last or 0):
            raise AuditError(
                f"'{self.subject.name}' has no self-attention that can be read: let it call "
                "scaled_dot_product_attention, nn.MultiheadAttention or softmax(q @ k.T) without a compiler, or audit "
                "its rotation or bias alone"
            )
        return tap.readings

    def reading(self, ids: Tensor, *, positions: Tensor | None = None, layer: int = 0) -> Reading:
        """Reading of one layer, see `readings`."""
        return self.readings(ids, positions=positions, last=layer)[layer]

    def alone(self, tokens: Tensor, positions: Tensor, *, last: int | None) -> list[list[Tensor]]:
        """Queries and keys [P, H, T, C] of every token in a row of its own at every position, by layer up to `last`."""
        places = (positions + self.origin).repeat_interleave(len(tokens))[:, None]
        readings = self.readings(tokens.repeat(len(positions))[:, None], positions=places, last=last)
        return [
            [part[:, :, 0].unflatten(0, (len(positions), -1)).transpose(1, 2) for part in (made.q_BHJC, made.k_BHIC)]
            for made in readings
        ]

    def reach(self, wanted: int) -> tuple[int, str]:
        """Most tokens of a row that are accepted, up to a number, and the refusal of one more ("" if all are)."""

        def refusal(length: int) -> str:
            try:
                self.call(self.ids(1, length))
            except RefusedPosition as error:
                return str(error)
            return ""

        if not refusal(wanted):
            return wanted, ""
        accepted = 1 + bisect_left(range(2, wanted), True, key=lambda length: bool(refusal(length)))
        return accepted, refusal(accepted + 1)

    def silence(self) -> None:
        """Set the token embeddings to 0, so that logits hold nothing but positions."""
        with torch.no_grad():
            self.embedding.weight.zero_()


def _shown(answer: Any) -> str:
    """Words for an answer: its dtype and shape, those of its parts, or its type."""
    if isinstance(answer, Tensor):
        return f"{answer.dtype} {list(answer.shape)}".removeprefix("torch.")
    shapes = [str(list(part.shape)) for part in answer if isinstance(part, Tensor)] if isinstance(answer, tuple) else []
    return f"a tuple of {', '.join(shapes)}" if shapes else type(answer).__name__


def _candidates(answer: Any) -> Iterator[tuple[str, Any]]:
    """Parts of a model's answer that may be its logits, each after the text that takes it out of the answer."""
    if isinstance(answer, Tensor):
        yield "", answer
    for name in ("logits", "last_hidden_state"):
        if hasattr(answer, name):
            yield f".{name}", getattr(answer, name)
        elif isinstance(answer, Mapping) and name in answer:
            yield f"[{name!r}]", answer[name]
    if isinstance(answer, tuple | list):
        yield from ((f"[{place}]", part) for place, part in enumerate(answer))
