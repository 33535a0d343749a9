"""Encodings of a user's own, however their hooks fail: one line that names the object and the hook."""

import textwrap
from copy import deepcopy

import pytest
import torch

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.modules import EncodingError, HookError, guard, module_of
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.mapped import stack_models

SIZES = {"heads": 2, "head_dim": 4, "layers": 1, "length": 6, "width": 8, "trained_length": 6}


def raising(error):
    def fails(*_, **__):
        raise error

    return fails


def decoder(**hooks):
    learned = torch.nn.Parameter(torch.zeros(2)) if hooks.pop("learns", False) else None
    encoding = type("Mine", (PositionEncoding,), hooks)()
    encoding.register_parameter("learned", learned)
    return Decoder(symbols=3, width=8, layers=1, heads=2, encoding=guard(encoding, "mine.py:Mine"))


def zeros(*shape, dtype=torch.float32):
    return lambda *_, **__: torch.zeros(shape, dtype=dtype)


HOOKS = {
    "bias exits": ({"bias": raising(SystemExit(0))}, "bias fails: SystemExit: 0"),
    "bias raises": ({"bias": raising(IndexError("none"))}, "bias fails: IndexError: none"),
    "bias raises as torch does": ({"bias": raising(RuntimeError("none"))}, "bias fails: RuntimeError: none"),
    "bias of text": ({"bias": lambda *_, **__: "no"}, "bias fails: AttributeError"),
    "bias of another length": ({"bias": zeros(2, 5, 5)}, r"it must return a bias \[H, 6, 6\]"),
    "bias of two dimensions": ({"bias": zeros(6, 6)}, r"it must return a bias \[H, 6, 6\]"),
    "bias of other heads": ({"bias": zeros(3, 6, 6)}, r"it must return a bias \[H, 6, 6\]"),
    "bias of integers": ({"bias": zeros(2, 6, 6, dtype=torch.int64)}, "of real numbers, not torch.int64"),
    "embed exits": ({"embed": raising(SystemExit())}, "embed fails: SystemExit"),
    "embed of nothing": ({"embed": lambda *_: None}, "embed fails: ValueError: it must return torch.float32"),
    "embed of another width": ({"embed": zeros(5, 6, 4)}, r"must return torch.float32 \[5, 6, 8\]"),
    "embed of other precision": ({"embed": lambda own, x, at: x.double()}, "not torch.float64"),
    "rotate exits": ({"rotate": raising(SystemExit(1))}, "rotate fails: SystemExit: 1"),
    "rotate of one": ({"rotate": lambda own, q, *_: q}, "rotate fails: "),
    "rotate of other precision": ({"rotate": lambda own, q, k, *_: (q.double(), k)}, "not torch.float64"),
    "scores exit": ({"scores_pairwise": True, "scores": raising(SystemExit(0))}, "scores fails: SystemExit: 0"),
    "scores of another shape": ({"scores_pairwise": True, "scores": zeros(6, 6)}, r"must return torch.float32 \["),
    "normalise exit": ({"normalise": raising(SystemExit(0))}, "normalise fails: SystemExit: 0"),
    "normalise of another shape": ({"normalise": zeros(6, 6)}, r"must return torch.float32 \["),
    "values exit": ({"changes_values": True, "values": raising(SystemExit(0))}, "values fails: SystemExit: 0"),
    "values of another shape": ({"changes_values": True, "values": zeros(6)}, r"must return torch.float32 \["),
}


@pytest.mark.parametrize("learns", [False, True])
@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_that_fails_is_named_in_one_line(name, learns):
    hooks, says = HOOKS[name]
    with pytest.raises(EncodingError, match=says) as caught:
        decoder(**hooks, learns=learns)(torch.zeros(1, 5, 6, dtype=torch.int64))
    assert str(caught.value).startswith("'mine.py:Mine': ")
    assert "\n" not in str(caught.value)


def test_an_interrupt_passes_through_a_hook():
    with pytest.raises(KeyboardInterrupt):
        decoder(bias=raising(KeyboardInterrupt()))(torch.zeros(1, 5, 6, dtype=torch.int64))


def slope(own, queries, keys, content=None, *, dtype=torch.float32):
    return (-own.learned[:, None, None] * (queries[:, None] - keys)).to(dtype)


def taken_apart(own, queries, keys, content=None, *, dtype=torch.float32):
    """Compute `slope` by an operation that vmap cannot map."""
    slopes = torch.tensor(own.learned.detach().tolist())
    return (-slopes[:, None, None] * (queries[:, None] - keys)).to(dtype)


@pytest.mark.parametrize("hook", [slope, taken_apart])
def test_a_guarded_encoding_computes_what_it_did(hook):
    """The results agree alone, stacked, copied, and where models take turns."""
    tokens = torch.randint(3, (1, 5, 6), generator=torch.Generator().manual_seed(0))
    torch.manual_seed(1)
    mine = decoder(bias=hook, learns=True)
    plain = deepcopy(mine)
    plain.encoding.shared.__class__ = type(mine.encoding.shared).__mro__[1]
    for model in (mine, plain):
        model.encoding.learned.data.fill_(0.5)
    assert torch.equal(mine(tokens), plain(tokens))
    assert torch.allclose(stack_models([mine, mine])(tokens.expand(2, -1, -1))[1], mine(tokens)[0], atol=1e-6)


