"""Lower bound of a certificate: steps that fewer operators cannot serve; all their wirings are recomputed."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from operator import mul
from typing import Any

from lengthgen.circuits.checker.problem import CertificateError, Column, GuardedTask, Spend, determine, need
from lengthgen.circuits.checker.rup import ProofError, refuted

MAX_SIZE = 3_000_000
"""Largest number of entries of one step's tables, or of parts of a formula."""

Table = tuple[tuple[int, int], ...]
"""(key, value) pairs, ascending; a key reads argument symbols as digits in base q = len(alphabet), slot 1 first."""


def check_lower(problem: GuardedTask, certificate: Mapping[str, Any]) -> None:
    """Raise CertificateError unless the steps and prompts of a certificate prove its lower bound."""
    sequences: dict[int, list[tuple[int, ...]]] = {}
    complete = True
    for scale, lines in certificate["prompts"].items():
        need(scale in map(str, range(1, certificate["scale"] + 1)), "prompts are of a scale that is not claimed")
        n = int(scale)
        prompts = sorted({tuple(line.split(" ")) for line in lines})
        need(all(problem.is_prompt(n, prompt) for prompt in prompts), f"a prompt is not one of scale {scale}")
        rows = sequences[n] = [problem.sequence(n, prompt) for prompt in prompts]
        equal = len(set(map(len, rows))) == 1 or (rows and problem.task.end is not None)
        need(equal, f"scale {scale}: no prompts, or outputs of unequal length")
        if problem.mode == "typed":
            every = problem.every_prompt(n)
            complete &= every is not None and len(prompts) == len(every)

    classes = []
    need(certificate["steps"], "no steps are listed")
    for scale, position in certificate["steps"]:
        need(scale in sequences, f"no prompts of scale {scale} are listed")
        rows = [row for row in sequences[scale] if len(row) >= position]
        steps = problem.step_positions(scale, position)
        need(rows and steps[-1:] == [position], f"scale {scale} has no step at {position}")
        classes.append(tables_of(problem, scale, position, len(steps) - 1, rows))
    need(all(s < len(classes) for s in certificate["clique"]), "the clique has a step that is not listed")
    if certificate["lower"] == "inf":
        need(
            len(classes) == 1 and certificate["proof"] is None and not certificate["clique"],
            "inf rests on one step and nothing else",
        )
        need(not classes[0], "the step has a wiring, so inf is not proved")
        return
    need(all(classes), "a step has no wiring, so the lower bound is inf")
    # With prompts left out, a smaller set of positions may seem to suffice, and the needed set would be missed.
    need(
        problem.mode != "typed" or certificate["lower"] == 1 or complete,
        "mode typed needs all prompts of the scales listed",
    )
    for first, second in itertools.combinations(certificate["clique"], 2):
        problem.spend(len(classes[first]) * sum(map(len, classes[second])))
        dicts = [dict(table) for table in classes[first]]
        unshareable = all(any(a.get(key, value) != value for key, value in b) for a in dicts for b in classes[second])
        need(unshareable, f"steps {first} and {second} of the clique can share an operator")
    need(
        (certificate["proof"] is None) == (certificate["lower"] <= max(1, len(certificate["clique"]))),
        "the bound lacks a proof, or needs none",
    )
    if certificate["proof"] is not None:
        formula = formula_of(classes, certificate["lower"] - 1, certificate["clique"])
        try:
            need(refuted(*formula, certificate["proof"], problem.spend), "the proof does not refute the formula")
        except ProofError as error:
            raise CertificateError(f"certificate: {error}") from error


def tables_of(problem: GuardedTask, scale: int, position: int, step: int, rows: list[tuple[int, ...]]) -> list[Table]:
    """Return the partial tables of a step's wirings, in canonical order.

    Tables that contain another are left out: they never help. Equal columns give equal tables, so one of each is kept.
    """
    q, k, mode = len(problem.index), problem.arity, problem.mode
    *earlier, output = list(zip(*(row[:position] for row in rows), strict=True))
    if mode == "declared":
        columns, places = earlier, [p - 1 for p in problem.declared(scale, step, position - 1)]
        arguments = iter([tuple(places)] if determine([columns[p] for p in places], output) else [])
    else:
        columns = list(dict.fromkeys(earlier))
        arguments = _arguments(columns, output, k, mode == "free", problem.spend)
    tables: set[frozenset[tuple[int, int]]] = set()
    for chosen in arguments:
        size = len(chosen)
        pairs = set(zip(*(columns[index] for index in chosen), output, strict=True))
        # Mode typed: extra entries make tables with different numbers of arguments exclude each other.
        marks = [(q**k + other, int(other == size)) for other in range(k + 1)] if mode == "typed" else []
        orders = [tuple(range(size))] if mode == "declared" else _orders(chosen)
        problem.spend((len(rows) + len(orders) * len(pairs)) * (size + 1))
        for order in orders:
            weights = [q ** (size - 1 - order.index(slot)) for slot in range(size)]
            tables.add(frozenset([*((sum(map(mul, pair, weights)), pair[-1]) for pair in pairs), *marks]))
        need(len(tables) * len(pairs) <= MAX_SIZE, f"the wirings of scale {scale}, position {position} are too many")
    minimal: list[frozenset[tuple[int, int]]] = []
    for table in sorted(tables, key=len):
        problem.spend(len(minimal))
        if not any(smaller <= table for smaller in minimal):
            minimal.append(table)
    return sorted(tuple(sorted(table)) for table in minimal)


