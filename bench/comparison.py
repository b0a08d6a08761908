# SPDX-License-Identifier: LGPL-2.1-or-later
"""comparison.py - ways to do something, measured by turns, and what comes of it: rows of one table.

On a machine that is never quite alone figures are only worth something beside each other. So all ways of a comparison take turns, what is
compared is taken from the same repetition, whose samples are neighbours in time, and of all repetitions the median is told (or another middle,
where it says so), with the middle half of what it would have been with other repetitions (bootstrap)."""
import copy
import dataclasses
import json
import random
import statistics
import subprocess
import sys
import time


def run(*command, **options):
    """stdout of a command that must succeed"""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def seconds(*command, **options):
    """elapsed time of a command that must succeed"""
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.monotonic() - begin


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def bootstrap(repetitions, figure):
    """(lower, upper) quartile of figure() over repetitions drawn with replacement"""
    draws = random.Random(1)
    values = sorted(figure([draws.choice(repetitions) for _ in repetitions]) for _ in range(400))
    return values[100], values[300]


@dataclasses.dataclass
class Row:
    """One line of the table. Bar and limit are of the ratio where there is one, else of our figure, in its unit.

    what: the measurement; unit: of ours and of the peer's figure; added: both are what tracing adds to an untraced figure
    spread: lower and upper quartile of the ratio; bar: where we want to be; limit: the best that could be had here, and of what (limit_of)
    noise: the ratio where there was nothing to tell; more: more is better"""
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

    def misses(self):
        value = self.ours if self.ratio is None else self.ratio
        return self.bar is not None and (value < self.bar if self.more else value > self.bar)


def others_trace():
    """does somebody else trace this kernel now? That would cost everybody, and most the untraced"""
    programs = json.loads(run("bpftool", "-j", "prog", "show"))
    return any(program.get("name") in ("sys_enter", "sched_switch", "clock_enter", "path_enter", "record_enter", "l_sys_enter") for program in programs)


def wait_alone(patience):
    """wait until nobody else traces; our own programs, too, take a moment to go, and their memory another. False: out of patience"""
    end = time.monotonic() + patience
    while others_trace():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    time.sleep(0.1)
    return True


def undisturbed(way):
    """a sample at whose begin and end nobody else traces"""
    for _ in range(20):
        if wait_alone(60):
            value = way()
            if wait_alone(1):
                return value
    raise RuntimeError("somebody else traces this machine all the time")


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:70}\r", end="", file=sys.stderr, flush=True)


def middle_mean(values):
    """the mean of the middle half: nearly as exact as the mean, and nearly as little moved by outliers as the median"""
    values = sorted(values)
    cut = len(values) // 4
    return statistics.mean(values[cut:len(values) - cut])


def fastest_mean(values):
    """the mean of the fastest quarter: for times of half a second, of which the host makes some longer by a half, and none shorter"""
    values = sorted(values)
    return statistics.mean(values[:max(len(values) // 4, 1)])


class Samples:
    """what the ways of one comparison gave, in each repetition"""

    middle = staticmethod(statistics.median)

    def __init__(self, name, ways, repetitions):
        """ways: {label: function returning a number}. Every other repetition goes through them backwards, so that nobody always comes after the same"""
        self.of = {label: [] for label in ways}
        for repetition in range(repetitions):
            for label, way in list(ways.items())[::-1 if repetition % 2 else 1]:
                progress(f"{name}: {repetition + 1}/{repetitions} {label:12}")
                try:
                    self.of[label].append(undisturbed(way))
                except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                    self.of[label].append(None)
                    print(f"{name}: no {label}: {error}", file=sys.stderr)
        progress("")

    def __contains__(self, label):
        return any(value is not None for value in self.of.get(label, []))

    def median(self, label):
        return self.middle([value for value in self.of[label] if value is not None])

    def repetitions(self, labels):
        """[(a sample of each label), ...] of the repetitions that have them all"""
        return [row for row in zip(*(self.of[label] for label in labels)) if None not in row]

    def spread(self, ours, peers):
        """quartiles of the ratio of the middles in a choice of the repetitions; None: too few to tell"""
        rows = self.repetitions([ours, *peers])
        if len(rows) < 3:
            return None
        return bootstrap(rows, lambda some: self.middle([row[0] for row in some]) / self.middle([value for row in some for value in row[1:]]))

    def added(self, label, base="untraced"):
        """the median of what a way takes longer than another, each sample compared with its neighbour"""
        return statistics.median(value - before for before, value in self.repetitions([base, label]))

    def at_one_speed(self, figure):
        """Samples of figure(sample), a time, as it would have been had the CPUs always had the speed of the median. Each sample says under "speed" what they had"""
        median = statistics.median(sample["speed"] for samples in self.of.values() for sample in samples if sample)
        steady = copy.copy(self)
        steady.middle = middle_mean
        steady.of = {label: [figure(sample) * sample["speed"] / median if sample else None for sample in samples] for label, samples in self.of.items()}
        return steady

    def apart(self, label, names):
        """Samples of each figure of the samples of a way that gives several"""
        parts = copy.copy(self)
        parts.of = {name: [sample[i] if sample else None for sample in self.of[label]] for i, name in enumerate(names)}
        return parts

    def by_the_fastest(self):
        """the same Samples, whose middle is the mean of the fastest"""
        fastest = copy.copy(self)
        fastest.middle = fastest_mean
        return fastest

    def row(self, what, ours, peer, unit, peer_name=None, limit=None, noise=None, **more):
        """a row that compares two ways. limit: the way that can hardly be beaten; noise: the peer once more. It is compared with both, and how those two differ is error"""
        if ours not in self or peer not in self:
            return None
        peers = [peer] + ([noise] if noise and noise in self else [])
        theirs = self.middle([value for label in peers for value in self.of[label] if value is not None])
        if len(peers) == 2:
            more["noise"] = self.median(noise) / self.median(peer)
        if limit and limit in self:
            more["limit"] = self.median(limit) / theirs
        return Row(what, self.median(ours), unit, peer_name or peer, theirs, self.median(ours) / theirs, self.spread(ours, peers), **more)

    def added_row(self, what, ours, peer, unit, peer_name=None, limit=None, **more):
        """the same of what two ways add to the untraced"""
        if ours not in self or peer not in self or self.added(peer) <= 0:
            return None
        if limit and limit in self:
            more["limit"] = self.added(limit) / self.added(peer)
        triples = self.repetitions(["untraced", ours, peer])

        def ratio(rows):
            return statistics.median(row[1] - row[0] for row in rows) / max(statistics.median(row[2] - row[0] for row in rows), 1e-9)

        return Row(what, self.added(ours), unit, peer_name or peer, self.added(peer), self.added(ours) / self.added(peer), bootstrap(triples, ratio), added=True, **more)
