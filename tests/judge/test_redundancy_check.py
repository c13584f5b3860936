"""Redundant features in audit and report: found in any order, and left out as if never trained on."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import weigh
from weigh.cli.main import run_for_exit_code
from weigh.judge.redundancy_check import RedundancyCheck
from weigh.judge.redundancy_format import describe_feature

pytestmark = pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")

SIGNATURE = ("sent", "from", "my", "phone")


def table(n: int = 1500, repeats: int = 1, seed: int = 0) -> dict[str, Any]:
    """Return a flag that agrees with the label in 80 % of the rows, copies of it, and a number."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a = np.where(rng.random(n) < 0.8, y, 1 - y)
    copies = {f"copy{k}": np.where(rng.random(n) < 0.02, 1 - a, a).astype(str) for k in range(repeats)}
    return {"a": a.astype(str), **copies, "x": rng.normal(y, 2.0), "y": np.array(["no", "yes"])[y]}


def texts(n: int = 1200, seed: int = 0) -> dict[str, list[str]]:
    """Return texts of a few words, of which many end with a signature."""
    rng = np.random.default_rng(seed)
    words = ["good", "nice", "fine", "bad", "poor", "sad"]
    found: dict[str, list[str]] = {"text": [], "y": []}
    for i in range(n):
        p = [0.25, 0.25, 0.2, 0.1, 0.1, 0.1][:: 1 if i % 2 else -1]
        signature = SIGNATURE if rng.random() < (0.6 if i % 2 else 0.3) else ()
        found["text"].append(" ".join([*rng.choice(words, 4, p=p), *signature]))
        found["y"].append("pos" if i % 2 else "neg")
    return found


def shuffle(data: dict[str, Any], seed: int) -> dict[str, Any]:
    order = np.random.default_rng(seed).permutation(len(data["y"]))
    return {name: [column[i] for i in order.tolist()] for name, column in data.items()}


def redundancy(model: Any, data: Any, y: Any = None, **options: Any) -> RedundancyCheck:
    check = weigh.audit(model, data, y, **options).redundancy
    assert check is not None
    return check


def test_a_repeated_column_is_found_and_leaving_it_out_helps() -> None:
    data = table()
    check = redundancy(weigh.NaiveBayes().fit(data, "y"), data)
    (feature,) = check.features
    assert (feature.features, feature.repeats, feature.kind) == (("copy0",), "a", "category")
    assert 0.75 < feature.share < 0.95
    assert feature.verdict == "helps"
    assert feature.confidence_change > 0.05
    assert feature.log_loss_without < check.log_loss
    assert check.together is None


def test_the_log_loss_without_a_column_is_that_of_a_model_trained_without_it() -> None:
    train, new = table(), table(1000, seed=1)
    check = redundancy(weigh.NaiveBayes().fit(train, "y"), new, seen=False)
    rest = weigh.NaiveBayes({"copy0": "skip"}).fit(train, "y")
    expected = weigh.evaluate(rest, new).measure("log_loss").value
    assert check.features[0].log_loss_without == pytest.approx(expected, rel=1e-9)
    full = weigh.evaluate(weigh.NaiveBayes().fit(train, "y"), new).measure("log_loss").value
    assert check.log_loss == pytest.approx(full, rel=1e-9)


def test_the_log_loss_without_words_is_that_of_a_model_with_stop_words() -> None:
    train, new = texts(), texts(600, seed=1)
    check = redundancy(weigh.NaiveBayes({"text": "text"}).fit(train, "y"), new, seen=False)
    (feature,) = check.features
    assert (feature.column, feature.features, feature.repeats) == ("text", ("my", "phone", "sent"), "from")
    assert feature.share == 1.0
    rest = weigh.NaiveBayes({"text": weigh.Text(stop_words=feature.features)}).fit(train, "y")
    new_rows = weigh.evaluate(rest, new).measure("log_loss").value
    assert feature.log_loss_without == pytest.approx(new_rows, rel=1e-9)


@pytest.mark.parametrize("kind", [weigh.Text(counts=False), weigh.Text(weighting="log-tfidf", norm="l2")])
def test_words_of_other_models_of_texts_are_left_out_too(kind: Any) -> None:
    data = texts()
    (feature,) = redundancy(weigh.NaiveBayes({"text": kind}).fit(data, "y"), data).features
    assert feature.features == ("my", "phone", "sent")


