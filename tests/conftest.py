"""Settings of all tests: laws try the same examples on every run, however busy the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("weigh", derandomize=True, deadline=None, database=None)
settings.load_profile("weigh")
