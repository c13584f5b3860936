"""Run a command, its output to a file, and print seconds and peak resident bytes as JSON.

    python -S benchmarks/launch.py OUTPUT COMMAND...

A process of its own, for the kernel adds to a child's peak what its parent held when it started
it: the one who starts must be smaller than anything that is measured. What the command writes to
standard error stands in OUTPUT.err. The peak is that of the largest process the command ran.
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
    print(json.dumps({"code": code, "seconds": seconds, "peak": usage.ru_maxrss * 1024}))


if __name__ == "__main__":
    main()
