"""Check a perceptron against its rows: its certificate, and its weights by making the passes again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from weigh.features.blocks import Floats
from weigh.judge.verification.checks import (
    Check,
    Mismatch,
    RowChecks,
    check_classes,
    check_close,
    check_facts,
    check_features,
)
from weigh.judge.verification.online_checks import (
    NATIVE_REPLAY,
    UNKNOWN_ORDER,
    ReplayData,
    check_known_rows,
    check_same_arrays,
    check_standardisations,
    class_weights,
    order_notes,
    trained_table,
)
from weigh.judge.verification.online_rows import MAX_PLAIN_COST, OnlineRows, check_weights, plain_cost
from weigh.judge.verification.perceptron_replay import ROUNDING, PerceptronReplay
from weigh.learn.design_matrix import DesignMatrix, model_standardisations
from weigh.learn.perceptron import PerceptronTask
from weigh.learn.perceptron_state import PerceptronSettings
from weigh.model.fit import OnlineSettings
from weigh.model.perceptron import PerceptronModel
from weigh.source.base import Source


def check_perceptron(model: PerceptronModel, source: Source) -> RowChecks:
    """Check a perceptron against its rows: the certificate, and the weights if the passes can be repeated."""
    # Later batches were standardised as the first one, which cannot be told apart from the others.
    certificate, is_first = model.certificate, model.certificate.batches == 1
    data = ReplayData.read(model, source, is_first=is_first)
    rows = data.design
    checks = [
        check_close("radius", certificate.radius, _largest_row_norm(rows, model)),
        check_classes(model, rows),
        check_features(model, rows),
    ]
    if is_first and rows.standardisations:
        checks.append(check_standardisations(model_standardisations(model), rows.standardisations))
    if is_first:
        checks.append(check_close("rows", certificate.examples / certificate.passes, rows.n_rows))
    if not (checks[1].ok and checks[2].ok):
        return RowChecks(rows.n_rows, checks)
    is_last = model.kept == "last" or model.record is not None
    if certificate.converged and is_last and len(model.classes) == 2:
        checks += _check_last_plane(model.keep("last"), rows)
    if model.online is None:
        checks += check_known_rows(model, data.dataset)
        return RowChecks(rows.n_rows, checks, [UNKNOWN_ORDER])
    columns = len(trained_table(model)[0])
    if plain_cost(data.dataset, model.online.passes, columns) > MAX_PLAIN_COST:
        checks += _check_trained_again(model, model.online, source)
        return RowChecks(rows.n_rows, checks, [NATIVE_REPLAY])
    checks += _check_replay(model, model.online, data)
    return RowChecks(rows.n_rows, checks, order_notes(model, data.dataset, checks))


def _check_replay(model: PerceptronModel, settings: OnlineSettings, data: ReplayData) -> Iterator[Check]:
    """Make the passes again in plain code; compare the weights and, if recorded, all updates."""
    certificate = model.certificate
    rows = OnlineRows.from_dataset(data.dataset, model.classes, settings)
    margin = settings.margin if settings.is_relative else settings.margin / model.rate
    replay = PerceptronReplay(rows, len(model.classes), margin, certificate.bias)
    replay.run(settings.passes)
    stated = {
        "passes": certificate.passes,
        "mistakes": certificate.mistakes,
        "updates": certificate.updates,
        "converged": certificate.converged,
        "ended by a limit": settings.is_limited or certificate.converged,
    }
    recomputed = {
        "passes": replay.passes,
        "mistakes": replay.mistakes,
        "updates": len(replay.updates),
        "converged": replay.converged,
        "ended by a limit": True,
    }
    yield check_facts("passes, mistakes and updates", stated, recomputed)
    keeps_average = model.kept in ("averaged", "voted") or model.record is not None
    if replay.converged and keeps_average:
        yield _check_added_passes(certificate.added_passes, settings.is_limited, replay)
    replay.added_passes = certificate.added_passes
    found = replay.hypothesis("last" if model.kept == "voted" else model.kept)
    sums, sizes = data.select(found.sums), data.select(found.sizes)
    replayed, allowed = sums / found.divisors, ROUNDING * sizes / found.divisors
    yield check_weights(
        model.feature_names, model.classes, trained_table(model) / model.divisor, replayed, allowed
    )
    if model.record is not None:
        yield _check_record(model, replay, data)


def _check_added_passes(stated: int, is_limited: bool, replay: PerceptronReplay) -> Check:
    """Check that the average was continued until it makes no errors, or until the limit of passes."""
    name = "passes added to the average"
    low, high = replay.needed_passes()
    if (stated >= low or is_limited) and stated <= high:
        return Check(name, 1)
    return Check(name, 1, (Mismatch(name, str(stated), f"{low:g}"),))


def _check_record(model: PerceptronModel, replay: PerceptronReplay, data: ReplayData) -> Check:
    """Compare the recorded updates, and how many examples each hypothesis decided."""
    record = model.record
    assert record is not None
    numbers = np.full(data.dataset.feature_index.width, -1)
    numbers[data.order] = np.arange(len(data.order))
    values, indices, ends = record.rows.entry_values(), record.rows.indices, record.rows.indptr.tolist()
    details = zip(record.plus.tolist(), record.minus.tolist(), record.amounts.tolist(), strict=True)
    stated = [
        (detail, dict(zip(indices[a:b].tolist(), values[a:b].tolist(), strict=True)))
        for detail, a, b in zip(details, ends[:-1], ends[1:], strict=True)
    ]
    differing = []
    for k, update in enumerate(replay.updates):
        features, amounts = replay.rows.rows[update.row]
        row = dict(zip(numbers[features].tolist(), amounts.tolist(), strict=True))
        detail = update.plus, update.minus, update.amount
        if k >= len(stated) or stated[k] != (detail, row):
            differing.append(Mismatch(f"update {k:,}", "as recorded", f"row {update.row:,}"))
    lives = zip(record.lives.tolist(), replay.survival_counts(), strict=False)
    differing += [
        Mismatch(f"examples of hypothesis {k:,}", f"{old:,}", f"{new:,}")
        for k, (old, new) in enumerate(lives)
        if old != new
    ]
    if len(stated) > len(replay.updates):
        differing.append(Mismatch("updates", f"{len(stated):,}", f"{len(replay.updates):,}"))
    return Check("recorded updates", len(stated) + len(record.lives), tuple(differing))


def _check_trained_again(model: PerceptronModel, settings: OnlineSettings, source: Source) -> Iterator[Check]:
    """Make the passes again with the learner's own code, and compare the certificates and all arrays."""
    limit = settings.passes + model.certificate.added_passes + (not settings.is_limited)
    details = model.record is not None, settings.margin, settings.is_relative, model.rate
    learner = PerceptronSettings(model.kept, *details, settings.separate, model.certificate.bias)
    seed, weights = settings.seed, class_weights(model, settings)
    again = PerceptronTask(model.schema, learner, limit, seed is not None, seed or 0, weights).learn(source)
    stated, recomputed = model.certificate.to_dict(), again.certificate.to_dict()
    names = ("passes", "mistakes", "updates", "converged")
    yield check_facts(
        "passes, mistakes and updates",
        {name: stated[name] for name in names},
        {name: recomputed[name] for name in names},
    )
    yield check_same_arrays(model, again)


