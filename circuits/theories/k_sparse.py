"""k-sparse dependency with locality, arXiv 2502.16792: tokens that depend on few near tokens generalize."""

from dataclasses import dataclass
from functools import cache

from circuits.clock import Clock, OutOfTime
from circuits.task import TaskError
from circuits.tasks.published.subject import Subject
from circuits.theories.kinds import COUPLED, encoding_name
from circuits.theories.theory import Guess, Question, Theory, abstain, no, yes
from circuits.trace import Trace, trace
from circuits.wirings import determining_sets

MOST = 4
"""Largest number k of tokens that counts as few ([F]; the theory asks for some fixed k)."""
TRAIN, TEST = 4, 8
"""Scales that stand for those of training and test ([F])."""
STEPS = 1_000_000_000
"""Counted steps after which the search for the dependencies of a task ends; a few seconds."""


@dataclass(frozen=True, kw_only=True)
class Dependency:
    """Dependencies of all tokens of one scale.

    Attributes:
        sparsity: the least k such that k earlier tokens determine each token; None if some token needs more than MOST.
        distance: the least d such that at most MOST of the last d tokens determine each token; None likewise.
    """

    sparsity: int | None
    distance: int | None


class TooManySets(Exception):
    """Raised if a token has more sets of determining tokens than are searched, so that the nearest may be missing."""


def dependency(scale_trace: Trace, clock: Clock) -> Dependency:
    """Return the dependencies of all tokens of a trace.

    Raises:
        OutOfTime: the clock's limit has passed.
        TooManySets: as the exception says.
    """
    sparsity = distance = 0
    for position in scale_trace.steps:
        sets, complete = determining_sets(scale_trace, position, MOST, clock)
        if not complete:
            raise TooManySets
        if not sets:
            return Dependency(sparsity=None, distance=None)
        sparsity = max(sparsity, min(map(len, sets)))
        distance = max(distance, min(position - min(tokens, default=position) for tokens in sets))
    return Dependency(sparsity=sparsity, distance=distance)


@cache
def dependencies(subject: Subject) -> dict[int, Dependency] | str:
    """Return scale -> dependencies for the scales up to TEST, or why they could not be computed."""
    if subject.task is None:
        return f"the task is not expressible here: {subject.why_not}"
    clock = Clock(steps=STEPS)
    by_scale: dict[int, Dependency] = {}
    try:
        task = subject.task()
        for scale in range(1, TEST + 1):
            by_scale[scale] = dependency(trace(task, scale), clock)
            if by_scale[scale].sparsity is None:
                break
    except OutOfTime as stopped:
        return f"the search for dependencies was too large: {stopped}"
    except TooManySets:
        return "a token has too many sets of tokens that determine it"
    except TaskError as error:
        return f"the task has no scales 1 to {TEST}: {error}"
    return by_scale


def guess(question: Question) -> Guess:
    """Return yes iff the dependencies at the scales that stand for training are those at the tested ones.

    Positions that are coupled by their role need few dependencies only; all others also need near ones [P].
    """
    by_scale = dependencies(question.subject)
    if isinstance(by_scale, str):
        return abstain(by_scale)
    for scale, at_scale in by_scale.items():
        if at_scale.sparsity is None:
            reason = f"at scale {scale} some token depends on more than {MOST} earlier tokens"
            return no(reason, breaks_at=question.train + 1 if scale == TRAIN + 1 else None)
    if encoding_name(question.encoding) in COUPLED:
        return yes(f"each token depends on at most {MOST} earlier tokens, and coupled positions make them near")
    trained = max(by_scale[scale].distance or 0 for scale in range(1, TRAIN + 1))
    for scale in range(TRAIN + 1, TEST + 1):
        distance = by_scale[scale].distance or 0
        if distance > trained:
            reason = f"dependencies reach back {trained} tokens up to scale {TRAIN}, but {distance} at scale {scale}"
            return no(reason, breaks_at=question.train + 1 if scale == TRAIN + 1 else None)
    return yes(f"each token depends on at most {MOST} of the {trained} tokens before it, at all scales up to {TEST}")


THEORY = Theory(
    name="k-sparse",
    title="k-sparse and local",
    statement="A task generalizes if each token depends on at most k earlier tokens and, unless positions are coupled, "
    "these are near.",
    label="P",
    source="2502.16792",
    domain=f"tasks that can be computed with here, any encoding. Scales {TRAIN} and {TEST} stand for the lengths of "
    f"training and test, and k is at most {MOST}; that other tasks fail is our reading.",
    guess=guess,
)
