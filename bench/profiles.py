# SPDX-License-Identifier: LGPL-2.1-or-later
"""profiles.py - what samples cost: recording with them, their bytes, and the way to a named profile, beside perf."""
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import time

from comparison import Row, Samples, put, run

PERIOD = "997us"  # as perf record -F 1000
MANY_PERIOD, MANY_SECONDS = "20us", 14  # a million samples of two busy CPUs
PARTS = "recording", "interrupts", "waits", "sizes", "names", "frames", "memory", "truth"  # methods of Profiles
FUNCTIONS = 8  # of the C++ file: some seconds of a compiler
# What offcputime of bcc does, by the tracepoint: it needs a kprobe.
OFF_CPU = """tracepoint:sched:sched_switch {
    if (args->prev_state) { @at[args->prev_pid] = nsecs; @kernel[args->prev_pid] = kstack; @user[args->prev_pid] = ustack; }
    if (@at[args->next_pid]) {
        @us[args->next_pid, @kernel[args->next_pid], @user[args->next_pid]] = sum((nsecs - @at[args->next_pid]) / 1000);
        delete(@at[args->next_pid]);
    }
}"""
SWITCHES = 1_000_000
BURN_NS = 2_000_000_000
DEPTHS = 10, 110
LEAST_PART = 0.5  # of the frames that a pair of runs should differ by: with less, other programs had most samples
DEEP = """#include <stdlib.h>
static char many[16 << 20];
__attribute__((noinline, noipa)) int dive(int depth, long times)
{
	volatile char frame[64];
	int result = 0;

	frame[depth % 64] = 1;
	if (depth)
		result = dive(depth - 1, times);
	else
		for (long i = 0; i < times; i++)
			many[i * 4160 % sizeof(many)]++;
	return result + frame[depth % 64];
}
int main(int argc, char **argv) { return dive(atoi(argv[1]), 300000000) < 0; }
"""
CALLS, CALLS_SECONDS, TIMES = 400, 3, 3  # functions; the programs run so often in the longer recording


def calls_at_random():
    """a C program of functions that call each other some 18 deep, at random but always the same"""
    chance = random.Random(4)
    lines = ["#include <stdlib.h>", "#include <time.h>", "static volatile unsigned long sink;", *(f"unsigned long f{i}(unsigned long x, int d);" for i in range(CALLS))]
    for i in range(CALLS):
        a, b, c = (chance.randrange(CALLS) for _ in range(3))
        work = "".join(f"x = x * {chance.randrange(3, 99)}u + {chance.randrange(99)}u; " for _ in range(chance.randrange(1, 30)))
        lines.append(f"__attribute__((noinline, noclone)) unsigned long f{i}(unsigned long x, int d) {{ unsigned long r; {work}"
                     f"if (d <= 0) {{ for (int k = 0; k < {chance.randrange(50, 400)}; k++) sink += x ^ k; return sink; }} "
                     f"switch (x >> 60 & 3) {{ case 0: r = f{a}(x, d - 1); break; case 1: r = f{b}(x, d - 1); break; default: r = f{c}(x, d - 1 - (int)(x >> 50 & 1)); }} "
                     f"return r + f{b}(x + r, d - 3 - (int)(x >> 40 & 3)) + 1; }}")
    return "\n".join([*lines, "int main(int argc, char **argv) { unsigned long x = 1; while (clock() < atof(argv[1]) * CLOCKS_PER_SEC) "
                      "x += f0(x * 6364136223846793005u + 1, 18); return !x; }", ""])


