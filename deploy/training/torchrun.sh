#!/bin/bash
# waymark-train under torchrun, on this machine or on several; a rank that dies is started again with the others, from
# the newest checkpoint.
#
#   deploy/training/torchrun.sh --shards shards --keys shards.keys --package retriever-1 --checkpoints checkpoints
#   NODES=2 MEETING=node1:29400 PROCESSES=4 deploy/training/torchrun.sh ...     on each of the machines
set -euo pipefail
nodes="${NODES:-1}" processes="${PROCESSES:-2}" restarts="${RESTARTS:-3}"
meeting=(--standalone)
[ "$nodes" = 1 ] || meeting=(--rdzv-backend c10d --rdzv-endpoint "${MEETING:?HOST:PORT of the first machine}" --rdzv-id "${JOB:-waymark}")
exec torchrun --no-python --nnodes "$nodes" --nproc-per-node "$processes" --max-restarts "$restarts" "${meeting[@]}" \
  "${WAYMARK_TRAIN:-waymark-train}" "$@"
