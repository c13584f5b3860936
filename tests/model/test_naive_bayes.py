"""Posteriors, evidence, forgetting and labels of naive Bayes models."""

from __future__ import annotations

import pytest

import weigh
from weigh import errors

TABLE = {"x": ["a", "b", "b"], "t": ["one two", "two", "three"], "y": [0, 1, 1]}


def test_the_posterior_of_a_word_without_counts_is_a_beta():
    model = weigh.NaiveBayes({"t": weigh.Text(counts=False)}).fit(TABLE, "y").model_
    assert model.posterior("t: two", 1) == weigh.Beta(2, 2)
    with pytest.raises(errors.Unsupported, match="Column 't' has a separate probability for each word"):
        model.posterior("t", 1)


def test_a_model_that_has_forgotten_all_rows_cannot_predict():
    nb = weigh.NaiveBayes().fit(TABLE, "y")
    nb.forget(TABLE, "y")
    with pytest.raises(errors.Unsupported, match="This model has no classes"):
        nb.predict(TABLE)


def test_explaining_many_texts_takes_linear_time():
    rows = [" ".join(f"word{(7 * i + k) % 5000}" for k in range(30)) for i in range(2000)]
    nb = weigh.NaiveBayes({"text": "text"}).fit(rows, [i % 2 for i in range(2000)])
    evidence = nb.explain(rows)
    assert len(evidence) == 2000
    assert evidence[0].total == pytest.approx(abs(float(nb.model_.scores(rows[:1])[0] @ [1, -1])))


def test_the_wider_class_wins_for_extreme_values():
    nb = weigh.NaiveBayes().fit({"n": [1.5, 2.5, 3.5, 9.0], "y": ["p", "q", "p", "q"]}, "y")
    for value in (1e7, 1e150, 1e154, 1e300, 1e308):
        evidence = nb.explain({"n": value})[0]
        assert evidence.verdict == "q"
        assert evidence.total > 0
        assert evidence.probability == 1.0


def test_forgetting_a_number_that_was_never_learned_is_rejected():
    model = weigh.NaiveBayes().fit({"n": [1.5, 3.5, 2.5, 9.0], "y": ["p", "p", "q", "q"]}, "y").model_
    for value in (3.4, 3.6):
        with pytest.raises(errors.MergeError, match="These rows were not all learned by this model"):
            model.forget({"n": [value], "y": ["p"]}, "y")
    assert model.forget({"n": [3.5], "y": ["p"]}, "y").counts.rows.tolist() == [1, 2]


def test_labels_keep_a_trailing_nul():
    nb = weigh.NaiveBayes().fit({"x": ["a", "b", "a"], "y": ["n\0", "n", "n\0"]}, "y")
    assert nb.classes_.tolist() == ["n", "n\0"]
    assert nb.predict({"x": "a"}).tolist() == ["n\0"]


def test_labels_of_several_types_are_rejected():
    with pytest.raises(errors.LabelError, match="The labels are of several types: 1, 'b'"):
        weigh.NaiveBayes().fit({"x": ["a", "b"], "y": [1, "b"]}, "y")


def test_a_file_with_a_duplicate_class_is_rejected(tmp_path):
    from weigh.model.file import store

    model = weigh.NaiveBayes().fit(TABLE, "y").model_
    meta, arrays = model.to_store()
    store.write(tmp_path / "m.weigh", {"model": model.type_name, **meta, "classes": [0, 0]}, arrays)
    with pytest.raises(errors.ModelFileError, match="list of names 'classes' has duplicate"):
        weigh.load(tmp_path / "m.weigh")


def test_a_column_without_values_and_prior_is_missing_in_samples() -> None:
    table = {"x": [1.0, 2.0, 3.0], "empty": [None, None, None], "y": ["a", "b", "a"]}
    for kind in ("category", weigh.Category(levels=("u", "v"))):
        model = weigh.NaiveBayes(prior=None, columns={"empty": kind}).fit(table, "y").model_
        assert model.sample(4)["empty"].tolist() == [None] * 4
