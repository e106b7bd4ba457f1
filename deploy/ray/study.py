"""Runs a study on a Ray cluster: one task for each bo process, all on one study.

    export BO_STORE='postgres://bo@db.example.org/studies?sslmode=verify-full'
    python study.py study.yaml --processes 10

Every node needs bo, the study file and the password in ~/.pgpass. The same command continues
a study that has ended early.
"""

import argparse
import os
import subprocess
import sys

import ray


def run(study, store):
    """Evaluates trials of the study until its budget is used up."""
    bo = subprocess.Popen(["bo", "run", study], env={**os.environ, "BO_STORE": store})
    try:
        return bo.wait()
    except BaseException:  # Ray cancels the task: bo returns its trial to the study
        bo.terminate()
        bo.wait()
        raise


def main():
    parser = argparse.ArgumentParser(description="Runs a study on a Ray cluster.")
    parser.add_argument("study", help="the study file, at the same path on every node")
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--cpus", type=float, default=4, help="processors of each process")
    parser.add_argument("--store", default=os.environ.get("BO_STORE"), help="default: BO_STORE")
    args = parser.parse_args()
    if not args.store:
        parser.error("set BO_STORE to the PostgreSQL database of the study")

    ray.init()
    # A task whose node fails starts again; its trial is issued again by the store.
    task = ray.remote(num_cpus=args.cpus, max_retries=3)(run)
    study = os.path.abspath(args.study)
    codes = ray.get([task.remote(study, args.store) for _ in range(args.processes)])
    sys.exit(1 if any(codes) else 0)


if __name__ == "__main__":
    main()
