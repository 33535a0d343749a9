"""Encoding x law: every encoding of the catalogue against its formulas, and against changes that leave logits alone.

Whether an encoding has a law is not listed but taken from its formulas (theory/laws.py): where they break a law, the
module must break it as well.
"""

import inspect
import math
from copy import deepcopy
from dataclasses import replace
from math import inf, nan

import pytest
import sympy as sp
import torch
from torch import Tensor

from lengthgen.circuits.encoding_spec import ENCODINGS, accepted
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.modules import MODULES, named
from lengthgen.theory.encodings import catalogue
from lengthgen.theory.encodings import encoding as symbols
from lengthgen.theory.encodings.encoding import EncodingError, Law
from tests.empirical.encodings.table import (
    FORMULAS,
    HEAD_DIM,
    HEADS,
    LAYER,
    LAYERS,
    LENGTH,
    NAMES,
    TRAINED,
    WIDTH,
    WITHOUT_FORMULAS,
    At,
    Formula,
    Inputs,
    base_name,
    content_of,
    keeps,
    make,
    outputs,
    shaken,
)  # fmt: skip
from tests.empirical.twins import HOSTILE, exact, normal, symbolic_bias, symbolic_scores

BATCH, PADS = 2, 4
every = pytest.mark.parametrize("name", NAMES)
PROJECTIONS = normal(99, 2, HEADS, WIDTH, HEAD_DIM)
AFTER_THE_TEXT = {"rpe-square"}
"""Encodings for which padding must come after the real tokens."""


def logits(encoding: PositionEncoding, x_BLD: Tensor, positions: Tensor, *, queries: slice = slice(None)) -> Tensor:
    """[B, H, J, I], -inf where the key comes after the query in the sequence; J only the queries asked for."""
    x_BLD = encoding.embed(x_BLD, positions)
    q, k = (torch.einsum("bld,hdc->bhlc", x_BLD, projection).to(x_BLD.dtype) for projection in PROJECTIONS)
    content = content_of(x_BLD, q, k, positions)
    bias = encoding.bias(positions, positions, content, dtype=torch.float64)
    q, k = encoding.rotate(q, k, positions, content)
    all_logits = encoding.scores(q, k, positions, positions, content) / HEAD_DIM**0.5
    all_logits = all_logits if bias is None else all_logits + bias
    length = x_BLD.shape[1]
    hidden = torch.full((length, length), -torch.inf, dtype=all_logits.dtype).triu(1)
    return (all_logits + hidden)[:, :, queries]


