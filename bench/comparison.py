# SPDX-License-Identifier: LGPL-2.1-or-later
"""comparison.py - measure several ways to do something, alternating, and make rows of a table of them.

On a shared machine, figures can only be compared if they were measured at the same time. So all ways of a comparison alternate. Ratios compare
samples of the same repetition, which are neighbours in time. The result is the median over all repetitions (or another middle, where a method
says so), with the middle half of the values that other choices of the repetitions would have given (bootstrap)."""
import copy
import dataclasses
import json
import random
import statistics
import subprocess
import sys
import time


def run(*command, **options):
    """run a command that must succeed; return its stdout"""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def seconds(*command, **options):
    """run a command that must succeed; return its elapsed time"""
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.monotonic() - begin


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def reason(error):
    """why a command failed, in a few words for a row of the table"""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"{str(error.filename).rsplit('/', 1)[-1]} is missing"
    text = str(error).strip().split("\n")[-1]
    return text[text.find(": exit ") + 2 if ": exit " in text else 0:][:100]


def bootstrap(repetitions, figure):
    """the (lower, upper) quartile of figure() over repetitions drawn with replacement"""
    draws = random.Random(1)
    values = sorted(figure([draws.choice(repetitions) for _ in repetitions]) for _ in range(400))
    return values[100], values[300]


@dataclasses.dataclass
class Row:
    """One line of the table. Bar and limit refer to the ratio if there is one, else to our figure, in its unit.

    what: the measurement; unit: of ours and of the peer's figure; added: both figures are what tracing adds to an untraced one
    spread: lower and upper quartile of the ratio; bar: the value to reach; limit: the best possible value here, measured with limit_of
    noise: the ratio of two equal ways; more: greater is better
    note: why there is no figure of ours (None) or of the peer"""
    what: str
    ours: float
    unit: str
    peer: str = ""
    peer_value: float = None
    ratio: float = None
    spread: tuple = None
    bar: float = None
    limit: float = None
    limit_of: str = ""
    more: bool = False
    added: bool = False
    noise: float = None
    note: str = ""

    def misses(self):
        value = self.ours if self.ratio is None else self.ratio
        return self.bar is not None and value is not None and not self.note and (value < self.bar if self.more else value > self.bar)


def others_trace():
    """does another tracer run on this kernel now? It would slow all ways, and the untraced one most. Not known without bpftool"""
    try:
        programs = json.loads(run("bpftool", "-j", "prog", "show"))
    except FileNotFoundError:
        return False
    return any(program.get("name") in ("sys_enter", "sched_switch", "clock_enter", "path_enter", "record_enter", "l_sys_enter") for program in programs)


def wait_alone(patience):
    """wait until no other tracer runs, our own of before included. False: out of patience"""
    end = time.monotonic() + patience
    while others_trace():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    time.sleep(0.1)
    return True


def undisturbed(way):
    """a sample with no other tracer at its begin and end"""
    for _ in range(20):
        if wait_alone(60):
            value = way()
            if wait_alone(1):
                return value
    raise RuntimeError("another tracer runs on this machine all the time")


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:70}\r", end="", file=sys.stderr, flush=True)


def middle_mean(values):
    """the mean of the middle half: nearly as exact as the mean, and outliers move it nearly as little as the median"""
    values = sorted(values)
    cut = len(values) // 4
    return statistics.mean(values[cut:len(values) - cut])


