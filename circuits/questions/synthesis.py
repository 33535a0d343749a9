"""Circuits with scratchpad tokens, and circuits that may err, decided by a SAT solver ([F]).

The formula says: r operators of arity k compute the task at every scale up to N. Scratchpad tokens are steps before the
outputs whose tokens are free, the same number at every scale; they may use symbols that the task does not have. At each
scale a number of prompts may be computed wrongly: a prompt is right if all its steps are, given the right tokens before
them. Without both, the least r is SRC. Every wiring and every table is a variable, so this is for small scales only.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search import sat
from lengthgen.circuits.src import traces_up_to
from lengthgen.circuits.task import UNDEFINED, Task, TaskError
from lengthgen.circuits.trace import Trace

MAX_SCRATCHPAD = 12
"""Largest number of scratchpad tokens that is tried."""

Literals = list[int]
"""Literals of a SAT formula: variables from 1, negative if negated."""


@dataclass(frozen=True, kw_only=True)
class Fewest:
    """Fewest scratchpad tokens with which a circuit exists: lower <= number <= upper.

    Attributes:
        lower: every smaller number is refuted.
        upper: a circuit exists with this number; None if none was found.
        stopped: reason why the bounds differ; None if they meet.
    """

    lower: int
    upper: int | None
    stopped: str | None


@dataclass(kw_only=True)
class _Formula:
    """Clauses and the number of variables so far."""

    clauses: list[Literals] = field(default_factory=list)
    variables: int = 0

    def new(self, count: int) -> list[int]:
        """Return new variables."""
        first = self.variables + 1
        self.variables += count
        return list(range(first, first + count))

    def exactly_one(self, literals: Literals) -> None:
        """Require that one literal is true and no other."""
        self.clauses += [[*literals], *([-first, -second] for first, second in itertools.combinations(literals, 2))]

    def at_most(self, literals: Literals, count: int) -> None:
        """Require that at most `count` literals are true."""
        if count == 0:
            self.clauses += [[-literal] for literal in literals]
        elif count < len(literals):
            from pysat.card import CardEnc  # slow to import, and most circuits have no error

            encoded = CardEnc.atmost(lits=literals, bound=count, top_id=self.variables)
            self.variables = max(self.variables, encoded.nv)
            self.clauses += encoded.clauses


def scratchpad_tokens(
    task: Task, scale: int, arity: int, operators: int, *, symbols: int = 0, clock: Clock | None = None
) -> Fewest:
    """Return the fewest scratchpad tokens with which so many operators compute the task at all scales up to the last.

    More tokens never hurt, since a token may repeat another. `symbols` is the number of symbols that they may have
    beyond the alphabet of the task.

    Raises:
        TaskError: a scale has too many prompts to try all, prompt tokens come after outputs, several outputs are right,
            or the task breaks its contract.
        SolverError: the formula is too large.
    """
    traces, clock = _traces(task, scale), clock or Clock()
    for tokens in range(MAX_SCRATCHPAD + 1):
        answer = _decided(_Question(task, traces, arity, operators, tokens=tokens, symbols=symbols), clock)
        if answer is None:
            return Fewest(lower=tokens, upper=None, stopped=clock.reason())
        if answer:
            return Fewest(lower=tokens, upper=tokens, stopped=None)
    return Fewest(lower=MAX_SCRATCHPAD + 1, upper=None, stopped=f"more than {MAX_SCRATCHPAD} were not tried")


def src_within(
    task: Task, scale: int, arity: int, error: Fraction, *, clock: Clock | None = None
) -> dict[int, tuple[float, float]]:
    """Return SRC within an error: scale n -> bounds of the fewest operators that are right but for a share of prompts.

    At every scale up to n, at most the share `error` of all prompts may be computed wrongly. At error 0 this is SRC.
    Bounds that are not reached in time are (lower bound, math.inf).

    Raises:
        TaskError: as `scratchpad_tokens`, but prompt tokens may come after outputs; or the error is no such share.
        SolverError: the formula is too large.
    """
    if not 0 <= error < 1:
        raise TaskError(f"the error is a share of prompts, at least 0 and below 1, not {error}")
    clock, traces = clock or Clock(), _traces(task, scale)
    bounds: dict[int, tuple[float, float]] = {}
    lower = 1
    for last in range(1, scale + 1):
        steps = sum(len(trace.steps) for trace in traces[:last])
        upper: float = math.inf
        # With as many operators as steps no two have to share: if that is not enough, no number is.
        if bounds and math.isinf(bounds[last - 1][0]):
            bounds[last] = (math.inf, math.inf)
            continue
        while math.isinf(upper) and lower <= steps:
            answer = _decided(_Question(task, traces[:last], arity, lower, error=error), clock)
            if answer is None:
                break
            if answer:
                upper = lower
            else:
                lower += 1
        bounds[last] = (math.inf, math.inf) if lower > steps else (lower, upper)
    return bounds


@dataclass(frozen=True)
class _Question:
    """Question if a circuit exists at the scales of some traces; other fields are as in the functions above."""

    task: Task
    traces: Sequence[Trace]
    arity: int
    operators: int
    tokens: int = 0
    symbols: int = 0
    error: Fraction = Fraction(0)


def _decided(question: _Question, clock: Clock) -> bool | None:
    """Return whether a circuit exists; None if the clock's limit has passed."""
    if clock.over():
        return None
    if (size := _size(question)) > sat.MAX_CLAUSES:
        raise sat.SolverError(
            f"task '{question.task.name}': a formula of {size:,} clauses, more than {sat.MAX_CLAUSES:,}; take smaller "
            "scales, fewer symbols or fewer slots"
        )
    formula = _formula(question)
    with clock.phase("solver"):
        return sat.satisfiable(formula.clauses, seconds=clock.left())


