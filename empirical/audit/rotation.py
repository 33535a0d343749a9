"""Adapter for encodings that transform queries and keys: q -> Q(p) q, k -> K(p) k, linear maps of one head.

The matrices are read off exactly by unit vectors; coordinates that never mix (planes of a rotation) share a probe.

Budgets. A code that is rounded once has entries within eps |x| (one unit in the last place), and angles p w, computed
in float64, within u64 p w, where u64 = 2^-53. An entry of Q(j)' K(i) then errs by at most
2 eps sum|x y| + u64 w (i + j), where sum|x y| <= 1 for rotations. The relative law compares (j, j - D) with (D, 0):
4 eps S + 2 u64 w S j, where S is the largest sum|x y| at (D, 0) and w the largest |log eigenvalue| of one position
step, both measured in float64.
"""

from functools import cached_property

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import OFFSETS, U64, Adapter, halves_and_evens
from lengthgen.empirical.audit.subject import AuditError

OFFSETS_OF_MAGNITUDE = torch.tensor([0, 1, 2, 7, 64])
"""Small offsets at which S is measured."""
FAR = 1 << 18
"""Farthest position at which slow planes are read; angles in float32 err by 0.02 there, which is no whole turn."""


class RotateAdapter(Adapter):
    """Adapter for (q, k, positions) -> (q, k)."""

    def rotated(self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor) -> Tensor:
        """Transformed queries and keys: float64 [2, B, H, L, C]."""
        answer = self.call(q_BHLC, k_BHLC, positions)
        is_pair = isinstance(answer, tuple | list) and len(answer) == 2
        if not (is_pair and all(isinstance(part, Tensor) and part.shape == q_BHLC.shape for part in answer)):
            raise AuditError(f"{self.subject.name} must return (q, k) of shape {list(q_BHLC.shape)}")
        return torch.stack([part.double().cpu() for part in answer])

    def _probed(self, probes_KC: Tensor, positions: Tensor) -> Tensor:
        """The same probe vectors, transformed at every position: float64 [2, K, H, P, C]."""
        shape = (len(probes_KC), self.subject.heads, len(positions), self.subject.head_dim)
        probes = probes_KC.to(self.setting.dtype).to(self.device)[:, None, None, :].expand(shape).contiguous()
        return self.rotated(probes, probes.clone(), positions)

    @cached_property
    def planes(self) -> Tensor:
        """Groups of coordinates that mix with each other: int64 [N, K], filled up with -1."""
        width = self.subject.head_dim
        noise = getattr(self.function, "noise", 0.0)  # of maps that were solved for, not read
        reach = self.position_reach(getattr(self.function, "lever", 17))
        near = {min(position, reach) for position in (1, 3, 17, reach)}
        mixed = (self._probed(torch.eye(width), torch.tensor(sorted(near))).abs() > noise).any(0).any(1).any(1)
        linked = (mixed | mixed.T | torch.eye(width, dtype=torch.bool)).double()
        for _ in range(width.bit_length()):
            linked = ((linked @ linked) > 0).double()
        groups = {tuple(row.nonzero().flatten().tolist()) for row in linked}
        size = max(map(len, groups))
        return torch.tensor([[*group, *[-1] * (size - len(group))] for group in sorted(groups)])

    def maps(self, positions: Tensor) -> Tensor:
        """Matrices Q and K at each position, plane by plane: float64 [2, P, H, N, K, K], rows before columns."""
        planes = self.planes
        probes = torch.zeros(planes.shape[1], self.subject.head_dim)
        for column, members in enumerate(planes.T):
            probes[column, members[members >= 0]] = 1
        answer = self._probed(probes, positions)
        entries = answer[..., planes.clamp(min=0)] * (planes >= 0)
        return entries.permute(0, 3, 2, 4, 5, 1)

    def code(self, positions: Tensor) -> Tensor:
        """Two transformed vectors, one of which shows each plane's cosine and sine: float64 [P, 4 H C].

        This holds for both layouts of the planes.
        """
        return self._probed(halves_and_evens(self.subject.head_dim), positions).permute(3, 0, 1, 2, 4).flatten(1) + 0.0

    def code_budget(self, code: Tensor, positions: Tensor, reference: Adapter) -> Tensor:
        """Row's size times (3 eps + 2 u64 w p): c - s of entries that each err by eps, rounded; and the angle."""
        size = code.abs().amax(1, keepdim=True).clamp(min=1)
        return size * (3 * self.setting.eps + 2 * U64 * reference.rate * positions[:, None])

    def law_errors(self, queries: Tensor, offsets: Tensor) -> Tensor:
        per_query = len(offsets) * 2 * self.subject.heads * self.planes.shape[0] * self.planes.shape[1] ** 2
        chunks = queries.split(max(16, 2**23 // per_query))
        return torch.cat([self._law_errors_of_chunk(chunk, offsets) for chunk in chunks], 1)

    def _law_errors_of_chunk(self, queries: Tensor, offsets: Tensor) -> Tensor:
        """Errors for some queries: all positions are passed in one call, as within one sequence."""
        keys = queries - offsets[:, None]
        parts = [offsets.clamp(min=0), (-offsets).clamp(min=0), queries, keys.clamp(min=0).flatten()]
        distinct, index = torch.cat(parts).unique(return_inverse=True)
        q_of, k_of = self.maps(distinct)
        ends, starts, at_query, *from_keys = index.split(
            [len(offsets), len(offsets), *[len(queries)] * (len(offsets) + 1)]
        )
        origin = plane_products(q_of[ends], k_of[starts])
        q_turned = q_of[at_query]
        errors = []
        for row, from_row in enumerate(from_keys):
            error = (plane_products(q_turned, k_of[from_row]) - origin[row]).abs().flatten(1).amax(1)
            errors.append(torch.where(keys[row] < 0, 0.0, error.nan_to_num(nan=torch.inf)))
        return torch.stack(errors)

    def law_budget(self, queries: Tensor, offsets: Tensor, reference: Adapter) -> Tensor:
        budget = reference.magnitude * (4 * self.setting.eps + 2 * U64 * reference.rate * queries)
        return budget.expand(len(offsets), -1)

    @cached_property
    def magnitude(self) -> float:
        """S: the largest sum of |x y| in a logit of unit vectors at small offsets from key 0."""
        q_of, k_of = self.maps(torch.tensor(OFFSETS[:-1])).abs()
        return max(1.0, float(plane_products(q_of, k_of[:1].expand_as(q_of)).max()))

    @cached_property
    def step(self) -> Tensor:
        """Logarithms of the eigenvalues of one position step, 0 to 1: complex [H, N K].

        A rotated plane has +-i times its angle. Maps that are not finite, which the codes show, have NaN.
        """
        maps = self.maps(torch.tensor([0, 1]))[0]
        if maps.isfinite().all() and (turned := torch.linalg.pinv(maps[0]) @ maps[1]).isfinite().all():
            return torch.linalg.eigvals(turned).flatten(1).log()
        return torch.full_like(maps[0, ..., 0], torch.nan, dtype=torch.complex128).flatten(1)

    @property
    def rate(self) -> float:
        """w: the largest |log eigenvalue| of one position step; 0 if position 0 maps all to 0."""
        rates = self.step.abs()
        return float(torch.where(rates.isfinite(), rates, 0).max())

    @property
    def frequencies(self) -> Tensor:
        """Angles of the first head's rotating planes in one position step, float64."""
        angles = self.step[0].imag
        return angles[angles > 0]

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        q, k = self.rotated(*tokens, positions)
        return q @ k.transpose(-1, -2)

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        steps = zip(*(vectors.split(1, 2) for vectors in tokens), positions.split(1), strict=True)
        q_all, k_all = torch.cat([self.rotated(*step) for step in steps], -2)
        return q_all @ k_all.transpose(-1, -2)

    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: Adapter) -> Tensor:
        """8 sqrt(2) eps |q| |k|: the tolerance of two logits that are rounded in the same way.

        Table entries are within eps, and products and sums are rounded. So components are within 2 eps |plane|, vectors
        within 2 sqrt(2) eps of their lengths, and a logit within 4 sqrt(2) eps |q| |k|.
        """
        q_norm, k_norm = (vectors.double().norm(dim=-1).cpu() for vectors in tokens)
        return 8 * 2**0.5 * self.setting.eps * reference.magnitude * q_norm[..., :, None] * k_norm[..., None, :]


def plane_products(q_of: Tensor, k_of: Tensor) -> Tensor:
    """Products Q' K, plane by plane: [..., K, K]."""
    size = q_of.shape[-1]
    if size > 4:
        return q_of.transpose(-1, -2) @ k_of
    return sum((q_of[..., row, :, None] * k_of[..., row, None, :] for row in range(size)), q_of.new_zeros(()))
