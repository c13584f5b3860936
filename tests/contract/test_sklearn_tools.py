"""The learners in scikit-learn's tools: pipelines, grid search, cross-validation, clone and pickle."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import weigh
from weigh import errors


@pytest.fixture
def mails() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    spam = rng.random(300) < 0.4
    return pd.DataFrame(
        {
            "links": rng.poisson(np.where(spam, 30, 12)),
            "known": rng.random(300) < np.where(spam, 0.2, 0.9),
            "origin": np.where(rng.random(300) < 0.7, np.where(spam, "list", "friend"), "other"),
            "size": rng.normal(np.where(spam, 2.0, 3.0), 1.0),
            "spam": np.where(spam, "yes", "no"),
        }
    )


def test_cross_validation_takes_a_frame_and_a_label_column(mails: pd.DataFrame) -> None:
    accuracies = cross_val_score(weigh.NaiveBayes(), mails.drop(columns="spam"), mails["spam"])
    assert len(accuracies) == 5
    assert accuracies.min() > 0.9


def test_cross_val_predict_gives_probabilities_for_every_row(mails: pd.DataFrame) -> None:
    probabilities = cross_val_predict(
        weigh.NaiveBayes(), mails.drop(columns="spam"), mails["spam"], method="predict_proba"
    )
    assert probabilities.shape == (300, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_a_grid_search_runs_over_priors(mails: pd.DataFrame) -> None:
    priors = [0.1, 1.0, weigh.Dirichlet(2.0), {"origin": 5.0}]
    search = GridSearchCV(weigh.NaiveBayes(), {"prior": priors}, scoring="neg_log_loss", error_score="raise")
    search.fit(mails.drop(columns="spam"), mails["spam"])
    assert search.best_params_["prior"] in priors
    assert search.predict(mails.drop(columns="spam").iloc[:3]).shape == (3,)


def test_a_pipeline_ends_in_the_learner() -> None:
    X, y = load_iris(return_X_y=True)
    assert make_pipeline(StandardScaler(), weigh.NaiveBayes()).fit(X, y).score(X, y) > 0.9


def test_a_pipeline_with_frames_between_its_steps_keeps_their_names() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), weigh.NaiveBayes()).set_output(transform="pandas")
    fitted = pipeline.fit(X, y)
    assert fitted[-1].feature_names_in_.tolist() == X.columns.tolist()
    assert fitted.predict(X).dtype == y.dtype


def test_a_pipeline_may_produce_sparse_rows() -> None:
    texts, labels = ["good film", "bad film", "good good", "bad bad"], ["+", "-", "+", "-"]
    pipeline = make_pipeline(CountVectorizer(), weigh.NaiveBayes(columns="count")).fit(texts, labels)
    assert pipeline.predict(["good", "bad"]).tolist() == ["+", "-"]


def test_a_column_transformer_feeds_the_learner(mails: pd.DataFrame) -> None:
    transformer = make_column_transformer(
        (FunctionTransformer(), ["origin", "links"]), verbose_feature_names_out=False
    )
    pipeline = make_pipeline(transformer.set_output(transform="pandas"), weigh.NaiveBayes())
    pipeline.fit(mails.drop(columns="spam"), mails["spam"])
    assert pipeline[-1].schema_.names == ("origin", "links")


@pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")
@pytest.mark.filterwarnings("ignore::weigh.errors.FlatColumns")
def test_one_against_the_rest_learns_several_labels_per_row() -> None:
    X, y = load_digits(return_X_y=True)
    labels = np.column_stack([y % 2 == 0, y > 4]).astype(int)
    several = OneVsRestClassifier(weigh.NaiveBayes()).fit(X, labels)
    assert several.predict(X[:7]).shape == (7, 2)


def test_a_clone_has_the_parameters_but_is_not_fitted(mails: pd.DataFrame) -> None:
    prior = {"origin": weigh.Dirichlet(3.0)}
    learner = weigh.NaiveBayes(columns={"links": "count"}, prior=prior, class_prior="uniform", missing=["?"])
    copy = clone(learner.fit(mails, "spam"))
    assert repr(copy) == repr(learner)
    assert not hasattr(copy, "model_")
    with pytest.raises(NotFittedError):
        copy.predict(mails)


def test_get_params_and_set_params_round_trip() -> None:
    params = weigh.NaiveBayes(
        prior=None, complement=True, threads=2, number=weigh.Number(bins=5)
    ).get_params()
    again = weigh.NaiveBayes().set_params(**params)
    assert again.get_params() == params


def test_fit_does_not_change_the_parameters(mails: pd.DataFrame) -> None:
    learner = weigh.NaiveBayes(missing="?", columns={"size": "number"})
    before = dict(learner.get_params())
    learner.fit(mails, "spam").partial_fit(mails, "spam")
    after = learner.get_params()
    assert all(after[name] is before[name] for name in before)


def test_a_pickled_learner_has_the_same_model(mails: pd.DataFrame) -> None:
    learner = weigh.NaiveBayes().fit(mails, "spam")
    again = pickle.loads(pickle.dumps(learner))
    assert again.model_.to_bytes() == learner.model_.to_bytes()
    assert (again.predict(mails) == learner.predict(mails)).all()


def test_names_of_features_are_those_of_the_frame_without_the_label(mails: pd.DataFrame) -> None:
    learner = weigh.NaiveBayes().fit(mails, "spam")
    assert learner.feature_names_in_.tolist() == ["links", "known", "origin", "size"]
    assert learner.n_features_in_ == 4
    assert not hasattr(learner.fit(mails[["size"]].to_numpy(), mails["spam"]), "feature_names_in_")


def test_a_label_column_left_in_the_rows_is_ignored(mails: pd.DataFrame) -> None:
    learner = weigh.NaiveBayes().fit(mails, "spam")
    np.testing.assert_array_equal(learner.predict(mails), learner.predict(mails.drop(columns="spam")))
    assert learner.score(mails, "spam") == learner.score(mails.drop(columns="spam"), mails["spam"])


def test_columns_are_found_by_name_whatever_their_order(mails: pd.DataFrame) -> None:
    learner = weigh.NaiveBayes().fit(mails, "spam")
    reordered = mails[["spam", "size", "origin", "known", "links"]]
    np.testing.assert_array_equal(learner.predict_proba(reordered), learner.predict_proba(mails))


def test_a_weight_is_equivalent_to_repeated_rows(mails: pd.DataFrame) -> None:
    weights = np.random.default_rng(1).integers(0, 4, len(mails))
    weighted = weigh.NaiveBayes().fit(mails, "spam", sample_weight=weights)
    repeated = weigh.NaiveBayes(columns=weighted.schema_).fit(mails.loc[mails.index.repeat(weights)], "spam")
    assert weighted.model_.to_bytes() == repeated.model_.to_bytes()


def test_score_is_weighted_by_the_sample_weights(mails: pd.DataFrame) -> None:
    learner = weigh.NaiveBayes().fit(mails, "spam")
    wrong = learner.predict(mails) != mails["spam"].to_numpy()
    assert wrong.any()
    assert learner.score(mails, "spam", sample_weight=wrong.astype(float)) == 0.0


def test_all_zero_weights_are_an_error(mails: pd.DataFrame) -> None:
    with pytest.raises(errors.DataError, match="All weights are zero"):
        weigh.NaiveBayes().fit(mails, "spam", sample_weight=np.zeros(len(mails)))
