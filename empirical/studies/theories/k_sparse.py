"""k-sparse dependency with locality, arXiv 2502.16792: tasks generalize whose tokens depend on few near tokens."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.determining import determining_sets
from lengthgen.circuits.src import MAX_ARITY
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.trace import Trace, trace
from lengthgen.empirical.studies.theories.rival import COUPLED, Guess, Question, Theory, abstain, encoding_name, no, yes

TRAIN, TEST = 5, 10
"""Scales that stand for those of training and test ([F])."""
STEPS = 1_000_000_000
"""Counted steps after which the search for the dependencies of a task ends; a few seconds."""


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """Earlier tokens that determine the tokens of a task, at the scales that stand for training and test.

    Attributes:
        sparsity: the least k such that k earlier tokens determine each token at the scales of training; None if more
            than `MAX_ARITY` are needed, which is not few.
        distance: the least d such that k of the last d tokens determine each token at the scales of training.
        more_at: first scale of the test at which k tokens do not determine some token; None if there is none.
        farther_at: first scale of the test at which k of the last d tokens do not; None if there is none.
    """

    sparsity: int | None
    distance: int
    more_at: int | None
    farther_at: int | None


class NoDependencies(Exception):
    """Raised if the dependencies of a task cannot be computed; the message says why."""


def nearest_sets(scale_trace: Trace, sparsity: int, clock: Clock) -> list[int] | None:
    """Return for each step the least d such that some `sparsity` of the last d tokens determine it.

    None if so few tokens do not determine some step.

    Raises:
        NoDependencies: a step has more determining sets than are searched, so that the nearest may be missing.
    """
    distances = []
    for position in scale_trace.steps:
        sets, complete = determining_sets(scale_trace, position, sparsity, clock)
        if not sets and complete:
            return None
        if not complete:
            raise NoDependencies(f"too many sets of tokens determine token {position} of scale {scale_trace.scale}")
        distances.append(min(position - min(tokens, default=position) for tokens in sets))
    return distances


@cache
def dependencies(build: Callable[[], Task]) -> Dependencies | str:
    """Return the dependencies of the task that a function builds, or why there are none."""
    clock = Clock(steps=STEPS)
    try:
        task = build()
        traces = [trace(task, scale) for scale in range(1, TEST + 1)]
        sparsity = 1
        while any(nearest_sets(each, sparsity, clock) is None for each in traces[:TRAIN]):
            sparsity += 1
            if sparsity > MAX_ARITY:
                return Dependencies(sparsity=None, distance=0, more_at=None, farther_at=None)
        by_scale = {each.scale: nearest_sets(each, sparsity, clock) for each in traces}
    except (TaskError, OutOfTime, NoDependencies) as error:
        return f"the dependencies up to scale {TEST} cannot be computed: {error}"
    distance = max(max(by_scale[scale] or [0]) for scale in range(1, TRAIN + 1))
    tested = {scale: by_scale[scale] for scale in range(TRAIN + 1, TEST + 1)}
    return Dependencies(
        sparsity=sparsity,
        distance=distance,
        more_at=next((scale for scale, distances in tested.items() if distances is None), None),
        farther_at=next((scale for scale, distances in tested.items() if max(distances or [0]) > distance), None),
    )


def guess(question: Question) -> Guess:
    """Return yes iff the tokens of the test depend on as few and, unless positions are coupled, as near tokens.

    If this fails at the first scale after those of training, the length after the asked training length breaks.
    """
    if question.subject.task is None:
        return abstain(f"the dependencies of the task are unknown: {question.subject.why_not}")
    answer = dependencies(question.subject.task)
    if isinstance(answer, str):
        return abstain(answer)
    if answer.sparsity is None:
        return no(f"up to scale {TRAIN} some token depends on more than {MAX_ARITY} tokens")
    tokens = "1 earlier token" if answer.sparsity == 1 else f"{answer.sparsity} earlier tokens"
    few = f"up to scale {TRAIN} each token depends on at most {tokens}"
    near = f"{few}, none more than {answer.distance} back"
    if answer.more_at is not None:
        return no(f"{few}, but not at scale {answer.more_at}", breaks_at=_length(answer.more_at, question))
    if encoding_name(question.encoding) in COUPLED:
        return yes(f"{few}, and so up to scale {TEST}; coupled positions make them near")
    if answer.farther_at is not None:
        return no(f"{near}, but not at scale {answer.farther_at}", breaks_at=_length(answer.farther_at, question))
    return yes(f"{near}, and so up to scale {TEST}")


def _length(scale: int, question: Question) -> int | None:
    """Return the length that breaks if the task changes at this scale; only the first after training is sure."""
    return question.train + 1 if scale == TRAIN + 1 else None


K_SPARSE = Theory(
    name="k-sparse",
    title="k-sparse and local",
    statement="A task generalizes if each token depends on at most k earlier tokens and, unless positions are coupled, "
    "these are near.",
    label="P",
    source="2502.16792",
    domain=f"tasks that can be computed with here, any encoding. Scales {TRAIN} and {TEST} stand for the lengths of "
    "training and test, and few and near is what holds for training; that other tasks fail is our reading.",
    guess=guess,
)