def compared(name: str, formula: Formula) -> None:
    """Compare each hook of a module with its formulas."""
    record = replace(catalogue.named(base_name(name)), **formula.record or {})
    module, at = shaken(make(name.split(", ", maxsplit=1)[0]), **formula.parameters or {}), formula.positions
    inputs = Inputs.drawn(1, torch.tensor(at))
    order = [0, 2, 1, 3] if getattr(module, "layout", "") == "halves" else [0, 1, 2, 3]
    q, k = inputs.q_BHLC[..., order], inputs.k_BHLC[..., order]
    rotated = module.rotate(q, k, inputs.positions, inputs.content())
    scores = module.scores(*rotated, inputs.positions, inputs.positions, inputs.content()).detach()
    bias = outputs(module, inputs).get("bias")

    def values(head: int, plane: int) -> dict:
        x, q, k = inputs.x_BLD[0], inputs.q_BHLC[0], inputs.k_BHLC[0]
        return dict(formula.values(At(module=module, head=head, plane=plane, x=x, q=q, k=k, positions=at)))

    assert (bias is not None) == (formula.bias > 0 or base_name(name).startswith("t5"))
    for head in (0, HEADS - 1) if bias is not None else ():
        expected = symbolic_bias(record, values(head, 0), at)
        close(
            bias.reshape(-1, *bias.shape[-3:])[0, head], expected, rtol=formula.bias, atol=1e-15 * (name == "cable-log")
        )
    if formula.score:
        head = HEADS - 1
        planes = [values(head, plane) for plane in range(HEAD_DIM // 2)]
        content_only = replace(record, embed=None, bias=None)
        expected = symbolic_scores(content_only, planes, inputs.q_BHLC[0, head], inputs.k_BHLC[0, head], at)
        close(scores[0, head], expected, rtol=0, atol=formula.score * max(1, getattr(module, "scale", 1) ** 0.2))
        assert not module.scores_pairwise or record.relative_key or (scores[0, head].triu(1) == 0).all()
    if record.embed:
        codes = module.embed(torch.zeros_like(inputs.x_BLD), inputs.positions)[0].detach()
        length = sp.Integer(at[-1] + 1)
        for plane in range(WIDTH // 2):
            numbers = values(0, plane)
            for row, position in zip(codes, map(sp.Integer, at), strict=True):
                moved = record.positions(position, length) if record.positions else position
                for side, entry in enumerate(record.embed(moved)):
                    right = exact(entry.subs(numbers))
                    assert abs(row[2 * plane + side].item() - right) <= formula.code * max(1, abs(right)), (plane, at)


def close(computed: Tensor, expected: Tensor, *, rtol: float, atol: float) -> None:
    """Assert that numbers are those of the formula for each key up to the query."""
    seen = ~expected.isnan()
    torch.testing.assert_close(computed.detach()[seen], expected[seen], rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_module_is_its_formulas_at_hostile_positions(name):
    compared(name, FORMULAS[name])


def test_each_encoding_with_formulas_is_compared_with_them_here_or_in_its_family():
    elsewhere = {"grape", "grape-commuting", "seqpe", "prism"}
    assert {base_name(name) for name in FORMULAS} | elsewhere == set(NAMES) - set(WITHOUT_FORMULAS)


OF_ONE_SIGN = {
    *("alibi", "swat", "graph-alibi", "kerple-power", "kerple-log", "t5", "t5-bidirectional", "fox", "fox-bias-only"),
    *("fox-fixed", "cable", "cable-gated", "cable-nw", "grape-additive", "grape-path"),
}
"""Biases that add up terms of one sign, so that each number has its own budget."""
ROUNDINGS = dict.fromkeys(("cable-gated", "cable-nw", "grape-path", "lbpe", "lbpe-sh", "seqpe"), 16)
"""Float32 roundings of encodings with long sums or learned maps; the others have at most 4."""
IN_THE_TYPE_OF_CONTENT = {"rpe", "lbpe", "lbpe-sh"}
"""Encodings whose products with queries are those of attention: of the type of the content."""


def positions_of(name: str) -> Tensor:
    """Positions that a module of the encoding knows, as far as possible."""
    near = {"ape": 64, "rpe-square": 64, "seqpe": 10**6}.get(base_name(name), 10**7)
    return torch.tensor([position for position in HOSTILE if position < near])


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_types_round_once_and_compute_in_float32_at_least(name, dtype):
    """Parameters are rounded to the type before; positions never are."""
    if name in IN_THE_TYPE_OF_CONTENT and dtype == torch.bfloat16:
        pytest.skip("its products are of the type of the content")
    inputs, narrow = Inputs.drawn(2, positions_of(name), dtype=dtype), shaken(make(name)).to(dtype)
    wide_inputs = replace(inputs, **{part: getattr(inputs, part).double() for part in ("x_BLD", "q_BHLC", "k_BHLC")})
    answers, right = outputs(narrow, inputs, dtype), outputs(deepcopy(narrow).double(), wide_inputs)
    single, last = torch.finfo(torch.float32).eps / 2, torch.finfo(dtype).eps / 2
    for hook, answer in answers.items():
        expected = right[hook]
        size = expected.abs() if hook == "bias" and name in OF_ONE_SIGN else expected.abs().max()
        assert answer.dtype == (dtype if hook != "values" else answer.dtype) and answer.isfinite().all()
        off = (answer.double() - expected.clamp(min=torch.finfo(dtype).min)).abs()
        assert (off <= 1.01 * (last * expected.abs() + ROUNDINGS.get(name, 4) * single * size) + 1e-37).all(), (
            hook,
            off.max(),
        )


@every
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_nothing_on_real_tokens(name, side):
    encoding, x = make(name), normal(1, BATCH, LENGTH, WIDTH)
    alone = logits(encoding, x, torch.arange(LENGTH))
    noise = 50 * normal(2, BATCH, PADS, WIDTH)
    if side == "left":
        padded = torch.cat((noise, x), 1)
        positions = torch.cat((torch.zeros(PADS, dtype=torch.int64), torch.arange(LENGTH)))
        padded_logits = logits(encoding, padded, positions)[:, :, PADS:, PADS:]
    else:
        padded = torch.cat((x, noise), 1)
        positions = torch.cat((torch.arange(LENGTH), torch.full((PADS,), LENGTH - 1)))
        padded_logits = logits(encoding, padded, positions)[:, :, :LENGTH, :LENGTH]
    same = torch.allclose(padded_logits, alone, rtol=1e-11, atol=1e-11)
    assert same != (side == "left" and name in AFTER_THE_TEXT)


@every
def test_a_batch_with_positions_of_its_own_is_its_members(name):
    encoding, x = shaken(make(name)), normal(3, BATCH, LENGTH, WIDTH)
    positions = torch.stack((torch.arange(LENGTH), 2 * torch.arange(LENGTH) + 11))
    together = logits(encoding, x, positions)
    for row in range(BATCH):
        alone = logits(encoding, x[row : row + 1], positions[row])
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-11, atol=1e-11)


@every
def test_a_sequence_read_token_by_token(name):
    """Keys enter a cache at their own time; that this equals the whole sequence is the law of streaming."""
    encoding, x = shaken(make(name)), normal(4, 1, LENGTH, WIDTH)
    positions = torch.arange(LENGTH)
    all_logits = logits(encoding, x, positions)
    last = [logits(encoding, x[:, : end + 1], positions[: end + 1], queries=slice(-1, None)) for end in range(LENGTH)]
    off = max((last[end] - all_logits[:, :, end : end + 1, : end + 1]).abs().max() for end in range(LENGTH))
    assert (off < 1e-11) == keeps(name, Law.STREAMING), off


@every
def test_a_common_shift_of_all_positions(name):
    encoding, x = make(name), normal(5, 1, LENGTH, WIDTH)
    here, there = (logits(encoding, x, torch.arange(LENGTH) + shift) for shift in (0, 13))
    change = (there - here)[..., torch.ones(LENGTH, LENGTH).tril().bool()].abs().max()
    # Of the length, the last position is all that is known here.
    assert (change < 1e-10) == (keeps(name, Law.STREAMING) and keeps(name, Law.TRANSLATION)), change


@every
def test_rotation_keeps_norms_exactly_where_the_law_says_so(name):
    encoding, inputs = make(name), Inputs.drawn(6, torch.arange(LENGTH) + 5)
    if name not in WITHOUT_FORMULAS and "embed" in catalogue.named(name).hooks:
        pytest.skip("it acts on embeddings, before there are queries")
    turned = encoding.rotate(inputs.q_BHLC, inputs.k_BHLC, inputs.positions, inputs.content())
    norms = zip(turned, (inputs.q_BHLC, inputs.k_BHLC), strict=True)
    off = max((rotated.norm(dim=-1) - original.norm(dim=-1)).abs().max() for rotated, original in norms)
    assert (off < 1e-12) == keeps(name, Law.NORM) or encoding.scores_pairwise, off


@every
def test_instances_share_nothing_and_a_state_is_all_that_an_instance_learned(name):
    inputs = Inputs.drawn(7, torch.arange(LENGTH))
    first = make(name)
    before = outputs(first, inputs)
    other = shaken(make(name, seed=5, **({"base": 50.0} if "base" in vars(first) and name != "swat" else {})))
    outputs(other, replace(inputs, positions=inputs.positions + 7))
    same(outputs(first, inputs), before)
    same(outputs(make(name), inputs), before)
    third = make(name, seed=6)
    learned = shaken(make(name))
    third.load_state_dict(learned.state_dict())
    same(outputs(third, inputs), outputs(learned, inputs))
    assert {*third.state_dict()} == {parameter for parameter, _ in third.named_parameters()}


def same(first: dict, second: dict) -> None:
    """Assert that all answers of two modules have the same bits."""
    assert first.keys() == second.keys()
    assert all(torch.equal(answer, second[hook]) for hook, answer in first.items())


@every
def test_moves_between_types_leave_no_trace_on_what_is_not_learned(name):
    """Half and back rounds learned numbers, and nothing else."""
    positions = torch.arange(LENGTH) + 1000 * (name != "ape")
    moved, plain, inputs = make(name), make(name), Inputs.drawn(8, positions)
    moved.to(torch.bfloat16).double()
    moved.load_state_dict(plain.state_dict())
    same(outputs(moved, inputs), outputs(plain, inputs))


CHANGED_BY_ITSELF = {
    *("sinusoidal", "ape", "legendre", "haar", "dct", "seqpe", "prism", "t5", "t5-bidirectional", "fire", "yarn"),
    *("bam", "bam-ssmax", "wavelet", "rpe", "rpe-square", "lbpe", "lbpe-sh"),
}
"""Encodings that act on a token alone: by a code, a bias of distance 0, a vector of its label, or a scale."""


@every
@pytest.mark.parametrize("length", [0, 1])
def test_no_token_and_one_token(name, length):
    x, positions = normal(11, 1, length, WIDTH), torch.arange(length)
    all_logits, without = logits(make(name), x, positions), logits(PositionEncoding(), x, positions)
    assert all_logits.shape == (1, HEADS, length, length) and all_logits.isfinite().all()
    changed = length and name in CHANGED_BY_ITSELF
    assert torch.allclose(all_logits, without, rtol=1e-13, atol=1e-15) == (not changed)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "nope"])
def test_positions_that_are_no_integers_are_refused(name):
    inputs = Inputs.drawn(11, torch.arange(3))
    for query_positions, key_positions in (
        (torch.arange(3) / 2, torch.arange(3)),
        (torch.arange(3), torch.arange(3.0)),
    ):
        with pytest.raises(ValueError, match="positions must be integers"):
            refused = make(name)
            refused.embed(inputs.x_BLD, key_positions)
            refused.rotate(inputs.q_BHLC, inputs.k_BHLC, key_positions, inputs.content())
            refused.bias(query_positions, key_positions, inputs.content())
            refused.embed(inputs.x_BLD, query_positions)
            refused.rotate(inputs.q_BHLC, inputs.k_BHLC, query_positions, inputs.content())
            refused.scores(inputs.q_BHLC, inputs.k_BHLC, query_positions, key_positions)


LEARNING = [name for name in NAMES if any(True for _ in make(name).parameters())]


@pytest.mark.parametrize("name", LEARNING)
def test_gradients_of_numbers_and_content_are_those_of_the_hooks(name):
    inputs = Inputs.drawn(12, torch.arange(4))
    encoding = shaken(make(name), **{"scale": [0.7, 0.2, 1.9], "exponent": [0.4, 1.0, 1.6], "rate": [0.3, 1.0, 1.6]})
    leaves = [tensor.requires_grad_() for tensor in (inputs.x_BLD, inputs.q_BHLC, inputs.k_BHLC)]

    def answers(*_: Tensor) -> tuple[Tensor, ...]:  # gradcheck moves the numbers in place
        hooks = [outputs(encoding, inputs, layer=layer) for layer in range(LAYERS)]
        return tuple(answer for of_layer in hooks for answer in of_layer.values() if answer.requires_grad)

    assert torch.autograd.gradcheck(answers, (*leaves, *encoding.parameters()), fast_mode=True)
    sum(answer.sin().sum() for answer in answers()).backward()
    for part, parameter in encoding.named_parameters():
        assert parameter.grad.isfinite().all() and parameter.grad.any(), part


@pytest.mark.parametrize("name", [name for name in LEARNING if "layers" in inspect.signature(MODULES[name]).parameters])
def test_each_layer_has_numbers_of_its_own_and_no_other_is_made_up(name):
    encoding, inputs = shaken(make(name)), Inputs.drawn(13, torch.arange(LENGTH))
    first, second = (outputs(encoding, inputs, layer=layer) for layer in range(LAYERS))
    acts = {"embed"} if name == "prism" else {"bias", "queries"} & first.keys()
    assert any(not torch.allclose(first[hook], second[hook]) for hook in acts)
    with pytest.raises((IndexError, ValueError)):
        outputs(encoding, inputs, layer=LAYERS)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_FORMULAS])
