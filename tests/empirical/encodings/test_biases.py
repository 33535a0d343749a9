"""Biases in torch: other libraries, initial values, gradients, and what each of them may not do."""

import math

import networkx as nx
import numpy as np
import pytest
import sympy as sp
import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.biases import (
    BAM,
    FIRE,
    KERPLE_LARGEST_EXPONENT,
    KERPLE_SMALLEST,
    T5,
    ALiBi,
    BAMWithSSMax,
    GraphALiBi,
    KerpleLog,
    KerplePower,
    graph_distances,
    path_distances,
)
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.mapped import stack_models
from lengthgen.theory.encodings import biases
from lengthgen.theory.relation import RelationError
from tests.empirical.encodings.table import make, shaken
from tests.empirical.twins import HOSTILE, exact


@pytest.mark.parametrize("heads", (1, 2, 3, 8, 12))
def test_alibi_x_transformers_agrees(heads):
    from x_transformers.x_transformers import AlibiPositionalBias

    positions = torch.arange(65)
    theirs = AlibiPositionalBias(heads, heads)(65, 65)
    torch.testing.assert_close(ALiBi(heads=heads).bias(positions, positions), theirs, rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("kind", "second", "most"), [(KerplePower, "exponent", KERPLE_LARGEST_EXPONENT), (KerpleLog, "rate", 7.0)]
)
def test_kerple_a_parameter_beyond_its_bound_is_brought_back_at_the_next_use_and_still_learns(kind, second, most):
    encoding, positions = kind(heads=3), torch.arange(6)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.copy_(torch.tensor([-3.0, 0.5, 7.0]))
    # Several layers use it in one graph.
    (encoding.bias(positions, positions) * encoding.bias(positions, positions)).sum().backward()
    assert encoding.scale.tolist() == [pytest.approx(KERPLE_SMALLEST), 0.5, 7.0]
    assert encoding.get_parameter(second).tolist() == [pytest.approx(KERPLE_SMALLEST), 0.5, most]
    assert most == 7.0 or most == float(biases.KERPLE_EXPONENTS.end)
    for parameter in encoding.parameters():
        assert parameter.grad.isfinite().all() and (parameter.grad != 0).all()


EXPONENTS, SHIFTS = [-0.625, 0.5, 1.25], [0.75, 0.0, -2.5]


def test_bam_the_bias_is_the_released_formula_with_a_location_on_both_sides():
    encoding, positions = make("bam[location=true]"), torch.tensor([0, 1, 2, 9, 10**6])
    shaken(encoding, log_scale=[-2.0, 0.5, -8.0], exponent=EXPONENTS, shift=SHIFTS)
    computed = encoding.bias(positions, positions, dtype=torch.float64)
    for (head, row, column), entry in np.ndenumerate(computed.detach().numpy()):
        law = biases.bam_log_prior(
            sp.Integer(int(positions[column] - positions[row])),
            log_scale=sp.Rational(encoding.log_scale[head].item()),
            exponent=sp.Rational(EXPONENTS[head]),
            smallest=biases.BAM_RELEASED_SMALLEST,
            location=biases.bam_location(sp.Rational(SHIFTS[head])),
        )
        assert entry == pytest.approx(exact(law), rel=1e-13)
    computed[:, 4].softmax(-1)[:, 0].sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in encoding.parameters())


def test_bam_a_negative_location_prefers_keys_before_the_query():
    encoding = BAM(heads=1, location=True)
    with torch.no_grad():
        encoding.shift.fill_(float(torch.asinh(torch.tensor(-1.5))))  # mu = 2 sinh t = -3
    assert encoding.bias(torch.tensor([9]), torch.arange(20)).argmax().item() == 6


@pytest.mark.parametrize("heads", [3, 8])
def test_bam_starts_as_alibi_up_to_a_number_of_the_head(heads):
    positions = torch.tensor(HOSTILE)
    difference = BAM(heads=heads).double().bias(positions, positions, dtype=torch.float64) - ALiBi(heads=heads).bias(
        positions, positions, dtype=torch.float64
    )
    # The parameters begin in float32: the logarithm of a slope is within 4e-7 of it, so distances err by that share.
    near = difference[:, :4, :4]
    assert (near - near[:, :1, :1]).abs().max() < 7 * 4e-7
    assert (near[:, 0, 0] + 1e-5 * torch.tensor(ALiBi(heads=heads).slopes)).abs().max() < 1e-11


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_bam_the_first_query_has_finite_logits_and_gradients_down_to_the_exponent_that_is_named(dtype):
    encoding, positions = BAMWithSSMax(heads=1, layers=1), torch.arange(4)
    with torch.no_grad():
        encoding.exponent.fill_(-7)  # eps^-7 = 1e35
        encoding.log_scale.fill_(0)
    bias = encoding.bias(positions, positions, dtype=dtype)
    assert bias.dtype == dtype and bias.isfinite().all()
    bias[0, 3, :3].float().sum().backward()
    assert encoding.exponent.grad.isfinite().all()
    assert bias[0, 3].argmax().item() == 0


