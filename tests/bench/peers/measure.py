"""What the measurements of other tools have in common: one JSON object a line for table.py.

Times are CPU time of the whole process, the best of several rounds, on one thread. A tool that can
not be installed or fails says why in a line of its own.
"""

import importlib.metadata
import json
import os
import sys
import time
import warnings

os.environ["TQDM_DISABLE"] = "1"
warnings.filterwarnings("ignore")


def best_milliseconds(function, calls=1, rounds=5):
    """Least CPU milliseconds of a call, over rounds of `calls` calls, after one to warm up."""
    function()
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(calls):
            function()
        best = min(best, (time.process_time() - begin) / calls)
    return 1e3 * best


def step_milliseconds(reset, step, actions, rounds=10):
    """Mean over the steps of an episode of the least CPU milliseconds that each took in any round.

    As in env_bench.cc: other work on the machine hardly matters then."""
    least = [float("inf")] * len(actions)
    for _ in range(rounds):
        reset()
        for number, action in enumerate(actions):
            begin = time.process_time()
            step(action)
            least[number] = min(least[number], time.process_time() - begin)
    return 1e3 * sum(least) / len(least)


def report(tool, package, work, milliseconds):
    """Prints a measurement; `work` is a key of table.py, `package` gives the version."""
    print(json.dumps({"tool": tool, "version": version(package), "work": work,
                      "milliseconds": milliseconds}), flush=True)


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def attempt(tool, body):
    """Runs body(); where that fails, its reason is printed in place of measurements."""
    try:
        body()
    except Exception as error:  # whatever another tool throws
        reason = " ".join(str(error).split())[:160]
        print(json.dumps({"tool": tool, "absent": f"{type(error).__name__}: {reason}"}), flush=True)
        print(f"{tool}: {type(error).__name__}: {error}", file=sys.stderr)
