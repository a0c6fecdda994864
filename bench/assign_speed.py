#!/usr/bin/env python3
"""How many units a second a running server assigns to three experiments, over gRPC and over HTTP, 10,000 units a call.

  bench/assign_speed.py WORK [--calls 40]

Starts a server on a new folder in WORK with three experiments on content slots. Prints units by second of the server's
processor time (which a busy machine measures the same) and of the clock: of units that are new, with their exposures
written (in the store before the answer), and of the same units once they are enrolled."""
import argparse
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build/release/bin"
UNITS = 10000


def start(data, work):
    out = work / "server.out"
    with open(out, "w", encoding="utf-8") as stdout, open(work / "server.log", "w", encoding="utf-8") as log:
        process = subprocess.Popen([str(BIN / "waymark"), "serve", "--data", str(data), "--grpc", "127.0.0.1:0",
                                    "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"], stdout=stdout, stderr=log)
    for _ in range(300):
        lines = out.read_text(encoding="utf-8").splitlines()
        if any("admin" in line for line in lines):
            address = {line.split()[0]: line.split()[1].replace("http://", "") for line in lines if len(line.split()) == 2}
            return process, address["gRPC"], address["HTTP"]
        if process.poll() is not None:
            break
        time.sleep(.1)
    process.kill()
    sys.exit(f"the server did not start; see {work / 'server.log'}")


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def post(connection, path, body):
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        sys.exit(f"POST {path}: {answer.status} {text.decode()}")
    return text


def experiments(connection):
    for number in range(3):
        for name in ("plain", "bright"):
            connection.request("PUT", f"/v1/slots/slot{number}/variants/{name}", json.dumps({"payload": {"name": name}}))
            connection.getresponse().read()
        arms = [{"name": name, "weight": .5, "slot_variant": f"slots/slot{number}/variants/{name}"}
                for name in ("plain", "bright")]
        post(connection, "/v1/experiments", json.dumps({"by": "bench", "experiment": {
            "id": f"slot{number}", "hypothesis": "more clicks", "unit": "USER", "ramp": [1], "arms": arms,
            "metrics": [{"name": "clicks", "kind": "MEAN", "events": {"type": "click"}, "window": "86400s"}],
            "primary_metric": "clicks"}}))
        post(connection, f"/v1/experiments/slot{number}:start", json.dumps({"by": "bench"}))


def show(name, units, processor, wall):
    print(f"{name:24} {units:,} units: {units / processor:,.0f} a second of the server's processor time, "
          f"{units / wall:,.0f} of the clock")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--calls", type=int, default=40)
    options = parser.parse_args()
    work = options.work
    work.mkdir(parents=True, exist_ok=True)
    data = work / "data"
    shutil.rmtree(data, ignore_errors=True)
    (work / "item.jsonl").write_text('{"id": "1", "title": "one"}\n', encoding="utf-8")
    subprocess.run([str(BIN / "waymark"), "import", "items", str(work / "item.jsonl"), "--data", str(data)],
                   check=True, stdout=subprocess.DEVNULL)
    process, grpc, address = start(data, work)
    try:
        connection = http.client.HTTPConnection(address, timeout=120)
        experiments(connection)
        for what, expose in (("", False), (", exposed", True), (", enrolled", False)):
            before = processor_seconds(process)
            out = subprocess.run([str(BIN / "assign_calls"), grpc, str(options.calls), *(["expose"] if expose else [])],
                                 check=True, stdout=subprocess.PIPE, text=True).stdout.split()
            assert int(out[0]) == 3 * UNITS * options.calls, out
            show(f"gRPC{what}", UNITS * options.calls,
                 processor_seconds(process) - before, float(out[1]))
            bodies = [json.dumps({"expose": expose, "units": [{"user_id": f"http-{call * UNITS + i}"} for i in range(UNITS)]})
                      for call in range(options.calls)]
            before, clock = processor_seconds(process), time.time()
            for body in bodies:
                text = post(connection, "/v1/experiments:assign", body)
            wall = time.time() - clock
            assert sum(len(unit["assignments"]) for unit in json.loads(text)["units"]) == 3 * UNITS
            show(f"HTTP{what}", UNITS * options.calls, processor_seconds(process) - before, wall)
    finally:
        process.terminate()
        process.wait()


main()
