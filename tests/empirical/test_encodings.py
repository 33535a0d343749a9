"""Laws of the decoder and its encodings, against slow definitions that share no code with them."""

import pytest
import torch

from empirical.decoder import Decoder, attention_weights
from empirical.encodings import LearnedAbsolute, PositionEncoding, Relational
from empirical.encodings.base import Content

LAYERS, WIDTH, HEADS, SYMBOLS, LENGTH = 2, 16, 2, 5, 7


def decoder(encoding: PositionEncoding, seed: int = 0) -> Decoder:
    torch.manual_seed(seed)
    return Decoder(symbols=SYMBOLS, width=WIDTH, layers=LAYERS, heads=HEADS, encoding=encoding).double()


def relational(labels: int = 4) -> Relational:
    torch.manual_seed(1)
    return Relational(labels=labels, layers=LAYERS, head_width=WIDTH // HEADS).double()


def bias(encoding: PositionEncoding, content: Content) -> torch.Tensor:
    positions = torch.arange(content.q_BHJC.shape[2])
    return encoding.bias(positions, positions, content, dtype=torch.float64)


def relative_labels(length: int) -> torch.Tensor:
    """[1, J, I], queries by keys."""
    distance = torch.arange(length)[:, None] - torch.arange(length)[None, :]
    return distance.clamp(0, 3)[None]


ENCODINGS = {
    "nope": lambda: (PositionEncoding(), None),
    "ape": lambda: (LearnedAbsolute(length=LENGTH, width=WIDTH).double(), None),
    "relational": lambda: (relational(), relative_labels(LENGTH)),
}


def test_shaw_attention_equals_its_definition_pair_by_pair():
    encoding = relational()
    torch.manual_seed(2)
    q, k, v = torch.randn(3, 2, HEADS, LENGTH, WIDTH // HEADS, dtype=torch.float64)
    labels = torch.randint(4, (2, LENGTH, LENGTH))
    content = Content(layer=1, q_BHJC=q, labels_BJI=labels)
    logits = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
    weights = attention_weights(logits, bias(encoding, content))
    found = weights @ v + encoding.values(weights, content)
    for batch in range(2):
        for head in range(HEADS):
            for j in range(LENGTH):
                keys = [k[batch, head, i] + encoding.keys[1, labels[batch, j, i]] for i in range(j + 1)]
                values = [v[batch, head, i] + encoding.vectors[1, labels[batch, j, i]] for i in range(j + 1)]
                logits = torch.stack([q[batch, head, j] @ key for key in keys]) / (WIDTH // HEADS) ** 0.5
                expected = torch.softmax(logits, 0) @ torch.stack(values)
                assert torch.allclose(found[batch, head, j], expected, atol=1e-12)


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_token_does_not_see_the_future(name):
    encoding, labels = ENCODINGS[name]()
    model = decoder(encoding)
    tokens = torch.randint(SYMBOLS, (3, LENGTH))
    changed = tokens.clone()
    changed[:, 4:] = (changed[:, 4:] + 1) % SYMBOLS
    before, after = model(tokens, labels), model(changed, labels)
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


@pytest.mark.parametrize("name", ENCODINGS)
def test_filling_on_the_right_changes_nothing_before_it(name):
    encoding, labels = ENCODINGS[name]()
    model = decoder(encoding)
    tokens = torch.randint(SYMBOLS, (3, LENGTH))
    short = model(tokens[:, :5], None if labels is None else labels[:, :5, :5])
    assert torch.allclose(short, model(tokens, labels)[:, :5], atol=1e-12)


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_batch_equals_its_members(name):
    encoding, labels = ENCODINGS[name]()
    model = decoder(encoding)
    tokens = torch.randint(SYMBOLS, (3, LENGTH))
    alone = torch.cat([model(tokens[row : row + 1], labels) for row in range(3)])
    assert torch.allclose(alone, model(tokens, labels), atol=1e-12)


def test_labels_of_their_own_for_every_example_of_a_batch():
    model = decoder(relational())
    tokens = torch.randint(SYMBOLS, (2, LENGTH))
    labels = torch.randint(4, (2, LENGTH, LENGTH))
    alone = torch.cat([model(tokens[row : row + 1], labels[row : row + 1]) for row in range(2)])
    assert torch.allclose(alone, model(tokens, labels), atol=1e-12)


def test_without_vectors_and_keys_a_relation_is_no_encoding():
    encoding = relational()
    with torch.no_grad():
        encoding.keys.zero_()
        encoding.vectors.zero_()
    tokens = torch.randint(SYMBOLS, (3, LENGTH))
    with_tables = decoder(encoding)(tokens, relative_labels(LENGTH))
    # One path goes through the library's attention, the other forms the weights in the open.
    assert torch.allclose(with_tables, decoder(PositionEncoding())(tokens), atol=1e-12)


def test_no_encoding_cannot_tell_equal_tokens_apart_by_place():
    model = decoder(PositionEncoding())
    first, second = torch.tensor([[1, 2, 3, 0]]), torch.tensor([[2, 1, 3, 0]])
    one_layer = model.blocks[0]
    outputs = [
        one_layer(model.tokens(tokens), PositionEncoding(), torch.arange(4), None)[:, -1] for tokens in (first, second)
    ]
    assert torch.allclose(*outputs, atol=1e-12)


def test_a_relative_relation_ignores_a_common_shift_of_positions():
    encoding = relational(labels=9)
    distance = torch.arange(8)[:, None] - torch.arange(8)[None, :]
    labels = distance.clamp(0)[None]
    torch.manual_seed(3)
    q, k = torch.randn(2, 1, HEADS, 8, WIDTH // HEADS, dtype=torch.float64)
    whole = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5 + bias(encoding, Content(q_BHJC=q, labels_BJI=labels))
    q, k = q[:, :, 3:], k[:, :, 3:]
    part_content = Content(q_BHJC=q, labels_BJI=labels[:, :5, :5])
    part = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5 + bias(encoding, part_content)
    assert torch.allclose(whole[..., 3:, 3:].tril(), part.tril(), atol=1e-12)


def test_a_position_beyond_the_table_is_refused():
    model = decoder(LearnedAbsolute(length=4, width=WIDTH).double())
    with pytest.raises(ValueError, match="position 4 is not in the table of 4 positions, 0 to 3"):
        model(torch.zeros(1, 5, dtype=torch.int64))


def test_a_label_beyond_the_table_is_refused():
    model = decoder(relational(labels=3))
    with pytest.raises((IndexError, RuntimeError)):
        model(torch.zeros(1, LENGTH, dtype=torch.int64), relative_labels(LENGTH))


def test_two_models_in_one_process_share_nothing():
    first, second = decoder(relational(), seed=0), decoder(relational(), seed=5)
    tokens = torch.randint(SYMBOLS, (1, LENGTH))
    before = first(tokens, relative_labels(LENGTH))
    with torch.no_grad():
        for parameter in second.parameters():
            parameter.add_(1.0)
    assert torch.equal(before, first(tokens, relative_labels(LENGTH)))


def test_width_must_divide_into_heads():
    with pytest.raises(ValueError, match="not a multiple"):
        Decoder(symbols=3, width=10, layers=1, heads=4, encoding=PositionEncoding())
