#!/usr/bin/env bash
# waymark-train against the same model in PyTorch eager (bench/eager_retriever.py), one thread each, on Amazon Beauty.
# First that both compute the same losses from the same weights, then events a second of processor time in turn: medians
# and the ratio. waymark-train's time is that of the whole process, reading shards and validating too.
#
#   bench/training_speed.sh WORK PYTHON      PYTHON: one that has all of torch, as `pip install torch==2.11.0 numpy` makes it
#
# ROUNDS (5) and STEPS (150) bound it; DATA says where the data is.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/release/bin python=$2
beauty=${DATA:-$here/../shared/data}/amazon-beauty-5core/Beauty.txt
mkdir -p "$1"; work=$(cd "$1" && pwd)
export OMP_NUM_THREADS=1
[ -f "$work/few.txt" ] || head -n 2000 "$beauty" >"$work/few.txt"  # as few's shards
"$here/scripts/build" release waymark waymark-train >&2
few=$("$here/bench/training_shards.sh" "$work" few) full=$("$here/bench/training_shards.sh" "$work" beauty)
train=("$bin/waymark-train" --package "$work/none")
plain=(--dropout 0 --history 250 --negatives 1000000)
rm -rf "$work/start"
"$bin/waymark-train" --shards "$few" --package "$work/start" --epochs 1 "${plain[@]}" >/dev/null 2>&1
"${train[@]}" --shards "$few" --init-from "$work/start" --epochs 5 --batch-tokens 1000000 --max-steps 5 \
  --losses "$work/losses" "${plain[@]}" >/dev/null 2>&1
"$python" "$here/bench/eager_retriever.py" check "$work/few.txt" "$work/start" "$work/losses"
rm -f "$work"/report-*.json "$work"/eager-*.jsonl
for round in $(seq "${ROUNDS:-5}"); do
  TIMEFORMAT='%U %S'
  { time "${train[@]}" --shards "$full" --max-steps "${STEPS:-150}" --report "$work/report-$round.json" \
    >/dev/null 2>&1; } 2>"$work/seconds-$round"
  "$python" "$here/bench/eager_retriever.py" time "$beauty" "${STEPS:-150}" >"$work/eager-$round.jsonl"
done
"$python" - "$work" <<'PY'
import glob, json, statistics, sys
work = sys.argv[1]
own = statistics.median(
    json.load(open(f))["events"] / sum(map(float, open(f.replace("report", "seconds").replace(".json", "")).read().split()))
    for f in glob.glob(f"{work}/report-*.json"))
eager = {}
for file in glob.glob(f"{work}/eager-*.jsonl"):
    for line in map(json.loads, open(file)):
        eager.setdefault(line["table"], []).append(line["events_per_second"])
print(f"waymark-train: {own:.0f} events a CPU second")
for table, rates in eager.items():
    print(f"PyTorch eager, {table} table: {statistics.median(rates):.0f} events a CPU second; waymark-train is {own / statistics.median(rates):.2f} times as fast")
PY
