#!/usr/bin/env python3
"""Runs the commands of README and docs, so that none of them is out of date.

  run_commands.py --program build/release/lfiw

Fenced blocks marked `sh` are run, page by page and block by block, with bash in a folder of their own;
blocks marked `console` or `text` are not. A folder holds experiments/configs, build/release/lfiw, and
the files that the pages speak of: log.npz and log.hdf5, a log of HalfCheetah, and the policy new.npz.
There build/release/lfiw is a stand-in that calls the program with settings so small that a command
takes seconds: its answers mean nothing, but fields, options and files must be as the pages say.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pages

# What is added to every command of a verb; a later value of a field counts.
SMALL_RUN = [
    "value.horizon=20", "policies.behavior_steps=2048", "policies.evaluation_steps=4096",
    "log.episodes=30", "truth.episodes=10",
]
SMALL_EVALUATION = [
    "dynamics.members=2", "dynamics.fit.steps=100", "dynamics.network.width=32",
    "classifiers.instances=2", "classifiers.fit.fit.steps=50", "classifiers.fit.network.width=32",
    "rollout.repetitions=2", "rollout.episodes=20", "rollout.member_episodes=20",
    "back_test.cloning.fit.steps=100",
]
SMALL_OPTIONS = {"--episodes": 20, "--horizon": 30}
STEPS = 2048  # of PPO, between two snapshots


def stand_in(arguments):
    """Calls the program named by LFIW_REAL as the arguments say, but smaller."""
    program, verb = os.environ["LFIW_REAL"], arguments[0] if arguments else ""
    snapshots = []
    if verb == "train":
        for argument in arguments:
            if argument.startswith("snapshots=["):
                snapshots = argument[len("snapshots=["):-1].split(",")
        out = arguments[arguments.index("--out") + 1]
        arguments = [*arguments, f"total_steps={2 * STEPS}", f"snapshots=[{STEPS}]"]
    elif verb in ("truth", "collect"):
        for option, largest in SMALL_OPTIONS.items():
            if option in arguments:
                at = arguments.index(option) + 1
                arguments[at] = str(min(int(arguments[at]), largest))
    elif verb == "run" and any("quickstart" in argument for argument in arguments):
        arguments = [*arguments, *SMALL_RUN, *SMALL_EVALUATION]
    elif verb == "evaluate":
        arguments = [*arguments, *SMALL_EVALUATION]
    status = subprocess.run([program, *arguments]).returncode
    for name in snapshots:
        wanted = name.strip().replace("_", "")
        shutil.copy(f"{out}/policy_{STEPS}.npz", f"{out}/policy_{wanted}.npz")
    return status


def make_folder(folder, program):
    shutil.copytree(pages.ROOT / "experiments/configs", folder / "experiments/configs")
    place = folder / "build/release"
    place.mkdir(parents=True)
    script = place / "lfiw"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" --stand-in "$@"\n')
    script.chmod(0o755)
    log = folder / "log.npz"
    train = folder / "cheetah"
    for arguments in (
            ["train", "--env", "HalfCheetah", "--out", train, f"total_steps={2 * STEPS}",
             f"snapshots=[{STEPS}]", "--quiet"],
            ["collect", "--env", "HalfCheetah", "--policy", train / f"policy_{STEPS}.npz",
             "--episodes", "30", "--horizon", "20", "--out", log],
            ["convert", log, folder / "log.hdf5"]):
        subprocess.run([program, *map(str, arguments)], check=True, capture_output=True)
    shutil.copy(train / "policy.npz", folder / "new.npz")


def run_block(folder, lines, program):
    environment = {**os.environ, "LFIW_REAL": program, "PYTHONPATH": str(pathlib.Path(__file__).parent)}
    return subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], cwd=folder, text=True,
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main():
    if sys.argv[1:2] == ["--stand-in"]:
        return stand_in(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(pages.ROOT / "build/release/lfiw"))
    parser.add_argument("--page", default="", help="run the blocks of this page alone")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        make_folder(folder, program)
        for page in pages.pages():
            if arguments.page not in pages.name_of(page):
                continue
            for number, language, lines, _ in pages.blocks(page):
                if language != "sh":
                    continue
                start = time.monotonic()
                done = run_block(folder, lines, program)
                print(f"{pages.name_of(page)}, line {number}: status {done.returncode}, "
                      f"{time.monotonic() - start:.1f} s", flush=True)
                if done.returncode:
                    failed += 1
                    print(done.stdout[-4000:], file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
