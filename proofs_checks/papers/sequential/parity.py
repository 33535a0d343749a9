"""SRC of parity with chain of thought (arXiv 2510.04130, Def. 4): one operator at every scale."""

from collections.abc import Callable
from itertools import product

from circuits.src import src, traces_up_to
from circuits.task import Task
from circuits.tasks import load
from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.source import source
from proofs_checks.papers.sequential.layout import Key, Slots, cases, sequence, slots_of_parity, steps, xor
from proofs_checks.papers.sequential.words import parities_of, word_task

Operator = Callable[[Key], str]

SEARCHED = 6
COMPARED = 20


def parity_is_one(*, task: Callable[[], Task], arity: int, value: int, slots: Slots, operator: Operator) -> Evidence:
    """Decide SRC at all scales: by search at small ones, and by one circuit proved right at every scale."""
    searched = task()
    for scale, bounds in src(searched, traces_up_to(searched, SEARCHED), arity).bounds.items():
        if bounds != (value, value):
            raise Refuted(f"{searched.name} at arity {arity}: SRC up to scale {scale} is {bounds[0]:g}, not {value}")
    _require_right_when_run(slots, operator)
    _require_right_at_every_scale(slots, operator)
    _require_reference(searched, slots, operator)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            "lower bound: every scale has a step, and a step needs an operator",
            "upper bound, all n and t at once, block and aligned: in the first step, the later ones and the last, with "
            "free prefix parities y_i, the operator gives what is to be written on every key that can be met",
            f"by search the value is the same at scales 1..{SEARCHED}; the task's own circuit at scales "
            f"1..{COMPARED} is the one proved right",
        ),
        assumptions=("'=' closes the operand and stands for y_0; without it SRC is 2 from scale 2 on",),
    )


def _require_right_when_run(slots: Slots, operator: Operator) -> None:
    """The circuit on all words of few bits, in both layouts: where it is wrong, the counterexample is a prompt."""
    for n, padding in product(range(1, SEARCHED), (0, 1, 2)):
        for bits in product((0, 1), repeat=n):
            tokens = sequence(bits, width=n + padding)
            for t in range(1, n + 2):
                key = tuple(tokens[position - 1] for position in slots(t, n + padding))
                written, wanted = operator(key), tokens[n + padding + t]
                if written != wanted:
                    raise Refuted(f"x = {bits}, width {n + padding}, step {t} reads {key}: {written}, not {wanted}")


def _require_right_at_every_scale(slots: Slots, operator: Operator) -> None:
    for aligned in (False, True):
        for step in steps(aligned=aligned):
            for key, wanted in cases(step, slots):
                if operator(key) != wanted:
                    raise Refuted(f"{step.name} step: {key} gives {operator(key)}, not {wanted}")


def _require_reference(task: Task, slots: Slots, operator: Operator) -> None:
    """That the task is defined by this circuit."""
    assert task.reference is not None
    for n in range(1, COMPARED + 1):
        found = [arguments for _, arguments in task.reference.steps(n)]
        if found != [slots(t, n) for t in range(1, n + 2)]:
            raise Refuted(f"scale {n}: the task's own circuit reads {found}")
    for key in {key for step in steps(aligned=False) for key, _ in cases(step, slots)}:
        if task.reference.apply("sum", key) != operator(key):
            raise Refuted(f"the task's own operator gives {task.reference.apply('sum', key)} for {key}")


def _bitwise(combine: Callable[[int, int], int]) -> Operator:
    """The operator with another law on two bits."""
    return lambda key: str(combine(*map(int, key))) if set(key) <= {"0", "1"} else xor(key)


CLAIMS = (
    Claim(
        id="src-parity",
        source=source("Definition 4", "parity with chain of thought"),
        statement="At arity 2, SRC of parity with chain of thought is 1 at every scale.",
        latex=r"\mathrm{SRC}_2(\text{parity},n)=1\quad\forall n",
        label="F",
        check=parity_is_one,
        holds={"task": lambda: load("parity"), "arity": 2, "value": 1, "slots": slots_of_parity, "operator": xor},
        answers=("value",),
        falsifiers={
            "one slot": {"arity": 1},
            "without chain of thought": {"task": lambda: load("parity-direct")},
            "no mark after the operand": {"task": lambda: word_task("parity without '='", 2, parities_of)},
            "or": {"operator": _bitwise(int.__or__)},
            "and": {"operator": _bitwise(int.__and__)},
            "reads the bit before": {"slots": lambda t, w: (w + 1 if t == 1 else t - 1, w + t)},
            "reads the parity before the last": {"slots": lambda t, w: (t, w + 1)},
        },
    ),
)