CONSTRUCTORS = {
    "exits": ("def mine(): raise SystemExit(0)", "'.*py:mine' cannot be made from the sizes heads, .*: SystemExit: 0"),
    "raises": ("def mine(heads): [][heads]", "cannot be made from the sizes heads, head_dim, .*: IndexError"),
    "asks for more": ("def mine(rank): pass", "cannot be made from the sizes .*: TypeError: .*'rank'"),
    "hides what it takes": ("mine = max", "cannot be made from the sizes .*: ValueError"),
    "makes nothing": ("def mine(): pass", "makes None, not a PositionEncoding"),
    "is nothing": ("mine = None", "has no module: give its record"),
    "is an encoding": ("mine = PositionEncoding()", "cannot be made from the sizes .*: NotImplementedError"),
    **{
        f"learns {kind}": (
            f"""
            class mine(PositionEncoding):
                def __init__(self):
                    super().__init__()
                    self.table = torch.nn.{parameter}
            """,
            "its parameter 'table' must hold floating-point numbers on the CPU",
        )
        for kind, parameter in {
            "nothing real": "Parameter(torch.zeros(3, dtype=torch.complex64))",
            "nowhere": 'Parameter(torch.zeros(3, device="meta"))',
            "later": "UninitializedParameter()",
        }.items()
    },
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_an_encoding_that_cannot_be_made_is_one_line(name, tmp_path):
    code, says = CONSTRUCTORS[name]
    path = tmp_path / "mine.py"
    path.write_text(
        f"import torch\nfrom lengthgen.empirical.encodings.base import PositionEncoding\n{textwrap.dedent(code)}\n"
    )
    with pytest.raises(EncodingError, match=says) as caught:
        module_of(parse_encoding(f"{path}:mine"), SIZES)
    assert "\n" not in str(caught.value)


B, H, L, J, C, D = 3, 2, 5, 4, 6, 12


class Mine(PositionEncoding):
    """Encoding with every hook, each with an answer that differs from its input."""

    def embed(self, x_BLD, positions):
        return x_BLD + positions[:, None]

    def rotate(self, q_BHLC, k_BHLC, *_):
        return 2 * q_BHLC, 3 * k_BHLC

    def scores(self, q_BHJC, k_BHIC, *_):
        return 5 * q_BHJC @ k_BHIC.mT

    def bias(self, query_positions, key_positions, content=None, **_):
        return self.answer

    def values(self, weights_BHJI, query_positions, key_positions, content):
        return 7 * weights_BHJI[..., :1].expand(B, H, J, C)


@pytest.fixture
def mine():
    return guard(Mine(), "mine.py:Mine")


AT = torch.arange(L)
CONTENT = Content(x_BLD=torch.randn(B, L, D), q_BHJC=torch.randn(B, H, J, C), k_BHIC=torch.randn(B, H, L, C))


def test_right_answers_pass_unchanged(mine):
    x, weights = torch.randn(B, L, D), torch.randn(B, H, J, L)
    assert torch.equal(mine.embed(x, AT), x + AT[:, None])
    for queries in (L, J):  # as many queries as keys, and fewer
        q, k = torch.randn(B, H, queries, C), torch.randn(B, H, L, C)
        turned = mine.rotate(q, k, AT)
        assert torch.equal(turned[0], 2 * q) and torch.equal(turned[1], 3 * k)
        assert torch.equal(mine.scores(q, k, AT[-queries:], AT), 5 * q @ k.mT)
    assert torch.equal(mine.values(weights, AT[-J:], AT, CONTENT), 7 * weights[..., :1].expand(B, H, J, C))
    mine.answer = None
    assert mine.bias(AT[-J:], AT, CONTENT) is None


ONE_FOR_ALL = [(H, J, L), (1, J, L), (B, H, J, L), (1, H, J, L), (B, 1, J, L), (1, 1, J, L)]
OTHERS = [(H, L, J), (H + 1, J, L), (B + 1, H, J, L), (B, H + 1, J, L), (H, B, J, L), (J, L)]


@pytest.mark.parametrize("shape", [*ONE_FOR_ALL, *OTHERS])
def test_a_bias_may_be_one_for_all_heads_and_rows_and_another_shape_is_refused(mine, shape):
    mine.answer = torch.randn(*shape)
    if shape in ONE_FOR_ALL:
        assert all(mine.bias(AT[-J:], AT, content) is mine.answer for content in (CONTENT, None))
        return
    with pytest.raises(HookError, match=rf"it must return a bias \[H, {J}, {L}\] of real numbers, not"):
        mine.bias(AT[-J:], AT, CONTENT)


def test_hooks_that_are_not_the_users_own_are_left_alone():
    kind = type(guard(type("Nothing", (PositionEncoding,), {})(), "mine.py:Nothing"))
    for hook in ("embed", "rotate", "scores", "bias", "values"):
        assert getattr(kind, hook) is getattr(PositionEncoding, hook)
