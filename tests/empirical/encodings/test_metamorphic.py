"""Changes that leave an encoding's logits as they are: padding, batching, caching, other instances, moves of type.

The laws that hold are not listed here but taken from the symbolic twin (theory/laws.py): where its formulas break a
law, the torch side must break it as well.
"""

from math import inf, nan

import pytest
import torch
from torch import Tensor

from lengthgen.circuits.encoding_spec import ENCODINGS
from lengthgen.empirical.encodings import modules
from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.modules import MODULES, named
from lengthgen.theory import laws
from lengthgen.theory.encodings import catalogue as symbolic
from lengthgen.theory.encodings.encoding import EncodingError, Law

HEADS, HEAD_DIM, LENGTH, BATCH, PADS = 3, 4, 9, 2, 4
WIDTH = HEADS * HEAD_DIM
TRAINED = 6
"""Shorter than the sequences: what depends on the trained length is met beyond it."""


def make(name: str, seed: int = 0, **parameters: float) -> PositionEncoding:
    torch.manual_seed(seed)
    length = 64 if name == "ape" else TRAINED
    own = {"fire": {"threshold": float(TRAINED)}, "seqpe": {"digits": TRAINED}}.get(name, {})
    return named(name, heads=HEADS, head_dim=HEAD_DIM, length=length, **own, **parameters).double()


