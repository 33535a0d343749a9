"""Rotary encodings in torch: other libraries, far positions, what is refused, and what each of them is at its ends."""

from dataclasses import replace

import pytest
import sympy as sp
import torch
from torch import Tensor

from lengthgen.empirical.audit import audit
from lengthgen.empirical.audit.loading import load, subjects
from lengthgen.empirical.encodings.agreement import SIZES, TOLERANCE, largest_difference
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.rotary import (
    SWAT,
    DynamicNTK,
    HoPE,
    PositionInterpolation,
    Rotary,
    XPos,
    YaRN,
    apply_rotary,
    light_cone,
)
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.theory.encodings import hope, rotary
from lengthgen.theory.encodings.encoding import Encoding, Normaliser
from tests.empirical.encodings.table import exact_gammas
from tests.empirical.twins import HOSTILE, exact, normal

ROPE_HEAD_DIM = 6


def test_rope_transformers_and_rotary_embedding_torch_agree():
    from rotary_embedding_torch import RotaryEmbedding
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    length, head_dim = 64, 16
    q, k = normal(1, 2, 2, 3, length, head_dim, dtype=torch.float32)
    angles = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, head_dim, 2) / head_dim))
    both, library = torch.cat((angles, angles), -1)[None], RotaryEmbedding(dim=head_dim)
    for layout, theirs in (
        ("halves", apply_rotary_pos_emb(q, k, both.cos(), both.sin())),
        ("interleaved", (library.rotate_queries_or_keys(q), library.rotate_queries_or_keys(k))),
    ):
        ours = Rotary(head_dim=head_dim, layout=layout).rotate(q, k, torch.arange(length))
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=2e-5)