def test_the_numbers_that_are_trained_are_those_of_the_symbolic_twin(name):
    trained = sum(parameter.numel() for parameter in make(name).parameters() if parameter.requires_grad)
    sizes = {symbols.HEADS: HEADS, symbols.HEAD_DIM: HEAD_DIM, symbols.WIDTH: WIDTH, symbols.LAYERS: LAYERS}
    expected = catalogue.named(name).learned.subs(sizes)
    assert trained == expected.subs(dict.fromkeys(expected.free_symbols, 64 if name == "ape" else TRAINED))


def test_every_encoding_has_a_module_but_for_a_choice_of_positions():
    assert {*MODULES} == {name for name, encoding in ENCODINGS.items() if not encoding.drawn_from}
    assert {*NAMES} == {*MODULES} - {"clipped", "ipe", "ipe-sh"}, "which are relations, as rpe is"
    assert LAYER < LAYERS


def test_a_name_option_or_value_that_does_not_fit_is_one_clear_line():
    for name, options, message in (
        ("alibbi", {}, "did you mean alibi"),
        ("rope", {"slope": 1}, "encoding 'rope' has no option 'slope'; its options: base, layout"),
        ("rope", {"head_dim": 3}, "rope: head_dim must be a positive even number, not 3"),
    ):
        with pytest.raises(EncodingError, match=message):
            named(name, **{"heads": 1, "head_dim": 2, **options})


