"""Theories that contradict each other, and what the min-degree interpolator learns of one distance."""

from collections.abc import Callable
from functools import partial

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.published.subjects import Subject
from lengthgen.empirical.studies.theories import by_encoding, k_sparse, rasp
from lengthgen.empirical.studies.theories.rival import Question
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.plaa import SOURCE as MIN_DEGREE
from lengthgen.proofs_checks.papers.theories.c_rasp import C_RASP
from lengthgen.proofs_checks.papers.theories.rivals import Build, answer

SIZE = 5


def seen_symbol() -> Task:
    """Return the task that writes after n bits if a 1 is among them."""
    return Task(
        name="seen",
        alphabet=("0", "1", "="),
        prompt=lambda n: [*[("0", "1")] * n, ("=",)],
        generate=lambda text: [max(text[:-1])],
    )


_PARITY = ("(b*ab*a)*b*", partial(load, "parity-online"))
CLAIMS = PaperClaims(C_RASP)


@CLAIMS.claim(
    "rival-disagreement",
    "against arXiv 2502.16792; the examples are ours",
    r"\Sigma^* a \Sigma^* \in \text{C-RASP}, \quad (b^* a b^* a)^* b^* \notin \text{C-RASP}",
    strength=Strength.EXHAUSTIVE,
    reach=f"scales up to {k_sparse.TEST}",
    falsifiers={
        "parity at once": {"carried": ("(b*ab*a)*b*", partial(load, "parity-direct"))},
        "the same language twice": {"counted": _PARITY},
        "the last symbol": {"counted": ("(a+b)*b", seen_symbol)},
    },
)
def theories_differ(
    counted: tuple[str, Build] = ("(a+b)*a(a+b)*", seen_symbol), carried: tuple[str, Build] = _PARITY
) -> Facts:
    """C-RASP and k-sparse contradict each other both ways without positions: whether a symbol was seen can be counted
    but depends on all tokens, and parity that is written after each symbol depends on two and cannot be counted, at
    scales up to 10.
    """
    for (language, build), wanted in ((counted, True), (carried, False)):
        subject = Subject(name="task", words="", arxiv="", task=build, language=language)
        answers = answer(rasp.guess_by_c_rasp, "nope", subject), answer(k_sparse.guess, "nope", subject)
        if answers != (wanted, not wanted):
            raise Refuted(f"{language} without positions: C-RASP says {answers[0]}, k-sparse {answers[1]}")
    yield f"C-RASP yes, k-sparse no: {counted[0]}"
    yield f"C-RASP no, k-sparse yes: {carried[0]}"


def learned_bands(encoding: str, generalizes: Callable[[int, int], bool]) -> Facts:
    """Decide for which distances d and training lengths N0 the interpolator learns the pattern j - i = d.

    `encoding` is the one whose patterns are combined; `generalizes` takes d and N0, for the length SIZE.
    """
    cells = [(distance, train) for distance in range(SIZE) for train in range(1, SIZE)]
    for distance, train in cells:
        subject = by_encoding.pattern_subject(f"1 if j - i == {distance} else 0")
        question = Question(subject=subject, encoding=encoding, train=train, test=SIZE)
        probability = by_encoding.guess_by_min_degree(question).probability
        if probability is None or (probability > 1 / 2) is not generalizes(distance, train):
            raise Refuted(f"{encoding}, distance {distance}, trained to {train}: the interpolator says {probability}")
    yield f"{len(cells)} pairs of a distance, 0 to {SIZE - 1}, and a training length"


_min_degree = partial(
    CLAIMS.claim,
    at=MIN_DEGREE.at("the min-degree interpolator; the pattern is ours"),
    strength=Strength.EXHAUSTIVE,
    reach=f"length {SIZE}",
)
_min_degree(
    "rival-min-degree-relative",
    latex=r"[j - i = d] \text{ is learned from lengths} \le N_0 \iff d < N_0\quad(0 \le d < N)",
    statement="With relative positions the min-degree interpolator learns the pattern of one distance, 0 to "
    f"{SIZE - 1}, iff training shows the distance: tested at length {SIZE}, trained on lengths up to 1 .. {SIZE - 1}.",
    holds={"encoding": "rpe", "generalizes": lambda distance, train: distance < train},
    falsifiers={
        "one length earlier": {"generalizes": lambda distance, train: distance <= train},
        "one length later": {"generalizes": lambda distance, train: distance + 1 < train},
        "absolute positions": {"encoding": "ape"},
    },
)(learned_bands)
_min_degree(
    "rival-min-degree-absolute",
    latex=r"[j - i = d] \text{ is learned from no } N_0 < N\quad(0 \le d < N)",
    statement="With absolute positions the min-degree interpolator learns the pattern of no distance from 0 to "
    f"{SIZE - 1}, since the last length of the test has codes of its own: tested at length {SIZE}, trained on lengths "
    f"up to 1 .. {SIZE - 1}.",
    holds={"encoding": "ape", "generalizes": lambda distance, train: False},
    falsifiers={
        "relative positions": {"encoding": "rpe"},
        "distances that training shows": {"generalizes": lambda distance, train: distance < train},
    },
)(learned_bands)
