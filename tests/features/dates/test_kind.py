"""Columns of dates: their inference, their parts, and models that learn from them."""

from __future__ import annotations

import datetime as dt
import json
import random
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import weigh
from weigh import errors
from weigh.features import Category, Number, Text
from weigh.features.inference.dates import choose_parts
from weigh.features.inference.schema import infer_schema
from weigh.learn import BayesTask
from weigh.source import rows
from weigh.source.selected_rows import SelectedRows

N = 400
ALL_PARTS = ("weekday", "month", "hour", "days")
LEARNERS = {
    "naive Bayes": weigh.NaiveBayes,
    "perceptron": weigh.Perceptron,
    "logistic": weigh.LogisticRegression,
    "online": lambda: weigh.LogisticRegression(method="online"),
    "threshold": weigh.Threshold,
}


def moments(n: int = N, days: int = 800) -> list[dt.datetime]:
    rng = random.Random(4)
    start = dt.datetime(2022, 1, 1)
    return [start + dt.timedelta(seconds=rng.randrange(days * 86_400)) for _ in range(n)]


def texts(form: str, **settings: int) -> list[str]:
    return [moment.strftime(form) for moment in moments(**settings)]


def labels(n: int = N) -> list[str]:
    rng = random.Random(5)
    evening = [moment.hour >= 18 for moment in moments(n)]
    return ["yes" if late ^ (rng.random() < 0.2) else "no" for late in evening]


def kind_of(values: Any, columns: Any = "auto") -> Any:
    return infer_schema(weigh.rows({"when": values}), columns).kinds[0]


FORMS = {
    "%Y-%m-%d": "ymd",
    "%Y-%m-%dT%H:%M": "ymd",
    "%Y-%m-%d %H:%M:%S.123": "ymd",
    "%d.%m.%Y": "dmy",
    "%d/%m/%Y": "dmy",
    "%m/%d/%Y": "mdy",
    "%m/%d/%y %I:%M %p": "mdy",
    "%d-%b-%Y": "ymd",
    "%b %d, %Y": "ymd",
    "%d %B %Y": "ymd",
    "%Y%m%d": "ymd",
}


@pytest.mark.parametrize(("form", "order"), FORMS.items())
def test_strings_of_all_usual_forms_are_dates(form, order):
    has_hours = "%H" in form or "%I" in form
    parts = ALL_PARTS if has_hours else ("weekday", "month", "days")
    assert kind_of(texts(form)) == weigh.Date(order, parts=parts)


def test_integers_and_floats_of_eight_digits_are_dates():
    numbers = [int(text) for text in texts("%Y%m%d")]
    expected = weigh.Date("ymd", parts=("weekday", "month", "days"))
    assert kind_of(numbers) == kind_of(np.array(numbers)) == expected
    assert kind_of([*map(float, numbers[1:]), None]) == expected
    assert kind_of(pa.array([*numbers[1:], None])) == expected


@pytest.mark.parametrize(
    "values",
    [
        [20240101, 20240102] * 30,  # fewer than ten
        [*range(20240101, 20240132), *range(20240201, 20240231)],  # 30 February
        list(range(10_000_000, 10_000_060)),
        ["14:05", "15:06"] * 30,
        ["1.2.10", "1.3.10"] * 30,
        ["2024-01-31"] * 9 + ["soon"],  # more than one per cent
    ],
)
def test_other_values_keep_their_kinds(values):
    assert kind_of(values) in (Category(), Number())


def test_texts_that_contain_dates_are_texts():
    assert kind_of([f"meet me on 2024-01-{k % 28 + 1:02}, room {k}" for k in range(60)]) == Text()


def test_times_of_day_and_durations_stay_what_they_are():
    assert kind_of([dt.time(14, 5), dt.time(15, 6)] * 30) == Category()
    assert kind_of([dt.timedelta(1), dt.timedelta(2)] * 30) == Number()


def test_an_explicit_kind_takes_precedence():
    assert kind_of(texts("%Y-%m-%d"), {"when": "category"}) == Category()
    assert kind_of(["soon", "2024-01-31", "2024-03-01"], {"when": "date"}) == weigh.Date(
        "ymd", parts=("days",)
    )
    given = weigh.Date("mdy", parts=["days", "hour"])
    assert kind_of(["01/02/2024"], {"when": given}) == given
    assert given.parts == ("hour", "days")


