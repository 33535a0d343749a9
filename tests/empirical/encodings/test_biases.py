"""Biases in torch: other libraries, initial values, gradients, and what each of them may not do."""

import math

import networkx as nx
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
from tests.empirical.twins import HOSTILE, exact

ALIBI_HEADS = (1, 2, 3, 8, 12)


@pytest.mark.parametrize("heads", ALIBI_HEADS)
def test_alibi_x_transformers_agrees(heads):
    from x_transformers.x_transformers import AlibiPositionalBias

    positions = torch.arange(65)
    theirs = AlibiPositionalBias(heads, heads)(65, 65)
    torch.testing.assert_close(ALiBi(heads=heads).bias(positions, positions), theirs, rtol=1e-6, atol=0)


BOTH = (KerplePower, KerpleLog)


def make_kerple(kind, heads=3, seed=0):
    torch.manual_seed(seed)
    return kind(heads=heads)


@pytest.mark.parametrize("kind", BOTH)
def test_kerple_a_parameter_beyond_its_bound_is_brought_back_at_the_next_use(kind):
    encoding, positions = make_kerple(kind), torch.arange(4)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.copy_(torch.tensor([-3.0, 0.5, 7.0]))
    encoding.bias(positions, positions)
    assert encoding.scale.tolist() == [pytest.approx(KERPLE_SMALLEST), 0.5, 7.0]
    second = encoding.exponent if kind is KerplePower else encoding.rate
    assert second.tolist() == [
        pytest.approx(KERPLE_SMALLEST),
        0.5,
        KERPLE_LARGEST_EXPONENT if kind is KerplePower else 7.0,
    ]


@pytest.mark.parametrize("kind", BOTH)
def test_kerple_a_parameter_at_its_bound_still_learns(kind):
    encoding, positions = make_kerple(kind), torch.arange(6)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.fill_(-1.0)
    encoding.bias(positions, positions).sum().backward()
    for parameter in encoding.parameters():
        assert parameter.grad.isfinite().all() and (parameter.grad != 0).all()


@pytest.mark.parametrize("kind", BOTH)
def test_kerple_several_layers_use_it_in_one_graph(kind):
    encoding, positions = make_kerple(kind), torch.arange(6)
    (encoding.bias(positions, positions) * encoding.bias(positions, positions)).sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in encoding.parameters())


BAM_HEADS, HEAD_DIM = 3, 4
EXPONENTS = [-0.625, 0.5, 1.25]
SHIFTS = [0.75, 0.0, -2.5]
FACTORS = [[1.0, 1.0, 1.0], [0.5, 2.0, 1.5]]


def make(kind, *, location=False):
    encoding = kind(heads=BAM_HEADS, location=location, **({"layers": 2} if kind is BAMWithSSMax else {})).double()
    with torch.no_grad():
        encoding.log_scale.copy_(torch.tensor([-2.0, 0.5, -8.0]))
        encoding.exponent.copy_(torch.tensor(EXPONENTS))
        if location:
            encoding.shift.copy_(torch.tensor(SHIFTS))
        if kind is BAMWithSSMax:
            encoding.factors.copy_(torch.tensor(FACTORS))
    return encoding


def logits(encoding, q, k, positions, layer=0):
    content = Content(layer=layer, q_BHJC=q, k_BHIC=k)
    rotated = encoding.rotate(q, k, positions, content)
    return encoding.scores(*rotated, positions, positions) + encoding.bias(
        positions, positions, content, dtype=torch.float64
    )


def test_bam_the_bias_is_the_released_formula_with_a_location_on_both_sides():
    encoding, positions = make(BAM, location=True), torch.tensor([0, 1, 2, 9, 10**6])
    computed = encoding.bias(positions, positions, dtype=torch.float64)
    for head in range(BAM_HEADS):
        for row, query in enumerate(positions.tolist()):
            for column, key in enumerate(positions.tolist()):
                law = biases.bam_log_prior(
                    sp.Integer(key - query),
                    log_scale=sp.Rational(encoding.log_scale[head].item()),
                    exponent=sp.Rational(EXPONENTS[head]),
                    smallest=biases.BAM_RELEASED_SMALLEST,
                    location=biases.bam_location(sp.Rational(SHIFTS[head])),
                )
                assert computed[head, row, column].item() == pytest.approx(exact(law), rel=1e-13)


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


