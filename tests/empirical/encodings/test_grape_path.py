"""GRAPE-AP in torch: its symbolic twin, the laws of a path, and what a chunk or an order may not change."""

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings import grape
from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.grape import GrapePath
from lengthgen.theory.encodings import biases as biases_formulas
from lengthgen.theory.encodings import grape as grape_formulas
from tests.empirical.twins import DIGITS, symbolic_bias

HEADS, WIDTH, LAYERS, BATCH, LENGTH = 2, 5, 2, 2, 7
PROBE_DIM = grape_formulas.PROBE_DIM


def content(seed, *shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def make_path_encoding(heads=HEADS):
    torch.manual_seed(0)
    encoding = GrapePath(heads=heads, width=WIDTH, layers=LAYERS).double()
    with torch.no_grad():
        encoding.probes.mul_(8)
    return encoding


def biases(encoding, x, positions, **more):
    return encoding.bias(positions, positions, Content(x_BLD=x, **more), dtype=torch.float64).detach()


def symbolic_edge(query_probe, token_probe, query, token, slope):
    """Return psi(query, token) by the symbolic formulas, plane by plane, to 40 digits."""
    total = sp.Integer(0)
    for plane in range(0, PROBE_DIM, 2):
        pair = (
            [sp.Rational(value) for value in probe[plane : plane + 2].tolist()] for probe in (query_probe, token_probe)
        )
        total += grape_formulas.affinity(*pair, query_position=sp.Integer(query), token_position=sp.Integer(token))
    psi = grape_formulas.affinity_potential(sp.N(total, DIGITS), slope=slope, probe_dim=sp.Integer(PROBE_DIM))
    return sp.Rational(float(sp.N(psi, DIGITS)))


@pytest.mark.parametrize("start", [0, 10**6])
def test_it_is_its_symbolic_twin(start):
    layer, encoding, x = 1, make_path_encoding(), content(1, BATCH, LENGTH, WIDTH)
    positions = range(start, start + LENGTH)
    bias = biases(encoding, x, torch.tensor(positions), layer=layer)
    probes = torch.einsum("bld,hpd->bhlp", x, encoding.probes[layer].detach())
    for batch in range(BATCH if start == 0 else 1):
        for head, slope in enumerate(biases_formulas.alibi_slopes(HEADS)):
            p = probes[batch, head]
            edges = {
                grape_formulas.EDGES[query, token]: symbolic_edge(
                    p[query - start], p[token - start], query, token, slope
                )
                for query in positions
                for token in range(start + 1, query + 1)
            }
            expected = symbolic_bias(grape_formulas.PATH, edges, positions)
            seen = ~expected.isnan()
            # An angle of 10^6 is off by 10^6 eps, and an edge, 1-Lipschitz, by no more than |p|^2/d of that.
            reach = 1e-13 + 4 * start * 2.3e-16 * LENGTH * float(p.norm(dim=-1).max()) ** 2 / PROBE_DIM
            torch.testing.assert_close(bias[batch, head][seen], expected[seen], rtol=1e-13, atol=reach)


def test_a_path_never_rewards_distance_and_ends_at_zero():
    bias = biases(make_path_encoding(), content(2, BATCH, LENGTH, WIDTH), torch.arange(LENGTH))
    lower = torch.ones(LENGTH, LENGTH).tril(-1).bool()
    assert (bias.diff(dim=-1)[..., lower[:, :-1]] > 0).all()
    assert (bias.diagonal(dim1=-1, dim2=-2) == 0).all() and (bias.triu(1) == 0).all()


def test_it_does_not_depend_on_where_positions_begin():
    x = content(3, BATCH, LENGTH, WIDTH)
    here, there = (biases(make_path_encoding(), x, torch.arange(LENGTH) + shift) for shift in (0, 3))
    torch.testing.assert_close(here, there, rtol=1e-12, atol=1e-12)


def test_tokens_add_up_in_the_order_of_their_positions():
    x, order = content(4, BATCH, LENGTH, WIDTH), torch.tensor([3, 0, 6, 1, 5, 2, 4])
    straight = biases(make_path_encoding(), x, torch.arange(LENGTH))
    shuffled = biases(make_path_encoding(), x[:, order], order)
    torch.testing.assert_close(shuffled, straight[..., order, :][..., order], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_rows_at_a_time_change_nothing(rows, monkeypatch):
    x, positions = content(5, BATCH, LENGTH, WIDTH), torch.arange(LENGTH)
    full_bias = biases(make_path_encoding(), x, positions)
    monkeypatch.setattr(grape, "_ROWS", rows)
    torch.testing.assert_close(biases(make_path_encoding(), x, positions), full_bias, rtol=1e-13, atol=0)


def test_without_probes_it_is_alibi_times_log_two():
    encoding = make_path_encoding(heads=3)
    torch.nn.init.zeros_(encoding.probes)
    bias = biases(encoding, content(6, 1, LENGTH, WIDTH), torch.arange(LENGTH))[0]
    distance = (torch.arange(LENGTH)[:, None] - torch.arange(LENGTH)).clamp(min=0)
    for head, slope in enumerate(biases_formulas.alibi_slopes(3)):
        torch.testing.assert_close(bias[head], -float(slope * sp.log(2)) * distance.double(), rtol=1e-14, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_stay_within_their_budget(dtype):
    """An edge moves by no more than its affinity, of d sums of D terms each; edges add up in float64."""
    encoding, positions = make_path_encoding().float(), torch.arange(LENGTH)
    x = content(7, BATCH, LENGTH, WIDTH).to(dtype)
    narrow = encoding.bias(positions, positions, Content(x_BLD=x), dtype=dtype).detach()
    wide = encoding.double().bias(positions, positions, Content(x_BLD=x.double()), dtype=torch.float64).detach()
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    length = float(x.double().norm(dim=-1).max()) * float(encoding.probes.detach().norm(dim=-1).max())
    edge = length**2 * (2 * (WIDTH + 4) + PROBE_DIM) * single + 6 * single * (length**2 + 1)
    assert ((narrow.double() - wide).abs() <= LENGTH * edge + wide.abs() * last * 1.01).all()
    assert narrow.dtype == dtype


def test_gradients_reach_the_probes():
    encoding, positions = make_path_encoding(), torch.arange(LENGTH)
    encoding.bias(positions, positions, Content(x_BLD=content(8, 1, LENGTH, WIDTH))).sum().backward()
    assert encoding.probes.grad[0].abs().max() > 0 and not encoding.probes.grad[1].any()


def test_bad_input_is_refused():
    encoding, positions, x = make_path_encoding(), torch.arange(3), torch.zeros(1, 3, WIDTH)
    with pytest.raises(ValueError, match="pass content with x_BLD"):
        encoding.bias(positions, positions)
    with pytest.raises(ValueError, match="positions must be integers"):
        encoding.bias(positions.float(), positions, Content(x_BLD=x))
    with pytest.raises(ValueError, match="positions must be integers"):
        encoding.bias(positions, positions.float(), Content(x_BLD=x))
    with pytest.raises(ValueError, match="the layer's input is 4 wide, not width = 5"):
        encoding.bias(positions, positions, Content(x_BLD=x[..., :4]))
    with pytest.raises(ValueError, match="queries and keys must both be all tokens of the layer's input"):
        encoding.bias(positions[-1:], positions, Content(x_BLD=x))
    with pytest.raises(ValueError, match="queries and keys must both be all tokens of the layer's input"):
        encoding.bias(positions + 1, positions, Content(x_BLD=x))
