"""Theories of programs that Transformers learn: C-RASP, its hierarchy of depth, and RASP-L.

C-RASP (arXiv 2410.02140): a task generalizes iff a C-RASP program for it exists.

Depth (arXiv 2506.16055): the layers that a model without positions needs for alternating blocks. L_k is the language of
words of k blocks of two letters in turn: aa*, aa*bb*, aa*bb*aa*, ... To predict which prefixes of its words are in L_k
takes C-RASP programs of depth k - 2, and no less, for k above 3 [P, corollary on prediction; its proof in appendix
C.4].

RASP-L (arXiv 2310.16028): tasks with a short RASP-L program for all lengths generalize.

Where no program decides, the authors' own classification of tasks does (cited.toml).
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lengthgen.circuits.languages.regular import Automaton
from lengthgen.circuits.task import Task, TaskError
from lengthgen.empirical.studies.theories.c_rasp import decide
from lengthgen.empirical.studies.theories.c_rasp_positions import decide_with_positions
from lengthgen.empirical.studies.theories.rasp_l_programs import HEADS, TESTS, examples, features, program
from lengthgen.empirical.studies.theories.rival import (
    LEARNED_ABSOLUTE,
    NONE,
    Guess,
    Question,
    Theory,
    abstain,
    encoding_name,
    no,
    yes,
)

FILE = Path(__file__).with_name("cited.toml")
C_RASP_NAME, RASP_L_NAME = "c-rasp", "rasp-l"
LAYERS = 4
"""Largest number of layers of the published models: those of arXiv 2410.02140 were chosen among 1, 2 and 4 layers. A
question does not name its layers, so this reading is ours ([F])."""


@dataclass(frozen=True, kw_only=True)
class Classification:
    """Answers of one theory's authors.

    Attributes:
        arxiv: the paper.
        place: where it gives them.
        answers: kind of encoding ("any" for all) -> name of a published task -> the answer, yes or no.
    """

    arxiv: str
    place: str
    answers: Mapping[str, Mapping[str, bool]]


@cache
def classification(theory: str) -> Classification:
    """Return what the authors of the named theory say of tasks."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))[theory]
    answers = {kind: by_task for kind, by_task in table.items() if isinstance(by_task, dict)}
    return Classification(arxiv=table["arxiv"], place=table["place"], answers=answers)


def guess_by_c_rasp(question: Question) -> Guess:
    """Return the answer of C-RASP to a question.

    Regular languages are decided: for NoPE as arXiv 2608.13433 proves (Lemma 84), for learned absolute codes by our own
    two proofs ([F], `c_rasp_positions`). The models name the symbols that may follow,
    which is read as following the states of the automaton ([F]). Other tasks are answered as the authors classify them.
    """
    encoding, subject = encoding_name(question.encoding), question.subject
    if encoding in NONE:
        kind, programs, decision_of = "nope", "C-RASP[]", decide
    elif encoding in LEARNED_ABSOLUTE:
        kind, programs, decision_of = "ape", "C-RASP[periodic, local]", decide_with_positions
    else:
        return abstain(f"the theory is about no positions and learned absolute positions, not about {encoding}")
    if (automaton := subject.automaton) is not None:
        decision = decision_of(automaton)
        if decision.c_rasp is not None:
            answer = yes if decision.c_rasp else no
            return answer(f"the language is {'' if decision.c_rasp else 'not '}in {programs}: {decision.why}")
    authors = classification(C_RASP_NAME)
    answers = authors.answers[kind]
    if subject.arxiv == authors.arxiv and subject.name in answers:
        answer = yes if answers[subject.name] else no
        verb = "found a" if answers[subject.name] else "found no"
        return answer(f"the authors {verb} program in {programs} (arXiv {authors.arxiv})")
    if automaton is not None:
        return abstain(f"membership in {programs} is undecided: {decision.why}")
    return abstain("the task is no regular language, and the authors do not classify it")