NO_SCALE = "scale must be a finite number, at least 1, not "
NO_HEAD_DIM = "head_dim must be a positive even number, not "
NO_NUMBER = "base must be a positive finite number, not "
POSITIVE = "must be a positive finite number, not "
NOT_POSITIVE = (0.0, -1.0, nan, inf)
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
    ("ape", {"length": 0}, "length and width must be at least 1, not 0 and 8"),
    ("ape", {"width": -1}, "length and width must be at least 1, not 4 and -1"),
    ("ntk dynamic-ntk", {"head_dim": 2}, "head_dim must be above 2: one plane cannot be both"),
    ("dynamic-ntk yarn", {"trained_length": 0}, "trained_length must be at least 1, not 0"),
    *(("dynamic-ntk", {"factor": wrong}, f"factor {POSITIVE}{wrong}") for wrong in NOT_POSITIVE),
    *(("xpos", {"scale_base": wrong}, f"scale_base {POSITIVE}{wrong}") for wrong in NOT_POSITIVE),
    *(("lbpe", {"temperature": wrong}, f"temperature {POSITIVE}{wrong}") for wrong in NOT_POSITIVE),
    *(("fire", {name: wrong}, f"{name} {POSITIVE}{wrong}") for name in ("rate", "threshold") for wrong in NOT_POSITIVE),
    *(("fire", {size: 0}, f"{size} must be at least 1, not 0") for size in ("heads", "layers")),
    *(("lbpe", {size: 0}, f"{size} must be at least 1, not 0") for size in ("layers", "head_dim", "labels", "hinges")),
    *(
        ("rpe-square", {size: 0}, f"{size} must be at least 1, not 0")
        for size in ("width", "heads", "layers", "length", "inner")
    ),
    *(
        (
            "fox-fixed",
            {"shortest": shortest, "longest": longest},
            "timescales must be 0 < shortest <= longest < inf, not ",
        )
        for shortest, longest in ((0.0, 2.0), (4.0, 2.0), (1.0, inf), (nan, 2.0), (1.0, nan))
    ),
    *(
        ("hope", {"damping": damping}, f"damping must be a finite number above the largest rate 1, not {damping}")
        for damping in (1.0, 0.5, -3.0, nan, inf)
    ),
    ("hope", {"base": 0.01, "damping": 2.0}, "above the largest rate 10, not 2"),
    *(("yarn", {"scale": scale}, f"{NO_SCALE}{scale}") for scale in (0.5, nan)),
    *(
        ("yarn", wrong, "alpha and beta must be finite with 0 < alpha < beta")
        for wrong in ({"alpha": 0}, {"alpha": 32}, {"beta": inf}, {"alpha": nan})
    ),
    ("yarn", {"ramp": "papre"}, "ramp must be 'paper' or 'code', not 'papre'"),
    ("yarn", {"ramp": "code", "base": 1.0}, "needs a base above 1, not 1.0"),
    ("yarn", {"ramp": "code", "trained_length": 4}, "fall from plane 0 to plane 0: trained_length = 4"),
    (
        "yarn",
        {"ramp": "code", "base": 1.5, "head_dim": 8, "trained_length": 4096},
        "fall from plane 29 to plane 7: trained_length = 4096",
    ),
    ("grape-commuting grape-thin", {"heads": 0}, "heads must be at least 1, not 0"),
    ("grape-commuting grape-contextual", {"head_dim": 5}, "head_dim must be a positive even number, not 5"),
    ("grape-contextual", {"width": 0}, "width and layers must be at least 1, not 0 and 2"),
    *(
        ("grape-thin", {"rank": rank}, f"rank must be a positive even number up to head_dim = 4, not {rank}")
        for rank in (3, 6, 0)
    ),
]


