"""Run the service in processes of its own."""

from __future__ import annotations

from typing import Any

import uvicorn

from weigh.serve.app import create_app


def run_server(models: Any, host: str, port: int) -> None:
    """Serve models until the process is stopped."""
    uvicorn.run(create_app(models), host=host, port=port, log_level="warning")