def draw(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


NAMES = [encoding.name for encoding in symbolic.with_formulas() if not encoding.drawn_from]

PROJECTIONS = draw(99, 2, HEADS, WIDTH, HEAD_DIM)


def logits(encoding: PositionEncoding, x_BLD: Tensor, positions: Tensor, *, queries: slice = slice(None)) -> Tensor:
    """[B, H, J, I], -inf where the key comes after the query in the sequence; J only the queries asked for."""
    x_BLD = encoding.embed(x_BLD, positions)
    q, k = (torch.einsum("bld,hdc->bhlc", x_BLD, projection).to(x_BLD.dtype) for projection in PROJECTIONS)
    content = Content(x_BLD=x_BLD, q_BHJC=q, k_BHIC=k, distances_BJI=ring(positions))
    bias = encoding.bias(positions, positions, content, dtype=torch.float64)
    q, k = encoding.rotate(q, k, positions, content)
    all_logits = encoding.scores(q, k, positions, positions, content) / HEAD_DIM**0.5
    all_logits = all_logits if bias is None else all_logits + bias
    length = x_BLD.shape[1]
    hidden = torch.full((length, length), -torch.inf, dtype=all_logits.dtype).triu(1)
    return (all_logits + hidden)[:, :, queries]


def ring(positions: Tensor) -> Tensor:
    """Distances in a ring through all positions up to the last: int64 [1 or B, L, L]. More tokens make it longer."""
    apart = (positions[..., :, None] - positions[..., None, :]).abs()
    last = positions.amax(-1) if positions.numel() else torch.zeros((), dtype=torch.int64)
    distances = torch.minimum(apart, last[..., None, None] + 1 - apart)
    return distances if distances.dim() == 3 else distances[None]


def keeps(name: str, law: Law) -> bool:
    return laws.decide_law(symbolic.named(name), law).holds is True


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_nothing_on_real_tokens(name, side):
    encoding, x = make(name), draw(1, BATCH, LENGTH, WIDTH)
    alone = logits(encoding, x, torch.arange(LENGTH))
    noise = 50 * draw(2, BATCH, PADS, WIDTH)
    if side == "left":
        padded = torch.cat((noise, x), 1)
        positions = torch.cat((torch.zeros(PADS, dtype=torch.int64), torch.arange(LENGTH)))
        padded_logits = logits(encoding, padded, positions)[:, :, PADS:, PADS:]
    else:
        padded = torch.cat((x, noise), 1)
        positions = torch.cat((torch.arange(LENGTH), torch.full((PADS,), LENGTH - 1)))
        padded_logits = logits(encoding, padded, positions)[:, :, :LENGTH, :LENGTH]
    torch.testing.assert_close(padded_logits, alone, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_with_positions_of_its_own_is_its_members(name):
    encoding, x = make(name), draw(3, BATCH, LENGTH, WIDTH)
    positions = torch.stack((torch.arange(LENGTH), 2 * torch.arange(LENGTH) + 11))
    together = logits(encoding, x, positions)
    for row in range(BATCH):
        alone = logits(encoding, x[row : row + 1], positions[row])
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_a_sequence_read_token_by_token(name):
    """Keys enter a cache at their own time; that this equals the whole sequence is the law of streaming."""
    encoding, x = make(name), draw(4, 1, LENGTH, WIDTH)
    positions = torch.arange(LENGTH)
    all_logits = logits(encoding, x, positions)
    last = [logits(encoding, x[:, : end + 1], positions[: end + 1], queries=slice(-1, None)) for end in range(LENGTH)]
    off = max((last[end] - all_logits[:, :, end : end + 1, : end + 1]).abs().max() for end in range(LENGTH))
    assert (off < 1e-11) == keeps(name, Law.STREAMING), off


@pytest.mark.parametrize("name", NAMES)
def test_a_common_shift_of_all_positions(name):
    encoding, x = make(name), draw(5, 1, LENGTH, WIDTH)
    here, there = (logits(encoding, x, torch.arange(LENGTH) + shift) for shift in (0, 13))
    change = (there - here)[..., torch.ones(LENGTH, LENGTH).tril().bool()]
    assert (change.abs().max() < 1e-10) == moves_with_tokens(name), change.abs().max()


def moves_with_tokens(name: str) -> bool:
    """True if the logits stay the same under a shift that moves the tokens along."""
    # Of the length, the last position is all that is known here.
    return keeps(name, Law.STREAMING) and keeps(name, Law.TRANSLATION)


@pytest.mark.parametrize("name", NAMES)
def test_rotation_keeps_norms_exactly_where_the_law_says_so(name):
    encoding = make(name)
    q, k = draw(6, 2, 1, HEADS, LENGTH, HEAD_DIM)
    if "embed" in symbolic.named(name).hooks:
        pytest.skip("it acts on embeddings, before there are queries")
    turned = encoding.rotate(q, k, torch.arange(LENGTH) + 5, Content(x_BLD=draw(12, 1, LENGTH, WIDTH)))
    off = max(
        (rotated.norm(dim=-1) - original.norm(dim=-1)).abs().max()
        for rotated, original in zip(turned, (q, k), strict=True)
    )
    assert (off < 1e-12) == keeps(name, Law.NORM) or encoding.scores_pairwise, off


@pytest.mark.parametrize("name", NAMES)
def test_another_instance_with_other_parameters_changes_nothing(name):
    x, positions = draw(7, 1, LENGTH, WIDTH), torch.arange(LENGTH)
    first = make(name)
    before = logits(first, x, positions)
    other = make(name, seed=5, **({"base": 50.0} if "base" in vars(first) else {}))
    for parameter in other.parameters():
        torch.nn.init.normal_(parameter)
    logits(other, x, positions + 7)
    assert torch.equal(logits(first, x, positions), before)
    assert torch.equal(logits(make(name), x, positions), before), "made after the other, it is the same"


@pytest.mark.parametrize("name", NAMES)
def test_moves_between_types_leave_no_trace_on_what_is_not_learned(name):
    """Half and back rounds learned numbers, and nothing else."""
    x, positions = draw(8, 1, LENGTH, WIDTH), torch.arange(LENGTH) + 1000 * (name != "ape")
    moved, plain = make(name), make(name)
    moved.to(torch.bfloat16).double()
    with torch.no_grad():
        for rounded, parameter in zip(moved.parameters(), plain.parameters(), strict=True):
            rounded.copy_(parameter)
    assert torch.equal(logits(moved, x, positions), logits(plain, x, positions))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [0, 1])
def test_no_token_and_one_token(name, length):
    """A token sees itself as without an encoding, unless its embedding, a bias of distance 0 or a scale is added."""
    x, positions = draw(11, 1, length, WIDTH), torch.arange(length)
    all_logits, without = logits(make(name), x, positions), logits(PositionEncoding(), x, positions)
    assert all_logits.shape == (1, HEADS, length, length) and all_logits.isfinite().all()
    changed = length and name in (
        "sinusoidal",
        "ape",
        "legendre",
        "haar",
        "dct",
        "seqpe",
        "prism",
        "t5",
        "t5-bidirectional",
        "fire",
        "yarn",
        "bam",
        "bam-ssmax",
        "wavelet",
    )
    assert torch.allclose(all_logits, without, rtol=1e-13, atol=0) == (not changed)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "nope"])
def test_positions_that_are_no_integers_are_refused(name):
    with pytest.raises(ValueError, match="positions must be integers"):
        logits(make(name), draw(11, 1, 3, WIDTH), torch.arange(3) / 2)


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_that_are_trained_are_those_of_the_symbolic_twin(name):
    from lengthgen.theory.encodings.encoding import HEAD_DIM as C
    from lengthgen.theory.encodings.encoding import HEADS as H
    from lengthgen.theory.encodings.encoding import LAYERS
    from lengthgen.theory.encodings.encoding import WIDTH as D

    encoding = make(name, layers=2)
    trained = sum(parameter.numel() for parameter in encoding.parameters() if parameter.requires_grad)
    sizes = {H: HEADS, C: HEAD_DIM, D: WIDTH, LAYERS: 2}
    expected = symbolic.named(name).learned.subs(sizes)
    assert trained == expected.subs(dict.fromkeys(expected.free_symbols, 64 if name == "ape" else TRAINED))


