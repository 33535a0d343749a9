"""Upper bound of a certificate: a circuit, evaluated on all prompts of a scale or on random ones."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from lengthgen.circuits.checker.problem import GuardedTask, determine, need

SAMPLE = 300
"""Number of random prompts that are tried at a scale with too many prompts to try all."""


def check_upper(problem: GuardedTask, certificate: Mapping[str, Any], seed: int) -> tuple[int, int]:
    """Evaluate the circuit at every scale.

    Returns the scale up to which all prompts were tried, and the number of random prompts at the other scales.

    Mode typed allows no unneeded argument. A sample cannot show that there is none, so this is checked only at scales
    with all prompts.
    """
    mode, checked_to, sampled = problem.mode, 0, 0
    slots = dict[Any, int]()  # number of arguments of each operator in use
    give, wirings = _circuit(problem, certificate["circuit"], certificate["scale"])
    for scale in range(1, certificate["scale"] + 1):
        steps, every_prompt = wirings(scale), problem.every_prompt(scale)
        every = every_prompt is not None
        checked_to += every and checked_to == scale - 1
        sampled += 0 if every else SAMPLE
        prompts = problem.random_prompts(scale, SAMPLE, seed) if every_prompt is None else every_prompt
        all_rows = [problem.sequence(scale, prompt) for prompt in prompts]
        lengths = set(map(len, all_rows))
        positions = problem.step_positions(scale, max(lengths))
        early = problem.task.end is not None  # then a sample may lack the longest outputs
        fitting = len(steps) == len(positions) or (early and not every and len(steps) > len(positions))
        need(
            steps and fitting and (early or len(lengths) == 1), f"the circuit does not have the steps of scale {scale}"
        )
        problem.spend(len(all_rows) * (max(lengths) + len(steps) * (problem.arity + 1)))
        for operator, places in steps:
            need(slots.setdefault(operator, len(places)) == len(places), f"scale {scale}: one operator, two arities")
        all_columns = None if early else list(zip(*all_rows, strict=True))
        for step, ((operator, places), position) in enumerate(zip(steps, positions, strict=False)):
            before = position - 1
            columns = all_columns or list(zip(*(row[:position] for row in all_rows if len(row) > before), strict=True))
            where = f"the circuit at scale {scale}, position {position}"
            need(all(0 < p <= before for p in places), f"{where} reads a position that is not earlier")
            if mode == "declared":
                need(places == problem.declared(scale, step, before), f"{where} does not have the declared wiring")
            if mode == "typed":
                rests = [[columns[p - 1] for p in places if p != dropped] for dropped in places]
                spare = every and any(determine(rest, columns[before]) for rest in rests)
                need(len(set(places)) == len(places) and not spare, f"{where} has an unneeded argument")
            for *key, token in set(zip(*(columns[p - 1] for p in places), columns[before], strict=True)):
                need(give(operator, tuple(key)) == token, f"{where} is wrong")
    need(len(slots) <= certificate["upper"], f"the circuit has {len(slots)} operators, more than the upper bound")
    return checked_to, sampled


def _circuit(problem: GuardedTask, circuit: Any, scale: int) -> tuple[Callable[..., Any], Callable[[int], Any]]:
    """Return two functions: (operator, arguments) -> token, and scale -> operator and positions of every step."""
    index, k, reference = problem.index, problem.arity, problem.task.reference
    if "reference" in circuit:
        usable = problem.mode != "typed" and reference is not None and reference.arity <= k
        need(usable, "the task has no reference circuit of this mode and arity")
        symbols = list(index)

        def apply(operator: str, key: tuple[int, ...]) -> int | None:
            return index.get(problem.ask(reference.apply, operator, tuple(symbols[i] for i in key)))

        return apply, problem.reference_steps
    tables: list[dict[tuple[int | None, ...], int | None]] = []
    for operator in circuit["operators"]:
        keys = [key.split(" ") if key else [] for key in operator]
        table = {tuple(map(index.get, key)): index.get(s) for key, s in zip(keys, operator.values(), strict=True)}
        need(None not in [*itertools.chain(*table), *table.values()], "an operator has an unknown symbol")
        sizes = range(k + 1) if problem.mode == "typed" else [k]
        need(
            len(set(map(len, table))) <= 1 and all(len(key) in sizes for key in table),
            "an operator does not have this arity",
        )
        tables.append(table)
    steps = {n: [(operator, tuple(places)) for operator, places in wired] for n, wired in circuit["wirings"].items()}
    need(steps.keys() == {str(n) for n in range(1, scale + 1)}, f"the circuit must have wirings of scales 1 to {scale}")
    wired = list(itertools.chain(*steps.values()))
    need(all(operator < len(tables) for operator, _ in wired), "the circuit uses an operator that is not there")
    need(
        all(len(places) == k or (problem.mode == "typed" and len(places) < k) for _, places in wired),
        "a wiring does not have this arity",
    )
    return lambda operator, key: tables[operator].get(key), lambda n: steps[str(n)]
