"""AdamW for M models at once: all parameters of a model are one row of a matrix, updated by one fused call."""

import torch
from torch import Tensor, nn

from empirical.runs.profile import Training


class ModelwiseAdamW:
    """AdamW (arXiv 1711.05101) with each model's gradient clipped to its own norm.

    The constructor turns the parameters of the module into views of one matrix, float [M, parameters of a model].
    """

    def __init__(self, module: nn.Module, settings: Training) -> None:
        """Gather the parameters of the module; each has the model axis first."""
        self.parameters = list(module.parameters())
        self.clip = settings.clip
        self.numbers = nn.Parameter(torch.cat([_rows(parameter.detach()) for parameter in self.parameters], dim=1))
        start = 0
        for parameter in self.parameters:
            columns = slice(start, start := start + parameter[0].numel())
            parameter.data = self.numbers.data[:, columns].view(parameter.shape)
        self.adamw = torch.optim.AdamW(
            [self.numbers], lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )

    def set_rate(self, rate: float) -> None:
        """Set the learning rate."""
        self.adamw.param_groups[0]["lr"] = rate

    def step(self, losses_M: Tensor) -> None:
        """Make one step down the gradient of each model's loss, [M]."""
        parts = torch.autograd.grad(losses_M.sum(), self.parameters, materialize_grads=True)
        gradient = torch.cat([_rows(part) for part in parts], dim=1)
        gradient *= (self.clip / (gradient.norm(dim=1, keepdim=True) + 1e-6)).clamp(max=1)
        self.numbers.grad = gradient
        self.adamw.step()

    def state(self) -> dict[str, Tensor]:
        """Tensors that a checkpoint needs besides the weights."""
        return dict(self.adamw.state[self.numbers])

    def load(self, state: dict[str, Tensor]) -> None:
        """Resume from a `state`."""
        current = self.adamw.state_dict()
        self.adamw.load_state_dict(current | {"state": {0: state} if state else {}})


def _rows(tensor: Tensor) -> Tensor:
    """Flatten [M, ...] to [M, parameters of a model]."""
    return tensor.reshape(len(tensor), -1)
