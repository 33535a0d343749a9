"""Theory of arXiv 2410.02140: a task generalizes iff a C-RASP program for it exists."""

from lengthgen.circuits.languages.c_rasp import decide
from lengthgen.circuits.languages.c_rasp_positions import decide_with_positions
from lengthgen.circuits.theories.cited import classification
from lengthgen.circuits.theories.kinds import LEARNED_ABSOLUTE, NONE, encoding_name
from lengthgen.circuits.theories.theory import Guess, Question, Theory, abstain, no, yes

NAME = "c-rasp"


def guess(question: Question) -> Guess:
    """Return the answer of C-RASP to a question.

    Regular languages are decided: for NoPE as arXiv 2608.13433 proves (Lemma 84), for learned absolute codes by our own
    two proofs ([F], `lengthgen.circuits.languages.c_rasp_positions`). The models name the symbols that may follow,
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
    authors = classification(NAME)
    answers = authors.answers[kind]
    if subject.arxiv == authors.arxiv and subject.name in answers:
        answer = yes if answers[subject.name] else no
        verb = "found a" if answers[subject.name] else "found no"
        return answer(f"the authors {verb} program in {programs} (arXiv {authors.arxiv})")
    if automaton is not None:
        return abstain(f"membership in {programs} is undecided: {decision.why}")
    return abstain("the task is no regular language, and the authors do not classify it")


THEORY = Theory(
    name=NAME,
    title="C-RASP",
    statement="Transformers without positions generalize iff the task is in C-RASP[], those with learned absolute "
    "positions iff it is in C-RASP[periodic, local].",
    label="P",
    source="2410.02140",
    domain="regular languages, by a decision, and tasks that the authors classify; no positions and learned absolute "
    "ones. A program must count a symbol to read it, even the last one (arXiv 2608.13433, appendix J).",
    guess=guess,
)
