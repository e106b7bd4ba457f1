"""Measures the time that Python adds to a suggestion.

    python python/benchmarks/overhead.py [TRIALS ...]

Study.ask and loop.Study.Ask in Go make the same suggestions from the same trials, in turn. The
difference of both times is reported after each number of trials, the median of 15 suggestions. On
a busy machine it is mostly noise; the processor time of the Python process is not.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "src"))

from functionspace_bo import Categorical, Float, Int, Study  # noqa: E402

SPACE = {
    "lr": Float(1e-5, 0.1, log=True),
    "dropout": Float(0, 0.5),
    "layers": Int(1, 8),
    "opt": Categorical(["adam", "sgd"]),
}
WINDOW = 15


def value(params: dict[str, Any]) -> float:
    """Returns the value of the objective."""
    bowl = math.log(params["lr"] / 0.003) ** 2 / 20 + (params["dropout"] - 0.2) ** 2
    return float(bowl + (params["layers"] - 3) ** 2 / 20 + (params["opt"] == "sgd"))


def main() -> None:
    """Prints the medians for the numbers of trials on the command line."""
    counts = [int(a) for a in sys.argv[1:]] or [10, 50, 200]
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "asks")
        build = ["go", "build", "-o", program, "./python/benchmarks/asks"]
        subprocess.run(build, cwd=ROOT, check=True)
        pairs = measure(program, max(counts) + WINDOW)
    print("trials  Go (ms)  Python (ms)  difference (ms)  processor time of Python (ms)")
    for n in counts:
        window = pairs[n : n + WINDOW]
        go, python = (1e3 * statistics.median(p[i] for p in window) for i in (0, 1))
        used = 1e3 * statistics.median(p[2] for p in window)
        more = 1e3 * statistics.median(p[1] - p[0] for p in window)
        print(f"{n:6}  {go:7.2f}  {python:11.2f}  {more:15.2f}  {used:29.2f}")


def measure(program: str, n: int) -> list[tuple[float, float, float]]:
    """Returns the seconds of n suggestions in Go and in Python, and Python's processor time."""
    times = []
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        Study(SPACE) as study,
        subprocess.Popen([program], text=True, **pipes) as go,  # type: ignore[call-overload]
    ):
        message = json.dumps(study.definition)
        for i in range(n):
            go.stdin.write(message + "\n")
            if i % 2:  # the order alternates
                go.stdin.flush()
                answer = json.loads(go.stdout.readline())
            started, used = time.perf_counter(), time.process_time()
            trial = study.ask()
            seconds, used = time.perf_counter() - started, time.process_time() - used
            if i % 2 == 0:
                go.stdin.flush()
                answer = json.loads(go.stdout.readline())
            if trial.params != answer["params"]:
                raise SystemExit(f"trial {trial.number} differs: {trial.params}, {answer}")
            times.append((answer["seconds"], seconds, used))
            told = study.tell(trial, value(trial.params))
            message = repr(told.value)
        go.stdin.close()
    return times


if __name__ == "__main__":
    main()