C_RASP = Theory(
    name=C_RASP_NAME,
    title="C-RASP",
    statement="Transformers without positions generalize iff the task is in C-RASP[], those with learned absolute "
    "positions iff it is in C-RASP[periodic, local].",
    label="P",
    source="2410.02140",
    domain="regular languages, by a decision, and tasks that the authors classify; no positions and learned absolute "
    "ones. A program must count a symbol to read it, even the last one (arXiv 2608.13433, appendix J).",
    guess=guess_by_c_rasp,
)


def blocks(automaton: Automaton) -> int | None:
    """Return k if the minimal automaton is that of L_k, over any two letters (any one for k = 1); None otherwise."""
    last = automaton.states - 1
    first = [symbol for symbol in automaton.symbols if (0, symbol) in automaton.step]
    if last < 1 or len(first) != 1 or len(automaton.symbols) != min(last, 2):
        return None
    letters = [*first, *(symbol for symbol in automaton.symbols if symbol not in first)]
    step = {(0, letters[0]): 1}
    for block in range(1, last + 1):
        step[block, letters[(block - 1) % 2]] = block
        if block < last:
            step[block, letters[block % 2]] = block + 1
    return last if dict(automaton.step) == step and automaton.accepting == {last} else None


def layers_needed(count: int) -> int:
    """Return the depth of a C-RASP program that predicts L_k for k = `count` blocks: k - 2, or 0 if that is less."""
    return max(0, count - 2)


def guess_by_depth(question: Question) -> Guess:
    """Return yes iff the published models have as many layers as the language needs."""
    if encoding_name(question.encoding) not in NONE:
        return abstain("the family was proved and tested for models without positions")
    automaton = question.subject.automaton
    count = None if automaton is None else blocks(automaton)
    if count is None:
        return abstain("the task is not in the family L_k of alternating blocks")
    needed = layers_needed(count)
    reason = f"{count} alternating blocks take {needed} layers, and the models had up to {LAYERS}"
    return yes(reason) if needed <= LAYERS else no(reason)


DEPTH = Theory(
    name="depth",
    title="depth",
    statement="Without positions a Transformer learns L_k, words of k alternating blocks, iff it has at least k - 2 "
    "layers.",
    label="P",
    source="2506.16055",
    domain=f"the family L_k with no positions; models are taken to have up to {LAYERS} layers",
    guess=guess_by_depth,
)


@cache
def shortest_program(build: Callable[[], Task]) -> tuple[str, ...] | str | None:
    """Return the features of a program for the task that a function builds; None if none is right, or why not tried."""
    try:
        sample = examples(build())
    except TaskError as error:
        return f"programs cannot be tried: {error}"
    return program(sample, features(sample))


def guess_by_rasp_l(question: Question) -> Guess:
    """Return the authors' answer, or yes if a program was found; the encoding does not matter.

    That a search finds no program says little, since the conjecture does not say how short is short enough ([F]).
    """
    authors, subject = classification(RASP_L_NAME), question.subject
    answer = authors.answers["any"].get(subject.name)
    if answer is not None:
        verb = "give a short" if answer else "know of no short"
        return (yes if answer else no)(f"the authors {verb} RASP-L program (arXiv {authors.arxiv})")
    if subject.task is None:
        return abstain(f"the authors do not classify the task, and no program can be tried: {subject.why_not}")
    found_program = shortest_program(subject.task)
    if isinstance(found_program, str):
        return abstain(found_program)
    if found_program is None:
        return abstain(f"the authors do not classify the task, and no program of {HEADS} features was found")
    parts = ", ".join(["the last token", *found_program])
    return yes(f"a program was found, which is right at scales up to {TESTS[-1]}: a table of {parts}")


RASP_L = Theory(
    name=RASP_L_NAME,
    title="RASP-L",
    statement="Transformers tend to generalize if a short RASP-L program solves the task at all lengths.",
    label="P",
    source="2310.16028",
    domain="tasks that the authors classify, and tasks for which enumeration finds a program, with any encoding; that "
    "tasks without a short program fail is read from the authors' examples",
    guess=guess_by_rasp_l,
)
