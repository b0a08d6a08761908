# SPDX-License-Identifier: LGPL-2.1-or-later
"""classics.py - the table of 2002, today: one gzip plain, sampled, with its functions, blocks and system calls recorded, and with a breakpoint in its inner loop.

Each classic tool is measured beside ours, alternating in one run. Counts of functions and blocks need a program that is compiled for them, so gzip is zlib's minigzip,
compiled from Debian's source package: it writes the same format with the same deflate(). The time of a way is the CPU time of the program, and of the tool that
the program waits for (strace, gdb), at one speed of the CPUs (beside.c). On a machine that does nothing else that is the elapsed time."""
import glob
import os
import random
import re
import subprocess
import tempfile
import time

from comparison import Row, put, run

MIB = 1 << 20
SIZE = 64 * MIB
PROBED, DEBUGGED = MIB, MIB // 16  # the parts of the file for breakpoints of the kernel and of gdb: a second each
LOOP = "longest_match"  # deflate's inner loop is this function, called for each position that may match
LIBRARY = "libtracer-gprof.so"
UPROBE_EVENTS = "/sys/kernel/tracing/uprobe_events"
WORDS = 5000
BUILDS = {"plain": [], "functions": ["-pg"], "blocks": ["--coverage"]}


def text(chance, size):
    """bytes of words, the frequent ones shorter, in lines with numbers, as logs have"""
    words = ["".join(chance.choices("etaoinshrdlucmfwypvbgkqjxz", k=3 + i * 9 // WORDS)) for i in range(WORDS)]
    chosen = iter(words[min(int(chance.paretovariate(0.7)), WORDS) - 1] for _ in range(size // 4))
    parts, length = [], 0
    while length < size:
        line = f"{chance.randrange(10 ** 9)} " + " ".join(next(chosen) for _ in range(12)) + "\n"
        parts.append(line)
        length += len(line)
    return "".join(parts).encode()[:size]


def write_data(path, size=SIZE):
    """Write half text, three eighths of a program's machine code, and an eighth random bytes, in turns of 64 KiB, the same on each run of one python."""
    chance = random.Random(2002)
    words = text(chance, 4 * MIB)
    with open("/proc/self/exe", "rb") as file:
        code = file.read()
    with open(path, "wb") as file:
        for turn in range(size // (MIB // 16)):
            at, of_code = turn * 32768 % (len(words) - 32768), turn * 24576 % max(len(code) - 24576, 1)
            file.write((words[at:at + 32768] + code[of_code:of_code + 24576]).ljust(57344, b"\0") + chance.randbytes(8192))


def places_of_packages():
    """the places of apt's packages, as a sources.list has them, those of updates last"""
    places = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages").split("\n")
    return sorted({place for place in places if place.endswith(" main")}, key=lambda place: len(place.split()[1]))


def fetch_source_of(place, folder):
    with tempfile.TemporaryDirectory() as own:
        put(own + "/sources.list", f"deb-src {place}\n")
        os.makedirs(own + "/lists/partial")  # apt removes all other files from the folder of its lists
        apt = ["apt-get", "-qq", "-o", f"Dir::Etc::SourceList={own}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null", "-o", f"Dir::State::Lists={own}/lists"]
        run(*apt, "update")
        run(*apt, "source", "zlib", cwd=folder)


def fetch_source(folder):
    """Let apt unpack the source package of zlib into a folder. It may have no places of source packages: then they are those of the packages."""
    os.makedirs(folder, exist_ok=True)
    try:
        run("apt-get", "-qq", "source", "zlib", cwd=folder)
        return
    except RuntimeError as error:
        last = error
    for place in places_of_packages():
        try:
            fetch_source_of(place, folder)
            return
        except RuntimeError as error:
            last = error
    raise last


def zlib_source(build):
    """the folder of zlib's source, fetched once for a build folder"""
    folder = os.path.join(build, "bench", "zlib-source")
    if not glob.glob(folder + "/zlib-*/test/minigzip.c"):
        fetch_source(folder)
    return glob.glob(folder + "/zlib-*")[0]


class Classics:
    """the rows of bench/run classics, into bench.rows"""

    def __init__(self, bench):
        self.bench = bench
        self.trace = self.path("classics.trace")
        self.programs = {}

    def path(self, name):
        return os.path.join(self.bench.work, name)

    def prepare(self):
        """the data, and minigzip as it is, with counts of functions, and with counts of blocks"""
        source = zlib_source(self.bench.options.build)
        with open(source + "/zlib.h") as header:
            self.version = re.search(r'ZLIB_VERSION "([^"]+)"', header.read()).group(1)
        units = [*sorted(glob.glob(source + "/*.c")), source + "/test/minigzip.c"]
        for name, options in BUILDS.items():
            folder = self.path(name)
            os.makedirs(folder)
            run("cc", "-O2", "-g", "-DHAVE_UNISTD_H", *options, "-I", source, "-o", folder + "/minigzip", *units, cwd=folder)
            self.programs[name] = folder + "/minigzip"
        write_data(self.path("data"))
        for size in PROBED, DEBUGGED:
            with open(self.path("data"), "rb") as file, open(self.path(f"data{size}"), "wb") as part:
                part.write(file.read(size))

    def gzip(self, build="plain", size=None, before=()):
        """the command that compresses the data or a part of it. before: a program that starts minigzip"""
        return ["sh", "-c", f'exec "$@" <{self.path("data")}{size or ""} >/dev/null', "sh", *before, self.programs[build]]

    def beside(self, command, *tool, cwd=None):
        """the CPU time of a command and the speed of the CPUs, while a tool runs"""
        cpu, _, reference, pieces = map(int, run(*tool, f"{self.bench.helpers}/beside", "1", *command, cwd=cwd).split())
        return {"cpu": cpu / 1e6, "speed": pieces / reference}

    def ours(self, *options):
        return [f"{self.bench.bin}/tracedaemon", "--quiet", *options, self.trace, "--"]

    def compare(self, name, ways, repetitions):
        return self.bench.alternate(name, ways, self.bench.repetitions(repetitions)).at_one_speed(lambda sample: sample["cpu"])

    def rows(self, samples, what, ours, bar, classics):
        """our way beside the plain program, and beside each {classic way: its name}, with what that is of the plain program"""
        self.bench.add(samples.row(what, ours, "plain", "ms", "plain", noise="again", bar=bar))
        for classic, name in classics.items():
            if classic in samples and "plain" in samples:
                name += f", {samples.median(classic) / samples.median('plain'):.3f} of plain,"
            self.bench.add(samples.row("the same, beside the classic", ours, classic, "ms", name))

    # ---- ways ----

    def dumped(self):
        """The program with counts of blocks. tracectl reads them from outside when it has run for a second."""
        command = [f"{self.bench.helpers}/beside", "1", *self.gzip("blocks")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            time.sleep(1)
            with open(f"/proc/{child.pid}/task/{child.pid}/children") as children:
                pid = children.read().split()[0]
            run(f"{self.bench.bin}/tracectl", "gcov", pid, self.path("counts"))
            output = child.communicate()[0]
        cpu, _, reference, pieces = map(int, output.split())
        return {"cpu": cpu / 1e6, "speed": pieces / reference}

    def whole(self):
        """rows of the whole file"""
        library = os.path.join(self.bench.options.build, "lib", LIBRARY)
        perf = ["perf", "record", "-q", "-a", "-F", "1000", "-e", "cpu-clock", "-o", self.path("perf.data"), "--"]
        ways = {"plain": lambda: self.beside(self.gzip()), "again": lambda: self.beside(self.gzip()),
                "sampled": lambda: self.beside(self.gzip(), *self.ours("--sample")),
                "perf record": lambda: self.beside(self.gzip(), *perf),
                "functions": lambda: self.beside(self.gzip("functions", before=["env", "LD_PRELOAD=" + library]), cwd=self.path("functions")),
                "gprof": lambda: self.beside(self.gzip("functions"), cwd=self.path("functions")),
                "blocks": self.dumped, "gcov": lambda: self.beside(self.gzip("blocks")),
                "calls": lambda: self.beside(self.gzip(), *self.ours("--args")),
                "strace": lambda: self.beside(self.gzip(before=["strace", "-f", "-o", self.path("calls")]))}
        samples = self.compare("classics", ways, 8)
        what = f"gzip of 64 MB (zlib {self.version}), "
        self.rows(samples, what + "sampled, with stacks, and all events", "sampled", 1.02, {"perf record": "perf record -a -F 1000, no stacks"})
        self.rows(samples, what + "functions counted", "functions", 1.05, {"gprof": "gprof, the C library's mcount()"})
        self.rows(samples, what + "blocks counted, read while it runs", "blocks", 1.05, {"gcov": "gcov, written at the exit"})
        self.rows(samples, what + "system calls with arguments, and all events", "calls", 1.01, {"strace": "strace -f -o"})

    def uprobe(self):
        """a uprobe of the kernel's own, recorded by perf"""
        address = next(line.split()[0] for line in run("nm", self.programs["plain"]).split("\n") if line.endswith(" " + LOOP))
        put(UPROBE_EVENTS, f"p:classics/{LOOP} {self.programs['plain']}:0x{address}\n")
        try:
            return self.beside(self.gzip(size=PROBED), "perf", "record", "-q", "-m", "1024", "-e", f"classics:{LOOP}", "-o", self.path("perf.data"), "--")
        finally:
            put(UPROBE_EVENTS, "")

    def debugged(self, *commands):
        """gdb, which continues at each hit of a breakpoint"""
        options = [word for command in ("set startup-with-shell off", *commands, "run") for word in ("-ex", command)]
        return self.beside(self.gzip(size=DEBUGGED, before=["gdb", "-nx", "-batch", *options, "--args"]))

    def hits(self, size):
        """how often the inner loop is called for a part of the file, by the counts of a program that has them"""
        run(*self.gzip("functions", size), cwd=self.path("functions"))
        flat = run("gprof", "-b", "-p", self.programs["functions"], self.path("functions") + "/gmon.out")
        return int(next(line.split()[3] for line in flat.split("\n") if line.endswith(" " + LOOP)))

    def breakpoint(self):
        """rows of a breakpoint in the inner loop, in parts of the file"""
        probe = [f"--probe={self.programs['plain']}:{LOOP}", "-esched"]
        samples = self.compare("classics, uprobe", {"plain": lambda: self.beside(self.gzip(size=PROBED)), "again": lambda: self.beside(self.gzip(size=PROBED)),
                                                    "breakpoint": lambda: self.beside(self.gzip(size=PROBED), *self.ours(*probe)), "perf": self.uprobe}, 8)
        hits = self.hits(PROBED)
        self.rows(samples, f"gzip of {PROBED / MIB:.0f} MB, breakpoint in the inner loop, {hits:,} hits", "breakpoint", 1.01, {"perf": "perf record of a uprobe"})
        self.hit(samples.added("breakpoint", "plain") / hits * 1e3)

    def hit(self, ours):
        """the row of a hit of the breakpoint: ours in us, and gdb's"""
        debugger = self.compare("classics, gdb", {"start": lambda: self.debugged(f"break {LOOP}", "delete"),
                                                  "gdb": lambda: self.debugged(f"break {LOOP}", "ignore 1 1000000000")}, 4)
        what = "a hit of that breakpoint"
        if debugger.lacks("start", "gdb"):
            self.bench.add(Row(what, ours, "us", "gdb", note=debugger.lacks("start", "gdb"), added=True))
            return
        theirs = debugger.added("gdb", "start") / self.hits(DEBUGGED) * 1e3
        self.bench.add(Row(what, ours, "us", "gdb, a breakpoint that it ignores", theirs, ours / theirs, added=True))

    def measure(self):
        self.prepare()
        for step in self.whole, self.breakpoint:
            try:
                step()
            except (RuntimeError, OSError, subprocess.SubprocessError, LookupError, ValueError, StopIteration) as error:
                self.bench.add(Row(step.__doc__, None, "", "not measured", note=str(error)[-100:]))
