"""PRISM: tokens carry histograms of positions, moved on by gates that a recurrent network computes from the tokens.

theory/encodings/prism.py, the symbolic twin, names the source and says what is reconstructed.  Besides, these are our
choices [F]: a GRU of width 32, its first values, and one stream that is added to the token embeddings; the paper's
mixture of content and position scores is left out.
Letters: P positions of a histogram, G width of the GRU.
"""

import math

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.absolute import Sinusoidal
from lengthgen.empirical.encodings.base import PositionEncoding, require_integers, require_width
from lengthgen.theory.encodings.prism import EXPONENTS, GATE_WIDTH, MOVES


class PRISM(PositionEncoding):
    """x_t + sum of h_t[k] PE(k) over the positions k < P, with sinusoidal codes PE and the histogram h_t of token t.

    n_t mixes h_(t-1) moved to position 0, up, down, and not at all, by the gates softmax(V g_t + c) of a GRU with
    state g_t over the token embeddings; moves end at 0 and P - 1, so that counts saturate at P - 1.  h_t is n_t^gamma,
    divided by its sum, with gamma = 1 + softplus(r) > 1; without sharpening h_t is n_t.  h_t depends on the tokens up
    to t.

    A sequence starts with g = 0 and all mass at position 0.  It starts anew at a token whose position is not beyond
    that of the token before it, so padding and packed sequences have no effect on what follows.  Otherwise `positions`
    are ignored: the tokens decide.

    Parameters, float32: of the GRU as in PyTorch, inputs uniform within 1/sqrt(G), recurrent blocks orthogonal, offsets
    0; V = 0 and c = (0, 2, 0, 0), so that a new model mostly counts tokens; r, for which gamma = 1.5 at first, unless
    there is no sharpening.
    """

    reads_earlier_tokens = True

    def __init__(self, *, width: int, positions: int = 128, sharpening: str = "learned") -> None:
        """Allocate the parameters; `width` is D, even, `positions` is P, `sharpening` is "none" for gamma = 1."""
        super().__init__()
        if positions < 2:
            raise ValueError(f"positions must be at least 2, not {positions}")
        if sharpening not in EXPONENTS:
            raise ValueError(f"sharpening must be {' or '.join(EXPONENTS)}, not {sharpening!r}")
        self.codes = Sinusoidal(width=width)
        self.width, self.positions = width, positions
        bound = GATE_WIDTH**-0.5
        self.input_weights = nn.Parameter(torch.empty(3 * GATE_WIDTH, width).uniform_(-bound, bound))
        blocks = [nn.init.orthogonal_(torch.empty(GATE_WIDTH, GATE_WIDTH)) for _ in range(3)]
        self.recurrent_weights = nn.Parameter(torch.cat(blocks))
        self.input_offsets = nn.Parameter(torch.zeros(3 * GATE_WIDTH))
        self.recurrent_offsets = nn.Parameter(torch.zeros(3 * GATE_WIDTH))
        self.gate_weights = nn.Parameter(torch.zeros(len(MOVES), GATE_WIDTH))
        self.gate_offsets = nn.Parameter(torch.tensor([2.0 * (name == "increment") for name in MOVES]))
        self.sharpness = nn.Parameter(torch.tensor(math.log(math.expm1(0.5)))) if sharpening == "learned" else None

    def embed(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Add the superpositions and round the sum once: [B, L, D].

        The state of the network is at least float32.  Gates and histograms are float64: a rounded gate would move every
        later position.
        """
        require_integers(positions)
        require_width(x_BLD, self.width, what="embeddings", name="width")
        if not positions.shape[-1]:
            return x_BLD
        _, histograms_BLP = self.states(x_BLD, positions)
        codes = self.codes.code(torch.arange(self.positions, device=x_BLD.device))
        return (x_BLD + histograms_BLP @ codes).to(x_BLD.dtype)

    def states(self, x_BLD: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Gates [B, L, 4] and histograms [B, L, P] of all tokens of at least one position, float64."""
        starts = sequence_starts(positions)
        with torch.autocast(x_BLD.device.type, enabled=False):  # it would round the state at every step
            gates_BLM = self.gates(x_BLD.to(torch.promote_types(x_BLD.dtype, torch.float32)), starts)
        return gates_BLM, self.histograms(gates_BLM, starts)

    def gates(self, x_BLD: Tensor, starts: Tensor) -> Tensor:
        """Gates of each token, in the order of `MOVES`: float64 [B, L, 4], each row with the sum 1.

        The state of the network has the dtype of x; `starts` [L] or [B, L] is True at each first token of a sequence.
        """
        of_inputs = x_BLD @ self.input_weights.to(x_BLD.dtype).T + self.input_offsets.to(x_BLD.dtype)
        weights, offsets = self.recurrent_weights.to(x_BLD.dtype).T, self.recurrent_offsets.to(x_BLD.dtype)
        state_BG = torch.zeros_like(of_inputs[:, 0, :GATE_WIDTH])
        states = []
        for step in range(x_BLD.shape[1]):
            state_BG = state_BG.where(~starts[..., step, None], torch.zeros_like(state_BG))
            inputs, of_state = of_inputs[:, step].chunk(3, -1), (state_BG @ weights + offsets).chunk(3, -1)
            reset, update = (inputs[0] + of_state[0]).sigmoid(), (inputs[1] + of_state[1]).sigmoid()
            new = (inputs[2] + reset * of_state[2]).tanh()
            state_BG = new + update * (state_BG - new)
            states.append(state_BG)
        logits = torch.stack(states, 1).double() @ self.gate_weights.double().T + self.gate_offsets.double()
        return logits.softmax(-1)

    def histograms(self, gates_BLM: Tensor, starts: Tensor) -> Tensor:
        """Histograms of all tokens, float64 [B, L, P], for gates and starts as in `gates`."""
        at_zero = (torch.arange(self.positions, device=gates_BLM.device) == 0).double()
        state_BP = at_zero.expand(len(gates_BLM), -1)
        nothing = torch.zeros_like(state_BP[:, :1])
        states = []
        for step in range(gates_BLM.shape[1]):
            state_BP = state_BP.where(~starts[..., step, None], at_zero)
            reset, increment, decrement, keep = gates_BLM[:, step].split(1, -1)
            up = torch.cat((nothing, state_BP[:, :-2], state_BP[:, -2:].sum(-1, keepdim=True)), -1)
            down = torch.cat((state_BP[:, :2].sum(-1, keepdim=True), state_BP[:, 2:], nothing), -1)
            state_BP = self._sharpened(reset * at_zero + increment * up + decrement * down + keep * state_BP)
            states.append(state_BP)
        return torch.stack(states, 1)

    def _sharpened(self, mixed_BP: Tensor) -> Tensor:
        """Histogram of a mixture: float64 [B, P]."""
        if self.sharpness is None:
            return mixed_BP
        exponent = 1 + nn.functional.softplus(self.sharpness.double())
        least = torch.finfo(torch.float64).tiny  # less is 0 here, as the logarithm's slope there is not finite
        logarithms = exponent * mixed_BP.clamp_min(least).log()
        return logarithms.masked_fill(mixed_BP < least, -math.inf).softmax(-1)


def sequence_starts(positions: Tensor) -> Tensor:
    """True at the first token and wherever the position does not grow; positions int64 [L] or [B, L] -> the same."""
    first = torch.ones_like(positions[..., :1], dtype=torch.bool)
    return torch.cat((first, positions[..., 1:] <= positions[..., :-1]), -1)


MODULES = {"prism": PRISM}
