"""Real texts: 20 Newsgroups (its official split) and SMS spam (five stratified folds).

Both libraries get the same texts, splits and grid of pseudo-counts; the selected one has the best accuracy
in five folds of the training part, which for SMS spam is nested cross-validation. scikit-learn counts words
once per fold for all its learners.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.data import LabelledTexts, newsgroup_folders, read_folder, read_sms
from benchmarks.results import format_markdown_table

GRID = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
FORMS = ("multinomial", "Bernoulli", "complement")

Setting = tuple[str, float]
Accuracies = dict[Setting, float]


AccuracyFunction = Callable[[LabelledTexts, LabelledTexts, Sequence[Setting]], Accuracies]


def weigh_accuracies(train: LabelledTexts, test: LabelledTexts, settings: Sequence[Setting]) -> Accuracies:
    """Return the test accuracy of weigh under every setting."""
    import weigh

    accuracies = {}
    for form, prior in settings:
        columns = weigh.Text(counts=form != "Bernoulli")
        learner = weigh.NaiveBayes(columns=columns, prior=prior, complement=form == "complement")
        predicted = learner.fit(train.texts, train.labels).predict(test.texts)
        accuracies[form, prior] = float(np.mean(predicted == test.labels))
    return accuracies


def sklearn_accuracies(train: LabelledTexts, test: LabelledTexts, settings: Sequence[Setting]) -> Accuracies:
    """Return the test accuracy of scikit-learn under every setting."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

    learners = {"multinomial": MultinomialNB, "Bernoulli": BernoulliNB, "complement": ComplementNB}
    vectoriser = CountVectorizer()
    X = vectoriser.fit_transform(train.texts)
    X_test = vectoriser.transform(test.texts)
    accuracies = {}
    for form, prior in settings:
        predicted = learners[form](alpha=prior).fit(X, train.labels).predict(X_test)
        accuracies[form, prior] = float(np.mean(predicted == test.labels))
    return accuracies


def select_pseudo_counts(side: AccuracyFunction, train: LabelledTexts) -> dict[str, float]:
    """Return the pseudo-count with the best cross-validated accuracy on `train`, by form of naive Bayes."""
    settings = [(form, prior) for form in FORMS for prior in GRID]
    folds = [side(train[a], train[b], settings) for a, b in train.folds()]
    mean = {setting: np.mean([fold[setting] for fold in folds]) for setting in settings}
    return {form: max(GRID, key=lambda prior: mean[form, prior]) for form in FORMS}


def accuracy_rows(
    name: str, side: AccuracyFunction, splits: Sequence[tuple[LabelledTexts, LabelledTexts]]
) -> list[list[str]]:
    """Return the mean accuracies over the splits with pseudo-count 1 and with the selected ones."""
    default: list[Accuracies] = []
    best: list[tuple[dict[str, float], Accuracies]] = []
    for train, test in splits:
        priors = select_pseudo_counts(side, train)
        settings = {(form, 1.0) for form in FORMS} | set(priors.items())
        hits = side(train, test, sorted(settings))
        default.append(hits)
        best.append((priors, hits))
    rows = []
    for form in FORMS:
        plain = np.mean([hits[form, 1.0] for hits in default])
        tuned = np.mean([hits[form, priors[form]] for priors, hits in best])
        chosen = ", ".join(dict.fromkeys(f"{priors[form]:g}" for priors, _ in best))
        rows.append([f"{name}, {form}", f"{plain:.4f}", f"{tuned:.4f}", chosen])
    return rows


def format_accuracy_table(title: str, splits: Sequence[tuple[LabelledTexts, LabelledTexts]]) -> str:
    sides: dict[str, AccuracyFunction] = {"weigh": weigh_accuracies, "scikit-learn": sklearn_accuracies}
    head = ["", "accuracy, pseudo-count 1", "accuracy, chosen", "chosen"]
    body = [row for name, side in sides.items() for row in accuracy_rows(name, side, splits)]
    return f"{title}\n\n{format_markdown_table(head, body)}"


def real_text_tables(quick: bool) -> str:
    """Return the tables of both collections; a quick run takes the first fold of SMS spam only."""
    sms = read_sms()
    sms_splits = [(sms[a], sms[b]) for a, b in sms.folds()]
    if quick:
        return format_accuracy_table("SMS spam, one fold", sms_splits[:1])
    train, test = newsgroup_folders()
    return "\n\n".join(
        [
            format_accuracy_table("20 Newsgroups, official split", [(read_folder(train), read_folder(test))]),
            format_accuracy_table("SMS spam, means of five folds", sms_splits),
        ]
    )
