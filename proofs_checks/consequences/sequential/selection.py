"""SRC_phi where the view of a step must select its operator, labels without scale hint, and SRC of compositions.

Labels without scale hint are for a model that reads the token at its query: in which tasks do they exist?
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.encoding_spec import parse_encoding, relation_of
from lengthgen.circuits.formats import in_format
from lengthgen.circuits.induced import Induced, induced_complexity
from lengthgen.circuits.questions.composition import after
from lengthgen.circuits.roles import ScaleHintNeeded, ideal_relation, ideal_relation_by_token
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.tasks import TaskSpec, load
from lengthgen.circuits.trace import Trace
from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.pola import SOURCE, formalised
from lengthgen.theory.relation import Relation

Selected = Callable[[Induced, int], float]
"""(induced operators, scale) -> SRC_phi with selection up to this scale."""
Build = Callable[[Circuit, Sequence[Trace]], Relation]
"""(circuit, traces) -> its relation without scale hint; raises ScaleHintNeeded if there is none."""

LARGEST = 4
"""Largest scale."""
ENCODINGS = ("ipe-sh", "rpe", "ape", "nope")
TASKS = (
    TaskSpec(name="parity"),
    TaskSpec(name="copy", base=2),
    TaskSpec(name="addition-carry", base=2),
    TaskSpec(name="permutation", base=2),
    TaskSpec(name="permutation", base=3),
    TaskSpec(name="log-shift", base=2),
)
_ALL = frozenset(spec.words for spec in TASKS)
_SELECTABLE = {"ipe-sh": _ALL, "rpe": frozenset({"parity", "copy base 2"}), "ape": _ALL, "nope": frozenset[str]()}
LARGEST_UNHINTED, SETTLED = 8, 4
"""Largest scale, and the scale from which on a task that is served needs no new labels or operators."""
SERVED = frozenset({"select-first", "select-middle", "select-last"})
BASES = dict.fromkeys((*SERVED, "copy", "reverse", "shift"), 2) | {"parity": None, "counter": 3}
"""Task -> its base, small enough for all prompts to be tried."""
SEARCHED = 4
"""Largest scale at which SRC is searched; the induction goes beyond."""
PAIRS = (
    ("reverse", "copy"),
    ("shift", "reverse"),
    ("copy", "copy"),
    ("copy", "parity"),
    ("parity", "copy"),
    ("parity", "shift"),
    ("parity", "parity"),
)
"""Tasks over bits, the second task first; the first pair reaches the sum."""


@cache
def _circuit_and_traces(spec: TaskSpec, layout: str) -> tuple[Circuit, tuple[Trace, ...]]:
    """Circuit of a task, and the task's traces; the same for the statement and all falsifiers."""
    task = in_format(spec.plain(), layout, largest_scale=LARGEST)
    traces = tuple(traces_up_to(task, LARGEST))
    circuit = src(task, traces, minimal_arity(traces) or 0).circuit
    assert circuit is not None
    return circuit, traces


@cache
def _computed(spec: TaskSpec, layout: str, encoding: str, own_token: bool) -> tuple[Induced, Mapping[int, float]]:
    """Operators induced by an encoding, and `_functions`; the same for the statement and all falsifiers."""
    circuit, traces = _circuit_and_traces(spec, layout)
    relation = relation_of(parse_encoding(encoding), circuit)
    induced = induced_complexity(circuit, relation, traces, own_token=own_token)
    return induced, _functions(circuit, relation, traces, own_token)


