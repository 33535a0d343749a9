"""Tasks of published experiments: what models were asked, and what of it can be computed with here, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.instructions import scan
from lengthgen.circuits.tasks.published import algorithmic, arithmetic, copies
from lengthgen.circuits.tasks.published.formal_languages import (
    LANGUAGES,
    boolean_expressions,
    equal_runs,
    shuffled_brackets,
)
from lengthgen.circuits.tasks.published.next_symbols import next_symbols_task, with_states_task

if TYPE_CHECKING:
    from lengthgen.circuits.languages.regular import Automaton  # with automata-lib, which most commands do not need


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Task of a published experiment.

    Attributes:
        name: name in the catalogue of published tasks.
        words: what the model reads and what it must write, in one sentence.
        arxiv: paper that measured it.
        task: function that returns the task as the models met it; None if it is not expressible as a `Task`.
        why_not: reason why there is no `task`; empty if there is one.
        language: regular expression, or minimal automaton, if the task is to name the symbols that may follow each
            prefix of a word of this regular language (`lengthgen.circuits.languages`); None for other tasks.
        with_states: function that returns the same language as a task that also writes what it has computed so far
            after each symbol, a reading of ours [F]; None if there is none.
    """

    name: str
    words: str
    arxiv: str
    task: Callable[[], Task] | None = None
    why_not: str = ""
    language: "str | Automaton | None" = None
    with_states: Callable[[], Task] | None = None

    def __post_init__(self) -> None:
        """Have each task made once: it keeps its traces, which all theories ask for."""
        for name in ("task", "with_states"):
            if (make := getattr(self, name)) is not None:
                object.__setattr__(self, name, cache(make))

    @property
    def automaton(self) -> "Automaton | None":
        """Minimal automaton of the language; None without a language."""
        from lengthgen.circuits.languages.regular import minimal_automaton

        return minimal_automaton(self.language) if isinstance(self.language, str) else self.language


HUANG = "2410.02140"
DECOMPILING = "2602.08857"
KAZEMNEJAD = "2305.19466"

ROUND, SQUARE = ("(", ")"), ("[", "]")
NEXT = "the symbols that may follow each prefix of"
PCFG = "a prompt of one nesting depth has no fixed number of tokens, and a `Task` has one layout at each scale"


def _regular(name: str, expression: str, words: str) -> Subject:

    def made(make: Callable[..., Task], suffix: str) -> Task:
        from lengthgen.circuits.languages.regular import (
            minimal_automaton,  # automata-lib takes a tenth of a second to import
        )

        return make(minimal_automaton(expression), f"published-{name}{suffix}")

    return Subject(
        name=name,
        words=f"{NEXT} {words}",
        arxiv=HUANG,
        language=expression,
        task=lambda: made(next_symbols_task, ""),
        with_states=lambda: made(with_states_task, "-with-states"),
    )


def _measured(
    arxiv: str, name: str, words: str, task: Callable[[], Task], with_states: Callable[[], Task] | None = None
) -> Subject:
    return Subject(name=name, words=words, arxiv=arxiv, task=task, with_states=with_states)


_huang, _decompiling, _kazemnejad = (partial(_measured, arxiv) for arxiv in (HUANG, DECOMPILING, KAZEMNEJAD))


def _copied(name: str, words: str, *orders: copies.Order, repeated: bool = False) -> Subject:
    return _kazemnejad(name, words, lambda: copies.copied(name, *orders, repeated=repeated))


