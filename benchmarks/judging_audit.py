"""Leave-one-out of naive Bayes: from the counts, and by fitting again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder

import weigh
from benchmarks.adult import CATEGORIES, LABEL, read
from benchmarks.harness import Contestant, duration, markdown, race

REFITS = 50


def job(data: Path, repeats: int) -> str:
    frame, labels = read(data / "adult" / "train.csv")
    frame = frame[CATEGORIES]
    # The peer gets codes, so that only its own work is timed, and all numbers of levels: folds may lack some.
    codes = OrdinalEncoder().fit_transform(frame).astype(np.int64)
    peer = CategoricalNB(min_categories=codes.max(axis=0) + 1)
    model, n = weigh.NaiveBayes(columns="category").fit(frame, labels).model_, len(frame)
    some = np.random.default_rng(0).choice(n, REFITS, replace=False).tolist()

    rests = [(np.delete(codes, at, axis=0), np.delete(labels, at)) for at in some]

    def refitted() -> Any:
        return [peer.fit(*rest) for rest in rests]

    timings = race(
        [
            Contestant(
                "weigh: every row left out, from the counts", lambda: model.left_out_scores(frame, labels)
            ),
            Contestant("weigh.audit: left out, ranked, explained", lambda: weigh.audit(model, frame, labels)),
            Contestant(
                "scikit-learn: 10 folds in place of leave-one-out",
                lambda: cross_val_predict(peer, codes, labels, cv=10, method="predict_log_proba"),
            ),
            Contestant(f"scikit-learn: {n:,} refits on codes ({REFITS} timed)", refitted),
        ],
        repeats,
    )
    seconds = [each.best * (n / REFITS if at == 3 else 1) for at, each in enumerate(timings)]
    rows = [
        [each.name, duration(time), f"{time / seconds[0]:,.1f}"]
        for each, time in zip(timings, seconds, strict=True)
    ]
    apart = [_apart(model, frame, labels, timings[0].result, at) for at in some]
    told = f"{REFITS} rows forgotten one by one get scores that differ by {max(apart):.1e} at most."
    title = f"{LABEL} of Adult, {n:,} rows of {len(CATEGORIES)} categories"
    return f"{title}\n\n{markdown(['', 'min', '÷ first'], rows)}\n\n{told}"


def _apart(model: weigh.BayesModel, frame: Any, labels: Any, left: Any, at: int) -> float:
    """Return how far a row's score is from that of a model that has forgotten it."""
    one = frame.iloc[[at]]
    return float(np.abs(model.forget(one, labels[at : at + 1]).scores(one)[0] - left[at]).max())
