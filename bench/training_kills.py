#!/usr/bin/env python3
"""Whether training under torchrun survives kills: Amazon Beauty on ranks of which one is killed (SIGKILL) at a moment
drawn at random, from its start to its end, run after run until there were --kills (20) of them; each time torchrun starts
the ranks again and they go on from the newest checkpoint.

    bench/training_kills.py SHARDS WORK [--torchrun FILE] [--kills 20] [--each 1] [--ranks 2] [--seed 1] -- [OPTIONS]

SHARDS: as bench/training_shards.sh makes them; OPTIONS go on to waymark-train. Prints, of each run, when which rank was
killed, in which step, and the largest difference of the losses of epochs and of the metric from a run without kills. Exits
with 1 when a run does not end well, differs by more than --tolerance, or leaves no package.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "build/release/bin/waymark-train"


def ranks_of(run):
    """Processes of waymark-train that torchrun `run` has started, by RANK in their environment."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if os.readlink(folder / "exe") != str(PROGRAM) or parent_of(folder) != run.pid:
                continue
            words = (folder / "environ").read_bytes().split(b"\0")
            found[int(dict(w.split(b"=", 1) for w in words if b"=" in w)[b"RANK"])] = int(folder.name)
        except (OSError, KeyError, ValueError):  # it has ended, or is no process
            continue
    return found


def parent_of(folder):
    return int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])


class Job:
    def __init__(self, options, name):
        self.folder = options.work / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.log = open(self.folder / "log", "w")
        command = [options.torchrun, "--no-python", "--standalone", "--nproc-per-node", options.ranks, "--max-restarts",
                   options.each + 5, "--monitor-interval", "0.5", PROGRAM, "--shards", options.shards,
                   "--package", self.folder / "package", "--epochs", options.epochs,
                   "--checkpoints", self.folder / "checkpoints", "--checkpoint-interval", "1",
                   "--report", self.folder / "report.json", "--losses", self.folder / "losses", *options.arguments]
        self.began = time.time()
        self.process = subprocess.Popen([str(word) for word in command], stdout=self.log, stderr=self.log,
                                        env=dict(os.environ, OMP_NUM_THREADS="1"))

    def step(self):
        try:
            return int((self.folder / "losses").read_text().splitlines()[-1].split()[0])
        except (OSError, IndexError, ValueError):
            return 0

    def end(self):
        code = self.process.wait(timeout=900)
        self.seconds = time.time() - self.began
        return code

    def report(self):
        return json.loads((self.folder / "report.json").read_text())


def kill_one(job, chance, ranks):
    """Which rank in which step; none: the job has ended."""
    while job.process.poll() is None:
        running = ranks_of(job.process)
        if len(running) == ranks:
            rank = chance.randrange(ranks)
            step = job.step()
            try:
                os.kill(running[rank], signal.SIGKILL)
            except ProcessLookupError:
                continue
            return rank, step
        time.sleep(0.02)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--torchrun", default=shutil.which("torchrun") or "torchrun")
    for name, value in (("kills", 20), ("each", 1), ("ranks", 2), ("epochs", 2), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--tolerance", type=float, default=1e-4, help="relative, of the losses of epochs")
    own = sys.argv[1:]
    cut = own.index("--") if "--" in own else len(own)
    options = parser.parse_args(own[:cut])
    options.arguments = own[cut + 1:]
    chance = random.Random(options.seed)
    straight = Job(options, "straight")
    if straight.end() != 0:
        sys.exit(f"the run without kills failed: {straight.folder / 'log'}")
    expected = straight.report()
    print(f"without kills: {straight.seconds:.1f} s, losses {expected['epoch_losses']}, "
          f"nDCG@10 {expected['validation_ndcg10']:.4f}", flush=True)
    bad = killed = number = 0
    usual = straight.seconds  # the machine may have become quicker
    while killed < options.kills:
        number += 1
        job = Job(options, f"run-{number}")
        said = []
        for _ in range(options.each):
            time.sleep(chance.uniform(0, usual))
            hit = kill_one(job, chance, options.ranks)
            if hit:
                killed += 1
                said.append(f"rank {hit[0]} after {time.time() - job.began:.1f} s in step {hit[1]}")
        code = job.end()
        if not said:
            usual = min(usual, job.seconds)
        line = f"{number}: killed {', '.join(said) or 'nobody: it had ended'}; ended with {code} after {job.seconds:.1f} s"
        if code == 0:
            report = job.report()
            pairs = list(zip(report["epoch_losses"], expected["epoch_losses"]))
            largest = max(abs(a - b) / b for a, b in pairs)
            line += (f", losses differ by {largest:.1e}, nDCG@10 by "
                     f"{abs(report['validation_ndcg10'] - expected['validation_ndcg10']):.1e}")
            good = len(pairs) == options.epochs and largest <= options.tolerance and (job.folder / "package").is_dir()
        else:
            good = False
        bad += not good
        print(line + ("" if good else "  <-- not as it must be"), flush=True)
        if good:
            shutil.rmtree(job.folder)
    print(f"{killed} kills in {number} runs, {bad} runs not as they must be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
