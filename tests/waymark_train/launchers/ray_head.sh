#!/usr/bin/env bash
# A Ray cluster of one node with two processors, for one command; PYTHON has ray. RAY_ADDRESS is set for the command.
#
#   ray_head.sh FOLDER PYTHON -- python3 deploy/training/ray_train.py ...   FOLDER: an empty one with a short name
#
# Runs apart (apart.sh), since Ray listens on all interfaces: exits 77 where that cannot be, 70 where the head does not
# come up; otherwise as the command.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != --inside ]; then
  folder=$(cd "$1" && pwd) python=$2; shift 3
  exec "$here/apart.sh" "$folder" head -- "$here/ray_head.sh" --inside "$folder" "$python" "$@"
fi
folder=$2 python=$3; shift 3
export RAY_USAGE_STATS_ENABLED=0 PYTHONUNBUFFERED=1
# 127.0.0.1 would be replaced by the address of an interface; there is none.
address=127.0.0.2:6379
"$python" -m ray.scripts.scripts start --head --block --node-ip-address="${address%:*}" --port="${address#*:}" \
  --include-dashboard=false --num-cpus=2 --object-store-memory=100000000 --temp-dir="$folder/t" \
  --disable-usage-stats >"$folder/head.out" 2>&1 & head=$!
export RAY_ADDRESS=$address
ready='' began=$SECONDS
while [ $((SECONDS - began)) -lt 120 ] && kill -0 "$head" 2>/dev/null; do
  grep -q "Ray runtime started" "$folder/head.out" 2>/dev/null && ready=1 && break
  sleep 0.2
done
if [ -z "$ready" ]; then
  echo "the head of Ray did not come up:" >&2
  tail -n 20 "$folder/head.out" >&2
  exit 70  # what runs ends with this process
fi
code=0
"$@" || code=$?
kill "$head" 2>/dev/null || true
wait "$head" || true
exit "$code"
