#!/usr/bin/env python3
"""Time suggestions of BoTorch on given data.

The first line of the standard input is a JSON object: the bounds lo and hi, points, values,
noise_free, seed and threads. Each further line asks for one suggestion, a fit and a
maximisation of the acquisition function; its seconds are printed. `go run ./benchmarks/pages
performance` calls this program in turn with suggestions of bo.
"""

import json
import sys
import time
import warnings

from methods.botorch import LogEI


def main():
    warnings.simplefilter("ignore")
    task = json.loads(sys.stdin.readline())
    for _ in sys.stdin:
        peer = LogEI(task, task["threads"])
        started = time.perf_counter()
        peer.tell(task["points"], task["values"])
        peer.ask()
        print(time.perf_counter() - started, flush=True)


if __name__ == "__main__":
    main()
