"""Checks certificates of SRC bounds: plain Python, and no code shared with what computes them.

SRC(f, n) is the fewest unit operators of any circuit of one arity that computes f at every scale up to n ([F],
definitions of arXiv 2510.04130, Def. 4). A lower bound rests on some steps and some prompts: to leave out the others
only makes the problem easier. All wirings of these steps are found anew. Fewer operators are too few because steps of
a clique exclude each other in pairs, or because a formula is refuted by a DRAT proof. An upper bound is a circuit,
which is evaluated: on all prompts of a scale it proves the bound there, on random ones it does not, and the verdict
says so. What has to be trusted: the task that is passed in, Python, this file and `circuits.rup`.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from circuits.rup import ProofError, refuted

MAX_PROMPTS, SAMPLE = 20_000, 300
"""A circuit is tried on all prompts of a scale that has at most so many, else on so many random ones."""
MAX_SIZE, MAX_EFFORT = 3_000_000, 300_000_000
"""Entries of one step's tables, or parts of a formula; elementary operations for one certificate (a minute or so)."""
SCALE, ARITY, COUNT, PLACE = range(1, 129), range(1, 9), range(1, 2001), range(1, 1_000_000)
SHAPES: dict[str, tuple[Any, ...]] = {
    "format": (1,),
    "task": (str,),
    "base": (None, PLACE),
    "layout": ("unaligned", "aligned"),
    "largest_scale": (SCALE,),
    "arity": (ARITY,),
    "mode": ("free", "declared", "typed"),
    "scale": (SCALE,),
    "lower": (COUNT, "inf"),
    "upper": (PLACE, "inf", None),
    "prompts": ({str: [str]},),
    "steps": ([(SCALE, PLACE)],),
    "clique": ([range(2000)],),
    "proof": (None, [str]),
    "circuit": (None, {"reference": True}, {"operators": [{str: str}], "wirings": {str: [(range(2000), [PLACE])]}}),
}
"""The fields of a certificate, and what each may be (`_fits`)."""

Column = tuple[int, ...]
"""What one position holds, over all sequences: indices into the alphabet."""
Table = tuple[tuple[int, int], ...]
"""(key, value), ascending; a key reads argument symbols as digits in base q = len(alphabet), slot 1 first."""
Spend = Callable[[int], None]


class CertificateError(ValueError):
    """Not a certificate, or one that does not prove what it says; the message is one line."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a check has shown.

    Attributes:
        statement: in one line, with what is not proved.
        status: in the words of `circuits.src`: "exact", "reference", "sampled" or "bounds".
        proved: whether all of the bounds are; else the upper one was tried on random prompts only.
        lower: inf where there is no circuit.
        upper: None where none is claimed.
        upper_checked_to: the circuit was tried on all prompts up to this scale, on random ones beyond; 0 if there is
            none.
        sampled: random prompts that it was tried on.
    """

    statement: str
    status: str
    proved: bool
    lower: float
    upper: float | None
    upper_checked_to: int
    sampled: int


def _refuted(variables: int, clauses: list[list[int]], proof: list[str], spend: Spend) -> bool:
    try:
        return refuted(variables, clauses, proof, spend)
    except ProofError as error:
        raise CertificateError(f"certificate: {error}") from error


def _need(holds: object, otherwise: str) -> None:
    if not holds:
        raise CertificateError(f"certificate: {otherwise}")


def _fits(value: Any, shape: Any) -> bool:
    """Whether JSON is as a shape says: a type, a range, [each], (first, second), {str: each}, {field: its shape}."""
    if isinstance(shape, range):
        return type(value) is int and value in shape
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(each, shape[0]) for each in value)
    if isinstance(shape, tuple):
        return isinstance(value, list) and len(value) == len(shape) and all(map(_fits, value, shape))
    if isinstance(shape, dict):
        each = dict.fromkeys(value, shape[str]) if str in shape and isinstance(value, dict) else shape
        return isinstance(value, dict) and value.keys() == each.keys() and all(_fits(value[k], each[k]) for k in each)
    return type(value) is shape if isinstance(shape, type) else type(value) is type(shape) and value == shape


