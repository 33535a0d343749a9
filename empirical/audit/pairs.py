"""Encodings that act on pairs: a bias of the logits, or a score that replaces the scalar product.

A bias is taken up to a constant of its row, which softmax does not see: b(j, i) - b(j, j).

Budgets. A logit of size 1 is itself rounded to within eps / 2, a bias that is rounded once to within eps |b| (one unit
in the last place): two biases that should be equal may differ by 2 eps (1 + |b|).
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from empirical.audit.subject import AuditError
from empirical.audit.use import U64, Refusal, Use

BLOCK = 32
"""Pairs (j, i), (j+1, i+1), ... that are asked for by one call, with all pairs among them."""


class PairUse(Use):
    """Of what takes positions of queries and of keys."""

    @abstractmethod
    def block(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Of the pairs (queries[p], keys[p]): [P, F]. May ask for other pairs among them."""

    def pairs(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Of any pairs (queries[p], keys[p]): [P, F], by one call for each run of a distance."""
        parts, start = [], 0
        for end in range(1, len(queries) + 1):
            running = (
                end < len(queries)
                and end - start < BLOCK
                and queries[end] == queries[end - 1] + 1
                and keys[end] == keys[end - 1] + 1
            )
            if not running:
                parts.append(self._run(queries[start:end], keys[start:end]))
                start = end
        return torch.cat(parts)

    def _run(self, queries: Tensor, keys: Tensor) -> Tensor:
        try:
            return self.block(queries, keys)
        except Refusal:  # of a pair that was not asked for, perhaps
            if len(queries) == 1:
                raise
            return torch.cat([self.block(queries[p : p + 1], keys[p : p + 1]) for p in range(len(queries))])

    def law(self, queries: Tensor, offsets: Tensor) -> Tensor:
        errors = []
        for offset in offsets:
            keys = queries - offset
            exists = keys >= 0
            error = torch.zeros(len(queries), dtype=torch.float64)
            if exists.any():
                origin = self.pairs(offset.clamp(min=0)[None], (-offset).clamp(min=0)[None])
                found = self.pairs(queries[exists], keys[exists])
                differing = torch.where(found == origin, 0, (found - origin).abs())
                error[exists] = differing.amax(1).nan_to_num(nan=torch.inf)
            errors.append(error)
        return torch.stack(errors)

    def position_reach(self, to: int) -> int:
        return self._reach(to, lambda position: self.pairs(torch.tensor([position]), torch.tensor([position])))

    def offset_reach(self, to: int) -> int:
        return self._reach(to, lambda offset: self.pairs(torch.tensor([offset]), torch.tensor([0])))

    @cached_property
    def rate(self) -> float:
        return float(self.pairs(torch.tensor([0, 1]), torch.tensor([0, 0])).diff(dim=0).abs().max())

    def _rows(self, row: Callable[[int], Tensor], length: int) -> Tensor:
        """[B, H, L, L] from its rows [B, H, 1, t + 1]."""
        rows = [row(t) for t in range(length)]
        return torch.cat([torch.nn.functional.pad(one, (0, length - one.shape[-1])) for one in rows], -2)


class BiasUse(PairUse):
    """Of (query_positions, key_positions, dtype) -> [H, J, I] or [B, H, J, I]."""

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """In the dtype of the logits that it is added to, as float64 [1 or B, H, J, I]."""
        answer = self.call(self.positions(query_positions), self.positions(key_positions), self.setting.dtype)
        ending = (query_positions.shape[-1], key_positions.shape[-1])
        if not isinstance(answer, Tensor) or answer.ndim not in (3, 4) or answer.shape[-2:] != ending:
            shape = list(answer.shape) if isinstance(answer, Tensor) else type(answer).__name__
            raise AuditError(f"{self.subject.name} must return a bias [H, {ending[0]}, {ending[1]}], not {shape}")
        values = answer.to(self.setting.dtype).double().cpu()
        return values if values.ndim == 4 else values[None]

    def block(self, queries: Tensor, keys: Tensor) -> Tensor:
        """[P, H], up to the constant of the row."""
        values = self.bias(queries, torch.cat([keys, queries]))[0]
        count = torch.arange(len(queries))
        return (values[:, count, count] - values[:, count, len(count) + count]).T + 0.0

    def code(self, positions: Tensor) -> Tensor:
        """The bias at each distance from key 0."""
        zeros = torch.zeros_like(positions)
        return torch.cat([self._run(*run) for run in zip(positions.split(BLOCK), zeros.split(BLOCK), strict=True)])

    def code_budget(self, code: Tensor, positions: Tensor, reference: Use) -> Tensor:
        """Both terms of b(j, 0) - b(j, j) within eps of their sizes."""
        assert isinstance(reference, BiasUse)
        own = max(float(reference.bias(one, one).abs().max()) for one in (positions[:1], positions[-1:]))
        return 2 * self.setting.eps * (1 + own + code.abs())

    def after(self, offsets: Tensor) -> Tensor:
        """The bias at each distance to a key after the query: [P, H]."""
        return self.pairs(torch.zeros_like(offsets), offsets)

    @property
    def magnitude(self) -> float:
        return 1.0

    def law_budget(self, queries: Tensor, offsets: Tensor, reference: Use) -> Tensor:
        assert isinstance(reference, BiasUse)
        size = torch.stack(
            [reference.pairs(one.clamp(min=0)[None], (-one).clamp(min=0)[None]).abs().max() for one in offsets]
        )
        return (2 * self.setting.eps * (1 + size))[:, None].expand(-1, len(queries))

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        return self.bias(positions, positions)

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        return self._rows(lambda t: self.bias(positions[t : t + 1], positions[: t + 1]), len(positions))

    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: Use) -> Tensor:
        return 2 * self.setting.eps * (1 + outcome.abs())


class ScoresUse(PairUse):
    """Of (q, k, query_positions, key_positions) -> [B, H, J, I]."""

    @property
    def vanishing_terms(self) -> int:
        return self.subject.head_dim

    def scores(self, q_BHJC: Tensor, k_BHIC: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """float64."""
        answer = self.call(q_BHJC, k_BHIC, self.positions(query_positions), self.positions(key_positions))
        shape = (*q_BHJC.shape[:3], k_BHIC.shape[2])
        if not isinstance(answer, Tensor) or answer.shape != shape:
            raise AuditError(f"{self.subject.name} must return scores of shape {list(shape)}")
        return answer.double().cpu()

    def _vectors(self, vectors_KC: Tensor, times: int) -> Tensor:
        """All, so many times over: [1, H, times * K, C]."""
        rows = vectors_KC.to(self.setting.dtype).to(self.device).repeat(times, 1)
        return rows.expand(1, self.subject.heads, -1, -1).contiguous()

    def block(self, queries: Tensor, keys: Tensor) -> Tensor:
        """[P, H C C]: of all pairs of unit vectors."""
        unit = self._vectors(torch.eye(self.subject.head_dim), 1)
        parts = []
        for query, key in zip(queries, keys, strict=True):
            at = [one.expand(self.subject.head_dim) for one in (query, key)]
            parts.append(self.scores(unit, unit, *at).flatten())
        return torch.stack(parts)

    def code(self, positions: Tensor) -> Tensor:
        """Of two vectors with themselves and each other, at each distance from key 0: [P, 4 H]."""
        width = self.subject.head_dim
        vectors = torch.stack([(torch.arange(width) < (width + 1) // 2), torch.arange(width) % 2 == 0]).double()
        parts = []
        for chunk in positions.split(1024):
            q, k = self._vectors(vectors, len(chunk)), self._vectors(vectors, 1)
            scores = self.scores(q, k, chunk.repeat_interleave(2), torch.zeros(2, dtype=torch.int64))
            parts.append(scores[0].unflatten(1, (-1, 2)).permute(1, 0, 2, 3).flatten(1))
        return torch.cat(parts) + 0.0

    def law_budget(self, queries: Tensor, offsets: Tensor, reference: Use) -> Tensor:
        """Of unit vectors that may be rotated first: as for rotations, and the score's own rounding, eps S, twice."""
        budget = reference.magnitude * (6 * self.setting.eps + 2 * U64 * reference.rate * queries)
        return budget.expand(len(offsets), -1)

    def code_budget(self, code: Tensor, positions: Tensor, reference: Use) -> Tensor:
        """A score of vectors of C / 2 ones."""
        return self._budget(self.subject.head_dim / 2, code, reference)

    def _budget(self, size: float | Tensor, score: Tensor, reference: Use) -> Tensor:
        """Of vectors whose lengths have the product `size`.

        Both may be rotated first, which makes 4 sqrt(2) eps S of that; a sum of C terms, taken at least in float32, and
        one rounding of the score follow.
        """
        wide = torch.finfo(torch.promote_types(self.setting.dtype, torch.float32)).eps
        terms = reference.magnitude * size * (4 * 2**0.5 * self.setting.eps + self.subject.head_dim * wide)
        return terms + 2 * self.setting.eps * (1 + score.abs())

    @cached_property
    def magnitude(self) -> float:
        """S: the largest score of unit vectors at small offsets from key 0."""
        offsets = torch.tensor([0, 1, 2, 7, 64])
        return max(1.0, float(self.pairs(offsets, torch.zeros_like(offsets)).abs().max()))

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        return self.scores(*tokens, positions, positions)

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        q, k = tokens

        def row(t: int) -> Tensor:
            seen = slice(0, t + 1)
            return self.scores(q[..., t : t + 1, :], k[..., seen, :], positions[t : t + 1], positions[seen])

        return self._rows(row, len(positions))

    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: Use) -> Tensor:
        q_norm, k_norm = (one.double().norm(dim=-1).cpu() for one in tokens)
        return 2 * self._budget(q_norm[..., :, None] * k_norm[..., None, :], outcome, reference)
