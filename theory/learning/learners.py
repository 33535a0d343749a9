"""Learners of a quadratic loss in closed form: gradient descent, gradient flow, min-norm least squares, ridge.

The loss is L(theta) = theta^T H theta - 2 b^T theta + c, so its gradient is 2 (H theta - b). Along an eigenvector of H
with eigenvalue h every learner acts on one number. Gradient descent of rate eta keeps the share (1 - 2 eta h)^t of the
start after t steps, gradient flow keeps exp(-2 h t) after time t. The remaining share comes from the minimum b / h. If
h = 0, nothing moves ([F], docs/theory/definitions.md; textbook facts that arXiv 2510.04130 Thm. 2 rests on).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.errors import LengthgenError

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class QuadraticProblem:
    """Loss L(theta) = theta^T H theta - 2 b^T theta + c of p parameters; leading axes are problems that share one H.

    Attributes:
        hessian: H (half of the second derivative), float64 [p, p] symmetric, or [p] for the diagonal of a diagonal H.
        linear: b, float64 [..., p].
        constant: c, float64 [...].

    Raises:
        LengthgenError: the shapes do not fit, an entry is not finite, or H is not symmetric.
    """

    hessian: Array
    linear: Array
    constant: Array

    def __post_init__(self) -> None:
        size = self.linear.shape[-1:]
        if self.hessian.shape not in (size, size * 2) or self.constant.shape != self.linear.shape[:-1]:
            shapes = f"H {self.hessian.shape}, b {self.linear.shape}, c {self.constant.shape}"
            raise LengthgenError(f"a quadratic problem needs H [p, p] or [p], b [..., p] and c [...], not {shapes}")
        if not all(np.isfinite(part).all() for part in (self.hessian, self.linear, self.constant)):
            raise LengthgenError("a quadratic problem has an entry that is not finite: check the data for NaN and inf")
        if np.abs(self.hessian - self.hessian.T).max(initial=0.0) > 1e-9 * np.abs(self.hessian).max(initial=0.0):
            raise LengthgenError("the Hessian of a quadratic problem must be symmetric: pass (H + H^T) / 2")

    def loss(self, theta: ArrayLike) -> Array:
        """Loss L(theta), float64 [...], at theta float64 [..., p]."""
        parameters = np.asarray(theta, dtype=np.float64)
        curved = self._curve(parameters)
        return np.asarray(((curved - 2 * self.linear) * parameters).sum(axis=-1) + self.constant)

    def gradient(self, theta: ArrayLike) -> Array:
        """Gradient 2 (H theta - b), float64 [..., p], at theta float64 [..., p]."""
        return 2 * (self._curve(np.asarray(theta, dtype=np.float64)) - self.linear)

    def _curve(self, theta: Array) -> Array:
        """Product H theta."""
        return theta * self.hessian if self.hessian.ndim == 1 else theta @ self.hessian


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
    modes = _modes(problem)
    return modes.relax(start, (1 - 2 * rate * modes.eigenvalues) ** steps)


def gradient_flow(problem: QuadraticProblem, *, start: ArrayLike = 0.0, time: float) -> Array:
    """Parameters at a time of d theta / dt = -gradient [F]. Shapes as in `gradient_descent`.

    Raises:
        LengthgenError: the time is negative, or the loss has no minimum.
    """
    if not time >= 0:
        raise LengthgenError(f"the time of a flow must be at least 0, not {time}")
    modes = _modes(problem)
    return modes.relax(start, np.exp(-2 * modes.eigenvalues * time))


def gradient_flow_limit(problem: QuadraticProblem, *, start: ArrayLike = 0.0) -> Array:
    """Limit of gradient flow: the minimum nearest to the start [F]. Shapes as in `gradient_descent`.

    Raises:
        LengthgenError: the loss has no minimum.
    """
    modes = _modes(problem)
    return modes.relax(start, (modes.eigenvalues == 0).astype(np.float64))


def min_norm(problem: QuadraticProblem) -> Array:
    """Minimum of least norm, float64 [..., p]: the minimum nearest to 0 [F].

    Raises:
        LengthgenError: the loss has no minimum.
    """
    return gradient_flow_limit(problem)


def ridge(problem: QuadraticProblem, *, penalty: float) -> Array:
    """Minimum of L(theta) + penalty |theta|^2, (H + penalty I)^-1 b, float64 [..., p] [F].

    Raises:
        LengthgenError: the penalty is not positive (`min_norm` is its limit at 0), or the loss has no minimum.
    """
    _require_positive("the penalty of ridge regression", penalty)
    modes = _modes(problem)
    return modes.backward(modes.linear / (modes.eigenvalues + penalty))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Modes:
    """Quadratic problem in the eigenvectors of H.

    Eigenvalues that are zero up to rounding are set to 0, and so is b there.
    """

    eigenvalues: Array
    vectors: Array | None  # columns; None if H is diagonal
    linear: Array

    def forward(self, theta: Array) -> Array:
        """Coordinates of theta in the eigenvectors."""
        return theta if self.vectors is None else theta @ self.vectors

    def backward(self, modes: Array) -> Array:
        """Parameters from coordinates in the eigenvectors."""
        return modes if self.vectors is None else modes @ self.vectors.T

    def relax(self, start: ArrayLike, share_of_start: Array) -> Array:
        """Parameters that keep `share_of_start` of the start and take the remaining share from the minimum b / h."""
        start_modes = self.forward(np.broadcast_to(np.asarray(start, dtype=np.float64), self.linear.shape))
        moving = self.eigenvalues > 0
        minimum = np.divide(self.linear, self.eigenvalues, out=np.zeros_like(self.linear), where=moving)
        return self.backward(np.where(moving, minimum + share_of_start * (start_modes - minimum), start_modes))


def _modes(problem: QuadraticProblem) -> _Modes:
    """Problem in the eigenvectors of H; raises `LengthgenError` if the loss has no minimum."""
    if problem.hessian.ndim == 1:
        eigenvalues, vectors, linear = problem.hessian, None, problem.linear
        rounding = 0.0
    else:
        eigenvalues, vectors = np.linalg.eigh(problem.hessian)
        linear = problem.linear @ vectors
        rounding = len(eigenvalues) * np.finfo(np.float64).eps * float(np.abs(eigenvalues).max(initial=0.0))
    moving = eigenvalues > rounding
    # A loss with minimum >= 0 has b^2 <= h c along every mode, and so c >= sum of b^2 / h.
    spent = np.divide(linear**2, eigenvalues, out=np.zeros_like(linear), where=moving).sum(axis=-1)
    free = np.maximum(np.abs(problem.constant), spent)[..., None]
    if (eigenvalues < -rounding).any() or (~moving & (linear**2 > 4 * rounding * free)).any():
        raise LengthgenError("the loss has no minimum: H must be positive semidefinite and b in its range")
    return _Modes(eigenvalues=np.where(moving, eigenvalues, 0.0), vectors=vectors, linear=np.where(moving, linear, 0.0))


def _require_positive(what: str, value: float) -> None:
    if not 0 < value < np.inf:
        raise LengthgenError(f"{what} must be a positive number, not {value}")
