# SPDX-License-Identifier: LGPL-2.1-or-later
"""view.py - how long a page waits for the view's answers: one server on one trace, asked as the page asks."""
import http.client
import json
import os
import re
import statistics
import subprocess
import time

ROWS, COLUMNS = 60, 1600  # a full screen
REPETITIONS = 7
LARGEST_TIMELINE = 4_000_000  # events: V8 has no texts of more than 512 MB
INDEX_EVENTS = 2_000_000  # a smaller trace has no index


class Server:
    """tracevisualizer --view on a trace"""

    def __init__(self, visualizer, trace):
        self.begin = time.monotonic()
        self.child = subprocess.Popen([visualizer, "--view", "--no-browser", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        said = self.child.stdout.readline()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/(\w+)/", said)
        if not found:
            raise RuntimeError(f"tracevisualizer --view gave no address, but {said!r}; it ended with {self.child.wait()}")
        self.port, self.token = int(found.group(1)), found.group(2)

    def ask(self, question):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request("GET", f"/{self.token}/ask/{question}")
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def milliseconds(self, question, repetitions=REPETITIONS):
        samples = []
        for _ in range(repetitions):
            begin = time.monotonic()
            self.ask(question)
            samples.append((time.monotonic() - begin) * 1e3)
        return statistics.median(samples)

    def memory(self):
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) / 1024

    def end(self):
        self.child.terminate()
        self.child.wait()


def table_figures(server, whole):
    """{tables, ready: s until any span has its tables of calls, files and locks; tables, a tenth: ms}; {}: only a pass for each span tells them"""
    begin = time.monotonic()
    answer = {"comes": True}
    while answer["comes"]:
        answer = json.loads(server.ask(f"tables?from=0&to={whole // 2}"))
        time.sleep(0.05)
    if not answer["ready"]:
        return {}
    return {"tables, ready": time.monotonic() - begin,
            "tables, a tenth": server.milliseconds(f"tables?from={whole * 4 // 10}&to={whole * 5 // 10}"),
            "tables, a hundredth": server.milliseconds(f"tables?from={whole * 40 // 100}&to={whole * 41 // 100}")}


def figures(visualizer, trace):
    """the figures of one trace, by name; times of questions in ms"""
    server = Server(visualizer, trace)
    try:
        about = json.loads(server.ask("about"))
        result = {"first answer": (time.monotonic() - server.begin) * 1e3}
        while not json.loads(server.ask("progress"))["complete"]:
            time.sleep(0.02)
        result["pass"] = time.monotonic() - server.begin
        while json.loads(server.ask("progress"))["billing"]:
            time.sleep(0.02)
        result["bills"] = time.monotonic() - server.begin
        about = json.loads(server.ask("about"))
        rows = [str(row["id"]) for row in json.loads(server.ask("rows"))["rows"]][:ROWS]
        whole = about["duration_ns"]
        middle = f"from={whole * 4 // 10}&to={whole * 5 // 10}"
        result["events"] = about["events"]
        result["picture, whole"] = server.milliseconds(f"shares?rows={','.join(rows)}&from=0&to={whole}&columns={COLUMNS}")
        result["picture, a tenth"] = server.milliseconds(f"shares?rows={','.join(rows)}&{middle}&columns={COLUMNS}")
        result["sums of a span"] = server.milliseconds(f"sums?{middle}")
        result["waits of a span"] = server.milliseconds(f"waits?{middle}")
        result["path, a tenth"] = server.milliseconds(f"path?row={rows[-1]}&{middle}")
        result["path, whole"] = server.milliseconds(f"path?row={rows[-1]}&from=0&to={whole}")
        result["segments"] = json.loads(server.ask(f"path?row={rows[-1]}&from=0&to={whole}"))["nr_segments"]
        result["books, whole"] = server.milliseconds("books")
        result["books, a hundredth"] = server.milliseconds(f"books?from={whole * 40 // 100}&to={whole * 41 // 100}", 1)
        result["memory"] = server.memory()
        result |= table_figures(server, whole)
        result["memory, tables"] = server.memory()
        has_index = about["events"] >= INDEX_EVENTS and index_comes(trace)
    finally:
        server.end()
    if has_index:
        result |= second_opening(visualizer, trace)
    return result


def index_comes(trace):
    """whether the index of the trace is written within half a minute"""
    for _ in range(300):
        if os.path.exists(trace + ".view"):
            return True
        time.sleep(0.1)
    return False


def second_opening(visualizer, trace):
    """the figures of a view that reads the index of the one before, which it removes"""
    size = os.path.getsize(trace + ".view")
    server = Server(visualizer, trace)
    try:
        about, rows = json.loads(server.ask("about")), json.loads(server.ask("rows"))["rows"]
        first = ",".join(str(row["id"]) for row in rows[:ROWS])
        server.ask(f"shares?rows={first}&from=0&to={about['duration_ns']}&columns={COLUMNS}")
        return {"opened again": (time.monotonic() - server.begin) * 1e3, "index": size / about["events"],
                "memory, opened again": server.memory()}
    finally:
        server.end()
        os.unlink(trace + ".view")


def other_page(visualizer, trace):
    """(seconds, bytes) that V8 needs to read the trace as --timeline writes it, before any page draws; None: no node, which has no bytes either, or too large for it"""
    timeline = trace + ".json"
    program = "const begin = performance.now(); JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8')); console.log(performance.now() - begin)"
    try:
        with open(timeline, "wb") as out:
            subprocess.run([visualizer, "--timeline", trace], check=True, stdout=out)
        took = subprocess.run(["node", "--max-old-space-size=4096", "-e", program, timeline], capture_output=True, text=True, check=False)
        return (float(took.stdout) / 1e3 if took.returncode == 0 else None), os.path.getsize(timeline)
    except FileNotFoundError:
        return None, None
    finally:
        os.unlink(timeline)


def beside(visualizer, trace):
    """(figures of our view, those of other_page())"""
    ours = figures(visualizer, trace)
    return ours, other_page(visualizer, trace) if ours["events"] <= LARGEST_TIMELINE else (None, 0)


def write_page(visualizer, trace, *options):
    """(bytes of the page that --html writes, 0: none; seconds until it is there, or refused)"""
    page = trace + ".html"
    begin = time.monotonic()
    subprocess.run([visualizer, f"--html={page}", *options, trace], check=False, stderr=subprocess.DEVNULL)
    took = time.monotonic() - begin
    return (os.path.getsize(page) if os.path.exists(page) else 0), took


def page_figures(visualizer, trace):
    """the sizes of pages with the whole trace, with names and without, in bytes; seconds of a refusal; bytes written all the same"""
    page = trace + ".html"
    try:
        refused, took = write_page(visualizer, trace, "--max-size=700K")
        return {"whole": write_page(visualizer, trace, "--max-size=1G")[0], "refused": took, "written": refused,
                "anonymous": write_page(visualizer, trace, "--max-size=1G", "--anonymous")[0]}
    finally:
        if os.path.exists(page):
            os.unlink(page)


def page_opens(visualizer, trace):
    """{first, whole: seconds; median, slow: ms of a frame; bytes} of a browser that opens the page of the trace; {missing: why not}"""
    page = trace + ".html"
    size, _ = write_page(visualizer, trace, "--max-size=1G")
    try:
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page_opens.mjs")
        result = subprocess.run(["node", program, page], capture_output=True, text=True, timeout=300, check=True)
        return dict(json.loads(result.stdout), bytes=size)
    except (FileNotFoundError, subprocess.SubprocessError) as error:
        return {"missing": str(error).splitlines()[0], "bytes": size}
    finally:
        if os.path.exists(page):
            os.unlink(page)
