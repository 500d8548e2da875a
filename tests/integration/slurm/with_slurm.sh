#!/usr/bin/env bash
# Runs a command beside a Slurm of its own: a controller and two nodes of one CPU each on this
# machine alone (loopback, free ports, a key of its own, everything in a temporary folder), which
# end with it.
#
#   with_slurm.sh COMMAND...
#
# Exits with the command's status, or with 77 and a line that says why where Slurm cannot run.
set -uo pipefail

skip() {
  echo "SKIPPED: $*"
  exit 77
}

export PATH="$PATH:/usr/sbin:/sbin"
for program in munged slurmctld slurmd sbatch squeue scancel scontrol sinfo; do
  command -v "$program" > /dev/null || skip "there is no $program (Debian: cmake/slurm-packages.txt)"
done

folder=$(mktemp -d /tmp/lfiw_slurm.XXXXXX) || skip "no temporary folder"
chmod 755 "$folder"
user=$(id -un)
pids=()

stop() {
  scancel --user="$user" > /dev/null 2>&1
  # processes of jobs end before the daemons that watch over them
  for _ in $(seq 50); do
    [ -z "$(squeue --noheader 2> /dev/null)" ] && break
    sleep 0.1
  done
  for ((i = ${#pids[@]} - 1; i >= 0; --i)); do kill "${pids[i]}" 2> /dev/null; done
  for pid in "${pids[@]}"; do
    for _ in $(seq 50); do
      kill -0 "$pid" 2> /dev/null || break
      sleep 0.1
    done
    kill -KILL "$pid" 2> /dev/null
  done
  if [ -n "${LFIW_KEEP_SLURM:-}" ]; then echo "kept: $folder"; else rm -rf "$folder"; fi
}
trap stop EXIT
trap 'exit 143' TERM INT

free_ports() {
  python3 - "$1" << 'PYTHON'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))
PYTHON
}
read -r control first second < <(free_ports 3) || skip "no free ports (python3)"

umask 022
mkdir "$folder"/{state,munge,log}
chmod 700 "$folder/munge"
head -c 1024 /dev/urandom > "$folder/munge/key"
chmod 400 "$folder/munge/key"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge.socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" \
  > "$folder/log/munged.out" 2>&1 &
pids+=($!)

cat > "$folder/slurm.conf" << CONF
ClusterName=lfiw
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$control
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
ReturnToService=2
KillWait=5
SlurmdTimeout=30
MinJobAge=300
NodeName=lfiw1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$first CPUs=1 State=UNKNOWN
NodeName=lfiw2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$second CPUs=1 State=UNKNOWN
PartitionName=main Nodes=lfiw1,lfiw2 Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$folder/slurm.conf"

for _ in $(seq 50); do
  [ -S "$folder/munge.socket" ] && break
  sleep 0.1
done
[ -S "$folder/munge.socket" ] || skip "munged does not start: $(tail -n 1 "$folder/log/munged.out")"

slurmctld -D > "$folder/log/slurmctld.out" 2>&1 &
pids+=($!)
for node in lfiw1 lfiw2; do
  mkdir "$folder/spool.$node"
  slurmd -D -N "$node" > "$folder/log/$node.out" 2>&1 &
  pids+=($!)
done

ready=no
for _ in $(seq 150); do
  if [ "$(sinfo --noheader --Node --format=%T 2> /dev/null | grep -c '^idle$')" = 2 ]; then
    ready=yes
    break
  fi
  sleep 0.2
done
if [ "$ready" != yes ]; then
  skip "Slurm does not start: $(tail -qn 1 "$folder"/log/*.out | grep -iE 'error|fatal' | tail -n 1)"
fi

"$@"
