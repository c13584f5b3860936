"""Commands ended by a signal at a random moment: output files stay whole, and nothing is left beside them."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
from pathlib import Path

import weigh
from tests.killing import WEIGH, find_drafts, run_and_kill, write_mailbox
from tests.stress.attack import Attack
from weigh.apps.mail.store import MailStore

SIGNALS = {signal.SIGTERM: "SIGTERM", signal.SIGINT: "SIGINT", signal.SIGKILL: "SIGKILL"}
N_MAILS = 400


class KillAttack(Attack):
    """`fit`, `predict` and `mail learn`, each ended while it starts, works or writes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rows = [
            f"{i % 7},{i * 0.37:.2f},{'ham' if i % 3 else 'spam'},{'word ' * (i % 5)}" for i in range(3000)
        ]
        Path("data.csv").write_text("\n".join(["a,b,y,text", *rows]))
        write_mailbox(Path("mails.mbox"), N_MAILS)
        self._finish("fit", "data.csv", "--label", "y", "-o", "model.weigh")
        self._finish("predict", "model.weigh", "data.csv", "-o", "out.csv")
        MailStore.open(self.folder / "store", create=True)

    def run_case(self, rng: random.Random) -> str:
        """End a command; its output is the old or the new file, and a later command removes what is left."""
        command = rng.choice((self._end_fit, self._end_predict, self._end_mail_learn))
        number = rng.choice(list(SIGNALS))
        command(rng, number)
        return SIGNALS[number]

    def _end_fit(self, rng: random.Random, number: signal.Signals) -> None:
        arguments = (
            "fit",
            "data.csv",
            "--label",
            "y",
            "-o",
            "model.weigh",
            "--set",
            f"prior={rng.uniform(0.1, 2):.9f}",
        )
        old = Path("model.weigh").read_bytes()
        self._end(rng, number, arguments, "model.weigh")
        weigh.load("model.weigh", check=True)
        self._finish(*arguments)
        assert Path("model.weigh").read_bytes() != old
        assert not find_drafts(self.folder)

    def _end_predict(self, rng: random.Random, number: signal.Signals) -> None:
        arguments = ("predict", "model.weigh", "data.csv", "-o", "out.csv")
        old = Path("out.csv").read_bytes()
        self._finish(*arguments)
        new = Path("out.csv").read_bytes()
        Path("out.csv").write_bytes(old)
        self._end(rng, number, arguments, "out.csv")
        assert Path("out.csv").read_bytes() in (old, new)
        self._finish(*arguments)
        assert not find_drafts(self.folder)

    def _end_mail_learn(self, rng: random.Random, number: signal.Signals) -> None:
        shutil.rmtree("store")
        MailStore.open(self.folder / "store", create=True)
        arguments = ("mail", "learn", "--store", "store", "--spam", "mails.mbox")
        self._end(rng, number, arguments, "store")
        self._finish(*arguments)
        assert MailStore.open(self.folder / "store").status().spams == N_MAILS
        assert not find_drafts(self.folder)

    def _end(
        self, rng: random.Random, number: signal.Signals, arguments: tuple[str, ...], output: str
    ) -> None:
        """End a command after a delay, which begins at its start or when it begins to write."""
        watched, delay = rng.choice(((None, rng.uniform(0, 1.5)), (self.folder, rng.uniform(0, 0.01))))
        ending = run_and_kill(arguments, number, delay, watched, self.folder)
        # Python itself reports an interrupt that comes before our first line.
        assert "Traceback" not in ending.errors or ending.errors.rstrip().endswith("KeyboardInterrupt")
        if number != signal.SIGKILL:
            assert not find_drafts(self.folder), (arguments, delay, output)

    def _finish(self, *arguments: str) -> None:
        done = subprocess.run([*WEIGH, *arguments], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