@pytest.mark.parametrize(("names", "wrong", "message"), REFUSED)
def test_modules_refuse_sizes_and_options_without_a_meaning(names, wrong, message):
    for name in names.split():
        sizes = {
            "heads": 2,
            "head_dim": 4,
            "width": 8,
            "layers": 2,
            "length": 4,
            "rank": 2,
            "trained_length": 6,
        } | wrong
        with pytest.raises(ValueError, match=message):
            MODULES[name](**accepted(MODULES[name], sizes))


def test_a_refused_value_is_one_clear_line():
    with pytest.raises(EncodingError, match="rope: head_dim must be a positive even number, not 3"):
        named("rope", heads=1, head_dim=3)


def content_missing(name: str, hook: str, inputs: Inputs, **changes: object) -> None:
    """Call a hook with changed content or positions."""
    encoding, at = make(name), changes.pop("at", inputs.positions)
    queries = changes.pop("queries", at)
    content = replace(inputs.content(), **changes)
    if hook == "bias":
        encoding.bias(queries, at, content)
    elif hook == "rotate":
        encoding.rotate(content.q_BHJC, content.k_BHIC, at, content)
    elif hook == "scores":
        encoding.scores(content.q_BHJC, content.k_BHIC, at, at, content)
    else:
        encoding.embed(content.x_BLD, at)


