"""Trials of mail filters before they are trusted, as in the spam track of TREC."""

from __future__ import annotations

from weigh.apps.mail.trial.bogofilter import Bogofilter
from weigh.apps.mail.trial.contestant import Contestant, Mail, Opinion
from weigh.apps.mail.trial.feedback import Feedback
from weigh.apps.mail.trial.trial import Trial, hold_trial

__all__ = ["Bogofilter", "Contestant", "Feedback", "Mail", "Opinion", "Trial", "hold_trial"]
