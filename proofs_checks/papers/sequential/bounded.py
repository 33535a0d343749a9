"""SRC is bounded where alphabet and arity are fixed (arXiv 2510.04130, Def. 4, in our formalisation)."""

from collections.abc import Callable, Mapping
from math import factorial

from circuits.src import src, traces_up_to
from circuits.tasks import load
from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.source import source
from proofs_checks.papers.sequential.hitting import Function, fewest_operators, served
from proofs_checks.papers.sequential.words import Word, word_task

Pair = tuple[int, int]
"""Symbols and arity."""

FORCED: tuple[Pair, ...] = ((2, 1), (2, 2))
"""Where the largest SRC is reached by a task small enough for the search."""
PERMUTATIONS = ((2, 5), (3, 8), (4, 5))
"""Base and largest scale of the permutation controls."""


def src_is_bounded(
    *,
    bound: Callable[[int, int], int],
    repeats: bool,
    largest: Mapping[Pair, int],
    control: Callable[[int, int], int],
) -> Evidence:
    """Decide the largest SRC of any task of q symbols at arity k, the bound on it, and SRC of the controls."""
    for (symbols, arity), value in largest.items():
        hit = served(symbols, arity, arity, repeats=repeats)
        found = fewest_operators(hit.values())
        if found > bound(symbols, arity):
            raise Refuted(
                f"q = {symbols}, k = {arity}: to compute every function of {arity} positions takes {found:g} "
                f"operators, more than {bound(symbols, arity)}"
            )
        if found != value:
            raise Refuted(f"q = {symbols}, k = {arity}: the largest SRC is {found:g}, not {value}")
        if (symbols, arity) in FORCED:
            _require_forced(symbols, arity, value, hit)
    for base, scales in PERMUTATIONS:
        task = load("permutation", base=base)
        for n, bounds in src(task, traces_up_to(task, scales), 1).bounds.items():
            if bounds != (control(n, base),) * 2:
                raise Refuted(f"{task.name}: SRC up to scale {n} is {bounds[0]:g}, not {control(n, base)}")
    return Evidence(
        strength=Strength.BOUNDED,
        reach="k = 1, 2, 3",
        facts=(
            f"largest SRC of any task, where finite, at (q, k): {', '.join(f'{p}: {v}' for p, v in largest.items())}; "
            f"reached by tasks that the search solves at {FORCED}",
            "argument: a step is a function of the at most k positions that it reads, so operators that hit every "
            "function of k positions serve all tasks; a task with all of these as steps needs as many",
            "one slot: every operator is needed, q^q. More slots: fewer than q^(q^k), since an operator also serves "
            "with its slots exchanged or filled alike",
            "permutation controls by search: "
            f"{', '.join(f'base {base}: min(n, {factorial(base)}) up to n = {n}' for base, n in PERMUTATIONS)}",
            "SRC does not fall (src-monotone) and is bounded, so it is constant from some scale on, or infinite",
        ),
        assumptions=("alphabet and arity are the same at all scales",),
    )


def forcing_steps(hit: Mapping[Function, int]) -> list[Function]:
    """Functions such that operators which hit these hit all: one for each least set of operators."""
    least: dict[int, Function] = {}
    for function, operators in hit.items():
        if not any(other & operators == other and other != operators for other in hit.values()):
            least.setdefault(operators, function)
    return list(least.values())


def _require_forced(symbols: int, arity: int, value: int, hit: Mapping[Function, int]) -> None:
    """That the search finds this SRC where scale n appends the n-th forcing step of the first `arity` symbols."""
    steps = forcing_steps(hit)

    def output(word: Word) -> list[int]:
        key = sum(symbol * symbols**place for place, symbol in enumerate(reversed(word[:arity])))
        return [steps[len(word) - arity][key]]

    task = word_task(f"all functions of {arity} of {symbols} symbols", symbols, output, longer=arity - 1)
    found = src(task, traces_up_to(task, len(steps)), arity).bounds[len(steps)]
    if found != (value, value):
        raise Refuted(f"{task.name}: SRC up to scale {len(steps)} is {found[0]:g}, not {value}")


_LARGEST: Mapping[Pair, int] = {(2, 1): 4, (3, 1): 27, (4, 1): 256, (2, 2): 8, (2, 3): 68}


CLAIMS = (
    Claim(
        id="src-bounded",
        source=source("Definition 4", "SRC over a fixed alphabet at a fixed arity"),
        statement="Where finite, SRC at arity k over q symbols is at most q^(q^k), so constant from some scale on. The "
        "bound is attained at k = 1, not beyond: at q = 2 the largest SRC is 4, 8, 68 for k = 1, 2, 3. "
        "Permutations of q symbols have min(n, q!).",
        latex=r"\mathrm{SRC}_k(f,n)<\infty\Rightarrow\mathrm{SRC}_k(f,n)\le q^{q^k}",
        label="F",
        check=src_is_bounded,
        holds={
            "bound": lambda q, k: q ** (q**k),
            "repeats": True,
            "largest": _LARGEST,
            "control": lambda n, base: min(n, factorial(base)),
        },
        answers=("largest",),
        falsifiers={
            "as many as there are keys": {"bound": lambda q, k: q**k},
            "one less": {"bound": lambda q, k: q ** (q**k) - 1},
            "a position read once only": {"repeats": False},
            "a fixed alphabet lets it grow with n": {"control": lambda n, base: n},
            "as many as functions of one slot": {"control": lambda n, base: min(n, base**base)},
        },
    ),
)