def _largest_row_norm(rows: DesignMatrix, model: PerceptronModel) -> float:
    squares = rows.X.sum_by_row(np.square(rows.X.entry_values()))
    # The constant 1 of the bias is part of every row.
    return math.sqrt(float(squares.max()) + model.certificate.bias)


def _check_last_plane(model: PerceptronModel, rows: DesignMatrix) -> Iterator[Check]:
    # Trained weights refer to scaled numbers, like the rows of the design matrix.
    table = np.concatenate([term.trained_weights() for term in model.terms])
    w = table[:, 1] - table[:, 0]
    b = float(model.base[1] - model.base[0])
    scores = rows.X.sum_by_row(w[rows.X.indices] * rows.X.entry_values()) + b
    is_second = np.array([label == model.classes[1] for label in rows.classes])[rows.codes]
    wrong = np.flatnonzero((scores >= 0) != is_second)
    differing = [Mismatch(f"row {row:,}", "right", f"scores {scores[row]:g}") for row in wrong.tolist()]
    yield Check("rows on the right side of the last plane", rows.n_rows, tuple(differing))
    signed_scores = np.where(is_second, scores, -scores)
    for name, stated, norm in _certified_margins(model, w, b):
        yield check_close(name, stated, float(signed_scores.min()) / norm)


def _certified_margins(model: PerceptronModel, w: Floats, b: float) -> Iterator[tuple[str, Any, float]]:
    """Yield the name, the stated value and the norm of both margins, unless the plane is zero."""
    square = float(w @ w)
    if square:
        yield "margin of the last plane", model.certificate.margin, math.sqrt(square)
        yield "the same, bias included", model.certificate.augmented_margin, math.sqrt(square + b * b)
