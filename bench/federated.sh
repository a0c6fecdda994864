#!/usr/bin/env bash
# The whole way of a federation on Amazon Beauty: four data folders with the users split among them, a coordinator and four
# sites as processes over TLS, the package that comes out, imported and served.
#
#   bench/federated.sh DATA WORK [coordinator options]     DATA: the folder amazon-beauty-5core
#
# Prints the rounds, and HR@10 and nDCG@10 of the retriever in WORK/package by `federated_train --package`.
set -euo pipefail
data="$(realpath "$1")" work="$2"; shift 2
cd "$(dirname "$0")/.."
bin="$PWD/build/release/bin"
mkdir -p "$work"; work="$(realpath "$work")"
scripts/federation-certificates "$work/certificates" localhost site0 site1 site2 site3 >/dev/null
cd "$work"
# Without each user's last item, which tests; time = place in the sequence.
python3 - "$data/Beauty.txt" <<'PY'
import json, sys
out = [open(f"events{s}.jsonl", "w") for s in range(4)]
items = {}
for n, line in enumerate(open(sys.argv[1])):
    user, *its = line.split()
    for item in its: items[item] = 1
    for place, item in enumerate(its[:-1]):
        out[n % 4].write(json.dumps({"type": "view", "user_id": user, "item_id": item, "time": 1000000 + place}) + "\n")
open("items.txt", "w").write("\n".join(items) + "\n")
PY
for s in 0 1 2 3; do
  [ -d "data$s" ] || "$bin/waymark" import events "events$s.jsonl" --data "data$s" >/dev/null
done
tls() { echo --ca certificates/ca.pem --cert "certificates/$1.pem" --key "certificates/$1.key"; }
rm -rf package
"$bin/waymark" federate coordinator --listen 127.0.0.1:7800 --state state --sites 4 --training-deadline 7200 \
  --items items.txt --package package $(tls coordinator) "$@" 2> coordinator.log & coordinator=$!
trap 'kill $coordinator $sites 2>/dev/null || true' EXIT
sites=
for s in 0 1 2 3; do
  "$bin/waymark" federate site --data "data$s" --coordinator localhost:7800 --threads 1 $(tls "site$s") 2> "site$s.log" &
  sites="$sites $!"
done
wait $coordinator $sites
trap - EXIT
cat state/rounds.jsonl
"$bin/federated_train" "$data/Beauty.txt" --package package