def test_every_encoding_has_a_module_but_for_a_choice_of_positions():
    assert {*MODULES} == {name for name, encoding in ENCODINGS.items() if not encoding.drawn_from}


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(EncodingError, match="did you mean alibi"):
        named("alibbi", heads=1, head_dim=2)


def test_an_unknown_parameter_is_answered_with_those_there_are():
    with pytest.raises(EncodingError, match="encoding 'rope' has no option 'slope'; its options: base, layout"):
        named("rope", heads=1, head_dim=2, slope=1)


NO_SCALE = "scale must be a finite number, at least 1, not "
NO_HEAD_DIM = "head_dim must be a positive even number, not "
NO_NUMBER = "base must be a positive finite number, not "
REFUSED = [
    *(("rope hope sinusoidal", {"base": base}, NO_NUMBER) for base in (0.0, -1.0, nan, inf)),
    *(("rope hope xpos swat", {"head_dim": head_dim}, f"{NO_HEAD_DIM}{head_dim}") for head_dim in (0, 7, -2)),
    *(("interpolation ntk", {"scale": scale}, NO_SCALE) for scale in (0.0, 0.5, -2.0, nan, inf)),
    ("alibi kerple-power kerple-log bam bam-ssmax grape-additive", {"heads": 0}, "heads must be at least 1"),
    ("bam-ssmax", {"layers": 0}, "layers must be at least 1, not 0"),
    ("graph-alibi", {"heads": 0}, "heads must be positive, not 0"),
    ("alibi", {"heads": -1}, "heads must be at least 1, not -1"),
    ("fox cable cable-gated", {"width": 0}, "width must be at least 1, not 0"),
    ("fox cable cable-nw", {"heads": 0}, "heads must be at least 1, not 0"),
    ("fox", {"layers": -1}, "layers must be at least 1, not -1"),
    ("grape", {"heads": 0}, "heads must be at least 1 and head_dim at least 2"),
    ("grape", {"head_dim": 1}, "heads must be at least 1 and head_dim at least 2"),
    ("grape-gated", {"heads": 0}, "heads, head_dim and layers must be at least 1, not 0, 4 and 2"),
    ("grape-gated", {"layers": 0}, "heads, head_dim and layers must be at least 1"),
    ("grape-gated", {"gates": "none"}, "gates must be both, query or key, not 'none'"),
    *(
        ("legendre haar dct", wrong, "width must be at least 1 and trained_length at least 2, not ")
        for wrong in ({"width": 0}, {"trained_length": 1})
    ),
    ("prism", {"positions": 1}, "positions must be at least 2, not 1"),
    ("prism", {"sharpening": "some"}, "sharpening must be learned or none, not 'some'"),
    ("prism", {"width": 3}, "width must be a positive even number, not 3"),
    ("legendre", {"beyond": "mirror"}, "beyond must be rescale, clamp, raw, not 'mirror'"),
    ("swat", {"window": 0}, "window must be at least 1, not 0"),
    ("swat", {"heads": 0}, "heads must be positive, not 0"),
    ("swat", {"slopes": "mixed"}, "slopes must be balanced, negative, positive, not 'mixed'"),
    ("wavelet", {"wavelet": "mexican"}, "wavelet must be ricker, haar, gaussian, morlet, not 'mexican'"),
    ("wavelet", {"scales": 0}, "scales must be from 1 to 32, not 0"),
    ("wavelet", {"head_dim": 0}, "head_dim must be at least 1, not 0"),
    ("seqpe", {"width": 0}, "width must be at least 1, not 0"),
    ("seqpe", {"heads": 3}, "width 8 is not a multiple of 3 heads"),
    ("seqpe", {"digits": 18}, "digits must be at most 17, not 18: positions are 64-bit integers"),
    ("seqpe", {"injection": "attn_add"}, "injection must be attn_scalar or input_add, not 'attn_add'"),
    ("seqpe", {"digits": 1, "length": 11}, "digits=1 give codes to 10 positions, and there are 11"),
    *(("grape-path", {size: 0}, "heads, width and layers must be") for size in ("heads", "width", "layers")),
]


@pytest.mark.parametrize(("names", "wrong", "message"), REFUSED)
def test_modules_refuse_sizes_and_options_without_a_meaning(names, wrong, message):
    for name in names.split():
        sizes = {"heads": 2, "head_dim": 4, "width": 8, "layers": 2, "trained_length": 6} | wrong
        with pytest.raises(ValueError, match=message):
            MODULES[name](**modules._accepted(MODULES[name], sizes))


def test_a_refused_value_is_one_clear_line():
    with pytest.raises(EncodingError, match="rope: head_dim must be a positive even number, not 3"):
        named("rope", heads=1, head_dim=3)
