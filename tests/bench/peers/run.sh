#!/usr/bin/env bash
# Fit steps and importance sampling of lfiw and of other tools, one thread each, in turns on this
# machine: build/release must be built with its benchmarks. The other tools come from PyPI and go
# into a virtual environment in build/peers; the first run loads some 3 GB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

python=build/peers/bin/python
if [ ! -x "$python" ]; then
  python3 -m venv build/peers
  build/peers/bin/pip install --quiet "torch==2.4.1" "numpy<2"
fi
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
echo "== $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), load $(cut -d' ' -f1 /proc/loadavg)"
build/release/lfiw doctor
for round in 1 2; do
  echo "== round $round: lfiw, fit steps"
  build/release/tests/bench/fit_bench --benchmark_filter='Step'
  echo "== round $round: PyTorch, fit steps"
  "$python" tests/bench/peers/fit_step.py
done
echo "== lfiw, estimators from a million transitions"
build/release/tests/bench/estimator_bench
echo "== numpy, the same"
"$python" tests/bench/estimator_bench.py
