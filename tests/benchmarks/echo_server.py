"""A server for the tests of loads: it answers with the body, at /fails with status 500, and has a child.

python tests/benchmarks/echo_server.py RECORD PORT
"""

from __future__ import annotations

import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[1], "ab") as record:
            record.write(body + b"\n")
        self.send_response(500 if self.path == "/fails" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
