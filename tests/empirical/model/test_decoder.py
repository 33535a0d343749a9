"""Laws of the decoder and its encodings, against slow definitions that share no code with them."""

import pytest
import torch

from lengthgen.empirical.encodings import LearnedAbsolute, PositionEncoding, Relational
from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.biases import path_distances
from lengthgen.empirical.encodings.modules import named
from lengthgen.empirical.model import decoder as decoder_module
from lengthgen.empirical.model.decoder import Decoder, attention, causal_mask, current_names
from lengthgen.empirical.model.layers import Embedding, LayerNorm, Linear
from lengthgen.empirical.model.mapped import MappedEncoding, stack_models
from lengthgen.theory.encodings.catalogue import with_formulas

LAYERS, WIDTH, HEADS, SYMBOLS, LENGTH = 2, 16, 2, 5, 7


def decoder(encoding: PositionEncoding, seed: int = 0) -> Decoder:
    torch.manual_seed(seed)
    return Decoder(symbols=SYMBOLS, width=WIDTH, layers=LAYERS, heads=HEADS, encoding=encoding).double()


def run(model: Decoder, tokens: torch.Tensor, labels: torch.Tensor | None = None, **others) -> torch.Tensor:
    """Run one model: tokens [B, L], labels [1 or B, J, I] -> logits [B, J, V]."""
    if labels is not None and len(labels) > 1:
        labels = labels[None]
    return model(tokens[None], labels=labels, **others)[0]


def relational(labels: int = 4) -> Relational:
    torch.manual_seed(1)
    return Relational(labels=labels, layers=LAYERS, head_dim=WIDTH // HEADS).double()


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
    content = Content(layer=1, q_BHJC=q[None], labels_BJI=labels[None])
    positions, mask = torch.arange(LENGTH), causal_mask(LENGTH, LENGTH, q.dtype, q.device)
    [output] = attention(q[None], k[None], v[None], MappedEncoding([encoding]), positions, positions, content, mask)
    for batch in range(2):
        for head in range(HEADS):
            for j in range(LENGTH):
                keys = [k[batch, head, i] + encoding.keys[1, labels[batch, j, i]] for i in range(j + 1)]
                values = [v[batch, head, i] + encoding.vectors[1, labels[batch, j, i]] for i in range(j + 1)]
                logits = torch.stack([q[batch, head, j] @ key for key in keys]) / (WIDTH // HEADS) ** 0.5
                expected = torch.softmax(logits, 0) @ torch.stack(values)
                assert torch.allclose(output[batch, head, j], expected, atol=1e-12)


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_token_does_not_see_the_future_nor_other_rows_and_filling_on_the_right_changes_nothing(name):
    encoding, labels = ENCODINGS[name]()
    model, tokens = decoder(encoding), torch.randint(SYMBOLS, (3, LENGTH))
    changed = tokens.clone()
    changed[:, 4:] = (changed[:, 4:] + 1) % SYMBOLS
    before, after = run(model, tokens, labels), run(model, changed, labels)
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])
    short = run(model, tokens[:, :5], None if labels is None else labels[:, :5, :5])
    assert torch.allclose(short, before[:, :5], atol=1e-12)
    alone = torch.cat([run(model, tokens[row : row + 1], labels) for row in range(3)])
    assert torch.allclose(alone, before, atol=1e-12)


def test_without_vectors_and_keys_a_relation_is_no_encoding():
    encoding = relational()
    with torch.no_grad():
        encoding.keys.zero_()
        encoding.vectors.zero_()
    tokens = torch.randint(SYMBOLS, (3, LENGTH))
    with_tables = run(decoder(encoding), tokens, relative_labels(LENGTH))
    # One path goes through the library's attention, the other forms the weights in the open.
    assert torch.allclose(with_tables, run(decoder(PositionEncoding()), tokens), atol=1e-12)


def test_no_encoding_cannot_tell_equal_tokens_apart_by_place():
    torch.manual_seed(0)
    encoding = PositionEncoding()
    model = Decoder(symbols=SYMBOLS, width=WIDTH, layers=1, heads=HEADS, encoding=encoding).double()
    first, second = torch.tensor([[1, 2, 3, 0]]), torch.tensor([[2, 1, 3, 0]])
    assert torch.allclose(run(model, first)[:, -1], run(model, second)[:, -1], atol=1e-12)


def test_a_position_or_a_label_beyond_the_table_is_refused():
    tokens = torch.zeros(1, LENGTH, dtype=torch.int64)
    with pytest.raises(ValueError, match="position 4 is not in the table of 4 positions, 0 to 3"):
        run(decoder(LearnedAbsolute(length=4, width=WIDTH).double()), tokens)
    with pytest.raises((IndexError, RuntimeError)):
        run(decoder(relational(labels=3)), tokens, relative_labels(LENGTH))


def test_width_must_divide_into_heads():
    with pytest.raises(ValueError, match="not a multiple"):
        Decoder(symbols=3, width=10, layers=1, heads=4, encoding=PositionEncoding())


