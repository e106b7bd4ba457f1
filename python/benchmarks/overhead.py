"""Measures the time that Python adds to a suggestion.

    python python/benchmarks/overhead.py [--pairs N] [--protocol-pairs N] [--surrogate NAME]

Study.ask in Python and loop.Study.Ask in Go make the same suggestion from the same trials, one
right after the other and in alternating order. Each row has the median of the differences of the
pairs, and the interval of this median with a confidence of 95 %.

The first table has the protocol alone: the point is enqueued, so Go and Python have nothing to
compute, and the rest is equal to the rest of a suggestion: locks, JSON, pipes, trials and the
state of the fit. The other tables have whole suggestions. On a busy machine their times vary by
more than Python adds.

The last column is the processor time that Python and its `bo` process use beyond Go, the mean of a
pair; it does not depend on other programs. It needs Linux.
"""

from __future__ import annotations

import argparse
import json
import math
import random
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
FIXED = {"name": "gp", "lengthscale": 0.5, "variance": 1, "noise": 0.01}  # nothing is learned
HEADER = "trials  Go (ms)  Python (ms)  difference (ms)     95 % interval  processor time (ms)"


def value(params: dict[str, Any]) -> float:
    """Returns the value of the objective."""
    bowl = math.log(params["lr"] / 0.003) ** 2 / 20 + (params["dropout"] - 0.2) ** 2
    return float(bowl + (params["layers"] - 3) ** 2 / 20 + (params["opt"] == "sgd"))


def point(rng: random.Random) -> dict[str, Any]:
    """Returns a random point."""
    return {
        "lr": 10 ** rng.uniform(-5, -1),
        "dropout": rng.uniform(0, 0.5),
        "layers": rng.randint(1, 8),
        "opt": rng.choice(["adam", "sgd"]),
    }


def processor_time(pid: int) -> float:
    """Returns the processor time of all threads of a process in seconds."""
    clocks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in clocks) / 1e9


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="Measures the time that Python adds.")
    parser.add_argument("--pairs", type=int, default=40, help="pairs of whole suggestions")
    parser.add_argument("--protocol-pairs", type=int, default=200, help="pairs without a fit")
    parser.add_argument("--surrogate", default="gp", help="surrogate model, beside a fixed gp")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "asks")
        build = ["go", "build", "-o", program, "./python/benchmarks/asks"]
        subprocess.run(build, cwd=ROOT, check=True)
        bench = Bench(program, Path(folder))
        print(f"protocol, {arguments.surrogate}\n{HEADER}")
        for n in (10, 50, 200, 1000, 5000):
            bench.row(n, arguments.surrogate, arguments.protocol_pairs, enqueued=True)
        for surrogate in (FIXED, arguments.surrogate):
            name = "gp with fixed hyperparameters" if surrogate is FIXED else surrogate
            print(f"\nwhole suggestions, {name}\n{HEADER}")
            for n in (10, 50, 200):
                bench.row(n, surrogate, arguments.pairs, enqueued=False)


class Bench:
    """The Go program, and a folder for studies."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder

    def row(self, n: int, surrogate: Any, pairs: int, *, enqueued: bool) -> None:
        """Prints a row of a table."""
        times = self._measure(n, surrogate, pairs, enqueued)
        go, python = (1e3 * statistics.median(t[i] for t in times) for i in (0, 1))
        used = 1e3 * statistics.fmean(t[2] for t in times)
        differences = sorted(1e3 * (t[1] - t[0]) for t in times)
        spread = round(0.98 * math.sqrt(len(times)))
        low = differences[max(0, len(times) // 2 - spread)]
        high = differences[min(len(times) - 1, len(times) // 2 + spread)]
        middle = statistics.median(differences)
        interval = f"{low:.2f} to {high:.2f}"
        print(f"{n:6}  {go:7.2f}  {python:11.2f}  {middle:15.2f}  {interval:>16}  {used:19.2f}")

    def _measure(
        self, n: int, surrogate: Any, pairs: int, enqueued: bool
    ) -> list[tuple[float, float, float]]:
        """Returns the seconds of Go and of Python, and the additional processor time, of pairs."""
        rng = random.Random(n)
        times = []
        with (
            self._study(n, surrogate, rng) as study,
            subprocess.Popen(
                [self._program],
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # the scheduler then treats it as the bo process
            ) as go,
        ):
            assert go.stdin is not None
            assert go.stdout is not None
            trials = [{"params": t.params, "value": t.value} for t in study.trials]
            print(json.dumps({"study": study.definition, "trials": trials}), file=go.stdin)
            told: float | None = None
            before = (0.0, 0.0)
            for i in range(pairs + 2):
                queue = [point(rng)] if enqueued else []
                request = json.dumps({"tell": told, "queue": queue})
                study._queue.extend(queue)
                if i % 2:
                    print(request, file=go.stdin, flush=True)
                    answer = json.loads(go.stdout.readline())
                started, used = time.perf_counter(), time.process_time()
                trial = study.ask()
                seconds, used = time.perf_counter() - started, time.process_time() - used
                if i % 2 == 0:
                    print(request, file=go.stdin, flush=True)
                    answer = json.loads(go.stdout.readline())
                running = study._suggestions.process._running
                assert running is not None
                clocks = processor_time(running._process.pid), processor_time(go.pid)
                if i >= 2:
                    used += clocks[0] - before[0] - (clocks[1] - before[1])
                before = clocks
                if trial.params != answer["params"]:
                    raise SystemExit(f"trial {trial.number} differs: {trial.params}, {answer}")
                if i >= 2:  # the process has started, and the fit has a state
                    times.append((answer["seconds"], seconds, used))
                told = study.tell(trial, value(trial.params)).value
            go.stdin.close()
        return times

    def _study(self, n: int, surrogate: Any, rng: random.Random) -> Study:
        """Returns a study with n complete trials."""
        path = self._folder / "study.json"
        with Study(SPACE, initial=min(n, 10), surrogate=surrogate) as study:
            study.save(path)
        document = json.loads(path.read_text())
        for number in range(1, n + 1):
            params = point(rng)
            v = value(params)
            trial = {"number": number, "params": params, "state": "complete", "value": v}
            document["trials"].append({**trial, "numbers": {"value": v}, "source": "added"})
        path.write_text(json.dumps(document))
        return Study.load(path)


if __name__ == "__main__":
    main()