def test_bam_numbers_that_do_not_change_the_weights_learn_nothing_and_the_others_do():
    encoding, positions = make(BAM, location=True), torch.arange(6)
    encoding.bias(positions, positions, dtype=torch.float64)[:, 5].softmax(-1)[:, 0].sum().backward()
    assert all((parameter.grad != 0).all() for parameter in encoding.parameters())


def test_bam_a_query_among_n_keys_has_n_equal_weights_to_the_power_of_the_factor():
    """SSMax: a key with content 1 more than all others has the weight n^s / (n^s + n - 1)."""
    encoding = BAMWithSSMax(heads=1, layers=1).double()
    with torch.no_grad():
        encoding.exponent.fill_(0)
        encoding.factors.fill_(1.5)
    n, positions = 50, torch.arange(50)
    keys = torch.zeros(1, 1, n, 1, dtype=torch.float64)
    keys[0, 0, 7] = 1
    weights = logits(encoding, torch.ones_like(keys), keys, positions)[0, 0, -1].softmax(-1)
    assert weights[7].item() == pytest.approx(n**1.5 / (n**1.5 + n - 1), rel=1e-12)


def make_t5(heads, seed=0, **parameters):
    torch.manual_seed(seed)
    return T5(heads=heads, **parameters)


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
def test_t5_transformers_agrees(bidirectional):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(num_heads=4, is_decoder=not bidirectional)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = make_t5(4, bidirectional=bidirectional)
    with torch.no_grad():
        theirs.relative_attention_bias.weight.copy_(ours.weights.T)
    positions = torch.arange(400)
    assert torch.equal(ours.bias(positions, positions), theirs.compute_bias(400, 400)[0])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_t5_x_transformers_agrees(bidirectional):
    from x_transformers.x_transformers import RelativePositionBias

    theirs = RelativePositionBias(1.0, causal=not bidirectional, heads=3)
    ours = make_t5(3, bidirectional=bidirectional)
    with torch.no_grad():
        theirs.relative_attention_bias.weight.copy_(ours.weights.T)
    positions = torch.arange(200)
    assert torch.equal(ours.bias(positions, positions), theirs(200, 200))


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


def test_t5_a_long_distance_is_not_rounded_on_its_way_to_the_bucket():
    far = torch.tensor([2**53 + 1, 10**15])
    assert buckets_of(far).tolist() == [31, 31]


def test_t5_every_row_that_is_used_gets_a_gradient():
    positions = torch.arange(200)
    for bidirectional, unused in ((False, []), (True, [16])):
        encoding = make_t5(1, bidirectional=bidirectional)
        encoding.bias(positions, positions).sum().backward()
        assert (encoding.weights.grad[0] == 0).nonzero().flatten().tolist() == unused


@pytest.mark.parametrize(
    "parameters", [{"buckets": 1}, {"longest": 16}, {"longest": 8, "bidirectional": True}, {"buckets": 2, "longest": 0}]
)
def test_t5_buckets_that_are_none_are_refused(parameters):
    with pytest.raises(RelationError, match="T5 buckets need buckets >= 2"):
        T5(heads=1, **parameters)


def make_fire(heads=3, layers=1, seed=0, **parameters):
    torch.manual_seed(seed)
    return FIRE(heads=heads, layers=layers, **parameters)


def numbers(tensor):
    return [sp.Rational(number) for number in tensor.tolist()]