def _orders(chosen: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the orders of slots, one for each order of the columns in them: equal columns are not exchanged."""
    orders: list[tuple[int, ...]] = [()]
    for _ in chosen:
        free = [(order, [slot for slot in range(len(chosen)) if slot not in order]) for order in orders]
        orders = [(*order, slot) for order, slots in free for slot in {chosen[slot]: slot for slot in slots}.values()]
    return orders


def _arguments(columns: list[Column], output: Column, k: int, free: bool, spend: Spend) -> Iterator[tuple[int, ...]]:
    """Yield the sets of columns from which a step can be computed, one order of each.

    These are the inclusion-minimal determining sets; in mode free they are filled up to k columns, with repeats, since
    every wiring contains such a set. The search is as follows. Two sequences with different outputs differ at some
    member of every determining set. So if the columns chosen so far miss such a pair, one of the columns where it
    differs has to be added, and all of them are tried. By induction every determining set contains one that is found.
    """
    differences: list[frozenset[int]] = []  # differing columns of pairs missed before

    def missed(chosen: frozenset[int]) -> frozenset[int] | None:
        spend(len(differences) + (len(chosen) + 1) * len(output))
        difference = min((pair for pair in differences if pair.isdisjoint(chosen)), key=len, default=None)
        if difference is not None:
            return difference
        last: dict[tuple[int, ...], int] = {}
        for row, tokens in enumerate(zip(*(columns[index] for index in chosen), output, strict=True)):
            before = last.get(tokens[:-1], row)
            last[tokens[:-1]] = row
            if output[before] != output[row]:
                differences.append(frozenset(i for i, column in enumerate(columns) if column[before] != column[row]))
                return differences[-1]
        return None

    determining: list[frozenset[int]] = []
    seen, stack = {frozenset[int]()}, [frozenset[int]()]
    while stack:
        chosen = stack.pop()
        difference = missed(chosen)
        if difference is None:
            determining.append(chosen)
        elif len(chosen) < k:
            new = {chosen | {index} for index in difference} - seen
            seen |= new
            stack += new
    spend(len(determining) ** 2)
    done: set[tuple[int, ...]] = set()
    for needed in (chosen for chosen in determining if not any(other < chosen for other in determining)):
        spare = k - len(needed) if free else 0
        for fill in itertools.combinations_with_replacement(range(len(columns)), spare):
            multiset = tuple(sorted((*needed, *fill)))
            if multiset not in done:
                done.add(multiset)
                yield multiset


def formula_of(classes: list[list[Table]], count: int, clique: Sequence[int]) -> tuple[int, list[list[int]]]:
    """Return the formula "`count` operators serve all steps": its number of variables, and its clauses.

    alt[s, a, c]: step s is computed by operator c through its table a. tab[c, key, value]: operator c maps key to
    value, for keys with two values among all tables; other keys exclude nothing. The members of the clique need
    different operators, and operators are interchangeable, so the m-th member may be given operator m.
    """
    values: dict[int, set[int]] = {}
    for key, value in itertools.chain(*itertools.chain(*classes)):
        values.setdefault(key, set()).add(value)
    contested = {key: sorted(values[key]) for key in sorted(values) if len(values[key]) > 1}
    size = sum(2 + sum(key in contested for key, _ in table) for table in itertools.chain(*classes))
    size += sum(len(key_values) + math.comb(len(key_values), 2) for key_values in contested.values())
    need(count * size <= MAX_SIZE, f"the formula has more than {MAX_SIZE:,} parts")
    operators = range(count)
    alternatives = [(s, a) for s, tables in enumerate(classes) for a in range(len(tables))]
    alt = {
        triple: number for number, triple in enumerate(((s, a, c) for s, a in alternatives for c in operators), start=1)
    }
    entries = ((c, key, value) for c in operators for key, key_values in contested.items() for value in key_values)
    tab = {entry: number for number, entry in enumerate(entries, start=len(alt) + 1)}
    clauses = [[alt[s, a, c] for a in range(len(tables)) for c in operators] for s, tables in enumerate(classes)]
    for (s, a, c), variable in alt.items():
        clauses += [[-variable, tab[c, key, value]] for key, value in classes[s][a] if key in contested]
    for c, (key, key_values) in itertools.product(operators, contested.items()):
        clauses += [[-tab[c, key, v], -tab[c, key, w]] for v, w in itertools.combinations(key_values, 2)]
    for m, s in enumerate(clique):
        clauses += [[-alt[s, a, c]] for a in range(len(classes[s])) for c in operators if c != m]
    return len(alt) + len(tab), clauses
