#!/usr/bin/env python3
"""Runs waymark-train on a Ray cluster: one actor a rank, which starts the program with RANK, WORLD_SIZE, MASTER_ADDR
and MASTER_PORT in its environment. When a rank fails, all of them are started again from the newest checkpoint.

    ray_train.py --address HOST:PORT --ranks 2 --restarts 3 -- --shards /shared/shards --package /shared/retriever-1 \
        --checkpoints /shared/checkpoints

The program and the folders are at the same place on every node.
"""
import argparse
import os
import shutil
import socket
import subprocess
import sys

import ray


@ray.remote
class Rank:
    """One rank; its process ends with it."""

    def address(self):
        """Where rank 0 will listen: this node's address and a port that is free now."""
        with socket.socket() as free:
            free.bind(("", 0))
            return ray.util.get_node_ip_address(), free.getsockname()[1]

    def run(self, program, arguments, rank, ranks, host, port):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR=host, MASTER_PORT=str(port),
                           OMP_NUM_THREADS="1")
        return subprocess.run([program, *arguments], env=environment, check=False).returncode


def train(options, arguments):
    """The exit codes of one try, in the order of ranks."""
    ranks = [Rank.options(num_cpus=options.cpus).remote() for _ in range(options.ranks)]
    host, port = ray.get(ranks[0].address.remote())
    running = [actor.run.remote(options.program, arguments, r, options.ranks, host, port) for r, actor in enumerate(ranks)]
    codes = []
    for result in running:
        try:
            codes.append(ray.get(result))
        except ray.exceptions.RayError as error:
            print(f"ray_train: a rank is lost: {error}", file=sys.stderr)
            codes.append(1)
    for actor in ranks:
        ray.kill(actor)
    return codes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", help="of the cluster; left out: as ray.init finds it")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--cpus", type=float, default=1, help="of a rank")
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--program", default=shutil.which("waymark-train") or "waymark-train")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="-- and what waymark-train takes")
    options = parser.parse_args()
    arguments = [word for word in options.arguments if word != "--"]
    ray.init(address=options.address, log_to_driver=True)
    for attempt in range(options.restarts + 1):
        codes = train(options, arguments)
        if not any(codes):
            return 0
        print(f"ray_train: the ranks ended with {codes} (try {attempt + 1} of {options.restarts + 1})", file=sys.stderr)
        if 2 in codes:  # wrong usage stays wrong
            break
    return 1


if __name__ == "__main__":
    sys.exit(main())