def catalogued(name: str) -> PositionEncoding:
    parameters = {"heads": HEADS, "head_dim": WIDTH // HEADS, "layers": LAYERS, "length": LENGTH}
    encoding = named(name, **parameters).double()
    with torch.no_grad():  # tables that start at zero would hide a model that reads another's
        for parameter in encoding.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return encoding


HOPS = path_distances(torch.arange(LENGTH), torch.arange(LENGTH))
SCALES = torch.tensor([[3, 4], [5, 5], [9, 2]])
NAMES = sorted(
    {encoding.name for encoding in with_formulas() if not encoding.drawn_from} - {"t5-bidirectional"}
    | {"rpe-square", "lbpe", "lbpe-sh", "grape-thin[rank=2]"}
)


def three(name: str) -> tuple[list[Decoder], torch.Tensor | None]:
    """Models of three seeds, and labels [3, B, J, I] where they are read."""
    members = []
    for seed in range(3):
        torch.manual_seed(seed)
        encoding = relational() if name == "relational" else catalogued(name)
        members.append(decoder(encoding, seed))
    return members, torch.randint(4, (3, 2, LENGTH, LENGTH)) if name == "relational" else None


@pytest.mark.parametrize("name", [*NAMES, "relational"])
def test_each_model_of_a_stack_is_the_model_alone_and_so_are_its_gradients(name):
    members, labels = three(name)
    stack = stack_models(members)
    tokens = torch.randint(SYMBOLS, (3, 2, LENGTH))
    together = stack(tokens, labels=labels, distances=HOPS, scales_MB=SCALES[: len(tokens)])
    loss = torch.randn(together.shape, dtype=torch.float64)
    (together * loss).sum().backward()
    for model, member in enumerate(members):
        here = slice(model, model + 1)
        own = None if labels is None else labels[here]
        alone = member(tokens[here], labels=own, distances=HOPS, scales_MB=SCALES[here])
        assert torch.allclose(alone, together[here], atol=1e-12)
        (alone * loss[here]).sum().backward()
        for key, parameter in member.named_parameters():
            gradient = stack.get_parameter(key).grad[here]
            assert torch.allclose(parameter.grad, gradient, atol=1e-10), key
    assert not torch.allclose(together[0], together[1])


@pytest.mark.parametrize("name", [*NAMES, "relational"])
@pytest.mark.parametrize("first", [1, LENGTH - 1])
def test_the_last_queries_alone_are_those_of_all(name, first):
    [model, *_], labels = three(name)
    tokens = torch.randint(SYMBOLS, (1, 2, LENGTH))
    labels = None if labels is None else labels[:1]
    all_logits = model(tokens, labels=labels, distances=HOPS, scales_MB=SCALES[: len(tokens)])
    last = model(tokens, labels=labels, distances=HOPS, scales_MB=SCALES[: len(tokens)], first_query=first)
    assert torch.allclose(last, all_logits[:, :, first:], atol=1e-12)


def test_encodings_that_cannot_be_mapped_take_turns_and_report_it():
    assert [stack_models(three(name)[0]).encoding.looped for name in ("fox", "t5")] == [False, False]
    for name, looped in (("fox", True), ("t5", False)):
        stack = stack_models(three(name)[0])
        stack(torch.randint(SYMBOLS, (3, 2, LENGTH)))
        assert stack.encoding.looped is looped


def test_layers_start_as_those_of_the_library():
    torch.manual_seed(0)
    ours = Linear(5, 3)
    torch.manual_seed(0)
    theirs = torch.nn.Linear(5, 3)
    x = torch.randn(4, 5)
    assert torch.allclose(ours(x[None])[0], theirs(x))
    torch.manual_seed(0)
    table = Embedding(7, 4)
    torch.manual_seed(0)
    assert torch.equal(table(torch.arange(7)[None, None])[0, 0], torch.nn.Embedding(7, 4).weight)
    rows = torch.randn(1, 2, 3, 4)
    assert torch.allclose(LayerNorm(4)(rows), torch.nn.LayerNorm(4)(rows))


def test_layers_of_an_earlier_checkpoint_are_known_by_their_names_of_today():
    decoder = Decoder(symbols=3, width=8, layers=2, heads=2, encoding=PositionEncoding())
    names = {"qkv": "project", "out": "merge", "mlp_norm": "network_norm", "up": "widen", "down": "narrow"}
    stored = {
        ".".join(names.get(part, part) for part in name.split(".")): tensor
        for name, tensor in decoder.state_dict().items()
    }
    assert stored.keys() != decoder.state_dict().keys()
    restored = current_names(stored)
    assert [*restored] == [*decoder.state_dict()]
    assert all(torch.equal(tensor, decoder.state_dict()[name]) for name, tensor in restored.items())
    assert current_names(restored).keys() == restored.keys()


@pytest.fixture
def fused(monkeypatch):
    """Calls of PyTorch's fused kernel, as they come."""
    calls, kernel = [], torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        torch.nn.functional,
        "scaled_dot_product_attention",
        lambda *tensors, **options: calls.append(1) or kernel(*tensors, **options),
    )
    return calls


@pytest.mark.parametrize(
    ("name", "longer"), [("nope", True), ("alibi", True), ("t5", False), ("swat", False), ("xpos", False)]
)
def test_the_fused_kernel_is_for_long_sequences_where_an_encoding_allows_it_and_trains_no_bias(
    name, longer, fused, monkeypatch
):
    model = decoder(named(name, heads=HEADS, head_dim=WIDTH // HEADS))
    tokens = torch.randint(SYMBOLS, (2, LENGTH))
    answers = []
    for short in (LENGTH, LENGTH - 1):
        monkeypatch.setattr(decoder_module, "SHORT", short)
        answers.append(run(model, tokens))
        assert len(fused) == (LAYERS if longer and short < LENGTH else 0)
    assert torch.allclose(*answers, atol=1e-12)


@pytest.mark.parametrize("name", ["nope", "alibi", "t5"])
def test_low_precision_is_left_to_the_fused_kernel(name, fused):
    model = decoder(named(name, heads=HEADS, head_dim=WIDTH // HEADS)).bfloat16()
    run(model, torch.randint(SYMBOLS, (2, LENGTH)))
    assert len(fused) == LAYERS
