"""The label audit: planted errors are found, figures are those of leaving rows out, and nothing leaks."""

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


def planted(seed: int = 3, wrong: int = 8) -> tuple[dict[str, np.ndarray], list[int]]:
    """Rows of two clear classes, some labels turned round, and which they are."""
    rng = np.random.default_rng(seed)
    truth = np.arange(400) % 2
    table = {
        "x": rng.normal(3.0 * truth, 1.0),
        "colour": np.where(rng.random(400) < 0.9, np.array(["red", "blue"])[truth], "green"),
        "z": rng.normal(3.0 * truth, 1.0),
    }
    turned = sorted(rng.choice(400, wrong, replace=False).tolist())
    labels = truth.copy()
    labels[turned] = 1 - labels[turned]
    return table | {"label": np.array(["no", "yes"])[labels]}, turned


def test_planted_errors_are_the_rows_most_at_odds() -> None:
    table, turned = planted()
    model = weigh.NaiveBayes().fit(table, "label").model_
    found = weigh.audit(model, table, most=len(turned))
    assert found.left_out
    assert sorted(row.row for row in found.rows) == turned
    assert found.wrong is not None
    assert len(turned) <= found.wrong <= 2 * len(turned)
    assert all(row.label != row.said for row in found.rows)


def test_a_row_of_a_text_is_doubted_for_its_words() -> None:
    table = {"text": TEXTS, "label": LABELS}
    model = weigh.NaiveBayes(columns={"text": "text"}).fit(table, "label").model_
    worst = weigh.audit(model, table).rows[0]
    assert (worst.row, worst.label, worst.said) == (4, "ham", "spam")
    assert {reason.feature for reason in worst.reasons} == {"text: free", "text: win"}
    left = model.forget({"text": TEXTS[4:5], "label": LABELS[4:5]})
    assert worst.probability == pytest.approx(left.predict_proba({"text": TEXTS[4:5]})[0, 0], rel=1e-12)
    evidence = left.explain({"text": TEXTS[4:5]})[0]
    told = {row.feature: row.nats for row in evidence.table}
    assert {reason.feature: reason.nats for reason in worst.reasons} == pytest.approx(
        {name: told[name] for name in ("text: free", "text: win")}
    )


def test_the_figures_are_those_of_training_without_each_row() -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    found = weigh.audit(model, X, Y)
    shares = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        shares.append(weigh.NaiveBayes().fit(X[rest], Y[rest]).predict_proba(X[[i]])[0])
    shares = np.array(shares)
    assert found.measure("log_loss").value == pytest.approx(log_loss(Y, shares), rel=1e-12)
    accuracy = (NAMES[shares.argmax(axis=1)] == Y).mean()
    assert found.measure("accuracy").value == pytest.approx(accuracy, rel=1e-15)
    assert found.measure("accuracy").low < accuracy < found.measure("accuracy").high
    assert found.at_odds == (NAMES[shares.argmax(axis=1)] != Y).sum() == sum(p.rows for p in found.pairs)


def test_labels_look_wrong_where_another_class_suits_as_well_as_its_own_rows() -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    scores = model.left_out_scores(X, Y)
    shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    usual = np.array([shares[c == CODES, c].mean() for c in range(3)])
    said = shares.argmax(axis=1)
    expected = ((said != CODES) & (shares[np.arange(150), said] >= usual[said])).sum()
    found = weigh.audit(model, X, Y)
    assert found.wrong == expected == sum(pair.wrong or 0 for pair in found.pairs)


def test_rows_never_learned_are_judged_as_they_are_predicted() -> None:
    model = weigh.NaiveBayes().fit(X[::2], Y[::2]).model_
    found = weigh.audit(model, X[1::2], Y[1::2])
    assert not found.left_out
    assert found.has_seen is False
    assert found.measure("accuracy").value == pytest.approx((model.predict(X[1::2]) == Y[1::2]).mean())
    with pytest.raises(errors.MergeError, match="seen=False"):
        weigh.audit(model, X[1::2], Y[1::2], seen=True)


def test_rows_that_only_may_have_been_learned_are_judged_as_they_are_predicted() -> None:
    rng = np.random.default_rng(0)

    def drawn(n: int) -> dict[str, list[str]]:
        y = rng.integers(0, 2, n)
        columns = {f"c{j}": np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), y) for j in range(4)}
        return {name: values.astype(str).tolist() for name, values in (columns | {"y": y}).items()}

    model = weigh.NaiveBayes().fit(drawn(500), "y").model_
    fresh = drawn(100)
    assert model.has_learned(fresh) is None
    found = weigh.audit(model, fresh)
    assert (found.left_out, found.has_seen, found.can_forget) == (False, None, True)
    assert "if it has learned these rows" in str(found).replace("\n", " ")
    assert "give seen=True (--seen)" in str(found).replace("\n", " ")
    plain = weigh.audit(model, fresh, seen=False)
    assert found.measures == plain.measures


def test_a_part_of_the_learned_rows_is_left_out_where_it_is_said_to_be_one() -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    assert not weigh.audit(model, X[::2], Y[::2]).left_out
    found = weigh.audit(model, X[::2], Y[::2], seen=True)
    assert found.left_out
    whole = weigh.audit(model, X, Y, most=200)
    assert {row.row * 2: row.loss for row in found.rows} == pytest.approx(
        {row.row: row.loss for row in whole.rows if row.row % 2 == 0}
    )