def in_words(subject: str, setting: str, lower: float, upper: float | None, *, own: bool, tried: int, to: int) -> str:
    """Bounds as a sentence, in which the upper one is not called proved where it rests on some prompts of a scale.

    Args:
        subject: SRC of which task, at which scale.
        setting: what it depends on besides: the arity and so on.
        lower: inf where there is no circuit.
        upper: None where there is none to speak of.
        own: whether the upper bound is that of the task's own circuit.
        tried: of the scales above `to`, the prompts that the circuit was tried on; 0 where those were all prompts.
        to: last scale of which all prompts were tried.
    """
    if tried and upper is not None and not math.isinf(upper):
        bound = f"upper bound {upper}" + (", that of the task's own circuit," if own else "")
        return (
            f"{subject} >= {lower} {setting}; {bound} holds on {tried:,} sampled prompts only above scale {to}, "
            "not proved"
        )
    if lower in (math.inf, upper):
        return f"{subject} = {lower} {setting}"
    if upper is None or math.isinf(upper):
        return f"{subject} >= {lower} {setting}"
    return f"{lower} <= {subject} <= {upper} {setting}"


def check(certificate: Mapping[str, Any], task: Any, *, seed: int) -> Verdict:
    """What a certificate proves of a task.

    Args:
        certificate: the JSON object.
        task: the one it names, in its layout. Has `alphabet`, `prompt(n)`, `generate(symbols)` and `reference`, which
            is None or has `arity`, `steps(n)` and `apply(name, symbols)`.
        seed: of the random prompts that a circuit is tried on where a scale has too many.

    Raises:
        CertificateError: anything is wrong, or beyond the limits of this module.
    """
    c = certificate
    _need(isinstance(c, Mapping) and set(c) == set(SHAPES), f"its fields must be {', '.join(SHAPES)}")
    for field, shapes in SHAPES.items():
        _need(any(_fits(c[field], shape) for shape in shapes), f"'{field}' has a wrong type, a wrong value or a gap")
    _need(c["scale"] <= c["largest_scale"] and c["task"].isprintable(), "no such scale or no such task")
    lower, upper = (math.inf if c[bound] == "inf" else c[bound] for bound in ("lower", "upper"))
    _need(upper is None or lower <= upper, "the lower bound is above the upper bound")
    _need(upper != math.inf or lower == math.inf, "an upper bound of inf needs a lower bound of inf")
    _need((c["circuit"] is None) == (upper in (None, math.inf)), "a circuit and a finite upper bound go together")
    problem = _Problem(task, c["arity"], c["mode"])
    _check_lower(problem, c)
    checked_to, sampled = (0, 0) if c["circuit"] is None else _check_upper(problem, c, seed)

    base = f" base {c['base']}" if c["base"] else ""
    layout = f", aligned to scale {c['largest_scale']}" if c["layout"] == "aligned" else ""
    own = c["circuit"] == {"reference": True}
    statement = in_words(
        f"SRC({c['task']}{base}, {c['scale']})",
        f"at arity {c['arity']}, {c['mode']}{layout}",
        lower,
        upper,
        own=own,
        tried=sampled,
        to=checked_to,
    )
    known = "exact" if not sampled else "reference" if own else "sampled"
    return Verdict(
        statement=statement,
        status=known if lower in (math.inf, upper) else "bounds",
        proved=not sampled,
        lower=lower,
        upper=upper,
        upper_checked_to=checked_to,
        sampled=sampled,
    )


class _Problem:
    """The task with its calls guarded, the arity, the mode, and the effort spent so far."""

    def __init__(self, task: Any, arity: int, mode: str) -> None:
        self.task, self.arity, self.mode, self.effort = task, arity, mode, 0
        self.index = {symbol: number for number, symbol in enumerate(task.alphabet)}

    def spend(self, operations: int) -> None:
        self.effort += operations
        _need(self.effort <= MAX_EFFORT, f"checking it takes more than {MAX_EFFORT:,} operations")

    def ask(self, act: Callable[..., Any], *given: object) -> Any:
        try:
            return act(*given)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise CertificateError(f"certificate: the task fails on {str(given)[:80]}: {reason}") from error

    def allowed(self, scale: int) -> Any:
        return self.ask(lambda n: [tuple(dict.fromkeys(symbols)) for symbols in self.task.prompt(n)], scale)

    def sequence(self, prompt: tuple[str, ...]) -> Any:
        return self.ask(lambda symbols: tuple(self.index[s] for s in (*symbols, *self.task.generate(symbols))), prompt)

    def reference_steps(self, scale: int) -> Any:
        _need(self.task.reference is not None, "the task has no reference circuit")
        return self.ask(lambda n: [(name, tuple(places)) for name, places in self.task.reference.steps(n)], scale)

    def declared(self, scale: int, step: int, before: int) -> Any:
        """The reference's argument positions of a step (0-based), of which `before` are before it."""
        steps = self.reference_steps(scale)
        _need(step < len(steps) and _fits(list(steps[step][1]), [range(1, before + 1)]), "the reference lacks a step")
        _need(len(steps[step][1]) == self.arity, "mode declared needs the reference's own arity")
        return steps[step][1]


