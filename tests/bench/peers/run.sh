#!/usr/bin/env bash
# Measures lfiw and other tools in turns on this machine, one thread each, and prints one Markdown
# table: versions, CPU, times and ratios. build/release must be built with its benchmarks; the
# variable LFIW_BENCH names another folder of them. The other tools come from PyPI and go into a
# virtual environment in build/peers; the first run loads some 4 GB. Arguments: groups to measure
# (fit, env, ppo, fqe, estimators, images), all without any. Everything but images is measured
# LFIW_ROUNDS times (2), the least time counts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

here=tests/bench/peers
bench=${LFIW_BENCH:-build/release/tests/bench}
program=${LFIW_PROGRAM:-build/release/lfiw}
results=build/peers/results
python=build/peers/bin/python
groups=${*:-fit env ppo fqe estimators images}

if [ ! -e build/peers/installed ] || [ "$here/requirements.txt" -nt build/peers/installed ]; then
  python3 -m venv build/peers
  build/peers/bin/pip install --quiet -r "$here/requirements.txt"
  # these name versions of others that are long gone, and run with newer ones
  while read -r package; do
    build/peers/bin/pip install --quiet --no-deps --ignore-requires-python "$package" ||
      echo "$package can not be installed" >&2
  done < <(grep -v '^#' "$here/requirements-alone.txt")
  touch build/peers/installed
fi
mkdir -p "$results"
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
"$program" doctor 2>/dev/null | sed -nE 's/^(products|speed|MuJoCo) +/\1: /p' | paste -sd ';' | sed 's/;/; /g' >"$results/lfiw" || true

# lfiw starts itself anew with the kernel of OpenBLAS that fits the CPU; its benchmarks do not
kernel=$("$program" doctor 2>/dev/null | sed -nE 's/^OpenBLAS .* ([A-Za-z]+) MAX_THREADS.*/\1/p' || true)
own() {  # NAME PROGRAM FILTER
  ${kernel:+env "OPENBLAS_CORETYPE=$kernel"} "$bench/$2" --benchmark_filter="$3" --benchmark_format=json >"$results/lfiw_$1.json" 2>/dev/null ||
    echo "$2 failed" >&2
}
peer() {  # NAME SCRIPT
  timeout 1200 "$python" "$here/$2.py" >"$results/peer_$1.jsonl" 2>"$results/peer_$1.err" ||
    echo "{\"tool\": \"$2\", \"absent\": \"it ended with status $?\"}" >>"$results/peer_$1.jsonl"
}

for round in $(seq "${LFIW_ROUNDS:-2}"); do
  for group in $groups; do
    echo "round $round: $group" >&2
    case $group in
      fit)
        own "fit$round" fit_bench Step
        peer "fit_pytorch$round" pytorch_fit
        peer "fit_mbrl$round" mbrl_fit
        ;;
      env)
        own "env$round" env_bench EnvStep
        peer "env_gymnasium$round" gymnasium_env
        peer "env_envpool$round" envpool_env
        ;;
      ppo)
        own "ppo$round" ppo_bench TrainingRate
        peer "ppo_sb3$round" sb3_ppo
        ;;
      fqe)
        own "fqe$round" fqe_bench FqeStep
        peer "fqe_d3rlpy$round" d3rlpy_fqe
        ;;
      estimators)
        own "estimators$round" estimator_bench 'Estimators|Checked|Bandit|Psis|Bootstrap'
        for script in numpy_estimators scope_rl_estimators obp_estimators arviz_psis; do
          peer "$script$round" "$script"
        done
        ;;
      images)
        # minutes: once is enough
        [ "$round" = 1 ] || continue
        own "images$round" gof_bench 'Distance'
        peer "images$round" image_metrics
        ;;
      *)
        echo "no group $group" >&2
        exit 2
        ;;
    esac
  done
  cut -d' ' -f1-3 /proc/loadavg >"$results/load"
done
"$python" "$here/table.py" "$results"