def test_training_rows_are_predicted_by_a_model_without_them() -> None:
    data = table(60)
    data["row"] = [f"r{i}" for i in range(60)]  # a category that a model learns by heart
    model = weigh.NaiveBayes({"row": "category"}).fit(data, "y")
    learned = redundancy(model, data)
    by_heart = redundancy(model, data, seen=False)
    assert learned.log_loss > by_heart.log_loss


def test_the_order_of_the_rows_does_not_matter() -> None:
    for data, kinds in ((table(3000), "auto"), (texts(3000), {"text": "text"})):
        first = redundancy(weigh.NaiveBayes(kinds).fit(data, "y"), data)
        shuffled = shuffle(data, 3)
        assert redundancy(weigh.NaiveBayes(kinds).fit(shuffled, "y"), shuffled).to_dict() == first.to_dict()


def test_several_copies_are_left_out_together_too() -> None:
    data = table(repeats=3)
    check = redundancy(weigh.NaiveBayes().fit(data, "y"), data)
    assert check.found == 3
    assert check.together is not None
    assert check.together.log_loss_without < min(each.log_loss_without for each in check.features)


@pytest.mark.parametrize("kind", ["flag", "count"])
def test_columns_of_wide_sparse_rows_that_occur_together_are_found(kind: str) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 1000)
    X = (rng.random((1000, 400)) < 0.05).astype(float)
    X[:, 5] = rng.random(1000) < np.where(y, 0.5, 0.2)
    X[:, [7, 300]] = X[:, [5]]
    matrix = sp.csr_matrix(X)
    (feature,) = redundancy(weigh.NaiveBayes(kind).fit(matrix, y), matrix, y).features
    assert (feature.features, feature.repeats) == (("x7", "x300"), "x5")


def test_a_sparse_flag_without_evidence_equals_a_model_without_the_column() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 800)
    X = (rng.random((800, 260)) < 0.1).astype(float)
    X[:, 5] = rng.random(800) < np.where(y, 0.6, 0.2)
    X[:, 7] = X[:, 5]
    matrix, rest = sp.csr_matrix(X), sp.csr_matrix(np.delete(X, 7, axis=1))
    check = redundancy(weigh.NaiveBayes("flag").fit(matrix, y), matrix, y, seen=False)
    expected = weigh.evaluate(weigh.NaiveBayes("flag").fit(rest, y), rest, y).measure("log_loss").value
    assert check.features[0].log_loss_without == pytest.approx(expected, rel=1e-9)


def test_columns_and_words_that_are_independent_given_the_class_are_not_reported() -> None:
    rng = np.random.default_rng(5)
    words = np.array([f"w{j}" for j in range(60)])
    y = rng.integers(0, 2, 1500)
    p = 0.02 + 0.2 * rng.random((2, 60))
    data = {"text": [" ".join(words[rng.random(60) < p[c]]) for c in y], "y": y.tolist()}
    assert weigh.audit(weigh.NaiveBayes({"text": "text"}).fit(data, "y"), data).redundancy is None
    data = table(repeats=0)
    assert weigh.audit(weigh.NaiveBayes().fit(data, "y"), data).redundancy is None


def test_a_calibrated_model_gains_less_by_leaving_a_column_out() -> None:
    data, new = table(repeats=4), table(1500, repeats=4, seed=1)
    plain = weigh.NaiveBayes().fit(data, "y")
    calibrated = weigh.NaiveBayes(calibration="temperature").fit(data, "y")
    gains = []
    for model in (plain, calibrated):
        check = redundancy(model, new, seen=False)
        assert check.together is not None
        gains.append(check.log_loss - check.together.log_loss_without)
    assert gains[1] < gains[0] / 4


def test_other_models_have_no_redundancy() -> None:
    data = table()
    assert weigh.audit(weigh.LogisticRegression().fit(data, "y"), data).redundancy is None