SIX = torch.arange(6)
IN_ORDER = "positions must not decrease along the sequence"
PATHS, ADDED = "fox cable cable-gated cable-nw cable-log rpe-square", "sinusoidal ape legendre haar dct prism"
NARROW_HEADS, NARROW_INPUT = normal(1, 1, HEADS, 6, 3), normal(1, 1, 6, 4)
UNFIT = [
    # encodings, hook, what is changed, message
    (PATHS, "bias", {"x_BLD": None}, "the content has no x_BLD"),
    (PATHS, "bias", {"x_BLD": normal(1, 1, 7, WIDTH)}, "x has 7 tokens, but there are 6 key positions"),
    (PATHS, "bias", {"queries": SIX[1:3]}, "the 2 queries are not the last 2 of the 6 tokens"),
    (PATHS, "bias", {"queries": torch.arange(7)}, "the 7 queries are not the last 7 of the 6 tokens"),
    (PATHS, "bias", {"at": SIX.flip(0)}, IN_ORDER),
    ("xpos hope", "scores", {"at": torch.tensor([0, 9, 4, 5, 6, 7])}, f"query {IN_ORDER}: 4 follows 9"),
    ("rpe-square", "bias", {"at": 13 * SIX}, "tokens 65 positions apart are farther than the table of length 64"),
    (f"{ADDED} seqpe[injection=input_add]", "embed", {"x_BLD": NARROW_INPUT}, "embeddings are 4 wide, not width = 12"),
    ("rope xpos ntk grape-contextual", "rotate", {"q_BHJC": NARROW_HEADS}, "queries are 3 wide, not head_dim = 4"),
    ("hope wavelet", "scores", {"q_BHJC": NARROW_HEADS}, "queries are 3 wide, not head_dim = 4"),
    ("grape grape-commuting grape-thin", "rotate", {"q_BHJC": NARROW_HEADS}, r"width \(3, 3\), not \(3, 4\)"),
    ("grape-contextual", "rotate", {"x_BLD": None}, "contextual GRAPE-M reads the layer's input: pass content with x_"),
    ("grape-contextual", "rotate", {"x_BLD": NARROW_INPUT}, "the layer's input is 4 wide, not width = 12"),
    ("grape-path", "bias", {"x_BLD": None}, "GRAPE-AP reads the layer's input: pass content with x_BLD"),
    ("grape-path", "bias", {"x_BLD": NARROW_INPUT}, "the layer's input is 4 wide, not width = 12"),
    ("grape-path", "bias", {"queries": SIX[-1:]}, "queries and keys must both be all tokens of the layer's input"),
    ("grape-path", "bias", {"queries": SIX + 1}, "queries and keys must both be all tokens of the layer's input"),
    ("grape-gated", "bias", {"q_BHJC": None}, "pass content with q_BHJC and k_BHIC"),
    ("grape-gated", "bias", {"k_BHIC": None}, "pass content with q_BHJC and k_BHIC"),
    (
        "graph-alibi",
        "bias",
        {"distances_BJI": None},
        r"needs the distances of a graph: pass Content\(distances_BJI=...\)",
    ),
    *(
        ("graph-alibi", "bias", {"distances_BJI": wrong}, r"distances must be int64 \[1 or B, 6, 6\], not torch\.")
        for wrong in (torch.zeros(1, 6, 6), torch.zeros(6, 6).long(), torch.zeros(1, 4, 6).long())
    ),
    ("bam-ssmax", "rotate bias", {"layer": 2}, "there is no layer 2: BAM has factors of 2 layers, counted from 0"),
    ("fire", "bias", {"layer": 2}, "there is no layer 2: FIRE was made for 2 layers, counted from 0"),
    ("lbpe-sh", "bias", {"scales_B": None}, "LBPE with scale hint reads the scale of each instance: give scales"),
    ("lbpe-sh", "bias", {"scales_B": torch.ones(1)}, "scales must be integers, not torch.float32"),
    *(
        ("ape", "embed", {"at": SIX + start}, f"position {wrong} is not in the table of 64 positions, 0 to 63")
        for start, wrong in ((59, 64), (-1, -1), (10**6, 10**6))
    ),
    *(
        (
            f"seqpe[injection={way}]",
            hook,
            {"at": SIX + start},
            f"digits=6 has codes for .* to 999999, and {wrong} is not",
        )
        for way, hook in (("attn_scalar", "bias"), ("input_add", "embed"))
        for start, wrong in ((10**6 - 5, 10**6), (-1, -1))
    ),
]


