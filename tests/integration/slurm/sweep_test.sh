#!/usr/bin/env bash
# A sweep of four small runs on a real Slurm: one task is ended by scancel and queued again, one
# loses its slurmstepd by kill -9. The results must be those of the same sweep without Slurm, byte
# by byte, and launching again must submit only what is missing. Runs within with_slurm.sh.
#
#   sweep_test.sh PROGRAM FOLDER
set -uo pipefail
lfiw=$1
folder=$2

fail() {
  echo "FAILED: $*"
  tail -n 5 "$folder"/sweep/slurm/*.log 2> /dev/null
  squeue --all
  exit 1
}
# Waits for a condition, at most so many seconds.
await() {
  local seconds=$1
  shift
  for ((i = 0; i < 5 * seconds; ++i)); do
    "$@" && return 0
    sleep 0.2
  done
  fail "not within $seconds s: $*"
}
# The number in "3 done, 1 running, ..." of lfiw status before a word.
count() { "$lfiw" status sweep | grep -oE "[0-9]+ $1(,|\$)" | grep -oE '^[0-9]+'; }
idle() { [ -z "$(squeue --noheader)" ]; }
running() { [ "$(squeue --noheader --array --states=RUNNING --format=%i | grep -c _)" -ge "$1" ]; }
computes() { grep -q "steps" "sweep/slurm/$1.log" 2> /dev/null || [ -d "cache/policy" ]; }

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder" || exit 1
cat > small.yaml << 'YAML'
name: small
checkpoint_seconds: 0.2
environment: Swimmer
value: {horizon: 20}
policies:
  behavior_steps: 10240
  evaluation_steps: 20480
  ppo: {rollout_steps: 512, minibatches: 4}
log: {episodes: 40}
dynamics:
  members: 2
  network: {width: 64, hidden_layers: 2}
  fit: {steps: 4000, batch: 128, validate_every: 100}
classifiers:
  instances: 2
  fit:
    network: {width: 32, hidden_layers: 2}
    fit: {steps: 1000, batch: 64, validate_every: 50}
rollout: {repetitions: 3, episodes: 20}
estimators: {horizons: [5, 20]}
truth: {episodes: 20}
YAML
sweep=(small.yaml -m 'seed=range(0,2)' 'policies.seed=0,1')
launch=("$lfiw" run "${sweep[@]}" --out sweep --cache cache --launcher slurm --partition main
  --time 10 --quiet)

"$lfiw" run "${sweep[@]}" --out plain --cache plain_cache --threads 1 --quiet > plain.txt 2>&1 ||
  fail "the sweep without Slurm: $(tail -n 1 plain.txt)"

"${launch[@]}" || fail "launch"
[ "$(grep -c . sweep/slurm/tasks)" = 4 ] || fail "four tasks"
await 60 running 2

# one is taken away in the midst of its work, by the signals that preemption sends too
job=$(grep -oE '"[0-9]+"' sweep/slurm/launch.json | head -n 1 | tr -d '"')
first=$(squeue --noheader --array --states=RUNNING --format=%i | grep _ | sort | head -n 1)
sleep 1
scancel "$first"
await 60 bash -c "! squeue --noheader --array --format=%i | grep -qx '$first'"
[ "$("$lfiw" status sweep --json | grep -c '"state": "failed"')" -ge 1 ] || fail "no failed task"
grep -q "interrupted" "sweep/slurm/${first#*_}.log" || fail "the task did not end at a checkpoint"
# the same command again submits this task alone
"${launch[@]}" > again.txt || fail "launch again"
grep -q "tasks ${first#*_} of 4" again.txt || fail "submitted: $(cat again.txt)"

# another loses the daemon that watches over it, and its processes with that
await 60 running 1
second=$(squeue --noheader --array --states=RUNNING --format=%i | grep _ | sort | tail -n 1)
number=$(squeue --noheader --array --jobs="$second" --format=%A)
step=$(pgrep -f "slurmstepd: \[$number" | head -n 1)
[ -n "$step" ] || fail "no slurmstepd of $second"
shell=$(pgrep -P "$step" | head -n 1)
program=$(pgrep -P "${shell:-0}" | head -n 1)
kill -KILL "$step" $program $shell
echo "killed slurmstepd $step of task $second"

# Slurm learns of it when nodes register again, and queues the task again for two minutes later
requeued() { squeue --noheader --array --states=PENDING --format=%i | grep -qx "$second"; }
for _ in $(seq 6); do
  requeued && break
  scontrol reconfigure
  sleep 5
done
if requeued; then
  echo "Slurm queued task $second again"
  scontrol update JobId="$second" StartTime=now
fi
await 240 idle
if [ "$(count done)" != 4 ]; then
  # what Slurm gave up is submitted again
  "${launch[@]}" || fail "launch a third time"
  await 240 idle
fi
"$lfiw" status sweep
[ "$(count done)" = 4 ] || fail "not all done"
await 60 test -e sweep/sweep.csv
for run in 0 1 2 3; do
  cmp "plain/$run/results.csv" "sweep/$run/results.csv" || fail "results of run $run differ"
done
cmp <(sed 's/plain/sweep/' plain/sweep.csv) sweep/sweep.csv || fail "the tables differ"
"${launch[@]}" | grep -q "all 4 tasks are done" || fail "something was submitted again"
echo "four runs, the same bytes"
