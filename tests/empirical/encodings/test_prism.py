"""PRISM in torch: its symbolic twin, PyTorch's GRU, hard gates that count, causality, packed rows, ensembles."""

import math

import pytest
import sympy as sp
import torch

from lengthgen.empirical.encodings.prism import PRISM, sequence_starts
from lengthgen.theory.encodings import prism
from lengthgen.theory.encodings.rotary import frequencies

WIDTH, POSITIONS, BATCH, LENGTH = 6, 7, 3, 14
NAMES = tuple(prism.MOVES)


def draw(seed, *shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def make_prism(seed=0, sharpening="learned"):
    """PRISM with gates that depend on the tokens, as those of a new module do not."""
    torch.manual_seed(seed)
    encoding = PRISM(width=WIDTH, positions=POSITIONS, sharpening=sharpening).double()
    torch.nn.init.normal_(encoding.gate_weights)
    return encoding


def with_exponent(encoding, exponent):
    with torch.no_grad():
        encoding.sharpness.fill_(math.log(math.expm1(exponent - 1)))
    return encoding


def histograms(encoding, gates_BLM):
    return encoding.histograms(gates_BLM, sequence_starts(torch.arange(gates_BLM.shape[1]))).detach()


@pytest.mark.parametrize(("sharpening", "exponent"), [("learned", 1.01), ("learned", 9.5), ("none", 1)])
def test_histograms_and_codes_are_those_of_the_formula(sharpening, exponent):
    encoding, x = make_prism(sharpening=sharpening), draw(1, 1, LENGTH, WIDTH)
    assert (encoding.sharpness is None) == (sharpening == "none")
    if encoding.sharpness is not None:
        with_exponent(encoding, exponent)
    gates = encoding.gates(x, sequence_starts(torch.arange(LENGTH))).detach()
    masses, embedded = histograms(encoding, gates)[0], encoding.embed(x, torch.arange(LENGTH))[0].detach()
    trained = 0 if encoding.sharpness is None else sp.Rational(encoding.sharpness.item())
    power = prism.EXPONENTS[sharpening](trained).n(40)
    histogram = [sp.Integer(place == 0) for place in range(POSITIONS)]
    for at in range(LENGTH):
        numbers = dict(zip(NAMES, map(sp.Rational, gates[0, at].tolist()), strict=True))
        histogram = [part.n(40) for part in prism.step(histogram, numbers, power)]
        assert masses[at].tolist() == pytest.approx([float(part) for part in histogram], rel=0, abs=1e-13)
        values = {prism.HISTOGRAMS[at, place]: part for place, part in enumerate(histogram)}
        plane = prism.PRISM.embed(sp.Integer(at)).subs(prism.POSITIONS, POSITIONS).doit().xreplace(values)
        code = [
            float(entry.subs(prism.FREQUENCY, frequency).n(30))
            for frequency in frequencies(WIDTH, base=sp.Integer(10_000))
            for entry in plane
        ]
        assert (embedded[at] - x[0, at]).tolist() == pytest.approx(code, rel=0, abs=1e-12)


@pytest.mark.parametrize("exponent", [1.001, 1.5, 30.0])
def test_hard_gates_are_exactly_a_clamped_counter(exponent):
    words = torch.randint(4, (BATCH, 60), generator=torch.Generator().manual_seed(2))
    words[0] = NAMES.index("increment")
    states = histograms(with_exponent(PRISM(width=2, positions=5), exponent), torch.eye(4, dtype=torch.float64)[words])
    moves = {"reset": lambda c: 0, "increment": lambda c: min(c + 1, 4), "decrement": lambda c: max(c - 1, 0)}
    for row, word in enumerate(words.tolist()):
        count = 0
        for at, gate in enumerate(word):
            count = moves.get(NAMES[gate], lambda c: c)(count)
            assert torch.equal(states[row, at], torch.eye(5, dtype=torch.float64)[count])


def test_the_network_is_a_gru_as_pytorch_has_it():
    encoding, x = make_prism(), draw(3, BATCH, LENGTH, WIDTH)
    library = torch.nn.GRU(WIDTH, prism.GATE_WIDTH, batch_first=True).double()
    with torch.no_grad():
        encoding.input_offsets.copy_(draw(4, 3 * prism.GATE_WIDTH))
        encoding.recurrent_offsets.copy_(draw(5, 3 * prism.GATE_WIDTH))
        for theirs, ours in (
            ("weight_ih_l0", encoding.input_weights),
            ("weight_hh_l0", encoding.recurrent_weights),
            ("bias_ih_l0", encoding.input_offsets),
            ("bias_hh_l0", encoding.recurrent_offsets),
        ):
            getattr(library, theirs).copy_(ours)
    logits = library(x)[0] @ encoding.gate_weights.T + encoding.gate_offsets
    gates = encoding.gates(x, sequence_starts(torch.arange(LENGTH)))
    torch.testing.assert_close(gates, logits.softmax(-1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("increment", [2.0, 800.0])
def test_every_parameter_has_a_finite_slope_also_where_gates_are_hard(increment):
    encoding, x = make_prism().float(), draw(9, BATCH, LENGTH, WIDTH).float()
    with torch.no_grad():
        encoding.gate_offsets[NAMES.index("increment")] = increment
    (encoding.embed(x, torch.arange(LENGTH)) ** 2).sum().backward()
    slopes = {name: parameter.grad.abs().max().item() for name, parameter in encoding.named_parameters()}
    assert all(math.isfinite(slope) for slope in slopes.values()), slopes
    assert (min(slopes.values()) > 0) == (increment == 2.0), slopes


def test_autocast_leaves_the_state_alone_and_narrow_embeddings_are_rounded_once():
    encoding, x = make_prism().float(), draw(10, BATCH, LENGTH, WIDTH).bfloat16()
    exact = encoding.embed(x.float(), torch.arange(LENGTH))
    torch.testing.assert_close(exact.double(), encoding.embed(x.double(), torch.arange(LENGTH)), rtol=0, atol=1e-5)
    assert torch.equal(encoding.embed(x, torch.arange(LENGTH)), exact.bfloat16())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(encoding.embed(x.float(), torch.arange(LENGTH)), exact)


def test_gaps_between_positions_are_ignored():
    encoding, x = make_prism(), draw(11, BATCH, LENGTH, WIDTH)
    assert torch.equal(encoding.embed(x, torch.arange(LENGTH) ** 2), encoding.embed(x, torch.arange(LENGTH)))


def test_a_row_of_packed_sequences_is_its_sequences():
    encoding, x = make_prism(), draw(7, BATCH, LENGTH, WIDTH)
    positions = torch.cat((torch.arange(8), torch.arange(LENGTH - 8)))
    packed = encoding.embed(x, positions)
    torch.testing.assert_close(packed[:, :8], encoding.embed(x[:, :8], positions[:8]), rtol=0, atol=1e-13)
    torch.testing.assert_close(packed[:, 8:], encoding.embed(x[:, 8:], positions[8:]), rtol=0, atol=1e-13)
