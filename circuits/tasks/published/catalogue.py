"""Catalogue of the tasks of published experiments, by the names of the published tables."""

from collections.abc import Mapping

from circuits.tasks.published.languages import LANGUAGES
from circuits.tasks.published.subject import Subject

HUANG = "2410.02140"
DECOMPILING = "2602.08857"
KAZEMNEJAD = "2305.19466"

_OTHERS: Mapping[str, Mapping[str, str]] = {
    HUANG: {
        "addition": "the sum of two binary numbers, high bit first",
        "anbn": "the symbols that may follow each prefix of a word a..ab..b, as many b as a",
        "anbncn": "the symbols that may follow each prefix of a word a..ab..bc..c, as many of each",
        "anbncndn": "the symbols that may follow each prefix of a word a..ab..bc..cd..d, as many of each",
        "binary_majority": "the more frequent of two symbols of a word, which are never equally frequent",
        "binary_majority_interleave": "the majorities of three binary words that are read by turns, symbol by symbol",
        "bool3": "the symbols that may follow each prefix of a boolean expression with operators of up to 3 operands",
        "bool5": "the symbols that may follow each prefix of a boolean expression with operators of up to 5 operands",
        "copy_repeat": "a copy of a word over two symbols",
        "copy_unique": "a copy of a word of different symbols",
        "dyck1": "the symbols that may follow each prefix of a word of balanced brackets of one kind",
        "majority": "the most frequent of the 26 symbols of a word, which is more frequent than any other",
        "parity": "whether a binary word has an even or an odd number of ones",
        "shuffle2": "the symbols that may follow each prefix of two interleaved words of balanced brackets",
        "sort": "the different numbers of a word in ascending order",
    },
    DECOMPILING: {
        "count": "all numbers from the first to the second of two numbers",
        "unique_bigram_copy": "a copy of a word in which no pair of neighbours comes twice",
        "unique_reverse": "a word of different symbols from its end to its beginning",
    },
    KAZEMNEJAD: {
        "copy-cmc2x": "a word over many symbols, twice",
        "copy-cmc": "a copy of a word over many symbols",
        "copy-rdc": "one symbol as often as another one is repeated",
        "copy-rsc2x": "one repeated symbol, twice as often",
        "copy-rsc": "a copy of one repeated symbol",
        "reverse-mc2x": "a word over many symbols reversed, twice",
        "reverse-mc": "a word over many symbols reversed",
        "reverse-mcrv": "a word over many symbols reversed, and then as it was",
        "scan-len": "the actions that a command in words stands for; longer actions than those of training",
        "scan-mdlen": "the actions that a command in words stands for; longer actions of the same kinds of commands",
        "pcfg-md": "the result of nested functions of words; deeper nesting of the same functions",
        "pcfg": "the result of nested functions of words; deeper nesting than in training",
        "addition-steps": "the sum of two numbers, with all intermediate results",
        "summation": "the sum of digits modulo 10, with all intermediate results",
        "parity-steps": "whether a binary word has an even or an odd number of ones, with all intermediate results",
        "sorting-single": "numbers of one token in ascending order, with all intermediate results",
        "sorting-multi": "numbers of several digits in ascending order, with all intermediate results",
        "polynomial": "the value of a polynomial modulo 10, with all intermediate results",
        "lego": "the value of a variable that is given by a chain of signs, with all intermediate results",
    },
}

SUBJECTS: Mapping[str, Subject] = {
    subject.name: subject
    for subject in (
        *(
            Subject(
                name=name, words=f"the symbols that may follow each prefix of a word: {words}", arxiv=HUANG, language=e
            )
            for name, (e, words) in LANGUAGES.items()
        ),
        *(
            Subject(name=name, words=words, arxiv=arxiv, why_not="not written yet")
            for arxiv, group in _OTHERS.items()
            for name, words in group.items()
        ),
    )
}
"""Name -> task of a published experiment."""
