"""Measures of the audit against their definitions, on subjects whose heads, sides and positions differ."""

from collections.abc import Callable
from itertools import pairwise
from math import inf, nan
from random import Random
from typing import Any

import networkx as nx
import pytest
import torch
from torch import Tensor

from lengthgen.empirical.audit import independence, position_codes, relative_law
from lengthgen.empirical.audit.adapter import OFFSETS, Setting, windows
from lengthgen.empirical.audit.diagnosis import SettingMeasures, findings
from lengthgen.empirical.audit.independence import Agreement
from lengthgen.empirical.audit.loading import _logits, load, subjects
from lengthgen.empirical.audit.pair_adapters import BiasAdapter, ScoresAdapter
from lengthgen.empirical.audit.rotation import RotateAdapter
from lengthgen.empirical.audit.subject import Kind, Subject
from lengthgen.empirical.audit.token_adapters import EmbedAdapter, adapter_for
from lengthgen.empirical.encodings.base import PositionEncoding
from tests.empirical.audit.test_report import EXAMPLES, SMALL

WIDE, NARROW = Setting(dtype=torch.float64), Setting(dtype=torch.float32)


def subject(kind: Kind, build: Callable[[], Any], *claims: str, heads: int = 3, head_dim: int = 8) -> Subject:
    return Subject(
        name="made up", kind=kind, build=build, bind=lambda instance: instance, parameters={}, other=None,
        claims=frozenset(claims), heads=heads, head_dim=head_dim,
    )  # fmt: skip


def bias(of_pair: Callable[..., Tensor], *claims: str, setting: Setting = WIDE) -> BiasAdapter:
    """Adapter of a bias module; `of_pair` maps (query, key, dtype) to [H, J, I] from positions that broadcast."""

    def law_of(queries: Tensor, keys: Tensor, dtype: torch.dtype) -> Tensor:
        return of_pair(queries[:, None], keys[None, :], dtype)

    adapter = adapter_for(subject(Kind.BIAS, lambda: law_of, *claims), setting)
    assert isinstance(adapter, BiasAdapter)
    return adapter


