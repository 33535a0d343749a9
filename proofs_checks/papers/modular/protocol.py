"""The released protocol: pairs, their text and label, and the split of a seed."""

from random import Random

from proofs_checks.claim import Source

Pair = tuple[int, int]

MODULUS = 97
PAIRS: tuple[Pair, ...] = tuple((a, b) for a in range(MODULUS) for b in range(MODULUS))
SEEDS = (42, 43, 44)


def source(place: str) -> Source:
    """A place in the paper or in what was released with it."""
    return Source(
        paper="Mitigating Position-Shift Failures in Text-Based Modular Arithmetic", arxiv="2601.04283", place=place
    )


def text(pair: Pair) -> str:
    """The expression as the model reads it; fillers and templates around it hold no digit and no plus sign."""
    return f"{pair[0]} + {pair[1]}"


def label(pair: Pair) -> int:
    """The class to predict."""
    return sum(pair) % MODULUS


def split(seed: int) -> tuple[list[Pair], list[Pair]]:
    """Training and test pairs: the released script seeds Python's random with the seed, shuffles and cuts in half."""
    shuffled = list(PAIRS)
    Random(seed).shuffle(shuffled)
    half = len(shuffled) // 2
    return shuffled[:half], shuffled[half:]
