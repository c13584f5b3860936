"""The diagonal blocks of an additive model's Hessian, factorised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh import _core, algebra
from weigh.features.blocks import Floats
from weigh.learn.additive.effects import Effect
from weigh.learn.additive.problem import AdditiveProblem, Prior
from weigh.model.parallel import available_cores

MAX_BLOCK = 1500  # coordinates of a dense block
RIDGE = 1e-10  # relative to the diagonal: keeps nearly singular blocks factorisable


class Preconditioner:
    """Inverses of the diagonal blocks of the Hessian, one set per output, the intercept in the first block.

    `inverses[k][j]` is the inverse Hessian of effect j for output k, for traces and standard deviations.
    """

    def __init__(self, problem: AdditiveProblem, prior: Prior, p: Floats) -> None:
        self._problem = problem
        k = problem.loss.n_outputs
        self._factors: list[list[tuple[Floats, Floats]]] = []
        self._diagonals: list[Floats] = []
        self._blocks = _make_blocks(problem.effects)
        # One block of one output is the whole Hessian.
        has_one_block = len(self._blocks) == 1 and not any(effect.is_wide for effect in problem.effects)
        self.is_exact = has_one_block and k == 1
        for output in range(k):
            unit = np.zeros((1, k))
            unit[0, output] = 1.0
            weights = np.ascontiguousarray(
                problem.loss.hessian_times(p, np.broadcast_to(unit, p.shape))[:, output]
            )
            self._factors.append([self._factor(block, prior, np.maximum(weights, 0.0), at == 0)
                                  for at, block in enumerate(self._blocks)])  # fmt: skip
            self._diagonals.append(self._wide_diagonal(prior, weights))

    def _factor(
        self, block: list[int], prior: Prior, h: Floats, has_intercept: bool
    ) -> tuple[Floats, Floats]:
        """Return the coordinates of a block (−1 for the intercept) and the Cholesky factor of its Hessian."""
        problem = self._problem
        X, effects = problem.X, [problem.effects[j] for j in block]
        features = (
            np.concatenate([np.arange(e.start, e.stop) for e in effects]) if block else np.zeros(0, int)
        )
        positions = np.full(X.width, -1, dtype=np.int32)
        positions[features] = np.arange(len(features))
        gram = np.zeros((len(features), len(features)))
        if len(features):
            _core.sparse_weighted_gram(*X.rows.csr, positions, h, available_cores(), gram)
        half = _stack_projections(effects, gram)
        hess = _stack_projections(effects, np.ascontiguousarray(half.T))
        offsets, starts = problem.offsets, 0
        coordinates = []
        for j, effect in zip(block, effects, strict=True):
            at = slice(starts, starts + effect.n_coordinates)
            P = prior.parts[j][1]
            hess[at, at] += P if P.ndim == 2 else np.diag(P)
            coordinates.append(np.arange(offsets[j], offsets[j + 1]))
            starts = at.stop
        if has_intercept:
            sums = X.transposed_times(h)[features] if len(features) else np.zeros(0)
            column = _stack_projections(effects, sums[:, None])
            hess = np.block([[hess, column], [column.T, np.full((1, 1), max(float(h.sum()), 1e-300))]])
            coordinates.append(np.array([-1]))
        diagonal = np.einsum("ii->i", hess)
        diagonal += RIDGE * np.maximum(diagonal, 1e-300)
        lower = algebra.cholesky(hess)
        while lower is None:
            diagonal += 1e-6 * np.maximum(diagonal, 1e-12)
            lower = algebra.cholesky(hess)
        return np.concatenate(coordinates), lower

    def _wide_diagonal(self, prior: Prior, h: Floats) -> Floats:
        """Return the diagonal of the Hessian at the coordinates of wide effects, 1 elsewhere."""
        diagonal = np.ones(self._problem.offsets[-1])
        squares = None
        for j, (effect, at) in enumerate(self._problem.slices()):
            if effect.is_wide:
                squares = self._problem.X.squared_times(h) if squares is None else squares
                diagonal[at] = squares[effect.start : effect.stop] + prior.parts[j][1]
        return diagonal

    def solve(self, G: Floats, g_b: Floats) -> tuple[Floats, Floats]:
        """Return the product of the block inverses with a gradient."""
        out, out_b = np.empty_like(G), np.empty_like(g_b)
        for k in range(G.shape[1]):
            padded = np.append(G[:, k], g_b[k])
            result = padded / np.append(self._diagonals[k], 1.0)
            for coordinates, lower in self._factors[k]:
                result[coordinates] = algebra.cholesky_solve(lower, padded[coordinates])
            out[:, k], out_b[k] = result[:-1], result[-1]
        return out, out_b

    def inverses(self) -> list[list[Floats]]:
        """Return, by output, the inverse Hessian of each effect: [r, r], or the diagonal of a wide one."""
        found: list[list[Floats]] = []
        for k, factors in enumerate(self._factors):
            by_effect: list[Floats] = [np.zeros(0)] * len(self._problem.effects)
            for block, (_, lower) in zip(self._blocks, factors, strict=True):
                inverse, start = algebra.triangular_inverse(lower), 0
                for j in block:
                    stop = start + self._problem.effects[j].n_coordinates
                    columns = inverse[start:, start:stop]  # of L⁻¹, whose upper triangle is zero
                    by_effect[j] = columns.T @ columns
                    start = stop
            for j, (effect, at) in enumerate(self._problem.slices()):
                if effect.is_wide:
                    by_effect[j] = 1 / self._diagonals[k][at]
            found.append(by_effect)
        return found


def _make_blocks(effects: Sequence[Effect]) -> list[list[int]]:
    """Group effects into dense blocks; pairs, nearly orthogonal to the other effects, stand alone."""
    blocks: list[list[int]] = [[]]
    size = 0
    for j, effect in enumerate(effects):
        if effect.is_wide:
            continue
        if effect.is_pair:
            blocks.append([j])
            continue
        size += effect.n_coordinates
        if size > MAX_BLOCK and blocks[0]:
            blocks.insert(0, [])
            size = effect.n_coordinates
        blocks[0].append(j)
    return blocks


def _stack_projections(effects: Sequence[Effect], matrix: Floats) -> Floats:
    """Return Zᵀ M for the features of several effects."""
    parts, start = [np.zeros((0, matrix.shape[1]))], 0
    for effect in effects:
        stop = start + effect.stop - effect.start
        parts.append(effect.project(matrix[start:stop]))
        start = stop
    return np.concatenate(parts)