def test_the_command_says_what_leaving_a_column_out_would_do(tmp_path: Any, capsys: Any) -> None:
    data, file, model = table(300), tmp_path / "rows.csv", tmp_path / "m.weigh"
    lines = [",".join(map(str, row)) for row in zip(*data.values(), strict=True)]
    file.write_text("\n".join([",".join(data), *lines]) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = ["--label", "y", "--learner", "naive-bayes", "-o", str(model)]
        assert run_for_exit_code(["fit", str(file), *options]) == 0
    capsys.readouterr()
    assert run_for_exit_code(["audit", str(model), str(file), "--most", "1"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "Features that repeat others, which naive Bayes counts twice - " in output
    assert "'copy0' repeats 'a'; without it probabilities change by" in output
    assert "Leaving out 'copy0': log loss" in output
    assert "(helps). Tested on 300 rows." in output
    assert run_for_exit_code(["audit", str(model), str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["redundancy"]["features"][0]["verdict"] == "helps"


def leave_one_out_log_loss(columns: Any, data: dict[str, Any], **options: Any) -> float:
    model = weigh.NaiveBayes(columns).fit(data, "y", **options)
    return weigh.audit(model, data, seen=True).measure("log_loss").value


def repeated_flags(n: int = 2000, seed: int = 3) -> dict[str, Any]:
    """Return a few flags, so that most rows occur often, of which one repeats another."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    flags = {f"f{k}": rng.random(n) < np.where(y, 0.7, 0.4) for k in range(3)}
    return {**flags, "copy": flags["f0"], "y": np.array(["no", "yes"])[y]}


@pytest.mark.parametrize("n", [400, 2000])
def test_repeated_rows_are_left_out_one_at_a_time(n: int) -> None:
    data = {name: column for name, column in table(n).items() if name != "x"}
    data["copy0"] = data["a"]
    check = redundancy(weigh.NaiveBayes().fit(data, "y"), data)
    assert (check.n, check.is_sample) == (n, False)
    assert check.log_loss == pytest.approx(leave_one_out_log_loss("auto", data), rel=1e-9)
    without = leave_one_out_log_loss({"copy0": "skip"}, data)
    assert check.features[0].log_loss_without == pytest.approx(without, rel=1e-9)
    assert check.features[0].verdict == "helps"


def test_repeated_rows_of_flags_are_left_out_one_at_a_time() -> None:
    data = repeated_flags()
    check = redundancy(weigh.NaiveBayes().fit(data, "y"), data)
    assert check.n == 2000
    assert check.log_loss == pytest.approx(leave_one_out_log_loss("auto", data), rel=1e-9)
    without = leave_one_out_log_loss({"copy": "skip"}, data)
    assert check.features[0].log_loss_without == pytest.approx(without, rel=1e-9)


def test_leaving_words_out_of_training_texts_agrees_with_leave_one_out_without_them() -> None:
    data = texts(300)
    (feature,) = redundancy(weigh.NaiveBayes({"text": "text"}).fit(data, "y"), data).features
    without = leave_one_out_log_loss({"text": weigh.Text(stop_words=feature.features)}, data)
    assert feature.log_loss_without == pytest.approx(without, rel=1e-9)


def test_the_interval_of_repeated_rows_is_that_of_the_mean_of_all_rows() -> None:
    data = repeated_flags(500)
    check = redundancy(weigh.NaiveBayes().fit(data, "y"), data)
    losses = [
        weigh.NaiveBayes(columns).fit(data, "y").model_.left_out_scores(data, "y")
        for columns in ("auto", {"copy": "skip"})
    ]
    labels = (np.asarray(data["y"]) == "yes").astype(int)
    full, without = (
        np.logaddexp(*scores.T) - scores[np.arange(500), labels] for scores in map(np.asarray, losses)
    )
    change = without - full
    half_width = 1.9647 * change.std(ddof=1) / np.sqrt(500)
    feature = check.features[0]
    assert feature.low == pytest.approx(change.mean() - half_width, abs=1e-4 * half_width)
    assert feature.high == pytest.approx(change.mean() + half_width, abs=1e-4 * half_width)


@pytest.mark.parametrize("weight", [0.4, 7.0])
def test_the_scale_of_the_weights_does_not_matter(weight: float) -> None:
    data = {name: np.asarray(column)[:300] for name, column in repeated_flags().items()}
    plain = redundancy(weigh.NaiveBayes(prior=None).fit(data, "y"), data, seen=False).features[0]
    source = weigh.rows(data, "y", weights=np.full(300, weight))
    model = weigh.NaiveBayes(prior=None).fit(source)
    feature = redundancy(model, source, seen=False).features[0]
    assert (feature.features, feature.repeats) == (plain.features, plain.repeats)
    assert [feature.low, feature.high] == pytest.approx([plain.low, plain.high], rel=1e-6)
    learned = weigh.audit(model, source, seen=True)
    assert learned.redundancy is not None
    assert learned.redundancy.log_loss == pytest.approx(learned.measure("log_loss").value, rel=1e-9)


def dates(n: int = 800) -> dict[str, Any]:
    """Return dates whose weekday depends on the label, twice."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    days = 7 * rng.integers(0, 50, n) + np.where(rng.random(n) < 0.7, 2 * y, rng.integers(0, 7, n))
    when = (np.datetime64("2024-01-01") + days).astype(str).tolist()
    return {"when": when, "again": when, "y": np.array(["no", "yes"])[y].tolist()}


def test_a_date_is_left_out_with_all_its_parts() -> None:
    data = dates()
    check = redundancy(weigh.NaiveBayes().fit(data, "y"), data)
    (feature,) = check.features
    assert (feature.column, feature.kind, feature.repeats) == ("again", "date", "when")
    assert len(feature.features) > 1
    without = leave_one_out_log_loss({"again": "skip"}, data)
    assert feature.log_loss_without == pytest.approx(without, rel=1e-9)
    assert feature.confidence_change > 0.05
    lines = " ".join(str(weigh.audit(weigh.NaiveBayes().fit(data, "y"), data)).split())
    assert "- 'again' repeats 'when'; without it probabilities change by" in lines
    assert "Leaving out 'again': log loss" in lines


def test_words_that_exclude_each_other_do_not_occur_together() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    greets = rng.random(600) < np.where(y, 0.7, 0.3)
    data = {
        "text": np.where(greets, "hello dear friend", "goodbye forever").tolist(),
        "n": rng.normal(size=600).tolist(),  # copies of a text are one observation
        "y": y.tolist(),
    }
    data["text"] = [f"{text} w{i}" for i, text in enumerate(data["text"])]
    check = redundancy(weigh.NaiveBayes({"text": "text"}).fit(data, "y"), data)
    found = {feature.repeats: feature.features for feature in check.features}
    assert found == {"dear": ("friend", "hello"), "forever": ("goodbye",)}


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("n_flags", [30, 300])
def test_flags_are_compared_once(n_flags: int, is_sparse: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = (rng.random((600, n_flags)) < 0.1).astype(float)
    X[:, 0] = rng.random(600) < np.where(y, 0.6, 0.2)
    X[:, 1] = X[:, 0]
    rows = sp.csr_matrix(X) if is_sparse else X
    check = redundancy(weigh.NaiveBayes("flag").fit(rows, y), rows, y)
    assert [(f.features, f.repeats, f.occur_together) for f in check.features] == [(("x1",), "x0", False)]
    assert check.found == 1
    rest = np.delete(X, 1, axis=1)
    rest = sp.csr_matrix(rest) if is_sparse else rest
    without = weigh.audit(weigh.NaiveBayes("flag").fit(rest, y), rest, y).measure("log_loss").value
    assert check.features[0].log_loss_without == pytest.approx(without, rel=1e-9)


def test_opposite_flags_of_sparse_rows_repeat_each_other() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = (rng.random((600, 300)) < 0.1).astype(float)
    X[:, 0] = rng.random(600) < np.where(y, 0.6, 0.2)
    X[:, 1] = 1 - X[:, 0]
    matrix = sp.csr_matrix(X)
    (feature,) = redundancy(weigh.NaiveBayes("flag").fit(matrix, y), matrix, y).features
    assert describe_feature(feature) == "'x1' repeats 'x0'"


def test_features_are_ranked_by_their_effect_and_words_compete_with_columns() -> None:
    data = texts(600)
    rng = np.random.default_rng(1)
    noise = rng.choice(["u", "v"], 600)
    data |= {f"noise{k}": noise.tolist() for k in range(7)}
    check = redundancy(weigh.NaiveBayes({"text": "text"}).fit(data, "y"), data)
    assert check.found == 7
    assert len(check.features) == 5
    assert check.features[0].column == "text"


def test_words_without_an_effect_are_neither_listed_nor_counted() -> None:
    data = texts(600)
    data["text"] = [f"{text} aa bb" if i % 4 < 2 else text for i, text in enumerate(data["text"])]
    noise = np.random.default_rng(1).choice(["u", "v"], 600).tolist()
    data |= {f"noise{k}": noise for k in range(7)}  # more than are tested
    check = redundancy(weigh.NaiveBayes({"text": weigh.Text(counts=False)}).fit(data, "y"), data)
    assert (check.found, check.features[0].repeats) == (1 + 6, "from")


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [(weigh.Text(), "stop_words"), (weigh.Text(min_count=2), None), (weigh.Text(chars=True), None)],
)
def test_stop_words_are_advised_only_for_texts_with_standard_settings(kind: Any, remedy: Any) -> None:
    data = texts(600)
    check = redundancy(weigh.NaiveBayes({"text": kind}).fit(data, "y"), data)
    assert {feature.remedy for feature in check.features} == {remedy}
