#!/usr/bin/env bash
# Installs what is missing, builds lfiw, and evaluates a policy from another policy's log:
# experiments/configs/quickstart.yaml, some 50 seconds of run time on two idle cores.
# Arguments are passed on to `lfiw run`, for example: ./quickstart.sh seed=1
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. cmake/setup.sh

mapfile -t packages < <(packages_in cmake/debian-packages.txt)
install_packages "${packages[@]}"
build lfiw
echo "== running experiments/configs/quickstart.yaml"
exec build/release/lfiw run experiments/configs/quickstart.yaml "$@"
