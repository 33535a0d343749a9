"""Laws of the encoder, against PyTorch's encoder layer and against its own symmetries."""

import pytest
import torch
from torch import nn

from lengthgen.empirical.encodings import LearnedAbsolute, PositionEncoding
from lengthgen.empirical.encodings.modules import named
from lengthgen.empirical.model.mapped import stack_models
from lengthgen.empirical.studies.modular_addition.encoder import Dropout, Encoder

SYMBOLS, CLASSES, WIDTH, LAYERS, HEADS, LENGTH = 11, 5, 16, 2, 4, 7


def encoder(encoding=None, *, has_cls=True, seed=0, **options):
    torch.manual_seed(seed)
    encoding = PositionEncoding() if encoding is None else encoding
    made = Encoder(
        symbols=SYMBOLS, classes=CLASSES, width=WIDTH, layers=LAYERS, heads=HEADS, encoding=encoding, has_cls=has_cls,
        **options,
    )  # fmt: skip
    return made.double().eval()


def inputs(seed=1, batch=3):
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(SYMBOLS, (1, batch, LENGTH), generator=generator)
    return tokens, torch.arange(LENGTH) >= torch.tensor([4, 7, 5])[:batch, None]


def reference(model):
    """PyTorch's layers with the weights of the model."""
    layers = []
    for block in model.blocks:
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True)
        layer = layer.double().eval()
        key_value, query = block.key_value, block.query
        with torch.no_grad():
            layer.self_attn.in_proj_weight.copy_(torch.cat([query.weight[0].T, key_value.weight[0].T]))
            layer.self_attn.in_proj_bias.copy_(torch.cat([query.bias[0], key_value.bias[0]]))
            pairs = [(layer.self_attn.out_proj, block.out), (layer.linear1, block.up), (layer.linear2, block.down)]
            for theirs, ours in pairs:
                theirs.weight.copy_(ours.weight[0].T)
                theirs.bias.copy_(ours.bias[0])
            for theirs, ours in ((layer.norm1, block.attention_norm), (layer.norm2, block.mlp_norm)):
                theirs.weight.copy_(ours.weight[0])
                theirs.bias.copy_(ours.bias[0])
        layers.append(layer)
    return layers


