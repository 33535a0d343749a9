"""Effects of position on a key far from the query, one case per range of the parameters."""

from dataclasses import dataclass
from enum import StrEnum


class FarField(StrEnum):
    """Effect of position on a key far from the query (or on its weight), with constant content.

    UNIFORM means that the logits of all far keys go to 0, so that these keys have equal weight. SATURATED is for the
    sigmoid only, under which the weight of every far key goes to 1. HIDDEN is for keys beyond a window. UNDEFINED means
    that the score depends on the positions themselves, or on arguments never seen in training, not on the distance
    alone. The other values describe exp(bias), a factor of the weight, or the kernel of the actions, by distance.
    """

    NONE = "no effect"
    FASTER = "falls faster than exponentially"
    EXPONENTIAL = "falls exponentially"
    STRETCHED = "falls slower than exponentially, faster than any power"
    POLYNOMIAL = "falls like a power"
    SLOWER = "falls slower than any power"
    UNIFORM = "logit to 0, all alike"
    CONSTANT = "constant"
    OSCILLATING = "oscillates"
    GROWING = "grows"
    SATURATED = "weight to 1, whatever the content"
    HIDDEN = "no weight"
    UNDEFINED = "the position enters"
    UNDECIDED = "not decided"


FALLING = {FarField.FASTER, FarField.EXPONENTIAL, FarField.STRETCHED, FarField.POLYNOMIAL, FarField.SLOWER}
UNBOUNDED = {*FALLING, FarField.GROWING, FarField.SATURATED}


@dataclass(frozen=True, kw_only=True)
class FarCase:
    """Effect on far keys in one range of the parameters.

    Attributes:
        behaviour: the effect.
        where: the range, in words; empty for the whole range.
    """

    behaviour: FarField
    where: str = ""

    def __str__(self) -> str:
        """Text "range: effect"."""
        return f"{self.where}: {self.behaviour}" if self.where else str(self.behaviour)


Cases = tuple[FarCase, ...]


def cases_text(cases: Cases) -> str:
    """Cases of all ranges in one line."""
    return "; ".join(map(str, cases))


def join_ranges(*names: str) -> str:
    """Join non-empty ranges by commas."""
    return ", ".join(filter(None, names))