class Profiles:
    """the rows of bench/run profile, into bench.rows"""

    def __init__(self, bench):
        self.bench = bench
        self.trace = os.path.join(bench.work, "profile.trace")
        self.perf_data = os.path.join(bench.work, "profile.data")
        self.source = os.path.join(bench.work, "big.cc")
        functions = "".join(f"int f{i}(const std::string &s) {{ std::map<std::string, std::vector<int>> m; std::regex r(\"[a-{chr(98 + i % 20)}]+{i}\"); "
                            f"for (auto &c : s) m[std::string({i % 9 + 1}, c)].push_back({i}); std::vector<int> v; "
                            f"for (auto &p : m) if (std::regex_match(p.first, r)) v.insert(v.end(), p.second.begin(), p.second.end()); "
                            f"std::sort(v.begin(), v.end(), [](int a, int b) {{ return a % {i + 2} < b % {i + 2}; }}); return v.size(); }}\n" for i in range(FUNCTIONS))
        put(self.source, "#include <algorithm>\n#include <map>\n#include <regex>\n#include <string>\n#include <vector>\n" + functions)
        self.compiler = ["g++", "-O2", "-g", "-c", "-o", os.path.join(bench.work, "big.o"), self.source]

    def record(self, command, *options, trace=None):
        return run(f"{self.bench.bin}/tracedaemon", "--quiet", *options, trace or self.trace, "--", *command)

    def perf(self, command, *options):
        return run("perf", "record", "-q", "-F", "1000", "-e", "cpu-clock", "-m", "1024", *options, "-o", self.perf_data, "--", *command)

    def profile(self, *options):
        return json.loads(run(f"{self.bench.bin}/tracevisualizer", "--profile", "--json", *options, self.trace))

    def recording(self):
        """elapsed and CPU time of make -j2, with samples and without"""
        command = self.bench.project(12)
        script = ["bash", "-c", f'TIMEFORMAT="%3R %3U %3S"; {{ time {" ".join(command)}; }} 2>&1']

        def way(*options):
            return lambda: [float(figure) * 1e3 for figure in self.record(script, *options).split()]

        ways = {"sampled": way("--sample"), "often": way("--sample=" + PERIOD), "recorded": way(), "again": way()}
        samples = self.bench.alternate("make_samples", ways, self.bench.repetitions(24))
        for what, label, figure, bar in (("make -j2 of 12 C files, with samples", "sampled", lambda sample: sample[0], 1.02),
                                         ("the same, CPU time of its processes", "sampled", lambda sample: sample[1] + sample[2], None),
                                         (f"the same, a sample each {PERIOD}", "often", lambda sample: sample[0], None)):
            part = Samples(what, {}, 0)
            part.of = {label: [figure(sample) if sample else None for sample in of] for label, of in samples.of.items()}
            part.why = samples.why
            self.bench.add(part.by_the_fastest().row(what, label, "recorded", "ms", "recorded without samples", noise="again", bar=bar))

    def beside(self, peer_command, command):
        """seconds of perf bench while a peer takes a stack of each wait"""
        if not peer_command[0]:
            raise RuntimeError("it is missing")
        peer = subprocess.Popen(peer_command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(3)
            if peer.poll() is not None:
                raise RuntimeError("it does not run here")
            return float(run(*command).split()[-1])
        finally:
            peer.send_signal(signal.SIGINT)
            peer.wait()

    def waits(self):
        """a million switches between threads, with stacks of waits and without, and beside offcputime"""
        command = ["perf", "bench", "-f", "simple", "sched", "pipe", "-l", str(SWITCHES // 2)]

        def way(*options):
            return lambda: float(self.record(command, *options).split()[-1])

        ways = {"sampled": way("--sample"), "recorded": way(), "again": way(), "untraced": lambda: float(run(*command).split()[-1]),
                "offcputime": lambda: self.beside([shutil.which("offcputime") or shutil.which("offcputime-bpfcc"), "600"], command),
                "bpftrace": lambda: self.beside([shutil.which("bpftrace"), "-e", OFF_CPU], command)}
        samples = self.bench.alternate("wait_stacks", ways, self.bench.repetitions(8)).by_the_fastest()
        self.bench.add(samples.row("a million switches, with samples and stacks of waits", "sampled", "recorded", "s", "recorded without samples", noise="again", bar=1.05))
        ours = (samples.median("sampled") - samples.median("recorded")) / SWITCHES * 1e6
        for name, peer in (("offcputime", "offcputime"), ("bpftrace", "the same by bpftrace")):
            what = "what stacks of waits add to a switch"
            if name not in samples:
                self.bench.add(Row(what, ours, "us", peer, note=samples.lacks(name)))
                continue
            theirs = (samples.median(name) - samples.median("untraced")) / SWITCHES * 1e6
            self.bench.add(Row(what, ours, "us", peer + ", to an untraced one", theirs, ours / theirs if ours > 0 and theirs > 0 else None))

    def interrupts(self):
        """what a sample takes from a program with much code and data, beside a sample of perf that has an address and no stack"""
        loop = ["taskset", "-c", str(os.cpu_count() - 1), f"{self.bench.helpers}/interrupted_loop", "3", "20"]

        def more(output):
            return float(output.split()[2])

        ways = {"sampled": lambda: more(self.record(loop, "--sample=" + PERIOD)),
                "perf": lambda: more(self.record(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-c", "997000", "-o", "/dev/null", "--", *loop]))}
        samples = self.bench.alternate("interrupts", ways, self.bench.repetitions(8))
        self.bench.add(samples.row("what a sample takes from a program with much code", "sampled", "perf", "us", "perf record without stacks, recorded", bar=1.2))

    def nr_events(self):
        return run(f"{self.bench.bin}/tracevisualizer", "-d", "-tsample", self.trace).count("SAMPLE :")

    def size_of(self, command, times):
        """bytes and samples of a recording of the command alone, as perf record makes"""
        self.record(["bash", "-c", "; ".join([" ".join(command)] * times)], "--follow", "-eblock", "--sample=" + PERIOD)
        return os.path.getsize(self.trace), self.nr_events()

    def bytes_of_sample(self, command):
        """what a sample more takes: the names of the code are once in a trace, and a longer recording has the same ones"""
        (bytes_once, once), (bytes_often, often) = (self.size_of(command, times) for times in (1, TIMES))
        return (bytes_often - bytes_once) / max(often - once, 1)

    def perf_bytes_of_sample(self, command, kind):
        self.perf(command, "--call-graph", kind)
        header = run("perf", "report", "--header-only", "-i", self.perf_data)  # the file has the programs of BPF, too
        count = int(re.search(r"SAMPLE events:\s+(\d+)", run("perf", "report", "--stats", "-i", self.perf_data)).group(1))
        return int(re.search(r"data size *: *(\d+)", header).group(1)) / count

    def sizes(self):
        """bytes of a sample on disk, in a program with frame pointers and in a compiler without"""
        source, program = os.path.join(self.bench.work, "calls.c"), os.path.join(self.bench.work, "calls")
        put(source, calls_at_random())
        run("gcc", "-O2", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer", "-fno-optimize-sibling-calls", "-o", program, source)
        for name, command, peers in (("with frame pointers", [program, str(CALLS_SECONDS)], (("fp", 0.15),)), ("g++", self.compiler, (("fp", 0.15), ("dwarf", 0.003)))):
            mine = statistics.median(self.bytes_of_sample(command) for _ in range(self.bench.repetitions(3)))
            for kind, bar in peers:
                theirs = statistics.median(self.perf_bytes_of_sample(command, kind) for _ in range(self.bench.repetitions(3)))
                self.bench.add(Row(f"bytes of a sample with its stack, {name}", mine, "B", f"perf record --call-graph {kind}", theirs, mine / theirs, bar=bar))
            self.bench.add(Row(f"bytes of a sample with its stack, {name}", mine, "B", bar=20))

    def names(self):
        """from the end of a recording to the named profile; and how complete its stacks are"""
        self.record(self.compiler, "--sample=" + PERIOD)
        begin = time.monotonic()
        profile = self.profile()
        ours, samples = time.monotonic() - begin, profile["samples"]
        compiler = self.profile("--comm=cc1plus")
        whole = compiler["stacks"]["whole"] / max(compiler["samples"], 1) * 100
        self.bench.add(Row(f"stacks of cc1plus that are whole, of {compiler['samples']:,}", whole, "%", bar=99.5, more=True))
        self.perf(self.compiler, "--call-graph", "dwarf")
        begin = time.monotonic()
        subprocess.run(["perf", "script", "-i", self.perf_data], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=True)
        theirs = time.monotonic() - begin
        what = f"from the recording to the named profile of {samples:,} samples"
        self.bench.add(Row(what, ours, "s", "perf script of --call-graph dwarf", theirs, ours / theirs, bar=0.02))
        self.bench.add(Row(what, ours, "s", bar=1))

    def counted(self, command):
        """ns of the BPF program for a sample, by the kernel's own count; runs; and the addresses of a sample"""
        switch, counts = "/proc/sys/kernel/bpf_stats_enabled", os.path.join(self.bench.work, "counts")
        with open(switch) as file:
            before = file.read()
        put(switch, "1")
        try:
            self.record(["bash", "-c", f"{command}; bpftool -j prog show >{counts}"], "--sample=" + PERIOD)
        finally:
            put(switch, before)
        with open(counts) as file:
            runs, ns = next((program["run_cnt"], program["run_time_ns"]) for program in json.load(file) if program.get("name") == "sample_by_tables")
        addresses, samples = 0, 0
        for line in run(f"{self.bench.bin}/tracevisualizer", "-d", "--json", "-tsample", self.trace).splitlines():
            fields = json.loads(line)["fields"]
            if not fields["source"]:
                samples += 1
                addresses += 1 + (len(fields["user"]) + len(fields["kernel"])) // 16
        return ns / runs, runs, addresses / max(samples, 1)

    def more_frames(self, program):
        """ns for each frame more, and the mean addresses of samples: on a busy machine other programs have many of both"""
        (few_ns, _, few), (many_ns, _, many) = (self.counted(" & ".join([f"{program} {depth}"] * os.cpu_count()) + "; wait") for depth in DEPTHS)
        return (many_ns - few_ns) / max(many - few, 1), few, many

    def frames(self):
        """ns of the BPF program for a sample of a compiler, and for each frame more in a program that leaves nothing in the caches"""
        ns, runs, addresses = self.counted(" ".join(self.compiler))
        self.bench.add(Row(f"a sample of a compiler, {addresses:.0f} frames, {runs:,} runs", ns / 1e3, "us"))
        source, program = os.path.join(self.bench.work, "deep.c"), os.path.join(self.bench.work, "deep")
        put(source, DEEP)
        run("gcc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-o", program, source)
        pairs = [self.more_frames(program) for _ in range(self.bench.repetitions(3))]
        pairs = [(ns, few, many) for ns, few, many in pairs if many - few > (DEPTHS[1] - DEPTHS[0]) * LEAST_PART]
        if not pairs:
            raise RuntimeError("other programs had most of the samples, so the stacks were not deeper")
        ns, few, many = statistics.median_low(pairs)
        self.bench.add(Row(f"each frame more, from {few:.0f} to {many:.0f}, caches cold", ns, "ns", bar=150))

    def memory(self):
        """the memory of the profile of a million samples"""
        burn = f"end=$((SECONDS+{MANY_SECONDS})); while ((SECONDS<end)); do :; done"
        self.record(["bash", "-c", f"({burn}) & ({burn}); wait"], "--sample=" + MANY_PERIOD)
        samples = self.profile()["samples"]
        child = subprocess.Popen([f"{self.bench.bin}/tracevisualizer", "--profile", self.trace], stdout=subprocess.DEVNULL)
        usage = os.wait4(child.pid, 0)[2]
        child.returncode = 0
        self.bench.add(Row(f"memory of the profile of {samples / 1e6:.2f} M samples", usage.ru_maxrss / 1024, "MiB", bar=64))

    def truth(self):
        """the CPU time of a program in its profile, beside what the kernel tells its parent when it has ended"""
        loop = f"import os, time\npid = os.fork()\nwhile not pid and time.process_time_ns() < {BURN_NS}: pass\nif not pid: os._exit(0)\n" \
               "usage = os.wait4(pid, 0)[2]\nprint(pid, usage.ru_utime + usage.ru_stime)"
        off = []
        for _ in range(self.bench.repetitions(5)):
            pid, cpu = self.record(["/usr/bin/python3", "-c", loop], "--sample=1ms").split()
            off.append(abs(self.profile("--pid=" + pid)["on_cpu_ns"] / 1e9 / float(cpu) - 1) * 100)
        self.bench.add(Row("CPU time in the profile of 2 s, off from wait4()", statistics.median(off), "%", bar=0.1))

    def measure(self, parts):
        for step in (getattr(self, part) for part in parts):
            try:
                step()
            except (RuntimeError, OSError, subprocess.SubprocessError, LookupError, ValueError) as error:
                self.bench.add(Row(step.__doc__.split(",")[0], None, "", "not measured", note=str(error)[:100]))
