"""C-RASP with periods and nearby symbols: two proofs, and a letter that changes nothing (arXiv 2410.02140)."""

from collections.abc import Callable

from lengthgen.circuits.languages.regular import Automaton
from lengthgen.empirical.studies.theories.c_rasp import decide
from lengthgen.empirical.studies.theories.c_rasp_positions import (
    confused_by,
    confused_states,
    decide_with_positions,
    stable_actions,
    with_positions,
)
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.theories.c_rasp import C_RASP, PROCEDURE, SMALL, small_automata, text
from lengthgen.theory.zero.sympy_engine import Undecided

Proof = Callable[[Automaton], bool]
"""Minimal automaton -> True if there is a proof."""
CLAIMS = PaperClaims(C_RASP)


def proved_in(automaton: Automaton) -> bool:
    """True if some period m and k symbols before each position give a C-RASP program, with m + k at most 4."""
    sizes = ((window, modulus) for window in range(4) for modulus in range(1, 5 - window))
    rewritten = (with_positions(automaton, window=window, modulus=modulus) for window, modulus in sizes)
    return any(other is not None and decide(other).c_rasp for other in rewritten)


def proved_out(automaton: Automaton) -> bool:
    """True if words of one length that begin and end alike confuse two states."""
    return confused_states(automaton) is not None


def out_by_any_words(automaton: Automaton) -> bool:
    """True if C-RASP cannot follow the states over the letters themselves, which have one length but differ nearby."""
    return decide(automaton).c_rasp is False


def out_by_words_of_any_length(automaton: Automaton) -> bool:
    """True if words that begin and end alike confuse two states; their lengths may differ, so a period may help."""
    actions = stable_actions(with_neutral_letter(automaton))
    return actions is not None and confused_by(actions) is not None


def with_neutral_letter(automaton: Automaton) -> Automaton:
    """Return the automaton with one more letter that changes no state."""
    idle = {(state, "z"): state for state in range(automaton.states)}
    return Automaton(symbols=(*automaton.symbols, "z"), step={**automaton.step, **idle}, accepting=automaton.accepting)


@CLAIMS.claim(
    "c-rasp-positions",
    "Section 4; the decision is ours",
    r"L \in \text{C-RASP}[\text{periodic}, \text{local}] \iff \exists m, k:\ L^{(m, k)} \in \text{C-RASP}",
    strength=Strength.EXHAUSTIVE,
    reach=SMALL,
    assumptions=(PROCEDURE,),
    falsifiers={
        "words that differ nearby": {"outside": out_by_any_words},
        "words of different lengths": {"outside": out_by_words_of_any_length},
        "no positions": {"inside": lambda automaton: decide(automaton).c_rasp is True},
    },
)
def exclusive(inside: Proof = proved_in, outside: Proof = proved_out) -> Facts:
    """Each language has a program in C-RASP[periodic, local] or a proof that there is none, and none has both: for all
    languages with at most 3 states over 2 letters.
    """
    automata = small_automata()
    members = 0
    for automaton in automata:
        member, other = inside(automaton), outside(automaton)
        members += member
        refute(member and other, f"{text(automaton)} has a program and a proof that there is none")
        refute(not member and not other, f"{text(automaton)} has neither proof")
    yield f"{members} languages with a program, {len(automata) - members} with a proof that there is none"


@CLAIMS.claim(
    "c-rasp-neutral",
    "Section 4; the statement is ours",
    r"L z\text{-invariant} \Rightarrow (L \in \text{C-RASP}[\text{periodic}, \text{local}] \iff "
    r"L \in \text{C-RASP})",
    strength=Strength.EXHAUSTIVE,
    reach=SMALL,
    assumptions=(PROCEDURE,),
    falsifiers={
        "no such letter": {"change": lambda automaton: automaton},
        "the letter goes back to the start": {
            "change": lambda automaton: Automaton(
                symbols=(*automaton.symbols, "z"),
                step={**automaton.step, **{(state, "z"): 0 for state in range(automaton.states)}},
                accepting=automaton.accepting,
            )
        },
    },
)
def useless(change: Callable[[Automaton], Automaton] = with_neutral_letter) -> Facts:
    """With a letter that changes nothing, positions decide no language more than C-RASP without them: for all languages
    with at most 3 states over 2 letters.
    """
    automata = small_automata()
    for automaton in automata:
        changed = change(automaton)
        without = decide(changed).c_rasp
        if without is None:
            raise Undecided(f"C-RASP and {text(changed)}")
        if decide_with_positions(changed).c_rasp is not without:
            raise Refuted(f"positions help with {text(changed)}")
    yield f"{len(automata)} languages with a letter more that changes nothing"
