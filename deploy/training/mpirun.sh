#!/bin/bash
# waymark-train under OpenMPI. With --backend mpi gradients go over MPI too (waymark_backend_mpi.so lies beside the
# program); on several machines Gloo needs --rendezvous HOST:PORT of rank 0.
#
#   deploy/training/mpirun.sh --shards shards --keys shards.keys --package retriever-1 --backend mpi
#   HOSTS=node1:2,node2:2 PROCESSES=4 deploy/training/mpirun.sh ...
set -euo pipefail
options=(-n "${PROCESSES:-2}")
[ -z "${HOSTS:-}" ] || options+=(--host "$HOSTS")
[ "$(id -u)" != 0 ] || options+=(--allow-run-as-root)
exec mpirun "${options[@]}" ${MPIRUN_OPTIONS:-} "${WAYMARK_TRAIN:-waymark-train}" "$@"
