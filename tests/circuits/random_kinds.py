"""Random tasks of every kind, compared with brute force; and their certificates, altered at random.

`python -m tests.circuits.random_kinds --tasks 3000 --alterations 5000` does so in full size; the tests try a few.
"""

import argparse
import copy
import itertools
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lengthgen.circuits.certificate import certificate
from lengthgen.circuits.checker import CertificateError, check
from lengthgen.circuits.questions.right_outputs import choice_src
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import TaskSpec
from tests.oracles import sequences as oracle

Symbols = tuple[str, ...]
KINDS = ("valid", "draw", "early", "between", "right")
END = "$"


def random_kind(seed: int) -> tuple[Task, tuple[str, ...], int, int]:
    """Return a task, its kinds, an arity and the last scale, small enough for brute force."""
    rng = random.Random(f"kind {seed}")
    kinds = tuple(kind for kind in KINDS if rng.random() < 0.45)
    if "early" in kinds:
        kinds = tuple(kind for kind in kinds if kind not in ("between", "right"))
    arity, scales = rng.choice([(1, 3), (1, 2), (2, 2)])
    scales = 2 if "right" in kinds else scales
    letters = tuple("abc"[: 2 if "right" in kinds else rng.choice([2, 2, 3])])
    alphabet = (*letters, END)
    layouts: dict[int, list[Any]] = {}
    laws: dict[int, list[tuple[tuple[int, ...], dict[Symbols, str]]]] = {}
    excluded: set[Symbols] = set()
    for scale in range(1, scales + 1):
        layout: list[Any] = [letters[: 1 if rng.random() < 0.2 else len(letters)] for _ in range(scale)]
        if "between" in kinds:
            for _ in range(rng.randint(1, 2)):
                layout.insert(rng.randint(1, len(layout)), ...)
        layouts[scale] = layout
        between = layout.count(...)
        length = len(layout) + rng.randint(1, 2)
        places = [p for p in range(length) if p >= len(layout) or layout[p] is ...]
        laws[scale] = [_law(rng, alphabet if "early" in kinds else letters, arity, place) for place in places]
        assert len(places) > between
        prompts = list(itertools.product(*(choice for choice in layout if choice is not ...)))
        if "valid" in kinds:
            excluded |= set(rng.sample(prompts, rng.randint(0, len(prompts) - 1)))

    def sequence(symbols: Symbols) -> list[str]:
        layout = layouts[len(symbols)]
        given, visible, output = list(symbols), [], []
        steps = iter(laws[len(symbols)])
        for place in range(len(layout) + len(laws[len(symbols)]) - layout.count(...)):
            if place < len(layout) and layout[place] is not ...:
                visible.append(given.pop(0))
                continue
            positions, table = next(steps)
            visible.append(table[tuple(visible[position] for position in positions)])
            output.append(visible[-1])
        return output

    def generate(symbols: Symbols) -> list[str]:
        output = sequence(symbols)
        if "early" in kinds:
            output = [*itertools.takewhile(lambda symbol: symbol != END, output), END]
        return output

    def right(symbols: Symbols) -> list[list[str]]:
        output = generate(symbols)
        other = random.Random(f"right {seed} {symbols}")
        return [output, *([other.choices(letters, k=len(output))] if other.random() < 0.6 else [])]

    def draw(scale: int, source: random.Random) -> Symbols:
        choices = [choice for choice in layouts[scale] if choice is not ...]
        return source.choice([each for each in itertools.product(*choices) if each not in excluded])

    task = Task(
        name=f"kind-{seed}",
        alphabet=alphabet,
        prompt=layouts.__getitem__,
        generate=generate,
        end=END if "early" in kinds else None,
        valid=(lambda symbols: symbols not in excluded) if "valid" in kinds else None,
        draw=draw if "draw" in kinds else None,
        right=right if "right" in kinds else None,
    )
    return task, kinds, arity, scales


def _law(rng: random.Random, alphabet: Symbols, arity: int, before: int) -> tuple[tuple[int, ...], dict[Symbols, str]]:
    """Return a random function of up to one position more than the arity, and its positions."""
    positions = tuple(rng.choices(range(before), k=rng.choice([1, arity, arity, arity + 1])))
    values = rng.choices(alphabet, k=rng.choice([1, 2, 3]))
    return positions, {key: rng.choice(values) for key in itertools.product((*alphabet, END), repeat=len(positions))}


def brute_force(task: Task, scales: int, arity: int) -> dict[int, float]:
    """Return scale -> SRC by trying every choice of right outputs, every wiring and every partition."""
    values: dict[int, float] = {}
    for scale in range(1, scales + 1):
        prompts = [
            symbols
            for n in range(1, scale + 1)
            for symbols in itertools.product(*(choice for choice in task.prompt(n) if choice is not ...))
            if task.valid is None or task.valid(symbols)
        ]
        every = [task.right(symbols) if task.right else [task.generate(symbols)] for symbols in prompts]
        values[scale] = math.inf
        for outputs in itertools.product(*every):
            generate = dict(zip(prompts, outputs, strict=True)).__getitem__
            steps = [
                tables
                for n in range(1, scale + 1)
                for tables in oracle.step_tables(task.prompt, generate, n, arity, task.valid)
            ]
            values[scale] = min(values[scale], oracle.fewest_by_partition(steps))
    return values


