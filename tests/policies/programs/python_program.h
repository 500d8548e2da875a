#ifndef LFIW_TESTS_POLICIES_PROGRAMS_PYTHON_PROGRAM_H_
#define LFIW_TESTS_POLICIES_PROGRAMS_PYTHON_PROGRAM_H_

#include <cstdlib>
#include <string>

#include "core/layers.h"
#include "core/run/atomic_file.h"

namespace lfiw::policies {

inline bool HasPython() { return std::system("python3 -c '' >/dev/null 2>&1") == 0; }
inline bool HasNumpy() { return std::system("python3 -c 'import numpy' >/dev/null 2>&1") == 0; }

// A policy of PointEnv in plain Python: a_0 = 2 (g - x) + n_0, a_1 = 0.5 n_1 (with "discrete" the
// actions 0 and 1: 1 where g - x + n_0 > 0), of which every word that follows changes something.
inline constexpr const char* kPythonProgram = R"(
import ast, math, os, random, struct, sys, time
modes = sys.argv[1:]
discrete, density = "discrete" in modes, "nodensity" not in modes
requests, answers = sys.stdin.buffer, sys.stdout.buffer
calls = 0
offset = 0.0 if "restart" not in modes else random.SystemRandom().random()

def read():
    size, = struct.unpack("<H", requests.read(10)[8:])
    header = ast.literal_eval(requests.read(size).decode())
    shape, kind = header["shape"], {"<f4": "f", "<i8": "q"}[header["descr"]]
    count = math.prod(shape)
    values = struct.unpack(f"<{count}{kind}", requests.read(count * struct.calcsize("<" + kind)))
    if len(shape) == 1:
        return list(values)
    return [values[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]

def write(descr, shape, values, fortran=False):
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    answers.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)
    kind = {"<f4": "f", "<f8": "d", "<i8": "q", "|u1": "B"}[descr]
    answers.write(struct.pack(f"<{len(values)}{kind}", *values))
    answers.flush()

def act(row, noise):
    x, goal = row[0], row[1]
    if discrete:
        return [2 if "outside" in modes and x > 100 else int(goal - x + noise[0] > 0)]
    drawn = [2 * (goal - x) + noise[0] + offset, 0.5 * noise[1]]
    if "random" in modes:
        drawn[0] += random.random()
    if "state" in modes:
        drawn[0] += calls
    return [math.nan, 0.0] if "nan" in modes and x > 100 else drawn

def log_normal(a, mean, std):
    return -0.5 * ((a - mean) / std) ** 2 - math.log(std) - 0.5 * math.log(2 * math.pi)

print("loading", file=sys.stderr)
if "early" in modes:
    sys.exit("no such checkpoint")
hello = f"lfiw-policy 1 obs_dim=3 action_dim=2 noise_dim=2 density={density:d} discrete={discrete:d}"
print(hello + " answer_seconds=" + ("0.5" if "slow" in modes else "20"), flush=True)
while line := requests.readline().strip():
    calls += 1
    rows, steps = read(), read()
    late = any(row[0] > 100 for row in rows)
    if line == b"log_density":
        actions, low, high = read(), read(), read()
        if discrete:
            write("<f8", (len(rows),), [math.log(0.25) if a == 0 else math.log(0.75) for a in actions])
        else:
            means = [act(row, [0, 0]) for row in rows]
            write("<f8", (len(rows),), [log_normal(a[0], m[0], 1) + log_normal(a[1], m[1], 0.5)
                                        for a, m in zip(actions, means)])
        continue
    noise = read() if line == b"sample" else [[0.0, 0.0]] * len(rows)
    drawn = [act(row, n) for row, n in zip(rows, noise)]
    if "batch" in modes:
        drawn = [[a[0] + len(rows), a[1]] for a in drawn]
    if late and "die" in modes:
        sys.exit("CUDA out of memory")
    if late and "slow" in modes:
        time.sleep(30)
    if late and "print" in modes:
        print("Epoch 1 of 10", flush=True)
    if late and "shape" in modes:
        write("<f4", (len(rows),), [a[0] for a in drawn])
    elif late and "bytes" in modes:
        write("|u1", (len(rows), 2), [1, 2] * len(rows))
    elif "fortran" in modes:
        write("<f8", (len(rows), 2), [a[0] for a in drawn] + [a[1] for a in drawn], True)
    else:
        flat = [value for a in drawn for value in a]
        write(*(("<i8", (len(rows),)) if discrete else ("<f4", (len(rows), 2))), flat)
)";

// Writes the program and returns the command that runs it.
inline std::string WritePythonProgram(const std::string& path) {
  WriteFileAtomically(path, kPythonProgram);
  return "python3 " + path;
}

}  // namespace lfiw::policies

#endif  // LFIW_TESTS_POLICIES_PROGRAMS_PYTHON_PROGRAM_H_
