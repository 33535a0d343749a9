"""Task of a certificate as the checker calls it: every call is guarded, and the effort is counted."""

from collections.abc import Callable, Sequence
from typing import Any

from circuits.checker.shape import CertificateError, fits, need

MAX_EFFORT = 300_000_000
"""Largest number of elementary operations for one certificate: a minute or so."""
Column = tuple[int, ...]
"""Tokens at one position, over all sequences: indices into the alphabet."""
Spend = Callable[[int], None]


class GuardedTask:
    """Task with guarded calls, the arity, the mode, and the effort spent so far."""

    def __init__(self, task: Any, arity: int, mode: str) -> None:
        self.task, self.arity, self.mode, self.effort = task, arity, mode, 0
        self.index = {symbol: number for number, symbol in enumerate(task.alphabet)}

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

    def allowed(self, scale: int) -> Any:
        """Return the symbols allowed at each prompt position of a scale."""
        return self.ask(lambda n: [tuple(dict.fromkeys(symbols)) for symbols in self.task.prompt(n)], scale)

    def sequence(self, prompt: tuple[str, ...]) -> Any:
        """Return a prompt and its appended symbols, as indices into the alphabet."""
        return self.ask(lambda symbols: tuple(self.index[s] for s in (*symbols, *self.task.generate(symbols))), prompt)

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
