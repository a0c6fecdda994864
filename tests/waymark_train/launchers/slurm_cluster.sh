#!/usr/bin/env bash
# A Slurm cluster of two virtual nodes, n1 and n2 with two processors each, for one command; needs munge and slurm-wlm.
#
#   slurm_cluster.sh FOLDER -- srun -n2 command      FOLDER: an empty one with a short name; logs and state go there
#
# Runs apart (apart.sh): exits 77 where that cannot be, 70 where the cluster does not come up; otherwise as the command.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != --inside ]; then
  folder=$(cd "$1" && pwd); shift 2
  exec "$here/apart.sh" "$folder" controller n1 n2 -- "$here/slurm_cluster.sh" --inside "$folder" "$@"
fi
folder=$2; shift 2
export PATH="$PATH:/usr/sbin:/sbin"
mkdir -p "$folder"/{munge,state,n1,n2}
chmod 711 "$folder/munge"
(umask 077; head -c 128 /dev/urandom >"$folder/munge/key")
cat >"$folder/slurm.conf" <<CONF
ClusterName=waymark
SlurmctldHost=controller(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
SlurmctldPort=6817
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=controller NodeAddr=127.0.0.1 Port=6821 CPUs=2 RealMemory=2000
NodeName=n2 NodeHostname=controller NodeAddr=127.0.0.1 Port=6822 CPUs=2 RealMemory=2000
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$folder/slurm.conf"
munged --force --foreground --num-threads=4 --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" >"$folder/munge.out" 2>&1 &
munge=$!
for _ in $(seq 100); do [ -S "$folder/munge/socket" ] && break; sleep 0.1; done
slurmctld -D >"$folder/slurmctld.out" 2>&1 & controller=$!
slurmd -D -N n1 >"$folder/n1.out" 2>&1 & first=$!
slurmd -D -N n2 >"$folder/n2.out" 2>&1 & second=$!
ready='' began=$SECONDS
while [ $((SECONDS - began)) -lt 60 ] && kill -0 "$controller" "$first" "$second" 2>/dev/null; do
  [ "$(timeout 5 sinfo -h -N -o %t 2>/dev/null | grep -cx idle || true)" = 2 ] && ready=1 && break
  sleep 0.1
done
if [ -z "$ready" ]; then
  echo "the Slurm cluster did not come up:" >&2
  for log in "$folder"/*.out; do echo "$log:"; tail -n 5 "$log"; done >&2
  exit 70  # what runs ends with this process
fi
code=0
"$@" || code=$?
# In this order: without munge, or with a job that is alive, slurmd waits for good.
scancel -u root || true
for _ in $(seq 100); do [ -z "$(timeout 5 squeue -h)" ] && break; sleep 0.1; done
for daemon in "$first" "$second" "$controller" "$munge"; do
  kill "$daemon" 2>/dev/null || true
  wait "$daemon" || true
done
exit "$code"