def test_columns_of_bare_arrays_are_no_dates_unless_they_are_called_so():
    table = np.array([[text] for text in texts("%Y-%m-%d")], dtype=object)
    assert infer_schema(weigh.rows(table)).kinds == [Category()]
    schema = infer_schema(weigh.rows(table), "date")
    assert [group.title for group in schema.column_groups] == [
        *("x0: weekday", "x0: month", "x0: days since 1970")
    ]


@pytest.mark.parametrize(
    ("sign", "order", "other", "words"),
    [("/", "mdy", "dmy", "month before day"), ("-", "dmy", "mdy", "day before month")],
)
def test_an_undecided_order_is_noted(sign, order, other, words):
    values = [f"0{k % 9 + 1}{sign}0{k % 7 + 1}{sign}2024" for k in range(60)]
    with pytest.warns(errors.OddValues) as caught:
        assert kind_of(values).order == order
    assert [str(each.message) for each in caught] == [
        f"Column 'when' holds dates such as '01{sign}01{sign}2024', and no day above 12 tells the order. "
        f"They are read with the {words}. If it is the other way round, use columns={{'when': "
        f"weigh.Date(order='{other}')}}."
    ]
    assert kind_of(values, {"when": weigh.Date(other)}).order == other


def test_an_undecided_order_with_dots_is_day_before_month():
    assert kind_of([f"0{k % 9 + 1}.0{k % 7 + 1}.2024" for k in range(60)]).order == "dmy"


def test_a_date_that_is_named_but_not_there_is_an_error():
    with pytest.raises(errors.ColumnError) as caught:
        kind_of(["low", "high"], {"when": "date"})
    assert str(caught.value) == (
        "Column 'when' has no dates in the first rows. Leave it out with columns={'when': 'skip'}, or give "
        "it another kind."
    )


def seconds(*times: str) -> Any:
    return np.array(times, dtype="M8[s]").astype(np.int64)


def every(step: str, n: int, start: str = "2024-01-01") -> Any:
    size, unit = int(step[:-1]), step[-1]
    first = np.datetime64(start, "s").astype(np.int64)
    return first + np.arange(n) * size * {"h": 3600, "d": 86_400}[unit]


@pytest.mark.parametrize(
    ("times", "parts"),
    [
        (every("1d", 1), ("days",)),  # nothing varies
        (every("1h", 24), ("hour",)),
        (every("1h", 14, "2024-01-01T18:00"), ("hour",)),  # a night: the days follow from the hours
        (every("5h", 30), ("hour", "days")),  # within a week, the weekday follows from the days
        (every("1d", 7), ("days",)),
        (every("1d", 20), ("weekday", "days")),
        (every("7d", 20), ("days",)),  # always the same weekday
        (every("1d", 360), ("weekday", "days")),  # within a year, the month follows from the days
        (every("1d", 400), ("weekday", "month", "days")),
        (every("29h", 400), ALL_PARTS),
        (every("1d", 400, "2024-01-01T12:00"), ("weekday", "month", "days")),  # always noon
        (seconds("2022-01-03", "2023-02-07", "2024-03-13"), ("days",)),  # no weekday and no month recurs
    ],
)
def test_parts_vary_and_do_not_repeat_each_other(times, parts):
    assert choose_parts(times) == parts


def test_a_histogram_of_numbers_is_one_of_the_days_too():
    kind = kind_of(texts("%Y-%m-%d"), {"when": weigh.Date(bins=2)})
    assert len(kind.bins) == 1
    model = weigh.NaiveBayes(number=Number(bins=2)).fit({"when": texts("%Y-%m-%d")}, labels())
    assert model.schema_.kinds[0] == kind


def test_parts_are_skipped_and_binned_by_their_names():
    kind = kind_of(texts("%Y-%m-%d"), {"when: month": "skip", "when: days since 1970": Number(bins=2)})
    assert kind.parts == ("weekday", "days")
    assert len(kind.bins) == 1
    for columns, message in {
        ("when: month", "number"): "'when: month' is a part of a date. It may be skipped, and days may have "
        "bins; it cannot be Number().",
        ("when: year", "skip"): "The table has no column 'when: year'; it has 'when'.",
    }.items():
        with pytest.raises(errors.ColumnError) as caught:
            kind_of(texts("%Y-%m-%d"), dict([columns]))
        assert str(caught.value) == message
    with pytest.raises(errors.ColumnError, match="no column 'when: hour'"):
        kind_of(["a", "b"], {"when: hour": "skip"})


