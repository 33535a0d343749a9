"""Why SRC needs a fixed arity (arXiv 2510.04130, Def. 4, in our formalisation): with a growing one it is trivial."""

from collections.abc import Callable
from itertools import combinations, product

from circuits.src import minimal_arity, src, traces_up_to
from circuits.task import Task, trace
from circuits.tasks import load
from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.source import source
from proofs_checks.papers.sequential.words import parity_of, word_task

SEARCHED = 4
LONGEST = 5
"""Largest prompt and output of the tasks all of which are served at once."""
FIXED = (1, 2, 3, 4, 5)
"""Arities at which parity at once ends."""


def arity_must_be_fixed(
    *, task: Callable[[], Task], value: int, ends: str, first_infeasible: Callable[[int], int]
) -> Evidence:
    """Decide SRC where the arity may grow with the scale, and where it may not."""
    direct = task()
    for size in range(1, SEARCHED + 1):
        for scale, bounds in src(direct, traces_up_to(direct, size), size).bounds.items():
            if bounds != (value, value):
                raise Refuted(f"{direct.name} at arity {size}: SRC up to scale {scale} is {bounds[0]:g}, not {value}")
    texts = _require_one_operator_for_all(ends)
    for arity in FIXED:
        _require_first_infeasible(direct, arity, first_infeasible(arity))
    for arity in FIXED:
        _require_left_out(direct, arity, first_infeasible(arity))
    return Evidence(
        strength=Strength.BOUNDED,
        reach=f"k <= {FIXED[-1]}",
        facts=(
            f"parity at once, arity N: SRC is {value} up to N, by search, N = 1..{SEARCHED}",
            f"every task of at most {LONGEST} bits that appends at most {LONGEST}, at the arity of its longest text: "
            f"what is visible, filled up with '=', is another key for each of {texts} texts, so one operator does all",
            "argument for every length: the first '=' ends the prompt, the last symbol that is none ends the output",
            f"parity at once, fixed arity k = {FIXED[0]}..{FIXED[-1]}: at scale k + 1 any k positions leave out a bit, "
            "which changes the output but not the key; the scales before are feasible",
        ),
        assumptions=("a mark ends the prompt; without one, parity at once has SRC 2 at arity n = 2, 3, 4",),
    )


def filled_texts(largest: int, ends: str) -> dict[tuple[str, int], str]:
    """What is visible before a step, and the bits of its prompt -> filled up with the mark, or else the last bit."""
    length = 2 * largest
    found = {}
    for n, done in product(range(1, largest + 1), range(largest)):
        for bits in product("01", repeat=n + done):
            text = "".join(bits[:n]) + ends + "".join(bits[n:])
            found[text, n] = text + (ends or text[-1]) * (length - len(text))
    return found


def _require_one_operator_for_all(ends: str) -> int:
    """That texts of all tasks are told apart when filled up to one length."""
    owner: dict[str, tuple[str, int]] = {}
    found = filled_texts(LONGEST, ends)
    for text, filled in found.items():
        other = owner.setdefault(filled, text)
        if other != text:
            raise Refuted(
                f"{other[0]} after {other[1]} bits and {text[0]} after {text[1]} are both filled up to {filled}"
            )
    return len(found)


def _require_first_infeasible(task: Task, arity: int, wanted: int) -> None:
    """That `wanted` is the first scale with a step that no `arity` positions determine."""
    needed = (minimal_arity([trace(task, n)]) for n in range(1, arity + 3))
    found = next((n for n, least in enumerate(needed, start=1) if least is None or least > arity), None)
    if found != wanted:
        raise Refuted(f"{task.name} at arity {arity}: the first infeasible scale is {found}, not {wanted}")


def _require_left_out(task: Task, arity: int, scale: int) -> None:
    """That whatever the first step reads, a symbol that it leaves out changes what is to be written."""
    choices = [[task.alphabet[token] for token in tokens] for tokens in task.choices(scale)]
    prompt = tuple(symbols[0] for symbols in choices)
    for read in combinations(range(len(prompt)), arity):
        free = next(place for place, symbols in enumerate(choices) if len(symbols) > 1 and place not in read)
        changed = (*prompt[:free], choices[free][1], *prompt[free + 1 :])
        if task.generate(prompt)[0] == task.generate(changed)[0]:
            raise Refuted(f"{task.name}: the first output is the same for {prompt} and {changed}")


CLAIMS = (
    Claim(
        id="src-arity",
        source=source("Definition 4", "the bound on the arity, which is ours"),
        statement="If the arity may grow with the text, SRC is 1 for every task whose prompt ends with a mark. At "
        "fixed arity k, parity at once is infeasible from scale k + 1 on. "
        "Tried for k <= 5; an argument does the rest.",
        latex=r"k=|\text{text}|\Rightarrow\mathrm{SRC}=1;\quad \mathrm{SRC}_k(\text{parity at once},n)=\infty\iff n>k",
        label="F",
        check=arity_must_be_fixed,
        holds={
            "task": lambda: load("parity-direct"),
            "value": 1,
            "ends": "=",
            "first_infeasible": lambda arity: arity + 1,
        },
        answers=("value",),
        falsifiers={
            "no mark after the operand": {"task": lambda: word_task("parity at once without '='", 2, parity_of)},
            "texts filled up with their last bit": {"ends": ""},
            "feasible one scale longer": {"first_infeasible": lambda arity: arity + 2},
            "with chain of thought": {"task": lambda: load("parity")},
        },
    ),
)
