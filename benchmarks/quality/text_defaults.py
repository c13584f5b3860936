"""Judge our defaults on real texts, beside scikit-learn's usual pipelines.

20 Newsgroups has its official split by date; SMS spam and the bodies of SpamAssassin's mails have five
stratified folds. Every pipeline has the defaults of its parts. The time is that of one fit from raw texts.
"""

from __future__ import annotations

import email
import email.policy
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import MAILS, LabelledTexts, newsgroup_folders, read_folder, read_sms, unpack
from benchmarks.results import format_duration, format_markdown_table

MIN_PROBABILITY = float(np.finfo(float).eps)
Split = tuple[LabelledTexts, LabelledTexts]
Maker = Callable[[], Any]


@dataclass
class Score:
    """What a contender did on the test texts of all splits."""

    hits: list[Any] = field(default_factory=list)
    log_losses: list[Any] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def accuracy(self) -> float:
        return float(np.concatenate(self.hits).mean())

    def margin_over(self, other: Score) -> str:
        """Return the paired difference in points, with its 95 % interval by the normal approximation."""
        difference = np.concatenate(self.hits).astype(float) - np.concatenate(other.hits)
        half = 1.96 * difference.std() / np.sqrt(len(difference))
        return f"{100 * difference.mean():+.2f} ± {100 * half:.2f}"


class FrameLearner:
    """One of our learners on a frame with one column, whose kind is inferred unless `text` states it."""

    def __init__(self, learner: str, text: Mapping[str, Any] | None = None, **parameters: Any) -> None:
        import weigh

        columns = {} if text is None else {"columns": {"text": weigh.Text(**text)}}
        self.model = getattr(weigh, learner)(**parameters, **columns)
        if hasattr(self.model, "predict_proba"):
            self.predict_proba = lambda texts: self.model.predict_proba(_frame(texts))

    @property
    def classes_(self) -> Any:
        return self.model.classes_

    def fit(self, texts: Sequence[str], labels: Any) -> FrameLearner:
        self.model.fit(_frame(texts), labels)
        return self

    def predict(self, texts: Sequence[str]) -> Any:
        return self.model.predict(_frame(texts))


def _frame(texts: Sequence[str]) -> Any:
    import pandas as pd

    return pd.DataFrame({"text": list(texts)})


TFIDF = {"weighting": "tfidf", "norm": "l2"}
OURS: Mapping[str, Maker] = {
    "weigh NaiveBayes()": partial(FrameLearner, "NaiveBayes"),
    "weigh NaiveBayes(calibration='auto')": partial(FrameLearner, "NaiveBayes", calibration="auto"),
    "weigh NaiveBayes(complement=True)": partial(FrameLearner, "NaiveBayes", complement=True),
    "weigh Perceptron()": partial(FrameLearner, "Perceptron"),
    "weigh LogisticRegression()": partial(FrameLearner, "LogisticRegression"),
    "weigh Perceptron, tf-idf": partial(FrameLearner, "Perceptron", TFIDF),
    "weigh LogisticRegression, counts, Normal(1)": partial(FrameLearner, "LogisticRegression", {}, prior=1.0),
    "weigh LogisticRegression, tf-idf": partial(FrameLearner, "LogisticRegression", TFIDF),
    "weigh LogisticRegression, tf-idf, Normal(10)": partial(
        FrameLearner, "LogisticRegression", TFIDF, prior=10.0
    ),
}


def make_pipeline_of(vectoriser: str, estimator: str, **parameters: Any) -> Any:
    from sklearn import linear_model, naive_bayes, svm
    from sklearn.feature_extraction import text
    from sklearn.pipeline import make_pipeline

    modules = (linear_model, naive_bayes, svm)
    make = next(getattr(module, estimator) for module in modules if hasattr(module, estimator))
    return make_pipeline(getattr(text, vectoriser)(), make(**parameters))