def _size(question: _Question) -> int:
    """Return the approximate number of clauses of a question, found before any is written."""
    symbols = len(question.task.alphabet) + question.symbols
    entries = question.operators * math.prod([symbols] * question.arity)
    size: int = entries * (1 + math.comb(symbols, 2))
    for trace in question.traces:
        inputs = trace.tokens.shape[1]
        size += inputs * entries * (len(trace.steps) + question.tokens * symbols)
        size += inputs * question.arity * trace.length * (len(trace.steps) + question.tokens)
    return size


def _traces(task: Task, scale: int) -> list[Trace]:
    """Return the traces of all scales up to the last.

    Raise TaskError if a scale has too many prompts, or several outputs are right.
    """
    if task.right is not None:
        raise task.error("several outputs are right, which is not possible here yet")
    traces = traces_up_to(task, scale)
    if len(traces) < scale or not all(trace.exhaustive for trace in traces):
        sampled = next((trace.scale for trace in traces if not trace.exhaustive), len(traces) + 1)
        raise task.error(f"scale {sampled} has too many prompts to try all; take smaller scales")
    return traces


def _formula(question: _Question) -> _Formula:
    task, arity = question.task, question.arity
    formula = _Formula()
    symbols = len(task.alphabet) + question.symbols
    keys = list(itertools.product(range(symbols), repeat=arity))
    tables = [{key: formula.new(symbols) for key in keys} for _ in range(question.operators)]
    for table in tables:
        for values in table.values():
            formula.exactly_one(values)
    earlier_steps = 0
    for trace in question.traces:
        if question.tokens and None in task.layout(trace.scale):
            raise task.error("prompt tokens come after outputs; a scratchpad is not possible yet")
        inputs = range(trace.tokens.shape[1])
        right = formula.new(len(inputs))
        formula.at_most([-literal for literal in right], math.floor(question.error * len(inputs)))
        scratchpad = [[formula.new(symbols) for _ in inputs] for _ in range(question.tokens)]
        for step in scratchpad:
            for values in step:
                formula.exactly_one(values)
        for computed, earlier in _columns(trace, scratchpad):
            operator = formula.new(question.operators)
            formula.clauses.append(list(operator))
            # Operators are interchangeable: the first steps need no later ones.
            formula.clauses += [[-literal] for literal in operator[earlier_steps + 1 :]]
            earlier_steps += 1
            _apply(formula, computed, earlier, operator, tables, right)
    return formula


_Column = Sequence[int | list[int]]
"""Column of a step or an argument: for each input its token, or the variables of its symbols."""


def _columns(trace: Trace, scratchpad: Sequence[_Column]) -> Iterator[tuple[_Column, Sequence[_Column]]]:
    """Yield the steps of a trace in order, scratchpad tokens first, each with the columns that it may read.

    Equal columns give equal arguments, so that each is offered as argument only the first time.
    """
    tokens = [row.tolist() for row in trace.tokens]
    given = [tokens[position - 1] for position in trace.given]
    for number, step in enumerate(scratchpad):
        yield step, [*_distinct(given), *scratchpad[:number]]
    for position in trace.steps:
        yield tokens[position - 1], [*_distinct(tokens[: position - 1]), *scratchpad]


def _distinct(columns: Sequence[list[int]]) -> list[list[int]]:
    return [list(column) for column in dict.fromkeys(map(tuple, columns))]


def _apply(
    formula: _Formula,
    computed: _Column,
    earlier: Sequence[_Column],
    operator: Literals,
    tables: Sequence[Mapping[tuple[int, ...], Literals]],
    right: Literals,
) -> None:
    """Require that the operator of a step gives its token on every input that has the step and counts as right."""
    key, values = next(iter(tables[0].items()))
    wiring = [formula.new(len(earlier)) for _ in key]
    formula.clauses += map(list, wiring)
    for number, result in enumerate(computed):
        if result == UNDEFINED:
            continue
        arguments = [formula.new(len(values)) for _ in key]
        for slot, argument in zip(wiring, arguments, strict=True):
            for chosen, column in zip(slot, earlier, strict=True):
                token = column[number]
                if isinstance(token, int):
                    formula.clauses.append([-chosen, argument[token]])
                else:
                    formula.clauses += [[-chosen, -v, a] for v, a in zip(token, argument, strict=True)]
        for table, chosen in zip(tables, operator, strict=True):
            for key, values in table.items():
                unless = [-chosen, *(-argument[symbol] for argument, symbol in zip(arguments, key, strict=True))]
                if isinstance(result, int):
                    formula.clauses.append([*unless, -right[number], values[result]])
                else:
                    formula.clauses += [[*unless, -v, c] for v, c in zip(values, result, strict=True)]
