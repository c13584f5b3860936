"""A process in another environment that takes its turns with everyone here."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import ROOT
from benchmarks.processes import Failed
from benchmarks.regression_contest import Answer, CutOff
from benchmarks.text_peers import CORES

WORKER = "benchmarks.regression_worker"


class Elsewhere:
    """The peers of another Python; None if there is no such Python."""

    def __init__(self, python: Path | None, folder: Path) -> None:
        self.python = python
        self.folder = folder
        self._process: subprocess.Popen[str] | None = None

    def versions(self) -> str:
        """Say which packages the other environment has."""
        if self.python is None:
            return "adelie and glmnet left out, for no --elsewhere was given"
        said = self._told({"job": "versions"})["versions"]
        return f"in an environment of their own {said}"

    def keep(self, name: str, X: Any, y: npt.NDArray[np.float64]) -> Path:
        """Write rows and targets where the other process finds them."""
        home = self.folder / name
        home.mkdir(parents=True, exist_ok=True)
        np.save(home / "y.npy", y)
        if isinstance(X, np.ndarray):
            np.save(home / "X.npy", X)
        else:
            for part in ("data", "indices", "indptr", "shape"):
                np.save(home / f"X_{part}.npy", getattr(X, part))
        return home

    def call(self, job: str, home: Path, l1: Any) -> Callable[[float], Answer]:
        """Return the call by tolerance of one job."""

        def run(tol: float) -> Answer:
            answer = home / "answer.npz"
            asked = {"job": job, "folder": str(home), "l1": np.atleast_1d(l1).tolist()}
            asked["tol"] = tol
            asked |= {"answer": str(answer), "threads": CORES}
            seconds = float(self._told(asked)["seconds"])
            with np.load(answer) as found:
                note = "".join(f"{chosen:.0f}" for chosen in found["chosen"])
                return Answer(found["weights"], found["bias"], seconds, note)

        return run

    def _told(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Ask the other process and wait for its answer; one that is cut off is ended."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            told: dict[str, Any] = json.loads(process.stdout.readline() or '{"error": "it ended"}')
        except CutOff:
            self.close()
            raise
        if "error" in told:
            self.close()
            raise Failed(told["error"])
        return told

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [str(self.python), "-m", WORKER],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        return self._process

    def close(self) -> None:
        """End the other process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