TFIDF_VECTORISER, COUNTS = "TfidfVectorizer", "CountVectorizer"
PEERS: Mapping[str, Maker] = {
    "LinearSVC, tf-idf": partial(make_pipeline_of, TFIDF_VECTORISER, "LinearSVC"),
    "SGDClassifier, hinge, tf-idf": partial(
        make_pipeline_of, TFIDF_VECTORISER, "SGDClassifier", random_state=0
    ),
    "SGDClassifier, log loss, tf-idf": partial(
        make_pipeline_of, TFIDF_VECTORISER, "SGDClassifier", loss="log_loss", random_state=0
    ),
    "LogisticRegression, tf-idf": partial(
        make_pipeline_of, TFIDF_VECTORISER, "LogisticRegression", max_iter=1_000
    ),
    "ComplementNB, counts": partial(make_pipeline_of, COUNTS, "ComplementNB"),
    "ComplementNB, tf-idf": partial(make_pipeline_of, TFIDF_VECTORISER, "ComplementNB"),
    "MultinomialNB, counts": partial(make_pipeline_of, COUNTS, "MultinomialNB"),
    "MultinomialNB, tf-idf": partial(make_pipeline_of, TFIDF_VECTORISER, "MultinomialNB"),
}


def read_bodies() -> LabelledTexts:
    """Return the text parts of SpamAssassin's mails without their headers."""
    files = sorted(path for path in unpack(MAILS).rglob("*") if path.is_file())
    labels = ["spam" if file.parent.name.startswith("spam") else "ham" for file in files]
    return LabelledTexts([read_body(file.read_bytes()) for file in files], np.array(labels))


def read_body(mail: bytes) -> str:
    """Return the text parts of a mail, undecodable bytes as Latin-1."""
    parts = []
    for part in email.message_from_bytes(mail, policy=email.policy.compat32).walk():
        if part.get_content_maintype() == "text":
            payload = part.get_payload(decode=True)
            parts.append(payload.decode("latin-1") if isinstance(payload, bytes) else str(payload))
    return "\n".join(parts)


def score_contender(make: Maker, splits: Sequence[Split]) -> Score:
    """Fit and predict on every split."""
    score = Score()
    for train, test in splits:
        model = make()
        start = time.perf_counter()
        model.fit(train.texts, train.labels)
        score.seconds.append(time.perf_counter() - start)
        if hasattr(model, "predict_proba"):
            P = np.asarray(model.predict_proba(test.texts))
            codes = np.searchsorted(model.classes_, test.labels)
            score.hits.append(P.argmax(axis=1) == codes)
            p = np.maximum(P[np.arange(len(P)), codes], MIN_PROBABILITY)
            score.log_losses.append(-np.log(p))
        else:
            score.hits.append(np.asarray(model.predict(test.texts)) == test.labels)
    return score


def format_scores(title: str, splits: Sequence[Split]) -> str:
    """Return the table of a collection; contenders that this version does not know are named."""
    scores, failures = {}, []
    for name, make in {**OURS, **PEERS}.items():
        try:
            scores[name] = score_contender(make, splits)
        except Exception as error:  # one contender must not end the row
            failures.append(f"{name}: {type(error).__name__}: {error}")
            continue
        print(f"{title}: {name}: {scores[name].accuracy:.4f}", file=sys.stderr, flush=True)
    best = max((name for name in scores if name in PEERS), key=lambda name: scores[name].accuracy)
    rows = [
        [
            name,
            f"{score.accuracy:.4f}",
            "" if name == best else score.margin_over(scores[best]),
            f"{np.concatenate(score.log_losses).mean():.4f}" if score.log_losses else "",
            format_duration(float(np.median(score.seconds))),
        ]
        for name, score in scores.items()
    ]
    head = ["", "accuracy", f"points beside {best} (95 %)", "log loss", "fit"]
    table = f"{title}\n\n{format_markdown_table(head, rows)}"
    return f"{table}\n\nNot run: {'; '.join(failures)}." if failures else table


def read_collections(quick: bool) -> Iterator[tuple[str, list[Split]]]:
    """Yield titles and splits; a quick run has the first fold of SMS spam only."""
    sms = read_sms()
    folds = [(sms[a], sms[b]) for a, b in sms.folds()]
    yield ("SMS spam, one fold", folds[:1]) if quick else ("SMS spam, five folds", folds)
    if quick:
        return
    bodies = read_bodies()
    yield "SpamAssassin, bodies, five folds", [(bodies[a], bodies[b]) for a, b in bodies.folds()]
    train, test = newsgroup_folders()
    yield "20 Newsgroups by date, headers included", [(read_folder(train), read_folder(test))]


def text_report(quick: bool) -> str:
    return "\n\n".join(format_scores(title, splits) for title, splits in read_collections(quick))
