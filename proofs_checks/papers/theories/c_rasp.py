"""Regular languages and the theory of C-RASP (arXiv 2410.02140 and 2608.13433).

Membership in C-RASP is decided from the syntactic monoid, and compared with printed and proved membership; that in
C-RASP[periodic, local] has two proofs. The claims go through all small automata and languages made from others.
Languages of Table 1 with an exponent k or a named alphabet are left out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import compress, product

import networkx as nx
from automata.fa.dfa import DFA
from automata.fa.nfa import NFA

from lengthgen.circuits.languages.regular import Automaton, canonical, minimal_automaton
from lengthgen.empirical.studies.theories.c_rasp import decide
from lengthgen.proofs_checks.claim import Parameters, Refuted, Source, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach, refute

SOURCE = Source(paper="Algebraic Decomposition Theory for Transformer Length Generalization", arxiv="2608.13433")
C_RASP = Source(paper="A Formal Framework for Understanding Length Generalization in Transformers", arxiv="2410.02140")
Element = tuple[int, ...]
"""Action of a word on the states of a complete automaton."""
Criterion = Callable[[Automaton], bool]
"""Minimal automaton -> True if its language is in a class."""
LETTERS = ("a", "b")
STATES = 3
"""Largest number of live states of the small automata."""
_MEMBERS = """
(aa(ba)*abb(ab)*b)* (aa*bb*)(aa*bb*)(aa*bb*) (ab)(ab)*aa* (ab)(ab)*bb*(ab)(ab)* (ab+ba)* b* (ba)* (a(ab)*b)*
(a+b)*d(b+c)* aa*bb*cc*dd*ee* a*b*a*b* (bbac)* acabccc* (ac)*c+ba+a (b*)*(ab)* bba(c+a)* cba*baa b*baa cba*+abbc
aaa*c a*a*b+aac bcb*abbb (ca)*(cb)* b*cbbcaa (b*b)* (a*)*(ac)* ccc(ba)* bcaca*+ba (ba)*b*bc b*cc(ca)* (ac)*bab*
a*b+acab (ca)*a*bb b+ca+b(c+a)* (abbc)* c+cab+(bc)* c*b+bb* a(bc)* (ca)*(ab)* bab(ba)* ((ac)*)* bbbc(ca)* (abcb)*
bcba+a*aa a+ca*cb+a (ba)*cb+aa (baaa)* (cb)*caa+b cccb* aac*+acca a*caaa+c caaba+a* (acba)* b*b+aa+bba cbaca*
b*ccb*ca acaa* baca(bc)* a*a(b+b)* b+c+ac(ac)* (ab+bbaa)* (ab)(ab)*aa*bb* (ab)(ab)*aa*bb*aa* (ab)(ab)*b(ab)(ab)*
(ab)* b(a+b)* (a+b)*a(a+b)*b(a+b)*
"""
_OTHERS = """
(a+b)*bb(a+b)* (a+b)*b (aa*bb*)(aa*bb*)* ((ab)(ab)*bb*)* (ab+bba)* (ab+aabb)* (aa)* (aaaa)* (abab)* (a+b+c)*ac*
(b+ab+aab)*(a+aa+b*) (b*ab*a)*b* (bab+b)* (ab)*+(bb)* (bb)*(bb)* (c+ba*)* b+(bb)* bbcc(aa)* (aba*)* (cc)* (a*ac)*
(b*ab)* (aca*)* (cca+a)* (aa+aa)* (a+c)*cbbb (b*ac)* (bcc*)* (ba+a)* (b+a)*aaac (bb)*cbac (aa+b*)* aa+ca(aa)*
(bb)*ab+ac (cc)*cccb (cc)*ccb+b bccb(aa)* (cab+c)* (a+ac+a)* aba+c(bb)* b*b*(aa)* (a*ca)* (cbb+b)* (a+c)*(cb)*
(aa)*bba* (cac*)* (ba+a+c)* (b*a+c)* cc+cc(bb)* (cbc*)* (baa+b)* (b*bc)* (a+aac)* (a*bb)* (cc)*bac (bb)*c*ac
(b+ac+c)* (b+bc)* a*a*(bb)* (a*ab)* bcbb(bb)* (ca)*(cc)* a*(ba*ba*)*
"""
MEMBERS = tuple(_MEMBERS.split())
"""Languages that are printed as members."""
OTHERS = tuple(_OTHERS.split())
"""Languages that are printed as outside."""
TRAPS = ("(a+b)*b", "(aa*bb*)(aa*bb*)*")
"""Languages outside that a program which skips the loops at a state would accept."""
DEPTH = 8
LONGEST = 12
SMALL = f"at most {STATES} states over {len(LETTERS)} letters"


@cache
def small_automata() -> tuple[Automaton, ...]:
    """Return the minimal automata of all languages over two letters with at most STATES live states, by transitions.

    Membership depends on the transitions alone, so each set of transitions comes once.
    """
    by_transitions: dict[frozenset[tuple[tuple[int, str], int]], Automaton] = {}
    for targets in product(range(-1, STATES), repeat=STATES * len(LETTERS)):
        table = zip(product(range(STATES), LETTERS), targets, strict=True)
        step = {place: following for place, following in table if following >= 0}
        if _in_order(step):
            for accepting in product((False, True), repeat=STATES):
                automaton = canonical(_dfa(STATES, LETTERS, step, compress(range(STATES), accepting)).minify())
                by_transitions.setdefault(frozenset(automaton.step.items()), automaton)
    return tuple(by_transitions.values())


def _in_order(step: Mapping[tuple[int, str], int]) -> bool:
    """True if breadth-first search meets the states in the order of their numbers, and no other state has a step."""
    met = [0]
    for state in met:
        for following in (step.get((state, letter), 0) for letter in LETTERS):
            if following not in met:
                met.append(following)
    return met == sorted(met) and {state for state, _ in step} <= {*met} == {*range(len(met))}


def renamed_padded_complement(automaton: Automaton) -> Automaton:
    """Return the complement, with letters in another order, and with one more letter that changes no state."""
    other = canonical(_of(automaton).to_complete().complement(minify=False))
    names = dict(zip(other.symbols, reversed(other.symbols), strict=True))
    step = {(state, names[symbol]): following for (state, symbol), following in other.step.items()}
    step |= {(state, "z"): state for state in range(other.states)}
    return Automaton(symbols=(*other.symbols, "z"), step=step, accepting=other.accepting)


def reversed_words(automaton: Automaton) -> Automaton:
    """Return the minimal automaton of the reversed words."""
    return canonical(DFA.from_nfa(NFA.from_dfa(_of(automaton)).reverse(), minify=True))


def doubled_letters(automaton: Automaton) -> Automaton:
    """Return the automaton of the words of which every letter is written twice."""
    halves = {pair: automaton.states + place for place, pair in enumerate(automaton.step)}
    first = {(state, symbol): half for (state, symbol), half in halves.items()}
    second = {(half, symbol): automaton.step[state, symbol] for (state, symbol), half in halves.items()}
    return Automaton(symbols=automaton.symbols, step={**first, **second}, accepting=automaton.accepting)


def _dfa(states: int, symbols: Iterable[str], step: Mapping[tuple[int, str], int], accepting: Iterable[int]) -> DFA:
    """Return an automaton that starts in state 0 as automata-lib has it."""
    transitions: dict[int, dict[str, int]] = {state: {} for state in range(states)}
    for (state, symbol), following in step.items():
        transitions[state][symbol] = following
    return DFA(
        states=set(transitions),
        input_symbols=set(symbols),
        transitions=transitions,
        initial_state=0,
        final_states=set(accepting),
        allow_partial=True,
    )


def _of(automaton: Automaton) -> DFA:
    return _dfa(automaton.states, automaton.symbols, automaton.step, automaton.accepting)


def text(automaton: Automaton) -> str:
    """Return the transitions and accepting states on one line, for people."""
    steps = ", ".join(f"{state}{symbol}{following}" for (state, symbol), following in sorted(automaton.step.items()))
    return f"the language with transitions {steps or 'none'} and ends {sorted(automaton.accepting)}"


def actions(automaton: Automaton) -> frozenset[Element]:
    """Return the syntactic monoid of the language: the actions of all words on the complete minimal automaton."""
    states = automaton.states + 1  # the last one is dead
    letters = [
        tuple(automaton.step.get((state, symbol), states - 1) for state in range(states))
        for symbol in automaton.symbols
    ]
    monoid = {tuple(range(states))}
    queue = list(monoid)
    for element in queue:
        for letter in letters:
            longer = then(element, letter)
            if longer not in monoid:
                monoid.add(longer)
                queue.append(longer)
    return frozenset(monoid)


def then(first: Element, second: Element) -> Element:
    """Return the action of a word after another one."""
    return tuple(second[state] for state in first)


def omega(element: Element) -> Element:
    """Return the idempotent power of an element."""
    power = element
    while then(power, power) != power:
        power = then(power, element)
    return power


def r_trivial(automaton: Automaton) -> bool:
    """True if every R-class of the syntactic monoid is a single element: x y z = x implies x y = x."""
    monoid = actions(automaton)
    reached = nx.DiGraph((x, then(x, y)) for x in monoid for y in monoid)
    return all(len(component) == 1 for component in nx.strongly_connected_components(reached))


def r_omega(automaton: Automaton) -> bool:
    """True if (x y^w)^w x = (x y^w)^w for all x, y of the syntactic monoid (arXiv 2608.13433, Definition 12)."""
    monoid = actions(automaton)
    idempotents = {omega(y) for y in monoid}
    powers = ((omega(then(x, e)), x) for x in monoid for e in idempotents)
    return all(then(power, x) == power for power, x in powers)


def aperiodic(automaton: Automaton) -> bool:
    """True if x^w x = x^w for all x of the syntactic monoid: the language is star-free."""
    return all(then(omega(x), x) == omega(x) for x in actions(automaton))


def decided(automaton: Automaton) -> bool:
    """Return the decision on C-RASP; raise Refuted if it gives up."""
    decision = decide(automaton)
    if decision.c_rasp is None:
        raise Refuted(f"no decision: {decision.why}")
    return decision.c_rasp


def loopless(automaton: Automaton) -> Automaton:
    """Return the automaton without its transitions from a state to itself."""
    step = {(state, symbol): following for (state, symbol), following in automaton.step.items() if state != following}
    return Automaton(symbols=automaton.symbols, step=step, accepting=automaton.accepting)


def published(criterion: Criterion, members: Sequence[str], others: Sequence[str]) -> Facts:
    """Decide if a criterion holds for the members and not for the others."""
    for expression in (*members, *others):
        printed = expression in members
        if criterion(minimal_automaton(expression)) is not printed:
            raise Refuted(f"{expression} is {'in' if printed else 'not in'} C-RASP as printed, but not as decided")
    yield f"{len(members)} members and {len(others)} others decided as printed"
    yield Reach(f"{len(members) + len(others)} languages")


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


_OTHER_CLASSES: Mapping[str, Parameters] = {
    "R-trivial languages": {"criterion": r_trivial},
    "R^omega": {"criterion": r_omega},
    "star-free languages": {"criterion": aperiodic},
    "loops do not count": {"criterion": lambda automaton: decided(loopless(automaton))},
    "words read backward": {"criterion": lambda automaton: decided(reversed_words(automaton))},
}
CLAIMS = PaperClaims(SOURCE)
PROCEDURE = "membership is what our procedure decides, which is not proved to be that of C-RASP"


for _id, _place, _statement, _latex, _members, _others, _wrong in (
    (
        "c-rasp-published",
        "Table 1",
        f"The decision of C-RASP answers as printed for {len(MEMBERS) + len(OTHERS)} languages.",
        r"\text{decided}(L) = \text{printed}(L)",
        MEMBERS,
        OTHERS,
        tuple(_OTHER_CLASSES),
    ),
    (
        "c-rasp-traps",
        "Table 1 and appendix K",
        "The words that end in b, and those of them that begin with a, are outside C-RASP: 2 languages whose states "
        "only differ by the last letter.",
        r"\Sigma^* b,\ (a^+ b^+)^+ \notin \text{C-RASP}",
        (),
        TRAPS,
        ("star-free languages", "loops do not count"),
    ),
):
    CLAIMS.claim(
        _id,
        _place,
        _latex,
        statement=_statement,
        holds={"criterion": decided, "members": _members, "others": _others},
        label="P",
        strength=Strength.EXHAUSTIVE,
        assumptions=(PROCEDURE,),
        answers=("members", "others"),
        falsifiers={name: _OTHER_CLASSES[name] for name in _wrong},
    )(published)


@CLAIMS.claim(
    "c-rasp-hierarchy",
    "Theorem 14",
    r"\mathbf{R} \subseteq \text{C-RASP} \cap \mathbf{REG} \subseteq \mathbf{R}^\omega",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=SMALL,
    assumptions=(PROCEDURE,),
    falsifiers={
        "it contains the star-free languages": {"smaller": aperiodic},
        "it is contained in the R-trivial languages": {"larger": r_trivial},
        **{name: _OTHER_CLASSES[name] for name in ("loops do not count", "words read backward")},
    },
)
def between(criterion: Criterion = decided, smaller: Criterion = r_trivial, larger: Criterion = r_omega) -> Facts:
    """C-RASP contains the R-trivial languages and is contained in R^omega, for all languages with at most 3 states over
    2 letters.
    """
    automata = small_automata()
    for automaton in automata:
        holds = criterion(automaton)
        refute(smaller(automaton) and not holds, f"{text(automaton)} is in the smaller class and not in C-RASP")
        refute(holds and not larger(automaton), f"{text(automaton)} is in C-RASP and not in the larger class")
    settled = sum(smaller(automaton) or not larger(automaton) for automaton in automata)
    yield f"{len(automata)} automata, {settled} of them with membership known from the two classes"


@CLAIMS.claim(
    "c-rasp-invariance",
    "Theorem 11",
    r"L \in \text{C-RASP} \iff L' \in \text{C-RASP},\quad M(L) = M(L')",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=SMALL,
    assumptions=(PROCEDURE,),
    falsifiers={"reversed words": {"change": reversed_words}, "letters doubled": {"change": doubled_letters}},
)
def invariant(
    criterion: Criterion = decided, change: Callable[[Automaton], Automaton] = renamed_padded_complement
) -> Facts:
    """Membership is the same for the complement, with letters renamed and with a letter more that changes nothing,
    since the syntactic monoid decides it: the decision agrees, under the three changes together, on one language for
    each of the 860 sets of transitions of at most 3 states over 2 letters and on 130 printed languages.
    """
    automata = [*small_automata(), *(minimal_automaton(expression) for expression in (*MEMBERS, *OTHERS))]
    for automaton in automata:
        refute(criterion(automaton) is not criterion(change(automaton)), f"the answer changes for {text(automaton)}")
    yield f"the same answer for {len(automata)} languages and what they become"


@CLAIMS.claim(
    "c-rasp-families",
    "Theorem 14",
    r"\mathcal{D}_k \in \text{C-RASP}, \quad (a^m)^* \in \text{C-RASP} \iff m = 1",
    label="P",
    strength=Strength.EXHAUSTIVE,
    reach=f"depths up to {DEPTH} and periods up to {LONGEST}",
    assumptions=(PROCEDURE,),
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
    multiples of a period above 1 are not: checked for 62 languages of two words made of a word w of up to 5 letters,
    the 62 languages of words with the subsequence w, depths up to 8 and periods up to 12.
    """
    expressions = list(inside())
    for expression in expressions:
        refute(not criterion(minimal_automaton(expression)), f"{expression} is not in C-RASP")
    periods = range(period, LONGEST + 1)
    for length in periods:
        if criterion(minimal_automaton(f"({'a' * length})*")):
            raise Refuted(f"the words of a whose length is a multiple of {length} are in C-RASP")
    yield f"{len(expressions)} languages inside"
    yield f"{len(periods)} periods outside"