def _check_lower(problem: _Problem, c: Mapping[str, Any]) -> None:
    sequences: dict[int, list[tuple[int, ...]]] = {}
    lengths: dict[int, int] = {}  # of the prompts
    complete = True
    for scale, lines in c["prompts"].items():
        _need(scale in map(str, range(1, c["scale"] + 1)), "prompts are of a scale that is not claimed")
        allowed = problem.allowed(int(scale))
        prompts = sorted({tuple(line.split(" ")) for line in lines})
        for prompt in prompts:
            fits = len(prompt) == len(allowed) and all(s in symbols for s, symbols in zip(prompt, allowed, strict=True))
            _need(fits, f"a prompt is not one of scale {scale}")
        sequences[int(scale)], lengths[int(scale)] = [problem.sequence(prompt) for prompt in prompts], len(allowed)
        _need(
            len(set(map(len, sequences[int(scale)]))) == 1, f"scale {scale}: no prompts, or outputs of unequal length"
        )
        complete &= len(prompts) == math.prod(map(len, allowed))

    classes = []
    _need(c["steps"], "no steps are listed")
    for scale, position in c["steps"]:
        _need(scale in sequences, f"no prompts of scale {scale} are listed")
        _need(lengths[scale] < position <= len(sequences[scale][0]), f"scale {scale} has no step at {position}")
        classes.append(_tables(problem, scale, position, position - lengths[scale] - 1, sequences[scale]))
    _need(all(s < len(classes) for s in c["clique"]), "the clique has a step that is not listed")
    if c["lower"] == "inf":
        _need(len(classes) == 1 and c["proof"] is None and not c["clique"], "inf rests on one step and nothing else")
        _need(not classes[0], "the step has a wiring, so inf is not proved")
        return
    _need(all(classes), "a step has no wiring, so the lower bound is inf")
    # With prompts left out a smaller set of positions may seem enough, and the one that is needed would be missed.
    _need(problem.mode != "typed" or c["lower"] == 1 or complete, "mode typed needs all prompts of the scales listed")
    for one, other in itertools.combinations(c["clique"], 2):
        problem.spend(len(classes[one]) * sum(map(len, classes[other])))
        known = [dict(table) for table in classes[one]]
        unshareable = all(any(a.get(key, value) != value for key, value in b) for a in known for b in classes[other])
        _need(unshareable, f"steps {one} and {other} of the clique can share an operator")
    _need((c["proof"] is None) == (c["lower"] <= max(1, len(c["clique"]))), "the bound lacks a proof, or needs none")
    if c["proof"] is not None:
        formula = _formula(classes, c["lower"] - 1, c["clique"])
        _need(_refuted(*formula, c["proof"], problem.spend), "the proof does not refute the formula")


def _tables(problem: _Problem, scale: int, position: int, step: int, rows: list[tuple[int, ...]]) -> list[Table]:
    """The partial tables that a step's wirings ask for, in canonical order.

    Without those that contain another: they never help. Equal columns give equal tables, so one of each is kept.
    """
    q, k, mode = len(problem.index), problem.arity, problem.mode
    *earlier, output = list(zip(*(row[:position] for row in rows), strict=True))
    if mode == "declared":
        columns, places = earlier, [p - 1 for p in problem.declared(scale, step, position - 1)]
        arguments = iter([tuple(places)] if _determine([columns[p] for p in places], output) else [])
    else:
        columns = list(dict.fromkeys(earlier))
        arguments = _arguments(columns, output, k, mode == "free", problem.spend)
    tables: set[frozenset[tuple[int, int]]] = set()
    for chosen in arguments:
        size = len(chosen)
        pairs = set(zip(*(columns[index] for index in chosen), output, strict=True))
        # Mode typed: marks of the operator's number of arguments, so that different numbers exclude each other.
        marks = [(q**k + other, int(other == size)) for other in range(k + 1)] if mode == "typed" else []
        different = {tuple(chosen[slot] for slot in order): order for order in itertools.permutations(range(size))}
        orders = [tuple(range(size))] if mode == "declared" else list(different.values())
        problem.spend((len(rows) + len(orders) * len(pairs)) * (size + 1))
        for order in orders:
            weights = [q ** (size - 1 - order.index(slot)) for slot in range(size)]
            tables.add(frozenset([*((sum(map(mul, pair, weights)), pair[-1]) for pair in pairs), *marks]))
        _need(len(tables) * len(pairs) <= MAX_SIZE, f"the wirings of scale {scale}, position {position} are too many")
    minimal: list[frozenset[tuple[int, int]]] = []
    for table in sorted(tables, key=len):
        problem.spend(len(minimal))
        if not any(smaller <= table for smaller in minimal):
            minimal.append(table)
    return sorted(tuple(sorted(table)) for table in minimal)