def test_the_error_of_the_law_is_that_of_the_worst_head_on_both_sides() -> None:
    """Heads are wrong by 1, by 1/1000 and not at all, and at positions of their own."""
    draw = torch.rand(3, 12, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    table = draw * torch.tensor([1e-3, 1.0, 0.0])[:, None, None]
    table[0, 5:] += 2 * torch.arange(12.0)

    def of_pair(query: Tensor, key: Tensor, dtype: torch.dtype) -> Tensor:
        return table[:, query, key]

    offsets = torch.tensor([0, 1, 4, -2, -3])
    errors = bias(of_pair).law_errors(torch.arange(9), offsets)
    relative = table - table.diagonal(dim1=1, dim2=2)[..., None]
    for row, offset in enumerate(offsets.tolist()):
        for query in range(9):
            here = relative[:, query, max(query - offset, 0)]
            origin = relative[:, max(offset, 0), max(-offset, 0)]
            expected = float((here - origin).abs().max()) if query >= offset else 0
            assert float(errors[row, query]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reach", "after"),
    [(1, []), (2, [1]), (15, [1, 2, 7]), (127, [1, 2, 7]), (128, [1, 2, 7, 64]), (1999, [1, 2, 7, 64])],
)
def test_keys_after_the_query_are_measured_up_to_half_of_the_positions(reach: int, after: list[int]) -> None:
    requested = set()

    def of_pair(query: Tensor, key: Tensor, dtype: torch.dtype) -> Tensor:
        requested.update([int(query.max()), int(key.max())])
        return (key - query)[None].expand(3, -1, -1).to(dtype)

    for claims, negative in (((), []), (("bidirectional",), after)):
        sound = bias(of_pair, *claims)
        measured = relative_law.measure(sound, sound, position_reach=reach, offset_reach=reach, budget=None)
        assert measured.offsets.tolist() == [n for n in OFFSETS if n <= reach] + [-n for n in negative]
        assert int(measured.positions.max()) == reach - max(negative, default=0)
        assert measured.first is None
    assert max(requested) == reach


def test_a_law_that_fails_only_after_the_query_is_found_there_if_that_is_claimed() -> None:
    def of_pair(query: Tensor, key: Tensor, dtype: torch.dtype) -> Tensor:
        apart = (query - key).to(dtype)
        return torch.where(apart < 0, apart * (query > 40), -apart)[None].expand(3, -1, -1)

    for claims, first in (((), None), (("bidirectional",), 41)):
        broken = bias(of_pair, *claims)
        beyond = relative_law.measure(broken, broken, position_reach=500, offset_reach=500, budget=None).first
        assert (beyond and (beyond.position, beyond.offset < 0)) == (first and (first, True))


def test_near_and_far_are_the_positions_that_they_are_called() -> None:
    """Its codes depend on the last position of a call from 512 on: near ones only by a far row beside them."""
    [growing] = load(f"{EXAMPLES}:base_grows_with_length", **SMALL)
    answers, refusal = independence.measure_patterns(adapter_for(growing, WIDE), adapter_for(growing, WIDE), 5000)
    assert refusal is None
    assert len(answers) == 10
    differing = {way for way, answer in answers.items() if answer.first_beyond is not None}
    assert differing == {"token by token, far", "a row with positions of its own, near"}


@pytest.mark.parametrize("seed", range(30))
def test_a_difference_is_judged_where_it_is_largest_beside_its_tolerance(seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    shape, positions = (1, 3, 6, 6), torch.tensor([0, 2, 3, 9, 40, 500])
    difference = torch.randn(shape, generator=draw, dtype=torch.float64) * 10.0 ** -torch.arange(6)
    tolerance = torch.rand(shape, generator=draw, dtype=torch.float64) * 10.0 ** -torch.arange(6).flip(0)[:, None]
    tolerance *= torch.rand(shape, generator=draw) > 0.1 * (seed % 2)
    tolerance *= 10.0 ** (2 * (seed % 5))
    judged = independence._agreement(difference, tolerance, positions)
    flat = list(zip(difference.abs().flatten().tolist(), tolerance.flatten().tolist(), strict=True))
    beyond = ((difference.abs() > tolerance).nonzero()[:, 2]).tolist()
    assert judged.difference == max(size for size, _ in flat)
    assert judged.tolerance == max(flat, key=lambda pair: pair[0] / pair[1] if pair[1] else pair[0])[1]
    assert judged.first_beyond == (int(positions[min(beyond)]) if beyond else None)


def test_a_code_that_is_no_number_differs_without_bound() -> None:
    difference = torch.zeros(1, 2, 3, 3, dtype=torch.float64)
    difference[0, 1, 2, 0] = torch.nan
    assert independence._agreement(difference, torch.ones(1, 2, 3, 3), torch.tensor([0, 5, 6])) == Agreement(
        difference=inf, tolerance=1.0, first_beyond=6
    )


@pytest.mark.parametrize("wrong", [[37, 38, 90, 1500, 5999], [1500, 10_500], [4095], [10_001, 10_005, 19_900], []])
@pytest.mark.parametrize("error", [0.5, inf, nan])
def test_the_first_code_that_is_wrong_is_the_first_of_all_windows(wrong: list[int], error: float) -> None:
    def of_pair(query: Tensor, key: Tensor, dtype: torch.dtype) -> Tensor:
        apart = query - key
        is_wrong = torch.isin(apart, torch.tensor(wrong)) & (dtype != torch.float64)
        return torch.stack([-apart / 64, -apart / 32 + torch.where(is_wrong, error, 0.0), -apart / 16]).to(dtype)

    measured = position_codes.measure(bias(of_pair, setting=NARROW), bias(of_pair), 20_000)
    assert measured.first_beyond == min(wrong, default=None)
    assert measured.not_finite_from == (None if error == 0.5 else min(wrong, default=None))


@pytest.mark.parametrize("first", [1, 37, 4095, 4096, 7_000, 10_001, 19_999, 20_000])
def test_the_first_position_without_a_finite_code_is_found(first: int) -> None:
    def of_pair(query: Tensor, key: Tensor, dtype: torch.dtype) -> Tensor:
        apart = (query - key).to(dtype)
        return torch.stack([-apart, -apart, torch.where(apart < first, -apart, -inf)])

    assert position_codes.measure(bias(of_pair), bias(of_pair), 20_000).not_finite_from == first


@pytest.mark.parametrize("reach", [2, 3, 50, 300])
def test_a_table_is_clamped_from_the_first_position_that_has_the_last_code(reach: int) -> None:
    for end in {0, 1, 2, 7, reach // 2, reach - 1, reach, reach + 5}:

        def of_pair(query: Tensor, key: Tensor, dtype: torch.dtype, end: int = end) -> Tensor:
            apart = (query - key).to(dtype)
            return torch.stack([-apart.clamp(max=0), -apart.clamp(max=end), -apart.clamp(max=min(end, 1))])

        expected = end if end < reach else None
        assert position_codes.measure(bias(of_pair), bias(of_pair), reach).clamped_from == expected, end


class KeepsTheLongest:
    """Dynamic scaling as it is often written: the scale of the longest call stays until a short call resets it."""

    def __init__(self) -> None:
        self.length = 64

    def __call__(self, queries: Tensor, keys: Tensor, dtype: torch.dtype) -> Tensor:
        length = int(queries.max()) + 1
        self.length = max(self.length, length) if length > 64 else 64
        return ((keys[None, :] - queries[:, None]) / self.length)[None].expand(3, -1, -1).to(dtype)


def test_sequences_that_become_shorter_step_by_step_find_what_is_kept() -> None:
    measured = independence.measure(subject(Kind.BIAS, KeepsTheLongest), 5000)
    assert measured.unchanged_by_length is False
    assert measured.unchanged_by_dtype is True


@pytest.mark.parametrize("seed", range(40))
def test_planes_are_the_coordinates_that_mix_in_some_head_at_some_position(seed: int) -> None:
    """Each mixing stands in one entry of one map: of queries or keys, of one head, at one position."""
    draw = Random(seed)
    width, at = 8, {1: 0, 3: 1, 17: 2}
    maps = torch.eye(width).repeat(2, 3, len(at), 1, 1)
    order = draw.sample(range(width), width)
    edges = list(pairwise(order)) if seed % 4 == 0 else []
    edges += [draw.sample(range(width), 2) for _ in range(0 if edges else draw.randint(1, 6))]
    for into, out_of in edges:
        maps[draw.randrange(2), draw.randrange(3), draw.randrange(3), into, out_of] = draw.choice([-2.0, 0.5])

    def rotate(q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        index = [at[int(position)] for position in positions]
        q_maps, k_maps = maps[:, :, index].to(q.dtype)
        return (q_maps @ q[..., None])[..., 0], (k_maps @ k[..., None])[..., 0]

    mixing = adapter_for(subject(Kind.ROTATE, lambda: rotate), WIDE)
    assert isinstance(mixing, RotateAdapter)
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(width))
    planes = [tuple(member for member in row if member >= 0) for row in mixing.planes.tolist()]
    assert planes == sorted(tuple(sorted(group)) for group in nx.connected_components(graph))


CODES = {"windows": [], "repetition": None, "clamped_from": None, "rounded_to": None, "first_beyond": None}
UNDISTURBED = independence.Independence(
    other=None, unchanged_by_other=None, other_differs=None, unchanged_by_length=True, unchanged_by_dtype=True,
    unchanged_by_moves=True, repeats_start=False,
)  # fmt: skip


@pytest.mark.parametrize(
    ("differing", "overflow", "first"),
    [
        ([(0.5, 7), (0.5, 5), (0.0, None)], None, 5),
        ([(0.5, 5), (inf, 3), (0.5, 9)], None, 3),
        ([(0.5, 5), (inf, 3), (0.5, 9)], 1000, 5),
        ([(inf, 3), (inf, 4), (0.0, None)], 1000, None),
        ([(inf, 3), (inf, 4), (0.0, None)], None, 3),
        ([(0.0, None)] * 3, None, None),
    ],
)
def test_padding_is_found_at_the_first_position_of_any_way_but_for_what_an_overflow_explains(
    differing: list[tuple[float, int | None]], overflow: int | None, first: int | None
) -> None:
    ways = ("left padded, near", "left padded, far", "right padded, far")
    answers = {
        way: Agreement(difference=difference, tolerance=0.1, first_beyond=beyond)
        for way, (difference, beyond) in zip(ways, differing, strict=True)
    }
    measured = SettingMeasures(
        law=None, codes=position_codes.Codes(**CODES, not_finite_from=overflow), agreement=answers
    )
    defects = findings(subject(Kind.BIAS, lambda: None), {"float64": measured}, UNDISTURBED, None, None, False)
    first_by_text = {defect.says: defect.first for defect in defects}
    assert first_by_text.get("padding changes what real tokens get") == (None if first is None else {"float64": first})


def test_logits_of_a_whole_sequence_are_scaled_products_plus_the_bias() -> None:
    class Apart(PositionEncoding):
        def bias(self, query_positions: Tensor, key_positions: Tensor, content: Any = None, **_: Any) -> Tensor:
            return (3.0 * query_positions[:, None] - key_positions)[None, None]

    q, k = torch.randn(2, 1, 2, 5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    positions = torch.tensor([0, 2, 3, 7, 9])
    logits = _logits(Apart())(q, k, torch.zeros(1, 5, 8), positions, torch.float64)
    products = torch.einsum("bhjc,bhic->bhji", q, k) / 2
    assert torch.allclose(logits, products + 3 * positions[:, None] - positions)
    assert torch.allclose(_logits(PositionEncoding())(q, k, torch.zeros(1, 5, 8), positions, torch.float64), products)


def weighted(q: Tensor, k: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Scores (1 + j + 10 i) q.k of query j and key i."""
    weights = 1 + query_positions[..., :, None] + 10 * key_positions[..., None, :]
    return (q @ k.transpose(-1, -2)) * weights


def scores_adapter(head_dim: int, setting: Setting = WIDE) -> ScoresAdapter:
    adapter = adapter_for(subject(Kind.SCORES, lambda: weighted, head_dim=head_dim), setting)
    assert isinstance(adapter, ScoresAdapter)
    return adapter


def test_a_block_holds_the_scores_of_each_query_with_its_own_key() -> None:
    blocks = scores_adapter(2).block(torch.tensor([5, 7]), torch.tensor([1, 0]))
    assert blocks.unflatten(1, (3, 2, 2))[:, 1].tolist() == [[[16, 0], [0, 16]], [[8, 0], [0, 8]]]


@pytest.mark.parametrize("head_dim", [2, 8])
def test_the_budget_of_a_code_is_that_of_vectors_with_half_of_the_entries(head_dim: int) -> None:
    adapter, reference = scores_adapter(head_dim, NARROW), scores_adapter(head_dim)
    code = torch.tensor([[0.0, 4.0]])
    eps = 2.0**-23
    products = reference.magnitude * head_dim / 2 * (4 * 2**0.5 + head_dim) * eps
    expected = products + 2 * eps * (1 + code)
    assert torch.allclose(adapter.code_budget(code, torch.tensor([0]), reference), expected, rtol=1e-12)
    assert reference.magnitude == 65, "of offset 64 from key 0"


def test_an_embedding_may_round_the_row_and_the_sum() -> None:
    def added(x: Tensor, positions: Tensor) -> Tensor:
        return x + positions[:, None]

    adapter = adapter_for(subject(Kind.EMBED, lambda: added), NARROW)
    assert isinstance(adapter, EmbedAdapter)
    tokens = (torch.full((1, 3, 2, 8), -2.0), torch.zeros(1, 3, 2, 8))
    outcome = adapter.outcome(tokens, torch.tensor([0, 10]))
    expected = 2 * 2.0**-23 * torch.tensor([2.0, 12.0], dtype=torch.float64)
    assert torch.equal(adapter.tolerance(tokens, outcome, adapter), expected[None, :, None].expand(1, 2, 24))


def test_the_worst_of_a_decade_is_reported_wherever_it_is() -> None:
    errors = torch.tensor([[1.0, 5.0, 2.0, 0.5, 9.0, 3.0]], dtype=torch.float64)
    answer = relative_law.RelativeLawErrors(
        positions=torch.tensor([1, 2, 3, 10, 20, 99]), offsets=torch.tensor([0]), errors=errors,
        budgets=torch.ones_like(errors), rounding=errors, dtype=torch.float64, first=None, exact=True, rate=0.0,
        magnitude=1.0,
    ).as_json()  # fmt: skip
    assert {name: worst["error"] for name, worst in answer["decades"].items()} == {"0-9": 5.0, "10-99": 9.0}


@pytest.mark.parametrize("reach", [10**4, 10**7, 10**9 + 3])
def test_windows_begin_further_and_further_away(reach: int) -> None:
    starts = [int(window[0]) for window in windows(reach)[1:]]
    assert starts == sorted(set(starts))
    assert starts[0] == 0
    assert int(windows(reach)[-1][-1]) == reach


@pytest.mark.parametrize(("reach", "tried"), [(1022, False), (1023, True)])
def test_a_sequence_may_be_as_long_as_the_reach_admits(reach: int, tried: bool) -> None:
    firsts = []

    def zero(queries: Tensor, keys: Tensor, dtype: torch.dtype) -> Tensor:
        firsts.append(int(queries[0]))
        return torch.zeros(3, len(queries), len(keys), dtype=dtype)

    independence.measure(subject(Kind.BIAS, lambda: zero), reach)
    assert (1024 - independence.SHORT in firsts) == tried
    assert 0 in firsts


def test_a_width_is_that_of_all_heads_together() -> None:
    class Wide(PositionEncoding):
        def __init__(self, width: int, heads: int, head_dim: int) -> None:
            super().__init__()

        def rotate(self, q: Tensor, k: Tensor, positions: Tensor, content: Any = None) -> tuple[Tensor, Tensor]:
            return q, k

    [wide] = subjects(Wide, name="wide", heads=3, head_dim=8)
    assert wide.parameters == {"width": 24, "heads": 3, "head_dim": 8}
