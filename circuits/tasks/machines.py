"""Named tasks as finite-state transducers, for proofs at all scales (`lengthgen.circuits.questions.all_scales`)."""

from collections.abc import Callable

from lengthgen.circuits.transducer import State, Transducer


def counter(base: int = 5) -> Transducer:
    """Return the machine of the task `counter`: its state is the sum so far, modulo the base."""
    return _running_sum("counter", base)


def parity() -> Transducer:
    """Return the machine of the task `parity`: its state is the parity so far."""
    return _running_sum("parity", 2)


def copy(base: int = 2) -> Transducer:
    """Return the machine of the task `copy`, which has one state."""
    digits = _digits(base)
    return Transducer(name="copy", inputs=digits, start=0, step={(0, digit): (0, digit) for digit in digits})


def _running_sum(name: str, base: int) -> Transducer:
    """Return the machine of running sums modulo the base."""
    step: dict[tuple[State, str], tuple[State, str]] = {
        (state, str(digit)): ((state + digit) % base, str((state + digit) % base))
        for state in range(base)
        for digit in range(base)
    }
    return Transducer(name=name, inputs=_digits(base), start=0, step=step)


def _digits(base: int) -> tuple[str, ...]:
    return tuple(str(digit) for digit in range(base))


MACHINES: dict[str, Callable[..., Transducer]] = {"parity": parity, "counter": counter, "copy": copy}
"""Named tasks that are transducers, by name."""
