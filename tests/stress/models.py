"""Damaged model files: raw, which the digests must show, and resealed with correct digests."""

from __future__ import annotations

import random
from pathlib import Path

import weigh
from tests import resealing
from tests.stress.attack import Attack
from tests.stress.mutations import mutate
from weigh.errors import ModelFileError


class ModelAttack(Attack):
    """A small model of every type, damaged anew in every case."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._originals = resealing.small_models()

    def run_case(self, rng: random.Random) -> str:
        """Damage a model file; it must be refused, or after resealing it may also give a model that works."""
        name = rng.choice(sorted(self._originals))
        content = self._originals[name]
        path = self.folder / f"{name}.weigh"
        if rng.random() < 0.3:
            damaged = mutate(content, rng)
            path.write_bytes(damaged)
            return "raw, as before" if damaged == content else self._refuse(path)
        meta, arrays = resealing.take_apart(content)
        what = resealing.mutate(meta, arrays, rng)
        try:
            path.write_bytes(resealing.reseal(meta, arrays))
        except ModelFileError:
            return "resealed, cannot be written"
        try:
            return f"resealed, {resealing.use_file(path)}"
        except Exception as error:
            raise AssertionError(f"{name}: {what}") from error

    def _refuse(self, path: Path) -> str:
        load = weigh.Speller.load if path.stem.startswith("speller") else weigh.load
        try:
            load(path)
        except ModelFileError:
            return "raw, refused"
        raise AssertionError(f"{path.name} was damaged, but loads")