def test_bam_a_query_among_n_keys_has_n_equal_weights_to_the_power_of_the_factor():
    """SSMax: a key with content 1 more than all others has the weight n^s / (n^s + n - 1)."""
    encoding = BAMWithSSMax(heads=1, layers=1).double()
    with torch.no_grad():
        encoding.exponent.fill_(0)
        encoding.factors.fill_(1.5)
    n, positions = 50, torch.arange(50)
    keys = torch.zeros(1, 1, n, 1, dtype=torch.float64)
    keys[0, 0, 7] = 1
    queries, keys = encoding.rotate(torch.ones_like(keys), keys, positions)
    logits = encoding.scores(queries, keys, positions, positions) + encoding.bias(positions, positions)
    weights = logits[0, 0, -1].softmax(-1)
    assert weights[7].item() == pytest.approx(n**1.5 / (n**1.5 + n - 1), rel=1e-12)


def buckets_of(offsets, **parameters):
    """The bucket of each offset j - i, read off a table that holds the buckets' own numbers."""
    encoding = T5(heads=1, **parameters)
    with torch.no_grad():
        encoding.weights.copy_(torch.arange(float(encoding.weights.shape[1])))
    return encoding.bias(offsets, torch.tensor([0]))[0, :, 0].long()


@pytest.mark.parametrize("bidirectional", [False, True])
def test_t5_keys_after_the_query_have_the_twins_buckets_too(bidirectional):
    offsets = torch.arange(-300, 301)
    twin = biases.t5_bidirectional_bucket if bidirectional else biases.t5_bucket
    expected = [int(twin(sp.Integer(offset))) for offset in offsets.tolist()]
    assert buckets_of(offsets, bidirectional=bidirectional).tolist() == expected


@pytest.mark.parametrize("bidirectional", [False, True])
def test_t5_transformers_and_x_transformers_agree(bidirectional):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention
    from x_transformers.x_transformers import RelativePositionBias

    config, positions = T5Config(num_heads=4, is_decoder=not bidirectional), torch.arange(400)
    ours = T5(heads=4, bidirectional=bidirectional)
    for library in (
        T5Attention(config, has_relative_attention_bias=True, layer_idx=0),
        RelativePositionBias(1.0, causal=not bidirectional, heads=4),
    ):
        library.relative_attention_bias.weight.data.copy_(ours.weights.T)
        theirs = library.compute_bias(400, 400)[0] if isinstance(library, T5Attention) else library(400, 400)
        assert torch.equal(ours.bias(positions, positions), theirs)


@pytest.mark.parametrize(
    ("buckets", "longest", "starts"),
    [(32, 128, []), (64, 128, []), (32, 2048, []), (36, 50, [30]), (48, 81, [36, 54]), (54, 125, [45])],
)
def test_t5_where_transformers_may_differ_a_bucket_starts_exactly(buckets, longest, starts):
    """Float32 logarithms may put a distance at the start of a bucket into the bucket before: e^(m-k) M^k = D^m."""
    from transformers.models.t5.modeling_t5 import T5Attention

    exact = buckets // 2
    coarse = buckets - exact
    exact_starts = {
        distance
        for distance in range(exact + 1, longest)
        if any(distance**coarse == longest**k * exact ** (coarse - k) for k in range(1, coarse))
    }
    assert set(starts) <= exact_starts
    offsets = torch.arange(-2 * longest, 2 * longest)
    ours = buckets_of(offsets, buckets=buckets, longest=longest)
    theirs = T5Attention._relative_position_bucket(
        -offsets, bidirectional=False, num_buckets=buckets, max_distance=longest
    )
    apart = ours != theirs
    assert set(offsets[apart].tolist()) <= exact_starts
    assert torch.equal(theirs[apart], ours[apart] - 1)


