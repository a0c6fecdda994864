#!/usr/bin/env bash
# Training shards of a data set for the benchmarks of waymark-train; prints their folder.
#
#   bench/training_shards.sh WORK [beauty|few|movielens]      few: the first 2,000 users of beauty
#
# WORK: a scratch folder, where they are made once; DATA says where the data is. The newest event of each user stays out,
# the second newest validates, as in the leave-one-out protocol.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
bin=$here/build/release/bin
data=${DATA:-$here/../shared/data}
mkdir -p "$1"; work=$(cd "$1" && pwd)
set_name=${2:-beauty}
store=$work/$set_name-data shards=$work/$set_name-shards
if [ ! -d "$store" ]; then
  case $set_name in
    beauty|few) # a user and its items on a line, in order; the place is the time
      awk -v most="$([ "$set_name" = few ] && echo 2000 || echo 0)" '!most || NR <= most {for (i = 2; i <= NF; ++i) printf "{\"type\":\"view\",\"user_id\":\"%s\",\"item_id\":\"%s\",\"time\":%d}\n", $1, $i, i + 1000000000}' \
        "$data/amazon-beauty-5core/Beauty.txt" | "$bin/waymark" import events - --data "$store" >&2 ;;
    movielens)
      "$bin/waymark" import events "$data/ml-latest-small/ratings.csv" --data "$store" --set type=view \
        --map user_id=userId --map item_id=movieId --map time=timestamp --drop rating >&2 ;;
    *) echo "there is no data set '$set_name'; there are beauty, few and movielens" >&2; exit 2 ;;
  esac
fi
[ -f "$shards/index.json" ] || "$bin/waymark" export examples "$shards" --plain --data "$store" --leave-out 1 >&2
echo "$shards"
