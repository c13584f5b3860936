"""`unfamiliar`: rows and columns unlike those of training."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import weigh
from weigh import errors
from weigh.explain.distribution_shift import g_test
from weigh.explain.novelty_detection import NoveltyDetector

RNG = np.random.default_rng(0)
N = 2000
TABLE = {
    "animal": RNG.choice(["cat", "dog"], N).tolist(),
    "height": RNG.normal(0.5, 0.1, N),
    "tame": RNG.random(N) < 0.8,
    "name": ["felix the cat" if k % 2 else "rex barks loud" for k in range(N)],
    "y": RNG.choice(["p", "q"], N).tolist(),
}
MODEL = weigh.NaiveBayes(columns={"name": "text"}).fit(TABLE, "y").model_
ROWS = {key: TABLE[key] for key in ("animal", "height", "tame", "name")}


def one(**changes):
    return {"animal": "cat", "height": 0.5, "tame": True, "name": "felix"} | changes


def reasons(**changes):
    result = weigh.unfamiliar(MODEL, one(**changes)).rows
    return [str(reason) for row in result for reason in row.reasons]


def test_the_training_rows_are_familiar():
    result = weigh.unfamiliar(MODEL, ROWS)
    assert (result.n_rows, result.shifted) == (N, ())
    assert len(result.rows) <= 0.01 * N
    assert result.false_alarm_rate == pytest.approx(0.01, abs=1e-4)
    usual = weigh.unfamiliar(MODEL, one())
    assert str(usual) == (
        "0 rows of 1 unlike the training rows (false alarms: about 1 %).\n\nToo few rows to test the columns."
    )


def test_a_level_never_seen_is_flagged():
    assert reasons(animal="giraffe") == ["animal = giraffe: never seen"]


def test_a_rare_level_is_flagged():
    rows = {"a": ["x"] * 499 + ["z"] * 499 + ["y"] * 2, "y": ["p", "q"] * 500}
    (row,) = weigh.unfamiliar(weigh.NaiveBayes().fit(rows, "y"), {"a": ["x", "y"]}).rows
    assert [str(reason) for reason in row.reasons] == ["a = y: in 2 of 1,000 training rows"]
    assert row.reasons[0].what == "a rare value"


def test_numbers_outside_the_training_range_are_flagged():
    largest, smallest = max(TABLE["height"]), min(TABLE["height"])
    assert reasons(height=5.5) == [f"height = 5.5: above all 2,000 training values (largest: {largest:.3g})"]
    assert reasons(height=-5.5) == [
        f"height = -5.5: below all 2,000 training values (smallest: {smallest:.3g})"
    ]
    assert reasons(height=largest)[0].endswith("above all but 1 of 2,000 training values")


def test_flags_that_were_never_or_always_present_are_flagged():
    rows = {
        "always": [True] * 500,
        "never": [False] * 500,
        "half": [True, False] * 250,
        "y": ["p", "q"] * 250,
    }
    model = weigh.NaiveBayes(columns=dict.fromkeys(["always", "never", "half"], "flag")).fit(rows, "y")
    new = {"always": [True, False, None], "never": [False, True, None], "half": [True, False, None]}
    (row,) = weigh.unfamiliar(model, new).rows
    assert row.row == 1
    assert sorted(map(str, row.reasons)) == ["always = 0: never seen", "never = 1: never seen"]


def test_bare_arrays_flag_only_gross_differences():
    X = RNG.normal(size=(500, 4))
    model = weigh.NaiveBayes().fit(X, X[:, 0] > 0)
    found = weigh.unfamiliar(model, np.array([[0, 0, 0, 0], [0, 50.0, 0, 0], [np.nan] * 4], dtype=float))
    assert [row.row for row in found.rows] == [1]
    (reason,) = found.rows[0].reasons
    assert reason.column == "x1"
    assert reason.why.endswith("standard deviations from the nearest class")


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
@pytest.mark.parametrize(("n", "k"), [(24, 3), (60, 10), (200, 30)])
@pytest.mark.parametrize("name", ["t with 2 degrees of freedom", "Cauchy"])
def test_heavy_tails_in_bare_arrays_keep_the_stated_rate(name, n, k):
    shares = []
    for seed in range(30):
        rng = np.random.default_rng([seed, n, k])
        draw = rng.standard_cauchy if name == "Cauchy" else lambda size, rng=rng: rng.standard_t(2, size)
        found = weigh.unfamiliar(weigh.NaiveBayes().fit(draw((n, k)), np.arange(n) % 2), draw((200, k)))
        shares.append(len(found.rows) / 200)
    assert found.false_alarm_rate == pytest.approx(max(0.01, 1 / (n / 2 + 1)))
    assert np.mean(shares) <= found.false_alarm_rate


def test_bare_arrays_of_few_rows_are_not_examined():
    X = RNG.normal(size=(12, 4))
    found = weigh.unfamiliar(weigh.NaiveBayes().fit(X, [0, 1] * 6), 1e9 + X)
    assert (found.rows, found.false_alarm_rate) == ((), None)
    assert found.headline == (
        "No row of 12 can be examined: the model keeps too little of x0, x1, x2 and 1 more."
    )


def test_rows_of_a_small_class_may_all_be_flagged():
    X = RNG.normal(size=(100, 2))
    found = weigh.unfamiliar(weigh.NaiveBayes().fit(X, np.arange(100) >= 95), X)
    assert found.false_alarm_rate == pytest.approx(0.95 / 96 + 0.05, abs=1e-3)


def test_columns_that_are_not_examined_are_named():
    counts = RNG.poisson(3.0, size=(200, 2))
    model = weigh.NaiveBayes(columns="count").fit(counts, [0, 1] * 100)
    found = weigh.unfamiliar(model, counts[:5])
    assert str(found).startswith("No row of 5 can be examined: the model keeps too little of x0, x1.\n")
    assert found.to_dict()["false_alarm_rate"] is None
    rows = {"n": counts[:, 0], "a": ["x", "z"] * 100}
    mixed = weigh.NaiveBayes(columns={"n": "count"}).fit(rows | {"y": ["p", "q"] * 100}, "y")
    found = weigh.unfamiliar(mixed, {"n": [3, 4000], "a": ["x", "u"]})
    assert found.not_examined == ("n",)
    assert found.headline == (
        "1 row of 2 unlike the training rows (false alarms: about 1 %; not examined: n)."
    )


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("columns", ["auto", {"x": weigh.Number(shape="normal")}], ids=["grid", "normal"])
def test_the_largest_numbers_are_compared_without_overflow(columns):
    x = 1.7e308 * np.linspace(-1.0, 1.0, 60)
    model = weigh.NaiveBayes(columns=columns).fit({"x": x, "y": ["p", "q"] * 30}, "y")
    assert weigh.unfamiliar(model, {"x": x}).rows == ()
    small = weigh.NaiveBayes(columns=columns).fit({"x": x / 1e300, "y": ["p", "q"] * 30}, "y")
    assert len(weigh.unfamiliar(small, {"x": x}).rows) == 60


SKEWED = {
    "normal": lambda rng, n: rng.normal(size=n),
    "log-normal": lambda rng, n: np.exp(2 * rng.normal(size=n)),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "zero-inflated": lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, np.exp(rng.normal(size=n))),
    "rare levels": lambda rng, n: [f"v{min(k, 10**6)}" for k in rng.zipf(1.6, n)],
}


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
@pytest.mark.parametrize("name", SKEWED)
@pytest.mark.parametrize("n", [40, 400])
def test_rows_like_the_training_rows_are_flagged_at_most_at_the_stated_rate(name, n):
    # 20 tables with 5 columns each; twice the standard error allows for chance.
    shares, rate = [], 0.0
    for seed in range(20):
        rng = np.random.default_rng([seed, n])
        rows = {f"x{j}": SKEWED[name](rng, 2 * n) for j in range(5)}
        y = np.where(rng.random(2 * n) < 0.5, "p", "q")
        model = weigh.NaiveBayes().fit({key: values[:n] for key, values in rows.items()}, y[:n])
        found = weigh.unfamiliar(model, {key: values[n:] for key, values in rows.items()})
        shares.append(len(found.rows) / n)
        rate = found.false_alarm_rate
    assert rate == max(1, int(0.01 * (n + 1))) / (n + 1)
    assert np.mean(shares) <= rate + 2 * np.std(shares) / 20**0.5


@pytest.mark.filterwarnings("ignore::weigh.errors.WeighWarning")
def test_rows_that_moved_are_flagged():
    rng = np.random.default_rng(0)
    rows = {f"x{j}": rng.normal(size=1000) for j in range(5)}
    model = weigh.NaiveBayes().fit(rows, rng.choice(["p", "q"], 1000))
    moved = weigh.unfamiliar(model, {key: values + 3 for key, values in rows.items()})
    assert len(moved.rows) > 900


def test_the_rate_does_not_depend_on_merging_or_forgetting():
    half = {key: values[:1000] for key, values in TABLE.items()}
    rest = {key: values[1000:] for key, values in TABLE.items()}
    learner = weigh.NaiveBayes(columns={"name": "text"}).fit(half, "y").partial_fit(rest, "y")
    assert weigh.unfamiliar(learner, ROWS).to_dict() == weigh.unfamiliar(MODEL, ROWS).to_dict()


SOURCE = [f"w{k}" for k in range(3000)]


def write_texts(rng, n, first=0):
    """Texts of 3 to 40 words with Zipf's frequencies; `first` leaves out the most frequent words."""
    lengths = rng.integers(3, 40, n)
    return [" ".join(SOURCE[first + k % 1500] for k in rng.zipf(1.3, length)) for length in lengths]