def test_t5_every_row_that_is_used_gets_a_gradient_and_a_long_distance_is_not_rounded():
    positions = torch.arange(200)
    for bidirectional, unused in ((False, []), (True, [16])):
        encoding = T5(heads=1, bidirectional=bidirectional)
        encoding.bias(positions, positions).sum().backward()
        assert (encoding.weights.grad[0] == 0).nonzero().flatten().tolist() == unused
    assert buckets_of(torch.tensor([2**53 + 1, 10**15])).tolist() == [31, 31]


@pytest.mark.parametrize(
    "parameters", [{"buckets": 1}, {"longest": 16}, {"longest": 8, "bidirectional": True}, {"buckets": 2, "longest": 0}]
)
def test_t5_buckets_that_are_none_are_refused(parameters):
    with pytest.raises(RelationError, match="T5 buckets need buckets >= 2"):
        T5(heads=1, **parameters)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_fire_the_plain_formula_agrees_within_the_budget_of_each_type(dtype):
    """Half units in the last place, in float32 at least, of the sum of all terms' sizes:

    3 for each psi (product, logarithm), 1 for the fraction, 2 for each unit, 34 for the products and their sum; then
    one in the type.  Parameters are rounded to the type before; positions never are.
    """
    torch.manual_seed(0)
    positions, encoding = torch.tensor(HOSTILE), FIRE(heads=3, layers=1, threshold=300.0).to(dtype)
    bias = encoding.bias(positions, positions, dtype=dtype)
    law, inner = encoding.double().laws[0], torch.finfo(torch.promote_types(dtype, torch.float32)).eps / 2
    budget = 1.01 * (43 * inner + (torch.finfo(dtype).eps / 2 if dtype != torch.float64 else inner))
    rate, threshold = abs(law.rate.item()), abs(law.factor.item()) * 300
    for (head, row, column), entry in np.ndenumerate(bias.detach().double().numpy()):
        j, i = HOSTILE[row], HOSTILE[column]
        fraction = math.log1p(rate * abs(j - i)) / math.log1p(rate * max(j + 1, threshold))
        total, size = law.outer.bias[head].item(), abs(law.outer.bias[head].item())
        columns = (law.inner.weight[:, 0].tolist(), law.inner.bias.tolist(), law.outer.weight[head].tolist())
        for weight, offset, out in zip(*columns, strict=True):
            total += out * max(0.0, weight * fraction + offset)
            size += abs(out) * (abs(weight) * fraction + abs(offset))
        assert abs(entry - total) <= budget * size


def test_fire_is_relative_up_to_the_threshold_and_not_beyond():
    positions = torch.arange(20)
    bias = FIRE(heads=3, layers=1, threshold=12.0).double().bias(positions, positions, dtype=torch.float64)
    for distance in range(1, 8):
        row = bias.diagonal(-distance, dim1=-2, dim2=-1)  # queries distance, distance + 1, ...
        # Query 11 counted from 0 is the twelfth.
        steps = row.diff(dim=-1).abs().amax(0)
        assert (steps[: 11 - distance] == 0).all() and (steps[11 - distance :] > 0).all()


GRAPH_ALIBI_HEADS, WIDTH, SYMBOLS, NODES = 3, 12, 5, 9


def bias(distances: Tensor, dtype: torch.dtype = torch.float64, heads: int = GRAPH_ALIBI_HEADS) -> Tensor:
    queries, keys = (torch.arange(count) for count in distances.shape[1:])
    return GraphALiBi(heads=heads).bias(queries, keys, Content(distances_BJI=distances), dtype=dtype)


def decoder(encoding: PositionEncoding, seed: int = 0) -> Decoder:
    torch.manual_seed(seed)
    return Decoder(symbols=SYMBOLS, width=WIDTH, layers=2, heads=GRAPH_ALIBI_HEADS, encoding=encoding).double()


def molecule(seed: int) -> nx.Graph:
    graph = nx.random_labeled_tree(NODES, seed=seed)
    graph.add_edges_from(nx.gnm_random_graph(NODES, 2, seed=seed).edges)
    return graph


def test_graph_alibi_on_a_path_it_is_alibi_with_keys_on_both_sides():
    positions = torch.arange(NODES)
    two_sided = ALiBi(heads=GRAPH_ALIBI_HEADS).bias(positions, positions, dtype=torch.float64)
    on_path = bias(graph_distances(nx.path_graph(NODES)))
    assert torch.equal(on_path[0], two_sided)
    assert torch.equal(on_path, bias(path_distances(positions, positions)))
    assert (on_path[0].triu(1) < 0).sum() == GRAPH_ALIBI_HEADS * NODES * (NODES - 1) / 2


