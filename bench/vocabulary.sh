#!/usr/bin/env bash
# What fewer rows of the item table cost: Amazon Beauty with a row for every item, and with those that several policies
# of waymark-train give one, each package tested by leave-one-out.
#
#   bench/vocabulary.sh WORK      EPOCHS (14) and PROCESSES (1) from the environment
#
# Prints of each policy: rows of the table and those in use, the bytes of the table with its moments on a rank, how
# many items were admitted and evicted, the share of the time that waited for data, nDCG@10 in validation and in the test.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"; work=$(cd "$1" && pwd)
processes=${PROCESSES:-1}
sequences=${DATA:-$here/../shared/data}/amazon-beauty-5core/Beauty.txt
"$here/scripts/build" release waymark waymark-train federated_train >&2
shards=$("$here/bench/training_shards.sh" "$work" beauty)
: >"$work/figures"
while read -r name options; do
  rm -rf "$work/package-$name"
  # shellcheck disable=SC2086
  OMP_NUM_THREADS=1 "$here/build/release/bin/waymark-train" --shards "$shards" --parts 4 \
    --package "$work/package-$name" --processes "$processes" --epochs "${EPOCHS:-14}" --report "$work/$name.json" \
    --losses "$work/$name.losses" $options >&2
  "$here/build/release/bin/federated_train" "$sequences" --package "$work/package-$name" |
    sed -n "s/.* HR@10 \([0-9.]*\) nDCG@10 \([0-9.]*\).*/$name \1 \2/p" | tee -a "$work/figures" >&2
done <<'POLICIES'
all
admit-1 --admit-after 1
admit-5 --admit-after 5
admit-10 --admit-after 10
half-frequent --max-rows 6050
half-recent --max-rows 6050 --evict recent
quarter-frequent --max-rows 3025
POLICIES
python3 - "$work" <<'PY'
import json, sys
work = sys.argv[1]
print(f"{'policy':<16} {'rows':>6} {'used':>6} {'table MB':>8} {'admitted':>8} {'evicted':>7} {'events/s':>8} {'waiting':>7} "
      f"{'data':>5} {'valid.':>6} {'test':>6} {'HR@10':>6}")
for line in open(f"{work}/figures"):
    name, hits, ndcg = line.split()
    r = json.load(open(f"{work}/{name}.json"))
    times = r["step_times"]
    of = lambda part: 100 * sum(t[part] for t in times) / sum(t[p] for t in times for p in t if not p.endswith("cpu_s"))
    v = r.get("vocabulary", {"rows": r["item_table_bytes"] // 768, "used": r["item_table_bytes"] // 768,
                             "admitted": 0, "evicted": 0})
    print(f"{name:<16} {v['rows']:>6} {v['used']:>6} {r['item_table_bytes'] / 1e6:>8.2f} {v['admitted']:>8} "
          f"{v['evicted']:>7} {r['events_per_second']:>8.0f} {of('wait_s'):>6.2f}% {of('data_s'):>4.1f}% "
          f"{r['validation_ndcg10']:>6.4f} {float(ndcg):>6.4f} {float(hits):>6.4f}")
PY