@pytest.mark.parametrize(("names", "hooks", "changes", "message"), UNFIT)
def test_content_and_positions_that_do_not_fit_are_refused(names, hooks, changes, message):
    for name in names.split():
        for hook in hooks.split():
            with pytest.raises(ValueError, match=message):
                content_missing(name, hook, Inputs.drawn(14, SIX), **changes)


BEGINNING: dict[str, dict[str, object]] = {
    # a number: each entry has it; "normal s": drawn with the deviation s; "uniform a b": drawn between a and b
    "ape": {"table": "normal 1"},
    "rpe": {"keys": "normal 1", "vectors": "normal 1"},
    "lbpe-sh": {
        **dict.fromkeys(("keys", "vectors"), "normal 1"),
        **dict.fromkeys(("slopes", "offsets"), "uniform -1 1"),
        "heights": f"uniform {-(224**-0.5)} {224**-0.5}",
    },
    "rpe-square": {
        "table": "normal 0.02",
        **dict.fromkeys(("of_query", "of_query_anchor", "of_key", "of_key_anchor"), "uniform -0.05 0.05"),
    },
    "kerple-power": {"scale": "uniform 0 1 0.01", "exponent": "uniform 0 2 0.01"},
    "kerple-log": {"scale": "uniform 0 2 0.01", "rate": "uniform 0 1 0.01"},
    "bam": {"exponent": 1.0},
    "bam[location=true]": {"exponent": 1.0, "shift": 0.0},
    "bam-ssmax": {"exponent": 1.0, "factors": 1.0},
    "t5": {"weights": "normal 0.02"},
    "fire": {"laws.1.rate": 0.1, "laws.1.factor": 1.0},
    "fire[rate=0.3]": {"laws.1.rate": 0.3},
    "fox": {"weight": "normal 0.02", "offset": 0.0},
    "fox-bias-only": {"logits": 0.0},
    "cable": {"weight": "normal 0.02", "offset": 0.0},
    "cable-nw": {"weight": "normal 0.02"},
    "cable-gated": {"weight": "normal 0.02", "gate_weight": "normal 0.02"},
    "grape-thin": {"tilts": "normal 0.125"},
    "grape-commuting": {"turns": 0.0, "log_ratios": 0.0},
    "grape-contextual": {"weights": 0.0, "offsets": 0.0, "log_ratios": 0.0},
    "grape-additive": {"log_factors": 0.0},
    "grape-gated": {"log_factors": 0.0, "query_vectors": "normal 0.125", "key_vectors": "normal 0.125"},
    "grape-path": {"probes": "normal 0.025"},
    "prism": {
        **dict.fromkeys(("gate_weights", "input_offsets", "recurrent_offsets"), 0.0),
        "input_weights": f"uniform {-(32**-0.5)} {32**-0.5}",
        "sharpness": math.log(math.expm1(0.5)),
    },
    "hope[damping=1.25]": {"raw_margin": math.log(math.expm1(0.25))},
}


