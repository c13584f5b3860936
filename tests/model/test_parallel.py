"""The ordered parallel map."""

from __future__ import annotations

import threading
import time

import pytest

from weigh.model.parallel import map_in_order


def test_results_come_in_the_order_of_the_items():
    def slow_first(item: int) -> int:
        time.sleep(0.01 if item % 3 == 0 else 0.0)
        return item * item

    assert list(map_in_order(slow_first, range(50))) == [i * i for i in range(50)]


def test_a_single_item_starts_no_thread():
    assert list(map_in_order(lambda _: threading.current_thread(), [1])) == [threading.main_thread()]


def test_no_items_give_no_results_and_errors_propagate():
    assert list(map_in_order(lambda item: item, [])) == []
    with pytest.raises(ZeroDivisionError):
        list(map_in_order(lambda item: 1 // item, [1, 2, 0]))


def test_only_a_few_items_are_consumed_ahead():
    consumed: list[int] = []

    def items():
        for item in range(100):
            consumed.append(item)
            yield item

    results = map_in_order(lambda item: item, items())
    next(results)
    next(results)
    assert len(consumed) < 40