def computed(task: Task, scales: int, arity: int) -> dict[int, float | None]:
    """Return scale -> SRC as the project computes it; None where its bounds differ."""
    if task.right is None:
        return src(task, traces_up_to(task, scales), arity).values
    bounds = choice_src(task, scales, arity).bounds
    return {scale: low if low == high else None for scale, (low, high) in bounds.items()}


def certified(seed: int) -> tuple[Task, dict[str, Any], dict[int, float]] | None:
    """Return a random task with one right output, its certificate, and SRC by brute force."""
    task, kinds, arity, scales = random_kind(seed)
    if not kinds or task.right is not None:
        return None
    result = src(task, traces_up_to(task, scales), arity)
    content = certificate(task, result, spec=TaskSpec(name=f"mine.py:{task.name}"))
    return task, content, brute_force(task, scales, arity)


def alterations(content: dict[str, Any], task: Task, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield altered certificates without end: one or two fields changed each time."""
    symbols = list(task.alphabet)
    while True:
        altered = copy.deepcopy(content)
        for _ in range(rng.randint(1, 2)):
            field = rng.choice(("lower", "upper", "scale", "arity", "prompts", "steps", "clique", "circuit", "circuit"))
            value = altered[field]
            if field in ("lower", "upper", "scale", "arity"):
                altered[field] = rng.choice([1, 2, 3, "inf" if field in ("lower", "upper") else 1])
            elif field == "prompts" and value:
                scale = rng.choice([*value])
                value[scale] = rng.choice(
                    [
                        value[scale][1:],
                        value[scale][:1],
                        [" ".join(rng.choices(symbols, k=int(scale)))],
                        value[scale] * 2,
                    ]
                )
            elif field == "steps" and value:
                place = rng.choice(value)
                place[rng.randrange(2)] += rng.choice([-1, 1])
            elif field == "clique":
                altered[field] = rng.choice([value[:-1], [*value, 0], [0, 1]])
            elif field == "circuit" and value and "operators" in value:
                _alter_circuit(value, symbols, rng)
        if altered != content:
            yield altered


def _alter_circuit(circuit: dict[str, Any], symbols: list[str], rng: random.Random) -> None:
    """Change one entry of an operator, one argument, or one operator of a step."""
    operator = rng.choice(circuit["operators"])
    wirings = rng.choice([*circuit["wirings"].values()])
    step = rng.choice(wirings)
    what = rng.randrange(4)
    if what == 0 and operator:
        operator[rng.choice([*operator])] = rng.choice(symbols)
    elif what == 1:
        step[1][rng.randrange(len(step[1]))] = rng.randint(1, 6)
    elif what == 2:
        step[0] = rng.randrange(len(circuit["operators"]))
    elif rng.random() < 0.5:
        wirings.pop()
    else:
        wirings.append(copy.deepcopy(step))


def falsely_accepted(altered: dict[str, Any], task: Task, arity_values: dict[int, dict[int, float]]) -> bool | None:
    """Return True if the checker accepts a certificate of a false statement, False if a true one, None if none.

    Args:
        altered: the certificate.
        task: its task.
        arity_values: arity -> scale -> SRC by brute force.
    """
    try:
        verdict = check(altered, task, seed=0)
    except CertificateError:
        return None
    values = arity_values.get(altered["arity"])
    if values is None:
        values = arity_values[altered["arity"]] = brute_force(task, altered["scale"], altered["arity"])
    if altered["scale"] not in values:
        values |= brute_force(task, altered["scale"], altered["arity"])
    value = values[altered["scale"]]
    return not verdict.lower <= value <= (math.inf if verdict.upper is None else verdict.upper)


def main() -> int:
    """Compare and alter in full size; print what was tried, and exit with 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=3000)
    parser.add_argument("--alterations", type=int, default=5000)
    options = parser.parse_args()
    tried: Counter[str] = Counter()
    wrong = []
    for seed in range(options.tasks):
        task, kinds, arity, scales = random_kind(seed)
        tried.update(kinds or ("plain",))
        if computed(task, scales, arity) != brute_force(task, scales, arity):
            wrong.append(f"SRC of task {seed}")
    print(f"{options.tasks} tasks ({', '.join(f'{kind} {count}' for kind, count in sorted(tried.items()))})")
    answers: Counter[bool | None] = Counter()
    for seed in itertools.count():
        if answers.total() >= options.alterations:
            break
        case = certified(seed)
        if case is None:
            continue
        task, content, values = case
        for altered in itertools.islice(alterations(content, task, random.Random(seed)), 10):
            answer = falsely_accepted(altered, task, {content["arity"]: dict(values)})
            answers[answer] += 1
            if answer:
                wrong.append(f"altered certificate of task {seed}: {altered}")
    print(f"{answers.total()} alterations: {answers[None]} refused, {answers[False]} accepted and true")
    print("\n".join(["wrong:", *wrong]) if wrong else "nothing is wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
