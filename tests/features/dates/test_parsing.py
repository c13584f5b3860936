"""Dates and times read from text."""

from __future__ import annotations

import datetime as dt

import pytest

from weigh.features.dates.parsing import NO_OFFSET, ParsedDates, parse_dates, to_date_texts, to_zone

MIDNIGHT = dt.datetime(2024, 1, 31)
MINUTES = dt.datetime(2024, 1, 31, 14, 5)
SECONDS = dt.datetime(2024, 1, 31, 14, 5, 6)
FORMS = {
    "2024-01-31": MIDNIGHT,
    "2024/1/31": MIDNIGHT,
    "2024-01-31T14:05": MINUTES,
    "2024-01-31 14:05:06.123": SECONDS,
    "31-Jan-2024": MIDNIGHT,
    "31-jan-24": MIDNIGHT,
    "Jan 31, 2024": MIDNIGHT,
    "January 31st, 2024 2:05 PM": MINUTES,
    "31 January 2024": MIDNIGHT,
    "Wed, 31 Jan 2024 14:05:06": SECONDS,
    "20240131": MIDNIGHT,
    "20240131T140506": SECONDS,
    "2024-01-31 14.05": MINUTES,
    "31 janv. 2024": MIDNIGHT,
    "31. J\u00e4nner 2024 14h05": MINUTES,
    "31 de enero de 2024": MIDNIGHT,
    "mercredi 31 janvier 2024": MIDNIGHT,
    "31\u00a0gennaio\u00a02024": MIDNIGHT,
    "31Jan2024": MIDNIGHT,
    "31JAN24:14:05:06": SECONDS,
    "Wed Jan 31 14:05:06 2024": SECONDS,
    "Wed Jan 31 14:05:06 CET 2024": SECONDS,
    "31/Jan/2024:14:05:06": SECONDS,
    "[31/Jan/2024:14:05:06 +0000]": SECONDS,
    "1706709906": SECONDS,
    "1706709906.5": SECONDS,
    "1706709906123": SECONDS,
    "1706709906123456": SECONDS,
    "1706709906123456789": SECONDS,
}
MONTHS = ["2024-01", "2024/01", "01/2024", "1/2024", "Jan 2024", "janvier 2024", "jan. 2024", "Januar 2024"]


def parse(*values: object, order: str = "ymd") -> ParsedDates:
    return parse_dates(to_date_texts(values), order)


def read(*values: object, order: str = "ymd") -> list[dt.datetime | None]:
    dates = parse(*values, order=order)
    moments = dates.seconds.astype("M8[s]").tolist()
    return [moment if valid else None for moment, valid in zip(moments, dates.is_valid, strict=True)]


@pytest.mark.parametrize(("text", "moment"), FORMS.items())
@pytest.mark.parametrize("order", ["ymd", "dmy", "mdy"])
def test_a_form_with_one_meaning_is_read_in_any_order(text, moment, order):
    assert read(text, order=order) == [moment]


@pytest.mark.parametrize("text", MONTHS)
def test_a_month_without_a_day_is_its_first_day(text):
    assert read(text) == [dt.datetime(2024, 1, 1)]


def test_every_month_has_its_names():
    french = [
        "janv.",
        "févr.",
        "mars",
        "avr.",
        "mai",
        "juin",
        "juil.",
        "août",
        "sept.",
        "oct.",
        "nov.",
        "déc.",
    ]
    german = [
        "Jan.",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "Aug.",
        "Sept.",
        "Okt.",
        "Nov.",
        "Dez.",
    ]
    for names in (french, german):
        moments = read(*(f"5. {name} 2024" for name in names))
        assert [moment and moment.month for moment in moments] == list(range(1, 13))


def test_numbers_are_times_since_1970():
    assert read(1706709906, 1706709906.25, 1706709906123, 1706709906123456789) == [SECONDS] * 4
    assert parse(1706709906).offsets.tolist() == [0]


