"""Certificate as its shape allows it, and its task as the checker calls it: guarded, with the effort counted."""

import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

SCALE, ARITY, COUNT, PLACE = range(1, 129), range(1, 9), range(1, 2001), range(1, 1_000_000)
SHAPES: dict[str, tuple[Any, ...]] = {
    "format": (1,),
    "task": (str,),
    "base": (None, PLACE),
    "layout": ("unaligned", "aligned", "filled"),
    "largest_scale": (SCALE,),
    "arity": (ARITY,),
    "mode": ("free", "declared", "typed"),
    "scale": (SCALE,),
    "lower": (COUNT, "inf"),
    "upper": (PLACE, "inf", None),
    "prompts": ({str: [str]},),
    "steps": ([(SCALE, PLACE)],),
    "clique": ([range(2000)],),
    "proof": (None, [str]),
    "circuit": (None, {"reference": True}, {"operators": [{str: str}], "wirings": {str: [(range(2000), [PLACE])]}}),
}
"""Fields of a certificate, and the allowed shapes of each (`fits`)."""


class CertificateError(ValueError):
    """Error of a text that is no certificate, or does not prove its statement; the message is one line."""


def need(condition: object, otherwise: str) -> None:
    """Raise CertificateError with the message `otherwise` unless the condition holds."""
    if not condition:
        raise CertificateError(f"certificate: {otherwise}")


def fits(value: Any, shape: Any) -> bool:
    """True if JSON has a shape: a type, a range, [each], (first, second), {str: each}, {field: its shape}."""
    if isinstance(shape, range):
        return type(value) is int and value in shape
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(each, shape[0]) for each in value)
    if isinstance(shape, tuple):
        return isinstance(value, list) and len(value) == len(shape) and all(map(fits, value, shape))
    if isinstance(shape, dict):
        each = dict.fromkeys(value, shape[str]) if str in shape and isinstance(value, dict) else shape
        return isinstance(value, dict) and value.keys() == each.keys() and all(fits(value[k], each[k]) for k in each)
    return type(value) is shape if isinstance(shape, type) else type(value) is type(shape) and value == shape


MAX_EFFORT = 300_000_000
"""Largest number of elementary operations for one certificate: a minute or so."""
MAX_PROMPTS = 20_000
"""Largest number of prompts of a scale that are all tried."""
MAX_COMBINATIONS = 1 << 16
"""Largest number of combinations of symbols from which the prompts of a scale are all picked out."""
MAX_REJECTED = 1_000
"""Random combinations of symbols that are drawn for one prompt, on average."""
Column = tuple[int, ...]
"""Tokens at one position, over all sequences: indices into the alphabet."""
Spend = Callable[[int], None]


