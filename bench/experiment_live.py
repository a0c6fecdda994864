#!/usr/bin/env python3
"""An experiment from draft to release on real data: two rankers trained on ml-latest-small, readers whose clicks come from
events that were held back, a running server that is killed (SIGKILL) between any two steps. Prints what docs/experiments.md
says under «Figures».

  bench/experiment_live.py WORK [prepare|run] [--sessions N] [--html FILE]

WORK: a scratch folder of about 200 MB; DATA: where ml-latest-small lies when not in ../shared/data. `prepare` imports and
trains (minutes), `run` needs it.

A session is a unit. Each asks for one feed of some user, and clicks by a position-based model: it looks at place p with
chance 1/p^.5, and clicks what it looks at with chance .8 where the user went on to rate the item 4 or more in the held-back
part of the log, with .02 elsewhere (Richardson, Dominowska, Ragno 2007; Craswell, Zoeter, Taylor, Ramsey 2008). Clicks are
written as those of a visitor of the session's own, so that the users' histories, and with them the feeds, stay the same for
both arms. In a split they name no item either: both arms share popularity and trends, where a few hundred clicks of today
outweigh ratings of twenty years ago, and the weaker ranker would catch up by the clicks that the better one has earned.
"""
import argparse
import collections
import csv
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAYMARK = ROOT / "build/release/bin/waymark"
DATA = pathlib.Path(os.environ.get("DATA", ROOT.parent / "shared/data")) / "ml-latest-small"
HELD_BACK = .2  # the newest share of each user's ratings
LIKED = 4