def test_a_column_with_the_name_of_a_part_is_an_error():
    table = {"when": texts("%Y-%m-%d"), "when: month": [1.5] * N}
    with pytest.raises(errors.ColumnError) as caught:
        infer_schema(weigh.rows(table))
    assert str(caught.value) == (
        "The table has a column 'when: month', which is also the name of a part of a date. Rename it."
    )


def tables(folder: Any, zone: str | None) -> dict[str, Any]:
    """Return one table with a missing date in all storages."""
    times: list[Any] = moments()
    if zone:
        times = [pd.Timestamp(moment, tz="UTC").tz_convert(zone).to_pydatetime() for moment in times]
    times[7] = None
    numbers = pd.Series(times).dt.hour.fillna(0).tolist()
    iso = [None if moment is None else moment.isoformat() for moment in times]
    columns = {"size": numbers, "class": labels()}
    text = pd.DataFrame({"when": iso, **columns})
    typed = pa.table({"when": pa.array(times, pa.timestamp("us", zone)), **columns})
    text.to_csv(folder / "t.csv", index=False)
    text.to_json(folder / "t.jsonl", orient="records", lines=True)
    pq.write_table(typed, folder / "t.parquet")
    return {
        "strings": {"when": iso, **columns},
        "pandas": pd.DataFrame({"when": pd.Series(times), **columns}),
        "pandas ns": pd.DataFrame(
            {"when": pd.Series(times).astype(f"datetime64[ns{f', {zone}' if zone else ''}]")}
        ).assign(**columns),
        "objects": pd.DataFrame({"when": pd.Series(times, dtype=object), **columns}),
        "category": pd.DataFrame({"when": pd.Series(iso).astype("category"), **columns}),
        "polars": pl.from_arrow(typed),
        "Arrow": typed,
        "rows": typed.to_pylist(),
        "CSV": weigh.open(folder / "t.csv", "class"),
        "JSON lines": weigh.open(folder / "t.jsonl", "class"),
        "Parquet": weigh.open(folder / "t.parquet", "class"),
    }


@pytest.mark.filterwarnings("ignore::weigh.errors.DependentColumns")
@pytest.mark.parametrize("zone", [None, "+02:00", "Europe/Berlin"])
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_all_storages_give_the_same_model(learner, zone, tmp_path):
    models = {
        name: learner().fit(table, "class").model_.to_bytes()
        for name, table in tables(tmp_path, zone).items()
    }
    assert [name for name, model in models.items() if model != models["strings"]] == []


def test_dates_without_times_are_the_same_in_all_types():
    days = [moment.date() for moment in moments()]
    forms = [
        *(days, [str(day) for day in days], pd.Series(days, dtype=object), pl.Series(days)),
        *(pa.array(days, pa.date32()), pa.array(days, pa.date64()), np.array(days, dtype="M8[D]")),
    ]
    models = {weigh.NaiveBayes().fit({"when": form}, labels()).model_.to_bytes() for form in forms}
    assert len(models) == 1


def test_a_common_offset_is_the_zone_of_the_model():
    model = weigh.NaiveBayes().fit({"when": texts("%Y-%m-%dT%H:%M+02:00")}, labels())
    assert model.schema_.kinds[0].zone == "+02:00"
    same = ["2023-05-05T01:30+02:00", "2023-05-04T23:30Z", "2023-05-05T01:30"]
    assert len({model.predict_proba({"when": [time]}).tobytes() for time in same}) == 1


def test_several_offsets_are_used_as_written_unless_there_is_a_zone():
    times = [f"{text}+0{k % 2 + 1}:00" for k, text in enumerate(texts("%Y-%m-%dT%H:%M"))]
    as_written = weigh.NaiveBayes().fit({"when": times}, labels())
    assert as_written.schema_.kinds[0].zone is None
    same_clock = {"when": ["2023-05-05T14:30+02:00", "2023-05-05T14:30Z"]}
    first, second = as_written.predict_proba(same_clock).tolist()
    assert first == second
    zone = weigh.Date(zone="Europe/Berlin")
    berlin = weigh.NaiveBayes(columns={"when": zone}).fit({"when": times}, labels())
    first, second = berlin.predict_proba({"when": ["2023-05-05T14:30+02:00", "2023-05-05T12:30Z"]}).tolist()
    assert first == second


