"""Decision of C-RASP against printed membership, proved membership, and what the syntactic monoid makes equal."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from lengthgen.circuits.languages.c_rasp import decide
from lengthgen.circuits.languages.regular import Automaton, minimal_automaton
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.languages.automata import (
    LETTERS,
    STATES,
    doubled_letters,
    renamed_padded_complement,
    reversed_words,
    small_automata,
    text,
)
from lengthgen.proofs_checks.papers.languages.monoid import aperiodic, r_omega, r_trivial
from lengthgen.proofs_checks.papers.languages.printed import MEMBERS, OTHERS, TRAPS

SOURCE = Source(paper="Algebraic Decomposition Theory for Transformer Length Generalization", arxiv="2608.13433")

Criterion = Callable[[Automaton], bool]
"""Minimal automaton -> True if its language is in a class."""
DEPTH = 8
LONGEST = 12
SMALL = f"at most {STATES} states over {len(LETTERS)} letters"


def decided(automaton: Automaton) -> bool:
    """Return the decision on C-RASP; raise Refuted if it gives up."""
    decision = decide(automaton)
    if decision.c_rasp is None:
        raise Refuted(f"no decision: {decision.why}")
    return decision.c_rasp


def without_loops(automaton: Automaton) -> bool:
    """Return the decision on the automaton without its transitions from a state to itself."""
    step = {(state, symbol): following for (state, symbol), following in automaton.step.items() if state != following}
    return decided(Automaton(symbols=automaton.symbols, step=step, accepting=automaton.accepting))


def backward(automaton: Automaton) -> bool:
    """Return the decision on the language of the reversed words."""
    return decided(reversed_words(automaton))


def published(*, criterion: Criterion, members: Sequence[str], others: Sequence[str]) -> Evidence:
    """Decide if a criterion holds for the members and not for the others."""
    for expressions, inside in ((members, True), (others, False)):
        for expression in expressions:
            if criterion(minimal_automaton(expression)) is not inside:
                raise Refuted(f"{expression} is {'in' if inside else 'not in'} C-RASP as printed, but not as decided")
    reach = f"{len(members) + len(others)} languages"
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=reach,
        facts=(f"{len(members)} members and {len(others)} others decided as printed",),
    )


def tame_families() -> Iterator[str]:
    """Yield finite languages, words with a given subsequence, and balanced brackets of bounded depth."""
    for length in range(1, 6):
        for word in map("".join, product("ab", repeat=length)):
            yield f"{word}+{word[::-1]}b"
            yield "".join(f"(a+b)*{letter}" for letter in word) + "(a+b)*"
    expression = "(ab)*"
    for _ in range(DEPTH):
        yield expression
        expression = f"(a{expression}b)*"


def factor_families() -> Iterator[str]:
    """Yield the languages of words that contain a given word of three letters as a piece."""
    for word in map("".join, product("ab", repeat=3)):
        yield f"(a+b)*{word}(a+b)*"


_OTHER_CLASSES = {
    "R-trivial languages": {"criterion": r_trivial},
    "R^omega": {"criterion": r_omega},
    "star-free languages": {"criterion": aperiodic},
    "loops do not count": {"criterion": without_loops},
    "words read backward": {"criterion": backward},
}


CLAIMS = PaperClaims(SOURCE)


CLAIMS.append(
    Claim(
        id="c-rasp-published",
        source=SOURCE.at("Table 1"),
        statement=f"The decision of C-RASP answers as printed for {len(MEMBERS) + len(OTHERS)} languages.",
        latex=r"L \in \text{C-RASP} \iff \text{balanced counts tell the states of each component apart}",
        label="P",
        check=published,
        holds={"criterion": decided, "members": MEMBERS, "others": OTHERS},
        answers=("members", "others"),
        falsifiers=_OTHER_CLASSES,
    )
)


CLAIMS.append(
    Claim(
        id="c-rasp-traps",
        source=SOURCE.at("Table 1 and appendix K"),
        statement="The words that end in b, and the words of alternating runs, are outside C-RASP: 2 languages whose "
        "states only differ by the last letter.",
        latex=r"\Sigma^* b,\ (a^+ b^+)^+ \notin \text{C-RASP}",
        label="P",
        check=published,
        holds={"criterion": decided, "members": (), "others": TRAPS},
        answers=("members", "others"),
        falsifiers={name: _OTHER_CLASSES[name] for name in ("star-free languages", "loops do not count")},
    )
)


@CLAIMS.claim(
    "c-rasp-hierarchy",
    "Theorem 14",
    r"\mathbf{R} \subseteq \text{C-RASP} \cap \mathbf{REG} \subseteq \mathbf{R}^\omega",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=SMALL,
    falsifiers={
        "it contains the star-free languages": {"smaller": aperiodic},
        "it is contained in the R-trivial languages": {"larger": r_trivial},
        "loops do not count": {"criterion": without_loops},
        "words read backward": {"criterion": backward},
    },
)
def between(criterion: Criterion = decided, smaller: Criterion = r_trivial, larger: Criterion = r_omega) -> Facts:
    """C-RASP contains the R-trivial languages and is contained in R^omega, for all languages with at most 3 states over
    2 letters.
    """
    automata = small_automata()
    for automaton in automata:
        holds = criterion(automaton)
        if smaller(automaton) and not holds:
            raise Refuted(f"{text(automaton)} is in the smaller class and not in C-RASP")
        if holds and not larger(automaton):
            raise Refuted(f"{text(automaton)} is in C-RASP and not in the larger class")
    settled = sum(smaller(automaton) or not larger(automaton) for automaton in automata)
    yield f"{len(automata)} automata, {settled} of them with membership known from the two classes"


@CLAIMS.claim(
    "c-rasp-invariance",
    "Theorem 11",
    r"M(L) = M(L') \Rightarrow (L \in \text{C-RASP} \iff L' \in \text{C-RASP})",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=SMALL,
    falsifiers={"reversed words": {"change": reversed_words}, "letters doubled": {"change": doubled_letters}},
)
def invariant(
    criterion: Criterion = decided, change: Callable[[Automaton], Automaton] = renamed_padded_complement
) -> Facts:
    """Membership is the same for the complement, with letters renamed and with a letter more that changes nothing,
    since the syntactic monoid decides it: the decision agrees on all languages with at most 3 states over 2 letters and
    on 130 printed ones.
    """
    automata = [*small_automata(), *(minimal_automaton(expression) for expression in (*MEMBERS, *OTHERS))]
    for automaton in automata:
        if criterion(automaton) is not criterion(change(automaton)):
            raise Refuted(f"the answer changes for {text(automaton)}")
    yield f"the same answer for {len(automata)} languages and what they become"


@CLAIMS.claim(
    "c-rasp-families",
    "Theorem 14",
    r"\mathcal{D}_k \in \text{C-RASP}, \quad (a^m)^* \in \text{C-RASP} \iff m = 1",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"depths up to {DEPTH} and periods up to {LONGEST}",
    falsifiers={
        "words with a given piece": {"inside": factor_families},
        "period 1": {"period": 1},
        "R-trivial languages": {"criterion": r_trivial},
    },
)
def families(
    criterion: Criterion = decided, inside: Callable[[], Iterable[str]] = tame_families, period: int = 2
) -> Facts:
    """Finite languages, words with a given subsequence, and balanced brackets of bounded depth are in C-RASP, and
    multiples of a period above 1 are not: checked for words of up to 5 letters, depths up to 8 and periods up to 12.
    """
    expressions = list(inside())
    for expression in expressions:
        if not criterion(minimal_automaton(expression)):
            raise Refuted(f"{expression} is not in C-RASP")
    periods = range(period, LONGEST + 1)
    for length in periods:
        if criterion(minimal_automaton(f"({'a' * length})*")):
            raise Refuted(f"the words of a whose length is a multiple of {length} are in C-RASP")
    yield f"{len(expressions)} languages inside"
    yield f"{len(periods)} periods outside"
