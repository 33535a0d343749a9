"""Tasks of a user's own, however they fail: one line and status 2, and their code does not end the command."""

import pytest

from tests.lengthgen.refusal import refused

HEAD = """
import itertools, sys
import numpy as np
from lengthgen.circuits.task import Reference, Task

BITS = ("0", "1")


def task(**changes):
    return Task(**{
        "name": "mine",
        "alphabet": ("0", "1", "="),
        "prompt": lambda n: [BITS] * n + [("=",)],
        "generate": lambda prompt: prompt[:-1],
    } | changes)


def raising(error):
    def fails(*_):
        raise error
    return fails


def steps(n):
    return [("copy", (t,)) for t in range(1, n + 1)]


def reference(**changes):
    return task(reference=Reference(**{"arity": 1, "steps": steps, "apply": lambda _, symbols: symbols[0]} | changes))


class Nasty:
    def __repr__(self):
        raise RuntimeError("no repr")
    __str__ = __hash__ = __eq__ = __repr__


class Incomparable(str):
    def __eq__(self, other):
        raise RuntimeError("eq")
    __hash__ = str.__hash__


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no message")


class Odd(BaseException):
    pass


class Recursive:
    @property
    def __class__(self):
        raise RuntimeError("no class")


class Sub(Task):
    def choices(self, scale):
        raise RuntimeError("no choices")


def endless(*_):
    return itertools.repeat("0")


def deep(*_):
    return deep()


def uneven(prompts):
    return [[0] * (1 + row % 2) for row in range(len(prompts))]


def scribbling(prompts):
    prompts[:] = 0
    return prompts[:, :-1]
"""

