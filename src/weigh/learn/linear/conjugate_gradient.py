"""Preconditioned conjugate gradients, which need products with X and Xᵀ but never form XᵀX.

Three uses: least squares and ridge on large sparse rows, the Newton step of log loss with l2, and the Newton
step on the active set of log loss with l1.
"""

from __future__ import annotations

import numpy as np

from weigh.features.blocks import Floats
from weigh.learn.linear.coordinate_descent import QuadraticModel
from weigh.learn.linear.losses import CrossEntropyLoss
from weigh.learn.linear.matrix import Matrix
from weigh.learn.linear.problem import CentredProblem, Problem, Solution

_MIN_FEATURES = 3_000
_MIN_CELLS = 50_000_000
_GAP_INTERVAL = 10  # iterations between estimates of the gap, which need an eigendecomposition
_MIN_GRADIENT_RATIO = 1e-26  # of the first gᵀM⁻¹g: below is rounding, which collinear features amplify
MAX_HESSIAN_PRODUCTS = 500  # per Newton step
RELATIVE_RESIDUAL = 1e-5  # at which the Newton step on the active set is accurate enough


def needs_conjugate_gradient(X: Matrix) -> bool:
    """Check whether the matrix is sparse and too large for a Gram matrix or a dense copy."""
    return X.density < 0.2 and X.width > _MIN_FEATURES and X.n_rows * X.width > _MIN_CELLS


def solve_conjugate_gradient(problem: Problem, tol: float = 1e-10, max_iter: int = 2_000) -> Solution:
    """Minimise ½ Σ sᵢ (yᵢ − xᵢ·w − b)² + ½ Σ l2ⱼ wⱼ² by conjugate gradients, starting at zero.

    Stops when the gap is at most tol times the objective of the best constant. Without any penalty the
    iterates stay in the row space, so they converge to the solution of minimum norm.
    """
    centred = CentredProblem.from_problem(problem)
    diagonal, is_certified = _preconditioner_diagonal(problem, centred), bool((problem.l2 > 0).all())
    w, r = np.zeros(problem.X.width), centred.target
    target_gap = tol * 0.5 * centred.yy
    residual = centred.cross  # of the normal equations: the negative gradient
    z = residual / diagonal
    direction, rho = z, float(residual @ z)
    min_rho = _MIN_GRADIENT_RATIO * rho
    alphas: list[float] = []
    betas: list[float] = []
    iteration, gap = 0, _bound_gap(problem, residual, rho, alphas, betas)
    while rho > min_rho and gap > target_gap and iteration < max_iter:
        scores = centred.times(direction)
        alpha = rho / (centred.dot(scores, scores) + float(problem.l2 @ np.square(direction)))
        w, r = w + alpha * direction, r - alpha * scores
        residual = centred.residual_correlations(r) - problem.l2 * w
        z = residual / diagonal
        rho_old, rho = rho, float(residual @ z)
        alphas.append(alpha)
        betas.append(rho / rho_old)
        direction = z + betas[-1] * direction
        iteration += 1
        if is_certified or iteration % _GAP_INTERVAL == 0 or iteration == max_iter or rho <= min_rho:
            gap = _bound_gap(problem, residual, rho, alphas, betas)
    objective = 0.5 * centred.dot(r, r) + problem.penalty(w)
    method = "conjugate gradients" + ("" if is_certified else "; the gap is estimated, not proved")
    return Solution(w, np.asarray(centred.intercept(w)), objective, gap, iteration, method)


def _preconditioner_diagonal(problem: Problem, centred: CentredProblem) -> Floats:
    """Return the diagonal preconditioner; infinite for constant features, whose weights stay zero."""
    gram_diagonal = centred.gram_diagonal()
    diagonal = gram_diagonal + problem.l2 if (problem.l2 > 0).any() else np.ones(problem.X.width)
    return np.where(gram_diagonal > 0, diagonal, np.inf)


