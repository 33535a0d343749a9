"""Decision of C-RASP by enumerated cycles: the procedure word by word, with sympy and without potentials as unknowns.

Shares no code with `lengthgen.empirical.studies.theories.c_rasp`: simple cycles give the equations, and every potential
is the sum along one path.
"""

import itertools

import networkx as nx
import sympy as sp

from lengthgen.circuits.languages.regular import Automaton


def passes(automaton: Automaton) -> bool:
    """True if balanced labels tell apart all states of every strongly connected component."""
    graph = nx.MultiDiGraph([(p, q, {"letter": letter}) for (p, letter), q in automaton.step.items()])
    graph.add_nodes_from(range(automaton.states))
    return all(_passes(graph.subgraph(component)) for component in nx.strongly_connected_components(graph))


def _passes(component: nx.MultiDiGraph) -> bool:
    labels = {edge: (component.edges[edge]["letter"],) for edge in component.edges}
    size = -1
    while True:
        names = sorted(set(labels.values()), key=str)
        cycles = [list(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) for cycle in nx.simple_cycles(component)]
        rows = [row for cycle in cycles for row in _rows(component, cycle, labels, names)]
        basis = sp.Matrix(rows).nullspace() if rows else []
        potentials = {
            state: tuple(_along(component, state, labels, names, vector) for vector in basis) for state in component
        }
        if len(basis) == size:
            return len(set(potentials.values())) == len(component)
        size = len(basis)
        labels = {edge: (labels[edge][0], potentials[edge[1]]) for edge in labels}


def _rows(component, cycle, labels, names):  # type: ignore[no-untyped-def]
    """Numbers of each label around a cycle of states, for every choice of parallel edges."""
    rows = [[0] * len(names)]
    for pair in cycle:
        parallel = [edge for edge in labels if edge[:2] == pair]
        rows = [
            [count + (names[index] == labels[edge]) for index, count in enumerate(row)]
            for row in rows
            for edge in parallel
        ]
    return rows


def _along(component, state, labels, names, vector):  # type: ignore[no-untyped-def]
    """Sum of the numbers of a labelling along a shortest path from the least state."""
    path = nx.shortest_path(component, min(component), state)
    total = sp.Integer(0)
    for pair in itertools.pairwise(path):
        edge = next(edge for edge in labels if edge[:2] == pair)
        total += vector[names.index(labels[edge])]
    return total