def shaken(model):
    """The model with all weights drawn anew, so that gains and biases are no longer 1 and 0."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("has_cls", [False, True])
def test_the_encoder_is_pytorchs_with_the_same_weights(masked, has_cls):
    model = shaken(encoder(LearnedAbsolute(length=LENGTH, width=WIDTH), has_cls=has_cls))
    tokens, hidden = inputs()
    x = model.tokens.weight[0][tokens[0]] + model.encoding.each()[0].table
    mask, read = hidden, ~hidden
    if has_cls:
        x = torch.cat([model.cls[0].expand(3, 1, -1), x], dim=1)
        mask = torch.cat([torch.zeros(3, 1, dtype=torch.bool), hidden], dim=1)
    with torch.no_grad():
        for layer in reference(model):
            x = layer(x, src_key_padding_mask=mask if masked else None)
        state = x[:, 0] if has_cls else (x * read[..., None]).sum(1) / read.sum(1, keepdim=True)
        expected = state @ model.head.weight[0] + model.head.bias[0]
        got = model(tokens, hidden_MBL=hidden[None] if masked else None, read_MBL=None if has_cls else read[None])
    assert torch.allclose(got[0], expected, atol=1e-10)


def test_initial_weights_have_the_bounds_of_pytorchs_layer():
    block = encoder().blocks[0]
    bound = (6 / (4 * WIDTH)) ** 0.5  # Xavier's, for the joint matrix [3D, D]
    for linear in (block.query, block.key_value):
        assert 0.9 * bound < linear.weight.abs().max() <= bound
        assert not linear.bias.any()
    assert not block.out.bias.any()
    assert block.out.weight.abs().max() <= WIDTH**-0.5


def test_without_positions_the_order_does_not_matter_and_with_any_it_does():
    tokens, _ = inputs()
    permuted = tokens[..., torch.randperm(LENGTH, generator=torch.Generator().manual_seed(3))]
    nope = encoder()
    assert torch.allclose(nope(tokens), nope(permuted), atol=1e-12)
    for name in ("ape", "alibi", "rope", "t5-bidirectional"):
        model = shaken(encoder(named(name, heads=HEADS, head_dim=WIDTH // HEADS, length=LENGTH)))
        assert not torch.allclose(model(tokens), model(permuted), atol=1e-4), name


def test_alibi_is_graph_alibi_on_a_path():
    tokens, hidden = inputs()
    alibi, path = (
        encoder(named(name, heads=HEADS, head_dim=WIDTH // HEADS, length=LENGTH)) for name in ("alibi", "graph-alibi")
    )
    assert torch.allclose(alibi(tokens, hidden_MBL=hidden[None]), path(tokens, hidden_MBL=hidden[None]), atol=1e-12)


def test_hidden_tokens_change_nothing():
    tokens, hidden = inputs()
    other = torch.where(hidden, (tokens + 1) % SYMBOLS, tokens)
    model = encoder(named("rope", heads=HEADS, head_dim=WIDTH // HEADS))
    assert torch.allclose(model(tokens, hidden_MBL=hidden[None]), model(other, hidden_MBL=hidden[None]), atol=1e-12)
    assert not torch.allclose(model(tokens), model(other), atol=1e-4)


@pytest.mark.parametrize(
    ("name", "has_cls", "masked", "invariant"),
    [
        ("rope", False, True, True),
        ("alibi", False, True, True),
        ("t5-bidirectional", False, True, True),
        ("nope", True, True, True),
        ("rope", True, True, False),
        ("alibi", True, True, False),
        ("ape", False, True, False),
        ("rope", False, False, False),
        ("nope", True, False, True),
    ],
)
def test_output_is_invariant_to_padding_before_the_text_exactly_as_the_criterion_says(name, has_cls, masked, invariant):
    model = shaken(encoder(named(name, heads=HEADS, head_dim=WIDTH // HEADS, length=12), has_cls=has_cls))
    text = torch.randint(1, SYMBOLS, (1, 2, 5), generator=torch.Generator().manual_seed(4))

    def output(shift):
        tokens = nn.functional.pad(text, (shift, 12 - 5 - shift))
        real = tokens != 0
        return model(tokens, hidden_MBL=~real if masked else None, read_MBL=None if has_cls else real)

    changes = (output(0) - output(4)).abs().max()
    assert (changes < 1e-10) == invariant, changes


def test_models_side_by_side_are_those_alone():
    tokens, hidden = inputs()
    members = [encoder(named("t5-bidirectional", heads=HEADS, head_dim=4), seed=seed) for seed in (0, 1)]
    together = stack_models(members)(tokens.expand(2, -1, -1), hidden_MBL=hidden.expand(2, -1, -1))
    for model, member in enumerate(members):
        assert torch.allclose(together[model], member(tokens, hidden_MBL=hidden[None])[0], atol=1e-12)


def test_dropout_is_that_of_the_seed_and_keeps_the_mean():
    drop, x = Dropout(0.25), torch.ones(2, 100, 100)
    drop.begin([5, 6], "cpu")
    first, again = drop(x), Dropout(0.25)
    again.begin([5, 7], "cpu")
    second = again(x)
    assert (first[0] == second[0]).all() and (first[1] != second[1]).any()
    assert first.unique().tolist() == pytest.approx([0, 4 / 3])
    assert first.mean() == pytest.approx(1, abs=0.02)


def test_dropout_acts_in_training_alone():
    tokens, _ = inputs()
    model = encoder(dropout=0.5)
    expected = model(tokens)
    model.dropout.begin([0], "cpu")
    assert (model(tokens) == expected).all()
    model.train()
    trained = model(tokens)
    assert not torch.allclose(trained, expected, atol=1e-3)
    model.dropout.begin([0], "cpu")
    assert (model(tokens) == trained).all()


def test_the_heads_share_the_width():
    with pytest.raises(ValueError, match="width 16 is not a multiple of 3 heads"):
        Encoder(symbols=2, classes=2, width=16, layers=1, heads=3, encoding=PositionEncoding(), has_cls=True)