def waymark(*arguments, quiet=False):
    done = subprocess.run([str(WAYMARK), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"waymark {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
    if not quiet:
        print(done.stdout.strip())
    return done.stdout


def read_ratings():
    by_user = collections.defaultdict(list)
    with open(DATA / "ratings.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            by_user[row["userId"]].append((int(row["timestamp"]), row["movieId"], float(row["rating"])))
    for ratings in by_user.values():
        ratings.sort()
    return by_user


def split(ratings):
    first = int(len(ratings) * (1 - HELD_BACK))
    return ratings[:first], ratings[first:]


def write_events(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["user_id", "item_id", "value", "time"])
        out.writerows(rows)


def prepare(work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    rows = [(user, item, value, when) for user, ratings in read_ratings().items()
            for when, item, value in split(ratings)[0]]
    write_events(work / "events.csv", rows)
    # The same events with their films dealt out anew: popularity stays, who likes what does not.
    films = [row[1] for row in rows]
    random.Random(1).shuffle(films)
    write_events(work / "shuffled.csv", [(u, film, v, t) for (u, _, v, t), film in zip(rows, films)])
    for folder, events in (("data", "events.csv"), ("shuffled", "shuffled.csv")):
        waymark("import", "items", DATA / "movies.csv", "--data", work / folder, "--id-column", "movieId",
                "--map", "genres=genres:split(|)")
        waymark("import", "events", work / events, "--data", work / folder, "--set", "type=rating")
    waymark("train", "all", "--data", work / "data", "--version", "good")
    # A ranker for the same retriever that has learnt from films dealt out at random.
    waymark("model", "import", work / "data/models/default-default/retriever/good", "--data", work / "shuffled")
    waymark("release", "create", "--id", "base", "--retriever", "good", "--activate", "--data", work / "shuffled")
    waymark("train", "ranker", "--data", work / "shuffled", "--version", "shuffled")
    waymark("model", "import", work / "shuffled/models/default-default/ranker/shuffled", "--data", work / "data")
    for name, ranker in (("learnt", "good"), ("dealt", "shuffled")):
        waymark("release", "create", "--id", name, "--retriever", "good", "--ranker", ranker, "--data", work / "data")
    deep = [option for source in ("popularity", "ease", "covisitation", "transition", "retriever", "similar")
            for option in ("--source", f"{source}:2000")]
    waymark("release", "create", "--id", "slow", "--retriever", "good", "--ranker", "good", *deep,
            "--data", work / "data")
    # Nothing but words finds anything, and a feed has none.
    waymark("release", "create", "--id", "empty", "--source", "keyword", "--data", work / "data")
    waymark("release", "activate", "dealt", "--override", "the control of a test", "--data", work / "data")


class Server:
    def __init__(self, work):
        self.work, self.kills = work, -1
        self.start()

    def start(self):
        self.kills += 1
        out = self.work / "server.out"
        out.unlink(missing_ok=True)
        with open(out, "w", encoding="utf-8") as stdout, open(self.work / "server.log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [str(WAYMARK), "serve", "--data", str(self.work / "data"), "--grpc", "127.0.0.1:0",
                 "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"], stdout=stdout, stderr=log)
        for _ in range(1200):
            if "admin" in out.read_text(encoding="utf-8"):
                break
            if self.process.poll() is not None:
                sys.exit(f"the server did not start; see {self.work / 'server.log'}")
            time.sleep(.1)
        address = next(line.split()[1] for line in out.read_text(encoding="utf-8").splitlines() if "HTTP" in line)
        self.connection = http.client.HTTPConnection(address.replace("http://", ""), timeout=60)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.start()

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def call(self, verb, path, body=None, expected=200):
        data = None if body is None else json.dumps(body)
        self.connection.request(verb, path, data, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if expected is not None and answer.status != expected:
            sys.exit(f"{verb} {path}: {answer.status} {text.decode()}")
        return json.loads(text)


class Readers:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.likes = {}
        for user, ratings in read_ratings().items():
            known = {item for _, item, _ in split(ratings)[0]}
            liked = {item for _, item, value in split(ratings)[1] if value >= LIKED and item not in known}
            if liked:
                self.likes[user] = liked
        self.users = sorted(self.likes)
        self.sessions = 0

    def clicks(self, user, items):
        clicked = []
        for place, item in enumerate(items, 1):
            looked = self.random.random() < place ** -.5
            if looked and self.random.random() < (.8 if item in self.likes[user] else .02):
                clicked.append(item)
        return clicked

    def session(self, server, name_items=False):
        self.sessions += 1
        session, user = f"s{self.sessions}", self.random.choice(self.users)
        answer = server.call("POST", "/v1/recommend", {"user_id": user, "session_id": session, "page_size": 10})
        items = [result["item"]["id"] for result in answer.get("results", [])]
        events = [{"type": "click", "visitor_id": "v" + session, "session_id": session,
                   "attribution_token": answer["attribution_token"], **({"item_id": item} if name_items else {})}
                  for item in self.clicks(user, items)]
        if events:
            written = server.call("POST", "/v1/events:write", {"events": events})
            assert all(not result.get("code") for result in written["results"]), written
        return answer


def experiment(name, control, treatment, **more):
    return {"by": "bench", "experiment": {
        "id": name, "hypothesis": "more clicks", "unit": "SESSION", "ramp": [.5, 1], "min_exposures": 50,
        "sequential_tuning": 2000,
        "arms": [{"name": "control", "weight": .5, **control}, {"name": "new", "weight": .5, **treatment}],
        "metrics": [{"name": "clicks", "kind": "MEAN", "events": {"type": "click"}, "window": "86400s"}],
        "primary_metric": "clicks", **more}}


def decide(server, name, what, **body):
    return server.call("POST", f"/v1/experiments/{name}:{what}", {"by": "bench", **body})


def split_test(server, readers, most):
    guardrails = [{"measure": "LATENCY", "tolerance": 1}, {"measure": "EMPTY_RATE", "tolerance": .05},
                  {"measure": "ERROR_RATE", "tolerance": .05}]
    server.call("POST", "/v1/experiments",
                experiment("rankers", {"release": "dealt"}, {"release": "learnt"}, guardrails=guardrails))
    server.kill()
    decide(server, "rankers", "start", reason="the bench")
    server.kill()
    for _ in range(300):
        readers.session(server)
    server.kill()
    decide(server, "rankers", "ramp")
    server.kill()
    begun, report = time.time(), {}
    while readers.sessions < most:
        for _ in range(100):
            answer = readers.session(server)
            assert answer["arms"][0]["release"] == answer["served_by"]["release"], answer["arms"]
        if readers.sessions % 2000 == 0:
            server.kill()
        report = server.call("GET", "/v1/experiments/rankers:report")
        if report.get("winner"):
            break
    clicks = report["comparisons"][0]
    arms = {arm["name"]: int(arm["units"]) for arm in report["arms"]}
    print(f"split: {arms}, clicks a session {clicks['control_mean']:.3f} (films dealt out at random) against "
          f"{clicks['treatment_mean']:.3f}, difference {clicks['absolute']['estimate']:.3f} "
          f"[{clicks['absolute']['low']:.3f}, {clicks['absolute']['high']:.3f}], sequential p "
          f"{clicks['absolute']['adjusted_p_value']:.2g}, sample ratio p {report['sample_ratio_p_value']:.3f}, "
          f"verdict {report['verdict']} {report.get('winner', '')}, {time.time() - begun:.0f} s")
    assert report.get("winner") == "new", report["verdict"]
    early = server.call("POST", "/v1/experiments/rankers:stop",
                        {"by": "bench", "outcome": "RELEASE", "winner": "new"}, expected=400)
    assert "min_run_time" in early["error"]["message"]
    decide(server, "rankers", "stop", outcome="RELEASE", winner="new", override_reason="a bench has no week")
    server.kill()
    active = [r["id"] for r in server.call("GET", "/v1/releases")["releases"] if r.get("active")]
    assert active == ["learnt"], active
    print(f"split: released, and active after a kill: {active[0]}")


# A reader counts once however many lists it gets, so there are as many as users, and what is clicked by now is popular in
# both arms: this shows that lists are kept and credited through kills, and not how few it takes
# (bench/experiment_simulations.cc does).
def interleaved_test(server, readers, most):
    server.call("POST", "/v1/experiments", experiment("lists", {"release": "dealt"}, {"release": "learnt"},
                                                      mode="INTERLEAVED", ramp=[1],
                                                      sequential_tuning=len(readers.users)))
    decide(server, "lists", "start")
    server.kill()
    before, report = readers.sessions, {}
    while readers.sessions - before < most:
        for _ in range(100):
            readers.session(server, name_items=True)  # which says what team is clicked
        report = server.call("GET", "/v1/experiments/lists:report")
        if report.get("winner"):
            break
    found = report["interleaving"][0]
    print(f"interleaved: {found['lists']} lists for {found['readers']} readers, {found.get('treatment_wins', 0)} for the "
          f"learnt ranker, {found.get('control_wins', 0)} for the other, preference {found.get('preference', 0):+.3f}, sequential p "
          f"{report['comparisons'][0]['absolute']['adjusted_p_value']:.2g}, verdict {report['verdict']}")
    assert report.get("winner") != "control", found
    decide(server, "lists", "stop", outcome="END")
    server.kill()


def broken_test(server, readers, name, release, measure, tolerance):
    server.call("POST", "/v1/experiments",
                experiment(name, {"release": "learnt"}, {"release": release}, ramp=[1],
                           guardrails=[{"measure": measure, "tolerance": tolerance}]))
    server.kill()
    decide(server, name, "start")
    server.kill()
    exposures = 0
    while exposures < 2000:
        answer = readers.session(server)
        exposures += any(arm["arm"] == "new" for arm in answer.get("arms", []))
        state = server.call("GET", f"/v1/experiments/{name}")["state"]
        if state != "RUNNING":
            break
    server.kill()
    report = server.call("GET", f"/v1/experiments/{name}:report")
    print(f"broken ({release}): {report['state']} after {exposures} exposures of it, "
          f"\"{report['decisions'][-1].get('reason', '')}\"")
    assert report["state"] == "ROLLED_BACK" and exposures <= 200, (report["state"], exposures)


def slot_tests(server, readers):
    for name, color in (("plain", "grey"), ("bright", "red")):
        for slot in ("banner", "footer"):
            server.call("PUT", f"/v1/slots/{slot}/variants/{name}", {"payload": {"color": color}})
    server.call("POST", "/v1/slots/footer:activate", {"variant": "plain", "by": "bench"})
    server.kill()
    server.call("POST", "/v1/slots/footer:activate", {"variant": "bright", "by": "bench"})
    server.kill()
    assert server.call("GET", "/v1/slots/footer")["variant"] == "bright"
    server.call("POST", "/v1/slots/footer:rollback", {"by": "bench"})
    server.kill()
    assert server.call("GET", "/v1/slots/footer")["variant"] == "plain"
    server.call("POST", "/v1/experiments",
                experiment("banner", {"slot_variant": "slots/banner/variants/plain"},
                           {"slot_variant": "slots/banner/variants/bright"}, ramp=[1]))
    decide(server, "banner", "start")
    server.kill()
    shown, report = 0, {}
    while shown < 5000:
        for _ in range(100):
            shown += 1
            session = f"b{shown}"
            answer = server.call("GET", f"/v1/slots/banner?session_id={session}")
            if readers.random.random() < (.3 if answer["variant"] == "bright" else .15):
                server.call("POST", "/v1/events:write", {"events": [
                    {"type": "click", "visitor_id": session, "session_id": session,
                     "attribution_token": answer["attribution_token"]}]})
        report = server.call("GET", "/v1/experiments/banner:report")
        if report.get("winner"):
            break
    clicks = report["comparisons"][0]
    decide(server, "banner", "stop", outcome="RELEASE", winner=report["winner"], override_reason="a bench has no week")
    server.kill()
    assert server.call("GET", "/v1/slots/banner")["variant"] == "bright"
    print(f"slots: one released and taken back; in the other {clicks['control_mean']:.3f} against "
          f"{clicks['treatment_mean']:.3f} clicks in {shown} sessions, sequential p "
          f"{clicks['absolute']['adjusted_p_value']:.2g}, the winner is shown after a kill")


def run(work, most, html):
    shutil.rmtree(work / "run", ignore_errors=True)
    (work / "run").mkdir()
    shutil.copytree(work / "data", work / "run/data")
    server, readers = Server(work / "run"), Readers(3)
    try:
        split_test(server, readers, most)
        if html:
            waymark("experiment", "report", "rankers", "--html", html, "--data", work / "run/data", quiet=True)
        interleaved_test(server, readers, min(most, 3000))
        broken_test(server, readers, "hollow", "empty", "EMPTY_RATE", .05)
        broken_test(server, readers, "heavy", "slow", "LATENCY", .2)
        slot_tests(server, readers)
        print(f"killed {server.kills} times")
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("steps", nargs="*", default=["prepare", "run"])
    parser.add_argument("--sessions", type=int, default=20000, help="most that a test may take")
    parser.add_argument("--html", help="write the report of the split there")
    arguments = parser.parse_args()
    if "prepare" in arguments.steps:
        prepare(arguments.work)
    if "run" in arguments.steps:
        run(arguments.work, arguments.sessions, arguments.html)


if __name__ == "__main__":
    main()