def plain(law, threshold, head, j, i):
    """Return b and the sum of the sizes of its terms, by loops over float64."""
    rate = abs(law.rate.item())
    reach = max(j + 1, abs(law.factor.item()) * threshold)
    fraction = math.log1p(rate * abs(j - i)) / math.log1p(rate * reach)
    total = size = law.outer.bias[head].item()
    size = abs(size)
    for weight, offset, out in zip(
        law.inner.weight[:, 0].tolist(), law.inner.bias.tolist(), law.outer.weight[head].tolist(), strict=True
    ):
        total += out * max(0.0, weight * fraction + offset)
        size += abs(out) * (abs(weight) * fraction + abs(offset))
    return total, size


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_fire_the_plain_formula_agrees_within_the_budget_of_each_type(dtype):
    """Half units in the last place, in float32 at least, of the sum of all terms' sizes:

    3 for each psi (product, logarithm), 1 for the fraction, 2 for each unit, 34 for the products and their sum; then
    one in the type.  Parameters are rounded to the type before; positions never are.
    """
    positions, encoding = torch.tensor(HOSTILE), make_fire(threshold=300.0).to(dtype)
    bias = encoding.bias(positions, positions, dtype=dtype)
    assert bias.dtype == dtype
    law = encoding.double().laws[0]
    inner = torch.finfo(torch.promote_types(dtype, torch.float32)).eps / 2
    for head in range(3):
        for row, j in enumerate(HOSTILE):
            for column, i in enumerate(HOSTILE):
                expected, size = plain(law, 300.0, head, j, i)
                budget = 1.01 * (43 * inner + (torch.finfo(dtype).eps / 2 if dtype != torch.float64 else inner))
                assert abs(bias[head, row, column].item() - expected) <= budget * size


def test_fire_is_relative_up_to_the_threshold_and_not_beyond():
    positions = torch.arange(20)
    bias = make_fire(threshold=12.0).double().bias(positions, positions, dtype=torch.float64)
    for distance in range(1, 8):
        row = bias.diagonal(-distance, dim1=-2, dim2=-1)  # queries distance, distance + 1, ...
        # Query 11 counted from 0 is the twelfth.
        steps = row.diff(dim=-1).abs().amax(0)
        assert (steps[: 11 - distance] == 0).all() and (steps[11 - distance :] > 0).all()


def test_fire_the_diagonal_is_the_network_at_zero():
    positions, encoding = torch.tensor(HOSTILE), make_fire(threshold=3.0)
    law = encoding.laws[0]
    at_zero = law.outer(law.inner(torch.zeros(1)).relu())
    diagonal = encoding.bias(positions, positions).diagonal(dim1=-2, dim2=-1)
    torch.testing.assert_close(diagonal, at_zero[:, None].expand_as(diagonal))


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
def test_graph_alibi_relabelled_nodes_have_permuted_logits(seed):
    """The bias is permuted exactly; sums of the layers run in another order, so they differ in the last digits."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(NODES, generator=generator)
    distances = graph_distances(molecule(seed))
    image = nx.relabel_nodes(molecule(seed), dict(zip(order.tolist(), range(NODES), strict=True)))
    relabelled = graph_distances(nx.Graph({node: sorted(image[node]) for node in range(NODES)}))
    assert torch.equal(relabelled, distances[:, order][:, :, order])
    assert not torch.equal(relabelled, distances)
    assert torch.equal(bias(relabelled), bias(distances)[:, :, order][:, :, :, order])
    model, tokens = (
        decoder(GraphALiBi(heads=GRAPH_ALIBI_HEADS)),
        torch.randint(SYMBOLS, (1, 2, NODES), generator=generator),
    )
    with torch.no_grad():
        before, after = model(tokens, distances=distances), model(tokens[..., order], distances=relabelled)
    torch.testing.assert_close(after, before[:, :, order], rtol=0, atol=1e-13)


def test_graph_alibi_the_order_of_nodes_matters_to_a_causal_model():
    class Causal(GraphALiBi):
        causal = True

    order, tokens = torch.arange(NODES).flip(0), torch.arange(NODES)[None, None] % SYMBOLS
    distances = graph_distances(molecule(0))
    relabelled = distances[:, order][:, :, order]
    model = decoder(Causal(heads=GRAPH_ALIBI_HEADS))
    with torch.no_grad():
        before, after = model(tokens, distances=distances), model(tokens[..., order], distances=relabelled)
    assert (after - before[:, :, order]).abs().max() > 1e-3


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