def frequencies_of_transformers(kind, head_dim, *, trained=4096, factor=1.0, length=None, **more):
    """Frequencies and magnitude that transformers computes, in float64; powers in float32."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    parameters = {"rope_type": kind, "rope_theta": 10000.0, "factor": factor, **more}
    config = LlamaConfig(
        hidden_size=head_dim, num_attention_heads=1, max_position_embeddings=trained, rope_parameters=parameters
    )
    frequencies, magnitude = ROPE_INIT_FUNCTIONS[kind](config, "cpu", **({} if length is None else {"seq_len": length}))
    return frequencies.double(), magnitude


SINGLE = 6e-8
"""Half a unit in the last place of a float32 power: its exponent is off by that, times ln(10^4) = 9.2 or more."""
STRETCHED = [
    # module, arguments of transformers, length, roundings
    *((PositionInterpolation(head_dim=64, scale=s), ("linear", 64, {"factor": s}), 1, 12) for s in (1.0, 4.0, 32.0)),
    *(
        (
            DynamicNTK(head_dim=64, trained_length=4096, factor=factor),
            ("dynamic", 64, {"factor": factor, "length": length}),
            length,
            16,
        )
        for factor in (1.0, 4.0)
        for length in (1, 4096, 4097, 5000, 32768)
    ),
    *(
        (
            YaRN(head_dim=head_dim, scale=s, trained_length=trained, ramp="code"),
            ("yarn", head_dim, {"factor": s, "trained": int(trained * s), "original_max_position_embeddings": trained}),
            1,
            12 + 2 * s,  # gamma is off by eps, up to s times theta'
        )
        for head_dim, trained in ((128, 4096), (64, 2048), (8, 64), (128, 32768))
        for s in (1.0, 16.0)
    ),
]


@pytest.mark.parametrize(("ours", "theirs", "length", "roundings"), STRETCHED)
def test_frequencies_of_longer_texts_are_those_of_transformers(ours, theirs, length, roundings):
    kind, head_dim, arguments = theirs
    frequencies, magnitude = frequencies_of_transformers(kind, head_dim, **arguments)
    torch.testing.assert_close(ours.frequencies(length), frequencies, rtol=roundings * SINGLE, atol=0)
    assert magnitude == pytest.approx(ours.magnitude(), rel=1e-15)


def test_rope_the_layouts_differ_by_the_permutation_of_the_symbolic_side():
    positions = torch.tensor(HOSTILE)
    q, k = normal(4, 2, 1, 2, len(HOSTILE), ROPE_HEAD_DIM)
    place = torch.tensor(rotary.to_halves(ROPE_HEAD_DIM))
    moved_q, moved_k = (torch.empty_like(x).index_copy_(-1, place, x) for x in (q, k))
    interleaved = Rotary(head_dim=ROPE_HEAD_DIM).rotate(q, k, positions)
    halves = Rotary(head_dim=ROPE_HEAD_DIM, layout="halves").rotate(moved_q, moved_k, positions)
    for vectors, other in zip(interleaved, halves, strict=True):
        # A complex product may fuse its multiplications with its sums: one rounding more or less.
        torch.testing.assert_close(other[..., place], vectors, rtol=0, atol=1e-15)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_rope_how_contents_lie_in_memory_does_not_matter(layout):
    encoding, positions = Rotary(head_dim=ROPE_HEAD_DIM, layout=layout), torch.arange(7)
    wide = normal(5, 2, 3, 7, 2 * ROPE_HEAD_DIM + 1)
    for view in (
        wide[..., 1 : 1 + ROPE_HEAD_DIM],
        wide[..., : 2 * ROPE_HEAD_DIM : 2],
        normal(6, 2, 7, 3, ROPE_HEAD_DIM).transpose(1, 2),
        normal(6, 1, 1, 7, ROPE_HEAD_DIM).expand(2, 3, 7, ROPE_HEAD_DIM),
    ):
        rotated = encoding.rotate(view, view, positions)[0]
        # A vector instruction may fuse a product with a sum where a scalar one does not: the last bit is free.
        torch.testing.assert_close(rotated, encoding.rotate(view.clone(), view, positions)[0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_rope_gradients_flow_to_contents_and_angles(layout):
    x = normal(8, 1, 2, 3, 4).requires_grad_()
    angles = normal(9, 1, 1, 3, 2).requires_grad_()

    def turned_by(x, angles):
        return apply_rotary(x, torch.polar(torch.ones_like(angles), angles), layout)

    assert torch.autograd.gradcheck(turned_by, (x, angles))


NTK_HEAD_DIM, NTK_TRAINED = 6, 256


def test_ntk_gradients_pass_through_a_batch():
    q = normal(5, 2, 1, 3, NTK_HEAD_DIM).requires_grad_()
    encoding = DynamicNTK(head_dim=NTK_HEAD_DIM, trained_length=2)
    turned, _ = encoding.rotate(q, q.detach(), torch.stack([torch.arange(3), torch.arange(3) + 5]))
    turned.square().sum().backward()
    torch.testing.assert_close(q.grad, 2 * q.detach(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("head_dim", "trained"), [(128, 4096), (64, 2048), (8, 64), (128, 32768)])
@pytest.mark.parametrize("ramp", ["paper", "code"])
def test_yarn_shares_are_those_of_the_symbolic_ramps(head_dim, trained, ramp):
    shares = YaRN(head_dim=head_dim, scale=2, trained_length=trained, ramp=ramp).gamma()
    expected = torch.tensor([float(gamma) for gamma in exact_gammas(ramp, head_dim, trained)], dtype=torch.float64)
    torch.testing.assert_close(shares, expected, rtol=0, atol=1e-13)


def test_xpos_rotary_embedding_torch_agrees():
    from rotary_embedding_torch import RotaryEmbedding

    length, head_dim = 64, 16
    q, k = normal(1, 2, 2, 3, length, head_dim, dtype=torch.float32)
    library = RotaryEmbedding(dim=head_dim, use_xpos=True)
    their_q, their_k = library.rotate_queries_and_keys(q, k)
    theirs = (their_q @ their_k.transpose(-1, -2)).tril()
    encoding, positions = XPos(head_dim=head_dim), torch.arange(length)
    ours = encoding.scores(*encoding.rotate(q, k, positions), positions, positions)
    # The library's angles, up to 64, are float32: off by 64 eps, and scores by that times |q| |k|.
    torch.testing.assert_close(ours, theirs, rtol=0, atol=64 * 1.2e-7 * head_dim)


HOPE_HEAD_DIM = 6
UNIT = 2.0**-53


def laws(encoding):
    """The rate and the margin of each plane, exact but for the margin, which is the module's own float64."""
    largest, margin = max(rotary.frequencies(HOPE_HEAD_DIM), key=float), sp.Rational(encoding.margin().item())
    return [(rate, largest + margin - rate) for rate in rotary.frequencies(HOPE_HEAD_DIM)]


