#!/usr/bin/env bash
# Keyword search beside Tantivy and Lucene: same corpora, same queries, same run, one thread.
#
#   bench/keyword.sh WORK [build|inputs|CORPUS...]      default: build inputs movies scale1m
#
# WORK: a scratch folder of about 2 GB. PEERS (default "lucene tantivy"), REPS, CLOCK=cpu|wall as in
# ../shared/bench/peers; PEER_FOLDER and DATA say where the peers and the data are when not there.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
peers=${PEER_FOLDER:-$here/../shared/bench/peers}
data=${DATA:-$here/../shared/data}
mkdir -p "$1/ix" "$1/results"; work=$(cd "$1" && pwd); shift
export PEERS="${PEERS:-lucene tantivy}"
reps=${REPS:-5}; clock=${CLOCK:-cpu}
keyword=$here/build/release/bin/keyword
[ $# -gt 0 ] || set -- build inputs movies scale1m
for step in "$@"; do
  case $step in
    build) "$here/scripts/build" release keyword; "$peers/keyword.sh" "$work" "$data" build ;;
    inputs) "$peers/keyword.sh" "$work" "$data" inputs ;;
    *)
      "$keyword" index --input "$work/$step.jsonl" --index "$work/ix/$step-waymark" |
        tee "$work/results/$step-waymark-index.json"
      "$peers/keyword.sh" "$work" "$data" "$step"
      for k in 10 1000; do
        "$keyword" search --index "$work/ix/$step-waymark" --queries "$work/queries.tsv" --k "$k" --reps "$reps" \
          --clock "$clock" | tee "$work/results/$step-waymark-top$k.json"
      done ;;
  esac
done
"$peers/summarize.py" "$work" --ref tantivy
