#!/usr/bin/env bash
# The same job of waymark-train on one process and on several: speed-up, efficiency, communication, final metric.
#
#   bench/training.sh WORK [beauty|movielens] [PROCESSES...]      default: beauty 1 2 4
#
# «estimated» is the speed-up that the run's own report works out, without the run on one process.
# WORK: a scratch folder. EPOCHS (default 6) bounds a run; OPTIONS go on to waymark-train; DATA says where the data is.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/release/bin
mkdir -p "$1"; work=$(cd "$1" && pwd); shift
set_name=${1:-beauty}; [ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 1 2 4
"$here/scripts/build" release waymark waymark-train >&2
shards=$("$here/bench/training_shards.sh" "$work" "$set_name")
for processes in "$@"; do
  rm -rf "$work/$set_name-package-$processes"
  OMP_NUM_THREADS=1 "$bin/waymark-train" --shards "$shards" --package "$work/$set_name-package-$processes" \
    --processes "$processes" --parts 4 --epochs "${EPOCHS:-6}" --report "$work/$set_name-$processes.json" ${OPTIONS:-} >&2
done
python3 - "$work/$set_name" "$@" <<'PY'
import json, sys
base, processes = sys.argv[1], sys.argv[2:]
reports = {p: json.load(open(f"{base}-{p}.json")) for p in processes}
first = reports[processes[0]]
print(f"{'processes':>9} {'events/s':>9} {'speed-up':>8} {'estimated':>9} {'efficiency':>10} {'communication':>13} {'waiting':>7} "
      f"{'last loss':>9} {'nDCG@10':>8}")
for p in processes:
    r = reports[p]
    speed_up = r["events_per_second"] / first["events_per_second"]
    print(f"{p:>9} {r['events_per_second']:>9.0f} {speed_up:>8.2f} {r['estimate']['speed_up']:>9.2f} "
          f"{100 * speed_up * int(processes[0]) / int(p):>9.0f}% "
          f"{100 * r['estimate']['communication_share']:>12.1f}% {100 * r['estimate']['wait_share']:>6.2f}% "
          f"{r['epoch_losses'][-1]:>9.4f} {r['validation_ndcg10']:>8.4f}")
for p in processes:
    print(f"{p}: {reports[p]['estimate']['advice']}")
PY
