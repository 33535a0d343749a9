"""Encodings that act on queries and keys: q -> Q(p) q, k -> K(p) k, linear maps of the head.

The maps are read off exactly, by unit vectors; coordinates that never mix (planes of a rotation) are probed together.

Budgets. A code that is rounded once has entries within eps |x| (one unit in the last place), and angles p w, taken in
float64, within u64 p w, u64 = 2^-53. An entry of Q(j)' K(i) then errs by at most 2 eps sum|x y| + u64 w (i + j), where
sum|x y| <= 1 for rotations. The law compares (j, j - D) with (D, 0): 4 eps S + 2 u64 w S j, where S is the largest
sum|x y| at (D, 0) and w the largest |log eigenvalue| of one step, both measured in float64.
"""

from functools import cached_property

import torch
from torch import Tensor

from empirical.audit.subject import AuditError
from empirical.audit.use import U64, Use

OFFSETS_OF_MAGNITUDE = torch.tensor([0, 1, 2, 7, 64])


class RotateUse(Use):
    """Of (q, k, positions) -> (q, k)."""

    def rotated(self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor) -> Tensor:
        """Queries and keys, transformed: float64 [2, B, H, L, C]."""
        answer = self.call(q_BHLC, k_BHLC, self.positions(positions))
        if not (
            isinstance(answer, tuple | list)
            and len(answer) == 2
            and all(isinstance(one, Tensor) and one.shape == q_BHLC.shape for one in answer)
        ):
            raise AuditError(f"{self.subject.name} must return (q, k) of shape {list(q_BHLC.shape)}")
        return torch.stack([one.double().cpu() for one in answer])

    def _probed(self, probes_KC: Tensor, positions: Tensor) -> Tensor:
        """What becomes of the same vectors at every position: [2, K, H, P, C]."""
        shape = (len(probes_KC), self.subject.heads, len(positions), self.subject.head_dim)
        probes = probes_KC.to(self.setting.dtype).to(self.device)[:, None, None, :].expand(shape).contiguous()
        return self.rotated(probes, probes.clone(), positions)

    @cached_property
    def planes(self) -> Tensor:
        """Coordinates that mix: int64 [N, K], filled up with -1."""
        width = self.subject.head_dim
        mixed = (self._probed(torch.eye(width), torch.tensor([1, 3, 17])) != 0).any(0).any(1).any(1)
        linked = (mixed | mixed.T | torch.eye(width, dtype=torch.bool)).double()
        for _ in range(width.bit_length()):
            linked = ((linked @ linked) > 0).double()
        groups = {tuple(row.nonzero().flatten().tolist()) for row in linked}
        size = max(map(len, groups))
        return torch.tensor([[*group, *[-1] * (size - len(group))] for group in sorted(groups)])

    def maps(self, positions: Tensor) -> Tensor:
        """Q and K at each position, plane by plane: [2, P, H, N, K, K], rows before columns."""
        planes = self.planes
        probes = torch.zeros(planes.shape[1], self.subject.head_dim)
        for column, members in enumerate(planes.T):
            probes[column, members[members >= 0]] = 1
        answer = self._probed(probes, positions)
        entries = answer[..., planes.clamp(min=0)] * (planes >= 0)
        return entries.permute(0, 3, 2, 4, 5, 1)

    def code(self, positions: Tensor) -> Tensor:
        """Two vectors transformed, one of which shows each plane's cosine and sine, however planes are laid out."""
        width = self.subject.head_dim
        halves = (torch.arange(width) < (width + 1) // 2).double()
        evens = (torch.arange(width) % 2 == 0).double()
        answer = self._probed(torch.stack([halves, evens]), positions)
        return answer.permute(3, 0, 1, 2, 4).flatten(1) + 0.0

    def code_budget(self, code: Tensor, positions: Tensor, reference: Use) -> Tensor:
        """c - s of entries that each err by eps, rounded: at most 3 eps, and the angle's u64 p w, of the row's size."""
        size = code.abs().amax(1, keepdim=True).clamp(min=1)
        return size * (3 * self.setting.eps + 2 * U64 * reference.rate * positions[:, None])

    def law(self, queries: Tensor, offsets: Tensor) -> Tensor:
        per_query = len(offsets) * 2 * self.subject.heads * self.planes.shape[0] * self.planes.shape[1] ** 2
        chunks = queries.split(max(16, 2**23 // per_query))
        return torch.cat([self._law(chunk, offsets) for chunk in chunks], 1)

    def _law(self, queries: Tensor, offsets: Tensor) -> Tensor:
        """In one call, as within one sequence."""
        keys = queries - offsets[:, None]
        parts = [offsets.clamp(min=0), (-offsets).clamp(min=0), queries, keys.clamp(min=0).flatten()]
        asked, index = torch.cat(parts).unique(return_inverse=True)
        q_of, k_of = self.maps(asked)
        ends, starts, at, *from_keys = index.split([len(offsets), len(offsets), *[len(queries)] * (len(offsets) + 1)])
        origin = scalar_products(q_of[ends], k_of[starts])
        turned = q_of[at]
        errors = []
        for row, from_row in enumerate(from_keys):
            error = (scalar_products(turned, k_of[from_row]) - origin[row]).abs().flatten(1).amax(1)
            errors.append(torch.where(keys[row] < 0, 0.0, error.nan_to_num(nan=torch.inf)))
        return torch.stack(errors)

    def law_budget(self, queries: Tensor, offsets: Tensor, reference: Use) -> Tensor:
        budget = reference.magnitude * (4 * self.setting.eps + 2 * U64 * reference.rate * queries)
        return budget.expand(len(offsets), -1)

    @cached_property
    def magnitude(self) -> float:
        """S: the largest sum of |x y| in a logit of unit vectors at small offsets from key 0."""
        q_of, k_of = self.maps(OFFSETS_OF_MAGNITUDE).abs()
        return max(1.0, float(scalar_products(q_of, k_of[:1].expand_as(q_of)).max()))

    @cached_property
    def step(self) -> Tensor:
        """log of the eigenvalues by which position 1 differs from 0: complex [H, N K]; of a plane, +-i angle."""
        start, after = self.maps(torch.tensor([0, 1]))[0]
        return torch.linalg.eigvals(torch.linalg.pinv(start) @ after).flatten(1).log()

    @property
    def rate(self) -> float:
        """w: the largest |log eigenvalue|."""
        rates = self.step.abs()
        return float(rates[rates.isfinite()].max())

    @property
    def frequencies(self) -> Tensor:
        """The angles of the first head's planes that turn, float64."""
        angles = self.step[0].imag
        return angles[angles > 0]

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        q, k = self.rotated(*tokens, positions)
        return q @ k.transpose(-1, -2)

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        q, k = tokens
        steps = range(len(positions))
        arrived = [self.rotated(q[..., t : t + 1, :], k[..., t : t + 1, :], positions[t : t + 1]) for t in steps]
        q_all, k_all = torch.cat(arrived, -2)
        return q_all @ k_all.transpose(-1, -2)

    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: Use) -> Tensor:
        """8 sqrt(2) eps |q| |k|, of two logits that are rounded alike.

        Table entries are within eps, products and sums are rounded: components are within 2 eps |plane|, vectors within
        2 sqrt(2) eps of their lengths, a logit within 4 sqrt(2) eps |q| |k|.
        """
        q_norm, k_norm = (one.double().norm(dim=-1).cpu() for one in tokens)
        return 8 * 2**0.5 * self.setting.eps * reference.magnitude * q_norm[..., :, None] * k_norm[..., None, :]


def scalar_products(q_of: Tensor, k_of: Tensor) -> Tensor:
    """Q' K, plane by plane: [..., K, K]."""
    size = q_of.shape[-1]
    if size > 4:
        return q_of.transpose(-1, -2) @ k_of
    return sum((q_of[..., row, :, None] * k_of[..., row, None, :] for row in range(size)), q_of.new_zeros(()))