def symbolic_law(encoding, q_C, k_C, offset):
    """Score from the distance, the only form that can be evaluated at far positions, rounded once."""
    q_C, k_C = [[sp.Rational(value) for value in content] for content in (q_C, k_C)]
    pairs = [slice(start, start + 2) for start in range(0, HOPE_HEAD_DIM, 2)]
    return exact(
        sum(
            hope.light_cone_score(q_C[pair], k_C[pair], offset=sp.Integer(offset), rate=rate, damping=rate + margin)
            for pair, (rate, margin) in zip(pairs, laws(encoding), strict=True)
        )
    )


@pytest.mark.parametrize("damping", [1.1, 1.0001, 3.0])
def test_hope_is_its_symbolic_law_at_hostile_positions(damping):
    encoding, positions = HoPE(head_dim=HOPE_HEAD_DIM, damping=damping), torch.tensor(HOSTILE)
    q, k = normal(0, 2, 1, 1, len(HOSTILE), HOPE_HEAD_DIM)
    scores = encoding.scores(q, k, positions, positions)[0, 0]
    bound = (light_cone(q).abs().max() / 2 * light_cone(k).abs().max() * HOPE_HEAD_DIM).item()
    for row, j in enumerate(HOSTILE):
        for column, i in enumerate(HOSTILE[: row + 1]):
            expected = symbolic_law(encoding, q[0, 0, row].tolist(), k[0, 0, column].tolist(), j - i)
            # An exponent x is off by 4 x units, so e^-x by 4 x e^-x < 2 units; coordinates, products, sums: C + 8.
            assert abs(scores[row, column].item() - expected) <= (HOPE_HEAD_DIM + 10) * UNIT * bound, (j, i)


def test_hope_float32_is_right_where_absolute_factors_overflow():
    """Key factors e^(2.1 i) leave float32 at position 43 (claim hope-9)."""
    encoding = HoPE(head_dim=2, learned=False)
    q, k = torch.tensor([0.75, 0.25]).expand(1, 1, 2, 2), torch.tensor([0.5, -0.375]).expand(1, 1, 2, 2)
    for start in (0, 15, 43, 339, 10**6):
        positions = torch.tensor([start, start + 1])
        scores = encoding.scores(q, k, positions, positions)[0, 0]
        torch.testing.assert_close(scores, torch.tensor([[0.28125, 0.0], [0.0833397, 0.28125]]), rtol=1e-6, atol=0)


def test_hope_rates_are_kept_above_zero_and_to_the_last_digit():
    """Theta' - theta, formed from theta' = 1 + 1e-12 in float32, would be 0."""
    near = HoPE(head_dim=HOPE_HEAD_DIM, damping=1 + 1e-12, learned=False).decay_rates()
    assert near[0].item() == pytest.approx(1e-12, rel=1e-3)
    fixed = HoPE(head_dim=HOPE_HEAD_DIM, damping=1.1, learned=False)
    before = fixed.decay_rates()
    assert torch.equal(fixed.to(torch.bfloat16).decay_rates(), before) and not [*fixed.parameters()]
    learned = HoPE(head_dim=HOPE_HEAD_DIM, damping=1.1).double()
    torch.testing.assert_close(learned.decay_rates(), before, rtol=1e-6, atol=0)
    for raw in (-80.0, -1.0, 0.0, 50.0):
        torch.nn.init.constant_(learned.raw_margin, raw)
        assert (learned.decay_rates() > 0).all()


HEADS, SWAT_HEAD_DIM, LENGTH = 2, 4, 9
WIDTH = HEADS * SWAT_HEAD_DIM


def record(window: int, **changes: object) -> Encoding:
    """The twin with the values of a module of the given window."""

    def values(module, head, plane):
        frequency = 10_000 ** (-2 * plane / SIZES["head_dim"])
        return {rotary.FREQUENCY: frequency, rotary.SWAT_SLOPE: module.slopes[head], rotary.SWAT_WINDOW: window}

    return replace(rotary.SWAT, values=values, **changes)