@pytest.mark.parametrize("seed", range(4))
def test_graph_alibi_relabelled_nodes_have_permuted_logits_unless_the_model_is_causal(seed):
    """The bias is permuted exactly; sums of the layers run in another order, so they differ in the last digits."""

    class Causal(GraphALiBi):
        causal = True

    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(NODES, generator=generator)
    distances = graph_distances(molecule(seed))
    image = nx.relabel_nodes(molecule(seed), dict(zip(order.tolist(), range(NODES), strict=True)))
    relabelled = graph_distances(nx.Graph({node: sorted(image[node]) for node in range(NODES)}))
    assert torch.equal(relabelled, distances[:, order][:, :, order])
    assert not torch.equal(relabelled, distances)
    assert torch.equal(bias(relabelled), bias(distances)[:, :, order][:, :, :, order])
    tokens = torch.randint(SYMBOLS, (1, 2, NODES), generator=generator)
    for kind in (GraphALiBi, Causal):
        model = decoder(kind(heads=GRAPH_ALIBI_HEADS))
        with torch.no_grad():
            before, after = model(tokens, distances=distances), model(tokens[..., order], distances=relabelled)
        apart = (after - before[:, :, order]).abs().max()
        assert apart < 1e-13 if kind is GraphALiBi else apart > 1e-3


def test_graph_alibi_a_query_attends_to_later_keys_iff_it_is_not_causal():
    tokens = torch.zeros(1, 1, NODES, dtype=torch.int64)
    changed = tokens.clone()
    changed[..., -1] = 1
    distances = graph_distances(nx.path_graph(NODES))
    with torch.no_grad():
        both, causal = decoder(GraphALiBi(heads=GRAPH_ALIBI_HEADS)), decoder(ALiBi(heads=GRAPH_ALIBI_HEADS))
        moved = (both(changed, distances=distances) - both(tokens, distances=distances)).abs().amax(-1)[0, 0]
        still = (causal(changed) - causal(tokens)).abs().amax(-1)[0, 0]
    assert (moved > 1e-6).all()
    assert (still[:-1] == 0).all() and still[-1] > 1e-6


def test_graph_alibi_nodes_of_different_components_do_not_see_each_other():
    apart = nx.disjoint_union(nx.path_graph(4), nx.cycle_graph(5))
    assert (bias(graph_distances(apart))[0, :, :4, 4:] == -torch.inf).all()
    model, tokens = decoder(GraphALiBi(heads=GRAPH_ALIBI_HEADS)), torch.arange(NODES)[None, None] % SYMBOLS
    with torch.no_grad():
        together = model(tokens, distances=graph_distances(apart))
        first = model(tokens[..., :4], distances=graph_distances(nx.path_graph(4)))
        second = model(tokens[..., 4:], distances=graph_distances(nx.cycle_graph(5)))
    torch.testing.assert_close(together, torch.cat((first, second), 2), rtol=0, atol=1e-13)


def test_graph_alibi_examples_and_models_have_graphs_of_their_own():
    graphs = torch.cat([graph_distances(molecule(seed)) for seed in range(4)]).reshape(2, 2, NODES, NODES)
    members = [decoder(GraphALiBi(heads=GRAPH_ALIBI_HEADS), seed) for seed in range(2)]
    tokens = torch.randint(SYMBOLS, (2, 2, NODES), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        together = stack_models(members)(tokens, distances=graphs, first_query=2)
        for model in range(2):
            for row in range(2):
                place = slice(model, model + 1), slice(row, row + 1)
                alone = members[model](tokens[model : model + 1, row : row + 1], distances=graphs[place][0])
                torch.testing.assert_close(together[place], alone[:, :, 2:], rtol=0, atol=1e-13)


def test_graph_alibi_the_explicit_path_of_attention_is_bidirectional_too():
    class Explicit(GraphALiBi):
        scores_pairwise = True

    tokens, distances = torch.arange(NODES)[None, None] % SYMBOLS, graph_distances(molecule(1))
    with torch.no_grad():
        fused, explicit = (
            decoder(kind(heads=GRAPH_ALIBI_HEADS))(tokens, distances=distances) for kind in (GraphALiBi, Explicit)
        )
    torch.testing.assert_close(explicit, fused, rtol=0, atol=1e-12)
