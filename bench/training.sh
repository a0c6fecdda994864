#!/usr/bin/env bash
# The same job of waymark-train on one process and on several: speed-up, efficiency, communication, final metric.
#
#   bench/training.sh WORK [beauty|movielens] [PROCESSES...]      default: beauty 1 2 4
#
# WORK: a scratch folder. EPOCHS (default 6) bounds a run; OPTIONS go on to waymark-train; DATA says where the data is.
# The newest event of each user stays out, the second newest validates, as in the leave-one-out protocol.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/release/bin
data=${DATA:-$here/../shared/data}
mkdir -p "$1"; work=$(cd "$1" && pwd); shift
set_name=${1:-beauty}; [ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 1 2 4
"$here/scripts/build" release waymark waymark-train >&2
store=$work/$set_name-data shards=$work/$set_name-shards
if [ ! -d "$store" ]; then
  case $set_name in
    beauty) # a user and its items on a line, in order; the place is the time
      awk '{for (i = 2; i <= NF; ++i) printf "{\"type\":\"view\",\"user_id\":\"%s\",\"item_id\":\"%s\",\"time\":%d}\n", $1, $i, i + 1000000000}' \
        "$data/amazon-beauty-5core/Beauty.txt" | "$bin/waymark" import events - --data "$store" ;;
    movielens)
      "$bin/waymark" import events "$data/ml-latest-small/ratings.csv" --data "$store" --set type=view \
        --map user_id=userId --map item_id=movieId --map time=timestamp --drop rating ;;
    *) echo "there is no data set '$set_name'; there are beauty and movielens" >&2; exit 2 ;;
  esac
fi
[ -f "$shards/index.json" ] || "$bin/waymark" export examples "$shards" --plain --data "$store" --leave-out 1
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
print(f"{'processes':>9} {'events/s':>9} {'speed-up':>8} {'efficiency':>10} {'communication':>13} {'waiting':>7} "
      f"{'last loss':>9} {'nDCG@10':>8}")
for p in processes:
    r = reports[p]
    speed_up = r["events_per_second"] / first["events_per_second"]
    print(f"{p:>9} {r['events_per_second']:>9.0f} {speed_up:>8.2f} {100 * speed_up * int(processes[0]) / int(p):>9.0f}% "
          f"{100 * r['estimate']['communication_share']:>12.1f}% {100 * r['estimate']['wait_share']:>6.2f}% "
          f"{r['epoch_losses'][-1]:>9.4f} {r['validation_ndcg10']:>8.4f}")
for p in processes:
    print(f"{p}: {reports[p]['estimate']['advice']}")
PY