def test_swat_logits_and_weights_are_those_of_the_formulas():
    module = SWAT(heads=SIZES["heads"], head_dim=SIZES["head_dim"], window=31)
    assert largest_difference(record(31), module) < TOLERANCE
    assert largest_difference(record(32), module) > 0.1
    assert largest_difference(record(31, normaliser=Normaliser.SOFTMAX), module) > 0.1
    assert largest_difference(replace(record(31), window=sp.oo), module) > 0.1


def decoder(encoding: PositionEncoding, *, layers: int = 2, seed: int = 0) -> Decoder:
    torch.manual_seed(seed)
    return Decoder(symbols=5, width=WIDTH, layers=layers, heads=HEADS, encoding=encoding).double()


def module(**options: object) -> SWAT:
    return SWAT(heads=HEADS, head_dim=SWAT_HEAD_DIM, **options)


def test_swat_attention_of_a_decoder_is_its_definition_pair_by_pair():
    model, positions = decoder(module(window=4), layers=1), torch.arange(LENGTH) + 100
    tokens = torch.randint(5, (1, 2, LENGTH), generator=torch.Generator().manual_seed(1))
    block, attended = model.blocks[0], []
    block.out.register_forward_hook(lambda _, inputs, __: attended.append(inputs[0]))
    model(tokens, positions=positions)
    normed = block.attention_norm(model.tokens(tokens))
    q, k, v = block.qkv(normed).unflatten(-1, (3, HEADS, -1)).permute(3, 0, 1, 4, 2, 5)[:, 0]
    q, k = Rotary(head_dim=SWAT_HEAD_DIM).rotate(q, k, positions)
    for head, slope in enumerate((-0.5, 0.5)):
        for j in range(LENGTH):
            keys = range(max(0, j - 3), j + 1)
            logits = [q[:, head, j].mul(k[:, head, i]).sum(-1) / SWAT_HEAD_DIM**0.5 + slope * (j - i) for i in keys]
            expected = sum(v[:, head, i] / (1 + (-x).exp())[:, None] for i, x in zip(keys, logits, strict=True))
            computed = attended[0][0, :, j].unflatten(-1, (HEADS, SWAT_HEAD_DIM))[:, head]
            torch.testing.assert_close(computed, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("window", "layers"), [(1, 3), (3, 2), (2, 5), (4, 3)])
def test_swat_an_output_depends_on_exactly_as_many_tokens_as_the_claim_says(window, layers):
    length = 1 + (window - 1) * layers + 3
    model = decoder(module(window=window), layers=layers)
    embedded: list[Tensor] = []
    model.tokens.register_forward_hook(lambda _, __, output: embedded.append(output.requires_grad_()) or output)
    model(torch.zeros(1, 1, length, dtype=torch.int64))[0, 0, -1].sum().backward(inputs=(embedded[0],))
    reached = (embedded[0].grad.abs().sum(-1) > 0).flatten()
    count = int(rotary.swat_receptive_field(window=sp.Integer(window), layers=sp.Integer(layers)))
    assert reached.tolist() == [False] * (length - count) + [True] * count


class ByKey(SWAT):
    """The bias -s i of the key alone, in place of s (j - i)."""

    def __init__(self, heads: int = HEADS, head_dim: int = SWAT_HEAD_DIM) -> None:
        super().__init__(heads=heads, head_dim=head_dim)

    def bias(self, query_positions, key_positions, content=None, *, dtype=torch.float32):
        return super().bias(torch.zeros_like(query_positions), key_positions, content, dtype=dtype)


class ByKeyUnderSoftmax(ByKey):
    """The same bias under softmax, which takes it for s (j - i)."""

    normalise = PositionEncoding.normalise


@pytest.mark.parametrize(("make", "broken"), [(ByKey, True), (ByKeyUnderSoftmax, False)])
def test_swat_the_audit_compares_a_bias_up_to_a_row_under_softmax_only(make, broken):
    (subject,) = (part for part in subjects(make, name="mine", heads=2, head_dim=4) if part.kind == "bias")
    findings = audit(subject, to=300, dtypes=("float64",))["findings"]
    assert bool(findings) == broken, findings


def test_swat_the_audit_varies_the_base_where_it_acts():
    others = {subject.kind: subject.other for subject in load("swat", heads=2, head_dim=4)}
    assert others == {"rotate": {"base": 500.0}, "bias": None}