def _determine(columns: Sequence[Column], output: Column) -> bool:
    """Whether the output is a function of the columns."""
    pairs = set(zip(*columns, output, strict=True))
    return len({pair[:-1] for pair in pairs}) == len(pairs)


def _arguments(columns: list[Column], output: Column, k: int, free: bool, spend: Spend) -> Iterator[tuple[int, ...]]:
    """The columns that a step can be computed from, one order of each.

    Exactly those of an inclusion-minimal determining set; or in mode free k columns, with repeats, that include such a
    set: every wiring does. The sets are found thus. Two sequences with different outputs differ at some member of every
    determining set; so where what is chosen so far misses such a pair, one of the columns where it differs has to be
    added, and all of them are tried. By induction every determining set contains one that is found.
    """
    differences: list[frozenset[int]] = []  # of pairs missed before

    def missed(chosen: frozenset[int]) -> frozenset[int] | None:
        spend(len(differences) + (len(chosen) + 1) * len(output))
        known = min((pair for pair in differences if pair.isdisjoint(chosen)), key=len, default=None)
        if known is not None:
            return known
        last: dict[tuple[int, ...], int] = {}
        for row, tokens in enumerate(zip(*(columns[index] for index in chosen), output, strict=True)):
            before = last.get(tokens[:-1], row)
            last[tokens[:-1]] = row
            if output[before] != output[row]:
                differences.append(frozenset(i for i, column in enumerate(columns) if column[before] != column[row]))
                return differences[-1]
        return None

    found: list[frozenset[int]] = []
    seen, stack = {frozenset[int]()}, [frozenset[int]()]
    while stack:
        chosen = stack.pop()
        difference = missed(chosen)
        if difference is None:
            found.append(chosen)
        elif len(chosen) < k:
            new = {chosen | {index} for index in difference} - seen
            seen |= new
            stack += new
    spend(len(found) ** 2)
    done: set[tuple[int, ...]] = set()
    for needed in (one for one in found if not any(other < one for other in found)):
        spare = k - len(needed) if free else 0
        for fill in itertools.combinations_with_replacement(range(len(columns)), spare):
            multiset = tuple(sorted((*needed, *fill)))
            if multiset not in done:
                done.add(multiset)
                yield multiset


def _formula(classes: list[list[Table]], count: int, clique: Sequence[int]) -> tuple[int, list[list[int]]]:
    """The formula that `count` operators serve all steps: its number of variables, and its clauses.

    alt[s, a, c]: step s is computed by operator c through its table a. tab[c, key, value]: what operator c gives, for
    keys with two values among all tables; others exclude nothing. The members of the clique need different operators,
    and operators are interchangeable, so its m-th member may be given operator m.
    """
    values: dict[int, set[int]] = {}
    for key, value in itertools.chain(*itertools.chain(*classes)):
        values.setdefault(key, set()).add(value)
    contested = {key: sorted(values[key]) for key in sorted(values) if len(values[key]) > 1}
    size = sum(2 + sum(key in contested for key, _ in table) for table in itertools.chain(*classes))
    size += sum(len(found) + math.comb(len(found), 2) for found in contested.values())
    _need(count * size <= MAX_SIZE, f"the formula has more than {MAX_SIZE:,} parts")
    operators = range(count)
    alternatives = [(s, a) for s, tables in enumerate(classes) for a in range(len(tables))]
    alt = {
        which: number for number, which in enumerate(((s, a, c) for s, a in alternatives for c in operators), start=1)
    }
    entries = ((c, key, value) for c in operators for key, found in contested.items() for value in found)
    tab = {entry: number for number, entry in enumerate(entries, start=len(alt) + 1)}
    clauses = [[alt[s, a, c] for a in range(len(tables)) for c in operators] for s, tables in enumerate(classes)]
    for (s, a, c), variable in alt.items():
        clauses += [[-variable, tab[c, key, value]] for key, value in classes[s][a] if key in contested]
    for c, (key, found) in itertools.product(operators, contested.items()):
        clauses += [[-tab[c, key, v], -tab[c, key, w]] for v, w in itertools.combinations(found, 2)]
    for m, s in enumerate(clique):
        clauses += [[-alt[s, a, c]] for a in range(len(classes[s])) for c in operators if c != m]
    return len(alt) + len(tab), clauses