def _functions(circuit: Circuit, relation: Relation, traces: Sequence[Trace], own_token: bool) -> dict[int, float]:
    """Return scale -> number of sets of labels up to it, each with one function of views; infinite if one has none."""
    tables: dict[frozenset[int], dict[object, int]] = {}
    numbers: dict[int, float] = {}
    fails = False
    for trace in traces:
        relevant = circuit.roles(trace.scale)
        for wiring in circuit.wirings[trace.scale]:
            query = wiring.position - 1
            keys = np.arange(1, query + 1)
            labels = relation.label(keys, np.full_like(keys, query), trace.scale).tolist()
            signature = frozenset(labels[key - 1] for key, of in relevant if of == query)
            read = [(labels[key - 1], key) for key in keys if labels[key - 1] in signature]
            table = tables.setdefault(signature, {})
            for tokens in trace.tokens.T.tolist():
                seen = sorted((label, tokens[key - 1]) for label, key in read)
                view = (*seen, tokens[query - 1]) if own_token else tuple(seen)
                fails |= table.setdefault(view, tokens[query]) != tokens[query]
        numbers[trace.scale] = math.inf if fails else len(tables)
    return numbers


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "src-selection",
    formalised("Definition 4", "who selects the operator of a step"),
    r"\mathrm{SRC}_\phi^{\mathrm{sel}}(f,N)\in\{\mathrm{SRC}_\phi(f,N),\infty\}",
    strength=Strength.EXHAUSTIVE,
    reach=f"{len(TASKS)} tasks up to scale {LARGEST}",
    assumptions=(
        "the circuit is the one that the search gives; operators read all keys of a label",
        "every prompt of each scale",
    ),
    answers=("selectable",),
    falsifiers={
        "operators are told": {"selected": lambda induced, scale: induced.complexity[scale]},
        "nothing selects": {"selected": lambda induced, scale: math.inf},
        "a conflict counts one scale late": {
            "selected": lambda induced, scale: induced.with_selection(max(1, scale - 1))
        },
    },
)
def selection(
    selected: Selected = Induced.with_selection, selectable: Mapping[str, frozenset[str]] = _SELECTABLE
) -> Facts:
    """If the labels and tokens of a step's arguments must also select its operator, SRC_phi is the same or infinite:
    infinite from the first step on that shows a view of an earlier step and needs another token. So distances do not
    select the operators of permutation, log-shift and addition with carries; the roles select every operator. Decided
    for 6 tasks up to scale 4.
    """
    selected_tasks: dict[tuple[str, str, bool], set[str]] = {}
    compared = 0
    for spec in TASKS:
        for layout in ("aligned", "unaligned"):
            for encoding in ENCODINGS:
                for own_token in (False, True):
                    induced, functions = _computed(spec, layout, encoding, own_token)
                    tasks = selected_tasks.setdefault((encoding, layout, own_token), set())
                    for scale, expected in functions.items():
                        value = selected(induced, scale)
                        where = f"{spec.words}, {layout}, {encoding}, scale {scale}"
                        if value != expected:
                            raise Refuted(f"{where}: {value:g}, but one function for each set of labels: {expected:g}")
                        if value not in (induced.complexity[scale], math.inf):
                            raise Refuted(f"{where}: {value:g} is neither infinite nor {induced.complexity[scale]:g}")
                        compared += 1
                    if math.isfinite(functions[LARGEST]):
                        tasks.add(spec.words)
    for (encoding, layout, _), tasks in selected_tasks.items():
        if tasks != selectable[encoding]:
            raise Refuted(f"{layout}: {encoding} selects the operators of {', '.join(sorted(tasks)) or 'no task'}")
    yield (
        f"{compared} values, of {', '.join(ENCODINGS)}, in both formats, with and without the query's token, equal "
        "those of one function for each set of labels"
    )
    yield (
        "argument for every task: if no step conflicts with an earlier one of its labels, the first operator of "
        "these labels serves them all, and there is no other; if one does, no function of views serves both steps"
    )
    yield f"rpe selects, in all modes, only {', '.join(sorted(selectable['rpe']))}; ipe-sh selects all"


def _disagreeing(circuit: Circuit, traces: Sequence[Trace]) -> bool:
    """True if two steps at one query have different roles and tokens that are linked by tokens of one step."""
    links: nx.Graph[int] = nx.Graph()
    at_query: dict[int, list[tuple[int, object]]] = {}
    for trace in traces:
        roles = circuit.roles(trace.scale)
        for step in trace.steps:
            tokens = sorted({*trace.tokens_at(step)[step - 2].tolist()})
            nx.add_path(links, tokens)
            row = {key: role for (key, query), role in roles.items() if query == step - 1}
            at_query.setdefault(step - 1, []).append((tokens[0], row))
    return any(
        row != other_row and nx.has_path(links, token, other)
        for steps in at_query.values()
        for (token, row), (other, other_row) in combinations(steps, 2)
    )


def _largest_scale(circuit: Circuit, traces: Sequence[Trace]) -> Relation:
    """Return the roles of the largest scale, at all scales."""
    largest = max(circuit.wirings)
    return ideal_relation(replace(circuit, wirings={largest: circuit.wirings[largest]}), scale_hint=False)


