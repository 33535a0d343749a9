"""Graph ALiBi in torch: its symbolic twin, the path, relabelled graphs, components, and attention to all nodes."""

from dataclasses import replace

import networkx as nx
import pytest
import sympy as sp
import torch
from torch import Tensor

from lengthgen.empirical.encodings.agreement import TOLERANCE, largest_difference
from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.biases import ALiBi, GraphALiBi, graph_distances, path_distances
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.mapped import stack_models
from lengthgen.theory.encodings import biases
from tests.empirical.twins import HOSTILE, exact

HEADS, WIDTH, SYMBOLS, NODES = 3, 12, 5, 9


def bias(distances: Tensor, dtype: torch.dtype = torch.float64, heads: int = HEADS) -> Tensor:
    queries, keys = (torch.arange(count) for count in distances.shape[1:])
    return GraphALiBi(heads=heads).bias(queries, keys, Content(distances_BJI=distances), dtype=dtype)


def decoder(encoding: PositionEncoding, seed: int = 0) -> Decoder:
    torch.manual_seed(seed)
    return Decoder(symbols=SYMBOLS, width=WIDTH, layers=2, heads=HEADS, encoding=encoding).double()


def molecule(seed: int) -> nx.Graph:
    graph = nx.random_labeled_tree(NODES, seed=seed)
    graph.add_edges_from(nx.gnm_random_graph(NODES, 2, seed=seed).edges)
    return graph


def test_it_is_its_symbolic_twin_at_hostile_distances():
    rows = bias(torch.tensor(HOSTILE)[None, None])[0, :, 0]
    query, key, nodes = map(sp.Integer, (3, 7, 10))
    formula = biases.GRAPH_ALIBI.bias(query, key, nodes)
    for head, slope in enumerate(biases.alibi_slopes(HEADS)):
        values = [{biases.ALIBI_SLOPE: slope, biases.HOPS[query, key, nodes]: sp.Integer(d)} for d in HOSTILE]
        right = torch.tensor([exact(formula.xreplace(value)) for value in values], dtype=torch.float64)
        assert ((rows[head] - right).abs() <= 2**-52 * right.abs()).all()


@pytest.mark.parametrize(("dtype", "eps"), [(torch.float32, 2**-23), (torch.bfloat16, 2**-7), (torch.float16, 2**-10)])
def test_narrow_types_round_slope_and_product_once(dtype, eps):
    distances = torch.arange(2000)[None, None]
    wide, narrow = bias(distances), bias(distances, dtype)
    assert narrow.dtype == dtype
    assert ((narrow.double() - wide).abs() <= eps * wide.abs() + 1e-7).all()


def test_on_a_path_it_is_alibi_with_keys_on_both_sides():
    positions = torch.arange(NODES)
    two_sided = ALiBi(heads=HEADS).bias(positions, positions, dtype=torch.float64)
    on_path = bias(graph_distances(nx.path_graph(NODES)))
    assert torch.equal(on_path[0], two_sided)
    assert torch.equal(on_path, bias(path_distances(positions, positions)))
    assert (on_path[0].triu(1) < 0).sum() == HEADS * NODES * (NODES - 1) / 2