@pytest.mark.parametrize("learner", ["naive Bayes", "logistic", "perceptron", "online"])
def test_explanations_name_the_parts_and_sum_to_the_score(learner):
    model = LEARNERS[learner]().fit({"when": moments(), "class": labels()}, "class").model_
    row = {"when": "2023-05-05T19:30"}
    evidence = model.explain(row)[0]
    assert {each.feature: each.value for each in evidence.table[1:]} == {
        "when: weekday": "Friday",
        "when: month": "May",
        "when: hour": "19",
        "when: days since 1970": "19482",
    }
    second, first = np.sort(model.scores(row)[0])[-2:]
    assert sum(each.nats for each in evidence.table) == pytest.approx(first - second)


def test_merging_forgetting_and_learning_more_are_exact():
    table = pd.DataFrame({"when": moments(), "class": labels()})
    whole = weigh.NaiveBayes().fit(table, "class")
    first, second = (
        weigh.NaiveBayes(columns=whole.schema_).fit(part, "class").model_
        for part in (table[:150], table[150:])
    )
    assert first.merge(second).to_bytes() == whole.model_.to_bytes()
    assert whole.model_.forget(table[150:], "class").to_bytes() == first.to_bytes()
    more = weigh.NaiveBayes(columns=whole.schema_).fit(table[:150], "class")
    more.partial_fit(table[150:][["when"]], table["class"][150:])
    assert more.model_.to_bytes() == whole.model_.to_bytes()
    assert weigh.verify(whole.model_, table, "class").ok


def test_a_saved_model_reads_dates_as_before(tmp_path):
    table = {"when": texts("%m/%d/%Y %H:%M"), "class": labels()}
    model = weigh.NaiveBayes().fit(table, "class").model_
    model.save(tmp_path / "m.weigh")
    loaded = weigh.load(tmp_path / "m.weigh")
    assert loaded.schema.to_json() == model.schema.to_json()
    assert json.loads(json.dumps(model.schema.to_json()))["columns"][0] == [
        "when",
        {"kind": "date", "order": "mdy", "parts": ["weekday", "month", "hour", "days"]},
    ]
    row = {"when": ["03/04/2023 10:00"]}
    assert loaded.predict_proba(row).tolist() == model.predict_proba(row).tolist()