def test_texts_of_one_source_have_few_false_alarms_at_any_length():
    rng = np.random.default_rng(0)
    model = weigh.NaiveBayes(columns={"t": "text"}).fit(
        {"t": write_texts(rng, 1000), "y": ["p", "q"] * 500}, "y"
    )
    texts = write_texts(rng, 2000)
    flagged = np.zeros(2000)
    flagged[[row.row for row in weigh.unfamiliar(model, {"t": texts}).rows]] = 1
    is_long = np.array([len(text.split()) >= 20 for text in texts])
    assert max(flagged[is_long].mean(), flagged[~is_long].mean()) <= 0.015
    others = weigh.unfamiliar(model, {"t": write_texts(rng, 500, first=1500)})
    assert len(others.rows) > 250


def test_texts_of_unknown_words_are_flagged():
    assert reasons(name="felix barks loud cat") == []
    assert reasons(name="felix barks unheard") == ["name = felix …: 1 of 3 words never seen"]
    assert reasons(name="unheard") == ["name = unheard: all words never seen"]
    assert reasons(name="felix unheard words") == ["name = felix …: 2 of 3 words never seen"]


def test_flagged_rows_are_counted_by_type_of_reason():
    rows = [
        one(animal="giraffe"),
        one(animal="ant", height=5.5),
        one(height=9.0),
        one(height=8.0),
        one(name="unheard"),
    ]
    assert weigh.unfamiliar(MODEL, rows).kinds == {
        "a number outside the training range": 3,
        "a value never seen": 2,
        "unusual words": 1,
    }