MADE = {
    "alphabet of integers": ("task(alphabet=(0, 1))", "a symbol is a text of 1 to 50 printable characters, not 0"),
    "alphabet is a set": ("task(alphabet={'0', '1', '='})", "the alphabet must be a tuple of symbols"),
    "alphabet is a number": ("task(alphabet=3)", "the alphabet must be a tuple of symbols, not 3"),
    "alphabet is endless": ("task(alphabet=endless())", "the alphabet must be a tuple of symbols"),
    "alphabet of 10^8": ("task(alphabet='0' * 10**8)", "at most 254 symbols, not 100,000,000"),
    "symbol that is empty": ("task(alphabet=('', '1'))", "a symbol is a text of 1 to 50"),
    "symbol of control characters": (r"task(alphabet=('\x1b[2J', '1'))", "a symbol is a text of 1 to 50"),
    "symbol of 10^7 characters": ("task(alphabet=('0' * 10**7, '1'))", "a symbol is a text of 1 to 50"),
    "symbol that is nasty": ("task(alphabet=(Nasty(), '1'))", "not a value of type Nasty"),
    "name of control characters": (r"task(name='a\nb\x1b[31m')", "the name of a task is a text of 1 to 100"),
    "name of 10^7 characters": ("task(name='x' * 10**7)", "the name of a task is a text of 1 to 100"),
    "name is a number": ("task(name=7)", "the name of a task is a text"),
    "prompt is no function": ("task(prompt=[BITS])", "prompt must be a function"),
    "generate is no function": ("task(generate=None)", "generate must be a function, not None"),
    "twin is no function": ("task(vectorised=3)", "the vectorised function must be a function, not 3"),
    "reference is no Reference": ("task(reference=3)", "reference must be a Reference or None, not 3"),
    "arity of 10^9": ("reference(arity=10**9)", "the reference circuit's arity must be 1 to 64, not 1000000000"),
    "arity of text": ("reference(arity='2')", "the reference circuit's arity must be 1 to 64, not '2'"),
    "no Task": ("3", "task file 'mine.py' defines no Task 'mine': it defines none"),
    "no class": ("Recursive()", "task file 'mine.py' defines no Task 'mine': it defines none"),
    "subclass": ("Sub(**vars(task()))", "task file 'mine.py' defines no Task 'mine': it defines none"),
    "sys.exit at import": ("sys.exit(0)", "task file 'mine.py' fails: SystemExit: 0"),
    "a BaseException at import": ("raising(Odd('x'))()", "task file 'mine.py' fails: Odd: x"),
    "an error without message": ("raising(Silent())()", "fails: Silent: (its message cannot be shown)"),
    "recursion at import": ("deep()", "fails: RecursionError"),
    "a message of 10^7 characters": ("raising(ValueError('x' * 10**7))()", "fails: ValueError: xxx"),
    "prompt exits": ("task(prompt=raising(SystemExit(0)))", "task 'mine': prompt fails at scale 1: SystemExit: 0"),
    "prompt reads a closed input": (
        "task(prompt=raising(EOFError()))",
        "task 'mine': prompt fails at scale 1: EOFError",
    ),
    "prompt recurs": ("task(prompt=deep)", "prompt fails at scale 1: RecursionError"),
    "prompt is None": ("task(prompt=lambda n: None)", "prompt fails at scale 1: TypeError"),
    "prompt of numbers": ("task(prompt=lambda n: [1, 2])", "prompt fails at scale 1: TypeError"),
    "prompt is endless": ("task(prompt=endless)", "more than 100,000 positions of a prompt"),
    "prompt of 10^9": ("task(prompt=lambda n: range(10**9))", "more than 100,000 positions of a prompt"),
    "position is endless": ("task(prompt=lambda n: [endless()])", "allows a symbol twice"),
    "position is a set": ("task(prompt=lambda n: [{'0', '1'}])", "which has no order"),
    "position is nasty": (
        "task(prompt=lambda n: [[Nasty()]])",
        "symbol a value of type Nasty in the prompt",
    ),
    "prompt with 50,000 choices": ("task(prompt=lambda n: [BITS] * 50_000)", "are more than 200,000,000 tokens"),
    "generate exits": ("task(generate=raising(SystemExit()))", "task 'mine': generate fails on prompt 0 =: SystemExit"),
    "generate is None": ("task(generate=lambda p: None)", "generate fails on prompt 0 =: TypeError"),
    "generate is a number": ("task(generate=lambda p: 7)", "generate fails on prompt 0 =: TypeError"),
    "generate of numbers": ("task(generate=lambda p: [0])", "symbol 0 in the output is not in the alphabet"),
    "generate of lists": ("task(generate=lambda p: [['0']])", "symbol a value of type list in the output"),
    "generate of arrays": ("task(generate=lambda p: [np.zeros(2)])", "symbol a value of type ndarray in the output"),
    "generate is endless": ("task(generate=endless)", "more than 100,000 symbols that generate appends"),
    "generate of 10^5": (
        "task(prompt=lambda n: [BITS] * 14, generate=lambda p: '0' * 100_000)",
        "16,384 sequences of 100,000 positions are more than 200,000,000 tokens",
    ),
    "twin raises": (
        "task(vectorised=raising(IndexError('no\\nluck')))",
        "task 'mine': the vectorised function fails on 2 prompts: IndexError: no luck",
    ),
    "twin exits": (
        "task(vectorised=raising(SystemExit(0)))",
        "the vectorised function fails on 2 prompts: SystemExit: 0",
    ),
    "twin is None": ("task(vectorised=lambda p: None)", "a vectorised function must give integers, not object"),
    "twin is ragged": ("task(vectorised=uneven)", "the vectorised function fails on 2 prompts: ValueError"),
    "twin of floats": ("task(vectorised=lambda p: p[:, :-1] * 1.0)", "must give integers, not float64"),
    "twin of NaN": ("task(vectorised=lambda p: p[:, :-1] * np.nan)", "must give integers, not float"),
    "twin of objects": ("task(vectorised=lambda p: p[:, :-1].astype(object))", "must give integers, not object"),
    "twin of text": ("task(vectorised=lambda p: p[:, :-1].astype(str))", "must give integers, not <U"),
    "twin of another shape": ("task(vectorised=lambda p: p)", "the vectorised function disagrees with generate"),
    "twin of 10^18": (
        "task(vectorised=lambda p: np.broadcast_to(np.int8(0), (10**9, 10**9)))",
        "the vectorised function disagrees with generate",
    ),
    "twin of negative numbers": (
        "task(vectorised=lambda p: p[:, :-1].astype(int) - 256)",
        "the vectorised function disagrees",
    ),
    "twin writes into prompts": (
        "task(vectorised=scribbling)",
        "the vectorised function fails on 2 prompts: ValueError",
    ),
    "steps exit": ("reference(steps=raising(SystemExit(0)))", "the reference circuit's steps fails at scale 1"),
    "steps are None": ("reference(steps=lambda n: None)", "the reference circuit's steps fails at scale 1: TypeError"),
    "steps are endless": ("reference(steps=lambda n: itertools.repeat(('a', (1,))))", "more than 100,000 steps"),
    "steps of triples": ("reference(steps=lambda n: [(1, 2, 3)])", "steps fails at scale 1: ValueError"),
    "steps without names": ("reference(steps=lambda n: [(None, (1,))])", "a reference circuit's operator has a name"),
    "arguments of text": ("reference(steps=lambda n: [('a', 'b')])", "steps fails at scale 1: TypeError"),
    "arguments are endless": ("reference(steps=lambda n: [('a', endless())])", "more than 100,000 arguments of a step"),
    "apply exits": (
        "reference(apply=raising(SystemExit(0)))",
        "reference circuit's apply fails on 0: SystemExit: 0",
    ),
    "apply raises": ("reference(apply=raising(KeyError(3)))", "the reference circuit's apply fails on 0: KeyError: 3"),
    "apply gives a number": ("reference(apply=lambda *_: 0)", "the reference circuit's apply gives 0, not a symbol"),
    "apply takes nothing": ("reference(apply=lambda: '0')", "the reference circuit's apply fails on 0: TypeError"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_hostile_task_is_one_line(run, name, mine):
    code, says = MADE[name]
    mine(HEAD, f"mine = {code}")
    refused(run("src", "mine.py:mine", "--scales", "1-2", "--arity", "1"), says)


@pytest.mark.parametrize(
    "code",
    [
        "task(alphabet=tuple(map(Incomparable, '01=')))",
        "task(prompt=lambda n: [tuple(map(Incomparable, BITS))] * n + [(Incomparable('='),)])",
        "task(generate=lambda prompt: map(Incomparable, prompt[:-1]))",
        "reference(apply=lambda _, symbols: Incomparable(symbols[0]))",
        "reference(steps=lambda n: [(Incomparable(name), arguments) for name, arguments in steps(n)])",
    ],
)
def test_symbols_are_the_texts_that_they_are(answer, code, mine):
    mine(HEAD, f"mine = {code}")
    assert set(answer("src", "mine.py:mine", "--scales", "1-3")["src"].values()) == {1}