def test_missing_dates_count_for_nothing():
    model = weigh.NaiveBayes().fit({"when": moments(), "class": labels()}, "class").model_
    table = {"when": [None, "", " ", np.nan]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shares = model.predict_proba(table)
    assert shares.tolist() == [np.exp(model.class_distribution.log_probabilities).tolist()] * 4


def test_markers_are_missing_even_if_they_are_dates():
    markers = ["9999-12-31", "unknown"]
    table = {"when": [*texts("%Y-%m-%d")[:-2], *markers], "class": labels()}
    model = weigh.NaiveBayes(missing=markers).fit(table, "class").model_
    assert (
        model.predict_proba({"when": markers}).tolist() == model.predict_proba({"when": [None] * 2}).tolist()
    )
    without = weigh.NaiveBayes().fit({**table, "when": [*table["when"][:-2], None, None]}, "class").model_
    assert [part.table.tolist() for part in model.counts.parts[:2]] == [
        part.table.tolist() for part in without.counts.parts[:2]
    ]


def test_cells_that_are_no_dates_are_missing_and_noted_once():
    odd = texts("%Y-%m-%d")
    odd[5], odd[9] = "soon", "2024-02-30"
    for learner in (weigh.NaiveBayes, weigh.Perceptron):
        with pytest.warns(errors.OddValues) as caught:
            model = learner().fit({"when": odd}, labels())
        assert [str(each.message) for each in caught] == [
            "Column 'when': 2 values are not dates and are treated as missing, such as 'soon' in row 5."
        ]
    clean = [None if text in ("soon", "2024-02-30") else text for text in odd]
    assert model.model_.to_bytes() == weigh.Perceptron().fit({"when": clean}, labels()).model_.to_bytes()
    with pytest.warns(errors.OddValues) as caught:
        model.predict({"when": ["2024-01-31", "31/01/2024"]})
    assert [str(each.message) for each in caught] == [
        "Column 'when': 1 value is not a date and is treated as missing, such as '31/01/2024' in row 1."
    ]


def test_the_note_counts_all_chunks(tmp_path):
    lines = [f"2024-01-{k % 28 + 1:02},{k % 2}" if k % 1000 else f"odd{k},0" for k in range(1, 150_000)]
    (tmp_path / "t.csv").write_text("when,class\n" + "\n".join(lines))
    with pytest.warns(errors.OddValues) as caught:
        weigh.NaiveBayes().fit(weigh.open(tmp_path / "t.csv", "class"))
    assert [str(each.message) for each in caught] == [
        "Column 'when': 149 values are not dates and are treated as missing, such as 'odd1000' in row 999."
    ]


def test_days_do_not_dominate_a_perceptron():
    table = pd.DataFrame({"when": moments(), "size": np.random.default_rng(0).normal(size=N)})
    label = np.where(table["size"] > 0, "big", "small")
    assert weigh.Perceptron().fit(table, label).score(table, label) > 0.97


def test_a_joint_table_has_bins_of_days():
    table = {"when": texts("%Y-%m-%d"), "class": labels()}
    with pytest.warns(errors.UnfilledTable):
        joint = weigh.JointBayes().fit(table, "class")
    assert len(joint.schema_.kinds[0].bins) == 9
    assert [*joint.model_.table.columns] == ["when: weekday", "when: month", "when: days since 1970"]
    assert weigh.verify(joint.model_, table, "class").ok


def test_a_threshold_is_one_of_the_days():
    table = pd.DataFrame({"when": moments()})
    label = np.where(table["when"] < "2023-01-01", "before", "after")
    stump = weigh.Threshold().fit(table, label)
    assert stump.model_.column == "when: days since 1970"
    assert stump.score(table, label) == 1.0


def test_derived_columns_may_use_parts():
    columns = {
        "weekend": weigh.Derived(lambda rows: np.isin(rows["when: weekday"], ["Saturday", "Sunday"]), "flag")
    }
    model = weigh.LogisticRegression(columns=columns).fit({"when": texts("%Y-%m-%d")}, labels())
    assert "weekend" in [group.title for group in model.schema_.column_groups]


def test_a_trace_shows_how_days_are_standardised():
    found = weigh.trace(weigh.Perceptron(), {"when": texts("%Y-%m-%d")}, labels())
    assert "Numbers are standardised: (when: days since 1970 − " in found.table()


def test_constant_days_of_a_class_are_noted_with_advice_that_works():
    table = {"when": ["2024-01-31"] * 30 + ["2024-03-01", "2024-03-02"] * 15}
    label = ["a"] * 30 + ["b"] * 30
    with pytest.warns(
        errors.FlatColumns, match=r"columns=\{'when: days since 1970': weigh.Number\(bins=10\)\}"
    ):
        weigh.NaiveBayes().fit(table, label)
    weigh.NaiveBayes(columns={"when: days since 1970": weigh.Number(bins=10)}).fit(table, label)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": "us"}, "Date: order must be None, 'ymd', 'dmy' or 'mdy', got 'us'."),
        (
            {"zone": "Mars/Base"},
            "Date: zone must be the name of a time zone such as 'Europe/Berlin', an offset such as '+02:00', "
            "or None, got 'Mars/Base'.",
        ),
        (
            {"parts": ["year"]},
            "Date: parts must be some of 'weekday', 'month', 'day', 'hour', 'days', or None, got ['year'].",
        ),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(errors.ParameterError) as caught:
        weigh.Date(**settings)
    assert str(caught.value) == message


def test_all_parts_have_readable_levels():
    kind = weigh.Date(parts=["weekday", "month", "day", "hour", "days"])
    schema = BayesTask.for_source(weigh.rows({"when": moments()}, labels()), {"when": kind}).schema
    chunk = next(schema.chunks(weigh.rows({"when": ["2024-02-29T23:59:59", None]})))
    assert {
        name: column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
        for name, column in list(chunk.columns.items())[1:-1]
    } == {
        "when: weekday": ["Thursday", None],
        "when: month": ["February", None],
        "when: day of month": [29, None],
        "when: hour": [23, None],
    }
    assert chunk.columns["when: days since 1970"].tolist()[0] == 19_782.0


def test_the_row_of_an_odd_date_counts_the_rows_that_were_left_out() -> None:
    values = [f"2024-01-{k % 28 + 1:02d}" for k in range(400)]
    values[301] = "soon"
    source = SelectedRows(rows({"when": values, "y": labels(400)}, "y"), np.arange(400) % 2 == 1)
    with pytest.warns(errors.OddValues, match="such as 'soon' in row 301"):
        weigh.NaiveBayes().fit(source)


@pytest.mark.parametrize("parts", [[["x"]], [{}], 5, [], "x", [None]])
def test_parts_are_known_words(parts: Any) -> None:
    with pytest.raises(errors.ParameterError, match="Date: parts must be some of 'weekday', 'month'"):
        weigh.Date(parts=parts)


def test_a_date_whose_parts_are_all_skipped_is_skipped_without_a_note() -> None:
    values = [f"2024-{k % 12 + 1:02d}-{k % 28 + 1:02d}" for k in range(400)]
    skipped = dict.fromkeys(["x: weekday", "x: month", "x: days since 1970"], "skip")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = infer_schema(rows({"x": values, "z": [k * 1.5 for k in range(400)]}), skipped)
    assert schema.kinds == [weigh.Skip(), Number()]


def seconds_since_1970(scale: int = 1) -> list[int]:
    return [int(moment.replace(tzinfo=dt.UTC).timestamp()) * scale for moment in moments()]


def kind_under(name: str, values: Any, columns: Any = "auto") -> Any:
    return infer_schema(weigh.rows({name: values, "x": [0.5] * len(values)}), columns).kinds[0]


@pytest.mark.parametrize("scale", [1, 1_000, 1_000_000, 1_000_000_000])
@pytest.mark.parametrize("convert", [int, str, float])
def test_times_since_1970_are_dates(scale: int, convert: Any) -> None:
    values = [convert(value) for value in seconds_since_1970(scale)]
    if convert is str or scale < 1_000_000_000:  # floats have too few digits for nanoseconds
        assert kind_under("created_at", values) == weigh.Date("ymd", "UTC", ALL_PARTS)


def test_numbers_are_times_since_1970_only_by_their_name_and_range() -> None:
    seconds, thousandths = seconds_since_1970(), seconds_since_1970(1_000)
    assert kind_under("amount", seconds) == Number()
    assert kind_under("amount", thousandths) == weigh.Date("ymd", "UTC", ALL_PARTS)
    with pytest.warns(errors.SkippedColumns):
        assert kind_under("order_id", thousandths) == weigh.Skip()
    assert kind_under("time", [*seconds, 5_000_000_000]) == Number()
    assert kind_under("time", [*seconds, 12]) == Number()
    assert kind_under("amount", seconds, {"amount": "date"}) == weigh.Date("ymd", "UTC", ALL_PARTS)


def test_times_since_1970_give_the_same_model_as_text(tmp_path: Any) -> None:
    written = [moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in moments()]
    (tmp_path / "text.csv").write_text(
        "ts,y\n" + "".join(f"{t},{y}\n" for t, y in zip(written, labels(), strict=True))
    )
    (tmp_path / "number.csv").write_text(
        "ts,y\n" + "".join(f"{t},{y}\n" for t, y in zip(seconds_since_1970(1_000), labels(), strict=True))
    )
    models = [weigh.NaiveBayes().fit(weigh.open(tmp_path / name, "y")) for name in ("text.csv", "number.csv")]
    assert models[0].model_.to_bytes() == models[1].model_.to_bytes()


def test_months_have_no_weekday_and_dates_of_birth_only_days() -> None:
    assert kind_of(texts("%Y-%m")) == weigh.Date("ymd", None, ("month", "days"))
    births = [f"{1930 + k % 75}-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(N)]
    assert kind_of(births) == weigh.Date("ymd", None, ("days",))


def test_years_are_numbers() -> None:
    assert kind_under("built", [2010 + k % 12 for k in range(N)]) == Number()
    assert kind_under("built", [f"{2010 + k % 12}" for k in range(N)]) == Number()
    assert kind_under("built", [2010 + k % 3 for k in range(N)]) == Category()
    assert kind_under("zone", [2010 + k % 12 for k in range(N)]) == Category()
    assert kind_under("built", [1890 + k % 12 for k in range(N)]) == Category()
