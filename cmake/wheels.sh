#!/usr/bin/env bash
# Builds lfiw with MuJoCo 3 and LibTorch 2 of PyPI in place of Debian's 2.2.2 and 1.13 (preset
# `wheels`), and runs all tests. Needs pip (python3-pip) and 2.5 GB of disk.
#
#   cmake/wheels.sh [--both] [CTEST ARGUMENTS]
#
# --both runs ./test.sh with Debian's libraries first. LFIW_MUJOCO and LFIW_TORCH name other versions:
# MuJoCo from 2.3, torch from 2.7. Only their headers and libraries are used; the CUDA run-time that
# PyPI's torch is linked with is loaded but not called, and no GPU is needed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. cmake/setup.sh

if [ "${1:-}" = --both ]; then
  shift
  ./test.sh "$@"
fi
mapfile -t packages < <(packages_in cmake/debian-packages.txt)
install_packages "${packages[@]}" python3-pip

folder=build/wheels/packages
wanted="mujoco==${LFIW_MUJOCO:-3.17.0} torch==${LFIW_TORCH:-2.15.0} ${LFIW_CUDA:-nvidia-cuda-runtime==13.2.* nvidia-cuda-cupti==13.2.*}"
if [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ]; then
  echo "== fetching $wanted"
  rm -rf "$folder"
  # shellcheck disable=SC2086
  python3 -m pip install --quiet --no-deps --target "$folder" $wanted
  echo "$wanted" >"$folder/wanted"
fi
echo "== building (build/wheels)"
[ -f build/wheels/build.ninja ] || cmake --preset wheels >/dev/null
cmake --build --preset wheels
echo "== testing"
exec ctest --test-dir build/wheels --output-on-failure -j "$(nproc)" "$@"
