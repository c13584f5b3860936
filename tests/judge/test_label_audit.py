"""The label audit: planted errors are found, and measures are leave-one-out estimates."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

import weigh
from weigh import errors
from weigh.cli.main import run_for_exit_code
from weigh.model import Temperature

X, CODES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
Y = NAMES[CODES]
TEXTS = [
    "free money now",
    "win money",
    "lunch at noon",
    "the meeting at noon",
    "free prize win",
    "lunch today",
]
LABELS = ["spam", "spam", "ham", "ham", "ham", "ham"]  # the fifth is wrong


def plant_errors(seed: int = 3, wrong: int = 8) -> tuple[dict[str, np.ndarray], list[int]]:
    """Return rows of two clear classes with some labels flipped, and the indices of these rows."""
    rng = np.random.default_rng(seed)
    truth = np.arange(400) % 2
    table = {
        "x": rng.normal(3.0 * truth, 1.0),
        "colour": np.where(rng.random(400) < 0.9, np.array(["red", "blue"])[truth], "green"),
        "z": rng.normal(3.0 * truth, 1.0),
    }
    flipped = sorted(rng.choice(400, wrong, replace=False).tolist())
    labels = truth.copy()
    labels[flipped] = 1 - labels[flipped]
    return table | {"label": np.array(["no", "yes"])[labels]}, flipped


def test_planted_errors_disagree_most() -> None:
    table, flipped = plant_errors()
    model = weigh.NaiveBayes().fit(table, "label").model_
    result = weigh.audit(model, table, most=len(flipped))
    assert result.left_out
    assert sorted(row.row for row in result.rows) == flipped
    assert result.wrong is not None
    assert abs(result.wrong - len(flipped)) <= 2
    assert all(row.label != row.said for row in result.rows)


def test_reasons_of_a_text_row_are_its_words() -> None:
    table = {"text": TEXTS, "label": LABELS}
    model = weigh.NaiveBayes(columns={"text": "text"}).fit(table, "label").model_
    worst = weigh.audit(model, table).rows[0]
    assert (worst.row, worst.label, worst.said) == (4, "ham", "spam")
    assert {reason.feature for reason in worst.reasons} == {"text: free", "text: win"}
    reduced = model.forget({"text": TEXTS[4:5], "label": LABELS[4:5]})
    assert worst.probability == pytest.approx(reduced.predict_proba({"text": TEXTS[4:5]})[0, 0], rel=1e-12)
    evidence = reduced.explain({"text": TEXTS[4:5]})[0]
    evidence_nats = {row.feature: row.nats for row in evidence.table}
    assert {reason.feature: reason.nats for reason in worst.reasons} == pytest.approx(
        {name: evidence_nats[name] for name in ("text: free", "text: win")}
    )


def test_measures_equal_those_of_training_without_each_row() -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    result = weigh.audit(model, X, Y)
    probabilities = []
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        probabilities.append(weigh.NaiveBayes().fit(X[others], Y[others]).predict_proba(X[[i]])[0])
    probabilities = np.array(probabilities)
    assert result.measure("log_loss").value == pytest.approx(log_loss(Y, probabilities), rel=1e-12)
    accuracy = (NAMES[probabilities.argmax(axis=1)] == Y).mean()
    assert result.measure("accuracy").value == pytest.approx(accuracy, rel=1e-15)
    assert result.measure("accuracy").low < accuracy < result.measure("accuracy").high
    assert (
        result.at_odds
        == (NAMES[probabilities.argmax(axis=1)] != Y).sum()
        == sum(p.rows for p in result.pairs)
    )


def test_pairs_of_classes_sum_to_the_number_of_wrong_labels() -> None:
    result = weigh.audit(weigh.NaiveBayes().fit(X, Y).model_, X, Y)
    assert result.wrong == sum(pair.wrong or 0 for pair in result.pairs) <= result.at_odds


def test_unseen_rows_are_judged_by_ordinary_predictions() -> None:
    model = weigh.NaiveBayes().fit(X[::2], Y[::2]).model_
    result = weigh.audit(model, X[1::2], Y[1::2])
    assert not result.left_out
    assert result.has_seen is False
    assert result.measure("accuracy").value == pytest.approx((model.predict(X[1::2]) == Y[1::2]).mean())
    with pytest.raises(errors.MergeError, match="seen=False"):
        weigh.audit(model, X[1::2], Y[1::2], seen=True)


def test_rows_of_unknown_origin_are_judged_by_ordinary_predictions() -> None:
    rng = np.random.default_rng(0)

    def draw_rows(n: int) -> dict[str, list[str]]:
        y = rng.integers(0, 2, n)
        columns = {f"c{j}": np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), y) for j in range(4)}
        return {name: values.astype(str).tolist() for name, values in (columns | {"y": y}).items()}

    model = weigh.NaiveBayes().fit(draw_rows(500), "y").model_
    fresh = draw_rows(100)
    assert model.has_learned(fresh) is None
    result = weigh.audit(model, fresh)
    assert (result.left_out, result.has_seen, result.can_forget) == (False, None, True)
    assert "if it has learned these rows" in str(result).replace("\n", " ")
    assert "Then give seen=True." in str(result).replace("\n", " ")
    plain = weigh.audit(model, fresh, seen=False)
    assert result.measures == plain.measures


def test_some_of_the_training_rows_are_left_out_with_seen_true() -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    assert not weigh.audit(model, X[::2], Y[::2]).left_out
    result = weigh.audit(model, X[::2], Y[::2], seen=True)
    assert result.left_out
    whole = weigh.audit(model, X, Y, most=200)
    assert {row.row * 2: row.loss for row in result.rows} == pytest.approx(
        {row.row: row.loss for row in whole.rows if row.row % 2 == 0}
    )


def test_training_rows_can_be_judged_by_ordinary_predictions() -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    result = weigh.audit(model, X, Y, seen=False)
    assert not result.left_out
    evaluation = weigh.evaluate(model, X, Y)
    for name in ("accuracy", "log_loss"):
        assert result.measure(name).to_dict() == evaluation.measure(name).to_dict()


def test_other_classifiers_are_audited_by_ordinary_predictions() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    result = weigh.audit(tree, X, Y)
    assert not result.left_out
    assert result.has_seen is None
    assert result.rows[0].reasons == ()
    assert "if it has learned these rows" in str(result).replace("\n", " ")
    assert result.at_odds == (tree.predict(X) != Y).sum()


def test_a_perceptron_ranks_suspects_by_score_difference() -> None:
    learner = weigh.Perceptron().fit(X[:100], Y[50:150])
    result = weigh.audit(learner, X[:100], Y[50:150], seen=True)
    assert result.wrong is None
    assert [measure.name for measure in result.measures] == ["accuracy"]
    leads = [row.lead for row in result.rows]
    assert leads == sorted(leads, reverse=True)
    assert "it has learned these rows" in str(result).replace("\n", " ")


def test_a_calibrated_model_leaves_rows_out_of_its_base_model() -> None:
    calibrated = weigh.calibrate(weigh.NaiveBayes().fit(X, Y).model_, X[1:], Y[1:])
    result = weigh.audit(calibrated, X, Y)
    assert result.left_out
    assert result.rows
    assert result.measure("log_loss").value > 0


@pytest.mark.parametrize("seen", [True, False])
def test_reasons_of_a_calibrated_model_are_scaled_like_its_lead(seen: bool) -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    calibrated = weigh.CalibratedModel(model, Temperature(3.0), np.full(3, 1 / 3))
    for plain, scaled in zip(
        weigh.audit(model, X, Y, seen=seen).rows, weigh.audit(calibrated, X, Y, seen=seen).rows, strict=True
    ):
        assert scaled.row == plain.row
        assert scaled.lead == pytest.approx(plain.lead / 3)
        assert [reason.nats for reason in scaled.reasons] == pytest.approx(
            [reason.nats / 3 for reason in plain.reasons]
        )


def test_the_only_row_of_a_class_is_not_judged() -> None:
    table = {"x": [1.0, 1.1, 3.0, 3.1, 9.0], "label": ["a", "a", "b", "b", "c"]}
    result = weigh.audit(weigh.NaiveBayes().fit(table, "label").model_, table)
    assert result.unjudged == 1
    assert "1 row is not judged" in str(result)
    assert np.isfinite(result.measure("log_loss").value)


def test_an_audit_of_unjudgeable_rows_is_rejected() -> None:
    table = {"x": [1.0, 2.0], "label": ["a", "b"]}
    with pytest.raises(errors.DataError, match="None of these rows can be judged"):
        weigh.audit(weigh.NaiveBayes().fit(table, "label").model_, table)


def test_batches_of_any_size_give_the_same_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = plant_errors()
    model = weigh.NaiveBayes().fit(table, "label").model_
    whole = weigh.audit(model, table, most=7)
    monkeypatch.setattr("weigh.judge.metrics.batches.MAX_SCORE_CELLS", 2 * 64)
    pieces = weigh.audit(model, table, most=7)
    assert [row.row for row in pieces.rows] == [row.row for row in whole.rows]
    assert pieces.wrong == whole.wrong
    assert pieces.pairs == whole.pairs
    assert pieces.measure("log_loss").value == pytest.approx(whole.measure("log_loss").value, rel=1e-13)


def test_an_audit_prints_within_eighty_columns_and_as_json_and_html() -> None:
    table = {"text": [*TEXTS, "free <script>alert(1)</script>"], "label": [*LABELS, "ham <b>" + "x" * 90]}
    model = weigh.NaiveBayes(columns={"text": "text"}).fit(table, "label").model_
    result = weigh.audit(model, table)
    assert max(map(len, str(result).splitlines())) <= 80
    assert json.loads(json.dumps(result.to_dict()))["rows"][0]["label"] == "ham"
    assert "<script>" not in result._repr_html_()
    for heading in ("row", "label", "model says", "probability of the label", "reasons"):
        assert f">{heading}</th>" in result._repr_html_()
    assert "Audit of 7 rows" in repr(result)


def test_an_audit_can_be_plotted() -> None:
    table, _ = plant_errors()
    chart = weigh.audit(weigh.NaiveBayes().fit(table, "label").model_, table, most=5).plot()
    assert "log loss of the label" in json.dumps(chart.to_dict())


def test_a_regression_has_no_labels_to_audit() -> None:
    model = weigh.LinearRegression().fit(X[:, :3], X[:, 3]).model_
    with pytest.raises(errors.Unsupported, match="a regression predicts numbers"):
        weigh.audit(model, X[:, :3], X[:, 3])


@pytest.mark.parametrize("params", [{"most": 0}, {"level": 1.0}, {"seen": "yes"}])
def test_invalid_parameters_are_rejected(params: dict[str, object]) -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    with pytest.raises(errors.ParameterError, match=next(iter(params))):
        weigh.audit(model, X, Y, **params)


def test_the_command_lists_rows_and_writes_all_of_them(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    table, flipped = plant_errors()
    with open("train.csv", "w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(table)
        lines.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    assert run_for_exit_code(["fit", "train.csv", "--label", "label", "-o", "m.weigh"]) == 0
    capsys.readouterr()
    assert run_for_exit_code(["audit", "m.weigh", "train.csv", "--most", "8", "-o", "all.csv"]) == 0
    expected = weigh.audit(weigh.load("m.weigh"), weigh.open("train.csv", "label"), most=8)
    assert capsys.readouterr().out == f"{expected}\n"
    with open("all.csv", newline="") as file:
        written = list(csv.DictReader(file))
    assert [row["label"] for row in written] == table["label"].tolist()
    assert [int(row["row"]) for row in written] == list(range(400))
    assert {int(row["row"]) for row in written if row["said"] != row["label"]} >= set(flipped)
    by_row = {int(row["row"]): float(row["probability"]) for row in written}
    assert all(by_row[row.row] == row.probability for row in expected.rows)
    assert run_for_exit_code(["audit", "m.weigh", "train.csv", "--most", "8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(expected.to_dict()))


def test_an_audit_without_disagreement_cannot_be_plotted() -> None:
    rows = {"x": [0.0, 0.1, 5.0, 5.1] * 5, "y": ["a", "a", "b", "b"] * 5}
    result = weigh.audit(weigh.NaiveBayes().fit(rows, "y"), rows)
    assert not result.rows
    with pytest.raises(errors.Unsupported, match="No row is at odds with its label"):
        result.plot()


def test_weights_whose_squares_underflow_or_overflow_are_rejected() -> None:
    from weigh.source import rows as rows_of

    table = {"x": [0.0, 0.1, 5.0, 5.1] * 5, "y": ["a", "a", "b", "b"] * 5}
    for weight in (1e-300, 1e300):
        with pytest.raises(errors.DataError, match=r"weights must be 0, or from 1e-50 to 1e\+50"):
            rows_of(table, "y", np.full(20, weight))


def test_the_number_of_wrong_labels_is_printed_as_an_estimate() -> None:
    table, _ = plant_errors()
    result = weigh.audit(weigh.NaiveBayes().fit(table, "label"), table)
    text = " ".join(str(result).split())
    assert f"labels that look wrong about {result.wrong} (" in text
    assert (
        "How many look wrong is estimated from the labels that even the surest predictions contradict. It "
        "may be a little above zero although all labels are right, where classes overlap, and is too low "
        "where many are wrong, mostly in small tables. Look at the rows."
    ) in text