_SUBJECTS = (
    *(_regular(name, expression, words) for name, (expression, words) in LANGUAGES.items()),
    _huang("anbn", f"{NEXT} a word a..ab..b, as many b as a", lambda: equal_runs("ab")),
    _huang("anbncn", f"{NEXT} a word a..ab..bc..c, as many of each", lambda: equal_runs("abc")),
    _huang("anbncndn", f"{NEXT} a word a..ab..bc..cd..d, as many of each", lambda: equal_runs("abcd")),
    _huang("dyck1", f"{NEXT} a word of balanced brackets", lambda: shuffled_brackets((ROUND,), "published-dyck1")),
    _huang(
        "shuffle2",
        f"{NEXT} a word that is balanced in each of two kinds of brackets",
        lambda: shuffled_brackets((ROUND, SQUARE), "published-shuffle2"),
    ),
    _huang("bool3", f"{NEXT} a boolean expression with operators of 1 to 3 operands", lambda: boolean_expressions(3)),
    _huang("bool5", f"{NEXT} a boolean expression with operators of 1 to 5 operands", lambda: boolean_expressions(5)),
    _huang("binary_majority", "the more frequent bit of a word", algorithmic.binary_majority),
    _huang(
        "binary_majority_interleave",
        "the more frequent bits of three words that are read by turns",
        algorithmic.binary_majority_interleave,
    ),
    _huang("majority", "the most frequent symbol of a word", algorithmic.majority),
    _huang("sort", "different numbers in ascending order", algorithmic.sort),
    _huang("copy_unique", "a copy of a word of different symbols", algorithmic.copy_unique),
    _huang("copy_repeat", "a copy of a word over two symbols", algorithmic.copy_repeat),
    _huang("parity", "the parity of the ones of a word", algorithmic.parity, algorithmic.parity_with_states),
    _huang("addition", "the sum of two binary numbers, high bit first", algorithmic.addition),
    _decompiling("count", "all numbers from the first to the second of two numbers", algorithmic.count),
    _decompiling("unique_reverse", "a word of different symbols reversed", algorithmic.unique_reverse),
    _decompiling(
        "unique_bigram_copy",
        "a copy of a word in which no pair of neighbours comes twice",
        algorithmic.unique_bigram_copy,
    ),
    _copied("copy-cmc", "a copy of a word over many symbols", copies.forward),
    _copied("copy-cmc2x", "a word over many symbols, twice", copies.forward, copies.forward),
    _kazemnejad("copy-rdc", "one symbol as often as another one is repeated", copies.replaced),
    _copied("copy-rsc", "a copy of one repeated symbol", copies.forward, repeated=True),
    _copied("copy-rsc2x", "one repeated symbol, twice as often", copies.twice, repeated=True),
    _copied("reverse-mc", "a word over many symbols reversed", copies.backward),
    _copied("reverse-mc2x", "a word over many symbols reversed, twice", copies.backward, copies.backward),
    _copied("reverse-mcrv", "a word over many symbols reversed, then as it was", copies.backward, copies.forward),
    _kazemnejad(
        "scan-len",
        "the actions that commands stand for, with more actions than in training",
        lambda: replace(scan(), name="published-scan-len"),
    ),
    _kazemnejad(
        "scan-mdlen",
        "the actions that commands stand for, with more actions than in training but commands of the same kinds",
        lambda: replace(scan(), name="published-scan-mdlen"),
    ),
    Subject(name="pcfg", words="the result of nested functions on words", arxiv=KAZEMNEJAD, why_not=PCFG),
    Subject(
        name="pcfg-md",
        words="the result of nested functions on words, nested more deeply but by functions of the same kinds",
        arxiv=KAZEMNEJAD,
        why_not=PCFG,
    ),
    _kazemnejad("addition-steps", "the sum of two numbers", arithmetic.addition, arithmetic.addition_with_states),
    _kazemnejad("summation", "the last digit of a sum", arithmetic.summation, arithmetic.summation_with_states),
    _kazemnejad("parity-steps", "the parity of the ones of a word", arithmetic.parity, arithmetic.parity_with_states),
    _kazemnejad("sorting-single", "symbols in ascending order", arithmetic.sorting_single),
    _kazemnejad("sorting-multi", "numbers of several digits in ascending order", arithmetic.sorting_multi),
    _kazemnejad(
        "polynomial", "the last digit of a polynomial's value", arithmetic.polynomial, arithmetic.polynomial_with_states
    ),
    _kazemnejad(
        "lego", "the value of a variable at the end of a chain of signs", arithmetic.lego, arithmetic.lego_with_states
    ),
)

SUBJECTS: Mapping[str, Subject] = {subject.name: subject for subject in _SUBJECTS}
"""Name -> task of a published experiment.

Despite the names `addition-steps` and `parity-steps`, the published models of arithmetic tasks seem to answer at once
(`lengthgen.circuits.tasks.published.arithmetic`); `with_states` is the reading with running results.
"""
