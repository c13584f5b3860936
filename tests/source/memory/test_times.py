"""Arrow times as ISO text."""

from __future__ import annotations

import pyarrow as pa
import pytest

from weigh.source.memory.times import _trim_text, times_to_iso

SECONDS = [0, -1, 1_700_000_000, 1_720_000_000, None, -2_000_000_000, 4_000_000_000, -60_000_000_000]
ZONES = [None, "UTC", "Etc/UTC", "Europe/Berlin", "Europe/London", "Asia/Kolkata", "+00:00", "-03:30"]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 1_000), ("us", 1_000_000)])
def test_whole_seconds_have_the_text_of_all_times(unit, factor, zone):
    for seconds in (SECONDS, SECONDS[:5], [None], []):
        times = pa.array([None if s is None else s * factor for s in seconds], pa.timestamp(unit, zone))
        assert times_to_iso(times).equals(_trim_text(times.cast(pa.string())))


def test_the_text_does_not_depend_on_the_resolution():
    times = pa.array([1_700_000_000_500], pa.timestamp("ms", "Europe/Berlin"))
    assert times_to_iso(times).to_pylist() == ["2023-11-14T23:13:20.5+01:00"]
    assert times_to_iso(times.cast(pa.timestamp("ns", "Europe/Berlin"))).equals(times_to_iso(times))


def test_dates_and_times_of_day_have_no_other_part():
    assert times_to_iso(pa.array([19_782], pa.date32())).to_pylist() == ["2024-02-29"]
    assert times_to_iso(pa.array([19_782 * 86_400_000], pa.date64())).to_pylist() == ["2024-02-29"]
    assert times_to_iso(pa.array([3_661], pa.time32("s"))).to_pylist() == ["01:01:01"]


def test_years_of_five_digits_are_written_in_full():
    times = pa.array([300_000_000_000], pa.timestamp("s"))
    assert times_to_iso(times).equals(_trim_text(times.cast(pa.string())))
