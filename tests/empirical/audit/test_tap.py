"""The tap reads attention however a model calls it."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lengthgen.empirical.audit import AuditError
from lengthgen.empirical.audit.models.anatomy import look
from lengthgen.empirical.audit.models.audit import audit_model
from lengthgen.empirical.audit.models.runner import SOURCE, Runner
from lengthgen.empirical.audit.models.tap import Tap, einsum_factors
from lengthgen.empirical.audit.models.whole import own_model
from tests.empirical.examples import torch_models
from tests.empirical.examples.torch_models import HEADS, WIDTH, Model

BATCH, LENGTH = 3, 7
MASKS = {
    "none": None,
    "numbers": torch.full((LENGTH, LENGTH), -torch.inf).double().triu(1),
    "truth values": torch.ones(LENGTH, LENGTH).triu(1).bool(),
    "bias": torch.linspace(-2, 2, BATCH * HEADS * LENGTH**2).double().reshape(-1, LENGTH, LENGTH),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("padded", [False, True])
def test_logits_of_multi_head_attention_give_the_weights_that_it_returns(mask, padded):
    padding = torch.arange(LENGTH).expand(BATCH, -1) >= torch.tensor([[LENGTH], [4], [6]]) if padded else None
    if padded and MASKS[mask] is not None and mask != "truth values":
        padding = torch.zeros(padding.shape).double().masked_fill(padding, -torch.inf)
    for batch_first, need_weights, training in itertools.product([False, True], repeat=3):
        torch.manual_seed(0)
        module = nn.MultiheadAttention(WIDTH, HEADS, batch_first=batch_first).double().train(training)
        x = torch.randn(BATCH, LENGTH, WIDTH).double()
        x = x if batch_first else x.transpose(0, 1)
        options = {"attn_mask": MASKS[mask], "key_padding_mask": padding}
        with torch.no_grad():
            expected, weights = module(x, x, x, **options, average_attn_weights=False)
            with Tap(BATCH, LENGTH) as tap:
                answer = module(x, x, x, **options, need_weights=need_weights)
        [reading] = tap.readings
        assert torch.allclose(reading.logits_BHJI.softmax(-1), weights, atol=1e-12)
        assert torch.allclose(answer[0], expected, atol=1e-12)
        assert (answer[1] is None) is not need_weights
        assert mask == "bias" or reading.scale == pytest.approx((WIDTH // HEADS) ** -0.5)


def test_keys_that_multi_head_attention_adds_itself_are_left_out():
    module = nn.MultiheadAttention(WIDTH, HEADS, add_bias_kv=True, add_zero_attn=True, batch_first=True)
    x = torch.randn(BATCH, LENGTH, WIDTH)
    with torch.no_grad(), Tap(BATCH, LENGTH) as tap:
        assert module(x, x, x)[1].shape == (BATCH, LENGTH, LENGTH + 2)
    assert tap.readings[0].logits_BHJI.shape == (BATCH, HEADS, LENGTH, LENGTH)


def test_a_causal_hint_hides_no_bias_that_counts():
    """PyTorch replaces the mask under this hint only where it returns no weights."""
    module, x = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).double(), torch.zeros(BATCH, LENGTH, WIDTH)
    options = {"attn_mask": MASKS["bias"], "is_causal": True, "average_attn_weights": False}
    for need_weights in (True, False):
        with torch.no_grad(), Tap(BATCH, LENGTH) as tap:
            weights = module(*[x.double()] * 3, **options, need_weights=need_weights)[1]
        logits = tap.readings[0].logits_BHJI
        if need_weights:
            assert torch.allclose(logits.softmax(-1), weights)
        else:
            assert torch.equal(logits, torch.zeros(logits.shape).double() + MASKS["numbers"])


Q, K = torch.linspace(-1, 1, 2 * BATCH * HEADS * LENGTH * 8).double().sin().reshape(2, BATCH, HEADS, LENGTH, 8)
BIAS = MASKS["numbers"] - torch.arange(LENGTH).double() / 3
FLAT = [part.flatten(0, 1) for part in (Q, K)]
GROUPED = [part.unflatten(1, (2, 2)) for part in (Q, K)]
CALLS = {
    "attention by keywords": lambda: F.scaled_dot_product_attention(query=Q, key=K, value=K, attn_mask=BIAS, scale=0.5),
    "attention of three axes": lambda: F.scaled_dot_product_attention(*FLAT, FLAT[1], BIAS, scale=0.5),
    "attention of shared keys": lambda: F.scaled_dot_product_attention(
        Q, K[:, ::2], K[:, ::2], BIAS, scale=0.5, enable_gqa=True
    ),
    "batched product": lambda: (torch.bmm(FLAT[0], FLAT[1].mT) / 2 + BIAS).softmax(-1),
    "product that adds": lambda: torch.baddbmm(BIAS, FLAT[0], FLAT[1].mT, alpha=0.5).softmax(-1),
    "product of three axes, softmax of four": lambda: (
        torch.bmm(FLAT[0], FLAT[1].mT).view(BATCH, HEADS, LENGTH, LENGTH) / 2 + BIAS
    ).softmax(-1),
    "groups of heads": lambda: (GROUPED[0] @ GROUPED[1][:, :, :1].mT / 2 + BIAS).softmax(-1),
    "one head of keys": lambda: (Q @ K[:, :1].mT / 2 + BIAS).softmax(-1),
    "einsum": lambda: (torch.einsum("bhqd,bhkd->bhqk", Q, K) / 2 + BIAS).softmax(-1),
    "einsum of a list": lambda: (torch.einsum("b h q d, b h k d -> b h q k", [Q, K]) / 2 + BIAS).softmax(-1),
    "einsum, keys first": lambda: (torch.einsum("bhkd,bhqd->bhqk", K, Q) / 2 + BIAS).softmax(-1),
    "einsum, heads last": lambda: (
        torch.einsum("bqhd,bkhd->bhqk", Q.transpose(1, 2), K.transpose(1, 2)) / 2 + BIAS
    ).softmax(-1),
    "einsum of any axes": lambda: (torch.einsum("...qd,...kd->...qk", Q, K) / 2 + BIAS).softmax(-1),
    "einsum, one head of keys": lambda: (torch.einsum("bhqd,bkd->bhqk", Q, K[:, 0]) / 2 + BIAS).softmax(-1),
    "einsum of groups": lambda: (
        torch.einsum("bgrqd,bgkd->bgrqk", GROUPED[0], GROUPED[1][:, :, 0]) / 2 + BIAS
    ).softmax(-1),
}  # fmt: skip
KEY_HEADS = {
    "attention of shared keys": [0, 0, 2, 2],
    "groups of heads": [0, 0, 2, 2],
    "einsum of groups": [0, 0, 2, 2],
    "one head of keys": [0, 0, 0, 0],
    "einsum, one head of keys": [0, 0, 0, 0],
}


@pytest.mark.parametrize("name", CALLS)
def test_queries_keys_and_logits_are_those_of_the_call_in_whatever_layout(name):
    with Tap(BATCH, LENGTH) as tap:
        CALLS[name]()
    [reading] = tap.readings
    keys = K[:, KEY_HEADS.get(name, range(HEADS))]
    assert torch.equal(reading.q_BHJC, Q)
    assert torch.equal(reading.k_BHIC, keys)
    assert torch.allclose(reading.logits_BHJI, Q @ keys.mT / 2 + BIAS)
    assert reading.scale == pytest.approx(0.5), "the bias is no part of it"


def test_columns_of_a_table_that_are_masked_for_all_queries_and_a_sink_are_no_keys():
    longer = torch.cat([K, K.new_zeros(BATCH, HEADS, 3, 8)], 2)
    mask = torch.cat([BIAS, BIAS.new_full((LENGTH, 3), -torch.inf)], 1)
    sink = torch.zeros(BATCH, HEADS, LENGTH, 1)
    with Tap(BATCH, LENGTH) as tap:
        F.scaled_dot_product_attention(Q, longer, longer, mask, scale=0.5)
        torch.cat([Q @ K.mT / 2 + BIAS, sink], -1).softmax(-1)
    assert len(tap.readings) == 2
    for reading in tap.readings:
        assert torch.equal(reading.k_BHIC, K)
        assert torch.allclose(reading.logits_BHJI, Q @ K.mT / 2 + BIAS)


def test_a_product_that_makes_part_of_the_logits_is_not_taken_for_queries_and_keys():
    with Tap(BATCH, LENGTH) as tap:
        scores = Q @ K.mT
        ((scores + Q @ torch.ones(8, 1).double()) / 2 + BIAS).softmax(-1)
    assert torch.equal(tap.readings[0].k_BHIC, K)


@pytest.mark.parametrize("name", ["attention of three axes", "einsum of any axes"])
def test_rows_that_do_not_divide_the_axes_are_not_read(name):
    with Tap(5, LENGTH) as tap:
        CALLS[name]()
    assert tap.readings == []


@pytest.mark.parametrize(
    "equation", ["bhqd,bhkd->bqk", "bhqd,bhkd", "bhqd,bhqd->bhqd", "bqhd,bkhd->bqhk", "bhqd,bhkd->hqk", "bhqd,bhkd->q"]
)
def test_an_einsum_that_is_no_product_of_queries_and_keys_is_none(equation):
    assert einsum_factors(equation, Q, K) is None
    assert einsum_factors(equation.partition(",")[0], Q) is None
    assert einsum_factors(Q, [0, 1, 2, 3], K, [0, 1, 4, 3]) is None


@pytest.mark.parametrize("encoding", ["absolute", "bias", "none"])
@pytest.mark.parametrize("attention", ["attention", "layer", "encoder"])
def test_models_of_torch_modules_are_recognised(attention, encoding):
    for batch_first, need_weights in ((True, False), (False, False), (True, True)):
        model = Model(attention, encoding, batch_first=batch_first, need_weights=need_weights)
        for dtype in (torch.float64, torch.float32):
            for anatomy in look(Runner(own_model(model, "model"), dtype)):
                assert (anatomy.kind, anatomy.heads, anatomy.head_dim) == (encoding, HEADS, WIDTH // HEADS)


def whole(model, source=""):
    subject = own_model(model, "model", source)
    answers = audit_model(subject, requested={}, dtypes=("float32",), to=300, budget=None)
    return answers[0], [finding for answer in answers for finding in answer["findings"]]


def test_a_fast_path_that_hides_biased_pairs_is_found_and_nothing_else():
    answer, [finding] = whole(
        torch_models.encoder_with_bias, "__import__('tests.empirical.examples.torch_models').empirical.examples"
        ".torch_models.encoder_with_bias"
    )  # fmt: skip
    assert finding["rule"] == "fast-path"
    with pytest.raises(AssertionError):
        exec(finding["reproduction"], {})
    assert torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        assert whole(torch_models.encoder_with_bias)[1] == []
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
    assert answer["patterns"]["batched with other rows"]["first_beyond"] is None


@pytest.mark.parametrize("attention", ["attention", "layer", "encoder"])
def test_fast_paths_of_sound_models_agree(attention):
    answer, findings = whole(Model(attention, "absolute"))
    assert findings == []
    assert answer["patterns"]["by PyTorch's fast path"]["difference"] < 1e-5


def test_attention_that_cannot_be_seen_is_one_line_that_says_what_to_do():
    with pytest.raises(AuditError, match=r"'model' has no self-attention that can be read: let it call .*bias alone"):
        whole(torch_models.OwnSoftmax())


@pytest.mark.parametrize("encoding", ["absolute", "none"])
def test_a_model_whose_queries_see_later_keys_by_design_is_no_finding(encoding):
    for causal in (False, True):
        answer, findings = whole(Model("attention", encoding, causal=causal))
        assert findings == []
        assert answer["recognised"][0]["causal"] is causal
        assert ("with further tokens after it" in answer["patterns"]) is causal


def test_cross_attention_is_not_taken_for_self_attention():
    """The encoder has no positions, and the decoder's second layer comes after attention to the encoder."""
    subject = own_model(torch_models.EncoderDecoder(), "model")
    for layer in (0, 1):
        for length in (SOURCE, 24):
            reading = Runner(subject).reading(torch.full((2, length), 3), layer=layer)
            assert reading.logits_BHJI.shape == (2, HEADS, length, length)
            assert reading.logits_BHJI[..., 0, 1:].isneginf().all(), "only the decoder is causal"
    assert look(Runner(subject))[0].kind == "absolute"
    with pytest.raises(AuditError, match="no self-attention that can be read"):
        whole(torch_models.Latents())
