"""Encodings of a user's own, however their hooks fail: one line that names the object and the hook."""

import textwrap
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor

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
    "learns nothing real": (
        """
        class mine(PositionEncoding):
            def __init__(self):
                super().__init__()
                self.table = torch.nn.Parameter(torch.zeros(3, dtype=torch.complex64))
        """,
        "its parameter 'table' must hold floating-point numbers on the CPU",
    ),
    "learns nowhere": (
        """
        class mine(PositionEncoding):
            def __init__(self):
                super().__init__()
                self.table = torch.nn.Parameter(torch.zeros(3, device="meta"))
        """,
        "its parameter 'table' must hold floating-point numbers on the CPU",
    ),
    "learns later": (
        """
        class mine(PositionEncoding):
            def __init__(self):
                super().__init__()
                self.table = torch.nn.UninitializedParameter()
        """,
        "its parameter 'table' must hold floating-point numbers on the CPU",
    ),
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


B, H, L, J, KEYS, C, D = 3, 2, 5, 4, 5, 6, 12


class Mine(PositionEncoding):
    """Encoding with every hook, each with an answer that differs from its input."""

    def embed(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        return x_BLD + positions[:, None]

    def rotate(self, q_BHLC: Tensor, k_BHLC: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
        return 2 * q_BHLC, 3 * k_BHLC

    def scores(self, q_BHJC: Tensor, k_BHIC: Tensor, *_: Any) -> Tensor:
        return 5 * q_BHJC @ k_BHIC.mT

    def bias(self, query_positions: Tensor, key_positions: Tensor, content: Any = None, **_: Any) -> Tensor | None:
        return self.answer

    def values(self, weights_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        return 7 * weights_BHJI[..., :1].expand(B, H, J, C)


@pytest.fixture
def mine() -> Any:
    torch.manual_seed(0)
    return guard(Mine(), "mine.py:Mine")


def random_tensor(*shape: int) -> Tensor:
    return torch.randn(*shape)


def full_content() -> Content:
    return Content(
        x_BLD=random_tensor(B, KEYS, D), layer=0, q_BHJC=random_tensor(B, H, J, C), k_BHIC=random_tensor(B, H, KEYS, C)
    )


def test_right_answers_pass_unchanged(mine):
    x, positions = random_tensor(B, L, D), torch.arange(L)
    assert torch.equal(mine.embed(x, positions), Mine().embed(x, positions))
    # As many queries as keys, and fewer.
    for queries in (L, J):
        q, k = random_tensor(B, H, queries, C), random_tensor(B, H, L, C)
        turned = mine.rotate(q, k, positions)
        assert torch.equal(turned[0], 2 * q) and torch.equal(turned[1], 3 * k)
        assert torch.equal(mine.scores(q, k, positions[-queries:], positions), 5 * q @ k.mT)
    weights = random_tensor(B, H, J, KEYS)
    values = mine.values(weights, positions[-J:], positions, full_content())
    assert torch.equal(values, Mine().values(weights, positions[-J:], positions, full_content()))


@pytest.mark.parametrize(
    "shape", [(H, J, KEYS), (1, J, KEYS), (B, H, J, KEYS), (1, H, J, KEYS), (B, 1, J, KEYS), (1, 1, J, KEYS)]
)
@pytest.mark.parametrize("given", [True, False])
def test_a_bias_may_be_one_for_all_heads_and_rows(mine, shape, given):
    mine.answer = random_tensor(*shape)
    positions = torch.arange(KEYS)
    assert mine.bias(positions[-J:], positions, full_content() if given else None) is mine.answer


@pytest.mark.parametrize(
    "shape", [(H, KEYS, J), (H + 1, J, KEYS), (B + 1, H, J, KEYS), (B, H + 1, J, KEYS), (H, B, J, KEYS), (J, KEYS)]
)
def test_a_bias_of_another_shape_is_refused(mine, shape):
    mine.answer = random_tensor(*shape)
    positions = torch.arange(KEYS)
    with pytest.raises(HookError, match=rf"it must return a bias \[H, {J}, {KEYS}\] of real numbers, not"):
        mine.bias(positions[-J:], positions, full_content())


def test_a_bias_may_be_none(mine):
    mine.answer = None
    assert mine.bias(torch.arange(J), torch.arange(KEYS), full_content()) is None


def test_hooks_that_are_not_the_users_own_are_left_alone():
    class Nothing(PositionEncoding):
        pass

    kind = type(guard(Nothing(), "mine.py:Nothing"))
    for hook in ("embed", "rotate", "scores", "bias", "values"):
        assert getattr(kind, hook) is getattr(PositionEncoding, hook)