def test_missing_values_are_not_unfamiliar():
    assert reasons(animal=None, height=None, tame=None, name=None) == []


def test_columns_that_shift_are_found_and_others_are_not():
    rows = ROWS | {"height": TABLE["height"] + 0.2, "animal": ["cat"] * N}
    result = weigh.unfamiliar(MODEL, rows)
    assert [each.column for each in result.shifted] == ["height", "animal"]
    assert result.shifted[0].effect == pytest.approx(2.0, abs=0.1)
    assert "2 columns of 4 shifted:" in str(result)
    assert max(map(len, str(result).splitlines())) <= 80


def test_a_flag_that_shifts_is_found():
    result = weigh.unfamiliar(MODEL, ROWS | {"tame": np.zeros(N, dtype=bool)})
    assert [(each.column, each.now) for each in result.shifted] == [("tame", "1 0.00 %")]


def test_the_g_test_is_that_of_scipy():
    table = np.array([[30.0, 50.0, 20.0], [45.0, 35.0, 20.0]])
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue
    assert g_test(table) == pytest.approx(expected, rel=1e-12)


def test_rare_values_are_pooled():
    table = np.array([[100.0, 90.0, 1.0, 1.0], [110.0, 95.0, 0.0, 2.0]])
    pooled = np.array([[100.0, 90.0, 2.0], [110.0, 95.0, 2.0]])
    expected = stats.chi2_contingency(pooled, correction=False, lambda_="log-likelihood").pvalue
    assert g_test(table) == pytest.approx(expected, rel=1e-12)


def test_few_rows_are_not_tested():
    assert weigh.unfamiliar(MODEL, one()).columns == ()
    assert str(weigh.unfamiliar(MODEL, one())).endswith("Too few rows to test the columns.")


def test_chunks_give_the_same_answer_as_the_whole():
    rows = ROWS | {"animal": ["ant" if k % 500 == 7 else "cat" for k in range(N)], "height": [0.5] * N}
    whole = weigh.unfamiliar(MODEL, rows)
    watch = NoveltyDetector(MODEL)
    source = weigh.rows(rows)
    result = [row for chunk in source.chunks(size=300) for row in watch.flag_rows(chunk)]
    assert [row.row for row in result] == [7, 507, 1007, 1507]
    again = watch.result(result)
    assert (again.rows, again.n_rows) == (whole.rows, whole.n_rows)
    assert [each.p for each in again.columns] == pytest.approx([each.p for each in whole.columns])
    assert watch.n_flagged == 4


def test_html_has_a_table_of_the_reasons():
    html = weigh.unfamiliar(MODEL, ROWS | {"animal": ["unicorn"] * N, "height": [0.5] * N})._repr_html_()
    for heading in ("row", "column", "value", "why"):
        assert f">{heading}</th>" in html
    assert ">unicorn</td>" in html
    assert f"… and {N - 10:,} more" in html


def test_json_holds_everything():
    data = json.loads(json.dumps(weigh.unfamiliar(MODEL, ROWS | {"height": TABLE["height"] + 9}).to_dict()))
    assert len(data["rows"]) == N
    assert {column["column"]: column["shifted"] for column in data["columns"]}["height"] is True


def test_models_without_training_rows_are_rejected():
    with pytest.raises(
        errors.Unsupported, match="This LinearModel does not remember what its training rows were like"
    ):
        weigh.unfamiliar(
            weigh.NaiveBayes().fit({"a": ["x", "y"], "y": [0, 1]}, "y").model_.linear(), {"a": "x"}
        )
