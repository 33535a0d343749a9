"""Learners of a quadratic loss in closed form: gradient descent, gradient flow, ridge.

The loss is L(theta) = sum of h theta^2 - 2 b theta over the parameters, plus c: a diagonal Hessian, so every learner
acts on one number at a time. Gradient descent of rate eta keeps the share (1 - 2 eta h)^t of the start after t steps,
gradient flow keeps exp(-2 h t) after time t. The remaining share comes from the minimum b / h. If h = 0, nothing moves
([F], docs/theory/definitions.md; textbook facts that arXiv 2510.04130 Thm. 2 rests on).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.errors import LengthgenError

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class QuadraticProblem:
    """Loss L(theta) = sum of h theta^2 - 2 b theta, plus c, of p parameters; leading axes are problems that share h.

    Attributes:
        hessian: h (half of the second derivative), float64 [p].
        linear: b, float64 [..., p].
        constant: c, float64 [...].

    Raises:
        LengthgenError: the shapes do not fit, or an entry is not finite.
    """

    hessian: Array
    linear: Array
    constant: Array

    def __post_init__(self) -> None:
        if self.hessian.shape != self.linear.shape[-1:] or self.constant.shape != self.linear.shape[:-1]:
            shapes = f"h {self.hessian.shape}, b {self.linear.shape}, c {self.constant.shape}"
            raise LengthgenError(f"a quadratic problem needs h [p], b [..., p] and c [...], not {shapes}")
        if not all(np.isfinite(part).all() for part in (self.hessian, self.linear, self.constant)):
            raise LengthgenError("a quadratic problem has an entry that is not finite: check the data for NaN and inf")

    def loss(self, theta: ArrayLike) -> Array:
        """Loss L(theta), float64 [...], at theta float64 [..., p]."""
        parameters = np.asarray(theta, dtype=np.float64)
        return np.asarray(((parameters * self.hessian - 2 * self.linear) * parameters).sum(axis=-1) + self.constant)

    def gradient(self, theta: ArrayLike) -> Array:
        """Gradient 2 (h theta - b), float64 [..., p], at theta float64 [..., p]."""
        return 2 * (np.asarray(theta, dtype=np.float64) * self.hessian - self.linear)


def gradient_descent(problem: QuadraticProblem, *, start: ArrayLike = 0.0, rate: float, steps: int) -> Array:
    """Parameters after `steps` steps theta <- theta - rate * gradient, at any rate [F].

    Args:
        problem: the loss.
        start: theta before the first step, of a shape that broadcasts to [..., p].
        rate: eta, positive.
        steps: t, at least 0.

    Returns:
        float64 [..., p].

    Raises:
        LengthgenError: the rate is not positive, steps is negative, or the loss has no minimum.
    """
    _require_positive("the rate of gradient descent", rate)
    if steps < 0:
        raise LengthgenError(f"the number of steps must be at least 0, not {steps}")
    return _relaxed(problem, start, (1 - 2 * rate * problem.hessian) ** steps)


def gradient_flow(problem: QuadraticProblem, *, start: ArrayLike = 0.0, time: float) -> Array:
    """Parameters at a time of d theta / dt = -gradient [F]. Shapes as in `gradient_descent`.

    Raises:
        LengthgenError: the time is negative, or the loss has no minimum.
    """
    if not time >= 0:
        raise LengthgenError(f"the time of a flow must be at least 0, not {time}")
    return _relaxed(problem, start, np.exp(-2 * problem.hessian * time))


def gradient_flow_limit(problem: QuadraticProblem, *, start: ArrayLike = 0.0) -> Array:
    """Limit of gradient flow: the minimum nearest to the start [F]. Shapes as in `gradient_descent`.

    Raises:
        LengthgenError: the loss has no minimum.
    """
    return _relaxed(problem, start, (problem.hessian == 0).astype(np.float64))


def ridge(problem: QuadraticProblem, *, penalty: float) -> Array:
    """Minimum of L(theta) + penalty |theta|^2, b / (h + penalty), float64 [..., p] [F].

    Raises:
        LengthgenError: the penalty is not positive (`gradient_flow_limit` from 0 is its limit at 0), or the loss has no
            minimum.
    """
    _require_positive("the penalty of ridge regression", penalty)
    _require_minimum(problem)
    return problem.linear / (problem.hessian + penalty)


def _relaxed(problem: QuadraticProblem, start: ArrayLike, share_of_start: Array) -> Array:
    """Parameters that keep `share_of_start` of the start and take the remaining share from the minimum b / h."""
    _require_minimum(problem)
    first = np.broadcast_to(np.asarray(start, dtype=np.float64), problem.linear.shape)
    moving = problem.hessian > 0
    minimum = np.divide(problem.linear, problem.hessian, out=np.zeros_like(problem.linear), where=moving)
    return np.where(moving, minimum + share_of_start * (first - minimum), first)


def _require_minimum(problem: QuadraticProblem) -> None:
    if (problem.hessian < 0).any() or problem.linear[..., problem.hessian == 0].any():
        raise LengthgenError("the loss has no minimum: h must not be negative, and b be 0 where h is")


def _require_positive(what: str, value: float) -> None:
    if not 0 < value < np.inf:
        raise LengthgenError(f"{what} must be a positive number, not {value}")
