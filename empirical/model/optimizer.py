"""AdamW for M models at once: all parameters of a model are one row of a matrix, updated by one fused call."""

import math

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw


class ModelwiseAdamW:
    """AdamW (arXiv 1711.05101) with each model's gradient clipped to its own norm.

    The constructor turns the parameters of the module into views of one matrix, float [M, parameters of a model].
    """

    def __init__(self, module: nn.Module, *, rate: float, weight_decay: float, clip: float = math.inf) -> None:
        """Gather the parameters of the module; each has the model axis first.

        Args:
            module: module of M models.
            rate: learning rate, which may change from step to step.
            weight_decay: that of AdamW.
            clip: largest norm of a model's gradient.
        """
        self.module, self.clip, self.weight_decay, self.rate = module, clip, weight_decay, rate
        self.numbers = torch.cat([_rows(parameter.detach()) for parameter in module.parameters()], dim=1)
        self.parameters = hold(module, self.numbers)
        self.moments = {
            "step": torch.zeros((), device=self.numbers.device),
            "exp_avg": torch.zeros_like(self.numbers),
            "exp_avg_sq": torch.zeros_like(self.numbers),
        }

    def step(self, losses_M: Tensor) -> None:
        """Make one step down the gradient of each model's loss, [M]."""
        parts = torch.autograd.grad(losses_M.sum(), self.parameters, materialize_grads=True)
        gradient = torch.cat([_rows(part) for part in parts], dim=1)
        gradient *= (self.clip / (gradient.norm(dim=1, keepdim=True) + 1e-6)).clamp(max=1)
        # The function, not the class `AdamW`, whose first step imports PyTorch's compiler for most of a second.
        adamw(
            [self.numbers],
            [gradient],
            [self.moments["exp_avg"]],
            [self.moments["exp_avg_sq"]],
            [],
            [self.moments["step"]],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.rate,
            weight_decay=self.weight_decay,
            eps=1e-8,
            maximize=False,
        )

    def state(self) -> dict[str, Tensor]:
        """Tensors that a checkpoint needs besides the weights."""
        return dict(self.moments)

    def load(self, state: dict[str, Tensor]) -> None:
        """Resume from a `state`; tensors are copied to the device of the parameters."""
        for name, moment in self.moments.items():
            moment.copy_(state[name])


def _rows(tensor: Tensor) -> Tensor:
    """Flatten [M, ...] to [M, parameters of a model]."""
    return tensor.reshape(len(tensor), -1)


def hold(module: nn.Module, numbers_MP: Tensor) -> list[nn.Parameter]:
    """Give a module new parameters, those of M models: views of the rows of one matrix, float [M, P].

    They are new, because PyTorch keeps the shape of a parameter as long as anything holds a loss that depends on it.
    """
    start, held = 0, []
    for name, parameter in list(module.named_parameters()):
        columns = slice(start, start := start + parameter[0].numel())
        owner, _, own_name = name.rpartition(".")
        held.append(nn.Parameter(numbers_MP[:, columns].view(len(numbers_MP), *parameter.shape[1:])))
        module.get_submodule(owner).register_parameter(own_name, held[-1])
    return held
