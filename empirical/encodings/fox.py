"""FoX: the bias of a key is the sum of the log forget gates of the tokens after it, up to the query.

Source: Lin et al., Forgetting Transformer, arXiv 2503.02130, and its released code.  Symbolic twin:
theory/encodings/fox.py.  The code's gate types "full", "bias_only" and "fixed" are three classes here; "none" is NoPE.
"""

import math

import sympy as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.empirical.encodings.path_sums import PathBias, project, require_sizes
from lengthgen.theory.encodings import fox


class FoX(PathBias):
    """D_ij = sum of log sigma(w . x_l + b) over the tokens i < l <= j, with w and b of the layer and head.  [P]

    Parameters: w, float32 [layers, H, D], and b, float32 [layers, H].
    """

    def __init__(self, *, width: int, heads: int, layers: int) -> None:
        """Draw the parameters; `width` is D.  Initial values as in the released code: w from N(0, 0.02^2), b = 0.

        Raises:
            ValueError: a size is below 1.
        """
        super().__init__()
        require_sizes(width=width, heads=heads, layers=layers)
        self.weight = nn.Parameter(torch.empty(layers, heads, width).normal_(std=0.02))
        self.offset = nn.Parameter(torch.zeros(layers, heads))

    def log_gates(self, content: Content) -> Tensor:
        """Logarithms of the forget gates f, at least float32 even under autocast: [B, H, L].

        Raises:
            ValueError: the content has no x.
        """
        return F.logsigmoid(project(content, self.weight[content.layer], self.offset[content.layer]))


class ConstantGates(PositionEncoding):
    """D_ij = (p_j - p_i) log f_h, 0 for a key after the query: gates that read no data are one slope per head."""

    def __init__(self, *, heads: int) -> None:
        """Set the number of heads; `heads` is H, at least 1."""
        super().__init__()
        require_sizes(heads=heads)
        self.heads = heads

    def log_gates(self, layer: int) -> Tensor:
        """Logarithms of the gates: float64 [H]."""
        raise NotImplementedError

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [H, J, I], or [B, H, J, I] if positions have a batch axis.

        It is rounded three times and never below the least number.
        """
        require_integers(query_positions)
        require_integers(key_positions)
        distance = query_positions[..., None, :, None] - key_positions[..., None, None, :]
        wide = torch.promote_types(dtype, torch.float32)
        gates = self.log_gates((content or Content()).layer).to(distance.device, wide)
        bias = gates[:, None, None] * distance.clamp(min=0)
        return bias if dtype == wide else bias.clamp(min=torch.finfo(dtype).min).to(dtype)


class BiasOnlyFoX(ConstantGates):
    """Constant gates f = sigma(b).  Parameter: b, float32 [layers, H], initially 0.  [P, code: bias_only]"""

    def __init__(self, *, heads: int, layers: int) -> None:
        """Allocate b; `layers` is the number of layers, at least 1."""
        super().__init__(heads=heads)
        require_sizes(layers=layers)
        self.logits = nn.Parameter(torch.zeros(layers, heads))

    def log_gates(self, layer: int) -> Tensor:
        """log sigma(b): float64 [H]."""
        return F.logsigmoid(self.logits[layer].double())


class FixedFoX(ConstantGates):
    """Constant gates f = e^(-1/T), T of the heads in equal steps of log T; no parameters.  [P, code: fixed]"""

    def __init__(self, *, heads: int, shortest: float = 2.0, longest: float = 2048.0) -> None:
        """Set the timescales T, from `shortest` to `longest` tokens; the code prints no defaults, these are ours.

        Raises:
            ValueError: heads is below 1, or not 0 < shortest <= longest < infinity.
        """
        super().__init__(heads=heads)
        if not (0 < shortest <= longest < math.inf):
            raise ValueError(f"timescales must be 0 < shortest <= longest < inf, not {shortest} and {longest}")
        ends = {"shortest": sp.Rational(shortest), "longest": sp.Rational(longest)}
        self.timescales = tuple(float(timescale) for timescale in fox.timescales(heads, **ends))

    def log_gates(self, layer: int) -> Tensor:
        """-1/T: float64 [H]."""
        return -1 / torch.tensor(self.timescales, dtype=torch.float64)


MODULES = {"fox": FoX, "fox-bias-only": BiasOnlyFoX, "fox-fixed": FixedFoX}
