"""Small copies of questions about long inputs: the same question at scales that a search for circuits reaches ([F]).

Circuits are found on all prompts of a scale, or a sample of them, so a question on long inputs is asked at small ones:
the largest scale of training becomes that of the recorded runs, and the test keeps its ratio to it as far as scales are
analysed.  What changes first at a length between the two is answered wrongly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LARGEST = 30
"""Largest tested scale that is analysed; a question beyond it is answered by its copy."""
TRAINED = 5
"""Largest scale of training of a copy, that of the runs that a forecast counts."""


@dataclass(frozen=True, kw_only=True)
class Copy:
    """Scales at which a question is answered.

    Attributes:
        train, test: scales of training and of the test.
        exact: True if these are the scales of the question.
        factor: number of scales of the question for one scale here.
    """

    train: tuple[int, ...]
    test: tuple[int, ...]
    exact: bool = True
    factor: float = 1

    @property
    def words(self) -> str:
        """Both ranges, such as "1-5 and 1-15"."""
        return " and ".join(f"{scales[0]}-{scales[-1]}" for scales in (self.train, self.test))


def copy_of(train: Sequence[int], test: Sequence[int], trained: int = TRAINED) -> Copy:
    """Return the scales at which a question is answered: its own up to LARGEST, else those of its copy.

    Args:
        train: scales of training, ascending.
        test: scales of the test, ascending; the last one is larger than those of training.
        trained: largest scale of training of a copy.
    """
    if test[-1] <= LARGEST:
        return Copy(train=tuple(train), test=tuple(test))
    trained = min(trained, train[-1])
    factor = train[-1] / trained
    tested = min(LARGEST, max(trained + 1, round(test[-1] / factor)))
    first, first_tested = (max(1, round(scales[0] / factor)) for scales in (train, test))
    return Copy(
        train=tuple(range(min(first, trained), trained + 1)),
        test=tuple(range(min(first_tested, tested), tested + 1)),
        exact=False,
        factor=factor,
    )
