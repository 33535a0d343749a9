"""Decision whether a regular language is expressible in C-RASP, the theory of arXiv 2410.02140.

The procedure works on each strongly connected component of the minimal automaton ([F]; in words in the project's
sources, without proof).  Give every label of an edge a number.  The numbers are balanced if they sum to zero around
every cycle; then every state has a potential, the sum along any way to it.  A counter of a C-RASP program is such a
potential: it counts symbols and comes back to its value in every cycle.  Put the potentials of an edge's end into its
label, and repeat, since finer labels may be balanced in more ways.  The component passes if potentials tell all its
states apart in the end; the language is in C-RASP if all components pass.

In a strongly connected component, numbers are balanced iff potentials exist.  So both are unknowns of one linear
system, and no cycle is enumerated.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import networkx as nx
from flint import fmpq, fmpq_mat

from lengthgen.circuits.languages.regular import Automaton
from lengthgen.theory.rational import null_space

MAX_STATES = 48
"""Largest number of states of a component for which the decision is made; the linear system grows with its edges."""

Label = tuple[object, ...]
Edge = tuple[int, Label, int]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Decision about one language.

    Attributes:
        c_rasp: True if the language is expressible; None if the decision gives up.
        why: one sentence of explanation.
    """

    c_rasp: bool | None
    why: str


def decide(automaton: Automaton) -> Decision:
    """Decide if the language of a minimal automaton is expressible in C-RASP."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(automaton.states))
    graph.add_edges_from((state, following) for (state, _), following in automaton.step.items())
    components = sorted(map(sorted, nx.strongly_connected_components(graph)))
    if (largest := max(map(len, components))) > MAX_STATES:
        return Decision(c_rasp=None, why=f"a component has {largest} states, more than the {MAX_STATES} that are tried")
    for component in components:
        if len(component) == 1:
            continue
        potentials = final_potentials(component, automaton.step)
        groups: dict[Label, list[int]] = {}
        for state in component:
            groups.setdefault(potentials[state], []).append(state)
        confused = next((states for states in groups.values() if len(states) > 1), None)
        if confused:
            first, second = (_word_to(automaton, state) for state in confused[:2])
            why = f"no count of symbols that every cycle brings back tells the state after {first} from that after"
            return Decision(c_rasp=False, why=f"{why} {second}")
    if len(components) == automaton.states:
        return Decision(c_rasp=True, why="no cycle has two states, so there is nothing to count")
    return Decision(c_rasp=True, why="counts of symbols that every cycle brings back tell all states of a cycle apart")


def final_potentials(component: list[int], step: Mapping[tuple[int, str], int]) -> dict[int, Label]:
    """Return the potentials of every state of a strongly connected component after the last refinement of labels.

    Args:
        component: states of the component; the first one has potential 0.
        step: (state, symbol) -> state, of the automaton.
    """
    inside = set(component)
    edges: list[Edge] = [
        (state, (symbol,), following)
        for (state, symbol), following in step.items()
        if state in inside and following in inside
    ]
    dimension = -1
    while True:
        basis = _balanced(component, edges)
        potentials: dict[int, Label] = {state: tuple(basis[index]) for index, state in enumerate(component)}
        if basis and len(basis[0]) == dimension:
            return potentials
        dimension = len(basis[0])
        # Labels hold numbers of potentials: rational numbers themselves are slow to look up.
        numbers: dict[Label, int] = {}
        number = {state: numbers.setdefault(potential, len(numbers)) for state, potential in potentials.items()}
        edges = [(state, (label[0], number[following]), following) for state, label, following in edges]


def _balanced(component: list[int], edges: list[Edge]) -> list[list[fmpq]]:
    """Return the potentials of the states, in rows, for each balanced choice of numbers of a basis, in columns."""
    labels = {label: index for index, label in enumerate(dict.fromkeys(label for _, label, _ in edges))}
    places = {state: index for index, state in enumerate(component)}
    equations = fmpq_mat(len(edges) + 1, len(component) + len(labels))
    equations[0, 0] = 1  # the first state has potential 0
    for row, (state, label, following) in enumerate(edges, start=1):
        equations[row, places[following]] += 1
        equations[row, places[state]] -= 1
        equations[row, len(component) + labels[label]] -= 1
    kernel = null_space(equations)
    return [[kernel[row, column] for column in range(kernel.ncols())] for row in range(len(component))]


def _word_to(automaton: Automaton, state: int) -> str:
    """Return a shortest word that leads to a state, for people."""
    words = {0: ""}
    queue = [0]
    for current in queue:
        for symbol in automaton.symbols:
            following = automaton.step.get((current, symbol))
            if following is not None and following not in words:
                words[following] = words[current] + symbol
                queue.append(following)
    return f"'{words[state]}'" if words[state] else "the empty word"
