"""Serves a policy of any Python framework to lfiw, which starts it as --policy 'exec:python3 FILE':

    from serve_policy import serve
    serve(lambda observations, noise, steps: network(observations), obs_dim=17, action_dim=6)

Needs numpy. The folder of this file must be on PYTHONPATH, or the file lie beside yours. Import it
before anything that prints to stdout. The format, for programs in other languages, is described in
docs/policies.md.
"""
import math
import os
import sys

import numpy as np

_answers = os.fdopen(os.dup(1), "wb")  # from here on, what prints goes to stderr
os.dup2(2, 1)


def serve(act, obs_dim, action_dim, noise_dim=0, *, mean=None, log_density=None, discrete=False,
          answer_seconds=60):
    """Answers until lfiw ends. All arrays are float32; steps [n] are int64.

    act(observations [n, obs_dim], noise [n, noise_dim], steps) -> actions [n, action_dim]; of
        discrete actions their indices [n]. The noise is standard normal and the only randomness
        that may be used, and every row must be answered by itself.
    mean(observations, steps) -> the actions without noise (default: act with noise 0)
    log_density(observations, actions, low, high, steps) -> [n], of executed actions, which were
        clipped to low, high [action_dim]; see normal_log_density
    discrete: action_dim is the number of actions
    """
    requests, answers = sys.stdin.buffer, _answers

    def read():
        version = np.lib.format.read_magic(requests)
        header = {(1, 0): np.lib.format.read_array_header_1_0,
                  (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, _, dtype = header(requests)
        size = math.prod(shape) * dtype.itemsize
        return np.frombuffer(requests.read(size), dtype).reshape(shape)

    def write(values, dtype, shape):
        values = np.ascontiguousarray(values, dtype)
        if values.shape != shape:
            sys.exit(f"the policy returns shape {list(values.shape)}, expected {list(shape)}")
        header = {"descr": values.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(answers, header)
        answers.write(values.tobytes())
        answers.flush()

    density = log_density is not None
    answers.write(f"lfiw-policy 1 obs_dim={obs_dim} action_dim={action_dim} noise_dim={noise_dim} "
                  f"discrete={discrete:d} density={density:d} answer_seconds={answer_seconds}\n"
                  .encode())
    answers.flush()
    while request := requests.readline().strip():
        observations, steps = read(), read()
        n = len(observations)
        if request == b"log_density":
            actions, low, high = read(), read(), read()
            write(log_density(observations, actions, low, high, steps), "<f8", (n,))
            continue
        if request == b"sample":
            actions = act(observations, read(), steps)
        elif mean is not None:
            actions = mean(observations, steps)
        else:
            actions = act(observations, np.zeros((n, noise_dim), np.float32), steps)
        write(actions, *(("<i8", (n,)) if discrete else ("<f4", (n, action_dim))))


def normal_log_density(actions, mean, std, low, high):
    """log-density [n] of independent normal draws that were clipped to [low, high]: inside that of
    the draw, at a bound the log-probability of all beyond it."""
    mean, std = np.broadcast_to(mean, actions.shape), np.broadcast_to(std, actions.shape)
    log_tail = np.vectorize(lambda z: math.log(0.5 * math.erfc(z / math.sqrt(2)) or 5e-324), "d")
    z = (actions.astype("d") - mean) / std
    inside = -0.5 * z * z - np.log(std, dtype="d") - 0.5 * math.log(2 * math.pi)
    below, above = actions <= low, actions >= high
    return np.where(below, log_tail(-z), np.where(above, log_tail(z), inside)).sum(1)
