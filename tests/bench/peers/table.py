"""Makes one Markdown table from what run.sh measured: python3 table.py FOLDER

FOLDER holds lfiw_*.json of Google Benchmark and peer_*.jsonl of the scripts beside this one; of
repeated measurements the least counts.
"""

import json
import pathlib
import platform
import re
import sys

TASKS = ("Swimmer", "HalfCheetah", "HumanoidStandup", "Hopper", "Walker2d", "Ant")
SIZES = {"Swimmer": "8/2/1", "HalfCheetah": "17/6/1", "HumanoidStandup": "376/17/0"}


def rate(entry):
    return 1e3 / entry["items_per_second"]


def counter(name):
    return lambda entry: 1e-3 * entry[name]


# fit_bench has steps in float and in bfloat16; the other tools' are in float.
FLOAT = 1


def time_of(entry):
    return entry["real_time"] if "manual_time" in entry["name"] else entry["cpu_time"]


def works():
    """key: (title, name of lfiw's benchmark, how its milliseconds are read)."""
    table = {}
    for task, sizes in SIZES.items():
        table[f"dynamics {task}"] = (f"dynamics fit step, {task}", f"BM_DynamicsStep/{sizes}/{FLOAT}/",
                                     time_of)
    for task in ("HalfCheetah", "HumanoidStandup"):
        table[f"classifier {task}"] = (f"classifier fit step, {task}",
                                       f"BM_ClassifierStep/{SIZES[task]}/{FLOAT}/",
                                       time_of)
    table["fqe"] = ("FQE step, 2 x 256, batch 256", "FqeStep/1/", time_of)
    for task in ("HalfCheetah", "Swimmer"):
        table[f"ppo {task}"] = (f"PPO, one step of {task}", f"TrainingRate/{task}", rate)
    for number, task in enumerate(TASKS):
        table[f"environment {task}"] = (f"environment step, {task}", f"EnvStep/{number}/",
                                        counter("env_us"))
        table[f"physics {task}"] = (f"the same, MuJoCo alone, {task}", f"EnvStep/{number}/",
                                    counter("bare_us"))
    for name in ("is", "wis", "pdis", "wpdis", "wdr"):
        table[f"estimate {name}"] = (f"`{name}`, 10,000 x 100 steps", f"Estimators/{name}$", time_of)
    for name in ("is", "wis", "pdis", "wpdis"):
        table[f"checked {name}"] = (f"`{name}` with checks and standard error, 10,000 x 100 steps",
                                    f"Checked/{name}$", time_of)
    for name in ("is", "wis"):
        table[f"bandit {name}"] = (f"`{name}` with checks and standard error, a million episodes "
                                   "of one step", f"Bandit/{name}$", time_of)
        table[f"bootstrap {name}"] = (f"10,000 bootstrap resamples of `{name}`, 10,000 episodes",
                                      f"Bootstrap/{name}/", time_of)
    for count in (100_000, 1_000_000):
        table[f"psis {count}"] = (f"Pareto smoothing of {count:,} log-weights", f"Psis/{count}$",
                                  time_of)
    table["fid"] = ("FID of 10,000 x 2048 features", "BM_FrechetDistance/", time_of)
    table["kid"] = ("KID of the same, ten blocks of 1000", "BM_KernelDistance/", time_of)
    return table


def lfiw_measurements(folder, table):
    best = {}
    for path in sorted(folder.glob("lfiw_*.json")):
        try:
            entries = json.loads(path.read_text())["benchmarks"]
        except json.JSONDecodeError:
            print(f"{path}: no complete measurements", file=sys.stderr)
            continue
        for entry in entries:
            if entry.get("run_type") != "iteration":
                continue
            for key, (_, name, read) in table.items():
                if re.match(name, entry["name"].split("/min_time")[0] + "/") or re.match(
                        name, entry["name"]):
                    best[key] = min(best.get(key, float("inf")), read(entry))
    return best


def peer_measurements(folder):
    """{work: {tool: (version, milliseconds)}} and {tool: why it is absent}."""
    best, absent = {}, {}
    for path in sorted(folder.glob("peer_*.jsonl")):
        for line in path.read_text().splitlines():
            if not line.startswith("{"):  # what a tool prints of itself
                continue
            entry = json.loads(line)
            if "absent" in entry:
                absent[entry["tool"]] = entry["absent"]
                continue
            tools = best.setdefault(entry["work"], {})
            known = tools.get(entry["tool"], ("", float("inf")))
            tools[entry["tool"]] = (entry["version"], min(known[1], entry["milliseconds"]))
    return best, absent


def named(tool, version):
    """The version behind the name and before what tells its uses apart."""
    return re.sub(r"^([^,(]+?)( \(|, |$)", rf"\g<1> {version}\g<2>", tool, count=1)


def text(milliseconds):
    if milliseconds >= 1e3:
        return f"{milliseconds / 1e3:.3g} s"
    return f"{milliseconds:.3g} ms" if milliseconds >= 1.0 else f"{1e3 * milliseconds:.3g} µs"


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def main():
    folder = pathlib.Path(sys.argv[1])
    table = works()
    lfiw = lfiw_measurements(folder, table)
    peers, absent = peer_measurements(folder)
    print(f"{cpu_model()}, one thread; load {(folder / 'load').read_text().strip()}; "
          f"Python {platform.python_version()}. {(folder / 'lfiw').read_text().strip()}\n")
    print("| what | lfiw | other tool | its time | its time / lfiw's |")
    print("| --- | --- | --- | --- | --- |")
    for key, (title, _, _) in table.items():
        for tool, (version, milliseconds) in peers.get(key, {}).items():
            own = lfiw.get(key)
            ratio = f"{milliseconds / own:.2f}" if own else "not measured"
            print(f"| {title} | {text(own) if own else 'not measured'} | {named(tool, version)} | "
                  f"{text(milliseconds)} | {ratio} |")
    for tool, reason in absent.items():
        print(f"| - | - | {tool} | not measured | {reason.replace('|', ' ')} |")


if __name__ == "__main__":
    main()
