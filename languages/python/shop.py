# SPDX-License-Identifier: LGPL-2.1-or-later
"""shop.py - a program that records events of its own:  tracedaemon t.trace -- python3 shop.py"""
import time

import tracetoolkit

waiting = tracetoolkit.counter("shop", "waiting")
order = tracetoolkit.request("shop", "order")
checkout = tracetoolkit.scope("shop", "checkout")
paid = tracetoolkit.event("shop", "order_paid", id=int, price=float, customer=str)
slept_ns = 0


def sleep():
    global slept_ns
    begin = time.monotonic_ns()
    time.sleep(0.002)
    slept_ns += time.monotonic_ns() - begin


@checkout
def check_out(number):
    sleep()
    paid(number, number * 9.5, "alice")


for number in range(1, 11):
    order.begin(number)
    waiting(10 - number)
    check_out(number)
    order.end(number)
print(f"10 orders, slept {slept_ns} ns")