@pytest.mark.parametrize("seed", range(4))
def test_relabelled_nodes_have_permuted_logits(seed):
    """The bias is permuted exactly; sums of the layers run in another order, so they differ in the last digits."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(NODES, generator=generator)
    distances = graph_distances(molecule(seed))
    image = nx.relabel_nodes(molecule(seed), dict(zip(order.tolist(), range(NODES), strict=True)))
    relabelled = graph_distances(nx.Graph({node: sorted(image[node]) for node in range(NODES)}))
    assert torch.equal(relabelled, distances[:, order][:, :, order])
    assert not torch.equal(relabelled, distances)
    assert torch.equal(bias(relabelled), bias(distances)[:, :, order][:, :, :, order])
    model, tokens = decoder(GraphALiBi(heads=HEADS)), torch.randint(SYMBOLS, (1, 2, NODES), generator=generator)
    with torch.no_grad():
        before, after = model(tokens, distances=distances), model(tokens[..., order], distances=relabelled)
    torch.testing.assert_close(after, before[:, :, order], rtol=0, atol=1e-13)


def test_the_order_of_nodes_matters_to_a_causal_model():
    class Causal(GraphALiBi):
        causal = True

    order, tokens = torch.arange(NODES).flip(0), torch.arange(NODES)[None, None] % SYMBOLS
    distances = graph_distances(molecule(0))
    relabelled = distances[:, order][:, :, order]
    model = decoder(Causal(heads=HEADS))
    with torch.no_grad():
        before, after = model(tokens, distances=distances), model(tokens[..., order], distances=relabelled)
    assert (after - before[:, :, order]).abs().max() > 1e-3


def test_a_query_attends_to_later_keys_iff_it_is_not_causal():
    tokens = torch.zeros(1, 1, NODES, dtype=torch.int64)
    changed = tokens.clone()
    changed[..., -1] = 1
    distances = graph_distances(nx.path_graph(NODES))
    with torch.no_grad():
        both, causal = decoder(GraphALiBi(heads=HEADS)), decoder(ALiBi(heads=HEADS))
        moved = (both(changed, distances=distances) - both(tokens, distances=distances)).abs().amax(-1)[0, 0]
        still = (causal(changed) - causal(tokens)).abs().amax(-1)[0, 0]
    assert (moved > 1e-6).all()
    assert (still[:-1] == 0).all() and still[-1] > 1e-6


def test_nodes_of_different_components_do_not_see_each_other():
    apart = nx.disjoint_union(nx.path_graph(4), nx.cycle_graph(5))
    assert (bias(graph_distances(apart))[0, :, :4, 4:] == -torch.inf).all()
    model, tokens = decoder(GraphALiBi(heads=HEADS)), torch.arange(NODES)[None, None] % SYMBOLS
    with torch.no_grad():
        together = model(tokens, distances=graph_distances(apart))
        first = model(tokens[..., :4], distances=graph_distances(nx.path_graph(4)))
        second = model(tokens[..., 4:], distances=graph_distances(nx.cycle_graph(5)))
    torch.testing.assert_close(together, torch.cat((first, second), 2), rtol=0, atol=1e-13)


def test_examples_and_models_have_graphs_of_their_own():
    graphs = torch.cat([graph_distances(molecule(seed)) for seed in range(4)]).reshape(2, 2, NODES, NODES)
    members = [decoder(GraphALiBi(heads=HEADS), seed) for seed in range(2)]
    tokens = torch.randint(SYMBOLS, (2, 2, NODES), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        together = stack_models(members)(tokens, distances=graphs, first_query=2)
        for model in range(2):
            for row in range(2):
                place = slice(model, model + 1), slice(row, row + 1)
                alone = members[model](tokens[model : model + 1, row : row + 1], distances=graphs[place][0])
                torch.testing.assert_close(together[place], alone[:, :, 2:], rtol=0, atol=1e-13)


def test_the_explicit_path_of_attention_is_bidirectional_too():
    class Explicit(GraphALiBi):
        scores_pairwise = True

    tokens, distances = torch.arange(NODES)[None, None] % SYMBOLS, graph_distances(molecule(1))
    with torch.no_grad():
        fused, explicit = (decoder(kind(heads=HEADS))(tokens, distances=distances) for kind in (GraphALiBi, Explicit))
    torch.testing.assert_close(explicit, fused, rtol=0, atol=1e-12)


def test_the_module_is_compared_with_its_formulas_on_a_path():
    def values(module: GraphALiBi, head: int, plane: int) -> dict:
        return {biases.ALIBI_SLOPE: module.slopes[head], biases.HOPS: lambda u, v, nodes: abs(u - v)}

    record = replace(biases.GRAPH_ALIBI, values=values)
    assert largest_difference(record, GraphALiBi(heads=2)) < TOLERANCE
    steeper = replace(record, bias=lambda query, key, n: 2 * biases.GRAPH_ALIBI.bias(query, key, n))
    assert largest_difference(steeper, GraphALiBi(heads=2)) > 1


def test_without_distances_it_is_refused():
    positions, encoding = torch.arange(3), GraphALiBi(heads=HEADS)
    with pytest.raises(ValueError, match=r"needs the distances of a graph: pass Content\(distances_BJI=...\)"):
        encoding.bias(positions, positions)
    for wrong in (torch.zeros(1, 3, 3), torch.zeros(3, 3, dtype=torch.int64), torch.zeros(1, 4, 3, dtype=torch.int64)):
        with pytest.raises(ValueError, match=r"distances must be int64 \[1 or B, 3, 3\], not torch\."):
            encoding.bias(positions, positions, Content(distances_BJI=wrong))
