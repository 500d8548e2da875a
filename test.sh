#!/usr/bin/env bash
# Installs what is missing, builds everything, and runs all tests. Arguments are passed on to ctest,
# for example: ./test.sh -L unit
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. cmake/setup.sh

mapfile -t packages < <(packages_in cmake/debian-packages.txt)
install_packages "${packages[@]}"
mapfile -t packages < <(packages_in cmake/slurm-packages.txt)
# in a shell of its own: where they cannot be had, one test is skipped
(install_packages "${packages[@]}") || echo "lfiw: no Slurm; its test is skipped" >&2
build all
echo "== testing"
exec ctest --test-dir build/release --output-on-failure -j "$(nproc)" "$@"
