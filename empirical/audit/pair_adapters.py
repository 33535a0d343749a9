"""Adapters for encodings that act on pairs: a bias added to the logits, or a score that replaces q.k.

Under softmax a bias is compared up to a constant of its row: b(j, i) - b(j, j). A logit of size 1 is itself rounded to
within eps / 2, and a bias that is rounded once is within eps |b|: two equal biases may differ by 2 eps (1 + |b|).
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import OFFSETS, U64, Adapter, RefusedPosition, halves_and_evens
from lengthgen.empirical.audit.subject import AuditError

BLOCK = 32
"""Most pairs (j, i), (j+1, i+1), ... passed to one call, which also computes all pairs among them."""


def stacked(rows: Sequence[Tensor]) -> Tensor:
    """Square [B, H, L, L] of the rows [B, H, 1, t + 1] of its lower half."""
    return torch.cat([torch.nn.functional.pad(row, (0, len(rows) - row.shape[-1])) for row in rows], -2)


class PairAdapter(Adapter):
    """Adapter for a hook that takes positions of queries and of keys."""

    @abstractmethod
    def block(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Codes of the pairs (queries[p], keys[p]): float64 [P, F]. The call may compute other pairs among them too."""

    def pairs(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Codes of any pairs (queries[p], keys[p]): float64 [P, F]; one call for each run of equal offsets."""
        continues = ((queries.diff() == 1) & (keys.diff() == 1)).tolist()
        parts, start = [], 0
        for end in range(1, len(queries) + 1):
            if end == len(queries) or end - start == BLOCK or not continues[end - 1]:
                parts.append(self._run(queries[start:end], keys[start:end]))
                start = end
        return torch.cat(parts)

    def _run(self, queries: Tensor, keys: Tensor) -> Tensor:
        try:
            return self.block(queries, keys)
        except RefusedPosition:  # perhaps caused by another pair of the block: retry pair by pair
            if len(queries) == 1:
                raise
            return torch.cat([self.block(*pair) for pair in zip(queries.split(1), keys.split(1), strict=True)])

    def origin(self, offset: Tensor) -> Tensor:
        """Code of the first pair with an offset: float64 [1, F]."""
        return self.pairs(offset.clamp(min=0)[None], (-offset).clamp(min=0)[None])

    def law_errors(self, queries: Tensor, offsets: Tensor) -> Tensor:
        errors = []
        for offset in offsets:
            keys = queries - offset
            exists = keys >= 0
            error = torch.zeros(len(queries), dtype=torch.float64)
            if exists.any():
                origin, logits = self.origin(offset), self.pairs(queries[exists], keys[exists])
                differing = torch.where(logits == origin, 0, (logits - origin).abs())
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


class BiasAdapter(PairAdapter):
    """Adapter for (query_positions, key_positions, dtype) -> bias [H, J, I] or [B, H, J, I]."""

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Bias, rounded to the dtype of the logits that it is added to: float64 [1 or B, H, J, I]."""
        answer = self.call(query_positions, key_positions, self.setting.dtype)
        pairs = (query_positions.shape[-1], key_positions.shape[-1])
        rows = query_positions.shape[:-1].numel()
        shape = tuple(answer.shape) if isinstance(answer, Tensor) else ()
        if shape[-2:] not in (pairs, (1, pairs[1])) or not (
            (len(shape) == 4 and shape[0] == rows) or (len(shape) == 3 and rows == 1)
        ):
            wanted = f"[H, {pairs[0]}, {pairs[1]}]" if rows == 1 else f"[{rows}, H, {pairs[0]}, {pairs[1]}]"
            given = list(shape) or type(answer).__name__
            raise AuditError(f"{self.subject.name} must return a bias {wanted}, not {given}")
        values = answer.to(self.setting.dtype).double().cpu()
        return (values if values.ndim == 4 else values[None]).expand(-1, -1, *pairs)

    def block(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Bias of each pair, under softmax minus that of the query with itself: float64 [P, H]."""
        values = self.bias(queries, torch.cat([keys, queries]))[0]
        own = values.diagonal(len(queries), 1, 2) if self.subject.by_softmax else 0.0
        return (values.diagonal(0, 1, 2) - own).T + 0.0

    def code(self, positions: Tensor) -> Tensor:
        """Bias at each distance from key 0."""
        return self._in_blocks(positions, torch.zeros_like(positions))

    def _in_blocks(self, queries: Tensor, keys: Tensor) -> Tensor:
        return torch.cat([self._run(*run) for run in zip(queries.split(BLOCK), keys.split(BLOCK), strict=True)])

    def code_budget(self, code: Tensor, positions: Tensor, reference: Adapter) -> Tensor:
        """Rounding of both terms of b(j, 0) - b(j, j): each within eps of its size."""
        assert isinstance(reference, BiasAdapter)
        own = max(float(reference.bias(position, position).abs().max()) for position in (positions[:1], positions[-1:]))
        return 2 * self.setting.eps * (1 + own + code.abs())

    def after(self, offsets: Tensor) -> Tensor:
        """Bias at each distance to a key after the query: float64 [P, H]."""
        return self._in_blocks(torch.zeros_like(offsets), offsets)

    def law_budget(self, queries: Tensor, offsets: Tensor, reference: Adapter) -> Tensor:
        assert isinstance(reference, BiasAdapter)
        size = torch.stack([reference.origin(offset).abs().max() for offset in offsets])
        return (2 * self.setting.eps * (1 + size))[:, None].expand(-1, len(queries))

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        return self.bias(positions, positions)

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        return stacked([self.bias(positions[t : t + 1], positions[: t + 1]) for t in range(len(positions))])

    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: Adapter) -> Tensor:
        return 2 * self.setting.eps * (1 + outcome.abs())


class ScoresAdapter(PairAdapter):
    """Adapter for (q, k, query_positions, key_positions) -> scores [B, H, J, I]."""

    @property
    def vanishing_terms(self) -> int:
        return self.subject.head_dim

    def scores(self, q_BHJC: Tensor, k_BHIC: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Scores as float64 [B, H, J, I]."""
        answer = self.call(q_BHJC, k_BHIC, query_positions, key_positions)
        shape = (*q_BHJC.shape[:3], k_BHIC.shape[2])
        if not isinstance(answer, Tensor) or answer.shape != shape:
            raise AuditError(f"{self.subject.name} must return scores of shape {list(shape)}")
        return answer.double().cpu()

    def _vectors(self, vectors_KC: Tensor, times: int) -> Tensor:
        """Stack `times` copies of the vectors for every head: [1, H, times * K, C]."""
        rows = vectors_KC.to(self.setting.dtype).to(self.device).repeat(times, 1)
        return rows.expand(1, self.subject.heads, -1, -1).contiguous()

    def block(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Scores of all pairs of unit vectors: float64 [P, H C C]."""
        unit = self._vectors(torch.eye(self.subject.head_dim), 1)
        pairs = zip(
            *(positions[:, None].expand(-1, self.subject.head_dim) for positions in (queries, keys)), strict=True
        )
        return torch.stack([self.scores(unit, unit, *pair).flatten() for pair in pairs])

    def code(self, positions: Tensor) -> Tensor:
        """Scores of two vectors with themselves and each other, at each distance from key 0: float64 [P, 4 H]."""
        vectors, parts = halves_and_evens(self.subject.head_dim), []
        for chunk in positions.split(1024):
            q, k = self._vectors(vectors, len(chunk)), self._vectors(vectors, 1)
            scores = self.scores(q, k, chunk.repeat_interleave(2), torch.zeros(2, dtype=torch.int64))
            parts.append(scores[0].unflatten(1, (-1, 2)).permute(1, 0, 2, 3).flatten(1))
        return torch.cat(parts) + 0.0

    def law_budget(self, queries: Tensor, offsets: Tensor, reference: Adapter) -> Tensor:
        """Budget for unit vectors, perhaps rotated first: that of a rotation plus twice the rounding eps S."""
        budget = reference.magnitude * (6 * self.setting.eps + 2 * U64 * reference.rate * queries)
        return budget.expand(len(offsets), -1)

    def code_budget(self, code: Tensor, positions: Tensor, reference: Adapter) -> Tensor:
        """Budget of a score of vectors with C / 2 ones."""
        return self._budget(self.subject.head_dim / 2, code, reference)

    def _budget(self, size: float | Tensor, score: Tensor, reference: Adapter) -> Tensor:
        """Budget of scores of vectors whose lengths have the product `size`.

        Both vectors may be rotated first, which adds 4 sqrt(2) eps S of that product. A sum of C terms, taken at least
        in float32, and one rounding of the score follow.
        """
        wide_eps = torch.finfo(torch.promote_types(self.setting.dtype, torch.float32)).eps
        terms = reference.magnitude * size * (4 * 2**0.5 * self.setting.eps + self.subject.head_dim * wide_eps)
        return terms + 2 * self.setting.eps * (1 + score.abs())

    @cached_property
    def magnitude(self) -> float:
        """S: the largest score of unit vectors at small offsets from key 0."""
        offsets = torch.tensor(OFFSETS[:-1])
        return max(1.0, float(self.pairs(offsets, torch.zeros_like(offsets)).abs().max()))

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        return self.scores(*tokens, positions, positions)

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        q, k = tokens
        return stacked(
            [
                self.scores(q[..., t : t + 1, :], k[..., : t + 1, :], positions[t : t + 1], positions[: t + 1])
                for t in range(len(positions))
            ]
        )

    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: Adapter) -> Tensor:
        q_norm, k_norm = (vectors.double().norm(dim=-1).cpu() for vectors in tokens)
        return 2 * self._budget(q_norm[..., :, None] * k_norm[..., None, :], outcome, reference)