def fastest_mean(values):
    """the mean of the fastest quarter: for times of half a second, which the host makes longer, but never shorter"""
    values = sorted(values)
    return statistics.mean(values[:max(len(values) // 4, 1)])


class Samples:
    """the samples of all ways of one comparison, by repetition"""

    middle = staticmethod(statistics.median)

    def __init__(self, name, ways, repetitions):
        """ways: {label: function that returns a number}. Every other repetition is in reverse order"""
        self.of = {label: [] for label in ways}
        self.why = {}  # of the ways that fail: the reason
        for repetition in range(repetitions):
            for label, way in list(ways.items())[::-1 if repetition % 2 else 1]:
                progress(f"{name}: {repetition + 1}/{repetitions} {label:12}")
                if self.is_hopeless(label):
                    self.of[label].append(None)
                    continue
                try:
                    self.of[label].append(undisturbed(way))
                except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                    self.of[label].append(None)
                    self.why[label] = reason(error)
                    print(f"{name}: no {label}: {error}", file=sys.stderr)
        progress("")

    def is_hopeless(self, label):
        """a program is missing, or the way failed three times and never worked"""
        return label not in self and (self.why.get(label, "").endswith(" is missing") or self.of[label].count(None) >= 3)

    def lacks(self, *labels):
        """"": each way has samples; otherwise the reason why one of them has none"""
        return next((f"{label}: {self.why.get(label, 'not measured')}" for label in labels if label not in self), "")

    def __contains__(self, label):
        return any(value is not None for value in self.of.get(label, []))

    def median(self, label):
        if label not in self:
            raise RuntimeError(self.lacks(label))
        return self.middle([value for value in self.of[label] if value is not None])

    def repetitions(self, labels):
        """[(a sample of each label), ...] of the repetitions that have all labels"""
        return [row for row in zip(*(self.of[label] for label in labels)) if None not in row]

    def spread(self, ours, peers):
        """quartiles of the ratio of the middles over choices of the repetitions; None: too few repetitions"""
        rows = self.repetitions([ours, *peers])
        if len(rows) < 3:
            return None
        return bootstrap(rows, lambda some: self.middle([row[0] for row in some]) / self.middle([value for row in some for value in row[1:]]))

    def added(self, label, base="untraced"):
        """the median of the time that a way takes longer than base, each sample compared with its neighbour"""
        return statistics.median(value - before for before, value in self.repetitions([base, label]))

    def at_one_speed(self, figure):
        """Samples of figure(sample), a time, scaled from sample["speed"] of the CPUs to their median speed"""
        speeds = [sample["speed"] for samples in self.of.values() for sample in samples if sample]
        median = statistics.median(speeds) if speeds else None  # without samples of any way there is nothing to scale
        steady = copy.copy(self)
        steady.middle = middle_mean
        steady.of = {label: [figure(sample) * sample["speed"] / median if sample else None for sample in samples] for label, samples in self.of.items()}
        return steady

    def apart(self, label, names):
        """Samples of each figure of a way that returns several"""
        parts = copy.copy(self)
        parts.of = {name: [sample[i] if sample else None for sample in self.of[label]] for i, name in enumerate(names)}
        parts.why = {name: self.why[label] for name in names if label in self.why}
        return parts

    def by_the_fastest(self):
        """the same Samples, with the mean of the fastest as middle"""
        fastest = copy.copy(self)
        fastest.middle = fastest_mean
        return fastest

    def row(self, what, ours, peer, unit, peer_name=None, limit=None, noise=None, **more):
        """a row that compares two ways. limit: a way that is hard to beat; noise: the peer once more, to show the error"""
        note = self.lacks(ours, peer)
        if note:
            more = {name: value for name, value in more.items() if name in ("more", "added")}  # the bar is one of the ratio
            return Row(what, self.median(ours) if ours in self else None, unit, peer_name or peer, note=note, **more)
        peers = [peer] + ([noise] if noise and noise in self else [])
        theirs = self.middle([value for label in peers for value in self.of[label] if value is not None])
        if len(peers) == 2:
            more["noise"] = self.median(noise) / self.median(peer)
        if limit and limit in self:
            more["limit"] = self.median(limit) / theirs
        return Row(what, self.median(ours), unit, peer_name or peer, theirs, self.median(ours) / theirs, self.spread(ours, peers), **more)

    def added_row(self, what, ours, peer, unit, peer_name=None, limit=None, **more):
        """the same for the times that two ways add to the untraced one"""
        note = self.lacks("untraced", ours, peer) or ("" if self.added(peer) > 0 else f"{peer}: it added no time that could be measured")
        if note:
            more = {name: value for name, value in more.items() if name == "more"}
            added = self.added(ours) if "untraced" in self and ours in self else None
            return Row(what, added, unit, peer_name or peer, note=note, added=True, **more)
        if limit and limit in self:
            more["limit"] = self.added(limit) / self.added(peer)
        triples = self.repetitions(["untraced", ours, peer])

        def ratio(rows):
            return statistics.median(row[1] - row[0] for row in rows) / max(statistics.median(row[2] - row[0] for row in rows), 1e-9)

        return Row(what, self.added(ours), unit, peer_name or peer, self.added(peer), self.added(ours) / self.added(peer), bootstrap(triples, ratio), added=True, **more)
