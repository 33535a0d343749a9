"""A guarded encoding with valid hooks answers as if it were not guarded, for all shapes."""

from typing import Any

import pytest
import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.modules import HookError, guard

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


def content() -> Content:
    return Content(
        x_BLD=random_tensor(B, KEYS, D), layer=0, q_BHJC=random_tensor(B, H, J, C), k_BHIC=random_tensor(B, H, KEYS, C)
    )


def test_right_answers_pass_unchanged(mine: Any) -> None:
    x, positions = random_tensor(B, L, D), torch.arange(L)
    assert torch.equal(mine.embed(x, positions), Mine().embed(x, positions))
    # As many queries as keys, and fewer.
    for queries in (L, J):
        q, k = random_tensor(B, H, queries, C), random_tensor(B, H, L, C)
        turned = mine.rotate(q, k, positions)
        assert torch.equal(turned[0], 2 * q) and torch.equal(turned[1], 3 * k)
        assert torch.equal(mine.scores(q, k, positions[-queries:], positions), 5 * q @ k.mT)
    weights = random_tensor(B, H, J, KEYS)
    values = mine.values(weights, positions[-J:], positions, content())
    assert torch.equal(values, Mine().values(weights, positions[-J:], positions, content()))


@pytest.mark.parametrize(
    "shape", [(H, J, KEYS), (1, J, KEYS), (B, H, J, KEYS), (1, H, J, KEYS), (B, 1, J, KEYS), (1, 1, J, KEYS)]
)
@pytest.mark.parametrize("given", [True, False])
def test_a_bias_may_be_one_for_all_heads_and_rows(mine: Any, shape: tuple[int, ...], given: bool) -> None:
    mine.answer = random_tensor(*shape)
    positions = torch.arange(KEYS)
    assert mine.bias(positions[-J:], positions, content() if given else None) is mine.answer


@pytest.mark.parametrize(
    "shape", [(H, KEYS, J), (H + 1, J, KEYS), (B + 1, H, J, KEYS), (B, H + 1, J, KEYS), (H, B, J, KEYS), (J, KEYS)]
)
def test_a_bias_of_another_shape_is_refused(mine: Any, shape: tuple[int, ...]) -> None:
    mine.answer = random_tensor(*shape)
    positions = torch.arange(KEYS)
    with pytest.raises(HookError, match=rf"it must return a bias \[H, {J}, {KEYS}\] of real numbers, not"):
        mine.bias(positions[-J:], positions, content())


def test_a_bias_may_be_none(mine: Any) -> None:
    mine.answer = None
    assert mine.bias(torch.arange(J), torch.arange(KEYS), content()) is None


def test_hooks_that_are_not_the_users_own_are_left_alone() -> None:
    class Nothing(PositionEncoding):
        pass

    kind = type(guard(Nothing(), "mine.py:Nothing"))
    for hook in ("embed", "rotate", "scores", "bias", "values"):
        assert getattr(kind, hook) is getattr(PositionEncoding, hook)