def _bound_gap(problem: Problem, grad: Floats, rho: float, alphas: list[float], betas: list[float]) -> float:
    """Bound the gap ½ gᵀH⁻¹g by H ≥ diag(l2), or estimate it by the smallest Ritz value.

    The Ritz values are the eigenvalues of the Lanczos tridiagonal matrix of the step sizes so far.
    """
    if (problem.l2 > 0).all():
        return 0.5 * float((np.square(grad) / problem.l2).sum())
    if not alphas:
        return np.inf if rho > 0 else 0.0
    alpha, beta = np.array(alphas), np.array(betas[:-1])
    diagonal = 1 / alpha + np.append(0.0, beta / alpha[:-1])
    off_diagonal = np.sqrt(beta) / alpha[:-1]
    lanczos = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
    return 0.5 * rho / max(float(np.linalg.eigvalsh(lanczos)[0]), np.finfo(np.float64).tiny)


def newton_cg_step(
    loss: CrossEntropyLoss, X: Matrix, l2: Floats, p: Floats, grad: Floats, forcing: float
) -> Floats:
    """Approximate the Newton step −H⁻¹ g [width, k] with the diagonal of H as preconditioner.

    Stops when the preconditioned residual has dropped by the factor `forcing` (inexact Newton), when the
    curvature vanishes, or after `MAX_HESSIAN_PRODUCTS` products with H.
    """
    hess_diag = (
        np.stack([X.squared_times(w) for a, b, _, w in loss.hessian_blocks(p) if a == b], axis=1)
        + l2[:, None]
    )
    preconditioner = 1 / np.where(hess_diag > 0, hess_diag, 1.0)
    step = np.zeros_like(grad)
    residual = -grad
    z = preconditioner * residual
    direction = z
    rho = rho_0 = float((residual * z).sum())
    for _ in range(MAX_HESSIAN_PRODUCTS):
        if rho <= forcing**2 * rho_0:
            break
        Hd = X.transposed_times(loss.hessian_times(p, X.times(direction))) + l2[:, None] * direction
        curvature = float((direction * Hd).sum())
        if curvature <= 0:
            break
        alpha = rho / curvature
        step += alpha * direction
        residual = residual - alpha * Hd
        z = preconditioner * residual
        rho, rho_old = float((residual * z).sum()), rho
        direction = z + rho / rho_old * direction
    return step if step.any() else preconditioner * -grad


def active_set_newton_step(
    X: Matrix, quadratic: QuadraticModel, w: Floats, l1: Floats, l2: Floats, max_products: int
) -> tuple[Floats, float]:
    """Solve the Newton system on the active set by preconditioned conjugate gradients.

    Minimises the quadratic model of the loss plus Σ l1ⱼ |wⱼ| + ½ Σ l2ⱼ wⱼ² over the non-zero weights with
    their signs fixed, and over the intercept. The Hessian XᵀHX + diag(l2) is never formed; each iteration
    costs one product with X and one with Xᵀ.

    Returns the step of the weights [d] and of the intercept. Stops when the residual has dropped by
    `RELATIVE_RESIDUAL`, when the curvature vanishes, or after `max_products` iterations.
    """
    active = np.append(w != 0, quadratic.has_intercept)
    hess_diag = np.append(X.squared_times(quadratic.h) + l2, quadratic.h.sum())
    preconditioner = np.where(active & (hess_diag > 0), 1 / np.where(hess_diag > 0, hess_diag, 1.0), 0.0)

    def hessian_times(v: Floats) -> Floats:
        scores = quadratic.h * (X.times(v[:-1]) + v[-1])
        return np.asarray(np.append(X.transposed_times(scores) + l2 * v[:-1], scores.sum()) * active)

    negative_grad = X.transposed_times(quadratic.u) - l1 * np.sign(w) - l2 * w
    residual = np.append(negative_grad, quadratic.u.sum()) * active
    step, direction = np.zeros(len(w) + 1), preconditioner * residual
    rho = rho_0 = float(residual @ direction)
    for _ in range(max_products):
        # Also stops if rho is not a number.
        if not rho > RELATIVE_RESIDUAL**2 * rho_0:
            break
        Hd = hessian_times(direction)
        curvature = float(direction @ Hd)
        # Where features repeat each other, only l1 may change along the direction.
        if not curvature > 0:
            break
        alpha = rho / curvature
        step += alpha * direction
        residual -= alpha * Hd
        rho_old, rho = rho, float(residual @ (preconditioner * residual))
        direction = preconditioner * residual + rho / rho_old * direction
    return step[:-1], float(step[-1])
