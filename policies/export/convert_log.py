#!/usr/bin/env python3
"""Writes a log in Parquet, Arrow or Feather, or a Minari dataset in Arrow's storage, as an .npz that lfiw reads:

  convert_log.py log.parquet log.npz
  convert_log.py ~/.minari/datasets/pendulum/random-v0 log.npz

Needs pyarrow and numpy. A table has one step a row, in order. Its columns keep their names and become arrays; columns of
lists become matrices, and so do columns with numbered names (obs_0, obs_1, ...). What the names must be is told by
docs/logs.md: observations, actions, rewards and the flags of ends, under the names of D4RL or Gymnasium.
"""

import json
import pathlib
import re
import sys

import numpy
import pyarrow
import pyarrow.feather
import pyarrow.parquet

# What a column with numbered names is called as a matrix.
MATRICES = {"obs": "observations", "observation": "observations", "observations": "observations",
            "action": "actions", "actions": "actions", "next_obs": "next_observations",
            "next_observation": "next_observations", "next_observations": "next_observations"}


def read_arrow(path):
    """The table of an Arrow file, whether it was written as a file or as a stream."""
    with pyarrow.memory_map(str(path)) as source:
        try:
            return pyarrow.ipc.open_file(source).read_all()
        except pyarrow.ArrowInvalid:
            source.seek(0)
            return pyarrow.ipc.open_stream(source).read_all()


def read_table(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)
    if path.suffix == ".feather":
        return pyarrow.feather.read_table(path)
    return read_arrow(path)


def array_of(name, column):
    """A column as numbers [rows] or [rows, k]."""
    kind = column.type
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind) or pyarrow.types.is_fixed_size_list(kind):
        rows = [numpy.asarray(row).ravel() for row in column.to_pylist()]
        if len({len(row) for row in rows}) != 1:
            raise SystemExit(f"column {name}: lists of different lengths, expected one length for all rows")
        values = numpy.stack(rows)
    else:
        values = column.to_numpy()
    if values.dtype == object:
        raise SystemExit(f"column {name}: {kind}, expected numbers or lists of numbers")
    return values


def arrays_of(table):
    arrays, numbered = {}, {}
    for name in table.column_names:
        column = table.column(name)
        if column.null_count > 0:
            raise SystemExit(f"column {name}: {column.null_count} values are missing")
        match = re.fullmatch(r"(.*?)_(\d+)", name)
        if match and match[1] in MATRICES:
            numbered.setdefault(MATRICES[match[1]], {})[int(match[2])] = array_of(name, column)
        elif not (pyarrow.types.is_string(column.type) or pyarrow.types.is_binary(column.type)):
            arrays[name] = array_of(name, column)
    for name, columns in numbered.items():
        if sorted(columns) != list(range(len(columns))):
            raise SystemExit(f"{name}: columns numbered {sorted(columns)}, expected 0 to {len(columns) - 1}")
        arrays[name] = numpy.stack([columns[k] for k in range(len(columns))], axis=1)
    return arrays


def minari_arrays(folder):
    """A dataset of Minari: one folder an episode, whose last row has an observation and no step."""
    data = folder / "data" if (folder / "data").is_dir() else folder
    episodes = sorted((path for path in data.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    if not episodes:
        raise SystemExit(f"{data}: no folders of episodes (0, 1, ...), expected a Minari dataset in Arrow's storage")
    parts, offsets = {key: [] for key in ("observations", "actions", "rewards", "terminated")}, [0]
    for episode in episodes:
        table = pyarrow.concat_tables(read_arrow(path) for path in sorted(episode.glob("*.arrow")))
        arrays = arrays_of(table)
        parts["observations"].append(arrays["observations"])
        for key in ("actions", "rewards"):
            parts[key].append(arrays[key][:-1])
        parts["terminated"].append(arrays["terminations"][-2:-1])
        offsets.append(offsets[-1] + len(table) - 1)
    out = {key: numpy.concatenate(values) for key, values in parts.items()}
    out["offsets"] = numpy.array(offsets, "i8")
    out["terminated"] = out["terminated"].astype("u1")
    out["observations"] = out["observations"].reshape(len(out["observations"]), -1).astype("f4")
    if out["actions"].dtype.kind == "f":
        out["actions"] = out["actions"].reshape(len(out["actions"]), -1).astype("f4")
    metadata = json.loads((data / "metadata.json").read_text())
    specification = json.loads(metadata.get("env_spec") or "null")
    if specification:
        out["environment"] = numpy.array(specification["id"])
    return out


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__.strip())
    path, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    arrays = minari_arrays(path) if path.is_dir() else arrays_of(read_table(path))
    numpy.savez_compressed(out, **arrays)
    print(f"{out}: " + ", ".join(f"{name} {list(values.shape)}" for name, values in arrays.items()))


if __name__ == "__main__":
    main()