def _check_upper(problem: _Problem, c: Mapping[str, Any], seed: int) -> tuple[int, int]:
    """Evaluates the circuit at every scale.

    Returns the scale up to which that was on all prompts, and the number of random prompts at the others.

    Mode typed allows no argument without need. A sample cannot show that there is none, so only up to that scale.
    """
    mode, checked_to, sampled = problem.mode, 0, 0
    slots = dict[Any, int]()  # of every operator in use its number of arguments
    give, wirings = _circuit(problem, c["circuit"], c["scale"])
    for scale in range(1, c["scale"] + 1):
        allowed, steps, rng = problem.allowed(scale), wirings(scale), random.Random(f"{seed}, scale {scale}")
        every = math.prod(map(len, allowed)) <= MAX_PROMPTS
        checked_to += every and checked_to == scale - 1
        sampled += 0 if every else SAMPLE
        sample = (tuple(map(rng.choice, allowed)) for _ in range(SAMPLE))
        rows = [problem.sequence(prompt) for prompt in (itertools.product(*allowed) if every else sample)]
        length = len(allowed) + len(steps)
        _need(steps and all(len(row) == length for row in rows), f"the circuit has not the steps of scale {scale}")
        problem.spend(len(rows) * (length + len(steps) * (problem.arity + 1)))
        columns = list(zip(*rows, strict=True))
        for step, (operator, places) in enumerate(steps):
            before = len(allowed) + step
            where = f"the circuit at scale {scale}, position {before + 1}"
            _need(all(0 < p <= before for p in places), f"{where} reads what is not an earlier position")
            if mode == "declared":
                _need(places == problem.declared(scale, step, before), f"{where} has not the declared wiring")
            if mode == "typed":
                rests = [[columns[p - 1] for p in places if p != dropped] for dropped in places]
                spare = every and any(_determine(rest, columns[before]) for rest in rests)
                _need(len(set(places)) == len(places) and not spare, f"{where} has an argument without need")
            _need(slots.setdefault(operator, len(places)) == len(places), f"{where}: one operator, two arities")
            for *key, token in set(zip(*(columns[p - 1] for p in places), columns[before], strict=True)):
                _need(give(operator, tuple(key)) == token, f"{where} is wrong")
    _need(len(slots) <= c["upper"], f"the circuit has {len(slots)} operators, more than the upper bound")
    return checked_to, sampled


def _circuit(problem: _Problem, circuit: Any, scale: int) -> tuple[Callable[..., Any], Callable[[int], Any]]:
    """What an operator gives for its arguments; and scale -> operator and positions of every step."""
    index, k, reference = problem.index, problem.arity, problem.task.reference
    if "reference" in circuit:
        fits = problem.mode != "typed" and reference is not None and reference.arity <= k
        _need(fits, "the task has no reference circuit of this mode and arity")
        symbols = list(index)

        def apply(operator: str, key: tuple[int, ...]) -> int | None:
            return index.get(problem.ask(reference.apply, operator, tuple(symbols[i] for i in key)))

        return apply, problem.reference_steps
    tables: list[dict[tuple[int | None, ...], int | None]] = []
    for operator in circuit["operators"]:
        keys = [key.split(" ") if key else [] for key in operator]
        table = {tuple(map(index.get, key)): index.get(s) for key, s in zip(keys, operator.values(), strict=True)}
        _need(None not in [*itertools.chain(*table), *table.values()], "an operator has an unknown symbol")
        sizes = range(k + 1) if problem.mode == "typed" else [k]
        _need(
            len(set(map(len, table))) <= 1 and all(len(key) in sizes for key in table),
            "an operator is not of this arity",
        )
        tables.append(table)
    steps = {n: [(operator, tuple(places)) for operator, places in wired] for n, wired in circuit["wirings"].items()}
    _need(
        steps.keys() == {str(n) for n in range(1, scale + 1)}, f"the circuit must have wirings of scales 1 to {scale}"
    )
    wired = list(itertools.chain(*steps.values()))
    _need(all(operator < len(tables) for operator, _ in wired), "the circuit uses an operator that is not there")
    _need(
        all(len(places) == k or (problem.mode == "typed" and len(places) < k) for _, places in wired),
        "a wiring is not of this arity",
    )
    return lambda operator, key: tables[operator].get(key), lambda n: steps[str(n)]