def test_forms_may_be_mixed():
    assert read(*FORMS) == list(FORMS.values())


@pytest.mark.parametrize("text", ["31.01.2024", "31/1/2024", "31-01-2024", "31.01.24", "31/1/24"])
def test_the_day_comes_first_if_the_order_says_so(text):
    assert read(text, order="dmy") == [MIDNIGHT]
    assert read(text, order="mdy") == read(text, order="ymd") == [None]


@pytest.mark.parametrize("text", ["01/31/2024", "1/31/24", "01-31-2024", "1/31/2024 12:00 am"])
def test_the_month_comes_first_if_the_order_says_so(text):
    assert read(text, order="mdy") == [MIDNIGHT]
    assert read(text, order="dmy") == read(text, order="ymd") == [None]


def test_two_digit_years_are_from_1969_to_2068():
    years = [moment and moment.year for moment in read("01.02.68", "01.02.69", "01.02.99", order="dmy")]
    assert years == [2068, 1969, 1999]


def test_noon_and_midnight_have_the_hour_twelve():
    texts = ["2024-01-31 12:05 am", "2024-01-31 12:05 PM", "2024-01-31 1:05 p.m.", "2024-01-31 13:05 pm"]
    assert [moment and moment.hour for moment in read(*texts)] == [0, 12, 13, None]


@pytest.mark.parametrize(
    "text",
    [
        *("2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "0000-01-01", "2024-01-31T24:00"),
        *(
            "14:05",
            "1.2.10",
            "1899-12",
            "2101-01",
            "12345678901",
            "10.0.0.1",
            "2024-13",
            "18991231",
            "21010101",
            "2024-1-31-5",
            "May 24",
        ),
        *("", "soon", "2024-01-31 or so", "31-Foo-2024", "２０２４-01-31", "2024-01-31T10:00+16:00"),
    ],
)
def test_other_texts_are_no_dates(text):
    assert read(text, "2024-01-31", order="dmy") == [None, MIDNIGHT]


def test_leap_days_exist_in_leap_years():
    assert read("2024-02-29", "2000-02-29", "1900-02-29") == [
        dt.datetime(2024, 2, 29),
        dt.datetime(2000, 2, 29),
        None,
    ]


def test_whole_numbers_of_eight_digits_are_dates():
    assert read(20240131, 20240131.0, 20240132, 20240131.5, True, None, -20240131) == [
        *[MIDNIGHT, MIDNIGHT],
        *[None] * 5,
    ]


def test_every_day_agrees_with_the_calendar_of_python():
    days = [dt.date(1, 1, 1) + dt.timedelta(days=97 * k) for k in range(37_000)]
    numbers = parse(*map(str, days)).seconds // 86_400
    assert numbers.tolist() == [(day - dt.date(1970, 1, 1)).days for day in days]


@pytest.mark.parametrize(
    ("text", "offset"),
    [("Z", 0), ("+02:00", 7200), ("-0530", -19_800), ("+01", 3600), (" UTC", 0), ("", NO_OFFSET)],
)
def test_offsets_are_read(text, offset):
    assert parse(f"2024-01-31T14:05:06{text}").offsets.tolist() == [offset]


def test_times_are_converted_to_a_zone_and_local_ones_belong_to_it():
    dates = parse("2024-01-31T14:00Z", "2024-07-31T14:00Z", "2024-07-31T14:00")

    def hours(zone: str | None) -> list[int]:
        return (to_zone(dates, zone) // 3600 % 24).tolist()

    assert hours("Europe/Berlin") == [15, 16, 14]
    assert hours("-03:30") == [10, 10, 14]
    assert hours("UTC") == hours(None) == [14, 14, 14]


def test_many_shapes_are_read_like_one_at_a_time():
    texts = (
        [f"word {'x' * (k % 40)}" for k in range(60)] + list(FORMS) + [f"{'y' * k}2024" for k in range(40)]
    )
    assert read(*texts) == [read(text)[0] for text in texts]
