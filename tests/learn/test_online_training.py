"""The order of the rows in a training pass."""

from __future__ import annotations

import numpy as np

from weigh.learn.online_training import pass_order


def test_every_pass_visits_every_row_once() -> None:
    assert all(sorted(pass_order(7, 3, number).tolist()) == list(range(7)) for number in range(5))


def test_the_order_depends_only_on_seed_and_pass() -> None:
    assert pass_order(50, 1, 4).tolist() == pass_order(50, 1, 4).tolist()
    assert pass_order(50, 1, 4).tolist() != pass_order(50, 1, 5).tolist()
    assert pass_order(50, 1, 4).tolist() != pass_order(50, 2, 4).tolist()


def test_the_order_comes_from_numpys_generator_seeded_by_seed_and_pass() -> None:
    assert pass_order(20, 0, 2).tolist() == np.random.default_rng([0, 2]).permutation(20).tolist()
