#!/usr/bin/env bash
# A worker on a real Slurm is told that its time limit is near: it must end at a checkpoint, queue
# itself again, go on from there, and leave the results of a run without Slurm, which a dependent job
# collects. Runs within with_slurm.sh.
#
#   requeue_test.sh PROGRAM FOLDER
set -uo pipefail
lfiw=$1
folder=$2

fail() {
  echo "FAILED: $*"
  tail -n 8 "$folder"/run/slurm/*.log 2> /dev/null
  squeue --all
  exit 1
}
await() {
  local seconds=$1
  shift
  for ((i = 0; i < 5 * seconds; ++i)); do
    "$@" && return 0
    sleep 0.2
  done
  fail "not within $seconds s: $*"
}
running() { squeue --noheader --states=RUNNING | grep -q .; }
requeued() { scontrol show job "$task" | grep -q "Restarts=1"; }
pending() { squeue --noheader --array --states=PENDING --format=%i | grep -qx "$task"; }
idle() { [ -z "$(squeue --noheader)" ]; }

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder" || exit 1
cat > small.yaml << 'YAML'
name: small
checkpoint_seconds: 1
environment: Swimmer
value: {horizon: 20}
policies:
  behavior_steps: 51200
  evaluation_steps: 102400
  ppo: {rollout_steps: 512, minibatches: 4}
log: {episodes: 40}
dynamics:
  members: 2
  network: {width: 32, hidden_layers: 2}
  fit: {steps: 400, batch: 64, validate_every: 100}
classifiers:
  instances: 2
  fit:
    network: {width: 32, hidden_layers: 2}
    fit: {steps: 200, batch: 64, validate_every: 50}
rollout: {repetitions: 3, episodes: 20}
estimators: {horizons: [5, 20]}
truth: {episodes: 20}
YAML
"$lfiw" run small.yaml --out plain --cache plain_cache --threads 1 --quiet > plain.txt 2>&1 ||
  fail "the run without Slurm: $(tail -n 1 plain.txt)"
"$lfiw" run small.yaml --out run --cache cache --launcher slurm --workers 1 --partition main ||
  fail "launch"
await 60 running
task=$(squeue --noheader --array --states=RUNNING --format=%i | head -n 1)
# in the midst of the training
await 60 bash -c 'ls cache/policy/*.work/checkpoint/* > /dev/null 2>&1'
scancel --batch --signal=USR1 "$task"
await 60 requeued
await 30 pending
grep -q "interrupted" run/slurm/0.log || fail "the task did not end at a checkpoint"
"$lfiw" status run | grep -q "1 queued" || fail "the status: $("$lfiw" status run)"
# Slurm lets it wait for two minutes
scontrol update JobId="$task" StartTime=now
await 120 idle
"$lfiw" status run
grep -q "try 2" run/slurm/0.log || fail "there was no second try"
cmp plain/results.csv run/results.csv || fail "the results differ"
echo "queued again, the same bytes"
