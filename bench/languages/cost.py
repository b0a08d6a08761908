# SPDX-License-Identifier: LGPL-2.1-or-later
import time

import tracetoolkit

none = tracetoolkit.event("cost", "none")
one = tracetoolkit.event("cost", "one", value=int)
three = tracetoolkit.event("cost", "three", id=int, price=float, customer=str)
scope = tracetoolkit.scope("cost", "scope")
EVENTS = range(2000)


def run_none():
    for _ in EVENTS:
        none()


def run_one():
    for i in EVENTS:
        one(i)


def run_three():
    for i in EVENTS:
        three(i, 9.5, "alice")


def run_scope():
    for _ in EVENTS:
        with scope:
            pass


def ns_per_turn(run):
    best = 1e9
    for _ in range(50):
        begin = time.perf_counter_ns()
        run()
        best = min(best, (time.perf_counter_ns() - begin) / len(EVENTS))
    return best


print(*(f"{ns_per_turn(run):.1f}" for run in (run_none, run_one, run_three, run_scope)))
