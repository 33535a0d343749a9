"""Rival theories of length generalization: what each says of its own examples, and where they differ."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, product
from operator import eq, gt
from statistics import fmean

from lengthgen.circuits.languages.regular import Automaton, minimal_automaton
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.published.formal_languages import LANGUAGES
from lengthgen.circuits.tasks.published.subjects import SUBJECTS, Subject
from lengthgen.empirical.studies.court.published.load import huang_predictions, published_cells
from lengthgen.empirical.studies.theories import by_encoding, k_sparse, rasp, rasp_l_programs
from lengthgen.empirical.studies.theories.c_rasp import Decision, decide
from lengthgen.empirical.studies.theories.c_rasp_positions import decide_with_positions
from lengthgen.empirical.studies.theories.rival import Guess, Question
from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach, refute
from lengthgen.proofs_checks.papers.theories.c_rasp import C_RASP, loopless

SPARSE = Source(paper="The Role of Sparsity for Length Generalization in LLMs", arxiv="2502.16792")
ORDER = Source(paper="The Impact of Positional Encoding on Length Generalization in Transformers", arxiv="2305.19466")
RASP_L = Source(paper="What Algorithms can Transformers Learn? A Study in Length Generalization", arxiv="2310.16028")
DEPTH = Source(paper="Knee-Deep in C-RASP: A Transformer Depth Hierarchy", arxiv="2506.16055")
Decide = Callable[[Automaton], Decision]
Build = Callable[[], Task]
LONGEST = 11
BLOCKS = range(3, 7)


def windowed(width: int, *, far: bool = False) -> Build:
    """Return the builder of a task: write n bits, each the parity of the last `width` tokens, or of the first ones."""

    def generate(bits: tuple[str, ...]) -> list[str]:
        text = [int(bit) for bit in bits]
        for _ in bits:
            text.append(sum(text[:width] if far else text[-width:]) % 2)
        return [str(bit) for bit in text[len(bits) :]]

    def build() -> Task:
        return Task(name="windowed", alphabet=("0", "1"), prompt=lambda n: [("0", "1")] * n, generate=generate)

    return build


def answer(theory: Callable[[Question], Guess], encoding: str, subject: Subject) -> bool | None:
    """Return yes, no or None of a theory about one subject."""
    probability = theory(Question(subject=subject, encoding=encoding, train=50, test=100)).probability
    return None if probability is None else probability > 1 / 2


def place(encoding: str) -> float | None:
    """Return the probability that the order of encodings gives to an encoding."""
    subject = Subject(name="task", words="", arxiv="")
    question = Question(subject=subject, encoding=encoding, train=50, test=100)
    return by_encoding.guess_by_order(question).probability


def alternation(count: int) -> str:
    """Return the expression of L_k: k blocks of a and b in turn, a first."""
    return "".join("ab"[block % 2] * 2 + "*" for block in range(count))


def turns(text: str, *, first: str) -> int:
    """Return the length of the longest subsequence of a text that alternates between a and b and begins with a letter.

    Each further letter takes one more count in C-RASP.
    """
    length = 0
    for letter in text:
        length += letter == ("ab" if first == "a" else "ba")[length % 2]
    return length


def _state(automaton: Automaton, text: str) -> int | None:
    """Return the state after a text; None if no word of the language begins so."""
    state: int | None = 0
    for letter in text:
        state = None if state is None else automaton.step.get((state, letter))
    return state


@cache
def _examples(name: str) -> rasp_l_programs.Examples:
    """Return what a published task shows at some scales; the statement and its falsifiers read the same."""
    build = SUBJECTS[name].task
    assert build is not None
    return rasp_l_programs.examples(build(), (*range(1, rasp_l_programs.TRAIN + 1), 6, 8, 10))


_PUBLISHED_ORDER = ("nope", "t5", "alibi", "rope", "sinusoidal")
MEASURED = "kazemnejad2023"
"""Beginning of the names of the results that compare encodings."""
_FAR = (partial(load, "copy"), partial(load, "reverse"), windowed(3, far=True))
CLAIMS = PaperClaims(C_RASP)


@CLAIMS.claim(
    "rival-c-rasp",
    "results figure",
    r"\text{NoPE}: L \in \text{C-RASP}[\,], \quad \text{APE}: L \in \text{C-RASP}[\text{periodic}, \text{local}]",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"{len(LANGUAGES)} regular languages",
    falsifiers={
        "no positions for both": {"decisions": {"nope": decide, "offset-ape": decide}},
        "positions for both": {"decisions": {"nope": decide_with_positions, "offset-ape": decide_with_positions}},
        "loops do not count": {
            "decisions": {"nope": lambda automaton: decide(loopless(automaton)), "offset-ape": decide_with_positions}
        },
    },
)
def authors_agree(decisions: Mapping[str, Decide] = {"nope": decide, "offset-ape": decide_with_positions}) -> Facts:
    """For all 17 regular languages of the paper, C-RASP without positions and with periods and nearby symbols is
    decided as the authors predict for no positions and for learned absolute ones.
    """
    checked = 0
    for (task, encoding), predicted in huang_predictions().items():
        if task not in LANGUAGES or encoding not in decisions:
            continue
        decision = decisions[encoding](minimal_automaton(LANGUAGES[task][0]))
        if decision.c_rasp is not predicted:
            raise Refuted(f"{task} with {encoding}: {decision.c_rasp} as decided, {predicted} as printed")
        checked += 1
    if checked < len(LANGUAGES) * len(decisions):
        raise Refuted(f"only {checked} predictions were found for {len(LANGUAGES)} languages")
    yield f"{checked} predictions of the authors, all as decided"


@CLAIMS.claim(
    "rival-k-sparse",
    SPARSE.at("abstract; the scales are ours"),
    r"\exists k, d\ \forall n: \text{each token depends on} \le k \text{ of the last } d",
    strength=Strength.EXHAUSTIVE,
    reach=f"scales up to {k_sparse.TEST}",
    falsifiers={
        "reverse is near": {"near": (partial(load, "reverse"),)},
        "first tokens are near": {"near": (windowed(3, far=True),)},
        "last tokens are far": {"far": (windowed(3),)},
        "parity depends on few tokens": {"far": (partial(load, "parity-direct"),)},
    },
)
def near_and_few(
    near: Sequence[Build] = (windowed(1), windowed(2), windowed(4), partial(load, "parity-online")),
    far: Sequence[Build] = _FAR,
    many: Sequence[Build] = (partial(load, "parity-direct"), partial(load, "majority-direct")),
) -> Facts:
    """k-sparse says yes to the parity of the last 1, 2 or 4 tokens and to parity written bit by bit, to copy, reverse
    and the parity of the first 3 tokens with ipe and not with rope, and never to parity or majority answered in one
    token: at scales up to 10.
    """
    expected = ((near, {"rope": True, "ipe": True}), (far, {"rope": False, "ipe": True}))
    for builds, answers in (*expected, (many, {"rope": False, "ipe": False})):
        for build in builds:
            subject = Subject(name="task", words="", arxiv="", task=build)
            for encoding, wanted in answers.items():
                if answer(k_sparse.guess, encoding, subject) is not wanted:
                    raise Refuted(f"{build().name} with {encoding}: k-sparse does not say {'yes' if wanted else 'no'}")
    yield f"{len(near)} near tasks, {len(far)} far ones, {len(many)} that depend on all tokens"


@cache
def published_ranks() -> dict[str, list[Fraction]]:
    """Return encoding -> its rank on each published task, 1 for the best on lengths beyond training.

    Equals share the mean of their places. A task counts the mean exact match over its runs and lengths.
    """
    shares: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for cell in published_cells():
        if cell.evidence.startswith(MEASURED):
            beyond = [share for run in cell.runs.values() for at, share in run.items() if at > cell.question.train]
            shares[cell.evidence, cell.task][cell.question.encoding] = fmean(beyond)
    ranks: dict[str, list[Fraction]] = defaultdict(list)
    for of_task in shares.values():
        for encoding, share in of_task.items():
            better, equal = (sum(compare(other, share) for other in of_task.values()) for compare in (gt, eq))
            ranks[encoding].append(Fraction(2 * better + equal + 1, 2))
    return dict(ranks)


@CLAIMS.claim(
    "rival-order",
    ORDER.at("Section 4, mean ranks"),
    r"\overline{\mathrm{rank}}:\ \text{NoPE} < \text{T5} < \text{ALiBi} < \text{rotary} < \text{absolute}",
    label="P",
    strength=Strength.EXHAUSTIVE,
    assumptions=("ranks are ours, from the mean exact match of the published runs on longer inputs",),
    falsifiers={
        "ALiBi before T5": {"order": ("nope", "alibi", "t5", "rope", "sinusoidal")},
        "absolute before rotary": {"order": ("nope", "t5", "alibi", "sinusoidal", "rope")},
        "the reverse": {"order": _PUBLISHED_ORDER[::-1]},
        "the theory puts rotary before ALiBi": {"probability": {"nope": 0.8, "t5": 0.6, "alibi": 0.3, "rope": 0.4}.get},
        "the theory tells none apart": {"probability": dict.fromkeys(_PUBLISHED_ORDER, 0.5).get},
    },
)
def is_order(order: Sequence[str] = _PUBLISHED_ORDER, probability: Callable[[str], float | None] = place) -> Facts:
    """By mean rank over 19 published tasks, NoPE is the best encoding on longer inputs, then T5, ALiBi, rotary and
    absolute positions; the theory `encodings-order` says the same of every task, rotary and absolute alike.
    """
    of_tasks = published_ranks()
    ranks = {encoding: sum(places) / Fraction(len(places)) for encoding, places in of_tasks.items()}
    refute({*order} != {*ranks}, f"ranks are known of {', '.join(sorted(ranks))}")
    for first, second in pairwise(order):
        refute(ranks[first] >= ranks[second], f"{first} has mean rank {ranks[first]}, {second} {ranks[second]}")
    yield ", ".join(f"{encoding} {float(ranks[encoding]):.2f}" for encoding in order)
    *in_turn, last = pairwise(order)
    for first, second in (*in_turn, last):
        before, after = probability(first), probability(second)
        if before is None or after is None or (before != after if (first, second) == last else before <= after):
            raise Refuted(f"{first} has {before}, {second} {after}")
    yield "the theory's probabilities fall in this order, and are equal for the last two"
    yield Reach(f"{len(of_tasks[order[0]])} published tasks")


@CLAIMS.claim(
    "rival-depth",
    DEPTH.at("corollary on prediction, appendix C.4"),
    r"L_k = a^+ b^+ a^+ \cdots \text{ is predicted at depth } k - 2",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"k = {BLOCKS[0]}..{BLOCKS[-1]} and prefixes up to {LONGEST} letters",
    assumptions=(
        "in words: each alternation takes one count of the one before, so m alternations take a program of depth m",
        "that no program of less depth does so is the paper's theorem",
    ),
    falsifiers={
        "depth k - 3": {"depth": lambda count: count - 3},
        "depth k": {"depth": lambda count: count},
        "alternations that begin with a": {"first": "a"},
        "the other letter": {"last": lambda count: "ab"[count % 2]},
    },
)
def predicts(
    depth: Callable[[int], int] = lambda count: count - 2,
    first: str = "b",
    last: Callable[[int], str] = lambda count: "ba"[count % 2],
) -> Facts:
    """A C-RASP program of depth k - 2 tells which prefixes of words of k alternating blocks are such words, by k - 2
    alternations that begin with b and by the last letter: for k = 3..6 and prefixes up to 11 letters.
    """
    checked = 0
    for count in BLOCKS:
        automaton = minimal_automaton(alternation(count))
        refute(rasp.blocks(automaton) != count, f"{alternation(count)} is not recognized as {count} blocks")
        for text in map("".join, (word for size in range(1, LONGEST + 1) for word in product("ab", repeat=size))):
            state = _state(automaton, text)
            if state is None:
                continue
            predicted = turns(text, first=first) >= depth(count) and text[-1] == last(count)
            checked += 1
            if predicted is not (state in automaton.accepting):
                raise Refuted(f"{text} as a prefix of {alternation(count)} is told wrongly")
    yield f"{checked} prefixes told right"


@CLAIMS.claim(
    "rival-rasp-l",
    RASP_L.at("tasks with and without a short program; the fragment of RASP-L is ours"),
    r"\exists F,\ |F|\le2:\ \text{next token} = T(\text{last token}, F)\text{ at each step}",
    strength=Strength.EXHAUSTIVE,
    reach="scales 1 to 6, 8 and 10",
    assumptions=(
        "a program is a table of the last token and of what at most two heads or comparisons of counts read",
        f"at most {rasp_l_programs.PROMPTS} prompts of each scale, evenly spaced in their order",
    ),
    answers=("short", "none"),
    falsifiers={
        "no attention": {"used": lambda feature: False},
        "no token before another": {"used": lambda feature: "before" not in feature},
        "no order of tokens": {"used": lambda feature: "below" not in feature and "above" not in feature},
    },
)
def programs_exist(
    short: Sequence[str] = ("copy_unique", "sort", "count"),
    none: Sequence[str] = ("parity", "copy_repeat", "addition"),
    used: Callable[[str], bool] = lambda feature: True,
) -> Facts:
    """Programs of at most two features are right for the copy of unique tokens, sort and count, and none for the copy
    with repeats, addition and parity, as the authors say: on at most 128 prompts of each of the scales 1 to 6, 8 and
    10.
    """
    for names, wanted in ((short, True), (none, False)):
        for name in names:
            sample = _examples(name)
            values = {feature: read for feature, read in rasp_l_programs.features(sample).items() if used(feature)}
            parts = rasp_l_programs.program(sample, values)
            if (parts is not None) is not wanted:
                raise Refuted(f"{name}: {'no program' if parts is None else 'a program'} was found")
            yield f"{name}: {'no program' if parts is None else ' and '.join(parts) or 'the last token'}"