class GuardedTask:
    """Task with guarded calls, the arity, the mode, and the effort spent so far."""

    def __init__(self, task: Any, arity: int, mode: str) -> None:
        self.task, self.arity, self.mode, self.effort = task, arity, mode, 0
        self.index = {symbol: number for number, symbol in enumerate(task.alphabet)}
        self._layouts: dict[int, list[tuple[str, ...] | None]] = {}

    def spend(self, operations: int) -> None:
        """Count operations. Raise CertificateError if there are more than MAX_EFFORT in all."""
        self.effort += operations
        need(self.effort <= MAX_EFFORT, f"checking it takes more than {MAX_EFFORT:,} operations")

    def ask(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Return the answer of one of the task's functions. Raise CertificateError if it fails."""
        try:
            return function(*arguments)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise CertificateError(f"certificate: the task fails on {str(arguments)[:80]}: {reason}") from error

    def layout(self, scale: int) -> list[tuple[str, ...] | None]:
        """Return the symbols allowed at each position of a prompt of a scale; None at a place of an output."""
        if scale not in self._layouts:
            self._layouts[scale] = self.ask(
                lambda n: [None if each is ... else tuple(dict.fromkeys(each)) for each in self.task.prompt(n)], scale
            )
        return self._layouts[scale]

    def allowed(self, scale: int) -> list[tuple[str, ...]]:
        """Return the symbols allowed at each prompt token of a scale."""
        return [symbols for symbols in self.layout(scale) if symbols is not None]

    def is_valid(self, prompt: tuple[str, ...]) -> bool:
        """True if the task calls a combination of allowed symbols a prompt."""
        return self.task.valid is None or self.ask(self.task.valid, prompt) is True

    def is_prompt(self, scale: int, prompt: tuple[str, ...]) -> bool:
        """True if symbols are a prompt of a scale."""
        allowed = self.allowed(scale)
        fitting = len(prompt) == len(allowed) and all(s in symbols for s, symbols in zip(prompt, allowed, strict=True))
        return fitting and self.is_valid(prompt)

    def every_prompt(self, scale: int) -> list[tuple[str, ...]] | None:
        """Return all prompts of a scale; None if there are more than MAX_PROMPTS, or too many combinations to try."""
        allowed = self.allowed(scale)
        count = math.prod(map(len, allowed))
        if count > (MAX_PROMPTS if self.task.valid is None else MAX_COMBINATIONS):
            return None
        self.spend(count)
        prompts = [prompt for prompt in itertools.product(*allowed) if self.is_valid(prompt)]
        need(prompts, f"scale {scale} has no prompt")
        return prompts if len(prompts) <= MAX_PROMPTS else None

    def random_prompts(self, scale: int, count: int, seed: int) -> list[tuple[str, ...]]:
        """Return random prompts of a scale, drawn by the task if it says how."""
        rng = random.Random(f"{seed}, scale {scale}")
        if self.task.draw is not None:
            drawn = [tuple(self.ask(self.task.draw, scale, rng)) for _ in range(count)]
            need(all(self.is_prompt(scale, prompt) for prompt in drawn), f"the task draws no prompt of scale {scale}")
            return drawn
        allowed = self.allowed(scale)
        prompts: list[tuple[str, ...]] = []
        for _ in range(count * MAX_REJECTED):
            prompt = tuple(map(rng.choice, allowed))
            prompts += [prompt] if self.is_valid(prompt) else []
            if len(prompts) == count:
                return prompts
        raise CertificateError(f"certificate: hardly any combination of symbols is a prompt of scale {scale}")

    def sequence(self, scale: int, prompt: tuple[str, ...]) -> tuple[int, ...]:
        """Return a prompt and its output, each symbol at its position, as indices into the alphabet."""
        output = self.ask(lambda symbols: tuple(map(str, self.task.generate(symbols))), prompt)
        end, layout = self.task.end, self.layout(scale)
        ends = end is None or (output[-1:] == (end,) and output.count(end) == 1 and None not in layout)
        need(ends, f"an output of scale {scale} has no end, or more than one")
        need(len(output) >= layout.count(None), f"an output of scale {scale} is shorter than its places in the prompt")
        given, outputs = iter(prompt), iter(output)
        symbols = [next(outputs) if allowed is None else next(given) for allowed in layout]
        return tuple(self.ask(lambda every: tuple(map(self.index.__getitem__, every)), (*symbols, *outputs)))

    def step_positions(self, scale: int, length: int) -> list[int]:
        """Return the positions of generated symbols, from 1, of the sequences of a scale and a length."""
        layout = self.layout(scale)
        return [p for p in range(1, length + 1) if p > len(layout) or layout[p - 1] is None]

    def reference_steps(self, scale: int) -> Any:
        """Return operator name and argument positions (1-based) of every step of the reference circuit."""
        need(self.task.reference is not None, "the task has no reference circuit")
        return self.ask(lambda n: [(name, tuple(places)) for name, places in self.task.reference.steps(n)], scale)

    def declared(self, scale: int, step: int, before: int) -> Any:
        """Return the reference circuit's argument positions of a step (0-based) with `before` positions before it."""
        steps = self.reference_steps(scale)
        need(step < len(steps) and fits(list(steps[step][1]), [range(1, before + 1)]), "the reference lacks a step")
        need(len(steps[step][1]) == self.arity, "mode declared needs the reference's own arity")
        return steps[step][1]


def determine(columns: Sequence[Column], output: Column) -> bool:
    """True if the output is a function of the columns."""
    pairs = set(zip(*columns, output, strict=True))
    return len({pair[:-1] for pair in pairs}) == len(pairs)