@pytest.mark.parametrize("name", BEGINNING)
def test_parameters_begin_as_documented(name):
    sizes = {"heads": 40 if "kerple" not in name else 5000, "head_dim": 64 if "kerple" not in name else 2}
    if base_name(name) in ("grape-path", "grape-commuting", "rpe-square", "prism"):
        sizes = {"heads": 25, "head_dim": 16}  # the width is 400
    torch.manual_seed(0)
    if name == "rpe":
        encoding = MODULES[name](labels=64, layers=2, head_dim=64)
    else:
        encoding = named(name, **sizes, layers=2, length=64)
    parameters = dict(encoding.named_parameters())
    for part, start in BEGINNING[name].items():
        drawn = parameters[part].detach().double()
        kind, *numbers = start.split() if isinstance(start, str) else ("constant", str(start))
        first, *rest = map(float, numbers)
        assert parameters[part].dtype == torch.float32
        if kind == "constant":
            torch.testing.assert_close(drawn, torch.full_like(drawn, first), rtol=0, atol=1e-7)
        elif kind == "normal":
            assert drawn.std().item() == pytest.approx(first, rel=0.1) and abs(drawn.mean()) < 0.1 * first, part
        else:
            last, least = rest[0], rest[1] if rest[1:] else first
            assert least * (1 - 1e-6 * (least > 0)) - 1e-7 <= drawn.min() and drawn.max() <= last + 1e-7
            for share in (0.25, 0.5, 0.75):
                assert drawn.quantile(share).item() == pytest.approx(first + share * (last - first), abs=0.2 * last)


SMALLEST = {"heads": 1, "head_dim": 2, "layers": 1, "length": 2}


@pytest.mark.parametrize("name", [name for name in LEARNING if name != "rpe"])
def test_the_smallest_sizes_are_allowed(name):
    sizes = {"digits": 1} if name == "seqpe" else {"rank": 2} if name == "grape-thin" else {}
    parameters = [*named(name, **SMALLEST, **sizes).parameters()]
    assert parameters and all(parameter.isfinite().all() for parameter in parameters)
