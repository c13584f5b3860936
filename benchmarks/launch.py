"""Run a command with its output to a file; print its exit code, seconds and peak resident bytes as JSON.

    python -S benchmarks/launch.py OUTPUT COMMAND...

This is a process of its own because the kernel counts the parent's memory at the time of the fork towards
the child's peak: the parent must be smaller than anything measured. Standard error goes to OUTPUT.err. The
peak is that of the largest process the command ran.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main() -> None:
    output, *command = sys.argv[1:]
    with open(output, "wb") as out, open(f"{output}.err", "wb") as err:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    print(json.dumps({"code": code, "seconds": seconds, "memory": usage.ru_maxrss * 1024}))


if __name__ == "__main__":
    main()