def test_learned_rows_can_be_judged_as_they_are_predicted() -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    found = weigh.audit(model, X, Y, seen=False)
    assert not found.left_out
    evaluation = weigh.evaluate(model, X, Y)
    for name in ("accuracy", "log_loss"):
        assert found.measure(name).to_dict() == evaluation.measure(name).to_dict()


def test_other_classifiers_are_audited_as_they_predict() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    found = weigh.audit(tree, X, Y)
    assert not found.left_out
    assert found.has_seen is None
    assert found.rows[0].reasons == ()
    assert "if it has learned these rows" in str(found).replace("\n", " ")
    assert found.at_odds == (tree.predict(X) != Y).sum()


def test_a_perceptron_doubts_by_points() -> None:
    learner = weigh.Perceptron().fit(X[:100], Y[50:150])
    found = weigh.audit(learner, X[:100], Y[50:150], seen=True)
    assert found.wrong is None
    assert [measure.name for measure in found.measures] == ["accuracy"]
    leads = [row.lead for row in found.rows]
    assert leads == sorted(leads, reverse=True)
    assert "it has learned these rows" in str(found).replace("\n", " ")


def test_a_calibrated_model_leaves_rows_out_of_the_model_inside() -> None:
    calibrated = weigh.calibrate(weigh.NaiveBayes().fit(X, Y).model_, X[1:], Y[1:])
    found = weigh.audit(calibrated, X, Y)
    assert found.left_out
    assert found.rows
    assert found.measure("log_loss").value > 0


@pytest.mark.parametrize("seen", [True, False])
def test_the_reasons_of_a_calibrated_model_are_of_the_size_of_its_lead(seen: bool) -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    calibrated = weigh.CalibratedModel(model, Temperature(3.0), np.full(3, 1 / 3))
    for plain, told in zip(
        weigh.audit(model, X, Y, seen=seen).rows, weigh.audit(calibrated, X, Y, seen=seen).rows, strict=True
    ):
        assert told.row == plain.row
        assert told.lead == pytest.approx(plain.lead / 3)
        assert [each.nats for each in told.reasons] == pytest.approx(
            [each.nats / 3 for each in plain.reasons]
        )


def test_the_only_row_of_a_class_is_not_judged() -> None:
    table = {"x": [1.0, 1.1, 3.0, 3.1, 9.0], "label": ["a", "a", "b", "b", "c"]}
    found = weigh.audit(weigh.NaiveBayes().fit(table, "label").model_, table)
    assert found.unjudged == 1
    assert "1 row is not judged" in str(found)
    assert np.isfinite(found.measure("log_loss").value)


def test_where_no_row_can_be_judged_the_audit_says_so() -> None:
    table = {"x": [1.0, 2.0], "label": ["a", "b"]}
    with pytest.raises(errors.DataError, match="None of these rows can be judged"):
        weigh.audit(weigh.NaiveBayes().fit(table, "label").model_, table)


def test_batches_of_any_size_give_the_same_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = planted()
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
    found = weigh.audit(model, table)
    assert max(map(len, str(found).splitlines())) <= 80
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["label"] == "ham"
    assert "<script>" not in found._repr_html_()
    assert "Audit of 7 rows" in repr(found)


def test_an_audit_is_drawn() -> None:
    table, _ = planted()
    chart = weigh.audit(weigh.NaiveBayes().fit(table, "label").model_, table, most=5).plot()
    assert "log loss of the label" in json.dumps(chart.to_dict())


def test_a_regression_has_no_labels_to_audit() -> None:
    model = weigh.LinearRegression().fit(X[:, :3], X[:, 3]).model_
    with pytest.raises(errors.Unsupported, match="a regression predicts numbers"):
        weigh.audit(model, X[:, :3], X[:, 3])


@pytest.mark.parametrize("given", [{"most": 0}, {"level": 1.0}, {"seen": "yes"}])
def test_wrong_parameters_are_refused(given: dict[str, object]) -> None:
    model = weigh.NaiveBayes().fit(X, Y).model_
    with pytest.raises(errors.ParameterError, match=next(iter(given))):
        weigh.audit(model, X, Y, **given)


def test_the_command_lists_rows_and_writes_all_of_them(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    table, turned = planted()
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
    assert {int(row["row"]) for row in written if row["said"] != row["label"]} >= set(turned)
    by_row = {int(row["row"]): float(row["probability"]) for row in written}
    assert all(by_row[row.row] == row.probability for row in expected.rows)
    assert run_for_exit_code(["audit", "m.weigh", "train.csv", "--most", "8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(expected.to_dict()))


def test_where_no_row_is_at_odds_there_is_nothing_to_draw() -> None:
    rows = {"x": [0.0, 0.1, 5.0, 5.1] * 5, "y": ["a", "a", "b", "b"] * 5}
    found = weigh.audit(weigh.NaiveBayes().fit(rows, "y"), rows)
    assert not found.rows
    with pytest.raises(errors.Unsupported, match="No row is at odds with its label"):
        found.plot()


def test_weights_whose_squares_are_nothing_are_refused() -> None:
    from weigh.source import rows as rows_of

    table = {"x": [0.0, 0.1, 5.0, 5.1] * 5, "y": ["a", "a", "b", "b"] * 5}
    for weight in (1e-300, 1e300):
        source = rows_of(table, "y", np.full(20, weight))
        model = weigh.NaiveBayes().fit(table, "y")
        for judge in (weigh.audit, weigh.evaluate):
            with pytest.raises(errors.ParameterError, match="between 1e-100 and 1e100"):
                judge(model, source)
