"""Depth hierarchy of arXiv 2506.16055: the layers that a model without positions needs for alternating blocks.

L_k is the language of words of k blocks of two letters in turn: aa*, aa*bb*, aa*bb*aa*, ... To predict which prefixes
of its words are in L_k takes C-RASP programs of depth k - 2, and no less, for k above 3 [P, corollary on prediction;
its proof in appendix C.4].
"""

from lengthgen.circuits.languages.regular import Automaton
from lengthgen.circuits.theories.kinds import NONE, encoding_name
from lengthgen.circuits.theories.theory import Guess, Question, Theory, abstain, no, yes

LAYERS = 4
"""Largest number of layers of the published models: those of arXiv 2410.02140 were chosen among 1, 2 and 4 layers. A
question does not name its layers, so this reading is ours ([F])."""


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


def guess(question: Question) -> Guess:
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


THEORY = Theory(
    name="depth",
    title="depth",
    statement="Without positions a Transformer learns L_k, words of k alternating blocks, iff it has at least k - 2 "
    "layers.",
    label="P",
    source="2506.16055",
    domain=f"the family L_k with no positions; models are taken to have up to {LAYERS} layers",
    guess=guess,
)
