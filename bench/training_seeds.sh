#!/usr/bin/env bash
# Whether training over ranks ends in a model as good as that of one process: Amazon Beauty with several seeds, each
# trained on one process and on RANKS with the same batches, and the packages that come out tested by leave-one-out.
#
#   bench/training_seeds.sh WORK [SEEDS]      default: 5 seeds; EPOCHS (4) and RANKS (2) from the environment
#
# Prints mean and standard deviation of both, and the mean of the differences with its standard error.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"; work=$(cd "$1" && pwd)
seeds=${2:-5} ranks=${RANKS:-2}
sequences=${DATA:-$here/../shared/data}/amazon-beauty-5core/Beauty.txt
"$here/scripts/build" release waymark waymark-train federated_train >&2
: >"$work/figures"
for seed in $(seq "$seeds"); do
  EPOCHS=${EPOCHS:-4} OPTIONS="--seed $seed" "$here/bench/training.sh" "$work" beauty 1 "$ranks" >&2
  for processes in 1 "$ranks"; do
    "$here/build/release/bin/federated_train" "$sequences" --package "$work/beauty-package-$processes" |
      sed -n "s/.* HR@10 \([0-9.]*\) nDCG@10 \([0-9.]*\).*/$seed $processes \1 \2/p" | tee -a "$work/figures" >&2
  done
done
python3 - "$work/figures" "$ranks" <<'PY'
import statistics, sys
rows = [line.split() for line in open(sys.argv[1])]
ranks = sys.argv[2]
for column, name in (3, "nDCG@10"), (2, "HR@10"):
    of = {p: [float(r[column]) for r in rows if r[1] == p] for p in ("1", ranks)}
    differences = [b - a for a, b in zip(of["1"], of[ranks])]
    error = statistics.stdev(differences) / len(differences) ** 0.5
    for p in ("1", ranks):
        print(f"{name} of {p}: mean {statistics.mean(of[p]):.5f}, standard deviation {statistics.stdev(of[p]):.5f}")
    print(f"{name} difference: {statistics.mean(differences):+.5f}, standard error {error:.5f}, {len(differences)} seeds")
PY