@CLAIMS.claim(
    "src-token-hint",
    formalised("Definition 7", "the scale hint, and what the query's own token tells"),
    r"\exists\,\phi(i,j):\ \mathrm{role}_n(i,j)=\phi(i,j)_{c(x_j)}",
    strength=Strength.EXHAUSTIVE,
    reach=f"{len(BASES)} tasks up to scale {LARGEST_UNHINTED}",
    assumptions=("the circuit is the one that the search gives", "every prompt of each scale"),
    answers=("served",),
    falsifiers={
        "the token is not read": {"build": lambda circuit, traces: ideal_relation(circuit, scale_hint=False)},
        "the labels know the scale": {"build": lambda circuit, traces: ideal_relation(circuit, scale_hint=True)},
        "the roles of the largest scale serve all": {"build": _largest_scale},
    },
)
def token_hint(build: Build = ideal_relation_by_token, served: frozenset[str] = SERVED) -> Facts:
    """Read with the class of the query's own token, labels of (i, j) without scale hint can name the roles of a task
    iff no role changes between two scales whose tokens at the query are of one class: tokens that stand at one query of
    one scale, and all that share one with those. So selecting the first and the middle symbol needs no hint, although
    their roles change with the scale; copy, reverse, shift, parity and counter need one. Decided for 8 tasks up to
    scale 8.
    """
    with_labels: set[str] = set()
    for name, base in sorted(BASES.items()):
        analysis = analyse(TaskSpec(name=name, base=base).plain(), "unaligned", LARGEST_UNHINTED)
        circuit, traces = analysis.circuit, analysis.traces
        try:
            relation = build(circuit, traces)
        except ScaleHintNeeded as needed:
            if not _disagreeing(circuit, traces):
                raise Refuted(f"{name}: {needed.change}, but no linked steps disagree") from needed
            continue
        if relation.scale_hint or _disagreeing(circuit, traces):
            raise Refuted(f"{name}: a relation without scale hint, although linked steps disagree")
        induced = induced_complexity(circuit, relation, traces, own_token=True)
        grows = any(induced.new_labels[n] or induced.new_operators[n] for n in range(SETTLED, LARGEST_UNHINTED + 1))
        operators = induced.with_selection(LARGEST_UNHINTED)
        if grows or not math.isfinite(operators):
            raise Refuted(f"{name}: {operators:g} operators up to scale {LARGEST_UNHINTED}, and they grow")
        with_labels.add(name)
    refute(with_labels != served, f"labels exist for {', '.join(sorted(with_labels)) or 'no task'}")
    yield (
        f"labels of (i, j) exist, read with the token, for {', '.join(sorted(with_labels))}: no operator or label "
        f"is new from scale {SETTLED} on"
    )
    yield (
        "a task has them iff no key changes its role between two scales whose tokens at the query are of one class, "
        "found step by step"
    )
    yield (
        "argument for every select task and every n: '=' at query j means n = j - 1 and a digit n = j - 2, so what "
        "a step reads is a function of j and of the class of the token"
    )


@CLAIMS.claim(
    "src-composition",
    formalised("Definition 4", "one task after another, with both outputs shown"),
    r"\mathrm{SRC}_k(f\circ g,n)\le\mathrm{SRC}_k(f,n)+\mathrm{SRC}_k(g,n)",
    strength=Strength.EXHAUSTIVE,
    reach=f"up to scale {SEARCHED}",
    assumptions=(
        "both outputs are shown; one arity is enough for both tasks",
        "one mark ends the prompts of f, and stands in place of the end of g's output",
    ),
    falsifiers={
        "the larger of both": {"exponent": 64},
        "the root of the sum of squares": {"exponent": 2},
        "parity after copy reaches the sum": {"pairs": (("parity", "copy"), *PAIRS)},
    },
)
def composition_bound(pairs: Sequence[tuple[str, str]] = PAIRS, exponent: float = 1) -> Facts:
    """If f reads the output of g as its prompt and both outputs are shown, SRC(f after g) is at most SRC(f) + SRC(g) at
    an arity that is enough for both. The sum is attained: reverse after copy has SRC 2. Decided for 7 pairs of tasks
    over bits up to scale 4.
    """
    for names in pairs:
        tasks = [load(name) for name in names]
        arities = [minimal_arity(traces_up_to(task, SEARCHED)) for task in tasks]
        arity = max(each or 0 for each in arities)
        composed = after(*tasks)
        values = [src(task, traces_up_to(task, SEARCHED), arity).values[SEARCHED] for task in tasks]
        value = src(composed, traces_up_to(composed, SEARCHED), arity).values[SEARCHED]
        assert value is not None and None not in values, "small tasks are decided"
        bound = sum(float(each or 0) ** exponent for each in values) ** (1 / exponent)
        if value > bound:
            raise Refuted(f"{composed.name}, arity {arity}: SRC {value:g}, and {values[0]:g} and {values[1]:g} apart")
        if names == pairs[0] and value < bound:
            raise Refuted(f"{composed.name}, arity {arity}: SRC {value:g} is below the sum {bound:g}")
        yield f"{composed.name}, arity {arity}: {value:g} <= {values[0]:g} + {values[1]:g}"
    yield (
        "argument for all tasks: the steps that give the output of g keep their operators, with the symbols that "
        "end it renamed; those of f keep theirs and read the output of g where they read their prompt"
    )
