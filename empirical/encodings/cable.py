"""Cable: the bias is minus a distance that the tokens between the key and the query add up to.

Source: Cable, arXiv 2503.08067: its released code (`cable`) and the text of its third version.  Symbolic twin:
theory/encodings/cable.py.  The text gives no initial values; those of the released code are used for all.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.path_sums import PathBias, project, require_sizes


def _drawn_weight(*, layers: int, heads: int, width: int) -> nn.Parameter:
    """Weights [layers, H, D] from N(0, 0.02^2)."""
    require_sizes(width=width, heads=heads, layers=layers)
    return nn.Parameter(torch.empty(layers, heads, width).normal_(std=0.02))


class Cable(PathBias):
    """Minus the sum of softplus(w . x_l + b) over the tokens i < l <= j, with w and b of the layer and head.

    Parameters: w, float32 [layers, H, D], initially from N(0, 0.02^2), and b, float32 [layers, H], initially 0.
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameters; `width` is D.  Raises ValueError for a size below 1."""
        super().__init__()
        self.weight = _drawn_weight(layers=layers, heads=heads, width=width)
        self.offset = nn.Parameter(torch.zeros(layers, heads))

    def log_gates(self, content: Content) -> Tensor:
        """Steps with a minus, -softplus(w . x + b), at least float32: [B, H, L].  ValueError without x."""
        return F.logsigmoid(-project(content, self.weight[content.layer], self.offset[content.layer]))


class UngatedCable(PathBias):
    """Minus the sum of ReLU(w . x_l) over the tokens i < l <= j, with w of the layer and head.

    Parameter: w, float32 [layers, H, D], initially from N(0, 0.02^2).
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameter; `width` is D.  Raises ValueError for a size below 1."""
        super().__init__()
        self.weight = _drawn_weight(layers=layers, heads=heads, width=width)

    def log_gates(self, content: Content) -> Tensor:
        """Steps with a minus, -ReLU(w . x), at least float32: [B, H, L].  ValueError without x."""
        return -F.relu(project(content, self.weight[content.layer]))


class GatedCable(UngatedCable):
    """The sums of `UngatedCable` times softplus(v . x_j) of the query, with v of the layer and head.

    Parameters: w and v, float32 [layers, H, D], initially from N(0, 0.02^2).
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameters; `width` is D.  Raises ValueError for a size below 1."""
        super().__init__(width=width, heads=heads, layers=layers)
        self.gate_weight = _drawn_weight(layers=layers, heads=heads, width=width)

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [B, H, J, I], computed at least in float32 and rounded once more; for the queries see `PathBias.bias`.

        It is never below the least number of `dtype`.
        """
        content, wide = content or Content(), torch.promote_types(dtype, torch.float32)
        paths = super().bias(query_positions, key_positions, content, dtype=wide)
        gates_BHL = F.softplus(project(content, self.gate_weight[content.layer]))
        gates_BHJ = gates_BHL[..., paths.shape[-1] - paths.shape[-2] :].to(wide)
        return self.law(gates_BHJ[..., None], paths).clamp(min=torch.finfo(dtype).min).to(dtype)

    def law(self, gates: Tensor, paths: Tensor) -> Tensor:
        """Bias from the gates [B, H, J, 1] and the path sums [B, H, J, I], which are not positive."""
        return gates * paths


class LogarithmicCable(GatedCable):
    """-log(1 + D^2), D the sums of `GatedCable`; the law is that of keys after the query as well.

    Parameters: those of `GatedCable`.
    """

    def law(self, gates: Tensor, paths: Tensor) -> Tensor:
        """Bias from the gates [B, H, J, 1] and the path sums [B, H, J, I]; a large D^2 does not overflow."""
        queries, keys = paths.shape[-2:]
        both_sides = paths + F.pad(paths[..., keys - queries :].mT, (keys - queries, 0))
        distance = gates * both_sides
        return -2 * torch.hypot(torch.ones_like(distance), distance).log()


MODULES = {
    "cable": Cable,
    "cable-gated": GatedCable,
    "cable-nw": UngatedCable,
    "cable-log": LogarithmicCable,
}
